use qadra_types::{AgentVersion, ControlType, OutputVisibility, Patch, patch};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// Everything but the name has a default; with `preset` the defaults are that persona's.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
pub struct CreateAgent {
    /// Unique in the tenant, such as `research-analyst`. With a preset it may be absent.
    #[serde(default)]
    pub name: Option<String>,
    /// One of `GET /api/agents/presets`.
    #[serde(default)]
    pub preset: Option<String>,
    #[serde(default)]
    pub display_name: Option<String>,
    #[serde(default)]
    pub avatar_url: Option<String>,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub system_prompt: Option<String>,
    #[serde(default)]
    pub control_type: Option<ControlType>,
    #[serde(default)]
    pub output_visibility: Option<OutputVisibility>,
    /// 1 to 100, 3 if absent.
    #[serde(default)]
    pub max_calls_per_parent_agent: Option<i32>,
    #[serde(default)]
    pub model: Option<String>,
    /// 0 to 2.
    #[serde(default)]
    pub temperature: Option<f64>,
    #[serde(default)]
    pub is_active: Option<bool>,
}

/// An absent field stays, `null` clears or resets to the default.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct UpdateAgent {
    #[schema(ignore)]
    pub id: Uuid,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<String>)]
    pub name: Patch<String>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<String>)]
    pub display_name: Patch<String>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<String>)]
    pub avatar_url: Patch<String>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<String>)]
    pub description: Patch<String>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<String>)]
    pub system_prompt: Patch<String>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<ControlType>)]
    pub control_type: Patch<ControlType>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<OutputVisibility>)]
    pub output_visibility: Patch<OutputVisibility>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<i32>)]
    pub max_calls_per_parent_agent: Patch<i32>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<String>)]
    pub model: Patch<String>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<f64>)]
    pub temperature: Patch<f64>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<bool>)]
    pub is_active: Patch<bool>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ListAgents {
    #[serde(default = "super::default_limit")]
    pub limit: i64,
    #[serde(default)]
    pub offset: i64,
    #[serde(default)]
    pub is_active: Option<bool>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct RestoreAgentVersion {
    pub id: Uuid,
    pub version: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AgentVersions {
    /// Newest first.
    pub items: Vec<AgentVersion>,
    pub total: i64,
}

/// A ready-made persona.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AgentPreset {
    /// What `POST /api/agents` takes as `preset`.
    pub preset: String,
    pub display_name: String,
    pub description: String,
    pub system_prompt: String,
    pub control_type: ControlType,
    pub output_visibility: OutputVisibility,
    pub max_calls_per_parent_agent: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AgentPresets {
    pub items: Vec<AgentPreset>,
}
