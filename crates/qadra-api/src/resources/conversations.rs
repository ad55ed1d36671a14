use chrono::{DateTime, Utc};
use qadra_types::{Conversation, Message, Patch, patch};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
pub struct CreateConversation {
    /// Made from the first message if absent.
    #[serde(default)]
    pub title: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ListConversations {
    #[serde(default = "super::default_limit")]
    pub limit: i64,
    #[serde(default)]
    pub offset: i64,
    /// Words to find in titles and messages.
    #[serde(default)]
    pub q: Option<String>,
    #[serde(default)]
    pub archived: Option<bool>,
    /// True lists what others shared with the tenant.
    #[serde(default)]
    pub shared: Option<bool>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct UpdateConversation {
    #[schema(ignore)]
    pub id: Uuid,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<String>)]
    pub title: Patch<String>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<bool>)]
    pub is_archived: Patch<bool>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<bool>)]
    pub is_shared: Patch<bool>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ListMessages {
    pub conversation_id: Uuid,
    #[serde(default = "super::default_limit")]
    pub limit: i64,
    #[serde(default)]
    pub offset: i64,
    #[serde(default)]
    pub order: Order,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    #[default]
    Asc,
    Desc,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct SendMessage {
    #[schema(ignore)]
    pub conversation_id: Uuid,
    pub agent_id: Uuid,
    /// 1 to 100,000 characters.
    pub content: String,
    #[serde(default)]
    #[schema(ignore)]
    pub turn_id: Option<Uuid>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct EditMessage {
    #[schema(ignore)]
    pub conversation_id: Uuid,
    #[schema(ignore)]
    pub message_id: Uuid,
    pub content: String,
    /// The agent that last answered, if absent.
    #[serde(default)]
    pub agent_id: Option<Uuid>,
    #[serde(default)]
    #[schema(ignore)]
    pub turn_id: Option<Uuid>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct RegenerateMessage {
    #[schema(ignore)]
    pub conversation_id: Uuid,
    #[schema(ignore)]
    pub message_id: Uuid,
    /// The agent that answered before, if absent.
    #[serde(default)]
    pub agent_id: Option<Uuid>,
    #[serde(default)]
    #[schema(ignore)]
    pub turn_id: Option<Uuid>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct MessageRef {
    pub conversation_id: Uuid,
    pub message_id: Uuid,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct RateMessage {
    #[schema(ignore)]
    pub conversation_id: Uuid,
    #[schema(ignore)]
    pub message_id: Uuid,
    /// 1 for thumbs up, -1 for thumbs down, `null` to take it back.
    #[serde(deserialize_with = "Option::deserialize")]
    pub rating: Option<i64>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct TurnRef {
    pub conversation_id: Uuid,
    pub turn_id: Uuid,
}

/// Asked by the gateway to catch up with a turn.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TurnEvents {
    pub conversation_id: Uuid,
    pub turn_id: Uuid,
    /// The last `seq` the reader has.
    #[serde(default)]
    pub after: u32,
}

/// What a reader that has everything up to `after` has missed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct EventPage {
    pub events: Vec<StreamEvent>,
    /// True when more can be asked for at once.
    pub more: bool,
    /// True when the turn has ended: nothing will follow what is stored.
    pub ended: bool,
}

/// One event of a turn's stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamEvent {
    pub seq: u32,
    pub event: String,
    pub data: Value,
}

/// A finished turn.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Exchange {
    pub user_message: Message,
    pub assistant_message: Message,
    pub conversation: Conversation,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ExportConversation {
    pub id: Uuid,
    #[serde(default)]
    pub format: ExportFormat,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    #[default]
    Md,
    Json,
}

#[derive(Debug, Clone, Deserialize)]
pub struct TrainingExport {
    /// `up` or `down`; both if absent.
    #[serde(default)]
    pub rating: Option<String>,
}

/// A file to hand to the browser.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Download {
    pub filename: String,
    pub content_type: String,
    pub content: String,
}

/// One exported thread.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExportedThread {
    pub exported_at: DateTime<Utc>,
    pub conversation: Conversation,
    pub messages: Vec<Message>,
}
