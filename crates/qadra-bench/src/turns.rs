//! Turns per second against what the same disk lets PostgreSQL commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use tokio::task::JoinSet;

use crate::api::{Api, needle};
use crate::model;
use crate::process::Cpu;
use crate::report::{Report, Sample, rounded};
use crate::stage::Stage;
use crate::{api, disk};

const TOKENS: usize = 5;
const WARM_UP: Duration = Duration::from_secs(1);
const MEASURED: Duration = Duration::from_secs(5);
/// Used in turn: none ever has two turns at once, and none grows long.
const THREADS: usize = 1_000;

pub(crate) async fn measure(stage: &mut Stage, api: &Api, report: &mut Report) -> Result<()> {
    let commits = disk::commits(stage).await?;
    let sync = disk::syncs(stage.dir().join("sync")).await?;
    report.add(
        "fdatasync_p50",
        "write and fdatasync of 8 KiB, p50",
        (sync.percentile(50), "ms"),
        None,
        sync.json(),
    );
    report.add(
        "commits_per_second",
        format!("PostgreSQL commits, {} connections", disk::CONNECTIONS),
        (commits.rate, "/s"),
        None,
        json!({"latency": commits.latency.json(), "connections": disk::CONNECTIONS}),
    );
    let agent = api
        .agent(
            &mut api.conn().await?,
            &format!("{}-fast", model::named(TOKENS, 0)),
        )
        .await?;
    let threads: Arc<[api::Thread]> = api.threads(THREADS).await?.into();
    for (name, about, clients, streamed) in [
        (
            "turns_32_whole",
            "turns, 32 clients, whole answers",
            32,
            false,
        ),
        ("turns_32_streamed", "turns, 32 clients, streamed", 32, true),
        (
            "turns_100_whole",
            "turns, 100 clients, whole answers",
            100,
            false,
        ),
        (
            "turns_100_streamed",
            "turns, 100 clients, streamed",
            100,
            true,
        ),
    ] {
        let load = Load {
            api: api.clone(),
            agent: agent.clone(),
            threads: threads.clone(),
            streamed,
            next: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
        };
        let run = run(stage, load, clients).await?;
        let rate = run.latency.len() as f64 / MEASURED.as_secs_f64();
        report.add(
            name,
            format!("{about}: {rate:.0}/s ÷ commits/s"),
            (rate / commits.rate, "×"),
            None,
            json!({
                "turns_per_second": rounded(rate), "commits_per_second": rounded(commits.rate), "bound": 0.5,
                "latency": run.latency.json(), "cpu_ms_per_turn": run.cpu,
            }),
        );
    }
    Ok(())
}

struct Load {
    api: Api,
    agent: String,
    threads: Arc<[api::Thread]>,
    streamed: bool,
    next: AtomicUsize,
    stop: AtomicBool,
}

struct Run {
    latency: Sample,
    cpu: std::collections::BTreeMap<&'static str, f64>,
}

async fn run(stage: &Stage, load: Load, clients: usize) -> Result<Run> {
    let load = Arc::new(load);
    let mut tasks = JoinSet::new();
    for _ in 0..clients {
        tasks.spawn(client(load.clone()));
    }
    let groups = stage.groups();
    let failed = |tasks: &mut JoinSet<Result<Vec<Ended>>>| {
        // A client ends before it is told to only by an error.
        match tasks.try_join_next() {
            Some(Ok(Err(error))) => Err(error),
            _ => Ok(()),
        }
    };
    tokio::time::sleep(WARM_UP).await;
    let (from, before) = (Instant::now(), Cpu::of(&groups));
    tokio::time::sleep(MEASURED).await;
    let (until, after) = (Instant::now(), Cpu::of(&groups));
    failed(&mut tasks)?;
    load.stop.store(true, Ordering::Relaxed);
    let mut ended = Vec::new();
    while let Some(done) = tasks.join_next().await {
        ended.extend(done??);
    }
    let latency: Sample = ended
        .iter()
        .filter(|turn| (from..until).contains(&turn.at))
        .map(|turn| turn.took)
        .collect();
    let cpu = after.since(&before, latency.len());
    Ok(Run { latency, cpu })
}

struct Ended {
    at: Instant,
    took: Duration,
}

async fn client(load: Arc<Load>) -> Result<Vec<Ended>> {
    let mut conn = load.api.conn().await?;
    let mut ended = Vec::new();
    while !load.stop.load(Ordering::Relaxed) {
        let number = load.next.fetch_add(1, Ordering::Relaxed) % load.threads.len();
        let thread = load.threads.get(number).context("there is no thread")?;
        let request = load.api.ask(thread, &load.agent, load.streamed);
        let seen = conn.exchange(&request, &needle(true)).await?;
        let whole = match load.streamed {
            true => seen.hits == TOKENS,
            false => true,
        };
        ensure!(
            seen.status == 200 && whole,
            "a turn was answered {} with {} tokens: {}",
            seen.status,
            seen.hits,
            seen.text()
        );
        ended.push(Ended {
            at: Instant::now(),
            took: seen.total,
        });
    }
    Ok(ended)
}
