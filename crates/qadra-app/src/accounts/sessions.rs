use std::time::Instant;

use chrono::Utc;
use qadra_api::{Login, Me, Refresh, Register, Session, SwitchTenant};
use qadra_store::{Account, AuthTx, NewAccount, StoreError};
use qadra_types::{Code, Ctx, Fault, Tenant, User, new_id};
use uuid::Uuid;

use super::tokens::{random_secret, secret_hash};
use crate::{App, input};

impl App {
    /// A tenant, its owner and the owner's membership in one transaction, then the ready-made agents.
    pub(crate) async fn register(&self, r: Register) -> Result<Session, Fault> {
        let email = email(&r.email)?;
        let name = input::text("name", &r.name, 200)?;
        let tenant_name = input::text("tenant_name", &r.tenant_name, 200)?;
        password(&r.password)?;
        let password_hash = self.passwords.hash(r.password).await?;
        let (tenant_id, user_id) = (new_id(), new_id());
        let slug = slug(&tenant_name, tenant_id);
        let mut tx = self.store.auth().await?;
        let account = NewAccount {
            tenant_id,
            tenant_name: &tenant_name,
            tenant_slug: &slug,
            user_id,
            email: &email,
            name: &name,
            password_hash: &password_hash,
        };
        tx.account_create(&account).await.map_err(|e| match e {
            StoreError::Duplicate { constraint } if constraint == "users_email_key" => Fault::new(
                Code::EmailTaken,
                "that e-mail address has an account already",
            )
            .hint("sign in instead"),
            other => other.into(),
        })?;
        let (user, tenant) = member(&mut tx, user_id, tenant_id).await?;
        let session = self.open_session(&mut tx, user, tenant, new_id()).await?;
        tx.commit().await?;
        // The account is there; a team without its ready-made agents can add them from the presets.
        if let Err(fault) = self.agents_seed(tenant_id, user_id).await {
            tracing::warn!(error = %fault, %tenant_id, "the ready-made agents could not be added");
        }
        Ok(session)
    }

    pub(crate) async fn login(&self, r: Login, origin: &str) -> Result<Session, Fault> {
        let wrong = || {
            Fault::new(
                Code::InvalidCredentials,
                "e-mail address or password is wrong",
            )
        };
        let Ok(email) = email(&r.email) else {
            return Err(wrong());
        };
        let now = Instant::now();
        self.attempts.claim(&email, origin, now)?;
        let judged = self
            .account_judged(&email, r.password)
            .await
            .inspect_err(|_| self.attempts.give_back(&email, origin, now))?;
        let account = judged.ok_or_else(wrong)?;
        self.attempts.succeeded(&email, origin);
        let mut tx = self.store.auth().await?;
        let memberships = tx.membership_list(account.user_id).await?;
        let wanted = match &r.tenant_id {
            Some(t) => memberships
                .iter()
                .find(|m| m.slug == *t || m.id.to_string() == *t),
            None => memberships.first(),
        };
        let Some(tenant_id) = wanted.map(|m| m.id) else {
            return Err(input::forbidden(
                "the account does not belong to that tenant",
            ));
        };
        tx.account_signed_in(account.user_id).await?;
        let (user, tenant) = member(&mut tx, account.user_id, tenant_id).await?;
        let session = self.open_session(&mut tx, user, tenant, new_id()).await?;
        tx.commit().await?;
        Ok(session)
    }

    /// The account of that address if the password is its own.
    async fn account_judged(
        &self,
        email: &str,
        password: String,
    ) -> Result<Option<Account>, Fault> {
        let mut tx = self.store.auth().await?;
        let account = tx.account_by_email(email).await?;
        tx.commit().await?;
        let stored = account.as_ref().map(|a| a.password_hash.clone());
        let right =
            password.len() <= MAX_PASSWORD_BYTES && self.passwords.verify(password, stored).await?;
        Ok(account.filter(|_| right))
    }

    /// Exchanges a refresh token. A token that was used before is a copy in somebody's hands, so its whole
    /// family is ended.
    pub(crate) async fn refresh(&self, r: Refresh) -> Result<Session, Fault> {
        let invalid = || {
            Fault::new(Code::TokenInvalid, "the refresh token is not valid").hint("sign in again")
        };
        let mut tx = self.store.auth().await?;
        let Some(token) = tx
            .refresh_token_lock(&secret_hash(&r.refresh_token))
            .await?
        else {
            return Err(invalid());
        };
        if token.revoked_at.is_some() {
            return Err(invalid());
        }
        if token.used_at.is_some() {
            tx.refresh_family_revoke(token.family_id).await?;
            tx.commit().await?;
            tracing::warn!(user_id = %token.user_id, "a used refresh token came again; its sign-in was ended");
            return Err(Fault::new(
                Code::RefreshReused,
                "the refresh token was used before, so the session was ended",
            )
            .hint("sign in again; if that was not you, change the password"));
        }
        if token.expires_at <= Utc::now() {
            return Err(
                Fault::new(Code::TokenExpired, "the refresh token has expired")
                    .hint("sign in again"),
            );
        }
        tx.refresh_token_use(&token).await?;
        let (user, tenant) = member(&mut tx, token.user_id, token.tenant_id).await?;
        let session = self
            .open_session(&mut tx, user, tenant, token.family_id)
            .await?;
        tx.commit().await?;
        Ok(session)
    }

