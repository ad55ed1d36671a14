//! Sentences under construction: grouping of statements, hedges, disagreements, citation numbers.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use super::{Answer, Citation};
use crate::asked::is_value;
use crate::assess::Assessment;
use crate::lexicon::{concept_of, name_year};
use crate::phrase::{Clause, clean};
use crate::triple::{Kind, Polarity, Triple};

pub(super) struct Draft<'a> {
    assessment: &'a Assessment,
    parts: Vec<String>,
    citations: Vec<Citation>,
    numbers: HashMap<Uuid, usize>,
    told: HashSet<Uuid>,
    contested: HashSet<Uuid>,
    lead: Option<&'static str>,
    /// Whether the question asks when.
    dated: bool,
}

impl<'a> Draft<'a> {
    pub(super) fn new(assessment: &'a Assessment, dated: bool) -> Self {
        let contested = assessment
            .contradictions
            .iter()
            .flat_map(|pair| [pair.a.id, pair.b.id])
            .collect();
        Self {
            assessment,
            parts: Vec::new(),
            citations: Vec::new(),
            numbers: HashMap::new(),
            told: HashSet::new(),
            contested,
            lead: None,
            dated,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn is_contested(&self, id: Uuid) -> bool {
        self.contested.contains(&id)
    }

    pub(super) fn say(&mut self, sentence: String) {
        self.parts.push(sentence);
    }

    /// A word before the next sentence.
    pub(super) fn lead(&mut self, word: &'static str) {
        self.lead = Some(word);
    }

    pub(super) fn tell(&mut self, triples: &[&'a Triple]) {
        self.tell_some(triples, MAX_SENTENCES);
    }

    /// Tells statements in their order, at most `limit` sentences.
    pub(super) fn tell_some(&mut self, triples: &[&'a Triple], limit: usize) {
        let fresh: Vec<&Triple> = triples
            .iter()
            .copied()
            .filter(|triple| self.told.insert(triple.id))
            .collect();
        for group in self.grouped(&fresh).into_iter().take(limit) {
            match group {
                Group::Agreed(members) => self.sentence(&members),
                Group::Contested(members) => self.disagreement(&members),
            }
        }
    }

    /// Statements that several subjects share, told once for all of them.
    pub(super) fn tell_shared(&mut self, triples: &[&'a Triple]) {
        let mut groups: Vec<Vec<&Triple>> = Vec::new();
        for triple in triples
            .iter()
            .copied()
            .filter(|triple| self.told.insert(triple.id))
        {
            let place = groups.iter().position(|group| {
                group.first().is_some_and(|first| {
                    first.predicate == triple.predicate
                        && first.object == triple.object
                        && first.polarity == triple.polarity
                })
            });
            match place.and_then(|at| groups.get_mut(at)) {
                Some(group) => group.push(triple),
                None => groups.push(vec![triple]),
            }
        }
        for group in groups.into_iter().take(MAX_SENTENCES) {
            self.sentence(&group);
        }
    }

    fn sentence(&mut self, members: &[&Triple]) {
        let Some(first) = members.first() else { return };
        let clause = Clause {
            triples: members.to_vec(),
            past: self.is_past(first),
            dated: self.dated,
        }
        .render();
        if clause.is_empty() {
            return;
        }
        let marks: String = members
            .iter()
            .take(MAX_MARKS)
            .map(|triple| self.mark(triple.id))
            .collect();
        let hedge = hedge(first);
        let lead = self
            .lead
            .take()
            .map(|word| format!("{word} "))
            .unwrap_or_default();
        self.parts.push(format!("{lead}{hedge}{clause} {marks}."));
    }

    fn disagreement(&mut self, members: &[&Triple]) {
        let told: Vec<String> = members
            .iter()
            .take(MAX_VALUES)
            .map(|triple| {
                let clause = Clause {
                    triples: vec![triple],
                    past: self.is_past(triple),
                    dated: self.dated,
                }
                .render();
                let source = triple
                    .source
                    .as_deref()
                    .map(|source| format!(" ({})", clean(source)))
                    .unwrap_or_default();
                format!("{clause}{source} {}", self.mark(triple.id))
            })
            .collect();
        self.lead = None;
        self.parts
            .push(format!("Sources disagree: {}.", told.join("; but ")));
    }

    fn is_past(&self, triple: &Triple) -> bool {
        name_year(&triple.predicate).is_some() || triple.is_past(self.assessment.today)
    }

    /// The citation marker of a statement, numbered by first use.
    pub(super) fn mark(&mut self, id: Uuid) -> String {
        let next = self.citations.len() + 1;
        let n = *self.numbers.entry(id).or_insert(next);
        if n == next {
            self.citations.push(Citation { n, triple_id: id });
        }
        format!("[{n}]")
    }

    /// Groups statements that one sentence can tell; order of first appearance.
    fn grouped<'t>(&self, triples: &[&'t Triple]) -> Vec<Group<'t>> {
        let ids: HashSet<Uuid> = triples.iter().map(|triple| triple.id).collect();
        let in_conflict: HashSet<Uuid> = self
            .assessment
            .contradictions
            .iter()
            .filter(|pair| ids.contains(&pair.a.id) && ids.contains(&pair.b.id))
            .flat_map(|pair| [pair.a.id, pair.b.id])
            .collect();
        let mentioned = |id: Uuid| {
            self.assessment
                .mentions
                .iter()
                .any(|mention| mention.node_id == id)
        };
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut groups: Vec<Group<'t>> = Vec::new();
        for triple in triples {
            let contested = in_conflict.contains(&triple.id);
            let key = if contested {
                format!("contested {} {}", triple.subject.id, concept_key(triple))
            } else {
                let from_object =
                    triple.object.node_id().is_some_and(mentioned) && !mentioned(triple.subject.id);
                let fixed = if from_object {
                    triple.object.object_key()
                } else {
                    triple.subject.id.to_string()
                };
                let single = if is_value(&triple.object) || !triple.object.label().len().lt(&200) {
                    triple.id.to_string()
                } else {
                    String::new()
                };
                let hedge = hedge(triple);
                let single = if self.dated && triple.has_validity() {
                    triple.id.to_string()
                } else {
                    single
                };
                format!(
                    "{} {from_object} {fixed} {single} {} {hedge} {}",
                    concept_key(triple),
                    triple.polarity == Polarity::Positive,
                    self.is_past(triple)
                )
            };
            let at = *places.entry(key).or_insert(groups.len());
            match groups.get_mut(at) {
                Some(Group::Agreed(members) | Group::Contested(members)) => members.push(triple),
                None if contested => groups.push(Group::Contested(vec![triple])),
                None => groups.push(Group::Agreed(vec![triple])),
            }
        }
        groups
    }

    pub(super) fn finish(self) -> Answer {
        Answer {
            text: self.parts.join(" "),
            citations: self.citations,
        }
    }
}

enum Group<'t> {
    Agreed(Vec<&'t Triple>),
    /// Members of one contradiction.
    Contested(Vec<&'t Triple>),
}

fn concept_key(triple: &Triple) -> String {
    match concept_of(&triple.predicate, is_value(&triple.object)) {
        Some(concept) => format!("{}{:?}", concept.says, name_year(&triple.predicate)),
        None => triple.predicate.clone(),
    }
}

/// Whether a statement is told with a hedge.
pub(super) fn is_doubtful(triple: &Triple) -> bool {
    !hedge(triple).is_empty()
}

/// How a statement that is only a claim, or is not trusted, is introduced.
fn hedge(triple: &Triple) -> String {
    let doubtful = triple.confidence < DOUBTFUL || triple.confidence.is_nan();
    match (triple.kind, &triple.source) {
        (Kind::Fact, _) if !doubtful => String::new(),
        (_, Some(source)) if !source.trim().is_empty() => {
            format!("According to {}, ", clean(source))
        }
        (Kind::Claim, _) if !doubtful => "It is said that ".into(),
        _ => "It is said, with low confidence, that ".into(),
    }
}

const DOUBTFUL: f32 = 0.5;
const MAX_SENTENCES: usize = 8;
const MAX_MARKS: usize = 12;
const MAX_VALUES: usize = 6;
