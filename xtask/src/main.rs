//! Checks on the repository itself. `cargo run -p xtask -- audit` looks at the dependency tree; the layering rules
//! and the documentation's completeness are tests of this crate.

mod audit;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod layers;
mod metadata;

use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match std::env::args().nth(1).as_deref() {
        Some("audit") => audit::run(),
        _ => Err(anyhow::anyhow!("usage: cargo run -p xtask -- audit")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e:#}");
            ExitCode::FAILURE
        }
    }
}
