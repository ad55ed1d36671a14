//! The graph as people look at it: the neighbourhood of a node with curvature, what contradicts itself, and
//! statements that a person qualifies.

use std::collections::{HashMap, HashSet};

use qadra_api as api;
use qadra_api::Items;
use qadra_epistemic::contradictions;
use qadra_epistemic::curvature::{DEFAULT_BUDGET, Measure, SimpleGraph, curvature};
use qadra_store::{
    EdgeEnds, EdgeFilter, NodeDegree, StoreError, TenantTx, TripleChange, TripleFilter, TripleRow,
};
use qadra_types::{Code, Ctx, Fault};
use uuid::Uuid;

use crate::knowledge::{api_triple, predicate_facts, triple};
use crate::{App, input};

/// Statements of a drawn graph.
const MOST_EDGES: i64 = 5_000;
/// Statements followed from one node in each direction.
const PER_NODE: i64 = 200;
/// Groups of statements that are looked at for contradictions, and pairs that are listed.
const CANDIDATES: i64 = 1_000;
const PAIRS: usize = 1_000;
const PREDICATES: i64 = 2_000;

/// Nodes within a number of steps of the centers, and the statements between them.
pub(crate) struct Neighbourhood {
    /// Nearest first.
    pub(crate) nodes: Vec<(Uuid, i16)>,
    pub(crate) edges: Vec<Uuid>,
    pub(crate) truncated: bool,
}

/// How much of it is wanted.
pub(crate) struct Reach<'a> {
    pub(crate) hops: i16,
    pub(crate) nodes: usize,
    pub(crate) edges: usize,
    pub(crate) filter: &'a EdgeFilter,
}

impl App {
    pub(crate) async fn node_graph(
        &self,
        ctx: &Ctx,
        r: api::NodeGraph,
    ) -> Result<api::Graph, Fault> {
        let hops = within("hops", r.hops.unwrap_or(1), 1, 2)?;
        let limit = within("limit", r.limit.unwrap_or(500), 1, MOST_EDGES)?;
        let measure = match r.curvature.as_deref() {
            None | Some("balanced") => Measure::Balanced,
            Some("augmented") => Measure::Augmented,
            Some(other) => {
                return Err(Fault::invalid(format!(
                    "curvature is {other:?}, not balanced or augmented"
                )));
            }
        };
        let mut tx = self.store.tenant(ctx).await?;
        let node = tx
            .node_get(r.id)
            .await?
            .ok_or_else(|| Fault::not_found("node"))?;
        let limit = usize::try_from(limit).unwrap_or(1);
        let filter = EdgeFilter::default();
        let reach = Reach {
            hops: i16::try_from(hops).unwrap_or(1),
            nodes: limit + 1,
            edges: limit,
            filter: &filter,
        };
        let found = neighbourhood(&mut tx, &[node.id], &reach).await?;
        let (nodes, edges) = drawn(&mut tx, &found.nodes, &found.edges, measure).await?;
        Ok(api::Graph {
            center: api::NodeRef {
                id: node.id,
                label: node.label,
            },
            nodes,
            edges,
            truncated: found.truncated,
        })
    }

