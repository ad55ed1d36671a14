use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::openai::request::short;
use crate::{ChatMessage, ChatRequest, LlmError, ToolChoice};

/// The format has no default of its own for the length of an answer.
const DEFAULT_MAX_TOKENS: u32 = 4096;

/// The request as it goes out.
///
/// The format knows no system role among the messages, wants a user first, and turns in alternation:
/// - leading system messages become `system`, joined by an empty line;
/// - a later one becomes text of a user turn, in its place;
/// - neighbours of the same role become one turn, and empty text goes.
pub(super) fn body(request: &ChatRequest, model: &str) -> Result<Bytes, LlmError> {
    let leading = request
        .messages
        .iter()
        .take_while(|message| matches!(message, ChatMessage::System { .. }))
        .count();
    let (system, rest) = request.messages.split_at(leading);
    let system: Vec<&str> = system
        .iter()
        .filter_map(|message| match message {
            ChatMessage::System { content } if !content.trim().is_empty() => Some(content.as_str()),
            _ => None,
        })
        .collect();

    let mut body = json!({
        "model": model,
        "max_tokens": request.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
        "stream": true,
        "messages": turns(rest),
    });
    if !system.is_empty() {
        body["system"] = Value::String(system.join("\n\n"));
    }
    if let Some(temperature) = request.temperature {
        // The scale ends at 1 here, and at 2 elsewhere.
        body["temperature"] = json!(short(temperature.clamp(0.0, 1.0)));
    }
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.parameters,
                })
            })
            .collect();
        body["tools"] = Value::Array(tools);
        body["tool_choice"] = json!({"type": match request.tool_choice {
            ToolChoice::Auto => "auto",
            ToolChoice::None => "none",
            ToolChoice::Required => "any",
        }});
    }
    serde_json::to_vec(&body)
        .map(Bytes::from)
        .map_err(|error| LlmError::Config(format!("the request cannot be written: {error}")))
}

fn turns(messages: &[ChatMessage]) -> Vec<Value> {
    let mut turns: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match message {
            ChatMessage::System { content } | ChatMessage::User { content } => {
                ("user", text_block(content).into_iter().collect())
            }
            ChatMessage::Assistant {
                content,
                tool_calls,
            } => {
                let mut blocks: Vec<Value> = text_block(content).into_iter().collect();
                blocks.extend(tool_calls.iter().map(|call| {
                    json!({
                        "type": "tool_use",
                        "id": clean_id(&call.id),
                        "name": call.name,
                        "input": input(&call.arguments),
                    })
                }));
                ("assistant", blocks)
            }
            ChatMessage::Tool { call_id, content } => (
                "user",
                vec![json!({
                    "type": "tool_result",
                    "tool_use_id": clean_id(call_id),
                    "content": content,
                })],
            ),
        };
        if blocks.is_empty() {
            continue;
        }
        match turns.last_mut() {
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    if turns.first().is_some_and(|(role, _)| *role == "assistant") {
        // A history cut to its budget may begin with an answer.
        let opening = json!({"type": "text", "text": "(earlier messages are left out)"});
        turns.insert(0, ("user", vec![opening]));
    }
    turns
        .into_iter()
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect()
}

fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

/// Arguments as the object that the format wants; what is no object goes in as text inside one.
fn input(arguments: &str) -> Value {
    match serde_json::from_str::<Map<String, Value>>(arguments) {
        Ok(object) => Value::Object(object),
        Err(_) => json!({"arguments": arguments}),
    }
}

/// An id from another provider may have characters that are refused here.
fn clean_id(id: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    id.chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ToolCall, ToolSpec};

    fn written(request: &ChatRequest) -> Value {
        serde_json::from_slice(&body(request, "m").unwrap()).unwrap()
    }

    #[test]
    fn leading_system_messages_are_joined_and_later_ones_keep_their_place() {
        let request = ChatRequest {
            messages: vec![
                ChatMessage::system("be kind"),
                ChatMessage::system("FACTS"),
                ChatMessage::user("hi"),
                ChatMessage::assistant("hello"),
                ChatMessage::system("note"),
                ChatMessage::user("go"),
            ],
            ..ChatRequest::default()
        };
        let body = written(&request);
        assert_eq!(body["system"], "be kind\n\nFACTS");
        assert_eq!(
            body["messages"],
            json!([
                {"role": "user", "content": [{"type": "text", "text": "hi"}]},
                {"role": "assistant", "content": [{"type": "text", "text": "hello"}]},
                {"role": "user", "content": [
                    {"type": "text", "text": "note"}, {"type": "text", "text": "go"}]},
            ])
        );
        assert_eq!(body["max_tokens"], 4096);
    }

    #[test]
    fn tool_calls_and_results_become_blocks_of_alternating_turns() {
        let call = |id: &str, arguments: &str| ToolCall {
            id: id.into(),
            name: "t".into(),
            arguments: arguments.into(),
        };
        let request = ChatRequest {
            messages: vec![
                ChatMessage::assistant("old"),
                ChatMessage::user("go"),
                ChatMessage::Assistant {
                    content: String::new(),
                    tool_calls: vec![call("a:1", r#"{"x":1}"#), call("b", "not json")],
                },
                ChatMessage::tool("a:1", "one"),
                ChatMessage::tool("b", "two"),
            ],
            tools: vec![ToolSpec {
                name: "t".into(),
                description: "d".into(),
                parameters: json!({"type": "object"}),
            }],
            tool_choice: ToolChoice::Required,
            temperature: Some(1.7),
            ..ChatRequest::default()
        };
        let body = written(&request);
        assert_eq!(
            body["messages"],
            json!([
                {"role": "user", "content": [
                    {"type": "text", "text": "(earlier messages are left out)"}]},
                {"role": "assistant", "content": [{"type": "text", "text": "old"}]},
                {"role": "user", "content": [{"type": "text", "text": "go"}]},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "a_1", "name": "t", "input": {"x": 1}},
                    {"type": "tool_use", "id": "b", "name": "t", "input": {"arguments": "not json"}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "a_1", "content": "one"},
                    {"type": "tool_result", "tool_use_id": "b", "content": "two"}]},
            ])
        );
        assert_eq!(body["tools"][0]["input_schema"], json!({"type": "object"}));
        assert_eq!(body["tool_choice"], json!({"type": "any"}));
        assert_eq!(body["temperature"], 1.0);
        assert_eq!(body.get("system"), None);
    }
}
