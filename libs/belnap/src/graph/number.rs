//! Numbers with units and dates, as labels and texts write them.

use std::ops::Range;

/// A number or a date that a label or a stretch of text stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Plain {
        value: f64,
        /// Half of the last digit that is written.
        precision: f64,
        unit: Option<Unit>,
        /// Written as a bare whole number of four digits: it may be a year.
        year: bool,
    },
    Date {
        year: Option<i32>,
        month: Option<u8>,
        day: Option<u8>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    pub dimension: Dimension,
    pub factor: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dimension {
    Length,
    Area,
    Volume,
    Mass,
    Time,
    Speed,
    Temperature,
    Money(u8),
    Share,
}

/// How two numbers stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    Equal,
    Unequal,
    /// They do not measure the same thing, or too little is stated.
    Incomparable,
}

impl Number {
    pub(super) fn is_date(self) -> bool {
        matches!(self, Number::Date { .. } | Number::Plain { year: true, .. })
    }

    /// Every part of a day is stated.
    pub(super) fn is_full_date(self) -> bool {
        matches!(
            self,
            Number::Date {
                year: Some(_),
                month: Some(_),
                day: Some(_)
            }
        )
    }

    /// A negative number without its sign.
    pub(super) fn negated(self) -> Option<Number> {
        match self {
            Number::Plain {
                value,
                precision,
                unit,
                ..
            } if value < 0.0 => Some(Number::Plain {
                value: -value,
                precision,
                unit,
                year: false,
            }),
            _ => None,
        }
    }

    fn as_year(self) -> Option<i32> {
        match self {
            Number::Plain {
                value, year: true, ..
            } => Some(value as i32),
            _ => None,
        }
    }

    pub(super) fn compare(self, other: Number) -> Match {
        match (self, other) {
            (
                Number::Date {
                    year: y,
                    month: m,
                    day: d,
                },
                Number::Date {
                    year: v,
                    month: n,
                    day: e,
                },
            ) => {
                let parts = [
                    (y.map(i64::from), v.map(i64::from)),
                    (m.map(i64::from), n.map(i64::from)),
                    (d.map(i64::from), e.map(i64::from)),
                ];
                let mut shared = false;
                for (a, b) in parts {
                    if let (Some(a), Some(b)) = (a, b) {
                        if a != b {
                            return Match::Unequal;
                        }
                        shared = true;
                    }
                }
                if shared {
                    Match::Equal
                } else {
                    Match::Incomparable
                }
            }
            (Number::Date { year: Some(y), .. }, plain)
            | (plain, Number::Date { year: Some(y), .. }) => match plain.as_year() {
                Some(v) if v == y => Match::Equal,
                Some(_) => Match::Unequal,
                None => Match::Incomparable,
            },
            (
                Number::Plain {
                    value: a,
                    precision: p,
                    unit: u,
                    ..
                },
                Number::Plain {
                    value: b,
                    precision: q,
                    unit: v,
                    ..
                },
            ) => compare_plain(a, p, u, b, q, v),
            _ => Match::Incomparable,
        }
    }
}

fn compare_plain(a: f64, p: f64, u: Option<Unit>, b: f64, q: f64, v: Option<Unit>) -> Match {
    let near = |x: f64, y: f64, slack: f64| (x - y).abs() <= slack + 1e-9 * x.abs().max(y.abs());
    if u.zip(v).is_some_and(|(u, v)| u.dimension != v.dimension) {
        return Match::Incomparable;
    }
    if near(a, b, p.max(q)) && u.zip(v).is_none_or(|(u, v)| u.factor == v.factor) {
        return Match::Equal;
    }
    match (u, v) {
        (Some(u), Some(v)) => {
            let slack = (p * u.factor).max(q * v.factor);
            let (x, y) = (a * u.factor, b * v.factor);
            if near(x, y, slack) || (u.factor != v.factor && near(x, y, 0.01 * x.abs())) {
                Match::Equal
            } else {
                Match::Unequal
            }
        }
        _ => Match::Unequal,
    }
}

const MONTHS: [&str; 12] = [
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
];

fn month(word: &str) -> Option<u8> {
    let word = word.trim_end_matches('.');
    let at = MONTHS
        .iter()
        .position(|m| *m == word || (word.len() >= 3 && word.len() <= 4 && m.starts_with(word)))?;
    Some(at as u8 + 1)
}

