//! A model server that says the same words to everybody, for benchmarks and for trying things out.

use std::net::SocketAddr;
use std::time::Duration;

use qadra_testkit::llm::{Reply, ScriptedLlm};

const USAGE: &str = "usage: scripted-llm [--port N] [--tokens N] [--gap-ms N]";

#[tokio::main]
async fn main() -> Result<(), String> {
    let (mut port, mut tokens, mut gap) = (18_999_u16, 50_u32, 0_u64);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        let bad = |_| format!("`{value}` is no value for {name}\n{USAGE}");
        match name.as_str() {
            "--port" => port = value.parse().map_err(bad)?,
            "--tokens" => tokens = value.parse().map_err(bad)?,
            "--gap-ms" => gap = value.parse().map_err(bad)?,
            _ => return Err(format!("unknown argument `{name}`\n{USAGE}")),
        }
    }
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let server = ScriptedLlm::bind(address)
        .await
        .map_err(|error| format!("cannot listen on {address}: {error}"))?;
    let words = (1..=tokens).map(|number| format!("token{number} "));
    server
        .otherwise(Reply::tokens(words).pause_each(Duration::from_millis(gap)))
        .forget_requests();
    println!("scripted-llm ready {}", server.openai_url());
    // It serves until the process is ended.
    std::future::pending().await
}
