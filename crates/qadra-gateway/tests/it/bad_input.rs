//! Messages that should not have come: the right status and code, a whole problem document, nothing stored.

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::support::{Client, TestApp, unknown_id};

/// Where and as whom bad requests are made.
pub struct Desk {
    pub app: TestApp,
    pub alice: Client,
    pub agent: String,
    pub conversation: String,
}

impl Desk {
    pub async fn new() -> Self {
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
