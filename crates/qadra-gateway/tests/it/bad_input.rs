//! Whatever comes in that should not: the right status and code, a whole problem document, nothing stored.

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::support::{Client, TestApp, unknown_id};

/// Where and as whom bad requests are made.
struct Desk {
    app: TestApp,
    alice: Client,
    agent: String,
    conversation: String,
}

impl Desk {
    async fn new() -> Self {
        let app = TestApp::start().await;
        let alice = app.user("Alice").await;
        let (agent, conversation) = (alice.agent("scarlet").await, alice.conversation().await);
        Self {
            app,
            alice,
            agent,
            conversation,
        }
    }

    /// The two ways to send a message.
    fn paths(&self) -> [String; 2] {
        ["", "/stream"].map(|s| format!("/api/conversations/{}/messages{s}", self.conversation))
    }

    /// Each of `bodies` is answered with `status` and `code` either way, and leaves no row.
    async fn refused(&self, bodies: &[(&str, Vec<u8>)], status: u16, code: &str) {
        let rows = self.app.rows().await;
        let before = rows.counts().await;
        for path in self.paths() {
            for (what, body) in bodies {
                let request = self
                    .alice
                    .request("POST", &path)
                    .header("content-type", "application/json");
                let answer = self.alice.send(request.body(body.clone())).await;
                assert_eq!(answer.status, status, "{what}: {}", answer.text());
                answer.problem(status, code);
            }
        }
        assert_eq!(rows.counts().await, before);
    }

