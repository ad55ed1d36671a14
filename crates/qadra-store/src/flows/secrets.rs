//! Values that nodes use by name. They are sealed before they come here.

use chrono::{DateTime, Utc};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::{Result, TenantTx};

/// What a sealed secret is bound to besides its tenant and its name.
pub const SECRET_PURPOSE: &str = "flow_secret";

/// A secret without its value.
#[derive(Debug, Clone)]
pub struct SecretRow {
    pub name: String,
    pub created_by: Option<Uuid>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

impl TenantTx {
    /// Makes it or replaces its value. True when it is new.
    pub async fn secret_put(
        &mut self,
        name: &str,
        sealed: &[u8],
        by: Option<Uuid>,
    ) -> Result<bool> {
        sqlx::query_scalar(
            "INSERT INTO flow_secrets (tenant_id, id, name, sealed, created_by) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (tenant_id, name) DO UPDATE SET sealed = excluded.sealed, updated_at = now()
             RETURNING id = $2",
        )
        .bind(self.tenant_id)
        .bind(qadra_types::new_id())
        .bind(name)
        .bind(sealed)
        .bind(by)
        .fetch_one(self.conn())
        .await
        .map_err(Into::into)
    }

    /// By name.
    pub async fn secret_list(&mut self, limit: i64, offset: i64) -> Result<(Vec<SecretRow>, i64)> {
        let total = sqlx::query_scalar("SELECT count(*) FROM flow_secrets WHERE tenant_id = $1")
            .bind(self.tenant_id)
            .fetch_one(self.conn())
            .await?;
        let rows = sqlx::query(
            "SELECT name, created_by, created_at, updated_at FROM flow_secrets WHERE tenant_id = $1
             ORDER BY name LIMIT $2 OFFSET $3",
        )
        .bind(self.tenant_id)
        .bind(limit)
        .bind(offset)
        .try_map(|r: PgRow| {
            Ok(SecretRow {
                name: r.try_get(0)?,
                created_by: r.try_get(1)?,
                created_at: r.try_get(2)?,
                updated_at: r.try_get(3)?,
            })
        })
        .fetch_all(self.conn())
        .await?;
        Ok((rows, total))
    }

    /// False when there is none of that name.
    pub async fn secret_delete(&mut self, name: &str) -> Result<bool> {
        let done = sqlx::query("DELETE FROM flow_secrets WHERE tenant_id = $1 AND name = $2")
            .bind(self.tenant_id)
            .bind(name)
            .execute(self.conn())
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Names with their sealed values; a name that is not there is left out.
    pub async fn secrets_read(&mut self, names: &[String]) -> Result<Vec<(String, Vec<u8>)>> {
        sqlx::query_as(
            "SELECT name, sealed FROM flow_secrets WHERE tenant_id = $1 AND name = ANY ($2)",
        )
        .bind(self.tenant_id)
        .bind(names)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }
}
