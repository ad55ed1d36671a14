//! A client of the HTTP side, as far as these tests need one.

use std::sync::Once;

use serde_json::{Value, json};
use uuid::Uuid;

use super::program::SOON;

#[derive(Clone)]
pub struct Api {
    http: reqwest::Client,
    pub url: String,
    token: String,
    pub agent: String,
}

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub id: u32,
    pub name: String,
    pub data: Value,
}

impl Event {
    pub fn turn_id(&self) -> String {
        self.data["turn_id"].as_str().unwrap().to_owned()
    }
}

impl Api {
    pub fn anonymous(url: &str) -> Self {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self {
            http,
            url: url.to_owned(),
            token: String::new(),
            agent: String::new(),
        }
    }

    /// A new account, with the first of its agents.
    pub async fn register(url: &str) -> Self {
        let mut api = Self::anonymous(url);
        let email = format!("{}@example.org", Uuid::new_v4().simple());
        let body = json!({"email": email, "password": "correct horse battery", "name": "Ada", "tenant_name": "Acme"});
        let account = api.ok(api.post("/api/auth/register", &body)).await;
        api.token = account["token"].as_str().unwrap().to_owned();
        let agents = api.ok(api.get("/api/agents")).await;
        api.agent = agents["items"][0]["id"].as_str().unwrap().to_owned();
        api
    }

    /// An account that is there already.
    pub async fn login(url: &str, email: &str, password: &str) -> Self {
        let mut api = Self::anonymous(url);
        let body = json!({"email": email, "password": password});
        let account = api.ok(api.post("/api/auth/login", &body)).await;
        api.token = account["token"].as_str().unwrap().to_owned();
        api
    }

    /// The same account at another address.
    pub fn at(&self, url: &str) -> Self {
        Self {
            url: url.to_owned(),
            ..self.clone()
        }
    }

    pub fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.http
            .get(format!("{}{path}", self.url))
            .bearer_auth(&self.token)
    }

    pub fn post(&self, path: &str, body: &Value) -> reqwest::RequestBuilder {
        self.http
            .post(format!("{}{path}", self.url))
            .bearer_auth(&self.token)
            .json(body)
    }

    pub async fn send(&self, request: reqwest::RequestBuilder) -> (u16, Value) {
        let response = request.timeout(SOON).send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        (
            status,
            serde_json::from_str(&text).unwrap_or(Value::String(text)),
        )
    }

    /// The body of an answer that is a success.
    pub async fn ok(&self, request: reqwest::RequestBuilder) -> Value {
        let (status, body) = self.send(request).await;
        assert!((200..300).contains(&status), "{status}: {body}");
        body
    }

    pub async fn conversation(&self) -> String {
        let made = self.ok(self.post("/api/conversations", &json!({}))).await;
        made["id"].as_str().unwrap().to_owned()
    }

    pub async fn messages(&self, conversation: &str) -> Vec<Value> {
        let page = self
            .ok(self.get(&format!(
                "/api/conversations/{conversation}/messages?limit=100"
            )))
            .await;
        page["items"].as_array().unwrap().clone()
    }

    /// Sends a message and waits for the answer.
    pub async fn exchange(&self, conversation: &str, content: &str) -> Value {
        let body = json!({"agent_id": self.agent, "content": content});
        self.ok(self.post(
            &format!("/api/conversations/{conversation}/messages"),
            &body,
        ))
        .await
    }

    /// Sends a message and reads the answer as it comes.
    pub async fn ask(&self, conversation: &str, content: &str) -> Stream {
        let body = json!({"agent_id": self.agent, "content": content});
        self.stream(self.post(
            &format!("/api/conversations/{conversation}/messages/stream"),
            &body,
        ))
        .await
    }

    pub async fn attach(&self, conversation: &str, turn: &str, after: u32) -> Stream {
        let path = format!("/api/conversations/{conversation}/turns/{turn}/stream");
        self.stream(self.get(&path).header("last-event-id", after))
            .await
    }

    pub async fn stream(&self, request: reqwest::RequestBuilder) -> Stream {
        let response = tokio::time::timeout(SOON, request.send())
            .await
            .expect("no answer in time")
            .unwrap();
        let status = response.status();
        if status != 200 {
            panic!("{status}: {}", response.text().await.unwrap());
        }
        Stream::of(response)
    }
}

pub struct Stream {
    response: reqwest::Response,
    buffer: String,
    /// The id of the last event.
    pub last: u32,
}

impl Stream {
    pub fn of(response: reqwest::Response) -> Self {
        Self {
            response,
            buffer: String::new(),
            last: 0,
        }
    }

    /// `None` when the stream has ended, however it ended.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((frame, rest)) = self.buffer.split_once("\n\n") {
                let event = parse(frame);
                self.buffer = rest.to_owned();
                if let Some(event) = event {
                    self.last = event.id;
                    return Some(event);
                }
                continue;
            }
            match tokio::time::timeout(SOON, self.response.chunk())
                .await
                .expect("no event in time")
            {
                Ok(Some(bytes)) => self.buffer.push_str(std::str::from_utf8(&bytes).unwrap()),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// The next event of that name; those before it are skipped.
    pub async fn until(&mut self, name: &str) -> Event {
        loop {
            match self.next().await {
                Some(event) if event.name == name => return event,
                Some(_) => {}
                None => panic!("the stream ended before `{name}`"),
            }
        }
    }

    pub async fn rest(&mut self) -> Vec<Event> {
        let mut events = vec![];
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// `None` for a comment.
fn parse(frame: &str) -> Option<Event> {
    let field = |name: &str| {
        frame
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    };
    Some(Event {
        id: field("id")?.parse().unwrap(),
        name: field("event")?.to_owned(),
        data: serde_json::from_str(field("data")?).unwrap(),
    })
}

/// What the tokens among these events say.
pub fn text(events: &[Event]) -> String {
    events
        .iter()
        .filter(|e| e.name == "token")
        .filter_map(|e| e.data["delta"].as_str())
        .collect()
}

pub fn names(events: &[Event]) -> Vec<&str> {
    events.iter().map(|e| e.name.as_str()).collect()
}