    /// Statements that cannot both be true, the newest first: of one node, or of the whole graph, where at most 1,000
    /// groups of statements of each sort are looked at.
    pub(crate) async fn contradiction_list(
        &self,
        ctx: &Ctx,
        r: api::ListContradictions,
    ) -> Result<Items<api::TriplePair>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let mut tx = self.store.tenant(ctx).await?;
        let mut rows: Vec<TripleRow> = match r.node {
            Some(id) => {
                let node = tx
                    .node_get(id)
                    .await?
                    .ok_or_else(|| Fault::not_found("node"))?;
                let filter = TripleFilter {
                    node_id: Some(node.id),
                    limit: 2_000,
                    ..TripleFilter::default()
                };
                tx.triple_list(&filter).await?.0
            }
            None => {
                let maybe = tx.predicates_maybe_functional(PREDICATES).await?;
                let stats = tx.predicate_stats(&maybe).await?;
                let functional = functional(&stats);
                let ids = tx.conflict_candidates(&functional, CANDIDATES).await?;
                tx.triples_get(&ids).await?
            }
        };
        rows.sort_by_key(|t| std::cmp::Reverse((t.created_at, t.id)));
        let shown: HashMap<Uuid, api::Triple> =
            rows.iter().map(|t| (t.id, api_triple(t.clone()))).collect();
        let triples: Vec<_> = rows.into_iter().map(triple).collect();
        let facts = predicate_facts(&mut tx, &triples).await?;
        drop(tx);
        let found = contradictions(&triples.iter().collect::<Vec<_>>(), &facts, PAIRS);
        let total = i64::try_from(found.len()).unwrap_or(i64::MAX);
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        let items = found
            .into_iter()
            .skip(skip)
            .take(usize::try_from(limit).unwrap_or(0))
            .filter_map(|c| {
                Some(api::TriplePair {
                    a: shown.get(&c.a.id)?.clone(),
                    b: shown.get(&c.b.id)?.clone(),
                    reason: c.reason,
                })
            })
            .collect();
        Ok(input::items((items, total), limit, offset))
    }

    pub(crate) async fn triple_update(
        &self,
        ctx: &Ctx,
        r: api::UpdateTriple,
    ) -> Result<api::Triple, Fault> {
        if let Some(kind) = &r.kind
            && !matches!(kind.as_str(), "fact" | "claim")
        {
            return Err(Fault::invalid(format!(
                "kind is {kind:?}, not fact or claim"
            )));
        }
        if let Some(c) = r.confidence
            && !(0.0..=1.0).contains(&c)
        {
            return Err(Fault::invalid(format!(
                "confidence is {c}, not between 0 and 1"
            )));
        }
        let missing = || Fault::not_found("statement");
        let mut tx = self.store.tenant(ctx).await?;
        let row = tx.triples_get(&[r.id]).await?.pop().ok_or_else(missing)?;
        if row.retracted_at.is_some() {
            return Err(Fault::new(Code::Conflict, "the statement was retracted"));
        }
        let from = r.valid_from.unwrap_or(row.valid_from);
        let to = r.valid_to.unwrap_or(row.valid_to);
        if let (Some(from), Some(to)) = (from, to)
            && from > to
        {
            return Err(Fault::invalid("valid_from is after valid_to"));
        }
        let change = TripleChange {
            valid_from: r.valid_from,
            valid_to: r.valid_to,
            confidence: r.confidence,
            kind: r.kind,
        };
        let done = tx.triple_update(r.id, &change).await;
        let done = done.map_err(|e| match e {
            StoreError::Duplicate { .. } => Fault::new(
                Code::Conflict,
                "another statement of the same source says that already",
            ),
            other => other.into(),
        })?;
        if !done {
            return Err(Fault::new(Code::Conflict, "the statement was retracted"));
        }
        let row = tx.triples_get(&[r.id]).await?.pop().ok_or_else(missing)?;
        tx.commit().await?;
        Ok(api_triple(row))
    }
}

/// The predicates that have one object at a time, as set, as is conventional, or as the data says.
fn functional(stats: &[(qadra_store::PredicateRow, i64, i64)]) -> Vec<Uuid> {
    let facts = qadra_epistemic::PredicateFacts(
        stats
            .iter()
            .map(|(p, subjects, single)| {
                let info = qadra_epistemic::PredicateInfo {
                    functional: p.functional,
                    subjects: u64::try_from(*subjects).unwrap_or(0),
                    single_object_subjects: u64::try_from(*single).unwrap_or(0),
                    ..Default::default()
                };
                (p.name.clone(), info)
            })
            .collect(),
    );
    stats
        .iter()
        .filter(|(p, _, _)| facts.is_functional(&p.name))
        .map(|(p, _, _)| p.id)
        .collect()
}

