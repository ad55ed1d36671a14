use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::answer::Answer;
use crate::error::{bounded, unreadable};
use crate::http::{Fault, classify};
use crate::lenient::{Count, JsonText, Text};
use crate::live::Wire;
use crate::sse::SseEvent;
use crate::{FinishReason, LlmError};

pub(crate) struct OpenAiWire;

impl Wire for OpenAiWire {
    fn read_event(&self, event: &SseEvent<'_>, answer: &mut Answer) -> Result<(), LlmError> {
        let data = event.data.trim_ascii();
        // Events are separated by an empty line, but some servers end each with a single line end.
        let first = data.split(|&byte| byte == b'\n').next().unwrap_or_default();
        if first.len() < data.len() && serde_json::from_slice::<IgnoredAny>(first).is_ok() {
            return data
                .split(|&byte| byte == b'\n')
                .try_for_each(|line| read_data(line.trim_ascii(), answer));
        }
        read_data(data, answer)
    }

    fn read_whole(&self, body: &[u8], answer: &mut Answer) -> Result<(), LlmError> {
        read_chunk(body, answer)?;
        if !answer.begun() && !answer.has_reason() {
            return Err(LlmError::Malformed {
                message: "a document without an answer".to_owned(),
            });
        }
        answer.finish()
    }
}

fn read_data(data: &[u8], answer: &mut Answer) -> Result<(), LlmError> {
    match data {
        b"" => Ok(()),
        b"[DONE]" => answer.finish(),
        _ => read_chunk(data, answer),
    }
}

fn read_chunk(json: &[u8], answer: &mut Answer) -> Result<(), LlmError> {
    let chunk: Chunk = serde_json::from_slice(json).map_err(|error| unreadable(json, &error))?;
    if !chunk.error.is_null() || (chunk.choices.is_none() && chunk.usage.is_none()) {
        return read_fault(json);
    }
    answer.model(&chunk.model.0);
    if let Some(usage) = chunk.usage {
        answer.count(usage.prompt_tokens.0, usage.completion_tokens.0);
    }
    for choice in chunk.choices.into_iter().flatten() {
        // One answer is asked for; the rest of a server that sends more is dropped.
        if choice.index.0.unwrap_or(0) == 0 {
            read_choice(choice, answer)?;
        }
    }
    Ok(())
}

fn read_choice(choice: Choice, answer: &mut Answer) -> Result<(), LlmError> {
    if let Some(delta) = choice.delta.or(choice.message) {
        answer.hidden(&delta.reasoning_content.0)?;
        answer.hidden(&delta.reasoning.0)?;
        answer.text(delta.content.0)?;
        answer.text(delta.refusal.0)?;
        for call in delta.tool_calls.into_iter().flatten() {
            let function = call.function.unwrap_or_default();
            let (id, name) = (&call.id.0, &function.name.0);
            answer.call_piece(call.index.0, id, name, &function.arguments.0)?;
        }
    }
    match choice.finish_reason.0.as_str() {
        "" => {}
        "stop" => answer.reason(FinishReason::Stop),
        "length" => answer.reason(FinishReason::Length),
        "tool_calls" | "function_call" => answer.reason(FinishReason::ToolCalls),
        "content_filter" => answer.reason(FinishReason::ContentFilter),
        other => answer.reason(FinishReason::Other(bounded(other))),
    }
    Ok(())
}

/// A document without choices: an error in one of its shapes, or something that says nothing.
fn read_fault(json: &[u8]) -> Result<(), LlmError> {
    let value: Value = serde_json::from_slice(json).map_err(|error| unreadable(json, &error))?;
    let says_error = value.get("error").is_some_and(|error| !error.is_null())
        || value.get("object").and_then(Value::as_str) == Some("error")
        || value.get("detail").is_some()
        || (value.get("message").is_some() && value.get("code").is_some());
    if !says_error {
        // Heartbeats and notices of a gateway.
        return Ok(());
    }
    let fault = Fault::read(&value);
    // An error without a status arose while the answer was being made, on the server's side.
    let status = fault.status.unwrap_or(match fault.code.as_str() {
        "invalid_request_error" => 400,
        "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" => 429,
        _ => 500,
    });
    Err(classify(status, &fault.code, fault.message, None))
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    model: Text,
    choices: Option<Vec<Choice>>,
    usage: Option<UsageRecord>,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: Count,
    delta: Option<Delta>,
    /// Where a whole answer has what a streamed one has in `delta`.
    message: Option<Delta>,
    #[serde(default)]
    finish_reason: Text,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    content: Text,
    #[serde(default)]
    refusal: Text,
    #[serde(default)]
    reasoning_content: Text,
    #[serde(default)]
    reasoning: Text,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    #[serde(default)]
    index: Count,
    #[serde(default)]
    id: Text,
    function: Option<FunctionDelta>,
}

#[derive(Deserialize, Default)]
struct FunctionDelta {
    #[serde(default)]
    name: Text,
    #[serde(default)]
    arguments: JsonText,
}

#[derive(Deserialize)]
struct UsageRecord {
    #[serde(default)]
    prompt_tokens: Count,
    #[serde(default)]
    completion_tokens: Count,
}
