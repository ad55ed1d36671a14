//! Every operation of the OpenAPI document is tried by another tenant, which must learn and change nothing.

use serde_json::{Value, json};

use crate::operations::{cases, document};
use crate::support::{Answer, Client, PASSWORD, TestApp, World, filled, unknown_id as uuid};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_tenants_ids_answer_byte_for_byte_like_unknown_ones() {
    let app = TestApp::scripted().await;
    let alice = app.user("Alice").await;
    let hers = World::of(&app, &alice, "zebra").await;
    let bob = app.user("Bob").await;
    let his = World::of(&app, &bob, "heron").await;
    let key = bob
        .post("/api/api-keys", json!({"name": "k", "scopes": ["admin"]}))
        .await
        .json(201);
    let by_key = app.stranger().with_key(key["key"].as_str().expect("a key"));
    let document = document(&app).await;
    let rows = app.rows().await;
    let before = rows.of_tenant(&alice.tenant_id).await;

    let mut probes = 0;
    for case in cases() {
        let method = &document[case.operation].0;
        let template = format!(
            "{} {}",
            case.path,
            case.body
                .as_ref()
                .map_or_else(String::new, Value::to_string)
        );
        let slots = template.matches('<').count();
        for client in [&bob, &by_key] {
            // Every way to put her ids into some of the places and his into the others.
            for chosen in 1..(1_u32 << slots) {
                let ask = async |theirs: &dyn Fn(&str) -> String| {
                    let place = std::cell::Cell::new(0);
                    let fill = |kind: &str| {
                        let at = place.replace(place.get() + 1);
                        if chosen & (1 << at) == 0 {
                            his.id(kind)
                        } else {
                            theirs(kind)
                        }
                    };
                    let path = filled(case.path, &fill);
                    let body = case.body.as_ref().map(|b| filled(&b.to_string(), &fill));
                    raw(client, method, &path, body).await
                };
                let unknown = ask(&|_| uuid()).await;
                let answer = ask(&|kind| hers.id(kind)).await;
                same(
                    &answer,
                    &unknown,
                    &format!("{} with places {chosen:b}", case.operation),
                );
                assert_eq!(answer.status, 404, "{}: {}", case.operation, answer.text());
                probes += 1;
            }
            // Her ids of every kind in every place of the path: a message for a conversation, a node for an agent.
            if case.path.contains('<') {
                for odd in hers.ids.values() {
                    let path = filled(case.path, &|_| odd.clone());
                    let body = case
                        .body
                        .as_ref()
                        .map(|b| filled(&b.to_string(), &|kind| his.id(kind)));
                    let answer = raw(client, method, &path, body.clone()).await;
                    let unknown = uuid();
                    let path = filled(case.path, &|_| unknown.clone());
                    same(
                        &answer,
                        &raw(client, method, &path, body).await,
                        case.operation,
                    );
                    assert_eq!(answer.status, 404, "{}: {}", case.operation, answer.text());
                    probes += 1;
                }
            }
        }
    }
    assert!(probes >= 1_000, "only {probes} probes");
    assert_eq!(
        rows.of_tenant(&alice.tenant_id).await,
        before,
        "something of hers was changed"
    );
    hers.finish(&alice).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_searches_and_answers_never_carry_anything_of_another_tenant() {
    let app = TestApp::scripted().await;
    let alice = app.user("Alice").await;
    let hers = World::of(&app, &alice, "zebra").await;
    let bob = app.user("Bob").await;
    let his = World::of(&app, &bob, "heron").await;
    let document = document(&app).await;
    let rows = app.rows().await;
    let before = rows.of_tenant(&alice.tenant_id).await;
    for case in cases() {
        let method = &document[case.operation].0;
        // Stopping a thread is for the end.
        if matches!(
            case.operation,
            "chat_cancel_turn" | "chat_turn_events" | "agent_delete"
        ) {
            continue;
        }
        // Fields that the operation does not have, and ids that the path names already.
        let mut body = case
            .body
            .clone()
            .map(|b| filled(&b.to_string(), &|kind| his.id(kind)));
        let smuggled = [
            "tenant_id",
            "user_id",
            "id",
            "conversation_id",
            "message_id",
            "turn_id",
            "reader",
            "actor",
        ];
        if let Some(text) = &mut body {
            let mut value: Value = serde_json::from_str(text).expect("JSON");
            for name in smuggled {
                let kind = match name {
                    "id" | "conversation_id" => "conversation",
                    "message_id" => "answer",
                    "turn_id" => "running",
                    "tenant_id" => "tenant",
                    _ => "user",
                };
                // The one body field of this name that is real.
                if value.get(name).is_none() {
                    value[name] = json!(hers.id(kind));
                }
            }
            *text = value.to_string();
        }
        let joint = if case.path.contains('?') { '&' } else { '?' };
        let path = filled(case.path, &|kind| his.id(kind));
        let path = format!(
            "{path}{joint}tenant_id={}&user_id={}",
            hers.id("tenant"),
            hers.id("user")
        );
        let answer = raw(&bob, method, &path, body).await;
        let text = answer.text();
        assert!(answer.status < 500, "{}: {text}", case.operation);
        for (kind, theirs) in &hers.ids {
            assert!(
                !text.contains(theirs),
                "{} shows her {kind}: {text}",
                case.operation
            );
        }
        let own_words = [
            "chat_list",
            "knowledge_query",
            "knowledge_verify",
            "knowledge_create_triples",
            "knowledge_create_node",
        ];
        let told = answer.status < 300
            && !own_words.contains(&case.operation)
            && case.operation != "agent_create";
        if told && !case.operation.starts_with("knowledge_list") {
            assert!(
                !text.to_lowercase().contains("zebra"),
                "{} shows her words: {text}",
                case.operation
            );
        }
    }
    assert_eq!(
        rows.of_tenant(&alice.tenant_id).await,
        before,
        "something of hers was changed"
    );
    let found = bob.get("/api/conversations?q=zebra").await.json(200);
    assert_eq!(found["total"], 0, "{found}");
    // What he typed himself is his own: one node and one statement, not two.
    assert_eq!(
        bob.get("/api/knowledge/nodes?q=zebra").await.json(200)["total"],
        1
    );
    assert_eq!(
        bob.get("/api/knowledge/triples?q=zebra").await.json(200)["total"],
        1
    );
    hers.finish(&alice).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_tenant_uses_is_not_taken_for_another() {
    let app = TestApp::start().await;
    let (alice, bob) = (app.user("Alice").await, app.user("Bob").await);
    alice.fact("Apple", "founded_in_year", json!(1976)).await;
    alice
        .say(
            &alice.conversation().await,
            &alice.agent("scarlet").await,
            "When was Apple founded?",
        )
        .await;
    let usage = bob.get("/api/usage").await.json(200);
    assert_eq!(
        usage,
        json!({"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "by_model": [], "by_day": []})
    );
    let asked = bob
        .post(
            "/api/knowledge/query",
            json!({"query": "When was Apple founded?"}),
        )
        .await
        .json(200);
    assert_eq!(
        (&asked["competence"], &asked["triples"]),
        (&json!("out_of_scope"), &json!([]))
    );
    // One tenant's account opens no other tenant's door.
    let login = json!({"email": bob.email, "password": PASSWORD, "tenant_id": alice.tenant_id});
    bob.post("/api/auth/login", login)
        .await
        .problem(403, "FORBIDDEN");
}

/// The same request id each time, so that answers can be compared byte by byte.
async fn raw(client: &Client, method: &str, path: &str, body: Option<String>) -> Answer {
    let request = client
        .request(method, path)
        .header("x-request-id", "0191a0c2-7c1e-7c63-9d2a-000000000001");
    client
        .send(match body {
            Some(body) => request
                .header("content-type", "application/json")
                .body(body),
            None => request,
        })
        .await
}

#[track_caller]
fn same(a: &Answer, b: &Answer, what: &str) {
    assert_eq!((a.status, a.text()), (b.status, b.text()), "{what}");
    let headers = |answer: &Answer| {
        let mut headers = answer.headers.clone();
        headers.remove("date");
        headers
    };
    assert_eq!(headers(a), headers(b), "{what}");
}
