use chrono::{DateTime, Utc};
use qadra_types::{Patch, patch};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Deserialize)]
pub struct ListMemories {
    #[serde(default = "super::default_limit")]
    pub limit: i64,
    #[serde(default)]
    pub offset: i64,
    #[serde(default)]
    pub agent_id: Option<Uuid>,
    #[serde(default)]
    pub q: Option<String>,
}

/// Something to remember: a value, a note, or both. The same key of the same agent replaces.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct CreateMemory {
    /// Whose it is; the whole tenant's if absent.
    #[serde(default)]
    pub agent_id: Option<Uuid>,
    /// At most 200 characters.
    #[serde(default)]
    pub key: Option<String>,
    /// Any JSON of at most 16 KiB.
    #[serde(default)]
    pub value: Option<Value>,
    /// At most 4,000 characters.
    #[serde(default)]
    pub note: Option<String>,
    /// 1 second to 10 years; for ever if absent.
    #[serde(default)]
    pub ttl_seconds: Option<i64>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct UpdateMemory {
    #[schema(ignore)]
    pub id: Uuid,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<String>)]
    pub key: Patch<String>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<Value>)]
    pub value: Patch<Value>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<String>)]
    pub note: Patch<String>,
    /// From now; `null` for ever.
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<i64>)]
    pub ttl_seconds: Patch<i64>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Memory {
    pub id: Uuid,
    pub agent_id: Option<Uuid>,
    /// Who wrote it, or on whose behalf the agent did.
    pub user_id: Option<Uuid>,
    /// `tenant` or `agent`.
    pub scope: String,
    pub key: Option<String>,
    pub value: Option<Value>,
    pub note: Option<String>,
    pub expires_at: Option<DateTime<Utc>>,
    /// `person` or `agent`.
    pub source: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}
