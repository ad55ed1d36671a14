//! Checks on the repository itself. `cargo run -p xtask -- audit` looks at the dependency tree, `… corpus` packs what
//! fuzzing has found; the layering rules
//! and the documentation's completeness are tests of this crate.

mod audit;
mod corpus;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod layers;
mod metadata;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((verb, [])) if verb == "audit" => audit::run(),
        Some((verb, rest)) if verb == "corpus" => corpus::run(rest),
        _ => Err(anyhow::anyhow!(
            "usage: cargo run -p xtask -- audit | corpus …"
        )),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e:#}");
            ExitCode::FAILURE
        }
    }
}
