//! Parts that several commands put together.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use qadra_app::{App, Builtin};
use qadra_llm::LlmProvider;
use qadra_nats::{Bus, InProcess, InProcessOptions, Nats, NatsOptions, Objects};
use qadra_runner::Worker;
use qadra_runner::egress::{AllowList, Egress, EgressOptions, SystemResolver};
use qadra_runner::nodes::{NoTemplates, Nodes, Parts, Stored, StoredSecrets};
use qadra_store::{Store, Vault};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::config::Config;

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    raise_file_limit();
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("start the async runtime")
}

/// Each open stream is a file; the usual soft limit of 1,024 would end them at about a thousand.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    if let Err(e) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(error = %e, current = limit.current, "the limit of open files stays as it is");
    }
}

/// The object store for payloads that do not fit a message, swept every half hour.
pub(crate) fn objects(config: &Config, data_dir: &Path) -> Result<Arc<Objects>> {
    let dir = match config.get("QADRA_OBJECT_STORE") {
        None => data_dir.join("objects"),
        Some(url) => match url.strip_prefix("file://") {
            Some(path) => path.into(),
            None => bail!("QADRA_OBJECT_STORE is {url:?}; this version takes only file:///DIR"),
        },
    };
    std::fs::create_dir_all(&dir)
        .with_context(|| format!("make the object store {}", dir.display()))?;
    let objects =
        Objects::local(&dir).with_context(|| format!("open the object store {}", dir.display()))?;
    let swept = objects.clone();
    tokio::spawn(async move {
        loop {
            if let Err(e) = swept.sweep(Objects::MAX_AGE).await {
                tracing::warn!(error = %e, "old bus payloads could not be swept");
            }
            tokio::time::sleep(Duration::from_secs(1800)).await;
        }
    });
    Ok(objects)
}

/// NATS if it is set, the in-process bus otherwise.
pub(crate) async fn bus(config: &Config, objects: Arc<Objects>) -> Result<Arc<dyn Bus>> {
    match config.get("QADRA_NATS_URL") {
        Some(url) => {
            let options = NatsOptions {
                objects: Some(objects),
                ..NatsOptions::default()
            };
            Ok(Arc::new(
                Nats::connect(url, options)
                    .await
                    .context("connect to QADRA_NATS_URL")?,
            ))
        }
        None => {
            let options = InProcessOptions {
                objects: Some(objects),
                ..InProcessOptions::default()
            };
            Ok(Arc::new(InProcess::with_options(options)))
        }
    }
}

pub(crate) fn llm(config: &Config) -> Result<Arc<dyn LlmProvider>> {
    match config.llm()? {
        Some(provider) => Ok(qadra_llm::build(provider).context("set up the model provider")?),
        None => Ok(Arc::new(Builtin)),
    }
}

/// Has the use cases embed passages, if a model for that is set.
pub(crate) fn embed(config: &Config, app: &App) -> Result<()> {
    if let Some((provider, model)) = config.embedding()? {
        tracing::info!(model, "embedding model");
        let provider = qadra_llm::build(provider).context("set up the embedding provider")?;
        app.embed_with(provider, model);
    }
    Ok(())
}

/// A worker that runs flows with everything that their nodes need.
pub(crate) async fn worker(
    config: &Config,
    store: Store,
    bus: Arc<dyn Bus>,
    llm: Arc<dyn LlmProvider>,
    secret: Option<&[u8]>,
) -> Result<qadra_runner::Running> {
    let allowed = config.get("QADRA_HTTP_ALLOW").unwrap_or_default();
    let allowed = AllowList::parse(allowed).context("read QADRA_HTTP_ALLOW")?;
    let egress = Egress::new(allowed, Arc::new(SystemResolver), EgressOptions::default());
    let egress = Arc::new(egress.context("set up the client of Http nodes")?);
    let search = match config.search() {
        Some(settings) => Some(settings.build()?),
        None => None,
    };
    let stored = Arc::new(Stored(store.clone()));
    let nodes = Nodes::new(Parts {
        llm,
        bus: bus.clone(),
        egress,
        secrets: Arc::new(StoredSecrets {
            store: store.clone(),
            vault: secret.map(Vault::new),
        }),
        agents: stored.clone(),
        templates: Arc::new(NoTemplates),
        ledger: stored,
        search,
    });
    let worker = Worker {
        store,
        bus,
        performer: Arc::new(nodes),
        settings: config.flows()?,
        name: format!("{}:{}", hostname(), std::process::id()),
    };
    worker.start().await.context("start the worker")
}

fn hostname() -> String {
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    name.chars().take(100).collect()
}

pub(crate) async fn listen(config: &Config) -> Result<(TcpListener, SocketAddr)> {
    let wanted = config.need("QADRA_LISTEN")?;
    let listener = TcpListener::bind(wanted).await.map_err(|e| {
        anyhow!(
            "listen on {wanted}: {e}\nhint: choose another address with --listen or QADRA_LISTEN"
        )
    })?;
    let address = listener
        .local_addr()
        .context("read the listener's address")?;
    Ok((listener, address))
}

/// Fires at SIGTERM or SIGINT.
pub(crate) fn on_signal() -> Result<CancellationToken> {
    let token = CancellationToken::new();
    let (mut term, mut int) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    );
    let fired = token.clone();
    tokio::spawn(async move {
        tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
        fired.cancel();
    });
    Ok(token)
}
