use serde::Deserialize;
use serde_json::Value;

use crate::answer::Answer;
use crate::error::{bounded, unreadable};
use crate::http::{Fault, classify};
use crate::lenient::{Count, JsonText, Text};
use crate::live::Wire;
use crate::sse::SseEvent;
use crate::{FinishReason, LlmError};

pub(crate) struct AnthropicWire;

impl Wire for AnthropicWire {
    fn read_event(&self, event: &SseEvent<'_>, answer: &mut Answer) -> Result<(), LlmError> {
        if event.data.trim_ascii().is_empty() {
            return Ok(());
        }
        // The name of the event is repeated as `type` in its data, and only that is always there.
        let record: Record =
            serde_json::from_slice(event.data).map_err(|error| unreadable(event.data, &error))?;
        match record.r#type.0.as_str() {
            "message_start" => {
                if let Some(message) = record.message {
                    answer.model(&message.model.0);
                    // The answer's own count here is a placeholder.
                    answer.count(message.usage.unwrap_or_default().prompt(), None);
                }
                Ok(())
            }
            "content_block_start" => match record.content_block {
                Some(block) => read_block(block, record.index, answer, true),
                None => Ok(()),
            },
            "content_block_delta" => {
                let delta = record.delta.unwrap_or_default();
                match delta.r#type.0.as_str() {
                    "text_delta" => answer.text(delta.text.0),
                    "input_json_delta" => {
                        answer.call_piece(record.index.0, "", "", &delta.partial_json.0)
                    }
                    "thinking_delta" => answer.hidden(&delta.thinking.0),
                    _ => Ok(()),
                }
            }
            "content_block_stop" => answer.release_calls(),
            "message_delta" => {
                let usage = record.usage.unwrap_or_default();
                answer.count(usage.prompt(), usage.output_tokens.0);
                read_reason(&record.delta.unwrap_or_default().stop_reason.0, answer);
                Ok(())
            }
            "message_stop" => answer.finish(),
            "error" => Err(read_fault(&record.error)),
            // `ping`, and whatever is added to the format later.
            _ if record.error.is_null() => Ok(()),
            _ => Err(read_fault(&record.error)),
        }
    }

    fn read_whole(&self, body: &[u8], answer: &mut Answer) -> Result<(), LlmError> {
        let message: Message =
            serde_json::from_slice(body).map_err(|error| unreadable(body, &error))?;
        if !message.error.is_null() {
            return Err(read_fault(&message.error));
        }
        let Some(blocks) = message.content else {
            return Err(LlmError::Malformed {
                message: "a document without an answer".to_owned(),
            });
        };
        answer.model(&message.model.0);
        let usage = message.usage.unwrap_or_default();
        answer.count(usage.prompt(), usage.output_tokens.0);
        for (index, block) in blocks.into_iter().enumerate() {
            read_block(block, Count(Some(index as u64)), answer, false)?;
        }
        read_reason(&message.stop_reason.0, answer);
        answer.finish()
    }
}

fn read_block(
    block: Block,
    index: Count,
    answer: &mut Answer,
    streamed: bool,
) -> Result<(), LlmError> {
    match block.r#type.0.as_str() {
        "text" => answer.text(block.text.0),
        "thinking" => answer.hidden(&block.thinking.0),
        "tool_use" => {
            // While streaming, the input here is an empty object that the deltas replace.
            let whole = if streamed && block.input.0 == "{}" {
                ""
            } else {
                block.input.0.as_str()
            };
            answer.call_piece(index.0, &block.id.0, &block.name.0, whole)
        }
        _ => Ok(()),
    }
}

fn read_reason(reason: &str, answer: &mut Answer) {
    answer.reason(match reason {
        "" => return,
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" => FinishReason::ToolCalls,
        "refusal" => FinishReason::ContentFilter,
        other => FinishReason::Other(bounded(other)),
    });
}

fn read_fault(error: &Value) -> LlmError {
    let fault = Fault::read(error);
    let status = match fault.code.as_str() {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => 500,
    };
    classify(status, &fault.code, fault.message, None)
}

#[derive(Deserialize)]
struct Record {
    #[serde(default)]
    r#type: Text,
    #[serde(default)]
    index: Count,
    message: Option<Message>,
    content_block: Option<Block>,
    delta: Option<Delta>,
    usage: Option<UsageRecord>,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    model: Text,
    content: Option<Vec<Block>>,
    #[serde(default)]
    stop_reason: Text,
    usage: Option<UsageRecord>,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct Block {
    #[serde(default)]
    r#type: Text,
    #[serde(default)]
    text: Text,
    #[serde(default)]
    thinking: Text,
    #[serde(default)]
    id: Text,
    #[serde(default)]
    name: Text,
    #[serde(default)]
    input: JsonText,
}

#[derive(Deserialize, Default)]
struct Delta {
    #[serde(default)]
    r#type: Text,
    #[serde(default)]
    text: Text,
    #[serde(default)]
    thinking: Text,
    #[serde(default)]
    partial_json: Text,
    #[serde(default)]
    stop_reason: Text,
}

#[derive(Deserialize, Default)]
struct UsageRecord {
    #[serde(default)]
    input_tokens: Count,
    #[serde(default)]
    cache_creation_input_tokens: Count,
    #[serde(default)]
    cache_read_input_tokens: Count,
    #[serde(default)]
    output_tokens: Count,
}

impl UsageRecord {
    /// Cached parts of the prompt are counted apart from the rest of it.
    fn prompt(&self) -> Option<u64> {
        let cached = [
            self.cache_creation_input_tokens,
            self.cache_read_input_tokens,
        ];
        let cached: u64 = cached
            .iter()
            .filter_map(|count| count.0)
            .fold(0, u64::saturating_add);
        match self.input_tokens.0 {
            None if cached == 0 => None,
            input => Some(input.unwrap_or(0).saturating_add(cached)),
        }
    }
}
