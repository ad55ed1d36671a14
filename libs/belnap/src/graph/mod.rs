//! The polarity-tagged graph of statements, and what it says about a claim.

use std::collections::{HashMap, HashSet};

use crate::claim::{Claim, Judgement, Polarity};

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

#[derive(Debug, Clone, Default)]
pub struct Graph {
    #[expect(dead_code, reason = "skeleton")]
    facts: Vec<Fact>,
    #[expect(dead_code, reason = "skeleton")]
    rules: Rules,
}

impl Graph {
    pub fn new(facts: Vec<Fact>, rules: Rules) -> Self {
        Graph { facts, rules }
    }

    /// One judgement for each claim. All claims of the text come together, because a pronoun's or a list's
    /// meaning may hang on its neighbours.
    pub fn judge(&self, _text: &str, claims: &[Claim]) -> Vec<Judgement> {
        vec![Judgement::default(); claims.len()]
    }
}
