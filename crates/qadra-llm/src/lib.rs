//! Talking to language models: one trait, [`LlmProvider`], and the two providers that speak over the
//! network. [`build`] makes one from a [`ProviderConfig`]; [`LlmProvider::stream`] is the way in.
//!
//! An answer arrives as a [`ChatStream`] of [`ChatEvent`]s, each yielded when its line arrives. A call
//! is retried only while nothing of its answer has been seen: `stream` resolves with the first event in
//! hand, so what fails before it is an `Err` of `stream` and what fails after it is an `Err` item.
//!
//! This crate never stores anything, never runs a tool, never decides what is said to a model, never
//! reorders an OpenAI-compatible request, never shows an API key, and never panics on what a server sends.

mod answer;
mod anthropic;
mod build;
mod error;
mod event;
mod http;
mod lenient;
mod live;
mod message;
mod openai;
mod options;
mod retry;
mod secret;
mod sse;
mod tokens;

pub use build::build;
pub use error::{LlmError, Phase};
pub use event::{ChatEvent, ChatStream, Completion, FinishReason, Usage, complete};
pub use message::{ChatMessage, ChatRequest, ToolCall, ToolChoice, ToolSpec};
pub use options::{Limits, Options, ProviderConfig, ProviderKind};
pub use secret::Secret;
pub use tokens::estimate_tokens;
/// The token that stops a call; re-exported so that callers and providers agree on one.
pub use tokio_util::sync::CancellationToken;

use async_trait::async_trait;

/// Something that answers a chat request.
#[async_trait]
pub trait LlmProvider: Send + Sync {
    /// What it calls itself in records and on screens: `openai`, `anthropic`, `ollama`, `builtin`.
    fn name(&self) -> &str;

    /// The model used when a request names none; empty when there is no default.
    fn model(&self) -> &str;

    /// Starts an answer. Resolves once its first event is there, so every retry lies behind.
    ///
    /// Firing `cancel`, dropping this future or dropping the stream closes the connection at once.
    async fn stream(
        &self,
        request: ChatRequest,
        cancel: CancellationToken,
    ) -> Result<ChatStream, LlmError>;

    /// A vector for each text, in their order, from a model for embeddings. Dropping the future ends the call.
    async fn embed(&self, texts: &[String], model: &str) -> Result<Embeddings, LlmError> {
        let _ = (texts, model);
        Err(LlmError::Config(format!(
            "the provider {} has no embeddings",
            self.name()
        )))
    }
}

/// Texts as vectors.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Embeddings {
    pub vectors: Vec<Vec<f32>>,
    pub usage: Usage,
}
