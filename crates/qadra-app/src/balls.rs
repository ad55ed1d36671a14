//! Saved neighbourhoods: metric balls of the graph, the nodes within a radius of one or more centers.

use qadra_api as api;
use qadra_api::{ById, Items, ListQuery};
use qadra_epistemic::curvature::Measure;
use qadra_store::{BallContent, BallRow, EdgeFilter, StoreError, TenantTx};
use qadra_types::{Code, Ctx, Fault, new_id};
use serde_json::json;
use uuid::Uuid;

use crate::graph::{Reach, drawn, neighbourhood};
use crate::{App, input};

const MAX_NAME: usize = 200;
const MAX_CENTERS: usize = 50;
const MAX_BALLS: i64 = 200;
const MAX_NODES: usize = 2_000;
const MAX_EDGES: usize = 5_000;

impl App {
    pub(crate) async fn ball_list(
        &self,
        ctx: &Ctx,
        r: ListQuery,
    ) -> Result<Items<api::Ball>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let mut tx = self.store.tenant(ctx).await?;
        let (rows, total) = tx.ball_list(limit, offset).await?;
        let items = rows.into_iter().map(api_ball).collect();
        Ok(input::items((items, total), limit, offset))
    }

    pub(crate) async fn ball_create(
        &self,
        ctx: &Ctx,
        r: api::CreateBall,
    ) -> Result<api::Ball, Fault> {
        let name = input::text("name", &r.name, MAX_NAME)?;
        let radius = radius(r.radius.unwrap_or(1))?;
        let mut tx = self.store.tenant(ctx).await?;
        if tx.ball_count().await? >= MAX_BALLS {
            return Err(Fault::new(
                Code::Conflict,
                format!("there are {MAX_BALLS} saved neighbourhoods already"),
            )
            .hint("delete one that is no longer needed"));
        }
        let centers = centers(&mut tx, &r.centers).await?;
        let id = new_id();
        tx.ball_create(id, &name, radius, &json!(r.filters), ctx.actor.user_id)
            .await
            .map_err(taken)?;
        let row = fill(&mut tx, id, &centers, radius, &r.filters).await?;
        tx.commit().await?;
        Ok(api_ball(row))
    }

    pub(crate) async fn ball_get(&self, ctx: &Ctx, r: ById) -> Result<api::BallDetail, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let row = tx.ball_get(r.id).await?.ok_or_else(missing)?;
        let (nodes, triples) = tx.ball_members(r.id).await?;
        let (nodes, edges) = drawn(&mut tx, &nodes, &triples, Measure::Balanced).await?;
        Ok(api::BallDetail {
            ball: api_ball(row),
            nodes,
            edges,
        })
    }

    pub(crate) async fn ball_update(
        &self,
        ctx: &Ctx,
        r: api::UpdateBall,
    ) -> Result<api::Ball, Fault> {
        let name = match &r.name {
            Some(name) => Some(input::text("name", name, MAX_NAME)?),
            None => None,
        };
        let new_radius = r.radius.map(radius).transpose()?;
        let mut tx = self.store.tenant(ctx).await?;
        let row = held(&mut tx, r.id).await?;
        let again = r.centers.is_some() || new_radius.is_some() || r.filters.is_some();
        let ids = match &r.centers {
            Some(ids) => centers(&mut tx, ids).await?,
            None => row.centers.iter().map(|(id, _)| *id).collect(),
        };
        let radius = new_radius.unwrap_or(row.radius);
        let filters = r.filters.unwrap_or_else(|| filters(&row));
        tx.ball_update(
            r.id,
            name.as_deref().unwrap_or(&row.name),
            radius,
            &json!(filters),
        )
        .await
        .map_err(taken)?;
        let row = match again {
            true => fill(&mut tx, r.id, &ids, radius, &filters).await?,
            false => tx.ball_get(r.id).await?.ok_or_else(missing)?,
        };
        tx.commit().await?;
        Ok(api_ball(row))
    }

    pub(crate) async fn ball_delete(&self, ctx: &Ctx, r: ById) -> Result<(), Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        if !tx.ball_delete(r.id).await? {
            return Err(missing());
        }
        tx.commit().await?;
        Ok(())
    }

    pub(crate) async fn ball_refresh(&self, ctx: &Ctx, r: ById) -> Result<api::Ball, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let row = held(&mut tx, r.id).await?;
        let ids: Vec<Uuid> = row.centers.iter().map(|(id, _)| *id).collect();
        let row = fill(&mut tx, r.id, &ids, row.radius, &filters(&row)).await?;
        tx.commit().await?;
        Ok(api_ball(row))
    }
}

