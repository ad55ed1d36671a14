//! Balanced Forman curvature, after definition 1 of Topping et al. 2022.

use super::{EdgeCurvature, SimpleGraph, count};

pub(super) fn balanced_forman(graph: &SimpleGraph, budget: usize) -> Vec<EdgeCurvature> {
    let mut marks = Marks::new(graph.len());
    graph
        .edges()
        .map(|(u, v)| {
            let (value, exact) = edge(graph, u, v, budget, &mut marks);
            EdgeCurvature { u, v, value, exact }
        })
        .collect()
}

fn edge(graph: &SimpleGraph, u: usize, v: usize, budget: usize, marks: &mut Marks) -> (f64, bool) {
    let (du, dv) = (graph.degree(u), graph.degree(v));
    let (most, least) = (du.max(dv), du.min(dv));
    if least <= 1 {
        return (0.0, true);
    }
    let triangles = count(graph.triangles(u, v));
    let (larger, smaller) = (count(most), count(least));
    let open = 2.0 / larger + 2.0 / smaller - 2.0 + 2.0 * triangles / larger + triangles / smaller;
    // The 4-cycles u–k–w–v are the same from either end; the end with fewer neighbours is walked.
    let (near, far) = if du <= dv { (u, v) } else { (v, u) };
    let paths: usize = graph
        .neighbours(near)
        .iter()
        .map(|k| graph.degree(*k).min(most))
        .take(budget.saturating_add(1))
        .fold(0, usize::saturating_add);
    if paths > budget {
        return (open, false);
    }
    let squares = squares(graph, near, far, marks);
    if squares.most == 0 {
        return (open, true);
    }
    let term = count(squares.near + squares.far) / (larger * count(squares.most));
    (open + term, true)
}

/// 4-cycles on an edge whose diagonals are no edges.
#[derive(Default)]
struct Squares {
    /// Neighbours of the near end on at least one of them.
    near: usize,
    /// Neighbours of the far end on at least one of them.
    far: usize,
    /// Most of them through one such neighbour (γ max).
    most: usize,
}

/// Walks near–k–w and keeps the w that are neighbours of `far` alone.
fn squares(graph: &SimpleGraph, near: usize, far: usize, marks: &mut Marks) -> Squares {
    let mut found = Squares::default();
    let far_list = graph.neighbours(far);
    let adjacent = |list: &[usize], node: usize| list.binary_search(&node).is_ok();
    let near_list = graph.neighbours(near);
    marks.clear();
    for k in near_list.iter().copied() {
        if k == far || adjacent(far_list, k) {
            continue;
        }
        let mut through = 0;
        let (few, many) = if graph.degree(k) <= far_list.len() {
            (graph.neighbours(k), far_list)
        } else {
            (far_list, graph.neighbours(k))
        };
        for w in few.iter().copied() {
            if w == near || !adjacent(many, w) || adjacent(near_list, w) {
                continue;
            }
            through += 1;
            let seen = marks.add(w);
            found.far += usize::from(seen == 1);
            found.most = found.most.max(seen);
        }
        found.near += usize::from(through > 0);
        found.most = found.most.max(through);
    }
    found
}

/// Counters by node that are cleared by moving on to the next generation.
struct Marks {
    counts: Vec<(u32, usize)>,
    generation: u32,
}

impl Marks {
    fn new(nodes: usize) -> Self {
        Self {
            counts: vec![(0, 0); nodes],
            generation: 0,
        }
    }

    fn clear(&mut self) {
        self.generation = self.generation.wrapping_add(1);
    }

    /// Counts a node and returns how often it was counted since the last clearing.
    fn add(&mut self, node: usize) -> usize {
        let Some((generation, count)) = self.counts.get_mut(node) else {
            return 0;
        };
        if *generation != self.generation {
            (*generation, *count) = (self.generation, 0);
        }
        *count += 1;
        *count
    }
}
