//! From a question and the facts around it to what is known, contested and missing.

use std::collections::HashSet;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::asked::Asked;
use crate::contradiction::{Contradiction, PredicateFacts, contradictions};
use crate::question::{Found, Match, Mention, Question};
use crate::text::{Word, slice, stem, words};
use crate::triple::{Kind, Triple, short_float};

/// What the graph can say to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assessment {
    pub competence: Competence,
    pub mentions: Vec<Mention>,
    /// Most relevant first.
    pub triples: Vec<RankedTriple>,
    pub contradictions: Vec<Contradiction>,
    pub gaps: Vec<Gap>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankedTriple {
    #[serde(flatten)]
    pub triple: Triple,
    /// 0 to 1.
    #[serde(serialize_with = "short_float")]
    pub score: f32,
}

/// Something asked that the graph does not hold. `text` completes `No triples found for "…"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    pub text: String,
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Competence {
    /// All that is asked is known, or nothing is asked.
    Competent,
    /// Part of what is asked is known.
    Partial,
    /// Nothing of what is asked is known.
    OutOfScope,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub max_triples: usize,
    pub max_contradictions: usize,
    pub max_gaps: usize,
    /// Today, to tell what holds from what held; without it a statement with an end counts as past.
    pub today: Option<NaiveDate>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_triples: 40,
            max_contradictions: 12,
            max_gaps: 8,
            today: None,
        }
    }
}

impl Question {
    /// Ranks the retrieved statements, finds what contradicts itself and what is missing, and decides how far the
    /// graph covers the question. `triples` is the neighbourhood of the mentioned nodes.
    pub fn assess(
        &self,
        found: &Found,
        triples: &[Triple],
        facts: &PredicateFacts,
        options: &Options,
    ) -> Assessment {
        let asked = Asked::read(self, &found.mentions);
        let mut seen = HashSet::new();
        let mut ranked: Vec<RankedTriple> = triples
            .iter()
            .filter(|triple| seen.insert(triple.id))
            .map(|triple| RankedTriple {
                score: rank_score(&asked, triple, options),
                triple: triple.clone(),
            })
            .collect();
        ranked.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then(a.triple.id.cmp(&b.triple.id))
        });
        ranked.truncate(options.max_triples);
        let kept: Vec<&Triple> = ranked.iter().map(|ranked| &ranked.triple).collect();
        let contradictions = contradictions(&kept, facts, options.max_contradictions);
        let coverage = Coverage::measure(self, &asked, triples);
        Assessment {
            competence: coverage.competence(&asked),
            gaps: coverage.gaps.into_iter().take(options.max_gaps).collect(),
            mentions: found.mentions.clone(),
            triples: ranked,
            contradictions,
        }
    }
}

/// Relevance of one statement to the question. Signals of the neighbourhood's shape (curvature) are combined with
/// this one here, and nowhere else.
fn rank_score(asked: &Asked<'_>, triple: &Triple, options: &Options) -> f32 {
    relevance(asked, triple, options).clamp(0.0, 1.0)
}

/// 0.40 mention + 0.35 predicate + 0.15 confidence + 0.05 kind + 0.05 currency; see docs/grounding.md.
fn relevance(asked: &Asked<'_>, triple: &Triple, options: &Options) -> f32 {
    let subject = asked.mentioned(triple.subject.id);
    let object = triple
        .object
        .node_id()
        .is_some_and(|id| asked.mentioned(id));
    let mention = match (subject, object) {
        (true, true) => 1.0,
        (true, false) => 0.8,
        (false, true) => 0.7,
        (false, false) => 0.1,
    };
    let confidence = if triple.confidence.is_finite() {
        triple.confidence.clamp(0.0, 1.0)
    } else {
        0.0
    };
    let kind = if triple.kind == Kind::Fact { 1.0 } else { 0.4 };
    let current = if triple.is_past(options.today) && !triple.is_snapshot() {
        0.0
    } else {
        1.0
    };
    0.40 * mention
        + 0.35 * asked.predicate_match(triple)
        + 0.15 * confidence
        + 0.05 * kind
        + 0.05 * current
}

