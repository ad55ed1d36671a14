//! Reading and stopping turns, wherever they run.

use std::time::Duration;

use bytes::Bytes;
use qadra_api::{EventPage, StreamEvent, TurnEvents, TurnRef};
use qadra_nats::{Headers, Message as BusMessage, Reply, Subject};
use qadra_types::{Ctx, Fault, Turn, TurnStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::ending::{done_json, interrupted};
use super::replay::replay;
use crate::conversations::{missing, own, readable};
use crate::{App, dispatch};

/// What one process asks of the one that answers a turn, on `_CORE.{owner}`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum OwnerAsk {
    Events {
        tenant_id: Uuid,
        turn_id: Uuid,
        after: u32,
    },
    Cancel {
        tenant_id: Uuid,
        turn_id: Uuid,
    },
}

const OWNER_TIMEOUT: Duration = Duration::from_secs(5);

impl App {
    pub(crate) async fn turn_get(&self, ctx: &Ctx, r: TurnRef) -> Result<Turn, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        readable(&mut tx, ctx, r.conversation_id).await?;
        let (turn, _) = tx
            .turn_get(r.conversation_id, r.turn_id)
            .await?
            .ok_or_else(no_turn)?;
        tx.commit().await?;
        Ok(turn)
    }

    /// What a reader of the stream has missed: from this process's memory, from the owner's, or from the table.
    pub(crate) async fn turn_events(&self, ctx: &Ctx, r: TurnEvents) -> Result<EventPage, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let conversation = readable(&mut tx, ctx, r.conversation_id).await?;
        let (turn, owner) = tx
            .turn_get(r.conversation_id, r.turn_id)
            .await?
            .ok_or_else(no_turn)?;
        if let Some(live) = self.registry.get(ctx.tenant_id, turn.id) {
            tx.commit().await?;
            return Ok(live.page(r.after));
        }
        if turn.status == TurnStatus::Running {
            tx.commit().await?;
            if owner != self.owner_id
                && let Some(page) = self
                    .ask_owner(
                        owner,
                        &OwnerAsk::Events {
                            tenant_id: ctx.tenant_id,
                            turn_id: turn.id,
                            after: r.after,
                        },
                    )
                    .await
            {
                return serde_json::from_value(page).map_err(|_| {
                    Fault::new(
                        qadra_types::Code::Internal,
                        "the turn's owner answered unreadably",
                    )
                });
            }
            // Nobody holds it: its process is gone, or it ended in this moment.
            self.recover_turns().await;
            let mut tx = self.store.tenant(ctx).await?;
            let (turn, _) = tx
                .turn_get(r.conversation_id, r.turn_id)
                .await?
                .ok_or_else(no_turn)?;
            if turn.status == TurnStatus::Running {
                return Ok(EventPage::default());
            }
            return self.stored_events(ctx, &r, turn, conversation).await;
        }
        tx.commit().await?;
        self.stored_events(ctx, &r, turn, conversation).await
    }

    async fn stored_events(
        &self,
        ctx: &Ctx,
        r: &TurnEvents,
        turn: Turn,
        conversation: qadra_types::Conversation,
    ) -> Result<EventPage, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let (record, content) = tx.turn_stream(turn.id).await?.ok_or_else(no_turn)?;
        let user_message = tx
            .message_get(r.conversation_id, turn.user_message_id)
            .await?;
        let assistant_message = match turn.assistant_message_id {
            Some(id) => tx.message_get(r.conversation_id, id).await?,
            None => None,
        };
        tx.commit().await?;
        let saved =
            json!({"turn_id": turn.id, "user_message": user_message, "conversation": conversation});
        if !record.events.is_array() {
            // The process died with the stream; all that can be said is how it ended.
            let error = turn.error.clone().unwrap_or_else(interrupted);
            let mut events = vec![];
            if r.after == 0 {
                events.push(StreamEvent {
                    seq: 1,
                    event: "user_saved".into(),
                    data: saved,
                });
            }
            let next = r.after.max(1);
            events.push(StreamEvent {
                seq: next.saturating_add(1),
                event: "error".into(),
                data: json!(error),
            });
            let done = done_json(turn.id, turn.status);
            events.push(StreamEvent {
                seq: next.saturating_add(2),
                event: "done".into(),
                data: done,
            });
            return Ok(EventPage {
                events,
                more: false,
                ended: true,
            });
        }
        let exchange = json!({
            "user_message": user_message, "assistant_message": assistant_message, "conversation": conversation
        });
        Ok(replay(&record, &content, saved, exchange, r.after))
    }

    /// Stops a turn; what was said so far is kept. A turn that has ended is answered as it is.
    pub(crate) async fn turn_cancel(&self, ctx: &Ctx, r: TurnRef) -> Result<Turn, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        own(&mut tx, ctx, r.conversation_id).await?;
        let (turn, _) = tx
            .turn_get(r.conversation_id, r.turn_id)
            .await?
            .ok_or_else(no_turn)?;
        tx.commit().await?;
        if turn.status == TurnStatus::Running {
            self.turn_stop(ctx, r.conversation_id, r.turn_id).await?;
        }
        Ok(turn)
    }

    /// Tells whoever answers the turn to stop; closes the turn if nobody does.
    pub(crate) async fn turn_stop(
        &self,
        ctx: &Ctx,
        conversation_id: Uuid,
        turn_id: Uuid,
    ) -> Result<(), Fault> {
        if let Some(live) = self.registry.get(ctx.tenant_id, turn_id) {
            live.cancel.cancel();
            return Ok(());
        }
        let mut tx = self.store.tenant(ctx).await?;
        let (_, owner) = tx
            .turn_get(conversation_id, turn_id)
            .await?
            .ok_or_else(missing)?;
        tx.commit().await?;
        if self
            .ask_owner(
                owner,
                &OwnerAsk::Cancel {
                    tenant_id: ctx.tenant_id,
                    turn_id,
                },
            )
            .await
            .is_none()
        {
            self.recover_turns().await;
        }
        Ok(())
    }

    async fn ask_owner(&self, owner: Uuid, ask: &OwnerAsk) -> Option<Value> {
        let payload = serde_json::to_vec(ask).ok()?;
        let subject = Subject::core_instance(owner);
        let answer = self
            .bus
            .request(
                subject.as_str(),
                Headers::new(),
                Bytes::from(payload),
                OWNER_TIMEOUT,
            )
            .await;
        match answer {
            Ok(message) => Reply::<Value>::from_bytes(&message.payload)
                .into_result()
                .ok()
                .filter(|v| !v.is_null()),
            Err(e) => {
                tracing::debug!(error = %e, %owner, "the owner of a turn did not answer");
                None
            }
        }
    }

    /// Answers what other processes ask of this one. `null` means that the turn is not here.
    pub(crate) async fn owner_answer(&self, message: BusMessage) -> Reply<Value> {
        let ask: OwnerAsk = match dispatch::read_bytes(&message.payload) {
            Ok(ask) => ask,
            Err(fault) => return Reply::error(fault),
        };
        Reply::ok(match ask {
            OwnerAsk::Events {
                tenant_id,
                turn_id,
                after,
            } => {
                json!(self.registry.get(tenant_id, turn_id).map(|t| t.page(after)))
            }
            OwnerAsk::Cancel { tenant_id, turn_id } => {
                match self.registry.get(tenant_id, turn_id) {
                    Some(turn) => {
                        turn.cancel.cancel();
                        json!(true)
                    }
                    None => Value::Null,
                }
            }
        })
    }
}

fn no_turn() -> Fault {
    Fault::not_found("turn in this conversation")
}
