use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result};
use qadra_store::PgConnectOptions;
use qadra_store::cluster::{Cluster, DATABASE, Options};
use sqlx::ConnectOptions;
use tempfile::TempDir;
use tokio::process::Command;

use crate::process::Served;

/// Everything that runs beside the client, and what it takes to end all of it.
pub(crate) struct Stage {
    program: PathBuf,
    dir: TempDir,
    clusters: Vec<Cluster>,
    model: Served,
    qadra: Option<Served>,
}

impl Stage {
    pub(crate) async fn set(program: &Path, dir: &Path) -> Result<Self> {
        let program = program
            .canonicalize()
            .with_context(|| format!("find {}", program.display()))?;
        let dir = tempfile::Builder::new()
            .prefix("qadra-bench-")
            .tempdir_in(dir)
            .with_context(|| format!("make a directory in {}", dir.display()))?;
        // PostgreSQL may run as a user of its own, who must be able to pass.
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o711))?;
        let mut stage = Self {
            program,
            model: Served::own(&["model"]).await?,
            dir,
            clusters: Vec::new(),
            qadra: None,
        };
        stage.cluster("database").await?;
        Ok(stage)
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn model(&self) -> &Served {
        &self.model
    }

    /// The database that Qadra works on, as its superuser.
    pub(crate) fn database(&self) -> Option<PgConnectOptions> {
        let cluster = self.clusters.first()?;
        Some(cluster.superuser_options().database(DATABASE))
    }

    /// Whose processor time is told apart; PostgreSQL's is that of its children.
    pub(crate) fn groups(&self) -> [(&'static str, u32, bool); 4] {
        let qadra = self.qadra.as_ref().map_or(0, |served| served.pid);
        let postmaster = self.clusters.first().map_or(0, Cluster::pid);
        [
            ("qadra", qadra, false),
            ("postgres", postmaster, true),
            ("model", self.model.pid, false),
            ("client", std::process::id(), false),
        ]
    }

    /// Another private PostgreSQL, with the settings that the product gives its own.
    pub(crate) async fn cluster(&mut self, name: &str) -> Result<&Cluster> {
        let cluster = Cluster::start(Options::new(self.dir.path().join(name)))
            .await
            .context("start a private PostgreSQL")?;
        self.clusters.push(cluster);
        self.clusters.last().context("a cluster is missing")
    }

    /// A fresh `qadra up` on the database; the one before it is stopped.
    pub(crate) async fn qadra(&mut self) -> Result<(SocketAddr, u32)> {
        if let Some(before) = self.qadra.take() {
            before.stop().await?;
        }
        let url = self
            .clusters
            .first()
            .map(|cluster| cluster.connect_options().to_url_lossy().to_string())
            .unwrap_or_default();
        let log = fs::File::create(self.dir.path().join("qadra.log"))?;
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("QADRA_") {
                command.env_remove(name);
            }
        }
        command
            .args(["up", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(self.dir.path().join("data"))
            .env("QADRA_DATABASE_URL", url)
            .env("QADRA_LLM_PROVIDER", "openai")
            .env(
                "QADRA_LLM_BASE_URL",
                format!("http://{}/v1", self.model.address),
            )
            // Where no qadra.toml of somebody else is read.
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stderr(log);
        let served = Served::start(command, "qadra ready http://")
            .await
            .with_context(|| format!("start Qadra; its log ends with: {}", self.log_end()))?;
        let at = (served.address, served.pid);
        self.qadra = Some(served);
        Ok(at)
    }

    pub(crate) fn log_end(&self) -> String {
        let log = fs::read_to_string(self.dir.path().join("qadra.log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().rev().take(5).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    /// Ends everything and removes its files.
    pub(crate) async fn clear(self) -> Result<()> {
        let mut done = Ok(());
        if let Some(qadra) = self.qadra {
            done = done.and(qadra.stop().await);
        }
        done = done.and(self.model.stop().await);
        for cluster in &self.clusters {
            done = done.and(cluster.stop().await.context("stop a private PostgreSQL"));
            // It stands elsewhere when PostgreSQL's user cannot enter the directory.
            let pgdata = cluster.pgdata();
            if !pgdata.starts_with(self.dir.path()) {
                let _ = fs::remove_dir_all(pgdata);
                for extension in ["origin", "lock"] {
                    let _ = fs::remove_file(pgdata.with_extension(extension));
                }
            }
        }
        let path = self.dir.path().to_owned();
        drop(self.clusters);
        done.and(
            self.dir
                .close()
                .with_context(|| format!("remove {}", path.display())),
        )
    }
}
