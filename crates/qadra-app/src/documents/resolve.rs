//! Which node a name in a document means. The rules and their scores are explained in `docs/documents.md`.

use std::collections::{HashMap, HashSet};

use qadra_epistemic::{identity_key, normalize_label};
use uuid::Uuid;

/// The names of the graph, as far as they were fetched, and of the document so far.
#[derive(Default)]
pub(crate) struct Names {
    by_identity: HashMap<String, Uuid>,
    by_bare: HashMap<String, Vec<Uuid>>,
    by_key: HashMap<String, Vec<Uuid>>,
    by_initials: HashMap<String, Vec<Uuid>>,
    /// Nodes by each word of their names.
    by_word: HashMap<String, Vec<Uuid>>,
    /// Every name of a node, as words.
    words: HashMap<Uuid, Vec<Vec<String>>>,
    labels: HashMap<Uuid, String>,
    /// Short forms that the document itself explains: "International Business Machines (IBM)".
    explained: HashMap<String, String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Resolved {
    /// This node. `alias` is true when the name is new to it.
    Sure {
        node: Uuid,
        alias: bool,
    },
    /// A node of its own for now, and a question to people.
    Unsure {
        node: Uuid,
        score: f32,
        reasons: Vec<String>,
    },
    New,
}

/// More nodes than this for one word say nothing.
const COMMON: usize = 20;
/// Below it nobody is asked.
const ASK: f32 = 0.6;

impl Names {
    pub(crate) fn add(&mut self, node: Uuid, name: &str) {
        let identity = identity_key(name);
        let bare = bare(&identity);
        push(&mut self.by_bare, bare.join(" "), node);
        push(&mut self.by_key, normalize_label(name), node);
        if let Some(initials) = initials(&bare) {
            push(&mut self.by_initials, initials, node);
        }
        for word in &bare {
            push(&mut self.by_word, word.clone(), node);
        }
        self.words.entry(node).or_default().push(bare);
        self.labels
            .entry(node)
            .or_insert_with(|| name.trim().to_owned());
        // The first that has it keeps it: labels are added before aliases.
        self.by_identity.entry(identity).or_insert(node);
    }

    /// Notes the short forms that a text explains.
    pub(crate) fn explain(&mut self, text: &str) {
        for (long, short) in explanations(text) {
            self.explained
                .insert(identity_key(&short), identity_key(&long));
        }
    }

    pub(crate) fn label(&self, node: Uuid) -> Option<&str> {
        self.labels.get(&node).map(String::as_str)
    }

    pub(crate) fn resolve(&self, name: &str) -> Resolved {
        let identity = identity_key(name);
        if let Some(node) = self.by_identity.get(&identity) {
            return Resolved::Sure {
                node: *node,
                alias: false,
            };
        }
        if let Some(long) = self.explained.get(&identity)
            && let Some(node) = self.by_identity.get(long)
        {
            return Resolved::Sure {
                node: *node,
                alias: true,
            };
        }
        if let Some((short, _)) = self.explained.iter().find(|(_, long)| **long == identity)
            && let Some(node) = self.by_identity.get(short)
        {
            return Resolved::Sure {
                node: *node,
                alias: true,
            };
        }
        let words = bare(&identity);
        if words.is_empty() {
            return Resolved::New;
        }
        match self.by_bare.get(&words.join(" ")).map(Vec::as_slice) {
            Some([node]) => {
                return Resolved::Sure {
                    node: *node,
                    alias: true,
                };
            }
            Some([node, ..]) => {
                return Resolved::Unsure {
                    node: *node,
                    score: 0.65,
                    reasons: vec![
                        "several things have this name without its legal form or article".into(),
                    ],
                };
            }
            _ => {}
        }
        // Words that name no single thing ("growth", "the second quarter") are not guessed at.
        if !is_proper(name) {
            return Resolved::New;
        }
        self.nearest(name, &words)
            .map_or(Resolved::New, |(node, score, reasons)| Resolved::Unsure {
                node,
                score,
                reasons,
            })
    }