fn magnitude(word: &str) -> Option<f64> {
    Some(match word {
        "hundred" => 1e2,
        "thousand" | "k" => 1e3,
        "million" | "millions" | "mn" | "mio" => 1e6,
        "billion" | "billions" | "bn" => 1e9,
        "trillion" | "tn" => 1e12,
        _ => return None,
    })
}

pub(super) fn number_word(word: &str) -> Option<f64> {
    const SMALL: [&str; 21] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ];
    if let Some(at) = SMALL.iter().position(|w| *w == word) {
        return Some(at as f64);
    }
    const TENS: [&str; 7] = [
        "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    ];
    let at = TENS.iter().position(|w| *w == word)?;
    Some(30.0 + 10.0 * at as f64)
}

/// The unit that starts at a word, and how many words it takes.
fn unit<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<(Unit, usize)> {
    use Dimension::*;
    let first = words.next()?;
    if first == "square" || first == "sq" || first == "cubic" {
        let side = length(words.next()?.trim_end_matches('.'))?;
        let unit = if first == "cubic" {
            Unit {
                dimension: Volume,
                factor: side.powi(3),
            }
        } else {
            Unit {
                dimension: Area,
                factor: side * side,
            }
        };
        return Some((unit, 2));
    }
    let first = first.trim_end_matches('.');
    let (dimension, factor) = match first {
        "km²" | "km2" | "sqkm" => (Area, 1e6),
        "m²" | "m2" => (Area, 1.0),
        "acre" | "acres" => (Area, 4046.856),
        "hectare" | "hectares" | "ha" => (Area, 1e4),
        "kg" | "kilogram" | "kilograms" | "kilogramme" | "kilogrammes" | "kgs" => (Mass, 1e3),
        "g" | "gram" | "grams" | "gramme" | "grammes" => (Mass, 1.0),
        "tonne" | "tonnes" | "ton" | "tons" => (Mass, 1e6),
        "lb" | "lbs" | "pounds" => (Mass, 453.592),
        "second" | "seconds" | "sec" | "s" => (Time, 1.0),
        "minute" | "minutes" | "min" | "mins" => (Time, 60.0),
        "hour" | "hours" | "hrs" => (Time, 3600.0),
        "day" | "days" => (Time, 86_400.0),
        "week" | "weeks" => (Time, 604_800.0),
        "month" | "months" => (Time, 2_629_746.0),
        "year" | "years" => (Time, 31_556_952.0),
        "kmh" | "kph" | "km/h" => (Speed, 1000.0 / 3600.0),
        "mph" => (Speed, 0.44704),
        "%" | "percent" | "pct" => (Share, 0.01),
        "°c" | "celsius" => (Temperature, 1.0),
        "kelvin" | "kelvins" => (Temperature, 1.0),
        "usd" | "dollar" | "dollars" | "$" => (Money(0), 1.0),
        "eur" | "euro" | "euros" | "€" => (Money(1), 1.0),
        "gbp" | "£" => (Money(2), 1.0),
        "jpy" | "yen" | "¥" => (Money(3), 1.0),
        _ => (Length, length(first)?),
    };
    let unit = Unit { dimension, factor };
    if dimension == Length && words.next() == Some("per") {
        return match words.next() {
            Some("second") => Some((
                Unit {
                    dimension: Speed,
                    factor,
                },
                3,
            )),
            Some("hour") => Some((
                Unit {
                    dimension: Speed,
                    factor: factor / 3600.0,
                },
                3,
            )),
            _ => None,
        };
    }
    Some((unit, 1))
}

fn length(word: &str) -> Option<f64> {
    Some(match word {
        "m" | "metre" | "metres" | "meter" | "meters" => 1.0,
        "km" | "kms" | "kilometre" | "kilometres" | "kilometer" | "kilometers" => 1000.0,
        "cm" | "centimetre" | "centimetres" | "centimeter" | "centimeters" => 0.01,
        "mm" | "millimetre" | "millimetres" | "millimeter" | "millimeters" => 0.001,
        "ft" | "foot" | "feet" => 0.3048,
        "inch" | "inches" => 0.0254,
        "yard" | "yards" => 0.9144,
        "mile" | "miles" | "mi" => 1609.344,
        _ => return None,
    })
}

