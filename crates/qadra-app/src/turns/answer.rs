use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use qadra_epistemic::{Assessment, Triple, system_message};
use qadra_llm::{ChatEvent, ChatMessage, ChatRequest, LlmError, ToolCall, Usage};
use qadra_store::{TenantTx, UsageRecord};
use qadra_types::{Code, Ctx, Fault, MessageRole};
use serde_json::{Value, json};

use super::begin::Begun;
use super::registry::LiveTurn;
use super::{chart, prompt};
use crate::passages::{self, Numbered};
use crate::verify::{Verdicts, check_in_time};
use crate::{App, tools};

/// For a turn that was told to stop.
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of one text among a tool's arguments that a message keeps whole.
const ARGUMENT: usize = 8_000;

/// What came of asking the model.
pub(super) struct Outcome {
    pub(super) content: String,
    /// `stop`, `length`, … as the provider says; `cancelled` and `tool_call_limit` are ours.
    pub(super) finish_reason: String,
    pub(super) model: String,
    pub(super) usage: Usage,
    pub(super) calls: Vec<UsageRecord>,
    pub(super) artifacts: Vec<Value>,
    pub(super) tool_calls: Vec<Value>,
    pub(super) grounding: Option<Assessment>,
    /// Facts that the agent's tools have fetched.
    pub(super) looked_up: Vec<Triple>,
    /// Passages that the model was shown, under the numbers by which it may cite them.
    pub(super) passages: Vec<Numbered>,
    pub(super) verdicts: Verdicts,
    /// Set when the turn failed; then nothing of the answer is stored.
    pub(super) error: Option<Fault>,
}

impl App {
    /// Runs a begun turn to its end: see the module's diagram.
    pub(super) async fn turn_run(
        self: &Arc<Self>,
        ctx: &Ctx,
        tx: TenantTx,
        mut begun: Begun,
    ) -> Result<qadra_api::Exchange, Fault> {
        let live = begun.live.clone();
        // Known to readers before it can be seen in the database.
        if !self.registry.insert(live.clone()) {
            return Err(Fault::new(
                Code::Conflict,
                "there is a turn with that id already",
            ));
        }
        let user_saved = std::mem::take(&mut begun.user_saved);
        let saving = async {
            match tx.commit().await {
                Ok(()) => live.open(&*self.bus, user_saved).await,
                Err(e) => {
                    live.cancel.cancel();
                    return Err(Fault::from(e));
                }
            }
            Ok(())
        };
        let (saved, mut outcome) = tokio::join!(saving, self.turn_answer_in_time(ctx, &begun));
        if let Err(fault) = saved {
            self.registry.remove(live.id);
            return Err(fault);
        }
        self.turn_verify(ctx, &begun, &mut outcome).await;
        self.turn_finish(ctx, begun, outcome).await
    }

    /// The answer, or the failure that it took too long. The model is then told to stop as if a person had asked
    /// for it, so that what it has cost is still accounted for.
    async fn turn_answer_in_time(&self, ctx: &Ctx, begun: &Begun) -> Outcome {
        let limit = self.settings.turn_timeout;
        let mut answer = std::pin::pin!(self.turn_answer(ctx, begun));
        if let Ok(outcome) = tokio::time::timeout(limit, &mut answer).await {
            return outcome;
        }
        begun.live.cancel.cancel();
        let late = Fault::new(
            Code::LlmTimeout,
            format!(
                "the answer was not finished within {} seconds",
                limit.as_secs()
            ),
        );
        match tokio::time::timeout(STOP_PATIENCE, answer).await {
            Ok(outcome) if outcome.finish_reason != "cancelled" => outcome,
            Ok(outcome) => Outcome {
                error: Some(late),
                ..outcome
            },
            Err(_) => Outcome::failed(late),
        }
    }

