use std::sync::Arc;

use futures::StreamExt;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::convert;
use crate::bus::Message;
use crate::router::Router;
use crate::subscription::{Queue, Source};

/// Moves messages from a broker subscription to where they are read, and never waits for the reader:
/// so it is our queue that overflows, and the right subscription that hears of it.
pub(super) struct Pump {
    drain: Option<oneshot::Sender<()>>,
    task: AbortHandle,
}

pub(super) enum Target {
    Queue(Arc<Queue>),
    Router(Arc<Router>),
}

impl Pump {
    pub(super) fn start(mut subscriber: async_nats::Subscriber, target: Target) -> Self {
        let (drain, mut asked) = oneshot::channel();
        let task = tokio::spawn(async move {
            loop {
                tokio::select! {
                    biased;
                    message = subscriber.next() => match message {
                        Some(message) => target.take(message),
                        None => break,
                    },
                    asked = &mut asked, if !asked.is_terminated() => {
                        if asked.is_ok() && subscriber.drain().await.is_err() {
                            break;
                        }
                    }
                }
            }
            target.close();
        });
        Self {
            drain: Some(drain),
            task: task.abort_handle(),
        }
    }
}

impl Source for Pump {
    fn drain(&mut self, _queue: &Queue) {
        if let Some(drain) = self.drain.take() {
            // The pump may have ended with the connection.
            let _ = drain.send(());
        }
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Target {
    fn take(&self, message: async_nats::Message) {
        match self {
            Self::Queue(queue) => {
                queue.push(&convert::from_nats(message));
            }
            // Most progress is for other processes; only ours is worth converting.
            Self::Router(router) if router.has_interest(&message.subject) => {
                let message: Message = convert::from_nats(message);
                router.route(&message);
            }
            Self::Router(_) => {}
        }
    }

    fn close(&self) {
        match self {
            Self::Queue(queue) => queue.close(),
            Self::Router(router) => router.close(),
        }
    }
}
