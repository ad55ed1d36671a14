use std::sync::atomic::{AtomicU32, Ordering};

use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::{Sse, soon};

pub const PASSWORD: &str = "correct horse battery";

/// One person's (or nobody's) view of one gateway.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    credential: Option<(&'static str, String)>,
    pub email: String,
    pub tenant_id: String,
    pub user_id: String,
    pub refresh_token: String,
}

/// A whole answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    what: String,
}

pub fn http() -> reqwest::Client {
    // Refused when a test of the same process came first, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().build().expect("an HTTP client")
}

impl Client {
    pub fn new(http: reqwest::Client, base: String) -> Self {
        let none = String::new;
        Self {
            http,
            base,
            credential: None,
            email: none(),
            tenant_id: none(),
            user_id: none(),
            refresh_token: none(),
        }
    }

    /// Makes an account with a tenant of its own.
    pub async fn registered(&self, name: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let email = format!(
            "{}-{}@example.org",
            name.to_lowercase(),
            NUMBER.fetch_add(1, Ordering::Relaxed)
        );
        let account = json!({"email": email, "password": PASSWORD, "name": name, "tenant_name": format!("{name} Ltd")});
        let session = self.post("/api/auth/register", account).await.json(201);
        Self {
            email,
            ..self.with_session(&session)
        }
    }

    /// The same person with the tokens of a session.
    pub fn with_session(&self, session: &Value) -> Self {
        let text = |pointer: &str| {
            session
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        Self {
            tenant_id: text("/tenant/id"),
            user_id: text("/user/id"),
            refresh_token: text("/refresh_token"),
            ..self.with_token(&text("/token"))
        }
    }

    pub fn with_token(&self, token: &str) -> Self {
        self.with_header("authorization", &format!("Bearer {token}"))
    }

    pub fn with_key(&self, key: &str) -> Self {
        self.with_header("x-api-key", key)
    }

    pub fn with_header(&self, name: &'static str, value: &str) -> Self {
        Self {
            credential: Some((name, value.to_owned())),
            ..self.clone()
        }
    }

    pub fn at(&self, base: &str) -> Self {
        Self {
            base: base.to_owned(),
            ..self.clone()
        }
    }

    pub fn token(&self) -> &str {
        self.credential
            .as_ref()
            .map_or("", |(_, value)| value.trim_start_matches("Bearer "))
    }

    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method: Method = method.parse().expect("a method");
        let request = self.http.request(method, format!("{}{path}", self.base));
        match &self.credential {
            Some((name, value)) => request.header(*name, value),
            None => request,
        }
    }

    pub async fn send(&self, request: RequestBuilder) -> Answer {
        soon("an answer", async {
            let request = request.build().expect("a request");
            let what = format!("{} {}", request.method(), request.url().path());
            let response = self
                .http
                .execute(request)
                .await
                .unwrap_or_else(|e| panic!("{what}: {e:?}"));
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            let body = response
                .bytes()
                .await
                .unwrap_or_else(|e| panic!("{what}: {e:?}"))
                .to_vec();
            Answer {
                status,
                headers,
                body,
                what,
            }
        })
        .await
    }

    pub async fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let request = self.request(method, path);
        self.send(match body {
            Some(body) => request.json(body),
            None => request,
        })
        .await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.call("POST", path, Some(&body)).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.call("PATCH", path, Some(&body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.call("DELETE", path, None).await
    }

    /// A new turn as events.
    pub async fn stream(&self, path: &str, body: Value) -> Sse {
        let response = soon(
            "the head of a stream",
            self.request("POST", path).json(&body).send(),
        )
        .await;
        Sse::new(response.expect("a response"))
    }

    /// An old or running turn from after an event.
    pub async fn attach(&self, conversation: &str, turn: &str, after: u32) -> Sse {
        let path = format!("/api/conversations/{conversation}/turns/{turn}/stream");
        let mut request = self.request("GET", &path);
        if after > 0 {
            request = request.header("last-event-id", after.to_string());
        }
        Sse::new(
            soon("the head of a stream", request.send())
                .await
                .expect("a response"),
        )
    }

    /// The id of one of the ready-made agents.
    pub async fn agent(&self, name: &str) -> String {
        let agents = self.get("/api/agents?limit=100").await.json(200);
        let found = agents["items"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|a| a["name"] == name);
        id(found.unwrap_or_else(|| panic!("no agent {name}")))
    }

    pub async fn conversation(&self) -> String {
        id(&self.post("/api/conversations", json!({})).await.json(201))
    }

    /// A finished turn: `{user_message, assistant_message, conversation}`.
    pub async fn say(&self, conversation: &str, agent: &str, content: &str) -> Value {
        let path = format!("/api/conversations/{conversation}/messages");
        self.post(&path, json!({"agent_id": agent, "content": content}))
            .await
            .json(200)
    }

    /// A new turn as events.
    pub async fn say_streamed(&self, conversation: &str, agent: &str, content: &str) -> Sse {
        let path = format!("/api/conversations/{conversation}/messages/stream");
        self.stream(&path, json!({"agent_id": agent, "content": content}))
            .await
    }

    /// The active branch, oldest first.
    pub async fn messages(&self, conversation: &str) -> Vec<Value> {
        let path = format!("/api/conversations/{conversation}/messages?limit=100");
        self.get(&path).await.json(200)["items"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    }

    pub async fn fact(&self, subject: &str, predicate: &str, object: Value) -> Value {
        let body = json!({"subject": subject, "predicate": predicate, "object": object, "source": "a test"});
        self.post("/api/knowledge/triples", body).await.json(201)
    }
}

pub fn id(of: &Value) -> String {
    of["id"]
        .as_str()
        .unwrap_or_else(|| panic!("no id in {of}"))
        .to_owned()
}

impl Answer {
    pub fn new(status: u16, headers: HeaderMap, body: Vec<u8>) -> Self {
        Self {
            status,
            headers,
            body,
            what: "a stream".to_owned(),
        }
    }

    /// The body, after the status has been checked.
    #[track_caller]
    pub fn json(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}: {}", self.what, self.text());
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{}: no JSON: {}", self.what, self.text()))
    }

    #[track_caller]
    pub fn empty(&self, status: u16) {
        assert_eq!(
            (self.status, self.text().as_str()),
            (status, ""),
            "{}",
            self.what
        );
    }

    /// A complete problem document with this status and code.
    #[track_caller]
    pub fn problem(&self, status: u16, code: &str) -> Value {
        let body = self.json(status);
        assert_eq!(body["code"], code, "{}: {body}", self.what);
        assert_eq!(
            self.header("content-type"),
            "application/problem+json",
            "{}",
            self.what
        );
        assert_eq!(body["status"], status, "{body}");
        assert_eq!(body["type"], format!("urn:qadra:error:{code}"), "{body}");
        for field in ["title", "detail", "request_id"] {
            assert!(
                body[field].as_str().is_some_and(|text| !text.is_empty()),
                "{}: no {field}: {body}",
                self.what
            );
        }
        let known = [
            "type",
            "title",
            "status",
            "code",
            "detail",
            "hint",
            "findings",
            "request_id",
        ];
        let odd: Vec<_> = body
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(k, _)| !known.contains(&k.as_str()))
            .collect();
        assert!(odd.is_empty(), "{odd:?}");
        body
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|v| v.to_str().ok())
            .unwrap_or_default()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}
