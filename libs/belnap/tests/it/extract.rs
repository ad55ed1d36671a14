//! Sentences and the claims in them. The parser is a statistical one, so a few rows may fail with a new model; the
//! test names them all and allows for no more than these.

use std::fmt::Write;

const TABLE: &str = include_str!("extract_table.txt");

/// Rows that may fail.
const ALLOWED: usize = 8;

struct Row {
    text: String,
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for line in TABLE.lines() {
        if let Some(claim) = line.strip_prefix("  !") {
            rows.last_mut().unwrap().unwanted.push(claim.to_string());
        } else if let Some(claim) = line.strip_prefix("  ") {
            rows.last_mut().unwrap().wanted.push(claim.to_string());
        } else if !line.is_empty() && !comment(line) {
            rows.push(Row {
                text: line.replace("\\n", "\n"),
                wanted: Vec::new(),
                unwanted: Vec::new(),
            });
        }
    }
    rows
}

/// A heading of the table; a text that is itself Markdown has its line breaks written out.
fn comment(line: &str) -> bool {
    line.starts_with("## ") || line.starts_with("# ") && !line.contains("\\n")
}

fn plain(claim: &belnap::Claim) -> String {
    let shown = claim.to_string();
    shown.split(" | ").next().unwrap_or_default().to_string()
}

#[test]
fn claims_of_the_table_are_extracted() {
    let parser = ud::Parser::embedded().unwrap();
    let rows = rows();
    let sentences = rows.len();
    assert!(sentences >= 150, "{sentences}");
    let mut failures = 0;
    let mut report = String::new();
    for row in rows {
        let claims = belnap::extract(&parser, &row.text);
        let shown: Vec<String> = claims.iter().map(plain).collect();
        // Antecedents count only where the row names one, lower and upper case of a noun's lemma not at all.
        let holds = |wanted: &String| {
            shown.iter().any(|s| {
                let s = if wanted.contains(" = ") {
                    s.clone()
                } else {
                    without_antecedents(s)
                };
                s.eq_ignore_ascii_case(wanted)
            })
        };
        let missing: Vec<&String> = row.wanted.iter().filter(|w| !holds(w)).collect();
        let surplus: Vec<&String> = row.unwanted.iter().filter(|w| holds(w)).collect();
        if !missing.is_empty() || !surplus.is_empty() {
            failures += 1;
            writeln!(
                report,
                "{}\n  missing {missing:?}\n  surplus {surplus:?}\n  got {shown:#?}",
                row.text
            )
            .unwrap();
        }
    }
    println!("{failures} of {sentences} rows fail\n{report}");
    assert!(
        failures <= ALLOWED,
        "{failures} of {sentences} rows fail:\n{report}"
    );
}

fn without_antecedents(shown: &str) -> String {
    shown
        .split("; ")
        .map(|part| match part.split_once(" = ") {
            Some((text, rest)) => match rest.find(')') {
                Some(end) => format!("{text}{}", &rest[end..]),
                None => text.to_string(),
            },
            None => part.to_string(),
        })
        .collect::<Vec<_>>()
        .join("; ")
}
