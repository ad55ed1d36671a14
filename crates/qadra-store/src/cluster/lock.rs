use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::error::{ClusterError, at};

/// Holds the data directory for this process. The kernel lets go of it when the process ends, however it ends,
/// so the file itself is never removed and its presence means nothing.
#[derive(Debug)]
pub(super) struct DirLock {
    // Opened close-on-exec, as std does with every file: a postmaster that outlives us must not hold the lock.
    _file: File,
}

impl DirLock {
    /// Takes the lock at `file`; `dir` is what the message names.
    pub(super) fn take(file: &Path, dir: &Path) -> Result<Self, ClusterError> {
        let mut handle = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(file)
            .map_err(at("open", file))?;
        let begun = Instant::now();
        loop {
            match handle.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(at("lock", file)(error)),
                Err(TryLockError::WouldBlock) => {
                    let pid = read_pid(&mut handle);
                    // A holder that was just killed keeps its lock until the kernel has taken it apart, so a
                    // restart on its heels waits a moment, longer if the holder is visibly gone already.
                    let patience = match pid {
                        Some(pid) if alive(pid) => Duration::from_millis(400),
                        _ => Duration::from_secs(2),
                    };
                    if begun.elapsed() >= patience {
                        return Err(ClusterError::Locked {
                            dir: dir.to_owned(),
                            pid,
                        });
                    }
                    #[expect(
                        clippy::disallowed_methods,
                        reason = "polls on a thread that starting and stopping PostgreSQL has for itself"
                    )]
                    sleep(Duration::from_millis(10));
                }
            }
        }
        write_pid(&mut handle).map_err(at("write", file))?;
        Ok(Self { _file: handle })
    }
}

fn write_pid(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn alive(pid: u32) -> bool {
    i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
        .is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}
