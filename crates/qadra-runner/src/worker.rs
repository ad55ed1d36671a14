//! A worker: takes executions that are due, says that it lives, and gives back what it holds when it stops.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use qadra_flow::Graph;
use qadra_nats::{Bus, Headers};
use qadra_store::{Claim, Store};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::Settings;
use crate::fair::Turns;
use crate::nodes::Performer;
use crate::run::{self, Left, Note};
use crate::writer::Writer;

/// Published, without a payload, whenever something has become due.
pub const WAKE: &str = "_FLOW.wake";

/// Executions asked for at once.
const CLAIM_MOST: usize = 200;
/// Compiled graphs kept.
const GRAPHS: usize = 500;

/// An execution in the hands of this worker.
struct Held {
    notes: mpsc::UnboundedSender<Note>,
    stop: CancellationToken,
}

/// What the parts of a worker share.
pub(crate) struct Shared {
    pub(crate) id: Uuid,
    pub(crate) store: Store,
    pub(crate) bus: Arc<dyn Bus>,
    pub(crate) performer: Arc<dyn Performer>,
    pub(crate) settings: Settings,
    pub(crate) writer: Writer,
    pub(crate) graphs: Graphs,
    pub(crate) turns: Turns,
    /// Executions in the hands of this worker.
    runs: Mutex<HashMap<Uuid, Held>>,
    begun: Instant,
    /// When the database last heard of us, in milliseconds after `begun`.
    heard: AtomicU64,
    /// How often it had not heard of us for a lease, and others may have taken over what we hold.
    lapses: AtomicU64,
    draining: AtomicBool,
    wake: Notify,
}

impl Shared {
    /// Whether our lease stands, as far as we can know: nobody has taken over what we hold.
    pub(crate) fn alive(&self) -> bool {
        let now = self.begun.elapsed().as_millis() as u64;
        let heard = self.heard.load(Ordering::Acquire);
        now.saturating_sub(heard) < self.settings.lease.as_millis() as u64
    }

    pub(crate) fn draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// Tells every worker that something is due.
    pub(crate) async fn wake_all(&self) {
        if let Err(error) = self
            .bus
            .publish(WAKE, Headers::new(), Default::default())
            .await
        {
            tracing::debug!(%error, "workers were not woken; they look by themselves");
        }
    }

    /// Changes when the lease has lapsed: what was ours before has to be asked for again.
    pub(crate) fn lapses(&self) -> u64 {
        self.lapses.load(Ordering::Acquire)
    }

    fn heard_at(&self, asked: Instant) {
        let lease = self.settings.lease.as_millis() as u64;
        // The database took the question at some moment until now. Counted before we are alive again, so that nobody
        // sees the one without the other.
        let now = self.begun.elapsed().as_millis() as u64;
        if now.saturating_sub(self.heard.load(Ordering::Acquire)) >= lease {
            self.lapses.fetch_add(1, Ordering::AcqRel);
        }
        // From when we asked: the database counts from an earlier moment than the answer's.
        let ms = asked.saturating_duration_since(self.begun).as_millis() as u64;
        self.heard.fetch_max(ms, Ordering::AcqRel);
    }

    fn runs(&self) -> std::sync::MutexGuard<'_, HashMap<Uuid, Held>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compiled graphs by snapshot, which never changes.
#[derive(Default)]
pub(crate) struct Graphs(Mutex<HashMap<Uuid, Arc<Graph>>>);

impl Graphs {
    pub(crate) fn get(&self, snapshot: Uuid) -> Option<Arc<Graph>> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&snapshot)
            .cloned()
    }

    pub(crate) fn put(&self, snapshot: Uuid, graph: Arc<Graph>) -> Arc<Graph> {
        let mut graphs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if graphs.len() >= GRAPHS {
            graphs.clear();
        }
        graphs.insert(snapshot, graph.clone());
        graph
    }
}

