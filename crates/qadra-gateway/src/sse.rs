//! Turns and flow executions as server-sent events.
//!
//! A reader subscribes to the turn's progress subject *before* it asks for what it missed, and every event
//! carries its seq. So an event comes at most once (a seq at or below the last sent is skipped) and never goes
//! missing (a gap, or a report of lost messages, makes the reader ask for the log after its last seq). The same
//! few lines serve a new turn, a resumed one and a slow one.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream;
use qadra_api::{EventPage, Operation, ReplayExecution, TurnEvents};
use qadra_nats::{BusError, Delivery, Message, Subject, Subscription};
use qadra_types::{Code, Fault, new_id};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::{Instant, Sleep};
use uuid::Uuid;

use crate::Gateway;
use crate::auth::Caller;
use crate::call::{TURN_TIMEOUT, Target, address, payload, read_reply};
use crate::problem::bus_fault;

/// How patient streams are.
#[derive(Debug, Clone, Copy)]
pub struct StreamTimes {
    /// A comment is sent after this long without an event.
    pub heartbeat: Duration,
    /// A stream that is silent ends after this long; the client resumes it.
    pub longest: Duration,
}

impl Default for StreamTimes {
    fn default() -> Self {
        Self {
            heartbeat: Duration::from_secs(15),
            longest: Duration::from_secs(250),
        }
    }
}

/// On whose behalf a stream reads.
pub(crate) struct Asker {
    pub(crate) gw: Arc<Gateway>,
    pub(crate) caller: Option<Caller>,
    pub(crate) request_id: Uuid,
    pub(crate) origin: String,
}

impl Asker {
    pub(crate) fn target<'a>(&self, entity: &'a str, op: &'a str) -> Target<'a> {
        match &self.caller {
            Some(c) => Target::Tenant(c.tenant_id, entity, op),
            None => Target::Platform(entity, op),
        }
    }
}

/// The last seq a client has: the header, or the query parameter for clients that cannot set one.
pub(crate) fn last_event_id(headers: &HeaderMap, query: Option<&str>) -> Result<u32, Fault> {
    let header = headers
        .get("last-event-id")
        .and_then(|v| v.to_str().ok())
        .map(str::to_owned);
    let text = header.or_else(|| {
        let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query?).ok()?;
        pairs
            .into_iter()
            .find(|(name, _)| name == "last_event_id")
            .map(|(_, value)| value)
    });
    match text.as_deref().map(str::trim) {
        None | Some("") => Ok(0),
        Some(t) => t
            .parse()
            .map_err(|_| Fault::invalid(format!("the last event id is {t:?}, not a number"))),
    }
}

/// Starts a turn and streams it. Faults before the message was saved are answered as plain problems.
pub(crate) async fn turn(
    asker: Asker,
    operation: &Operation,
    mut body: Value,
) -> Result<Response, Fault> {
    let turn_id = new_id();
    let conversation_id = uuid_of(&body, "conversation_id")?;
    body["turn_id"] = json!(turn_id);
    let source = Source::Turn(conversation_id, turn_id);
    let mut reader = Reader::open(asker, source, 0).await?;
    let asker = reader.asker.clone();
    let actor = asker.caller.as_ref().map(|c| &c.actor);
    let (subject, headers) = address(
        asker.target(operation.entity, operation.op),
        actor,
        asker.request_id,
        &asker.origin,
    )?;
    let (bus, payload) = (asker.gw.bus.clone(), payload(&body)?);
    let mut reply: BoxFuture<'static, Result<Message, BusError>> = Box::pin(async move {
        bus.request(subject.as_str(), headers, payload, TURN_TIMEOUT)
            .await
    });
    tokio::select! {
        // An event that is there already goes before the reply that follows it.
        biased;
        first = reader.events.recv() => {
            match first {
                Some(Delivery::Message(m)) => reader.take(&m).await,
                Some(Delivery::Lost(_)) | None => reader.resync().await,
            }
            reader.reply = Some(reply);
        }
        answer = &mut reply => {
            read_reply::<Value>(&answer.map_err(|e| bus_fault(&e))?.payload)?;
            reader.catch_up().await;
        }
    }
    Ok(reader.response())
}

