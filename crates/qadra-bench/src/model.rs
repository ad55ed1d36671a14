use std::time::Duration;

use anyhow::Result;
use qadra_testkit::llm::{Reply, ScriptedLlm};

use crate::process::parent_gone;

/// The first word of every token it says.
pub(crate) const WORD: &str = "token";
/// A model that says one token and then nothing more.
pub(crate) const HANGS: &str = "scripted-hang";

/// The name of a model that says `tokens` tokens, the first at once and `gap` milliseconds between two.
pub(crate) fn named(tokens: usize, gap: u64) -> String {
    format!("scripted-{tokens}-{gap}")
}

/// Serves until its standard input ends, which is when the benchmark does.
pub(crate) async fn serve() -> Result<()> {
    let server = ScriptedLlm::start().await;
    server.forget_requests().on_request(|request| {
        let model = request
            .body
            .get("model")
            .and_then(|name| name.as_str())
            .unwrap_or_default();
        reply(model)
    });
    println!("{}", server.address());
    parent_gone().await;
    Ok(())
}

fn reply(model: &str) -> Reply {
    if model == HANGS {
        return Reply::text(format!("{WORD}1 ")).hang();
    }
    let mut numbers = model.split('-').skip(1).map(str::parse::<u64>);
    let (Some(Ok(tokens)), Some(Ok(gap))) = (numbers.next(), numbers.next()) else {
        return Reply::error(404, "no such model");
    };
    (1..=tokens).fold(Reply::new(), |reply, number| {
        let reply = match number > 1 && gap > 0 {
            true => reply.pause(Duration::from_millis(gap)),
            false => reply,
        };
        reply.token(format!("{WORD}{number} "))
    })
}
