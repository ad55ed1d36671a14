//! Answers that are checked: both gates over the text of an endpoint, of the built-in provider and of a model.

use qadra_testkit::llm::Reply;
use serde_json::{Value, json};

use crate::support::{TestApp, names, ready_to_talk};

/// The verdicts on the claims whose text contains a word.
fn verdicts(belnap: &Value, word: &str) -> Vec<String> {
    belnap["claims"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|c| c["text"].as_str().is_some_and(|t| t.contains(word)))
        .map(|c| c["verdict"].as_str().unwrap_or("?").to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_is_held_against_the_graph_claim_by_claim() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let founded = alice.fact("Apple", "founded_in_year", json!(1976)).await;
    let text = "Größe zählt 🐻. Apple was founded in 1999.";
    let found = alice
        .post("/api/knowledge/verify", json!({"text": text}))
        .await
        .json(200);
    let belnap = &found["belnap"];
    assert_eq!(verdicts(belnap, "1999"), ["contradicted"], "{found}");
    assert_eq!(belnap["passed"], false);
    let claim = belnap["claims"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|c| c["verdict"] == "contradicted")
        .expect("a claim");
    assert_eq!(claim["against"], json!([founded["id"]]));
    // Spans are code points of the text.
    let place = |i: usize| claim["span"][i].as_u64().expect("a number") as usize;
    let spanned: String = text
        .chars()
        .skip(place(0))
        .take(place(1) - place(0))
        .collect();
    assert_eq!(
        claim["text"].as_str().map(|t| t.trim_end_matches('.')),
        Some(spanned.trim_end_matches('.'))
    );
    let right = alice
        .post(
            "/api/knowledge/verify",
            json!({"text": "Apple was founded in 1976."}),
        )
        .await
        .json(200);
    assert_eq!(verdicts(&right["belnap"], "1976"), ["grounded"], "{right}");
    assert_eq!(right["verification"]["passed"], true, "{right}");
    let nothing = alice
        .post(
            "/api/knowledge/verify",
            json!({"text": "Bananas are yellow."}),
        )
        .await
        .json(200);
    assert_eq!(nothing, json!({"verification": null, "belnap": null}));
    alice
        .post("/api/knowledge/verify", json!({"text": " "}))
        .await
        .problem(422, "VALIDATION_FAILED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_verified_after_its_last_token_and_before_it_is_stored() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    alice.fact("Apple", "founded_in_year", json!(1976)).await;
    app.model()
        .push(Reply::tokens(["Apple was founded ", "in 1999."]));
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
    let told = &events[5].data;
    let metadata = &events[6].data["assistant_message"]["metadata"];
    assert_eq!(
        (&told["verification"], &told["belnap"]),
        (&metadata["verification"], &metadata["belnap"])
    );
    assert_eq!(
        metadata["belnap"]["counts"]["contradicted"], 1,
        "{metadata}"
    );
    assert_eq!(metadata["verification"]["passed"], false, "{metadata}");
    let stored = alice
        .messages(&conversation)
        .await
        .pop()
        .expect("an answer");
    assert_eq!(&stored["metadata"], metadata);
    // A replay says the same.
    let turn = events[0].data["turn_id"].as_str().expect("a turn");
    let again = alice.attach(&conversation, turn, 0).await.rest().await;
    assert_eq!(names(&again), names(&events));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_built_in_provider_stands_by_what_it_says() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    alice.fact("Apple", "founded_in_year", json!(1976)).await;
    let agent = alice.agent("scarlet").await;
    let said = alice
        .say(
            &alice.conversation().await,
            &agent,
            "When was Apple founded?",
        )
        .await;
    let message = &said["assistant_message"];
    assert_eq!(message["content"], "Apple was founded in 1976 [1].");
    let metadata = &message["metadata"];
    assert_eq!(metadata["verification"]["passed"], true, "{metadata}");
    assert_eq!(metadata["belnap"]["passed"], true, "{metadata}");
    assert_eq!(metadata["belnap"]["counts"]["grounded"], 1, "{metadata}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_context_an_answer_is_not_held_against_anything() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    app.model().push(Reply::text("Apple was founded in 1999."));
    let mut stream = alice
        .say_streamed(&conversation, &agent, "When was Apple founded?")
        .await;
    let events = stream.rest().await;
    assert!(!names(&events).contains(&"verification"));
    let metadata = &events[events.len() - 2].data["assistant_message"]["metadata"];
    assert!(metadata.get("verification").is_none() && metadata.get("belnap").is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_tool_looked_up_grounds_the_answer() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    alice.fact("Zenith", "headquarters", json!("Oslo")).await;
    app.model()
        .push(Reply::calls(
            "knowledge_lookup",
            r#"{"query":"Where is Zenith's headquarters?"}"#,
        ))
        .push(Reply::text("Zenith's headquarters is Oslo."));
    let said = alice
        .say(&conversation, &agent, "Where should I write to?")
        .await;
    let told = app.model().requests()[1].body["messages"]
        .as_array()
        .and_then(|m| m.last().cloned())
        .expect("messages");
    assert!(
        told["content"]
            .as_str()
            .is_some_and(|t| t.contains("(Zenith, headquarters, Oslo) [fact]")),
        "{told}"
    );
    let metadata = &said["assistant_message"]["metadata"];
    let call = &metadata["tool_calls"][0];
    assert_eq!(
        (&call["ok"], &call["summary"]),
        (&json!(true), &json!("1 fact and 0 passages found"))
    );
    assert_eq!(metadata["verification"]["passed"], true, "{metadata}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_are_read_strictly_and_their_failures_told_to_the_model() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    let other = alice.agent("ayana").await;
    for (name, arguments, why) in [
        ("knowledge_lookup", json!({}), "missing field `query`"),
        (
            "knowledge_lookup",
            json!({"query": "x", "limit": 1000}),
            "limit is 1000",
        ),
        ("knowledge_lookup", json!({"query": " "}), "query is empty"),
        (
            "memory_write",
            json!({"note": "x", "agent_id": other}),
            "unknown field `agent_id`",
        ),
        (
            "memory_write",
            json!({"note": "x", "ttl_seconds": -1}),
            "ttl_seconds is -1",
        ),
        (
            "propose_document",
            json!({"title": "t"}),
            "missing field `text`",
        ),
    ] {
        app.model()
            .push(Reply::calls(name, arguments.to_string()))
            .push(Reply::text("Well."));
        alice.say(&conversation, &agent, "Go").await;
        let told = app.model().requests().last().expect("a request").body["messages"]
            .as_array()
            .and_then(|m| m.last().cloned())
            .expect("messages");
        let told = told["content"].as_str().expect("text");
        assert!(
            told.starts_with("Error: ") && told.contains(why),
            "{name}: {told}"
        );
    }
    assert_eq!(alice.get("/api/memory").await.json(200)["total"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_agent_proposes_waits_for_a_person() {
    let (app, alice, agent, conversation) = ready_to_talk().await;
    let arguments = json!({"title": "Zenith", "text": "Zenith was founded in 1999.", "source_url": "https://example.org/z"});
    app.model()
        .push(Reply::calls("propose_document", arguments.to_string()))
        .push(Reply::text("Proposed."));
    let said = alice.say(&conversation, &agent, "Keep this").await;
    let call = &said["assistant_message"]["metadata"]["tool_calls"][0];
    assert_eq!(
        (&call["ok"], &call["summary"]),
        (&json!(true), &json!("proposed “Zenith”"))
    );
    let list = alice.get("/api/documents").await.json(200);
    let document = &list["items"][0];
    assert_eq!(
        (
            &document["ingestion_status"],
            &document["source_type"],
            &document["proposed_by_agent"]
        ),
        (&json!("pending_approval"), &json!("agent"), &json!(agent))
    );
    assert_eq!(
        alice.get("/api/knowledge/triples").await.json(200)["total"],
        0
    );
}
