//! One execution in the hands of this worker: a task that owns its state.
//!
//! ```text
//!  claim ─► fold the journal ─► ┌ outcome of an attempt ┐            ┌ refused ─► forget, or read again
//!                               │ message of the inbox  ├─► record ─► append ─┤
//!                               └ timer                 ┘            └ durable ─► tell readers, act
//! ```
//!
//! Nothing is acted on before it is durable. While an append is under way further outcomes are recorded behind it, so
//! siblings that end together share a commit.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::StreamExt;
use futures::stream::FuturesOrdered;
use qadra_flow::{
    Action, Batch, Entry, Event, Graph, NodeError, NodeRef, Progress, Record, Run, RunStatus,
};
use qadra_nats::{FlowProgressEvent, Headers, Subject};
use qadra_store::{Claim, JournalRow, RunAppend};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::children;
use crate::nodes::{Job, NodeFailure};
use crate::worker::Shared;
use crate::writer::{Ack, Lost};

/// A timer that is nearer than this is waited for in memory; for a later one the execution is given back.
const NEAR: Duration = Duration::from_secs(2);

/// Between looks at a database that does not answer.
const DOUBT: Duration = Duration::from_millis(200);

/// What a run's task is told.
pub(crate) enum Note {
    /// An attempt has ended.
    Outcome {
        node: NodeRef,
        attempt: u32,
        began: i64,
        result: Result<Value, NodeFailure>,
    },
    /// The inbox has something.
    Inbox,
    /// The execution that a node waits for exists; its end comes through the inbox.
    ChildBegun(NodeRef),
    /// Another worker has the execution.
    Gone,
}

/// How the task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// The execution has ended.
    Ended,
    /// It waits for a person, a child or a moment, and anybody may take it up then.
    Dormant,
    /// It is no longer ours.
    Lost,
}

pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX))
}

/// Runs the execution until it ends, sleeps or is lost. `sure` is the worker's count of lapses when it was claimed.
pub(crate) async fn drive(
    shared: Arc<Shared>,
    claim: Claim,
    sure: u64,
    notes: (mpsc::UnboundedSender<Note>, mpsc::UnboundedReceiver<Note>),
    stop: CancellationToken,
) -> Left {
    let (sender, mut receiver) = notes;
    let sure = Arc::new(AtomicU64::new(sure));
    loop {
        let opened = Driver::open(&shared, &claim, sure.clone(), sender.clone()).await;
        let mut driver = match opened {
            Ok(driver) => driver,
            Err(Opening::Broken(message)) => {
                return give_up(&shared, &claim, message).await;
            }
            // It is ours as long as we live, so nobody else would try.
            Err(Opening::Unavailable) => {
                tokio::select! {
                    () = stop.cancelled() => return Left::Lost,
                    () = tokio::time::sleep(DOUBT) => continue,
                }
            }
            Err(Opening::Gone) => return Left::Lost,
        };
        match driver.work(&mut receiver, &stop).await {
            Ok(left) => return left,
            Err(Lost::Reread) => {
                tracing::info!(execution = %claim.execution_id, "reading the journal again");
                // Outcomes of attempts that the reading has made void must not be taken for new ones.
                driver.abort_all();
                while receiver.try_recv().is_ok() {}
            }
            Err(Lost::Unwritable) => {
                driver.abort_all();
                return give_up(
                    &shared,
                    &claim,
                    "what it has to remember cannot be stored".into(),
                )
                .await;
            }
            Err(Lost::Taken | Lost::Closed) => {
                driver.abort_all();
                return Left::Lost;
            }
        }
    }
}

enum Opening {
    /// It cannot be run, now or later.
    Broken(String),
    Unavailable,
    /// It is not there any more.
    Gone,
}

struct Driver<'a> {
    shared: &'a Arc<Shared>,
    claim: &'a Claim,
    run: Run,
    /// The count of the worker's lapses up to which the execution is known to be ours.
    sure: Arc<AtomicU64>,
    sender: mpsc::UnboundedSender<Note>,
    /// Attempts under way.
    attempts: HashMap<NodeRef, AbortHandle>,
    /// Appends under way, with what follows when they are durable.
    pending: FuturesOrdered<Pending>,
    subject: Subject,
    /// Messages that an append under way has taken.
    taken: Vec<Uuid>,
    /// Inbox to be read.
    look: bool,
}

