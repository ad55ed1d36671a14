//! Numbers, amounts, dates and ordinals in a sentence, and when two of them exclude each other.

use std::ops::Range;

use super::reading::Reading;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Exact,
    About,
    Over,
    Under,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// Value, half of its last digit, unit.
    Amount {
        value: f64,
        slack: f64,
        unit: String,
        bound: Bound,
    },
    Ordinal {
        rank: i64,
        unit: String,
    },
    Date {
        year: Option<i32>,
        month: Option<u8>,
        day: Option<u8>,
    },
    /// First year and number of years.
    Era {
        from: i32,
        years: i32,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measure {
    pub kind: Kind,
    pub tokens: Range<usize>,
    /// The word that the measure hangs on in the tree.
    pub anchor: usize,
    /// Of a date, that it is of someone's birth or death.
    pub event: Option<Event>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Birth,
    Death,
}

/// How two measures stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Equal,
    Unequal,
    /// Of other kinds or units.
    Apart,
}

pub(super) fn find(reading: &Reading) -> Vec<Measure> {
    let mut found = Vec::new();
    let mut i = 0;
    while i < reading.words.len() {
        match at(reading, i) {
            Some(m) => {
                i = m.tokens.end.max(i + 1);
                found.push(m);
            }
            None => i += 1,
        }
    }
    for k in 0..found.len() {
        found[k].event = event(reading, &found, k);
    }
    found
}

/// By the words it hangs on, or by its place in "(born 1 May 1900)" and "(1900 – 1980)".
fn event(r: &Reading, found: &[Measure], k: usize) -> Option<Event> {
    let m = &found[k];
    let Kind::Date { year, .. } = m.kind else {
        return None;
    };
    let before = |n: usize| {
        m.tokens
            .start
            .checked_sub(n)
            .map_or("", |i| r.words[i].form.as_str())
    };
    if before(1) == "born" {
        return Some(Event::Birth);
    }
    let mut at = r.words[m.tokens.start].head;
    for _ in 0..4 {
        let Some(i) = at else { break };
        match r.words[i].key.as_str() {
            "bear" | "born" | "birth" => return Some(Event::Birth),
            "die" | "death" => return Some(Event::Death),
            _ if r.words[i].upos == ud::Upos::Verb => break,
            _ => at = r.words[i].head,
        }
    }
    year?;
    let dashed = |a: &Measure, b: &Measure| {
        let between = r
            .words
            .get(a.tokens.end..b.tokens.start)
            .unwrap_or_default();
        !between.is_empty()
            && between.len() <= 3
            && between
                .iter()
                .all(|w| matches!(w.form.as_str(), "-" | "--" | "–" | "—" | "−"))
    };
    let opened = |a: &Measure| {
        let from = a.tokens.start.saturating_sub(16);
        let open = r.words.get(from..a.tokens.start).unwrap_or_default();
        let last = open
            .iter()
            .rposition(|w| matches!(w.form.as_str(), "(" | ")"));
        last.is_some_and(|i| open[i].form == "(")
    };
    let closes = |b: &Measure| r.words.get(b.tokens.end).is_some_and(|w| w.form == ")");
    if let Some(next) = found.get(k + 1)
        && dashed(m, next)
        && opened(m)
        && closes(next)
    {
        return Some(Event::Birth);
    }
    if let Some(last) = k.checked_sub(1).and_then(|k| found.get(k))
        && dashed(last, m)
        && opened(last)
        && closes(m)
    {
        return Some(Event::Death);
    }
    None
}

