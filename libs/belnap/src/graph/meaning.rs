//! What the name of a predicate says: its words, what kind of object it expects, and which side is which.

use std::collections::HashMap;

use super::label::fold;
use super::reading::Lemma;
use crate::lexicon::{self, Frame};

/// What a predicate's name says of its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expects {
    Anything,
    Date,
    Quantity,
    Place,
    Name,
}

/// Which argument of the relation the subject of the triple is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// (Microsoft, acquired, LinkedIn): the subject does it.
    Doer,
    /// (Apple, founded_by, Jobs): it is done to the subject.
    Done,
    /// (Apple, ceo, Cook): the object has the role.
    Role,
    /// (Paris, capital_of, France): the subject has the role.
    RoleOf,
    Unknown,
}

#[derive(Debug, Clone)]
pub(super) struct Meaning {
    pub cores: Vec<Core>,
    pub expects: Expects,
    pub shape: Shape,
    /// Prepositions that express it where no word does.
    pub links: Vec<&'static str>,
    /// A year that the predicate's name holds: `revenue_2023`.
    pub year: Option<i32>,
    pub symmetric: bool,
}

/// A content word of the name.
#[derive(Debug, Clone)]
pub(super) struct Core {
    /// Number within the graph.
    pub id: usize,
    pub weight: f32,
    /// The word and its possible lemmas.
    pub forms: Vec<String>,
    kin: HashMap<&'static str, f32>,
    pub frames: Vec<&'static Frame>,
}

const SKIP: &[&str] = &[
    "is", "was", "are", "were", "has", "have", "had", "be", "been", "of", "by", "in", "at", "to",
    "the", "a", "an", "for", "from", "on", "with", "its", "their", "did", "does", "do", "and",
    "or", "s", "fy", "being", "above", "while", "as",
];
/// Words that say of what kind the object is rather than what relation holds.
const KINDS: &[(&str, Expects)] = &[
    ("date", Expects::Date),
    ("year", Expects::Date),
    ("day", Expects::Date),
    ("time", Expects::Anything),
    ("place", Expects::Place),
    ("location", Expects::Place),
    ("city", Expects::Place),
    ("country", Expects::Place),
    ("state", Expects::Place),
    ("town", Expects::Place),
    ("region", Expects::Place),
    ("number", Expects::Quantity),
    ("count", Expects::Quantity),
    ("total", Expects::Quantity),
    ("size", Expects::Quantity),
    ("amount", Expects::Quantity),
    ("name", Expects::Name),
    ("title", Expects::Name),
    ("type", Expects::Anything),
    ("kind", Expects::Anything),
    ("id", Expects::Anything),
    ("identifier", Expects::Anything),
    ("code", Expects::Anything),
];
const SYMMETRIC: &[&str] = &[
    "spouse",
    "marry",
    "married",
    "sibling",
    "brother",
    "sister",
    "partner",
    "associate",
    "associated",
    "compete",
    "competitor",
    "rival",
    "neighbour",
    "neighbor",
    "neighboring",
    "border",
    "twin",
    "friend",
    "colleague",
    "collaborate",
    "equal",
    "similar",
    "related",
    "relative",
    "relation",
    "cousin",
    "meet",
    "merge",
    "opposite",
    "comparable",
    "affiliate",
    "affiliation",
];

