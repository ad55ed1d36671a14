//! What a clause's words say of a predicate.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::clauses::Sentence;
use super::context::Fact;
use super::items::{Item, What};
use crate::asked::{ACTIONS, Role, voice_of};
use crate::lexicon::{CONCEPTS, Concept, related};
use crate::text::{is_generic, is_stop, predicate_words, stem, year};

/// Whether the words of a clause say a statement's predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Says,
    /// The words name no relation that the lexicon knows.
    Open,
    /// They name another relation, or the same one the other way round.
    Other,
}

impl Fit {
    pub(super) fn strength(self) -> f32 {
        match self {
            Self::Says => 1.0,
            Self::Open => 0.7,
            Self::Other => 0.2,
        }
    }
}

/// A clause's words, apart from its names and values.
pub(super) struct Reading {
    /// Stems of all of them.
    pub segment: Vec<String>,
    /// Rows of the lexicon that they name.
    named: Vec<&'static Concept>,
    /// For each item, by its first word: the words beside it.
    beside: HashMap<usize, Beside>,
    pub starts_with_pronoun: bool,
    pub denies: bool,
    pub hedged: bool,
    pub compares: bool,
    /// "about", "nearly": figures are rounded.
    pub rounds: bool,
    pub respectively: bool,
    /// Whether it has words of its own beside its names and values.
    pub has_words: bool,
    /// Whether it says where something is from.
    pub cites: bool,
    /// Places of verbs of action, and whether "by" follows.
    actions: Vec<usize>,
    by: Vec<usize>,
}

#[derive(Default, Clone)]
struct Beside {
    stems: Vec<String>,
    named: Vec<&'static Concept>,
    shown: String,
}

impl Reading {
    pub(super) fn of(
        sentence: &Sentence,
        start: usize,
        end: usize,
        items: &[Item],
        inherited: &[String],
    ) -> Self {
        let covered = |at: usize| items.iter().any(|item| item.start <= at && at < item.end);
        let words: Vec<(usize, &str)> = sentence
            .words
            .iter()
            .enumerate()
            .take(end)
            .skip(start)
            .filter(|(at, _)| !covered(*at))
            .map(|(at, word)| (at, word.plain.as_str()))
            .collect();
        let has = |list: &[&str]| words.iter().any(|(_, word)| list.contains(word));
        let mut segment: Vec<String> = words
            .iter()
            .filter(|(_, word)| carries(word))
            .map(|(_, word)| stem(word))
            .collect();
        let own = !segment.is_empty();
        if !own {
            segment = inherited.to_vec();
        }
        let whole = |list: &[&str]| {
            sentence
                .words
                .iter()
                .any(|word| list.contains(&word.plain.as_str()))
        };
        let first = sentence
            .words
            .get(start)
            .map_or("", |word| word.plain.as_str());
        let second = sentence
            .words
            .get(start + 1)
            .map_or("", |word| word.plain.as_str());
        let pronoun = PRONOUNS.contains(&first)
            || (matches!(first, "the" | "this" | "that") && COMPANY.contains(&second))
            || (matches!(first, "and" | "but" | "while" | "also") && PRONOUNS.contains(&second));
        Self {
            beside: beside(sentence, start, end, items, &segment),
            named: named(&segment),
            segment,
            starts_with_pronoun: pronoun,
            denies: has(NEGATIONS)
                || words
                    .windows(2)
                    .any(|pair| matches!(pair, [(_, "no"), (_, "longer")])),
            hedged: has(HEDGES) || first == "if",
            compares: whole(COMPARISONS),
            rounds: whole(ROUNDING),
            respectively: whole(&["respectively"]),
            has_words: own,
            cites: whole(&["according", "source", "sources", "per"]),
            actions: words
                .iter()
                .filter(|(_, word)| ACTIONS.contains(&stem(word).as_str()))
                .map(|(at, _)| *at)
                .collect(),
            by: words
                .iter()
                .filter(|(_, word)| *word == "by")
                .map(|(at, _)| *at)
                .collect(),
        }
    }

    /// The words that lead to an item, as written.
    pub(super) fn predicate_of(&self, item: &Item) -> String {
        self.beside
            .get(&item.start)
            .map_or(String::new(), |beside| beside.shown.clone())
    }

