//! `verify_cases CASES.jsonl > PRED.jsonl`, for work on the rules; `qadra verify --cases` is the same.

use std::io::{BufRead, BufReader, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let parser = ud::Parser::embedded()?;
    let path = std::env::args()
        .nth(1)
        .ok_or("usage: verify_cases CASES.jsonl")?;
    let mut out = std::io::stdout().lock();
    for line in BufReader::new(std::fs::File::open(path)?).lines() {
        let case: belnap::Case = serde_json::from_str(&line?)?;
        let prediction = case.judge(&parser);
        writeln!(out, "{}", serde_json::to_string(&prediction)?)?;
    }
    Ok(())
}
