//! Executions, as their tenant makes and reads them. How they go on is the workers' to write.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use super::Parent;
use crate::{Result, TenantTx};

#[derive(Debug, Clone)]
pub struct ExecutionRow {
    pub id: Uuid,
    pub flow_id: Uuid,
    pub flow_name: String,
    pub snapshot_id: Uuid,
    pub status: String,
    pub error: Option<String>,
    pub trigger: String,
    pub triggered_by: Option<Uuid>,
    pub parent: Option<Parent>,
    pub root_id: Uuid,
    pub depth: i32,
    pub rerun_of: Option<Uuid>,
    pub conversation_id: Option<Uuid>,
    pub turn_id: Option<Uuid>,
    pub cancel_requested: bool,
    pub steps: i32,
    pub started_at: Option<DateTime<Utc>>,
    pub completed_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

/// An execution to be run, of a flow of the tenant.
pub struct NewExecution<'a> {
    pub id: Uuid,
    pub flow_id: Uuid,
    pub snapshot_id: Uuid,
    /// JSON text.
    pub input: &'a str,
    pub trigger: &'a str,
    pub triggered_by: Option<Uuid>,
    /// The execution whose node waits for this one.
    pub parent: Option<Parent>,
    pub rerun_of: Option<Uuid>,
    pub conversation_id: Option<Uuid>,
    pub turn_id: Option<Uuid>,
    pub idempotency_key: Option<&'a str>,
}

#[derive(Default)]
pub struct ExecutionFilter<'a> {
    /// Who asks: what others' private conversations started is left out.
    pub viewer: Uuid,
    pub flow_id: Option<Uuid>,
    pub status: Option<&'a str>,
    pub trigger: Option<&'a str>,
    pub limit: i64,
    pub offset: i64,
}

const COLUMNS: &str = "e.id, e.flow_id, f.name, e.snapshot_id, e.status, e.error, e.trigger, e.triggered_by, e.parent_id, \
     e.parent_node, e.parent_attempt, e.root_id, e.depth, e.rerun_of, e.conversation_id, e.turn_id, e.cancel_requested, \
     e.steps, e.started_at, e.completed_at, e.created_at";
const FROM: &str =
    "FROM flow_executions e JOIN flows f ON f.tenant_id = e.tenant_id AND f.id = e.flow_id";

impl TenantTx {
    /// The id of what executions of the flow with this content run, made if there is none.
    pub async fn flow_snapshot(
        &mut self,
        flow_id: Uuid,
        digest: &[u8],
        flow_data: &str,
    ) -> Result<Uuid> {
        let known = sqlx::query_scalar(
            "SELECT id FROM flow_snapshots WHERE tenant_id = $1 AND flow_id = $2 AND digest = $3",
        )
        .bind(self.tenant_id)
        .bind(flow_id)
        .bind(digest)
        .fetch_optional(self.conn())
        .await?;
        if let Some(id) = known {
            return Ok(id);
        }
        sqlx::query(
            "INSERT INTO flow_snapshots (tenant_id, id, flow_id, digest, flow_data) VALUES ($1, $2, $3, $4, $5::json)
             ON CONFLICT (tenant_id, flow_id, digest) DO NOTHING",
        )
        .bind(self.tenant_id)
        .bind(qadra_types::new_id())
        .bind(flow_id)
        .bind(digest)
        .bind(flow_data)
        .execute(self.conn())
        .await?;
        // Somebody else's, if it was quicker: the insert waited for its commit.
        sqlx::query_scalar(
            "SELECT id FROM flow_snapshots WHERE tenant_id = $1 AND flow_id = $2 AND digest = $3",
        )
        .bind(self.tenant_id)
        .bind(flow_id)
        .bind(digest)
        .fetch_one(self.conn())
        .await
        .map_err(Into::into)
    }

    /// The graph of a snapshot, as JSON text.
    pub async fn flow_snapshot_get(&mut self, snapshot_id: Uuid) -> Result<Option<String>> {
        sqlx::query_scalar(
            "SELECT flow_data::text FROM flow_snapshots WHERE tenant_id = $1 AND id = $2",
        )
        .bind(self.tenant_id)
        .bind(snapshot_id)
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }

