use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tokens::{estimate_tokens, weigh_bytes, weight_to_tokens};

/// What is asked of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatRequest {
    /// The provider's default model when `None`.
    pub model: Option<String>,
    pub temperature: Option<f32>,
    /// Most tokens in the answer.
    pub max_tokens: Option<u32>,
    /// In the order in which the model reads them.
    pub messages: Vec<ChatMessage>,
    pub tools: Vec<ToolSpec>,
    pub tool_choice: ToolChoice,
    /// The record that grounds this turn, in a form of the caller's own. Never sent over a network;
    /// a provider that needs no model reads it.
    pub context: Value,
}

impl ChatRequest {
    /// Estimated size of the prompt: every message and tool by [`estimate_tokens`], plus four tokens
    /// of framing for each and three to open the answer.
    pub fn estimated_prompt_tokens(&self) -> u64 {
        let messages: u64 = self
            .messages
            .iter()
            .map(ChatMessage::estimated_tokens)
            .sum();
        let tools: u64 = self
            .tools
            .iter()
            .map(|tool| {
                4 + estimate_tokens(&tool.name)
                    + estimate_tokens(&tool.description)
                    + estimate_tokens(&tool.parameters.to_string())
            })
            .sum();
        messages + tools + 3
    }
}

/// One message of a conversation as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum ChatMessage {
    System {
        content: String,
    },
    User {
        content: String,
    },
    Assistant {
        content: String,
        #[serde(default)]
        tool_calls: Vec<ToolCall>,
    },
    /// What a tool returned for the call `call_id` of an earlier assistant message.
    Tool {
        call_id: String,
        content: String,
    },
}

impl ChatMessage {
    pub fn system(content: impl Into<String>) -> Self {
        Self::System {
            content: content.into(),
        }
    }

    pub fn user(content: impl Into<String>) -> Self {
        Self::User {
            content: content.into(),
        }
    }

    pub fn assistant(content: impl Into<String>) -> Self {
        Self::Assistant {
            content: content.into(),
            tool_calls: Vec::new(),
        }
    }

    pub fn tool(call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self::Tool {
            call_id: call_id.into(),
            content: content.into(),
        }
    }

    /// Estimated tokens of this message with its framing; a history budget adds these up.
    pub fn estimated_tokens(&self) -> u64 {
        let weight = match self {
            Self::System { content } | Self::User { content } => weigh_bytes(content.as_bytes()),
            Self::Tool { call_id, content } => {
                weigh_bytes(content.as_bytes()) + weigh_bytes(call_id.as_bytes())
            }
            Self::Assistant {
                content,
                tool_calls,
            } => tool_calls
                .iter()
                .map(ToolCall::weight)
                .fold(weigh_bytes(content.as_bytes()), u64::saturating_add),
        };
        4 + weight_to_tokens(weight)
    }
}

/// A model's wish to run a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// As the model wrote it: meant to be a JSON object, but checked by nobody yet. Never empty;
    /// a call without arguments carries `{}`.
    pub arguments: String,
}

impl ToolCall {
    pub(crate) fn weight(&self) -> u64 {
        weigh_bytes(self.name.as_bytes()) + weigh_bytes(self.arguments.as_bytes())
    }
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments, an object schema.
    pub parameters: Value,
}

/// Whether the model may, must not or must call a tool. Sent only when there are tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    #[default]
    Auto,
    None,
    Required,
}
