//! What the built-in answerer knows about common predicates: their names, how people ask for them, how English
//! says them. A predicate that is not listed is handled by the general rules of `phrase`.

mod table;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::LazyLock;

pub(crate) use table::CONCEPTS;

use crate::text::{is_generic, is_stop, predicate_words, stem, year};

/// One row of the table.
pub(crate) struct Concept {
    /// Noun phrase for gaps and disagreements: "CEO", "founding year".
    pub noun: &'static str,
    /// Predicate names, words separated by spaces. A year in a predicate's name does not count.
    pub names: &'static [&'static str],
    /// Ways of asking: words that occur in this order in the question, others between them.
    pub asks: &'static [&'static str],
    /// Sentence template, see `phrase`.
    pub says: &'static str,
    /// Which objects the names mean; the others belong to another row (`founded` 1976 or `founded` Apple).
    pub objects: Objects,
    /// Conventionally one object per subject at a time.
    pub functional: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Objects {
    Any,
    /// Numbers and dates.
    Values,
    /// Nodes and text.
    Names,
}

impl Concept {
    pub(crate) fn accepts(&self, is_value: bool) -> bool {
        match self.objects {
            Objects::Any => true,
            Objects::Values => is_value,
            Objects::Names => !is_value,
        }
    }
}

/// A row that a question asks for.
#[derive(Clone)]
pub(crate) struct AskedConcept {
    pub concept: &'static Concept,
    /// Indexes of the words that ask for it.
    pub words: Vec<usize>,
    /// Words of its longest matching form.
    pub specificity: usize,
}

/// Whether two rows tell the same relation, seen from one end or the other.
pub(crate) fn related(a: &Concept, b: &Concept) -> bool {
    a.noun == b.noun
        || FAMILIES
            .iter()
            .any(|family| family.contains(&a.noun) && family.contains(&b.noun))
}

const FAMILIES: &[&[&str]] = &[
    &["products", "makers"],
    &["customers", "suppliers"],
    &["subsidiaries", "parent company"],
    &["acquisitions", "acquirer"],
    &["CEO", "co-CEOs", "role", "employer"],
    &["role", "CFO", "CTO", "COO", "chair", "president"],
    &["investors", "investments"],
];

/// A row with its words stemmed once.
struct Compiled {
    concept: &'static Concept,
    names: Vec<String>,
    asks: Vec<Vec<String>>,
}

static COMPILED: LazyLock<Vec<Compiled>> = LazyLock::new(|| {
    CONCEPTS
        .iter()
        .map(|concept| Compiled {
            concept,
            names: concept
                .names
                .iter()
                .map(|name| bare_of(&predicate_words(name)))
                .collect(),
            asks: concept
                .asks
                .iter()
                .map(|ask| ask.split(' ').map(stem).collect())
                .collect(),
        })
        .collect()
});

/// Forms of asking, as row and number in it, by their first word: a text begins few of them.
static BY_FIRST: LazyLock<HashMap<&'static str, Vec<(usize, usize)>>> = LazyLock::new(|| {
    let mut forms: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (at, row) in COMPILED.iter().enumerate() {
        for (ask, words) in row.asks.iter().enumerate() {
            if let Some(first) = words.first() {
                forms.entry(first).or_default().push((at, ask));
            }
        }
    }
    forms
});

/// What a predicate's name says, read once.
pub(crate) struct Name {
    /// Words without years and without "is" or "has" before them.
    bare: String,
    year: Option<i32>,
    of_values: Option<&'static Concept>,
    of_names: Option<&'static Concept>,
    /// Stems of the content words, and how much each narrows the predicate.
    parts: Vec<(String, f32)>,
}

impl Name {
    fn read(predicate: &str) -> Self {
        let words = predicate_words(predicate);
        let bare = bare_of(&words);
        let row = |is_value| {
            let rows = BY_NAME.get(&bare)?;
            rows.iter()
                .find(|concept| concept.accepts(is_value))
                .copied()
        };
        Self {
            year: words.iter().find_map(|word| year(word)),
            of_values: row(true),
            of_names: row(false),
            parts: words
                .iter()
                .filter(|word| !is_stop(word))
                .map(|word| {
                    // A year or a unit word narrows a predicate; the noun or verb names it.
                    let narrows = year(word).is_some() || is_generic(word);
                    (stem(word), if narrows { 0.4 } else { 1.0 })
                })
                .collect(),
            bare,
        }
    }

    /// Share of the content words that are said, by stem.
    pub(crate) fn overlap(&self, stems: &[String]) -> f32 {
        let total: f32 = self.parts.iter().map(|(_, weight)| weight).sum();
        let said: f32 = self
            .parts
            .iter()
            .filter(|(part, _)| stems.contains(part))
            .map(|(_, weight)| weight)
            .sum();
        if total > 0.0 { said / total } else { 0.0 }
    }
}

