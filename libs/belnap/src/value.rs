//! Typed values in text: quantities with units, and dates that may be partial.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Value {
    Quantity(Quantity),
    Date(PartialDate),
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
    /// Canonical unit (`m`, `USD`, `%`, a counted noun's lemma), if any.
    pub unit: Option<String>,
    pub bound: Bound,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PartialDate {
    pub year: Option<i32>,
    pub month: Option<u8>,
    pub day: Option<u8>,
}
