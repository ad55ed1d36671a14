use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use qadra_store::Store;

use super::wiring;
use crate::config::Config;
use crate::logging;

#[derive(clap::Args)]
pub(crate) struct Args {}

/// What attempts that are under way may take before they are left to another worker.
const STOP_DEADLINE: Duration = Duration::from_secs(20);

pub(crate) fn run(_: Args) -> Result<()> {
    let config = Config::load(&[])?;
    logging::init(&config)?;
    wiring::runtime()?.block_on(worker(config))
}

async fn worker(config: Config) -> Result<()> {
    let stop = wiring::on_signal()?;
    let options: qadra_store::PgConnectOptions = config
        .need("QADRA_DATABASE_URL")?
        .parse()
        .map_err(|_| anyhow!("QADRA_DATABASE_URL is not an address like postgres://user:password@host:5432/database"))?;
    let store = Store::open(options, config.connections()?);
    store.ping().await.context("reach the database")?;
    if config.get("QADRA_NATS_URL").is_none() {
        tracing::warn!(
            "QADRA_NATS_URL is not set: this worker looks for work by itself, and nobody sees progress live"
        );
    }
    let bus = wiring::bus(&config, wiring::objects(&config, &config.data_dir())?).await?;
    let secret = config.get("QADRA_JWT_SECRET").map(str::as_bytes);
    let llm = wiring::llm(&config)?;
    let worker = wiring::worker(&config, store.clone(), bus.clone(), llm, secret).await?;
    println!("qadra worker ready");
    stop.cancelled().await;
    tracing::info!("stopping");
    worker.drain(STOP_DEADLINE).await;
    bus.close().await;
    store.close().await;
    Ok(())
}