fn at(r: &Reading, i: usize) -> Option<Measure> {
    let form = |k: usize| r.words.get(k).map_or("", |w| w.form.as_str());
    let done = |kind, tokens: Range<usize>| {
        let anchor = anchor(r, &tokens);
        Some(Measure {
            kind,
            tokens,
            anchor,
            event: None,
        })
    };
    let word = form(i);
    if let Some(m) = month(word)
        && (r.words[i].name || day(form(i + 1)).is_some() || year(form(i + 1)).is_some())
    {
        let mut end = i + 1;
        let d = day(form(end)).inspect(|_| end += 1);
        let comma = usize::from(matches!(form(end), "," | "of"));
        let y = year(form(end + comma)).inspect(|_| end += comma + 1);
        // The month alone is a measure too; "may" alone is not.
        if word == "may" && d.is_none() && y.is_none() && form(i.wrapping_sub(1)) != "in" {
            return None;
        }
        return done(
            Kind::Date {
                year: y,
                month: Some(m),
                day: d,
            },
            i..end,
        );
    }
    if let Some(d) = day(word)
        && let Some(m) = month(form(i + 1))
    {
        let y = year(form(i + 2));
        return done(
            Kind::Date {
                year: y,
                month: Some(m),
                day: Some(d),
            },
            i..i + 2 + usize::from(y.is_some()),
        );
    }
    if let Some((y, m, d)) = numeric_date(word) {
        return done(
            Kind::Date {
                year: Some(y),
                month: Some(m),
                day: Some(d),
            },
            i..i + 1,
        );
    }
    if let Some((from, years)) = era(word, form(i + 1)) {
        return done(Kind::Era { from, years }, i..i + 1);
    }
    if let Some(q) = word
        .strip_prefix('q')
        .and_then(|q| q.parse().ok())
        .filter(|q| (1..=4).contains(q))
    {
        return done(
            Kind::Ordinal {
                rank: q,
                unit: "quarter".into(),
            },
            i..i + 1,
        );
    }
    if let Some(rank) = ordinal(word) {
        let a = r.words[i].head?;
        let dash = usize::from(form(i + 1) == "-");
        let next = r.words.get(i + 1 + dash).map(|w| w.key.clone());
        let unit = match next {
            Some(k) if k == "quarter" || k == "half" => k,
            _ => r.words[a].key.clone(),
        };
        return done(Kind::Ordinal { rank, unit }, i..i + 1);
    }
    amount(r, i)
}

fn amount(r: &Reading, start: usize) -> Option<Measure> {
    let form = |k: usize| r.words.get(k).map_or("", |w| w.form.as_str());
    let mut i = start;
    let sign = currency(form(i));
    if sign.is_some() {
        i += 1;
    }
    let written = r.words.get(i)?.form.clone();
    let (mut value, mut slack, digits) = number(&written)?;
    // "one" is mostly a pronoun, and a bare number word may be part of a name.
    if !digits && (!matches!(&*r.words[i].relation, "nummod" | "compound") || r.words[i].name) {
        return None;
    }
    i += 1;
    // "twenty-five", "twenty five"
    let dash = usize::from(form(i) == "-");
    if !digits
        && (20.0..=90.0).contains(&value)
        && let Some((ones, _, false)) = number(form(i + dash))
        && (1.0..=9.0).contains(&ones)
    {
        value += ones;
        i += dash + 1;
    }
    if let Some(s) = scale(form(i)) {
        value *= s;
        slack *= s;
        i += 1;
    }
    let unit = if let Some(c) = sign {
        c.to_owned()
    } else if matches!(form(i), "%" | "percent" | "percentage") {
        i += 1;
        "%".to_owned()
    } else if form(i) == "basis" && form(i + 1).starts_with("point") {
        i += 2;
        "bp".to_owned()
    } else if let Some(c) = currency(form(i)) {
        i += 1;
        c.to_owned()
    } else if digits && year(&written).is_some() && i == start + 1 && !counts_something(r, start) {
        let y = year(&written);
        // A number in a name: "1998 RO1".
        if r.words
            .get(i)
            .is_some_and(|w| w.name && w.upos != ud::Upos::Adj && month(&w.form).is_none())
        {
            return None;
        }
        return Some(Measure {
            kind: Kind::Date {
                year: y,
                month: None,
                day: None,
            },
            anchor: anchor(r, &(start..i)),
            tokens: start..i,
            event: None,
        });
    } else {
        let w = &r.words[i - 1];
        match w.head {
            Some(h) if &*w.relation == "nummod" || &*w.relation == "compound" => {
                let mut unit = unit_name(&r.words[h].key).to_owned();
                let times = match unit.as_str() {
                    "decade" => Some(10.0),
                    "century" => Some(100.0),
                    _ => None,
                };
                if let Some(t) = times {
                    value *= t;
                    slack *= t;
                    unit = "year".into();
                }
                // A range shares its unit: "4 to 7 percent".
                if matches!(unit.as_str(), "$" | "%") || scale(&unit).is_some() {
                    String::new()
                } else {
                    unit
                }
            }
            _ => String::new(),
        }
    };
    let bound = bound(r, start);
    Some(Measure {
        kind: Kind::Amount {
            value,
            slack,
            unit,
            bound,
        },
        anchor: anchor(r, &(start..i)),
        tokens: start..i,
        event: None,
    })
}

