pub mod accounts;
pub mod agents;
pub mod conversations;
pub mod documents;
pub mod flows;
pub mod graph;
pub mod knowledge;
pub mod memory;
pub mod usage;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// A page of a list.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Items<T> {
    pub items: Vec<T>,
    /// How many there are in all.
    pub total: i64,
    pub limit: i64,
    pub offset: i64,
}

/// Which page of a list: `limit` 1 to 100 (20 if absent), `offset` from 0.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct ListQuery {
    #[serde(default = "default_limit")]
    pub limit: i64,
    #[serde(default)]
    pub offset: i64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub struct ById {
    pub id: Uuid,
}

pub(crate) fn default_limit() -> i64 {
    20
}
