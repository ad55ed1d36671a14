//! Extracted claims against claims written by hand.

use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

/// A text and its claims as [`belnap::Claim`] prints them: `(subject; predicate; object)`, then `not`, `hedged`, ….
#[derive(Deserialize)]
struct Row {
    text: String,
    claims: Vec<String>,
}

/// Shares in percent. A claim is right when subject, predicate, object, polarity and modality are.
#[derive(Debug, Clone, Serialize)]
pub struct ClaimScores {
    pub file: String,
    pub texts: usize,
    /// Claims written by hand.
    pub n: usize,
    pub extracted: usize,
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
    /// Texts whose claims are not all as they should be: what is missing, what is surplus.
    #[serde(skip)]
    pub wrong: Vec<(String, Vec<String>, Vec<String>)>,
}

pub fn score(parser: &ud::Parser, path: &Path) -> anyhow::Result<ClaimScores> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let (mut texts, mut n, mut extracted, mut right) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for (i, line) in text
        .lines()
        .enumerate()
        .filter(|(_, l)| !l.trim().is_empty())
    {
        let row: Row = serde_json::from_str(line)
            .with_context(|| format!("read the claims in {}, line {}", path.display(), i + 1))?;
        let mut missing: Vec<String> = row.claims.iter().map(|c| c.to_lowercase()).collect();
        let mut surplus = Vec::new();
        texts += 1;
        n += missing.len();
        for claim in belnap::extract(parser, &row.text) {
            extracted += 1;
            let whole = claim.to_string().to_lowercase();
            let shown = whole.split(" | ").next().unwrap_or_default();
            let bare = without_antecedents(shown);
            match missing.iter().position(|g| g == shown || *g == bare) {
                Some(at) => {
                    missing.remove(at);
                    right += 1;
                }
                None => surplus.push(bare),
            }
        }
        if !missing.is_empty() || !surplus.is_empty() {
            wrong.push((row.text, missing, surplus));
        }
    }
    let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    let (precision, recall) = (share(right, extracted), share(right, n));
    Ok(ClaimScores {
        file: crate::parser::name(path),
        texts,
        n,
        extracted,
        precision,
        recall,
        f1: 2.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE),
        wrong,
    })
}

/// `he = senator` becomes `he`: an antecedent counts only where it was written down.
fn without_antecedents(shown: &str) -> String {
    let bare = |part: &str| match part.split_once(" = ") {
        Some((text, rest)) => format!("{text}{}", rest.find(')').map_or("", |end| &rest[end..])),
        None => part.to_owned(),
    };
    shown.split("; ").map(bare).collect::<Vec<_>>().join("; ")
}

impl std::fmt::Display for ClaimScores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "claims, {}: precision {:.1}  recall {:.1}  F1 {:.1}  (n = {} claims in {} texts, {} extracted)",
            self.file, self.precision, self.recall, self.f1, self.n, self.texts, self.extracted
        )
    }
}
