//! Dates, periods and times of day as they are written.

use super::lex::{Kind, Lexeme};
use super::{PartialDate, Value};

/// The value that starts at lexeme `i`, and the lexeme behind it. `alone` says that nothing but the value is
/// expected, so that a bare month or year counts.
pub(super) fn read(l: &[Lexeme], i: usize, alone: bool) -> Option<(usize, Value)> {
    let i0 = i;
    let mut i = i;
    if l[i].word().is_some_and(weekday) {
        i += 1;
        if l.get(i).is_some_and(|x| x.is(',')) {
            i += 1;
        }
        l.get(i)?;
    }
    time(l, i)
        .or_else(|| iso(l, i))
        .or_else(|| slashed(l, i))
        .or_else(|| quarter(l, i))
        .or_else(|| fiscal(l, i))
        .or_else(|| century(l, i))
        .or_else(|| decade(l, i))
        .or_else(|| era(l, i))
        .or_else(|| month_first(l, i, alone || i > i0))
        .or_else(|| day_first(l, i))
        .or_else(|| years(l, i, alone))
        .filter(|(end, _)| {
            // "1980-style", "2000kg": the number goes on.
            !l.get(*end).is_some_and(|x| {
                !x.apart && matches!(x.kind, Kind::Word(_)) && x.word() != Some("s")
            })
        })
}

pub(super) fn month(word: &str) -> Option<u8> {
    Some(match word {
        "january" | "jan" => 1,
        "february" | "feb" => 2,
        "march" | "mar" => 3,
        "april" | "apr" => 4,
        "may" => 5,
        "june" | "jun" => 6,
        "july" | "jul" => 7,
        "august" | "aug" => 8,
        "september" | "sept" | "sep" => 9,
        "october" | "oct" => 10,
        "november" | "nov" => 11,
        "december" | "dec" => 12,
        _ => return None,
    })
}

fn weekday(word: &str) -> bool {
    matches!(
        word,
        "monday"
            | "tuesday"
            | "wednesday"
            | "thursday"
            | "friday"
            | "saturday"
            | "sunday"
            | "mon"
            | "tue"
            | "tues"
            | "wed"
            | "thu"
            | "thur"
            | "thurs"
            | "fri"
            | "sat"
            | "sun"
    )
}

fn month_at(l: &[Lexeme], i: usize) -> Option<(usize, u8)> {
    let m = month(l.get(i)?.word()?)?;
    let dot = l.get(i + 1).is_some_and(|x| x.is('.') && !x.apart)
        && l.get(i + 2).is_some_and(|x| x.plain().is_some());
    Some((i + 1 + usize::from(dot), m))
}

fn date(year: Option<i64>, month: Option<u8>, day: Option<i64>) -> PartialDate {
    PartialDate {
        year: year.and_then(|y| i32::try_from(y).ok()),
        month,
        day: day.and_then(|d| u8::try_from(d).ok()),
    }
}

