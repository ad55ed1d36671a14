//! A graph in memory that answers the two look-ups as the real store does.

use std::collections::HashMap;

use qadra_epistemic::{
    Answer, Assessment, Kind, NameHit, NameTarget, NodeRef, Object, Options, Parsed, Polarity,
    PredicateFacts, Question, Triple, compose_answer_in, identity_key, normalize_label,
    predicate_keys,
};
use serde_json::{Value, json};
use uuid::Uuid;

#[derive(Default)]
pub struct Graph {
    pub triples: Vec<Triple>,
    pub facts: PredicateFacts,
    names: HashMap<String, Vec<NameTarget>>,
    nodes: HashMap<String, Uuid>,
    predicates: HashMap<String, Uuid>,
    next: u128,
}

impl Graph {
    pub fn of(rows: &[Value]) -> Self {
        let mut graph = Self::default();
        for row in rows {
            graph.add(row);
        }
        graph
    }

    fn id(&mut self) -> Uuid {
        self.next += 1;
        Uuid::from_u128(self.next)
    }

    fn name(&mut self, key: String, target: NameTarget) {
        let known = self.names.entry(key).or_default();
        if !known.contains(&target) {
            known.push(target);
        }
    }

    pub fn node(&mut self, label: &str) -> Uuid {
        if let Some(id) = self.nodes.get(&identity_key(label)) {
            return *id;
        }
        let id = self.id();
        self.nodes.insert(identity_key(label), id);
        self.name(
            normalize_label(label),
            NameTarget::Node {
                id,
                label: label.to_owned(),
            },
        );
        id
    }

    pub fn alias(&mut self, label: &str, alias: &str) {
        let id = self.node(label);
        self.name(
            normalize_label(alias),
            NameTarget::Node {
                id,
                label: label.to_owned(),
            },
        );
    }

    /// A row as HTTP takes it.
    pub fn add(&mut self, row: &Value) -> Uuid {
        let text = |key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
        let subject = text("subject").unwrap();
        let predicate = text("predicate").unwrap();
        let predicate_id = match self.predicates.get(&predicate) {
            Some(id) => *id,
            None => {
                let id = self.id();
                self.predicates.insert(predicate.clone(), id);
                for key in predicate_keys(&predicate) {
                    self.name(
                        key,
                        NameTarget::Predicate {
                            id,
                            name: predicate.clone(),
                        },
                    );
                }
                id
            }
        };
        let object = match Object::parse(&row["object"]).unwrap() {
            Parsed::Literal(object) => object,
            Parsed::Node { label, .. } => {
                let id = self.node(&label);
                Object::Node { id, label }
            }
        };
        let subject = NodeRef {
            id: self.node(&subject),
            label: subject,
        };
        let id = self.id();
        self.triples.push(Triple {
            id,
            subject,
            predicate,
            predicate_id,
            object,
            polarity: if row["polarity"] == "-" {
                Polarity::Negative
            } else {
                Polarity::Positive
            },
            confidence: row["confidence"].as_f64().unwrap_or(1.0) as f32,
            kind: if row["kind"] == "claim" {
                Kind::Claim
            } else {
                Kind::Fact
            },
            source: text("source"),
            valid_from: text("valid_from").map(|day| day.parse().unwrap()),
            valid_to: text("valid_to").map(|day| day.parse().unwrap()),
        });
        id
    }

    pub fn assess(&self, question: &str, previous: &[&str]) -> Assessment {
        let question = Question::parse_in(question, previous);
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
        let nodes = found.node_ids();
        let predicates = found.predicate_ids();
        let near: Vec<Triple> = self
            .triples
            .iter()
            .filter(|triple| match nodes.is_empty() {
                true => predicates.contains(&triple.predicate_id),
                false => nodes
                    .iter()
                    .any(|id| triple.subject.id == *id || triple.object.node_id() == Some(*id)),
            })
            .cloned()
            .collect();
        let options = Options {
            today: "2026-01-15".parse().ok(),
            ..Options::default()
        };
        question.assess(&found, &near, &self.facts, &options)
    }

    pub fn ask(&self, question: &str) -> Answer {
        self.ask_in(question, &[])
    }

    pub fn ask_in(&self, question: &str, previous: &[&str]) -> Answer {
        compose_answer_in(question, previous, &self.assess(question, previous))
    }
}

pub fn triple(subject: &str, predicate: &str, object: impl Into<Value>) -> Value {
    json!({"subject": subject, "predicate": predicate, "object": object.into()})
}
