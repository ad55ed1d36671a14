//! What each kind of node with an outside effect does.

mod agent;
mod artifact;
mod extract;
mod http;
mod knowledge;
mod model;
mod ports;
mod research;
mod search;
mod state;
mod stored;
mod unaided;

pub use http::Http;
pub use ports::{
    Agents, ArtifactTemplate, Ledger, NoTemplates, Secrets, Spent, TemplateSection, Templates,
};
pub use search::{Exa, SearchHit, SearchProvider, SearchSettings, SearxNg};
pub use stored::{Stored, StoredSecrets};

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use qadra_flow::{NodeKind, NodeRef};
use qadra_llm::LlmProvider;
use qadra_nats::Bus;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::egress::Egress;

/// One attempt at one node.
#[derive(Debug, Clone)]
pub struct Job {
    pub tenant_id: Uuid,
    pub execution_id: Uuid,
    /// On whose behalf; None for triggers without a person.
    pub user_id: Option<Uuid>,
    pub node: NodeRef,
    pub kind: NodeKind,
    /// Counted from 1.
    pub attempt: u32,
    /// The node's `data` with its templates filled in. For `Http` they are **not** filled in: it renders `data` itself,
    /// in one pass over `state` and the secrets, so that a value from the state that reads `{{secret.NAME}}` stays text.
    pub data: Map<String, Value>,
    /// The blackboard as the node sees it.
    pub state: Map<String, Value>,
    /// The same on every attempt and every worker.
    pub idempotency_key: Uuid,
}

impl Job {
    /// A text in the node's `data`; None when it is absent or empty. A template may have made JSON of it.
    fn text(&self, key: &str) -> Option<String> {
        let text = state::words(self.data.get(key)?);
        (!text.trim().is_empty()).then_some(text)
    }

    fn required(&self, key: &str) -> Result<String, NodeFailure> {
        self.text(key)
            .ok_or_else(|| NodeFailure::bad_input(format!("the node has no {key}")))
    }

    /// A number in the node's `data`, also one that a template made text of.
    fn number(&self, key: &str) -> Option<f64> {
        match self.data.get(key)? {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    }
}

/// Why an attempt failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct NodeFailure {
    /// A stable word: `http_status`, `timeout`, `blocked_address`, `model`, `bad_input`, …
    pub code: &'static str,
    pub message: String,
    /// Whether another attempt may go better.
    pub retryable: bool,
    /// How long the other side asked us to wait before it.
    pub retry_after: Option<Duration>,
}

impl NodeFailure {
    /// One that no further attempt would mend.
    pub fn fatal(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retryable: false,
            retry_after: None,
        }
    }

    /// One that may pass.
    pub fn passing(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            retryable: true,
            ..Self::fatal(code, message)
        }
    }

    fn bad_input(message: impl Into<String>) -> Self {
        Self::fatal("bad_input", message)
    }
}

/// Performs attempts. An implementation is asked again with the same key after a crash.
#[async_trait]
pub trait Performer: Send + Sync + 'static {
    /// The node's output.
    async fn perform(&self, job: Job) -> Result<Value, NodeFailure>;
}

/// What the nodes work with.
#[derive(Clone)]
pub struct Parts {
    pub llm: Arc<dyn LlmProvider>,
    pub bus: Arc<dyn Bus>,
    pub egress: Arc<Egress>,
    pub secrets: Arc<dyn Secrets>,
    pub agents: Arc<dyn Agents>,
    pub templates: Arc<dyn Templates>,
    pub ledger: Arc<dyn Ledger>,
    /// None when no search service is configured.
    pub search: Option<Arc<dyn SearchProvider>>,
}

/// Every kind of node that has a performer.
pub struct Nodes {
    parts: Parts,
    http: Http,
}

impl Nodes {
    pub fn new(parts: Parts) -> Self {
        Self {
            http: Http::new(parts.egress.clone(), parts.secrets.clone()),
            parts,
        }
    }
}

#[async_trait]
impl Performer for Nodes {
    async fn perform(&self, job: Job) -> Result<Value, NodeFailure> {
        match job.kind {
            NodeKind::Http => self.http.perform(job).await,
            NodeKind::Agent => agent::perform(&self.parts, &job).await,
            NodeKind::Extract => extract::perform(&self.parts, &job).await,
            NodeKind::Artifact => artifact::perform(&self.parts, &job).await,
            NodeKind::Research => research::perform(&self.parts, &job).await,
            NodeKind::KnowledgeLookup => knowledge::perform(&self.parts, &job).await,
            other => Err(NodeFailure::fatal(
                "no_performer",
                format!("{other} nodes are not performed from outside"),
            )),
        }
    }
}
