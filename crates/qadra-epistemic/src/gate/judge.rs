//! Which context triples support an implied triple, or why none does.

use std::collections::HashSet;

use super::claims::{Claim, Clause};
use super::context::{Context, Entity};
use super::fit::{Fit, Reading};
use super::items::{Item, What};
use super::value::Value;
use crate::object::Object;
use crate::text::stem;
use crate::triple::Polarity;

pub(super) type Judged = Option<(Vec<(usize, f32)>, String)>;

/// Supports of "one of `ends` – item", or why there are none; `None` where nothing can be said. The first `own_ends` are
/// what the clause speaks of, the others are names beside it.
pub(super) fn judge(
    context: &Context<'_>,
    ends: &[Entity],
    own_ends: usize,
    item: &Item,
    clause: &Clause<'_>,
    reading: &Reading,
) -> Judged {
    let subjects = ends.get(..own_ends).unwrap_or_default();
    let around: HashSet<usize> = ends
        .iter()
        .flat_map(|entity| context.around(*entity).iter().copied())
        .collect();
    let mut around: Vec<usize> = around.into_iter().collect();
    around.sort_unstable();
    let mut supports: Vec<(usize, f32)> = Vec::new();
    let mut opposed: Option<usize> = None;
    let mut instead: Option<usize> = None;
    let mut weak: Option<usize> = None;
    for at in around {
        let (Some(fact), Some(triple)) = (context.facts.get(at), context.triples.get(at)) else {
            continue;
        };
        let fit = reading.fit(fact, item, &clause.items);
        let linked = links(context, at, ends, item, reading);
        let denied = triple.polarity == Polarity::Negative;
        if linked.is_none() {
            let rival = fit == Fit::Says && !denied && same_sort(triple.object.clone(), item);
            if rival {
                instead.get_or_insert(at);
            }
            continue;
        }
        // What is told of another name in passing ("in Montevideo, Uruguay") needs no words of its own.
        let in_passing = !subjects.contains(&fact.subject)
            && !fact.object.is_some_and(|object| subjects.contains(&object));
        let fit = match fit {
            Fit::Other if in_passing && !subjects.is_empty() => Fit::Open,
            fit => fit,
        };
        let strength = linked.unwrap_or(0.0) * fit.strength();
        if fit == Fit::Other {
            weak.get_or_insert(at);
            continue;
        }
        let over = reading.denies && triple.valid_to.is_some();
        if denied == reading.denies || over {
            supports.push((at, strength));
        } else {
            opposed.get_or_insert(at);
        }
    }
    if !supports.is_empty() {
        return Some((supports, String::new()));
    }
    let tell = |at: usize| {
        context.triples.get(at).map_or(String::new(), |triple| {
            let object = triple.object.label();
            let object: String = object.chars().take(120).collect();
            format!("({}, {}, {object})", triple.subject.label, triple.predicate)
        })
    };
    if reading.denies {
        // That something is not so follows from another value where there is only one.
        if let Some(at) = instead
            && context
                .triples
                .get(at)
                .is_some_and(|triple| crate::lexicon::conventionally_functional(&triple.predicate))
        {
            return Some((vec![(at, 0.8)], String::new()));
        }
        return opposed.map(|at| (Vec::new(), format!("the context asserts {}", tell(at))));
    }
    if let Some(at) = opposed {
        return Some((Vec::new(), format!("the context denies {}", tell(at))));
    }
    match &item.what {
        What::Known(_) if reading.compares => return None,
        // A word that merely is also a label ("services") claims nothing.
        What::Known(_) if clause.in_lower_case(item) => return None,
        What::Value(value) if value.counts().is_some() => {
            return counted(context, ends, item, clause, reading, instead);
        }
        What::Unknown(_) if reading.compares && instead.is_none() => return None,
        _ => {}
    }
    let reason = match (instead, weak) {
        (Some(at), _) => format!("the context says {} instead", tell(at)),
        (None, Some(at)) => format!("the context relates them otherwise: {}", tell(at)),
        (None, None) => "no triple of the context says this".to_owned(),
    };
    Some((Vec::new(), reason))
}

impl Clause<'_> {
    fn in_lower_case(&self, item: &Item) -> bool {
        self.sentence
            .words
            .get(item.start..item.end)
            .unwrap_or_default()
            .iter()
            .all(|word| !word.surface.chars().any(char::is_uppercase))
    }
}