    async fn turn_answer(&self, ctx: &Ctx, begun: &Begun) -> Outcome {
        let live = &*begun.live;
        let bus = &*self.bus;
        let questions: Vec<&str> = begun
            .history
            .iter()
            .filter(|m| m.role == MessageRole::User)
            .map(|m| m.content.as_str())
            .collect();
        let previous = questions.split_last().map_or(&[][..], |(_, before)| before);
        // No grounding never blocks an answer.
        let asked = &begun.user_message.content;
        let (grounding, found) = tokio::join!(
            self.handle_query(ctx, asked, previous),
            self.passages_find(ctx, asked, passages::MOST)
        );
        let grounding = match grounding {
            Ok(a) => Some(a),
            Err(fault) => {
                tracing::warn!(error = %fault, "the knowledge graph could not be asked; answering without it");
                None
            }
        };
        let mut shown = vec![];
        match found {
            Ok(found) => {
                passages::number(&mut shown, found);
            }
            Err(fault) => {
                tracing::warn!(error = %fault, "passages could not be looked for; answering without them");
            }
        }
        if let Some(a) = &grounding {
            live.event(bus, "grounding", grounding_json(a)).await;
        }
        let context = json!({"question": begun.user_message.content, "previous": previous, "assessment": grounding,
            "today": grounding.as_ref().and_then(|a| a.today), "passages": shown});
        let known: Vec<String> = [
            grounding.as_ref().and_then(system_message),
            passages::section(&shown),
        ]
        .into_iter()
        .flatten()
        .collect();
        let facts = (!known.is_empty()).then(|| known.join("\n\n"));
        let request = prompt::request(
            &begun.agent,
            facts,
            &begun.history,
            self.settings.context_tokens,
            context,
            self.files().is_ok(),
        );
        let mut outcome = self.converse(ctx, begun, request, shown).await;
        outcome.grounding = grounding;
        outcome
    }

    /// Both gates over the answer. Whatever becomes of them, the answer is told and stored.
    async fn turn_verify(&self, ctx: &Ctx, begun: &Begun, out: &mut Outcome) {
        if out.error.is_some() || out.content.is_empty() {
            return;
        }
        let mut triples = out.looked_up.clone();
        triples.extend(
            out.grounding
                .iter()
                .flat_map(|a| &a.triples)
                .map(|t| t.triple.clone()),
        );
        let shown = out.passages.clone();
        if triples.is_empty() && shown.is_empty() {
            return;
        }
        let verdicts = async {
            let basis = self.basis(ctx, triples, shown).await?;
            check_in_time(out.content.clone(), basis).await
        };
        match verdicts.await {
            Ok(v) => {
                if v.ungrounded > 0 || v.contradicted > 0 {
                    tracing::warn!(turn_id = %begun.live.id, ungrounded = v.ungrounded, contradicted = v.contradicted,
                        "an answer says what the knowledge does not bear out");
                    tracing::debug!(turn_id = %begun.live.id, verification = ?v.verification, belnap = ?v.belnap, "what it says");
                }
                if v.verification.is_some() || v.belnap.is_some() {
                    let told = json!({"verification": v.verification, "belnap": v.belnap});
                    begun.live.event(&*self.bus, "verification", told).await;
                }
                out.verdicts = v;
            }
            Err(fault) => {
                tracing::warn!(error = %fault, turn_id = %begun.live.id, "an answer could not be verified");
            }
        }
    }

    /// Asks the model, runs the tools it calls and asks again, until it has said all or is stopped.
    async fn converse(
        &self,
        ctx: &Ctx,
        begun: &Begun,
        mut request: ChatRequest,
        shown: Vec<Numbered>,
    ) -> Outcome {
        let live = &*begun.live;
        let bus = &*self.bus;
        let mut out = Outcome {
            model: self.llm.model().to_owned(),
            passages: shown,
            ..Outcome::failed_with(None)
        };
        if let Some(model) = &begun.agent.model {
            out.model.clone_from(model);
        }
        let mut used = 0;
        loop {
            let round = self.ask(live, &request, &mut out).await;
            out.usage += round.usage;
            if round.asked {
                out.calls.push(self.usage_record(
                    ctx,
                    begun,
                    &out.model,
                    "llm_call",
                    round.usage,
                    json!({}),
                ));
            }
            match round.end {
                Ok(()) => {}
                Err(LlmError::Cancelled { .. }) => {
                    out.finish_reason = "cancelled".into();
                    return out;
                }
                Err(e) => {
                    out.error = Some(llm_fault(&e));
                    return out;
                }
            }
            if round.calls.is_empty() {
                if out.content.is_empty() {
                    match out
                        .artifacts
                        .last()
                        .and_then(|a| a.get("name"))
                        .and_then(Value::as_str)
                    {
                        Some(name) => {
                            let text = format!("The chart “{name}” is beside this message.");
                            out.content.push_str(&text);
                            live.token(bus, text).await;
                        }
                        None => {
                            let detail = "the model sent an empty answer";
                            out.error = Some(Fault::new(Code::LlmFailed, detail).hint("try again"));
                        }
                    }
                }
                return out;
            }
            request.messages.push(ChatMessage::Assistant {
                content: round.text,
                tool_calls: round.calls.clone(),
            });
            for call in round.calls {
                used += 1;
                if used > self.settings.tool_calls {
                    out.finish_reason = "tool_call_limit".into();
                    let text = format!(
                        "{}Stopped: the limit of {} tool calls in one turn was reached before the answer was finished.",
                        if out.content.is_empty() { "" } else { "\n\n" },
                        self.settings.tool_calls
                    );
                    out.content.push_str(&text);
                    live.token(bus, text).await;
                    return out;
                }
                let (result, ok) = self.run_tool(ctx, begun, &call, &mut out).await;
                let detail = json!({"tool": call.name, "ok": ok});
                out.calls.push(self.usage_record(
                    ctx,
                    begun,
                    &out.model,
                    "tool_call",
                    Usage::default(),
                    detail,
                ));
                request.messages.push(ChatMessage::tool(call.id, result));
            }
        }
    }

