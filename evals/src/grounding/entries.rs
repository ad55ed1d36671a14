//! Entries of statements that belong together (`{"triples": [[s, p, o], …]}` a line, as WebNLG has them) as one graph,
//! and questions made from them.

use std::collections::{BTreeMap, HashSet};

use qadra_epistemic::{Object, Parsed};
use serde_json::Value;
use uuid::Uuid;

use super::world::{Case, World};

#[derive(Default)]
pub struct Set {
    pub world: World,
    /// "Tell me about S": all statements that one entry tells together, S being its most frequent subject.
    pub about: Vec<Case>,
    /// "What is the P of S?"
    pub predicate: Vec<Case>,
    /// "How is A related to C?": the two statements that join them in one entry.
    pub connect: Vec<Case>,
}

impl Set {
    pub fn questions(&self) -> [(&'static str, &[Case]); 3] {
        [
            ("about one", &self.about),
            ("one predicate", &self.predicate),
            ("connecting two", &self.connect),
        ]
    }
}

type Row = (String, String, String, Uuid);

pub fn read(text: &str) -> Set {
    let mut set = Set::default();
    let mut entries: Vec<Vec<Row>> = Vec::new();
    for line in text.lines() {
        let Ok(entry) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let mut rows = Vec::new();
        for triple in entry
            .get("triples")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let part = |at: usize| triple.get(at).and_then(Value::as_str).unwrap_or_default();
            let (subject, object) = (plain(part(0)), plain(part(2)));
            let predicate = plain(part(1));
            let literal = match Object::parse(&Value::String(object.clone())) {
                Ok(Parsed::Literal(literal)) => Some(literal),
                _ => None,
            };
            let node = literal.is_none();
            let id = set.world.add(&subject, &predicate, literal, &object);
            let object = if node { object } else { String::new() };
            rows.push((subject, predicate, object, id));
        }
        entries.push(rows);
    }
    let mut asked: HashSet<String> = HashSet::new();
    for rows in &entries {
        if let [row] = rows.as_slice() {
            let question = format!("What is the {} of {}?", row.1, row.0);
            if asked.insert(question.clone()) {
                set.predicate.push(Case {
                    question,
                    relevant: [row.3].into(),
                });
            }
        }
        if rows.len() >= 3 {
            let mut subjects: BTreeMap<&str, usize> = BTreeMap::new();
            for row in rows {
                *subjects.entry(&row.0).or_default() += 1;
            }
            let Some((subject, _)) = subjects.into_iter().max_by_key(|(_, count)| *count) else {
                continue;
            };
            set.about.push(Case {
                question: format!("Tell me about {subject}"),
                relevant: rows.iter().map(|row| row.3).collect(),
            });
        }
        connections(rows, &mut asked, &mut set.connect);
    }
    for cases in [&mut set.about, &mut set.predicate, &mut set.connect] {
        thin(cases, 700);
    }
    set
}

fn connections(rows: &[Row], asked: &mut HashSet<String>, cases: &mut Vec<Case>) {
    for first in rows {
        for second in rows {
            let chain = first.2 == second.0 && !second.2.is_empty() && first.0 != second.2;
            let direct = rows.iter().any(|row| {
                (row.0 == first.0 && row.2 == second.2) || (row.0 == second.2 && row.2 == first.0)
            });
            let question = format!("How is {} related to {}?", first.0, second.2);
            if chain && !direct && asked.insert(question.clone()) {
                cases.push(Case {
                    question,
                    relevant: [first.3, second.3].into(),
                });
            }
        }
    }
}

/// Every so-manieth case, spread over the file.
fn thin(cases: &mut Vec<Case>, most: usize) {
    let step = cases.len().div_ceil(most).max(1);
    let mut at = 0;
    cases.retain(|_| {
        at += 1;
        (at - 1) % step == 0
    });
}

fn plain(text: &str) -> String {
    text.trim_matches('"').replace('_', " ")
}
