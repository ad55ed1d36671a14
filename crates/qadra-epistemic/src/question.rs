//! A question, the keys it is looked up by, and the names found in it.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::lexicon::concepts_asked;
use crate::text::{
    Word, drops_off, identity_key, is_generic, join_key, normalize_label, slice, stem, words,
};

/// A parsed question. Pure: it knows the words, not the graph.
#[derive(Debug, Clone)]
pub struct Question {
    text: String,
    words: Vec<Word>,
    /// Earlier questions of the same thread, most recent first; only consulted for what this one leaves out.
    previous: Vec<Question>,
}

/// A name of the graph that equals one of the looked-up keys, or is similar to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NameHit {
    pub key: String,
    pub target: NameTarget,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum NameTarget {
    Node {
        id: Uuid,
        label: String,
    },
    Predicate {
        id: Uuid,
        name: String,
    },
    /// A node one of whose names is similar to the key, which comes from [`Question::fuzzy_keys`].
    Similar {
        id: Uuid,
        label: String,
        /// The similar name: the label or an alias, as written.
        name: String,
        /// Trigram similarity of the key and the name's key, 0 to 1.
        similarity: f32,
    },
}

/// How a mention's text relates to the node's label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// Equal but for case, accents and punctuation.
    Exact,
    /// Equal after inflection and legal forms are folded.
    Inflected,
    /// Another name of the node.
    Alias,
    /// A name that differs by a slip or two of spelling.
    Fuzzy,
    /// Taken from an earlier question ("and its CEO?").
    Context,
}

/// A node named in the question; `start` and `end` count Unicode code points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mention {
    pub text: String,
    pub start: usize,
    pub end: usize,
    pub node_id: Uuid,
    pub label: String,
    #[serde(rename = "match")]
    pub matched: Match,
}

/// A predicate named in the question or meant by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredicateMention {
    pub predicate_id: Uuid,
    pub name: String,
}

/// What the names lookup found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    pub mentions: Vec<Mention>,
    pub predicates: Vec<PredicateMention>,
}

impl Found {
    /// Ids of the mentioned nodes, each once, in the order of the question.
    pub fn node_ids(&self) -> Vec<Uuid> {
        let mut seen = HashSet::new();
        self.mentions
            .iter()
            .map(|mention| mention.node_id)
            .filter(|id| seen.insert(*id))
            .collect()
    }

    /// Ids of the predicates asked for: fetch these first where a node has more triples than the cap, and fetch by
    /// them alone when no node is mentioned.
    pub fn predicate_ids(&self) -> Vec<Uuid> {
        let mut seen = HashSet::new();
        self.predicates
            .iter()
            .map(|mention| mention.predicate_id)
            .filter(|id| seen.insert(*id))
            .collect()
    }

    /// Whether the question connects two nodes, so that one more hop is worth fetching.
    pub fn connects(&self) -> bool {
        self.node_ids().len() >= 2
    }
}

