//! What reaches an execution from outside.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use crate::{Result, TenantTx};

/// A message to an execution.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct InboxRow {
    pub id: Uuid,
    /// `input`, `child` or `cancel`.
    pub kind: String,
    /// Empty where it concerns no node.
    pub node: String,
    pub attempt: i32,
    pub body: Value,
    pub created_by: Option<Uuid>,
    pub created_at: DateTime<Utc>,
}

/// What a person sends.
pub struct NewMessage<'a> {
    pub execution_id: Uuid,
    pub kind: &'a str,
    pub node: &'a str,
    pub body: &'a Value,
    pub created_by: Option<Uuid>,
}

impl TenantTx {
    /// Puts a message into the inbox and makes the execution due. False when it has ended or is not there. A second
    /// message of the kind to the same node is [`crate::StoreError::Duplicate`].
    pub async fn inbox_put(&mut self, m: &NewMessage<'_>) -> Result<bool> {
        // The row is locked by the update first, which is the order of workers too.
        let put = sqlx::query(
            "WITH e AS (
                UPDATE flow_executions SET ready_at = created_at, updated_at = now(),
                    cancel_requested = cancel_requested OR $4 = 'cancel'
                WHERE tenant_id = $1 AND id = $3 AND status NOT IN ('completed', 'failed', 'cancelled')
                RETURNING id
             )
             INSERT INTO flow_inbox (tenant_id, id, execution_id, kind, node, body, created_by)
             SELECT $1, $2, e.id, $4, $5, $6::json, $7 FROM e",
        )
        .bind(self.tenant_id)
        .bind(qadra_types::new_id())
        .bind(m.execution_id)
        .bind(m.kind)
        .bind(m.node)
        .bind(m.body.to_string())
        .bind(m.created_by)
        .execute(self.conn())
        .await?;
        Ok(put.rows_affected() == 1)
    }
}
