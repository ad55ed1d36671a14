//! A running `qadra`, and what it leaves behind.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// Longest wait for what must happen; nothing is said about how long it takes.
pub const SOON: Duration = Duration::from_secs(60);

/// A directory that PostgreSQL's own user can enter, so that nothing is kept outside it.
pub fn directory() -> TempDir {
    tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(0o711))
        .tempdir()
        .unwrap()
}

/// Killed when dropped.
pub struct Program {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    said: Vec<String>,
    log: Arc<Mutex<String>>,
    logging: tokio::task::JoinHandle<()>,
}

#[derive(Debug)]
pub struct Ended {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub stdout: Vec<String>,
    pub stderr: String,
}

impl Program {
    /// Runs in `dir` with these variables and no other of ours.
    pub fn spawn(args: &[&str], dir: &Path, env: &[(&str, &str)]) -> Self {
        let kept = ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"]
            .map(|name| (name, std::env::var_os(name)));
        let mut child = Command::new(env!("CARGO_BIN_EXE_qadra"))
            .args(args)
            .current_dir(dir)
            .env_clear()
            .envs(
                kept.into_iter()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut stderr = child.stderr.take().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let kept = log.clone();
        let logging = tokio::spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = stderr.read(&mut buffer).await {
                kept.lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&buffer[..n]));
            }
        });
        Self {
            child,
            lines,
            said: vec![],
            log,
            logging,
        }
    }

    /// `qadra up` on `<dir>/data`, on a free port.
    pub fn up(dir: &Path, env: &[(&str, &str)]) -> Self {
        let data = dir.join("data");
        Self::spawn(
            &[
                "up",
                "--data-dir",
                data.to_str().unwrap(),
                "--listen",
                "127.0.0.1:0",
            ],
            dir,
            env,
        )
    }

    pub fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    pub fn stderr(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// The next line on stdout; fails when there is none.
    pub async fn line(&mut self) -> String {
        match tokio::time::timeout(SOON, self.lines.next_line()).await {
            Ok(Ok(Some(line))) => {
                self.said.push(line.clone());
                line
            }
            other => panic!("no line on stdout ({other:?}); stderr:\n{}", self.stderr()),
        }
    }

    /// Waits for the ready line and returns the address in it.
    pub async fn ready(&mut self) -> String {
        let line = self.line().await;
        let address = line
            .strip_prefix("qadra ready ")
            .unwrap_or_else(|| panic!("not the ready line: {line}"));
        assert!(address.starts_with("http://"), "{line}");
        address.to_owned()
    }

    pub fn signal(&self, signal: Signal) {
        send(self.pid(), signal);
    }

    /// As a machine that runs out of memory does it.
    pub async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }

    /// SIGTERM, and what comes of it.
    pub async fn stop(self) -> Ended {
        self.signal(Signal::TERM);
        self.end().await
    }

    /// Waits until it has ended by itself.
    pub async fn end(mut self) -> Ended {
        let ending = async {
            while let Ok(Some(line)) = self.lines.next_line().await {
                self.said.push(line);
            }
            let status = self.child.wait().await.unwrap();
            (&mut self.logging).await.unwrap();
            status
        };
        match tokio::time::timeout(SOON, ending).await {
            Ok(status) => Ended {
                code: status.code(),
                stdout: self.said,
                stderr: self.log.lock().unwrap().clone(),
            },
            Err(_) => panic!("it did not end; stderr:\n{}", self.log.lock().unwrap()),
        }
    }
}

pub fn send(pid: u32, signal: Signal) {
    // A process that has just ended by itself is as good.
    let _ = kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal);
}

/// Where the PostgreSQL of `<dir>/data` keeps its files, whatever links lead there.
pub fn pgdata(dir: &Path) -> PathBuf {
    fs::canonicalize(dir.join("data/pg")).unwrap()
}

pub fn postmaster(dir: &Path) -> u32 {
    let file = fs::read_to_string(pgdata(dir).join("postmaster.pid")).unwrap();
    file.lines().next().unwrap().trim().parse().unwrap()
}

/// Every process of that PostgreSQL: each works in its data directory.
pub fn postgres_of(dir: &Path) -> BTreeSet<u32> {
    let Ok(pgdata) = fs::canonicalize(dir.join("data/pg")) else {
        return BTreeSet::new();
    };
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == pgdata)
        })
        .collect()
}

/// Polls until `what` holds.
pub async fn until<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < SOON, "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
