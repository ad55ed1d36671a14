//! `with-postgres -- command args…` runs a command with a throw-away PostgreSQL in `QADRA_TEST_DATABASE_URL`, and
//! ends with the command's exit code.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};

use anyhow::{Context, Result};
use qadra_testkit::db::{Throwaway, URL_VARIABLE};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("with-postgres: {error:#}");
            ExitCode::from(125)
        }
    }
}

async fn run() -> Result<u8> {
    let mut arguments = std::env::args_os().skip(1).peekable();
    arguments.next_if(|first| first == "--");
    let program = arguments
        .next()
        .context("no command given; hint: with-postgres -- cargo nextest run")?;

    // Before the server starts, so that a signal in between does not leave it to the kernel.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let server = Throwaway::start().await?;
    let mut command = Command::new(&program);
    command
        .args(arguments)
        .env(URL_VARIABLE, server.cluster().superuser_url());
    // `cargo run` tells us about our own package. A cargo below would take that for a change of its environment
    // and build ring, with everything on it, anew on every switch between the two ways to call it.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_")
            || name.to_string_lossy().starts_with("CARGO_MANIFEST_")
        {
            command.env_remove(name);
        }
    }
    let spawned = command.spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            tokio::task::spawn_blocking(|| server.stop()).await??;
            return Err(error).with_context(|| format!("run {}", program.display()));
        }
    };
    let status = loop {
        tokio::select! {
            status = child.wait() => break status.context("wait for the command")?,
            // Ctrl-C reaches the command too; a second copy would read as impatience.
            _ = interrupt.recv() => if File::open("/dev/tty").is_err() { pass_on(&child, Signal::INT) },
            _ = terminate.recv() => pass_on(&child, Signal::TERM),
        }
    };
    tokio::task::spawn_blocking(|| server.stop()).await??;
    Ok(code_of(status))
}

fn pass_on(child: &Child, signal: Signal) {
    // The id is there until the child is waited for.
    let pid = child
        .id()
        .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    if let Some(pid) = pid
        && let Err(error) = kill_process(pid, signal)
    {
        eprintln!("with-postgres: could not pass the signal on: {error}");
    }
}

/// As a shell says it.
fn code_of(status: ExitStatus) -> u8 {
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    u8::try_from(code).unwrap_or(1)
}