type Pending = std::pin::Pin<Box<dyn Future<Output = Result<Batch, Lost>> + Send>>;

impl<'a> Driver<'a> {
    async fn open(
        shared: &'a Arc<Shared>,
        claim: &'a Claim,
        sure: Arc<AtomicU64>,
        sender: mpsc::UnboundedSender<Note>,
    ) -> Result<Self, Opening> {
        let away = |error| {
            tracing::warn!(%error, execution = %claim.execution_id, "an execution could not be read");
            Opening::Unavailable
        };
        let graph = match shared.graphs.get(claim.snapshot_id) {
            Some(graph) => graph,
            None => {
                let opened = shared
                    .store
                    .flow_open(claim.tenant_id, claim.execution_id, true)
                    .await;
                let opened = opened.map_err(away)?.ok_or(Opening::Gone)?;
                let text = opened.flow_data.unwrap_or_default();
                let drawn: Value =
                    serde_json::from_str(&text).map_err(|e| Opening::Broken(e.to_string()))?;
                let graph = Graph::compile(&drawn).map_err(|e| Opening::Broken(e.to_string()))?;
                shared.graphs.put(claim.snapshot_id, Arc::new(graph))
            }
        };
        let mut run = Run::new(graph, claim.input.clone(), shared.settings.limits);
        if claim.last_seq > 0 {
            let rows = shared
                .store
                .flow_entries(claim.tenant_id, claim.execution_id, 0)
                .await
                .map_err(away)?;
            for row in rows {
                let entry = entry_of(&row).map_err(Opening::Broken)?;
                run.apply(&entry)
                    .map_err(|e| Opening::Broken(e.to_string()))?;
            }
        }
        Ok(Self {
            shared,
            claim,
            run,
            sure,
            sender,
            attempts: HashMap::new(),
            pending: FuturesOrdered::new(),
            subject: Subject::progress(claim.execution_id),
            taken: Vec::new(),
            look: claim.has_inbox,
        })
    }

    async fn work(
        &mut self,
        notes: &mut mpsc::UnboundedReceiver<Note>,
        stop: &CancellationToken,
    ) -> Result<Left, Lost> {
        if self.run.seq() == 0 {
            self.record(Event::Started)?;
        } else if !self.run.status().is_final() {
            let mut batch = Batch::default();
            if self.run.settle(now_ms(), &mut batch).is_err() {
                return Err(Lost::Taken);
            }
            if !batch.entries.is_empty() {
                self.append(batch);
            }
            for action in self.run.outstanding() {
                self.act(action).await;
            }
        }
        loop {
            if self.look {
                self.look = false;
                self.read_inbox().await?;
            }
            self.fire_timers()?;
            if self.pending.is_empty() {
                if self.run.status().is_final() {
                    return Ok(Left::Ended);
                }
                if self.is_dormant() {
                    return self.release().await;
                }
            }
            let timer = self.next_timer();
            tokio::select! {
                biased;
                // Dropped with the process's end; another worker takes over at once.
                () = stop.cancelled() => return Err(Lost::Closed),
                Some(done) = self.pending.next() => {
                    let batch = done?;
                    self.tell(&batch.progress).await;
                    for action in batch.actions {
                        self.act(action).await;
                    }
                }
                Some(note) = notes.recv() => self.note(note)?,
                () = tokio::time::sleep(timer), if !self.run.status().is_final() => {}
            }
        }
    }