impl Meaning {
    pub(super) fn new(name: &str) -> Meaning {
        let (words, year) = words(name);
        let mut expects = Expects::Anything;
        let last = words
            .iter()
            .rev()
            .find(|w| !SKIP.contains(&w.as_str()))
            .cloned()
            .unwrap_or_default();
        for word in &words {
            if let Some((_, e)) = KINDS
                .iter()
                .find(|(k, e)| k == word && *e != Expects::Anything)
            {
                expects = *e;
            }
        }
        let content: Vec<&String> = words
            .iter()
            .filter(|w| !SKIP.contains(&w.as_str()))
            .collect();
        let is_kind = |w: &str| KINDS.iter().any(|(k, _)| *k == w);
        let only_kinds = content.iter().all(|w| is_kind(w));
        let mut cores: Vec<Core> = content
            .iter()
            .map(|w| {
                let weight = match () {
                    _ if !only_kinds && is_kind(w) => 0.25,
                    _ if **w == last || only_kinds => 1.0,
                    _ => 0.8,
                };
                Core::new(w, weight)
            })
            .collect();
        if cores.is_empty() {
            cores = words.iter().map(|w| Core::new(w, 1.0)).collect();
        }
        let mut links: Vec<&'static str> = Vec::new();
        for core in &cores {
            for link in core.frames.iter().flat_map(|f| &f.links) {
                if !links.contains(link) {
                    links.push(link);
                }
            }
        }
        Meaning {
            shape: shape(&words, &content),
            symmetric: cores
                .iter()
                .any(|c| c.forms.iter().any(|f| SYMMETRIC.contains(&f.as_str()))),
            cores,
            expects,
            links,
            year,
        }
    }

    /// The lemma names the relation from its other side: precede for follow.
    pub(super) fn other_side(&self, lemma: &str) -> bool {
        self.cores
            .iter()
            .any(|c| c.forms.iter().any(|f| lexicon::inverse(f, lemma)))
    }

    /// The names differ in the kind of object alone: birth year, birth date.
    pub(super) fn same_words(&self, other: &Meaning) -> bool {
        let words = |m: &Meaning| -> Vec<String> {
            m.cores
                .iter()
                .filter(|c| c.weight >= 0.8)
                .filter_map(|c| c.forms.first().cloned())
                .collect()
        };
        words(self) == words(other)
    }

    /// How well one lemma of a text expresses one core.
    pub(super) fn strength(core: &Core, lemma: &Lemma) -> f32 {
        let mut best: f32 = 0.0;
        for form in &core.forms {
            if *form == lemma.lemma {
                return 1.0;
            }
            if let Some(s) = lemma.kin.get(form.as_str()) {
                best = best.max(*s);
            }
        }
        if let Some(s) = core.kin.get(lemma.lemma.as_str()) {
            best = best.max(*s);
        }
        if best < 0.8 && core.forms.iter().any(|f| lexicon::inverse(f, &lemma.lemma)) {
            best = 0.8;
        }
        if best < 0.85 {
            let shared = core
                .frames
                .iter()
                .filter(|f| lemma.frames.iter().any(|g| std::ptr::eq(**f, *g)));
            // The fewer words a relation has, the surer they mean the same.
            let frame = shared
                .map(|f| if f.words.len() <= 5 { 0.85 } else { 0.7 })
                .fold(0.0, f32::max);
            best = best.max(frame);
        }
        best
    }
}

impl Core {
    fn new(word: &str, weight: f32) -> Core {
        let forms = forms(word);
        let mut kin: HashMap<&'static str, f32> = HashMap::new();
        let mut frames: Vec<&'static Frame> = Vec::new();
        for form in &forms {
            for (w, s) in lexicon::kin(form) {
                let old = kin.entry(w).or_default();
                *old = old.max(s);
            }
            for frame in lexicon::frames_of(form) {
                if !frames.iter().any(|f| std::ptr::eq(*f, frame)) {
                    frames.push(frame);
                }
            }
        }
        Core {
            id: 0,
            weight,
            forms,
            kin,
            frames,
        }
    }
}

