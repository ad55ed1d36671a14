//! A running product to test, and the clients to test it with.

mod app;
mod client;
mod nats;
mod rows;
mod sse;
mod talk;
mod world;

pub use app::{TestApp, token_key_secret};
pub use client::{Answer, Client, PASSWORD, id};
pub use nats::{NatsServer, find};
pub use rows::Rows;
pub use sse::{Event, Sse, deltas, names};
pub use talk::{ready, ready_to_talk, thread_path, tokens_of};
pub use world::{World, filled, unknown_id};

use std::time::Duration;

/// Longest that a test waits for what must happen; never the time it takes.
pub const SOON: Duration = Duration::from_secs(30);

/// `future`, or a failure that names what did not happen.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(SOON, future).await {
        Ok(value) => value,
        Err(_) => panic!("did not happen within {} seconds: {what}", SOON.as_secs()),
    }
}

/// Waits for a condition that comes about elsewhere, and only for that.
pub async fn eventually(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    soon(what, async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}