    /// One call of the model, its tokens passed on as they come.
    async fn ask(&self, live: &LiveTurn, request: &ChatRequest, out: &mut Outcome) -> Round {
        let bus = &*self.bus;
        let mut round = Round {
            text: String::new(),
            calls: vec![],
            usage: Usage::default(),
            asked: true,
            end: Ok(()),
        };
        let mut stream = match self.llm.stream(request.clone(), live.cancel.clone()).await {
            Ok(stream) => stream,
            Err(e) => {
                round.usage = e.usage();
                round.asked = round.usage.total() > 0;
                round.end = Err(e);
                return round;
            }
        };
        // What is said after a tool call starts a paragraph of its own.
        let mut lead = if out.content.is_empty() { "" } else { "\n\n" };
        while let Some(event) = stream.next().await {
            match event {
                Ok(ChatEvent::Token(text)) => {
                    let text = storable(text);
                    round.text.push_str(&text);
                    let delta = if lead.is_empty() {
                        text
                    } else {
                        format!("{lead}{text}")
                    };
                    lead = "";
                    out.content.push_str(&delta);
                    live.token(bus, delta).await;
                }
                Ok(ChatEvent::ToolCall(call)) => round.calls.push(storable_call(call)),
                Ok(ChatEvent::Finish {
                    reason,
                    usage,
                    model,
                }) => {
                    round.usage = usage;
                    out.finish_reason = storable(reason.as_str().to_owned());
                    if !model.is_empty() {
                        out.model = storable(model);
                    }
                    return round;
                }
                Err(e) => {
                    round.usage = stream.usage();
                    round.end = Err(e);
                    return round;
                }
            }
        }
        round.usage = stream.usage();
        round.end = Err(LlmError::Interrupted {
            message: "it ended without saying why".into(),
            usage: round.usage,
        });
        round
    }

    /// Runs one tool call and returns what the model is told of it.
    async fn run_tool(
        &self,
        ctx: &Ctx,
        begun: &Begun,
        call: &ToolCall,
        out: &mut Outcome,
    ) -> (String, bool) {
        let (live, bus) = (&*begun.live, &*self.bus);
        let arguments = serde_json::from_str::<Value>(&call.arguments).unwrap_or(Value::Null);
        let title = ["chart_name", "title", "query", "key"]
            .iter()
            .find_map(|field| arguments.get(field));
        let named = json!({"name": call.name, "status": "started", "title": title});
        live.event(bus, "tool_call", named).await;
        let mut artifact = None;
        let done = match call.name.as_str() {
            chart::NAME => chart::artifact(&call.arguments).map(|made| {
                let name = made.get("name").and_then(Value::as_str).unwrap_or_default();
                let summary = format!("chart “{name}”");
                artifact = Some(made.clone());
                out.artifacts.push(made);
                tools::Done {
                    told: format!(
                        "The {summary} is shown to the user beside your answer. Now summarise its key findings in two or \
                         three sentences; do not repeat the data."
                    ),
                    summary,
                    triples: vec![],
                }
            }),
            other => self
                .tool(
                    ctx,
                    begun.agent.id,
                    other,
                    &call.arguments,
                    &mut out.passages,
                )
                .await
                .unwrap_or_else(|| Err(format!("there is no tool named {other:?}"))),
        };
        let (status, summary) = match &done {
            Ok(done) => ("completed", done.summary.clone()),
            Err(why) => ("failed", why.clone()),
        };
        let told =
            json!({"name": call.name, "status": status, "summary": summary, "artifact": artifact});
        live.event(bus, "tool_call", told).await;
        out.tool_calls.push(json!({"name": call.name, "arguments": shortened(arguments), "ok": done.is_ok(), "summary": summary}));
        match done {
            Ok(done) => {
                out.looked_up.extend(done.triples);
                (done.told, true)
            }
            Err(why) => (format!("Error: {why}"), false),
        }
    }

