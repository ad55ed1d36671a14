//! A parsed sentence with its children listed, and the few repairs that names need.

use ud::{Sentence, Token, Upos};

use super::lemma;

mod mend;

/// Words are numbered from 0 here.
pub(crate) struct Tree<'a> {
    pub text: &'a str,
    pub number: usize,
    pub tokens: &'a [Token],
    heads: Vec<Option<usize>>,
    relations: Vec<&'a str>,
    children: Vec<Vec<usize>>,
    lemmas: Vec<String>,
    tags: Vec<Upos>,
    /// Whether the word stands inside a compound predicate of its own: it has a copula or a subject.
    predicates: Vec<bool>,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(text: &'a str, number: usize, sentence: &'a Sentence) -> Self {
        let tokens = sentence.tokens.as_slice();
        let n = tokens.len();
        let mut tree = Tree {
            text,
            number,
            tokens,
            heads: tokens
                .iter()
                .map(|t| t.head.checked_sub(1).filter(|h| *h < n))
                .collect(),
            relations: tokens.iter().map(|t| &*t.deprel).collect(),
            children: vec![Vec::new(); n],
            lemmas: tokens
                .iter()
                .map(|t| match t.upos {
                    Upos::Verb => lemma::verb(&t.form.to_lowercase(), t.lemma.to_lowercase()),
                    _ if t.form.eq_ignore_ascii_case("headquarters") => "headquarters".to_string(),
                    _ => t.lemma.to_lowercase(),
                })
                .collect(),
            tags: tokens.iter().map(|t| t.upos).collect(),
            predicates: vec![false; n],
        };
        tree.find_verb();
        tree.join_names();
        tree.mend_clauses();
        for i in 0..n {
            if let Some(h) = tree.heads[i] {
                tree.children[h].push(i);
            }
        }
        for i in 0..n {
            tree.predicates[i] = tree.children[i]
                .iter()
                .any(|&k| matches!(tree.base(k), "cop" | "nsubj" | "csubj" | "expl"));
        }
        tree
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(crate) fn relation(&self, i: usize) -> &'a str {
        self.relations[i]
    }

    /// The relation without its subtype.
    pub(crate) fn base(&self, i: usize) -> &'a str {
        self.relations[i].split(':').next().unwrap_or_default()
    }

    pub(crate) fn head(&self, i: usize) -> Option<usize> {
        self.heads[i]
    }

    pub(crate) fn children(&self, i: usize) -> &[usize] {
        &self.children[i]
    }

    /// Children with this relation, or any of its subtypes if it has none itself.
    pub(crate) fn having<'s>(
        &'s self,
        i: usize,
        relation: &'s str,
    ) -> impl Iterator<Item = usize> + 's {
        self.children[i].iter().copied().filter(move |&k| {
            if relation.contains(':') {
                self.relation(k) == relation
            } else {
                self.base(k) == relation
            }
        })
    }

    pub(crate) fn first(&self, i: usize, relation: &str) -> Option<usize> {
        self.having(i, relation).next()
    }

    pub(crate) fn lemma(&self, i: usize) -> &str {
        &self.lemmas[i]
    }

    pub(crate) fn form(&self, i: usize) -> &str {
        &self.tokens[i].form
    }

    pub(crate) fn upos(&self, i: usize) -> Upos {
        self.tags[i]
    }

    pub(crate) fn feat(&self, i: usize, name: &str) -> Option<&str> {
        self.tokens[i].feat(name)
    }

    pub(crate) fn margin(&self, i: usize) -> f32 {
        self.tokens[i].margin
    }

    /// It has a copula or a subject.
    pub(crate) fn is_predicate(&self, i: usize) -> bool {
        self.predicates[i]
    }

    /// It heads a clause: a verb that is not used as a noun's modifier, or a word with a copula or a subject.
    pub(crate) fn is_clause(&self, i: usize) -> bool {
        if self.predicates[i] || self.acts(i) {
            return true;
        }
        matches!(self.upos(i), Upos::Verb | Upos::Aux)
            && !matches!(
                self.base(i),
                "amod"
                    | "compound"
                    | "aux"
                    | "cop"
                    | "case"
                    | "mark"
                    | "fixed"
                    | "flat"
                    | "nmod"
                    | "det"
                    | "cc"
            )
    }

    /// It is a verb in its clause, also where the tagger took it for a noun: it has an object and no copula.
    pub(crate) fn acts(&self, i: usize) -> bool {
        if self.first(i, "cop").is_some() {
            // "was closed" is a passive whatever its auxiliary is called.
            return self.upos(i) == Upos::Verb
                && self.feat(i, "VerbForm") == Some("Part")
                && self.feat(i, "Tense") == Some("Past");
        }
        matches!(self.upos(i), Upos::Verb | Upos::Aux)
            || self.upos(i) == Upos::Noun
                && self.first(i, "nsubj").is_some()
                && self.first(i, "obj").is_some()
    }

    pub(crate) fn capitalised(&self, i: usize) -> bool {
        self.form(i).chars().any(char::is_uppercase)
    }

    /// Words of the subtree for which `keep(parent, child)` holds all the way up, in order.
    pub(crate) fn subtree(&self, i: usize, keep: impl Fn(usize, usize) -> bool) -> Vec<usize> {
        let mut found = vec![i];
        let mut at = 0;
        while let Some(&p) = found.get(at) {
            found.extend(self.children[p].iter().copied().filter(|&k| keep(p, k)));
            at += 1;
        }
        found.sort_unstable();
        found
    }

    /// The text from the first to the last of some words.
    pub(crate) fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text
            .get(self.tokens[from].span.start..self.tokens[to].span.end)
            .unwrap_or_default()
    }
}
