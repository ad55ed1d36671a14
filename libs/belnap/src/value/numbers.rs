//! Quantities: numbers in digits or words, with bounds, scales, currencies and units.

use super::lex::{Kind, Lexeme};
use super::units::{self, Unit};
use super::{Bound, Quantity, Value};

/// The quantity that starts at lexeme `i`, and the lexeme behind it.
pub(super) fn read(l: &[Lexeme], i: usize) -> Option<(usize, Value)> {
    let (at, bound) = bound(l, i);
    let between = l
        .get(at)?
        .word()
        .is_some_and(|w| matches!(w, "between" | "from"));
    let (end, mut q) = measured(l, at + usize::from(between))?;
    q.bound = bound;
    if let Some((end, high)) = range_end(l, end, between) {
        return span(q, high).map(|q| (end, Value::Quantity(q)));
    }
    if between {
        return None;
    }
    // "5 million or more"
    let (end, bound) = after(l, end, q.bound);
    q.bound = bound;
    Some((end, Value::Quantity(q)))
}

/// Words before a number that bound it, and where the number begins.
fn bound(l: &[Lexeme], i: usize) -> (usize, Bound) {
    let w = |k: usize| l.get(i + k).and_then(Lexeme::word).unwrap_or_default();
    match (w(0), w(1), w(2)) {
        ("no", "more", "than") | ("not", "more", "than") => (i + 3, Bound::AtMost),
        ("no", "less" | "fewer", "than") | ("not", "less", "than") => (i + 3, Bound::AtLeast),
        ("a", "total", "of") => (i + 3, Bound::Exact),
        ("in", "excess", "of") => (i + 3, Bound::Over),
        ("more" | "greater" | "higher" | "larger", "than", _) => (i + 2, Bound::Over),
        ("less" | "fewer" | "lower" | "smaller", "than", _) => (i + 2, Bound::Under),
        ("at", "least", _) => (i + 2, Bound::AtLeast),
        ("at", "most", _) | ("up", "to", _) | ("as", "much", _) => (i + 2, Bound::AtMost),
        (
            "some" | "about" | "around" | "approximately" | "roughly" | "nearly" | "almost"
            | "circa" | "approx" | "c",
            _,
            _,
        ) => {
            let dot = l.get(i + 1).is_some_and(|x| x.is('.') && !x.apart);
            (i + 1 + usize::from(dot), Bound::About)
        }
        ("over" | "above" | "exceeding", _, _) => (i + 1, Bound::Over),
        ("under" | "below", _, _) => (i + 1, Bound::Under),
        ("minimum" | "maximum", _, _) => (i, Bound::Exact),
        _ => match l.get(i).map(|x| &x.kind) {
            Some(Kind::Sign('~' | '≈' | '∼')) => (i + 1, Bound::About),
            Some(Kind::Sign('>')) => (i + 1, Bound::Over),
            Some(Kind::Sign('<')) => (i + 1, Bound::Under),
            Some(Kind::Sign('≥')) => (i + 1, Bound::AtLeast),
            Some(Kind::Sign('≤')) => (i + 1, Bound::AtMost),
            _ => (i, Bound::Exact),
        },
    }
}

fn after(l: &[Lexeme], end: usize, bound: Bound) -> (usize, Bound) {
    let w = |k: usize| l.get(end + k).and_then(Lexeme::word).unwrap_or_default();
    match (w(0), w(1)) {
        ("or", "more") | ("or", "above") => (end + 2, Bound::AtLeast),
        ("or", "less" | "fewer") => (end + 2, Bound::AtMost),
        _ if l.get(end).is_some_and(|x| x.is('+') && !x.apart) => (end + 1, Bound::AtLeast),
        _ => (end, bound),
    }
}

/// The second number of "5–10 km", "5 to 10 km", "between 5 and 10 km".
fn range_end(l: &[Lexeme], end: usize, between: bool) -> Option<(usize, Quantity)> {
    let joint = l.get(end)?;
    let joins = joint.dash() && l.get(end + 1).is_some_and(|x| x.apart == joint.apart)
        || joint.word() == Some("to")
        || between && joint.word() == Some("and");
    if !joins {
        return None;
    }
    measured(l, end + 1)
}

