//! Entities that are one and entities that are not: the queue of doubtful pairs, merging, splitting, undoing.

use std::collections::HashMap;

use qadra_api as api;
use qadra_api::{ById, Items};
use qadra_store::{LockedNode, MergeRow, NodeEvent, NodeRow, StoreError, TenantTx, Which};
use qadra_types::{Code, Ctx, Fault, new_id};
use uuid::Uuid;

use crate::knowledge::{api_node, node_name};
use crate::{App, input};

/// Statements that a merged node may have; what moves is written down to be undone.
const MAX_MOVED: i64 = 50_000;
const MAX_SPLIT: usize = 10_000;

impl App {
    pub(crate) async fn merge_list(
        &self,
        ctx: &Ctx,
        r: api::ListMerges,
    ) -> Result<Items<api::Merge>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let status = r.status.as_deref().unwrap_or("pending");
        if !matches!(status, "pending" | "accepted" | "rejected") {
            return Err(Fault::invalid(format!(
                "status is {status:?}, not pending, accepted or rejected"
            )));
        }
        let mut tx = self.store.tenant(ctx).await?;
        let (rows, total) = tx.merge_list(status, limit, offset).await?;
        let items = api_merges(&mut tx, rows).await?;
        Ok(input::items((items, total), limit, offset))
    }

    /// Merges the pair. The answer is the node that stays.
    pub(crate) async fn merge_accept(
        &self,
        ctx: &Ctx,
        r: api::AcceptMerge,
    ) -> Result<api::Node, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let pair = pending(&mut tx, r.id).await?;
        let keep_a = match r.keep.as_deref() {
            Some("a") => true,
            Some("b") => false,
            Some(other) => {
                return Err(Fault::invalid(format!("keep is {other:?}, not a or b")));
            }
            // Moving the lesser one disturbs less; the older one where they weigh the same.
            None => {
                let (a, b) = (tx.node_weight(pair.a).await?, tx.node_weight(pair.b).await?);
                a > b || (a == b && pair.a < pair.b)
            }
        };
        let (from, into) = match keep_a {
            true => (pair.b, pair.a),
            false => (pair.a, pair.b),
        };
        merge(&mut tx, ctx, from, into).await?;
        // Merging has decided the pair itself where the nodes are still these two.
        tx.merge_decide(pair.id, "accepted", ctx.actor.user_id)
            .await?;
        let node = living(&mut tx, into).await?;
        tx.commit().await?;
        Ok(api_node(node))
    }

    pub(crate) async fn merge_reject(&self, ctx: &Ctx, r: ById) -> Result<api::Merge, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let pair = pending(&mut tx, r.id).await?;
        tx.merge_decide(pair.id, "rejected", ctx.actor.user_id)
            .await?;
        let row = tx.merge_lock(r.id).await?.ok_or_else(no_pair)?;
        let mut items = api_merges(&mut tx, vec![row]).await?;
        tx.commit().await?;
        items.pop().ok_or_else(no_pair)
    }

    pub(crate) async fn node_merge(
        &self,
        ctx: &Ctx,
        r: api::MergeNode,
    ) -> Result<api::Node, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        merge(&mut tx, ctx, r.id, r.into).await?;
        let node = living(&mut tx, r.into).await?;
        tx.commit().await?;
        Ok(api_node(node))
    }

    /// Makes a node of its own from statements and aliases of a node. The name of a node that was merged into it
    /// brings that node back, so that old references to it are right again.
    pub(crate) async fn node_split(
        &self,
        ctx: &Ctx,
        r: api::SplitNode,
    ) -> Result<api::Node, Fault> {
        let name = node_name("label", &r.label)?;
        if r.triple_ids.is_empty() || r.triple_ids.len() > MAX_SPLIT {
            return Err(Fault::invalid(format!(
                "triple_ids has {} entries, not 1 to {MAX_SPLIT}",
                r.triple_ids.len()
            )));
        }
        input_aliases(&r.alias_ids)?;
        let mut tx = self.store.tenant(ctx).await?;
        let node = alive(&mut tx, &[r.id]).await?.remove(0);
        if name.identity == node.name.identity {
            return Err(Fault::new(
                Code::Conflict,
                "the new node would have the name of the old one",
            ));
        }
        let triples = tx.triples_get(&r.triple_ids).await?;
        let (mut subjects, mut objects) = (vec![], vec![]);
        let mut found: Vec<Uuid> = vec![];
        for t in triples.iter().filter(|t| t.retracted_at.is_none()) {
            if t.subject_id == node.id {
                subjects.push(t.id);
            } else if t.object_node_id == Some(node.id) {
                objects.push(t.id);
            } else {
                continue;
            }
            found.push(t.id);
        }
        if r.triple_ids.iter().any(|id| !found.contains(id)) {
            return Err(Fault::not_found("statement about this node"));
        }
        let aliases = living(&mut tx, node.id).await?.aliases;
        if r.alias_ids
            .iter()
            .any(|id| !aliases.iter().any(|(known, _)| known == id))
        {
            return Err(Fault::not_found("alias of this node"));
        }
        let back = tx
            .node_followers(node.id)
            .await?
            .into_iter()
            .find(|(_, label)| node_name("label", label).is_ok_and(|n| n.identity == name.identity))
            .map(|(id, _)| id);
        let other = back.unwrap_or_else(new_id);
        let which = Which::These {
            subjects: &subjects,
            objects: &objects,
        };
        tx.node_split(
            node.id,
            (other, back.is_some()),
            &name,
            which,
            &r.alias_ids,
            ctx.actor.user_id,
        )
        .await
        .map_err(name_taken)?;
        let made = living(&mut tx, other).await?;
        tx.commit().await?;
        Ok(api_node(made))
    }

    pub(crate) async fn node_events(
        &self,
        ctx: &Ctx,
        r: api::ListNodeEvents,
    ) -> Result<Items<api::NodeEvent>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let mut tx = self.store.tenant(ctx).await?;
        let node = living(&mut tx, r.id).await?;
        let (rows, total) = tx.node_events(node.id, limit, offset).await?;
        let items = rows.into_iter().map(api_event).collect();
        Ok(input::items((items, total), limit, offset))
    }

    /// Undoes a merge (the node lives again with what it brought) or a split (the two are one again). The answer is
    /// the node that the act had taken away or made.
    pub(crate) async fn node_event_undo(
        &self,
        ctx: &Ctx,
        r: api::NodeEventRef,
    ) -> Result<api::Node, Fault> {
        let missing = || Fault::not_found("merge or split of this node");
        let mut tx = self.store.tenant(ctx).await?;
        let asked = living(&mut tx, r.id).await?.id;
        let event = tx.node_event_get(r.event_id).await?.ok_or_else(missing)?;
        if ![event.node_id, event.other_id].contains(&asked)
            && ![event.node_id, event.other_id].contains(&r.id)
        {
            return Err(missing());
        }
        let changed = |what: &str| Fault::new(Code::Conflict, what.to_owned());
        if event.undone_at.is_some() {
            return Err(changed("it was undone before"));
        }
        let locked = tx.nodes_lock(&[event.node_id, event.other_id]).await?;
        let [node, other] = locked.as_slice() else {
            return Err(missing());
        };
        if event.kind == "split" {
            if node.merged_into.is_some() || other.merged_into.is_some() {
                return Err(changed("one of the nodes was merged since"));
            }
            tx.nodes_merge(other, node, ctx.actor.user_id).await?;
            tx.node_event_undone(event.id, ctx.actor.user_id).await?;
            let node = living(&mut tx, event.node_id).await?;
            tx.commit().await?;
            return Ok(api_node(node));
        }
        if node.merged_into.is_some() {
            return Err(changed("the node was itself merged into another one since")
                .hint("undo that first"));
        }
        if other.merged_into != Some(node.id) {
            return Err(changed("the merged node lives again"));
        }
        tx.node_unmerge(&event, ctx.actor.user_id)
            .await
            .map_err(name_taken)?;
        let back = living(&mut tx, event.other_id).await?;
        tx.commit().await?;
        Ok(api_node(back))
    }
}

