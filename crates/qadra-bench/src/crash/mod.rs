//! Crash test of flows: the real `qadra worker` processes run mixed flows while a seeded driver kills them, freezes them
//! past their lease, or kills PostgreSQL. What must hold is in `verdict`; what each run shows is printed.

mod blows;
mod dice;
mod kinds;
mod load;
mod record;
mod stub;
mod verdict;
mod yard;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::ValueEnum;
use qadra_store::Store;
use serde_json::json;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio::time::timeout;

use blows::{Blows, Dealt};
use dice::Dice;
use load::Load;
use stub::Stub;
use verdict::What;
use yard::Yard;

/// Kills and freezes workers, and PostgreSQL, under running flows
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The program to test
    #[arg(long, value_name = "PATH")]
    qadra: PathBuf,
    /// Workers killed; with `all`, a twentieth as often one is frozen, and a fiftieth as often PostgreSQL is killed
    #[arg(long, default_value_t = 500)]
    kills: usize,
    /// The same seed gives the same flows and the same blows, not the same moments
    #[arg(long)]
    seed: Option<u64>,
    /// Strike no more after so many minutes
    #[arg(long)]
    minutes: Option<u64>,
    #[arg(long, value_enum, default_value_t = Mode::All)]
    mode: Mode,
    /// Processes that run flows
    #[arg(long, default_value_t = 3)]
    workers: usize,
    /// Executions kept going
    #[arg(long, default_value_t = 12)]
    runs: usize,
    /// Where the database stands
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Leave the database and the logs of the workers
    #[arg(long)]
    keep: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Mode {
    Kill,
    Freeze,
    Postgres,
    All,
}

/// The lease of the workers under test.
const LEASE: Duration = Duration::from_secs(1);
/// How long after the lease others must have taken over.
const GRACE: Duration = Duration::from_secs(2);
/// How long everything may take to end once nothing is struck any more. A flow takes at most a few seconds.
const BOUND: Duration = Duration::from_secs(60);
const TENANTS: usize = 3;

pub(crate) async fn run(arguments: Arguments) -> Result<()> {
    let seed = arguments
        .seed
        .unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0 >> 32);
    eprintln!("seed {seed}");
    let mut dice = Dice::new(seed);
    let dir = arguments.dir.clone().unwrap_or_else(crate::scratch);
    let stub = Stub::serve(dice.fork()).await?;
    let mut yard = Yard::new(&dir, &arguments.qadra, stub.address.to_string(), LEASE).await?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let done = tokio::select! {
        done = all(&arguments, seed, &mut yard, &stub, dice) => done,
        _ = interrupt.recv() => Err(anyhow::anyhow!("interrupted")),
        _ = terminate.recv() => Err(anyhow::anyhow!("terminated")),
    };
    let cleared = yard.clear(arguments.keep).await;
    done.and(cleared)
}

async fn all(
    arguments: &Arguments,
    seed: u64,
    yard: &mut Yard,
    stub: &Stub,
    mut dice: Dice,
) -> Result<()> {
    let store = Store::open(yard.database()?.connect_options(), 8);
    store.migrate().await?;
    let admin = PgPoolOptions::new()
        .max_connections(4)
        .connect_with(yard.superuser()?)
        .await?;
    for _ in 0..arguments.workers.max(2) {
        yard.add().await?;
    }
    let until = arguments
        .minutes
        .map(|m| Instant::now() + Duration::from_secs(m * 60));
    let kills = arguments.kills;
    let mut wrong = 0;
    for (mode, what, times) in [
        (Mode::Kill, What::Kill, kills),
        (Mode::Freeze, What::Freeze, kills.div_ceil(20)),
        (Mode::Postgres, What::Postgres, kills.div_ceil(50)),
    ] {
        let times = match arguments.mode {
            Mode::All => times,
            one if one == mode => kills,
            _ => continue,
        };
        let phase = Phase {
            what,
            times,
            until,
            runs: arguments.runs,
        };
        wrong += phase
            .run(yard, stub, (&store, &admin), &mut dice, seed)
            .await?;
    }
    admin.close().await;
    store.close().await;
    match wrong {
        0 => Ok(()),
        n => bail!("{n} rules were broken; seed {seed}"),
    }
}

/// One kind of blow, with executions of its own.
struct Phase {
    what: What,
    times: usize,
    until: Option<Instant>,
    runs: usize,
}

impl Phase {
    async fn run(
        &self,
        yard: &mut Yard,
        stub: &Stub,
        (store, admin): (&Store, &PgPool),
        dice: &mut Dice,
        seed: u64,
    ) -> Result<usize> {
        let begun = Instant::now();
        let load =
            Arc::new(Load::new(store.clone(), stub, TENANTS, self.what == What::Freeze).await?);
        let mut slots = JoinSet::new();
        for _ in 0..self.runs.max(1) {
            slots.spawn(load.clone().slot(dice.fork()));
        }
        let mut blows = Blows::new(admin.clone(), LEASE, GRACE);
        let mut dealt = 0;
        while dealt < self.times && self.until.is_none_or(|until| Instant::now() < until) {
            let before = dealt;
            dealt += match self.what {
                What::Kill => blows.kill(yard, dice, self.times - dealt).await?,
                What::Freeze => blows.freeze(yard, dice).await?,
                What::Postgres => blows.postgres(yard, dice).await?,
            };
            if dealt / 50 > before / 50 {
                eprintln!(
                    "  {dealt} of {}, {} runs have ended",
                    self.times,
                    load.ended()
                );
            }
        }
        load.stop();
        let struck = begun.elapsed();
        let ended = timeout(BOUND, async { while slots.join_next().await.is_some() {} }).await;
        slots.abort_all();
        let Dealt {
            blows,
            resumed,
            mut wrong,
        } = blows.end().await;
        let found = record::judge(
            store,
            admin,
            &load.started(),
            &stub.take(),
            &blows,
            &mut wrong,
        )
        .await?;
        if ended.is_err() {
            wrong.insert(
                0,
                format!(
                    "not everything has ended {} s after the last blow",
                    BOUND.as_secs()
                ),
            );
        }
        for error in yard.errors() {
            wrong.push(format!("a worker says: {error}"));
        }
        for message in wrong.iter().take(40) {
            println!("WRONG  {message}");
        }
        let seconds = |d: Duration| (d.as_secs_f64() * 1e3).round() / 1e3;
        println!(
            "{}",
            json!({
                "blows": self.what.name(), "seed": seed, "dealt": dealt, "workers": yard.len(), "lease_seconds": LEASE.as_secs(),
                "runs": found.runs, "children": found.children, "nodes": found.nodes, "calls": found.calls.all,
                "repeated_calls": found.calls.repeated, "late_calls_after_thaw": found.calls.late,
                "held_when_struck": blows.iter().map(|b| b.held.len()).sum::<usize>(),
                "taken_over": resumed.len(), "slowest_resume_seconds": resumed.iter().max().copied().map(seconds),
                "median_resume_seconds": median(&resumed).map(seconds), "answered_twice_at_once": found.answered_twice,
                "wrong": wrong.len(), "seconds": seconds(struck), "seconds_in_all": seconds(begun.elapsed()),
            })
        );
        Ok(wrong.len())
    }
}

fn median(durations: &[Duration]) -> Option<Duration> {
    let mut sorted = durations.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

impl What {
    fn name(self) -> &'static str {
        match self {
            Self::Kill => "workers killed",
            Self::Freeze => "workers frozen",
            Self::Postgres => "PostgreSQL killed",
        }
    }
}
