//! The demo tenant: a small investment team that knows some facts on public companies.

use qadra_api::{ApproveDocument, CreateNode, CreateTriple, ProposeDocument, Register};
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

struct DemoDocument {
    title: &'static str,
    content_type: &'static str,
    content: &'static str,
    /// The others wait for whoever tries the demo: one of them contradicts what is known.
    approved: bool,
}

const DOCUMENTS: [DemoDocument; 3] = [
    DemoDocument {
        title: "Site visit: Hollenbeck Robotics",
        content_type: "text/markdown",
        content: include_str!("../demo/documents/hollenbeck-visit.md"),
        approved: true,
    },
    DemoDocument {
        title: "Supplier note: Kessel Motion",
        content_type: "text/markdown",
        content: include_str!("../demo/documents/supplier-note.md"),
        approved: false,
    },
    DemoDocument {
        title: "Chip letter, issue 41",
        content_type: "text/plain",
        content: include_str!("../demo/documents/newsletter-chips.txt"),
        approved: false,
    },
];

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
        self.demo_flows(&ctx).await?;
        self.demo_documents(&ctx).await
    }

    /// Proposed and approved as any other, by the demo's owner.
    async fn demo_documents(&self, ctx: &Ctx) -> Result<(), Fault> {
        for document in DOCUMENTS {
            let proposed = self
                .document_propose(
                    ctx,
                    ProposeDocument {
                        title: Some(document.title.into()),
                        content: Some(document.content.into()),
                        content_type: Some(document.content_type.into()),
                        source_url: None,
                        source_type: None,
                        upload: None,
                        filename: None,
                    },
                )
                .await?;
            if document.approved {
                let id = proposed.id;
                let note = Some("part of the demo".into());
                self.document_approve(ctx, ApproveDocument { id, note })
                    .await?;
            }
        }
        Ok(())
    }
}
