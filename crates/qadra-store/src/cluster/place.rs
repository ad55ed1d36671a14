use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use uuid::Uuid;

use super::account::Account;
use super::binaries::Binaries;
use super::error::{ClusterError, at};
use super::lock::DirLock;
use super::service::{Durability, Options};
use super::{SUPERUSER, leftover, spawn};

/// A cluster that is complete, quiet and ready for a postmaster.
#[derive(Debug)]
pub(super) struct Place {
    /// The real path, free of links: processes are recognised by it.
    pub(super) pgdata: PathBuf,
    pub(super) account: Account,
    pub(super) binaries: Binaries,
    /// Guards a cluster outside the data directory, which a copy of the data directory would point to as well.
    pub(super) lock: Option<DirLock>,
}

/// Finds or makes the cluster of `data_dir`, a real path whose lock the caller holds.
pub(super) fn prepare(data_dir: &Path, options: &Options) -> Result<Place, ClusterError> {
    let link = data_dir.join("pg");
    match fs::symlink_metadata(&link) {
        Ok(meta) if meta.is_symlink() => {
            let lock = lock_of(&link, data_dir)?;
            existing(&link, Some(lock), options)
        }
        // Made by hand, or by a mount: nothing in it that could be lost.
        Ok(meta) if meta.is_dir() && is_empty(&link) => {
            fs::remove_dir(&link).map_err(at("remove the empty directory", &link))?;
            create(data_dir, &link, options)
        }
        Ok(_) => existing(&link, None, options),
        Err(error) if error.kind() == ErrorKind::NotFound => create(data_dir, &link, options),
        Err(error) => Err(at("look at", &link)(error)),
    }
}

fn existing(link: &Path, lock: Option<DirLock>, options: &Options) -> Result<Place, ClusterError> {
    let not_a_cluster = |reason: String| ClusterError::NotACluster {
        path: link.to_owned(),
        reason,
    };
    let pgdata = match fs::canonicalize(link) {
        Ok(path) => path,
        // Never made anew: the volume behind the link may just not be mounted.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(not_a_cluster(
                "it leads to a path that does not exist".to_owned(),
            ));
        }
        Err(error) => return Err(at("resolve", link)(error)),
    };
    let version_file = pgdata.join("PG_VERSION");
    let major = match fs::read_to_string(&version_file) {
        Ok(text) => text
            .trim()
            .parse()
            .map_err(|_| not_a_cluster(format!("PG_VERSION reads {:?}", text.trim())))?,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(not_a_cluster("it has no PG_VERSION".to_owned()));
        }
        Err(error) => return Err(at("read", &version_file)(error)),
    };
    let account = Account::choose(Some(&pgdata))?;
    let binaries = Binaries::find(options.bin_dir.as_deref(), Some((&pgdata, major)))?;
    if let Some(data_dir) = link.parent()
        && lock.is_none()
    {
        let_enter(data_dir, &account)?;
    }
    if !account.can_enter(&pgdata) {
        return Err(ClusterError::Unreachable {
            path: pgdata,
            uid: account.uid,
        });
    }
    leftover::clear(&pgdata, options.stop_patience)?;
    Ok(Place {
        pgdata,
        account,
        binaries,
        lock,
    })
}

fn create(data_dir: &Path, link: &Path, options: &Options) -> Result<Place, ClusterError> {
    let account = Account::choose(None)?;
    let binaries = Binaries::find(options.bin_dir.as_deref(), None)?;
    // Names the place outside before anything is made there, so that a kill in between loses no track of it.
    // The finished cluster appears by renaming this link.
    let pending = data_dir.join("pg.pending");
    let planned = fs::symlink_metadata(&pending).is_ok();
    if !planned && let_enter(data_dir, &account)? {
        initialise(link, &account, &binaries, options)?;
        return Ok(Place {
            pgdata: link.to_owned(),
            account,
            binaries,
            lock: None,
        });
    }
    if !planned {
        let target = options.elsewhere.join(Uuid::now_v7().to_string());
        symlink(&target, &pending).map_err(at("link", &pending))?;
    }
    let target = fs::read_link(&pending).map_err(at("read", &pending))?;
    if let Some(parent) = target.parent() {
        outside(parent, &account)?;
    }
    let lock = lock_of(&pending, data_dir)?;
    // Says whose it is to who finds it there.
    let origin = target.with_extension("origin");
    fs::write(&origin, format!("{}\n", data_dir.display())).map_err(at("write", &origin))?;
    if fs::symlink_metadata(&target).is_err() {
        initialise(&target, &account, &binaries, options)?;
    }
    fs::rename(&pending, link).map_err(at("rename", &pending))?;
    sync(data_dir)?;
    tracing::info!(
        data_dir = %data_dir.display(), cluster = %target.display(), uid = account.uid,
        "PostgreSQL's user cannot enter the data directory, its files are kept elsewhere and linked"
    );
    let pgdata = fs::canonicalize(link).map_err(at("resolve", link))?;
    leftover::clear(&pgdata, options.stop_patience)?;
    Ok(Place {
        pgdata,
        account,
        binaries,
        lock: Some(lock),
    })
}

