use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use qadra_store::cluster::{Cluster, Durability, Options, installed_major};
use uuid::Uuid;

/// Part of the image's name; raise it when what [`Cluster::start`] puts into a new cluster changes.
const IMAGE_FORMAT: u32 = 1;

/// A private cluster without durability, removed when it is stopped.
///
/// initdb is run once per machine and PostgreSQL version; later clusters are copies of its result.
#[derive(Debug)]
pub struct Throwaway {
    cluster: Cluster,
    dir: PathBuf,
}

impl Throwaway {
    pub async fn start() -> Result<Self> {
        let scratch = scratch()?;
        // Held while a directory exists that its cluster has not locked yet, so that no other process sweeps it.
        let starting = open_lock(&scratch.join("starting.lock"))?;
        if starting.try_lock().is_ok() {
            sweep(&scratch);
            starting.unlock()?;
        }
        starting.lock_shared()?;
        let image = image_in(&scratch).await?;
        let dir = scratch.join(format!("run-{}", Uuid::now_v7().simple()));
        let cluster = Cluster::start(Options {
            image: Some(image),
            ..options(&dir)
        })
        .await
        .context("start a cluster for tests")?;
        Ok(Self { cluster, dir })
    }

    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Stops the server and removes its files.
    pub fn stop(self) -> Result<()> {
        self.cluster.stop_blocking()?;
        drop(self.cluster);
        remove(&self.dir);
        Ok(())
    }
}

fn options(dir: &Path) -> Options {
    Options {
        durability: Durability::None,
        // Every test of a parallel run has a pool.
        max_connections: 400,
        stop_patience: Duration::from_secs(5),
        ..Options::new(dir)
    }
}

/// A stopped, provisioned cluster to copy, made once per machine and PostgreSQL version: a start from it is several
/// times as fast as one that runs initdb.
pub async fn image() -> Result<PathBuf> {
    image_in(&scratch()?).await
}

async fn image_in(scratch: &Path) -> Result<PathBuf> {
    let starting = open_lock(&scratch.join("starting.lock"))?;
    starting.lock_shared()?;
    let major = installed_major(None)?;
    let name = format!("image-{IMAGE_FORMAT}-pg{major}");
    let image = scratch.join(&name);
    let lock = open_lock(&scratch.join("image.lock"))?;
    lock.lock()?;
    if image.exists() {
        return Ok(image);
    }
    let building = scratch.join(format!("run-{name}-{}", Uuid::now_v7().simple()));
    let cluster = Cluster::start(options(&building))
        .await
        .context("make the image of clusters for tests")?;
    let pgdata = cluster.pgdata().to_owned();
    cluster.stop().await?;
    fs::rename(&pgdata, &image).context("keep the image of clusters for tests")?;
    drop(cluster);
    remove(&building);
    Ok(image)
}

/// A directory that PostgreSQL's user can enter: below the build's target directory, else the system's temporary.
fn scratch() -> Result<PathBuf> {
    let uid = rustix::process::geteuid();
    let root = build_tmp()
        .filter(|dir| !uid.is_root() || open_to_all(dir))
        .unwrap_or_else(std::env::temp_dir);
    fs::create_dir_all(&root).with_context(|| format!("create {}", root.display()))?;
    let dir = root.join(format!("qadra-test-pg-{}", uid.as_raw()));
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o711)
        .create(&dir)
        .with_context(|| format!("create {}", dir.display()))?;
    let owner = fs::symlink_metadata(&dir)?.uid();
    anyhow::ensure!(
        owner == uid.as_raw(),
        "{} belongs to uid {owner}",
        dir.display()
    );
    Ok(dir)
}

/// `<target>/tmp`, seen from the running executable.
fn build_tmp() -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?;
    let target = executable
        .ancestors()
        .find(|dir| dir.join("CACHEDIR.TAG").is_file())?;
    Some(target.join("tmp"))
}

fn open_to_all(dir: &Path) -> bool {
    dir.ancestors()
        .filter_map(|dir| fs::metadata(dir).ok())
        .all(|meta| meta.permissions().mode() & 0o001 != 0)
}

/// Removes what earlier processes left: a directory whose lock is free has no living owner.
fn sweep(scratch: &Path) {
    for entry in fs::read_dir(scratch).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if !name.to_string_lossy().starts_with("run-") {
            continue;
        }
        let dir = entry.path();
        let free = File::open(dir.join("qadra.lock")).is_ok_and(|lock| lock.try_lock().is_ok());
        if free || is_empty(&dir) {
            remove(&dir);
        }
    }
}

fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none())
}

fn remove(dir: &Path) {
    // The cluster itself may stand elsewhere.
    if let Ok(elsewhere) = fs::read_link(dir.join("pg")) {
        let _ = fs::remove_dir_all(&elsewhere);
        for extension in ["origin", "lock"] {
            let _ = fs::remove_file(elsewhere.with_extension(extension));
        }
    }
    // A server that is still going down may put a file back in; the next start sweeps again.
    let _ = fs::remove_dir_all(dir);
}

fn open_lock(path: &Path) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .with_context(|| format!("open {}", path.display()))
}
