//! An execution's journal as rows.

use chrono::{DateTime, Utc};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::{Result, TenantTx};

/// One line of an execution's journal. What it means is the engine's to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRow {
    /// From 1, without gaps.
    pub seq: u32,
    pub kind: String,
    /// Empty where it concerns no node.
    pub node: String,
    pub attempt: i32,
    /// In milliseconds since the epoch.
    pub at: i64,
    /// JSON text.
    pub body: Option<String>,
}

impl JournalRow {
    pub(super) fn time(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(self.at).unwrap_or_default()
    }
}

impl TenantTx {
    /// The journal from after `after`, in order.
    pub async fn journal_read(
        &mut self,
        execution_id: Uuid,
        after: u32,
    ) -> Result<Vec<JournalRow>> {
        sqlx::query(
            "SELECT seq, kind, node, attempt, at, body::text FROM flow_journal
             WHERE tenant_id = $1 AND execution_id = $2 AND seq > $3 ORDER BY seq",
        )
        .bind(self.tenant_id)
        .bind(execution_id)
        .bind(i32::try_from(after).unwrap_or(i32::MAX))
        .try_map(|r: PgRow| row(&r))
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// The beginning of a new execution's journal, taken from another's. Only for one made in this transaction, which
    /// no worker can see yet.
    pub async fn journal_seed(&mut self, execution_id: Uuid, rows: &[JournalRow]) -> Result<()> {
        let seqs: Vec<i32> = rows.iter().filter_map(|r| r.seq.try_into().ok()).collect();
        let kinds: Vec<&str> = rows.iter().map(|r| r.kind.as_str()).collect();
        let nodes: Vec<&str> = rows.iter().map(|r| r.node.as_str()).collect();
        let attempts: Vec<i32> = rows.iter().map(|r| r.attempt).collect();
        let ats: Vec<DateTime<Utc>> = rows.iter().map(JournalRow::time).collect();
        let bodies: Vec<Option<&str>> = rows.iter().map(|r| r.body.as_deref()).collect();
        sqlx::query(
            "INSERT INTO flow_journal (tenant_id, execution_id, seq, kind, node, attempt, at, body)
             SELECT $1, $2, r.seq, r.kind, r.node, r.attempt, r.at, r.body::json
             FROM unnest($3, $4, $5, $6, $7, $8) r (seq, kind, node, attempt, at, body)
             WHERE EXISTS (SELECT FROM flow_executions e WHERE e.tenant_id = $1 AND e.id = $2 AND e.status = 'pending')",
        )
        .bind(self.tenant_id)
        .bind(execution_id)
        .bind(seqs)
        .bind(kinds)
        .bind(nodes)
        .bind(attempts)
        .bind(ats)
        .bind(bodies)
        .execute(self.conn())
        .await?;
        Ok(())
    }
}

pub(super) fn row(r: &PgRow) -> sqlx::Result<JournalRow> {
    Ok(JournalRow {
        seq: r.try_get::<i32, _>(0)?.unsigned_abs(),
        kind: r.try_get(1)?,
        node: r.try_get(2)?,
        attempt: r.try_get(3)?,
        at: r.try_get::<DateTime<Utc>, _>(4)?.timestamp_millis(),
        body: r.try_get(5)?,
    })
}
