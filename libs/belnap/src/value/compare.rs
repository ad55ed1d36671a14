//! Whether two values can both be right about the same thing.

use serde::{Deserialize, Serialize};

use super::{Bound, PartialDate, Quantity, Value, physical};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// The same, to the last digit stated.
    Equal,
    /// One is the other rounded, bounded or less complete.
    Compatible,
    Different,
    /// Of different kinds: nothing follows.
    Incomparable,
}

/// How far "about" reaches.
const ABOUT: f64 = 0.1;

impl Value {
    /// Symmetric.
    pub fn compare(&self, other: &Value) -> Relation {
        match (self, other) {
            (Value::Quantity(a), Value::Quantity(b)) => quantities(a, b),
            (
                Value::Time {
                    hour: h,
                    minute: m,
                    second: s,
                },
                Value::Time {
                    hour,
                    minute,
                    second,
                },
            ) => {
                if (h, m, s) == (hour, minute, second) {
                    Relation::Equal
                } else {
                    Relation::Different
                }
            }
            (Value::Time { .. }, _) | (_, Value::Time { .. }) => Relation::Incomparable,
            // A bare number of four digits reads as a year.
            (Value::Date(d), Value::Quantity(q)) | (Value::Quantity(q), Value::Date(d)) => {
                match (d.year, d.month) {
                    (Some(y), None) if q.unit.as_deref().is_none_or(|u| !physical(u)) => {
                        let year = Quantity {
                            value: f64::from(y),
                            precision: 0.5,
                            unit: q.unit.clone(),
                            bound: Bound::Exact,
                        };
                        match quantities(&year, q) {
                            Relation::Different if q.unit.is_some() => Relation::Incomparable,
                            r => r,
                        }
                    }
                    _ => Relation::Incomparable,
                }
            }
            (Value::Quantity(_), _) | (_, Value::Quantity(_)) => Relation::Incomparable,
            (a, b) => times(a, b),
        }
    }
}

fn quantities(a: &Quantity, b: &Quantity) -> Relation {
    let (measure, counted) = match (&a.unit, &b.unit) {
        (Some(x), Some(y)) if x == y => (true, true),
        (None, None) => (true, true),
        (None, Some(u)) | (Some(u), None) => (false, !physical(u) && u != "th"),
        _ => return Relation::Incomparable,
    };
    let difference = (a.value - b.value).abs();
    let tolerance = 1e-9 * a.value.abs().max(b.value.abs());
    let same_bound = a.bound == b.bound;
    if same_bound && difference <= tolerance {
        return Relation::Equal;
    }
    let differ = if measure || counted {
        Relation::Different
    } else {
        Relation::Incomparable
    };
    if same_bound && a.bound == Bound::Exact {
        return if difference < a.precision.min(b.precision) {
            Relation::Equal
        } else if difference < a.precision.max(b.precision) + tolerance {
            Relation::Compatible
        } else {
            differ
        };
    }
    let ((a_low, a_high), (b_low, b_high)) = (interval(a), interval(b));
    if a_low <= b_high && b_low <= a_high {
        Relation::Compatible
    } else {
        differ
    }
}

fn interval(q: &Quantity) -> (f64, f64) {
    let (low, high) = (q.value - q.precision, q.value + q.precision);
    match q.bound {
        Bound::Exact => (low, high),
        Bound::About => {
            let reach = (ABOUT * q.value.abs()).max(q.precision);
            (q.value - reach, q.value + reach)
        }
        Bound::Over | Bound::AtLeast => (q.value, f64::INFINITY),
        Bound::Under | Bound::AtMost => (f64::NEG_INFINITY, q.value),
    }
}

fn times(a: &Value, b: &Value) -> Relation {
    if a == b {
        return Relation::Equal;
    }
    match (a, b) {
        (Value::Either(x, y), other) | (other, Value::Either(x, y)) => {
            let readings = [
                times(&Value::Date(*x), other),
                times(&Value::Date(*y), other),
            ];
            if readings
                .iter()
                .any(|r| matches!(r, Relation::Equal | Relation::Compatible))
            {
                Relation::Compatible
            } else if readings.contains(&Relation::Incomparable) {
                Relation::Incomparable
            } else {
                Relation::Different
            }
        }
        (Value::Date(x), Value::Date(y)) => dates(x, y),
        (a, b) => match (ends(a), ends(b)) {
            (Some((af, at)), Some((bf, bt))) => match (days(&af, &at), days(&bf, &bt)) {
                (Some((a0, a1)), Some((b0, b1))) => {
                    if a0 == b0 && a1 == b1 {
                        Relation::Equal
                    } else if a0 <= b1 && b0 <= a1 {
                        Relation::Compatible
                    } else {
                        Relation::Different
                    }
                }
                _ => Relation::Incomparable,
            },
            _ => Relation::Incomparable,
        },
    }
}

fn dates(a: &PartialDate, b: &PartialDate) -> Relation {
    let fields = [
        (a.year, b.year),
        (a.month.map(i32::from), b.month.map(i32::from)),
        (a.day.map(i32::from), b.day.map(i32::from)),
    ];
    let mut common = false;
    for (x, y) in fields {
        if let (Some(x), Some(y)) = (x, y) {
            if x != y {
                return Relation::Different;
            }
            common = true;
        }
    }
    if common {
        Relation::Compatible
    } else {
        Relation::Incomparable
    }
}

fn ends(v: &Value) -> Option<(PartialDate, PartialDate)> {
    match v {
        Value::Date(d) => Some((*d, *d)),
        Value::Period { from, to } => Some((*from, *to)),
        _ => None,
    }
}

/// The first and last day as sortable numbers; none without a year, unless neither end has one.
fn days(from: &PartialDate, to: &PartialDate) -> Option<(i64, i64)> {
    if from.year.is_none() != to.year.is_none() || from.year.is_none() {
        return None;
    }
    let number = |d: &PartialDate, last: bool| {
        let (month, day) = if last { (12, 31) } else { (1, 1) };
        i64::from(d.year.unwrap_or(0)) * 10_000
            + i64::from(d.month.unwrap_or(month)) * 100
            + i64::from(d.day.unwrap_or(day))
    };
    Some((number(from, false), number(to, true)))
}