fn span(low: Quantity, high: Quantity) -> Option<Quantity> {
    let mut low = low;
    // "5–10 km": the unit and the scale stand behind the second number.
    if low.unit.is_none() && low.value > 0.0 && high.value / low.value >= 100.0 {
        let scale = scale_of(&high);
        low.value *= scale;
        low.precision *= scale;
    }
    let same = low.unit.is_none() || high.unit.is_none() || low.unit == high.unit;
    // "747-8" is a name.
    (low.value < high.value && same).then(|| Quantity {
        value: (low.value + high.value) / 2.0,
        precision: ((high.value - low.value) / 2.0).max(high.precision),
        unit: high.unit.or(low.unit),
        bound: low.bound,
    })
}

/// How much the scale and the unit of a number made of it, to a power of ten.
fn scale_of(q: &Quantity) -> f64 {
    let mut scale = 1.0;
    while q.precision >= scale * 5.0 {
        scale *= 10.0;
    }
    scale
}

/// A number with its currency, scale and unit. Parts of one measure add up: "5 feet 11 inches".
fn measured(l: &[Lexeme], i: usize) -> Option<(usize, Quantity)> {
    let (at, sign, currency) = currency_prefix(l, i);
    let (mut end, mut value, mut precision, spelled) = number(l, at)?;
    value *= sign;
    let mut scaled = false;
    while let Some((e, scale)) = scale(l, end, currency.is_some(), spelled) {
        value *= scale;
        precision *= scale;
        end = e;
        scaled = true;
    }
    let mut q = Quantity {
        value,
        precision,
        unit: currency.map(str::to_string),
        bound: Bound::Exact,
    };
    if currency.is_none() {
        if let Some((e, unit)) = unit_at(l, end, scaled || spelled) {
            end = e;
            apply(&mut q, unit);
            if let Some((e, more)) = second_part(l, end, unit) {
                q.value += more.value;
                q.precision = more.precision;
                end = e;
            }
        } else if let Some(e) = ordinal_ending(l, end) {
            q.unit = Some("th".to_string());
            end = e;
        }
    } else if l
        .get(end)
        .and_then(Lexeme::word)
        .is_some_and(|w| w == "usd" || w == "dollars")
    {
        end += 1;
    }
    Some((end, q))
}

fn apply(q: &mut Quantity, unit: Unit) {
    q.value = q.value * unit.factor + unit.offset;
    q.precision *= unit.factor;
    q.unit = Some(unit.canonical.to_string());
}

fn second_part(l: &[Lexeme], end: usize, first: Unit) -> Option<(usize, Quantity)> {
    let at = end
        + usize::from(
            l.get(end)
                .is_some_and(|x| x.is(',') || x.word() == Some("and")),
        );
    let (e, value, precision, spelled) = number(l, at)?;
    let (e, unit) = unit_at(l, e, spelled)?;
    (unit.canonical == first.canonical
        && unit.factor < first.factor
        && first.offset == 0.0
        && matches!(unit.canonical, "m" | "s" | "kg"))
    .then(|| {
        let mut q = Quantity {
            value,
            precision,
            unit: None,
            bound: Bound::Exact,
        };
        apply(&mut q, unit);
        (e, q)
    })
}

/// "$", "US$", "EUR", "-$", with the sign of the number.
fn currency_prefix(l: &[Lexeme], i: usize) -> (usize, f64, Option<&'static str>) {
    let mut at = i;
    let mut sign = 1.0;
    let mut currency = None;
    for _ in 0..3 {
        let Some(x) = l.get(at) else { break };
        match &x.kind {
            Kind::Sign('-' | '−')
                if sign > 0.0 && x.apart && l.get(at + 1).is_some_and(|n| !n.apart) =>
            {
                sign = -1.0;
                at += 1;
            }
            Kind::Sign(c) if currency.is_none() => match units::prefix(&c.to_string()) {
                Some(code) => {
                    currency = Some(code);
                    at += 1;
                }
                None => break,
            },
            Kind::Word(w) if currency.is_none() => {
                let dollar = l.get(at + 1).is_some_and(|n| n.is('$') && !n.apart);
                let name = if dollar { format!("{w}$") } else { w.clone() };
                match units::prefix(&name) {
                    Some(code) if x.capital => {
                        currency = Some(code);
                        at += 1 + usize::from(dollar);
                        // "Rs."
                        at += usize::from(l.get(at).is_some_and(|n| n.is('.') && !n.apart));
                    }
                    _ => break,
                }
            }
            _ => break,
        }
    }
    (at, sign, currency)
}

