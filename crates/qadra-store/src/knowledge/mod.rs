//! Nodes, aliases, predicates and triples. Keys are normalised by the caller (`qadra-epistemic`), so that
//! what is stored and what is looked up fold alike.

mod around;
mod names;
mod nodes;
mod triples;

pub use around::{EdgeEnds, EdgeFilter, NodeDegree};

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::Value;
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

pub struct NodeRow {
    pub id: Uuid,
    /// Set for a node that is no more: the living one that it became.
    pub merged_into: Option<Uuid>,
    pub label: String,
    pub kind: Option<String>,
    pub aliases: Vec<(Uuid, String)>,
    pub created_at: DateTime<Utc>,
}

#[derive(Debug, Clone)]
pub struct PredicateRow {
    pub id: Uuid,
    pub name: String,
    pub functional: Option<bool>,
    pub symmetric: bool,
    pub inverse_of: Option<Uuid>,
    pub exclusive_with: Option<Uuid>,
}

/// A predicate with the names its settings refer to, and a sample of its use.
pub struct PredicateUse {
    pub predicate: PredicateRow,
    pub inverse: Option<String>,
    pub exclusive: Option<String>,
    pub subjects: i64,
    /// Those of the subjects with exactly one object.
    pub single: i64,
}

#[derive(Default)]
pub struct PredicateChange {
    pub functional: Option<Option<bool>>,
    pub symmetric: Option<bool>,
    pub inverse_of: Option<Option<Uuid>>,
    pub exclusive_with: Option<Option<Uuid>>,
}

/// A name of the graph that a looked-up key equals.
pub enum NameRow {
    Node {
        key: String,
        id: Uuid,
        label: String,
        alias: bool,
    },
    Predicate {
        key: String,
        predicate: PredicateRow,
    },
}

/// A name that may be what `key` was meant to be.
pub struct SimilarName {
    pub key: String,
    pub node_id: Uuid,
    pub label: String,
    /// The label or an alias, as written, and its key.
    pub name: String,
    pub name_key: String,
}

#[derive(Debug, Clone)]
pub struct TripleRow {
    pub id: Uuid,
    pub subject_id: Uuid,
    pub subject_label: String,
    pub predicate_id: Uuid,
    pub predicate: String,
    pub object_node_id: Option<Uuid>,
    /// The typed literal when the object is no node.
    pub object: Option<Value>,
    pub object_label: String,
    pub positive: bool,
    pub confidence: f32,
    pub kind: String,
    pub source: Option<String>,
    pub valid_from: Option<NaiveDate>,
    pub valid_to: Option<NaiveDate>,
    pub retracted_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

/// A node by name, with the two folded forms of it (see `kg_nodes`).
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct NodeName {
    pub label: String,
    pub identity: String,
    pub key: String,
}

/// The object of a statement to store.
pub enum NewObject {
    Node(NodeName),
    /// A typed literal with its canonical form and how people read it.
    Literal {
        value: Value,
        key: String,
        label: String,
    },
}

/// A statement to store: names are found or made.
pub struct NewTriple {
    pub subject: NodeName,
    pub predicate: String,
    /// The phrases the predicate is found by.
    pub predicate_keys: Vec<String>,
    pub object: NewObject,
    pub positive: bool,
    pub confidence: f32,
    pub kind: String,
    pub source: Option<String>,
    pub valid_from: Option<NaiveDate>,
    pub valid_to: Option<NaiveDate>,
}

/// What a person may change of a statement; the outer `None` leaves it. `source` and what is said stay.
#[derive(Default)]
pub struct TripleChange {
    pub valid_from: Option<Option<NaiveDate>>,
    pub valid_to: Option<Option<NaiveDate>>,
    pub confidence: Option<f32>,
    pub kind: Option<String>,
}

/// `None` does not filter. Subject and object are identities; `words` is looked for in the labels as typed.
#[derive(Default)]
pub struct TripleFilter {
    pub subject: Option<String>,
    pub predicate: Option<String>,
    pub object: Option<String>,
    /// The canonical form that `object` has if it is a literal.
    pub object_key: Option<String>,
    pub words: Option<String>,
    pub node_id: Option<Uuid>,
    pub include_retracted: bool,
    pub limit: i64,
    pub offset: i64,
}

pub(crate) const TRIPLE: &str = "t.id, t.subject_id, s.label, t.predicate_id, p.name, t.object_node_id, t.object, \
     coalesce(o.label, t.object_label), t.polarity, t.confidence, t.kind, t.source, t.valid_from, t.valid_to, \
     t.retracted_at, t.created_at";
pub(crate) const TRIPLE_JOINS: &str = "JOIN kg_nodes s ON s.tenant_id = t.tenant_id AND s.id = t.subject_id \
     JOIN kg_predicates p ON p.tenant_id = t.tenant_id AND p.id = t.predicate_id \
     LEFT JOIN kg_nodes o ON o.tenant_id = t.tenant_id AND o.id = t.object_node_id";
pub(crate) const PREDICATE: &str =
    "p.id, p.name, p.functional, p.is_symmetric, p.inverse_of, p.exclusive_with";

pub(crate) const NODE: &str = "n.id, n.label, n.kind, n.created_at, n.merged_into, \
     ARRAY(SELECT a.id FROM kg_aliases a WHERE a.tenant_id = n.tenant_id AND a.node_id = n.id ORDER BY a.alias, a.id), \
     ARRAY(SELECT a.alias FROM kg_aliases a WHERE a.tenant_id = n.tenant_id AND a.node_id = n.id ORDER BY a.alias, a.id)";

pub(crate) fn node(r: PgRow) -> sqlx::Result<NodeRow> {
    let (ids, names): (Vec<Uuid>, Vec<String>) = (r.try_get(5)?, r.try_get(6)?);
    Ok(NodeRow {
        id: r.try_get(0)?,
        label: r.try_get(1)?,
        kind: r.try_get(2)?,
        created_at: r.try_get(3)?,
        merged_into: r.try_get(4)?,
        aliases: ids.into_iter().zip(names).collect(),
    })
}

pub(crate) fn predicate(r: &PgRow) -> sqlx::Result<PredicateRow> {
    Ok(PredicateRow {
        id: r.try_get(0)?,
        name: r.try_get(1)?,
        functional: r.try_get(2)?,
        symmetric: r.try_get(3)?,
        inverse_of: r.try_get(4)?,
        exclusive_with: r.try_get(5)?,
    })
}

pub(crate) fn triple(r: PgRow) -> sqlx::Result<TripleRow> {
    Ok(TripleRow {
        id: r.try_get(0)?,
        subject_id: r.try_get(1)?,
        subject_label: r.try_get(2)?,
        predicate_id: r.try_get(3)?,
        predicate: r.try_get(4)?,
        object_node_id: r.try_get(5)?,
        object: r.try_get(6)?,
        object_label: r.try_get(7)?,
        positive: r.try_get(8)?,
        confidence: r.try_get(9)?,
        kind: r.try_get(10)?,
        source: r.try_get(11)?,
        valid_from: r.try_get(12)?,
        valid_to: r.try_get(13)?,
        retracted_at: r.try_get(14)?,
        created_at: r.try_get(15)?,
    })
}

/// A pattern that finds `words` anywhere, its own wildcards taken literally.
pub(crate) fn like(words: &str) -> String {
    format!(
        "%{}%",
        words
            .replace('\\', "\\\\")
            .replace('%', "\\%")
            .replace('_', "\\_")
    )
}
