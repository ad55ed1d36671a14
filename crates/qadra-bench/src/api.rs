use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::client::{Conn, request};
use crate::model;

/// Asked in every turn. Its names and predicates are in the graph, so that grounding has something to do.
pub(crate) const QUESTION: &str = "When was Northwind Labs founded, and who leads it?";
const PROMPT: &str =
    "You answer questions about companies from the facts given to you, in two or three sentences.";

/// A signed-in account of a running Qadra.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(crate) tenant_id: String,
}

/// A conversation with nothing in it yet.
#[derive(Clone)]
pub(crate) struct Thread {
    pub(crate) id: String,
    pub(crate) branch_id: String,
}

impl Api {
    /// An account of its own with facts in its graph.
    pub(crate) async fn register(address: SocketAddr) -> Result<Self> {
        let mut api = Self {
            address,
            token: String::new(),
            tenant_id: String::new(),
        };
        let mut conn = Conn::open(address).await?;
        let account = json!({
            "email": "bench@example.com", "password": "four words of length", "name": "Bench", "tenant_name": "Bench",
        });
        let made = api
            .call(&mut conn, "POST", "/api/auth/register", Some(account))
            .await?;
        api.token = text(&made, "/token")?;
        api.tenant_id = text(&made, "/tenant/id")?;
        api.call(&mut conn, "POST", "/api/knowledge/triples", Some(facts()))
            .await?;
        Ok(api)
    }

    pub(crate) async fn conn(&self) -> Result<Conn> {
        Conn::open(self.address).await
    }

    /// One JSON request; anything but success is an error.
    pub(crate) async fn call(
        &self,
        conn: &mut Conn,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value> {
        let body = body.map(|body| body.to_string());
        let asked = self.request(method, path, body.as_deref());
        let seen = conn.exchange(&asked, b"\0").await?;
        ensure!(
            (200..300).contains(&seen.status),
            "{method} {path} was answered {}: {}",
            seen.status,
            seen.text()
        );
        serde_json::from_slice(&seen.body)
            .with_context(|| format!("read the answer to {method} {path}"))
    }

    pub(crate) fn request(&self, method: &str, path: &str, body: Option<&str>) -> Bytes {
        let token = Some(self.token.as_str()).filter(|token| !token.is_empty());
        request(method, path, token, body)
    }

    /// An agent that speaks through `model`.
    pub(crate) async fn agent(&self, conn: &mut Conn, model: &str) -> Result<String> {
        let agent =
            json!({"name": format!("bench-{model}"), "system_prompt": PROMPT, "model": model});
        let made = self.call(conn, "POST", "/api/agents", Some(agent)).await?;
        text(&made, "/id")
    }

    pub(crate) async fn threads(&self, count: usize) -> Result<Vec<Thread>> {
        let mut conn = self.conn().await?;
        let mut threads = Vec::with_capacity(count);
        for _ in 0..count {
            let made = self
                .call(&mut conn, "POST", "/api/conversations", Some(json!({})))
                .await?;
            threads.push(Thread {
                id: text(&made, "/id")?,
                branch_id: text(&made, "/active_branch_id")?,
            });
        }
        Ok(threads)
    }

    /// The request that asks the question in a conversation.
    pub(crate) fn ask(&self, thread: &Thread, agent_id: &str, streamed: bool) -> Bytes {
        let stream = if streamed { "/stream" } else { "" };
        let path = format!("/api/conversations/{}/messages{stream}", thread.id);
        let body = json!({"agent_id": agent_id, "content": QUESTION}).to_string();
        self.request("POST", &path, Some(&body))
    }

    /// What the graph says to the question, as the model is told it.
    pub(crate) async fn grounding(&self, conn: &mut Conn) -> Result<String> {
        let asked = json!({"query": QUESTION});
        let told = self
            .call(conn, "POST", "/api/knowledge/query", Some(asked))
            .await?;
        let found = told
            .pointer("/triples")
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        ensure!(
            found > 0,
            "the graph knows nothing of the question, so grounding would cost nothing: {told}"
        );
        text(&told, "/context")
    }
}

/// The request to the model that Qadra makes of the question, but for the tools that it offers.
pub(crate) fn direct(grounding: &str, tokens: usize, gap: u64) -> Bytes {
    let body = json!({
        "model": model::named(tokens, gap), "stream": true, "stream_options": {"include_usage": true},
        "messages": [
            {"role": "system", "content": PROMPT},
            {"role": "system", "content": grounding},
            {"role": "user", "content": QUESTION},
        ],
    });
    request(
        "POST",
        "/v1/chat/completions",
        None,
        Some(&body.to_string()),
    )
}

/// What marks a token in the model's own stream, and in Qadra's.
pub(crate) fn needle(through_qadra: bool) -> Vec<u8> {
    match through_qadra {
        true => b"event: token\n".to_vec(),
        false => format!("\"content\":\"{}", model::WORD).into_bytes(),
    }
}

fn facts() -> Value {
    let names = [
        "Northwind Labs",
        "Tailspin Toys",
        "Fabrikam",
        "Contoso",
        "Litware",
        "Adatum",
        "Proseware",
        "Wingtip",
    ];
    let triples: Vec<Value> = names
        .iter()
        .enumerate()
        .flat_map(|(number, name)| {
            [
                ("founded_in_year", json!(1990 + number)),
                ("led_by", json!(format!("Person {number}"))),
                ("headquartered_in", json!(format!("City {}", number % 3))),
                ("employs", json!(100 * (number + 1))),
                ("makes", json!(format!("Product {number}"))),
            ]
            .map(|(predicate, object)| json!({"subject": name, "predicate": predicate, "object": object, "source": "benchmark"}))
        })
        .collect();
    Value::Array(triples)
}

pub(crate) fn text(value: &Value, pointer: &str) -> Result<String> {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .map(str::to_owned)
        .with_context(|| format!("no {pointer} in {value}"))
}