    /// Ends the session of a refresh token. An unknown token is no error: the wanted state is there.
    pub(crate) async fn logout(&self, r: Refresh) -> Result<(), Fault> {
        let mut tx = self.store.auth().await?;
        if let Some(token) = tx
            .refresh_token_lock(&secret_hash(&r.refresh_token))
            .await?
        {
            tx.refresh_family_revoke(token.family_id).await?;
        }
        tx.commit().await?;
        Ok(())
    }

    pub(crate) async fn me(&self, ctx: &Ctx) -> Result<Me, Fault> {
        let mut tx = self.store.auth().await?;
        let (user, tenant) = member(&mut tx, ctx.actor.user_id, ctx.tenant_id).await?;
        let tenants = tx.membership_list(ctx.actor.user_id).await?;
        tx.commit().await?;
        Ok(Me {
            role: user.role,
            user,
            tenant,
            tenants,
        })
    }

    pub(crate) async fn switch_tenant(&self, ctx: &Ctx, r: SwitchTenant) -> Result<Session, Fault> {
        let mut tx = self.store.auth().await?;
        let memberships = tx.membership_list(ctx.actor.user_id).await?;
        let wanted = memberships
            .iter()
            .find(|m| m.slug == r.tenant_id || m.id.to_string() == r.tenant_id);
        // A tenant of others and one that does not exist are the same to the asker.
        let Some(tenant_id) = wanted.map(|m| m.id) else {
            return Err(Fault::not_found("tenant"));
        };
        let (user, tenant) = member(&mut tx, ctx.actor.user_id, tenant_id).await?;
        let session = self.open_session(&mut tx, user, tenant, new_id()).await?;
        tx.commit().await?;
        Ok(session)
    }

    async fn open_session(
        &self,
        tx: &mut AuthTx,
        user: User,
        tenant: Tenant,
        family: Uuid,
    ) -> Result<Session, Fault> {
        let refresh_token = random_secret("qrt_");
        let expires_at = Utc::now()
            + chrono::Duration::from_std(self.settings.refresh_ttl)
                .unwrap_or_else(|_| chrono::Duration::days(30));
        tx.refresh_token_create(
            tenant.id,
            new_id(),
            user.id,
            family,
            &secret_hash(&refresh_token),
            expires_at,
        )
        .await?;
        let token = self.token_key.issue(
            user.id,
            tenant.id,
            user.role,
            user.is_super_admin,
            self.settings.access_ttl,
        )?;
        let expires_in = i64::try_from(self.settings.access_ttl.as_secs()).unwrap_or(i64::MAX);
        Ok(Session {
            token,
            expires_in,
            refresh_token,
            user,
            tenant,
        })
    }
}

async fn member(tx: &mut AuthTx, user_id: Uuid, tenant_id: Uuid) -> Result<(User, Tenant), Fault> {
    tx.member_get(user_id, tenant_id).await?.ok_or_else(|| {
        Fault::new(
            Code::Unauthenticated,
            "the account no longer belongs to this tenant",
        )
    })
}

const MAX_PASSWORD_BYTES: usize = 4096;

fn password(p: &str) -> Result<(), Fault> {
    let count = p.chars().count();
    if count < 8 {
        return Err(Fault::invalid("password has fewer than 8 characters"));
    }
    if count > 1024 || p.len() > MAX_PASSWORD_BYTES {
        return Err(Fault::invalid("password has more than 1024 characters"));
    }
    Ok(())
}

/// Lower-cased, with one @ between a local part and a domain; whether it exists only a mail can tell.
fn email(e: &str) -> Result<String, Fault> {
    let e = e.trim().to_lowercase();
    let bad = || Fault::invalid("email is not an e-mail address");
    let (local, domain) = e.rsplit_once('@').ok_or_else(bad)?;
    let odd = |c: char| c.is_whitespace() || c.is_control() || "<>,;:\"()[]\\".contains(c);
    if local.is_empty()
        || domain.is_empty()
        || local.contains('@')
        || e.len() > 254
        || e.contains(odd)
    {
        return Err(bad());
    }
    Ok(e)
}

/// The tenant's name for addresses; its id's random tail keeps it unique without asking who has which name.
fn slug(name: &str, id: Uuid) -> String {
    let mut s = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        match c {
            'a'..='z' | '0'..='9' => s.push(c),
            _ if !s.is_empty() && !s.ends_with('-') => s.push('-'),
            _ => {}
        }
        if s.len() >= 40 {
            break;
        }
    }
    let s = s.trim_end_matches('-');
    let tail = id.simple().to_string();
    format!(
        "{}-{}",
        if s.is_empty() { "tenant" } else { s },
        &tail[tail.len() - 6..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_folded_and_odd_ones_refused() {
        assert_eq!(email(" Ada@Example.ORG ").unwrap(), "ada@example.org");
        for e in ["", "a", "@b", "a@", "a b@c", "a@b@c", "a\n@c", "<a@b>"] {
            assert!(email(e).is_err(), "{e}");
        }
    }

    #[test]
    fn a_slug_is_readable_and_ends_in_the_ids_tail() {
        let id = Uuid::from_u128(0xabcdef);
        assert_eq!(slug("Acme Capital, LLC", id), "acme-capital-llc-abcdef");
        assert_eq!(slug("日本", id), "tenant-abcdef");
    }
}
