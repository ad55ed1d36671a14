//! Values that Http nodes use by name. They come in and never go out over HTTP or the bus; workers open them when they
//! make the request.

use qadra_api as api;
use qadra_api::{Items, ListQuery};
use qadra_store::SECRET_PURPOSE;
use qadra_types::{Ctx, Fault};

use crate::{App, input};

const MAX_NAME: usize = 100;
const MAX_VALUE: usize = 16 * 1024;
const MAX_SECRETS: i64 = 1_000;

impl App {
    pub(crate) async fn secret_list(
        &self,
        ctx: &Ctx,
        r: ListQuery,
    ) -> Result<Items<api::FlowSecret>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let mut tx = self.store.tenant(ctx).await?;
        let (rows, total) = tx.secret_list(limit, offset).await?;
        let items = rows.into_iter().map(|s| api::FlowSecret {
            name: s.name,
            created_by: s.created_by,
            created_at: s.created_at,
            updated_at: s.updated_at,
        });
        Ok(input::items((items.collect(), total), limit, offset))
    }

    pub(crate) async fn secret_put(&self, ctx: &Ctx, r: api::PutFlowSecret) -> Result<(), Fault> {
        let name = input::text("name", &r.name, MAX_NAME)?;
        if !name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
        {
            return Err(Fault::invalid(
                "name has other characters than letters, digits, _, - and .",
            ));
        }
        if r.value.is_empty() || r.value.len() > MAX_VALUE {
            return Err(Fault::invalid(format!(
                "value is empty or has more than {MAX_VALUE} bytes"
            )));
        }
        let sealed =
            self.token_key
                .vault()
                .seal(ctx.tenant_id, SECRET_PURPOSE, &name, r.value.as_bytes());
        let mut tx = self.store.tenant(ctx).await?;
        tx.secret_put(&name, &sealed, Some(ctx.actor.user_id))
            .await?;
        if tx.secret_list(1, 0).await?.1 > MAX_SECRETS {
            return Err(Fault::invalid(format!(
                "there are {MAX_SECRETS} secrets already"
            )));
        }
        let about = serde_json::json!({"name": name});
        tx.audit(
            ctx.actor.user_id,
            "flow_secret.set",
            "flow_secret",
            None,
            &about,
        )
        .await?;
        tx.commit().await?;
        Ok(())
    }

    pub(crate) async fn secret_delete(
        &self,
        ctx: &Ctx,
        r: api::DeleteFlowSecret,
    ) -> Result<(), Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        if !tx.secret_delete(&r.name).await? {
            return Err(Fault::not_found("secret"));
        }
        let about = serde_json::json!({"name": r.name});
        tx.audit(
            ctx.actor.user_id,
            "flow_secret.delete",
            "flow_secret",
            None,
            &about,
        )
        .await?;
        tx.commit().await?;
        Ok(())
    }
}
