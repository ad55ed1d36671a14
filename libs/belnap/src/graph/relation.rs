//! How well the words between two mentions express a predicate.

use super::label::Label;
use super::link::Link;
use super::meaning::{Expects, Meaning};
use super::mention::{How, Mention};
use super::number::Number;
use super::reading::Reading;
use crate::lexicon;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fit {
    /// Good enough to say that the text states it.
    pub loose: f32,
    /// All words of the predicate are expressed; what a contradiction asks for.
    pub strict: f32,
    /// The token that expresses the predicate's main word.
    pub by: Option<usize>,
    /// How well it does.
    pub head: f32,
}

/// Modifiers that make another role of a role: a vice president is no president.
const OTHER_ROLE: &[&str] = &[
    "vice",
    "deputy",
    "co",
    "assistant",
    "acting",
    "interim",
    "former",
    "ex",
    "previous",
    "then",
    "honorary",
    "future",
    "late",
    "associate",
    "under",
    "old",
    "new",
    "next",
    "past",
];

/// Modifiers that leave a measure or role what it is.
const ORDINARY: &[&str] = &[
    "total",
    "overall",
    "annual",
    "current",
    "present",
    "main",
    "official",
    "exact",
    "full",
    "whole",
    "reported",
    "approximate",
    "average",
    "own",
    "same",
    "only",
    "key",
    "actual",
];

pub(super) fn fit(
    reading: &Reading<'_>,
    meaning: &Meaning,
    link: &Link,
    object: &Mention,
    label: Option<&Label>,
) -> Fit {
    let mut fit = Fit::default();
    let (mut sum, mut total) = (0.0, 0.0);
    for core in &meaning.cores {
        let mut best = (0.0f32, None);
        for &(t, weight) in &link.words {
            if weight <= best.0 {
                continue;
            }
            let strength = reading.strength(core, t) * weight;
            if strength > best.0 {
                best = (strength, Some(t));
            }
        }
        if best.0 < 0.3 {
            best = (0.0, None);
        }
        if core.weight >= 0.8 && best.0 > fit.head {
            fit.head = best.0;
            fit.by = best.1;
        }
        // "Battle of Bull Run" and "University of Ohio" say themselves what they are.
        let named =
            label.is_some_and(|l| !l.common && l.words.iter().any(|w| core.forms.contains(&w.key)));
        if core.weight >= 0.8 && named {
            fit.loose = 0.5;
        }
        if core.weight < 0.8 && expected(reading, meaning, object, label) {
            best.0 = best.0.max(0.8);
        }
        sum += core.weight * best.0;
        total += core.weight;
    }
    let mean = if total > 0.0 { sum / total } else { 0.0 };
    fit.strict = if fit.head >= 0.5 {
        0.65 * mean + 0.35 * fit.head
    } else {
        0.0
    };
    if fit.head > 0.0 {
        fit.loose = fit.loose.max(0.5 * mean + 0.5 * fit.head);
    }
    let linked = link
        .prepositions
        .iter()
        .any(|&p| meaning.links.contains(&reading.lemma(p).lemma.as_str()));
    let base = match (link.neutral, linked) {
        (true, true) => 0.6,
        (true, false) => 0.45,
        (false, true) => 0.35,
        (false, false) => 0.2,
    };
    fit.loose = fit.loose.max(base);
    if let Some(by) = fit.by {
        let other = reading.tokens[by].children.iter().any(|&k| {
            matches!(
                reading.tokens[k].token.relation(),
                "compound" | "amod" | "advmod"
            ) && OTHER_ROLE.contains(&reading.lemma(k).lemma.as_str())
        });
        // "Operating income" is not the net income.
        let narrower = reading.tokens[by].token.upos == ud::Upos::Noun
            && reading.tokens[by].children.iter().any(|&k| {
                let token = reading.tokens[k].token;
                matches!(token.relation(), "compound" | "amod")
                    && matches!(token.upos, ud::Upos::Noun | ud::Upos::Adj | ud::Upos::Verb)
                    && !ORDINARY.contains(&reading.lemma(k).lemma.as_str())
                    && !(object.first..=object.last).contains(&k)
                    && !meaning.cores.iter().any(|c| reading.strength(c, k) >= 0.5)
            });
        if other || narrower {
            fit.strict *= 0.5;
        }
    }
    fit
}

/// The mention is of the kind that the predicate's name promises.
fn expected(
    reading: &Reading<'_>,
    meaning: &Meaning,
    object: &Mention,
    label: Option<&Label>,
) -> bool {
    match meaning.expects {
        Expects::Date => reading
            .numbers
            .iter()
            .any(|n| n.first <= object.first && object.last <= n.last && n.number.is_date()),
        Expects::Quantity => object.how == How::Number,
        Expects::Place => {
            let head = reading.head_of(object.first, object.last);
            let tied = reading.tokens[head].children.iter().any(|&k| {
                matches!(
                    reading.lemma(k).lemma.as_str(),
                    "in" | "at" | "from" | "near" | "on"
                )
            });
            tied || label.is_some_and(|l| lexicon::level_of_place(&l.entry).is_some())
        }
        Expects::Name => label.is_some_and(|l| !l.common && l.number.is_none()),
        Expects::Anything => false,
    }
}

/// Whether a number of the text is of the kind of a label's number.
pub(super) fn same_kind(a: Number, b: Number, meaning: &Meaning) -> bool {
    if meaning.expects == Expects::Date && !b.is_date() {
        return false;
    }
    match (a, b) {
        // A year is no amount of money and no large number.
        (
            Number::Plain {
                value,
                unit,
                year: false,
                ..
            },
            n,
        ) if n.is_date() => value.abs() < 3000.0 && unit.is_none(),
        (Number::Date { .. }, Number::Date { .. }) => true,
        (Number::Date { .. }, n) | (n, Number::Date { .. }) => n.is_date(),
        (Number::Plain { year: true, .. }, Number::Plain { year: false, .. })
        | (Number::Plain { year: false, .. }, Number::Plain { year: true, .. }) => true,
        _ => true,
    }
}
