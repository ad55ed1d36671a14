//! The arrows between crates: types ← siblings ← app ← gateway ← binary. Development dependencies are free.

use serde_json::Value;

use crate::metadata::{cargo_metadata, list, text};

const SIBLINGS: &[&str] = &[
    "qadra-api",
    "qadra-epistemic",
    "qadra-flow",
    "qadra-llm",
    "qadra-nats",
    "qadra-reader",
    "qadra-store",
];

/// Without I/O and without tenants; they never depend on a crate of the product.
const LIBS: &[&str] = &["belnap", "ud"];

/// What a crate of ours may depend on among ours; `None` for a crate that the rules do not know.
fn allowed(name: &str) -> Option<Vec<&'static str>> {
    let with = |more: &[&'static str]| [SIBLINGS, LIBS, &["qadra-types"], more].concat();
    Some(match name {
        "qadra-types" | "xtask" | "ud" => vec![],
        "belnap" => vec!["ud"],
        n if SIBLINGS.contains(&n) => [LIBS, &["qadra-types"]].concat(),
        "qadra-app" => with(&[]),
        // Workers and use cases meet in PostgreSQL and on the bus.
        "qadra-runner" => with(&[]),
        // The gateway reaches the core over the bus alone; of the use cases it knows how tokens are checked.
        "qadra-gateway" => vec!["qadra-types", "qadra-api", "qadra-nats", "qadra-app"],
        "qadra" => with(&["qadra-app", "qadra-gateway", "qadra-runner"]),
        "qadra-evals" => [LIBS, &["qadra-epistemic"]].concat(),
        "qadra-testkit" => with(&["qadra-testkit"]),
        // Grounding is measured through the use case, on a bus of its own.
        "qadra-bench" => with(&["qadra-testkit", "qadra-app", "qadra-runner"]),
        _ => return None,
    })
}

#[test]
fn dependencies_follow_the_arrows() {
    let metadata = cargo_metadata().unwrap();
    let ours: Vec<&Value> = list(&metadata, "packages")
        .filter(|p| p.get("source").is_some_and(Value::is_null))
        .collect();
    let names: Vec<&str> = ours.iter().map(|p| text(p, "name")).collect();
    assert!(names.len() >= 11, "{names:?}");
    for package in &ours {
        let name = text(package, "name");
        let allowed = allowed(name)
            .unwrap_or_else(|| panic!("{name} has no place in the layers; see ARCHITECTURE.md"));
        for dependency in list(package, "dependencies") {
            let (to, kind) = (text(dependency, "name"), text(dependency, "kind"));
            if names.contains(&to) && kind != "dev" {
                assert!(allowed.contains(&to), "{name} must not depend on {to}");
            }
        }
    }
}

#[test]
fn the_heavy_test_kit_is_in_no_shipped_crate() {
    let metadata = cargo_metadata().unwrap();
    for package in list(&metadata, "packages").filter(|p| text(p, "name").starts_with("qadra")) {
        let name = text(package, "name");
        if matches!(name, "qadra-testkit" | "qadra-bench") {
            continue;
        }
        let ships = list(package, "dependencies")
            .any(|d| text(d, "name") == "qadra-testkit" && text(d, "kind") != "dev");
        assert!(!ships, "{name} ships qadra-testkit");
    }
}