/// Streams a turn from after the seq that the client has.
pub(crate) async fn attach(asker: Asker, body: Value, after: u32) -> Result<Response, Fault> {
    let (conversation_id, turn_id) = (
        uuid_of(&body, "conversation_id")?,
        uuid_of(&body, "turn_id")?,
    );
    let source = Source::Turn(conversation_id, turn_id);
    let mut reader = Reader::open(asker, source, after).await?;
    let page = reader.missed().await?;
    reader.put(page).await;
    Ok(reader.response())
}

/// Streams a flow execution from after the seq that the client has.
pub(crate) async fn execution(asker: Asker, body: Value, after: u32) -> Result<Response, Fault> {
    let id = uuid_of(&body, "id")?;
    let mut reader = Reader::open(asker, Source::Execution(id), after).await?;
    let page = reader.missed().await?;
    reader.put(page).await;
    Ok(reader.response())
}

/// What is read.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// Conversation and turn.
    Turn(Uuid, Uuid),
    Execution(Uuid),
}

impl Source {
    /// Names the progress subject.
    fn id(self) -> Uuid {
        match self {
            Self::Turn(_, id) | Self::Execution(id) => id,
        }
    }
}

fn uuid_of(body: &Value, field: &str) -> Result<Uuid, Fault> {
    body.get(field)
        .and_then(Value::as_str)
        .and_then(|s| s.parse().ok())
        .ok_or_else(|| Fault::invalid(format!("{field} is missing")))
}

struct Reader {
    asker: Arc<Asker>,
    source: Source,
    events: Subscription,
    last: u32,
    ended: bool,
    ready: VecDeque<Bytes>,
    /// The answer to the request that started the turn: its end, should the last events get lost.
    reply: Option<BoxFuture<'static, Result<Message, BusError>>>,
    heartbeat: Pin<Box<Sleep>>,
    until: Instant,
    /// Heartbeats without an event; every other one asks whether the turn still lives.
    quiet: u32,
}

/// A progress event with its data left as text.
#[derive(Deserialize)]
struct Progress<'a> {
    seq: u32,
    event: &'a str,
    #[serde(borrow)]
    data: &'a RawValue,
}

impl Reader {
    async fn open(asker: Asker, source: Source, after: u32) -> Result<Self, Fault> {
        let events = asker
            .gw
            .bus
            .subscribe(Subject::progress(source.id()).as_str())
            .await
            .map_err(|e| bus_fault(&e))?;
        asker.gw.metrics.streams.inc();
        let StreamTimes { heartbeat, longest } = asker.gw.options.times;
        Ok(Self {
            asker: Arc::new(asker),
            source,
            events,
            last: after,
            ended: false,
            ready: VecDeque::new(),
            reply: None,
            heartbeat: Box::pin(tokio::time::sleep(heartbeat)),
            until: Instant::now() + longest,
            quiet: 0,
        })
    }

    fn response(self) -> Response {
        let frames = stream::unfold(self, |mut reader| async move {
            let frame = reader.next().await?;
            Some((Ok::<_, Infallible>(frame), reader))
        });
        let mut response = Response::new(Body::from_stream(frames));
        *response.status_mut() = StatusCode::OK;
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/event-stream"),
        );
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        // nginx buffers proxied answers unless told otherwise by the answer itself.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }

