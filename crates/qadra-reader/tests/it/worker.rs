use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use qadra_reader::worker::{Reader, WorkerCommand, read_in_worker};
use qadra_reader::{Limits, ReadError};

use crate::make_docx::zip;
use crate::make_pdf::{Page, pdf};
use crate::read_named;

fn worker() -> WorkerCommand {
    WorkerCommand {
        program: PathBuf::from(env!("CARGO_BIN_EXE_read-document")),
        args: Vec::new(),
    }
}

fn shell(script: &str) -> WorkerCommand {
    WorkerCommand {
        program: PathBuf::from("/bin/sh"),
        args: vec![OsString::from("-c"), OsString::from(script)],
    }
}

async fn with(
    command: &WorkerCommand,
    bytes: &[u8],
    name: &str,
    limits: &Limits,
) -> Result<qadra_reader::Text, ReadError> {
    read_in_worker(command, bytes, None, Some(name), limits, |_| {}).await
}

#[tokio::test]
async fn a_worker_reads_as_the_library_does() {
    let bytes = pdf(vec![Page::default().text(60.0, 700.0, 10.0, "Some words.")]);
    let here = read_named(&bytes, "a.pdf").unwrap();
    let there = with(&worker(), &bytes, "a.pdf", &Limits::default()).await;
    assert_eq!(there.unwrap(), here);
    let e = with(&worker(), b"\x89PNG", "a.png", &Limits::default())
        .await
        .unwrap_err();
    assert_eq!(e, read_named(b"\x89PNG", "a.png").unwrap_err());
    let thread = Reader::InProcess;
    let text = thread
        .read(Arc::from(bytes), None, None, &Limits::default(), |_| {})
        .await;
    assert_eq!(text.unwrap(), here);
}

#[tokio::test]
async fn fifty_megabytes_pass_through_with_progress() {
    let page = format!(
        "<html>{}",
        "<p>The quick brown fox &amp; the dogs.</p>\n".repeat(1_200_000)
    );
    assert!(page.len() > 50_000_000);
    let started = Instant::now();
    let mut reports = 0;
    let (worker, limits) = (worker(), Limits::default());
    let html = Some("text/html");
    let text = read_in_worker(&worker, page.as_bytes(), html, None, &limits, |_| {
        reports += 1
    })
    .await;
    let text = text.unwrap();
    eprintln!("50 MB of HTML in a worker: {:?}", started.elapsed());
    assert_eq!(text.blocks.len(), 1_200_000);
    assert!(reports > 0);
}

#[tokio::test]
async fn too_little_memory_ends_the_worker_alone() {
    let limits = Limits {
        max_memory: 144 << 20,
        ..Limits::default()
    };
    let page = format!("<html>{}", "<p>The quick brown fox.</p>".repeat(2_000_000));
    let e = with(&worker(), page.as_bytes(), "a.html", &limits)
        .await
        .unwrap_err();
    assert!(
        matches!(&e, ReadError::Unreadable { reason } if reason.contains("144 MiB")),
        "{e}"
    );
    assert!(
        with(&worker(), b"still here", "a.txt", &limits)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn time_and_processor_time_are_limited() {
    let limits = Limits {
        max_seconds: 1,
        ..Limits::default()
    };
    let e = with(&shell("sleep 30"), b"x", "a.txt", &limits)
        .await
        .unwrap_err();
    assert_eq!(e, ReadError::Timeout { seconds: 1 });
    let limits = Limits {
        max_seconds: 50,
        max_cpu_seconds: 1,
        ..Limits::default()
    };
    let e = with(
        &shell("ulimit -S -t 1; while :; do :; done"),
        b"x",
        "a.txt",
        &limits,
    )
    .await
    .unwrap_err();
    assert_eq!(e, ReadError::Timeout { seconds: 1 });
}

#[tokio::test]
async fn every_death_is_unreadable() {
    let big = vec![b'a'; 1 << 20];
    for script in [
        "exit 0",
        "exit 3",
        "cat > /dev/null; kill -SEGV $$",
        "cat > /dev/null; echo no json",
        "cat > /dev/null; echo '{\"text\":{\"text\":{},\"bytes\":5}}'",
        "cat > /dev/null; head -c 1000000 /dev/zero >&2; exit 1",
        "head -c 3000000 /dev/zero",
    ] {
        let e = with(&shell(script), &big, "a.txt", &Limits::default())
            .await
            .unwrap_err();
        assert!(matches!(e, ReadError::Unreadable { .. }), "{script}: {e}");
    }
    let none = WorkerCommand {
        program: PathBuf::from("/nowhere/at/all"),
        args: Vec::new(),
    };
    let e = with(&none, b"x", "a.txt", &Limits::default())
        .await
        .unwrap_err();
    assert!(matches!(e, ReadError::Unreadable { .. }), "{e}");
}

#[tokio::test]
async fn a_bomb_in_a_worker_is_too_large() {
    let bomb = zip(&[("word/document.xml", &vec![b' '; 300 << 20])]);
    let e = with(&worker(), &bomb, "a.docx", &Limits::default())
        .await
        .unwrap_err();
    assert!(matches!(e, ReadError::TooLarge { .. }), "{e}");
}

#[tokio::test]
async fn readers_do_not_wait_for_each_other() {
    let slow = shell("sleep 30");
    let limits = Limits {
        max_seconds: 3,
        ..Limits::default()
    };
    let fast = async {
        let started = Instant::now();
        with(&worker(), b"quick", "a.txt", &Limits::default())
            .await
            .unwrap();
        started
    };
    let (slow, _) = tokio::join!(with(&slow, b"x", "a.txt", &limits), fast);
    assert_eq!(slow.unwrap_err(), ReadError::Timeout { seconds: 3 });
}
