//! Turns against a model server over HTTP: what it is asked, and what becomes of what it says.

use std::time::Duration;

use qadra_testkit::llm::{Gate, Reply};
use serde_json::{Value, json};

use crate::support::{Client, Event, SOON, TestApp, deltas, eventually, id, names};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_model_is_asked_with_system_prompt_then_facts_then_history() {
    let app = TestApp::scripted().await;
    let alice = app.user("Alice").await;
    alice.fact("Apple", "founded_in_year", json!(1976)).await;
    let agent = json!({"name": "exact", "system_prompt": "Be exact.", "model": "gpt-exact", "temperature": 0.25});
    let agent = id(&alice.post("/api/agents", agent).await.json(201));
    let conversation = alice.conversation().await;
    app.model()
        .push(Reply::text("Hello."))
        .push(Reply::text("In 1976."));
    alice.say(&conversation, &agent, "Hi there").await;
    alice
        .say(&conversation, &agent, "When was Apple founded?")
        .await;

    let request = &app.model().requests()[1].body;
    assert_eq!(
        request["messages"],
        json!([
            {"role": "system", "content": "Be exact."},
            {"role": "system", "content": "FACTS:\n(Apple, founded_in_year, 1976) [fact]"},
            {"role": "user", "content": "Hi there"},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "When was Apple founded?"},
        ])
    );
    assert_eq!(
        (&request["model"], &request["temperature"]),
        (&json!("gpt-exact"), &json!(0.25))
    );
    assert_eq!(
        request.pointer("/tools/0/function/name"),
        Some(&json!("generate_chart"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_without_model_and_temperature_leaves_them_to_the_default() {
    let (app, alice, agent, conversation) = ready().await;
    let said = alice.say(&conversation, &agent, "Hello").await;
    let request = &app.model().requests()[0].body;
    assert_eq!(request["model"], "default-model");
    assert_eq!(request.get("temperature"), None);
    assert_eq!(said["assistant_message"]["model"], "default-model");
    assert_eq!(said["assistant_message"]["metadata"]["provider"], "openai");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_token_reaches_the_client_before_the_model_says_the_next() {
    let (app, alice, agent, conversation) = ready().await;
    let gate = Gate::new();
    let tokens = ["One", " two", " drei", " 四", " 🐻"];
    app.model()
        .push(Reply::tokens(tokens).gate_each(&gate).usage(11, 5));
    let mut stream = alice.say_streamed(&conversation, &agent, "Count").await;
    for token in tokens {
        gate.release(1);
        assert_eq!(stream.token().await, token);
    }
    let end = stream.rest().await;
    assert_eq!(names(&end), ["assistant_message", "done"]);
    let message = &end[0].data["assistant_message"];
    assert_eq!(message["content"], "One two drei 四 🐻");
    assert_eq!(message["finish_reason"], "stop");
    assert_eq!(tokens_of(message), [11, 5, 16]);
    assert_eq!(end[1].data["status"], "completed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_events_of_a_turn_come_in_the_contracts_order() {
    let (app, alice, agent, conversation) = ready().await;
    alice.fact("Apple", "founded_in_year", json!(1976)).await;
    app.model().push(Reply::tokens(["In ", "1976."]));
    let mut stream = alice
        .say_streamed(&conversation, &agent, "When was Apple founded?")
        .await;
    let events = stream.rest().await;
    assert_eq!(
        names(&events),
        [
            "user_saved",
            "thinking",
            "grounding",
            "token",
            "token",
            "assistant_message",
            "done"
        ]
    );
    assert_eq!(
        events.iter().map(|e| e.seq).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 6, 7]
    );
    let turn = events[0].data["turn_id"].as_str().expect("a turn id");
    assert_eq!(
        events[0].data["user_message"]["content"],
        "When was Apple founded?"
    );
    assert_eq!(events[0].data["conversation"]["running_turn_id"], turn);
    assert_eq!(events[2].data["competence"], "competent");
    assert_eq!(events[2].data["triples"][0]["object"]["label"], "1976");
    assert_eq!(
        events[5].data["conversation"]["running_turn_id"],
        Value::Null
    );
    assert_eq!(
        events[6].data,
        json!({"turn_id": turn, "status": "completed"})
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_answer_is_the_stored_one() {
    let (app, alice, agent, conversation) = ready().await;
    app.model()
        .push(Reply::tokens(["Fine", ", thanks."]).usage(20, 3));
    let said = alice.say(&conversation, &agent, "How are you?").await;
    let stored = alice.messages(&conversation).await;
    assert_eq!(
        stored,
        [
            said["user_message"].clone(),
            said["assistant_message"].clone()
        ]
    );
    assert_eq!(said["user_message"]["content"], "How are you?");
    assert_eq!(said["assistant_message"]["content"], "Fine, thanks.");
    assert_eq!(
        said["assistant_message"]["parent_id"],
        said["user_message"]["id"]
    );
    assert_eq!(said["conversation"]["message_count"], 2);
    assert!(
        said["assistant_message"]["latency_ms"]
            .as_i64()
            .is_some_and(|ms| ms >= 0)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chart_takes_two_calls_and_their_usage_is_added_up() {
    let (app, alice, agent, conversation) = ready().await;
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
    let (app, alice, agent, conversation) = ready().await;
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
    let (app, alice, agent, conversation) = ready().await;
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
async fn a_cancelled_turn_keeps_its_text_counts_its_usage_and_hangs_up_on_the_model() {
    let (app, alice, agent, conversation) = ready().await;
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
    let (app, alice, agent, conversation) = ready().await;
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
    let (app, alice, agent, conversation) = ready().await;
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
    let (app, alice, agent, conversation) = ready().await;
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
    let (app, alice, agent, conversation) = ready().await;
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
    let (app, alice, agent, conversation) = ready().await;
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
    let (app, alice, agent, conversation) = ready().await;
    app.model()
        .push(Reply::error(503, "warming up"))
        .push(Reply::error(429, "slow down"))
        .push(Reply::text("Done."));
    let said = alice.say(&conversation, &agent, "Hello").await;
    assert_eq!(said["assistant_message"]["content"], "Done.");
    assert_eq!(app.model().request_count(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn characters_that_the_database_cannot_hold_do_not_lose_the_answer() {
    let (app, alice, agent, conversation) = ready().await;
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
    let (app, alice, agent, conversation) = ready().await;
    app.model()
        .push(Reply::text("Fine.").usage(5_000_000_000, 5_000_000_000));
    let said = alice.say(&conversation, &agent, "Hello").await;
    assert_eq!(said["assistant_message"]["content"], "Fine.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_message_during_a_turn_is_refused_and_not_stored() {
    let (app, alice, agent, conversation) = ready().await;
    let gate = Gate::new();
    app.model().push(Reply::text("One").gate_each(&gate));
    let mut stream = alice.say_streamed(&conversation, &agent, "First").await;
    stream.until("user_saved").await;
    let message = id(&alice.messages(&conversation).await[0]);
    let (base, body) = (
        format!("/api/conversations/{conversation}/messages"),
        json!({"agent_id": agent, "content": "2nd"}),
    );
    for path in ["", "/stream"] {
        alice
            .post(&format!("{base}{path}"), body.clone())
            .await
            .problem(409, "CONVERSATION_BUSY");
    }
    for path in [
        "edit",
        "edit/stream",
        "regenerate",
        "regenerate/stream",
        "select",
    ] {
        alice
            .post(&format!("{base}/{message}/{path}"), body.clone())
            .await
            .problem(409, "CONVERSATION_BUSY");
    }
    gate.open();
    stream.rest().await;
    assert_eq!(alice.messages(&conversation).await.len(), 2);
    alice.say(&conversation, &agent, "Second").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_goes_on_when_its_client_leaves_before_the_first_token() {
    let (app, alice, agent, conversation) = ready().await;
    for whole in [false, true] {
        let before = app.model().request_count();
        let gate = Gate::new();
        app.model()
            .push(Reply::text("Still here.").gate_each(&gate));
        let leaving = alice.clone();
        let (path, body) = (
            format!("/api/conversations/{conversation}/messages"),
            json!({"agent_id": agent, "content": "Hi"}),
        );
        let path = if whole {
            path
        } else {
            format!("{path}/stream")
        };
        let gone = tokio::spawn(async move { leaving.post(&path, body).await });
        assert!(app.model().wait_for_requests(before + 1, SOON).await);
        gone.abort();
        assert!(gone.await.is_err_and(|e| e.is_cancelled()));
        gate.open();
        let conversation = &conversation;
        eventually("the turn ends", async || {
            alice
                .get(&format!("/api/conversations/{conversation}"))
                .await
                .json(200)["running_turn_id"]
                .is_null()
        })
        .await;
        let messages = alice.messages(conversation).await;
        assert_eq!(
            messages.last().expect("an answer")["content"],
            "Still here.",
            "whole: {whole}"
        );
        assert!(!app.model().requests()[before].closed_early());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conversations_are_answered_side_by_side() {
    let (app, alice, agent, _) = ready().await;
    let gate = Gate::new();
    app.model()
        .otherwise(Reply::text("Together.").gate_each(&gate));
    let mut streams = vec![];
    for _ in 0..16 {
        let conversation = alice.conversation().await;
        streams.push(alice.say_streamed(&conversation, &agent, "Go").await);
    }
    assert!(
        app.model().wait_for_requests(16, SOON).await,
        "turns wait for each other"
    );
    gate.open();
    for mut stream in streams {
        assert_eq!(deltas(&stream.rest().await), "Together.");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_agent_is_chosen_per_message_and_the_thread_shows_which_version_spoke() {
    let (app, alice, scarlet, conversation) = ready().await;
    let ayana = alice.agent("ayana").await;
    alice.say(&conversation, &scarlet, "One").await;
    alice.say(&conversation, &ayana, "Two").await;
    let changed = alice
        .patch(
            &format!("/api/agents/{scarlet}"),
            json!({"system_prompt": "Now be brief."}),
        )
        .await
        .json(200);
    assert_eq!(changed["version"], 2);
    alice.say(&conversation, &scarlet, "Three").await;
    let spoken: Vec<_> = alice
        .messages(&conversation)
        .await
        .iter()
        .filter(|m| m["role"] == "assistant")
        .map(|m| {
            (
                m["agent_id"].clone(),
                m["agent_version"].clone(),
                m["metadata"]["agent"].clone(),
            )
        })
        .collect();
    let who = |name: &str, shown: &str, version: i32| json!({"name": name, "display_name": shown, "version": version});
    assert_eq!(
        spoken,
        [
            (json!(scarlet), json!(1), who("scarlet", "Scarlet", 1)),
            (json!(ayana), json!(1), who("ayana", "Ayana", 1)),
            (json!(scarlet), json!(2), who("scarlet", "Scarlet", 2)),
        ]
    );
    let last = app.model().requests()[2].body["messages"][0].clone();
    assert_eq!(last, json!({"role": "system", "content": "Now be brief."}));
    let summary = alice.get("/api/conversations").await.json(200)["items"][0].clone();
    assert_eq!(summary["last_agent_id"], scarlet);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_is_given_fifty_messages_at_most_the_new_one_included() {
    let (app, alice, agent, conversation) = ready().await;
    for n in 0..27 {
        alice
            .say(&conversation, &agent, &format!("question {n}"))
            .await;
    }
    let request = app.model().requests().pop().expect("a request").body;
    let history: Vec<_> = request["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .filter(|m| m["role"] != "system")
        .collect();
    assert_eq!(history.len(), 50);
    assert_eq!(history[49]["content"], "question 26");
    assert_eq!(
        (&history[0]["role"], &history[1]["content"]),
        (&json!("assistant"), &json!("question 2"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_oldest_messages_give_way_to_the_token_budget() {
    let app = TestApp::builder()
        .scripted()
        .settings(|s| s.context_tokens = 4_000)
        .start()
        .await;
    let alice = app.user("Alice").await;
    let agent = id(&alice
        .post(
            "/api/agents",
            json!({"name": "brief", "system_prompt": "Brief."}),
        )
        .await
        .json(201));
    let conversation = alice.conversation().await;
    let long = |n: usize| format!("{n} {}", "word ".repeat(700));
    for n in 1..=4 {
        alice.say(&conversation, &agent, &long(n)).await;
    }
    let request = app.model().requests().pop().expect("a request").body;
    let users: Vec<String> = request["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .filter(|m| m["role"] == "user")
        .map(|m| m["content"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert!(users.len() < 4, "nothing was left out");
    assert_eq!(users.last(), Some(&long(4)));
    let kept: Vec<_> = (5 - users.len()..=4).map(long).collect();
    assert_eq!(users, kept, "what is kept is the newest, in order");
    assert_eq!(request["messages"][0]["content"], "Brief.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_builtin_provider_answers_from_the_facts_and_names_them() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let agent = id(&alice
        .post(
            "/api/agents",
            json!({"name": "analyst", "system_prompt": "Help."}),
        )
        .await
        .json(201));
    let triple = alice.fact("Apple", "founded_in_year", json!(1976)).await;
    let conversation = alice.conversation().await;
    let message = alice
        .say(&conversation, &agent, "When was Apple founded?")
        .await["assistant_message"]
        .clone();
    assert!(
        message["content"]
            .as_str()
            .is_some_and(|text| text.contains("1976")),
        "{message}"
    );
    assert_eq!(
        message.pointer("/metadata/grounding/triples/0/id"),
        Some(&triple["id"])
    );
    assert_eq!(
        message["metadata"]["citations"],
        json!([{"n": 1, "triple_id": triple["id"]}])
    );
    assert_eq!(message["metadata"]["grounding"]["competence"], "competent");
    assert_eq!(
        (&message["model"], &message["metadata"]["provider"]),
        (&json!("builtin"), &json!("builtin"))
    );
    let unknown = alice
        .say(&conversation, &agent, "Who painted the Mona Lisa?")
        .await["assistant_message"]
        .clone();
    assert_eq!(
        unknown["metadata"]["grounding"]["competence"],
        "out_of_scope"
    );
    assert!(
        unknown["content"]
            .as_str()
            .is_some_and(|text| text.contains("don’t know") || text.contains("don't know")),
        "{unknown}"
    );
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

async fn ready() -> (TestApp, Client, String, String) {
    let app = TestApp::scripted().await;
    let alice = app.user("Alice").await;
    let (agent, conversation) = (alice.agent("scarlet").await, alice.conversation().await);
    (app, alice, agent, conversation)
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

/// Prompt, completion and all tokens of a message.
fn tokens_of(message: &Value) -> [i64; 3] {
    ["prompt_tokens", "completion_tokens", "token_count"].map(|k| message[k].as_i64().unwrap_or(-1))
}
