use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::oneshot;

use crate::bus::{ReplyPath, ReplySlot};
use crate::objects::Outgoing;
use crate::router::{Routed, Router};
use crate::subjects::{check_pattern, check_queue, check_subject};
use crate::subscription::Queue;
use crate::{Bus, BusError, Files, Headers, Message, Objects, Pending, ReplyTo, Subscription};

/// The transport inside one process, the default of `qadra up`. Copies share one bus.
///
/// A request goes straight into its responder's queue and the reply straight back: no subscription is
/// made for it, and no payload is copied.
#[derive(Clone, Default)]
pub struct InProcess {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    router: Arc<Router>,
    options: InProcessOptions,
}

#[derive(Debug, Clone, Default)]
pub struct InProcessOptions {
    pub pending: Pending,
    /// Above how many bytes of headers and payload a message travels by reference; `None` is never.
    pub limit: Option<usize>,
    pub objects: Option<Arc<Objects>>,
}

impl InProcess {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_options(options: InProcessOptions) -> Self {
        Self {
            inner: Arc::new(Inner {
                router: Arc::default(),
                options,
            }),
        }
    }

    fn open_on(&self, subject: &str) -> Result<&Inner, BusError> {
        check_subject(subject)?;
        match self.inner.router.is_closed() {
            true => Err(BusError::Closed),
            false => Ok(&self.inner),
        }
    }

    fn enter(
        &self,
        pattern: &str,
        group: Option<&str>,
        capacity: usize,
    ) -> Result<Subscription, BusError> {
        check_pattern(pattern)?;
        let queue = Queue::new(capacity);
        let source = self
            .inner
            .router
            .insert(pattern, group, queue.clone())
            .ok_or(BusError::Closed)?;
        Ok(Subscription::new(
            queue,
            source,
            self.inner.options.objects.clone(),
        ))
    }
}

impl Inner {
    async fn outgoing(
        &self,
        subject: &str,
        headers: Headers,
        payload: Bytes,
    ) -> Result<Outgoing, BusError> {
        Outgoing::new(
            self.options.objects.as_ref(),
            self.options.limit,
            subject,
            headers,
            payload,
        )
        .await
    }

    fn forget(&self, path: Option<object_store::path::Path>) {
        if let (Some(objects), Some(path)) = (&self.options.objects, path) {
            objects.forget(path);
        }
    }
}

#[async_trait]
impl Bus for InProcess {
    fn files(&self) -> Option<Files> {
        self.inner.options.objects.as_ref().map(|o| o.files())
    }

    async fn publish(
        &self,
        subject: &str,
        headers: Headers,
        payload: Bytes,
    ) -> Result<(), BusError> {
        let inner = self.open_on(subject)?;
        if !inner.router.has_interest(subject) {
            return Ok(());
        }
        let Outgoing {
            headers, payload, ..
        } = inner.outgoing(subject, headers, payload).await?;
        inner.router.route(&Message {
            subject: subject.into(),
            headers,
            payload,
            reply: None,
        });
        Ok(())
    }

    async fn request(
        &self,
        subject: &str,
        headers: Headers,
        payload: Bytes,
        timeout: Duration,
    ) -> Result<Message, BusError> {
        let inner = self.open_on(subject)?;
        let no_responder = || BusError::NoResponder {
            subject: subject.to_owned(),
        };
        if !inner.router.has_interest(subject) {
            return Err(no_responder());
        }
        let Outgoing {
            headers,
            payload,
            stored,
        } = inner.outgoing(subject, headers, payload).await?;
        let (sender, receiver) = oneshot::channel();
        let reply = ReplyTo(ReplyPath::Local(Arc::new(ReplySlot::new(sender))));
        let request = Message {
            subject: subject.into(),
            headers,
            payload,
            reply: Some(reply),
        };
        if inner.router.route(&request) == Routed::NoSubscriber {
            inner.forget(stored);
            return Err(no_responder());
        }
        // Ours must not be the copy that keeps an unanswered request alive.
        drop(request);
        match tokio::time::timeout(timeout, receiver).await {
            Err(_) => Err(BusError::Timeout {
                subject: subject.to_owned(),
                after: timeout,
            }),
            Ok(Err(_)) => Err(BusError::Unanswered {
                subject: subject.to_owned(),
            }),
            Ok(Ok(reply)) => {
                inner.forget(stored);
                let reply_path = Objects::path_of(&reply.headers);
                let reply = Objects::resolve(inner.options.objects.clone(), reply).await;
                inner.forget(reply_path);
                reply
            }
        }
    }

    async fn subscribe(&self, pattern: &str) -> Result<Subscription, BusError> {
        self.enter(pattern, None, self.inner.options.pending.subscription)
    }

    async fn queue_subscribe(&self, pattern: &str, queue: &str) -> Result<Subscription, BusError> {
        check_queue(queue)?;
        self.enter(pattern, Some(queue), self.inner.options.pending.queue)
    }

    async fn respond(
        &self,
        request: &Message,
        headers: Headers,
        payload: Bytes,
    ) -> Result<(), BusError> {
        let Some(ReplyTo(ReplyPath::Local(slot))) = &request.reply else {
            return Err(BusError::NotARequest {
                subject: request.subject.to_string(),
            });
        };
        if slot.is_wanted() {
            let Outgoing {
                headers, payload, ..
            } = self
                .inner
                .outgoing(&request.subject, headers, payload)
                .await?;
            slot.fill(Message {
                subject: request.subject.clone(),
                headers,
                payload,
                reply: None,
            });
        }
        Ok(())
    }

    async fn ping(&self, _timeout: Duration) -> Result<(), BusError> {
        match self.inner.router.is_closed() {
            true => Err(BusError::Closed),
            false => Ok(()),
        }
    }

    async fn close(&self) {
        self.inner.router.close();
    }
}