    pub(super) fn fit(&self, fact: &Fact, item: &Item, items: &[Item]) -> Fit {
        if self.turned_round(fact, item, items) {
            return Fit::Other;
        }
        let (local, named): (&[String], &[&'static Concept]) = self
            .beside
            .get(&item.start)
            .map_or((&[], &[]), |beside| (&beside.stems, &beside.named));
        if says(fact, local) {
            return Fit::Says;
        }
        if names_another(fact, named) {
            return Fit::Other;
        }
        if says(fact, &self.segment) {
            return Fit::Says;
        }
        if local.is_empty() && names_another(fact, &self.named) {
            return Fit::Other;
        }
        Fit::Open
    }

    /// "TSMC supplies Apple" where the statement has it the other way round.
    fn turned_round(&self, fact: &Fact, item: &Item, items: &[Item]) -> bool {
        let (Some(role), Some(object), What::Known(here)) =
            (fact.concept.and_then(voice_of), fact.object, &item.what)
        else {
            return false;
        };
        let (agent, patient) = match role {
            Role::Agent => (fact.subject, object),
            Role::Patient => (object, fact.subject),
        };
        let place = |entity| {
            items
                .iter()
                .find(|item| matches!(&item.what, What::Known(all) if all.contains(&entity)))
        };
        let (Some(acting), Some(acted)) = (place(agent), place(patient)) else {
            return false;
        };
        if acting.start == acted.start || !(here.contains(&agent) || here.contains(&patient)) {
            return false;
        }
        let (left, right) = (acting.end.min(acted.end), acting.start.max(acted.start));
        let Some(verb) = self.actions.iter().find(|at| left <= **at && **at < right) else {
            return false;
        };
        let passive = self.by.iter().any(|at| verb < at && *at < right);
        let agent_first = acting.start < acted.start;
        agent_first == passive
    }
}

/// Stems and surface of the words before each item; what follows it, where nothing stands before.
fn beside(
    sentence: &Sentence,
    start: usize,
    end: usize,
    items: &[Item],
    segment: &[String],
) -> HashMap<usize, Beside> {
    let read = |from: usize, to: usize| -> Beside {
        let words = sentence.words.get(from..to).unwrap_or_default();
        let shown: Vec<&str> = words
            .iter()
            .rev()
            .take(MAX_SHOWN)
            .map(|word| word.surface.as_str())
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect();
        Beside {
            stems: words
                .iter()
                .filter(|word| carries(&word.plain))
                .map(|word| stem(&word.plain))
                .collect(),
            named: Vec::new(),
            shown: shown.join(" "),
        }
    };
    let mut found: HashMap<usize, Beside> = HashMap::new();
    let mut last: Option<Beside> = None;
    let mut from = start;
    for (at, item) in items.iter().enumerate() {
        let mut own = read(from, item.start);
        if own.stems.is_empty() {
            let next = items.get(at + 1).map_or(end, |next| next.start);
            let after = read(item.end, next);
            match &last {
                Some(known) if at > 0 => {
                    own.stems.clone_from(&known.stems);
                    own.shown.clone_from(&known.shown);
                }
                _ if !after.stems.is_empty() => {
                    own.stems = after.stems;
                    own.shown = after.shown;
                }
                _ => own.stems = segment.to_vec(),
            }
        }
        if !own.stems.is_empty() {
            last = Some(own.clone());
        }
        from = item.end;
        own.named = named(&own.stems);
        found.insert(item.start, own);
    }
    found
}

fn carries(plain: &str) -> bool {
    !is_stop(plain) && !FILLER.contains(&plain) && year(plain).is_none()
}

/// Whether the stems say the statement's predicate: most of its own words, or a word of its row in the lexicon.
fn says(fact: &Fact, stems: &[String]) -> bool {
    if stems.is_empty() {
        return false;
    }
    fact.name.overlap(stems) >= 0.5
        || fact
            .vocabulary
            .is_some_and(|words| stems.iter().any(|stem| words.contains(stem)))
}

/// Words by which a row of the lexicon and those that are related to it are said.
pub(super) fn vocabulary(concept: &'static Concept) -> Option<&'static HashSet<String>> {
    VOCABULARY
        .iter()
        .find(|(row, _)| std::ptr::eq(*row, concept))
        .map(|(_, words)| words)
}

/// Whether the words name another relation than the statement's, and not this one.
fn names_another(fact: &Fact, named: &[&'static Concept]) -> bool {
    fact.concept
        .is_some_and(|concept| named.iter().any(|row| !related(row, concept)))
}

/// The rows of the lexicon one of whose names is wholly among the stems.
fn named(stems: &[String]) -> Vec<&'static Concept> {
    if stems.is_empty() {
        return Vec::new();
    }
    NAMES
        .iter()
        .filter(|(_, names)| {
            names
                .iter()
                .any(|name| name.iter().all(|word| stems.contains(word)))
        })
        .map(|(row, _)| *row)
        .collect()
}

/// Words by which a row is said.
static VOCABULARY: LazyLock<Vec<(&'static Concept, HashSet<String>)>> = LazyLock::new(|| {
    CONCEPTS
        .iter()
        .map(|concept| {
            let rows = || CONCEPTS.iter().filter(|row| related(row, concept));
            let texts = rows().flat_map(|row| row.names.iter().chain(row.asks).copied());
            let said = rows().flat_map(|row| row.says.split(['{', '}', '|', '@', '^']));
            let words = texts
                .chain(said)
                .flat_map(|text| text.split(|letter: char| !letter.is_alphanumeric()))
                .filter(|word| word.len() > 2 && !is_stop(word) && !is_generic(word))
                .filter(|word| !VAGUE.contains(word))
                .map(stem)
                .collect();
            (concept, words)
        })
        .collect()
});

/// A row and its names, each as stems.
type Names = (&'static Concept, Vec<Vec<String>>);

/// Names of the rows that no everyday sentence says by chance, as stems.
static NAMES: LazyLock<Vec<Names>> = LazyLock::new(|| {
    CONCEPTS
        .iter()
        .map(|concept| {
            let names = concept
                .names
                .iter()
                .map(|name| {
                    predicate_words(name)
                        .iter()
                        .filter(|word| !is_stop(word))
                        .map(|word| stem(word))
                        .collect::<Vec<String>>()
                })
                .filter(|name| match name.as_slice() {
                    [] => false,
                    [only] => !EVERYDAY_NAMES.contains(&only.as_str()),
                    _ => true,
                })
                .collect();
            (concept, names)
        })
        .collect()
});

const PRONOUNS: &[&str] = &[
    "it", "its", "they", "their", "he", "his", "she", "her", "these", "this", "both",
];
const COMPANY: &[&str] = &[
    "company",
    "firm",
    "corporation",
    "organization",
    "organisation",
    "business",
    "group",
    "city",
    "country",
    "airport",
    "team",
    "person",
    "book",
    "university",
    "town",
    "building",
    "product",
];
const NEGATIONS: &[&str] = &[
    "not", "never", "isnt", "wasnt", "arent", "werent", "doesnt", "didnt", "dont", "hasnt",
    "havent", "hadnt", "wont", "neither", "nor", "without", "cannot", "cant",
];
const HEDGES: &[&str] = &[
    "may",
    "might",
    "could",
    "would",
    "perhaps",
    "possibly",
    "maybe",
    "probably",
    "likely",
    "unlikely",
    "allegedly",
    "rumored",
    "rumoured",
    "supposedly",
    "apparently",
    "potentially",
    "should",
    "unclear",
    "uncertain",
    "hypothetically",
];
const COMPARISONS: &[&str] = &[
    "after",
    "before",
    "same",
    "earlier",
    "later",
    "than",
    "compared",
    "unlike",
    "versus",
    "vs",
    "similar",
    "similarly",
    "difference",
    "differs",
    "larger",
    "smaller",
    "higher",
    "lower",
    "older",
    "younger",
    "bigger",
    "both",
    "whereas",
];
const ROUNDING: &[&str] = &[
    "about",
    "around",
    "roughly",
    "approximately",
    "nearly",
    "almost",
    "over",
    "circa",
    "some",
];
/// Words that carry a statement without naming its relation.
const FILLER: &[&str] = &[
    "found",
    "also",
    "currently",
    "now",
    "today",
    "however",
    "additionally",
    "furthermore",
    "well",
    "known",
    "according",
    "based",
    "since",
    "until",
    "during",
    "total",
    "as",
    "both",
    "respectively",
];
/// Words of the lexicon's forms of asking that say no relation in a statement.
const VAGUE: &[&str] = &[
    "find", "work", "what", "which", "who", "where", "when", "how", "much", "many", "large", "big",
    "old", "name", "company", "form", "part", "set", "come", "came", "out", "kind", "type", "call",
    "before", "first", "person", "own", "year", "date", "main", "key", "number", "total", "count",
];
/// Row names of one word that stand in many sentences without meaning the row.
const EVERYDAY_NAMES: &[&str] = &[
    "a",
    "about",
    "part",
    "status",
    "titl",
    "us",
    "service",
    "member",
    "price",
    "cost",
    "address",
    "area",
    "position",
    "role",
    "product",
    "segment",
    "division",
    "mak",
    "mad",
    "offer",
    "provid",
    "develop",
    "launch",
    "releas",
    "company",
    "country",
    "capital",
    "currency",
    "language",
    "asset",
    "phone",
    "email",
    "website",
    "symbol",
    "exchang",
    "valu",
    "owner",
    "partner",
    "client",
    "customer",
    "stor",
    "child",
    "son",
    "staff",
    "born",
    "own",
    "sector",
    "industry",
    "locat",
    "lic",
    "url",
    "debt",
    "school",
    "summary",
    "description",
    "list",
    "trad",
    "sell",
    "produc",
    "employ",
    "work",
    "writ",
    "invent",
    "regulat",
];
const MAX_SHOWN: usize = 6;
