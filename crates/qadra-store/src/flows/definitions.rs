//! Flows as they are drawn.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use crate::{Result, TenantTx};

#[derive(Debug, Clone)]
pub struct FlowRow {
    pub summary: FlowSummary,
    pub flow_data: Value,
    /// SHA-256 of its text.
    pub digest: Vec<u8>,
}

/// A flow without its graph.
#[derive(Debug, Clone)]
pub struct FlowSummary {
    pub id: Uuid,
    pub name: String,
    pub description: Option<String>,
    pub node_count: i32,
    pub is_active: bool,
    pub version: i32,
    pub created_by: Option<Uuid>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

pub struct NewFlow<'a> {
    pub id: Uuid,
    pub name: &'a str,
    pub description: Option<&'a str>,
    /// JSON text.
    pub flow_data: &'a str,
    pub digest: &'a [u8],
    pub node_count: i32,
    pub is_active: bool,
    pub created_by: Option<Uuid>,
}

/// `None` leaves a field as it is.
#[derive(Default)]
pub struct FlowChange<'a> {
    pub name: Option<&'a str>,
    pub description: Option<Option<&'a str>>,
    /// JSON text, its digest and its number of nodes.
    pub flow_data: Option<(&'a str, &'a [u8], i32)>,
    pub is_active: Option<bool>,
    /// Changes nothing if the flow has another version.
    pub expected_version: Option<i32>,
}

const COLUMNS: &str = "f.id, f.name, f.description, f.node_count, f.is_active, f.version, f.created_by, f.created_at, f.updated_at";

impl TenantTx {
    /// # Errors
    /// [`crate::StoreError::Duplicate`] when the tenant has a flow of that name.
    pub async fn flow_create(&mut self, f: &NewFlow<'_>) -> Result<FlowRow> {
        let sql = format!(
            "INSERT INTO flows AS f (tenant_id, id, name, description, flow_data, digest, node_count, is_active, created_by)
             VALUES ($1, $2, $3, $4, $5::json, $6, $7, $8, $9) RETURNING {COLUMNS}, f.flow_data, f.digest"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(f.id)
            .bind(f.name)
            .bind(f.description)
            .bind(f.flow_data)
            .bind(f.digest)
            .bind(f.node_count)
            .bind(f.is_active)
            .bind(f.created_by)
            .try_map(flow)
            .fetch_one(self.conn())
            .await
            .map_err(Into::into)
    }

    pub async fn flow_get(&mut self, id: Uuid) -> Result<Option<FlowRow>> {
        let sql = format!(
            "SELECT {COLUMNS}, f.flow_data, f.digest FROM flows f
             WHERE f.tenant_id = $1 AND f.id = $2 AND f.deleted_at IS NULL"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .try_map(flow)
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Last changed first. `words` are looked for in names and descriptions.
    pub async fn flow_list(
        &mut self,
        active: Option<bool>,
        words: Option<&str>,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<FlowSummary>, i64)> {
        const MATCHING: &str = "FROM flows f WHERE f.tenant_id = $1 AND f.deleted_at IS NULL
             AND ($2::boolean IS NULL OR f.is_active = $2)
             AND ($3::text IS NULL OR strpos(lower(f.name || ' ' || coalesce(f.description, '')), lower($3)) > 0)";
        let total = sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) {MATCHING}")))
            .bind(self.tenant_id)
            .bind(active)
            .bind(words)
            .fetch_one(self.conn())
            .await?;
        let items = sqlx::query(AssertSqlSafe(format!(
            "SELECT {COLUMNS} {MATCHING} ORDER BY f.updated_at DESC, f.id DESC LIMIT $4 OFFSET $5"
        )))
        .bind(self.tenant_id)
        .bind(active)
        .bind(words)
        .bind(limit)
        .bind(offset)
        .try_map(|r: PgRow| summary(&r))
        .fetch_all(self.conn())
        .await?;
        Ok((items, total))
    }

    /// `None` when there is no such flow, or it has another version than expected.
    ///
    /// # Errors
    /// [`crate::StoreError::Duplicate`] when another flow has that name.
    pub async fn flow_update(&mut self, id: Uuid, c: &FlowChange<'_>) -> Result<Option<FlowRow>> {
        let sql = format!(
            "UPDATE flows f SET name = coalesce($3, f.name), description = CASE WHEN $4 THEN $5 ELSE f.description END,
                    flow_data = coalesce($6::json, f.flow_data), digest = coalesce($7, f.digest),
                    node_count = coalesce($8, f.node_count), is_active = coalesce($9, f.is_active),
                    version = f.version + 1, updated_at = now()
             WHERE f.tenant_id = $1 AND f.id = $2 AND f.deleted_at IS NULL AND ($10::integer IS NULL OR f.version = $10)
             RETURNING {COLUMNS}, f.flow_data, f.digest"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .bind(c.name)
            .bind(c.description.is_some())
            .bind(c.description.flatten())
            .bind(c.flow_data.map(|d| d.0))
            .bind(c.flow_data.map(|d| d.1))
            .bind(c.flow_data.map(|d| d.2))
            .bind(c.is_active)
            .bind(c.expected_version)
            .try_map(flow)
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Takes the flow away with its triggers; what was run of it stays. False when there is none.
    pub async fn flow_delete(&mut self, id: Uuid) -> Result<bool> {
        let done = sqlx::query(
            "WITH t AS (DELETE FROM flow_triggers WHERE tenant_id = $1 AND flow_id = $2)
             UPDATE flows SET deleted_at = now() WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL",
        )
        .bind(self.tenant_id)
        .bind(id)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

fn summary(r: &PgRow) -> sqlx::Result<FlowSummary> {
    Ok(FlowSummary {
        id: r.try_get(0)?,
        name: r.try_get(1)?,
        description: r.try_get(2)?,
        node_count: r.try_get(3)?,
        is_active: r.try_get(4)?,
        version: r.try_get(5)?,
        created_by: r.try_get(6)?,
        created_at: r.try_get(7)?,
        updated_at: r.try_get(8)?,
    })
}

fn flow(r: PgRow) -> sqlx::Result<FlowRow> {
    Ok(FlowRow {
        summary: summary(&r)?,
        flow_data: r.try_get(9)?,
        digest: r.try_get(10)?,
    })
}
