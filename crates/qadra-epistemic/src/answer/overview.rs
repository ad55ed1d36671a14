//! Answers that no single predicate gives: introductions, comparisons, connections, and not knowing.

use std::collections::HashSet;

use uuid::Uuid;

use super::draft::Draft;
use super::{Composer, year_of};
use crate::asked::is_value;
use crate::assess::unique;
use crate::lexicon::{concept_of, related};
use crate::phrase::clean;
use crate::triple::Triple;

impl<'a> Composer<'a> {
    pub(super) fn compares(&self) -> bool {
        self.asked.has_word(&[
            "compare",
            "compared",
            "comparison",
            "difference",
            "differences",
            "differ",
            "versus",
            "vs",
            "bigger",
            "larger",
            "better",
            "smaller",
        ])
    }

    /// How nodes are connected: by a statement, or by something that they share.
    pub(super) fn connects(&self, draft: &mut Draft<'a>) -> bool {
        let linking: Vec<&Triple> = self.triples().filter(|triple| self.links(triple)).collect();
        let mut shared: Vec<&Triple> = self
            .triples()
            .filter(|triple| {
                self.asked.mentioned(triple.subject.id) && triple.object.node_id().is_some()
            })
            .filter(|triple| {
                self.triples().any(|other| {
                    other.subject.id != triple.subject.id
                        && self.asked.mentioned(other.subject.id)
                        && other.predicate == triple.predicate
                        && other.polarity == triple.polarity
                        && other.object == triple.object
                })
            })
            .collect();
        // In the order in which the question names them.
        shared.sort_by_key(|triple| {
            self.asked
                .mentions
                .iter()
                .position(|mention| mention.node_id == triple.subject.id)
        });
        draft.tell(&linking);
        draft.tell_shared(&shared);
        !linking.is_empty() || !shared.is_empty()
    }

    /// What is known of all the mentioned nodes, one predicate after the other.
    pub(super) fn side_by_side(&self, draft: &mut Draft<'a>) {
        let mentions = unique(&self.assessment.mentions);
        let mut told = 0;
        for noun in INTRODUCTION {
            let of = |node: Uuid| {
                self.triples()
                    .filter(|triple| {
                        triple.subject.id == node
                            && !self.is_over(triple)
                            && noun_of(triple) == Some(*noun)
                    })
                    .collect::<Vec<_>>()
            };
            let sides: Vec<Vec<&Triple>> = mentions
                .iter()
                .map(|mention| newest(of(mention.node_id)))
                .collect();
            if told < MAX_COMPARED && sides.iter().all(|side| !side.is_empty()) {
                told += 1;
                for side in sides {
                    draft.tell_some(&side, 1);
                }
            }
        }
        if told == 0 {
            self.summarise(draft);
        }
    }

    /// The mentioned nodes in a few sentences, in the order in which one would introduce them.
    pub(super) fn summarise(&self, draft: &mut Draft<'a>) {
        let mentions = unique(&self.assessment.mentions);
        let each = if mentions.len() > 1 { 3 } else { 6 };
        for mention in mentions.into_iter().take(4) {
            let about = self.introduction(mention.node_id);
            draft.tell_some(&about, each);
        }
    }

    pub(super) fn unknown(&self, draft: &mut Draft<'a>) {
        let gaps = self.gap_names();
        let mentions = unique(&self.assessment.mentions);
        draft.say(match (gaps.is_empty(), mentions.first()) {
            (false, _) => format!("I don't know: the facts of this workspace say nothing about {gaps}."),
            (true, Some(mention)) => format!("I don't know: the facts of this workspace say nothing that answers this about {}.", clean(&mention.label)),
            (true, None) => "I don't know what this is about: name something that the facts of this workspace may hold.".to_owned(),
        });
        for mention in mentions.into_iter().take(2) {
            // The same figure of another year is nearer than anything else.
            let near: Vec<&Triple> = self
                .triples()
                .filter(|triple| triple.touches(mention.node_id))
                .filter(|triple| {
                    concept_of(&triple.predicate, is_value(&triple.object)).is_some_and(|concept| {
                        self.asked
                            .concepts
                            .iter()
                            .any(|asked| related(asked.concept, concept))
                    })
                })
                .collect();
            let about = if near.is_empty() {
                self.introduction(mention.node_id)
            } else {
                near
            };
            if !about.is_empty() {
                draft.say(format!("What they do say about {}:", clean(&mention.label)));
                draft.tell_some(&about, 2);
            }
        }
    }

    /// Statements about a node in the order of an introduction; what is over only where the node was its object.
    fn introduction(&self, node: Uuid) -> Vec<&'a Triple> {
        let mut about: Vec<&Triple> = self
            .triples()
            .filter(|triple| {
                triple.touches(node) && (!self.is_over(triple) || triple.subject.id != node)
            })
            .collect();
        about.sort_by_key(|triple| introduction_order(triple, node));
        // Of a yearly figure only the newest.
        let mut seen: HashSet<(Uuid, &str)> = HashSet::new();
        about.retain(|triple| {
            match (
                is_value(&triple.object) && year_of(triple).is_some(),
                noun_of(triple),
            ) {
                (true, Some(noun)) => seen.insert((triple.subject.id, noun)),
                _ => true,
            }
        });
        about
    }

    fn is_over(&self, triple: &Triple) -> bool {
        triple.is_past(self.assessment.today) && !triple.is_snapshot() && !is_value(&triple.object)
    }
}

/// Of figures over years the newest; anything else whole.
fn newest(side: Vec<&Triple>) -> Vec<&Triple> {
    let last = side
        .iter()
        .filter(|triple| is_value(&triple.object))
        .filter_map(|triple| year_of(triple))
        .max();
    side.into_iter()
        .filter(|triple| !is_value(&triple.object) || last.is_none() || year_of(triple) == last)
        .collect()
}

fn noun_of(triple: &Triple) -> Option<&'static str> {
    concept_of(&triple.predicate, is_value(&triple.object)).map(|concept| concept.noun)
}

/// Place of a statement in an introduction: by the table below, then newest figures, what the node does before what
/// is done with it.
fn introduction_order(triple: &Triple, about: Uuid) -> (usize, bool, i32) {
    let place = match noun_of(triple) {
        Some(noun) => INTRODUCTION
            .iter()
            .position(|known| *known == noun)
            .unwrap_or(INTRODUCTION.len()),
        None => INTRODUCTION.len() + 1,
    };
    (
        place,
        triple.subject.id != about,
        year_of(triple).map_or(0, i32::wrapping_neg),
    )
}

const MAX_COMPARED: usize = 5;

const INTRODUCTION: &[&str] = &[
    "description",
    "nodes",
    "industry",
    "founding year",
    "founders",
    "headquarters",
    "CEO",
    "co-CEOs",
    "products",
    "revenue",
    "number of employees",
    "parent company",
    "makers",
    "acquirer",
    "subsidiaries",
    "acquisitions",
    "year of acquisition",
];
