//! What of a question the graph covers: gaps and competence.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use crate::asked::{Asked, is_value};
use crate::assess::{Competence, Gap, GapKind, about_mentions, answering, label_stems, unique};
use crate::lexicon::{concept_of, related};
use crate::local::LocalGraph;
use crate::missing::{expected_of_kind, unconnected};
use crate::question::Question;
use crate::text::{Word, is_generic, predicate_words, slice, stem};
use crate::triple::Triple;

pub(crate) struct Coverage {
    pub gaps: Vec<Gap>,
    /// Something asked has an answer.
    answered: bool,
    /// The question asks for something beyond the mentioned nodes themselves.
    asks: bool,
    /// A word of the question means nothing to the graph.
    unknown: bool,
    /// A mentioned node has statements.
    grounded: bool,
    /// It speaks of "it" or "them", and nothing says who that is.
    dangling: bool,
    /// Something asked is missing; what is merely usual for the kind of node does not count.
    incomplete: bool,
}

impl Coverage {
    pub(crate) fn measure(
        question: &Question,
        asked: &Asked<'_>,
        triples: &[Triple],
        local: &LocalGraph,
        kinds: &HashMap<Uuid, String>,
    ) -> Self {
        let answers = answering(asked, triples.iter());
        let knowledge = Knowledge::of(asked, triples, &answers);
        let content: Vec<(usize, &Word)> = asked.content().collect();
        let unknown: Vec<(usize, &Word)> = content
            .iter()
            .copied()
            .filter(|(at, word)| !knowledge.knows(*at, word))
            .collect();
        let mut gaps = Vec::new();
        let explained = missing_predicates(asked, &answers, &knowledge, &mut gaps);
        let said_missing = !gaps.is_empty();
        missing_of_listed(question, asked, &answers, &mut gaps);
        let rest: HashSet<usize> = unknown
            .iter()
            .map(|(at, _)| *at)
            .filter(|at| !explained.contains(at))
            .collect();
        phrase_gaps(question, asked, rest, &mut gaps);
        if !said_missing {
            empty_nodes(asked, triples, &mut gaps);
        }
        if gaps.is_empty() && asked.asks_for_connection(question) {
            unconnected(asked, triples, local, &mut gaps);
        }
        let incomplete = !gaps.is_empty();
        expected_of_kind(asked, triples, kinds, &mut gaps);
        Self {
            incomplete,
            answered: !answers.is_empty(),
            asks: !asked.concepts.is_empty() || !content.is_empty(),
            unknown: !unknown.is_empty(),
            grounded: triples
                .iter()
                .any(|triple| !asked.mentions.is_empty() && about_mentions(asked, triple)),
            dangling: asked.mentions.is_empty()
                && asked.has_word(&[
                    "it", "its", "they", "their", "them", "he", "his", "him", "she", "her", "hers",
                ]),
            gaps,
        }
    }

    pub(crate) fn competence(&self, asked: &Asked<'_>) -> Competence {
        if asked.mentions.is_empty() {
            let covered = !self.asks || (self.answered && !self.unknown && !self.dangling);
            return if covered {
                Competence::Competent
            } else {
                Competence::OutOfScope
            };
        }
        if !self.grounded || (self.asks && !self.answered && self.incomplete) {
            return Competence::OutOfScope;
        }
        if self.incomplete {
            Competence::Partial
        } else {
            Competence::Competent
        }
    }
}

/// Which words of the question mean something here.
struct Knowledge<'a> {
    /// Words that ask for a row of the lexicon that has an answer.
    understood: HashSet<usize>,
    /// Stems of the answering predicates and of the labels around the mentions.
    stems: HashSet<String>,
    asked: &'a Asked<'a>,
    answers: Vec<&'a Triple>,
}

impl<'a> Knowledge<'a> {
    fn of(asked: &'a Asked<'a>, triples: &'a [Triple], answers: &[&'a Triple]) -> Self {
        let mut understood = HashSet::new();
        let mut stems = HashSet::new();
        for triple in answers.iter().take(LABELS_READ) {
            stems.extend(
                predicate_words(&triple.predicate)
                    .iter()
                    .map(|word| stem(word)),
            );
            let Some(concept) = concept_of(&triple.predicate, is_value(&triple.object)) else {
                continue;
            };
            for wanted in asked
                .concepts
                .iter()
                .filter(|wanted| related(wanted.concept, concept))
            {
                understood.extend(wanted.words.iter().copied());
            }
        }
        let mut rows: Vec<&str> = answers
            .iter()
            .take(LABELS_READ)
            .filter_map(|triple| concept_of(&triple.predicate, is_value(&triple.object)))
            .flat_map(|concept| concept.names.iter().copied())
            .collect();
        rows.sort_unstable();
        rows.dedup();
        stems.extend(rows.into_iter().flat_map(|name| name.split(' ')).map(stem));
        for triple in triples
            .iter()
            .filter(|triple| about_mentions(asked, triple))
            .take(LABELS_READ)
        {
            stems.extend(label_stems(triple));
        }
        Self {
            understood,
            stems,
            asked,
            answers: answers.to_vec(),
        }
    }

    fn knows(&self, at: usize, word: &Word) -> bool {
        let compared = self.asked.form == crate::asked::Form::YesNo
            && self.answers.iter().any(|triple| is_value(&triple.object));
        let year_known = |year: i32| {
            compared
                || self
                    .answers
                    .iter()
                    .any(|triple| self.asked.year_answered(triple, year))
        };
        self.understood.contains(&at)
            || word.year().is_some_and(year_known)
            || self.stems.contains(&stem(&word.plain))
            || CHARTS.contains(&stem(&word.plain).as_str())
    }
}