/// What is within reach, breadth first: each step follows the most certain statements of each node, and the last
/// looks for statements among the nodes found.
pub(crate) async fn neighbourhood(
    tx: &mut TenantTx,
    centers: &[Uuid],
    reach: &Reach<'_>,
) -> Result<Neighbourhood, Fault> {
    let mut hop: HashMap<Uuid, i16> = centers.iter().map(|id| (*id, 0)).collect();
    let mut nodes: Vec<(Uuid, i16)> = Vec::new();
    for id in centers {
        if !nodes.iter().any(|(known, _)| known == id) {
            nodes.push((*id, 0));
        }
    }
    let mut edges: Vec<EdgeEnds> = Vec::new();
    let mut seen: HashSet<Uuid> = HashSet::new();
    let mut truncated = nodes.len() > reach.nodes;
    let mut frontier: Vec<Uuid> = nodes.iter().map(|(id, _)| *id).collect();
    for step in 1..=reach.hops {
        if frontier.is_empty() {
            break;
        }
        // The centers show all that fits; a hub two steps away must not crowd out its neighbours.
        let room = i64::try_from(reach.edges).unwrap_or(i64::MAX);
        let per_node = match frontier.len() {
            0..=3 => room,
            4..=50 => PER_NODE,
            _ => 50,
        }
        .min(room)
            + 1;
        let found = tx.edges_around(&frontier, reach.filter, per_node).await?;
        let mut out: HashMap<(Uuid, bool), i64> = HashMap::new();
        let near: HashSet<Uuid> = frontier.drain(..).collect();
        for edge in found {
            for (end, forward) in [(edge.subject, true), (edge.object, false)] {
                if near.contains(&end) {
                    let count = out.entry((end, forward)).or_default();
                    *count += 1;
                    truncated |= *count >= per_node;
                }
            }
            let mut fits = true;
            for end in [edge.subject, edge.object] {
                if hop.contains_key(&end) {
                    continue;
                }
                if nodes.len() >= reach.nodes {
                    fits = false;
                    continue;
                }
                hop.insert(end, step);
                nodes.push((end, step));
                frontier.push(end);
            }
            truncated |= !fits;
            if fits && seen.insert(edge.id) {
                edges.push(edge);
            }
        }
    }
    if reach.hops > 0 || nodes.len() > 1 {
        let members: Vec<Uuid> = nodes.iter().map(|(id, _)| *id).collect();
        let limit = i64::try_from(reach.edges).unwrap_or(i64::MAX) + 1;
        for edge in tx.edges_within(&members, reach.filter, limit).await? {
            if seen.insert(edge.id) {
                edges.push(edge);
            }
        }
    }
    truncated |= edges.len() > reach.edges;
    edges.truncate(reach.edges);
    // A node that is tied to nothing any more says nothing, but for a center.
    let tied: HashSet<Uuid> = edges.iter().flat_map(|e| [e.subject, e.object]).collect();
    nodes.retain(|(id, hop)| *hop == 0 || tied.contains(id));
    Ok(Neighbourhood {
        nodes,
        edges: edges.into_iter().map(|e| e.id).collect(),
        truncated,
    })
}

/// Nodes and edges as they are shown, with the curvature of each edge in this graph.
pub(crate) async fn drawn(
    tx: &mut TenantTx,
    nodes: &[(Uuid, i16)],
    edges: &[Uuid],
    measure: Measure,
) -> Result<(Vec<api::GraphNode>, Vec<api::GraphEdge>), Fault> {
    let ids: Vec<Uuid> = nodes.iter().map(|(id, _)| *id).collect();
    let known: HashMap<Uuid, NodeDegree> = tx
        .nodes_degree(&ids)
        .await?
        .into_iter()
        .map(|n| (n.id, n))
        .collect();
    let rows: HashMap<Uuid, TripleRow> = tx
        .triples_get(edges)
        .await?
        .into_iter()
        .map(|t| (t.id, t))
        .collect();
    let shown: Vec<api::GraphNode> = nodes
        .iter()
        .filter_map(|(id, hop)| {
            let n = known.get(id)?;
            Some(api::GraphNode {
                id: n.id,
                label: n.label.clone(),
                kind: n.kind.clone(),
                degree: n.degree,
                hop: i64::from(*hop),
            })
        })
        .collect();
    let place: HashMap<Uuid, usize> = shown.iter().enumerate().map(|(i, n)| (n.id, i)).collect();
    let ends = |t: &TripleRow| {
        let (a, b) = (*place.get(&t.subject_id)?, *place.get(&t.object_node_id?)?);
        Some((a.min(b), a.max(b)))
    };
    let kept: Vec<(&TripleRow, (usize, usize))> = edges
        .iter()
        .filter_map(|id| rows.get(id))
        .filter_map(|t| Some((t, ends(t)?)))
        .collect();
    let graph = SimpleGraph::from_edges(shown.len(), kept.iter().map(|(_, ends)| *ends));
    let bent: HashMap<(usize, usize), f64> = curvature(&graph, measure, DEFAULT_BUDGET)
        .into_iter()
        .map(|c| ((c.u, c.v), c.value))
        .collect();
    let edges = kept
        .into_iter()
        .filter_map(|(t, ends)| {
            Some(api::GraphEdge {
                id: t.id,
                subject: t.subject_id,
                object: t.object_node_id?,
                predicate: t.predicate.clone(),
                label: t.predicate.replace('_', " "),
                polarity: if t.positive { "+" } else { "-" }.to_owned(),
                kind: t.kind.clone(),
                confidence: rounded(f64::from(t.confidence), 1e6),
                curvature: bent.get(&ends).map(|c| rounded(*c, 1e6)),
            })
        })
        .collect();
    Ok((shown, edges))
}

fn rounded(value: f64, digits: f64) -> f64 {
    (value * digits).round() / digits
}

fn within(field: &str, value: i64, least: i64, most: i64) -> Result<i64, Fault> {
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(Fault::invalid(format!(
            "{field} is {value}, not between {least} and {most}"
        )))
    }
}
