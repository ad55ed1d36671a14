use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::error::{ClusterError, at};

/// Ends every PostgreSQL process that works in `pgdata` and removes the pid file, so that the next postmaster finds
/// a quiet directory. Only to be called under the directory lock: what still runs then belongs to a dead parent.
pub(super) fn clear(pgdata: &Path, patience: Duration) -> Result<(), ClusterError> {
    end_all(pgdata, patience)?;
    // With no process left, the pid file is stale whatever is in it. PostgreSQL would refuse an empty or garbled
    // one, and one whose pid now belongs to an innocent process of the same user.
    let pid_file = pgdata.join("postmaster.pid");
    match fs::remove_file(&pid_file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(at("remove", &pid_file)(error))
        }
        _ => Ok(()),
    }
}

/// Ends every PostgreSQL process that works in `pgdata`, gently at first.
pub(super) fn end_all(pgdata: &Path, patience: Duration) -> Result<(), ClusterError> {
    let found = processes::of(pgdata);
    if found.is_empty() {
        return Ok(());
    }
    tracing::warn!(
        pgdata = %pgdata.display(), pids = ?found.iter().map(|process| process.pid).collect::<Vec<_>>(),
        "stopping PostgreSQL processes that an earlier run left behind"
    );
    let orphans = !found.iter().any(|process| process.postmaster);
    // A postmaster takes its backends down on SIGINT (fast shutdown) and may have a long checkpoint to write.
    // Backends without one get no such chance: what they do can no longer be committed.
    if !orphans {
        for process in found.iter().filter(|process| process.postmaster) {
            process.signal(Signal::INT);
        }
        if gone(pgdata, patience, |process| process.postmaster) && gone_soon(pgdata) {
            return Ok(());
        }
    }
    // On SIGQUIT a postmaster gives its children five seconds; a lone backend exits at once, or is stuck.
    let immediate = Duration::from_secs(if orphans { 1 } else { 6 });
    for (signal, patience) in [
        (Signal::QUIT, immediate),
        (Signal::KILL, Duration::from_secs(5)),
    ] {
        for process in processes::of(pgdata) {
            process.signal(signal);
        }
        if gone(pgdata, patience, |_| true) {
            return Ok(());
        }
    }
    match processes::of(pgdata).first() {
        None => Ok(()),
        Some(process) => Err(ClusterError::WillNotStop {
            path: pgdata.to_owned(),
            pid: process.pid,
        }),
    }
}

fn gone_soon(pgdata: &Path) -> bool {
    gone(pgdata, Duration::from_millis(500), |_| true)
}

#[expect(
    clippy::disallowed_methods,
    reason = "polls on a thread that starting and stopping PostgreSQL has for itself"
)]
fn gone(pgdata: &Path, patience: Duration, counts: impl Fn(&processes::Process) -> bool) -> bool {
    let begun = Instant::now();
    loop {
        if !processes::of(pgdata).iter().any(&counts) {
            return true;
        }
        if begun.elapsed() >= patience {
            return false;
        }
        sleep(Duration::from_millis(10));
    }
}

#[cfg(target_os = "linux")]
mod processes {
    use std::fs;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

    /// A process that is proven to be a PostgreSQL of one data directory.
    #[derive(Debug)]
    pub(super) struct Process {
        pub(super) pid: u32,
        pub(super) postmaster: bool,
        raw: Pid,
        // Opened before the proof, so that a signal can only reach the process that was proven.
        handle: Option<OwnedFd>,
    }

    impl Process {
        pub(super) fn signal(&self, signal: Signal) {
            let sent = match &self.handle {
                Some(handle) => pidfd_send_signal(handle, signal),
                None => kill_process(self.raw, signal),
            };
            if let Err(error) = sent {
                tracing::debug!(pid = self.pid, %error, "could not signal");
            }
        }
    }

    /// Every PostgreSQL process whose working directory is `pgdata`: the postmaster and each of its children
    /// change to it at start and never leave it. `pgdata` is a real path.
    pub(super) fn of(pgdata: &Path) -> Vec<Process> {
        fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter_map(|pid| prove(pid, pgdata))
            .collect()
    }

    fn prove(pid: u32, pgdata: &Path) -> Option<Process> {
        let home = Path::new("/proc").join(pid.to_string());
        // The cheap look first: most processes are somebody else's.
        if fs::read_link(home.join("cwd")).ok()? != pgdata {
            return None;
        }
        let raw = Pid::from_raw(i32::try_from(pid).ok()?)?;
        let handle = pidfd_open(raw, PidfdFlags::empty()).ok();
        let same_place = fs::read_link(home.join("cwd")).ok()? == pgdata;
        // A shell or an editor may well sit in the directory too. After a package upgrade the name of the running
        // program ends in ` (deleted)`.
        let program = fs::read_link(home.join("exe")).ok()?;
        let program = program.file_name()?.to_str()?;
        let program = program.strip_suffix(" (deleted)").unwrap_or(program);
        if !same_place || program != "postgres" {
            return None;
        }
        let title = fs::read(home.join("cmdline")).ok()?;
        Some(Process {
            pid,
            postmaster: !title.starts_with(b"postgres: "),
            raw,
            handle,
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod processes {
    use std::path::Path;
    use std::process::Command;

    use rustix::process::{Pid, Signal, kill_process};

    /// A process that is proven to be the postmaster of one data directory.
    #[derive(Debug)]
    pub(super) struct Process {
        pub(super) pid: u32,
        pub(super) postmaster: bool,
        raw: Pid,
    }

    impl Process {
        pub(super) fn signal(&self, signal: Signal) {
            if let Err(error) = kill_process(self.raw, signal) {
                tracing::debug!(pid = self.pid, %error, "could not signal");
            }
        }
    }

    /// Without /proc the proof is the command line that we start a postmaster with. Orphaned backends are not
    /// found; they end by themselves as soon as they notice that their postmaster is gone.
    pub(super) fn of(pgdata: &Path) -> Vec<Process> {
        let Ok(output) = Command::new("ps")
            .args(["-axww", "-o", "pid=,command="])
            .output()
        else {
            return Vec::new();
        };
        let marker = format!("/postgres -D {} ", pgdata.display());
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter(|line| line.contains(&marker))
            .filter_map(|line| {
                let pid: u32 = line.split_whitespace().next()?.parse().ok()?;
                Some(Process {
                    pid,
                    postmaster: true,
                    raw: Pid::from_raw(i32::try_from(pid).ok()?)?,
                })
            })
            .collect()
    }
}