/// How strongly a statement joins one of the ends with the item.
fn links(
    context: &Context<'_>,
    at: usize,
    ends: &[Entity],
    item: &Item,
    reading: &Reading,
) -> Option<f32> {
    let fact = context.facts.get(at)?;
    let triple = context.triples.get(at)?;
    match &item.what {
        What::Known(entities) => {
            let joins = |a: Entity, b: Option<Entity>| {
                ends.contains(&a) && b.is_some_and(|b| entities.contains(&b))
            };
            let other_way = fact
                .object
                .is_some_and(|object| joins(object, Some(fact.subject)));
            (joins(fact.subject, fact.object) || other_way).then_some(1.0)
        }
        What::Value(value) => {
            if value.is(&triple.object, reading.rounds) {
                return Some(1.0);
            }
            let shown = value.show();
            let in_name = fact.object.is_some_and(|object| {
                let label = context.label(object);
                label
                    .split(|letter: char| !letter.is_alphanumeric())
                    .any(|part| part == shown)
            });
            let in_text = fact.text.contains(&shown);
            let in_source = reading.cites && holds_word(triple.source.as_deref(), &shown);
            (in_name || in_text || in_source).then_some(0.8)
        }
        What::Unknown(name) => {
            let within = crate::text::words(name, 12)
                .iter()
                .all(|word| fact.text.contains(&stem(&word.plain)));
            (within && !fact.text.is_empty()).then_some(0.8)
        }
    }
}

fn holds_word(text: Option<&str>, word: &str) -> bool {
    text.is_some_and(|text| {
        text.split(|letter: char| !letter.is_alphanumeric())
            .any(|part| part == word)
    })
}

/// Whether a statement's object could stand where the item stands: a name for a name, a value for a value.
fn same_sort(object: Object, item: &Item) -> bool {
    match (&item.what, object) {
        (What::Value(value), Object::Number { value: known, unit }) => {
            let is_year = unit.is_none() && known.year().is_some();
            value.year().is_some() == is_year || value.year().is_none()
        }
        (What::Value(value), Object::Date(_)) => value.year().is_some(),
        (What::Known(_) | What::Unknown(_), Object::Node { .. } | Object::Text(_)) => true,
        _ => false,
    }
}

/// "Apple has three products": a small number may be how many statements there are; it is no claim otherwise, unless
/// another number stands where it stands.
fn counted(
    context: &Context<'_>,
    ends: &[Entity],
    item: &Item,
    clause: &Clause<'_>,
    reading: &Reading,
    instead: Option<usize>,
) -> Judged {
    let What::Value(value) = &item.what else {
        return None;
    };
    let wanted = value.counts()?;
    let listed: Vec<usize> = ends
        .iter()
        .flat_map(|entity| context.around(*entity))
        .copied()
        .filter(|at| {
            context
                .facts
                .get(*at)
                .is_some_and(|fact| reading.fit(fact, item, &clause.items) == Fit::Says)
        })
        .collect();
    if listed.len() == wanted {
        return Some((
            listed.into_iter().map(|at| (at, 0.8)).collect(),
            String::new(),
        ));
    }
    instead.map(|at| {
        let shown = context
            .triples
            .get(at)
            .map_or(String::new(), |triple| triple.object.label());
        (Vec::new(), format!("the context says {shown} instead"))
    })
}

/// A year that says when something else of the clause holds: the supports of that, where they are of this year.
pub(super) fn qualified(
    context: &Context<'_>,
    value: &Value,
    item: &Item,
    places: &[(usize, usize, usize)],
    found: &[Claim],
    first: usize,
    reading: &Reading,
) -> Option<Vec<(usize, f32)>> {
    let year = value.year()?;
    let of_year = |at: usize| {
        context.triples.get(at).is_some_and(|triple| {
            crate::lexicon::name_year(&triple.predicate) == Some(year)
                || (triple.has_validity() && triple.holds_in_year(year))
        })
    };
    let dated = |at: usize| {
        context.triples.get(at).is_some_and(|triple| {
            crate::lexicon::name_year(&triple.predicate).is_some() || triple.has_validity()
        })
    };
    let mut near: Vec<(usize, &Claim)> = places
        .iter()
        .filter_map(|(start, end, at)| {
            let gap = start.saturating_sub(item.end) + item.start.saturating_sub(*end);
            Some((gap, found.get(*at)?))
        })
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    let closest = near.first().map(|(distance, _)| *distance);
    let beside: Vec<(usize, f32)> = near
        .iter()
        .filter(|(distance, _)| Some(*distance) == closest || reading.respectively)
        .flat_map(|(_, claim)| claim.supports.iter().copied())
        .collect();
    let pool: Vec<(usize, f32)> = if beside.iter().any(|(at, _)| dated(*at)) {
        beside
    } else {
        found
            .iter()
            .skip(first)
            .flat_map(|claim| claim.supports.iter().copied())
            .collect()
    };
    let fitting: Vec<(usize, f32)> = pool.into_iter().filter(|(at, _)| of_year(*at)).collect();
    (!fitting.is_empty()).then_some(fitting)
}