    /// Makes an execution that is due at once. False when one with that id is there already, or one of the flow with
    /// that key.
    pub async fn execution_create(&mut self, e: &NewExecution<'_>) -> Result<bool> {
        let done = sqlx::query(
            "INSERT INTO flow_executions (tenant_id, id, flow_id, snapshot_id, input, trigger, triggered_by, parent_id,
                    parent_node, parent_attempt, root_id, depth, rerun_of, conversation_id, turn_id, idempotency_key)
             SELECT $1, $2, $3, $4, $5::json, $6, $7, $8, $9, $10, coalesce(p.root_id, $2), coalesce(p.depth + 1, 0),
                    $11, $12, $13, $14
             FROM (SELECT) x LEFT JOIN flow_executions p ON p.tenant_id = $1 AND p.id = $8
             ON CONFLICT DO NOTHING",
        )
        .bind(self.tenant_id)
        .bind(e.id)
        .bind(e.flow_id)
        .bind(e.snapshot_id)
        .bind(e.input)
        .bind(e.trigger)
        .bind(e.triggered_by)
        .bind(e.parent.as_ref().map(|p| p.execution_id))
        .bind(e.parent.as_ref().map(|p| p.node.as_str()))
        .bind(e.parent.as_ref().map_or(1, |p| p.attempt))
        .bind(e.rerun_of)
        .bind(e.conversation_id)
        .bind(e.turn_id)
        .bind(e.idempotency_key)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    pub async fn execution_get(&mut self, id: Uuid) -> Result<Option<ExecutionRow>> {
        let sql = format!("SELECT {COLUMNS} {FROM} WHERE e.tenant_id = $1 AND e.id = $2");
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .try_map(execution)
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    pub async fn execution_input(&mut self, id: Uuid) -> Result<Option<Value>> {
        sqlx::query_scalar("SELECT input FROM flow_executions WHERE tenant_id = $1 AND id = $2")
            .bind(self.tenant_id)
            .bind(id)
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Locked until the transaction ends, so that no worker writes meanwhile. False when there is none.
    pub async fn execution_lock(&mut self, id: Uuid) -> Result<bool> {
        let found: Option<i32> = sqlx::query_scalar(
            "SELECT 1 FROM flow_executions WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE",
        )
        .bind(self.tenant_id)
        .bind(id)
        .fetch_optional(self.conn())
        .await?;
        Ok(found.is_some())
    }

    /// The execution of the flow that was made with this idempotency key, with its input.
    pub async fn execution_by_key(
        &mut self,
        flow_id: Uuid,
        key: &str,
    ) -> Result<Option<(Uuid, String, Value)>> {
        sqlx::query_as(
            "SELECT id, status, input FROM flow_executions WHERE tenant_id = $1 AND flow_id = $2 AND idempotency_key = $3",
        )
        .bind(self.tenant_id)
        .bind(flow_id)
        .bind(key)
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }

    /// Newest first, with the number of all that match.
    pub async fn execution_list(
        &mut self,
        f: &ExecutionFilter<'_>,
    ) -> Result<(Vec<ExecutionRow>, i64)> {
        // Only the filters that are set, so that the plan made once fits.
        let mut matching = String::from(
            "e.tenant_id = $1 AND (e.conversation_id IS NULL OR EXISTS (
                SELECT FROM conversations c WHERE c.tenant_id = e.tenant_id AND c.id = e.conversation_id
                    AND (c.user_id = $2 OR c.is_shared)))",
        );
        let mut next = 2;
        for (set, condition) in [
            (f.flow_id.is_some(), "e.flow_id = "),
            (f.status.is_some(), "e.status = "),
            (f.trigger.is_some(), "e.trigger = "),
        ] {
            if set {
                next += 1;
                matching += &format!(" AND {condition}${next}");
            }
        }
        let count = format!("SELECT count(*) FROM flow_executions e WHERE {matching}");
        let mut query = sqlx::query_scalar(AssertSqlSafe(count))
            .bind(self.tenant_id)
            .bind(f.viewer);
        if let Some(id) = f.flow_id {
            query = query.bind(id);
        }
        for word in [f.status, f.trigger].into_iter().flatten() {
            query = query.bind(word);
        }
        let total = query.fetch_one(self.conn()).await?;
        let (limit, offset) = (next + 1, next + 2);
        let rows = format!(
            "SELECT {COLUMNS} {FROM} WHERE {matching} ORDER BY e.created_at DESC, e.id DESC LIMIT ${limit} OFFSET ${offset}"
        );
        let mut query = sqlx::query(AssertSqlSafe(rows))
            .bind(self.tenant_id)
            .bind(f.viewer);
        if let Some(id) = f.flow_id {
            query = query.bind(id);
        }
        for word in [f.status, f.trigger].into_iter().flatten() {
            query = query.bind(word);
        }
        let items = query
            .bind(f.limit)
            .bind(f.offset)
            .try_map(execution)
            .fetch_all(self.conn())
            .await?;
        Ok((items, total))
    }

    /// What the nodes of an execution have started: node, attempt, execution.
    pub async fn execution_children(&mut self, id: Uuid) -> Result<Vec<(String, i32, Uuid)>> {
        sqlx::query_as(
            "SELECT parent_node, parent_attempt, id FROM flow_executions WHERE tenant_id = $1 AND parent_id = $2
             ORDER BY created_at, id",
        )
        .bind(self.tenant_id)
        .bind(id)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// The flows of an execution and of all above it, itself first.
    pub async fn execution_lineage(&mut self, id: Uuid) -> Result<Vec<Uuid>> {
        sqlx::query_scalar(
            "WITH RECURSIVE up AS (
                SELECT e.flow_id, e.parent_id, e.depth FROM flow_executions e WHERE e.tenant_id = $1 AND e.id = $2
                UNION ALL
                SELECT e.flow_id, e.parent_id, e.depth FROM up JOIN flow_executions e ON e.tenant_id = $1 AND e.id = up.parent_id
             )
             SELECT flow_id FROM up ORDER BY depth DESC",
        )
        .bind(self.tenant_id)
        .bind(id)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }
}

fn execution(r: PgRow) -> sqlx::Result<ExecutionRow> {
    let parent_id: Option<Uuid> = r.try_get(8)?;
    let parent_node: Option<String> = r.try_get(9)?;
    let attempt = r.try_get(10)?;
    Ok(ExecutionRow {
        id: r.try_get(0)?,
        flow_id: r.try_get(1)?,
        flow_name: r.try_get(2)?,
        snapshot_id: r.try_get(3)?,
        status: r.try_get(4)?,
        error: r.try_get(5)?,
        trigger: r.try_get(6)?,
        triggered_by: r.try_get(7)?,
        parent: parent_id
            .zip(parent_node)
            .map(|(execution_id, node)| Parent {
                execution_id,
                node,
                attempt,
            }),
        root_id: r.try_get(11)?,
        depth: r.try_get(12)?,
        rerun_of: r.try_get(13)?,
        conversation_id: r.try_get(14)?,
        turn_id: r.try_get(15)?,
        cancel_requested: r.try_get(16)?,
        steps: r.try_get(17)?,
        started_at: r.try_get(18)?,
        completed_at: r.try_get(19)?,
        created_at: r.try_get(20)?,
    })
}