    fn nearest(&self, name: &str, words: &[String]) -> Option<(Uuid, f32, Vec<String>)> {
        let mut found: Vec<(Uuid, f32, String)> = Vec::new();
        let label = |node: &Uuid| self.labels.get(node).cloned().unwrap_or_default();
        for node in self
            .by_key
            .get(&normalize_label(name))
            .into_iter()
            .flatten()
        {
            found.push((*node, 0.7, "the names differ by an ending only".into()));
        }
        if is_acronym(name)
            && let [short] = words
        {
            for node in self.by_initials.get(short).into_iter().flatten() {
                found.push((
                    *node,
                    0.8,
                    format!("“{name}” are the initials of “{}”", label(node)),
                ));
            }
        }
        if let Some(short) = initials(words) {
            for node in self.by_word.get(&short).into_iter().flatten() {
                let whole = self
                    .words
                    .get(node)
                    .is_some_and(|names| names.contains(&vec![short.clone()]));
                if whole {
                    found.push((
                        *node,
                        0.8,
                        format!("“{}” are the initials of “{name}”", label(node)),
                    ));
                }
            }
        }
        let near: HashSet<Uuid> = words
            .iter()
            .filter_map(|w| self.by_word.get(w))
            .filter(|nodes| nodes.len() <= COMMON)
            .flatten()
            .copied()
            .collect();
        for node in near {
            for other in self.words.get(&node).into_iter().flatten() {
                if let Some((score, reason)) = likeness(words, other) {
                    found.push((
                        node,
                        score,
                        format!("{reason}: “{name}” and “{}”", label(&node)),
                    ));
                }
            }
        }
        // The best score; of several nodes with it, none is more likely than another.
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let (node, mut score, _) = found.first()?.clone();
        let rivals: HashSet<Uuid> = found.iter().filter(|f| f.1 >= score).map(|f| f.0).collect();
        let mut reasons: Vec<String> = found
            .iter()
            .filter(|f| f.0 == node)
            .map(|f| f.2.clone())
            .collect();
        reasons.dedup();
        if rivals.len() > 1 {
            score -= 0.1;
            reasons.push(format!("{} things are as near", rivals.len()));
        }
        (score >= ASK - 0.101 && rivals.len() <= 3).then_some((node, score, reasons))
    }
}

fn push(map: &mut HashMap<String, Vec<Uuid>>, key: String, node: Uuid) {
    let nodes = map.entry(key).or_default();
    if !nodes.contains(&node) {
        nodes.push(node);
    }
}

/// How two names that share a word may be one; `None` when nothing speaks for it.
fn likeness(a: &[String], b: &[String]) -> Option<(f32, &'static str)> {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short == long {
        return None;
    }
    // J. Smith and John Smith; John F. Kennedy and John Fitzgerald Kennedy.
    if short.len() == long.len() && short.len() >= 2 && short.last() == long.last() {
        let fits = |(x, y): (&String, &String)| {
            x == y
                || (x.chars().count() == 1 && y.starts_with(x.as_str()))
                || (y.chars().count() == 1 && x.starts_with(y.as_str()))
        };
        if short.iter().zip(long).all(fits) {
            return Some((0.75, "initials and first names that fit"));
        }
    }
    if short.len() < long.len() {
        let middle = short.len() >= 2
            && short.first() == long.first()
            && short.last() == long.last()
            && short.iter().all(|w| long.contains(w));
        if middle {
            return Some((0.75, "one name has middle parts that the other leaves out"));
        }
        let end = long.ends_with(short) || long.starts_with(short);
        let telling = short.iter().map(|w| w.chars().count()).sum::<usize>() >= 4;
        if end && telling {
            return Some((0.6, "one name is the beginning or end of the other"));
        }
    }
    if short.len() == long.len() {
        let differing: Vec<(&String, &String)> =
            short.iter().zip(long).filter(|(x, y)| x != y).collect();
        if let [(x, y)] = differing.as_slice()
            && x.chars().count().min(y.chars().count()) >= 5
            && strsim::damerau_levenshtein(x, y) == 1
            && !x.chars().chain(y.chars()).any(char::is_numeric)
        {
            return Some((0.7, "one letter differs"));
        }
    }
    None
}

/// Words of a name without a leading article and trailing legal forms.
fn bare(identity: &str) -> Vec<String> {
    const LEGAL: &[&str] = &[
        "inc",
        "incorporated",
        "corp",
        "corporation",
        "co",
        "company",
        "ltd",
        "limited",
        "llc",
        "llp",
        "lp",
        "plc",
        "ag",
        "gmbh",
        "kg",
        "sa",
        "sas",
        "sarl",
        "spa",
        "srl",
        "nv",
        "bv",
        "ab",
        "oy",
        "as",
        "asa",
        "kk",
        "pte",
        "pty",
    ];
    let mut words: Vec<&str> = identity.split(' ').filter(|w| !w.is_empty()).collect();
    if words.len() > 1 && matches!(words.first(), Some(&("the" | "a" | "an"))) {
        words.remove(0);
    }
    while words.len() > 1 && words.last().is_some_and(|w| LEGAL.contains(w)) {
        words.pop();
    }
    words.into_iter().map(str::to_owned).collect()
}

/// First letters of the words that count, of names of at least two such words.
fn initials(words: &[String]) -> Option<String> {
    let letters: String = words
        .iter()
        .filter(|w| {
            !matches!(
                w.as_str(),
                "of" | "and" | "the" | "for" | "in" | "on" | "de" | "to"
            )
        })
        .filter_map(|w| w.chars().next())
        .filter(|c| c.is_alphabetic())
        .collect();
    (2..=8)
        .contains(&letters.chars().count())
        .then_some(letters)
}

fn is_acronym(name: &str) -> bool {
    let letters: Vec<char> = name.chars().filter(|c| *c != '.').collect();
    (2..=8).contains(&letters.len()) && letters.iter().all(|c| c.is_uppercase())
}