async fn held(tx: &mut TenantTx, id: Uuid) -> Result<BallRow, Fault> {
    if !tx.ball_lock(id).await? {
        return Err(missing());
    }
    tx.ball_get(id).await?.ok_or_else(missing)
}

/// Living nodes, each once.
async fn centers(tx: &mut TenantTx, asked: &[Uuid]) -> Result<Vec<Uuid>, Fault> {
    if asked.is_empty() || asked.len() > MAX_CENTERS {
        return Err(Fault::invalid(format!(
            "centers has {} entries, not 1 to {MAX_CENTERS}",
            asked.len()
        )));
    }
    let mut ids: Vec<Uuid> = Vec::with_capacity(asked.len());
    for node in tx.nodes_get(asked).await? {
        ids.push(node.merged_into.unwrap_or(node.id));
    }
    let mut distinct = asked.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    if ids.len() != distinct.len() {
        return Err(Fault::not_found("node"));
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// Looks what is within reach and stores it.
async fn fill(
    tx: &mut TenantTx,
    id: Uuid,
    centers: &[Uuid],
    radius: i16,
    filters: &api::BallFilters,
) -> Result<BallRow, Fault> {
    let filter = edge_filter(tx, filters).await?;
    let reach = Reach {
        hops: radius,
        nodes: MAX_NODES,
        edges: MAX_EDGES,
        filter: &filter,
    };
    let found = neighbourhood(tx, centers, &reach).await?;
    let content = BallContent {
        nodes: &found.nodes,
        triples: &found.edges,
        truncated: found.truncated,
    };
    tx.ball_fill(id, &content).await?;
    tx.ball_get(id).await?.ok_or_else(missing)
}

async fn edge_filter(tx: &mut TenantTx, f: &api::BallFilters) -> Result<EdgeFilter, Fault> {
    if f.predicates.len() > 100 {
        return Err(Fault::invalid(
            "filters.predicates has more than 100 entries",
        ));
    }
    let predicates = match f.predicates.as_slice() {
        [] => None,
        names => Some(tx.predicates_named(names).await?),
    };
    for kind in &f.kinds {
        if !matches!(kind.as_str(), "fact" | "claim") {
            return Err(Fault::invalid(format!(
                "filters.kinds has {kind:?}, not fact or claim"
            )));
        }
    }
    let min_confidence = f.min_confidence.unwrap_or(0.0);
    if !(0.0..=1.0).contains(&min_confidence) {
        return Err(Fault::invalid(format!(
            "filters.min_confidence is {min_confidence}, not between 0 and 1"
        )));
    }
    let positive = match f.polarity.as_deref() {
        None => None,
        Some("+" | "positive") => Some(true),
        Some("-" | "negative") => Some(false),
        Some(other) => {
            return Err(Fault::invalid(format!(
                "filters.polarity is {other:?}, not + or -"
            )));
        }
    };
    Ok(EdgeFilter {
        predicates,
        kinds: (!f.kinds.is_empty()).then(|| f.kinds.clone()),
        min_confidence,
        positive,
    })
}

fn radius(value: i64) -> Result<i16, Fault> {
    match i16::try_from(value) {
        Ok(r @ 0..=3) => Ok(r),
        _ => Err(Fault::invalid(format!(
            "radius is {value}, not between 0 and 3"
        ))),
    }
}

fn filters(row: &BallRow) -> api::BallFilters {
    serde_json::from_value(row.filters.clone()).unwrap_or_default()
}

fn missing() -> Fault {
    Fault::not_found("saved neighbourhood")
}

fn taken(e: StoreError) -> Fault {
    match e {
        StoreError::Duplicate { .. } => Fault::new(
            Code::Conflict,
            "there is a saved neighbourhood of that name",
        ),
        other => other.into(),
    }
}

fn api_ball(b: BallRow) -> api::Ball {
    api::Ball {
        filters: filters(&b),
        id: b.id,
        name: b.name,
        centers: b
            .centers
            .into_iter()
            .map(|(id, label)| api::NodeRef { id, label })
            .collect(),
        radius: i64::from(b.radius),
        node_count: i64::from(b.node_count),
        edge_count: i64::from(b.edge_count),
        truncated: b.truncated,
        refreshed_at: b.refreshed_at,
        created_by: b.created_by,
        created_at: b.created_at,
    }
}
