//! Group commit: outcomes of all executions that wait for the disk at the same moment go there together.
//!
//! One statement is under way at a time. Whatever arrives meanwhile is in the next one, so the more there is to write
//! the more of it shares a commit, and nothing waits when there is little.

use std::collections::HashMap;
use std::time::Duration;

use qadra_store::{Refusal, RunAppend, Store, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;
use uuid::Uuid;

/// Rows and bytes of one statement; a single execution may exceed them.
const ROWS: usize = 4_000;
const BYTES: usize = 8 * 1024 * 1024;
/// Between tries while the database is away.
const PAUSE_FIRST: Duration = Duration::from_millis(50);
const PAUSE_MOST: Duration = Duration::from_secs(1);

/// Why an append was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Another worker has the execution, or it has ended: forget it.
    Taken,
    /// The journal is not where we thought: an answer was lost on the way. Read it again.
    Reread,
    /// The database will not take what is to be written, now or later.
    Unwritable,
    /// The worker stops.
    Closed,
}

pub(crate) type Ack = oneshot::Receiver<Result<(), Lost>>;

struct Waiting {
    append: RunAppend,
    ack: oneshot::Sender<Result<(), Lost>>,
}

/// The way to the journal; cheap to clone.
#[derive(Clone)]
pub(crate) struct Writer(mpsc::UnboundedSender<Waiting>);

impl Writer {
    /// Starts the task that writes; it ends when every `Writer` is gone.
    pub(crate) fn start(store: Store, worker: Uuid) -> (Self, tokio::task::JoinHandle<()>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), tokio::spawn(write(store, worker, receiver)))
    }

    /// Appends of one execution are written in the order of the calls.
    pub(crate) fn append(&self, append: RunAppend) -> Ack {
        let (ack, receiver) = oneshot::channel();
        // If the task is gone, so is the sender in it, and the receiver says so.
        let _ = self.0.send(Waiting { append, ack });
        receiver
    }
}

async fn write(store: Store, worker: Uuid, mut receiver: mpsc::UnboundedReceiver<Waiting>) {
    while let Some(first) = receiver.recv().await {
        let mut batch = Batch::default();
        batch.add(first);
        while batch.rows < ROWS && batch.bytes < BYTES {
            let Ok(next) = receiver.try_recv() else { break };
            batch.add(next);
        }
        batch.commit(&store, worker).await;
    }
}

/// What shares one statement.
#[derive(Default)]
struct Batch {
    appends: Vec<RunAppend>,
    /// Who waits for each of `appends`.
    acks: Vec<Vec<oneshot::Sender<Result<(), Lost>>>>,
    /// Where an execution stands in `appends`: the statement knows each but once.
    places: HashMap<Uuid, usize>,
    rows: usize,
    bytes: usize,
}

impl Batch {
    fn add(&mut self, waiting: Waiting) {
        let Waiting { append, ack } = waiting;
        self.rows += append.rows.len();
        self.bytes += append
            .rows
            .iter()
            .filter_map(|r| r.body.as_ref())
            .map(String::len)
            .sum::<usize>();
        match self.places.get(&append.execution_id) {
            Some(&place) => {
                join(&mut self.appends[place], append);
                self.acks[place].push(ack);
            }
            None => {
                self.places.insert(append.execution_id, self.appends.len());
                self.appends.push(append);
                self.acks.push(vec![ack]);
            }
        }
    }

    /// Tries until the database has answered; whether an answer that was lost on the way was a yes, the next try shows.
    async fn commit(self, store: &Store, worker: Uuid) {
        let mut pause = PAUSE_FIRST;
        let refused = loop {
            match store.flow_append(worker, &self.appends).await {
                Ok(refused) => break refused,
                Err(error) if is_permanent(&error) => {
                    return self.commit_apart(store, worker, error).await;
                }
                Err(error) => {
                    tracing::warn!(%error, executions = self.appends.len(), "the journal could not be written yet");
                    sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MOST);
                }
            }
        };
        let refused: HashMap<Uuid, Refusal> = refused
            .into_iter()
            .map(|r| (r.execution_id, r.reason))
            .collect();
        for (append, acks) in self.appends.iter().zip(self.acks) {
            let answer = match refused.get(&append.execution_id) {
                None => Ok(()),
                Some(Refusal::Gap) => Err(Lost::Reread),
                Some(Refusal::Ended | Refusal::Stale) => Err(Lost::Taken),
            };
            for ack in acks {
                // The run may have been dropped.
                let _ = ack.send(answer);
            }
        }
    }

    /// One of them cannot be written; the others must not suffer for it.
    async fn commit_apart(self, store: &Store, worker: Uuid, error: StoreError) {
        let alone = self.appends.len() == 1;
        for (append, acks) in self.appends.into_iter().zip(self.acks) {
            if alone {
                tracing::error!(%error, execution = %append.execution_id, "a journal cannot be written");
                for ack in acks {
                    let _ = ack.send(Err(Lost::Unwritable));
                }
                return;
            }
            let one = Self {
                places: HashMap::new(),
                rows: append.rows.len(),
                bytes: 0,
                appends: vec![append],
                acks: vec![acks],
            };
            Box::pin(one.commit(store, worker)).await;
        }
    }
}

/// Whether trying again would give the same: PostgreSQL understood, and refuses the data (SQLSTATE classes 22, 23 and 54).
fn is_permanent(error: &StoreError) -> bool {
    match error {
        StoreError::Duplicate { .. } | StoreError::Dangling { .. } | StoreError::Check { .. } => {
            true
        }
        StoreError::Database(error) => {
            let code = error.as_database_error().and_then(|e| e.code());
            code.is_some_and(|c| ["22", "23", "54"].iter().any(|class| c.starts_with(class)))
        }
        _ => false,
    }
}

/// A later part of the same execution's outcomes.
fn join(first: &mut RunAppend, later: RunAppend) {
    first.rows.extend(later.rows);
    first.inbox_done.extend(later.inbox_done);
    first.status = later.status.or(first.status);
    first.error = later.error.or(first.error.take());
    first.ready_at = later.ready_at.or(first.ready_at);
    first.release |= later.release;
    first.steps = later.steps.or(first.steps);
    first.note = later.note.or(first.note.take());
}
