use std::io::Write;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use qadra_app::{App, DEMO_EMAIL, TokenKey};
use qadra_gateway::Gateway;
use qadra_store::cluster::{Cluster, Options};
use qadra_store::{PgConnectOptions, Presence, Store};
use tokio_util::sync::CancellationToken;

use super::wiring;
use crate::config::Config;
use crate::{keys, logging};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where everything is kept
    #[arg(long, value_name = "DIR")]
    data_dir: Option<String>,
    /// Address and port to serve on
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Add a demo tenant and print its login
    #[arg(long)]
    demo: bool,
    /// Show every setting with its source and exit
    #[arg(long)]
    print_config: bool,
}

/// Most that a clean stop may take before what is left is cut off.
const STOP_DEADLINE: Duration = Duration::from_secs(8);

pub(crate) fn run(args: Args) -> Result<()> {
    let config = Config::load(&[
        ("QADRA_DATA_DIR", args.data_dir),
        ("QADRA_LISTEN", args.listen),
    ])?;
    if args.print_config {
        print!("{}", config.print());
        return Ok(());
    }
    logging::init(&config)?;
    wiring::runtime()?.block_on(up(config, args.demo))
}

async fn up(config: Config, demo: bool) -> Result<()> {
    let stop = wiring::on_signal()?;
    let data_dir = config.data_dir();
    std::fs::create_dir_all(&data_dir)
        .with_context(|| format!("make the data directory {}", data_dir.display()))?;
    let data_dir = data_dir
        .canonicalize()
        .with_context(|| format!("find {}", data_dir.display()))?;
    let (cluster, options) = match config.get("QADRA_DATABASE_URL") {
        Some(url) => (None, url.parse().map_err(|_| anyhow!("QADRA_DATABASE_URL is not an address like postgres://user:password@host:5432/database"))?),
        None => {
            let cluster = Cluster::start(Options::new(&data_dir)).await?;
            let options = cluster.connect_options();
            (Some(cluster), options)
        }
    };
    let served = serve(&config, &data_dir, &cluster, options, demo, stop).await;
    if let Some(cluster) = cluster {
        cluster.stop().await.context("stop PostgreSQL")?;
    }
    served
}

async fn serve(
    config: &Config,
    data_dir: &std::path::Path,
    cluster: &Option<Cluster>,
    options: PgConnectOptions,
    demo: bool,
    stop: CancellationToken,
) -> Result<()> {
    let store = Store::open(options.clone(), config.connections()?);
    store
        .migrate()
        .await
        .context("bring the database to the newest schema")?;
    let secret = match config.get("QADRA_JWT_SECRET") {
        Some(secret) => secret.as_bytes().to_vec(),
        None => keys::token_secret(data_dir)?,
    };
    let token_key =
        TokenKey::new(&secret).context("use the secret that signs tokens (QADRA_JWT_SECRET)")?;
    let bus = wiring::bus(config, wiring::objects(config, data_dir)?).await?;
    let presence = Presence::announce(&options)
        .await
        .context("announce this process to the database")?;
    let llm = wiring::llm(config)?;
    tracing::info!(provider = llm.name(), model = llm.model(), "model provider");
    let app = App::new(
        store.clone(),
        bus.clone(),
        llm.clone(),
        token_key.clone(),
        config.app()?,
        &presence,
    );
    wiring::embed(config, &app)?;
    // Before the first request, so that no thread is found busy with a turn that nobody answers.
    app.recover_turns().await;
    let core = app.serve().await.context("put the use cases on the bus")?;
    let worker = wiring::worker(config, store.clone(), bus.clone(), llm, Some(&secret)).await?;
    if demo {
        let password = keys::demo_password(&secret);
        app.demo(&password).await.context("make the demo tenant")?;
        println!("demo login: {DEMO_EMAIL} password: {password}");
    }
    let (listener, address) = wiring::listen(config).await?;
    // It stops after the core, so that whoever reads a turn is told how it ended.
    let close = CancellationToken::new();
    let gateway = tokio::spawn(
        Gateway::with_options(bus.clone(), token_key, config.gateway()?)
            .serve(listener, close.clone()),
    );
    println!("qadra ready http://{address}");
    std::io::stdout().flush().context("print the ready line")?;
    let lost = async {
        match cluster {
            Some(c) => c.watch().exited().await,
            None => std::future::pending().await,
        }
    };
    let ended = tokio::select! {
        () = stop.cancelled() => Ok(()),
        exit = lost => Err(anyhow!("PostgreSQL stopped by itself ({exit:?}); its log is in {}", data_dir.join("log").display())),
    };
    tracing::info!("stopping");
    core.stop(STOP_DEADLINE).await;
    worker.drain(STOP_DEADLINE).await;
    close.cancel();
    if tokio::time::timeout(STOP_DEADLINE, gateway).await.is_err() {
        tracing::warn!("connections were cut off at shutdown");
    }
    bus.close().await;
    if let Err(e) = presence.withdraw().await {
        tracing::debug!(error = %e, "the presence session was lost before the end");
    }
    store.close().await;
    ended
}
