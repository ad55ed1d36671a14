//! HTTP in front of the bus: routes made from the operation table, authentication, server-sent events, the
//! embedded web UI.
//!
//! The gateway holds no state but counters and never touches the database: every answer comes over the bus, so
//! any number of gateways may run. Entry type: [`Gateway`].

mod assets;
mod auth;
mod call;
mod follow;
mod metrics;
mod problem;
mod routes;
mod sse;
mod upload;

pub use sse::StreamTimes;

use std::sync::Arc;

use axum::Router;
use axum::serve::ListenerExt;
use qadra_app::TokenKey;
use qadra_nats::Bus;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use metrics::Metrics;

/// How the gateway is reached, and how patient it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// A reverse proxy of ours is the only peer: the client's address is the last one in `X-Forwarded-For`,
    /// the one that the proxy itself added.
    pub behind_proxy: bool,
    pub times: StreamTimes,
}

/// The HTTP side of Qadra.
pub struct Gateway {
    pub(crate) bus: Arc<dyn Bus>,
    pub(crate) token_key: TokenKey,
    pub(crate) options: Options,
    pub(crate) metrics: Metrics,
    /// Fired when the server stops, so that open streams end.
    pub(crate) stopping: CancellationToken,
}

impl Gateway {
    pub fn new(bus: Arc<dyn Bus>, token_key: TokenKey) -> Arc<Self> {
        Self::with_options(bus, token_key, Options::default())
    }

    pub fn with_options(bus: Arc<dyn Bus>, token_key: TokenKey, options: Options) -> Arc<Self> {
        Arc::new(Self {
            bus,
            token_key,
            options,
            metrics: Metrics::new(),
            stopping: CancellationToken::new(),
        })
    }

    pub fn router(self: &Arc<Self>) -> Router {
        routes::router(self.clone())
    }

    /// Serves until `stop` fires and the requests in flight have ended.
    ///
    /// # Errors
    /// When the listener fails for good.
    pub async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        stop: CancellationToken,
    ) -> std::io::Result<()> {
        let listener = listener.tap_io(|tcp| {
            // A token is a small packet that must not wait for the next one.
            if let Err(e) = tcp.set_nodelay(true) {
                tracing::debug!(error = %e, "a connection keeps Nagle's algorithm");
            }
        });
        let service = self
            .router()
            .into_make_service_with_connect_info::<std::net::SocketAddr>();
        let stopping = self.stopping.clone();
        axum::serve(listener, service)
            .with_graceful_shutdown(async move {
                stop.cancelled().await;
                stopping.cancel();
            })
            .await
    }
}
