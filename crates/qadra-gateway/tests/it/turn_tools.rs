//! Answers that take tools, and answers that take liberties.

use qadra_testkit::llm::Reply;
use serde_json::{Value, json};

use crate::support::{deltas, ready_to_talk, tokens_of};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chart_takes_two_calls_and_their_usage_is_added_up() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    let option =
        json!({"xAxis": {"data": ["A", "B"]}, "series": [{"type": "bar", "data": [1, 2]}]});
    let arguments = json!({"chart_name": "Revenue", "chart_config": option});
    app.model()
        .push(
            Reply::text("Let me draw.")
                .call("c1", "generate_chart", arguments.to_string())
                .usage(100, 20),
        )
        .push(Reply::text("B is twice A.").usage(150, 7));
    let mut stream = alice
        .say_streamed(&conversation, &agent, "Chart the revenue")
        .await;
    let events = stream.rest().await;
    let message = &events[events.len() - 2].data["assistant_message"];

    assert_eq!(message["content"], "Let me draw.\n\nB is twice A.");
    assert_eq!(deltas(&events), "Let me draw.\n\nB is twice A.");
    let artifact = &message["metadata"]["artifacts"][0];
    assert_eq!(
        (&artifact["type"], &artifact["name"]),
        (&json!("chart"), &json!("Revenue"))
    );
    let content: Value =
        serde_json::from_str(artifact["content"].as_str().expect("text")).expect("JSON");
    assert_eq!(content, option);
    let calls: Vec<_> = events
        .iter()
        .filter(|e| e.name == "tool_call")
        .map(|e| e.data["status"].clone())
        .collect();
    assert_eq!(calls, ["started", "completed"]);

    assert_eq!(tokens_of(message), [250, 27, 277]);
    assert_eq!(
        message["metadata"]["usage"],
        json!({
        "prompt_tokens": 250, "completion_tokens": 27, "calls": 2, "estimated": false})
    );
    let usage = alice.get("/api/usage").await.json(200);
    assert_eq!(
        (
            &usage["prompt_tokens"],
            &usage["completion_tokens"],
            &usage["calls"]
        ),
        (&json!(250), &json!(27), &json!(2))
    );

    let second = &app.model().requests()[1].body["messages"];
    let tail: Vec<_> = second
        .as_array()
        .expect("messages")
        .iter()
        .rev()
        .take(2)
        .rev()
        .cloned()
        .collect();
    assert_eq!(
        tail[0]["tool_calls"][0]["function"]["name"],
        "generate_chart"
    );
    assert_eq!(
        (&tail[1]["role"], &tail[1]["tool_call_id"]),
        (&json!("tool"), &json!("c1"))
    );
    assert!(
        tail[1]["content"]
            .as_str()
            .is_some_and(|told| told.contains("summarise")),
        "{tail:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chart_that_is_none_is_told_to_the_model_which_may_try_again() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    let good = json!({"chart_name": "R", "chart_config": {"series": []}}).to_string();
    app.model()
        .push(Reply::calls(
            "generate_chart",
            r#"{"chart_name":"R","chart_config":{}}"#,
        ))
        .push(Reply::calls("generate_chart", good))
        .push(Reply::text("Here it is."));
    let said = alice.say(&conversation, &agent, "Chart it").await;
    let told = app.model().requests()[1].body["messages"]
        .as_array()
        .and_then(|m| m.last().cloned())
        .expect("messages");
    assert_eq!(told["content"], "Error: chart_config has no series");
    let message = &said["assistant_message"];
    assert_eq!(
        message["metadata"]["artifacts"].as_array().map(Vec::len),
        Some(1)
    );
    let ok: Vec<_> = message["metadata"]["tool_calls"]
        .as_array()
        .expect("calls")
        .iter()
        .map(|c| c["ok"].clone())
        .collect();
    assert_eq!(ok, [false, true]);
    assert_eq!(message["content"], "Here it is.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_calls_tools_for_ever_is_stopped_at_eight_with_a_message() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    app.model()
        .otherwise(Reply::calls("no_such_tool", "{}").usage(10, 1));
    let message = alice.say(&conversation, &agent, "Loop").await["assistant_message"].clone();
    assert_eq!(message["finish_reason"], "tool_call_limit");
    assert_eq!(
        message["content"],
        "Stopped: the limit of 8 tool calls in one turn was reached before the answer was finished."
    );
    assert_eq!(
        app.model().request_count(),
        9,
        "eight calls are run, the ninth is refused"
    );
    assert_eq!(
        message["metadata"]["tool_calls"].as_array().map(Vec::len),
        Some(8)
    );
    assert_eq!(tokens_of(&message), [90, 9, 99]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn characters_that_the_database_cannot_hold_do_not_lose_the_answer() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    let chart =
        json!({"chart_name": "a\u{0}b", "chart_config": {"series": [], "t": "\u{0}"}}).to_string();
    app.model()
        .push(Reply::calls("generate_chart", chart))
        .push(Reply::tokens(["a\u{0}", "b"]));
    let mut stream = alice.say_streamed(&conversation, &agent, "Hello").await;
    let events = stream.rest().await;
    let message = alice
        .messages(&conversation)
        .await
        .pop()
        .expect("an answer");
    assert_eq!(message["content"], "a\u{fffd}b");
    assert_eq!(deltas(&events), "a\u{fffd}b");
    assert_eq!(
        message["metadata"]["artifacts"].as_array().map(Vec::len),
        Some(1)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn absurd_usage_does_not_lose_the_answer() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    app.model()
        .push(Reply::text("Fine.").usage(5_000_000_000, 5_000_000_000));
    let said = alice.say(&conversation, &agent, "Hello").await;
    assert_eq!(said["assistant_message"]["content"], "Fine.");
}
