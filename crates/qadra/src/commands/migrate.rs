use anyhow::{Context, Result, anyhow};
use qadra_store::{PgConnectOptions, Store};

use super::wiring;
use crate::config::Config;
use crate::logging;

#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: Args) -> Result<()> {
    let config = Config::load(&[])?;
    logging::init(&config)?;
    let options: PgConnectOptions = config.need("QADRA_DATABASE_URL")?.parse().map_err(|_| {
        anyhow!(
            "QADRA_DATABASE_URL is not an address like postgres://user:password@host:5432/database"
        )
    })?;
    wiring::runtime()?.block_on(async {
        let store = Store::open(options, 2);
        store
            .migrate()
            .await
            .context("bring the database to the newest schema")?;
        store.close().await;
        println!("the database is at the newest schema");
        Ok(())
    })
}
