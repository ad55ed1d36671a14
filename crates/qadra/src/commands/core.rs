use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use qadra_app::{App, TokenKey};
use qadra_store::{Presence, Store};

use super::wiring;
use crate::config::Config;
use crate::logging;

#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: Args) -> Result<()> {
    let config = Config::load(&[])?;
    logging::init(&config)?;
    wiring::runtime()?.block_on(core(config))
}

async fn core(config: Config) -> Result<()> {
    let stop = wiring::on_signal()?;
    let options: qadra_store::PgConnectOptions = config
        .need("QADRA_DATABASE_URL")?
        .parse()
        .map_err(|_| anyhow!("QADRA_DATABASE_URL is not an address like postgres://user:password@host:5432/database"))?;
    config.need("QADRA_NATS_URL")?;
    let token_key = TokenKey::new(config.need("QADRA_JWT_SECRET")?.as_bytes())
        .context("use QADRA_JWT_SECRET")?;
    let store = Store::open(options.clone(), config.connections()?);
    store.ping().await.context("reach the database")?;
    let bus = wiring::bus(&config, wiring::objects(&config, &config.data_dir())?).await?;
    let presence = Presence::announce(&options)
        .await
        .context("announce this process to the database")?;
    let app = App::new(
        store.clone(),
        bus.clone(),
        wiring::llm(&config)?,
        token_key,
        config.app()?,
        &presence,
    );
    wiring::embed(&config, &app)?;
    let core = app.serve().await.context("put the use cases on the bus")?;
    println!("qadra core ready");
    stop.cancelled().await;
    core.stop(Duration::from_secs(8)).await;
    bus.close().await;
    store.close().await;
    Ok(())
}
