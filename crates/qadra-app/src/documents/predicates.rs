//! Which predicate of the graph a phrase of a document means.

use std::collections::HashMap;

use qadra_epistemic::{normalize_label, predicate_keys};
use qadra_store::PredicateRow;

/// The predicates that a tenant's graph has.
pub(crate) struct Predicates {
    by_name: HashMap<String, ()>,
    /// By the phrase they are found by, the first made first.
    by_phrase: HashMap<String, String>,
}

/// A predicate, and whether subject and object change places for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) name: String,
    pub(crate) turned: bool,
}

impl Predicates {
    pub(crate) fn new(rows: &[PredicateRow]) -> Self {
        let mut rows: Vec<&PredicateRow> = rows.iter().collect();
        rows.sort_by_key(|p| p.id);
        let mut by_phrase = HashMap::new();
        for row in &rows {
            if let Some(phrase) = predicate_keys(&row.name).into_iter().next() {
                by_phrase.entry(phrase).or_insert_with(|| row.name.clone());
            }
        }
        Self {
            by_name: rows.iter().map(|p| (p.name.clone(), ())).collect(),
            by_phrase,
        }
    }

    /// In this order: the name itself; the same words in another spelling or inflection; another phrase for the same
    /// relation; the relation seen from its other end (only when the object is a node). Else it is a new one.
    pub(crate) fn choose(&self, name: &str, object_is_node: bool) -> Chosen {
        let straight = |name: String| Chosen {
            name,
            turned: false,
        };
        if self.by_name.contains_key(name) {
            return straight(name.to_owned());
        }
        let spaced = name.replace('_', " ");
        let found = |phrase: &str| self.by_phrase.get(&normalize_label(phrase)).cloned();
        if let Some(known) = found(&spaced) {
            return straight(known);
        }
        for group in SAME {
            if group.contains(&spaced.as_str())
                && let Some(known) = group.iter().find_map(|other| found(other))
            {
                return straight(known);
            }
        }
        if object_is_node {
            let turned = match spaced
                .strip_suffix(" by")
                .or_else(|| spaced.strip_suffix(" of"))
            {
                Some(base) => found(base),
                None => found(&format!("{spaced} by")).or_else(|| found(&format!("{spaced} of"))),
            };
            if let Some(name) = turned {
                return Chosen { name, turned: true };
            }
        }
        straight(name.to_owned())
    }
}

/// Phrases that say the same of the same subject and object.
const SAME: &[&[&str]] = &[
    &[
        "founded in",
        "founded in year",
        "founding year",
        "year founded",
        "established in",
        "set up in",
    ],
    &[
        "headquarters",
        "headquartered in",
        "headquartered at",
        "based in",
        "head office",
        "main office",
    ],
    &["ceo", "chief executive officer", "chief executive"],
    &["cfo", "chief financial officer"],
    &[
        "employees",
        "number of employees",
        "employs",
        "headcount",
        "staff",
    ],
    &[
        "founded by",
        "founder",
        "founders",
        "established by",
        "co founded by",
        "created by",
    ],
    &["acquired", "bought", "purchased", "took over"],
    &["acquired by", "bought by", "purchased by", "taken over by"],
    &["born in", "birthplace", "place of birth", "birth place"],
    &["born on", "date of birth", "birth date", "birthday"],
    &["died in", "place of death", "death place"],
    &["died on", "date of death", "death date"],
    &["located in", "location", "situated in", "lies in", "is in"],
    &["population", "number of inhabitants", "inhabitants"],
    &["part of", "belongs to", "member of"],
    &["owns", "owner of"],
    &["owned by", "owner"],
    &["written by", "author", "authored by"],
    &["directed by", "director"],
    &["married to", "spouse", "wife", "husband"],
    &["competes with", "competitor", "rival"],
    &["revenue", "revenues", "sales", "turnover"],
    &["net income", "net profit", "profit"],
];

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn known(names: &[&str]) -> Predicates {
        let rows: Vec<PredicateRow> = names
            .iter()
            .enumerate()
            .map(|(i, name)| PredicateRow {
                id: Uuid::from_u128(i as u128),
                name: (*name).to_owned(),
                functional: None,
                symmetric: false,
                inverse_of: None,
                exclusive_with: None,
            })
            .collect();
        Predicates::new(&rows)
    }

    #[test]
    fn a_phrase_finds_the_predicate_that_people_use() {
        let p = known(&[
            "founded_in_year",
            "headquarters",
            "ceo",
            "acquired",
            "founded_by",
        ]);
        for (name, wanted, turned) in [
            ("ceo", "ceo", false),
            ("founded_in", "founded_in_year", false),
            ("headquartered_in", "headquarters", false),
            ("acquire", "acquired", false),
            ("chief_executive_officer", "ceo", false),
            ("acquired_by", "acquired", true),
            ("ceo_of", "ceo", true),
            ("sings", "sings", false),
        ] {
            let chosen = p.choose(name, true);
            assert_eq!(
                (chosen.name.as_str(), chosen.turned),
                (wanted, turned),
                "{name}"
            );
        }
        assert_eq!(p.choose("acquired_by", false).name, "acquired_by");
        assert_eq!(
            known(&[]).choose("founded", true),
            Chosen {
                name: "founded".into(),
                turned: false
            }
        );
        assert!(known(&["founded_by"]).choose("founded", true).turned);
    }
}
