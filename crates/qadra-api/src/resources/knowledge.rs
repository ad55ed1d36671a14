use chrono::{DateTime, NaiveDate, Utc};
use qadra_types::{Patch, patch};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// A statement to add. The object is a node's label or a literal: numbers, dates and booleans are recognised,
/// `{type, value, unit}` says it outright.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct CreateTriple {
    pub subject: String,
    pub predicate: String,
    pub object: Value,
    /// `+` or `-`, also `positive` and `negative`.
    #[serde(default)]
    pub polarity: Option<String>,
    /// 0 to 1; 1 if absent.
    #[serde(default)]
    pub confidence: Option<f32>,
    #[serde(default)]
    pub source: Option<String>,
    /// `fact` or `claim`; `fact` if absent.
    #[serde(default)]
    pub kind: Option<String>,
    #[serde(default)]
    pub valid_from: Option<NaiveDate>,
    #[serde(default)]
    pub valid_to: Option<NaiveDate>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ListTriples {
    #[serde(default = "super::default_limit")]
    pub limit: i64,
    #[serde(default)]
    pub offset: i64,
    #[serde(default)]
    pub subject: Option<String>,
    #[serde(default)]
    pub predicate: Option<String>,
    #[serde(default)]
    pub object: Option<String>,
    /// Words to find in subject, predicate or object.
    #[serde(default)]
    pub q: Option<String>,
    #[serde(default)]
    pub include_retracted: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct NodeRef {
    pub id: Uuid,
    pub label: String,
}

/// A node or a typed literal.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TripleObject {
    /// `node`, `text`, `number`, `date` or `boolean`.
    pub r#type: String,
    pub value: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<Uuid>,
    /// As shown to people.
    pub label: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Triple {
    pub id: Uuid,
    pub subject: NodeRef,
    pub predicate: String,
    pub predicate_id: Uuid,
    pub object: TripleObject,
    pub polarity: String,
    pub confidence: f64,
    pub kind: String,
    pub source: Option<String>,
    pub valid_from: Option<NaiveDate>,
    pub valid_to: Option<NaiveDate>,
    pub retracted_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct CreateNode {
    pub label: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Free word for the kind of thing, such as `company`.
    #[serde(default)]
    pub kind: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ListNodes {
    #[serde(default = "super::default_limit")]
    pub limit: i64,
    #[serde(default)]
    pub offset: i64,
    #[serde(default)]
    pub q: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Node {
    pub id: Uuid,
    pub label: String,
    pub kind: Option<String>,
    pub aliases: Vec<NodeAlias>,
    pub created_at: DateTime<Utc>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct NodeAlias {
    pub id: Uuid,
    pub alias: String,
}

/// A node with the statements about it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct NodeDetail {
    #[serde(flatten)]
    pub node: Node,
    pub triples: Vec<Triple>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct CreateAlias {
    /// Id or label of an existing node.
    pub node: String,
    pub alias: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Alias {
    pub id: Uuid,
    pub alias: String,
    pub node: NodeRef,
    pub created_at: DateTime<Utc>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Predicate {
    pub id: Uuid,
    pub name: String,
    /// One object per subject at a time; `null` lets the data decide.
    pub functional: Option<bool>,
    pub symmetric: bool,
    pub inverse_of: Option<Uuid>,
    pub exclusive_with: Option<Uuid>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct UpdatePredicate {
    #[schema(ignore)]
    pub id: Uuid,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<bool>)]
    pub functional: Patch<bool>,
    #[serde(default)]
    pub symmetric: Option<bool>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<Uuid>)]
    pub inverse_of: Patch<Uuid>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<Uuid>)]
    pub exclusive_with: Patch<Uuid>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct KnowledgeQuery {
    pub query: String,
}

/// What the graph says to a question.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Grounding {
    pub query: String,
    /// `competent`, `partial` or `out_of_scope`.
    pub competence: String,
    #[schema(value_type = Vec<Object>)]
    pub mentions: Value,
    /// Most relevant first, each with its `score`.
    #[schema(value_type = Vec<Object>)]
    pub triples: Value,
    #[schema(value_type = Vec<Object>)]
    pub contradictions: Value,
    #[schema(value_type = Vec<Object>)]
    pub gaps: Value,
    /// The system message a model would be given; `null` when there is nothing to say.
    pub context: Option<String>,
}
