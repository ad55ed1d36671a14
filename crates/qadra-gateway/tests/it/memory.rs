//! What agents and people want remembered.

use qadra_testkit::llm::Reply;
use serde_json::{Value, json};

use crate::support::{TestApp, id, ready_to_talk};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_key_replaces_and_another_agents_key_does_not() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let (scarlet, ayana) = (alice.agent("scarlet").await, alice.agent("ayana").await);
    let put = async |agent: Option<&str>, value: i64| {
        alice
            .post(
                "/api/memory",
                json!({"agent_id": agent, "key": "tone", "value": {"level": value}}),
            )
            .await
            .json(201)
    };
    let first = put(Some(&scarlet), 1).await;
    assert_eq!(
        (&first["scope"], &first["source"]),
        (&json!("agent"), &json!("person"))
    );
    let second = put(Some(&scarlet), 2).await;
    assert_eq!(
        (id(&first), &second["value"]),
        (id(&second), &json!({"level": 2}))
    );
    put(Some(&ayana), 3).await;
    assert_eq!(put(None, 4).await["scope"], "tenant");
    assert_eq!(alice.get("/api/memory").await.json(200)["total"], 3);
    let hers = alice
        .get(&format!("/api/memory?agent_id={scarlet}"))
        .await
        .json(200);
    assert_eq!(hers["total"], 1);
    assert_eq!(alice.get("/api/memory?q=LEVEL").await.json(200)["total"], 3);
    assert_eq!(
        alice.get("/api/memory?q=nothing").await.json(200)["total"],
        0
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_can_be_changed_expires_and_can_be_deleted() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let made = alice
        .post(
            "/api/memory",
            json!({"note": "prefers tea", "ttl_seconds": 3600}),
        )
        .await
        .json(201);
    assert!(made["expires_at"].is_string());
    let path = format!("/api/memory/{}", id(&made));
    let changed = alice
        .patch(&path, json!({"key": "drink", "ttl_seconds": null}))
        .await
        .json(200);
    assert_eq!(
        (&changed["key"], &changed["note"], &changed["expires_at"]),
        (&json!("drink"), &json!("prefers tea"), &Value::Null)
    );
    alice
        .patch(&path, json!({"note": null}))
        .await
        .problem(422, "VALIDATION_FAILED");
    app.rows()
        .await
        .run("UPDATE memories SET expires_at = now() - interval '1 second'")
        .await;
    alice.get(&path).await.problem(404, "NOT_FOUND");
    alice
        .patch(&path, json!({"note": "x"}))
        .await
        .problem(404, "NOT_FOUND");
    assert_eq!(alice.get("/api/memory").await.json(200)["total"], 0);
    let again = alice
        .post("/api/memory", json!({"note": "x"}))
        .await
        .json(201);
    alice
        .delete(&format!("/api/memory/{}", id(&again)))
        .await
        .empty(204);
    for bad in [
        json!({}),
        json!({"key": "k", "value": null}),
        json!({"note": "x", "ttl_seconds": 0}),
        json!({"note": "x".repeat(4001)}),
        json!({"value": "x".repeat(17_000)}),
    ] {
        alice
            .post("/api/memory", bad)
            .await
            .problem(422, "VALIDATION_FAILED");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_remembers_and_reads_its_own_and_the_workspaces_and_no_other_agents() {
    let (app, alice, scarlet, conversation) = ready_to_talk().await;
    let ayana = alice.agent("ayana").await;
    for (agent, note) in [
        (Some(&ayana), "ayana's secret"),
        (None, "the year ends in June"),
    ] {
        alice
            .post("/api/memory", json!({"agent_id": agent, "note": note}))
            .await
            .json(201);
    }
    app.model()
        .push(Reply::calls(
            "memory_write",
            r#"{"key":"tone","note":"be brief","ttl_seconds":60}"#,
        ))
        .push(Reply::text("Noted."));
    let said = alice
        .say(&conversation, &scarlet, "Be brief from now on")
        .await;
    let call = &said["assistant_message"]["metadata"]["tool_calls"][0];
    assert_eq!(
        (&call["name"], &call["ok"]),
        (&json!("memory_write"), &json!(true))
    );
    let stored = alice
        .get(&format!("/api/memory?agent_id={scarlet}"))
        .await
        .json(200);
    let entry = &stored["items"][0];
    assert_eq!(
        (&entry["key"], &entry["note"], &entry["source"]),
        (&json!("tone"), &json!("be brief"), &json!("agent"))
    );

    app.model()
        .push(Reply::calls("memory_read", "{}"))
        .push(Reply::text("Done."));
    alice
        .say(&conversation, &scarlet, "What do you know?")
        .await;
    let told = app.model().requests().last().expect("a request").body["messages"]
        .as_array()
        .and_then(|m| m.last().cloned())
        .expect("messages");
    let told = told["content"].as_str().expect("text");
    assert!(
        told.contains("be brief") && told.contains("the year ends in June"),
        "{told}"
    );
    assert!(!told.contains("secret"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_is_deleted_takes_its_memory_along() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let agent = id(&alice
        .post("/api/agents", json!({"name": "temp"}))
        .await
        .json(201));
    let entry = alice
        .post("/api/memory", json!({"agent_id": agent, "note": "x"}))
        .await
        .json(201);
    alice
        .delete(&format!("/api/agents/{agent}"))
        .await
        .empty(204);
    alice
        .get(&format!("/api/memory/{}", id(&entry)))
        .await
        .problem(404, "NOT_FOUND");
}
