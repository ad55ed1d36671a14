use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::word::words;

/// A persona with a system prompt that takes part in conversations, flows and workloads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Agent {
    pub id: Uuid,
    /// Internal identifier, unique in the tenant, such as `research-analyst`.
    pub name: String,
    /// Counts published changes of the prompt, model and temperature, from 1.
    pub version: i32,
    pub display_name: Option<String>,
    pub avatar_url: Option<String>,
    pub description: Option<String>,
    pub system_prompt: String,
    pub control_type: ControlType,
    pub output_visibility: OutputVisibility,
    /// How often one parent may call this agent in one turn.
    pub max_calls_per_parent_agent: i32,
    /// Overrides the configured model.
    pub model: Option<String>,
    /// Overrides the provider's default sampling temperature, 0 to 2.
    pub temperature: Option<f64>,
    pub is_active: bool,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

impl Agent {
    /// The name people read.
    pub fn label(&self) -> &str {
        self.display_name.as_deref().unwrap_or(&self.name)
    }
}

/// What an agent was told at one published version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentVersion {
    pub version: i32,
    pub system_prompt: String,
    pub model: Option<String>,
    pub temperature: Option<f64>,
    pub created_by: Option<Uuid>,
    pub created_at: DateTime<Utc>,
}

/// Where control goes once an agent has finished.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ControlType {
    /// The agent keeps the conversation.
    Retain,
    #[default]
    RelinquishToParent,
    RelinquishToStart,
}

/// Who sees what an agent says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputVisibility {
    #[default]
    UserFacing,
    Internal,
}

words!(ControlType {
    Retain => "retain",
    RelinquishToParent => "relinquish_to_parent",
    RelinquishToStart => "relinquish_to_start",
});
words!(OutputVisibility { UserFacing => "user_facing", Internal => "internal" });
