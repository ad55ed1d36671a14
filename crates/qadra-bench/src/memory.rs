//! What an idle stream takes of the server's memory.

use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use serde_json::{Value, json};
use std::net::SocketAddr;

use crate::api::{Api, needle};
use crate::client::{Conn, request};
use crate::model;
use crate::process::{Memory, Served};
use crate::report::{Report, rounded};
use crate::stage::Stage;

const READERS: usize = 2_000;
const SHARED_TURNS: usize = 4;
const OWN_TURNS: usize = 500;
/// Code and pools that the first stream brings in are not what one more stream costs.
const WARM_UP: usize = 5;
/// Longer than the 15 seconds between two heartbeats, which a stream must not grow by.
const HEARTBEAT: Duration = Duration::from_secs(16);
const SETTLE: Duration = Duration::from_secs(2);

pub(crate) async fn measure(stage: &mut Stage, api: &Api, report: &mut Report) -> Result<()> {
    let (readers, first_bytes) = many_readers(stage, api, report).await?;
    let server = Served::own(&["sse", &first_bytes.to_string()]).await?;
    let asked = request("GET", "/", None, None);
    let bare = grown(
        server.address,
        server.pid,
        &asked_often(&asked),
        b"event: token",
        SETTLE,
    )
    .await;
    server.stop().await?;
    let bare = bare?;
    report.add(
        "idle_stream_memory_bare_axum",
        format!("memory of an idle stream, bare axum, {READERS} readers"),
        (bare.per_stream(), "KB"),
        None,
        bare.json(),
    );
    report.add(
        "idle_stream_memory_over_bare_axum",
        "… of Qadra ÷ bare axum",
        (readers / bare.per_stream(), "×"),
        None,
        json!({}),
    );
    own_turns(stage, api, report).await
}

/// Readers that attach to a few turns. Returns the figure and the length of what a reader is first sent.
async fn many_readers(stage: &mut Stage, api: &Api, report: &mut Report) -> Result<(f64, usize)> {
    // A process in which nothing has been freed yet that the streams could take.
    let (address, pid) = stage.qadra().await?;
    let api = &Api {
        address,
        ..api.clone()
    };
    let (turns, _held) = hanging(api, SHARED_TURNS).await?;
    let requests: Vec<Bytes> = (0..WARM_UP + READERS)
        .filter_map(|number| turns.get(number % turns.len()))
        .map(|path| api.request("GET", path, None))
        .collect();
    let mut conn = api.conn().await?;
    let first = requests.first().context("there is no turn to attach to")?;
    let length = conn.until(first, &needle(true)).await?;
    drop(conn);
    let grown = grown(address, pid, &requests, &needle(true), HEARTBEAT).await?;
    report.add(
        "idle_stream_memory",
        format!("memory of an idle stream, {READERS} readers of {SHARED_TURNS} turns"),
        (grown.per_stream(), "KB"),
        Some(40.0),
        grown.json(),
    );
    Ok((grown.per_stream(), length))
}

/// Streams each with a turn and a connection to the model of its own.
async fn own_turns(stage: &mut Stage, api: &Api, report: &mut Report) -> Result<()> {
    let (address, pid) = stage.qadra().await?;
    let api = &Api {
        address,
        ..api.clone()
    };
    let agent = hanging_agent(api).await?;
    let requests: Vec<Bytes> = api
        .threads(WARM_UP + OWN_TURNS)
        .await?
        .iter()
        .map(|thread| api.ask(thread, &agent, true))
        .collect();
    let grown = grown(address, pid, &requests, &needle(true), SETTLE).await?;
    report.add(
        "idle_turn_memory",
        format!("memory of a waiting turn with its stream, {OWN_TURNS} turns"),
        (grown.per_stream(), "KB"),
        None,
        grown.json(),
    );
    Ok(())
}

/// Turns whose model has said one token and no more: the paths of their streams, and the connections that hold them.
async fn hanging(api: &Api, count: usize) -> Result<(Vec<String>, Vec<Conn>)> {
    let agent = hanging_agent(api).await?;
    let (mut paths, mut held) = (Vec::new(), Vec::new());
    let mut asking = api.conn().await?;
    for thread in api.threads(count).await? {
        let mut conn = api.conn().await?;
        conn.until(&api.ask(&thread, &agent, true), &needle(true))
            .await?;
        let path = format!("/api/conversations/{}", thread.id);
        let conversation = api.call(&mut asking, "GET", &path, None).await?;
        let turn = crate::api::text(&conversation, "/running_turn_id")?;
        paths.push(format!("{path}/turns/{turn}/stream"));
        held.push(conn);
    }
    Ok((paths, held))
}

async fn hanging_agent(api: &Api) -> Result<String> {
    let mut conn = api.conn().await?;
    let listed = api
        .call(&mut conn, "GET", "/api/agents?limit=100", None)
        .await?;
    let known = listed
        .pointer("/items")
        .and_then(Value::as_array)
        .and_then(|agents| {
            agents
                .iter()
                .find(|agent| agent.get("model").and_then(Value::as_str) == Some(model::HANGS))
        });
    match known {
        Some(agent) => crate::api::text(agent, "/id"),
        None => api.agent(&mut conn, model::HANGS).await,
    }
}

fn asked_often(request: &Bytes) -> Vec<Bytes> {
    vec![request.clone(); WARM_UP + READERS]
}

struct Grown {
    before: Memory,
    open: Memory,
    later: Memory,
    streams: usize,
}

impl Grown {
    fn per_stream(&self) -> f64 {
        self.over(|memory| memory.rss)
    }

    fn over(&self, of: impl Fn(&Memory) -> u64) -> f64 {
        let after = of(&self.open).max(of(&self.later));
        after.saturating_sub(of(&self.before)) as f64 / self.streams as f64
    }

    fn json(&self) -> Value {
        json!({
            "streams": self.streams, "pss_kb_per_stream": rounded(self.over(|memory| memory.pss)),
            "rss_kb": {"before": self.before.rss, "open": self.open.rss, "later": self.later.rss},
        })
    }
}

/// Opens a stream with each request, and compares the server's memory before, after, and after another `wait`.
async fn grown(
    address: SocketAddr,
    pid: u32,
    requests: &[Bytes],
    needle: &[u8],
    wait: Duration,
) -> Result<Grown> {
    let (warm_up, counted) = requests.split_at(WARM_UP.min(requests.len()));
    let mut held = Vec::with_capacity(requests.len());
    open(address, warm_up, needle, &mut held).await?;
    tokio::time::sleep(SETTLE).await;
    let before = Memory::of(pid)?;
    open(address, counted, needle, &mut held).await?;
    tokio::time::sleep(SETTLE).await;
    let open = Memory::of(pid)?;
    tokio::time::sleep(wait).await;
    let later = Memory::of(pid)?;
    Ok(Grown {
        before,
        open,
        later,
        streams: counted.len(),
    })
}

/// A few at a time: the peak of all at once would stay with the process and be taken for the streams' own.
async fn open(
    address: SocketAddr,
    requests: &[Bytes],
    needle: &[u8],
    held: &mut Vec<Conn>,
) -> Result<()> {
    for some in requests.chunks(16) {
        let opening = some.iter().map(|request| async move {
            let mut conn = Conn::open(address).await?;
            conn.until(request, needle).await?;
            anyhow::Ok(conn)
        });
        held.extend(futures::future::try_join_all(opening).await?);
    }
    Ok(())
}
