use std::fs::{self, DirBuilder};
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::account::Account;
use super::error::{ClusterError, at};

/// The name of the socket is `.s.PGSQL.<port>`; the folder is ours alone, so the usual number never collides.
const PORT: u16 = 5432;
/// `sun_path` holds 104 bytes with its final zero on macOS, 108 on Linux.
const PATH_LIMIT: usize = 103;

/// Where the server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// A Unix socket in a folder that only the server's user and root can enter. That is the authentication:
    /// whoever can reach the socket could as well read the data files, so a password would guard nothing.
    Socket { dir: PathBuf, port: u16 },
    /// The loopback interface, which every user of the machine can reach: SCRAM with a password of this start.
    Loopback { port: u16 },
}

impl Endpoint {
    /// `<data_dir>/run` if the path is short enough, else a folder in /tmp, else loopback.
    pub(super) fn choose(
        data_dir: &Path,
        pgdata: &Path,
        account: &Account,
    ) -> Result<Self, ClusterError> {
        let beside = data_dir.join("run");
        if fits(&beside) && account.can_enter(data_dir) {
            match private(&beside, account)? {
                true if sockets_work_in(&beside) => return Ok(Self::at(beside)),
                _ => tracing::debug!(dir = %beside.display(), "no private socket folder here"),
            }
        }
        let name = short_hash(pgdata);
        // A name can be taken by somebody else, by accident or to catch our connections: then the next one.
        for attempt in 0..8 {
            let dir = Path::new("/tmp").join(format!("qadra-{name}-{attempt}"));
            if private(&dir, account)? && sockets_work_in(&dir) {
                return Ok(Self::at(dir));
            }
        }
        Self::loopback()
    }

    /// Removes a folder that nobody would miss, once the server is gone.
    pub(super) fn tidy(&self) {
        if let Self::Socket { dir, .. } = self
            && dir.parent() == Some(Path::new("/tmp"))
        {
            let _ = fs::remove_dir(dir);
        }
    }

    /// A port that was free a moment ago.
    pub(super) fn loopback() -> Result<Self, ClusterError> {
        let port = TcpListener::bind(("127.0.0.1", 0))
            .and_then(|listener| listener.local_addr())
            .map_err(at("find a free port on", Path::new("127.0.0.1")))?
            .port();
        Ok(Self::Loopback { port })
    }

    fn at(dir: PathBuf) -> Self {
        // Of a server that was killed. The folder serves this cluster alone, whose lock we hold, and PostgreSQL
        // would take a process that now has the pid in the lock file for a server.
        for name in [format!(".s.PGSQL.{PORT}"), format!(".s.PGSQL.{PORT}.lock")] {
            let _ = fs::remove_file(dir.join(name));
        }
        Self::Socket { dir, port: PORT }
    }
}

fn fits(dir: &Path) -> bool {
    dir.join(format!(".s.PGSQL.{PORT}")).as_os_str().len() <= PATH_LIMIT
}

/// Makes or checks a folder that only `account` (and root) can enter; false if it is somebody else's.
fn private(dir: &Path, account: &Account) -> Result<bool, ClusterError> {
    match DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => account.give(dir)?,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        // No /tmp, or not for us.
        Err(error) => {
            tracing::debug!(dir = %dir.display(), %error, "could not make a socket folder");
            return Ok(false);
        }
    }
    // Not followed: a link that somebody planted is not a folder.
    let meta = fs::symlink_metadata(dir).map_err(at("look at", dir))?;
    let ours = rustix::process::geteuid().as_raw();
    if !meta.is_dir() || (meta.uid() != account.uid && meta.uid() != ours) {
        return Ok(false);
    }
    // Killed between making and giving it, or made under another umask.
    if meta.uid() != account.uid {
        account.give(dir)?;
    }
    if meta.permissions().mode() & 0o777 != 0o700 {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).map_err(at("protect", dir))?;
    }
    Ok(true)
}

/// Some shared and network file systems have no sockets.
fn sockets_work_in(dir: &Path) -> bool {
    let probe = dir.join(".probe");
    let _ = fs::remove_file(&probe);
    let works = UnixListener::bind(&probe).is_ok();
    let _ = fs::remove_file(&probe);
    works
}

fn short_hash(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    Sha256::digest(path.as_os_str().as_bytes())
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_folder_is_not_used() {
        let root = tempfile::tempdir().unwrap();
        let account = Account::choose(None).unwrap();
        let real = root.path().join("real");
        assert!(private(&real, &account).unwrap());
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert!(!private(&link, &account).unwrap());
        if rustix::process::geteuid().is_root() {
            let theirs = root.path().join("theirs");
            fs::create_dir(&theirs).unwrap();
            std::os::unix::fs::chown(&theirs, Some(account.uid + 1), None).unwrap();
            assert!(!private(&theirs, &account).unwrap());
        }
    }

    #[test]
    fn a_folder_open_to_others_is_closed() {
        let root = tempfile::tempdir().unwrap();
        let account = Account::choose(None).unwrap();
        let dir = root.path().join("run");
        fs::create_dir(&dir).unwrap();
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(private(&dir, &account).unwrap());
        assert_eq!(
            fs::metadata(&dir).unwrap().permissions().mode() & 0o777,
            0o700
        );
    }
}
