//! What starts flows without a person: schedules and signed webhooks.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use crate::{AuthTx, Result, SystemTx, TenantTx};

#[derive(Debug, Clone)]
pub struct TriggerRow {
    pub id: Uuid,
    pub flow_id: Uuid,
    /// `schedule` or `webhook`.
    pub kind: String,
    pub name: String,
    pub cron: Option<String>,
    pub time_zone: Option<String>,
    pub input: Value,
    pub is_active: bool,
    pub next_at: Option<DateTime<Utc>>,
    pub last_at: Option<DateTime<Utc>>,
    pub last_execution_id: Option<Uuid>,
    pub last_error: Option<String>,
    pub created_by: Option<Uuid>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

pub struct NewTrigger<'a> {
    pub id: Uuid,
    pub flow_id: Uuid,
    pub kind: &'a str,
    pub name: &'a str,
    pub cron: Option<&'a str>,
    pub time_zone: Option<&'a str>,
    /// JSON text.
    pub input: &'a str,
    pub is_active: bool,
    /// Of a webhook: what its calls are signed with.
    pub sealed_key: Option<&'a [u8]>,
    pub next_at: Option<DateTime<Utc>>,
    pub created_by: Option<Uuid>,
}

/// The whole next state of what can be changed.
pub struct TriggerChange<'a> {
    pub name: &'a str,
    pub cron: Option<&'a str>,
    pub time_zone: Option<&'a str>,
    /// JSON text.
    pub input: &'a str,
    pub is_active: bool,
    pub next_at: Option<DateTime<Utc>>,
}

/// A schedule whose time has come.
#[derive(Debug, Clone, Copy)]
pub struct DueTrigger {
    pub tenant_id: Uuid,
    pub id: Uuid,
}

/// A webhook before its tenant is known.
#[derive(Debug, Clone)]
pub struct Hook {
    pub tenant_id: Uuid,
    pub is_active: bool,
    pub sealed_key: Vec<u8>,
}

const COLUMNS: &str = "t.id, t.flow_id, t.kind, t.name, t.cron, t.time_zone, t.input, t.is_active, t.next_at, t.last_at, \
     t.last_execution_id, t.last_error, t.created_by, t.created_at, t.updated_at";

