//! The `qadra` program: command line, settings, and the wiring of the crates. Nothing is decided here.

mod commands;
mod config;
mod keys;
mod logging;
mod settings;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Self-hosted AI agents whose answers can be checked.
#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run everything in one process, with a private PostgreSQL unless QADRA_DATABASE_URL is set
    Up(commands::up::Args),
    /// Run the HTTP side alone (needs QADRA_NATS_URL and QADRA_JWT_SECRET)
    Gateway(commands::gateway::Args),
    /// Run the use cases alone (needs QADRA_DATABASE_URL, QADRA_NATS_URL and QADRA_JWT_SECRET)
    Core(commands::core::Args),
    /// Run flows alone, beside other workers (needs QADRA_DATABASE_URL; with QADRA_NATS_URL, readers see progress live)
    Worker(commands::worker::Args),
    /// Bring the database of QADRA_DATABASE_URL to the newest schema
    Migrate(commands::migrate::Args),
    /// Print the OpenAPI document
    Openapi,
    /// Read one document from standard input; the server starts this for each document
    #[command(hide = true)]
    ReadDocument,
    /// Parse English text into CoNLL-U: words, tags, lemmas, trees
    Parse(commands::text::ParseArgs),
    /// Print what a text claims, one JSON object a line
    Extract(commands::text::ExtractArgs),
    /// Hold a text's claims against statements or another text; exits 0 if none is contradicted, 1 if one is
    Verify(commands::text::VerifyArgs),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Up(args) => commands::up::run(args),
        Command::Gateway(args) => commands::gateway::run(args),
        Command::Core(args) => commands::core::run(args),
        Command::Worker(args) => commands::worker::run(args),
        Command::Migrate(args) => commands::migrate::run(args),
        Command::Openapi => {
            println!("{:#}", qadra_api::openapi());
            Ok(())
        }
        Command::ReadDocument => {
            qadra_reader::worker::run_worker(std::io::stdin().lock(), std::io::stdout())
                .map_err(|e| anyhow::Error::from(e).context("read a document"))
        }
        Command::Parse(args) => commands::text::parse(args),
        Command::Extract(args) => commands::text::extract(args),
        Command::Verify(args) => match commands::text::verify(args) {
            Ok(code) => return code,
            Err(e) => {
                eprintln!("error: {}", chain(&e));
                return ExitCode::from(2);
            }
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {}", chain(&e));
            ExitCode::FAILURE
        }
    }
}

/// What was attempted, then why it failed, on one line. Some errors print their cause themselves; it is said once.
fn chain(e: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in e.chain().map(ToString::to_string) {
        if line.is_empty() {
            line = cause;
        } else if !line.contains(&cause) {
            line.push_str(": ");
            line.push_str(&cause);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_is_printed_already_is_not_repeated() {
        let e = anyhow::anyhow!("no such role")
            .context("refused: no such role")
            .context("reach the database");
        assert_eq!(chain(&e), "reach the database: refused: no such role");
    }
}
