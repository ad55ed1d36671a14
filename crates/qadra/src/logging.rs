use std::io::IsTerminal;

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;

use crate::config::Config;

/// Logs to stderr, so that stdout carries only what programs read.
pub(crate) fn init(config: &Config) -> Result<()> {
    let filter = config.get("QADRA_LOG").unwrap_or("info");
    // Drivers below warning tell nothing that a user of ours can act on; nor do slow statements, which a first start has
    // in its migrations, each with its whole text.
    let drivers = "sqlx=warn,sqlx::query=error,hyper=warn,async_nats=warn";
    let filter = EnvFilter::try_new(format!("{drivers},{filter}"))
        .with_context(|| format!("QADRA_LOG is {filter:?}"))?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    match config.get("QADRA_LOG_FORMAT") {
        Some("json") => log.json().init(),
        Some("text") | None => log.with_target(false).init(),
        Some(other) => anyhow::bail!("QADRA_LOG_FORMAT is {other:?}, not text or json"),
    }
    Ok(())
}