/// A graph has few predicates and many statements: their names are read once per thread.
pub(crate) fn name(predicate: &str) -> Rc<Name> {
    thread_local! {
        static KNOWN: RefCell<HashMap<String, Rc<Name>>> = RefCell::new(HashMap::new());
    }
    KNOWN.with_borrow_mut(|known| {
        if let Some(name) = known.get(predicate) {
            return Rc::clone(name);
        }
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        let name = Rc::new(Name::read(predicate));
        known.insert(predicate.to_owned(), Rc::clone(&name));
        name
    })
}

const MAX_KNOWN: usize = 4096;

/// The row of a predicate, given whether its object is a number or date.
pub(crate) fn concept_of(predicate: &str, is_value: bool) -> Option<&'static Concept> {
    let name = name(predicate);
    if is_value {
        name.of_values
    } else {
        name.of_names
    }
}

/// Rows by name, in the order of the table.
static BY_NAME: LazyLock<HashMap<String, Vec<&'static Concept>>> = LazyLock::new(|| {
    let mut rows: HashMap<String, Vec<&'static Concept>> = HashMap::new();
    for row in COMPILED.iter() {
        for name in &row.names {
            let known = rows.entry(name.clone()).or_default();
            if !known.iter().any(|other| std::ptr::eq(*other, row.concept)) {
                known.push(row.concept);
            }
        }
    }
    rows
});

/// Rows that a question asks for, given the stems of its words; the most specific first. A row whose matched words
/// are part of another row's longer match is left out ("market cap" does not ask for "cap").
pub(crate) fn concepts_asked(stems: &[String]) -> Vec<AskedConcept> {
    let mut found: Vec<AskedConcept> = Vec::new();
    let mut begun: Vec<(usize, usize)> = stems
        .iter()
        .filter_map(|stem| BY_FIRST.get(stem.as_str()))
        .flatten()
        .copied()
        .collect();
    begun.sort_unstable();
    begun.dedup();
    for forms in begun.chunk_by(|a, b| a.0 == b.0) {
        let Some(row) = forms.first().and_then(|(row, _)| COMPILED.get(*row)) else {
            continue;
        };
        let matches: Vec<Vec<usize>> = forms
            .iter()
            .filter_map(|(_, ask)| subsequence(row.asks.get(*ask)?, stems))
            .collect();
        let specificity = matches.iter().map(Vec::len).max().unwrap_or(0);
        let mut words: Vec<usize> = matches.into_iter().flatten().collect();
        words.sort_unstable();
        words.dedup();
        if specificity > 0 {
            found.push(AskedConcept {
                concept: row.concept,
                words,
                specificity,
            });
        }
    }
    found.sort_by_key(|asked| std::cmp::Reverse(asked.specificity));
    let mut kept: Vec<AskedConcept> = Vec::new();
    for asked in found {
        let swallowed = kept.iter().any(|longer| {
            longer.specificity > asked.specificity
                && asked.words.iter().all(|word| longer.words.contains(word))
        });
        if !swallowed {
            kept.push(asked);
        }
    }
    kept
}

/// Whether a predicate is one that conventionally has one object per subject at a time. A year in the name makes the
/// statement about that year, so `revenue_2023` follows `revenue`.
pub(crate) fn conventionally_functional(predicate: &str) -> bool {
    let name = name(predicate);
    BY_NAME
        .get(&name.bare)
        .is_some_and(|rows| rows.iter().any(|row| row.functional))
        || FUNCTIONAL_BESIDE.contains(&name.bare.as_str())
}

/// Words of a predicate without years and without "is" or "has" before them.
pub(crate) fn bare_name(predicate: &str) -> String {
    name(predicate).bare.clone()
}

fn bare_of(words: &[String]) -> String {
    let mut kept: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| year(word).is_none() && !matches!(*word, "fy" | "fiscal"))
        .collect();
    if let [first, rest @ ..] = kept.as_slice()
        && !rest.is_empty()
        && matches!(*first, "is" | "has" | "was" | "the" | "have")
    {
        kept = rest.to_vec();
    }
    kept.join(" ")
}

/// The year that a predicate carries in its name.
pub(crate) fn name_year(predicate: &str) -> Option<i32> {
    name(predicate).year
}

/// Places of `wanted` in `stems`, in order, not more than eight words apart.
fn subsequence(wanted: &[String], stems: &[String]) -> Option<Vec<usize>> {
    let mut places = Vec::with_capacity(wanted.len());
    let mut from = 0;
    for word in wanted {
        let window = if places.is_empty() { stems.len() } else { 9 };
        let at = stems
            .iter()
            .skip(from)
            .take(window)
            .position(|stem| stem == word)?
            + from;
        places.push(at);
        from = at + 1;
    }
    Some(places)
}

/// Functional by convention without a row of their own.
const FUNCTIONAL_BESIDE: &[&str] = &[
    "birthday",
    "birth year",
    "death year",
    "isbn",
    "serial number",
    "postal code",
    "zip code",
    "atomic number",
    "mother",
    "father",
    "time zone",
    "gender",
    "weight",
    "height",
    "id",
    "registration number",
    "vat number",
];