/// The value, half of its last digit, and whether it is in words.
fn number(l: &[Lexeme], i: usize) -> Option<(usize, f64, f64, bool)> {
    match &l.get(i)?.kind {
        Kind::Number {
            value, decimals, ..
        } => {
            let mut value = *value;
            let mut precision = 0.5 * 10f64.powi(-decimals);
            let mut end = i + 1;
            if *decimals == 0 {
                // "1/2", "2 1/2", "2½"
                let fraction = |at: usize| {
                    let (a, _) = l.get(at)?.plain()?;
                    if !l.get(at + 1)?.is('/') || l[at + 1].apart || l.get(at + 2)?.apart {
                        return None;
                    }
                    let (b, n) = l[at + 2].plain()?;
                    (a > 0 && b > 1 && a < b && n <= 2 && !l.get(at + 3).is_some_and(|x| x.is('/')))
                        .then(|| a as f64 / b as f64)
                };
                if let Some(f) = fraction(i) {
                    (value, precision, end) = (f, 0.005, i + 3);
                } else if let Some(f) = fraction(i + 1).filter(|_| l[i + 1].apart) {
                    (value, precision, end) = (value + f, 0.005, i + 4);
                } else if let Some(Kind::Number {
                    value: f,
                    plain: false,
                    digits: 1,
                    decimals: 2,
                }) = l.get(i + 1).map(|x| &x.kind)
                    && *f < 1.0
                {
                    (value, precision, end) = (value + f, 0.005, i + 2);
                } else if l.get(end).is_some_and(|x| !x.apart && x.dash())
                    && l.get(end + 1)
                        .is_some_and(|x| !x.apart && x.plain().is_some())
                    && l.get(end + 2).is_some_and(|x| !x.apart && x.dash())
                {
                    // A telephone number or a code.
                    return None;
                }
            }
            // Digits inside a longer name: "747-8", "A320".
            Some((end, value, precision, false))
        }
        Kind::Word(_) => spelled(l, i).map(|(end, value, precision)| (end, value, precision, true)),
        Kind::Sign(_) => None,
    }
}

fn small(word: &str) -> Option<f64> {
    Some(match word {
        "zero" => 0.0,
        "one" => 1.0,
        "two" => 2.0,
        "three" => 3.0,
        "four" => 4.0,
        "five" => 5.0,
        "six" => 6.0,
        "seven" => 7.0,
        "eight" => 8.0,
        "nine" => 9.0,
        "ten" => 10.0,
        "eleven" => 11.0,
        "twelve" => 12.0,
        "thirteen" => 13.0,
        "fourteen" => 14.0,
        "fifteen" => 15.0,
        "sixteen" => 16.0,
        "seventeen" => 17.0,
        "eighteen" => 18.0,
        "nineteen" => 19.0,
        "twenty" => 20.0,
        "thirty" => 30.0,
        "forty" | "fourty" => 40.0,
        "fifty" => 50.0,
        "sixty" => 60.0,
        "seventy" => 70.0,
        "eighty" => 80.0,
        "ninety" => 90.0,
        _ => return None,
    })
}

fn large(word: &str) -> Option<f64> {
    Some(match word {
        "hundred" => 1e2,
        "thousand" => 1e3,
        "lakh" => 1e5,
        "million" => 1e6,
        "crore" => 1e7,
        "billion" => 1e9,
        "trillion" => 1e12,
        "dozen" => 12.0,
        _ => return None,
    })
}

/// The number that an ordinal names: "first", "twentieth".
pub(super) fn ordinal(word: &str) -> Option<f64> {
    Some(match word {
        "first" => 1.0,
        "second" => 2.0,
        "third" => 3.0,
        "fifth" => 5.0,
        "eighth" => 8.0,
        "ninth" => 9.0,
        "twelfth" => 12.0,
        "hundredth" => 100.0,
        _ => {
            let stem = word.strip_suffix("th")?;
            match stem.strip_suffix("ie") {
                Some(ten) => small(&format!("{ten}y"))?,
                None => small(stem).filter(|n| *n > 3.0)?,
            }
        }
    })
}

/// The denominator that a word names: "half", "thirds".
fn part(word: &str) -> Option<f64> {
    let one = word.strip_suffix('s').unwrap_or(word);
    match one {
        "half" | "halve" => Some(2.0),
        "quarter" => Some(4.0),
        "second" | "first" => None,
        _ => ordinal(one),
    }
}

