//! Triples as the graph stores them and as HTTP shows them.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;

use crate::object::Object;

/// A node by id and label.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NodeRef {
    pub id: Uuid,
    pub label: String,
}

/// Whether a statement is asserted or denied; `+` and `-` in JSON, the words are read too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Polarity {
    #[default]
    #[serde(rename = "+", alias = "positive")]
    Positive,
    #[serde(rename = "-", alias = "negative")]
    Negative,
}

impl Polarity {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Positive => "+",
            Self::Negative => "-",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    #[default]
    Fact,
    Claim,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Claim => "claim",
        }
    }
}

/// A statement: subject, predicate, object, and how far to trust it.
///
/// `valid_from` is the first day on which it holds, `valid_to` the first day on which it no longer does; both open
/// when absent. Equal days mean that one day (a figure "as of").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Triple {
    pub id: Uuid,
    pub subject: NodeRef,
    pub predicate: String,
    #[serde(default)]
    pub predicate_id: Uuid,
    pub object: Object,
    #[serde(default)]
    pub polarity: Polarity,
    #[serde(default = "certain", serialize_with = "short_float")]
    pub confidence: f32,
    #[serde(default)]
    pub kind: Kind,
    #[serde(default)]
    pub source: Option<String>,
    #[serde(default)]
    pub valid_from: Option<NaiveDate>,
    #[serde(default)]
    pub valid_to: Option<NaiveDate>,
}

impl Triple {
    /// First day after the interval, with a one-day interval for `valid_from == valid_to`.
    fn closes(&self) -> Option<NaiveDate> {
        match (self.valid_from, self.valid_to) {
            (Some(from), Some(to)) if to <= from => from.succ_opt(),
            (_, to) => to,
        }
    }

    /// Whether both statements speak of a common day.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let starts_before_end = |from: Option<NaiveDate>, to: Option<NaiveDate>| match (from, to) {
            (Some(from), Some(to)) => from < to,
            _ => true,
        };
        starts_before_end(self.valid_from, other.closes())
            && starts_before_end(other.valid_from, self.closes())
    }

    /// Whether the interval has a day in the given year; open ends count.
    pub(crate) fn holds_in_year(&self, year: i32) -> bool {
        use chrono::Datelike;
        self.valid_from.is_none_or(|from| from.year() <= year)
            && self
                .closes()
                .and_then(|to| to.pred_opt())
                .is_none_or(|last| last.year() >= year)
    }

    pub(crate) fn has_validity(&self) -> bool {
        self.valid_from.is_some() || self.valid_to.is_some()
    }

    /// A figure "as of" one day.
    pub(crate) fn is_snapshot(&self) -> bool {
        self.valid_from.is_some() && self.valid_from == self.valid_to
    }

    /// The statement's time is over: it holds no longer.
    pub(crate) fn is_past(&self, today: Option<NaiveDate>) -> bool {
        match (self.valid_to, today) {
            (Some(to), Some(today)) => to <= today,
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    /// Whether a node is its subject or object.
    pub(crate) fn touches(&self, node: Uuid) -> bool {
        self.subject.id == node || self.object.node_id() == Some(node)
    }
}

fn certain() -> f32 {
    1.0
}

/// Keeps `0.9` from being written as `0.8999999761581421` once it passes through a JSON value.
pub(crate) fn short_float<S: Serializer>(value: &f32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((f64::from(*value) * 10_000.0).round() / 10_000.0)
}
