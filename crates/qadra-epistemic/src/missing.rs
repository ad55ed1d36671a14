//! What one would expect to find around a known node and does not.

use std::collections::{BTreeMap, HashMap, HashSet};

use uuid::Uuid;

use crate::asked::{Asked, is_value};
use crate::assess::{Gap, GapKind, unique};
use crate::curvature::count;
use crate::lexicon::{Concept, bare_name, concept_of, related};
use crate::local::LocalGraph;
use crate::triple::{Polarity, Triple};

/// Predicates that most of a node's siblings have and the node has not. Siblings are the other subjects of the same
/// kind: by a statement that says what they are ("is a", "instance of", "industry"), or by `kinds`.
pub(crate) fn expected_of_kind(
    asked: &Asked<'_>,
    triples: &[Triple],
    kinds: &HashMap<Uuid, String>,
    gaps: &mut Vec<Gap>,
) {
    // Only a question about the node as a whole asks for what nobody named.
    if !asked.concepts.is_empty() || asked.mentions.is_empty() {
        return;
    }
    let classes = Classes::of(triples, kinds);
    let table = Predicates::of(triples);
    for mention in unique(asked.mentions).into_iter().take(MAX_MENTIONS) {
        let siblings = classes.siblings(mention.node_id);
        if siblings.len() < MIN_SIBLINGS || !table.known(mention.node_id) {
            continue;
        }
        for (name, having) in table
            .common(&siblings)
            .into_iter()
            .filter(|(name, _)| !table.tells(mention.node_id, name))
            .take(MAX_EXPECTED)
        {
            let noun = table.noun(&name);
            gaps.push(Gap {
                text: format!("{} {noun}", mention.label),
                reason: format!(
                    "{having} of {} of the same kind have this, \"{}\" has not",
                    siblings.len(),
                    mention.label
                ),
                kind: GapKind::Expected,
            });
        }
    }
}

/// Pairs of nodes that the question connects and no chain of the retrieved statements does.
pub(crate) fn unconnected(
    asked: &Asked<'_>,
    triples: &[Triple],
    local: &LocalGraph,
    gaps: &mut Vec<Gap>,
) {
    let mentions = unique(asked.mentions);
    let mut pairs = 0;
    for (at, first) in mentions.iter().enumerate() {
        let reached = local.distances(first.node_id);
        for second in mentions.iter().skip(at + 1) {
            // Two senses of one name are no pair.
            if second.start == first.start || pairs >= MAX_PAIRS {
                continue;
            }
            // A denied statement joins nothing, but it is something that is known of the two.
            let denied = triples
                .iter()
                .any(|triple| triple.touches(first.node_id) && triple.touches(second.node_id));
            if !denied && reached.to(second.node_id).is_none() {
                pairs += 1;
                gaps.push(Gap {
                    text: format!("{} and {}", first.label, second.label),
                    reason: "no chain of the statements around them connects the two".into(),
                    kind: GapKind::Unconnected,
                });
            }
        }
    }
}

/// Nodes by what they are.
struct Classes {
    members: BTreeMap<String, HashSet<Uuid>>,
    of: HashMap<Uuid, Vec<String>>,
    subjects: HashSet<Uuid>,
}

impl Classes {
    fn of(triples: &[Triple], kinds: &HashMap<Uuid, String>) -> Self {
        let mut classes = Self {
            members: BTreeMap::new(),
            of: HashMap::new(),
            subjects: triples.iter().map(|triple| triple.subject.id).collect(),
        };
        for triple in triples {
            let says_kind = triple.polarity == Polarity::Positive
                && concept_of(&triple.predicate, is_value(&triple.object))
                    .is_some_and(|concept| matches!(concept.noun, "nodes" | "industry"));
            if says_kind {
                classes.add(triple.subject.id, triple.object.object_key());
            }
        }
        for (node, kind) in kinds {
            classes.add(*node, format!("kind:{}", kind.to_lowercase()));
        }
        classes
    }

    fn add(&mut self, node: Uuid, class: String) {
        self.members.entry(class.clone()).or_default().insert(node);
        self.of.entry(node).or_default().push(class);
    }

    /// The other subjects of the largest class that the node is in.
    fn siblings(&self, node: Uuid) -> HashSet<Uuid> {
        self.of
            .get(&node)
            .into_iter()
            .flatten()
            .filter_map(|class| self.members.get(class))
            .map(|members| {
                members
                    .iter()
                    .copied()
                    .filter(|other| *other != node && self.subjects.contains(other))
                    .collect::<HashSet<Uuid>>()
            })
            .max_by_key(HashSet::len)
            .unwrap_or_default()
    }
}

/// Which subjects have which predicates; years in names do not count.
struct Predicates {
    having: BTreeMap<String, HashSet<Uuid>>,
    concepts: HashMap<String, &'static Concept>,
    /// Rows of the lexicon that a node is told about from either end.
    told: HashMap<Uuid, Vec<&'static Concept>>,
}

impl Predicates {
    fn of(triples: &[Triple]) -> Self {
        let mut table = Self {
            having: BTreeMap::new(),
            concepts: HashMap::new(),
            told: HashMap::new(),
        };
        for triple in triples {
            let name = bare_name(&triple.predicate);
            let concept = concept_of(&triple.predicate, is_value(&triple.object));
            if let Some(concept) = concept {
                table.concepts.insert(name.clone(), concept);
                let ends = [Some(triple.subject.id), triple.object.node_id()];
                for node in ends.into_iter().flatten() {
                    table.told.entry(node).or_default().push(concept);
                }
            }
            table
                .having
                .entry(name)
                .or_default()
                .insert(triple.subject.id);
        }
        table
    }

    fn known(&self, node: Uuid) -> bool {
        self.having
            .values()
            .any(|subjects| subjects.contains(&node))
    }

    /// Predicates that at least 60 % of the nodes have, the most common first.
    fn common(&self, nodes: &HashSet<Uuid>) -> Vec<(String, usize)> {
        let mut common: Vec<(String, usize)> = self
            .having
            .iter()
            .map(|(name, subjects)| (name.clone(), subjects.intersection(nodes).count()))
            .filter(|(_, having)| count(*having) >= MOST * count(nodes.len()))
            .collect();
        common.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        common
    }

    fn tells(&self, node: Uuid, name: &str) -> bool {
        let same = self
            .having
            .get(name)
            .is_some_and(|subjects| subjects.contains(&node));
        same || self.concepts.get(name).is_some_and(|wanted| {
            self.told
                .get(&node)
                .into_iter()
                .flatten()
                .any(|told| related(told, wanted))
        })
    }

    fn noun<'n>(&'n self, name: &'n str) -> &'n str {
        self.concepts.get(name).map_or(name, |concept| concept.noun)
    }
}

const MIN_SIBLINGS: usize = 4;
const MOST: f64 = 0.6;
const MAX_EXPECTED: usize = 3;
const MAX_MENTIONS: usize = 3;
const MAX_PAIRS: usize = 3;