    fn note(&mut self, note: Note) -> Result<(), Lost> {
        match note {
            Note::Inbox => {
                self.look = true;
                Ok(())
            }
            Note::ChildBegun(node) => {
                self.attempts.remove(&node);
                Ok(())
            }
            Note::Gone => Err(Lost::Taken),
            Note::Outcome {
                node,
                attempt,
                began,
                result,
            } => {
                self.attempts.remove(&node);
                if !self.run.is_under_way(&node, attempt) {
                    // It was aborted, or cancelled, while its outcome was on the way.
                    return Ok(());
                }
                self.record(match result {
                    Ok(output) => Event::Completed {
                        node,
                        attempt,
                        output: Some(Arc::new(output)),
                        route: None,
                        began: Some(began),
                    },
                    Err(failure) => Event::Failed {
                        node,
                        attempt,
                        error: NodeError {
                            code: failure.code.to_owned(),
                            message: failure.message,
                            retryable: failure.retryable,
                            retry_after: failure.retry_after.map(|d| d.as_millis() as u64),
                        },
                    },
                })
            }
        }
    }

    fn record(&mut self, event: Event) -> Result<(), Lost> {
        match self.run.record(event, now_ms()) {
            Ok(batch) => {
                self.append(batch);
                Ok(())
            }
            Err(error) => {
                // The state in memory may be half way: only the journal is to be trusted.
                tracing::error!(%error, execution = %self.claim.execution_id, "an event does not fit the execution");
                Err(Lost::Reread)
            }
        }
    }

    /// Sends a batch to the journal; what follows from it waits until it is there.
    fn append(&mut self, batch: Batch) {
        let final_status = batch.actions.iter().find_map(|a| match a {
            Action::Finish { status } => Some(*status),
            _ => None,
        });
        let append = RunAppend {
            rows: batch.entries.iter().map(row_of).collect(),
            inbox_done: std::mem::take(&mut self.taken),
            status: final_status.map(RunStatus::name),
            error: final_status
                .and_then(|_| self.run.error())
                .map(|e| without_nul(&e)),
            steps: Some(i32::try_from(self.run.steps()).unwrap_or(i32::MAX)),
            note: final_status.map(|status| children::note(status, &self.run)),
            ..blank(self.claim)
        };
        let ack: Ack = self.shared.writer.append(append);
        self.pending.push_back(Box::pin(async move {
            match ack.await {
                Ok(Ok(())) => Ok(batch),
                Ok(Err(lost)) => Err(lost),
                Err(_) => Err(Lost::Closed),
            }
        }));
    }

    async fn tell(&mut self, progress: &[Progress]) {
        for p in progress {
            let mut data = p.data.clone();
            if p.event == "flow_started" {
                data["execution_id"] = json!(self.claim.execution_id);
                data["flow_id"] = json!(self.claim.flow_id);
            }
            let event = FlowProgressEvent {
                event: p.event.to_owned(),
                data,
                seq: p.seq,
            };
            let said = self
                .shared
                .bus
                .publish(self.subject.as_str(), Headers::new(), event.to_bytes())
                .await;
            if let Err(error) = said {
                // Readers see the gap and read the journal.
                tracing::debug!(%error, "an event was not published");
            }
        }
    }

    async fn act(&mut self, action: Action) {
        match action {
            Action::Perform {
                node,
                attempt,
                not_before,
            } => self.perform(node, attempt, not_before),
            Action::StartChild {
                node,
                attempt,
                not_before,
            } => self.start_child(node, attempt, not_before),
            Action::Abort { node } => {
                if let Some(attempt) = self.attempts.remove(&node) {
                    attempt.abort();
                }
                children::cancel(self.shared, self.claim, &node, &self.run).await;
            }
            // The state knows when; `fire_timers` looks.
            Action::Wait { .. } | Action::AskPerson { .. } | Action::Finish { .. } => {}
        }
    }

