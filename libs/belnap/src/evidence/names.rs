//! Names: where they begin and end, what abbreviates them, and when two may be one.

use super::reading::Reading;
use super::words;

/// First and last token.
pub(super) type Run = (usize, usize);

pub(super) fn runs(r: &Reading) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (i, w) in r.words.iter().enumerate() {
        if !w.name || w.measure.is_some() || words::is_light(&w.key) {
            continue;
        }
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == i => *last = i,
            _ => runs.push((i, i)),
        }
    }
    runs
}

/// The word of a run that the others hang on.
pub(super) fn head_of(r: &Reading, (first, last): Run) -> usize {
    (first..=last)
        .find(|&i| r.words[i].head.is_none_or(|h| h < first || h > last))
        .unwrap_or(last)
}

/// Tokens of the name that `short` may stand for, as "MIT" for "Massachusetts Institute of Technology".
pub(super) fn spelled_out(r: &Reading, short: &str) -> Vec<Run> {
    let mut found = Vec::new();
    for (k, &(first, mut last)) in r.names.iter().enumerate() {
        let mut initials = String::new();
        let add = |initials: &mut String, from: usize, to: usize| {
            initials.extend(
                r.words[from..=to]
                    .iter()
                    .filter_map(|w| w.form.chars().next()),
            );
        };
        add(&mut initials, first, last);
        let mut next = k + 1;
        loop {
            if initials.len() >= 2 && abbreviates(short, &initials) {
                found.push((first, last));
                break;
            }
            // "of", "and the" within a name.
            let Some(&(from, to)) = r
                .names
                .get(next)
                .filter(|(from, _)| *from <= last + 3 && initials.len() < short.len())
            else {
                break;
            };
            let bridge = r.words[last + 1..from]
                .iter()
                .all(|w| matches!(w.form.as_str(), "of" | "and" | "the" | "for" | "de"));
            if !bridge {
                break;
            }
            add(&mut initials, from, to);
            last = to;
            next += 1;
        }
    }
    found
}

/// "US" and "USA" are both of "United States".
fn abbreviates(short: &str, initials: &str) -> bool {
    short == initials
        || (short.len() == initials.len() + 1 && initials.len() >= 2 && short.starts_with(initials))
}

/// A name that is only misspelt, or a variant of the other.
pub(super) fn variant(a: &str, b: &str) -> bool {
    let shortest = a.len().min(b.len());
    let cut = |s: &str, t: &str| s.len() >= 2 && t.starts_with(s) && t.len() - s.len() <= 2;
    let state = |s: &str| matches!(s, "us" | "usa" | "american" | "america" | "states");
    (state(a) && state(b))
        || cut(a, b)
        || cut(b, a)
        || (shortest >= 5 && words::slips(a, b, 2).is_some())
        || (shortest >= 4 && words::slips(a, b, 1).is_some())
}

/// Two spellings of what cannot be one name, though half of it is the same.
pub(super) fn near_miss(a: &str, b: &str) -> bool {
    let longest = a.len().max(b.len());
    let head = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let tail = a
        .bytes()
        .rev()
        .zip(b.bytes().rev())
        .take_while(|(x, y)| x == y)
        .count();
    a.len().min(b.len()) >= 8
        && longest <= 40
        && head.max(tail) * 2 > longest
        && words::stem(a) != words::stem(b)
        && !variant(a, b)
}
