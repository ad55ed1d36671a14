use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::oneshot;

use crate::{BusError, Files, Headers, Subscription};

/// Publish/subscribe and request/reply on subjects, the only way between gateway and core.
///
/// The same on both transports: delivery is at most once; messages that one publisher sends to one
/// subject arrive in order; `*` in a pattern stands for one token and `>` for one or more at its end;
/// of a queue group exactly one member gets each message. A subscription is in force when
/// `subscribe` returns. Payloads over the transport's limit travel by reference, unseen by both ends.
///
/// A request that is dropped unanswered: in-process the requester learns at once
/// ([`BusError::Unanswered`]), over NATS it waits out its timeout. Inside a [`crate::serve`] every
/// request is answered, whatever its handler does.
#[async_trait]
pub trait Bus: Send + Sync + 'static {
    /// Hands the message to whoever subscribes now; nobody is no error.
    async fn publish(
        &self,
        subject: &str,
        headers: Headers,
        payload: Bytes,
    ) -> Result<(), BusError>;

    /// Sends a request and waits for its first reply. No responder is told at once.
    async fn request(
        &self,
        subject: &str,
        headers: Headers,
        payload: Bytes,
        timeout: Duration,
    ) -> Result<Message, BusError>;

    /// Every message that matches; the subscription ends when it is dropped.
    async fn subscribe(&self, pattern: &str) -> Result<Subscription, BusError>;

    /// This member's share of the messages that match.
    async fn queue_subscribe(&self, pattern: &str, queue: &str) -> Result<Subscription, BusError>;

    /// Answers a request. Only the first answer counts; a requester that has gone is no error.
    async fn respond(
        &self,
        request: &Message,
        headers: Headers,
        payload: Bytes,
    ) -> Result<(), BusError>;

    /// Where both ends keep what is too large for a message; `None` when they have no such place in common.
    fn files(&self) -> Option<Files> {
        None
    }

    /// True words from the other side of the transport: it answers within `timeout`.
    async fn ping(&self, timeout: Duration) -> Result<(), BusError>;

    /// Sends out what is buffered, then ends every subscription; later calls fail with [`BusError::Closed`].
    async fn close(&self);
}

/// One message as a subscriber or requester gets it.
#[derive(Debug, Clone)]
pub struct Message {
    pub subject: Arc<str>,
    pub headers: Headers,
    pub payload: Bytes,
    /// Present when the sender waits for an answer; see [`Bus::respond`].
    pub reply: Option<ReplyTo>,
}

impl Message {
    /// What it takes to answer, without holding on to the payload.
    pub(crate) fn without_payload(&self) -> Self {
        Self {
            subject: self.subject.clone(),
            headers: Headers::new(),
            payload: Bytes::new(),
            reply: self.reply.clone(),
        }
    }
}

/// The way back to a requester.
#[derive(Clone)]
pub struct ReplyTo(pub(crate) ReplyPath);

#[derive(Clone)]
pub(crate) enum ReplyPath {
    Local(Arc<ReplySlot>),
    Subject(Arc<str>),
}

impl fmt::Debug for ReplyTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ReplyPath::Local(_) => f.write_str("local requester"),
            ReplyPath::Subject(subject) => f.write_str(subject),
        }
    }
}

/// Filled by the first answer; when the last copy of the request goes unanswered, the requester sees it empty.
pub(crate) struct ReplySlot(Mutex<Option<oneshot::Sender<Message>>>);

impl ReplySlot {
    pub(crate) fn new(sender: oneshot::Sender<Message>) -> Self {
        Self(Mutex::new(Some(sender)))
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.lock()
            .as_ref()
            .is_some_and(|sender| !sender.is_closed())
    }

    pub(crate) fn fill(&self, message: Message) {
        if let Some(sender) = self.lock().take() {
            // The requester may have given up in the meantime, which is its right.
            let _ = sender.send(message);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<oneshot::Sender<Message>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many messages may wait unread in one subscription before new ones are dropped and counted.
/// Memory is taken only by messages that wait, never up front.
#[derive(Debug, Clone, Copy)]
pub struct Pending {
    /// For [`Bus::subscribe`]: progress streams, whose reader can re-read what it missed.
    pub subscription: usize,
    /// For [`Bus::queue_subscribe`]: work.
    pub queue: usize,
}

impl Default for Pending {
    fn default() -> Self {
        Self {
            subscription: 4_096,
            queue: 65_536,
        }
    }
}