/// Statements that answer what is asked: those whose predicate matches about as well as the best does, about a
/// mentioned node where there is one.
pub(crate) fn answering<'t>(
    asked: &Asked<'_>,
    triples: impl Iterator<Item = &'t Triple>,
) -> Vec<&'t Triple> {
    let scored: Vec<(f32, &Triple)> = triples
        .filter(|triple| {
            asked.mentions.is_empty()
                || asked
                    .mentions
                    .iter()
                    .any(|mention| triple.touches(mention.node_id))
        })
        .map(|triple| (asked.predicate_match(triple), triple))
        .collect();
    let best = scored
        .iter()
        .map(|(score, _)| *score)
        .fold(0.0_f32, f32::max);
    let bar = (best - 0.25).max(MATCHES);
    scored
        .into_iter()
        .filter(|(score, _)| *score >= bar)
        .map(|(_, triple)| triple)
        .collect()
}

/// What of the question the graph covers.
struct Coverage {
    gaps: Vec<Gap>,
    /// Something asked has an answer.
    answered: bool,
    /// The question asks for something beyond the mentioned nodes themselves.
    asks: bool,
    /// A word of the question means nothing to the graph.
    unknown: bool,
    /// A mentioned node has statements.
    grounded: bool,
}

impl Coverage {
    fn measure(question: &Question, asked: &Asked<'_>, triples: &[Triple]) -> Self {
        let answers = answering(asked, triples.iter());
        let mut understood: HashSet<usize> = HashSet::new();
        for (concept, places) in &asked.concepts {
            let has_answer = answers.iter().any(|triple| {
                crate::lexicon::concept_of(
                    &triple.predicate,
                    crate::asked::is_value(&triple.object),
                )
                .is_some_and(|of| std::ptr::eq(of, *concept))
            });
            if has_answer {
                understood.extend(places);
            }
        }
        let mut known_stems: HashSet<String> = HashSet::new();
        for triple in answers.iter().take(LABELS_READ) {
            known_stems.extend(
                crate::text::predicate_words(&triple.predicate)
                    .iter()
                    .map(|word| stem(word)),
            );
        }
        let about = |triple: &&Triple| {
            asked.mentions.is_empty()
                || asked
                    .mentions
                    .iter()
                    .any(|mention| triple.touches(mention.node_id))
        };
        for triple in triples.iter().filter(about).take(LABELS_READ) {
            for label in [
                triple.subject.label.as_str(),
                triple.object.label().as_str(),
            ] {
                known_stems.extend(words(label, 24).iter().map(|word| stem(&word.plain)));
            }
        }
        let year_known = |year: i32| {
            answers
                .iter()
                .any(|triple| asked.year_answered(triple, year))
        };
        let knows = |at: usize, word: &Word| {
            understood.contains(&at)
                || word.year().is_some_and(year_known)
                || known_stems.contains(&stem(&word.plain))
                || CHARTS.contains(&stem(&word.plain).as_str())
        };
        let content: Vec<(usize, &Word)> = asked.content().collect();
        let unknown: Vec<(usize, &Word)> = content
            .iter()
            .copied()
            .filter(|(at, word)| !knows(*at, word))
            .collect();

        let mut gaps = Vec::new();
        let (said_missing, explained) = missing_predicates(asked, &answers, &understood, &mut gaps);
        let rest: Vec<(usize, &Word)> = unknown
            .iter()
            .copied()
            .filter(|(at, _)| !explained.contains(at))
            .collect();
        phrase_gaps(question, &rest, &mut gaps);
        let grounded = asked
            .mentions
            .iter()
            .any(|mention| triples.iter().any(|triple| triple.touches(mention.node_id)));
        if !said_missing {
            empty_nodes(asked, triples, &mut gaps);
        }
        Self {
            answered: !answers.is_empty(),
            asks: !asked.concepts.is_empty() || !content.is_empty(),
            unknown: !unknown.is_empty(),
            grounded,
            gaps,
        }
    }

