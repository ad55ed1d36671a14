use chrono::{DateTime, Utc};
use qadra_types::{Patch, patch};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::knowledge::Triple;

/// A document to propose. Over HTTP the same path takes `multipart/form-data` instead, with the field `file` and
/// optionally `title` and `source_url`.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
pub struct ProposeDocument {
    /// At most 500 characters; found in the document, or made from the file name, if absent.
    #[serde(default)]
    pub title: Option<String>,
    /// The text itself, at most 64 MiB.
    #[serde(default)]
    pub content: Option<String>,
    /// `text/plain` (if absent), `text/markdown` or `text/html`.
    #[serde(default)]
    pub content_type: Option<String>,
    /// Where it is from: an http or https address.
    #[serde(default)]
    pub source_url: Option<String>,
    /// `upload`, `web`, `api` (if absent) or `research`.
    #[serde(default)]
    pub source_type: Option<String>,
    /// On the bus: an upload in the common object store that holds the bytes, instead of `content`.
    #[serde(default)]
    #[schema(ignore)]
    pub upload: Option<Uuid>,
    #[serde(default)]
    #[schema(ignore)]
    pub filename: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ListDocuments {
    #[serde(default = "super::default_limit")]
    pub limit: i64,
    #[serde(default)]
    pub offset: i64,
    #[serde(default)]
    pub status: Option<String>,
    /// Words to find in title, file name or address.
    #[serde(default)]
    pub q: Option<String>,
}

/// How far the work on a document is.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DocumentProgress {
    /// `reading`, `splitting`, `extracting`, `linking`, `embedding` or `saving`.
    pub stage: String,
    pub done: u64,
    pub total: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DocumentError {
    pub code: String,
    pub detail: String,
}

/// What processing a document came to.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct IngestionResult {
    /// Statements that nobody had made before.
    pub triples_added: i64,
    /// Statements that stood already and now rest on this document too.
    pub triples_supported: i64,
    pub chunks: i64,
    /// Names that may be those of known things, for people to decide.
    pub merges_queued: i64,
    /// Sentences that carry a statement.
    pub sentences: i64,
    /// Claims that became no statement: a subject nobody named, a question, a condition, a text too long.
    pub skipped: i64,
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<DocumentError>,
}

/// What approval would add, as it was when the document was proposed.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct DocumentAnalysis {
    /// `pending`, `running`, `done` or `failed`.
    pub status: String,
    pub error: Option<DocumentError>,
    pub triples: i64,
    /// Statements that contradict what stands in the graph.
    pub conflicts: i64,
    /// Statements that stand in the graph already.
    pub known: i64,
    pub new: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Document {
    pub id: Uuid,
    pub title: String,
    pub content_type: String,
    pub source_url: Option<String>,
    /// `upload`, `web`, `api`, `research` or `agent`.
    pub source_type: String,
    pub filename: Option<String>,
    pub size_bytes: i64,
    /// Characters (code points) of its text, once it was read.
    pub char_count: Option<i64>,
    /// `pending_approval`, `approved`, `processing`, `completed`, `failed`, `rejected` or `withdrawn`.
    pub ingestion_status: String,
    pub ingestion_result: Option<IngestionResult>,
    pub progress: Option<DocumentProgress>,
    pub analysis: DocumentAnalysis,
    pub proposed_by: Uuid,
    pub proposed_by_agent: Option<Uuid>,
    pub approved_by: Option<Uuid>,
    pub approved_at: Option<DateTime<Utc>>,
    pub rejected_by: Option<Uuid>,
    pub rejected_at: Option<DateTime<Utc>>,
    pub rejection_reason: Option<String>,
    pub withdrawn_by: Option<Uuid>,
    pub withdrawn_at: Option<DateTime<Utc>>,
    pub withdrawal_reason: Option<String>,
    pub created_at: DateTime<Utc>,
    pub processed_at: Option<DateTime<Utc>>,
    /// How often it was processed.
    pub attempts: i32,
}

impl Document {
    /// Nothing happens to it any more unless a person wants it.
    pub fn is_final(&self) -> bool {
        matches!(
            self.ingestion_status.as_str(),
            "completed" | "failed" | "rejected" | "withdrawn"
        )
    }
}

