//! Typed values in text: quantities with units, and dates that may be partial.

mod compare;
mod dates;
mod lex;
mod numbers;
mod units;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use compare::Relation;
pub(crate) use units::physical;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Value {
    Quantity(Quantity),
    Date(PartialDate),
    /// A stretch of days, both ends included: "Q2 2024", "the 1990s", "2003–2007".
    Period {
        from: PartialDate,
        to: PartialDate,
    },
    /// Day and month cannot be told apart: "05/06/1980".
    Either(PartialDate, PartialDate),
    /// A time of day.
    Time {
        hour: u8,
        minute: u8,
        second: u8,
    },
}

/// What the number bounds: "more than 5" is `Over`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    #[default]
    Exact,
    About,
    Over,
    AtLeast,
    Under,
    AtMost,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    pub value: f64,
    /// Half of the last stated digit: `1.5 billion` is 1.5e9 ± 0.05e9.
    pub precision: f64,
    /// Canonical unit (`m`, `kg`, `s`, `m2`, `l`, `°C`, `m/s`, `byte`, `USD`, `%`, `pp`; `th` of an ordinal; a counted
    /// noun's lemma), if any.
    pub unit: Option<String>,
    pub bound: Bound,
}

/// A day, a month, a year, or a day of any year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PartialDate {
    /// −44 is 44 BC; there is no year 0.
    pub year: Option<i32>,
    pub month: Option<u8>,
    pub day: Option<u8>,
}

impl Value {
    /// The value that the whole of a text is, as in the object of a statement: "1980-06-26", "12.5 (kilometres)".
    pub fn parse(text: &str) -> Option<Value> {
        parse(text)
    }

    /// All values in a text with their bytes, from left to right, none inside another.
    pub fn find(text: &str) -> Vec<(Range<usize>, Value)> {
        find(text)
    }
}

/// A text longer than this is no single value.
const LONGEST: usize = 120;

pub(crate) fn parse(text: &str) -> Option<Value> {
    let text = text.split("^^").next().unwrap_or_default();
    let text = text.trim();
    let text = match text.starts_with(['"', '“']) {
        true => text.trim_matches(['"', '“', '”']),
        false => text,
    };
    let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | ',' | ';'));
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    let l = lex::lexemes(text);
    let start = usize::from(l.len() > 1 && l.first()?.word() == Some("the"));
    let (end, value) = read(&l, start, true)?;
    let rest = l.get(end..)?;
    let idle = rest
        .iter()
        .all(|x| x.word() == Some("old") || matches!(x.kind, lex::Kind::Sign('.' | ',' | ')')));
    (idle && rest.len() <= 2).then_some(value)
}

pub(crate) fn find(text: &str) -> Vec<(Range<usize>, Value)> {
    let l = lex::lexemes(text);
    let mut found = Vec::new();
    let mut i = 0;
    while i < l.len() {
        // "A320", "x2": digits that go on a word.
        let inside = i > 0
            && !l[i].apart
            && (l[i - 1].word().is_some()
                || l[i - 1].dash() && i > 1 && !l[i - 1].apart && l[i - 2].word().is_some());
        match read(&l, i, false) {
            Some((end, value)) if !inside && end > i && plausible(&l, i, end) => {
                found.push((l[i].range.start..l[end - 1].range.end, value));
                i = end;
            }
            _ => i += 1,
        }
    }
    found
}

/// The longer of the readings as a date and as a quantity.
fn read(l: &[lex::Lexeme], i: usize, alone: bool) -> Option<(usize, Value)> {
    l.get(i)?;
    let date = dates::read(l, i, alone);
    let number = numbers::read(l, i);
    let number = match numbers::ordinal_at(l, i) {
        Some(o) if number.as_ref().is_none_or(|n| n.0 < o.0) => Some(o),
        _ => number,
    };
    match (date, number) {
        (Some(d), Some(n)) => Some(if n.0 > d.0 { n } else { d }),
        (d, n) => d.or(n),
    }
}

/// "one of them" and "the one" count nothing, nor does a number that runs on into letters.
fn plausible(l: &[lex::Lexeme], i: usize, end: usize) -> bool {
    let next = l.get(end);
    if end == i + 1 && l[i].word() == Some("one") {
        return next.is_some_and(|x| {
            x.apart
                && x.word()
                    .is_some_and(|w| !matches!(w, "of" | "another" | "who" | "that" | "day"))
        });
    }
    if end == i + 1 && l[i].word() == Some("second") {
        return next.is_some_and(|x| x.word().is_some());
    }
    !next.is_some_and(|x| !x.apart && x.word().is_some())
}

/// A word that is or scales a number, or names a month.
pub(crate) fn is_word(lemma: &str) -> bool {
    numbers::is_number_word(lemma)
        || dates::month(lemma).is_some()
        || numbers::ordinal(lemma).is_some()
}
