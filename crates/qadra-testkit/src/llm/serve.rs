use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use bytes::Bytes;
use futures::Stream;
use futures::stream::unfold;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request as HttpRequest, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::format::{Format, Writer};
use super::reply::{Ending, Reply, Step};
use super::{Request, Shared};

type Body = UnsyncBoxBody<Bytes, io::Error>;

pub(super) async fn run(listener: TcpListener, shared: Arc<Shared>) {
    // Dropped with this task, and all connections with it.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, peer)) = accepted {
                    connections.spawn(connection(stream, peer, Arc::clone(&shared)));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, peer: SocketAddr, shared: Arc<Shared>) {
    // A test of latency must not measure this server's batching.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| answer(request, peer, Arc::clone(&shared)));
    // An error here is a client that left or a reply that breaks the connection: both are the script.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// `Err` makes hyper close the connection without an answer.
async fn answer(
    request: HttpRequest<Incoming>,
    peer: SocketAddr,
    shared: Arc<Shared>,
) -> Result<Response<Body>, io::Error> {
    let path = request.uri().path().to_owned();
    let headers = request
        .headers()
        .iter()
        .map(|(name, value)| {
            (
                name.as_str().to_owned(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        })
        .collect();
    let bytes = request
        .into_body()
        .collect()
        .await
        .map_err(io::Error::other)?
        .to_bytes();
    let format = match path.as_str() {
        "/v1/chat/completions" => Format::OpenAi,
        "/v1/messages" => Format::Anthropic,
        _ => return not_found(&path),
    };
    let request = Request {
        path,
        headers,
        body: serde_json::from_slice(&bytes).unwrap_or_default(),
        at: Instant::now(),
        peer,
        closed_early: Arc::new(AtomicBool::new(false)),
    };
    let reply = shared.take(&request);
    let writer = Writer::new(format, &reply, &request.body, bytes.len());
    let streamed = request
        .body
        .get("stream")
        .and_then(Value::as_bool)
        .unwrap_or(false);
    let watch = Watch {
        request,
        shared,
        over: false,
    };
    if reply.status == 0 {
        return silent(&reply, watch).await;
    }
    if reply.whole || !streamed && reply.ending == Ending::Proper {
        return whole(&reply, writer, watch).await;
    }
    let raw = reply.status != 200 || reply.ending == Ending::Bare && is_raw(&reply);
    let kind = if raw {
        "application/json"
    } else {
        "text/event-stream"
    };
    let head = head(&reply, kind);
    let body = StreamBody::new(stream(reply, writer, watch, raw));
    head.body(UnsyncBoxBody::new(body))
        .map_err(io::Error::other)
}

fn is_raw(reply: &Reply) -> bool {
    reply
        .steps
        .iter()
        .all(|step| !matches!(step, Step::Token(_) | Step::Call { .. }))
}

async fn silent(reply: &Reply, mut watch: Watch) -> Result<Response<Body>, io::Error> {
    for step in &reply.steps {
        match step {
            Step::Gate(gate) => gate.pass().await,
            Step::Pause(time) => tokio::time::sleep(*time).await,
            Step::Hang => std::future::pending().await,
            _ => {}
        }
    }
    watch.over = true;
    Err(io::ErrorKind::ConnectionAborted.into())
}

async fn whole(
    reply: &Reply,
    mut writer: Writer,
    mut watch: Watch,
) -> Result<Response<Body>, io::Error> {
    for step in &reply.steps {
        match step {
            Step::Gate(gate) => gate.pass().await,
            Step::Pause(time) => tokio::time::sleep(*time).await,
            Step::Hang => std::future::pending().await,
            Step::Drop => {
                watch.over = true;
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            step => writer.gather(step),
        }
    }
    watch.over = true;
    let body = Bytes::from(writer.document().to_string());
    head(reply, "application/json")
        .body(full(body))
        .map_err(io::Error::other)
}

/// The body, one frame for every stretch of steps without a wait between them.
fn stream(
    reply: Reply,
    writer: Writer,
    watch: Watch,
    raw: bool,
) -> impl Stream<Item = Result<Frame<Bytes>, io::Error>> + Send + 'static {
    let playing = Playing {
        at: 0,
        reply,
        writer,
        watch,
        started: raw,
    };
    unfold(playing, |mut playing| async move {
        if playing.watch.over {
            return None;
        }
        let frame = playing.next_frame().await;
        Some((frame, playing))
    })
}

struct Playing {
    reply: Reply,
    writer: Writer,
    watch: Watch,
    at: usize,
    started: bool,
}

impl Playing {
    async fn next_frame(&mut self) -> Result<Frame<Bytes>, io::Error> {
        let mut out = Vec::new();
        if !std::mem::replace(&mut self.started, true) {
            self.writer.start(&mut out);
        }
        while let Some(step) = self.reply.steps.get(self.at) {
            let waits = matches!(
                step,
                Step::Gate(_) | Step::Pause(_) | Step::Hang | Step::Drop
            );
            if waits && !out.is_empty() {
                // What was said before the wait goes out before it.
                return Ok(Frame::data(out.into()));
            }
            self.at += 1;
            match step {
                Step::Gate(gate) => gate.pass().await,
                Step::Pause(time) => tokio::time::sleep(*time).await,
                Step::Hang => std::future::pending().await,
                Step::Drop => {
                    // Once around the scheduler, so that hyper has written what came before.
                    tokio::task::yield_now().await;
                    self.watch.over = true;
                    return Err(io::ErrorKind::ConnectionReset.into());
                }
                step => self.writer.step(step, &mut out),
            }
        }
        if self.reply.ending == Ending::Proper {
            self.writer.end(&mut out);
        }
        self.watch.over = true;
        Ok(Frame::data(out.into()))
    }
}

/// Tells whether the client left before the reply was over: hyper drops what it was waiting for.
struct Watch {
    request: Request,
    shared: Arc<Shared>,
    over: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.over {
            self.shared.note_close(&self.request);
        }
    }
}

fn head(reply: &Reply, kind: &str) -> hyper::http::response::Builder {
    let mut head = Response::builder().status(reply.status);
    if !reply.headers.iter().any(|(name, _)| name == "content-type") {
        head = head.header("content-type", kind);
    }
    for (name, value) in &reply.headers {
        head = head.header(name, value);
    }
    head
}

fn not_found(path: &str) -> Result<Response<Body>, io::Error> {
    let body = serde_json::json!({"error": {"message": format!("no such path: {path}")}});
    Response::builder()
        .status(StatusCode::NOT_FOUND)
        .header("content-type", "application/json")
        .body(full(body.to_string().into()))
        .map_err(io::Error::other)
}

fn full(bytes: Bytes) -> Body {
    UnsyncBoxBody::new(Full::new(bytes).map_err(|never: Infallible| match never {}))
}
