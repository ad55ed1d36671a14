//! Users, tenants, memberships and refresh tokens: what sign-in reads before a tenant is known.

use chrono::{DateTime, Utc};
use qadra_types::{Membership, Role, Tenant, User};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::{AuthTx, Result, TenantTx};

/// What registration writes in one transaction.
pub struct NewAccount<'a> {
    pub tenant_id: Uuid,
    pub tenant_name: &'a str,
    pub tenant_slug: &'a str,
    pub user_id: Uuid,
    pub email: &'a str,
    pub name: &'a str,
    pub password_hash: &'a str,
}

/// A user with the secret to check a sign-in against.
pub struct Account {
    pub user_id: Uuid,
    pub password_hash: String,
}

/// A stored refresh token.
pub struct RefreshToken {
    pub id: Uuid,
    pub tenant_id: Uuid,
    pub user_id: Uuid,
    pub family_id: Uuid,
    pub expires_at: DateTime<Utc>,
    pub used_at: Option<DateTime<Utc>>,
    pub revoked_at: Option<DateTime<Utc>>,
}

impl AuthTx {
    /// Tenant, user and owner membership.
    ///
    /// # Errors
    /// [`crate::StoreError::Duplicate`] on `users_email_key` when the address has an account.
    pub async fn account_create(&mut self, a: &NewAccount<'_>) -> Result<()> {
        sqlx::query("INSERT INTO tenants (id, name, slug) VALUES ($1, $2, $3)")
            .bind(a.tenant_id)
            .bind(a.tenant_name)
            .bind(a.tenant_slug)
            .execute(self.conn())
            .await?;
        sqlx::query("INSERT INTO users (id, tenant_id, email, name, password_hash) VALUES ($1, $2, $3, $4, $5)")
            .bind(a.user_id)
            .bind(a.tenant_id)
            .bind(a.email)
            .bind(a.name)
            .bind(a.password_hash)
            .execute(self.conn())
            .await?;
        sqlx::query(
            "INSERT INTO user_tenants (tenant_id, user_id, role, is_default) VALUES ($1, $2, 'owner', true)",
        )
        .bind(a.tenant_id)
        .bind(a.user_id)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    pub async fn account_by_email(&mut self, email: &str) -> Result<Option<Account>> {
        let row = sqlx::query("SELECT id, password_hash FROM users WHERE email = $1")
            .bind(email)
            .fetch_optional(self.conn())
            .await?;
        row.map(|r| {
            Ok(Account {
                user_id: r.try_get(0)?,
                password_hash: r.try_get(1)?,
            })
        })
        .transpose()
    }

    pub async fn account_signed_in(&mut self, user_id: Uuid) -> Result<()> {
        sqlx::query("UPDATE users SET last_login_at = now() WHERE id = $1")
            .bind(user_id)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// The tenants a user belongs to, the default one first.
    pub async fn membership_list(&mut self, user_id: Uuid) -> Result<Vec<Membership>> {
        sqlx::query(
            "SELECT t.id, t.name, t.slug, m.role, m.is_default FROM user_tenants m JOIN tenants t ON t.id = m.tenant_id
             WHERE m.user_id = $1 ORDER BY m.is_default DESC, m.joined_at, t.id",
        )
        .bind(user_id)
        .try_map(|r: PgRow| {
            Ok(Membership {
                id: r.try_get(0)?,
                name: r.try_get(1)?,
                slug: r.try_get(2)?,
                role: word(&r, 3)?,
                is_default: r.try_get(4)?,
            })
        })
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// The user as a member of the tenant, with the tenant; `None` when the membership does not exist.
    pub async fn member_get(
        &mut self,
        user_id: Uuid,
        tenant_id: Uuid,
    ) -> Result<Option<(User, Tenant)>> {
        sqlx::query(
            "SELECT u.id, u.email, u.email_verified, u.name, u.avatar_url, m.role, u.is_super_admin, u.created_at,
                    t.id, t.name, t.slug
             FROM user_tenants m JOIN users u ON u.id = m.user_id JOIN tenants t ON t.id = m.tenant_id
             WHERE m.user_id = $1 AND m.tenant_id = $2",
        )
        .bind(user_id)
        .bind(tenant_id)
        .try_map(|r: PgRow| {
            Ok((user(&r)?, Tenant { id: r.try_get(8)?, name: r.try_get(9)?, slug: r.try_get(10)? }))
        })
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }

    /// Finds a tenant by id or slug, for requests that name one.
    pub async fn tenant_find(&mut self, id_or_slug: &str) -> Result<Option<Tenant>> {
        sqlx::query("SELECT id, name, slug FROM tenants WHERE slug = $1 OR id::text = $1")
            .bind(id_or_slug)
            .try_map(|r: PgRow| {
                Ok(Tenant {
                    id: r.try_get(0)?,
                    name: r.try_get(1)?,
                    slug: r.try_get(2)?,
                })
            })
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    pub async fn refresh_token_create(
        &mut self,
        tenant_id: Uuid,
        id: Uuid,
        user_id: Uuid,
        family_id: Uuid,
        hash: &[u8],
        expires_at: DateTime<Utc>,
    ) -> Result<()> {
        sqlx::query(
            "INSERT INTO refresh_tokens (tenant_id, id, user_id, family_id, token_hash, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(tenant_id)
        .bind(id)
        .bind(user_id)
        .bind(family_id)
        .bind(hash)
        .bind(expires_at)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// The token with this hash, locked until the transaction ends so that two uses cannot both succeed.
    pub async fn refresh_token_lock(&mut self, hash: &[u8]) -> Result<Option<RefreshToken>> {
        sqlx::query(
            "SELECT id, tenant_id, user_id, family_id, expires_at, used_at, revoked_at
             FROM refresh_tokens WHERE token_hash = $1 FOR UPDATE",
        )
        .bind(hash)
        .try_map(|r: PgRow| {
            Ok(RefreshToken {
                id: r.try_get(0)?,
                tenant_id: r.try_get(1)?,
                user_id: r.try_get(2)?,
                family_id: r.try_get(3)?,
                expires_at: r.try_get(4)?,
                used_at: r.try_get(5)?,
                revoked_at: r.try_get(6)?,
            })
        })
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }

    pub async fn refresh_token_use(&mut self, t: &RefreshToken) -> Result<()> {
        sqlx::query("UPDATE refresh_tokens SET used_at = now() WHERE tenant_id = $1 AND id = $2")
            .bind(t.tenant_id)
            .bind(t.id)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Ends a sign-in: none of its tokens works any more.
    pub async fn refresh_family_revoke(&mut self, family_id: Uuid) -> Result<()> {
        sqlx::query("UPDATE refresh_tokens SET revoked_at = now() WHERE family_id = $1 AND revoked_at IS NULL")
            .bind(family_id)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Drops the tokens that expired a month ago; their reuse needs no detection any more.
    pub async fn refresh_token_sweep(&mut self) -> Result<u64> {
        let done =
            sqlx::query("DELETE FROM refresh_tokens WHERE expires_at < now() - interval '30 days'")
                .execute(self.conn())
                .await?;
        Ok(done.rows_affected())
    }
}

impl TenantTx {
    /// The role of a member; `None` when the user is not one.
    pub async fn member_role(&mut self, user_id: Uuid) -> Result<Option<Role>> {
        sqlx::query("SELECT role FROM user_tenants WHERE tenant_id = $1 AND user_id = $2")
            .bind(self.tenant_id)
            .bind(user_id)
            .try_map(|r: PgRow| word(&r, 0))
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// The tenant's first owner: on whose behalf bus requests without an actor run.
    pub async fn owner_id(&mut self) -> Result<Option<Uuid>> {
        sqlx::query_scalar(
            "SELECT user_id FROM user_tenants WHERE tenant_id = $1 AND role = 'owner' ORDER BY joined_at, user_id LIMIT 1",
        )
        .bind(self.tenant_id)
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }
}

fn user(r: &PgRow) -> sqlx::Result<User> {
    Ok(User {
        id: r.try_get(0)?,
        email: r.try_get(1)?,
        email_verified: r.try_get(2)?,
        name: r.try_get(3)?,
        avatar_url: r.try_get(4)?,
        role: word(r, 5)?,
        is_super_admin: r.try_get(6)?,
        created_at: r.try_get(7)?,
    })
}

/// Reads a text column that holds one of an enum's words.
pub(crate) fn word<T>(r: &PgRow, column: usize) -> sqlx::Result<T>
where
    T: std::str::FromStr<Err = String>,
{
    r.try_get::<&str, _>(column)?
        .parse()
        .map_err(|e: String| sqlx::Error::Decode(e.into()))
}
