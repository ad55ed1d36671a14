//! Discrete Ricci curvatures of the edges of a simple graph. Formulas and sources: `docs/verification.md`.
//!
//! An edge with high curvature lies inside a cohesive part of the graph, one with low curvature is a bridge.

mod balanced;
mod ollivier;
mod transport;

pub use ollivier::ollivier_ricci;

use serde::{Deserialize, Serialize};

/// An undirected graph without loops and parallel edges on the nodes `0..len`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleGraph {
    /// Neighbours of each node, ascending.
    neighbours: Vec<Vec<usize>>,
}

/// Which curvature of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Balanced Forman (Topping et al. 2022), with triangles and 4-cycles; −2 < κ ≤ 1.5.
    #[default]
    Balanced,
    /// 4 − d(u) − d(v) + 3 · triangles.
    Augmented,
    /// 4 − d(u) − d(v).
    Forman,
}

/// The curvature of the edge between `u` and `v`, `u < v`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EdgeCurvature {
    pub u: usize,
    pub v: usize,
    pub value: f64,
    /// Whether every 4-cycle was counted; `value` is a lower bound otherwise.
    pub exact: bool,
}

impl SimpleGraph {
    /// The simple graph of a list of edges: loops are dropped, parallel and opposite edges are one.
    pub fn from_edges(nodes: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); nodes];
        for (u, v) in edges {
            if u == v || u >= nodes || v >= nodes {
                continue;
            }
            for (from, to) in [(u, v), (v, u)] {
                if let Some(list) = neighbours.get_mut(from) {
                    list.push(to);
                }
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        Self { neighbours }
    }

    pub fn len(&self) -> usize {
        self.neighbours.len()
    }

    pub fn is_empty(&self) -> bool {
        self.neighbours.is_empty()
    }

    pub fn degree(&self, node: usize) -> usize {
        self.neighbours(node).len()
    }

    /// Ascending; empty for a node that is not there.
    pub fn neighbours(&self, node: usize) -> &[usize] {
        self.neighbours.get(node).map_or(&[], Vec::as_slice)
    }

    pub fn has_edge(&self, u: usize, v: usize) -> bool {
        let (few, other) = if self.degree(u) <= self.degree(v) {
            (u, v)
        } else {
            (v, u)
        };
        self.neighbours(few).binary_search(&other).is_ok()
    }

    /// Each edge once, as `(u, v)` with `u < v`, ascending.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.neighbours
            .iter()
            .enumerate()
            .flat_map(|(u, list)| list.iter().filter(move |v| **v > u).map(move |v| (u, *v)))
    }

    /// Common neighbours of `u` and `v`: the shorter list looked up in the longer one.
    pub fn triangles(&self, u: usize, v: usize) -> usize {
        let (few, other) = if self.degree(u) <= self.degree(v) {
            (u, v)
        } else {
            (v, u)
        };
        let many = self.neighbours(other);
        self.neighbours(few)
            .iter()
            .filter(|node| many.binary_search(node).is_ok())
            .count()
    }
}

/// The curvature of every edge, in the order of [`SimpleGraph::edges`].
///
/// `budget` bounds the two-step paths that the balanced measure follows for one edge to count 4-cycles. An edge beyond
/// it is computed without the 4-cycle term and marked as not exact, so that the time is at most linear in the edges
/// whatever the degrees; [`DEFAULT_BUDGET`] is never reached where both ends have at most 64 neighbours.
pub fn curvature(graph: &SimpleGraph, measure: Measure, budget: usize) -> Vec<EdgeCurvature> {
    if measure == Measure::Balanced {
        return balanced::balanced_forman(graph, budget);
    }
    graph
        .edges()
        .map(|(u, v)| {
            let plain = 4.0 - count(graph.degree(u)) - count(graph.degree(v));
            let value = match measure {
                Measure::Augmented => plain + 3.0 * count(graph.triangles(u, v)),
                _ => plain,
            };
            EdgeCurvature {
                u,
                v,
                value,
                exact: true,
            }
        })
        .collect()
}

impl Measure {
    /// The value squashed to [−1, 1], keeping sign and order: κ/2 for the balanced measure, which lies in (−2, 1.5];
    /// κ/(4 + |κ|) for the two that grow with the degrees.
    pub fn squash(self, value: f64) -> f64 {
        let squashed = match self {
            Self::Balanced => value / 2.0,
            Self::Augmented | Self::Forman => value / (4.0 + value.abs()),
        };
        if squashed.is_finite() {
            squashed.clamp(-1.0, 1.0)
        } else {
            0.0
        }
    }
}

/// Degrees and counts are far below 2^53.
pub(crate) fn count(value: usize) -> f64 {
    u32::try_from(value).map_or(f64::from(u32::MAX), f64::from)
}

pub const DEFAULT_BUDGET: usize = 4096;