/// The word itself and what it may be a form of.
fn forms(word: &str) -> Vec<String> {
    let mut forms = vec![word.to_string()];
    let mut put = |w: String| {
        if w.len() > 2 && lexicon::known(&w) && !forms.contains(&w) {
            forms.push(w);
        }
    };
    for (ending, replacements) in [
        ("ies", &["y"][..]),
        ("ied", &["y"]),
        ("es", &["", "e"]),
        ("s", &[""]),
        ("ed", &["", "e"]),
        ("ing", &["", "e"]),
        ("est", &["", "e"]),
    ] {
        if let Some(stem) = word.strip_suffix(ending) {
            for r in replacements {
                put(format!("{stem}{r}"));
            }
            // stopped, planning
            let doubled = stem.len() > 3
                && stem.as_bytes()[stem.len() - 1] == stem.as_bytes()[stem.len() - 2];
            if doubled && (ending == "ed" || ending == "ing") {
                put(stem[..stem.len() - 1].to_string());
            }
        }
    }
    match word {
        "built" => put("build".into()),
        "born" => put("bear".into()),
        "made" => put("make".into()),
        "led" => put("lead".into()),
        "written" => put("write".into()),
        "sold" => put("sell".into()),
        "bought" => put("buy".into()),
        "won" => put("win".into()),
        "held" => put("hold".into()),
        "spoken" => put("speak".into()),
        "known" => put("know".into()),
        "given" => put("give".into()),
        "found" | "founded" => put("found".into()),
        "broadcasted" => put("broadcast".into()),
        _ => {}
    }
    forms
}

/// The words of a name in camelCase, snake_case or prose, in lower case, without what stands in brackets; and a year
/// if one is among them.
fn words(name: &str) -> (Vec<String>, Option<i32>) {
    let bare: String = {
        let mut depth = 0;
        let kept = name.chars().filter(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => return depth == 0,
            }
            false
        });
        kept.collect()
    };
    let bare = if bare.trim().is_empty() {
        name.to_string()
    } else {
        bare
    };
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let chars: Vec<char> = bare.chars().collect();
    let mut flush = |word: &mut String| {
        if !word.is_empty() {
            words.push(fold(word));
            word.clear();
        }
    };
    for (i, &c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            flush(&mut word);
            continue;
        }
        if let Some(&p) = i.checked_sub(1).and_then(|p| chars.get(p)) {
            let next_lower = chars.get(i + 1).is_some_and(|n| n.is_lowercase());
            let hump = c.is_uppercase()
                && (p.is_lowercase() || p.is_ascii_digit() || (p.is_uppercase() && next_lower));
            // fy2023; but 1st stays one word.
            let digits = c.is_ascii_digit() && p.is_alphabetic();
            if hump || digits {
                flush(&mut word);
            }
        }
        word.push(c);
    }
    flush(&mut word);
    let is_year = |w: &str| w.len() == 4 && w.bytes().all(|b| b.is_ascii_digit());
    let year = words
        .iter()
        .find(|w| is_year(w))
        .and_then(|w| w.parse().ok());
    words.retain(|w| !is_year(w));
    (words, year)
}

fn shape(words: &[String], content: &[&String]) -> Shape {
    let last = words.last().map(String::as_str).unwrap_or_default();
    match last {
        "by" => return Shape::Done,
        "of" => return Shape::RoleOf,
        _ => {}
    }
    let [only] = content else { return Shape::Role };
    let verb = forms(only).iter().skip(1).any(|f| lexicon::is_verb(f));
    match () {
        _ if verb
            && (only.ends_with("ed") || only.ends_with('s'))
            && !lexicon::is_plain_noun(only) =>
        {
            Shape::Doer
        }
        _ if lexicon::known(only) => Shape::Role,
        _ => Shape::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_into_words() {
        let split = |n| words(n).0.join(" ");
        assert_eq!(split("birthPlace"), "birth place");
        assert_eq!(
            split("elevationAboveTheSeaLevel_(in_metres)"),
            "elevation above the sea level"
        );
        assert_eq!(split("ISBN_number"), "isbn number");
        assert_eq!(
            words("revenue_fy2023"),
            (vec!["revenue".into(), "fy".into()], Some(2023))
        );
        assert_eq!(split("was a crew member of"), "was a crew member of");
    }

    #[test]
    fn names_tell_the_side_of_their_subject() {
        assert_eq!(Meaning::new("acquired").shape, Shape::Doer);
        assert_eq!(Meaning::new("owns").shape, Shape::Doer);
        assert_eq!(Meaning::new("founded_by").shape, Shape::Done);
        assert_eq!(Meaning::new("capital_of").shape, Shape::RoleOf);
        assert_eq!(Meaning::new("ceo").shape, Shape::Role);
        assert_eq!(Meaning::new("birthDate").expects, Expects::Date);
    }
}
