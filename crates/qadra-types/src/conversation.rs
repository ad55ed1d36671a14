use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Code;
use crate::word::words;

/// A thread between a person and any of the tenant's agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Conversation {
    pub id: Uuid,
    pub user_id: Uuid,
    pub title: Option<String>,
    pub is_archived: bool,
    /// Shared with the tenant for reading; otherwise its user's own.
    pub is_shared: bool,
    /// The branch that lists show and the next message continues.
    pub active_branch_id: Uuid,
    /// Messages on the active branch.
    pub message_count: i32,
    /// The turn that is being answered now.
    pub running_turn_id: Option<Uuid>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// A line of the conversation list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConversationSummary {
    pub id: Uuid,
    pub user_id: Uuid,
    pub title: Option<String>,
    pub is_archived: bool,
    pub is_shared: bool,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub message_count: i32,
    /// First 160 characters of the newest message.
    pub last_message_preview: Option<String>,
    pub last_agent_id: Option<Uuid>,
    pub running_turn_id: Option<Uuid>,
    /// Where a search found its words, when a message rather than the title matched.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub found: Option<SearchMatch>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchMatch {
    pub message_id: Uuid,
    pub snippet: String,
}

/// One message of a thread. Lists show those of the active branch, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Message {
    pub id: Uuid,
    pub conversation_id: Uuid,
    /// The message before it; `None` for the first.
    pub parent_id: Option<Uuid>,
    pub branch_id: Uuid,
    /// 1 for the first message of the thread, counted along the branch.
    pub position: i32,
    pub role: MessageRole,
    pub content: String,
    /// The agent that spoke; `None` for a person's message.
    pub agent_id: Option<Uuid>,
    /// Which version of the agent spoke.
    pub agent_version: Option<i32>,
    pub model: Option<String>,
    /// Tokens of every model call of the turn, prompt and completion.
    pub token_count: Option<i32>,
    pub prompt_tokens: Option<i32>,
    pub completion_tokens: Option<i32>,
    /// From the acceptance of the message to the end of the answer.
    pub latency_ms: Option<i32>,
    /// `stop`, `length`, `cancelled`, `tool_call_limit` or the provider's own word.
    pub finish_reason: Option<String>,
    /// 1 for thumbs up, -1 for thumbs down.
    pub rating: Option<i16>,
    pub flow_execution_id: Option<Uuid>,
    /// `grounding`, `citations`, `artifacts`, `tool_calls`, `usage`, `agent`, `provider`.
    #[schema(value_type = Object)]
    pub metadata: Value,
    pub created_at: DateTime<Utc>,
    /// This message and its alternatives (edits, regenerations) at the same place, oldest first.
    pub siblings: Vec<Uuid>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum MessageRole {
    User,
    Assistant,
    System,
}

/// One exchange: a user message being answered by an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Turn {
    pub id: Uuid,
    pub conversation_id: Uuid,
    pub status: TurnStatus,
    pub user_message_id: Uuid,
    pub assistant_message_id: Option<Uuid>,
    pub agent_id: Option<Uuid>,
    pub error: Option<TurnError>,
    pub started_at: DateTime<Utc>,
    pub finished_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TurnStatus {
    Running,
    Completed,
    Cancelled,
    Failed,
}

/// Why a turn failed, in the words that its `error` event carried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TurnError {
    #[schema(value_type = String)]
    pub code: Code,
    pub detail: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether asking again can help.
    pub retryable: bool,
}

words!(MessageRole { User => "user", Assistant => "assistant", System => "system" });
words!(TurnStatus {
    Running => "running",
    Completed => "completed",
    Cancelled => "cancelled",
    Failed => "failed",
});