/// The parts of a worker before it runs.
pub struct Worker {
    pub store: Store,
    pub bus: Arc<dyn Bus>,
    pub performer: Arc<dyn Performer>,
    pub settings: Settings,
    /// For people who look at the table of workers.
    pub name: String,
}

/// A worker that runs.
pub struct Running {
    shared: Arc<Shared>,
    name: String,
    /// Ends the tasks that take work.
    quiet: CancellationToken,
    /// Ends everything.
    stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
    runs: TaskTracker,
}

impl Worker {
    /// Starts to work. Everything that is due and that nobody works on is taken up, whoever began it.
    pub async fn start(self) -> Result<Running, qadra_nats::BusError> {
        let id = Uuid::new_v4();
        let (writer, writing) = Writer::start(self.store.clone(), id);
        let begun = Instant::now();
        let shared = Arc::new(Shared {
            id,
            turns: Turns::new(self.settings.parallel, self.settings.parallel_per_tenant),
            store: self.store,
            bus: self.bus,
            performer: self.performer,
            settings: self.settings,
            writer,
            graphs: Graphs::default(),
            runs: Mutex::default(),
            begun,
            heard: AtomicU64::new(0),
            lapses: AtomicU64::new(0),
            draining: AtomicBool::new(false),
            wake: Notify::new(),
        });
        let (quiet, stop, runs) = (
            CancellationToken::new(),
            CancellationToken::new(),
            TaskTracker::new(),
        );
        let mut woken = shared.bus.subscribe(WAKE).await?;
        let listener = {
            let (shared, quiet) = (shared.clone(), quiet.clone());
            tokio::spawn(async move {
                loop {
                    tokio::select! {
                        () = quiet.cancelled() => return,
                        message = woken.next() => match message {
                            Some(_) => shared.wake.notify_one(),
                            // The bus is closing; the polls go on.
                            None => return,
                        },
                    }
                }
            })
        };
        let beating = tokio::spawn(beat(shared.clone(), self.name.clone(), stop.clone()));
        let claiming = tokio::spawn(claim(
            shared.clone(),
            self.name.clone(),
            quiet.clone(),
            stop.clone(),
            runs.clone(),
        ));
        // The writer ends with the last run that holds it; nobody waits for it.
        drop(writing);
        Ok(Running {
            shared,
            name: self.name,
            quiet,
            stop,
            tasks: vec![listener, beating, claiming],
            runs,
        })
    }
}

impl Running {
    pub fn id(&self) -> Uuid {
        self.shared.id
    }

    /// Executions in the hands of this worker.
    pub fn holds(&self) -> usize {
        self.shared.runs().len()
    }

    /// Takes nothing new, lets attempts that are under way end until `deadline`, and gives back all executions.
    pub async fn drain(self, deadline: Duration) {
        self.shared.draining.store(true, Ordering::Release);
        self.quiet.cancel();
        self.runs.close();
        for held in self.shared.runs().values() {
            // A look at the inbox does no harm, and makes the run see that the worker stops.
            let _ = held.notes.send(Note::Inbox);
        }
        if timeout(deadline, self.runs.wait()).await.is_err() {
            tracing::warn!(
                executions = self.holds(),
                "executions were given back with attempts under way"
            );
        }
        self.stop.cancel();
        let _ = timeout(Duration::from_secs(1), self.runs.wait()).await;
        match timeout(
            Duration::from_secs(2),
            self.shared.store.flow_release(self.shared.id),
        )
        .await
        {
            Ok(Ok(_)) => self.shared.wake_all().await,
            Ok(Err(error)) => {
                tracing::warn!(%error, worker = self.name, "the worker could not sign off; its lease runs out")
            }
            Err(_) => tracing::warn!(
                worker = self.name,
                "the worker could not sign off in time; its lease runs out"
            ),
        }
        for task in self.tasks {
            task.abort();
        }
    }
}

/// Says that the worker lives, and passes on which inboxes have something.
async fn beat(shared: Arc<Shared>, name: String, stop: CancellationToken) {
    let every = shared.settings.lease / 3;
    loop {
        heartbeat(&shared, &name).await;
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(every) => {}
        }
    }
}