impl TenantTx {
    pub async fn trigger_create(&mut self, t: &NewTrigger<'_>) -> Result<TriggerRow> {
        let sql = format!(
            "INSERT INTO flow_triggers AS t (tenant_id, id, flow_id, kind, name, cron, time_zone, input, is_active, sealed_key,
                    next_at, created_by)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8::json, $9, $10, $11, $12) RETURNING {COLUMNS}"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(t.id)
            .bind(t.flow_id)
            .bind(t.kind)
            .bind(t.name)
            .bind(t.cron)
            .bind(t.time_zone)
            .bind(t.input)
            .bind(t.is_active)
            .bind(t.sealed_key)
            .bind(t.next_at)
            .bind(t.created_by)
            .try_map(trigger)
            .fetch_one(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Oldest first.
    pub async fn trigger_list(
        &mut self,
        flow_id: Uuid,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<TriggerRow>, i64)> {
        let total = sqlx::query_scalar(
            "SELECT count(*) FROM flow_triggers WHERE tenant_id = $1 AND flow_id = $2",
        )
        .bind(self.tenant_id)
        .bind(flow_id)
        .fetch_one(self.conn())
        .await?;
        let sql = format!(
            "SELECT {COLUMNS} FROM flow_triggers t WHERE t.tenant_id = $1 AND t.flow_id = $2
             ORDER BY t.created_at, t.id LIMIT $3 OFFSET $4"
        );
        let rows = sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(flow_id)
            .bind(limit)
            .bind(offset)
            .try_map(trigger)
            .fetch_all(self.conn())
            .await?;
        Ok((rows, total))
    }

    /// Locked until the transaction ends.
    pub async fn trigger_lock(&mut self, id: Uuid) -> Result<Option<TriggerRow>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM flow_triggers t WHERE t.tenant_id = $1 AND t.id = $2 FOR UPDATE"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .try_map(trigger)
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// As [`TenantTx::trigger_lock`], for a schedule that is still due and that nobody else is about to start.
    pub async fn trigger_take(&mut self, id: Uuid) -> Result<Option<TriggerRow>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM flow_triggers t
             WHERE t.tenant_id = $1 AND t.id = $2 AND t.kind = 'schedule' AND t.is_active AND t.next_at <= now()
             FOR UPDATE SKIP LOCKED"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .try_map(trigger)
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    pub async fn trigger_update(
        &mut self,
        id: Uuid,
        c: &TriggerChange<'_>,
    ) -> Result<Option<TriggerRow>> {
        let sql = format!(
            "UPDATE flow_triggers t SET name = $3, cron = $4, time_zone = $5, input = $6::json, is_active = $7, next_at = $8,
                    updated_at = now()
             WHERE t.tenant_id = $1 AND t.id = $2 RETURNING {COLUMNS}"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .bind(c.name)
            .bind(c.cron)
            .bind(c.time_zone)
            .bind(c.input)
            .bind(c.is_active)
            .bind(c.next_at)
            .try_map(trigger)
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Notes that a trigger has started an execution, or why it could not, and when a schedule is due again.
    pub async fn trigger_fired(
        &mut self,
        id: Uuid,
        outcome: std::result::Result<Uuid, &str>,
        next_at: Option<DateTime<Utc>>,
    ) -> Result<bool> {
        let done = sqlx::query(
            "UPDATE flow_triggers SET last_at = now(), last_execution_id = coalesce($3, last_execution_id), last_error = $4,
                    next_at = $5
             WHERE tenant_id = $1 AND id = $2",
        )
        .bind(self.tenant_id)
        .bind(id)
        .bind(outcome.ok())
        .bind(outcome.err())
        .bind(next_at)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    pub async fn trigger_delete(&mut self, id: Uuid) -> Result<bool> {
        let done = sqlx::query("DELETE FROM flow_triggers WHERE tenant_id = $1 AND id = $2")
            .bind(self.tenant_id)
            .bind(id)
            .execute(self.conn())
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Notes a webhook's call by its id. `Some` is the execution that an earlier call with the id has started.
    pub async fn delivery_put(
        &mut self,
        trigger_id: Uuid,
        delivery_id: &str,
        execution_id: Uuid,
    ) -> Result<Option<Uuid>> {
        let done = sqlx::query(
            "INSERT INTO flow_deliveries (tenant_id, trigger_id, delivery_id, execution_id) VALUES ($1, $2, $3, $4)
             ON CONFLICT DO NOTHING",
        )
        .bind(self.tenant_id)
        .bind(trigger_id)
        .bind(delivery_id)
        .bind(execution_id)
        .execute(self.conn())
        .await?;
        if done.rows_affected() == 1 {
            return Ok(None);
        }
        sqlx::query_scalar(
            "SELECT execution_id FROM flow_deliveries WHERE tenant_id = $1 AND trigger_id = $2 AND delivery_id = $3",
        )
        .bind(self.tenant_id)
        .bind(trigger_id)
        .bind(delivery_id)
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }
}

impl AuthTx {
    pub async fn hook_find(&mut self, id: Uuid) -> Result<Option<Hook>> {
        sqlx::query(
            "SELECT tenant_id, is_active, sealed_key FROM flow_triggers WHERE id = $1 AND kind = 'webhook'",
        )
        .bind(id)
        .try_map(|r: PgRow| {
            Ok(Hook {
                tenant_id: r.try_get(0)?,
                is_active: r.try_get(1)?,
                sealed_key: r.try_get(2)?,
            })
        })
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }
}

impl SystemTx {
    /// Schedules of all tenants whose time has come, the longest overdue first.
    pub async fn triggers_due(&mut self, limit: i64) -> Result<Vec<DueTrigger>> {
        sqlx::query(
            "SELECT tenant_id, id FROM flow_triggers
             WHERE kind = 'schedule' AND is_active AND next_at <= now() ORDER BY next_at LIMIT $1",
        )
        .bind(limit)
        .try_map(|r: PgRow| {
            Ok(DueTrigger {
                tenant_id: r.try_get(0)?,
                id: r.try_get(1)?,
            })
        })
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// Forgets webhook calls that are older than a day. Returns how many.
    pub async fn deliveries_sweep(&mut self) -> Result<u64> {
        let done = sqlx::query("DELETE FROM flow_deliveries WHERE at < now() - interval '1 day'")
            .execute(self.conn())
            .await?;
        Ok(done.rows_affected())
    }
}

fn trigger(r: PgRow) -> sqlx::Result<TriggerRow> {
    Ok(TriggerRow {
        id: r.try_get(0)?,
        flow_id: r.try_get(1)?,
        kind: r.try_get(2)?,
        name: r.try_get(3)?,
        cron: r.try_get(4)?,
        time_zone: r.try_get(5)?,
        input: r.try_get(6)?,
        is_active: r.try_get(7)?,
        next_at: r.try_get(8)?,
        last_at: r.try_get(9)?,
        last_execution_id: r.try_get(10)?,
        last_error: r.try_get(11)?,
        created_by: r.try_get(12)?,
        created_at: r.try_get(13)?,
        updated_at: r.try_get(14)?,
    })
}