    fn perform(&mut self, node: NodeRef, attempt: u32, not_before: i64) {
        if self.shared.draining() {
            return;
        }
        let Some(request) = self.run.request(&node).filter(|r| r.attempt == attempt) else {
            return;
        };
        let job = Job {
            tenant_id: self.claim.tenant_id,
            execution_id: self.claim.execution_id,
            user_id: self.claim.triggered_by,
            idempotency_key: Run::idempotency_key(self.claim.execution_id, &node),
            node: node.clone(),
            kind: request.kind,
            attempt,
            data: request.data,
            state: request.state,
        };
        let timeout = request
            .timeout_seconds
            .map_or(self.shared.settings.node_timeout, Duration::from_secs);
        let (shared, sender, claim) =
            (self.shared.clone(), self.sender.clone(), self.claim.clone());
        let sure = self.sure.clone();
        let task = tokio::spawn(async move {
            wait_until(not_before).await;
            let _turn = shared.turns.take(job.tenant_id).await;
            if !still_ours(&shared, &claim, &sure).await {
                let _ = sender.send(Note::Gone);
                return;
            }
            let (node, attempt, began) = (job.node.clone(), job.attempt, now_ms());
            let performing = std::panic::AssertUnwindSafe(shared.performer.perform(job));
            let result =
                match tokio::time::timeout(timeout, futures::FutureExt::catch_unwind(performing))
                    .await
                {
                    Ok(Ok(result)) => result,
                    Ok(Err(_)) => Err(NodeFailure::fatal(
                        "internal",
                        "the node broke off; the log has more",
                    )),
                    Err(_) => Err(NodeFailure::passing(
                        "timeout",
                        format!("no answer within {} s", timeout.as_secs()),
                    )),
                };
            let _ = sender.send(Note::Outcome {
                node,
                attempt,
                began,
                result,
            });
        });
        self.attempts.insert(node, task.abort_handle());
    }

    fn start_child(&mut self, node: NodeRef, attempt: u32, not_before: i64) {
        let Some(request) = self.run.request(&node).filter(|r| r.attempt == attempt) else {
            return;
        };
        let (shared, sender, claim) =
            (self.shared.clone(), self.sender.clone(), self.claim.clone());
        let name = node.clone();
        let task = tokio::spawn(async move {
            wait_until(not_before).await;
            let began = now_ms();
            // Only a child that cannot begin is an outcome now.
            let begun = children::start(&shared, &claim, &name, attempt, &request.data).await;
            let _ = sender.send(match begun {
                Ok(()) => Note::ChildBegun(name),
                Err(failure) => Note::Outcome {
                    node: name,
                    attempt,
                    began,
                    result: Err(failure),
                },
            });
        });
        self.attempts.insert(node, task.abort_handle());
    }

    fn fire_timers(&mut self) -> Result<(), Lost> {
        if self.run.status().is_final() || self.run.next_timer().is_none_or(|at| at > now_ms()) {
            return Ok(());
        }
        let now = now_ms();
        for action in self.run.outstanding() {
            let event = match action {
                Action::Wait { node, until } if until <= now => self.run.delay_over(&node),
                Action::AskPerson {
                    node,
                    deadline: Some(deadline),
                } if deadline <= now => Event::Timer { node },
                _ => continue,
            };
            self.record(event)?;
            if self.run.status().is_final() {
                break;
            }
        }
        Ok(())
    }

    fn next_timer(&self) -> Duration {
        // A retry that is due is under way in a task and keeps its place among the timers; looking once a second
        // costs nothing.
        let soon = self
            .run
            .next_timer()
            .map(|at| u64::try_from(at - now_ms()).unwrap_or(0));
        match soon {
            Some(0) => Duration::from_secs(1),
            Some(ms) => Duration::from_millis(ms.min(60_000)),
            None => Duration::from_secs(60),
        }
    }

    async fn read_inbox(&mut self) -> Result<(), Lost> {
        let opened = self
            .shared
            .store
            .flow_open(self.claim.tenant_id, self.claim.execution_id, false)
            .await;
        let messages = match opened {
            Ok(Some(opened)) => opened.inbox,
            Ok(None) => return Err(Lost::Taken),
            Err(error) => {
                tracing::warn!(%error, execution = %self.claim.execution_id, "an inbox could not be read");
                // The next heartbeat says again that there is something.
                return Ok(());
            }
        };
        for message in messages {
            if self.run.status().is_final() {
                break;
            }
            let event = children::event_of(&message, &self.run);
            self.taken.push(message.id);
            match event {
                Some(event) => self.record(event)?,
                // Too late: the node has ended otherwise. It is taken off the inbox with the next append, or now.
                None => self.append(Batch::default()),
            }
        }
        Ok(())
    }

