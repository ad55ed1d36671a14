//! What a model is asked, and how its answer reaches the client.

use qadra_testkit::llm::{Gate, Reply};
use serde_json::{Value, json};

use crate::support::{SOON, TestApp, deltas, eventually, id, names, ready_to_talk, tokens_of};

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
    let (app, alice, agent, conversation) = ready_to_talk().await;
    let said = alice.say(&conversation, &agent, "Hello").await;
    let request = &app.model().requests()[0].body;
    assert_eq!(request["model"], "default-model");
    assert_eq!(request.get("temperature"), None);
    assert_eq!(said["assistant_message"]["model"], "default-model");
    assert_eq!(said["assistant_message"]["metadata"]["provider"], "openai");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_token_reaches_the_client_before_the_model_says_the_next() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
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
    let (app, alice, agent, conversation) = ready_to_talk().await;
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
            "verification",
            "assistant_message",
            "done"
        ]
    );
    assert_eq!(
        events.iter().map(|e| e.seq).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 6, 7, 8]
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
        events[6].data["conversation"]["running_turn_id"],
        Value::Null
    );
    assert_eq!(
        events[7].data,
        json!({"turn_id": turn, "status": "completed"})
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_answer_is_the_stored_one() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
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
async fn a_second_message_during_a_turn_is_refused_and_not_stored() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
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
    let (app, alice, agent, conversation) = ready_to_talk().await;
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
        let conversation = &conversation;
        let running = async || {
            let path = format!("/api/conversations/{conversation}");
            !alice.get(&path).await.json(200)["running_turn_id"].is_null()
        };
        // The model may be asked before the turn can be seen.
        eventually("the turn runs", &running).await;
        gone.abort();
        assert!(gone.await.is_err_and(|e| e.is_cancelled()));
        gate.open();
        eventually("the turn ends", async || !running().await).await;
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
    let (app, alice, agent, _) = ready_to_talk().await;
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
    let (app, alice, scarlet, conversation) = ready_to_talk().await;
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
    let (app, alice, agent, conversation) = ready_to_talk().await;
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