fn days_in(month: u8) -> i64 {
    match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A year of four digits.
fn year_at(l: &[Lexeme], i: usize) -> Option<i64> {
    let (y, digits) = l.get(i)?.plain()?;
    (digits == 4 && (1000..2200).contains(&y)).then_some(y)
}

/// A day of the month, with or without "th".
fn day_at(l: &[Lexeme], i: usize, month: u8) -> Option<(usize, i64)> {
    let (d, digits) = l.get(i)?.plain()?;
    if digits > 2 || d < 1 || d > days_in(month) {
        return None;
    }
    let ordinal = l.get(i + 1).is_some_and(|x| {
        !x.apart
            && x.word()
                .is_some_and(|w| matches!(w, "st" | "nd" | "rd" | "th"))
    });
    Some((i + 1 + usize::from(ordinal), d))
}

/// "1980-06-26", also with a time behind it.
fn iso(l: &[Lexeme], i: usize) -> Option<(usize, Value)> {
    let sign = l.get(i + 1)?;
    if !sign.dash() || sign.apart {
        return None;
    }
    let (y, digits) = l[i].plain()?;
    let (m, 2) = l.get(i + 2)?.plain()? else {
        return None;
    };
    if digits != 4 || !(1..=12).contains(&m) || l[i + 2].apart {
        return None;
    }
    let m = m as u8;
    let day = (l.get(i + 3).is_some_and(|x| x.dash() && !x.apart))
        .then(|| l.get(i + 4)?.plain())
        .flatten()
        .filter(|(d, n)| *n == 2 && (1..=days_in(m)).contains(d));
    match day {
        Some((d, _)) => {
            let mut end = i + 5;
            // T00:00:00Z
            if l.get(end)
                .is_some_and(|x| !x.apart && x.word() == Some("t"))
            {
                end += 1;
                while l.get(end).is_some_and(|x| !x.apart) {
                    end += 1;
                }
            }
            Some((end, Value::Date(date(Some(y), Some(m), Some(d)))))
        }
        // "1980-06" alone; "1990-95" is a range.
        None if m <= 12 && l.get(i + 3).is_none() && y % 100 >= m as i64 => {
            Some((i + 3, Value::Date(date(Some(y), Some(m), None))))
        }
        None => None,
    }
}

/// "26/06/1980", "6/26/1980", "26.06.1980". Where both orders give a date, both are kept.
fn slashed(l: &[Lexeme], i: usize) -> Option<(usize, Value)> {
    let sep = match l.get(i + 1)?.kind {
        Kind::Sign(c @ ('/' | '.' | '-')) if !l[i + 1].apart => c,
        _ => return None,
    };
    let second = l.get(i + 3)?;
    if !second.is(sep) || second.apart || l[i + 2].apart {
        return None;
    }
    let (a, da) = l[i].plain()?;
    let (b, db) = l[i + 2].plain()?;
    let (y, dy) = l.get(i + 4)?.plain()?;
    if da == 4 && db <= 2 && dy <= 2 && (1..=12).contains(&b) && (1..=days_in(b as u8)).contains(&y)
    {
        return Some((i + 5, Value::Date(date(Some(a), Some(b as u8), Some(y)))));
    }
    if da > 2 || db > 2 || !matches!(dy, 2 | 4) {
        return None;
    }
    let y = match dy {
        2 if y < 69 => 2000 + y,
        2 => 1900 + y,
        _ => y,
    };
    let make = |m: i64, d: i64| {
        ((1..=12).contains(&m) && d >= 1 && d <= days_in(m as u8))
            .then(|| date(Some(y), Some(m as u8), Some(d)))
    };
    let value = match (make(b, a), make(a, b)) {
        (Some(x), Some(z)) if x != z => Value::Either(x, z),
        (Some(x), _) | (None, Some(x)) => Value::Date(x),
        (None, None) => return None,
    };
    Some((i + 5, value))
}

/// "June 26, 1980", "June 26–28, 1980", "June 1980", "June 26", "June".
fn month_first(l: &[Lexeme], i: usize, alone: bool) -> Option<(usize, Value)> {
    if !l[i].capital && !alone {
        return None;
    }
    let (mut at, m) = month_at(l, i)?;
    if let Some(y) = year_at(l, at) {
        return Some((at + 1, Value::Date(date(Some(y), Some(m), None))));
    }
    let skip = |at: usize| {
        at + usize::from(
            l.get(at)
                .is_some_and(|x| x.is(',') || x.word() == Some("of")),
        )
    };
    if l.get(at).is_some_and(|x| x.word() == Some("the"))
        && l.get(at + 1).is_some_and(|x| x.plain().is_some())
    {
        at += 1;
    }
    if let Some((after, d)) = day_at(l, at, m) {
        // "June 26–28"
        if l.get(after).is_some_and(Lexeme::dash)
            && let Some((end, last)) = day_at(l, after + 1, m)
            && last > d
        {
            let y = year_at(l, skip(end));
            let end = if y.is_some() { skip(end) + 1 } else { end };
            return Some((
                end,
                Value::Period {
                    from: date(y, Some(m), Some(d)),
                    to: date(y, Some(m), Some(last)),
                },
            ));
        }
        if let Some(y) = year_at(l, skip(after)) {
            return Some((
                skip(after) + 1,
                Value::Date(date(Some(y), Some(m), Some(d))),
            ));
        }
        return Some((after, Value::Date(date(None, Some(m), Some(d)))));
    }
    if let Some(y) = year_at(l, skip(at)) {
        return Some((skip(at) + 1, Value::Date(date(Some(y), Some(m), None))));
    }
    // "May" and "March" alone are more often verbs and names.
    (alone && l[i].capital
        || !matches!(
            l[i].word(),
            Some("may" | "march" | "mar" | "jan" | "dec" | "sun" | "august")
        ))
    .then(|| (at, Value::Date(date(None, Some(m), None))))
}

/// "26 June 1980", "26th of June, 1980", "the 4th of July".
fn day_first(l: &[Lexeme], i: usize) -> Option<(usize, Value)> {
    let i = i + usize::from(
        l[i].word() == Some("the") && l.get(i + 1).is_some_and(|x| x.plain().is_some()),
    );
    let (mut at, d) = day_at(l, i, 1)?;
    let mut last = None;
    if l.get(at).is_some_and(Lexeme::dash)
        && let Some((end, to)) = day_at(l, at + 1, 1)
    {
        last = Some(to);
        at = end;
    }
    at += usize::from(
        l.get(at)
            .is_some_and(|x| x.word() == Some("of") || x.dash() && !x.apart),
    );
    let (after, m) = month_at(l, at)?;
    if d > days_in(m) {
        return None;
    }
    let comma = usize::from(
        l.get(after)
            .is_some_and(|x| x.is(',') || x.word() == Some("of") || x.dash() && !x.apart),
    );
    let (end, y) = match year_at(l, after + comma) {
        Some(y) => (after + comma + 1, Some(y)),
        None => (after, None),
    };
    let from = date(y, Some(m), Some(d));
    Some((
        end,
        match last {
            Some(to) if to > d && to <= days_in(m) => Value::Period {
                from,
                to: date(y, Some(m), Some(to)),
            },
            _ => Value::Date(from),
        },
    ))
}

fn months(year: Option<i64>, from: u8, to: u8) -> Value {
    Value::Period {
        from: date(year, Some(from), None),
        to: date(year, Some(to), None),
    }
}

/// "Q2 2024", "Q2 of fiscal 2024", "2Q24", "second quarter of 2024", "H1 2020", "first half of 2020".
fn quarter(l: &[Lexeme], i: usize) -> Option<(usize, Value)> {
    let word = l[i].word();
    let (mut at, parts, n) = match (word, &l[i].kind) {
        (Some("q" | "h"), _) => {
            let next = l.get(i + 1).filter(|x| !x.apart)?;
            let (n, 1) = next.plain()? else { return None };
            (i + 2, if word == Some("q") { 4 } else { 2 }, n)
        }
        (None, Kind::Number { .. }) => {
            let (n, 1) = l[i].plain()? else { return None };
            let next = l.get(i + 1).filter(|x| !x.apart)?;
            match next.word()? {
                "q" => (i + 2, 4, n),
                "h" if l.get(i + 2).is_some_and(|x| !x.apart) => (i + 2, 2, n),
                "st" | "nd" | "rd" | "th" => match l.get(i + 2)?.word()? {
                    "quarter" => (i + 3, 4, n),
                    "half" => (i + 3, 2, n),
                    _ => return None,
                },
                _ => return None,
            }
        }
        (Some(w), _) => {
            let n = match w {
                "first" => 1,
                "second" => 2,
                "third" => 3,
                "fourth" | "final" => 4,
                _ => return None,
            };
            let fiscal = usize::from(l.get(i + 1)?.word() == Some("fiscal"));
            match l.get(i + 1 + fiscal)?.word()? {
                "quarter" => (i + 2 + fiscal, 4, n),
                "half" if n <= 2 => (i + 2 + fiscal, 2, n),
                _ => return None,
            }
        }
        _ => return None,
    };
    if n < 1 || n > parts {
        return None;
    }
    let mut year = None;
    let mut look = at;
    for _ in 0..4 {
        if let Some(y) = year_at(l, look) {
            year = Some(y);
            at = look + 1;
            break;
        }
        let Some(next) = l.get(look) else { break };
        let short = |x: &Lexeme| x.plain().filter(|(_, n)| *n == 2).map(|(y, _)| 2000 + y);
        if next.is('\'') || next.is('’') {
            year = l.get(look + 1).and_then(short);
            at = if year.is_some() { look + 2 } else { at };
            break;
        }
        if !next.apart
            && let Some(y) = short(next)
        {
            year = Some(y);
            at = look + 1;
            break;
        }
        match next.word() {
            Some("of" | "fiscal" | "fy" | "the" | "year" | "in") => look += 1,
            _ if next.is(',') => look += 1,
            _ => break,
        }
    }
    let n = n as u8;
    let width = 12 / parts as u8;
    Some((at, months(year, (n - 1) * width + 1, n * width)))
}

/// "fiscal 2024", "fiscal year 2024", "FY24": the year by its name; where it begins is the company's affair.
fn fiscal(l: &[Lexeme], i: usize) -> Option<(usize, Value)> {
    let mut at = match l[i].word()? {
        "fiscal" | "fy" => i + 1,
        _ => return None,
    };
    at += usize::from(l.get(at)?.word() == Some("year"));
    let (y, digits) = l.get(at)?.plain()?;
    let y = match digits {
        4 => y,
        2 => 2000 + y,
        _ => return None,
    };
    Some((at + 1, Value::Date(date(Some(y), None, None))))
}

/// "the 1990s", "1990's", "'90s".
fn decade(l: &[Lexeme], i: usize) -> Option<(usize, Value)> {
    let quote = usize::from(l[i].is('\'') || l[i].is('’'));
    let (n, digits) = l.get(i + quote)?.plain()?;
    let mut at = i + quote + 1;
    if l.get(at)
        .is_some_and(|x| !x.apart && (x.is('\'') || x.is('’')))
    {
        at += 1;
    }
    let s = l.get(at)?;
    if s.apart || s.word() != Some("s") {
        return None;
    }
    let y = match digits {
        4 if n % 10 == 0 => n,
        2 if n % 10 == 0 && n >= 20 => 1900 + n,
        _ => return None,
    };
    let span = if y % 100 == 0 && digits == 4 && y < 1900 {
        99
    } else {
        9
    };
    Some((
        at + 1,
        Value::Period {
            from: date(Some(y), None, None),
            to: date(Some(y + span), None, None),
        },
    ))
}

/// "19th century", "5th century BC", "nineteenth century".
fn century(l: &[Lexeme], i: usize) -> Option<(usize, Value)> {
    let (n, mut at) = match &l[i].kind {
        Kind::Number { .. } => {
            let (n, _) = l[i].plain()?;
            let th = l.get(i + 1).filter(|x| !x.apart)?.word()?;
            matches!(th, "st" | "nd" | "rd" | "th").then_some((n, i + 2))?
        }
        Kind::Word(w) => {
            let n = super::numbers::ordinal(w)?;
            (n as i64, i + 1)
        }
        Kind::Sign(_) => return None,
    };
    if l.get(at).is_some_and(Lexeme::dash) {
        at += 1;
    }
    if !(1..=30).contains(&n) || l.get(at)?.word()? != "century" {
        return None;
    }
    at += 1;
    let bc = l.get(at).and_then(Lexeme::word).is_some_and(before_christ);
    let (from, to) = if bc {
        (-100 * n, -100 * (n - 1) - 1)
    } else {
        (100 * (n - 1) + 1, 100 * n)
    };
    Some((
        at + usize::from(bc),
        Value::Period {
            from: date(Some(from), None, None),
            to: date(Some(to), None, None),
        },
    ))
}

fn before_christ(w: &str) -> bool {
    matches!(w, "bc" | "b.c" | "bce" | "b.c.e")
}

/// "44 BC", "AD 79", "79 CE". The year before 1 AD is −1: there is no year 0.
fn era(l: &[Lexeme], i: usize) -> Option<(usize, Value)> {
    let anno = |w: &str| matches!(w, "ad" | "a.d" | "ce" | "c.e");
    if l[i].word().is_some_and(anno) && l[i].capital {
        let (y, _) = l.get(i + 1)?.plain()?;
        return Some((i + 2, Value::Date(date(Some(y), None, None))));
    }
    let (y, digits) = l[i].plain()?;
    let next = l.get(i + 1)?.word()?;
    let dot = usize::from(
        l.get(i + 2)
            .is_some_and(|x| x.is('.') && !x.apart && next.contains('.')),
    );
    let sign = match next {
        w if before_christ(w) => -1,
        w if anno(w) && l[i + 1].capital => 1,
        _ => return None,
    };
    (digits <= 4 && y > 0).then(|| (i + 2 + dot, Value::Date(date(Some(sign * y), None, None))))
}

/// "2003–2007", "1990-95", "2003 to 2007", "1980".
fn years(l: &[Lexeme], i: usize, alone: bool) -> Option<(usize, Value)> {
    // "between 2003 and 2007", "from 2003 to 2007"
    if let Some("between" | "from") = l[i].word() {
        let (from, to) = (year_at(l, i + 1)?, year_at(l, i + 3)?);
        let joins = matches!(l.get(i + 2)?.word()?, "and" | "to" | "until" | "through");
        return (joins && from <= to).then(|| {
            (
                i + 4,
                Value::Period {
                    from: date(Some(from), None, None),
                    to: date(Some(to), None, None),
                },
            )
        });
    }
    let y = year_at(l, i)?;
    let joint = l.get(i + 1);
    if joint.is_some_and(|x| x.dash() || x.is('/') || x.word() == Some("to")) {
        let close = !joint.is_some_and(|x| x.apart);
        let to = match l.get(i + 2).and_then(Lexeme::plain) {
            Some((z, 4)) if z >= y && z < 2200 => Some(z),
            Some((z, 2)) if close && y - y % 100 + z > y => Some(y - y % 100 + z),
            _ => None,
        };
        if let Some(to) = to {
            return Some((
                i + 3,
                Value::Period {
                    from: date(Some(y), None, None),
                    to: date(Some(to), None, None),
                },
            ));
        }
    }
    // Before a unit or behind a currency sign it is a number; the reader of quantities has the first say there.
    let part = joint.is_some_and(|x| {
        !x.apart
            && (x.dash() || x.is('/'))
            && l.get(i + 2)
                .is_some_and(|n| !n.apart && n.plain().is_some())
    });
    (alone || !part).then(|| (i + 1, Value::Date(date(Some(y), None, None))))
}

/// "5:30 pm", "17:30", "17:30:15", "5 p.m.".
fn time(l: &[Lexeme], i: usize) -> Option<(usize, Value)> {
    let (hour, digits) = l[i].plain()?;
    if digits > 2 || hour > 23 {
        return None;
    }
    let mut at = i + 1;
    let mut parts = [0i64; 2];
    let mut n = 0;
    while n < 2 && l.get(at).is_some_and(|x| x.is(':') && !x.apart) {
        let Some((v, 2)) = l.get(at + 1).filter(|x| !x.apart).and_then(Lexeme::plain) else {
            break;
        };
        if v > 59 {
            return None;
        }
        parts[n] = v;
        n += 1;
        at += 2;
    }
    let half = l.get(at).and_then(Lexeme::word).and_then(|w| match w {
        "am" | "a.m" => Some(false),
        "pm" | "p.m" => Some(true),
        _ => None,
    });
    if half.is_none() && n == 0 || half.is_some() && !(1..=12).contains(&hour) {
        return None;
    }
    let hour = match half {
        Some(true) => hour % 12 + 12,
        Some(false) => hour % 12,
        None => hour,
    };
    if half.is_some() {
        at += 1;
        at += usize::from(l.get(at).is_some_and(|x| {
            x.is('.') && !x.apart && l[at - 1].word().is_some_and(|w| w.contains('.'))
        }));
    }
    Some((
        at,
        Value::Time {
            hour: hour as u8,
            minute: parts[0] as u8,
            second: parts[1] as u8,
        },
    ))
}
