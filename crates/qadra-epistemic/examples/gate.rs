//! The rule-based gate on labelled cases: `cargo run -p qadra-epistemic --example gate -- CASES.jsonl [SHOWN]`.
//!
//! A case is `{"kind", "task", "label", "text", "context": [{subject, predicate, object, polarity}]}` a line. For each
//! kind: cases, share that passed, share without any claim, mean time. `SHOWN` prints so many true cases that failed
//! and false ones that passed.

use std::collections::{BTreeMap, HashMap};

use qadra_epistemic::{
    GateConfig, NodeRef, Object, Parsed, Polarity, Triple, identity_key, verify_response_rule_based,
};
use serde_json::Value;
use uuid::Uuid;

#[derive(Default)]
struct Tally {
    cases: u32,
    passed: u32,
    silent: u32,
    micros: u128,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_default();
    let mut shown: usize = arguments
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            println!("read {path}: {error}");
            return;
        }
    };
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for line in text.lines() {
        let Ok(case) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let field = |name: &str| case[name].as_str().unwrap_or_default().to_owned();
        let triples = context(&case["context"]);
        let started = std::time::Instant::now();
        let Some(result) =
            verify_response_rule_based(&field("text"), &triples, &GateConfig::default())
        else {
            continue;
        };
        let key = format!("{} {} {}", field("task"), field("label"), field("kind"));
        let tally = tallies.entry(key).or_default();
        tally.cases += 1;
        tally.passed += u32::from(result.passed);
        tally.silent += u32::from(
            result.reason.as_deref() == Some("the answer states nothing that could be checked"),
        );
        tally.micros += started.elapsed().as_micros();
        if (field("label") == "T") != result.passed && shown > 0 {
            shown -= 1;
            println!("{} {}: {}", field("label"), field("kind"), field("text"));
            for claim in &result.ungrounded_claims {
                println!("    {} – {}", claim.text, claim.reason);
            }
            for row in case["context"].as_array().into_iter().flatten().take(12) {
                println!(
                    "        {} | {} | {}",
                    row["subject"], row["predicate"], row["object"]
                );
            }
        }
    }
    println!(
        "{:<28}{:>8}{:>9}{:>9}{:>10}",
        "task label kind", "n", "passed", "silent", "µs"
    );
    for (key, tally) in tallies {
        let n = f64::from(tally.cases.max(1));
        println!(
            "{key:<28}{:>8}{:>8.1}%{:>8.1}%{:>10.0}",
            tally.cases,
            100.0 * f64::from(tally.passed) / n,
            100.0 * f64::from(tally.silent) / n,
            tally.micros as f64 / n,
        );
    }
}

fn context(rows: &Value) -> Vec<Triple> {
    let mut ids: HashMap<String, Uuid> = HashMap::new();
    let mut next = 0;
    let mut id = |key: String| -> Uuid {
        *ids.entry(key).or_insert_with(|| {
            next += 1;
            Uuid::from_u128(next)
        })
    };
    let rows = rows.as_array().into_iter().flatten().enumerate();
    rows.filter_map(|(at, row)| {
        let subject = row["subject"].as_str()?.to_owned();
        let predicate = row["predicate"].as_str()?.to_owned();
        let object = match Object::parse(&row["object"]).ok()? {
            Parsed::Literal(object) => object,
            Parsed::Node { label, .. } => Object::Node {
                id: id(identity_key(&label)),
                label,
            },
        };
        Some(Triple {
            id: Uuid::from_u128(1_000_000 + at as u128),
            subject: NodeRef {
                id: id(identity_key(&subject)),
                label: subject,
            },
            predicate_id: Uuid::nil(),
            predicate,
            object,
            polarity: match row["polarity"].as_str() {
                Some("-") => Polarity::Negative,
                _ => Polarity::Positive,
            },
            confidence: 1.0,
            kind: Default::default(),
            source: None,
            valid_from: None,
            valid_to: None,
        })
    })
    .collect()
}
