//! Flows: what is drawn, what is run of it, what starts it, and the secrets it uses. How an execution goes on is the
//! workers' business; they and these use cases meet in PostgreSQL, and on the bus for wake-ups and progress.

mod check;
mod demo;
mod executions;
mod schedule;
mod secrets;
mod start;
mod triggers;
mod view;

use qadra_api as api;
use qadra_api::{ById, Items};
use qadra_store::{FlowChange, FlowRow, FlowSummary, NewFlow, StoreError};
use qadra_types::{Code, Ctx, Fault, new_id};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{App, input};

const MAX_NAME: usize = 200;
const MAX_DESCRIPTION: usize = 4_000;
/// Bytes of a graph as JSON.
const MAX_DATA: usize = 2 * 1024 * 1024;

impl App {
    pub(crate) async fn flow_list(
        &self,
        ctx: &Ctx,
        r: api::ListFlows,
    ) -> Result<Items<api::FlowSummary>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let words = input::optional("q", r.q, 500)?;
        let mut tx = self.store.tenant(ctx).await?;
        let (rows, total) = tx
            .flow_list(r.is_active, words.as_deref(), limit, offset)
            .await?;
        let items = rows.into_iter().map(summary).collect();
        Ok(input::items((items, total), limit, offset))
    }

    pub(crate) async fn flow_create(
        &self,
        ctx: &Ctx,
        r: api::CreateFlow,
    ) -> Result<api::Flow, Fault> {
        let name = input::text("name", &r.name, MAX_NAME)?;
        let description = input::optional("description", r.description, MAX_DESCRIPTION)?;
        let data = r.flow_data.unwrap_or_else(
            || json!({"nodes": [], "edges": [], "viewport": {"x": 0, "y": 0, "zoom": 1}}),
        );
        let drawn = Drawn::of(&data)?;
        let mut tx = self.store.tenant(ctx).await?;
        let row = tx
            .flow_create(&NewFlow {
                id: new_id(),
                name: &name,
                description: description.as_deref(),
                flow_data: &drawn.text,
                digest: &drawn.digest,
                node_count: drawn.nodes,
                is_active: r.is_active.unwrap_or(true),
                created_by: Some(ctx.actor.user_id),
            })
            .await
            .map_err(|e| name_taken(e, &name))?;
        tx.commit().await?;
        Ok(flow(row))
    }

    pub(crate) async fn flow_get(&self, ctx: &Ctx, r: ById) -> Result<api::Flow, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        tx.flow_get(r.id).await?.map(flow).ok_or_else(missing)
    }

    pub(crate) async fn flow_update(
        &self,
        ctx: &Ctx,
        r: api::UpdateFlow,
    ) -> Result<api::Flow, Fault> {
        let name = r
            .name
            .map(|n| input::text("name", &n, MAX_NAME))
            .transpose()?;
        let description = match r.description {
            Some(given) => Some(input::optional("description", given, MAX_DESCRIPTION)?),
            None => None,
        };
        let drawn = r.flow_data.as_ref().map(Drawn::of).transpose()?;
        let change = FlowChange {
            name: name.as_deref(),
            description: description.as_ref().map(Option::as_deref),
            flow_data: drawn
                .as_ref()
                .map(|d| (d.text.as_str(), d.digest.as_slice(), d.nodes)),
            is_active: r.is_active,
            expected_version: r.expected_version,
        };
        let mut tx = self.store.tenant(ctx).await?;
        let changed = tx
            .flow_update(r.id, &change)
            .await
            .map_err(|e| name_taken(e, name.as_deref().unwrap_or_default()))?;
        let Some(row) = changed else {
            let now = tx.flow_get(r.id).await?.ok_or_else(missing)?;
            return Err(Fault::new(
                Code::Conflict,
                format!("the flow has version {} by now", now.summary.version),
            )
            .hint("read it again, and lay your change over what others have changed"));
        };
        tx.commit().await?;
        Ok(flow(row))
    }

    pub(crate) async fn flow_delete(&self, ctx: &Ctx, r: ById) -> Result<(), Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        if !tx.flow_delete(r.id).await? {
            return Err(missing());
        }
        tx.commit().await?;
        Ok(())
    }

    pub(crate) async fn flow_catalog(&self) -> Result<api::NodeCatalog, Fault> {
        Ok(api::NodeCatalog {
            items: qadra_flow::catalog()
                .iter()
                .map(|spec| json!(spec))
                .collect(),
        })
    }

    pub(crate) async fn flow_validate(
        &self,
        r: api::ValidateFlow,
    ) -> Result<api::FlowFindings, Fault> {
        Drawn::of(&r.flow_data)?;
        Ok(check::findings(&r.flow_data))
    }
}

/// A graph as it is stored.
struct Drawn {
    text: String,
    digest: Vec<u8>,
    nodes: i32,
}

impl Drawn {
    fn of(data: &Value) -> Result<Self, Fault> {
        if !data.is_object() {
            return Err(Fault::invalid("flow_data is not a JSON object"));
        }
        let text = data.to_string();
        if text.len() > MAX_DATA {
            return Err(Fault::invalid(format!(
                "flow_data has {} bytes, more than the {MAX_DATA} allowed",
                text.len()
            )));
        }
        let nodes = data["nodes"].as_array().map_or(0, Vec::len);
        Ok(Self {
            digest: Sha256::digest(&text).to_vec(),
            text,
            nodes: i32::try_from(nodes).unwrap_or(i32::MAX),
        })
    }
}

fn name_taken(e: StoreError, name: &str) -> Fault {
    match e {
        StoreError::Duplicate { .. } => Fault::new(
            Code::Conflict,
            format!("a flow named {name:?} exists already"),
        ),
        other => other.into(),
    }
}

fn missing() -> Fault {
    Fault::not_found("flow")
}

fn summary(s: FlowSummary) -> api::FlowSummary {
    api::FlowSummary {
        id: s.id,
        name: s.name,
        description: s.description,
        node_count: s.node_count,
        is_active: s.is_active,
        version: s.version,
        created_by: s.created_by,
        created_at: s.created_at,
        updated_at: s.updated_at,
    }
}

fn flow(row: FlowRow) -> api::Flow {
    api::Flow {
        summary: summary(row.summary),
        flow_data: row.flow_data,
    }
}
