//! The graph of the retrieved statements: nodes that are joined by at least one of them, and how.

use std::collections::{HashMap, VecDeque};

use uuid::Uuid;

use crate::asked::Asked;
use crate::assess::unique;
use crate::curvature::{DEFAULT_BUDGET, Measure, SimpleGraph, curvature};
use crate::triple::{Polarity, Triple};

/// The simple graph of a set of statements.
///
/// Statements that join the same two nodes, in either direction, are one edge. A literal is no node, and a denied
/// statement joins nothing. Node numbers follow ids, so that the order of the statements does not matter.
#[derive(Debug, Clone, Default)]
pub struct LocalGraph {
    index: HashMap<Uuid, usize>,
    graph: SimpleGraph,
    measure: Measure,
    values: HashMap<(usize, usize), f64>,
}

impl LocalGraph {
    pub fn of<'t>(triples: impl IntoIterator<Item = &'t Triple>, measure: Measure) -> Self {
        let mut pairs: Vec<(Uuid, Uuid)> = triples.into_iter().filter_map(joined).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut nodes: Vec<Uuid> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let index: HashMap<Uuid, usize> = nodes
            .into_iter()
            .enumerate()
            .map(|(at, id)| (id, at))
            .collect();
        let edges = pairs
            .iter()
            .filter_map(|(a, b)| Some((*index.get(a)?, *index.get(b)?)));
        let graph = SimpleGraph::from_edges(index.len(), edges);
        let values: HashMap<(usize, usize), f64> = curvature(&graph, measure, DEFAULT_BUDGET)
            .into_iter()
            .map(|edge| ((edge.u, edge.v), edge.value))
            .collect();
        Self {
            index,
            graph,
            measure,
            values,
        }
    }

    pub fn graph(&self) -> &SimpleGraph {
        &self.graph
    }

    /// The curvature of the edge that a statement is part of; `None` where it joins no two nodes.
    pub fn curvature(&self, triple: &Triple) -> Option<f64> {
        self.values.get(&self.edge(triple)?).copied()
    }

    /// The curvature in [−1, 1] ([`Measure::squash`]), 0 where the statement joins no two nodes.
    pub fn squashed(&self, triple: &Triple) -> f64 {
        self.curvature(triple)
            .map_or(0.0, |value| self.measure.squash(value))
    }

    fn edge(&self, triple: &Triple) -> Option<(usize, usize)> {
        let (a, b) = joined(triple)?;
        let (u, v) = (*self.index.get(&a)?, *self.index.get(&b)?);
        Some((u.min(v), u.max(v)))
    }

    /// Steps from a node to every node that it reaches.
    pub(crate) fn distances(&self, from: Uuid) -> Distances<'_> {
        let mut steps: Vec<Option<u32>> = vec![None; self.graph.len()];
        let mut queue = VecDeque::new();
        if let Some(start) = self.index.get(&from) {
            if let Some(step) = steps.get_mut(*start) {
                *step = Some(0);
            }
            queue.push_back((*start, 0));
        }
        while let Some((node, far)) = queue.pop_front() {
            for next in self.graph.neighbours(node).iter().copied() {
                if let Some(step @ None) = steps.get_mut(next) {
                    *step = Some(far + 1);
                    queue.push_back((next, far + 1));
                }
            }
        }
        Distances { local: self, steps }
    }
}

/// The curvature of each statement's edge, in the order given; `None` for statements that join no two nodes.
pub fn edge_curvatures(triples: &[Triple], measure: Measure) -> Vec<Option<f64>> {
    let local = LocalGraph::of(triples, measure);
    triples
        .iter()
        .map(|triple| local.curvature(triple))
        .collect()
}

pub(crate) struct Distances<'l> {
    local: &'l LocalGraph,
    steps: Vec<Option<u32>>,
}

impl Distances<'_> {
    pub(crate) fn to(&self, node: Uuid) -> Option<u32> {
        self.steps
            .get(*self.local.index.get(&node)?)
            .copied()
            .flatten()
    }
}

/// The shortest chains between the nodes that a question connects.
#[derive(Default)]
pub(crate) struct Between<'l> {
    /// Steps from both nodes of a pair, and how far these are apart.
    pairs: Vec<(Distances<'l>, Distances<'l>, u32)>,
}

impl<'l> Between<'l> {
    pub(crate) fn of(asked: &Asked<'_>, local: &'l LocalGraph, connects: bool) -> Self {
        let mut found = Self::default();
        if !connects {
            return found;
        }
        let mentions = unique(asked.mentions);
        for (at, first) in mentions.iter().enumerate() {
            for second in mentions.iter().skip(at + 1) {
                let from = local.distances(first.node_id);
                if let Some(far) = from.to(second.node_id)
                    && first.start != second.start
                    && found.pairs.len() < MAX_PAIRS
                {
                    found
                        .pairs
                        .push((from, local.distances(second.node_id), far));
                }
            }
        }
        found
    }

    pub(crate) fn holds(&self, triple: &Triple) -> bool {
        let Some((a, b)) = joined(triple).filter(|_| !self.pairs.is_empty()) else {
            return false;
        };
        self.pairs.iter().any(|(from, to, far)| {
            [(a, b), (b, a)].into_iter().any(|(near, next)| {
                matches!((from.to(near), to.to(next)), (Some(left), Some(right)) if left + 1 + right == *far)
            })
        })
    }
}

const MAX_PAIRS: usize = 6;

fn joined(triple: &Triple) -> Option<(Uuid, Uuid)> {
    let object = triple.object.node_id()?;
    let subject = triple.subject.id;
    (triple.polarity == Polarity::Positive && object != subject)
        .then_some((subject.min(object), subject.max(object)))
}
