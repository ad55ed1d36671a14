use chrono::Utc;
use qadra_api::{ById, CreateApiKey, CreatedApiKey, Identify, Identity, Items, ListQuery};
use qadra_store::NewApiKey;
use qadra_types::{Actor, ApiKey, Code, Ctx, Fault, Scope, new_id};

use super::tokens::{random_secret, secret_hash};
use crate::{App, input};

impl App {
    pub(crate) async fn api_key_create(
        &self,
        ctx: &Ctx,
        r: CreateApiKey,
    ) -> Result<CreatedApiKey, Fault> {
        let name = input::text("name", &r.name, 100)?;
        let mut scopes = r.scopes.unwrap_or_else(|| vec![Scope::Write]);
        scopes.dedup();
        if scopes.is_empty() {
            return Err(Fault::invalid("scopes is empty").hint("name read, write or admin"));
        }
        if let Some(expires) = r.expires_at
            && expires <= Utc::now()
        {
            return Err(Fault::invalid("expires_at is in the past"));
        }
        let key = random_secret("qk_");
        let prefix = key.chars().take(11).collect::<String>();
        let mut tx = self.store.tenant(ctx).await?;
        let api_key = tx
            .api_key_create(&NewApiKey {
                id: new_id(),
                user_id: ctx.actor.user_id,
                name: &name,
                prefix: &prefix,
                hash: &secret_hash(&key),
                scopes: &scopes,
                expires_at: r.expires_at,
            })
            .await?;
        tx.commit().await?;
        Ok(CreatedApiKey { api_key, key })
    }

    pub(crate) async fn api_key_list(
        &self,
        ctx: &Ctx,
        r: ListQuery,
    ) -> Result<Items<ApiKey>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let whose = (!input::is_admin(ctx)).then_some(ctx.actor.user_id);
        let mut tx = self.store.tenant(ctx).await?;
        let found = tx.api_key_list(whose, limit, offset).await?;
        Ok(input::items(found, limit, offset))
    }

    pub(crate) async fn api_key_revoke(&self, ctx: &Ctx, r: ById) -> Result<(), Fault> {
        let whose = (!input::is_admin(ctx)).then_some(ctx.actor.user_id);
        let mut tx = self.store.tenant(ctx).await?;
        if !tx.api_key_revoke(r.id, whose).await? {
            return Err(Fault::not_found("API key"));
        }
        tx.commit().await?;
        Ok(())
    }

    /// Who a key speaks for; asked by the gateway.
    pub(crate) async fn identify(&self, r: Identify) -> Result<Identity, Fault> {
        let hash = secret_hash(&r.api_key);
        let mut tx = self.store.auth().await?;
        let Some(found) = tx.api_key_identify(&hash).await? else {
            return Err(Fault::new(
                Code::TokenInvalid,
                "the API key is unknown, revoked or expired",
            ));
        };
        tx.api_key_touch(&hash).await?;
        tx.commit().await?;
        let actor = Actor {
            user_id: found.user_id,
            role: found.role,
            scopes: Some(found.scopes),
        };
        Ok(Identity {
            tenant_id: found.tenant_id,
            actor,
        })
    }
}