/// Makes a cluster at `target`: complete or not at all, wherever we are killed.
fn initialise(
    target: &Path,
    account: &Account,
    binaries: &Binaries,
    options: &Options,
) -> Result<(), ClusterError> {
    let unfinished = target.with_extension("init");
    if unfinished.exists() {
        let real = fs::canonicalize(&unfinished).map_err(at("resolve", &unfinished))?;
        leftover::end_all(&real, Duration::ZERO)?;
        fs::remove_dir_all(&real).map_err(at("remove the unfinished cluster", &real))?;
    }
    DirBuilder::new()
        .mode(0o700)
        .create(&unfinished)
        .map_err(at("create", &unfinished))?;
    account.give(&unfinished)?;
    match &options.image {
        Some(image) => copy(image, &unfinished)?,
        None => initdb(&unfinished, account, binaries, options.durability)?,
    }
    fs::rename(&unfinished, target).map_err(at("rename", &unfinished))?;
    match target.parent() {
        Some(parent) => sync(parent),
        None => Ok(()),
    }
}

/// Collation is C everywhere: byte order is stable across machines and library versions, so no index is ever
/// corrupted by an upgrade of the C library. What counts as a letter should be Unicode where the system knows it.
const CHARACTER_TYPES: [&str; 4] = ["C.UTF-8", "C.utf8", "en_US.UTF-8", "C"];

fn initdb(
    dir: &Path,
    account: &Account,
    binaries: &Binaries,
    durability: Durability,
) -> Result<(), ClusterError> {
    let program = binaries.initdb();
    let mut output = String::new();
    for character_type in CHARACTER_TYPES {
        let mut command = account.command(&program);
        command
            .arg("--pgdata")
            .arg(dir)
            .args(["--username", SUPERUSER, "--encoding", "UTF8"])
            .args(["--lc-collate", "C", "--lc-ctype", character_type])
            .args(["--lc-messages", "C", "--lc-monetary", "C"])
            .args(["--lc-numeric", "C", "--lc-time", "C"])
            .args(["--auth-local", "trust", "--auth-host", "scram-sha-256"])
            .arg("--data-checksums")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if durability == Durability::None {
            // A throw-away cluster: small files copy faster than safe ones.
            command.args(["--no-sync", "--wal-segsize=1"]);
        }
        let finished = spawn::bound(command, Signal::KILL)
            .and_then(std::process::Child::wait_with_output)
            .map_err(at("run", &program))?;
        if finished.status.success() {
            return Ok(());
        }
        output = String::from_utf8_lossy(&finished.stderr).trim().to_owned();
        if !output.contains("locale") {
            break;
        }
    }
    Err(ClusterError::Tool { program, output })
}

fn copy(image: &Path, into: &Path) -> Result<(), ClusterError> {
    let program = Path::new("cp");
    let finished = Command::new(program)
        .arg("-Rp")
        .arg(image.join("."))
        .arg(into)
        .stdin(Stdio::null())
        .output()
        .map_err(at("run", program))?;
    if finished.status.success() {
        return Ok(());
    }
    Err(ClusterError::Tool {
        program: program.to_owned(),
        output: String::from_utf8_lossy(&finished.stderr).trim().to_owned(),
    })
}

/// Lets the account pass through our own directory if that is all that is in its way; false if a directory above,
/// which is not ours to change, keeps it out.
fn let_enter(data_dir: &Path, account: &Account) -> Result<bool, ClusterError> {
    if account.can_enter(data_dir) {
        return Ok(true);
    }
    let meta = fs::metadata(data_dir).map_err(at("look at", data_dir))?;
    let mode = meta.permissions().mode();
    if mode & 0o001 != 0
        || !data_dir
            .parent()
            .is_none_or(|above| account.can_enter(above))
    {
        return Ok(false);
    }
    // Search only: names below cannot be listed, and what is private below has its own mode.
    fs::set_permissions(data_dir, fs::Permissions::from_mode(mode & 0o7777 | 0o001))
        .map_err(at("open for PostgreSQL's user", data_dir))?;
    Ok(account.can_enter(data_dir))
}

fn outside(dir: &Path, account: &Account) -> Result<(), ClusterError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o711)
        .create(dir)
        .map_err(at("create", dir))?;
    if account.can_enter(dir) {
        return Ok(());
    }
    Err(ClusterError::Unreachable {
        path: dir.to_owned(),
        uid: account.uid,
    })
}

fn lock_of(link: &Path, data_dir: &Path) -> Result<DirLock, ClusterError> {
    let target = fs::read_link(link).map_err(at("read", link))?;
    let target = data_dir.join(target);
    match target.parent() {
        // Left to `existing` to report.
        Some(parent) if !parent.is_dir() => DirLock::take(&data_dir.join("pg.lock"), &target),
        _ => DirLock::take(&target.with_extension("lock"), &target),
    }
}

fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none())
}

fn sync(dir: &Path) -> Result<(), ClusterError> {
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .or_else(|error| match error.kind() {
            // Some file systems cannot sync a directory; there is nothing more to do then.
            ErrorKind::InvalidInput | ErrorKind::Unsupported => Ok(()),
            _ => Err(error),
        })
        .map_err(at("sync", dir))
}