/// A written number and half of its last digit: `1,533.50` gives 1533.5 and 0.005.
pub(super) fn digits(form: &str) -> Option<(f64, f64)> {
    if !form.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+' || c == '−')
        || !form.ends_with(|c: char| c.is_ascii_digit())
    {
        return None;
    }
    let plain: String = form.replace('−', "-").replace(',', "");
    let grouped = form
        .split(',')
        .skip(1)
        .all(|g| g.split('.').next().is_some_and(|g| g.len() == 3));
    let value: f64 = plain.parse().ok().filter(|v: &f64| v.is_finite())?;
    if !grouped || plain.contains(['e', 'E']) {
        return None;
    }
    let fraction = plain
        .split('.')
        .nth(1)
        .map_or("", |f| f.trim_end_matches('0'));
    let precision = 0.5 * 10f64.powi(-(fraction.len() as i32));
    Some((value, precision))
}

/// `1984-07-23`, with an optional time after it.
fn iso(form: &str) -> Option<Number> {
    let b = form.as_bytes();
    if b.len() < 10 || b[4] != b'-' || b[7] != b'-' || b.get(10).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let part = |r: Range<usize>| form.get(r)?.parse::<u32>().ok();
    let (y, m, d) = (part(0..4)?, part(5..7)?, part(8..10)?);
    ((1..=12).contains(&m) && (1..=31).contains(&d)).then_some(Number::Date {
        year: Some(y as i32),
        month: Some(m as u8),
        day: Some(d as u8),
    })
}

/// `31.12.2006`, `12/31/2006`: where day and month cannot be told apart, the year alone.
fn numeric(form: &str) -> Option<Number> {
    let parts: Vec<&str> = form.split(['.', '/', '-']).collect();
    let [a, b, y] = parts.as_slice() else {
        return None;
    };
    let y = year(y)?;
    let part = |s: &str| (s.len() <= 2).then(|| s.parse::<u8>().ok()).flatten();
    let (a, b) = (part(a)?, part(b)?);
    let (month, day) = match (a, b) {
        (13..=31, 1..=12) => (Some(b), Some(a)),
        (1..=12, 13..=31) => (Some(a), Some(b)),
        (1..=12, 1..=12) if a == b => (Some(a), Some(b)),
        (1..=12, 1..=12) => (None, None),
        _ => return None,
    };
    Some(Number::Date {
        year: Some(y),
        month,
        day,
    })
}

fn day(word: &str) -> Option<u8> {
    let n = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let suffix = &word[n.len()..];
    if !matches!(suffix, "" | "st" | "nd" | "rd" | "th") || n.len() > 2 {
        return None;
    }
    n.parse().ok().filter(|d| (1..=31).contains(d))
}

fn year(word: &str) -> Option<i32> {
    (word.len() == 4 && word.bytes().all(|b| b.is_ascii_digit()))
        .then(|| word.parse().ok())
        .flatten()
        .filter(|y| (1000..2200).contains(y))
}

/// The number or date that starts at a word, and how many words it takes. Words are in lower case; punctuation
/// marks are words of their own.
pub(super) fn at(words: &[&str]) -> Option<(Number, usize)> {
    let first = *words.first()?;
    if let Some(date) = iso(first) {
        return Some((date, 1));
    }
    if let Some(date) = numeric(first) {
        return Some((date, 1));
    }
    if let Some(date) = dated(words) {
        return Some(date);
    }
    let (currency, skip) = match first {
        "$" | "us$" | "€" | "£" | "¥" => (
            unit(std::iter::once(first.trim_start_matches("us"))).map(|u| u.0),
            1,
        ),
        _ => (None, 0),
    };
    let word = words.get(skip)?;
    let (mut value, mut precision) = match digits(word) {
        Some(n) => n,
        None => (number_word(word)?, 0.0),
    };
    let year = skip == 0 && year(word).is_some();
    let mut used = skip + 1;
    let next_word = |used: usize| words.get(used).map(|w| w.trim_end_matches('.'));
    let mut scaled = false;
    while let Some(m) = next_word(used).and_then(magnitude) {
        value *= m;
        precision *= m;
        used += 1;
        scaled = true;
    }
    let rest = words.get(used..).unwrap_or_default().iter().copied();
    let (unit, length) = match (currency, unit(rest.filter(|w| *w != "-" && *w != "("))) {
        (Some(c), _) => (Some(c), 0),
        (None, Some((u, n))) => (
            Some(u),
            n + usize::from(matches!(words.get(used), Some(&"-" | &"("))),
        ),
        (None, None) => (None, 0),
    };
    let year = year && unit.is_none() && !scaled;
    Some((
        Number::Plain {
            value,
            precision,
            unit,
            year,
        },
        used + length,
    ))
}

