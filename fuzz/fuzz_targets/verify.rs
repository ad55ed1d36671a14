//! The first line is held against the others: as statements (tab between the three parts), and as a text.
#![no_main]

use std::sync::LazyLock;

use belnap::{Evidence, Fact, Graph, Report, Rules};
use libfuzzer_sys::fuzz_target;

static PARSER: LazyLock<ud::Parser> = LazyLock::new(|| ud::Parser::embedded().unwrap());

fuzz_target!(|input: &str| {
    let (text, rest) = input.split_once('\n').unwrap_or((input, ""));
    let fact = |line: &str| {
        let mut parts = line.splitn(3, '\t').map(str::to_owned);
        Some(Fact {
            subject: parts.next()?,
            predicate: parts.next()?,
            object: parts.next()?,
            confidence: 1.0,
            ..Fact::default()
        })
    };
    let facts: Vec<Fact> = rest.lines().filter_map(fact).collect();
    let rules = Rules {
        functional: facts.iter().map(|f| f.predicate.clone()).collect(),
        ..Rules::default()
    };
    let judged = belnap::verify(&PARSER, text, &Graph::new(facts, rules));
    check(text, &judged);
    let judged = belnap::verify_against(&PARSER, text, &Evidence::new(&PARSER, rest));
    check(text, &judged);
});

fn check(text: &str, judged: &[(belnap::Claim, belnap::Judgement)]) {
    let report = Report::new(text, judged, |i| Some(i.to_string()));
    let length = text.chars().count();
    assert!(report.claims.iter().all(|c| c.span[0] <= c.span[1] && c.span[1] <= length));
}
