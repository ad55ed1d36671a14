//! Numbers, dates and years in a sentence, and whether a statement's object is the same.

use chrono::{Datelike, NaiveDate};

use super::clauses::Sentence;
use crate::number::{Decimal, Quantity};
use crate::object::{Object, parse_date};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// A four-digit year without a unit; it may also be an amount.
    Year(i32),
    Date(NaiveDate),
    Amount(Quantity),
}

/// The value that starts at a word, and how many words it takes.
pub(super) fn value_at(sentence: &Sentence, at: usize) -> Option<(usize, Value)> {
    let word = sentence.words.get(at)?;
    if let Some(found) = date_at(sentence, at) {
        return Some(found);
    }
    if !word
        .surface
        .starts_with(|letter: char| letter.is_ascii_digit())
    {
        return None;
    }
    let before = sentence.before.get(at).map_or("", String::as_str);
    let mark = currency_before(before);
    let minus = if before.ends_with(['-', '\u{2212}']) && before.len() > 1 {
        "-"
    } else {
        ""
    };
    for length in (1..=4).rev() {
        let Some(part) = sentence.words.get(at..at + length) else {
            continue;
        };
        let mut text = format!("{minus}{mark}");
        let mut whole = true;
        for (offset, word) in part.iter().enumerate() {
            if offset > 0 {
                text.push(' ');
            }
            text.push_str(&word.surface);
            let gap = sentence.gap_after(at + offset);
            if offset + 1 < part.len() {
                // A unit may be glued by a hyphen ("5-year"), which is another thing.
                whole &= gap.chars().all(char::is_whitespace) || gap == "%";
            }
            if gap.starts_with('%') {
                text.push('%');
                whole &= offset + 1 == part.len();
            }
        }
        if !whole {
            continue;
        }
        if let Some(quantity) = Quantity::parse(&text) {
            let bare = quantity.unit.is_none() && length == 1;
            let year = quantity
                .value
                .year()
                .filter(|_| bare && !word.surface.contains(','));
            return Some((length, year.map_or(Value::Amount(quantity), Value::Year)));
        }
    }
    None
}

fn date_at(sentence: &Sentence, at: usize) -> Option<(usize, Value)> {
    let part = sentence.words.get(at..at + 3)?;
    let [a, b, c] = part else { return None };
    // "the 31st of July 2016"
    if b.plain == "of"
        && let Some(year) = sentence.words.get(at + 3)
    {
        let text = format!("{} {} {}", a.surface, c.surface, year.surface);
        return parse_date(&text).map(|date| (4, Value::Date(date)));
    }
    let (first, second) = (sentence.gap_after(at), sentence.gap_after(at + 1));
    let text = if first == "-" && second == "-" {
        format!("{}-{}-{}", a.surface, b.surface, c.surface)
    } else {
        let year = c.surface.trim_end_matches(['.', ',']);
        format!("{} {} {year}", a.surface, b.surface)
    };
    parse_date(&text).map(|date| (3, Value::Date(date)))
}

fn currency_before(before: &str) -> &'static str {
    const MARKS: &[&str] = &[
        "US$", "NT$", "HK$", "A$", "C$", "$", "€", "£", "¥", "₩", "₹",
    ];
    MARKS
        .iter()
        .find(|mark| before.ends_with(**mark))
        .copied()
        .unwrap_or("")
}

impl Value {
    pub(super) fn year(&self) -> Option<i32> {
        match self {
            Self::Year(year) => Some(*year),
            Self::Date(date) => Some(date.year()),
            Self::Amount(_) => None,
        }
    }

    pub(super) fn show(&self) -> String {
        match self {
            Self::Year(year) => year.to_string(),
            Self::Date(date) => date.to_string(),
            Self::Amount(quantity) => match &quantity.unit {
                Some(unit) => format!("{} {unit}", quantity.value.as_str()),
                None => quantity.value.as_str().to_owned(),
            },
        }
    }

    /// A small whole number without a unit, which may merely count something.
    pub(super) fn counts(&self) -> Option<usize> {
        match self {
            Self::Amount(quantity) if quantity.unit.is_none() => quantity
                .value
                .as_str()
                .parse()
                .ok()
                .filter(|count| *count <= 20),
            _ => None,
        }
    }

