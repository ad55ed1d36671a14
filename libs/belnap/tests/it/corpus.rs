//! What fuzzing has found worth keeping, held against the same checks on every run.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[path = "../../../../fuzz/checks.rs"]
mod checks;

/// One input a line: a JSON string whose characters are its bytes.
fn replay(target: &str, check: impl Fn(&[u8])) {
    let path = format!(
        "{}/../../fuzz/corpus/{target}.jsonl",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.lines().count() > 100,
        "{path} has hardly anything in it"
    );
    for (number, line) in text.lines().enumerate() {
        let written: String = serde_json::from_str(line).unwrap();
        let bytes: Vec<u8> = written.chars().map(|c| u8::try_from(c).unwrap()).collect();
        if catch_unwind(AssertUnwindSafe(|| check(&bytes))).is_err() {
            panic!("line {} of {path} does not hold", number + 1);
        }
    }
}

fn replay_text(target: &str, check: impl Fn(&str)) {
    // As libFuzzer's glue does: what is no text is no input.
    replay(target, |bytes| {
        if let Ok(text) = std::str::from_utf8(bytes) {
            check(text);
        }
    });
}

#[test]
fn tokenizer() {
    replay_text("tokenize", checks::tokenize);
}

#[test]
fn parser() {
    replay_text("parse", checks::parse);
}

#[test]
fn conllu_reader() {
    replay("conllu", checks::conllu);
}

#[test]
fn claims() {
    replay_text("extract", checks::extract);
}

#[test]
fn verdicts() {
    replay_text("verify", checks::verify);
}