fn counts_something(r: &Reading, i: usize) -> bool {
    let w = &r.words[i];
    &*w.relation == "nummod"
        && w.head.is_some_and(|h| {
            h > i
                && (r.words[h].name
                    || (r.words[h].form.ends_with('s') && r.words[h].form != "sales"))
        })
}

/// The word outside the measure that it hangs on; the first of its own where it hangs on nothing.
fn anchor(r: &Reading, tokens: &Range<usize>) -> usize {
    let inside = |k: &usize| tokens.contains(k);
    tokens
        .clone()
        .find(|&k| r.words[k].head.is_none_or(|h| !inside(&h)))
        .unwrap_or(tokens.start)
}

fn bound(r: &Reading, start: usize) -> Bound {
    let back = |n: usize| {
        start
            .checked_sub(n)
            .map_or("", |k| r.words[k].form.as_str())
    };
    match (back(2), back(1)) {
        (
            _,
            "about" | "around" | "approximately" | "roughly" | "nearly" | "almost" | "some"
            | "circa",
        ) => Bound::About,
        (_, "over" | "above" | "exceeding")
        | ("more" | "greater" | "higher", "than")
        | ("at", "least") => Bound::Over,
        (_, "under" | "below")
        | ("less" | "fewer" | "lower", "than")
        | ("at", "most")
        | ("up", "to") => Bound::Under,
        _ => Bound::Exact,
    }
}

