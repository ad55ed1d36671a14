//! Pages, ids, routes, methods and other resources that should not have been asked for like that.

use serde_json::json;

use crate::bad_input::Desk;
use crate::support::unknown_id;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_outside_their_bounds_are_invalid() {
    let d = Desk::new().await;
    let messages = format!("/api/conversations/{}/messages", d.conversation);
    let lists = [
        "/api/conversations",
        "/api/agents",
        "/api/api-keys",
        "/api/knowledge/triples",
        "/api/knowledge/nodes",
        "/api/knowledge/aliases",
        "/api/knowledge/predicates",
        messages.as_str(),
    ];
    for list in lists {
        for bad in [
            "limit=0",
            "limit=101",
            "limit=abc",
            "limit=-1",
            "limit=1.5",
            "limit=",
            "limit=99999999999999999999",
            "offset=-1",
            "offset=x",
            "offset=9223372036854775807",
        ] {
            d.alice
                .get(&format!("{list}?{bad}"))
                .await
                .problem(422, "VALIDATION_FAILED");
        }
        let page = d
            .alice
            .get(&format!("{list}?limit=100&offset=1000000"))
            .await
            .json(200);
        assert_eq!(
            (&page["items"], &page["limit"], &page["offset"]),
            (&json!([]), &json!(100), &json!(1_000_000)),
            "{list}"
        );
        assert_eq!(d.alice.get(list).await.json(200)["limit"], 20, "{list}");
    }
    for bad in ["archived=maybe", "q=%00", "shared=2"] {
        d.alice
            .get(&format!("/api/conversations?{bad}"))
            .await
            .problem(422, "VALIDATION_FAILED");
    }
    d.alice
        .get(&format!("{messages}?order=sideways"))
        .await
        .problem(422, "VALIDATION_FAILED");
    d.alice
        .get(&format!(
            "/api/conversations/{}/export?format=pdf",
            d.conversation
        ))
        .await
        .problem(422, "VALIDATION_FAILED");
    d.alice
        .get("/api/usage?from=yesterday")
        .await
        .problem(422, "VALIDATION_FAILED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_that_are_none_name_nothing() {
    let d = Desk::new().await;
    for id in [
        "x",
        "1",
        "%00",
        "%ff",
        "..%2f..",
        "%F0%9F%90%BB",
        "0191a0c2-7c1e-7c63-9d2a-00000000000g",
        "null",
    ] {
        for path in [
            "/api/agents/<>",
            "/api/conversations/<>",
            "/api/conversations/<>/messages",
            "/api/knowledge/triples/<>",
        ] {
            let answer = d.alice.get(&path.replace("<>", id)).await;
            assert_eq!(answer.status, 404, "{path} with {id}: {}", answer.text());
            answer.problem(404, "NOT_FOUND");
        }
    }
    for version in ["0", "-1", "x", "99999999999"] {
        let path = format!("/api/agents/{}/versions/{version}/restore", d.agent);
        d.alice
            .post(&path, json!({}))
            .await
            .problem(404, "NOT_FOUND");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn routes_and_methods_that_do_not_exist_say_so() {
    let d = Desk::new().await;
    for path in [
        "/api",
        "/api/",
        "/api/nothing",
        "/api/conversations/",
        "/api/agents/x/y/z",
        "/api/auth/login/",
    ] {
        for method in ["GET", "POST", "DELETE"] {
            d.alice
                .call(method, path, None)
                .await
                .problem(404, "NOT_FOUND");
        }
    }
    for (method, path) in [
        ("DELETE", "/api/conversations"),
        ("PUT", "/api/agents"),
        ("PATCH", "/api/auth/me"),
        ("GET", "/api/auth/login"),
        ("POST", "/healthz"),
        ("DELETE", "/api/openapi.json"),
        ("POST", "/"),
    ] {
        let answer = d.alice.call(method, path, None).await;
        answer.problem(405, "METHOD_NOT_ALLOWED");
        assert!(
            answer.header("allow").contains("GET") || answer.header("allow").contains("POST"),
            "{method} {path}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_names_its_request_and_is_hardened() {
    let d = Desk::new().await;
    let mine = unknown_id();
    for path in ["/api/auth/me", "/api/agents/x", "/api/nothing"] {
        let answer = d
            .alice
            .send(d.alice.request("GET", path).header("x-request-id", &mine))
            .await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        if answer.status != 200 {
            assert_eq!(
                answer.problem(404, "NOT_FOUND")["request_id"],
                mine.as_str()
            );
        }
    }
    let answer = d.alice.get("/api/auth/me").await;
    assert_eq!(answer.header("x-request-id").len(), 36);
    let forged = d
        .alice
        .send(
            d.alice
                .request("GET", "/api/agents/x")
                .header("x-request-id", "no id"),
        )
        .await;
    assert_ne!(forged.problem(404, "NOT_FOUND")["request_id"], "no id");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_resources_refuse_what_they_cannot_hold() {
    let d = Desk::new().await;
    let rows = d.app.rows().await;
    let before = rows.counts().await;
    let agent = format!("/api/agents/{}", d.agent);
    let thread = format!("/api/conversations/{}", d.conversation);
    for (method, path, body) in [
        ("POST", "/api/agents", json!({})),
        ("POST", "/api/agents", json!({"name": " "})),
        ("POST", "/api/agents", json!({"name": "x".repeat(101)})),
        (
            "POST",
            "/api/agents",
            json!({"name": "x", "temperature": 2.5}),
        ),
        (
            "POST",
            "/api/agents",
            json!({"name": "x", "max_calls_per_parent_agent": 0}),
        ),
        (
            "POST",
            "/api/agents",
            json!({"name": "x", "control_type": "dictate"}),
        ),
        (
            "POST",
            "/api/agents",
            json!({"name": "x", "preset": "nobody"}),
        ),
        (
            "POST",
            "/api/agents",
            json!({"name": "x", "avatar_url": "javascript:alert(1)"}),
        ),
        ("PATCH", agent.as_str(), json!({"name": null})),
        ("PATCH", agent.as_str(), json!({"temperature": -0.1})),
        ("PATCH", thread.as_str(), json!({"title": ""})),
        ("PATCH", thread.as_str(), json!({"title": "x".repeat(201)})),
        ("PATCH", thread.as_str(), json!({"is_archived": "yes"})),
        ("POST", "/api/api-keys", json!({"name": ""})),
        ("POST", "/api/api-keys", json!({"name": "k", "scopes": []})),
        (
            "POST",
            "/api/api-keys",
            json!({"name": "k", "scopes": ["root"]}),
        ),
        (
            "POST",
            "/api/api-keys",
            json!({"name": "k", "expires_at": "2020-01-01T00:00:00Z"}),
        ),
        ("POST", "/api/knowledge/triples", json!([])),
        (
            "POST",
            "/api/knowledge/triples",
            json!({"subject": "", "predicate": "is", "object": 1}),
        ),
        (
            "POST",
            "/api/knowledge/triples",
            json!({"subject": "a", "predicate": "is", "object": 1, "confidence": 1.5}),
        ),
        (
            "POST",
            "/api/knowledge/triples",
            json!({"subject": "a", "predicate": "is", "object": 1, "polarity": "?"}),
        ),
        (
            "POST",
            "/api/knowledge/triples",
            json!({"subject": "a", "predicate": "is", "object": 1, "kind": "rumour"}),
        ),
        (
            "POST",
            "/api/knowledge/triples",
            json!([{"subject": "a", "predicate": "is", "object": 1}, {"subject": "b"}]),
        ),
        (
            "POST",
            "/api/knowledge/triples",
            json!({"subject": "a", "predicate": "is", "object": 1, "valid_from": "2021-01-01", "valid_to": "2020-01-01"}),
        ),
        ("POST", "/api/knowledge/nodes", json!({"label": " "})),
        ("POST", "/api/knowledge/query", json!({"query": ""})),
    ] {
        let answer = d.alice.call(method, path, Some(&body)).await;
        assert_eq!(
            answer.status,
            422,
            "{method} {path} {body}: {}",
            answer.text()
        );
        answer.problem(422, "VALIDATION_FAILED");
    }
    assert_eq!(rows.counts().await, before);
    let taken = d
        .alice
        .post("/api/agents", json!({"name": "scarlet"}))
        .await;
    taken.problem(409, "CONFLICT");
}
