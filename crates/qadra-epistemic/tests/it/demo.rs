//! The demo facts as `qadra up --demo` loads them.

use std::sync::LazyLock;

use serde_json::Value;

use crate::graph::Graph;

pub static DEMO: LazyLock<Graph> = LazyLock::new(|| {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../qadra-app/demo/facts.json"
    ))
    .unwrap();
    let data: Value = serde_json::from_str(&text).unwrap();
    let mut graph = Graph::default();
    for row in data["triples"].as_array().unwrap() {
        graph.add(row);
    }
    for row in data["aliases"].as_array().unwrap() {
        graph.alias(
            row["node"].as_str().unwrap(),
            row["alias"].as_str().unwrap(),
        );
    }
    graph
});
