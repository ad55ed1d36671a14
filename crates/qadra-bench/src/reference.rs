use std::convert::Infallible;
use std::net::SocketAddr;

use anyhow::Result;
use axum::Router;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::get;
use axum::serve::ListenerExt;
use futures::{StreamExt, stream};
use tokio::net::TcpListener;

use crate::process::parent_gone;

/// What a stream costs when nothing stands behind it: an axum handler that sends one event of `bytes` bytes and
/// then only what keeps the connection alive.
pub(crate) async fn serve(bytes: usize) -> Result<()> {
    let text = "x".repeat(bytes);
    let handler = move || async move {
        let first = Event::default().event("token").data(text);
        let events = stream::iter([Ok::<_, Infallible>(first)]).chain(stream::pending());
        Sse::new(events).keep_alive(KeepAlive::default())
    };
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    println!("{}", listener.local_addr()?);
    let listener = listener.tap_io(|tcp| {
        let _ = tcp.set_nodelay(true);
    });
    let served = axum::serve(listener, Router::new().route("/", get(handler)));
    tokio::select! {
        served = async { served.await } => served?,
        () = parent_gone() => {}
    }
    Ok(())
}
