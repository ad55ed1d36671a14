use serde_json::Value;

use super::{Answer, soon};

/// A stream of server-sent events, read as a client would: by `id`, `event` and `data` lines.
pub struct Sse {
    response: reqwest::Response,
    buffer: String,
    bytes: Vec<u8>,
    /// Comments seen so far.
    pub comments: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub seq: u32,
    pub name: String,
    pub data: Value,
}

impl Sse {
    pub fn new(response: reqwest::Response) -> Self {
        Self {
            response,
            buffer: String::new(),
            bytes: vec![],
            comments: vec![],
        }
    }

    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub fn header(&self, name: &str) -> &str {
        self.response
            .headers()
            .get(name)
            .and_then(|v| v.to_str().ok())
            .unwrap_or_default()
    }

    /// The answer of a request that did not become a stream.
    pub async fn problem(self, status: u16, code: &str) -> Value {
        let (got, headers) = (self.status(), self.response.headers().clone());
        let body = soon("a whole answer", self.response.bytes())
            .await
            .expect("a body")
            .to_vec();
        Answer::new(got, headers, body).problem(status, code)
    }

    /// The next event; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<Event> {
        assert_eq!(self.status(), 200, "not a stream: {:?}", self.response);
        soon("the next event", async {
            loop {
                while let Some((frame, rest)) = self.buffer.split_once("\n\n") {
                    let (frame, rest) = (frame.to_owned(), rest.to_owned());
                    self.buffer = rest;
                    if let Some(event) = self.read(&frame) {
                        return Some(event);
                    }
                }
                if !self.fill().await {
                    assert!(
                        self.buffer.is_empty(),
                        "the stream broke off in {:?}",
                        self.buffer
                    );
                    return None;
                }
            }
        })
        .await
    }

    /// Waits for the next comment, passing over events.
    pub async fn comment(&mut self) -> String {
        let seen = self.comments.len();
        soon("a comment", async {
            while self.comments.len() == seen {
                match self.buffer.split_once("\n\n") {
                    Some((frame, rest)) => {
                        let (frame, rest) = (frame.to_owned(), rest.to_owned());
                        self.buffer = rest;
                        self.read(&frame);
                    }
                    None => assert!(self.fill().await, "the stream ended without a comment"),
                }
            }
        })
        .await;
        self.comments[seen].clone()
    }

    /// Events up to and including the first of this name.
    pub async fn until(&mut self, name: &str) -> Vec<Event> {
        let mut events = vec![];
        loop {
            let event = self
                .next()
                .await
                .unwrap_or_else(|| panic!("no {name} in {:?}", names(&events)));
            let last = event.name == name;
            events.push(event);
            if last {
                return events;
            }
        }
    }

    /// Every event to the end of the stream.
    pub async fn rest(&mut self) -> Vec<Event> {
        let mut events = vec![];
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }

    /// The text of the next token event, which must be next but for what comes before all tokens.
    pub async fn token(&mut self) -> String {
        let events = self.until("token").await;
        deltas(&events)
    }

    async fn fill(&mut self) -> bool {
        let Some(chunk) = self.response.chunk().await.expect("the stream goes on") else {
            return false;
        };
        self.bytes.extend_from_slice(&chunk);
        // A chunk may end within a character.
        let whole = match std::str::from_utf8(&self.bytes) {
            Ok(text) => text.len(),
            Err(e) => e.valid_up_to(),
        };
        let rest = self.bytes.split_off(whole);
        let whole = std::mem::replace(&mut self.bytes, rest);
        self.buffer
            .push_str(std::str::from_utf8(&whole).expect("checked above"));
        true
    }

    fn read(&mut self, frame: &str) -> Option<Event> {
        let (mut seq, mut name, mut data) = (None, None, None);
        for line in frame.lines() {
            match line.split_once(": ") {
                Some(("id", value)) => seq = value.parse().ok(),
                Some(("event", value)) => name = Some(value.to_owned()),
                Some(("data", value)) => data = serde_json::from_str(value).ok(),
                _ if line.starts_with(':') => self.comments.push(line.to_owned()),
                _ => panic!("an odd line in a stream: {line:?}"),
            }
        }
        match (seq, name, data) {
            (Some(seq), Some(name), Some(data)) => Some(Event { seq, name, data }),
            (None, None, None) => None,
            parts => panic!("an incomplete event {parts:?} in {frame:?}"),
        }
    }
}

/// The text that the tokens among `events` make.
pub fn deltas(events: &[Event]) -> String {
    let tokens = events.iter().filter(|e| e.name == "token");
    tokens
        .map(|e| e.data["delta"].as_str().expect("a delta"))
        .collect()
}

pub fn names(events: &[Event]) -> Vec<&str> {
    events.iter().map(|e| e.name.as_str()).collect()
}
