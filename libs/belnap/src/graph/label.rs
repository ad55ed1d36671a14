//! Names of things, cut into words that can be found in a text.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::number::{self, Number};
use crate::lexicon::{self, Kinds, Level};

/// A subject or object of the graph under one of its names.
#[derive(Debug, Clone)]
pub(super) struct Label {
    pub words: Vec<Word>,
    pub weight: f32,
    pub number: Option<Number>,
    /// Initials of its capitalised words, in lower case, if there are at least two.
    pub initials: Option<String>,
    /// The whole name as the lexicon writes it: lower case, underscores for blanks.
    pub entry: String,
    /// A general noun or phrase, not a name.
    pub common: bool,
    /// How large a place it is, if it is a known one.
    pub level: Option<Level>,
    /// Digits for the most part, but no number: an identifier.
    pub code: bool,
    /// It can be a person's name: two to four capitalised words that name nothing else.
    pub person: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Word {
    pub key: String,
    pub weight: f32,
    /// Written with a capital.
    pub capital: bool,
    /// What it is a kind of, if it is a noun.
    pub kinds: Vec<&'static str>,
}

/// Words that carry little of a name.
const LIGHT: &[&str] = &[
    "the", "of", "and", "a", "an", "in", "at", "for", "de", "la", "le", "el", "du", "des", "da",
    "do", "di", "von", "van", "der", "den", "on", "to", "by", "with", "y", "et", "al",
];
/// Words that names add or leave out freely.
const GENERIC: &[&str] = &[
    "language",
    "people",
    "music",
    "person",
    "inc",
    "corp",
    "corporation",
    "company",
    "ltd",
    "limited",
    "plc",
    "llc",
    "co",
    "fc",
    "f",
    "c",
    "club",
    "city",
    "county",
    "state",
    "republic",
    "group",
    "holding",
    "sc",
    "cf",
    "ac",
    "sir",
    "dr",
    "mr",
    "mrs",
    "jr",
    "sr",
    "team",
    "national",
    "party",
    "airport",
    "university",
    "international",
    "district",
    "province",
    "region",
    "kingdom",
    "township",
    "de",
    "rocket",
    "film",
    "novel",
];

impl Label {
    pub(super) fn new(raw: &str) -> Label {
        let raw = raw.trim().trim_matches('"');
        let bare = without_brackets(raw);
        let name = if bare.trim().is_empty() {
            raw
        } else {
            bare.trim()
        };
        let mut words: Vec<Word> = Vec::new();
        let mut lead = 0;
        let mut after_letter = false;
        let (mut capitals, mut plain) = (0, 0);
        for (i, chunk) in name
            .split(|c: char| c.is_whitespace() || c == '_')
            .enumerate()
        {
            // "1. FC": an ordinal in front is seldom said.
            let ordinal = i == 0
                && chunk.len() <= 3
                && chunk.ends_with('.')
                && chunk.starts_with(|c: char| c.is_ascii_digit());
            for piece in pieces(chunk) {
                // "A. C." and "A.C." are the same word.
                let letter =
                    |w: &str| w.len() == 1 && w.starts_with(|c: char| c.is_ascii_alphabetic());
                if letter(&piece)
                    && let Some(last) = words.last_mut()
                    && (after_letter && chunk.len() <= 2)
                {
                    last.key.push_str(&piece);
                    last.weight = if GENERIC.contains(&last.key.as_str()) {
                        0.35
                    } else {
                        1.0
                    };
                    continue;
                }
                after_letter = letter(&piece);
                let weight = match piece.as_str() {
                    _ if ordinal => 0.25,
                    w if LIGHT.contains(&w) => 0.1,
                    w if GENERIC.contains(&w) => 0.35,
                    _ => 1.0,
                };
                let capital = chunk
                    .chars()
                    .find(|c| c.is_alphabetic())
                    .is_some_and(char::is_uppercase);
                let key = key(&piece);
                words.push(Word {
                    kinds: lexicon::nearest_kinds(&key),
                    key,
                    weight,
                    capital,
                });
            }
            match chunk.chars().next() {
                Some(c) if c.is_uppercase() || c.is_numeric() => capitals += 1,
                Some(c) if c.is_alphabetic() && !LIGHT.contains(&chunk) => plain += 1,
                _ => {}
            }
            if chunk.ends_with(',') && lead == 0 {
                lead = words.len();
            }
        }
        // "Alpena, Michigan" is a place with what it lies in; a list of many parts is not.
        let commas = name.matches(',').count();
        let place = (1..=2).contains(&commas) && lead > 0 && words.len() <= 7 && plain == 0;
        if place {
            for word in &mut words[lead..] {
                word.weight *= 0.25;
            }
        }
        // A name of nothing but light words still has to be found.
        if words.iter().all(|w| w.weight < 0.5) {
            for word in words.iter_mut().filter(|w| w.weight > 0.1) {
                word.weight = 1.0;
            }
        }
        let weight: f32 = words.iter().map(|w| w.weight).sum();
        let lower = fold(name).replace(' ', "_");
        let common = capitals == 0 || (capitals == 1 && is_common(&words));
        let person = !place
            && plain == 0
            && (2..=4).contains(&words.len())
            && capitals == words.len()
            && !name.contains(|c: char| c.is_ascii_digit())
            && words.last().is_some_and(|w| {
                w.weight == 1.0 && !lexicon::kind_of_noun(&w.key).meets(NOT_A_SURNAME)
            });
        Label {
            weight: weight.max(0.1),
            code: name.chars().filter(char::is_ascii_digit).count() * 2 > name.chars().count(),
            number: number::of_label(raw),
            initials: initials(name),
            level: level(&lower),
            entry: lower,
            common,
            person,
            words,
        }
    }
}

/// The rank of a place under any of its names.
pub(super) fn level(name: &str) -> Option<Level> {
    lexicon::level_of_place(name)
        .or_else(|| lexicon::places_of(name).find_map(lexicon::level_of_place))
}

const NOT_A_SURNAME: Kinds = Kinds::ORGANISATION
    .or(Kinds::PLACE)
    .or(Kinds::WORD)
    .or(Kinds::EVENT)
    .or(Kinds::GROUP);

/// The first word is capital, yet all are ordinary words: "Pop music", "Full-size car", "Retired".
fn is_common(words: &[Word]) -> bool {
    words.iter().all(|w| {
        !lexicon::kind_of_noun(&w.key).meets(Kinds::PLACE)
            && lexicon::belongs_to(&w.key).next().is_none()
            && (w.weight < 0.5 || lexicon::known(&w.key) || w.key.len() < 3)
    })
}

fn without_brackets(raw: &str) -> String {
    let mut depth = 0usize;
    raw.chars()
        .filter(|c| match c {
            '(' => {
                depth += 1;
                false
            }
            ')' => {
                depth = depth.saturating_sub(1);
                false
            }
            _ => depth == 0,
        })
        .collect()
}

fn initials(name: &str) -> Option<String> {
    let initials: String = name
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter_map(|w| w.chars().next())
        .filter(|c| c.is_uppercase())
        .flat_map(char::to_lowercase)
        .collect();
    (initials.chars().count() >= 2).then_some(initials)
}

pub(super) fn is_light(key: &str) -> bool {
    LIGHT.contains(&key)
}

pub(super) fn is_generic(key: &str) -> bool {
    GENERIC.contains(&key)
}

/// Lower case, without accents.
pub(super) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.nfkd().filter(|c| !is_combining_mark(*c)) {
        match c {
            'ø' | 'Ø' => out.push('o'),
            'ł' | 'Ł' => out.push('l'),
            'đ' | 'Đ' | 'ð' | 'Ð' => out.push('d'),
            'ı' => out.push('i'),
            'ß' => out.push_str("ss"),
            'æ' | 'Æ' => out.push_str("ae"),
            'œ' | 'Œ' => out.push_str("oe"),
            'þ' | 'Þ' => out.push_str("th"),
            '’' | 'ʻ' => out.push('\''),
            _ => out.extend(c.to_lowercase()),
        }
    }
    out
}

