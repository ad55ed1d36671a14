//! The work on documents: taken from its table in fair turns, bounded, and taken up again after any death.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use qadra_store::{Job, JobKind, StoreError, TenantTx};
use qadra_types::{Code, Fault};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::App;

/// How often the table is looked at when nothing here has put work into it: another process may have.
const EVERY: Duration = Duration::from_secs(2);
/// How often the work of dead processes is looked for.
const RECOVER: Duration = Duration::from_secs(10);
/// Tries of one piece of work. What ended the program each time is not tried for ever.
const ATTEMPTS: i32 = 3;
/// Waits before the second and third try, in seconds.
const AGAIN: [i32; 2] = [2, 15];
/// The longest that a piece of work may take in all.
const LONGEST: Duration = Duration::from_secs(1_800);

/// This process's share of the work.
#[derive(Default)]
pub(crate) struct Work {
    /// Rung when work was put in line here.
    pub(crate) bell: Notify,
    live: Mutex<Vec<Uuid>>,
}

/// Why a piece of work ended without being done.
pub(crate) enum Stop {
    /// It can never be done; the document is told so.
    Failed(Fault),
    /// It could not be done now.
    Again(Fault),
    /// Somebody took it away: another state, another worker, a deletion.
    Lost,
}

impl From<StoreError> for Stop {
    fn from(e: StoreError) -> Self {
        Self::Again(e.into())
    }
}

impl Work {
    fn live(&self) -> Vec<Uuid> {
        self.live
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn begin(&self, claim: Uuid) {
        self.live
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(claim);
    }

    fn end(&self, claim: Uuid) {
        self.live
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|c| *c != claim);
    }
}

impl App {
    /// Works until stopped, then gives back what is not done.
    pub(crate) async fn documents_work(self: Arc<Self>, stop: CancellationToken) {
        self.store.enable_vectors().await;
        let mut running = JoinSet::new();
        let mut recover_at = Instant::now();
        let mut swept = 0_u32;
        while !stop.is_cancelled() {
            if Instant::now() >= recover_at {
                recover_at = Instant::now() + RECOVER;
                self.jobs_recover().await;
                if swept.is_multiple_of(180)
                    && let Some(files) = self.bus.files()
                    && let Err(e) = files.sweep(qadra_nats::Objects::MAX_AGE).await
                {
                    tracing::warn!(error = %e, "unclaimed uploads could not be swept");
                }
                swept += 1;
            }
            while running.len() < self.settings.document_workers {
                match self.job_take().await {
                    Ok(Some(job)) => {
                        self.documents.begin(job.claim);
                        let (app, stop) = (self.clone(), stop.clone());
                        running.spawn(async move {
                            app.job_run(job, stop).await;
                            app.documents.end(job.claim);
                        });
                    }
                    Ok(None) => break,
                    Err(e) => {
                        tracing::warn!(error = %e, "work on documents could not be looked for");
                        break;
                    }
                }
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.documents.bell.notified() => {}
                Some(_) = running.join_next(), if !running.is_empty() => {}
                () = tokio::time::sleep(EVERY) => {}
            }
        }
        while running.join_next().await.is_some() {}
    }

    async fn jobs_recover(&self) {
        let done = async {
            let mut tx = self.store.system().await?;
            let found = tx
                .jobs_recover(self.owner_lock, &self.documents.live())
                .await?;
            tx.commit().await?;
            Ok::<_, StoreError>(found)
        };
        match done.await {
            Ok(0) => {}
            Ok(n) => tracing::info!(jobs = n, "took up documents that a stopped process left"),
            Err(e) => {
                tracing::warn!(error = %e, "work of stopped processes could not be looked for")
            }
        }
    }

    async fn job_take(&self) -> Result<Option<Job>, StoreError> {
        let mut tx = self.store.system().await?;
        let job = tx.job_take(self.owner_lock).await?;
        tx.commit().await?;
        Ok(job)
    }

    async fn job_run(&self, job: Job, stop: CancellationToken) {
        let work = async {
            if job.attempts > ATTEMPTS {
                let detail = format!(
                    "working on the document ended the program {} times",
                    job.attempts - 1
                );
                return Err(Stop::Failed(Fault::new(Code::DocumentUnreadable, detail)));
            }
            match job.kind {
                JobKind::Analyze => self.document_analyze(&job).await,
                JobKind::Process => self.document_process(&job).await,
            }
        };
        let work = AssertUnwindSafe(tokio::time::timeout(LONGEST, work)).catch_unwind();
        let ended = tokio::select! {
            biased;
            () = stop.cancelled() => {
                self.job_give_back(&job, 0, false).await;
                return;
            }
            ended = work => ended,
        };
        let stopped = match ended {
            Ok(Ok(Ok(()) | Err(Stop::Lost))) => return,
            Ok(Ok(Err(stopped))) => stopped,
            Ok(Err(_)) => Stop::Failed(Fault::new(
                Code::DocumentTimeout,
                format!(
                    "the document took more than {} minutes",
                    LONGEST.as_secs() / 60
                ),
            )),
            Err(_) => {
                tracing::error!(document_id = %job.document_id, "work on a document panicked");
                Stop::Again(Fault::new(
                    Code::Internal,
                    "working on the document failed inside",
                ))
            }
        };
        let fault = match stopped {
            Stop::Lost => return,
            Stop::Again(fault) => {
                tracing::warn!(document_id = %job.document_id, attempt = job.attempts, error = %fault, "work on a document failed");
                let wait = usize::try_from(job.attempts - 1)
                    .ok()
                    .and_then(|at| AGAIN.get(at));
                if let Some(wait) = wait {
                    self.job_give_back(&job, *wait, true).await;
                    return;
                }
                fault
            }
            Stop::Failed(fault) => fault,
        };
        if let Err(Stop::Again(e)) = self.job_fail(&job, &fault).await {
            tracing::warn!(document_id = %job.document_id, error = %e, "a document's failure could not be stored");
            // Its lock goes with this process, and the work is tried again then.
            self.job_give_back(&job, 15, true).await;
        }
    }

    async fn job_give_back(&self, job: &Job, after_seconds: i32, counted: bool) {
        let done = async {
            let mut tx = self.store.tenant_id(job.tenant_id).await?;
            tx.job_release(job.document_id, job.claim, after_seconds, counted)
                .await?;
            tx.commit().await
        };
        if let Err(e) = done.await {
            tracing::warn!(document_id = %job.document_id, error = %e, "work on a document could not be given back");
        }
    }

    /// A transaction in which the claim holds. The document is locked before the work, as everybody does.
    pub(crate) async fn job_tx(&self, job: &Job) -> Result<TenantTx, Stop> {
        let mut tx = self.store.tenant_id(job.tenant_id).await?;
        if tx.document_lock(job.document_id).await?.is_none()
            || !tx.job_hold(job.document_id, job.claim).await?
        {
            return Err(Stop::Lost);
        }
        Ok(tx)
    }
}
