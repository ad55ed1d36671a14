//! Learns the lemma rules: an ending is kept where the most frequent edit below it differs from what the
//! next shorter ending would do.

use std::collections::BTreeMap;

use crate::lemma::{Edit, Lemmas, endings};
use crate::model::Output;

/// `words` are (form, tag, lemma).
pub(super) fn learn<'a>(
    words: impl Iterator<Item = (&'a str, usize, &'a str)>,
    tags: usize,
    out: &mut Output,
) -> usize {
    let mut numbers: BTreeMap<Edit, usize> = BTreeMap::new();
    let mut edits = Vec::new();
    let mut seen: BTreeMap<(usize, String), BTreeMap<usize, usize>> = BTreeMap::new();
    let mut chains: BTreeMap<(usize, String), Vec<String>> = BTreeMap::new();
    for (form, tag, lemma) in words {
        let Some(edit) = Edit::between(form, lemma) else {
            continue;
        };
        let number = *numbers.entry(edit.clone()).or_insert_with(|| {
            edits.push(edit);
            edits.len() - 1
        });
        let chain: Vec<String> = endings(form).collect();
        for ending in &chain {
            *seen
                .entry((tag, ending.clone()))
                .or_default()
                .entry(number)
                .or_default() += 1;
        }
        chains.entry((tag, chain[0].clone())).or_insert(chain);
    }
    let favourite = |key: &(usize, String)| {
        let counts = &seen[key];
        let total: usize = counts.values().sum();
        let best = counts
            .iter()
            .max_by_key(|(edit, n)| (**n, std::cmp::Reverse(**edit)));
        best.map(|(edit, n)| (*edit, *n, total))
    };
    let mut rules: Vec<BTreeMap<String, usize>> = vec![BTreeMap::new(); tags];
    for ((tag, _), chain) in &chains {
        let mut inherited = None;
        for ending in chain.iter().rev() {
            let Some((edit, n, total)) = favourite(&(*tag, ending.clone())) else {
                continue;
            };
            let whole = ending.starts_with(crate::lemma::WHOLE);
            // An ending must have been seen in earnest; a word may be its own exception.
            let reliable = whole || ending.is_empty() || n >= 2 && 2 * n > total;
            if inherited != Some(edit) && reliable {
                rules[*tag].insert(ending.clone(), edit);
                inherited = Some(edit);
            }
        }
    }
    let rules: Vec<Vec<(String, usize)>> =
        rules.into_iter().map(|r| r.into_iter().collect()).collect();
    Lemmas::write(out, &edits, &rules);
    rules.iter().map(Vec::len).sum()
}
