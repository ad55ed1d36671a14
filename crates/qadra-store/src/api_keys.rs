use chrono::{DateTime, Utc};
use qadra_types::{ApiKey, Role, Scope};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::accounts::word;
use crate::{AuthTx, Result, TenantTx};

pub struct NewApiKey<'a> {
    pub id: Uuid,
    pub user_id: Uuid,
    pub name: &'a str,
    pub prefix: &'a str,
    pub hash: &'a [u8],
    pub scopes: &'a [Scope],
    pub expires_at: Option<DateTime<Utc>>,
}

/// On whose behalf a valid key speaks.
pub struct KeyIdentity {
    pub tenant_id: Uuid,
    pub user_id: Uuid,
    pub role: Role,
    pub scopes: Vec<Scope>,
}

const COLUMNS: &str =
    "id, user_id, name, prefix, scopes, created_at, expires_at, last_used_at, revoked_at";

impl TenantTx {
    pub async fn api_key_create(&mut self, k: &NewApiKey<'_>) -> Result<ApiKey> {
        let scopes: Vec<&str> = k.scopes.iter().map(|s| s.as_str()).collect();
        let sql = format!(
            "INSERT INTO api_keys (tenant_id, id, user_id, name, prefix, key_hash, scopes, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING {COLUMNS}"
        );
        sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(k.id)
            .bind(k.user_id)
            .bind(k.name)
            .bind(k.prefix)
            .bind(k.hash)
            .bind(scopes)
            .bind(k.expires_at)
            .try_map(api_key)
            .fetch_one(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Keys of one user, or of everyone in the tenant with `user_id` `None`; newest first.
    pub async fn api_key_list(
        &mut self,
        user_id: Option<Uuid>,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<ApiKey>, i64)> {
        let total = sqlx::query_scalar(
            "SELECT count(*) FROM api_keys WHERE tenant_id = $1 AND ($2::uuid IS NULL OR user_id = $2)",
        )
        .bind(self.tenant_id)
        .bind(user_id)
        .fetch_one(self.conn())
        .await?;
        let sql = format!(
            "SELECT {COLUMNS} FROM api_keys WHERE tenant_id = $1 AND ($2::uuid IS NULL OR user_id = $2)
             ORDER BY id DESC LIMIT $3 OFFSET $4"
        );
        let items = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(user_id)
            .bind(limit)
            .bind(offset)
            .try_map(api_key)
            .fetch_all(self.conn())
            .await?;
        Ok((items, total))
    }

    /// False when there is no such key (of that user, if one is given). Revoking twice is no error.
    pub async fn api_key_revoke(&mut self, id: Uuid, user_id: Option<Uuid>) -> Result<bool> {
        let done = sqlx::query(
            "UPDATE api_keys SET revoked_at = coalesce(revoked_at, now())
             WHERE tenant_id = $1 AND id = $2 AND ($3::uuid IS NULL OR user_id = $3)",
        )
        .bind(self.tenant_id)
        .bind(id)
        .bind(user_id)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

impl AuthTx {
    /// Who a key speaks for; `None` for an unknown, revoked or expired one.
    pub async fn api_key_identify(&mut self, hash: &[u8]) -> Result<Option<KeyIdentity>> {
        sqlx::query(
            "SELECT k.tenant_id, k.user_id, m.role, k.scopes FROM api_keys k
             JOIN user_tenants m ON m.tenant_id = k.tenant_id AND m.user_id = k.user_id
             WHERE k.key_hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())",
        )
        .bind(hash)
        .try_map(|r: PgRow| {
            Ok(KeyIdentity {
                tenant_id: r.try_get(0)?,
                user_id: r.try_get(1)?,
                role: word(&r, 2)?,
                scopes: scopes(&r, 3)?,
            })
        })
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }

    /// Notes a use, at most once a minute so that a busy key does not write on every request.
    pub async fn api_key_touch(&mut self, hash: &[u8]) -> Result<()> {
        sqlx::query(
            "UPDATE api_keys SET last_used_at = now()
             WHERE key_hash = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')",
        )
        .bind(hash)
        .execute(self.conn())
        .await?;
        Ok(())
    }
}

fn api_key(r: PgRow) -> sqlx::Result<ApiKey> {
    Ok(ApiKey {
        id: r.try_get(0)?,
        user_id: r.try_get(1)?,
        name: r.try_get(2)?,
        prefix: r.try_get(3)?,
        scopes: scopes(&r, 4)?,
        created_at: r.try_get(5)?,
        expires_at: r.try_get(6)?,
        last_used_at: r.try_get(7)?,
        revoked_at: r.try_get(8)?,
    })
}

fn scopes(r: &PgRow, column: usize) -> sqlx::Result<Vec<Scope>> {
    r.try_get::<Vec<String>, _>(column)?
        .iter()
        .map(|s| s.parse().map_err(|e: String| sqlx::Error::Decode(e.into())))
        .collect()
}