    /// The next bytes to send; `None` ends the stream.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(first) = self.ready.pop_front() {
                // What has piled up goes out in one write.
                if self.ready.is_empty() {
                    return Some(first);
                }
                let mut all = Vec::with_capacity(first.len() * (self.ready.len() + 1));
                all.extend_from_slice(&first);
                self.ready.drain(..).for_each(|b| all.extend_from_slice(&b));
                return Some(all.into());
            }
            if self.ended || Instant::now() >= self.until {
                return None;
            }
            let stopping = self.asker.gw.stopping.clone();
            tokio::select! {
                biased;
                delivery = self.events.recv() => match delivery {
                    Some(Delivery::Message(m)) => self.take(&m).await,
                    Some(Delivery::Lost(_)) => self.resync().await,
                    None => return None,
                },
                _ = async { match &mut self.reply { Some(r) => r.await, None => std::future::pending().await } } => {
                    self.reply = None;
                    self.catch_up().await;
                }
                () = &mut self.heartbeat => {
                    if Instant::now() >= self.until {
                        return None;
                    }
                    self.heartbeat.as_mut().reset(Instant::now() + self.asker.gw.options.times.heartbeat);
                    self.quiet += 1;
                    // The process that answers may have died in silence.
                    if self.quiet.is_multiple_of(2) {
                        self.catch_up().await;
                    }
                    return Some(Bytes::from_static(b": still here\n\n"));
                }
                () = stopping.cancelled() => {
                    self.catch_up().await;
                    if self.ready.is_empty() {
                        return None;
                    }
                    self.ended = true;
                }
            }
        }
    }

    async fn take(&mut self, message: &Message) {
        let Ok(p) = serde_json::from_slice::<Progress>(&message.payload) else {
            tracing::warn!(of = %self.source.id(), "an unreadable progress event was skipped");
            return;
        };
        if p.seq > self.last.saturating_add(1) {
            self.resync().await;
        }
        // Whatever catching up has brought is not sent again.
        if p.seq == self.last.saturating_add(1) {
            self.push(p.seq, p.event, p.data.get());
        }
    }

    async fn resync(&mut self) {
        self.asker.gw.metrics.stream_resyncs.inc();
        self.catch_up().await;
    }

    /// Reads what the bus did not bring. A failure is not the stream's end: the next event tries again.
    async fn catch_up(&mut self) {
        match self.missed().await {
            Ok(page) => self.put(page).await,
            Err(fault) => {
                tracing::warn!(error = %fault, of = %self.source.id(), "a stream could not catch up");
                if fault.code == Code::NotFound {
                    self.ended = true;
                }
            }
        }
    }

    /// Borrows nothing of the reader: its pending reply cannot be shared between threads.
    fn missed(&self) -> impl Future<Output = Result<EventPage, Fault>> + Send + use<> {
        let (source, after) = (self.source, self.last);
        let asker = self.asker.clone();
        async move {
            let (gw, id) = (&asker.gw, asker.request_id);
            let actor = asker.caller.as_ref().map(|c| &c.actor);
            match source {
                Source::Turn(conversation_id, turn_id) => {
                    let ask = TurnEvents {
                        conversation_id,
                        turn_id,
                        after,
                    };
                    gw.call(asker.target("chat", "turn_events"), actor, id, "", &ask)
                        .await
                }
                Source::Execution(execution) => {
                    let ask = ReplayExecution {
                        id: execution,
                        after,
                    };
                    gw.call(asker.target("flow", "watch"), actor, id, "", &ask)
                        .await
                }
            }
        }
    }

    async fn put(&mut self, mut page: EventPage) {
        loop {
            for e in page
                .events
                .iter()
                .filter(|e| e.seq > self.last)
                .collect::<Vec<_>>()
            {
                self.push(e.seq, &e.event, &e.data.to_string());
            }
            if page.ended {
                self.ended = true;
            }
            if !page.more {
                return;
            }
            match self.missed().await {
                Ok(next) => page = next,
                Err(fault) => {
                    tracing::warn!(error = %fault, of = %self.source.id(), "a stream could not catch up");
                    return;
                }
            }
        }
    }

    fn push(&mut self, seq: u32, event: &str, data: &str) {
        self.last = seq;
        self.quiet = 0;
        self.heartbeat
            .as_mut()
            .reset(Instant::now() + self.asker.gw.options.times.heartbeat);
        self.ready.push_back(Bytes::from(format!(
            "id: {seq}\nevent: {event}\ndata: {data}\n\n"
        )));
        self.asker.gw.metrics.stream_events.inc();
        match (self.source, event) {
            // A flow's last event says what came out; that nothing follows is said as it is for turns.
            (Source::Execution(_), "flow_completed") => {
                self.push(seq.saturating_add(1), "done", "{}")
            }
            (_, "done") => self.ended = true,
            _ => {}
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.asker.gw.metrics.streams.dec();
    }
}
