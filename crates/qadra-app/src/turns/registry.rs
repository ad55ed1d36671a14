use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use qadra_api::{EventPage, StreamEvent};
use qadra_llm::CancellationToken;
use qadra_nats::{Bus, FlowProgressEvent, Headers, Subject};
use qadra_store::StreamRecord;
use serde_json::{Value, json};
use uuid::Uuid;

/// Turns that this process answers, and those that ended a moment ago.
#[derive(Default)]
pub(crate) struct Registry {
    turns: Mutex<HashMap<Uuid, Arc<LiveTurn>>>,
}

impl Registry {
    /// False when a turn of that id is here already, whoever's it is: the id names the progress subject, so a
    /// second one would speak into the first one's stream.
    pub(crate) fn insert(&self, turn: Arc<LiveTurn>) -> bool {
        match self.lock().entry(turn.id) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(turn);
                true
            }
        }
    }

    /// The tenant's turn of that id.
    pub(crate) fn get(&self, tenant_id: Uuid, id: Uuid) -> Option<Arc<LiveTurn>> {
        self.lock()
            .get(&id)
            .filter(|t| t.tenant_id == tenant_id)
            .cloned()
    }

    pub(crate) fn remove(&self, id: Uuid) {
        self.lock().remove(&id);
    }

    pub(crate) fn ids(&self) -> Vec<Uuid> {
        self.lock().keys().copied().collect()
    }

    /// Stops every turn; what each has said so far is kept.
    pub(crate) fn cancel_all(&self) {
        self.lock().values().for_each(|t| t.cancel.cancel());
    }

    pub(crate) fn running(&self) -> usize {
        self.lock().values().filter(|t| !t.ended()).count()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Arc<LiveTurn>>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One turn and everything its stream has said.
pub(crate) struct LiveTurn {
    pub(crate) id: Uuid,
    tenant_id: Uuid,
    pub(crate) cancel: CancellationToken,
    subject: Subject,
    log: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    /// Events in order; the seq of one is its index plus 1.
    events: Vec<Logged>,
    /// Said before the user message was on the disk; follows its event.
    held: Vec<Logged>,
    saved: bool,
    ended: bool,
}

#[derive(Clone)]
enum Logged {
    Token(String),
    Event { name: &'static str, data: Value },
}

/// Events whose data is read from the tables again when a stored stream is replayed.
pub(crate) const USER_SAVED: &str = "user_saved";
pub(crate) const ASSISTANT_MESSAGE: &str = "assistant_message";
/// Events of one answer to a reader that catches up.
const PAGE: usize = 2_000;

impl LiveTurn {
    pub(crate) fn new(tenant_id: Uuid, id: Uuid) -> Arc<Self> {
        Arc::new(Self {
            id,
            tenant_id,
            cancel: CancellationToken::new(),
            subject: Subject::progress(id),
            log: Mutex::default(),
        })
    }

    pub(crate) fn ended(&self) -> bool {
        self.lock().ended
    }

    /// Says that the user message is safe, then everything that was held back for it.
    pub(crate) async fn open(&self, bus: &dyn Bus, user_saved: Value) {
        let fresh = {
            let mut log = self.lock();
            let from = log.events.len();
            log.saved = true;
            log.events.push(Logged::Event {
                name: USER_SAVED,
                data: user_saved,
            });
            log.events.push(Logged::Event {
                name: "thinking",
                data: json!({"status": "Thinking…"}),
            });
            let held = std::mem::take(&mut log.held);
            log.events.extend(held);
            log.wire(from)
        };
        for event in fresh {
            self.publish(bus, &event).await;
        }
    }

    pub(crate) async fn token(&self, bus: &dyn Bus, delta: String) {
        self.emit(bus, Logged::Token(delta)).await;
    }

    pub(crate) async fn event(&self, bus: &dyn Bus, name: &'static str, data: Value) {
        self.emit(bus, Logged::Event { name, data }).await;
    }

    /// The last events of a turn; after them the log is complete.
    pub(crate) async fn close(&self, bus: &dyn Bus, events: Vec<(&'static str, Value)>) {
        let fresh = {
            let mut log = self.lock();
            let from = log.events.len();
            log.events.extend(
                events
                    .into_iter()
                    .map(|(name, data)| Logged::Event { name, data }),
            );
            log.ended = true;
            log.wire(from)
        };
        for event in fresh {
            self.publish(bus, &event).await;
        }
    }

    async fn emit(&self, bus: &dyn Bus, what: Logged) {
        let event = {
            let mut log = self.lock();
            if !log.saved {
                log.held.push(what);
                return;
            }
            log.events.push(what);
            let from = log.events.len() - 1;
            log.wire(from).pop()
        };
        if let Some(event) = event {
            self.publish(bus, &event).await;
        }
    }

    /// Delivery is best effort: a reader that misses an event sees the gap in `seq` and asks for the log.
    async fn publish(&self, bus: &dyn Bus, event: &FlowProgressEvent) {
        if let Err(e) = bus
            .publish(self.subject.as_str(), Headers::new(), event.to_bytes())
            .await
        {
            tracing::debug!(error = %e, turn_id = %self.id, "a progress event was not published");
        }
    }

    /// What a reader that has everything up to `after` has missed.
    pub(crate) fn page(&self, after: u32) -> EventPage {
        let log = self.lock();
        let from = usize::try_from(after)
            .unwrap_or(usize::MAX)
            .min(log.events.len());
        let to = (from + PAGE).min(log.events.len());
        let events = log.events.get(from..to).unwrap_or_default();
        EventPage {
            events: events
                .iter()
                .enumerate()
                .map(|(i, e)| e.stream(from + i + 1))
                .collect(),
            more: to < log.events.len(),
            ended: log.ended && to == log.events.len(),
        }
    }

    /// The log as it is stored, with the events in `closing` that will end it.
    pub(crate) fn record(&self, closing: &[(&'static str, Value)]) -> StreamRecord {
        let log = self.lock();
        // Tokens are cut from the stored answer again, so without one they must be kept themselves.
        let answered = closing.iter().any(|(name, _)| *name == ASSISTANT_MESSAGE);
        let closing = closing.iter().map(|(name, data)| Logged::Event {
            name,
            data: data.clone(),
        });
        let mut events = Vec::new();
        let mut token_chars = Vec::new();
        for (i, e) in log.events.iter().cloned().chain(closing).enumerate() {
            match e {
                Logged::Token(t) if answered => {
                    token_chars.push(i32::try_from(t.chars().count()).unwrap_or(i32::MAX))
                }
                Logged::Token(t) => {
                    let data = json!({"delta": t});
                    events.push(json!({"seq": i + 1, "event": "token", "data": data}));
                }
                Logged::Event { name, data } => {
                    let data = if matches!(name, USER_SAVED | ASSISTANT_MESSAGE) {
                        Value::Null
                    } else {
                        data
                    };
                    events.push(json!({"seq": i + 1, "event": name, "data": data}));
                }
            }
        }
        StreamRecord {
            events: Value::Array(events),
            token_chars,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    fn wire(&self, from: usize) -> Vec<FlowProgressEvent> {
        let fresh = self.events.get(from..).unwrap_or_default();
        fresh
            .iter()
            .enumerate()
            .map(|(i, e)| {
                let StreamEvent { seq, event, data } = e.stream(from + i + 1);
                FlowProgressEvent { event, data, seq }
            })
            .collect()
    }
}

impl Logged {
    fn stream(&self, seq: usize) -> StreamEvent {
        let seq = u32::try_from(seq).unwrap_or(u32::MAX);
        match self {
            Self::Token(delta) => StreamEvent {
                seq,
                event: "token".into(),
                data: json!({"delta": delta}),
            },
            Self::Event { name, data } => StreamEvent {
                seq,
                event: (*name).into(),
                data: data.clone(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qadra_nats::InProcess;

    #[tokio::test]
    async fn nothing_is_said_before_the_message_is_saved_and_all_of_it_after() {
        let bus = InProcess::new();
        let turn = LiveTurn::new(Uuid::nil(), Uuid::from_u128(7));
        let mut heard = bus
            .subscribe(Subject::progress(turn.id).as_str())
            .await
            .unwrap();
        turn.event(&bus, "grounding", json!({})).await;
        turn.token(&bus, "He".into()).await;
        assert!(turn.page(0).events.is_empty());
        turn.open(&bus, json!({"turn_id": turn.id})).await;
        turn.token(&bus, "llo".into()).await;
        turn.close(&bus, vec![("done", json!({}))]).await;
        let page = turn.page(0);
        let names: Vec<_> = page
            .events
            .iter()
            .map(|e| (e.seq, e.event.as_str()))
            .collect();
        let wanted = [
            (1, "user_saved"),
            (2, "thinking"),
            (3, "grounding"),
            (4, "token"),
            (5, "token"),
            (6, "done"),
        ];
        assert_eq!(names, wanted);
        assert!(page.ended && !page.more);
        assert_eq!(turn.page(4).events.len(), 2);
        for (seq, event) in wanted {
            let m = FlowProgressEvent::from_bytes(&heard.next().await.unwrap().payload).unwrap();
            assert_eq!((m.seq, m.event.as_str()), (seq, event));
        }
    }

    #[test]
    fn a_turn_is_its_tenants_and_its_id_is_taken_only_once() {
        let (a, b) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let registry = Registry::default();
        let id = Uuid::from_u128(7);
        assert!(registry.insert(LiveTurn::new(a, id)));
        assert!(
            !registry.insert(LiveTurn::new(b, id)),
            "another tenant cannot take it over"
        );
        assert!(registry.get(a, id).is_some());
        assert!(registry.get(b, id).is_none());
    }
}
