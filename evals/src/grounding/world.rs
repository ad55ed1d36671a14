//! A graph in memory, cases with their relevant statements, and the scores of a setting over them.

use std::collections::{HashMap, HashSet};

use qadra_epistemic::curvature::Measure;
use qadra_epistemic::{
    Mean, NameHit, NameTarget, NodeRef, Object, Options, PredicateFacts, Question, Triple,
    identity_key, normalize_label, predicate_keys, recall_at,
};
use uuid::Uuid;

#[derive(Default)]
pub struct World {
    pub triples: Vec<Triple>,
    around: HashMap<Uuid, Vec<usize>>,
    names: HashMap<String, Vec<NameTarget>>,
    nodes: HashMap<String, Uuid>,
    predicates: HashMap<String, Uuid>,
    next: u128,
}

pub struct Case {
    pub question: String,
    pub relevant: HashSet<Uuid>,
}

#[derive(Clone, Copy)]
pub struct Setting {
    pub measure: Measure,
    pub lambda: f64,
    pub chains: bool,
}

impl World {
    /// Ids look random, as in a real graph, so that ties do not follow the order of insertion.
    fn id(&mut self) -> Uuid {
        self.next += 1;
        let mut mixed = self
            .next
            .wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        mixed ^= mixed >> 61;
        Uuid::from_u128(mixed.wrapping_mul(0x2545_F491_4F6C_DD1D_8D5F_7E3A_1B2C_4D5F))
    }

    pub fn node(&mut self, label: &str) -> Uuid {
        let identity = identity_key(label);
        if let Some(id) = self.nodes.get(&identity) {
            return *id;
        }
        let id = self.id();
        self.nodes.insert(identity, id);
        self.names
            .entry(normalize_label(label))
            .or_default()
            .push(NameTarget::Node {
                id,
                label: label.to_owned(),
            });
        id
    }

    fn predicate(&mut self, name: &str) -> Uuid {
        if let Some(id) = self.predicates.get(name) {
            return *id;
        }
        let id = self.id();
        self.predicates.insert(name.to_owned(), id);
        for key in predicate_keys(name) {
            self.names
                .entry(key)
                .or_default()
                .push(NameTarget::Predicate {
                    id,
                    name: name.to_owned(),
                });
        }
        id
    }

    pub fn add(
        &mut self,
        subject: &str,
        predicate: &str,
        object: Option<Object>,
        label: &str,
    ) -> Uuid {
        let predicate_id = self.predicate(predicate);
        let subject_id = self.node(subject);
        let object = object.unwrap_or_else(|| Object::Node {
            id: self.node(label),
            label: label.to_owned(),
        });
        let known = self
            .around
            .get(&subject_id)
            .into_iter()
            .flatten()
            .find_map(|at| {
                let triple = self.triples.get(*at)?;
                (triple.subject.id == subject_id
                    && triple.predicate == predicate
                    && triple.object.object_key() == object.object_key())
                .then_some(triple.id)
            });
        if let Some(id) = known {
            return id;
        }
        let id = self.id();
        let at = self.triples.len();
        for node in [Some(subject_id), object.node_id()].into_iter().flatten() {
            self.around.entry(node).or_default().push(at);
        }
        self.triples.push(Triple {
            id,
            subject: NodeRef {
                id: subject_id,
                label: subject.to_owned(),
            },
            predicate: predicate.to_owned(),
            predicate_id,
            object,
            polarity: Default::default(),
            confidence: 1.0,
            kind: Default::default(),
            source: None,
            valid_from: None,
            valid_to: None,
        });
        id
    }

    /// The two-hop neighbourhood, at most 200 statements a node.
    fn fetch(&self, nodes: &[Uuid]) -> Vec<Triple> {
        let mut taken: HashSet<usize> = HashSet::new();
        let mut front: Vec<Uuid> = nodes.to_vec();
        for _ in 0..2 {
            let mut next = Vec::new();
            for node in &front {
                for at in self.around.get(node).into_iter().flatten().take(200) {
                    if taken.insert(*at)
                        && let Some(triple) = self.triples.get(*at)
                    {
                        next.push(triple.subject.id);
                        next.extend(triple.object.node_id());
                    }
                }
            }
            front = next;
        }
        let mut places: Vec<usize> = taken.into_iter().collect();
        places.sort_unstable();
        places
            .into_iter()
            .filter_map(|at| self.triples.get(at).cloned())
            .collect()
    }

    pub fn ranked(&self, question: &str, setting: Setting) -> Vec<Uuid> {
        let question = Question::parse(question);
        let hits: Vec<NameHit> = question
            .lookup_keys()
            .into_iter()
            .flat_map(|key| {
                let targets = self.names.get(&key).cloned().unwrap_or_default();
                targets.into_iter().map(move |target| NameHit {
                    key: key.clone(),
                    target,
                })
            })
            .collect();
        let found = question.mentions(&hits);
        let near = self.fetch(&found.node_ids());
        let options = Options {
            measure: setting.measure,
            lambda: setting.lambda,
            chains: setting.chains,
            ..Options::default()
        };
        question
            .assess(&found, &near, &PredicateFacts::default(), &options)
            .triples
            .into_iter()
            .map(|ranked| ranked.triple.id)
            .collect()
    }

    /// Recall at each k, by case.
    pub fn recalls(&self, cases: &[Case], setting: Setting, ks: &[usize]) -> Vec<Vec<f64>> {
        let ranked: Vec<(Vec<Uuid>, &Case)> = cases
            .iter()
            .map(|case| (self.ranked(&case.question, setting), case))
            .collect();
        ks.iter()
            .map(|k| {
                ranked
                    .iter()
                    .filter_map(|(ranked, case)| recall_at(ranked, &case.relevant, *k))
                    .collect()
            })
            .collect()
    }
}

/// Mean recall, and the mean difference to a baseline over the same cases.
pub fn against(base: &[f64], other: &[f64]) -> (Mean, Mean) {
    let differences: Vec<f64> = other.iter().zip(base).map(|(a, b)| a - b).collect();
    (Mean::of(other), Mean::of(&differences))
}