    fn competence(&self, asked: &Asked<'_>) -> Competence {
        if asked.mentions.is_empty() {
            return match (self.asks, self.answered && !self.unknown) {
                (false, _) | (true, true) => Competence::Competent,
                (true, false) => Competence::OutOfScope,
            };
        }
        if !self.grounded {
            return Competence::OutOfScope;
        }
        match (self.asks, self.answered) {
            (true, false) if self.unknown || !self.gaps.is_empty() => Competence::OutOfScope,
            _ if self.gaps.is_empty() => Competence::Competent,
            _ => Competence::Partial,
        }
    }
}

/// Gaps for predicates that are asked of a known node and have no statement there. Returns whether there are any, and
/// the words that they explain.
fn missing_predicates(
    asked: &Asked<'_>,
    answers: &[&Triple],
    understood: &HashSet<usize>,
    gaps: &mut Vec<Gap>,
) -> (bool, HashSet<usize>) {
    let mut explained = HashSet::new();
    let before = gaps.len();
    let mut nouns: Vec<&str> = Vec::new();
    for (concept, places) in &asked.concepts {
        let satisfied = places.iter().any(|at| understood.contains(at));
        let told = places.iter().any(|at| explained.contains(at));
        if !satisfied && !told && !asked.mentions.is_empty() && answers.is_empty() {
            nouns.push(concept.noun);
            explained.extend(places.iter().copied());
        }
    }
    for mention in unique(asked.mentions) {
        for noun in nouns.iter().take(3) {
            gaps.push(Gap {
                text: format!("{} {noun}", mention.label),
                reason: format!(
                    "\"{}\" is known, but no statement about it says this",
                    mention.label
                ),
            });
        }
        let compared = unique(asked.mentions).len() > 1 && nouns.is_empty() && !answers.is_empty();
        if compared && !answers.iter().any(|triple| triple.touches(mention.node_id)) {
            let noun = answers
                .first()
                .and_then(|triple| {
                    crate::lexicon::concept_of(
                        &triple.predicate,
                        crate::asked::is_value(&triple.object),
                    )
                })
                .map(|concept| concept.noun)
                .unwrap_or("this");
            gaps.push(Gap {
                text: format!("{} {noun}", mention.label),
                reason: format!(
                    "\"{}\" is known, but no statement about it says this",
                    mention.label
                ),
            });
        }
    }
    (gaps.len() > before, explained)
}

/// One gap for each run of neighbouring unknown words.
fn phrase_gaps(question: &Question, unknown: &[(usize, &Word)], gaps: &mut Vec<Gap>) {
    let mut runs: Vec<(usize, &Word, &Word)> = Vec::new();
    for (at, word) in unknown {
        match runs.last_mut() {
            Some((last, _, end)) if *at == *last + 1 && word.start - end.end <= 1 => {
                *last = *at;
                *end = word;
            }
            _ => runs.push((*at, word, word)),
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
            });
        }
    }
}

pub(crate) fn unique(mentions: &[Mention]) -> Vec<&Mention> {
    let mut seen: HashSet<Uuid> = HashSet::new();
    let mut spans: HashSet<(usize, usize)> = HashSet::new();
    mentions
        .iter()
        .filter(|mention| {
            seen.insert(mention.node_id)
                && (spans.insert((mention.start, mention.end)) || mention.matched == Match::Context)
        })
        .take(8)
        .collect()
}

/// A predicate matches from here on.
const MATCHES: f32 = 0.6;
const LABELS_READ: usize = 400;
const CHARTS: &[&str] = &["chart", "plot", "graph", "visualiz", "visualis", "diagram"];
