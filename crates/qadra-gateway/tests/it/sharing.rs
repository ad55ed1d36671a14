//! Threads that others read, and threads as files.

use qadra_testkit::llm::Reply;
use serde_json::{Value, json};

use crate::support::{TestApp, id, ready, thread_path};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_its_users_own_until_it_is_shared_for_reading() {
    let (app, alice, agent) = ready().await;
    let bob = app.member(&alice, "Bob", "user").await;
    let thread = alice.conversation().await;
    let said = alice.say(&thread, &agent, "A secret plan").await;
    let rate = thread_path(
        &thread,
        &format!("/messages/{}/rate", id(&said["assistant_message"])),
    );
    let say = json!({"agent_id": agent, "content": "Me too"});
    bob.get(&thread_path(&thread, ""))
        .await
        .problem(404, "NOT_FOUND");
    bob.get(&thread_path(&thread, "/messages"))
        .await
        .problem(404, "NOT_FOUND");
    bob.patch(&thread_path(&thread, ""), json!({"title": "x"}))
        .await
        .problem(404, "NOT_FOUND");
    bob.post(&thread_path(&thread, "/messages"), say.clone())
        .await
        .problem(404, "NOT_FOUND");
    assert_eq!(
        bob.get("/api/conversations?shared=true&q=secret")
            .await
            .json(200)["total"],
        0
    );

    alice
        .patch(&thread_path(&thread, ""), json!({"is_shared": true}))
        .await
        .json(200);
    assert_eq!(bob.messages(&thread).await.len(), 2);
    assert_eq!(bob.get(&thread_path(&thread, "/export")).await.status, 200);
    assert_eq!(
        bob.get("/api/conversations").await.json(200)["total"],
        0,
        "it is not among his own"
    );
    for list in [
        "/api/conversations?shared=true",
        "/api/conversations?shared=true&q=secret",
    ] {
        assert_eq!(id(&bob.get(list).await.json(200)["items"][0]), thread);
    }
    bob.patch(&thread_path(&thread, ""), json!({"is_shared": false}))
        .await
        .problem(403, "FORBIDDEN");
    bob.delete(&thread_path(&thread, ""))
        .await
        .problem(403, "FORBIDDEN");
    bob.post(&thread_path(&thread, "/messages"), say.clone())
        .await
        .problem(403, "FORBIDDEN");
    bob.post(&thread_path(&thread, "/messages/stream"), say)
        .await
        .problem(403, "FORBIDDEN");
    bob.post(&rate, json!({"rating": 1}))
        .await
        .problem(403, "FORBIDDEN");
    bob.post(&thread_path(&thread, "/restore"), json!({}))
        .await
        .problem(404, "NOT_FOUND");
    alice
        .patch(&thread_path(&thread, ""), json!({"is_shared": null}))
        .await
        .json(200);
    bob.get(&thread_path(&thread, ""))
        .await
        .problem(404, "NOT_FOUND");
    assert_eq!(
        app.rows()
            .await
            .number("SELECT count(*) FROM audit_log")
            .await,
        0,
        "sharing is not overseeing"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_admin_reads_of_anothers_is_written_to_the_audit_log() {
    let (app, alice, agent) = ready().await;
    let bob = app.member(&alice, "Bob", "user").await;
    let carol = app.member(&alice, "Carol", "admin").await;
    let thread = bob.conversation().await;
    bob.say(&thread, &agent, "Between us").await;
    let turn = app
        .rows()
        .await
        .texts("SELECT id::text FROM conversation_turns")
        .await
        .concat();
    let reads = [
        "",
        "/messages",
        "/export?format=json",
        &format!("/turns/{turn}"),
        &format!("/turns/{turn}/stream"),
    ];
    for (reader, name) in [(&carol, "admin"), (&alice, "owner")] {
        for (n, rest) in reads.iter().enumerate() {
            assert_eq!(
                reader.get(&thread_path(&thread, rest)).await.status,
                200,
                "{rest}"
            );
            let seen = format!(
                "SELECT count(*) FROM audit_log WHERE action = 'conversation.read' AND object_id = '{thread}' AND actor_id = '{}'",
                reader.user_id
            );
            assert_eq!(
                app.rows().await.number(&seen).await,
                n as i64 + 1,
                "{name} {rest}"
            );
        }
        reader
            .patch(&thread_path(&thread, ""), json!({"title": "x"}))
            .await
            .problem(403, "FORBIDDEN");
        reader
            .delete(&thread_path(&thread, ""))
            .await
            .problem(403, "FORBIDDEN");
    }
    bob.get(&thread_path(&thread, "/messages")).await.json(200);
    let own = format!(
        "SELECT count(*) FROM audit_log WHERE actor_id = '{}'",
        bob.user_id
    );
    assert_eq!(app.rows().await.number(&own).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_exported_as_markdown_and_as_json() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    alice.fact("Apple", "founded_in_year", json!(1976)).await;
    let thread = alice.conversation().await;
    let said = alice
        .say(
            &thread,
            &alice.agent("scarlet").await,
            "When was Apple founded?",
        )
        .await;
    let markdown = alice.get(&thread_path(&thread, "/export?format=md")).await;
    assert_eq!(
        markdown.header("content-type"),
        "text/markdown; charset=utf-8"
    );
    assert_eq!(
        markdown.header("content-disposition"),
        "attachment; filename=\"When-was-Apple-founded-.md\""
    );
    let text = markdown.text();
    let lines: Vec<_> = text.lines().filter(|l| !l.is_empty()).collect();
    assert_eq!(lines[0], "# When was Apple founded?");
    assert!(
        lines[1].starts_with("## You — ") && lines[1].ends_with(" UTC"),
        "{text}"
    );
    assert_eq!(lines[2], "When was Apple founded?");
    assert!(lines[3].starts_with("## Scarlet (version 1) — "), "{text}");
    assert!(
        text.contains("1976") && text.contains("[1] (Apple, founded_in_year, 1976) — a test"),
        "{text}"
    );

    let file = alice
        .get(&thread_path(&thread, "/export?format=json"))
        .await;
    assert_eq!(file.header("content-type"), "application/json");
    let json = file.json(200);
    assert_eq!(json["conversation"]["id"], thread.as_str());
    assert_eq!(
        json["messages"],
        json!([said["user_message"], said["assistant_message"]])
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rated_answers_are_exported_for_training_one_json_line_each() {
    let (app, alice, _) = ready().await;
    let bob = app.member(&alice, "Bob", "user").await;
    let agent = json!({"name": "brief", "system_prompt": "Be brief."});
    let agent = id(&alice.post("/api/agents", agent).await.json(201));
    let thread = bob.conversation().await;
    let mut answers = vec![];
    for (question, answer) in [("one?", "1"), ("two?", "2"), ("three?", "3")] {
        app.model().push(Reply::text(answer));
        answers.push(id(
            &bob.say(&thread, &agent, question).await["assistant_message"],
        ));
    }
    for (answer, rating) in [(&answers[1], 1), (&answers[2], -1)] {
        bob.post(
            &thread_path(&thread, &format!("/messages/{answer}/rate")),
            json!({"rating": rating}),
        )
        .await
        .json(200);
    }
    // The prompt is the one that was in force, not today's.
    alice
        .patch(
            &format!("/api/agents/{agent}"),
            json!({"system_prompt": "Be long."}),
        )
        .await
        .json(200);
    let export = async |query: &str| -> Vec<Value> {
        let file = alice
            .get(&format!("/api/conversations/training-export{query}"))
            .await;
        assert_eq!(
            (file.status, file.header("content-type")),
            (200, "application/x-ndjson")
        );
        file.text()
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect()
    };
    let lines = export("").await;
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (&lines[0]["rating"], &lines[1]["rating"]),
        (&json!(1), &json!(-1))
    );
    // What the model was given, in its order, then the answer that was rated.
    let mut wanted = app.model().requests()[1].body["messages"].clone();
    assert_eq!(wanted[0], json!({"role": "system", "content": "Be brief."}));
    wanted
        .as_array_mut()
        .expect("messages")
        .push(json!({"role": "assistant", "content": "2"}));
    assert_eq!(lines[0]["messages"], wanted);
    assert_eq!(
        (&lines[0]["message_id"], &lines[0]["agent_version"]),
        (&json!(answers[1]), &json!(1))
    );
    assert_eq!(export("?rating=up").await, lines[..1]);
    assert_eq!(export("?rating=down").await, lines[1..]);
    alice
        .get("/api/conversations/training-export?rating=best")
        .await
        .problem(422, "VALIDATION_FAILED");
    bob.get("/api/conversations/training-export")
        .await
        .problem(403, "FORBIDDEN");
    let noted = "SELECT count(*) FROM audit_log WHERE action = 'training.export'";
    assert_eq!(app.rows().await.number(noted).await, 3);
    bob.delete(&thread_path(&thread, "")).await.empty(204);
    assert_eq!(export("").await.len(), 0, "a deleted thread trains nobody");
}
