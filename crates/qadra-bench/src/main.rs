//! `qadra-bench` measures a built `qadra` against the model, the database and the HTTP server that it stands on,
//! all in one run on one machine. What the figures mean is in `docs/benchmarks.md`.
//!
//! It uses loopback only, changes nothing outside a directory of its own, and ends everything that it starts.

mod api;
mod bed;
mod client;
mod crash;
mod disk;
mod knowledge;
mod machine;
mod memory;
mod model;
mod overhead;
mod process;
mod reference;
mod report;
mod stage;
mod threads;
mod turns;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand, ValueEnum};
use tokio::signal::unix::{SignalKind, signal};

use report::Report;
use stage::Stage;

/// All of it takes less; a run that hangs is cut off here.
const LONGEST: Duration = Duration::from_secs(235);

/// Measures a built qadra against what it stands on.
#[derive(Parser)]
#[command(subcommand_negates_reqs = true)]
struct Cli {
    /// The program to measure
    #[arg(long, value_name = "PATH", required = true)]
    qadra: Option<PathBuf>,
    /// Only these parts
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// Where databases and logs stand during the run; must be on a disk
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(subcommand)]
    serve: Option<Serve>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Part {
    Overhead,
    Turns,
    Threads,
    Memory,
}

/// What the benchmark starts itself as, in processes of their own.
#[derive(Subcommand)]
enum Serve {
    #[command(hide = true)]
    Model,
    #[command(hide = true)]
    Sse {
        bytes: usize,
    },
    Knowledge(knowledge::Arguments),
    Crash(crash::Arguments),
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("qadra-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<()> {
    // The servers run as Qadra does; the client keeps to one thread, to leave the cores to what it measures.
    let mut runtime = match cli.serve {
        Some(_) => tokio::runtime::Builder::new_multi_thread(),
        None => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = runtime
        .enable_all()
        .build()
        .context("start the async runtime")?;
    let done = match cli.serve {
        Some(Serve::Model) => runtime.block_on(model::serve()),
        Some(Serve::Sse { bytes }) => runtime.block_on(reference::serve(bytes)),
        Some(Serve::Knowledge(arguments)) => runtime.block_on(knowledge::run(arguments)),
        Some(Serve::Crash(arguments)) => runtime.block_on(crash::run(arguments)),
        None => runtime.block_on(bench(cli)),
    };
    // A read of standard input that will not end must not keep the process.
    runtime.shutdown_background();
    done
}

async fn bench(cli: Cli) -> Result<()> {
    let begun = Instant::now();
    let program = cli.qadra.context("--qadra is missing")?;
    let dir = cli.dir.unwrap_or_else(scratch);
    let files = process::raise_file_limit()?;
    let mut facts = machine::facts(&dir);
    facts["open_files"] = files.into();
    eprintln!("{facts}");
    if machine::file_system(&dir) == "tmpfs" {
        eprintln!(
            "warning: {} is in memory, so commits wait for no disk; choose another with --dir",
            dir.display()
        );
    }
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut stage = Stage::set(&program, &dir).await?;
    let mut report = Report::default();
    let done = tokio::select! {
        done = tokio::time::timeout(LONGEST, parts(&mut stage, &cli.only, &mut report)) => {
            done.unwrap_or_else(|_| bail_late())
        }
        _ = interrupt.recv() => Err(anyhow::anyhow!("interrupted")),
        _ = terminate.recv() => Err(anyhow::anyhow!("terminated")),
    };
    let log = stage.log_end();
    let done = done.map_err(|error| anyhow::anyhow!("{error:#}\nQadra's log ends with:\n{log}"));
    let cleared = stage.clear().await;
    facts["load_at_end"] = machine::load().into();
    facts["seconds"] = begun.elapsed().as_secs().into();
    report.print(&facts);
    match report.missed() {
        0 => eprintln!("took {} s", begun.elapsed().as_secs()),
        missed => eprintln!(
            "took {} s; goals missed: {missed}",
            begun.elapsed().as_secs()
        ),
    }
    done.and(cleared)
}

fn bail_late() -> Result<()> {
    bail!(
        "the benchmark was not over within {} seconds",
        LONGEST.as_secs()
    )
}

async fn parts(stage: &mut Stage, only: &[Part], report: &mut Report) -> Result<()> {
    let wanted = |part: Part| only.is_empty() || only.contains(&part);
    let (address, _) = stage.qadra().await?;
    let api = api::Api::register(address).await?;
    let filled = threads::fill(stage, &api).await?;
    if wanted(Part::Overhead) {
        eprintln!("time to the first token");
        overhead::measure(stage, &api, report).await?;
    }
    if wanted(Part::Turns) {
        eprintln!("turns per second");
        turns::measure(stage, &api, report).await?;
    }
    if wanted(Part::Threads) {
        eprintln!("long threads");
        threads::measure(filled, &api, report).await?;
    }
    // The last: it starts Qadra anew.
    if wanted(Part::Memory) {
        eprintln!("memory of idle streams");
        memory::measure(stage, &api, report).await?;
    }
    Ok(())
}

/// Below the build directory that this program stands in, which is on a disk; /tmp often is not.
fn scratch() -> PathBuf {
    let build = std::env::current_exe().ok().and_then(|program| {
        let target = program
            .ancestors()
            .find(|dir| dir.join("CACHEDIR.TAG").is_file())?;
        let dir = target.join("tmp");
        std::fs::create_dir_all(&dir).ok()?;
        Some(dir)
    });
    build.unwrap_or_else(std::env::temp_dir)
}
