use std::sync::Arc;
use std::time::Duration;

use qadra_api::Exchange;
use qadra_store::{Answer, StoreError, TurnEnd};
use qadra_types::{Code, Conversation, Ctx, Fault, Message, TurnError, TurnStatus, new_id};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::answer::{Outcome, count, grounding_json};
use super::begin::Begun;
use super::registry::LiveTurn;
use super::turn_error;
use crate::{App, passages};

/// Attempts to store an end, with growing pauses: the answer is paid for and worth a wait.
const STORE_ATTEMPTS: u32 = 6;

impl App {
    /// Stores the end of a turn and tells its readers.
    pub(super) async fn turn_finish(
        self: &Arc<Self>,
        ctx: &Ctx,
        begun: Begun,
        out: Outcome,
    ) -> Result<Exchange, Fault> {
        let live = begun.live.clone();
        let stored = self.turn_store(ctx, &begun, &out).await;
        let (closing, result) = match stored {
            Ok((conversation, Some(message))) => {
                let exchange = Exchange {
                    user_message: begun.user_message,
                    assistant_message: message,
                    conversation,
                };
                let status = if out.finish_reason == "cancelled" {
                    TurnStatus::Cancelled
                } else {
                    TurnStatus::Completed
                };
                (
                    vec![("assistant_message", json!(exchange)), done(&live, status)],
                    Ok(exchange),
                )
            }
            Ok((_, None)) => {
                let fault = out
                    .error
                    .unwrap_or_else(|| Fault::new(Code::Internal, "the turn stored no answer"));
                (
                    vec![
                        ("error", json!(turn_error(&fault))),
                        done(&live, TurnStatus::Failed),
                    ],
                    Err(fault),
                )
            }
            Err(fault) => (
                vec![
                    ("error", json!(turn_error(&fault))),
                    done(&live, TurnStatus::Failed),
                ],
                Err(fault),
            ),
        };
        live.close(&*self.bus, closing).await;
        let (app, id) = (self.clone(), live.id);
        tokio::spawn(async move {
            tokio::time::sleep(app.settings.stream_retention).await;
            app.registry.remove(id);
        });
        result
    }

    async fn turn_store(
        &self,
        ctx: &Ctx,
        begun: &Begun,
        out: &Outcome,
    ) -> Result<(Conversation, Option<Message>), Fault> {
        let error = out.error.as_ref().map(turn_error);
        let message_id = new_id();
        let metadata = self.metadata(begun, out);
        let answer = error.is_none().then(|| Answer {
            message_id,
            content: &out.content,
            agent_id: begun.agent.id,
            agent_version: begun.agent.version,
            model: &out.model,
            prompt_tokens: count(out.usage.prompt_tokens),
            completion_tokens: count(out.usage.completion_tokens),
            latency_ms: i32::try_from(begun.started.elapsed().as_millis()).unwrap_or(i32::MAX),
            finish_reason: &out.finish_reason,
            metadata: &metadata,
            siblings: &begun.siblings,
        });
        let status = match (&error, out.finish_reason.as_str()) {
            (Some(_), _) => TurnStatus::Failed,
            (None, "cancelled") => TurnStatus::Cancelled,
            (None, _) => TurnStatus::Completed,
        };
        let closing = match &error {
            Some(e) => [("error", json!(e)), done(&begun.live, status)],
            None => [
                ("assistant_message", Value::Null),
                done(&begun.live, status),
            ],
        };
        let stream = begun.live.record(&closing);
        let end = TurnEnd {
            turn_id: begun.live.id,
            user_message_id: begun.user_message.id,
            status,
            answer,
            error: error.as_ref(),
            stream: &stream,
            usage: &out.calls,
        };
        let mut attempt = 0;
        loop {
            match self.turn_end_once(ctx, &end).await {
                Ok(Some(ended)) => return Ok(ended),
                Ok(None) => {
                    return Err(Fault::new(
                        Code::TurnInterrupted,
                        "the turn was closed by another process",
                    )
                    .hint("ask for the answer again"));
                }
                Err(e) => {
                    attempt += 1;
                    if attempt == STORE_ATTEMPTS {
                        return Err(e.into());
                    }
                    tracing::warn!(error = %e, turn_id = %end.turn_id, attempt, "the end of a turn could not be stored yet");
                    tokio::time::sleep(Duration::from_millis(100 << attempt)).await;
                }
            }
        }
    }