/// Gaps for rows of the lexicon that are asked of a known node and have no statement there; returns the words that
/// they explain.
fn missing_predicates(
    asked: &Asked<'_>,
    answers: &[&Triple],
    knowledge: &Knowledge<'_>,
    gaps: &mut Vec<Gap>,
) -> HashSet<usize> {
    let mut explained: HashSet<usize> = HashSet::new();
    let mut nouns: Vec<&str> = Vec::new();
    // "Should I buy …?" asks for advice; what it names is no predicate of the graph.
    if asked.mentions.is_empty() || asked.has_word(&["should"]) {
        return explained;
    }
    for wanted in &asked.concepts {
        let met = answers.iter().any(|triple| {
            concept_of(&triple.predicate, is_value(&triple.object))
                .is_some_and(|concept| related(concept, wanted.concept))
        });
        let told = wanted
            .words
            .iter()
            .any(|at| explained.contains(at) || knowledge.understood.contains(at))
            || (!answers.is_empty()
                && asked.free.iter().any(|(at, word)| {
                    wanted.words.contains(at) && knowledge.stems.contains(&stem(&word.plain))
                }));
        let said_already = wanted.words.is_empty() && !nouns.is_empty();
        if !met && !told && !said_already {
            nouns.push(wanted.concept.noun);
            explained.extend(wanted.words.iter().copied());
        }
    }
    let mut years: Vec<String> = asked.years.iter().take(3).map(i32::to_string).collect();
    years.dedup();
    if !nouns.is_empty() {
        explained.extend(
            asked
                .free
                .iter()
                .filter(|(_, word)| word.year().is_some())
                .map(|(at, _)| *at),
        );
    }
    let about = if asked.names_pair() { 1 } else { usize::MAX };
    for mention in unique(asked.mentions).into_iter().take(about) {
        for noun in nouns.iter().take(3) {
            let period = if years.is_empty() {
                String::new()
            } else {
                format!(" {}", years.join(" "))
            };
            gaps.push(no_statement(&mention.label, &format!("{noun}{period}")));
        }
    }
    explained
}

/// Of several nodes asked about alike, those without an answer.
fn missing_of_listed(
    question: &Question,
    asked: &Asked<'_>,
    answers: &[&Triple],
    gaps: &mut Vec<Gap>,
) {
    if answers.is_empty() || !asked.lists_mentions(question) {
        return;
    }
    let noun = answers
        .first()
        .and_then(|triple| concept_of(&triple.predicate, is_value(&triple.object)))
        .map_or("answer", |concept| concept.noun);
    for mention in unique(asked.mentions) {
        if !answers.iter().any(|triple| triple.touches(mention.node_id)) {
            gaps.push(no_statement(&mention.label, noun));
        }
    }
}

fn no_statement(label: &str, noun: &str) -> Gap {
    Gap {
        text: format!("{label} {noun}"),
        reason: format!("\"{label}\" is known, but no statement about it says this"),
        kind: GapKind::Missing,
    }
}

/// One gap for each run of neighbouring unknown words; a name's other capital words belong to the run.
fn phrase_gaps(
    question: &Question,
    asked: &Asked<'_>,
    mut unknown: HashSet<usize>,
    gaps: &mut Vec<Gap>,
) {
    let names: Vec<usize> = asked
        .free
        .iter()
        .filter(|(_, word)| {
            word.capital && !word.opens && (!word.is_stop() || is_generic(&word.plain))
        })
        .map(|(at, _)| *at)
        .collect();
    for at in names.iter().chain(names.iter().rev()) {
        let beside = |other: Option<usize>| {
            other.is_some_and(|other| {
                unknown.contains(&other)
                    && question
                        .words()
                        .get(other)
                        .is_some_and(|word| word.capital && !word.opens)
            })
        };
        if beside(at.checked_sub(1)) || beside(at.checked_add(1)) {
            unknown.insert(*at);
        }
    }
    let mut places: Vec<usize> = unknown.into_iter().collect();
    places.sort_unstable();
    let mut runs: Vec<(usize, &Word, &Word)> = Vec::new();
    for at in places {
        let Some(word) = question.words().get(at) else {
            continue;
        };
        match runs.last_mut() {
            Some((last, _, end)) if at == *last + 1 && word.start.saturating_sub(end.end) <= 1 => {
                *last = at;
                *end = word;
            }
            _ => runs.push((at, word, word)),
        }
    }
    let mut seen = HashSet::new();
    for (_, first, last) in runs.into_iter().take(64) {
        let text = slice(
            question.text(),
            first.start,
            last.end.min(first.start + 120),
        );
        if seen.insert(text.to_lowercase()) {
            gaps.push(Gap {
                text,
                reason: "no node, alias or predicate has this name".into(),
                kind: GapKind::Unlinked,
            });
        }
    }
}

fn empty_nodes(asked: &Asked<'_>, triples: &[Triple], gaps: &mut Vec<Gap>) {
    for mention in unique(asked.mentions) {
        if !triples.iter().any(|triple| triple.touches(mention.node_id)) {
            gaps.push(Gap {
                text: mention.label.clone(),
                reason: "the node has no statements".into(),
                kind: GapKind::Empty,
            });
        }
    }
}

const LABELS_READ: usize = 400;
const CHARTS: &[&str] = &["chart", "plot", "graph", "visualiz", "visualis", "diagram"];
