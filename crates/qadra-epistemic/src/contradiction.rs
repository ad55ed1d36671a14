//! Statements that cannot all be true.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::lexicon::conventionally_functional;
use crate::object::Likeness;
use crate::triple::{Polarity, Triple};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contradiction {
    pub a: Triple,
    pub b: Triple,
    pub reason: String,
}

/// What is set and counted about predicates, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredicateFacts(pub HashMap<String, PredicateInfo>);

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PredicateInfo {
    /// One object per subject at a time; set by hand, and then it wins.
    pub functional: Option<bool>,
    pub symmetric: bool,
    /// The predicate that says the same from the other end.
    pub inverse_of: Option<String>,
    /// Predicates that cannot hold of the same subject and object at once.
    pub exclusive_with: Vec<String>,
    /// Subjects that have the predicate, over the whole graph.
    pub subjects: u64,
    /// Those of them with exactly one object.
    pub single_object_subjects: u64,
}

impl PredicateFacts {
    /// Whether a predicate has one object per subject at a time: as set; else by convention (`ceo`,
    /// `founded_in_year`, `headquarters`, `capital` …); else when at least 8 subjects have it, 95 % of them with one
    /// object.
    pub fn is_functional(&self, predicate: &str) -> bool {
        let info = self.0.get(predicate);
        if let Some(set) = info.and_then(|info| info.functional) {
            return set;
        }
        conventionally_functional(predicate)
            || info.is_some_and(|info| {
                info.subjects >= 8
                    && u128::from(info.single_object_subjects) * 100
                        >= u128::from(info.subjects) * 95
            })
    }

    fn exclude(&self, a: &str, b: &str) -> bool {
        let names = |from: &str, to: &str| {
            self.0
                .get(from)
                .is_some_and(|info| info.exclusive_with.iter().any(|name| name == to))
        };
        a != b && (names(a, b) || names(b, a))
    }

    /// One form for a statement and its inverse or mirror: predicate, subject key, object key.
    fn canonical(&self, triple: &Triple) -> (String, String, String) {
        let subject = format!("node:{}", triple.subject.id);
        let object = triple.object.object_key();
        let info = self.0.get(&triple.predicate);
        if triple.object.node_id().is_some() {
            if info.is_some_and(|info| info.symmetric) && object < subject {
                return (triple.predicate.clone(), object, subject);
            }
            if let Some(inverse) = info.and_then(|info| info.inverse_of.as_ref())
                && *inverse < triple.predicate
            {
                return (inverse.clone(), object, subject);
            }
            // The flag may be set on either of the two.
            let flagged = self
                .0
                .iter()
                .filter(|(name, info)| {
                    info.inverse_of.as_deref() == Some(&triple.predicate)
                        && **name < triple.predicate
                })
                .map(|(name, _)| name)
                .min();
            if let Some(inverse) = flagged {
                return (inverse.clone(), object, subject);
            }
        }
        (triple.predicate.clone(), subject, object)
    }
}

/// Pairs of statements that contradict each other, at most `limit`, those of the best-ranked statements first.
pub fn contradictions(
    triples: &[&Triple],
    facts: &PredicateFacts,
    limit: usize,
) -> Vec<Contradiction> {
    let mut found: Vec<(usize, usize, String)> = Vec::new();
    functional_conflicts(triples, facts, &mut found);
    polarity_conflicts(triples, facts, &mut found);
    exclusion_conflicts(triples, facts, &mut found);
    found.sort_unstable();
    found.dedup_by_key(|(a, b, _)| (*a, *b));
    found
        .into_iter()
        .take(limit)
        .filter_map(|(a, b, reason)| {
            Some(Contradiction {
                a: (*triples.get(a)?).clone(),
                b: (*triples.get(b)?).clone(),
                reason,
            })
        })
        .collect()
}

