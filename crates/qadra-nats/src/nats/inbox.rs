use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use uuid::Uuid;

use super::link::Link;
use crate::BusError;

/// One subscription that receives the replies to all requests of this connection.
///
/// The client library has one of its own, which keeps a table entry for ever for each request that
/// nobody answered; here the entry goes with the request.
pub(super) struct Inbox {
    prefix: String,
    next: AtomicU64,
    expected: Arc<Expected>,
    task: AbortHandle,
}

#[derive(Default)]
struct Expected(Mutex<HashMap<u64, oneshot::Sender<async_nats::Message>>>);

impl Inbox {
    pub(super) async fn open(
        client: &async_nats::Client,
        prefix: &str,
        link: Arc<Link>,
    ) -> Result<Self, BusError> {
        let prefix = format!("{prefix}.{}.", Uuid::new_v4().simple());
        let mut replies = client
            .subscribe(format!("{prefix}*"))
            .await
            .map_err(|e| BusError::transport("cannot subscribe to replies", e))?;
        let expected = Arc::new(Expected::default());
        let (start, table) = (prefix.len(), expected.clone());
        let task = tokio::spawn(async move {
            while let Some(reply) = replies.next().await {
                let number = reply
                    .subject
                    .get(start..)
                    .and_then(|token| token.parse().ok());
                if let Some(requester) = number.and_then(|number: u64| table.lock().remove(&number))
                {
                    // The requester may just have given up.
                    let _ = requester.send(reply);
                }
            }
            link.ended();
            table.lock().clear();
        });
        Ok(Self {
            prefix,
            next: AtomicU64::new(0),
            expected,
            task: task.abort_handle(),
        })
    }

    /// A reply subject of its own, expected until the returned value is dropped.
    pub(super) fn expect(&self) -> Expectation {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        self.expected.lock().insert(number, sender);
        Expectation {
            subject: format!("{}{number}", self.prefix),
            receiver,
            _entry: Entry {
                number,
                expected: self.expected.clone(),
            },
        }
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(super) struct Expectation {
    subject: String,
    receiver: oneshot::Receiver<async_nats::Message>,
    _entry: Entry,
}

impl Expectation {
    pub(super) fn subject(&self) -> &str {
        &self.subject
    }

    pub(super) async fn reply(&mut self) -> Result<async_nats::Message, BusError> {
        (&mut self.receiver).await.map_err(|_| BusError::Closed)
    }
}

struct Entry {
    number: u64,
    expected: Arc<Expected>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.expected.lock().remove(&self.number);
    }
}

impl Expected {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<async_nats::Message>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
