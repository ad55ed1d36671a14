use std::fs::{self, DirBuilder};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use uuid::Uuid;

use super::binaries::Binaries;
use super::error::{ClusterError, at};
use super::lock::DirLock;
use super::place::{self, Place};
use super::postmaster::{Postmaster, Watch};
use super::provision::provision;
use super::socket::Endpoint;
use super::{DATABASE, OWNER, SUPERUSER, leftover, spawn};

/// Whether a commit survives a crash of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    Full,
    /// For tests: no fsync, no orderly shutdown.
    None,
}

/// What to start; [`Options::new`] has the defaults of the product.
#[derive(Clone, Debug)]
pub struct Options {
    /// Holds everything: `pg/`, `log/postgres.log`, `run/`, `qadra.lock`.
    pub data_dir: PathBuf,
    /// Looks for `postgres` and `initdb` only here.
    pub bin_dir: Option<PathBuf>,
    pub max_connections: u16,
    pub shared_buffers_mb: u32,
    pub durability: Durability,
    /// Listens on 127.0.0.1 with a password of this start even if Unix sockets would work.
    pub loopback: bool,
    /// How long crash recovery may take.
    pub start_patience: Duration,
    /// How long a fast shutdown may take before it is forced.
    pub stop_patience: Duration,
    /// Where the cluster goes when PostgreSQL's user cannot enter the data directory.
    pub elsewhere: PathBuf,
    /// A stopped cluster's data directory to copy on first start instead of running initdb.
    pub image: Option<PathBuf>,
}

impl Options {
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            bin_dir: None,
            max_connections: 60,
            shared_buffers_mb: 128,
            durability: Durability::Full,
            loopback: false,
            start_patience: Duration::from_secs(600),
            stop_patience: Duration::from_secs(30),
            elsewhere: PathBuf::from("/var/lib/qadra/clusters"),
            image: None,
        }
    }
}

/// A running private PostgreSQL. Dropping it asks for a fast shutdown and does not wait; [`Cluster::stop`] waits.
#[derive(Debug)]
pub struct Cluster {
    running: Arc<Running>,
}

#[derive(Debug)]
struct Running {
    postmaster: Postmaster,
    endpoint: Endpoint,
    password: Option<String>,
    pgdata: PathBuf,
    stop_patience: Duration,
    /// Held beyond the postmaster's end, until the owner lets go of the cluster.
    _locks: Vec<Arc<DirLock>>,
}

