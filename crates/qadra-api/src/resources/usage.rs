use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Clone, Deserialize)]
pub struct UsageQuery {
    #[serde(default)]
    pub from: Option<DateTime<Utc>>,
    #[serde(default)]
    pub to: Option<DateTime<Utc>>,
}

/// Model use of the tenant in a span of time.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Usage {
    pub calls: i64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
    pub by_model: Vec<ModelUsage>,
    pub by_day: Vec<DayUsage>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ModelUsage {
    pub model: Option<String>,
    pub calls: i64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DayUsage {
    pub day: NaiveDate,
    pub calls: i64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
}

/// What runs, for anyone who can reach it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Meta {
    pub version: String,
    pub llm: LlmMeta,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct LlmMeta {
    pub provider: String,
    pub model: String,
}