    fn saying(&self, content: &str) -> Vec<u8> {
        json!({"agent_id": self.agent, "content": content})
            .to_string()
            .into_bytes()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn content_that_is_empty_blank_or_too_long_is_invalid() {
    let d = Desk::new().await;
    let bodies = [
        ("empty", d.saying("")),
        ("blank", d.saying(" \n\t\u{a0}\u{3000}")),
        ("100,001 letters", d.saying(&"x".repeat(100_001))),
        ("100,001 astral characters", d.saying(&"🐻".repeat(100_001))),
        (
            "NUL",
            br#"{"agent_id":"AGENT","content":"a\u0000b"}"#.to_vec(),
        ),
    ]
    .map(|(what, body)| {
        (
            what,
            String::from_utf8(body)
                .expect("UTF-8")
                .replace("AGENT", &d.agent)
                .into_bytes(),
        )
    });
    d.refused(&bodies, 422, "VALIDATION_FAILED").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_thousand_characters_are_accepted_in_any_spelling() {
    let d = Desk::new().await;
    let bears = "🐻".repeat(100_000);
    let escaped = format!(
        r#"{{"agent_id":"{}","content":"{}"}}"#,
        d.agent,
        r"\ud83d\udc3b".repeat(100_000)
    );
    for body in [d.saying(&bears), escaped.into_bytes()] {
        let request = d
            .alice
            .request("POST", &d.paths()[0])
            .header("content-type", "application/json");
        let said = d.alice.send(request.body(body)).await.json(200);
        assert!(
            said["user_message"]["content"] == bears.as_str(),
            "the text was changed"
        );
    }
    let title = d
        .alice
        .get(&format!("/api/conversations/{}", d.conversation))
        .await
        .json(200)["title"]
        .clone();
    assert_eq!(title, format!("{}…", "🐻".repeat(60)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_that_cannot_be_read_is_malformed() {
    let d = Desk::new().await;
    let content = |raw: &[u8]| [br#"{"agent_id":"","content":""#, raw, br#""}"#].concat();
    let bodies: Vec<(&str, Vec<u8>)> = vec![
        ("cut short", br#"{"content": "x""#.to_vec()),
        ("no JSON", b"content=x".to_vec()),
        ("two documents", b"{} {}".to_vec()),
        (
            "10,000 arrays deep",
            [b"[".repeat(10_000), b"]".repeat(10_000)].concat(),
        ),
        (
            "10,000 objects deep",
            [
                br#"{"a":"#.repeat(10_000),
                b"1".to_vec(),
                b"}".repeat(10_000),
            ]
            .concat(),
        ),
        ("deep and open", b"[".repeat(1_000_000)),
        ("a lone high surrogate", content(br"\ud83d")),
        ("a lone low surrogate", content(br"\udc3b")),
        ("surrogates the wrong way round", content(br"\udc3b\ud83d")),
        ("a high surrogate and a letter", content(br"\ud83da")),
        ("a raw NUL", content(b"\0")),
        ("a raw line end", content(b"\n")),
        ("invalid UTF-8", content(b"\xff\xfe")),
        ("an overlong NUL", content(b"\xc0\x80")),
        ("a surrogate in UTF-8", content(b"\xed\xa0\xbd")),
        (
            "UTF-16",
            "{}".encode_utf16().flat_map(u16::to_le_bytes).collect(),
        ),
        ("a byte order mark", b"\xef\xbb\xbf{}".to_vec()),
        ("not a number", br#"{"content": NaN}"#.to_vec()),
    ];
    d.refused(&bodies, 400, "MALFORMED_JSON").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_of_another_shape_is_invalid_and_the_field_is_named() {
    let d = Desk::new().await;
    let text = |v: Value| v.to_string().into_bytes();
    let bodies: Vec<(&str, Vec<u8>)> = vec![
        ("an array", b"[]".to_vec()),
        ("null", b"null".to_vec()),
        ("a number", b"7".to_vec()),
        ("nothing", vec![]),
        ("no content", text(json!({"agent_id": d.agent}))),
        (
            "content null",
            text(json!({"agent_id": d.agent, "content": null})),
        ),
        (
            "content an object",
            text(json!({"agent_id": d.agent, "content": {"a": 1}})),
        ),
        ("no agent", text(json!({"content": "hi"}))),
        (
            "agent no UUID",
            text(json!({"agent_id": "scarlet", "content": "hi"})),
        ),
        (
            "agent a number",
            text(json!({"agent_id": 7, "content": "hi"})),
        ),
    ];
    d.refused(&bodies, 422, "VALIDATION_FAILED").await;
    let problem = d
        .alice
        .post(
            &d.paths()[0],
            json!({"agent_id": "scarlet", "content": "hi"}),
        )
        .await
        .json(422);
    assert!(
        problem["detail"]
            .as_str()
            .is_some_and(|detail| detail.starts_with("agent_id: ")),
        "{problem}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_is_unknown_foreign_or_switched_off_does_not_answer() {
    let d = Desk::new().await;
    let bob = d.app.user("Bob").await;
    let foreign = bob.agent("scarlet").await;
    let ask = |agent: &str| {
        json!({"agent_id": agent, "content": "hi"})
            .to_string()
            .into_bytes()
    };
    d.refused(
        &[("unknown", ask(&unknown_id())), ("foreign", ask(&foreign))],
        404,
        "NOT_FOUND",
    )
    .await;
    d.alice
        .patch(
            &format!("/api/agents/{}", d.agent),
            json!({"is_active": false}),
        )
        .await
        .json(200);
    d.refused(&[("switched off", ask(&d.agent))], 422, "AGENT_INACTIVE")
        .await;
    d.alice
        .patch(
            &format!("/api/agents/{}", d.agent),
            json!({"is_active": null}),
        )
        .await
        .json(200);
    d.alice.say(&d.conversation, &d.agent, "hi").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_of_another_type_or_size_is_not_read() {
    let d = Desk::new().await;
    let rows = d.app.rows().await;
    let before = rows.counts().await;
    let body = d.saying("hi");
    for path in d.paths() {
        let send = async |request: RequestBuilder| d.alice.send(request).await;
        let post = || d.alice.request("POST", &path);
        for kind in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "text/json",
            "",
        ] {
            send(post().header("content-type", kind).body(body.clone()))
                .await
                .problem(415, "UNSUPPORTED_MEDIA_TYPE");
        }
        send(post().body(body.clone()))
            .await
            .problem(415, "UNSUPPORTED_MEDIA_TYPE");
        let large = vec![b' '; 4 * 1024 * 1024 + 1];
        let json = || post().header("content-type", "application/json");
        send(json().body(large.clone()))
            .await
            .problem(413, "PAYLOAD_TOO_LARGE");
        // Without a length in front.
        let pieces = large
            .chunks(1 << 20)
            .map(|c| Ok::<_, std::io::Error>(c.to_vec()))
            .collect::<Vec<_>>();
        let streamed = reqwest::Body::wrap_stream(futures::stream::iter(pieces));
        send(json().body(streamed))
            .await
            .problem(413, "PAYLOAD_TOO_LARGE");
    }
    assert_eq!(rows.counts().await, before);
    for kind in [
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/vnd.qadra+json",
    ] {
        let request = d
            .alice
            .request("POST", &d.paths()[0])
            .header("content-type", kind);
        d.alice.send(request.body(body.clone())).await.json(200);
    }
}

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
