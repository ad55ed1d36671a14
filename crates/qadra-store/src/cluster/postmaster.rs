use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use tokio::sync::watch;

use super::error::{ClusterError, at};
use super::lock::DirLock;
use super::log::ServerLog;
use super::place::Place;
use super::service::{Durability, Options};
use super::socket::Endpoint;
use super::spawn;

/// How the postmaster ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    pub status: ExitStatus,
    /// Whether we had asked for it; false means that PostgreSQL died by itself or was stopped by another.
    pub asked: bool,
}

/// Tells when the postmaster ended. Cheap to clone, holds nothing alive.
#[derive(Clone, Debug)]
pub struct Watch(watch::Receiver<Option<Exit>>);

impl Watch {
    /// Waits until the postmaster has ended.
    pub async fn exited(&mut self) -> Exit {
        match self.0.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(exit)) => *exit,
            // The sender lives until it has sent, so this is a thread that panicked: no news will ever come.
            _ => std::future::pending().await,
        }
    }
}

/// A running postmaster, our child.
#[derive(Debug)]
pub(super) struct Postmaster {
    shared: Arc<Shared>,
    watch: watch::Receiver<Option<Exit>>,
}

#[derive(Debug)]
struct Shared {
    pid: Pid,
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    asked: bool,
    exit: Option<Exit>,
}

impl Postmaster {
    /// Starts the postmaster and waits until it accepts connections. `locks` are held until it has ended.
    pub(super) fn start(
        place: &Place,
        endpoint: &Endpoint,
        options: &Options,
        log_dir: &Path,
        locks: Vec<Arc<DirLock>>,
    ) -> Result<Self, ClusterError> {
        let log_path = log_dir.join("postgres.log");
        let (log, stderr) = ServerLog::open(log_path.clone()).map_err(at("open", &log_path))?;
        let log = Arc::new(log);
        let postmaster = Self::spawn(place, endpoint, options, stderr, Arc::clone(&log), locks)?;
        let ready = postmaster.wait_until_ready(&place.pgdata, options, &log);
        if ready.is_err() {
            // What does not come up must not stay half up.
            let _ = postmaster.stop(options.stop_patience);
        }
        ready.map(|()| postmaster)
    }

