//! Names and values of a sentence: what can be an end of an implied triple.

use std::cell::OnceCell;
use std::collections::HashSet;

use super::clauses::Sentence;
use super::context::{Context, Entity};
use super::value::{Value, value_at};
use crate::lexicon::concepts_asked;
use crate::text::{Word, is_generic, stem};

/// Something in a clause that can be an end of a triple.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub start: usize,
    pub end: usize,
    pub what: What,
}

#[derive(Debug, Clone)]
pub(super) enum What {
    /// A name of the context, and what it may mean.
    Known(Vec<Entity>),
    /// A name that the context has not.
    Unknown(String),
    Value(Value),
}

/// Names and values of a sentence, left to right.
pub(super) fn items(sentence: &Sentence, context: &Context<'_>) -> Vec<Item> {
    let words = &sentence.words;
    let roles = OnceCell::new();
    let role_words = || roles.get_or_init(|| role_words(words));
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let run = words.get(at..).unwrap_or_default();
        if let Some((length, entities)) = context.longest(run) {
            found.push(Item {
                start: at,
                end: at + length,
                what: What::Known(entities),
            });
            at += length;
        } else if let Some((length, value)) = value_at(sentence, at) {
            found.push(Item {
                start: at,
                end: at + length,
                what: What::Value(value),
            });
            at += length;
        } else if let Some(length) = unknown_name(sentence, at, context, role_words) {
            let part = words.get(at..at + length).unwrap_or_default();
            let beside = found.last().is_some_and(|last: &Item| {
                last.end == at
                    && matches!(last.what, What::Known(_))
                    && sentence.gap_after(at.wrapping_sub(1)) == " "
            });
            // "Apple Park" may be Apple's; a name grown from a known one is not held against the answer.
            // "the Canadian James Watson", "T. S. Thakur": what leads to a known name is part of it.
            let leads = sentence.gap_after(at + length - 1).trim_end().is_empty()
                && words
                    .get(at + length..)
                    .is_some_and(|rest| context.longest(rest).is_some());
            if !beside && !leads && part.iter().any(|word| !context.knows(&stem(&word.plain))) {
                let surfaces: Vec<&str> = part.iter().map(|word| word.surface.as_str()).collect();
                found.push(Item {
                    start: at,
                    end: at + length,
                    what: What::Unknown(surfaces.join(" ")),
                });
            }
            at += length;
        } else {
            at += 1;
        }
    }
    found
}

/// How many words from here on look like a name that the context does not have.
fn unknown_name<'r>(
    sentence: &Sentence,
    at: usize,
    context: &Context<'_>,
    role_words: impl Fn() -> &'r HashSet<usize>,
) -> Option<usize> {
    let words = &sentence.words;
    let is_name = |place: usize| {
        words.get(place).is_some_and(|word| {
            let mixed = word.surface.chars().skip(1).any(char::is_uppercase);
            (word.capital || mixed)
                && word.surface.starts_with(char::is_alphabetic)
                && !word.is_stop()
                && !is_generic(&word.plain)
                && !CALENDAR.contains(&word.plain.as_str())
                && !role_words().contains(&place)
        })
    };
    if !is_name(at) {
        return None;
    }
    let mut end = at + 1;
    loop {
        let joined = sentence.gap_after(end - 1);
        let plain_gap = joined == " " || joined == "-" || joined == "–";
        let linked = words.get(end).is_some_and(|word| {
            matches!(
                word.plain.as_str(),
                "of" | "de" | "von" | "van" | "al" | "la"
            )
        }) && is_name(end + 1)
            && sentence.gap_after(end) == " ";
        let next_is_known = words
            .get(end..)
            .is_some_and(|rest| context.longest(rest).is_some());
        if plain_gap && is_name(end) && !next_is_known {
            end += 1;
        } else if plain_gap && linked {
            end += 2;
        } else {
            break;
        }
    }
    let first = words.get(at)?;
    if first.opens && end == at + 1 {
        // The first word of a sentence has its capital anyway.
        let next = words.get(end).map_or("", |word| word.plain.as_str());
        let acts = matches!(next, "is" | "was" | "has" | "had" | "were" | "are")
            || crate::asked::ACTIONS.contains(&stem(next).as_str());
        if !acts || first.plain.ends_with("ing") || first.plain.ends_with("ly") {
            return None;
        }
    }
    Some(end - at)
}

/// Capital words that name a relation ("CEO") rather than a thing.
fn role_words(words: &[Word]) -> HashSet<usize> {
    let stems: Vec<String> = words.iter().map(|word| stem(&word.plain)).collect();
    let mut places: HashSet<usize> = concepts_asked(&stems)
        .into_iter()
        .flat_map(|asked| asked.words)
        .collect();
    for (at, word) in words.iter().enumerate() {
        if ROLE_WORDS.contains(&word.plain.as_str()) {
            places.insert(at);
        }
    }
    places
}

const CALENDAR: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "q1",
    "q2",
    "q3",
    "q4",
    "fy",
];

const ROLE_WORDS: &[&str] = &[
    "ceo",
    "cfo",
    "cto",
    "coo",
    "ceos",
    "chairman",
    "chair",
    "president",
    "director",
    "founder",
    "founders",
    "mr",
    "mrs",
    "ms",
    "dr",
    "prof",
    "sir",
    "note",
    "source",
    "sources",
    "summary",
    "overview",
    "key",
    "facts",
    "yes",
    "no",
    "ipo",
    "ai",
    "it",
    "usa",
    "us",
    "uk",
    "eu",
    "usd",
    "eur",
    "gbp",
    "english",
    "american",
    "british",
    "german",
    "french",
    "chinese",
    "japanese",
    "european",
    "asian",
    "indian",
    "today",
    "currently",
    "however",
    "additionally",
    "meanwhile",
    "overall",
    "according",
    "based",
    "both",
    "together",
    "finally",
    "moreover",
    "furthermore",
    "notably",
    "specifically",
    "headquarters",
    "revenue",
    "products",
    "industry",
];
