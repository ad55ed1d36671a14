//! Ollivier–Ricci curvature: how far the neighbourhoods of an edge's ends are apart.

use super::transport::transport_cost;
use super::{EdgeCurvature, SimpleGraph, count};

/// κ(u, v) = 1 − W₁(m_u, m_v) for every edge, where m_x keeps the share `idleness` at x and spreads the rest evenly
/// over its neighbours. Exact, and for analysis only: cubic in the degrees. An edge one end of which has more than
/// 256 neighbours is left out.
pub fn ollivier_ricci(graph: &SimpleGraph, idleness: f64) -> Vec<EdgeCurvature> {
    let idle = if idleness.is_finite() {
        idleness.clamp(0.0, 1.0)
    } else {
        0.0
    };
    graph
        .edges()
        .filter(|(u, v)| graph.degree(*u).max(graph.degree(*v)) <= MAX_DEGREE)
        .map(|(u, v)| EdgeCurvature {
            u,
            v,
            value: 1.0 - distance(graph, u, v, idle),
            exact: true,
        })
        .collect()
}

fn distance(graph: &SimpleGraph, u: usize, v: usize, idle: f64) -> f64 {
    // Mass that both sides hold at a node stays there: the cost is a metric.
    let (left, right) = (masses(graph, u, idle), masses(graph, v, idle));
    let surplus = |own: &[(usize, f64)], other: &[(usize, f64)]| -> Vec<(usize, f64)> {
        own.iter()
            .map(|(node, mass)| {
                let shared = other
                    .iter()
                    .find(|(same, _)| same == node)
                    .map_or(0.0, |(_, mass)| *mass);
                (*node, mass - shared)
            })
            .filter(|(_, mass)| *mass > 1e-15)
            .collect()
    };
    let (from, to) = (surplus(&left, &right), surplus(&right, &left));
    let mass = |side: &[(usize, f64)]| side.iter().map(|(_, mass)| *mass).collect::<Vec<f64>>();
    transport_cost(&mass(&from), &mass(&to), |a, b| {
        match (from.get(a), to.get(b)) {
            (Some((a, _)), Some((b, _))) => hops(graph, *a, *b),
            _ => 3.0,
        }
    })
}

fn masses(graph: &SimpleGraph, node: usize, idle: f64) -> Vec<(usize, f64)> {
    let share = (1.0 - idle) / count(graph.degree(node)).max(1.0);
    let mut all: Vec<(usize, f64)> = graph
        .neighbours(node)
        .iter()
        .map(|next| (*next, share))
        .collect();
    all.push((node, idle));
    all
}

/// Length of the shortest path between two nodes of the neighbourhoods of an edge: three at most.
fn hops(graph: &SimpleGraph, a: usize, b: usize) -> f64 {
    if a == b {
        0.0
    } else if graph.has_edge(a, b) {
        1.0
    } else if graph.triangles(a, b) > 0 {
        2.0
    } else {
        3.0
    }
}

const MAX_DEGREE: usize = 256;
