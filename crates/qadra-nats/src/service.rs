use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use qadra_types::{Code, Fault};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::{Bus, BusError, Headers, Message, Objects, Reply, Subscription};

/// What a service listens to, and how much it does at once.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    pub pattern: String,
    /// Services of one name share the work.
    pub queue: String,
    /// Messages handled at the same time; the others wait in the subscription.
    pub concurrency: usize,
}

impl ServeOptions {
    pub fn new(pattern: impl Into<String>, queue: impl Into<String>) -> Self {
        Self {
            pattern: pattern.into(),
            queue: queue.into(),
            concurrency: 256,
        }
    }

    pub fn concurrency(mut self, concurrency: usize) -> Self {
        self.concurrency = concurrency;
        self
    }
}

/// Answers the messages of a pattern with what `handler` returns, each on a task of its own.
///
/// Every request gets an answer: a handler that panics answers `INTERNAL`, one that is cut off by
/// [`ServeHandle::stop`] answers `UNAVAILABLE`, and a payload reference that does not hold is refused
/// before the handler sees it. Dropping the handle stops the service without waiting.
pub async fn serve<H, F, T>(
    bus: Arc<dyn Bus>,
    options: ServeOptions,
    handler: H,
) -> Result<ServeHandle, BusError>
where
    H: Fn(Message) -> F + Send + Sync + 'static,
    F: Future<Output = Reply<T>> + Send + 'static,
    T: Serialize + Send + 'static,
{
    let subscription = bus
        .queue_subscribe(&options.pattern, &options.queue)
        .await?;
    let stopping = Stopping::default();
    let service = Service {
        permits: Arc::new(Semaphore::new(
            options.concurrency.clamp(1, Semaphore::MAX_PERMITS),
        )),
        worker: Arc::new(Worker {
            bus,
            handler,
            objects: subscription.objects(),
            stopping: stopping.clone(),
        }),
    };
    stopping.tasks.spawn(service.run(subscription));
    Ok(ServeHandle(stopping))
}

/// A running service.
#[must_use = "dropping the handle stops the service"]
pub struct ServeHandle(Stopping);

/// How a service ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// Messages that were answered with `UNAVAILABLE` because the deadline had come.
    pub cut_off: usize,
}

impl ServeHandle {
    /// Takes no new messages, finishes those that had arrived, and after `deadline` answers the rest
    /// with `UNAVAILABLE`.
    pub async fn stop(self, deadline: Duration) -> Stopped {
        let stopping = &self.0;
        stopping.take_no_more.cancel();
        stopping.tasks.close();
        if tokio::time::timeout(deadline, stopping.tasks.wait())
            .await
            .is_err()
        {
            stopping.cut.cancel();
            stopping.tasks.wait().await;
        }
        Stopped {
            cut_off: stopping.cut_off.load(Ordering::Acquire),
        }
    }
}

impl Drop for ServeHandle {
    fn drop(&mut self) {
        self.0.take_no_more.cancel();
        self.0.cut.cancel();
    }
}

/// What handle, service and workers share in order to end together.
#[derive(Clone, Default)]
struct Stopping {
    take_no_more: CancellationToken,
    /// Only ever cancelled after `take_no_more`.
    cut: CancellationToken,
    tasks: TaskTracker,
    cut_off: Arc<AtomicUsize>,
}

struct Service<H> {
    permits: Arc<Semaphore>,
    worker: Arc<Worker<H>>,
}

struct Worker<H> {
    bus: Arc<dyn Bus>,
    handler: H,
    objects: Option<Arc<Objects>>,
    stopping: Stopping,
}

impl<H, F, T> Service<H>
where
    H: Fn(Message) -> F + Send + Sync + 'static,
    F: Future<Output = Reply<T>> + Send + 'static,
    T: Serialize + Send + 'static,
{
    async fn run(self, mut subscription: Subscription) {
        let Stopping {
            take_no_more,
            cut,
            tasks,
            ..
        } = self.worker.stopping.clone();
        let mut taking = true;
        loop {
            // The permit first: a message that cannot run yet waits in the subscription, where the bound is.
            let next = async {
                let permit = tokio::select! {
                    permit = self.permits.clone().acquire_owned() => permit.ok(),
                    () = cut.cancelled() => None,
                };
                // What waits is taken even now, in order to be told that the service stops.
                tokio::select! {
                    biased;
                    message = subscription.next_unresolved() => message.map(|message| (permit, message)),
                    () = cut.cancelled(), if !taking => None,
                }
            };
            let next = tokio::select! {
                next = next => next,
                () = take_no_more.cancelled(), if taking => {
                    taking = false;
                    subscription.unsubscribe();
                    continue;
                }
            };
            let Some((permit, message)) = next else { break };
            let worker = self.worker.clone();
            tasks.spawn(async move {
                worker.answer(message).await;
                drop(permit);
            });
        }
    }
}

impl<H, F, T> Worker<H>
where
    H: Fn(Message) -> F + Send + Sync + 'static,
    F: Future<Output = Reply<T>> + Send + 'static,
    T: Serialize + Send + 'static,
{
    async fn answer(&self, message: Message) {
        let request = message.without_payload();
        let answer = self.run_or_cut(message).await;
        if request.reply.is_none() {
            return;
        }
        let Err(error) = self.bus.respond(&request, Headers::new(), answer).await else {
            return;
        };
        tracing::warn!(%error, subject = %request.subject, "answer not sent");
        let fault = match error {
            BusError::TooLarge { .. } => failure(Code::TooLarge, "the answer is too large to send"),
            BusError::Object { .. } => failure(Code::Internal, "the answer could not be sent"),
            _ => return,
        };
        if let Err(error) = self.bus.respond(&request, Headers::new(), fault).await {
            tracing::warn!(%error, subject = %request.subject, "nor could the requester be told");
        }
    }

    async fn run_or_cut(&self, message: Message) -> Bytes {
        let cut = &self.stopping.cut;
        // Work that has ended in the same moment counts as done, hence the order.
        let work = async {
            match cut.is_cancelled() {
                true => std::future::pending().await,
                false => self.run(message).await,
            }
        };
        tokio::select! {
            biased;
            answer = work => answer,
            () = cut.cancelled() => {
                self.stopping.cut_off.fetch_add(1, Ordering::AcqRel);
                failure(Code::Unavailable, "the service is stopping")
            }
        }
    }

    async fn run(&self, message: Message) -> Bytes {
        let subject = message.subject.clone();
        let message = match Objects::resolve(self.objects.clone(), message).await {
            Ok(message) => message,
            Err(error) => {
                tracing::warn!(%error, %subject, "request refused");
                return failure(
                    Code::MalformedRequest,
                    "the payload of the request could not be read",
                );
            }
        };
        let handled = async { (self.handler)(message).await.to_bytes() };
        AssertUnwindSafe(handled)
            .catch_unwind()
            .await
            .unwrap_or_else(|_| {
                tracing::error!(%subject, "handler panicked");
                failure(Code::Internal, "something failed inside")
            })
    }
}

fn failure(code: Code, detail: &str) -> Bytes {
    Reply::<()>::error(Fault::new(code, detail)).to_bytes()
}