/// The predicates of which it has to be known whether a subject has one object at a time to tell if these statements
/// contradict each other: those with two values for a subject, unless convention says so.
pub fn undecided(triples: &[&Triple]) -> BTreeSet<Uuid> {
    by_subject(triples)
        .into_iter()
        .filter(|((_, predicate), members)| {
            let mut differ = false;
            pairs(members, |a, b| {
                differ |= triples.get(a).zip(triples.get(b)).is_some_and(exclusive);
            });
            differ && !conventionally_functional(predicate)
        })
        .filter_map(|(_, members)| Some(triples.get(*members.first()?)?.predicate_id))
        .collect()
}

/// Positive statements by subject and predicate.
fn by_subject<'t>(triples: &[&'t Triple]) -> BTreeMap<(Uuid, &'t str), Vec<usize>> {
    let mut groups: BTreeMap<(Uuid, &str), Vec<usize>> = BTreeMap::new();
    for (at, triple) in triples.iter().enumerate() {
        if triple.polarity == Polarity::Positive {
            groups
                .entry((triple.subject.id, &triple.predicate))
                .or_default()
                .push(at);
        }
    }
    groups
}

/// Two values at one time.
fn exclusive((left, right): (&&Triple, &&Triple)) -> bool {
    left.object.likeness(&right.object) == Likeness::Different && left.overlaps(right)
}

type Found = Vec<(usize, usize, String)>;

/// Statements of one canonical form: those that assert it and those that deny it.
type Sides = (Vec<usize>, Vec<usize>);

fn functional_conflicts(triples: &[&Triple], facts: &PredicateFacts, found: &mut Found) {
    for ((_, predicate), members) in by_subject(triples) {
        if members.len() < 2 || !facts.is_functional(predicate) {
            continue;
        }
        pairs(&members, |a, b| {
            if triples.get(a).zip(triples.get(b)).is_some_and(exclusive) {
                found.push((
                    a,
                    b,
                    format!("two values for \"{predicate}\", which has one at a time"),
                ));
            }
        });
    }
}

fn polarity_conflicts(triples: &[&Triple], facts: &PredicateFacts, found: &mut Found) {
    let mut groups: BTreeMap<(String, String, String), Sides> = BTreeMap::new();
    for (at, triple) in triples.iter().enumerate() {
        let (said, denied) = groups.entry(facts.canonical(triple)).or_default();
        match triple.polarity {
            Polarity::Positive => said.push(at),
            Polarity::Negative => denied.push(at),
        }
    }
    for (said, denied) in groups.into_values() {
        for a in said.iter().take(GROUP_CAP) {
            for b in denied.iter().take(GROUP_CAP) {
                let (Some(left), Some(right)) = (triples.get(*a), triples.get(*b)) else {
                    continue;
                };
                if left.overlaps(right) {
                    found.push((
                        (*a).min(*b),
                        (*a).max(*b),
                        "the same statement is asserted and denied".into(),
                    ));
                }
            }
        }
    }
}

fn exclusion_conflicts(triples: &[&Triple], facts: &PredicateFacts, found: &mut Found) {
    if facts.0.values().all(|info| info.exclusive_with.is_empty()) {
        return;
    }
    let mut groups: BTreeMap<(Uuid, String), Vec<usize>> = BTreeMap::new();
    for (at, triple) in triples.iter().enumerate() {
        if triple.polarity == Polarity::Positive {
            groups
                .entry((triple.subject.id, triple.object.object_key()))
                .or_default()
                .push(at);
        }
    }
    for members in groups.into_values() {
        pairs(&members, |a, b| {
            let (Some(left), Some(right)) = (triples.get(a), triples.get(b)) else {
                return;
            };
            if facts.exclude(&left.predicate, &right.predicate) && left.overlaps(right) {
                found.push((
                    a,
                    b,
                    format!(
                        "\"{}\" and \"{}\" exclude each other",
                        left.predicate, right.predicate
                    ),
                ));
            }
        });
    }
}

/// All pairs of the first members of a group; a group larger than the cap has said enough by then.
fn pairs(members: &[usize], mut each: impl FnMut(usize, usize)) {
    let members = members
        .get(..members.len().min(GROUP_CAP))
        .unwrap_or_default();
    for (at, a) in members.iter().enumerate() {
        for b in members.iter().skip(at + 1) {
            each(*a, *b);
        }
    }
}

const GROUP_CAP: usize = 16;
