use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::thread;

use rustix::process::Signal;

struct Job {
    command: Command,
    answer: SyncSender<io::Result<Child>>,
}

static SPAWNER: OnceLock<Sender<Job>> = OnceLock::new();

/// Starts `command` such that the kernel sends it `on_our_death` when this process ends, however it ends (Linux).
///
/// The signal is bound to the *thread* that forked. Threads of an async runtime come and go, so one thread that
/// lives as long as the process does all of it: its sender stands in a static and never closes.
pub(super) fn bound(mut command: Command, on_our_death: Signal) -> io::Result<Child> {
    // A group of its own: Ctrl-C in a terminal is for us to turn into an orderly stop, not for the server.
    command.process_group(0);
    die_with_parent(&mut command, on_our_death);
    let (answer, result) = sync_channel(1);
    let spawner = SPAWNER.get_or_init(|| {
        let (sender, jobs) = channel::<Job>();
        let started = thread::Builder::new()
            .name("postgres-parent".to_owned())
            .spawn(move || {
                for mut job in jobs {
                    // The asker may have gone; then nobody can mind the child, and it goes with the answer.
                    if let Err(lost) = job.answer.send(job.command.spawn())
                        && let Ok(mut child) = lost.0
                    {
                        let _ = child.kill();
                        let _ = child.wait();
                    }
                }
            });
        if let Err(error) = started {
            tracing::error!(%error, "could not start the thread that starts PostgreSQL");
        }
        sender
    });
    spawner
        .send(Job { command, answer })
        .map_err(|_| io::Error::other("the thread that starts PostgreSQL is not running"))?;
    result
        .recv()
        .map_err(|_| io::Error::other("the thread that starts PostgreSQL ended"))?
}

#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "the death signal can only be set in the child itself, and after its change of user, which clears it"
)]
fn die_with_parent(command: &mut Command, signal: Signal) {
    let parent = rustix::process::getpid();
    let hook = move || {
        rustix::process::set_parent_process_death_signal(Some(signal))?;
        // The parent may have died between the fork and the line above; then no signal would ever come.
        if rustix::process::getppid() != Some(parent) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(())
    };
    // SAFETY: between fork and exec the hook makes two system calls and neither allocates nor takes a lock; an
    // `io::Error` from an errno or a kind holds no allocation. std runs it after setgroups, setgid and setuid.
    unsafe { command.pre_exec(hook) };
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent(_: &mut Command, _: Signal) {}
