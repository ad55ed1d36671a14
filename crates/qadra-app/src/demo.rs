//! The demo tenant: a small investment team that knows some facts on public companies.

use qadra_api::{CreateNode, CreateTriple, Register};
use qadra_types::{Actor, Code, Ctx, Fault, Role, new_id};
use serde::Deserialize;

use crate::App;

/// The demo tenant's owner.
pub const DEMO_EMAIL: &str = "demo@qadra.local";

#[derive(Deserialize)]
struct Facts {
    aliases: Vec<DemoAlias>,
    triples: Vec<CreateTriple>,
}

#[derive(Deserialize)]
struct DemoAlias {
    node: String,
    alias: String,
}

impl App {
    /// Makes the demo tenant with this password for [`DEMO_EMAIL`], or leaves the one of an earlier start alone.
    pub async fn demo(&self, password: &str) -> Result<(), Fault> {
        let registered = self
            .register(Register {
                email: DEMO_EMAIL.into(),
                password: password.to_owned(),
                name: "Demo Analyst".into(),
                tenant_name: "Demo Capital".into(),
            })
            .await;
        let session = match registered {
            Ok(session) => session,
            Err(f) if f.code == Code::EmailTaken => return Ok(()),
            Err(f) => return Err(f),
        };
        let ctx = Ctx {
            tenant_id: session.tenant.id,
            actor: Actor {
                user_id: session.user.id,
                role: Role::Owner,
                scopes: None,
            },
            request_id: new_id(),
        };
        let facts: Facts =
            serde_json::from_str(include_str!("../demo/facts.json")).map_err(|e| {
                Fault::new(
                    Code::Internal,
                    format!("the demo facts are not readable: {e}"),
                )
            })?;
        let triples = facts
            .triples
            .into_iter()
            .map(crate::knowledge::new_triple)
            .collect::<Result<Vec<_>, _>>()?;
        let mut tx = self.store.tenant(&ctx).await?;
        tx.triples_insert(&triples, ctx.actor.user_id).await?;
        tx.commit().await?;
        for DemoAlias { node, alias } in facts.aliases {
            self.node_create(
                &ctx,
                CreateNode {
                    label: node,
                    aliases: vec![alias],
                    kind: None,
                },
            )
            .await?;
        }
        Ok(())
    }
}
