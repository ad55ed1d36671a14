use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader,
};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{Reply, Request};
use crate::{Limits, Progress, ReadError, Text, read};

/// Standard error that is kept for the log.
const LOGGED: u64 = 4096;
/// Blocks, warnings and progress beside the content.
const BESIDE: u64 = 512 * 1024 * 1024;

/// The program that calls [`run_worker`](super::run_worker), and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCommand {
    pub program: PathBuf,
    pub args: Vec<OsString>,
}

impl WorkerCommand {
    /// This very program with other arguments, also when its file was replaced since it started.
    pub fn of_this_program(args: &[&str]) -> io::Result<Self> {
        let linux = PathBuf::from("/proc/self/exe");
        Ok(WorkerCommand {
            program: if linux.exists() {
                linux
            } else {
                std::env::current_exe()?
            },
            args: args.iter().map(OsString::from).collect(),
        })
    }
}

/// Where documents are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reader {
    /// In a process for each document. For servers.
    Worker(WorkerCommand),
    /// On a thread of this process, which a hostile document can take down. For tests.
    InProcess,
}

impl Reader {
    /// Reads a document with a deadline of `limits.max_seconds`. Dropping the future ends the worker.
    pub async fn read(
        &self,
        bytes: Arc<[u8]>,
        declared: Option<&str>,
        filename: Option<&str>,
        limits: &Limits,
        on_progress: impl FnMut(Progress),
    ) -> Result<Text, ReadError> {
        match self {
            Reader::Worker(command) => {
                read_in_worker(command, &bytes, declared, filename, limits, on_progress).await
            }
            Reader::InProcess => {
                read_on_thread(bytes, declared, filename, limits, on_progress).await
            }
        }
    }
}

/// Reads a document in a child process. Every way in which the child can end gives an answer; dropping the future
/// kills the child.
pub async fn read_in_worker(
    command: &WorkerCommand,
    bytes: &[u8],
    declared: Option<&str>,
    filename: Option<&str>,
    limits: &Limits,
    on_progress: impl FnMut(Progress),
) -> Result<Text, ReadError> {
    if bytes.is_empty() {
        return Err(ReadError::Empty);
    }
    limits.check_bytes(bytes.len())?;
    let request = Request {
        declared: declared.map(str::to_owned),
        filename: filename.map(str::to_owned),
        limits: limits.clone(),
        bytes: bytes.len(),
    };
    let failed = |e: io::Error| {
        tracing::error!(program = %command.program.display(), error = %e, "run the document reader");
        ReadError::unreadable("the reader could not be run")
    };
    let mut child = Command::new(&command.program)
        .args(&command.args)
        // The settings of a server hold its secrets.
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    let deadline = Duration::from_secs(limits.max_seconds);
    let talk = talk(&mut child, &request, bytes, on_progress);
    let Ok((reply, said)) = timeout(deadline, talk).await else {
        tracing::warn!(
            seconds = limits.max_seconds,
            "the document reader ran out of time"
        );
        return Err(ReadError::Timeout {
            seconds: limits.max_seconds,
        });
    };
    if let Ok(Some(done)) = reply {
        if !said.is_empty() {
            tracing::warn!(said, "the document reader complained");
        }
        return done;
    }
    // It may still run, having said something that is no answer.
    let _ = child.start_kill();
    let status = child.wait().await.map_err(failed)?;
    tracing::warn!(%status, said, "the document reader died");
    Err(death(status, &said, limits))
}

/// What the child answered, if it did, and what it said on standard error.
async fn talk(
    child: &mut Child,
    request: &Request,
    bytes: &[u8],
    on_progress: impl FnMut(Progress),
) -> (io::Result<Option<Result<Text, ReadError>>>, String) {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let ask = async {
        if let Some(mut stdin) = stdin {
            let mut line = serde_json::to_vec(request)?;
            line.push(b'\n');
            stdin.write_all(&line).await?;
            stdin.write_all(bytes).await?;
            stdin.shutdown().await?;
        }
        io::Result::Ok(())
    };
    let hear = async {
        match stdout {
            Some(stdout) => hear(stdout, request, on_progress).await,
            None => Ok(None),
        }
    };
    let overhear = async {
        let mut said = Vec::new();
        if let Some(mut stderr) = stderr {
            let _ = (&mut stderr).take(LOGGED).read_to_end(&mut said).await;
            let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
        }
        String::from_utf8_lossy(&said).trim().to_owned()
    };
    // A child that dies early makes the first of these fail; why it died, the others tell.
    let (_, reply, said) = tokio::join!(ask, hear, overhear);
    (reply, said)
}

async fn hear(
    stdout: impl AsyncRead + Unpin,
    request: &Request,
    mut on_progress: impl FnMut(Progress),
) -> io::Result<Option<Result<Text, ReadError>>> {
    let cap = request.limits.max_chars.saturating_mul(4);
    let mut stdout = BufReader::new(stdout.take(cap.saturating_add(BESIDE)));
    loop {
        let mut line = Vec::new();
        if stdout.read_until(b'\n', &mut line).await? == 0 {
            return Ok(None);
        }
        match serde_json::from_slice(&line)? {
            Reply::Progress(progress) => on_progress(progress),
            Reply::Error(e) => return Ok(Some(Err(e))),
            Reply::Text { mut text, bytes } => {
                drop(line);
                let cap = usize::try_from(cap).unwrap_or(usize::MAX);
                let mut content = Vec::with_capacity(bytes.min(cap));
                stdout.take(bytes as u64).read_to_end(&mut content).await?;
                if content.len() != bytes {
                    return Ok(None);
                }
                text.content = String::from_utf8(content).map_err(io::Error::other)?;
                return Ok(Some(Ok(text)));
            }
        }
    }
}

fn death(status: ExitStatus, said: &str, limits: &Limits) -> ReadError {
    if status.signal() == Some(Signal::XCPU.as_raw()) {
        return ReadError::Timeout {
            seconds: limits.max_cpu_seconds,
        };
    }
    // The words of the allocator, and of the system when a thread finds no place for its stack.
    if said.contains("memory allocation of") || said.contains("Cannot allocate memory") {
        let mib = limits.max_memory / (1024 * 1024);
        return ReadError::unreadable(format!("it needs more than {mib} MiB of memory"));
    }
    ReadError::unreadable("the reader failed on it")
}

async fn read_on_thread(
    bytes: Arc<[u8]>,
    declared: Option<&str>,
    filename: Option<&str>,
    limits: &Limits,
    mut on_progress: impl FnMut(Progress),
) -> Result<Text, ReadError> {
    let (declared, filename) = (declared.map(str::to_owned), filename.map(str::to_owned));
    let own = limits.clone();
    let (tell, mut told) = mpsc::unbounded_channel();
    let work = tokio::task::spawn_blocking(move || {
        let tell = &mut |p| {
            // Nobody listens any more when the deadline is over.
            let _ = tell.send(p);
        };
        read(&bytes, declared.as_deref(), filename.as_deref(), &own, tell)
    });
    let all = async {
        while let Some(progress) = told.recv().await {
            on_progress(progress);
        }
        work.await
    };
    match timeout(Duration::from_secs(limits.max_seconds), all).await {
        Ok(Ok(done)) => done,
        Ok(Err(_)) => Err(ReadError::unreadable("the reader failed on it")),
        Err(_) => Err(ReadError::Timeout {
            seconds: limits.max_seconds,
        }),
    }
}
