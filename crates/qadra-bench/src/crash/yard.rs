//! The processes that are killed: a PostgreSQL that syncs, and workers, which are the real program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use qadra_store::PgConnectOptions;
use qadra_store::cluster::{Cluster, DATABASE, Options};
use rustix::process::{Pid, Signal, kill_process};
use sqlx::ConnectOptions;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::stub::now_ms;

/// How long a start may take.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) struct Yard {
    dir: TempDir,
    program: PathBuf,
    cluster: Option<Cluster>,
    url: String,
    stub: String,
    lease: Duration,
    workers: Vec<Worker>,
}

struct Worker {
    child: Child,
    pid: Pid,
}

impl Yard {
    pub(super) async fn new(
        dir: &Path,
        program: &Path,
        stub: String,
        lease: Duration,
    ) -> Result<Self> {
        let program = program
            .canonicalize()
            .with_context(|| format!("find {}", program.display()))?;
        let dir = tempfile::Builder::new()
            .prefix("qadra-crash-")
            .tempdir_in(dir)
            .with_context(|| format!("make a directory in {}", dir.display()))?;
        // PostgreSQL may run as a user of its own, who must be able to pass.
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o711))?;
        let cluster = Cluster::start(options(dir.path()))
            .await
            .context("start a private PostgreSQL")?;
        let url = cluster.connect_options().to_url_lossy().to_string();
        Ok(Self {
            dir,
            program,
            cluster: Some(cluster),
            url,
            stub,
            lease,
            workers: Vec::new(),
        })
    }

    pub(super) fn database(&self) -> Result<&Cluster> {
        self.cluster.as_ref().context("PostgreSQL is not running")
    }

    /// As the superuser, who sees all tenants.
    pub(super) fn superuser(&self) -> Result<PgConnectOptions> {
        Ok(self.database()?.superuser_options().database(DATABASE))
    }

    pub(super) fn len(&self) -> usize {
        self.workers.len()
    }

    /// Starts another worker and waits until it works.
    pub(super) async fn add(&mut self) -> Result<()> {
        let number = self.workers.len();
        let mut worker = self.spawn(number)?;
        let stdout = worker
            .child
            .stdout
            .take()
            .context("a worker has no output")?;
        let mut lines = BufReader::new(stdout).lines();
        let ready = async {
            while let Some(line) = lines.next_line().await? {
                if line == "qadra worker ready" {
                    return Ok(true);
                }
            }
            Ok::<bool, std::io::Error>(false)
        };
        let ready = tokio::time::timeout(PATIENCE, ready).await;
        ensure!(
            matches!(ready, Ok(Ok(true))),
            "a worker did not start; its log says:\n{}",
            self.log(number)
        );
        self.workers.push(worker);
        Ok(())
    }

    fn spawn(&self, number: usize) -> Result<Worker> {
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("QADRA_") {
                command.env_remove(name);
            }
        }
        let log = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log_path(number))?;
        let child = command
            .arg("worker")
            .env("QADRA_DATABASE_URL", &self.url)
            .env("QADRA_DATA_DIR", self.dir.path().join("data"))
            .env(
                "QADRA_FLOW_LEASE_SECONDS",
                self.lease.as_secs_f64().to_string(),
            )
            .env("QADRA_HTTP_ALLOW", &self.stub)
            // Where no qadra.toml of somebody else is read.
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("run {}", self.program.display()))?;
        let pid = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw)
            .context("a worker has ended")?;
        Ok(Worker { child, pid })
    }

    /// Kills a worker without a warning and starts another in its place. Returns the dead one's process id and when
    /// it was killed.
    pub(super) async fn kill(&mut self, number: usize) -> Result<(u32, i64)> {
        let next = self.spawn(number)?;
        let at = now_ms();
        let place = self.workers.get_mut(number).context("no such worker")?;
        place.child.start_kill().context("kill a worker")?;
        let died = place.child.wait().await.context("see a worker die")?;
        ensure!(
            std::os::unix::process::ExitStatusExt::signal(&died) == Some(Signal::KILL.as_raw()),
            "a worker had ended by itself ({died}); its log says:\n{}",
            self.log(number)
        );
        let place = self.workers.get_mut(number).context("no such worker")?;
        let pid = place.pid.as_raw_nonzero().get().unsigned_abs();
        *place = next;
        Ok((pid, at))
    }

    /// Stops a worker where it stands. Returns its process id.
    pub(super) fn freeze(&self, number: usize) -> Result<u32> {
        let worker = self.workers.get(number).context("no such worker")?;
        kill_process(worker.pid, Signal::STOP).context("freeze a worker")?;
        Ok(worker.pid.as_raw_nonzero().get().unsigned_abs())
    }

    pub(super) fn thaw(&self, number: usize) -> Result<()> {
        let worker = self.workers.get(number).context("no such worker")?;
        kill_process(worker.pid, Signal::CONT).context("thaw a worker")
    }

    /// Kills PostgreSQL and all its processes, as a power cut would, and starts it on what is on the disk. Returns when
    /// it was killed and how long it was away.
    pub(super) async fn crash_database(&mut self) -> Result<(i64, Duration)> {
        let cluster = self.cluster.take().context("PostgreSQL is not running")?;
        let address = cluster.connect_options().to_url_lossy();
        let (postmaster, at, begun) = (cluster.pid(), now_ms(), Instant::now());
        let mut ended = cluster.watch();
        // The postmaster first: it would start others in the place of the dead.
        let children = children_of(postmaster);
        for pid in std::iter::once(postmaster).chain(children) {
            if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                // A backend may have ended meanwhile.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        ended.exited().await;
        drop(cluster);
        let cluster = Cluster::start(options(self.dir.path()))
            .await
            .context("start PostgreSQL again")?;
        ensure!(
            cluster.connect_options().to_url_lossy() == address,
            "PostgreSQL has another address after its crash"
        );
        self.cluster = Some(cluster);
        Ok((at, begun.elapsed()))
    }

    /// What the workers have complained about as errors of their own.
    pub(super) fn errors(&self) -> Vec<String> {
        let logs = (0..self.workers.len()).map(|n| fs::read_to_string(self.log_path(n)));
        let text: String = logs.filter_map(Result::ok).collect();
        text.lines()
            .filter(|line| line.contains(" ERROR ") || line.contains("panicked"))
            .map(str::to_owned)
            .collect()
    }

    fn log(&self, number: usize) -> String {
        fs::read_to_string(self.log_path(number)).unwrap_or_default()
    }

    fn log_path(&self, number: usize) -> PathBuf {
        self.dir.path().join(format!("worker-{number}.log"))
    }

    /// Ends everything; removes its files unless they are wanted.
    pub(super) async fn clear(mut self, keep: bool) -> Result<()> {
        for worker in &mut self.workers {
            // Frozen ones would not hear it.
            let _ = kill_process(worker.pid, Signal::CONT);
            let _ = kill_process(worker.pid, Signal::TERM);
        }
        for worker in &mut self.workers {
            if tokio::time::timeout(PATIENCE, worker.child.wait())
                .await
                .is_err()
            {
                worker.child.kill().await.context("end a worker")?;
            }
        }
        let mut done = Ok(());
        if let Some(cluster) = self.cluster.take() {
            done = cluster.stop().await.context("stop the private PostgreSQL");
            // It stands elsewhere when PostgreSQL's user cannot enter the directory.
            let pgdata = cluster.pgdata();
            if !pgdata.starts_with(self.dir.path()) && !keep {
                let _ = fs::remove_dir_all(pgdata);
                for extension in ["origin", "lock"] {
                    let _ = fs::remove_file(pgdata.with_extension(extension));
                }
            }
        }
        let path = self.dir.path().to_owned();
        if keep {
            let path = self.dir.keep();
            eprintln!("kept in {}", path.display());
            return done;
        }
        done.and(
            self.dir
                .close()
                .with_context(|| format!("remove {}", path.display())),
        )
    }
}

fn options(dir: &Path) -> Options {
    Options::new(dir.join("database"))
}

fn children_of(parent: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name in parentheses may hold anything; the state and the parent follow it.
            let (_, rest) = stat.rsplit_once(')')?;
            let of: u32 = rest.split_whitespace().nth(1)?.parse().ok()?;
            (of == parent).then_some(pid)
        })
        .collect()
}
