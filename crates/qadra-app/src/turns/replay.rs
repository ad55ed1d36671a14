use qadra_api::{EventPage, StreamEvent};
use qadra_store::StreamRecord;
use serde_json::{Value, json};

use super::registry::{ASSISTANT_MESSAGE, USER_SAVED};

/// The events of an ended turn after seq `after`, put together from its record, the text its tokens were cut
/// from, and what the tables hold for the events that carry rows.
pub(crate) fn replay(
    record: &StreamRecord,
    content: &str,
    user_saved: Value,
    exchange: Value,
    after: u32,
) -> EventPage {
    let named: Vec<StreamEvent> = serde_json::from_value(record.events.clone()).unwrap_or_default();
    let mut named = named.into_iter().peekable();
    let mut rest = content.chars();
    let mut lengths = record.token_chars.iter();
    let mut events = Vec::new();
    for seq in 1.. {
        let event = match named.next_if(|e| e.seq == seq) {
            Some(e) => match e.event.as_str() {
                USER_SAVED => StreamEvent {
                    data: user_saved.clone(),
                    ..e
                },
                ASSISTANT_MESSAGE => StreamEvent {
                    data: exchange.clone(),
                    ..e
                },
                _ => e,
            },
            None => {
                let Some(n) = lengths.next() else { break };
                let delta: String = rest
                    .by_ref()
                    .take(usize::try_from(*n).unwrap_or(0))
                    .collect();
                StreamEvent {
                    seq,
                    event: "token".into(),
                    data: json!({"delta": delta}),
                }
            }
        };
        if seq > after {
            events.push(event);
        }
    }
    EventPage {
        events,
        more: false,
        ended: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turns::registry::LiveTurn;
    use qadra_nats::InProcess;
    use uuid::Uuid;

    #[tokio::test]
    async fn a_stored_stream_replays_as_it_was_said_from_any_event() {
        let bus = InProcess::new();
        let turn = LiveTurn::new(Uuid::nil(), Uuid::from_u128(1));
        let saved = json!({"turn_id": turn.id, "user_message": {"content": "q"}});
        turn.open(&bus, saved.clone()).await;
        for t in ["Zwölf ", "Bären 🐻", " und", " mehr"] {
            turn.token(&bus, t.into()).await;
        }
        turn.event(&bus, "tool_call", json!({"name": "generate_chart"}))
            .await;
        turn.token(&bus, ".".into()).await;
        let exchange = json!({"assistant_message": {"content": "Zwölf Bären 🐻 und mehr."}});
        let closing = vec![
            ("assistant_message", exchange.clone()),
            ("done", json!({"status": "completed"})),
        ];
        let record = turn.record(&closing);
        turn.close(&bus, closing).await;
        let live = turn.page(0).events;
        assert_eq!(live.len(), 10);
        for after in 0..=10 {
            let replayed = replay(
                &record,
                "Zwölf Bären 🐻 und mehr.",
                saved.clone(),
                exchange.clone(),
                after,
            );
            assert_eq!(
                replayed.events,
                live.get(after as usize..).unwrap(),
                "after {after}"
            );
        }
    }
}
