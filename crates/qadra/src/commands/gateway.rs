use anyhow::{Context, Result};
use qadra_app::TokenKey;
use qadra_gateway::Gateway;

use super::wiring;
use crate::config::Config;
use crate::logging;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Address and port to serve on
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
}

pub(crate) fn run(args: Args) -> Result<()> {
    let config = Config::load(&[("QADRA_LISTEN", args.listen)])?;
    logging::init(&config)?;
    wiring::runtime()?.block_on(gateway(config))
}

async fn gateway(config: Config) -> Result<()> {
    let stop = wiring::on_signal()?;
    config.need("QADRA_NATS_URL")?;
    let token_key = TokenKey::new(config.need("QADRA_JWT_SECRET")?.as_bytes())
        .context("use QADRA_JWT_SECRET")?;
    let bus = wiring::bus(&config, wiring::objects(&config, &config.data_dir())?).await?;
    let (listener, address) = wiring::listen(&config).await?;
    println!("qadra ready http://{address}");
    Gateway::with_options(bus.clone(), token_key, config.gateway()?)
        .serve(listener, stop)
        .await
        .context("serve HTTP")?;
    bus.close().await;
    Ok(())
}
