//! The polarity-tagged graph of statements, and what it says about a claim.

mod judge;
mod label;
mod link;
mod meaning;
mod mention;
mod number;
mod reading;
mod relation;
#[cfg(test)]
mod tests;
mod verdict;

use std::collections::{HashMap, HashSet};

use label::Label;
use meaning::Meaning;

use crate::claim::Polarity;

pub use verdict::verify;

/// A statement of the graph. `aliases` are other names of its subject and object.
#[derive(Debug, Clone, Default)]
pub struct Fact {
    pub subject: String,
    pub predicate: String,
    pub object: String,
    pub polarity: Polarity,
    pub confidence: f32,
    pub subject_aliases: Vec<String>,
    pub object_aliases: Vec<String>,
}

/// How predicates behave, by name.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// At most one object for a subject at a time.
    pub functional: HashSet<String>,
    pub symmetric: HashSet<String>,
    pub inverse: HashMap<String, String>,
    pub exclusive: Vec<(String, String)>,
}

/// Statements, with their names and predicates analysed once.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    facts: Vec<Fact>,
    rules: Rules,
    labels: Vec<Label>,
    meanings: Vec<Meaning>,
    keys: Vec<Keys>,
}

/// What a fact is made of, by number.
#[derive(Debug, Clone)]
struct Keys {
    /// Labels of the subject: its name and its aliases.
    subjects: Vec<usize>,
    objects: Vec<usize>,
    meaning: usize,
    /// Meaning of the predicate that says the same from the other end.
    inverse: Option<usize>,
    /// Meanings of predicates that cannot hold beside this one.
    exclusive: Vec<usize>,
}

impl Graph {
    pub fn new(facts: Vec<Fact>, rules: Rules) -> Self {
        let mut graph = Graph::default();
        let mut names: HashMap<String, usize> = HashMap::new();
        let mut predicates: HashMap<String, usize> = HashMap::new();
        let mut keys = Vec::with_capacity(facts.len());
        for fact in &facts {
            let mut number = |name: &String| {
                *names.entry(name.clone()).or_insert_with(|| {
                    graph.labels.push(Label::new(name));
                    graph.labels.len() - 1
                })
            };
            let subjects = std::iter::once(&fact.subject)
                .chain(&fact.subject_aliases)
                .map(&mut number)
                .collect();
            let objects = std::iter::once(&fact.object)
                .chain(&fact.object_aliases)
                .map(&mut number)
                .collect();
            let mut meaning_of = |name: &str| match predicates.get(name) {
                Some(&known) => known,
                None => {
                    let mut meaning = Meaning::new(name);
                    meaning.symmetric |= rules.symmetric.contains(name);
                    graph.meanings.push(meaning);
                    predicates.insert(name.to_string(), graph.meanings.len() - 1);
                    graph.meanings.len() - 1
                }
            };
            let predicate = fact.predicate.as_str();
            let backward = rules
                .inverse
                .iter()
                .find(|(_, b)| *b == predicate)
                .map(|(a, _)| a);
            let excluded = rules.exclusive.iter().filter_map(|(a, b)| match predicate {
                p if p == a => Some(b),
                p if p == b => Some(a),
                _ => None,
            });
            keys.push(Keys {
                subjects,
                objects,
                meaning: meaning_of(predicate),
                inverse: rules
                    .inverse
                    .get(predicate)
                    .or(backward)
                    .map(|p| meaning_of(p)),
                exclusive: excluded.map(|p| meaning_of(p)).collect(),
            });
        }
        for (id, core) in graph
            .meanings
            .iter_mut()
            .flat_map(|m| &mut m.cores)
            .enumerate()
        {
            core.id = id;
        }
        graph.keys = keys;
        graph.facts = facts;
        graph.rules = rules;
        graph
    }
}
