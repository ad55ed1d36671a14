//! A worker by itself, as `qadra read-document` is one: what the tests of this crate start.

use std::process::ExitCode;

fn main() -> ExitCode {
    match qadra_reader::worker::run_worker(std::io::stdin().lock(), std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: read a document: {e}");
            ExitCode::FAILURE
        }
    }
}
