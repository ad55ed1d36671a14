use async_trait::async_trait;
use futures::stream;
use qadra_epistemic::{Assessment, chart_from_facts_in, compose_answer_in};
use qadra_llm::{
    CancellationToken, ChatEvent, ChatMessage, ChatRequest, ChatStream, FinishReason, LlmError,
    LlmProvider, ToolCall, Usage, estimate_tokens,
};
use qadra_types::MessageRole;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::passages::{self, Numbered};
use crate::turns::{Begun, CHART};

pub(crate) const NAME: &str = "builtin";

/// The provider that needs no model: it answers from the facts that ground the turn, cites them, quotes documents
/// where no fact answers, and says so when there is neither. It reads the request's `context`; what the prompt says does not change what is known.
#[derive(Debug, Default)]
pub struct Builtin;

/// What a turn tells the provider about itself.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Context {
    question: String,
    previous: Vec<String>,
    assessment: Option<Assessment>,
    today: Option<chrono::NaiveDate>,
    passages: Vec<Numbered>,
}

#[async_trait]
impl LlmProvider for Builtin {
    fn name(&self) -> &str {
        NAME
    }

    fn model(&self) -> &str {
        NAME
    }

    async fn stream(
        &self,
        request: ChatRequest,
        _: CancellationToken,
    ) -> Result<ChatStream, LlmError> {
        let context: Context = serde_json::from_value(request.context.clone()).unwrap_or_default();
        let previous: Vec<&str> = context.previous.iter().map(String::as_str).collect();
        let prompt_tokens = request.estimated_prompt_tokens();
        let charted = request
            .messages
            .iter()
            .any(|m| matches!(m, ChatMessage::Tool { .. }));
        let nothing = Assessment {
            competence: qadra_epistemic::Competence::OutOfScope,
            mentions: vec![],
            triples: vec![],
            contradictions: vec![],
            gaps: vec![],
            today: None,
        };
        let mut assessment = context.assessment.unwrap_or(nothing);
        assessment.today = context.today;
        let mut events = Vec::new();
        let mut completion_tokens = 0;
        let mut reason = FinishReason::Stop;
        let chart = match charted || !request.tools.iter().any(|t| t.name == CHART) {
            true => None,
            false => chart_from_facts_in(&context.question, &previous, &assessment),
        };
        match chart {
            Some(chart) => {
                reason = FinishReason::ToolCalls;
                let arguments =
                    json!({"chart_name": chart.name, "chart_config": chart.option}).to_string();
                completion_tokens += estimate_tokens(&arguments);
                events.push(Ok(ChatEvent::ToolCall(ToolCall {
                    id: "chart-1".into(),
                    name: CHART.into(),
                    arguments,
                })));
            }
            None => {
                let answer = compose_answer_in(&context.question, &previous, &assessment);
                // What no fact answers, a document may.
                let quote = match answer.citations.is_empty() {
                    true => passages::quote(&context.question, &context.passages),
                    false => None,
                };
                let text = quote.unwrap_or(answer.text);
                completion_tokens += estimate_tokens(&text);
                events.extend(
                    text.split_inclusive(' ')
                        .map(|word| Ok(ChatEvent::Token(word.to_owned()))),
                );
            }
        }
        let usage = Usage {
            prompt_tokens,
            completion_tokens,
            estimated: true,
        };
        events.push(Ok(ChatEvent::Finish {
            reason,
            usage,
            model: NAME.into(),
        }));
        Ok(ChatStream::from_events(stream::iter(events), prompt_tokens))
    }
}

/// The facts behind the markers of the answer that [`Builtin`] gave in this turn.
pub(crate) fn citations(begun: &Begun, assessment: &Assessment) -> Vec<Value> {
    let questions: Vec<&str> = begun
        .history
        .iter()
        .filter(|m| m.role == MessageRole::User)
        .map(|m| m.content.as_str())
        .collect();
    let previous = questions.split_last().map_or(&[][..], |(_, before)| before);
    let answer = compose_answer_in(&begun.user_message.content, previous, assessment);
    answer
        .citations
        .iter()
        .map(|c| json!({"n": c.n, "triple_id": c.triple_id}))
        .collect()
}
