//! What each kind of node is: the one source for the validator, the palette, the generator's prompt and the docs.

mod specs;

use std::sync::LazyLock;

use serde::Serialize;
use serde_json::Value;

use crate::NodeKind;

/// Where an edge may leave or enter.
#[derive(Debug, Clone, Serialize)]
pub struct Handle {
    /// The edge's `sourceHandle`; None for the ordinary way.
    pub handle: Option<&'static str>,
    pub label: &'static str,
}

/// What a node does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Computed from the state alone.
    Pure,
    /// Asks something outside; repeated under the same key after a crash.
    Outside,
    /// Waits, for a moment or a person.
    Waits,
}

/// One kind of node.
#[derive(Debug, Clone, Serialize)]
pub struct NodeSpec {
    #[serde(skip)]
    pub kind: NodeKind,
    /// As the graph's `type` spells it.
    #[serde(rename = "type")]
    pub type_name: &'static str,
    pub label: &'static str,
    /// One sentence.
    pub description: &'static str,
    /// `flow`, `ai`, `data`, `people` or `outside`.
    pub category: &'static str,
    pub effect: Effect,
    pub inputs: Vec<Handle>,
    pub outputs: Vec<Handle>,
    /// JSON Schema of `data`.
    pub schema: Value,
    pub example: Value,
    /// What else there is to know, for people and for models.
    pub notes: &'static str,
}

static CATALOG: LazyLock<Vec<NodeSpec>> =
    LazyLock::new(|| NodeKind::ALL.into_iter().map(specs::spec).collect());

/// All fourteen, in the order of [`NodeKind::ALL`].
pub fn catalog() -> &'static [NodeSpec] {
    &CATALOG
}

/// The entry of one kind.
pub fn spec_of(kind: NodeKind) -> &'static NodeSpec {
    // `CATALOG` has every kind, in the order of the enum.
    &CATALOG[NodeKind::ALL.iter().position(|&k| k == kind).unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;
    use crate::schema;
    use serde_json::json;

    #[test]
    fn every_kind_has_its_entry() {
        assert_eq!(catalog().len(), 14);
        for kind in NodeKind::ALL {
            let spec = spec_of(kind);
            assert_eq!((spec.kind, spec.type_name), (kind, kind.name()));
            assert!(!spec.description.is_empty() && !spec.label.is_empty());
        }
    }

    #[test]
    fn examples_fit_their_schemas_and_run() {
        for spec in catalog() {
            let found = schema::check(&spec.schema, &spec.example);
            assert!(found.is_empty(), "{}: {found:?}", spec.type_name);
            if matches!(spec.kind, NodeKind::Start | NodeKind::End) {
                continue;
            }
            let flow = json!({
                "nodes": [{"id": "s", "type": "start"}, {"id": "x", "type": spec.type_name, "data": spec.example}, {"id": "e", "type": "end"}],
                "edges": [{"source": "s", "target": "x"}, {"source": "x", "target": "e"}],
            });
            Graph::compile(&flow).unwrap();
        }
    }

    #[test]
    fn every_field_says_what_it_is() {
        for spec in catalog() {
            for (name, field) in spec.schema["properties"].as_object().unwrap() {
                assert!(
                    field["description"].is_string(),
                    "{}.{name}",
                    spec.type_name
                );
            }
        }
    }
}
