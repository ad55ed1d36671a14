//! Asking the model on behalf of a node.

use qadra_llm::{CancellationToken, ChatMessage, ChatRequest, Completion, LlmError, Usage};
use serde_json::Value;
use uuid::Uuid;

use super::{Job, NodeFailure, Parts, Spent, knowledge};

/// The provider of the product that has no model behind it: it answers from the tenant's knowledge.
const UNAIDED: &str = "builtin";

/// Whether there is a model that can write, rather than the provider that only looks things up.
pub(super) fn is_there(parts: &Parts) -> bool {
    parts.llm.name() != UNAIDED
}

/// What is asked of the model.
pub(super) struct Ask {
    pub(super) agent_id: Option<Uuid>,
    pub(super) model: Option<String>,
    pub(super) temperature: f32,
    pub(super) max_tokens: u32,
    pub(super) system: Vec<String>,
    pub(super) prompt: String,
    /// For the provider without a model: what it is to look up.
    pub(super) context: Value,
}

impl Ask {
    pub(super) fn new(system: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            agent_id: None,
            model: None,
            temperature: 0.7,
            max_tokens: 4096,
            system: vec![system.into()],
            prompt: prompt.into(),
            context: Value::Null,
        }
    }
}

/// Asks, waits for the whole answer and accounts for it, also where it broke off.
pub(super) async fn ask(parts: &Parts, job: &Job, ask: Ask) -> Result<Completion, NodeFailure> {
    let agent_id = ask.agent_id;
    let named = ask.model.clone();
    let mut messages: Vec<ChatMessage> = ask.system.into_iter().map(ChatMessage::system).collect();
    messages.push(ChatMessage::user(ask.prompt));
    let request = ChatRequest {
        model: ask.model,
        temperature: Some(ask.temperature),
        max_tokens: Some(ask.max_tokens),
        messages,
        context: ask.context,
        ..ChatRequest::default()
    };
    let asked = qadra_llm::complete(parts.llm.as_ref(), request, CancellationToken::new()).await;
    let (usage, model) = match &asked {
        Ok(done) => (done.usage, done.model.clone()),
        Err(error) => {
            let model = named.unwrap_or_else(|| parts.llm.model().to_owned());
            (error.usage(), model)
        }
    };
    account(parts, job, agent_id, model, usage).await;
    asked.map_err(|error| failure(&error))
}

async fn account(parts: &Parts, job: &Job, agent_id: Option<Uuid>, model: String, usage: Usage) {
    if usage.total() == 0 {
        return;
    }
    let spent = Spent {
        tenant_id: job.tenant_id,
        user_id: job.user_id,
        agent_id,
        execution_id: job.execution_id,
        node: job.node.to_string(),
        model,
        usage,
    };
    if let Err(error) = parts.ledger.record(spent).await {
        // The answer is there and paid for; failing the node would only pay for another one.
        tracing::warn!(%error, node = %job.node, "the usage of a flow's model call is not recorded");
    }
}

fn failure(error: &LlmError) -> NodeFailure {
    let retry_after = match error {
        LlmError::RateLimited { retry_after, .. } | LlmError::Unavailable { retry_after, .. } => {
            *retry_after
        }
        _ => None,
    };
    NodeFailure {
        code: "model",
        message: error.to_string(),
        retryable: error.retryable(),
        retry_after,
    }
}

/// What the provider without a model is given: the question, and what the tenant's knowledge says to it.
pub(super) async fn grounded(parts: &Parts, job: &Job, question: &str) -> Value {
    let found = knowledge::ask(parts, job, question).await.ok();
    serde_json::json!({"question": question, "assessment": found})
}
