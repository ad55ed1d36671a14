use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::error::{ClusterError, at};

/// The user that everything of PostgreSQL runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) uid: u32,
    gid: u32,
    /// Whether this is another user than we are, which only root can arrange.
    switch: bool,
}

impl Account {
    /// Our own user; under root the owner of the existing cluster, else `postgres`, else `nobody`.
    pub(super) fn choose(existing: Option<&Path>) -> Result<Self, ClusterError> {
        let ours = rustix::process::geteuid().as_raw();
        let owner = match existing {
            Some(path) => {
                let meta = fs::metadata(path).map_err(at("look at", path))?;
                Some((meta.uid(), meta.gid()))
            }
            None => None,
        };
        if ours != 0 {
            return match (owner, existing) {
                (Some((owner, _)), Some(path)) if owner != ours => Err(ClusterError::NotOurs {
                    path: path.to_owned(),
                    owner,
                    ours,
                }),
                _ => Ok(Self {
                    uid: ours,
                    gid: rustix::process::getegid().as_raw(),
                    switch: false,
                }),
            };
        }
        let (uid, gid) = match owner {
            Some((0, _)) | None => unprivileged()?,
            Some(owner) => owner,
        };
        Ok(Self {
            uid,
            gid,
            switch: true,
        })
    }

    /// A command that runs as this account with a bare environment: `PGDATA`, `PGOPTIONS` and the like of the
    /// caller must not reach a server that is not theirs.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs([("LC_ALL", "C"), ("TZ", "UTC")]);
        for key in ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"] {
            if let Some(value) = std::env::var_os(key) {
                command.env(key, value);
            }
        }
        command
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if self.switch {
            // With a uid and no explicit groups, std calls setgroups(0), setgid and setuid in that order, and all
            // of them before any pre_exec hook. The test `postgres_has_no_root_identity_and_no_foreign_files`
            // holds it to that.
            command.uid(self.uid).gid(self.gid);
        }
        command
    }

    /// Makes `path`, just created by us, this account's own.
    pub(super) fn give(&self, path: &Path) -> Result<(), ClusterError> {
        if self.switch {
            chown(path, Some(self.uid), Some(self.gid)).map_err(at("change the owner of", path))?;
        }
        Ok(())
    }

    /// Whether this account can enter `dir`, asked of the kernel by entering it rather than computed from mode
    /// bits, which know nothing of ACLs, user namespaces or mount options.
    pub(super) fn can_enter(&self, dir: &Path) -> bool {
        !self.switch
            || self
                .command(Path::new("/bin/sh"))
                .args(["-c", ":"])
                .current_dir(dir)
                .status()
                .is_ok_and(|status| status.success())
    }
}

fn unprivileged() -> Result<(u32, u32), ClusterError> {
    let path = Path::new("/etc/passwd");
    let passwd = fs::read_to_string(path).map_err(at("read", path))?;
    ["postgres", "_postgres", "nobody"]
        .iter()
        .find_map(|name| ids_of(&passwd, name))
        .ok_or(ClusterError::NoAccount)
}

fn ids_of(passwd: &str, name: &str) -> Option<(u32, u32)> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next()? != name {
            return None;
        }
        let uid = id(fields.nth(1)?)?;
        let gid = id(fields.next()?)?;
        (uid != 0).then_some((uid, gid))
    })
}

// macOS writes nobody's id as -2.
fn id(text: &str) -> Option<u32> {
    text.parse::<i64>().ok().map(|id| id as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_read_from_passwd_lines() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nnobody:*:-2:-2::/:/bin/false\npostgres:x:101:104::/:/bin/sh\nbad\n";
        assert_eq!(ids_of(passwd, "postgres"), Some((101, 104)));
        assert_eq!(ids_of(passwd, "nobody"), Some((u32::MAX - 1, u32::MAX - 1)));
        assert_eq!(ids_of(passwd, "root"), None);
        assert_eq!(ids_of(passwd, "bad"), None);
    }
}