    fn usage_record(
        &self,
        ctx: &Ctx,
        begun: &Begun,
        model: &str,
        operation: &'static str,
        usage: Usage,
        metadata: Value,
    ) -> UsageRecord {
        let metadata = match metadata {
            Value::Object(mut o) if usage.estimated => {
                o.insert("estimated".into(), json!(true));
                Value::Object(o)
            }
            other => other,
        };
        UsageRecord {
            user_id: ctx.actor.user_id,
            agent_id: begun.agent.id,
            model: model.to_owned(),
            tokens_in: count(usage.prompt_tokens),
            tokens_out: count(usage.completion_tokens),
            operation,
            metadata,
        }
    }
}

/// One call of the model.
struct Round {
    text: String,
    calls: Vec<ToolCall>,
    usage: Usage,
    /// False when nothing reached the model, so that there is nothing to account for.
    asked: bool,
    end: Result<(), LlmError>,
}

impl Outcome {
    fn failed(fault: Fault) -> Self {
        Self::failed_with(Some(fault))
    }

    fn failed_with(error: Option<Fault>) -> Self {
        Self {
            content: String::new(),
            finish_reason: "stop".into(),
            model: String::new(),
            usage: Usage::default(),
            calls: vec![],
            artifacts: vec![],
            tool_calls: vec![],
            grounding: None,
            looked_up: vec![],
            passages: vec![],
            verdicts: Verdicts::default(),
            error,
        }
    }
}

/// The grounding as readers see it, live and in the message's metadata.
pub(super) fn grounding_json(a: &Assessment) -> Value {
    json!({
        "competence": a.competence,
        "mentions": a.mentions,
        "triples": a.triples,
        "contradictions": a.contradictions,
        "gaps": a.gaps,
    })
}

/// Arguments as a message keeps them: a text that a tool stored elsewhere is not stored twice.
fn shortened(arguments: Value) -> Value {
    match arguments {
        Value::Object(o) => o
            .into_iter()
            .map(|(k, v)| match v {
                Value::String(s) if s.len() > ARGUMENT => {
                    let kept: String = s.chars().take(ARGUMENT / 4).collect();
                    (k, Value::String(format!("{kept}…")))
                }
                v => (k, v),
            })
            .collect(),
        other => other,
    }
}

/// Tokens as the tables hold them; the sum of two still fits, whatever a server claims.
pub(super) fn count(tokens: u64) -> i32 {
    const MOST: i32 = 1_000_000_000;
    i32::try_from(tokens).unwrap_or(MOST).min(MOST)
}

/// A model may say any character, and PostgreSQL holds all but NUL.
fn storable(text: String) -> String {
    if text.contains('\0') {
        text.replace('\0', "\u{fffd}")
    } else {
        text
    }
}

fn storable_call(call: ToolCall) -> ToolCall {
    fn clean(v: Value) -> Value {
        match v {
            Value::String(s) => Value::String(storable(s)),
            Value::Array(a) => a.into_iter().map(clean).collect(),
            Value::Object(o) => o
                .into_iter()
                .map(|(k, v)| (storable(k), clean(v)))
                .collect(),
            other => other,
        }
    }
    let arguments = match serde_json::from_str::<Value>(&call.arguments) {
        // JSON itself can only spell it like this.
        Ok(v) if call.arguments.contains("\\u0000") => clean(v).to_string(),
        _ => storable(call.arguments),
    };
    ToolCall {
        name: storable(call.name),
        arguments,
        ..call
    }
}

fn llm_fault(e: &LlmError) -> Fault {
    let detail = e.to_string();
    match e {
        LlmError::Timeout { .. } => Fault::new(Code::LlmTimeout, detail).hint("try again"),
        LlmError::Config(_) => {
            Fault::new(Code::LlmFailed, detail).hint("check the QADRA_LLM_ settings")
        }
        LlmError::Refused {
            status: 401 | 403, ..
        } => Fault::new(Code::LlmFailed, detail).hint("check QADRA_LLM_API_KEY"),
        LlmError::Refused { status: 404, .. } => Fault::new(Code::LlmFailed, detail)
            .hint("check QADRA_LLM_MODEL, the agent's model and QADRA_LLM_BASE_URL"),
        LlmError::Unreachable { .. } => Fault::new(Code::LlmFailed, detail)
            .hint("check QADRA_LLM_BASE_URL and that the server runs"),
        _ if e.retryable() => Fault::new(Code::LlmFailed, detail).hint("try again"),
        _ => Fault::new(Code::LlmFailed, detail),
    }
}
