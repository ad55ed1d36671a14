//! Time to verify an answer of 300 words against 200 statements on one core, the parse included and apart.

use std::time::Instant;

use belnap::{Fact, Graph, Rules, extract_from};

const ROUNDS: u32 = 50;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let parser = ud::Parser::embedded()?;
    println!(
        "model        {:8.2} ms",
        start.elapsed().as_secs_f64() * 1e3
    );
    let names = [
        "Lyra Bank",
        "Orion Press",
        "Kestrel Tower",
        "Vega Motors",
        "Altair Foods",
    ];
    let relations = [
        "founded_in_year",
        "headquarters",
        "chairman",
        "revenue",
        "owns",
        "product",
        "employees",
        "competes_with",
    ];
    let facts: Vec<Fact> = (0..200)
        .map(|i| Fact {
            subject: names[i % 5].into(),
            predicate: relations[i / 5 % 8].into(),
            object: match i / 5 % 8 {
                0 | 6 => format!("{}", 1900 + i),
                3 => format!("{} USD", 1_000_000 * i),
                _ => format!("{} {}", names[(i + 2) % 5], i / 40),
            },
            confidence: 1.0,
            ..Fact::default()
        })
        .collect();
    let sentences = [
        "Lyra Bank was founded in 1931 and has its headquarters in Geneva, where Ada Keller is the chairman.",
        "Vega Motors, which competes with Altair Foods, had revenue of $3.2 billion last year.",
        "It employs 4,200 people and makes electric buses for cities in northern Europe.",
    ];
    let mut text = String::new();
    while text.split_whitespace().count() < 300 {
        text += sentences[text.len() % 3];
        text.push(' ');
    }
    let rules = Rules {
        functional: relations.iter().map(|r| r.to_string()).collect(),
        ..Rules::default()
    };
    let start = Instant::now();
    let graph = Graph::new(facts.clone(), rules.clone());
    println!(
        "graph, first {:8.2} ms",
        start.elapsed().as_secs_f64() * 1e3
    );
    time("graph", || drop(Graph::new(facts.clone(), rules.clone())));
    let parsed = parser.parse(&text);
    let claims = extract_from(&text, &parsed);
    time("parse", || drop(parser.parse(&text)));
    time("claims", || drop(extract_from(&text, &parsed)));
    time("judge", || {
        drop(graph.judge_parsed(&text, &parsed, &claims))
    });
    time("in all", || drop(belnap::verify(&parser, &text, &graph)));
    Ok(())
}

fn time(what: &str, mut f: impl FnMut()) {
    f();
    let start = Instant::now();
    for _ in 0..ROUNDS {
        f();
    }
    println!(
        "{what:12} {:8.2} ms",
        start.elapsed().as_secs_f64() * 1e3 / f64::from(ROUNDS)
    );
}