/// "twenty-one", "a hundred and five", "two and a half million", "one third", "half a million".
fn spelled(l: &[Lexeme], i: usize) -> Option<(usize, f64, f64)> {
    let word = |k: usize| l.get(k).and_then(Lexeme::word).unwrap_or_default();
    let article = |w: &str| matches!(w, "a" | "an");
    // "half a million", "a quarter of a million"
    if word(i) == "half" {
        if article(word(i + 1))
            && let Some(n) = large(word(i + 2))
        {
            return Some((i + 3, n / 2.0, n / 20.0));
        }
        return matches!(word(i + 1), "of" | "the" | "a").then_some((i + 1, 0.5, 0.005));
    }
    if article(word(i)) {
        if let Some(n) = large(word(i + 1)) {
            return compose(l, i + 1, 1.0).or(Some((i + 2, n, 0.5 * n)));
        }
        if let Some(n) = part(word(i + 1)).filter(|_| word(i + 2) == "of") {
            return Some((i + 2, 1.0 / n, 0.005));
        }
        return None;
    }
    if small(word(i)).is_none()
        && !matches!(
            word(i),
            "hundred" | "thousand" | "million" | "billion" | "dozen"
        )
    {
        // "twenty-first", "third"
        return None;
    }
    compose(l, i, 0.0)
}

/// Number words from `i` on; `start` is 1 behind "a".
fn compose(l: &[Lexeme], i: usize, start: f64) -> Option<(usize, f64, f64)> {
    let word = |k: usize| l.get(k).and_then(Lexeme::word).unwrap_or_default();
    let mut total = 0.0;
    let mut group = start;
    let mut precision = 0.5;
    let mut at = i;
    let mut end = i;
    let mut last_small = f64::INFINITY;
    loop {
        let w = word(at);
        if let Some(n) = small(w) {
            // "twenty one" adds up, "two three" does not.
            if last_small < 20.0 || last_small < f64::INFINITY && (n >= 10.0 || n == 0.0) {
                break;
            }
            group += n;
            last_small = n;
            precision = 0.5;
        } else if let Some(n) = large(w) {
            if group == 0.0 && total > 0.0 {
                break;
            }
            let count = if group == 0.0 { 1.0 } else { group };
            if n == 100.0 || n == 12.0 {
                group = count * n;
            } else {
                total = if total > 0.0 && n > total {
                    (total + count) * n
                } else {
                    total + count * n
                };
                group = 0.0;
            }
            precision = 0.5 * n;
            last_small = f64::INFINITY;
        } else if let Some(n) = part(w)
            .filter(|_| group > 0.0 && total == 0.0 && at > i && (w.ends_with('s') || group == 1.0))
        {
            // "two thirds"
            return Some((at + 1, group / n, 0.005));
        } else {
            break;
        }
        at += 1;
        end = at;
        if l.get(at).is_some_and(|x| x.dash() && !x.apart)
            && (small(word(at + 1)).is_some()
                || large(word(at + 1)).is_some()
                || part(word(at + 1)).is_some())
        {
            at += 1;
        } else if word(at) == "and" {
            let next = word(at + 1);
            if matches!(next, "a" | "one")
                && matches!(word(at + 2), "half" | "quarter" | "third")
                && group > 0.0
            {
                let f = 1.0 / part(word(at + 2)).unwrap_or(2.0);
                group += f;
                end = at + 3;
                at = end;
                if let Some(n) = large(word(at)) {
                    return Some((at + 1, (total + group) * n, 0.05 * n));
                }
                return Some((end, total + group, 0.05));
            }
            // "a hundred and five"
            let joins = last_small == f64::INFINITY && small(next).is_some();
            if !joins {
                break;
            }
            at += 1;
        }
    }
    (end > i).then_some((end, total + group, precision))
}

/// A scale behind digits: "5 million", "5M", "5bn", "5k". `m` alone means million only behind a currency sign.
fn scale(l: &[Lexeme], i: usize, money: bool, spelled: bool) -> Option<(usize, f64)> {
    let x = l.get(i)?;
    let w = x.word()?;
    if let Some(n) = large(w)
        .or_else(|| units::singular(w).and_then(large))
        .filter(|n| *n >= 100.0 || !x.apart || w == "dozen")
    {
        return (!spelled || n > 100.0 || w == "hundred").then_some((i + 1, n));
    }
    let capital = x.capital;
    let n = match w {
        "k" if !x.apart => 1e3,
        "m" if money || !x.apart && capital => 1e6,
        "mm" | "mn" if money || w == "mn" => 1e6,
        "mil" => 1e6,
        "bn" => 1e9,
        "b" if money || !x.apart && capital => 1e9,
        "tn" | "trn" => 1e12,
        "t" if !x.apart && money => 1e12,
        "cr" if money => 1e7,
        _ => return None,
    };
    Some((i + 1, n))
}

