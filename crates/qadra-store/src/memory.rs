//! What agents and people want remembered: values by key, and notes.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use crate::knowledge::like;
use crate::{Result, SystemTx, TenantTx};

pub struct MemoryRow {
    pub id: Uuid,
    pub agent_id: Option<Uuid>,
    pub user_id: Option<Uuid>,
    pub key: Option<String>,
    pub value: Option<Value>,
    pub note: Option<String>,
    pub source: String,
    pub expires_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

pub struct NewMemory {
    pub agent_id: Option<Uuid>,
    pub user_id: Uuid,
    pub key: Option<String>,
    pub value: Option<Value>,
    pub note: Option<String>,
    pub source: &'static str,
    pub expires_at: Option<DateTime<Utc>>,
}

/// The outer `None` leaves a field as it is.
#[derive(Default)]
pub struct MemoryChange {
    pub key: Option<Option<String>>,
    pub value: Option<Option<Value>>,
    pub note: Option<Option<String>>,
    pub expires_at: Option<Option<DateTime<Utc>>>,
}

const MEMORY: &str =
    "id, agent_id, user_id, key, value, note, source, expires_at, created_at, updated_at";
const ALIVE: &str = "(expires_at IS NULL OR expires_at > now())";

impl TenantTx {
    /// Remembers it. One with the same key of the same agent (or of the tenant) is replaced and keeps its id.
    ///
    /// # Errors
    /// [`crate::StoreError::Dangling`] when there is no such agent.
    pub async fn memory_put(&mut self, m: &NewMemory) -> Result<MemoryRow> {
        sqlx::query(AssertSqlSafe(format!(
            "INSERT INTO memories AS k (tenant_id, id, agent_id, user_id, key, value, note, source, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
             ON CONFLICT (tenant_id, coalesce(agent_id, '00000000-0000-0000-0000-000000000000'), key) WHERE key IS NOT NULL
             DO UPDATE SET user_id = excluded.user_id, value = excluded.value, note = excluded.note, source = excluded.source,
                expires_at = excluded.expires_at, updated_at = now()
             RETURNING {MEMORY}"
        )))
        .bind(self.tenant_id)
        .bind(qadra_types::new_id())
        .bind(m.agent_id)
        .bind(m.user_id)
        .bind(&m.key)
        .bind(&m.value)
        .bind(&m.note)
        .bind(m.source)
        .bind(m.expires_at)
        .try_map(memory)
        .fetch_one(self.conn())
        .await
        .map_err(Into::into)
    }

