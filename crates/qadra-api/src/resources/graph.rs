use chrono::{DateTime, NaiveDate, Utc};
use qadra_types::{Patch, patch};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::knowledge::{Node, NodeRef, Triple};

#[derive(Debug, Clone, Deserialize)]
pub struct ListMerges {
    #[serde(default = "super::default_limit")]
    pub limit: i64,
    #[serde(default)]
    pub offset: i64,
    #[serde(default)]
    pub status: Option<String>,
}

/// Two nodes that may be one.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Merge {
    pub id: Uuid,
    pub a: Node,
    pub b: Node,
    /// 0 to 1: how alike they are.
    pub score: f64,
    pub reasons: Vec<String>,
    /// The document that brought it up.
    pub document_id: Option<Uuid>,
    /// `pending`, `accepted` or `rejected`.
    pub status: String,
    pub decided_by: Option<Uuid>,
    pub decided_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct AcceptMerge {
    #[schema(ignore)]
    pub id: Uuid,
    /// Which one stays, `a` or `b`; if absent the one with more statements.
    #[serde(default)]
    pub keep: Option<String>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct MergeNode {
    #[schema(ignore)]
    pub id: Uuid,
    /// The node that stays.
    pub into: Uuid,
}

/// What becomes a node of its own.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct SplitNode {
    #[schema(ignore)]
    pub id: Uuid,
    /// Its name. The name of a node that was merged brings that node back, under its old id.
    pub label: String,
    /// Statements that are about it, 1 to 10,000.
    pub triple_ids: Vec<Uuid>,
    #[serde(default)]
    pub alias_ids: Vec<Uuid>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ListNodeEvents {
    pub id: Uuid,
    #[serde(default = "super::default_limit")]
    pub limit: i64,
    #[serde(default)]
    pub offset: i64,
}

#[derive(Debug, Clone, Deserialize)]
pub struct NodeEventRef {
    pub id: Uuid,
    pub event_id: Uuid,
}

/// A merge or a split.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct NodeEvent {
    pub id: Uuid,
    /// `merge` or `split`.
    pub kind: String,
    /// The node that stayed.
    pub node_id: Uuid,
    /// The node that was merged into it, or split off.
    pub other: NodeRef,
    pub triples: i64,
    pub aliases: i64,
    /// Statements that were retracted because the node had them already.
    pub collapsed: i64,
    pub actor_id: Option<Uuid>,
    pub created_at: DateTime<Utc>,
    pub undone_at: Option<DateTime<Utc>>,
}

/// Qualifies a statement; what it says stays.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct UpdateTriple {
    #[schema(ignore)]
    pub id: Uuid,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<NaiveDate>)]
    pub valid_from: Patch<NaiveDate>,
    /// The first day on which it no longer holds.
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<NaiveDate>)]
    pub valid_to: Patch<NaiveDate>,
    /// 0 to 1.
    #[serde(default)]
    pub confidence: Option<f32>,
    /// `fact` or `claim`.
    #[serde(default)]
    pub kind: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ListContradictions {
    #[serde(default = "super::default_limit")]
    pub limit: i64,
    #[serde(default)]
    pub offset: i64,
    #[serde(default)]
    pub node: Option<Uuid>,
}

/// Two statements that cannot both be true.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TriplePair {
    pub a: Triple,
    pub b: Triple,
    pub reason: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct NodeGraph {
    pub id: Uuid,
    #[serde(default)]
    pub hops: Option<i64>,
    #[serde(default)]
    pub limit: Option<i64>,
    #[serde(default)]
    pub curvature: Option<String>,
}

/// A node of a drawn graph.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct GraphNode {
    pub id: Uuid,
    pub label: String,
    pub kind: Option<String>,
    /// Statements that tie it to other nodes anywhere in the graph, counted to at most 1,000 each way.
    pub degree: i64,
    /// Steps from the nearest center.
    pub hop: i64,
}

/// A statement between two nodes of a drawn graph.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct GraphEdge {
    pub id: Uuid,
    pub subject: Uuid,
    pub object: Uuid,
    pub predicate: String,
    pub label: String,
    pub polarity: String,
    pub kind: String,
    pub confidence: f64,
    /// Of the drawn graph: high within a cohesive part, low for a bridge; `null` for a node's edge to itself.
    pub curvature: Option<f64>,
}

/// The neighbourhood of a node.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Graph {
    pub center: NodeRef,
    pub nodes: Vec<GraphNode>,
    pub edges: Vec<GraphEdge>,
    /// Something was left out for want of room.
    pub truncated: bool,
}

/// What counts as an edge; an absent field lets all through.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct BallFilters {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub predicates: Vec<String>,
    /// `fact`, `claim`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_confidence: Option<f32>,
    /// `+` or `-`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polarity: Option<String>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct CreateBall {
    pub name: String,
    /// Ids of 1 to 50 nodes.
    pub centers: Vec<Uuid>,
    /// 0 to 3; 1 if absent.
    #[serde(default)]
    pub radius: Option<i64>,
    #[serde(default)]
    pub filters: BallFilters,
}

/// A change of centers, radius or filters refreshes it.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct UpdateBall {
    #[schema(ignore)]
    pub id: Uuid,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub centers: Option<Vec<Uuid>>,
    #[serde(default)]
    pub radius: Option<i64>,
    #[serde(default)]
    pub filters: Option<BallFilters>,
}

/// A saved neighbourhood: all nodes within `radius` steps of the centers, as of `refreshed_at`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Ball {
    pub id: Uuid,
    pub name: String,
    pub centers: Vec<NodeRef>,
    pub radius: i64,
    pub filters: BallFilters,
    pub node_count: i64,
    pub edge_count: i64,
    /// It reached 2,000 nodes or 5,000 statements.
    pub truncated: bool,
    pub refreshed_at: DateTime<Utc>,
    pub created_by: Option<Uuid>,
    pub created_at: DateTime<Utc>,
}

/// A saved neighbourhood with what it holds; statements retracted since are left out.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct BallDetail {
    #[serde(flatten)]
    pub ball: Ball,
    pub nodes: Vec<GraphNode>,
    pub edges: Vec<GraphEdge>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct VerifyText {
    /// At most 100,000 characters.
    pub text: String,
    /// What the text answers; its facts are added to those about the text itself.
    #[serde(default)]
    pub query: Option<String>,
}

/// What both gates say to a text; each is `null` when there is nothing to hold it against or nothing is claimed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Verification {
    #[schema(value_type = Option<Object>)]
    pub verification: Value,
    #[schema(value_type = Option<Object>)]
    pub belnap: Value,
}
