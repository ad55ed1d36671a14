//! Curvatures against numbers that other programs computed.
//!
//! `data/curvature.txt`: Forman and augmented Forman from GraphRicciCurvature 0.6.1 (`FormanRicci`, methods `1d` and
//! `augmented`), Ollivier–Ricci from its `OllivierRicci` (method `OTD`, alpha 0.5 and 0); balanced Forman from a public
//! Python implementation of the paper's definition and from a brute-force count over all 4-cycles in exact fractions
//! that was written apart from this crate, which agree on every edge. Graphs from NetworkX 3.6.1.

use proptest::prelude::*;
use qadra_epistemic::curvature::{
    DEFAULT_BUDGET, EdgeCurvature, Measure, SimpleGraph, curvature, ollivier_ricci,
};

/// Ends and the five numbers of an edge.
type Row = (usize, usize, [f64; 5]);

struct Expected {
    name: String,
    graph: SimpleGraph,
    rows: Vec<Row>,
}

fn expected() -> Vec<Expected> {
    let mut graphs: Vec<(String, usize, Vec<Row>)> = Vec::new();
    for line in include_str!("data/curvature.txt").lines() {
        if let Some(header) = line.strip_prefix("graph ") {
            let (name, nodes) = header.rsplit_once(' ').unwrap();
            graphs.push((name.to_owned(), nodes.parse().unwrap(), Vec::new()));
        } else if !line.starts_with('#') {
            let fields: Vec<f64> = line
                .split(' ')
                .map(|field| field.parse().unwrap())
                .collect();
            let row = (
                fields[0] as usize,
                fields[1] as usize,
                fields[2..].try_into().unwrap(),
            );
            graphs.last_mut().unwrap().2.push(row);
        }
    }
    graphs
        .into_iter()
        .map(|(name, nodes, rows)| Expected {
            graph: SimpleGraph::from_edges(nodes, rows.iter().map(|(u, v, _)| (*u, *v))),
            name,
            rows,
        })
        .collect()
}

fn check(column: usize, compute: impl Fn(&SimpleGraph) -> Vec<EdgeCurvature>) {
    let graphs = expected();
    assert!(graphs.len() >= 10);
    for Expected { name, graph, rows } in graphs {
        let computed = compute(&graph);
        assert_eq!(computed.len(), rows.len(), "{name}");
        for (edge, (u, v, values)) in computed.iter().zip(rows) {
            assert_eq!((edge.u, edge.v), (u, v), "{name}");
            assert!(edge.exact);
            assert!(
                (edge.value - values[column]).abs() < 1e-8,
                "{name} {u}–{v}: {} is not {}",
                edge.value,
                values[column]
            );
        }
    }
}

#[test]
fn forman_equals_the_public_numbers() {
    check(0, |graph| curvature(graph, Measure::Forman, DEFAULT_BUDGET));
}

#[test]
fn augmented_forman_equals_the_public_numbers() {
    check(1, |graph| {
        curvature(graph, Measure::Augmented, DEFAULT_BUDGET)
    });
}

#[test]
fn balanced_forman_equals_the_public_numbers() {
    check(2, |graph| {
        curvature(graph, Measure::Balanced, DEFAULT_BUDGET)
    });
}

#[test]
fn ollivier_with_idleness_one_half_equals_the_public_numbers() {
    check(3, |graph| ollivier_ricci(graph, 0.5));
}

#[test]
fn ollivier_without_idleness_equals_the_public_numbers() {
    check(4, |graph| ollivier_ricci(graph, 0.0));
}

#[test]
fn loops_and_parallel_edges_do_not_count() {
    let plain = SimpleGraph::from_edges(3, [(0, 1), (1, 2), (0, 2)]);
    let multi =
        SimpleGraph::from_edges(3, [(0, 1), (1, 0), (1, 1), (1, 2), (2, 0), (0, 2), (7, 0)]);
    assert_eq!(plain, multi);
    let value = curvature(&plain, Measure::Balanced, DEFAULT_BUDGET)[0].value;
    assert_eq!(value, 1.5);
}

#[test]
fn a_hub_of_ten_thousand_neighbours_stays_cheap() {
    let spokes = (1..=10_000).map(|leaf| (0, leaf));
    let ring = (1..10_000).map(|leaf| (leaf, leaf + 1));
    // A second hub with the same neighbours makes each spoke part of 10,000 4-cycles.
    let twin = (1..=10_000).map(|leaf| (10_001, leaf));
    let graph = SimpleGraph::from_edges(10_002, spokes.chain(ring).chain(twin));
    let started = std::time::Instant::now();
    let values = curvature(&graph, Measure::Balanced, DEFAULT_BUDGET);
    assert_eq!(values.len(), 29_999);
    assert!(
        started.elapsed().as_millis() < 3_000,
        "{:?}",
        started.elapsed()
    );
    assert!(
        values
            .iter()
            .all(|edge| edge.value > -2.0 && edge.value <= 1.5)
    );
    assert!(values.iter().any(|edge| !edge.exact) && values.iter().any(|edge| edge.exact));
}

fn any_graph() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (2usize..14).prop_flat_map(|nodes| {
        (
            Just(nodes),
            prop::collection::vec((0..nodes, 0..nodes), 0..50),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn curvature_does_not_depend_on_names_of_nodes((nodes, edges) in any_graph(), turn in 1usize..13) {
        let graph = SimpleGraph::from_edges(nodes, edges.iter().copied());
        let rename = |node: usize| (nodes - 1 - node + turn) % nodes;
        let other = SimpleGraph::from_edges(nodes, edges.iter().map(|(u, v)| (rename(*v), rename(*u))));
        for compute in [
            (|graph: &SimpleGraph| curvature(graph, Measure::Balanced, DEFAULT_BUDGET)) as fn(&SimpleGraph) -> Vec<EdgeCurvature>,
            |graph| curvature(graph, Measure::Augmented, DEFAULT_BUDGET),
            |graph| ollivier_ricci(graph, 0.5),
        ] {
            let renamed = compute(&other);
            for edge in compute(&graph) {
                let (u, v) = (rename(edge.u), rename(edge.v));
                let same = renamed.iter().find(|other| (other.u, other.v) == (u.min(v), u.max(v))).unwrap();
                prop_assert!((same.value - edge.value).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn curvatures_stay_in_their_bounds((nodes, edges) in any_graph(), budget in 0usize..40) {
        let graph = SimpleGraph::from_edges(nodes, edges);
        let exact = curvature(&graph, Measure::Balanced, DEFAULT_BUDGET);
        for (edge, bounded) in exact.iter().zip(curvature(&graph, Measure::Balanced, budget)) {
            prop_assert!(edge.value > -2.0 && edge.value <= 1.5 + 1e-12, "{}", edge.value);
            prop_assert!(bounded.value <= edge.value + 1e-12);
            prop_assert!(!bounded.exact || bounded.value == edge.value);
            let squashed = Measure::Balanced.squash(edge.value);
            prop_assert!((-1.0..=1.0).contains(&squashed));
        }
        for idleness in [0.0, 0.5] {
            for edge in ollivier_ricci(&graph, idleness) {
                prop_assert!((-2.0 - 1e-9..=1.0 + 1e-9).contains(&edge.value));
            }
        }
    }
}
