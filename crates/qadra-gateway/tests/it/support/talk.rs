use serde_json::Value;

use super::{Client, TestApp};

/// An app with a scripted model, a person, an agent and an empty thread.
pub async fn ready_to_talk() -> (TestApp, Client, String, String) {
    let app = TestApp::scripted().await;
    let alice = app.user("Alice").await;
    let (agent, conversation) = (alice.agent("scarlet").await, alice.conversation().await);
    (app, alice, agent, conversation)
}

/// Prompt, completion and all tokens of a message.
pub fn tokens_of(message: &Value) -> [i64; 3] {
    ["prompt_tokens", "completion_tokens", "token_count"].map(|k| message[k].as_i64().unwrap_or(-1))
}

pub fn thread_path(thread: &str, rest: &str) -> String {
    format!("/api/conversations/{thread}{rest}")
}