    /// Whether nothing of it runs here and nothing is due soon.
    fn is_dormant(&self) -> bool {
        let soon = self
            .run
            .next_timer()
            .is_some_and(|at| at - now_ms() < NEAR.as_millis() as i64);
        // An attempt that has ended is under way until its note is read.
        !soon && self.attempts.is_empty()
    }

    async fn release(&mut self) -> Result<Left, Lost> {
        let paused = self.run.status() == RunStatus::Paused;
        let ready_at = if self.shared.draining() && !self.run.outstanding().is_empty() && !paused {
            Some(chrono::Utc::now())
        } else {
            self.run
                .next_timer()
                .and_then(chrono::DateTime::from_timestamp_millis)
        };
        let append = RunAppend {
            status: Some(if paused { "paused" } else { "running" }),
            ready_at,
            release: true,
            steps: Some(i32::try_from(self.run.steps()).unwrap_or(i32::MAX)),
            ..blank(self.claim)
        };
        match self.shared.writer.append(append).await {
            Ok(Ok(())) => Ok(Left::Dormant),
            Ok(Err(lost)) => Err(lost),
            Err(_) => Err(Lost::Closed),
        }
    }

    fn abort_all(&mut self) {
        for (_, attempt) in self.attempts.drain() {
            attempt.abort();
        }
    }
}

/// Ends an execution that cannot be read: told, and not tried for ever.
async fn give_up(shared: &Shared, claim: &Claim, message: String) -> Left {
    tracing::error!(execution = %claim.execution_id, message, "an execution cannot be run");
    let append = RunAppend {
        status: Some("failed"),
        error: Some(without_nul(&format!(
            "this execution cannot be run: {message}"
        ))),
        note: Some(json!({"status": "failed", "error": message}).to_string()),
        ..blank(claim)
    };
    match shared.writer.append(append).await {
        Ok(Ok(())) => Left::Ended,
        _ => Left::Lost,
    }
}

/// Whether the execution is ours, asked when there is a doubt: after a time in which the database has not heard of us,
/// because we were stopped or cut off, others may have taken it over. The outside must not see a call for nothing.
/// That the database hears of us again does not end the doubt.
async fn still_ours(shared: &Shared, claim: &Claim, sure: &AtomicU64) -> bool {
    if shared.alive() && shared.lapses() == sure.load(Ordering::Acquire) {
        return true;
    }
    while !shared.alive() {
        tokio::time::sleep(DOUBT).await;
    }
    let lapses = shared.lapses();
    // An append of nothing is refused like any other.
    let ours = matches!(shared.writer.append(blank(claim)).await, Ok(Ok(())));
    if ours {
        sure.fetch_max(lapses, Ordering::AcqRel);
    }
    ours
}

async fn wait_until(moment: i64) {
    let ms = u64::try_from(moment - now_ms()).unwrap_or(0);
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}

/// PostgreSQL's text has no NUL; its JSON text has it as an escape.
fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

fn blank(claim: &Claim) -> RunAppend {
    RunAppend {
        tenant_id: claim.tenant_id,
        execution_id: claim.execution_id,
        token: claim.token,
        ..RunAppend::default()
    }
}

fn row_of(entry: &Entry) -> JournalRow {
    let record = entry.record();
    JournalRow {
        seq: entry.seq,
        kind: record.kind.to_owned(),
        node: record.node.into_owned(),
        attempt: i32::try_from(record.attempt).unwrap_or(i32::MAX),
        at: entry.at,
        body: record.body.map(Into::into),
    }
}

fn entry_of(row: &JournalRow) -> Result<Entry, String> {
    let record = Record {
        kind: &row.kind,
        node: row.node.as_str().into(),
        attempt: row.attempt.unsigned_abs(),
        body: row.body.as_deref().map(Into::into),
    };
    Entry::from_record(row.seq, row.at, &record).map_err(|e| e.to_string())
}