    /// Whether the statement's object is this value, as precisely as the answer states it. `about` allows five percent
    /// where the answer itself says that it rounds.
    pub(super) fn is(&self, object: &Object, about: bool) -> bool {
        match (self, object) {
            (Self::Date(date), Object::Date(known)) => date == known,
            (Self::Year(year), Object::Date(known)) => *year == known.year(),
            (Self::Date(date), Object::Number { value, unit: None }) => {
                value.year() == Some(date.year())
            }
            (Self::Year(year), Object::Number { value, unit }) => {
                let same = Decimal::parse(&year.to_string()).as_ref() == Some(value);
                same && unit.as_deref().is_none_or(|unit| unit != "%")
            }
            (Self::Amount(said), Object::Number { value, unit }) => {
                let known = Quantity {
                    value: value.clone(),
                    unit: unit.clone(),
                };
                same_amount(said, &known, about)
            }
            _ => false,
        }
    }
}

fn same_amount(said: &Quantity, known: &Quantity, about: bool) -> bool {
    let ((said_value, said_unit), (known_value, known_unit)) = (said.base(), known.base());
    if !said_unit.is_empty() && !known_unit.is_empty() && said_unit != known_unit {
        return false;
    }
    if said_value == known_value {
        return true;
    }
    let (a, b) = (said_value.to_f64(), known_value.to_f64());
    if !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0 {
        return false;
    }
    if about && (a - b).abs() <= 0.05 * b.abs() {
        return true;
    }
    // Rounded to the digits that are given, from two on.
    let digits = significant(said_value.as_str());
    digits >= 2 && {
        let power = a.abs().log10().floor() as i32;
        let step = 10_f64.powi(power + 1 - i32::try_from(digits).unwrap_or(0));
        (a - b).abs() <= 0.5 * step * (1.0 + 1e-9)
    }
}

fn significant(decimal: &str) -> usize {
    let digits = decimal.trim_start_matches('-');
    if digits.contains('.') {
        let bare: String = digits.chars().filter(char::is_ascii_digit).collect();
        bare.trim_start_matches('0').len()
    } else {
        digits.trim_end_matches('0').len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::clauses::sentences;

    fn values(text: &str) -> Vec<String> {
        let found = sentences(text);
        let sentence = &found[0];
        let mut shown = Vec::new();
        let mut at = 0;
        while at < sentence.words.len() {
            if let Some((length, value)) = value_at(sentence, at) {
                shown.push(value.show());
                at += length;
            } else {
                at += 1;
            }
        }
        shown
    }

    #[test]
    fn values_are_read_with_units_and_scales() {
        assert_eq!(
            values("It made $383.285 billion in 2023, up 7.5% from 356 billion euros."),
            ["383285000000 USD", "2023", "7.5 %", "356000000000 EUR"]
        );
        assert_eq!(
            values("On April 1, 1976 and 2 May 1980 and 2001-02-03 it had 161,000 employees."),
            ["1976-04-01", "1980-05-02", "2001-02-03", "161000 employees"]
        );
        assert_eq!(values("The iPhone and a 5-year plan in the 1970s."), ["5"]);
    }

    #[test]
    fn amounts_are_equal_as_precisely_as_they_are_said() {
        let amount = |text: &str| Value::Amount(Quantity::parse(text).unwrap());
        let known = Object::Number {
            value: Decimal::parse("383285000000").unwrap(),
            unit: Some("USD".into()),
        };
        for (said, about, same) in [
            ("$383.285 billion", false, true),
            ("$383 billion", false, true),
            ("$383.3 billion", false, true),
            ("$380 billion", false, true),
            ("$384 billion", false, false),
            ("$394 billion", false, false),
            ("$400 billion", false, false),
            ("$400 billion", true, true),
            ("€383.285 billion", false, false),
            ("383,285 million", false, true),
        ] {
            assert_eq!(amount(said).is(&known, about), same, "{said}");
        }
    }
}
