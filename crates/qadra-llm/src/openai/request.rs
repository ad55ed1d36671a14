use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::quirks::Quirks;
use crate::{ChatMessage, ChatRequest, LlmError, ToolCall, ToolChoice, ToolSpec};

/// The request as it goes out, its messages exactly in the order given.
pub(super) fn body(request: &ChatRequest, model: &str, quirks: &Quirks) -> Result<Bytes, LlmError> {
    let max = request.max_tokens;
    let body = Body {
        model,
        messages: request.messages.iter().map(Message::new).collect(),
        stream: true,
        stream_options: (!quirks.no_stream_options).then_some(StreamOptions {
            include_usage: true,
        }),
        temperature: request
            .temperature
            .filter(|_| !quirks.fixed_temperature)
            .map(short),
        max_tokens: max.filter(|_| !quirks.renamed_max_tokens),
        max_completion_tokens: max.filter(|_| quirks.renamed_max_tokens),
        tools: request.tools.iter().map(Tool::new).collect(),
        tool_choice: (!request.tools.is_empty()).then_some(request.tool_choice),
    };
    serde_json::to_vec(&body)
        .map(Bytes::from)
        .map_err(|error| LlmError::Config(format!("the request cannot be written: {error}")))
}

/// 0.7 as `0.7`, not as the 0.699999988079071 that the nearest `f32` widens to.
pub(crate) fn short(number: f32) -> f64 {
    number
        .to_string()
        .parse()
        .unwrap_or_else(|_| f64::from(number))
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    /// Null beside tool calls when the model said nothing: some servers refuse an empty string there.
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

impl<'a> Message<'a> {
    fn new(message: &'a ChatMessage) -> Self {
        let plain = |role, content: &'a str| Self {
            role,
            content: Some(content),
            tool_calls: Vec::new(),
            tool_call_id: None,
        };
        match message {
            ChatMessage::System { content } => plain("system", content),
            ChatMessage::User { content } => plain("user", content),
            ChatMessage::Assistant {
                content,
                tool_calls,
            } => Self {
                role: "assistant",
                content: Some(content.as_str())
                    .filter(|content| !content.is_empty() || tool_calls.is_empty()),
                tool_calls: tool_calls.iter().map(Call::new).collect(),
                tool_call_id: None,
            },
            ChatMessage::Tool { call_id, content } => Self {
                tool_call_id: Some(call_id),
                ..plain("tool", content)
            },
        }
    }
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: CalledFunction<'a>,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl<'a> Call<'a> {
    fn new(call: &'a ToolCall) -> Self {
        let function = CalledFunction {
            name: &call.name,
            arguments: &call.arguments,
        };
        Self {
            id: &call.id,
            r#type: "function",
            function,
        }
    }
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: ToolFunction<'a>,
}

#[derive(Serialize)]
struct ToolFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

impl<'a> Tool<'a> {
    fn new(tool: &'a ToolSpec) -> Self {
        let function = ToolFunction {
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.parameters,
        };
        Self {
            r#type: "function",
            function,
        }
    }
}