    /// How many entries the tenant has, expired ones that are still to be swept included.
    pub async fn memory_count(&mut self) -> Result<i64> {
        sqlx::query_scalar("SELECT count(*) FROM memories WHERE tenant_id = $1")
            .bind(self.tenant_id)
            .fetch_one(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Entries that count, the last changed first: all, or an agent's; those that contain `words` if given.
    pub async fn memory_list(
        &mut self,
        agent_id: Option<Uuid>,
        words: Option<&str>,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<MemoryRow>, i64)> {
        let matching = format!(
            "FROM memories WHERE tenant_id = $1 AND {ALIVE} AND ($2::uuid IS NULL OR agent_id = $2)
             AND ($3::text IS NULL OR key ILIKE $3 OR note ILIKE $3 OR value::text ILIKE $3)"
        );
        let pattern = words.map(like);
        let total = sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) {matching}")))
            .bind(self.tenant_id)
            .bind(agent_id)
            .bind(&pattern)
            .fetch_one(self.conn())
            .await?;
        let rows = sqlx::query(AssertSqlSafe(format!(
            "SELECT {MEMORY} {matching} ORDER BY updated_at DESC, id DESC LIMIT $4 OFFSET $5"
        )))
        .bind(self.tenant_id)
        .bind(agent_id)
        .bind(&pattern)
        .bind(limit)
        .bind(offset)
        .try_map(memory)
        .fetch_all(self.conn())
        .await?;
        Ok((rows, total))
    }

    /// What an agent may read: its own entries and the tenant's, its own first, with that key or with any of the words.
    pub async fn memory_recall(
        &mut self,
        agent_id: Uuid,
        key: Option<&str>,
        words: &[String],
        limit: i64,
    ) -> Result<Vec<MemoryRow>> {
        let patterns: Vec<String> = words.iter().map(|w| like(w)).collect();
        sqlx::query(AssertSqlSafe(format!(
            "SELECT {MEMORY} FROM memories WHERE tenant_id = $1 AND {ALIVE} AND (agent_id = $2 OR agent_id IS NULL)
                AND ($3::text IS NULL OR key = $3)
                AND (cardinality($4::text[]) = 0 OR key ILIKE ANY ($4) OR note ILIKE ANY ($4) OR value::text ILIKE ANY ($4))
             ORDER BY agent_id IS NULL, updated_at DESC, id DESC LIMIT $5"
        )))
        .bind(self.tenant_id)
        .bind(agent_id)
        .bind(key)
        .bind(patterns)
        .bind(limit)
        .try_map(memory)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    pub async fn memory_get(&mut self, id: Uuid) -> Result<Option<MemoryRow>> {
        sqlx::query(AssertSqlSafe(format!(
            "SELECT {MEMORY} FROM memories WHERE tenant_id = $1 AND id = $2 AND {ALIVE}"
        )))
        .bind(self.tenant_id)
        .bind(id)
        .try_map(memory)
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }

    /// # Errors
    /// [`crate::StoreError::Duplicate`] when another entry has that key, [`crate::StoreError::Check`] when neither
    /// value nor note would be left.
    pub async fn memory_update(&mut self, id: Uuid, c: &MemoryChange) -> Result<Option<MemoryRow>> {
        sqlx::query(AssertSqlSafe(format!(
            "UPDATE memories SET key = CASE WHEN $3 THEN $4 ELSE key END, value = CASE WHEN $5 THEN $6 ELSE value END,
                    note = CASE WHEN $7 THEN $8 ELSE note END, expires_at = CASE WHEN $9 THEN $10 ELSE expires_at END,
                    updated_at = now()
             WHERE tenant_id = $1 AND id = $2 AND {ALIVE} RETURNING {MEMORY}"
        )))
        .bind(self.tenant_id)
        .bind(id)
        .bind(c.key.is_some())
        .bind(c.key.clone().flatten())
        .bind(c.value.is_some())
        .bind(c.value.clone().flatten())
        .bind(c.note.is_some())
        .bind(c.note.clone().flatten())
        .bind(c.expires_at.is_some())
        .bind(c.expires_at.flatten())
        .try_map(memory)
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }

    /// False when there is no such entry, or it has expired.
    pub async fn memory_delete(&mut self, id: Uuid) -> Result<bool> {
        let done = sqlx::query(AssertSqlSafe(format!(
            "DELETE FROM memories WHERE tenant_id = $1 AND id = $2 AND {ALIVE}"
        )))
        .bind(self.tenant_id)
        .bind(id)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

impl SystemTx {
    /// Deletes expired entries of any tenant, at most `limit` at once. Returns how many.
    pub async fn memory_sweep(&mut self, limit: i64) -> Result<u64> {
        let done = sqlx::query(
            "DELETE FROM memories m USING (
                SELECT tenant_id, id FROM memories WHERE expires_at < now() ORDER BY expires_at LIMIT $1) x
             WHERE m.tenant_id = x.tenant_id AND m.id = x.id",
        )
        .bind(limit)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }
}

fn memory(r: PgRow) -> sqlx::Result<MemoryRow> {
    Ok(MemoryRow {
        id: r.try_get(0)?,
        agent_id: r.try_get(1)?,
        user_id: r.try_get(2)?,
        key: r.try_get(3)?,
        value: r.try_get(4)?,
        note: r.try_get(5)?,
        source: r.try_get(6)?,
        expires_at: r.try_get(7)?,
        created_at: r.try_get(8)?,
        updated_at: r.try_get(9)?,
    })
}