/// Written as a name: every word that counts begins with a capital or a digit.
fn is_proper(name: &str) -> bool {
    let mut any = false;
    for word in name.split_whitespace() {
        let Some(first) = word.chars().find(|c| c.is_alphanumeric()) else {
            continue;
        };
        let small = matches!(
            word.to_lowercase().as_str(),
            "of" | "and" | "the" | "for" | "in" | "on" | "de" | "von" | "van" | "der" | "la" | "le"
        );
        if !small {
            if !first.is_uppercase() && !first.is_numeric() {
                return false;
            }
            any |= first.is_uppercase();
        }
    }
    any
}

/// "Long Name (LN)" and its reverse is not looked for: a bracket after a short form may hold anything.
fn explanations(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('(') {
        let (before, after) = (
            rest.get(..open).unwrap_or_default(),
            rest.get(open + 1..).unwrap_or_default(),
        );
        if let Some(close) = after.find(')')
            && let Some(inside) = after.get(..close)
            && is_acronym(inside.trim().trim_matches(['“', '”', '"']))
        {
            let short = inside.trim().trim_matches(['“', '”', '"']);
            let letters = short.chars().filter(|c| c.is_alphabetic()).count();
            let words: Vec<&str> = before
                .rsplit(['.', ',', ';', ':', '\n', '('])
                .next()
                .unwrap_or_default()
                .split_whitespace()
                .collect();
            // From the fewest words whose initials fit.
            for take in 2..=(letters * 2).min(words.len()) {
                let long = words
                    .get(words.len() - take..)
                    .unwrap_or_default()
                    .join(" ");
                let wanted = short.replace('.', "").to_lowercase();
                if initials(&bare(&identity_key(&long))).as_deref() == Some(wanted.as_str()) {
                    found.push((long, short.to_owned()));
                    break;
                }
            }
        }
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[&str]) -> (Names, Vec<Uuid>) {
        let mut names = Names::default();
        let ids: Vec<Uuid> = all
            .iter()
            .enumerate()
            .map(|(i, name)| {
                let id = Uuid::from_u128(i as u128 + 1);
                names.add(id, name);
                id
            })
            .collect();
        (names, ids)
    }

    #[test]
    fn case_legal_forms_and_articles_are_no_difference() {
        let (names, ids) = names(&["Apple", "The New York Times Company", "Novo Nordisk A/S"]);
        let sure = |node, alias| Resolved::Sure { node, alias };
        assert_eq!(names.resolve("APPLE"), sure(ids[0], false));
        assert_eq!(names.resolve("Apple Inc."), sure(ids[0], true));
        assert_eq!(names.resolve("New York Times"), sure(ids[1], true));
        assert_eq!(names.resolve("Pear"), Resolved::New);
    }

    #[test]
    fn what_may_be_the_same_is_a_question_with_its_reason() {
        let (names, ids) = names(&[
            "International Business Machines",
            "Tim Cook",
            "Samsung Electronics",
            "Windows",
        ]);
        for (name, node, words) in [
            ("IBM", ids[0], "initials"),
            ("T. Cook", ids[1], "initials and first names"),
            ("Timothy Donald Cook", ids[1], ""),
            ("Samsung", ids[2], "beginning"),
            ("Samsung Elektronics", ids[2], "one letter"),
            ("Window", ids[3], "ending"),
        ] {
            match names.resolve(name) {
                Resolved::Unsure {
                    node: found,
                    score,
                    reasons,
                } => {
                    assert_eq!(found, node, "{name}");
                    assert!((0.4..0.9).contains(&score), "{name} {score}");
                    assert!(
                        reasons.iter().any(|r| r.contains(words)),
                        "{name} {reasons:?}"
                    );
                }
                other => assert_eq!(words, "", "{name} is {other:?}"),
            }
        }
    }

    #[test]
    fn a_short_form_that_the_document_explains_is_sure() {
        let (mut names, ids) = names(&["International Business Machines"]);
        names.explain("It was sold to International Business Machines (IBM), which kept it.");
        assert_eq!(
            names.resolve("IBM"),
            Resolved::Sure {
                node: ids[0],
                alias: true
            }
        );
    }

    #[test]
    fn common_words_are_never_guessed_at() {
        let (names, _) = names(&["Revenue Growth", "Quarterly Report", "Tim Cook"]);
        assert_eq!(names.resolve("growth"), Resolved::New);
        assert_eq!(names.resolve("the report"), Resolved::New);
        assert_eq!(names.resolve(""), Resolved::New);
        assert_eq!(names.resolve("…"), Resolved::New);
    }

    #[test]
    fn two_candidates_are_less_likely_than_one() {
        let (names, _) = names(&["John Smith", "Jane Smith"]);
        match names.resolve("J. Smith") {
            Resolved::Unsure { score, reasons, .. } => {
                assert!(score < 0.7, "{score}");
                assert!(
                    reasons.iter().any(|r| r.contains("2 things")),
                    "{reasons:?}"
                );
            }
            other => panic!("{other:?}"),
        }
    }
}