async fn heartbeat(shared: &Shared, name: &str) {
    let asked = Instant::now();
    let patience = shared.settings.lease / 2;
    match timeout(
        patience,
        shared
            .store
            .flow_heartbeat(shared.id, name, shared.draining()),
    )
    .await
    {
        Ok(Ok(inboxes)) => {
            shared.heard_at(asked);
            let runs = shared.runs();
            for (_, execution) in inboxes {
                if let Some(held) = runs.get(&execution) {
                    let _ = held.notes.send(Note::Inbox);
                }
            }
        }
        Ok(Err(error)) => tracing::warn!(%error, "the database did not take a sign of life"),
        Err(_) => tracing::warn!("the database did not answer a sign of life in time"),
    }
}

/// Takes executions as they become due, and starts a task for each.
async fn claim(
    shared: Arc<Shared>,
    name: String,
    quiet: CancellationToken,
    stop: CancellationToken,
    tasks: TaskTracker,
) {
    let mut idle = Duration::ZERO;
    let mut woken = true;
    // Whose the executions are must be told by name from the first one on.
    heartbeat(&shared, &name).await;
    loop {
        if !idle.is_zero() {
            tokio::select! {
                () = quiet.cancelled() => return,
                () = shared.wake.notified() => woken = true,
                () = tokio::time::sleep(idle) => {}
            }
        }
        if quiet.is_cancelled() {
            return;
        }
        if std::mem::take(&mut woken) && !shared.runs().is_empty() {
            // What has become due may be a message for an execution that is ours already.
            heartbeat(&shared, &name).await;
        }
        let room = shared
            .settings
            .runs
            .saturating_sub(shared.runs().len())
            .min(CLAIM_MOST);
        idle = shared.settings.poll;
        if room == 0 {
            continue;
        }
        let asked = Instant::now();
        let claims = shared
            .store
            .flow_claim(
                shared.id,
                room as i32,
                shared.settings.runs_per_tenant as i32,
                shared.settings.lease,
            )
            .await;
        let claims = match claims {
            Ok(claims) => claims,
            Err(error) => {
                tracing::warn!(%error, "no executions could be taken");
                continue;
            }
        };
        shared.heard_at(asked);
        let full = claims.len() == room;
        for claim in claims {
            take(&shared, claim, &stop, &tasks);
        }
        if full {
            idle = Duration::ZERO;
        } else if let Ok(Some(next)) = shared.store.flow_next_ready().await {
            // Due already and not taken: the tenant has as many at work as it may. One that ends wakes us.
            let until = next.signed_duration_since(chrono::Utc::now()).to_std();
            idle = until.map_or(idle, |until| idle.min(until.max(Duration::from_millis(1))));
        }
    }
}

fn take(shared: &Arc<Shared>, claim: Claim, stop: &CancellationToken, tasks: &TaskTracker) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let execution = claim.execution_id;
    let stop = stop.child_token();
    let held = Held {
        notes: sender.clone(),
        stop: stop.clone(),
    };
    // We had it, lost it and have it again. The task that does not know yet must not go on beside the new one: a claim
    // that a crash of PostgreSQL undid may even have had the same token.
    if let Some(old) = shared.runs().insert(execution, held) {
        old.stop.cancel();
    }
    let mine = sender.clone();
    let shared = shared.clone();
    let sure = shared.lapses();
    tasks.spawn(async move {
        let left = run::drive(shared.clone(), claim, sure, (sender, receiver), stop).await;
        {
            let mut runs = shared.runs();
            if runs
                .get(&execution)
                .is_some_and(|h| h.notes.same_channel(&mine))
            {
                runs.remove(&execution);
            }
        }
        tracing::debug!(%execution, ?left, "let go of an execution");
        if left != Left::Lost {
            // There is room for another, of this tenant perhaps.
            shared.wake.notify_one();
        }
    });
}
