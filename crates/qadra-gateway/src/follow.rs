//! A document's changes as events: `document` with each, `done` once its state is final.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use futures::stream;
use qadra_api::{Document, DocumentState, Operation};
use qadra_nats::{Delivery, FlowProgressEvent, Message, Subject, Subscription};
use qadra_types::{Code, Fault};
use serde_json::{Value, json};
use tokio::time::{Instant, Sleep};
use uuid::Uuid;

use crate::problem::bus_fault;
use crate::sse::Asker;

/// Begins with the document as it is now; a faulty request is answered as a plain problem.
pub(crate) async fn follow(
    asker: Asker,
    operation: &Operation,
    body: Value,
) -> Result<Response, Fault> {
    let id: Uuid = body
        .get("id")
        .and_then(Value::as_str)
        .and_then(|s| s.parse().ok())
        .ok_or_else(|| Fault::not_found("document"))?;
    // Subscribed before the state is read, so that no change falls between the two.
    let events = asker
        .gw
        .bus
        .subscribe(Subject::progress(id).as_str())
        .await
        .map_err(|e| bus_fault(&e))?;
    let state: DocumentState = read(asker.ask(operation, &body).await?)?;
    let times = asker.gw.options.times;
    asker.gw.metrics.streams.inc();
    let mut follower = Follower {
        asker,
        entity: operation.entity,
        op: operation.op,
        body,
        events,
        last: None,
        ended: false,
        ready: VecDeque::new(),
        heartbeat: Box::pin(tokio::time::sleep(times.heartbeat)),
        until: Instant::now() + times.longest,
    };
    follower.put(state.seq, &state.document);
    let frames = stream::unfold(follower, |mut f| async move {
        let frame = f.next().await?;
        Some((Ok::<_, Infallible>(frame), f))
    });
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

struct Follower {
    asker: Asker,
    entity: &'static str,
    op: &'static str,
    body: Value,
    events: Subscription,
    last: Option<u32>,
    ended: bool,
    ready: VecDeque<Bytes>,
    heartbeat: Pin<Box<Sleep>>,
    until: Instant,
}

impl Follower {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Some(frame);
            }
            if self.ended || Instant::now() >= self.until {
                return None;
            }
            let stopping = self.asker.gw.stopping.clone();
            tokio::select! {
                biased;
                () = stopping.cancelled() => return None,
                delivery = self.events.recv() => match delivery {
                    Some(Delivery::Message(m)) => self.take(&m),
                    Some(Delivery::Lost(_)) => {
                        self.asker.gw.metrics.stream_resyncs.inc();
                        self.read_again().await;
                    }
                    None => return None,
                },
                () = &mut self.heartbeat => {
                    self.heartbeat.as_mut().reset(Instant::now() + self.asker.gw.options.times.heartbeat);
                    // The process that works on it may have died in silence.
                    self.read_again().await;
                    if self.ready.is_empty() {
                        return Some(Bytes::from_static(b": still here\n\n"));
                    }
                }
            }
        }
    }

    fn take(&mut self, message: &Message) {
        let event = FlowProgressEvent::from_bytes(&message.payload);
        let Ok(event) = event else {
            tracing::warn!("an unreadable progress event was skipped");
            return;
        };
        match serde_json::from_value::<Document>(event.data) {
            Ok(document) => self.put(event.seq, &document),
            Err(e) => tracing::warn!(error = %e, "an unreadable document was skipped"),
        }
    }

    async fn read_again(&mut self) {
        let actor = self.asker.caller.as_ref().map(|c| &c.actor);
        let asked = self.asker.gw.call::<DocumentState>(
            self.asker.target(self.entity, self.op),
            actor,
            self.asker.request_id,
            "",
            &self.body,
        );
        match asked.await {
            Ok(state) => self.put(state.seq, &state.document),
            Err(fault) if fault.code == Code::NotFound => self.ended = true,
            Err(fault) => tracing::warn!(error = %fault, "a stream could not catch up"),
        }
    }

    /// Later states only: an event may come after a reading that had it.
    fn put(&mut self, seq: u32, document: &Document) {
        if self.last.is_some_and(|last| seq <= last) {
            return;
        }
        self.last = Some(seq);
        self.push(seq, "document", &json!(document));
        if document.is_final() {
            let done = json!({"document_id": document.id, "status": document.ingestion_status});
            self.push(seq, "done", &done);
            self.ended = true;
        }
    }

    fn push(&mut self, seq: u32, event: &str, data: &Value) {
        self.ready.push_back(Bytes::from(format!(
            "id: {seq}\nevent: {event}\ndata: {data}\n\n"
        )));
        self.asker.gw.metrics.stream_events.inc();
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.asker.gw.metrics.streams.dec();
    }
}

fn read(state: Value) -> Result<DocumentState, Fault> {
    serde_json::from_value(state).map_err(|_| {
        Fault::new(
            Code::Internal,
            "the document could not be read from the core's answer",
        )
    })
}