/// Makes `from` part of `into`; both exist, are alive and are two.
async fn merge(tx: &mut TenantTx, ctx: &Ctx, from: Uuid, into: Uuid) -> Result<(), Fault> {
    if from == into {
        alive(tx, &[from]).await?;
        return Err(Fault::invalid("a node cannot be merged into itself"));
    }
    let locked = alive(tx, &[from, into]).await?;
    let [from, into] = locked.as_slice() else {
        return Err(Fault::not_found("node"));
    };
    let weight = tx.node_weight(from.id).await?;
    if weight > MAX_MOVED {
        return Err(Fault::new(
            Code::Conflict,
            format!("the node has more than {MAX_MOVED} statements to move"),
        )
        .hint("merge the other way round"));
    }
    tx.nodes_merge(from, into, ctx.actor.user_id).await?;
    Ok(())
}

/// The nodes under lock, in the order asked for. One that was merged is a conflict and not another node: whoever
/// acts on it has an old picture.
async fn alive(tx: &mut TenantTx, ids: &[Uuid]) -> Result<Vec<LockedNode>, Fault> {
    let found = tx.nodes_lock(ids).await?;
    if found.len() != ids.len() {
        return Err(Fault::not_found("node"));
    }
    if found.iter().any(|n| n.merged_into.is_some()) {
        return Err(
            Fault::new(Code::Conflict, "the node was merged into another one")
                .hint("read it again: its id leads to the node that stayed"),
        );
    }
    Ok(found)
}