    fn spawn(
        place: &Place,
        endpoint: &Endpoint,
        options: &Options,
        stderr: File,
        log: Arc<ServerLog>,
        locks: Vec<Arc<DirLock>>,
    ) -> Result<Self, ClusterError> {
        let program = place.binaries.postgres();
        let mut command = place.account.command(&program);
        command.arg("-D").arg(&place.pgdata).stderr(stderr);
        // On the command line they win over postgresql.conf, so no state of the directory can undo them.
        for (name, value) in settings(endpoint, options) {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        // SIGINT is PostgreSQL's fast shutdown: open transactions are rolled back, a checkpoint is written.
        let on_our_death = match options.durability {
            Durability::Full => Signal::INT,
            Durability::None => Signal::QUIT,
        };
        let child = spawn::bound(command, on_our_death).map_err(at("run", &program))?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let shared = Arc::new(Shared {
            // A child always has a positive id.
            pid: pid.unwrap_or(Pid::INIT),
            state: Mutex::default(),
            ended: Condvar::new(),
        });
        let (sender, watch) = watch::channel(None);
        let minder = Arc::clone(&shared);
        thread::Builder::new()
            .name("postgres-wait".to_owned())
            .spawn(move || minder.mind(child, &sender, locks))
            .map_err(at("start a thread to wait for", &program))?;
        let keeper = Arc::clone(&shared);
        thread::Builder::new()
            .name("postgres-log".to_owned())
            .spawn(move || keeper.keep_log_bounded(&log))
            .map_err(at("start a thread for the log of", &program))?;
        Ok(Self { shared, watch })
    }

    fn wait_until_ready(
        &self,
        pgdata: &Path,
        options: &Options,
        log: &ServerLog,
    ) -> Result<(), ClusterError> {
        let pid_file = pgdata.join("postmaster.pid");
        let pid = self.shared.pid.as_raw_nonzero().to_string();
        let begun = Instant::now();
        let mut next_word = Duration::from_secs(5);
        loop {
            // The postmaster writes its state there itself; connecting would fill its log with refusals.
            let text = fs::read_to_string(&pid_file).unwrap_or_default();
            if is_ready(&text, &pid) {
                return Ok(());
            }
            if let Some(exit) = self.shared.wait(Duration::from_millis(5)) {
                return Err(ClusterError::EndedEarly {
                    status: exit.status.to_string(),
                    log: log.tail(),
                });
            }
            let waited = begun.elapsed();
            if waited >= options.start_patience {
                return Err(ClusterError::NotReady {
                    after: waited,
                    log: log.tail(),
                });
            }
            if waited >= next_word {
                next_word += Duration::from_secs(10);
                tracing::info!(
                    seconds = waited.as_secs(),
                    "waiting for PostgreSQL, it may be recovering from a crash"
                );
            }
        }
    }

    pub(super) fn watch(&self) -> Watch {
        Watch(self.watch.clone())
    }

    pub(super) fn pid(&self) -> u32 {
        self.shared.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Asks for a fast shutdown and does not wait.
    pub(super) fn ask_to_stop(&self) {
        self.shared.signal(Signal::INT);
    }

    /// Fast shutdown, then immediate, then SIGKILL; false if even that did not end it in time.
    pub(super) fn stop(&self, patience: Duration) -> bool {
        let hard = Duration::from_secs(5);
        [
            (Signal::INT, patience),
            (Signal::QUIT, hard),
            (Signal::KILL, hard),
        ]
        .into_iter()
        .any(|(signal, patience)| {
            self.shared.signal(signal);
            let ended = self.shared.wait(patience).is_some();
            if !ended {
                tracing::warn!(?signal, "PostgreSQL did not stop in time");
            }
            ended
        })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal(&self, signal: Signal) {
        let mut state = self.lock();
        state.asked = true;
        // Under the lock, `exit` empty means not yet reaped, so the pid cannot be another's.
        if state.exit.is_none()
            && let Err(error) = kill_process(self.pid, signal)
        {
            tracing::warn!(%error, ?signal, "could not signal PostgreSQL");
        }
    }

    fn wait(&self, patience: Duration) -> Option<Exit> {
        let (state, _) = self
            .ended
            .wait_timeout_while(self.lock(), patience, |state| state.exit.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        state.exit
    }

    fn mind(
        &self,
        mut child: Child,
        sender: &watch::Sender<Option<Exit>>,
        locks: Vec<Arc<DirLock>>,
    ) {
        // Sees the end without reaping; the reaping then happens under the lock.
        let only_look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(self.pid), only_look) {}
        let mut state = self.lock();
        let status = child.wait().unwrap_or_default();
        let exit = Exit {
            status,
            asked: state.asked,
        };
        if !exit.asked {
            tracing::error!(%status, "PostgreSQL ended by itself");
        }
        state.exit = Some(exit);
        drop(state);
        drop(locks);
        self.ended.notify_all();
        sender.send_replace(Some(exit));
    }

    fn keep_log_bounded(&self, log: &ServerLog) {
        while self.wait(Duration::from_secs(20)).is_none() {
            if let Err(error) = log.keep_bounded() {
                tracing::warn!(%error, "could not shorten the log of PostgreSQL");
            }
        }
    }
}

fn settings(endpoint: &Endpoint, options: &Options) -> Vec<(&'static str, String)> {
    let fixed = |name, value: &str| (name, value.to_owned());
    let mut settings = match endpoint {
        Endpoint::Socket { dir, port } => vec![
            fixed("listen_addresses", ""),
            ("unix_socket_directories", quoted(dir)),
            fixed("unix_socket_permissions", "0700"),
            ("port", port.to_string()),
        ],
        Endpoint::Loopback { port } => vec![
            fixed("listen_addresses", "127.0.0.1"),
            fixed("unix_socket_directories", ""),
            ("port", port.to_string()),
        ],
    };
    settings.extend([
        ("max_connections", options.max_connections.to_string()),
        ("shared_buffers", format!("{}MB", options.shared_buffers_mb)),
        // No replication: less is written for a bulk load, and no slot can hold back the log.
        fixed("wal_level", "minimal"),
        fixed("max_wal_senders", "0"),
        fixed("archive_mode", "off"),
        // Bounds how much is replayed after a crash.
        fixed("max_wal_size", "512MB"),
        // Compiling costs more than our short statements run.
        fixed("jit", "off"),
        fixed("TimeZone", "UTC"),
        fixed("log_timezone", "UTC"),
        fixed("lc_messages", "C"),
        fixed("password_encryption", "scram-sha-256"),
        fixed("log_destination", "stderr"),
        fixed("logging_collector", "off"),
        fixed("log_checkpoints", "off"),
        fixed("log_line_prefix", "%m [%p] %q%u@%d "),
        // Details quote whole rows, and the log is no place for what is in them.
        fixed("log_error_verbosity", "terse"),
    ]);
    match options.durability {
        Durability::Full => settings.extend([
            fixed("fsync", "on"),
            fixed("synchronous_commit", "on"),
            fixed("full_page_writes", "on"),
        ]),
        Durability::None => settings.extend([
            fixed("fsync", "off"),
            fixed("synchronous_commit", "off"),
            fixed("full_page_writes", "off"),
            // Its workers would sit in template databases and hold up copying them.
            fixed("autovacuum", "off"),
        ]),
    }
    settings
}

/// The setting is a list, in which a path with a comma or a space needs quotes.
fn quoted(dir: &Path) -> String {
    format!("\"{}\"", dir.display().to_string().replace('"', "\"\""))
}

/// `postmaster.pid`: the pid in its first line, the state in its eighth.
fn is_ready(pid_file: &str, pid: &str) -> bool {
    let mut lines = pid_file.lines();
    lines.next() == Some(pid) && lines.nth(6).is_some_and(|state| state.trim() == "ready")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readiness_is_the_eighth_line_of_our_own_pid_file() {
        let file = "71\n/d\n1700000000\n5432\n/d/run\n\n  1 2\nready   \n";
        assert!(is_ready(file, "71"));
        assert!(!is_ready(file, "7"));
        assert!(!is_ready(&file.replace("ready", "starting"), "71"));
        assert!(!is_ready("71\n", "71"));
        assert!(!is_ready("", "71"));
    }
}
