//! From a question and the facts around it to what is known, contested and missing.

use std::collections::{HashMap, HashSet};

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::asked::{Asked, Form, is_value};
use crate::contradiction::{Contradiction, PredicateFacts, contradictions};
use crate::coverage::Coverage;
use crate::curvature::Measure;
use crate::local::{Between, LocalGraph};
use crate::question::{Found, Match, Mention, Question};
use crate::text::{stem, words};
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
    /// The day the question was asked, as given in [`Options`].
    #[serde(skip)]
    pub today: Option<NaiveDate>,
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
    #[serde(default)]
    pub kind: GapKind,
}

/// What kind of thing is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapKind {
    /// A phrase of the question that no name, label or answering predicate explains.
    #[default]
    Unlinked,
    /// A known node without a statement for what is asked of it.
    Missing,
    /// A known node without a predicate that most nodes of its kind have.
    Expected,
    /// Two known nodes that the question connects and the statements do not.
    Unconnected,
    /// A known node without any statement.
    Empty,
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

#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    pub max_triples: usize,
    pub max_contradictions: usize,
    pub max_gaps: usize,
    /// Today, to tell what holds from what held; without it a statement with an end counts as past.
    pub today: Option<NaiveDate>,
    /// Which curvature of the retrieved graph adjusts the ranks, and by how much (λ; 0 turns it off).
    pub measure: Measure,
    pub lambda: f64,
    /// Whether statements on a shortest chain between two nodes that the question connects count as if they named both.
    pub chains: bool,
    /// Kinds of nodes, where the caller knows them; nodes of one kind are compared to see what is missing.
    pub kinds: HashMap<Uuid, String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_triples: 40,
            max_contradictions: 12,
            max_gaps: 8,
            today: None,
            measure: Measure::default(),
            lambda: DEFAULT_LAMBDA,
            chains: true,
            kinds: HashMap::new(),
        }
    }
}

/// How far curvature moves a score; chosen by the ablation in docs/verification.md.
pub const DEFAULT_LAMBDA: f64 = 0.05;

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
        let local = LocalGraph::of(triples, options.measure);
        let connects = asked.connects(self);
        let view = View {
            between: Between::of(&asked, &local, connects && options.chains),
            local: &local,
            sign: if connects { -1.0 } else { 1.0 },
        };
        let mut seen = HashSet::new();
        let mut scored: Vec<(f64, &Triple)> = triples
            .iter()
            .filter(|triple| seen.insert(triple.id))
            .map(|triple| {
                let score = rank_score(&asked, triple, &view, options);
                (score, triple)
            })
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.id.cmp(&b.1.id)));
        let ranked: Vec<RankedTriple> = scored
            .into_iter()
            .take(options.max_triples)
            .map(|(score, triple)| RankedTriple {
                score: score.clamp(0.0, 1.0) as f32,
                triple: triple.clone(),
            })
            .collect();
        let kept: Vec<&Triple> = ranked.iter().map(|ranked| &ranked.triple).collect();
        let contradictions = contradictions(&kept, facts, options.max_contradictions);
        let coverage = Coverage::measure(self, &asked, triples, &local, &options.kinds);
        Assessment {
            competence: coverage.competence(&asked),
            gaps: coverage.gaps.into_iter().take(options.max_gaps).collect(),
            mentions: found.mentions.clone(),
            triples: ranked,
            contradictions,
            today: options.today,
        }
    }
}

/// The shape of the retrieved graph, as the ranking sees it.
struct View<'l> {
    local: &'l LocalGraph,
    between: Between<'l>,
    /// +1 for a question about one thing, for which cohesive statements count more; −1 for one that connects two, for
    /// which bridges do.
    sign: f64,
}

/// relevance · (1 + λ·s·κ'). A statement on a chain that joins what the question connects keeps its relevance: that it
/// is on the chain says more than how narrow the chain is.
fn rank_score(asked: &Asked<'_>, triple: &Triple, view: &View<'_>, options: &Options) -> f64 {
    let lambda = if options.lambda.is_finite() {
        options.lambda.clamp(0.0, 1.0)
    } else {
        0.0
    };
    let relevance = f64::from(relevance(asked, triple, view, options));
    if view.between.holds(triple) {
        return relevance;
    }
    relevance * (1.0 + lambda * view.sign * view.local.squashed(triple))
}

/// 0.40 mention + 0.35 predicate + 0.15 confidence + 0.05 kind + 0.05 currency; see docs/grounding.md.
fn relevance(asked: &Asked<'_>, triple: &Triple, view: &View<'_>, options: &Options) -> f32 {
    let subject = asked.mentioned(triple.subject.id);
    let object = triple
        .object
        .node_id()
        .is_some_and(|id| asked.mentioned(id));
    let mention = match (subject, object) {
        (true, true) => 1.0,
        _ if view.between.holds(triple) => 1.0,
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
        .filter(|triple| about_mentions(asked, triple))
        .map(|triple| (asked.predicate_match(triple), triple))
        .collect();
    let best = scored
        .iter()
        .map(|(score, _)| *score)
        .fold(0.0_f32, f32::max);
    let bar = (best - 0.25).max(MATCHES);
    let mut kept: Vec<&Triple> = scored
        .into_iter()
        .filter(|(score, _)| *score >= bar)
        .map(|(_, triple)| triple)
        .collect();
    // "Was it founded in 1980?" compares years, so the founders are not the answer.
    let compares_years = asked.form == Form::YesNo && !asked.years.is_empty();
    if compares_years && kept.iter().any(|triple| is_value(&triple.object)) {
        kept.retain(|triple| is_value(&triple.object));
    }
    narrowed(asked, kept)
}

pub(crate) fn about_mentions(asked: &Asked<'_>, triple: &Triple) -> bool {
    asked.mentions.is_empty()
        || asked
            .mentions
            .iter()
            .any(|mention| triple.touches(mention.node_id))
}

/// Statements whose labels hold the names that the question gives beside mentions ("headquartered in California"),
/// where some do.
fn narrowed<'t>(asked: &Asked<'_>, answers: Vec<&'t Triple>) -> Vec<&'t Triple> {
    let names: Vec<String> = asked
        .content()
        .filter(|(at, word)| {
            word.capital
                && !word.opens
                && word.year().is_none()
                && !asked
                    .concepts
                    .iter()
                    .any(|concept| concept.words.contains(at))
        })
        .map(|(_, word)| stem(&word.plain))
        .collect();
    if names.is_empty() {
        return answers;
    }
    let holds = |triple: &&Triple| {
        let labels = label_stems(triple);
        names.iter().all(|name| labels.contains(name))
    };
    let some: Vec<&Triple> = answers.iter().copied().filter(holds).collect();
    if some.is_empty() { answers } else { some }
}

/// Stems of the words of a statement's labels.
pub(crate) fn label_stems(triple: &Triple) -> HashSet<String> {
    [
        triple.subject.label.as_str(),
        triple.object.label().as_str(),
    ]
    .into_iter()
    .flat_map(|label| words(label, 24))
    .map(|word| stem(&word.plain))
    .collect()
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
