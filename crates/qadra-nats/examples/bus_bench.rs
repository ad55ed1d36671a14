//! Round trips per second and bytes per idle subscription, in-process and over NATS.
//!
//! `cargo run --release -p qadra-nats --example bus_bench [nats://host:port]`; without a URL only the
//! in-process transport is measured. Memory is counted at the allocator, so it holds for any machine.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use qadra_nats::{Bus, Headers, InProcess, Nats, NatsOptions, Reply, ServeOptions, Subject, serve};

const TIMEOUT: Duration = Duration::from_secs(30);

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[expect(
    unsafe_code,
    reason = "an allocator that counts is the exact way to measure bytes per subscription"
)]
// SAFETY: every call is passed to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let in_process: Arc<dyn Bus> = Arc::new(InProcess::new());
    measure("in-process", in_process.clone(), in_process).await?;
    if let Some(url) = std::env::args().nth(1) {
        let connect = |shared_progress| {
            let options = NatsOptions {
                shared_progress,
                ..NatsOptions::default()
            };
            let url = url.clone();
            async move { anyhow::Ok(Arc::new(Nats::connect(&url, options).await?)) }
        };
        let gateway = connect(true).await?;
        measure("nats", gateway, connect(true).await?).await?;
        idle("nats, shared_progress off", connect(false).await?).await?;
    }
    Ok(())
}

async fn measure(name: &str, gateway: Arc<dyn Bus>, core: Arc<dyn Bus>) -> anyhow::Result<()> {
    let subject = Subject::op(qadra_types::new_id(), "bench", "echo")?;
    let service = serve(
        core.clone(),
        ServeOptions::new("qadra.*.bench.do.*", "core"),
        async |_| Reply::ok(1),
    )
    .await?;
    for (clients, rounds) in [(1, 20_000), (64, 2_000)] {
        let started = Instant::now();
        let tasks: Vec<_> = (0..clients)
            .map(|_| {
                let (bus, subject) = (gateway.clone(), subject.clone());
                tokio::spawn(async move {
                    for _ in 0..rounds {
                        bus.request(&subject, Headers::new(), Bytes::from_static(b"{}"), TIMEOUT)
                            .await?;
                    }
                    anyhow::Ok(())
                })
            })
            .collect();
        for task in tasks {
            task.await??;
        }
        let total = f64::from(clients * rounds);
        let elapsed = started.elapsed();
        println!(
            "{name}: {clients} requester(s): {:.0} round trips/s, {:.1} us each",
            total / elapsed.as_secs_f64(),
            elapsed.as_secs_f64() * 1e6 * f64::from(clients) / total,
        );
    }
    service.stop(TIMEOUT).await;
    stream(name, &gateway, &core).await?;
    idle(name, gateway).await
}

/// Token events to one open stream.
async fn stream(name: &str, gateway: &Arc<dyn Bus>, core: &Arc<dyn Bus>) -> anyhow::Result<()> {
    const EVENTS: usize = 100_000;
    const WINDOW: usize = 1_000;
    let subject = Subject::progress(qadra_types::new_id());
    let mut reader = gateway.subscribe(&subject).await?;
    let payload = Bytes::from_static(br#"{"event":"token","data":{"delta":"word "},"seq":1}"#);
    let started = Instant::now();
    for _ in 0..EVENTS / WINDOW {
        for _ in 0..WINDOW {
            core.publish(&subject, Headers::new(), payload.clone())
                .await?;
        }
        for _ in 0..WINDOW {
            reader.next().await;
        }
    }
    println!(
        "{name}: {:.0} progress events/s to one stream",
        EVENTS as f64 / started.elapsed().as_secs_f64()
    );
    Ok(())
}

async fn idle(name: &str, bus: Arc<dyn Bus>) -> anyhow::Result<()> {
    const STREAMS: usize = 10_000;
    let first = bus
        .subscribe(&Subject::progress(qadra_types::new_id()))
        .await?;
    let before = ALLOCATED.load(Ordering::Relaxed);
    let started = Instant::now();
    let mut held = Vec::with_capacity(STREAMS);
    for _ in 0..STREAMS {
        held.push(
            bus.subscribe(&Subject::progress(qadra_types::new_id()))
                .await?,
        );
    }
    let bytes = ALLOCATED.load(Ordering::Relaxed).saturating_sub(before);
    println!(
        "{name}: {} bytes per idle progress subscription, {:.1} us to open one",
        bytes / STREAMS,
        started.elapsed().as_secs_f64() * 1e6 / STREAMS as f64
    );
    drop((first, held));
    Ok(())
}