impl Measure {
    pub(super) fn fit(&self, other: &Measure) -> Fit {
        match (&self.kind, &other.kind) {
            (
                Kind::Amount {
                    value: a,
                    slack: sa,
                    unit: ua,
                    bound: ba,
                },
                Kind::Amount {
                    value: b,
                    slack: sb,
                    unit: ub,
                    bound: bb,
                },
            ) => {
                let comparable = ua == ub || (ua.is_empty() != ub.is_empty() && a == b);
                if !comparable {
                    return Fit::Apart;
                }
                let near = if *ba == Bound::About || *bb == Bound::About {
                    0.1 * b.abs()
                } else {
                    0.0
                };
                if (a - b).abs() <= sa.max(*sb).max(near) + 1e-9 * a.abs() {
                    return Fit::Equal;
                }
                match (ba, bb) {
                    (Bound::Over, _) if b > a => Fit::Equal,
                    (Bound::Under, _) if b < a => Fit::Equal,
                    (_, Bound::Over) if a > b => Fit::Equal,
                    (_, Bound::Under) if a < b => Fit::Equal,
                    _ if ua.is_empty() => Fit::Apart,
                    // Money and shares of all kinds are about; only the same order of size, or the same digits, compare.
                    _ if !within_reach(*a, *b)
                        && matches!(ua.as_str(), "$" | "€" | "£" | "¥" | "₹" | "%" | "bp") =>
                    {
                        Fit::Apart
                    }
                    _ => Fit::Unequal,
                }
            }
            (Kind::Ordinal { rank: a, unit: ua }, Kind::Ordinal { rank: b, unit: ub }) => {
                match (a == b, ua == ub) {
                    (true, _) => Fit::Equal,
                    (false, true) => Fit::Unequal,
                    _ => Fit::Apart,
                }
            }
            (
                Kind::Date {
                    year: ya,
                    month: ma,
                    day: da,
                },
                Kind::Date {
                    year: yb,
                    month: mb,
                    day: db,
                },
            ) => {
                let parts = [
                    (ya.map(i64::from), yb.map(i64::from)),
                    (ma.map(i64::from), mb.map(i64::from)),
                    (da.map(i64::from), db.map(i64::from)),
                ];
                let mut shared = false;
                for (a, b) in parts {
                    if let (Some(a), Some(b)) = (a, b) {
                        if a != b {
                            return Fit::Unequal;
                        }
                        shared = true;
                    }
                }
                if shared { Fit::Equal } else { Fit::Apart }
            }
            (Kind::Era { from, years }, Kind::Date { year: Some(y), .. })
            | (Kind::Date { year: Some(y), .. }, Kind::Era { from, years }) => {
                if (*from..from + years).contains(y) {
                    Fit::Equal
                } else {
                    Fit::Unequal
                }
            }
            (Kind::Era { from: a, years: n }, Kind::Era { from: b, years: m }) => {
                if *a < b + m && *b < a + n {
                    Fit::Equal
                } else {
                    Fit::Unequal
                }
            }
            _ => Fit::Apart,
        }
    }

    pub(super) fn text<'a>(&self, r: &Reading, source: &'a str) -> &'a str {
        let (Some(a), Some(b)) = (
            r.words.get(self.tokens.start),
            r.words.get(self.tokens.end.saturating_sub(1)),
        ) else {
            return "";
        };
        source.get(a.span.start..b.span.end).unwrap_or("")
    }
}

fn within_reach(a: f64, b: f64) -> bool {
    let (a, b) = (a.abs(), b.abs());
    if a == 0.0 || b == 0.0 {
        return false;
    }
    let orders = (a / b).log10();
    orders.abs() <= 0.7 || (orders - orders.round()).abs() < 1e-9
}

/// "2013-11-04" and "2006.12.31".
fn numeric_date(s: &str) -> Option<(i32, u8, u8)> {
    let mut parts = s.split(['-', '.', '/']);
    let (y, m, d) = (year(parts.next()?)?, parts.next()?, parts.next()?);
    let two = |p: &str| p.len() == 2;
    if parts.next().is_some() || !two(m) || !two(d) {
        return None;
    }
    let m = m.parse().ok().filter(|m| (1..=12).contains(m))?;
    Some((y, m, day(d)?))
}

/// Units that have several names.
fn unit_name(s: &str) -> &str {
    match s {
        "g" | "gram" | "gramme" | "gm" => "g",
        "kg" | "kgs" | "kilogram" | "kilo" => "kg",
        "mg" | "milligram" => "mg",
        "m" | "metre" | "meter" => "m",
        "km" | "kilometre" | "kilometer" => "km",
        "cm" | "centimetre" | "centimeter" => "cm",
        "mm" | "mms" | "millimetre" | "millimeter" => "mm",
        "ft" | "foot" | "feet" => "foot",
        "mi" | "mile" => "mile",
        "lb" | "lbs" | "pound" => "pound",
        "h" | "hr" | "hrs" | "hour" => "hour",
        "min" | "mins" | "minute" => "minute",
        "s" | "sec" | "secs" | "second" => "second",
        "yr" | "yrs" | "year" => "year",
        other => other,
    }
}

