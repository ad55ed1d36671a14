//! The time that Qadra adds before the first token.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use serde_json::json;
use tokio::task::JoinSet;

use crate::api::{Api, direct, needle};
use crate::client::{Conn, Seen};
use crate::model;
use crate::process::Cpu;
use crate::report::{Report, Sample, rounded};
use crate::stage::Stage;

const PAIRS: usize = 300;
const WARM_UP: usize = 30;

const STREAMS: usize = 100;
const TOKENS: usize = 50;
const GAP_MS: u64 = 20;
/// Turns of one stream in one round; the first, during which the others start, is not counted.
const TURNS_EACH: usize = 11;
const ROUNDS: usize = 2;

pub(crate) async fn measure(stage: &mut Stage, api: &Api, report: &mut Report) -> Result<()> {
    let mut conn = api.conn().await?;
    let grounding = api.grounding(&mut conn).await?;
    one_after_another(stage, api, &grounding, report).await?;
    hundred_at_once(stage, api, &grounding, report).await
}

/// Direct and through Qadra in turn, so that what else the machine does meets both.
async fn one_after_another(
    stage: &Stage,
    api: &Api,
    grounding: &str,
    report: &mut Report,
) -> Result<()> {
    const SAID: usize = 5;
    let agent = api
        .agent(&mut api.conn().await?, &model::named(SAID, 0))
        .await?;
    let threads = api.threads(WARM_UP + PAIRS).await?;
    let (mut to_model, mut to_qadra) =
        (Conn::open(stage.model().address).await?, api.conn().await?);
    let bare = direct(grounding, SAID, 0);
    let (mut without, mut with) = (Vec::new(), Vec::new());
    let groups = stage.groups();
    let before = Cpu::of(&groups);
    for (number, thread) in threads.iter().enumerate() {
        let seen = to_model.exchange(&bare, &needle(false)).await?;
        let first = checked(&seen, SAID)?;
        let asked = api.ask(thread, &agent, true);
        let seen = to_qadra.exchange(&asked, &needle(true)).await?;
        if number >= WARM_UP {
            without.push(first);
            with.push(checked(&seen, SAID)?);
        }
    }
    let (without, with): (Sample, Sample) =
        (without.into_iter().collect(), with.into_iter().collect());
    let used = Cpu::of(&groups).since(&before, threads.len());
    let detail = json!({
        "direct": without.json(), "through_qadra": with.json(), "cpu_ms_per_pair": used,
    });
    let p50 = with.percentile(50) - without.percentile(50);
    let p99 = with.percentile(99) - without.percentile(99);
    report.add(
        "first_token_overhead_sequential_p50",
        "first token, one at a time, overhead p50",
        (p50, "ms"),
        Some(3.0),
        detail.clone(),
    );
    report.add(
        "first_token_overhead_sequential_p99",
        "first token, one at a time, overhead p99",
        (p99, "ms"),
        None,
        detail,
    );
    Ok(())
}

async fn hundred_at_once(
    stage: &Stage,
    api: &Api,
    grounding: &str,
    report: &mut Report,
) -> Result<()> {
    let agent = api
        .agent(&mut api.conn().await?, &model::named(TOKENS, GAP_MS))
        .await?;
    let turns = STREAMS * TURNS_EACH;
    let threads = api.threads(turns * ROUNDS).await?;
    let bare = direct(grounding, TOKENS, GAP_MS);
    let groups = stage.groups();
    let (mut without, mut with) = (Sample::default(), Sample::default());
    let (mut rate, mut used) = (0.0, None);
    for round in threads.chunks(turns) {
        let requests = Arc::from(vec![bare.clone(); turns]);
        let run = streams(stage.model().address, requests, needle(false)).await?;
        without = without.merged(run.first);
        let requests: Vec<Bytes> = round
            .iter()
            .map(|thread| api.ask(thread, &agent, true))
            .collect();
        let before = Cpu::of(&groups);
        let run = streams(api.address, requests.into(), needle(true)).await?;
        used = Some(Cpu::of(&groups).since(&before, turns));
        rate = turns as f64 / run.took.as_secs_f64();
        with = with.merged(run.first);
    }
    let detail = json!({
        "streams": STREAMS, "turns_per_second": rounded(rate), "direct": without.json(), "through_qadra": with.json(),
        "cpu_ms_per_turn": used,
    });
    for (name, about, percent, goal) in [
        (
            "first_token_overhead_100_streams_p50",
            "first token, 100 streams, overhead p50",
            50,
            3.0,
        ),
        (
            "first_token_overhead_100_streams_p99",
            "first token, 100 streams, overhead p99",
            99,
            25.0,
        ),
    ] {
        let value = with.percentile(percent) - without.percentile(percent);
        report.add(name, about, (value, "ms"), Some(goal), detail.clone());
    }
    Ok(())
}

struct Run {
    first: Sample,
    took: Duration,
}

/// Each stream asks its share of the requests one after another; they start spread over the length of an answer.
async fn streams(address: SocketAddr, requests: Arc<[Bytes]>, needle: Vec<u8>) -> Result<Run> {
    let length = Duration::from_millis(GAP_MS) * TOKENS as u32;
    let next = Arc::new(AtomicUsize::new(0));
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for number in 0..STREAMS {
        let (requests, next, needle) = (requests.clone(), next.clone(), needle.clone());
        tasks.spawn(async move {
            tokio::time::sleep(length * number as u32 / STREAMS as u32).await;
            let mut conn = Conn::open(address).await?;
            let mut first = Vec::with_capacity(TURNS_EACH);
            for turn in 0..TURNS_EACH {
                let request = requests
                    .get(next.fetch_add(1, Ordering::Relaxed))
                    .context("there are fewer requests than turns")?;
                let seen = conn.exchange(request, &needle).await?;
                let waited = checked(&seen, TOKENS)?;
                if turn > 0 {
                    first.push(waited);
                }
            }
            anyhow::Ok(first)
        });
    }
    let mut first = Vec::new();
    while let Some(done) = tasks.join_next().await {
        first.extend(done??);
    }
    Ok(Run {
        first: first.into_iter().collect(),
        took: begun.elapsed(),
    })
}

/// The time to the first token of an answer that came whole.
fn checked(seen: &Seen, tokens: usize) -> Result<Duration> {
    ensure!(
        seen.status == 200 && seen.hits == tokens,
        "an answer (status {}) had {} tokens instead of {tokens}: {}",
        seen.status,
        seen.hits,
        seen.text()
    );
    seen.first.context("an answer had no token")
}