/// The unit at lexeme `i`: up to three words, with or without a hyphen or brackets around it.
fn unit_at(l: &[Lexeme], i: usize, scaled: bool) -> Option<(usize, Unit)> {
    let x = l.get(i)?;
    if x.is('(') {
        let (end, unit) = unit_at(l, i + 1, true)?;
        return l
            .get(end)
            .is_some_and(|c| c.is(')'))
            .then_some((end + 1, unit));
    }
    if x.dash() && !x.apart && l.get(i + 1).is_some_and(|n| !n.apart) {
        return unit_at(l, i + 1, true);
    }
    let close = !x.apart || !scaled && x.capital == x.word().is_some_and(|w| w == "w");
    if let Kind::Sign(c) = x.kind {
        let letter = l.get(i + 1).and_then(Lexeme::word);
        return match (c, letter) {
            ('%', _) => units::unit("%", true).map(|u| (i + 1, u)),
            ('°' | 'º', Some(w @ ("c" | "f"))) => {
                units::unit(&format!("°{w}"), true).map(|u| (i + 2, u))
            }
            ('°', _) => units::unit("°", true).map(|u| (i + 1, u)),
            // 5'11"
            ('\'' | '′', _)
                if !x.apart
                    && l.get(i + 1)
                        .is_some_and(|n| !n.apart && n.plain().is_some()) =>
            {
                units::unit("ft", true).map(|u| (i + 1, u))
            }
            ('"' | '″', _)
                if !x.apart
                    && l.get(i.wrapping_sub(2))
                        .is_some_and(|p| p.is('\'') || p.is('′')) =>
            {
                units::unit("inch", true).map(|u| (i + 1, u))
            }
            ('$' | '€' | '£', _) => units::money(&c.to_string()).map(|(canonical, factor)| {
                (
                    i + 1,
                    Unit {
                        canonical,
                        factor,
                        offset: 0.0,
                    },
                )
            }),
            _ => None,
        };
    }
    let first = x.word()?;
    let mut name = String::new();
    let mut best = None;
    for k in 0..3 {
        let Some(next) = l.get(i + k) else { break };
        match &next.kind {
            Kind::Word(w) => {
                if k > 0 && next.apart {
                    name.push(' ');
                }
                let stem = units::singular(w)
                    .filter(|s| {
                        units::unit(w, true).is_none()
                            && (units::unit(s, false).is_some() || k + 1 < 3)
                    })
                    .unwrap_or(w);
                let stem = match stem {
                    "feet" => "foot",
                    "inche" => "inch",
                    "centurie" => "century",
                    "pennie" => "cent",
                    s => s,
                };
                name.push_str(stem);
            }
            Kind::Sign('/') if !next.apart => name.push('/'),
            Kind::Sign('.') if !next.apart && k > 0 => continue,
            _ => break,
        }
        let known = units::unit(&name, close).or_else(|| {
            (name == "in" && close && !x.apart)
                .then(|| units::unit("inch", true))
                .flatten()
        });
        if let Some(u) = known {
            best = Some((i + k + 1, u));
        }
    }
    // "5 second": an ordinal's name; "one second" is a time.
    best.filter(|_| !(first == "b" && x.apart))
}

fn ordinal_ending(l: &[Lexeme], i: usize) -> Option<usize> {
    let x = l.get(i)?;
    (!x.apart && matches!(x.word()?, "st" | "nd" | "rd" | "th")).then_some(i + 1)
}

/// "first", "twenty-first" as a quantity with unit `th`.
pub(super) fn ordinal_at(l: &[Lexeme], i: usize) -> Option<(usize, Value)> {
    let w = l[i].word()?;
    let make = |end: usize, value: f64| {
        (
            end,
            Value::Quantity(Quantity {
                value,
                precision: 0.5,
                unit: Some("th".to_string()),
                bound: Bound::Exact,
            }),
        )
    };
    if let Some(ten) = small(w).filter(|n| *n >= 20.0)
        && l.get(i + 1).is_some_and(|x| x.dash() && !x.apart)
        && let Some(n) = l
            .get(i + 2)
            .and_then(Lexeme::word)
            .and_then(ordinal)
            .filter(|n| *n < 10.0)
    {
        return Some(make(i + 3, ten + n));
    }
    ordinal(w).map(|n| make(i + 1, n))
}

/// A word that is, or scales, a number.
pub(super) fn is_number_word(w: &str) -> bool {
    small(w).is_some() || large(w).is_some() || matches!(w, "half" | "quarter")
}
