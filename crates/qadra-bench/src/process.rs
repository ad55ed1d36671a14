use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process, setrlimit};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// How long a child may take to say where it serves, and to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// The kernel counts processor time for programs in hundredths of a second.
const TICKS: f64 = 100.0;

/// A server in a process of its own. It is killed when this is dropped.
pub(crate) struct Served {
    child: Child,
    pub(crate) pid: u32,
    pub(crate) address: SocketAddr,
    /// Kept open: a pipe without a reader would end a child that writes to it.
    _stdout: Lines<BufReader<ChildStdout>>,
}

impl Served {
    /// This program again, as one of its servers.
    pub(crate) async fn own(arguments: &[&str]) -> Result<Self> {
        let program = std::env::current_exe().context("find the running program")?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped());
        Self::start(command, "").await
    }

    /// Starts `command` and waits for the line with its address, which stands after `before`.
    pub(crate) async fn start(mut command: Command, before: &str) -> Result<Self> {
        let name = format!("{command:?}", command = command.as_std().get_program());
        let mut child = command
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("run {name}"))?;
        let stdout = child
            .stdout
            .take()
            .context("the output of a child is missing")?;
        let mut lines = BufReader::new(stdout).lines();
        let reading = async {
            while let Some(line) = lines.next_line().await? {
                let address = line
                    .strip_prefix(before)
                    .and_then(|rest| rest.trim().parse().ok());
                if let Some(address) = address {
                    return Ok(address);
                }
            }
            Err(anyhow!("{name} ended before it served"))
        };
        let address = tokio::time::timeout(PATIENCE, reading)
            .await
            .with_context(|| format!("wait for {name} to serve"))??;
        let pid = child.id().context("a child has ended")?;
        Ok(Self {
            child,
            pid,
            address,
            _stdout: lines,
        })
    }

    /// Asks it to end, and makes it if it does not.
    pub(crate) async fn stop(mut self) -> Result<()> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // It may have ended already.
            let _ = kill_process(pid, Signal::TERM);
        }
        if tokio::time::timeout(PATIENCE, self.child.wait())
            .await
            .is_err()
        {
            self.child.kill().await.context("end a child")?;
        }
        Ok(())
    }
}

/// Waits until standard input ends, which is when the benchmark does, whatever ended it.
pub(crate) async fn parent_gone() {
    let read = || std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    let _ = tokio::task::spawn_blocking(read).await;
}

/// Lets this process and its children hold as many connections as the machine allows. Returns the limit.
pub(crate) fn raise_file_limit() -> Result<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).context("raise the limit of open files")?;
    Ok(limit.current.unwrap_or(u64::MAX))
}

/// Memory of one process in KB of 1,024 bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) rss: u64,
    pub(crate) pss: u64,
}

impl Memory {
    pub(crate) fn of(pid: u32) -> Result<Self> {
        let path = format!("/proc/{pid}/smaps_rollup");
        let text = fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
        let field = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB"))
                .and_then(|number| number.trim().parse().ok())
                .with_context(|| format!("no {name} in {path}"))
        };
        Ok(Self {
            rss: field("Rss:")?,
            pss: field("Pss:")?,
        })
    }
}

/// The processor time that groups of processes have used so far, and under `others` all that is not theirs.
#[derive(Debug, Clone)]
pub(crate) struct Cpu(BTreeMap<&'static str, Duration>);

impl Cpu {
    /// Each group is a process and, for `true`, its children.
    pub(crate) fn of(groups: &[(&'static str, u32, bool)]) -> Self {
        let all = processes();
        let sum = |pid: u32, children: bool| {
            all.iter()
                .filter(|p| p.pid == pid || children && p.parent == pid)
                .map(|p| p.used)
                .sum()
        };
        let mut used: BTreeMap<_, Duration> = groups
            .iter()
            .map(|(name, pid, children)| (*name, sum(*pid, *children)))
            .collect();
        let ours: Duration = used.values().sum();
        used.insert("others", busy().saturating_sub(ours));
        Self(used)
    }

    /// Milliseconds of each group since `before`, for each of `count` pieces of work.
    pub(crate) fn since(&self, before: &Self, count: usize) -> BTreeMap<&'static str, f64> {
        self.0
            .iter()
            .map(|(name, now)| {
                let then = before.0.get(name).copied().unwrap_or_default();
                let used = now.saturating_sub(then).as_secs_f64() * 1e3;
                (*name, crate::report::rounded(used / count.max(1) as f64))
            })
            .collect()
    }
}

/// What all cores have worked since the machine started.
fn busy() -> Duration {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    let columns = first
        .split_whitespace()
        .skip(1)
        .map(|word| word.parse::<f64>().unwrap_or(0.0));
    // user nice system idle iowait irq softirq steal; the guest's time after them is in user's already.
    let worked = columns
        .take(8)
        .enumerate()
        .filter(|(column, _)| !matches!(column, 3 | 4))
        .map(|(_, ticks)| ticks);
    Duration::from_secs_f64(worked.sum::<f64>() / TICKS)
}

struct Process {
    pid: u32,
    parent: u32,
    used: Duration,
}

fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name in parentheses may hold anything, spaces too; the fields after it are numbered from 3.
            let (_, rest) = stat.rsplit_once(')')?;
            let field = |number: usize| rest.split_whitespace().nth(number - 3);
            let time = |number: usize| field(number).and_then(|text| text.parse::<u64>().ok());
            Some(Process {
                pid,
                parent: field(4)?.parse().ok()?,
                used: Duration::from_secs_f64((time(14)? + time(15)?) as f64 / TICKS),
            })
        })
        .collect()
}
