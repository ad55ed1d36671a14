use serde_json::Value;

use super::{Client, TestApp};

/// An app with a scripted model, a person, and the id of an agent.
pub async fn ready() -> (TestApp, Client, String) {
    let app = TestApp::scripted().await;
    let alice = app.user("Alice").await;
    let agent = alice.agent("scarlet").await;
    (app, alice, agent)
}

/// The same with an empty thread.
pub async fn ready_to_talk() -> (TestApp, Client, String, String) {
    let (app, alice, agent) = ready().await;
    let conversation = alice.conversation().await;
    (app, alice, agent, conversation)
}

/// Prompt, completion and all tokens of a message.
pub fn tokens_of(message: &Value) -> [i64; 3] {
    ["prompt_tokens", "completion_tokens", "token_count"].map(|k| message[k].as_i64().unwrap_or(-1))
}

pub fn thread_path(thread: &str, rest: &str) -> String {
    format!("/api/conversations/{thread}{rest}")
}