/// A document with its text.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DocumentDetail {
    #[serde(flatten)]
    pub document: Document,
    /// The first 200,000 characters of the text; `null` before it was read.
    pub content: Option<String>,
    pub content_truncated: bool,
}

/// A document with the number of the change that made it so; what its event stream is made from.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DocumentState {
    pub seq: u32,
    pub document: Document,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct UpdateDocument {
    #[schema(ignore)]
    pub id: Uuid,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<String>)]
    pub source_url: Patch<String>,
}

/// A page of what belongs to one thing.
#[derive(Debug, Clone, Deserialize)]
pub struct PageOf {
    pub id: Uuid,
    #[serde(default = "super::default_limit")]
    pub limit: i64,
    #[serde(default)]
    pub offset: i64,
}

#[derive(Debug, Clone, Deserialize)]
pub struct DocumentTextQuery {
    pub id: Uuid,
    #[serde(default)]
    pub from: i64,
    #[serde(default)]
    pub to: Option<i64>,
}

/// A part of a document's text; places are counted in characters (code points).
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DocumentText {
    pub text: String,
    pub from: i64,
    pub to: i64,
    pub total: i64,
}

/// A file in the common object store.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct FileRef {
    pub id: Uuid,
    pub filename: String,
    pub content_type: String,
    pub size: i64,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct ApproveDocument {
    #[schema(ignore)]
    pub id: Uuid,
    /// At most 2,000 characters.
    #[serde(default)]
    pub note: Option<String>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct RejectDocument {
    #[schema(ignore)]
    pub id: Uuid,
    /// Why, 1 to 2,000 characters.
    pub reason: String,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct WithdrawDocument {
    #[schema(ignore)]
    pub id: Uuid,
    /// At most 2,000 characters.
    #[serde(default)]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct FindingConflict {
    pub triple: Triple,
    pub reason: String,
}

/// A statement that approval would add, with the sentence it is from.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Finding {
    pub subject: String,
    pub predicate: String,
    /// `{type, value, unit?, label}`
    #[schema(value_type = Object)]
    pub object: Value,
    pub polarity: String,
    pub kind: String,
    pub confidence: f64,
    /// Of the sentence, in characters (code points) of the text.
    #[schema(value_type = Vec<i32>)]
    pub span: (i32, i32),
    pub sentence: String,
    /// `new`, `known` or `conflict`.
    pub status: String,
    pub conflicts: Vec<FindingConflict>,
}

/// A page of [`Finding`]s, conflicts first, and how many there are of each kind.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DocumentPreview {
    pub items: Vec<Finding>,
    pub total: i64,
    pub limit: i64,
    pub offset: i64,
    pub conflicts: i64,
    pub known: i64,
    pub new: i64,
    /// Of the analysis: `pending`, `running`, `done` or `failed`.
    pub status: String,
}

/// A statement that a document carries, and the sentence it stands on.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DocumentTriple {
    pub triple: Triple,
    #[schema(value_type = Vec<i32>)]
    pub span: (i32, i32),
    pub sentence: String,
    pub chunk_id: Option<Uuid>,
}

/// A passage of a document.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DocumentChunk {
    pub id: Uuid,
    pub position: i32,
    #[schema(value_type = Vec<i32>)]
    pub span: (i32, i32),
    pub text: String,
    pub heading: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct SearchDocuments {
    pub q: String,
    #[serde(default = "super::default_limit")]
    pub limit: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DocumentHit {
    pub document_id: Uuid,
    pub title: String,
    pub chunk_id: Uuid,
    #[schema(value_type = Vec<i32>)]
    pub span: (i32, i32),
    pub snippet: String,
    pub score: f64,
}

/// A sentence of a document that a statement stands on.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TripleSource {
    pub document_id: Uuid,
    pub title: String,
    #[schema(value_type = Vec<i32>)]
    pub span: (i32, i32),
    pub sentence: String,
    pub chunk_id: Option<Uuid>,
    pub source_url: Option<String>,
    pub created_at: DateTime<Utc>,
}