impl Cluster {
    /// Starts PostgreSQL on the data directory and waits until it serves, recovering from whatever is there.
    pub async fn start(options: Options) -> Result<Self, ClusterError> {
        let started = tokio::task::spawn_blocking(move || start(&options)).await;
        let cluster = match started {
            Ok(result) => result?,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        // On failure `cluster` is dropped, which stops the server.
        provision(
            cluster.superuser_options(),
            cluster.running.password.as_deref(),
        )
        .await?;
        Ok(cluster)
    }

    /// Connects to the product's database as its owner.
    pub fn connect_options(&self) -> PgConnectOptions {
        self.options(OWNER, DATABASE)
    }

    /// Connects to the maintenance database as superuser, which bypasses row-level security.
    pub fn superuser_options(&self) -> PgConnectOptions {
        self.options(SUPERUSER, "postgres")
    }

    /// A connection URL of the superuser, for other processes.
    pub fn superuser_url(&self) -> String {
        match (&self.running.endpoint, &self.running.password) {
            (Endpoint::Socket { dir, port }, _) => format!(
                "postgres://{SUPERUSER}@localhost:{port}/postgres?host={}&sslmode=disable",
                percent_encoded(dir)
            ),
            (Endpoint::Loopback { port }, password) => format!(
                "postgres://{SUPERUSER}:{}@127.0.0.1:{port}/postgres?sslmode=disable",
                password.as_deref().unwrap_or_default()
            ),
        }
    }

    /// Tells when PostgreSQL has ended, by itself or because we stopped it.
    pub fn watch(&self) -> Watch {
        self.running.postmaster.watch()
    }

    /// The postmaster's process id.
    pub fn pid(&self) -> u32 {
        self.running.postmaster.pid()
    }

    /// The real path of PostgreSQL's own data directory.
    pub fn pgdata(&self) -> &Path {
        &self.running.pgdata
    }

    /// Shuts PostgreSQL down and waits until it is gone: fast, and by force if that takes too long.
    pub async fn stop(&self) -> Result<(), ClusterError> {
        let running = Arc::clone(&self.running);
        match tokio::task::spawn_blocking(move || running.stop()).await {
            Ok(result) => result,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    /// [`Cluster::stop`] for callers outside a runtime.
    pub fn stop_blocking(&self) -> Result<(), ClusterError> {
        self.running.stop()
    }

    fn options(&self, role: &str, database: &str) -> PgConnectOptions {
        let options = PgConnectOptions::new_without_pgpass()
            .username(role)
            .database(database)
            .application_name("qadra")
            .ssl_mode(PgSslMode::Disable);
        match &self.running.endpoint {
            Endpoint::Socket { dir, port } => options.socket(dir).port(*port),
            Endpoint::Loopback { port } => options
                .host("127.0.0.1")
                .port(*port)
                .password(self.running.password.as_deref().unwrap_or_default()),
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.running.postmaster.ask_to_stop();
    }
}

impl Running {
    fn stop(&self) -> Result<(), ClusterError> {
        if !self.postmaster.stop(self.stop_patience) {
            return Err(ClusterError::WillNotStop {
                path: self.pgdata.clone(),
                pid: self.postmaster.pid(),
            });
        }
        // After a forced end, backends may have outlived their postmaster.
        leftover::end_all(&self.pgdata, Duration::from_secs(2))?;
        self.endpoint.tidy();
        Ok(())
    }
}

/// The major version that a new cluster would have.
pub fn installed_major(bin_dir: Option<&Path>) -> Result<u32, ClusterError> {
    Ok(Binaries::find(bin_dir, None)?.major)
}

fn start(options: &Options) -> Result<Cluster, ClusterError> {
    let begun = Instant::now();
    let data_dir = &options.data_dir;
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data_dir)
        .map_err(at("create", data_dir))?;
    let data_dir = fs::canonicalize(data_dir).map_err(at("resolve", data_dir))?;
    let lock = DirLock::take(&data_dir.join("qadra.lock"), &data_dir)?;
    let mut place = place::prepare(&data_dir, options)?;
    let mut locks = vec![Arc::new(lock)];
    locks.extend(place.lock.take().map(Arc::new));
    let log_dir = data_dir.join("log");
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&log_dir)
        .map_err(at("create", &log_dir))?;

    let mut endpoint = match options.loopback {
        true => Endpoint::loopback()?,
        false => Endpoint::choose(&data_dir, &place.pgdata, &place.account)?,
    };
    let password = match endpoint {
        Endpoint::Socket { .. } => None,
        Endpoint::Loopback { .. } => Some(new_password(&place)?),
    };
    let mut attempts = 0;
    let postmaster = loop {
        attempts += 1;
        let started = Postmaster::start(&place, &endpoint, options, &log_dir, locks.clone());
        match (started, &endpoint) {
            (Ok(postmaster), _) => break postmaster,
            // Another process may have taken the free port first.
            (Err(ClusterError::EndedEarly { .. }), Endpoint::Loopback { .. }) if attempts < 4 => {
                endpoint = Endpoint::loopback()?;
            }
            (Err(error), _) => return Err(error),
        }
    };
    tracing::info!(
        pgdata = %place.pgdata.display(), version = place.binaries.major, pid = postmaster.pid(),
        milliseconds = begun.elapsed().as_millis() as u64, "PostgreSQL serves"
    );
    Ok(Cluster {
        running: Arc::new(Running {
            postmaster,
            endpoint,
            password,
            pgdata: place.pgdata,
            stop_patience: options.stop_patience,
            _locks: locks,
        }),
    })
}

/// Gives the superuser a password of this start, before anything listens. It is stored nowhere.
fn new_password(place: &Place) -> Result<String, ClusterError> {
    let password = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
    let program = place.binaries.postgres();
    let mut command = place.account.command(&program);
    command
        .arg("--single")
        .arg("-D")
        .arg(&place.pgdata)
        .args(["-c", "password_encryption=scram-sha-256", "postgres"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = spawn::bound(command, Signal::INT).map_err(at("run", &program))?;
    if let Some(mut stdin) = child.stdin.take() {
        writeln!(stdin, "ALTER ROLE {SUPERUSER} PASSWORD '{password}';")
            .map_err(at("write to", &program))?;
    }
    let finished = child.wait_with_output().map_err(at("run", &program))?;
    if finished.status.success() {
        return Ok(password);
    }
    Err(ClusterError::Tool {
        program,
        output: String::from_utf8_lossy(&finished.stderr).trim().to_owned(),
    })
}

fn percent_encoded(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str()
        .as_bytes()
        .iter()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                char::from(*byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