    async fn turn_end_once(
        &self,
        ctx: &Ctx,
        end: &TurnEnd<'_>,
    ) -> Result<Option<(Conversation, Option<Message>)>, StoreError> {
        let mut tx = self.store.tenant(ctx).await?;
        let ended = tx.turn_end(end).await?;
        tx.commit().await?;
        Ok(ended)
    }

    fn metadata(&self, begun: &Begun, out: &Outcome) -> Value {
        let mut m = Map::new();
        let mut put = |key: &str, value: Value| m.insert(key.to_owned(), value);
        put("provider", json!(self.llm.name()));
        let agent = &begun.agent;
        put(
            "agent",
            json!({"name": agent.name, "display_name": agent.display_name, "version": agent.version}),
        );
        let calls = out
            .calls
            .iter()
            .filter(|c| c.operation == "llm_call")
            .count();
        put(
            "usage",
            json!({
                "prompt_tokens": out.usage.prompt_tokens,
                "completion_tokens": out.usage.completion_tokens,
                "calls": calls,
                "estimated": out.usage.estimated,
            }),
        );
        if let Some(a) = &out.grounding {
            put("grounding", grounding_json(a));
        }
        let builtin = self.llm.name() == crate::builtin::NAME;
        let cited = passages::cited(&out.content, &out.passages);
        let quoted = match (builtin, &out.grounding) {
            // Its markers are of facts, unless it quotes.
            (true, Some(a)) => {
                let citations = crate::builtin::citations(begun, a);
                let quoted = citations.is_empty() && !cited.is_empty();
                put(
                    "citations",
                    json!(match quoted {
                        true => passages::citations(&cited),
                        false => citations,
                    }),
                );
                quoted
            }
            _ => !cited.is_empty(),
        };
        if !builtin && quoted {
            put("citations", json!(passages::citations(&cited)));
        }
        match builtin {
            true if quoted => put("passages", json!(cited)),
            false if !out.passages.is_empty() => put("passages", json!(out.passages)),
            // Those that speak for or against a claim, so that a reader can look.
            true => {
                let bear = bearing(out.verdicts.belnap.as_ref());
                let shown: Vec<_> = out
                    .passages
                    .iter()
                    .filter(|p| bear.contains(&p.n))
                    .collect();
                (!shown.is_empty())
                    .then(|| put("passages", json!(shown)))
                    .flatten()
            }
            false => None,
        };
        if let Some(v) = &out.verdicts.verification {
            put("verification", v.clone());
        }
        if let Some(v) = &out.verdicts.belnap {
            put("belnap", v.clone());
        }
        if !out.artifacts.is_empty() {
            put("artifacts", json!(out.artifacts));
        }
        if !out.tool_calls.is_empty() {
            put("tool_calls", json!(out.tool_calls));
        }
        Value::Object(m)
    }
}

/// Numbers of the passages that a claim's verdict rests on.
fn bearing(belnap: Option<&Value>) -> Vec<usize> {
    let claims = belnap.and_then(|b| b["claims"].as_array());
    let numbers = |claim: &Value| {
        let of = |key: &str| claim[key].as_array().cloned().unwrap_or_default();
        [of("passages"), of("passages_against")].concat()
    };
    let all = claims.into_iter().flatten().flat_map(numbers);
    all.filter_map(|n| n.as_u64()?.try_into().ok()).collect()
}

fn done(live: &LiveTurn, status: TurnStatus) -> (&'static str, Value) {
    ("done", done_json(live.id, status))
}

pub(super) fn done_json(turn_id: Uuid, status: TurnStatus) -> Value {
    json!({"turn_id": turn_id, "status": status})
}

/// The error of a turn whose process died.
pub(crate) fn interrupted() -> TurnError {
    turn_error(
        &Fault::new(
            Code::TurnInterrupted,
            "the server stopped while the answer was being written",
        )
        .hint("your message is kept; ask for the answer again"),
    )
}