impl Question {
    pub fn parse(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            words: windowed_words(text),
            previous: Vec::new(),
        }
    }

    /// A question in a thread. `previous` holds the thread's earlier questions, oldest first; the last four serve to
    /// resolve "its", "and the CEO?" or "what about Microsoft?".
    pub fn parse_in(text: &str, previous: &[&str]) -> Self {
        let mut question = Self::parse(text);
        if question.leans_on_context() {
            question.previous = previous
                .iter()
                .rev()
                .take(4)
                .map(|earlier| Self::parse(earlier))
                .collect();
        }
        question
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn words(&self) -> &[Word] {
        &self.words
    }

    /// Normalised phrases to look up among labels, aliases and predicate names: runs of one to six words, and the
    /// predicate names that the question's form suggests. At most 512, most promising first.
    pub fn lookup_keys(&self) -> Vec<String> {
        let mut keys = Vec::new();
        let mut seen = HashSet::new();
        self.collect_keys(&mut keys, &mut seen, MAX_KEYS);
        for earlier in &self.previous {
            let limit = MAX_KEYS.min(keys.len() + 100);
            earlier.collect_keys(&mut keys, &mut seen, limit);
        }
        keys
    }

    fn collect_keys(&self, keys: &mut Vec<String>, seen: &mut HashSet<String>, limit: usize) {
        let stems: Vec<String> = self
            .edges()
            .filter_map(|at| self.words.get(at))
            .map(|word| stem(&word.plain))
            .collect();
        let suggested = concepts_asked(&stems)
            .into_iter()
            .flat_map(|asked| asked.concept.names.iter())
            .take(128);
        let mut push = |key: String| {
            if keys.len() < limit && !key.is_empty() && seen.insert(key.clone()) {
                keys.push(key);
            }
        };
        for start in self.edges() {
            for run in self.runs_from(start).filter(|run| worth_looking_up(run)) {
                push(key_of(run));
            }
        }
        for name in suggested {
            push(normalize_label(name));
        }
        let capitals =
            (0..self.words.len()).filter(|at| self.words.get(*at).is_some_and(|word| word.capital));
        for run in capitals.flat_map(|start| self.runs_from(start)) {
            if written_as_name(run) {
                push(key_of(run));
            }
        }
    }

    /// The phrases that begin with a word, longest first.
    fn runs_from(&self, start: usize) -> impl Iterator<Item = &[Word]> {
        (1..=MAX_PHRASE)
            .rev()
            .filter_map(move |length| self.words.get(start..start + length))
    }

    /// Words of the first and last lines of a long text: where people ask.
    pub(crate) fn edges(&self) -> impl Iterator<Item = usize> {
        let count = self.words.len();
        (0..count).filter(move |at| *at < EDGE || at + EDGE >= count)
    }

    /// The names in the question: longest match first, no overlaps.
    pub fn mentions(&self, hits: &[NameHit]) -> Found {
        let mut nodes: HashMap<&str, Vec<(Uuid, &str)>> = HashMap::new();
        let mut predicates: HashMap<&str, Vec<(Uuid, &str)>> = HashMap::new();
        for hit in hits {
            let (map, id, name) = match &hit.target {
                NameTarget::Node { id, label } => (&mut nodes, *id, label),
                NameTarget::Predicate { id, name } => (&mut predicates, *id, name),
                NameTarget::Similar { .. } => continue,
            };
            let known = map.entry(hit.key.as_str()).or_default();
            if known.len() < MAX_SENSES * 4 && !known.iter().any(|(other, _)| *other == id) {
                known.push((id, name.as_str()));
            }
        }
        let mut found = Found {
            mentions: self.own_mentions(&nodes),
            predicates: Vec::new(),
        };
        let similar = self.similar_mentions(hits, &found.mentions);
        if !similar.is_empty() {
            found.mentions.extend(similar);
            found.mentions.sort_by_key(|mention| mention.start);
        }
        self.predicates_into(&predicates, &mut found);
        let needs_nodes = found.mentions.is_empty() && self.leans_on_context();
        let needs_predicates = found.predicates.is_empty() && self.is_elliptical();
        for earlier in &self.previous {
            let from = earlier.mentions(hits);
            if needs_nodes && found.mentions.is_empty() {
                let (start, end) = self.pronoun_span();
                found.mentions = from
                    .mentions
                    .into_iter()
                    .map(|mention| Mention {
                        start,
                        end,
                        matched: Match::Context,
                        text: if start < end {
                            slice(&self.text, start, end)
                        } else {
                            mention.text
                        },
                        ..mention
                    })
                    .collect();
            }
            if needs_predicates && found.predicates.is_empty() {
                found.predicates = from.predicates;
            }
        }
        found
    }

    fn own_mentions(&self, nodes: &HashMap<&str, Vec<(Uuid, &str)>>) -> Vec<Mention> {
        let mut mentions = Vec::new();
        // Most words of a long text begin no name; a key is made only where one may begin.
        let begins: HashSet<&str> = nodes.keys().map(|key| first_part(key)).collect();
        let mut at = 0;
        while let Some(word) = self.words.get(at) {
            if !begins.contains(first_part(&word.folded)) && !drops_off(&word.folded) {
                at += 1;
                continue;
            }
            let longest = (1..=MAX_PHRASE).rev().find_map(|length| {
                let run = self.words.get(at..at + length)?;
                if !worth_looking_up(run) {
                    return None;
                }
                let senses = nodes.get(key_of(run).as_str())?;
                let here = self.senses(at, run, senses);
                (!here.is_empty()).then_some((length, here))
            });
            match longest {
                Some((length, here)) => {
                    mentions.extend(here);
                    at += length;
                }
                None => at += 1,
            }
            if mentions.len() >= MAX_MENTIONS {
                break;
            }
        }
        mentions
    }

    /// The nodes that a run of words may name; an exact name leaves no room for the others.
    fn senses(&self, at: usize, run: &[Word], nodes: &[(Uuid, &str)]) -> Vec<Mention> {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            return Vec::new();
        };
        let end = last.end - possessive_tail(&last.surface);
        let text = slice(&self.text, first.start, end);
        let plain = run
            .iter()
            .map(|word| word.plain.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        let key = key_of(run);
        let all_stop = run
            .iter()
            .all(|word| word.is_stop() || is_generic(&word.plain));
        let mut rated: Vec<(Match, Mention)> = nodes
            .iter()
            .filter(|(_, label)| !all_stop || self.written_as(at, run, label))
            .map(|(id, label)| {
                let matched = if identity_key(label) == plain {
                    Match::Exact
                } else if normalize_label(label) == key {
                    Match::Inflected
                } else {
                    Match::Alias
                };
                let mention = Mention {
                    text: text.clone(),
                    start: first.start,
                    end,
                    node_id: *id,
                    label: (*label).to_owned(),
                    matched,
                };
                (matched, mention)
            })
            .collect();
        let rank = |matched: Match| match matched {
            Match::Exact => 0,
            Match::Alias => 1,
            Match::Inflected => 2,
            Match::Fuzzy => 3,
            Match::Context => 4,
        };
        rated.sort_by_key(|(matched, mention)| (rank(*matched), mention.node_id));
        let best = rated.first().map(|(matched, _)| *matched);
        rated
            .into_iter()
            .filter(|(matched, _)| Some(*matched) == best)
            .map(|(_, mention)| mention)
            .take(MAX_SENSES)
            .collect()
    }

    /// A name made of everyday words ("The Who", "IT") counts only when it is written like a name.
    fn written_as(&self, at: usize, run: &[Word], label: &str) -> bool {
        let Some(first) = run.first() else {
            return false;
        };
        if run.len() > 1 {
            return run.iter().any(|word| word.capital && !word.opens)
                || identity_key(label)
                    == run
                        .iter()
                        .map(|word| word.plain.as_str())
                        .collect::<Vec<_>>()
                        .join(" ");
        }
        let with_article = at
            .checked_sub(1)
            .and_then(|before| self.words.get(before))
            .map(|before| format!("{} {}", before.surface, first.surface));
        let shown = label.to_owned();
        (!first.opens && first.capital && first.surface == shown)
            || with_article
                .is_some_and(|text| text.to_lowercase() == label.to_lowercase() && first.capital)
            || (is_generic(&first.plain) && !first.is_stop() && first.capital && !first.opens)
    }

    fn predicates_into(&self, predicates: &HashMap<&str, Vec<(Uuid, &str)>>, found: &mut Found) {
        let covered = covered(&self.words, &found.mentions);
        let edges: HashSet<usize> = self.edges().collect();
        let free = self
            .words
            .iter()
            .zip(&covered)
            .enumerate()
            .filter(|(at, (_, covered))| !**covered && edges.contains(at))
            .map(|(_, (word, _))| word);
        let stems = crate::asked::stems_of(free);
        let asked = concepts_asked(&stems);
        let mut known: Vec<(Uuid, &str)> = predicates.values().flatten().copied().collect();
        known.sort_unstable();
        known.dedup();
        for (id, name) in known {
            if found.predicates.len() >= MAX_PREDICATES {
                break;
            }
            let meant = asked.iter().any(|asked| {
                [true, false].into_iter().any(|is_value| {
                    crate::lexicon::concept_of(name, is_value)
                        .is_some_and(|concept| crate::lexicon::related(concept, asked.concept))
                })
            });
            if meant || predicate_overlap(name, &stems) >= 0.5 {
                found.predicates.push(PredicateMention {
                    predicate_id: id,
                    name: name.to_owned(),
                });
            }
        }
    }

    /// Whether something of the question has to come from what was said before.
    pub(crate) fn leans_on_context(&self) -> bool {
        self.is_elliptical()
            || self
                .words
                .iter()
                .any(|word| PRONOUNS.contains(&word.plain.as_str()))
            || (self.words.len() <= 8
                && !self.words.iter().any(|word| word.capital && !word.opens)
                && !self.ranges_over_all())
    }

    /// "Which company has the most employees?": asked of everything known, not of what was just spoken about.
    fn ranges_over_all(&self) -> bool {
        const SUPERLATIVES: [&str; 16] = [
            "most", "least", "fewest", "highest", "lowest", "largest", "biggest", "smallest",
            "greatest", "oldest", "newest", "youngest", "earliest", "latest", "best", "worst",
        ];
        let asks_which = self
            .words
            .first()
            .is_some_and(|word| matches!(word.plain.as_str(), "which" | "what" | "who"));
        asks_which
            && self
                .words
                .iter()
                .any(|word| SUPERLATIVES.contains(&word.plain.as_str()))
    }

    /// "And Microsoft?", "what about its CEO?": a question that continues the one before.
    pub(crate) fn is_elliptical(&self) -> bool {
        let plain: Vec<&str> = self
            .words
            .iter()
            .take(3)
            .map(|word| word.plain.as_str())
            .collect();
        matches!(
            plain.as_slice(),
            ["and", ..]
                | ["what" | "how", "about", ..]
                | ["also", ..]
                | ["or", ..]
                | ["same", "for", ..]
        )
    }

    /// The question's own words, or what it continues when it asks nothing itself.
    pub(crate) fn asking<'a>(&'a self, asks: impl Fn(&'a Question) -> bool) -> &'a Question {
        if asks(self) || !self.is_elliptical() {
            return self;
        }
        self.previous
            .iter()
            .find(|earlier| asks(earlier))
            .unwrap_or(self)
    }

    fn pronoun_span(&self) -> (usize, usize) {
        self.words
            .iter()
            .find(|word| PRONOUNS.contains(&word.plain.as_str()))
            .map_or((0, 0), |word| (word.start, word.end))
    }
}

/// Share of the predicate's content words that the question says, by stem.
pub(crate) fn predicate_overlap(name: &str, stems: &[String]) -> f32 {
    crate::lexicon::name(name).overlap(stems)
}

/// Which words lie inside a mention.
pub(crate) fn covered(words: &[Word], mentions: &[Mention]) -> Vec<bool> {
    let mut spans: Vec<(usize, usize)> = mentions
        .iter()
        .filter(|mention| mention.matched != Match::Context)
        .map(|mention| (mention.start, mention.end))
        .collect();
    spans.sort_unstable();
    let mut next = 0;
    words
        .iter()
        .map(|word| {
            while spans.get(next).is_some_and(|(_, end)| *end <= word.start) {
                next += 1;
            }
            spans
                .get(next)
                .is_some_and(|(start, end)| *start <= word.start && word.start < *end)
        })
        .collect()
}

/// Characters of a possessive ending, which belongs to the sentence and not to the name.
pub(crate) fn possessive_tail(surface: &str) -> usize {
    let mark = |letter: char| {
        matches!(
            letter,
            '\'' | '\u{2019}' | '\u{2018}' | '\u{02BC}' | '\u{FF07}'
        )
    };
    let tail: Vec<char> = surface.chars().rev().take(2).collect();
    match tail.as_slice() {
        [last, ..] if mark(*last) => 1,
        ['s' | 'S', before] if mark(*before) => 2,
        _ => 0,
    }
}

/// In the middle of a long text a name begins and ends in capitals or figures; what else is known there is no question.
fn written_as_name(run: &[Word]) -> bool {
    let capital = |word: Option<&Word>| word.is_some_and(|word| word.capital);
    capital(run.first()) && capital(run.last()) && worth_looking_up(run)
}

/// A letter of some scripts unfolds into several words.
fn first_part(key: &str) -> &str {
    key.split(' ').next().unwrap_or_default()
}

pub(crate) fn key_of(run: &[Word]) -> String {
    let folded: Vec<&str> = run.iter().map(|word| word.folded.as_str()).collect();
    join_key(&folded)
}

/// A phrase that starts with an article is found without it, and one made of stop words is no name unless capital.
fn worth_looking_up(run: &[Word]) -> bool {
    let (Some(first), Some(last)) = (run.first(), run.last()) else {
        return false;
    };
    if run.len() > 1 && matches!(first.plain.as_str(), "the" | "a" | "an") {
        return false;
    }
    let edge = |word: &Word| !word.is_stop() || word.capital;
    edge(first) && edge(last)
}

/// The first and last words of a text; a book pasted into the chat is not read whole.
fn windowed_words(text: &str) -> Vec<Word> {
    words(text, MAX_WORDS)
}

const PRONOUNS: &[&str] = &[
    "it", "its", "they", "their", "them", "he", "his", "him", "she", "her", "hers", "this", "that",
    "these", "those",
];
const MAX_KEYS: usize = 512;
const MAX_PHRASE: usize = 6;
const EDGE: usize = 40;
const MAX_WORDS: usize = 20_000;
const MAX_MENTIONS: usize = 64;
pub(crate) const MAX_SENSES: usize = 3;
const MAX_PREDICATES: usize = 64;
