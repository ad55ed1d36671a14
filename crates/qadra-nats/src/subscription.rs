use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use futures::Stream;
use futures::future::BoxFuture;

use crate::{BusError, Message, Objects};

/// Messages of one pattern, until it is dropped.
///
/// As a `Stream` it yields the messages. [`Subscription::recv`] tells of losses as well: those that its
/// own slowness caused, and those that may have happened while the broker was away.
pub struct Subscription {
    queue: Arc<Queue>,
    /// Ends the flow of messages at its source when dropped or told to.
    source: Box<dyn Source>,
    objects: Option<Arc<Objects>>,
    fetching: Option<BoxFuture<'static, Result<Message, BusError>>>,
    told: u64,
}

/// What [`Subscription::recv`] yields.
#[derive(Debug)]
pub enum Delivery {
    Message(Message),
    /// So many messages, or at least one of unknown number after a broken connection, will never come:
    /// read the state from the store again.
    Lost(u64),
}

/// The transport's side of a subscription. Dropping it unsubscribes.
pub(crate) trait Source: Send + Sync {
    /// Asks for no more messages; those under way still arrive, then the queue is closed.
    fn drain(&mut self, queue: &Queue);
}

impl Subscription {
    pub(crate) fn new(
        queue: Arc<Queue>,
        source: Box<dyn Source>,
        objects: Option<Arc<Objects>>,
    ) -> Self {
        let told = queue.lost();
        Self {
            queue,
            source,
            objects,
            fetching: None,
            told,
        }
    }

    /// The next message, or word that some were lost; `None` when the bus is closed or after
    /// [`Subscription::unsubscribe`] when all have been read. Cancel-safe.
    pub async fn recv(&mut self) -> Option<Delivery> {
        poll_fn(|cx| self.poll_delivery(cx)).await
    }

    /// The next message; see [`Subscription::recv`].
    pub async fn next(&mut self) -> Option<Message> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// How many messages this subscription has missed so far. It only grows.
    pub fn lost(&self) -> u64 {
        self.queue.lost()
    }

    /// Takes no new messages; those that have arrived can still be read.
    pub fn unsubscribe(&mut self) {
        self.source.drain(&self.queue);
    }

    /// A message whose payload may still be a reference, for readers that fetch it elsewhere.
    pub(crate) async fn next_unresolved(&mut self) -> Option<Message> {
        poll_fn(|cx| self.queue.poll_pop(cx)).await
    }

    pub(crate) fn objects(&self) -> Option<Arc<Objects>> {
        self.objects.clone()
    }

    fn poll_delivery(&mut self, cx: &mut Context<'_>) -> Poll<Option<Delivery>> {
        loop {
            if let Some(fetch) = &mut self.fetching {
                let fetched = ready!(fetch.as_mut().poll(cx));
                self.fetching = None;
                match fetched {
                    Ok(message) => return Poll::Ready(Some(Delivery::Message(message))),
                    Err(error) => {
                        tracing::warn!(%error, "message dropped, its payload cannot be read");
                        self.queue.add_lost(1);
                    }
                }
            }
            let lost = self.queue.lost();
            if lost > self.told {
                let news = lost - self.told;
                self.told = lost;
                return Poll::Ready(Some(Delivery::Lost(news)));
            }
            let popped = self.queue.poll_pop(cx);
            // A loss noted since the look above found no reader to wake.
            if popped.is_pending() && self.queue.lost() > self.told {
                continue;
            }
            match ready!(popped) {
                None => return Poll::Ready(None),
                Some(message) if Objects::is_reference(&message) => {
                    self.fetching = Some(Box::pin(Objects::resolve(self.objects.clone(), message)));
                }
                Some(message) => return Poll::Ready(Some(Delivery::Message(message))),
            }
        }
    }
}

impl Stream for Subscription {
    type Item = Message;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Message>> {
        loop {
            match ready!(self.poll_delivery(cx)) {
                Some(Delivery::Message(message)) => return Poll::Ready(Some(message)),
                Some(Delivery::Lost(_)) => {}
                None => return Poll::Ready(None),
            }
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.queue.abandon();
    }
}

/// Messages between a transport and one reader: bounded, and empty until something waits.
pub(crate) struct Queue {
    capacity: usize,
    lost: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Message>,
    reader: Option<Waker>,
    closed: bool,
}

/// What became of a pushed message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Push {
    Taken,
    Full,
    Closed,
}

impl Queue {
    pub(crate) fn new(capacity: usize) -> Arc<Self> {
        Arc::new(Self {
            capacity,
            lost: AtomicU64::new(0),
            state: Mutex::default(),
        })
    }

    /// Appends, or counts the message as lost when the reader is too far behind.
    pub(crate) fn push(&self, message: &Message) -> Push {
        let outcome = self.offer(message);
        if outcome == Push::Full {
            self.add_lost(1);
        }
        outcome
    }

    /// Appends if there is room; the caller has somewhere else to turn, so nothing is counted.
    pub(crate) fn offer(&self, message: &Message) -> Push {
        let mut state = self.lock();
        if state.closed {
            return Push::Closed;
        }
        if state.waiting.len() >= self.capacity {
            return Push::Full;
        }
        state.waiting.push_back(message.clone());
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
        Push::Taken
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Acquire)
    }

    pub(crate) fn add_lost(&self, count: u64) {
        self.lost.fetch_add(count, Ordering::AcqRel);
        let mut state = self.lock();
        if let Some(reader) = state.reader.take() {
            drop(state);
            reader.wake();
        }
    }

    /// No more will come; what waits can be read.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        if let Some(reader) = state.reader.take() {
            drop(state);
            reader.wake();
        }
    }

    /// The reader is gone: requests that wait are dropped now, which their requesters notice.
    fn abandon(&self) {
        let mut state = self.lock();
        state.closed = true;
        let unread = std::mem::take(&mut state.waiting);
        drop(state);
        drop(unread);
    }

    fn poll_pop(&self, cx: &mut Context<'_>) -> Poll<Option<Message>> {
        const WORTH_FREEING: usize = 64;
        let mut state = self.lock();
        if let Some(message) = state.waiting.pop_front() {
            if state.waiting.is_empty() && state.waiting.capacity() > WORTH_FREEING {
                state.waiting = VecDeque::new();
            }
            return Poll::Ready(Some(message));
        }
        if state.closed {
            return Poll::Ready(None);
        }
        match &mut state.reader {
            Some(reader) => reader.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
