use std::io::{self, BufRead, BufReader, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, setrlimit};

use super::{Reply, Request};
use crate::{Limits, ReadError, Text, read};

/// Nested formats are read by recursion in places; the main thread's stack is not ours to size.
const STACK: usize = 64 * 1024 * 1024;
const LONGEST_REQUEST: u64 = 64 * 1024;
const PAUSE: Duration = Duration::from_millis(100);

/// The child's side: reads one request from `input`, answers on `output`, returns. To be called first thing in a
/// process that does nothing else, because its limits hold for the whole process and cannot be lifted again.
pub fn run_worker(input: impl Read, output: impl Write + Send) -> io::Result<()> {
    let mut input = BufReader::new(input);
    let mut output = io::BufWriter::new(output);
    let mut line = Vec::new();
    (&mut input)
        .take(LONGEST_REQUEST)
        .read_until(b'\n', &mut line)?;
    let request: Request = serde_json::from_slice(&line)?;
    limit_process(&request.limits)?;
    let mut bytes = Vec::with_capacity(request.bytes);
    input.take(request.bytes as u64).read_to_end(&mut bytes)?;
    if bytes.len() != request.bytes {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let done = thread::scope(|scope| {
        let work = thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || read_reporting(&bytes, &request, &mut output))?;
        io::Result::Ok(work.join())
    })?;
    // A panic has said what it is on standard error, where the parent looks for it.
    let done = done.unwrap_or_else(|_| Err(ReadError::unreadable("the reader failed on it")));
    answer(done, &mut output)?;
    output.flush()
}

fn read_reporting(
    bytes: &[u8],
    request: &Request,
    output: &mut impl Write,
) -> Result<Text, ReadError> {
    let mut last = Instant::now();
    let declared = request.declared.as_deref();
    let filename = request.filename.as_deref();
    read(
        bytes,
        declared,
        filename,
        &request.limits,
        &mut |progress| {
            if last.elapsed() >= PAUSE {
                last = Instant::now();
                // A parent that has gone away ends this process soon enough: nothing it says is read.
                let _ = line(&Reply::Progress(progress), output).and_then(|()| output.flush());
            }
        },
    )
}

fn answer(done: Result<Text, ReadError>, output: &mut impl Write) -> io::Result<()> {
    match done {
        Ok(mut text) => {
            let content = std::mem::take(&mut text.content);
            let bytes = content.len();
            line(&Reply::Text { text, bytes }, output)?;
            output.write_all(content.as_bytes())
        }
        Err(e) => line(&Reply::Error(e), output),
    }
}

fn line(reply: &Reply, output: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *output, reply)?;
    output.write_all(b"\n")
}

fn limit_process(limits: &Limits) -> io::Result<()> {
    let to = |resource, current: u64, maximum: u64| {
        let limit = Rlimit {
            current: Some(current),
            maximum: Some(maximum),
        };
        setrlimit(resource, limit)
    };
    to(Resource::As, limits.max_memory, limits.max_memory)?;
    let seconds = limits.max_cpu_seconds;
    to(Resource::Cpu, seconds, seconds.saturating_add(1))?;
    // It writes no files, and leaves no image of a document's text behind when it dies.
    to(Resource::Fsize, 0, 0)?;
    to(Resource::Core, 0, 0)?;
    Ok(())
}