fn dated(words: &[&str]) -> Option<(Number, usize)> {
    let word = |i: usize| words.get(i).copied().unwrap_or_default();
    let skip_comma = |i: usize| i + usize::from(word(i) == ",");
    if let Some(m) = month(word(0)) {
        // July 23, 1982; July the 23rd, 1982; July 1982; July 23.
        let at = 1 + usize::from(word(1) == "the");
        if let Some(d) = day(word(at)) {
            let after = skip_comma(at + 1);
            return Some(match year(word(after)) {
                Some(y) => (
                    Number::Date {
                        year: Some(y),
                        month: Some(m),
                        day: Some(d),
                    },
                    after + 1,
                ),
                None => (
                    Number::Date {
                        year: None,
                        month: Some(m),
                        day: Some(d),
                    },
                    at + 1,
                ),
            });
        }
        let after = skip_comma(1);
        let after = after + usize::from(word(after) == "of");
        let y = year(word(after))?;
        return Some((
            Number::Date {
                year: Some(y),
                month: Some(m),
                day: None,
            },
            after + 1,
        ));
    }
    // 23 July 1982; the 23rd of July, 1982.
    let d = day(word(0))?;
    let at = 1 + usize::from(matches!(word(1), "of" | ","));
    let m = month(word(at))?;
    let after = skip_comma(at + 1);
    Some(match year(word(after)) {
        Some(y) => (
            Number::Date {
                year: Some(y),
                month: Some(m),
                day: Some(d),
            },
            after + 1,
        ),
        None => (
            Number::Date {
                year: None,
                month: Some(m),
                day: Some(d),
            },
            at + 1,
        ),
    })
}

/// The number or date that a whole label is: `110 million (dollars)`, `1984-07-23`, but not `Apollo 11`.
pub(super) fn of_label(label: &str) -> Option<Number> {
    let lower = label.trim().trim_matches('"').to_lowercase();
    let spaced = lower
        .replace('(', " ( ")
        .replace(')', " ")
        .replace('$', " $ ")
        .replace('€', " € ")
        .replace('£', " £ ");
    let words: Vec<&str> = spaced
        .split_whitespace()
        .flat_map(|w| match w.strip_suffix(',') {
            Some(w) => vec![w, ","],
            None => vec![w],
        })
        .collect();
    let (number, used) = at(&words)?;
    if number_word(words[0]).is_some() && words.len() > 1 {
        return None;
    }
    let rest = &words[used.min(words.len())..];
    let bracket = rest.first() == Some(&"(")
        || (rest.len() <= 2 && rest.iter().all(|w| w.chars().all(char::is_alphabetic)));
    (rest.is_empty() || bracket).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(a: &str, b: &str) -> Match {
        of_label(a).unwrap().compare(of_label(b).unwrap())
    }

    #[test]
    fn equal_after_normalisation() {
        for (a, b) in [
            ("1,533.0", "1533"),
            ("167.94", "168"),
            ("1984-07-23", "July 23, 1984"),
            ("23rd of July 1984", "1984-07-23"),
            ("1984-07-23", "1984"),
            ("$3 billion", "3000000000 USD"),
            ("110 million (dollars)", "$110,000,000"),
            ("1000 feet", "304.8 metres"),
        ] {
            assert_eq!(compare(a, b), Match::Equal, "{a} {b}");
        }
    }

    #[test]
    fn unequal_or_incomparable() {
        assert_eq!(compare("1533", "1534"), Match::Unequal);
        assert_eq!(compare("1984-07-23", "1985"), Match::Unequal);
        assert_eq!(compare("5 kg", "5.2 km"), Match::Incomparable);
        assert_eq!(compare("1984-07-23", "12.5"), Match::Incomparable);
        assert_eq!(of_label("Apollo 11"), None);
        assert_eq!(of_label("11th Mississippi Infantry"), None);
    }
}