async fn living(tx: &mut TenantTx, id: Uuid) -> Result<NodeRow, Fault> {
    tx.node_get(id)
        .await?
        .ok_or_else(|| Fault::not_found("node"))
}

async fn pending(tx: &mut TenantTx, id: Uuid) -> Result<MergeRow, Fault> {
    let pair = tx.merge_lock(id).await?.ok_or_else(no_pair)?;
    if pair.status != "pending" {
        return Err(Fault::new(
            Code::Conflict,
            format!("the pair was {} before", pair.status),
        ));
    }
    Ok(pair)
}

fn no_pair() -> Fault {
    Fault::not_found("pair of nodes")
}

fn input_aliases(ids: &[Uuid]) -> Result<(), Fault> {
    if ids.len() > 1_000 {
        return Err(Fault::invalid("alias_ids has more than 1,000 entries"));
    }
    Ok(())
}

fn name_taken(e: StoreError) -> Fault {
    match e {
        StoreError::Duplicate { .. } => Fault::new(
            Code::Conflict,
            "another node has that name, or says the same",
        )
        .hint("rename or merge that node first"),
        other => other.into(),
    }
}

async fn api_merges(tx: &mut TenantTx, rows: Vec<MergeRow>) -> Result<Vec<api::Merge>, Fault> {
    let ids: Vec<Uuid> = rows.iter().flat_map(|r| [r.a, r.b]).collect();
    let nodes: HashMap<Uuid, api::Node> = tx
        .nodes_get(&ids)
        .await?
        .into_iter()
        .map(|n| (n.id, api_node(n)))
        .collect();
    Ok(rows
        .into_iter()
        .filter_map(|r| {
            Some(api::Merge {
                id: r.id,
                a: nodes.get(&r.a)?.clone(),
                b: nodes.get(&r.b)?.clone(),
                score: (f64::from(r.score) * 1e4).round() / 1e4,
                reasons: r.reasons,
                document_id: r.document_id,
                status: r.status,
                decided_by: r.decided_by,
                decided_at: r.decided_at,
                created_at: r.created_at,
            })
        })
        .collect())
}

fn api_event(e: NodeEvent) -> api::NodeEvent {
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let moved = &e.detail;
    let both = moved
        .subjects
        .iter()
        .filter(|id| moved.objects.contains(id))
        .count();
    api::NodeEvent {
        triples: count(moved.subjects.len() + moved.objects.len() - both),
        aliases: count(moved.aliases.len()),
        collapsed: count(moved.collapsed.len()),
        other: api::NodeRef {
            id: e.other_id,
            label: e.detail.label,
        },
        id: e.id,
        kind: e.kind,
        node_id: e.node_id,
        actor_id: e.actor_id,
        created_at: e.created_at,
        undone_at: e.undone_at,
    }
}