/// The words within one written word, folded: `Madrid–Barajas` has two, `4,100.0` has one, which is `4100`.
pub(super) fn pieces(form: &str) -> Vec<String> {
    if let Some((value, _)) = number::digits(form.trim_end_matches([',', '.', ';', ':'])) {
        return vec![format!("{value}")];
    }
    let folded = fold(form);
    // "F.C." is one word.
    let dotted = folded.len() >= 3
        && folded.split('.').all(|w| w.chars().count() <= 1)
        && folded.contains('.');
    if dotted {
        return vec![folded.chars().filter(|c| c.is_alphanumeric()).collect()];
    }
    let folded = folded.strip_suffix("'s").unwrap_or(&folded);
    folded
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .map(|w| match w.strip_prefix('0') {
            Some(rest) if rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit() => {
                rest.to_string()
            }
            _ => w.to_string(),
        })
        .collect()
}

/// Folds the plural away, the same for labels and texts.
pub(super) fn key(piece: &str) -> String {
    match piece.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 && !stem.ends_with('s') => stem.to_string(),
        _ => piece.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_brackets_accents_and_plurals() {
        let keys = |s: &str| {
            Label::new(s)
                .words
                .into_iter()
                .map(|w| w.key)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            keys("Adolfo Suárez Madrid–Barajas"),
            ["adolfo", "suarez", "madrid", "baraja"]
        );
        assert_eq!(
            keys("Ardmore Airport (New Zealand)"),
            ["ardmore", "airport"]
        );
        assert_eq!(keys("4,100.0"), ["4100"]);
        assert_eq!(keys("Dead Man's Plack"), ["dead", "man", "plack"]);
    }

    #[test]
    fn names_are_told_from_general_phrases() {
        assert!(Label::new("Pop music").common && Label::new("retired").common);
        assert!(!Label::new("Boston").common && Label::new("Mark Zuckerberg").person);
        assert!(!Label::new("Stanford University").person);
        assert_eq!(Label::new("Alpena, Michigan").words[1].weight, 0.25);
        assert_eq!(
            Label::new("Port Authority of New York").initials.as_deref(),
            Some("pany")
        );
    }
}