fn currency(s: &str) -> Option<&'static str> {
    Some(match s {
        "$" | "us$" | "usd" | "dollar" | "dollars" => "$",
        "€" | "eur" | "euro" | "euros" => "€",
        "£" | "gbp" => "£",
        "¥" | "yen" | "jpy" => "¥",
        "₹" | "rs" | "rupee" | "rupees" => "₹",
        _ => return None,
    })
}

fn scale(s: &str) -> Option<f64> {
    Some(match s {
        "hundred" => 1e2,
        "thousand" | "k" => 1e3,
        "million" | "m" | "mm" | "mn" => 1e6,
        "billion" | "bn" | "b" => 1e9,
        "trillion" | "tn" => 1e12,
        _ => return None,
    })
}

/// Value, half of the last digit, and whether it was written in digits.
fn number(s: &str) -> Option<(f64, f64, bool)> {
    if s.starts_with(|c: char| c.is_ascii_digit()) {
        let plain: String = s.chars().filter(|&c| c != ',').collect();
        if plain.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            let value: f64 = plain.parse().ok()?;
            let decimals = plain.split_once('.').map_or(0, |(_, d)| d.len().min(12));
            let slack = if decimals > 0 {
                0.5 * 10f64.powi(-(decimals as i32))
            } else {
                0.0
            };
            return Some((value, slack, true));
        }
        return None;
    }
    let value = match s {
        "zero" => 0,
        "one" => 1,
        "two" => 2,
        "three" => 3,
        "four" => 4,
        "five" => 5,
        "six" => 6,
        "seven" => 7,
        "eight" => 8,
        "nine" => 9,
        "ten" => 10,
        "eleven" => 11,
        "twelve" => 12,
        "thirteen" => 13,
        "fourteen" => 14,
        "fifteen" => 15,
        "sixteen" => 16,
        "seventeen" => 17,
        "eighteen" => 18,
        "nineteen" => 19,
        "twenty" => 20,
        "thirty" => 30,
        "forty" => 40,
        "fifty" => 50,
        "sixty" => 60,
        "seventy" => 70,
        "eighty" => 80,
        "ninety" => 90,
        _ => return None,
    };
    Some((f64::from(value), 0.0, false))
}

fn ordinal(s: &str) -> Option<i64> {
    const NAMES: [&str; 12] = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
        "tenth", "eleventh", "twelfth",
    ];
    if let Some(k) = NAMES.iter().position(|n| *n == s) {
        return Some(k as i64 + 1);
    }
    let digits = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|e| s.strip_suffix(e))?;
    digits.parse().ok().filter(|&n: &i64| n > 0)
}

fn month(s: &str) -> Option<u8> {
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
    MONTHS.iter().position(|m| *m == s).map(|k| k as u8 + 1)
}

fn day(s: &str) -> Option<u8> {
    let digits = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|e| s.strip_suffix(e))
        .unwrap_or(s);
    if digits.len() > 2 {
        return None;
    }
    digits.parse().ok().filter(|d| (1..=31).contains(d))
}

fn year(s: &str) -> Option<i32> {
    if s.len() != 4 || !s.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    s.parse().ok().filter(|y| (1000..=2199).contains(y))
}

/// "1970s", "1970's" and the bare decades of the last century.
fn era(s: &str, next: &str) -> Option<(i32, i32)> {
    let digits = s
        .strip_suffix("'s")
        .or_else(|| s.strip_suffix('s'))
        .unwrap_or(s);
    let plural = digits.len() < s.len() || (next == "'s" && digits.ends_with('0'));
    if plural && let Some(y) = year(digits) {
        return Some((y, if y % 100 == 0 { 100 } else { 10 }));
    }
    let from = match s {
        "twenties" => 1920,
        "thirties" => 1930,
        "forties" => 1940,
        "fifties" => 1950,
        "sixties" => 1960,
        "seventies" => 1970,
        "eighties" => 1980,
        "nineties" => 1990,
        _ => return None,
    };
    Some((from, 10))
}
