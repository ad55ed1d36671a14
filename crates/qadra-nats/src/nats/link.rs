use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_nats::{Event, ServerError};
use tokio::sync::watch;

use crate::BusError;
use crate::subscription::{Queue, Source};

/// State of the connection, and the queues that must hear of its breaks.
pub(super) struct Link {
    state: watch::Sender<State>,
    reconnects: watch::Sender<u64>,
    queues: Arc<Queues>,
    client: Mutex<Option<async_nats::Client>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Connecting,
    Connected,
    Away,
    /// Closed by us; what is buffered is still going out.
    Closing,
    Closed,
}

#[derive(Default)]
struct Queues {
    next: AtomicU64,
    table: Mutex<HashMap<u64, Arc<Queue>>>,
}

impl Default for Link {
    fn default() -> Self {
        Self {
            state: watch::Sender::new(State::Connecting),
            reconnects: watch::Sender::new(0),
            queues: Arc::default(),
            client: Mutex::default(),
        }
    }
}

impl Link {
    /// The client whose state we follow; it is let go with [`Link::detach`], for it keeps the connection open.
    pub(super) fn attach(&self, client: &async_nats::Client) {
        self.reconnects.send_replace(connects(client));
        *self.client() = Some(client.clone());
        self.follow(client);
    }

    pub(super) fn detach(&self) {
        *self.client() = None;
        self.ended();
    }

    pub(super) fn on_event(&self, event: Event) {
        match event {
            Event::Connected => {
                if self.change(State::Connected) == State::Away {
                    tracing::info!("connected to the broker again");
                }
                self.note_reconnects();
                return;
            }
            Event::Disconnected => {
                if self.change(State::Away) == State::Connected {
                    tracing::warn!("connection to the broker lost");
                }
                return;
            }
            Event::Closed => self.ended(),
            Event::SlowConsumer(_) | Event::ServerError(ServerError::SlowConsumer(_)) => {
                tracing::debug!("messages lost, this process reads too slowly");
                self.tell_all_of_a_loss();
            }
            Event::ServerError(error) => tracing::warn!(%error, "broker reports an error"),
            Event::ClientError(error) => tracing::debug!(%error, "connection attempt failed"),
            Event::LameDuckMode | Event::Draining => {}
        }
        // Events are dropped when too many wait. A change of the connection that was dropped stood
        // behind others, so looking at the state itself on each of those makes up for it. On the two
        // above we must not look: the state changes a moment after they are sent.
        let client = self.client().clone();
        if let Some(client) = client {
            self.follow(&client);
            self.note_reconnects();
        }
    }

    fn follow(&self, client: &async_nats::Client) {
        match client.connection_state() {
            async_nats::connection::State::Connected => self.change(State::Connected),
            async_nats::connection::State::Disconnected => self.change(State::Away),
            async_nats::connection::State::Pending => State::Connecting,
        };
    }

    fn note_reconnects(&self) {
        if let Some(client) = &*self.client() {
            let count = connects(client);
            self.reconnects
                .send_if_modified(|seen| std::mem::replace(seen, count) < count);
        }
    }

    fn client(&self) -> MutexGuard<'_, Option<async_nats::Client>> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn check(&self) -> Result<(), BusError> {
        match *self.state.borrow() {
            State::Closing | State::Closed => Err(BusError::Closed),
            _ => Ok(()),
        }
    }

    pub(super) fn check_connected(&self) -> Result<(), BusError> {
        match *self.state.borrow() {
            State::Connected => Ok(()),
            State::Closing | State::Closed => Err(BusError::Closed),
            State::Connecting | State::Away => Err(BusError::Disconnected),
        }
    }

    pub(super) async fn wait_connected(&self) -> Result<(), BusError> {
        let mut state = self.state.subscribe();
        let waited = state
            .wait_for(|state| !matches!(state, State::Connecting | State::Away))
            .await;
        match waited.map(|state| *state) {
            Ok(State::Connected) => Ok(()),
            _ => Err(BusError::Closed),
        }
    }

    pub(super) async fn wait_closed(&self) {
        let _ = self
            .state
            .subscribe()
            .wait_for(|state| *state == State::Closed)
            .await;
    }

    pub(super) fn reconnects(&self) -> watch::Receiver<u64> {
        self.reconnects.subscribe()
    }

    /// We want to end: readers see their streams end, new calls fail.
    pub(super) fn close(&self) {
        self.change(State::Closing);
        self.close_queues();
    }

    /// The connection is gone for good.
    pub(super) fn ended(&self) {
        self.change(State::Closed);
        self.close_queues();
    }

    pub(super) fn tell_all_of_a_loss(&self) {
        self.queues
            .lock()
            .values()
            .for_each(|queue| queue.add_lost(1));
    }

    /// Notes a queue for as long as its source lives.
    pub(super) fn enter(&self, queue: Arc<Queue>, source: Box<dyn Source>) -> Box<dyn Source> {
        let number = self.queues.next.fetch_add(1, Ordering::Relaxed);
        let closed = self.check().is_err();
        if closed {
            queue.close();
        }
        self.queues.lock().insert(number, queue);
        Box::new(Noted {
            source,
            number,
            queues: self.queues.clone(),
        })
    }

    fn close_queues(&self) {
        self.queues.lock().values().for_each(|queue| queue.close());
    }

    /// Sets the state unless the end has come, and returns what it was.
    fn change(&self, to: State) -> State {
        let mut was = to;
        self.state.send_if_modified(|state| {
            was = *state;
            let allowed = match *state {
                State::Closed => false,
                State::Closing => to == State::Closed,
                _ => true,
            };
            if allowed {
                *state = to;
            }
            allowed && was != to
        });
        was
    }
}

fn connects(client: &async_nats::Client) -> u64 {
    client.statistics().connects.load(Ordering::Relaxed)
}

impl Queues {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Queue>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Noted {
    source: Box<dyn Source>,
    number: u64,
    queues: Arc<Queues>,
}

impl Source for Noted {
    fn drain(&mut self, queue: &Queue) {
        self.source.drain(queue);
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        self.queues.lock().remove(&self.number);
    }
}
