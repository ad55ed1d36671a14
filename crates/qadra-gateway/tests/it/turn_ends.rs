//! Turns that are stopped, fail or run out of time: what stays, what is counted, and what to do next.

use std::time::Duration;

use qadra_testkit::llm::{Gate, Reply};
use serde_json::{Value, json};

use crate::support::{Client, Event, SOON, TestApp, deltas, id, names, ready_to_talk, tokens_of};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_turn_keeps_its_text_counts_its_usage_and_hangs_up_on_the_model() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    app.model()
        .push(Reply::tokens(["Half an", " answer"]).hang());
    let mut stream = alice.say_streamed(&conversation, &agent, "Talk").await;
    let mut events = stream.until("token").await;
    events.extend(stream.until("token").await);
    let turn = turn_of(&events);
    let cancelled = alice
        .post(
            &format!("/api/conversations/{conversation}/turns/{turn}/cancel"),
            json!({}),
        )
        .await;
    cancelled.json(202);
    assert!(
        app.model().wait_for_close(0, Duration::from_secs(1)).await,
        "the model's connection stays open"
    );

    let end = stream.rest().await;
    assert_eq!(
        end.last().map(|e| &e.data),
        Some(&json!({"turn_id": turn, "status": "cancelled"}))
    );
    let message = alice
        .messages(&conversation)
        .await
        .pop()
        .expect("an answer");
    assert_eq!(message["content"], "Half an answer");
    assert_eq!(message["finish_reason"], "cancelled");
    let [prompt, completion, all] = tokens_of(&message);
    assert!(
        prompt > 0 && completion > 0 && all == prompt + completion,
        "{message}"
    );
    let usage = alice.get("/api/usage").await.json(200);
    assert_eq!(
        (&usage["prompt_tokens"], &usage["calls"]),
        (&json!(prompt), &json!(1))
    );
    assert_eq!(turn_status(&alice, &conversation, &turn).await, "cancelled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_cancelled_before_its_first_token_ends_too() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    app.model().push(Reply::silence());
    let mut stream = alice.say_streamed(&conversation, &agent, "Talk").await;
    let turn = turn_of(&stream.until("user_saved").await);
    assert!(app.model().wait_for_requests(1, SOON).await);
    alice
        .post(
            &format!("/api/conversations/{conversation}/turns/{turn}/cancel"),
            json!({}),
        )
        .await
        .json(202);
    assert!(app.model().wait_for_close(0, Duration::from_secs(1)).await);
    assert_eq!(
        stream.rest().await.last().map(|e| e.data["status"].clone()),
        Some(json!("cancelled"))
    );
    alice.say(&conversation, &agent, "And now?").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_during_the_second_call_counts_the_first_one_too() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    let chart = json!({"chart_name": "R", "chart_config": {"series": []}}).to_string();
    app.model()
        .push(Reply::calls("generate_chart", chart).usage(1000, 50))
        .push(Reply::text("Narr").hang());
    let mut stream = alice.say_streamed(&conversation, &agent, "Chart").await;
    let turn = turn_of(&stream.until("token").await);
    alice
        .post(
            &format!("/api/conversations/{conversation}/turns/{turn}/cancel"),
            json!({}),
        )
        .await
        .json(202);
    stream.rest().await;
    let message = alice
        .messages(&conversation)
        .await
        .pop()
        .expect("an answer");
    let [prompt, completion, _] = tokens_of(&message);
    assert!(prompt > 1000 && completion > 50, "{message}");
    assert_eq!(message["metadata"]["usage"]["calls"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_runs_out_of_time_fails_and_its_usage_still_counts() {
    let app = TestApp::builder()
        .scripted()
        .settings(|s| s.turn_timeout = Duration::from_millis(300))
        .start()
        .await;
    let alice = app.user("Alice").await;
    let (agent, conversation) = (alice.agent("scarlet").await, alice.conversation().await);
    app.model().push(Reply::text("Slow").hang());
    let mut stream = alice.say_streamed(&conversation, &agent, "Talk").await;
    let events = stream.rest().await;
    let error = &events[events.len() - 2];
    assert_eq!(
        (error.name.as_str(), &error.data["code"]),
        ("error", &json!("LLM_TIMEOUT"))
    );
    assert!(app.model().wait_for_close(0, Duration::from_secs(1)).await);
    assert_eq!(
        alice.messages(&conversation).await.len(),
        1,
        "nothing half written"
    );
    let usage = alice.get("/api/usage").await.json(200);
    assert_eq!(usage["calls"], 1, "{usage}");
    assert!(
        usage["prompt_tokens"].as_i64().is_some_and(|n| n > 0),
        "{usage}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_fails_before_its_first_token_leaves_the_question_and_a_retry() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    app.model().push(Reply::error(404, "no such deployment"));
    let mut stream = alice.say_streamed(&conversation, &agent, "Hello").await;
    let events = stream.rest().await;
    assert_eq!(
        names(&events),
        ["user_saved", "thinking", "grounding", "error", "done"]
    );
    failed_then_retried(&app, &alice, &conversation, &events).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_breaks_off_after_a_token_leaves_the_question_and_a_retry() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    let gate = Gate::new();
    app.model()
        .push(Reply::tokens(["Half", " an"]).gate(&gate).drop_here());
    let mut stream = alice.say_streamed(&conversation, &agent, "Hello").await;
    let mut events = stream.until("token").await;
    gate.open();
    events.extend(stream.rest().await);
    assert_eq!(
        names(&events)[names(&events).len() - 2..],
        ["error", "done"]
    );
    assert_eq!(events[events.len() - 2].data["retryable"], true);
    failed_then_retried(&app, &alice, &conversation, &events).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_turn_is_a_bad_gateway_to_a_client_that_waits_for_the_whole_answer() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    app.model().push(Reply::error(401, "bad key"));
    let path = format!("/api/conversations/{conversation}/messages");
    let problem = alice
        .post(&path, json!({"agent_id": agent, "content": "Hello"}))
        .await
        .problem(502, "LLM_FAILED");
    assert_eq!(problem["hint"], "check QADRA_LLM_API_KEY");
    assert_eq!(alice.messages(&conversation).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_busy_for_a_moment_is_asked_again_unseen() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    app.model()
        .push(Reply::error(503, "warming up"))
        .push(Reply::error(429, "slow down"))
        .push(Reply::text("Done."));
    let said = alice.say(&conversation, &agent, "Hello").await;
    assert_eq!(said["assistant_message"]["content"], "Done.");
    assert_eq!(app.model().request_count(), 3);
}

/// After a failure: the question alone is there, the turn says why it failed, nothing runs, and asking for
/// the answer again works, in place.
async fn failed_then_retried(app: &TestApp, alice: &Client, conversation: &str, events: &[Event]) {
    let turn = turn_of(events);
    assert_eq!(
        events.last().map(|e| &e.data),
        Some(&json!({"turn_id": turn, "status": "failed"}))
    );
    let error = &events[events.len() - 2].data;
    assert_eq!(error["code"], "LLM_FAILED");
    let messages = alice.messages(conversation).await;
    assert_eq!(messages.len(), 1, "nothing half written: {messages:?}");
    assert_eq!(messages[0], events[0].data["user_message"]);
    let turn = alice
        .get(&format!("/api/conversations/{conversation}/turns/{turn}"))
        .await
        .json(200);
    assert_eq!((&turn["status"], &turn["error"]), (&json!("failed"), error));
    assert_eq!(turn["assistant_message_id"], Value::Null);
    let thread = alice
        .get(&format!("/api/conversations/{conversation}"))
        .await
        .json(200);
    assert_eq!(
        (&thread["running_turn_id"], &thread["message_count"]),
        (&Value::Null, &json!(1))
    );

    app.model().push(Reply::text("Better now."));
    let question = id(&messages[0]);
    let path = format!("/api/conversations/{conversation}/messages/{question}/regenerate/stream");
    let mut stream = alice.stream(&path, json!({})).await;
    assert_eq!(deltas(&stream.rest().await), "Better now.");
    let messages = alice.messages(conversation).await;
    assert_eq!(messages.len(), 2);
    assert_eq!(
        (id(&messages[0]), &messages[1]["content"]),
        (question, &json!("Better now."))
    );
    assert_eq!(
        messages[1]["branch_id"], messages[0]["branch_id"],
        "a retry is no second branch"
    );
}

fn turn_of(events: &[Event]) -> String {
    events[0].data["turn_id"]
        .as_str()
        .expect("user_saved comes first and names the turn")
        .to_owned()
}

async fn turn_status(alice: &Client, conversation: &str, turn: &str) -> Value {
    alice
        .get(&format!("/api/conversations/{conversation}/turns/{turn}"))
        .await
        .json(200)["status"]
        .clone()
}
