//! A service that any NATS client can talk to; `docs/bus.md` shows one that does.
//!
//! `cargo run -p qadra-nats --example toy_service nats://127.0.0.1:4222 OBJECT_DIR`

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use qadra_nats::{
    Bus, FlowProgressEvent, Headers, Message, Nats, NatsOptions, Objects, OpSubject, Reply,
    ServeOptions, Subject, serve, subjects,
};
use qadra_types::{Code, Fault};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Greet {
    name: String,
    /// `_PROGRESS.{uuid}`, if the requester wants to watch.
    progress: Option<String>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let (url, dir) = (
        args.next().context("no URL given")?,
        args.next().context("no directory given")?,
    );
    let options = NatsOptions {
        objects: Some(Objects::local(Path::new(&dir))?),
        ..NatsOptions::default()
    };
    let bus: Arc<dyn Bus> = Arc::new(Nats::connect(&url, options).await?);
    let handler = {
        let bus = bus.clone();
        move |message| answer(bus.clone(), message)
    };
    let _service = serve(
        bus,
        ServeOptions::new(subjects::every_op_of("toy")?, "toy"),
        handler,
    )
    .await?;
    println!("toy service ready");
    std::future::pending().await
}

async fn answer(bus: Arc<dyn Bus>, message: Message) -> Reply<Value> {
    let op = match OpSubject::parse(&message.subject) {
        Ok(op) => op.op,
        Err(_) => return Reply::error(Fault::not_found("operation")),
    };
    let result = match op.as_str() {
        "greet" => greet(bus, &message.payload).await,
        "count" => Ok(json!({"received_bytes": message.payload.len()})),
        "large" => Ok(json!("x".repeat(3 << 20))),
        _ => Err(Fault::not_found("operation")),
    };
    result.into()
}

async fn greet(bus: Arc<dyn Bus>, payload: &[u8]) -> Result<Value, Fault> {
    let Greet { name, progress } = serde_json::from_slice(payload)
        .map_err(|e| Fault::new(Code::MalformedJson, e.to_string()))?;
    if let Some(progress) = progress {
        let id = subjects::parse_progress(&progress).map_err(|e| Fault::invalid(e.to_string()))?;
        for (seq, event) in (1..).zip(["thinking", "done"]) {
            let event = FlowProgressEvent {
                event: event.to_owned(),
                data: json!({}),
                seq,
            };
            // Nobody has to listen, and progress that is lost is lost.
            let _ = bus
                .publish(&Subject::progress(id), Headers::new(), event.to_bytes())
                .await;
        }
    }
    Ok(json!({"greeting": format!("Hello, {name}")}))
}
