//! Comparisons and superlatives over retrieved figures.

use std::collections::{BTreeMap, HashSet};

use super::draft::Draft;
use crate::asked::Asked;
use crate::lexicon::{concept_of, name_year};
use crate::object::Object;
use crate::phrase::{clean, join};
use crate::triple::{Polarity, Triple};

/// Answers "which of A and B was founded first?" and the like: the figures, then which is first. False when the
/// question compares nothing, or the statements cannot be compared.
pub(super) fn compare<'a>(
    asked: &Asked<'_>,
    answers: &[&'a Triple],
    draft: &mut Draft<'a>,
) -> bool {
    let Some(order) = Order::read(asked) else {
        return false;
    };
    let figures = comparable(answers);
    let subjects: HashSet<_> = figures
        .iter()
        .map(|(triple, _)| triple.subject.id)
        .collect();
    if subjects.len() < 2
        || figures
            .iter()
            .any(|(triple, _)| draft.is_contested(triple.id))
    {
        return false;
    }
    let is_time = figures.iter().all(|(triple, _)| is_founding_like(triple));
    let smallest = order.smallest(is_time);
    let mut sorted = figures;
    sorted.sort_by(|a, b| {
        if smallest {
            a.1.total_cmp(&b.1)
        } else {
            b.1.total_cmp(&a.1)
        }
    });
    let Some((_, best)) = sorted.first().copied() else {
        return false;
    };
    let winners: Vec<&Triple> = sorted
        .iter()
        .filter(|(_, value)| *value == best)
        .map(|(triple, _)| *triple)
        .collect();
    let told: Vec<&Triple> = sorted.iter().map(|(triple, _)| *triple).take(6).collect();
    draft.tell(&told);
    let names: Vec<String> = winners
        .iter()
        .map(|triple| clean(&triple.subject.label))
        .collect();
    let marks: String = winners.iter().map(|triple| draft.mark(triple.id)).collect();
    let of_these = if subjects.len() == 2 {
        "Of the two"
    } else {
        "Of these"
    };
    let noun = winners
        .first()
        .and_then(|triple| concept_of(&triple.predicate, true))
        .map_or("figure", |concept| concept.noun);
    let (low, high) = if subjects.len() == 2 {
        ("lower", "higher")
    } else {
        ("lowest", "highest")
    };
    let verdict = match (is_time, smallest, winners.len()) {
        (_, _, 2..) => format!("On this, {} are level {marks}.", join(&names)),
        (true, true, _) => format!("{of_these}, {} comes first {marks}.", join(&names)),
        (true, false, _) => format!("{of_these}, {} comes last {marks}.", join(&names)),
        (false, true, _) => format!("{of_these}, {} has the {low} {noun} {marks}.", join(&names)),
        (false, false, _) => format!(
            "{of_these}, {} has the {high} {noun} {marks}.",
            join(&names)
        ),
    };
    draft.say(verdict);
    true
}

#[derive(Clone, Copy)]
enum Order {
    Least,
    Most,
    /// "older": the earlier year.
    Early,
    Late,
}

impl Order {
    fn read(asked: &Asked<'_>) -> Option<Self> {
        let rows: [(Self, &[&str]); 4] = [
            (
                Self::Early,
                &["first", "earlier", "earliest", "older", "oldest", "before"],
            ),
            (
                Self::Late,
                &["younger", "youngest", "newer", "newest", "later", "after"],
            ),
            (
                Self::Most,
                &[
                    "more", "most", "larger", "largest", "bigger", "biggest", "higher", "highest",
                    "greater", "greatest", "top",
                ],
            ),
            (
                Self::Least,
                &[
                    "less", "least", "fewer", "fewest", "smaller", "smallest", "lower", "lowest",
                ],
            ),
        ];
        rows.into_iter()
            .find(|(_, words)| asked.has_word(words))
            .map(|(order, _)| order)
    }

    /// Whether the smallest figure wins; "first" of amounts is the largest.
    fn smallest(self, is_time: bool) -> bool {
        match self {
            Self::Early => is_time,
            Self::Least => true,
            Self::Late | Self::Most => false,
        }
    }
}

/// One figure for each subject, of the same predicate, unit and, where figures carry years, the newest year that most
/// subjects have.
fn comparable<'a>(answers: &[&'a Triple]) -> Vec<(&'a Triple, f64)> {
    type Group<'a> = Vec<(&'a Triple, f64)>;
    let mut groups: BTreeMap<(String, String, i32), Group<'a>> = BTreeMap::new();
    for triple in answers
        .iter()
        .copied()
        .filter(|triple| triple.polarity == Polarity::Positive)
    {
        let Some((value, unit)) = figure(&triple.object) else {
            continue;
        };
        let year = name_year(&triple.predicate).or_else(|| {
            triple
                .is_snapshot()
                .then(|| triple.valid_from.map(|day| chrono::Datelike::year(&day)))
                .flatten()
        });
        let kind = concept_of(&triple.predicate, true).map_or_else(
            || triple.predicate.clone(),
            |concept| concept.says.to_owned(),
        );
        let group = groups.entry((kind, unit, year.unwrap_or(0))).or_default();
        if !group
            .iter()
            .any(|(known, _)| known.subject.id == triple.subject.id)
        {
            group.push((triple, value));
        }
    }
    groups
        .into_iter()
        .max_by_key(|((_, _, year), group)| (group.len(), *year))
        .map(|(_, group)| group)
        .unwrap_or_default()
}

fn figure(object: &Object) -> Option<(f64, String)> {
    match object {
        Object::Number { value, unit } => Some((value.to_f64(), unit.clone().unwrap_or_default())),
        Object::Date(date) => Some((
            f64::from(chrono::Datelike::num_days_from_ce(date)),
            "date".into(),
        )),
        _ => None,
    }
}

/// Whether the figure is a point in time, where "older" means less.
fn is_founding_like(triple: &Triple) -> bool {
    matches!(triple.object, Object::Date(_)) || crate::asked::object_year(&triple.object).is_some()
}
