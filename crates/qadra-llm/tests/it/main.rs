//! The network providers against a scripted server, over real HTTP.

mod anthropic;
mod cancel;
mod limits;
mod oddities;
mod openai;
mod retry;

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use qadra_llm::{
    CancellationToken, ChatEvent, ChatMessage, ChatRequest, ChatStream, Completion, LlmError,
    LlmProvider, Options, ProviderConfig, ProviderKind, Secret, build, complete,
};
use qadra_testkit::llm::ScriptedLlm;

/// Longest that a test waits for what must happen; never the time it takes.
const SOON: Duration = Duration::from_secs(10);

const KEY: &str = "sk-do-not-show-this";

fn quick() -> Options {
    Options {
        base_delay: Duration::from_millis(2),
        max_delay: Duration::from_millis(10),
        ..Options::default()
    }
}

fn provider_with(
    server: &ScriptedLlm,
    kind: ProviderKind,
    options: Options,
) -> Arc<dyn LlmProvider> {
    let url = match kind {
        ProviderKind::OpenAi | ProviderKind::Ollama => server.openai_url(),
        ProviderKind::Anthropic => server.anthropic_url(),
    };
    build(ProviderConfig {
        kind,
        base_url: Some(url),
        api_key: Some(Secret::from(KEY)),
        model: Some("default-model".to_owned()),
        options,
    })
    .unwrap()
}

fn openai(server: &ScriptedLlm) -> Arc<dyn LlmProvider> {
    provider_with(server, ProviderKind::OpenAi, quick())
}

fn anthropic(server: &ScriptedLlm) -> Arc<dyn LlmProvider> {
    provider_with(server, ProviderKind::Anthropic, quick())
}

fn ask(text: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![ChatMessage::user(text)],
        ..ChatRequest::default()
    }
}

async fn answer(provider: &Arc<dyn LlmProvider>) -> Result<Completion, LlmError> {
    complete(provider.as_ref(), ask("hi"), CancellationToken::new()).await
}

async fn stream(provider: &Arc<dyn LlmProvider>) -> Result<ChatStream, LlmError> {
    provider.stream(ask("hi"), CancellationToken::new()).await
}

async fn next_token(stream: &mut ChatStream) -> String {
    match tokio::time::timeout(SOON, stream.next())
        .await
        .expect("a token in time")
    {
        Some(Ok(ChatEvent::Token(text))) => text,
        other => panic!("expected a token, got {other:?}"),
    }
}
