use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why the private PostgreSQL could not be started or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    #[error(
        "found no PostgreSQL {minimum} or newer, looked in {searched}; hint: install it with `{install}`"
    )]
    MissingBinaries {
        minimum: u32,
        searched: String,
        install: &'static str,
    },

    #[error("{dir} is in use by {holder}; hint: stop that process, or choose another data directory", dir = dir.display(), holder = holder(*pid))]
    Locked { dir: PathBuf, pid: Option<u32> },

    #[error(
        "{dir} was made by PostgreSQL {cluster}, but only {installed} is installed; hint: install PostgreSQL {cluster}, \
         or move the data with `pg_upgrade` or with `pg_dump` from {cluster} into a new data directory",
        dir = dir.display()
    )]
    VersionMismatch {
        dir: PathBuf,
        cluster: u32,
        installed: String,
    },

    #[error("{path} is not a PostgreSQL data directory: {reason}; hint: move it away, or choose another data directory", path = path.display())]
    NotACluster { path: PathBuf, reason: String },

    #[error("{path} belongs to uid {owner}, and this process runs as uid {ours}; hint: start as the user who owns it", path = path.display())]
    NotOurs {
        path: PathBuf,
        owner: u32,
        ours: u32,
    },

    #[error(
        "PostgreSQL refuses to run as root, and neither `postgres` nor `nobody` is in /etc/passwd to run it as; hint: start as an ordinary user"
    )]
    NoAccount,

    #[error("uid {uid} cannot enter {path}; hint: give it search permission on each directory above, or choose another data directory", path = path.display())]
    Unreachable { path: PathBuf, uid: u32 },

    #[error("run {program}: {output}", program = program.display())]
    Tool { program: PathBuf, output: String },

    #[error("PostgreSQL ended while starting ({status}): {log}")]
    EndedEarly { status: String, log: String },

    #[error("PostgreSQL was not ready after {} s; its log says: {log}", after.as_secs())]
    NotReady { after: Duration, log: String },

    #[error("stop PostgreSQL in {path}: process {pid} does not end", path = path.display())]
    WillNotStop { path: PathBuf, pid: u32 },

    #[error("{action}")]
    Database {
        action: &'static str,
        #[source]
        source: sqlx::Error,
    },

    #[error("{action} {path}", path = path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Names what was attempted on which path, so that `?` keeps both.
pub(super) fn at(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ClusterError {
    let path = path.to_owned();
    move |source| ClusterError::Io {
        action,
        path,
        source,
    }
}

pub(super) fn sql(action: &'static str) -> impl FnOnce(sqlx::Error) -> ClusterError {
    move |source| ClusterError::Database { action, source }
}

fn holder(pid: Option<u32>) -> String {
    match pid {
        Some(pid) => format!("another qadra (pid {pid})"),
        None => "another qadra".to_owned(),
    }
}
