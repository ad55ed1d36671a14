//! Objects of triples: typing what comes in, comparing what is stored.

use chrono::{Datelike, NaiveDate};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::{Value, json};
use thiserror::Error;
use uuid::Uuid;

use crate::number::{Decimal, Quantity, canonical_unit};
use crate::text::{identity_key, normalize_label};

/// The object of a triple.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Object {
    Node {
        id: Uuid,
        label: String,
    },
    Text(String),
    Number {
        value: Decimal,
        unit: Option<String>,
    },
    Date(NaiveDate),
    Boolean(bool),
}

/// What an incoming JSON object says, before a node label is resolved to a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    Node { label: String, id: Option<Uuid> },
    Literal(Object),
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum ObjectError {
    #[error("read triple object: it is empty")]
    Empty,
    #[error(
        "read triple object: expected a string, number, boolean or {{type, value, unit}}, got {0}"
    )]
    Shape(&'static str),
    #[error(
        "read triple object: unknown type \"{0}\", expected node, text, number, date or boolean"
    )]
    Type(String),
    #[error("read triple object: \"{value}\" is not a {kind}")]
    Value { value: String, kind: &'static str },
}

/// How two objects relate once units, dates and spelling are normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    Same,
    /// Not equal, but both can be true (1976 and 1976-04-01; amounts in different currencies).
    Compatible,
    Different,
}

impl Object {
    /// Types an incoming JSON object.
    ///
    /// Explicit `{type, value, unit}` is honoured. `1976` and `"1976"` are numbers, `"$391.0 billion"` a number in
    /// USD, `"1976-04-01"` and `"April 1, 1976"` dates; strings of more than 200 characters or several sentences are
    /// text; any other string names a node.
    pub fn parse(value: &Value) -> Result<Parsed, ObjectError> {
        match value {
            Value::Bool(value) => Ok(Parsed::Literal(Self::Boolean(*value))),
            Value::Number(number) => Self::number(&number.to_string(), None).map(Parsed::Literal),
            Value::String(text) => Self::parse_text(text),
            Value::Object(fields) => {
                let kind = fields.get("type").and_then(Value::as_str);
                let inner = fields.get("value").or_else(|| fields.get("label"));
                let unit = fields
                    .get("unit")
                    .and_then(Value::as_str)
                    .filter(|unit| !unit.trim().is_empty());
                let id = fields
                    .get("node_id")
                    .and_then(Value::as_str)
                    .and_then(|id| id.parse().ok());
                match (kind, inner) {
                    (Some(kind), Some(inner)) => Self::parse_typed(kind, inner, unit, id),
                    (Some("node"), None) if id.is_some() => Ok(Parsed::Node {
                        label: String::new(),
                        id,
                    }),
                    (None, Some(Value::Object(_))) => Err(ObjectError::Shape("a nested object")),
                    (None, Some(inner)) => Self::parse(inner).map(|parsed| parsed.with_unit(unit)),
                    (_, None) => Err(ObjectError::Shape("an object without value")),
                }
            }
            Value::Null => Err(ObjectError::Empty),
            Value::Array(_) => Err(ObjectError::Shape("an array")),
        }
    }

    fn parse_text(text: &str) -> Result<Parsed, ObjectError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(ObjectError::Empty);
        }
        if let Some(date) = parse_date(trimmed) {
            return Ok(Parsed::Literal(Self::Date(date)));
        }
        if let Some(quantity) = Quantity::parse(trimmed) {
            return Ok(Parsed::Literal(Self::Number {
                value: quantity.value,
                unit: quantity.unit,
            }));
        }
        match trimmed {
            "true" | "True" => return Ok(Parsed::Literal(Self::Boolean(true))),
            "false" | "False" => return Ok(Parsed::Literal(Self::Boolean(false))),
            _ => {}
        }
        if trimmed.chars().count() > MAX_LABEL || several_sentences(trimmed) {
            return Ok(Parsed::Literal(Self::Text(trimmed.to_owned())));
        }
        Ok(Parsed::Node {
            label: trimmed.to_owned(),
            id: None,
        })
    }

    fn parse_typed(
        kind: &str,
        value: &Value,
        unit: Option<&str>,
        id: Option<Uuid>,
    ) -> Result<Parsed, ObjectError> {
        let text = match value {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Bool(value) => value.to_string(),
            Value::Null => return Err(ObjectError::Empty),
            Value::Array(_) => return Err(ObjectError::Shape("an array")),
            Value::Object(_) => return Err(ObjectError::Shape("a nested object")),
        };
        if text.is_empty() {
            return Err(ObjectError::Empty);
        }
        let wrong = |kind| ObjectError::Value {
            value: text.chars().take(80).collect(),
            kind,
        };
        let literal = match kind {
            "node" => return Ok(Parsed::Node { label: text, id }),
            "text" => Self::Text(text),
            "number" => Self::number(&text, unit)?,
            "date" => Self::Date(parse_date(&text).ok_or_else(|| wrong("date"))?),
            "boolean" => match text.to_lowercase().as_str() {
                "true" | "yes" => Self::Boolean(true),
                "false" | "no" => Self::Boolean(false),
                _ => return Err(wrong("boolean")),
            },
            other => return Err(ObjectError::Type(other.chars().take(40).collect())),
        };
        Ok(Parsed::Literal(literal))
    }

    fn number(text: &str, unit: Option<&str>) -> Result<Self, ObjectError> {
        let given = unit.map(canonical_unit);
        if let Some(value) = Decimal::parse(text) {
            return Ok(Self::Number { value, unit: given });
        }
        match Quantity::parse(text) {
            Some(quantity) => Ok(Self::Number {
                value: quantity.value,
                unit: given.or(quantity.unit),
            }),
            None => Err(ObjectError::Value {
                value: text.chars().take(80).collect(),
                kind: "number",
            }),
        }
    }

    /// Canonical string for equality and deduplication: equal exactly for objects that are [`Likeness::Same`] by
    /// type, unit and value. At most about 260 bytes for text, so that it fits an index.
    pub fn object_key(&self) -> String {
        match self {
            Self::Node { id, .. } => format!("node:{id}"),
            Self::Number { value, unit } => {
                let (value, unit) = Quantity {
                    value: value.clone(),
                    unit: unit.clone(),
                }
                .base();
                format!("number:{}:{unit}", value.as_str())
            }
            Self::Date(date) => format!("date:{date}"),
            Self::Boolean(value) => format!("boolean:{value}"),
            Self::Text(text) => {
                let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
                if joined.len() <= 200 {
                    return format!("text:{joined}");
                }
                let head: String = joined.chars().take(40).collect();
                format!(
                    "text:{head}:{}:{:032x}",
                    joined.len(),
                    fnv128(joined.as_bytes())
                )
            }
        }
    }

    /// Type word of the contract.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Node { .. } => "node",
            Self::Text(_) => "text",
            Self::Number { .. } => "number",
            Self::Date(_) => "date",
            Self::Boolean(_) => "boolean",
        }
    }

    pub fn node_id(&self) -> Option<Uuid> {
        match self {
            Self::Node { id, .. } => Some(*id),
            _ => None,
        }
    }

    /// The object in plain characters, exact: `1976`, `383285000000 USD`, `2020-01-01`, a label.
    pub fn label(&self) -> String {
        match self {
            Self::Node { label, .. } => label.clone(),
            Self::Text(text) => text.clone(),
            Self::Number { value, unit: None } => value.as_str().to_owned(),
            Self::Number {
                value,
                unit: Some(unit),
            } => format!("{} {unit}", value.as_str()),
            Self::Date(date) => date.to_string(),
            Self::Boolean(value) => value.to_string(),
        }
    }

    /// Compares two objects after normalising units, dates and spelling.
    pub fn likeness(&self, other: &Self) -> Likeness {
        use Likeness::{Compatible, Different, Same};
        match (self, other) {
            (Self::Node { id: a, label: la }, Self::Node { id: b, label: lb }) => {
                if a == b {
                    Same
                } else if normalize_label(la) == normalize_label(lb) {
                    Compatible
                } else {
                    Different
                }
            }
            (Self::Number { value: a, unit: ua }, Self::Number { value: b, unit: ub }) => {
                let (left, left_unit) = Quantity {
                    value: a.clone(),
                    unit: ua.clone(),
                }
                .base();
                let (right, right_unit) = Quantity {
                    value: b.clone(),
                    unit: ub.clone(),
                }
                .base();
                match left_unit == right_unit || left_unit.is_empty() || right_unit.is_empty() {
                    true if left == right => Same,
                    true => Different,
                    // Amounts in two currencies cannot be compared without a rate.
                    false => Compatible,
                }
            }
            (Self::Date(a), Self::Date(b)) => {
                if a == b {
                    Same
                } else {
                    Different
                }
            }
            (Self::Boolean(a), Self::Boolean(b)) => {
                if a == b {
                    Same
                } else {
                    Different
                }
            }
            (Self::Date(date), Self::Number { value, unit: None })
            | (Self::Number { value, unit: None }, Self::Date(date)) => match value.year() {
                Some(year) if year == date.year() => Compatible,
                _ => Different,
            },
            (Self::Text(a), Self::Text(b)) => {
                if identity_key(a) == identity_key(b) {
                    Same
                } else {
                    Different
                }
            }
            (Self::Node { label, .. } | Self::Text(label), literal)
            | (literal, Self::Node { label, .. } | Self::Text(label)) => {
                if identity_key(label) == identity_key(&literal.label()) {
                    return Same;
                }
                match Self::parse_text(label) {
                    Ok(Parsed::Literal(typed))
                        if !matches!(typed, Self::Text(_))
                            && !matches!(literal, Self::Text(_) | Self::Node { .. }) =>
                    {
                        typed.likeness(literal)
                    }
                    _ => Different,
                }
            }
            _ => Different,
        }
    }
}

impl Parsed {
    /// The object, once the node of its label is known; a literal stays what it is.
    pub fn into_object(self, node: Option<(Uuid, String)>) -> Option<Object> {
        match (self, node) {
            (Self::Literal(object), _) => Some(object),
            (Self::Node { .. }, Some((id, label))) => Some(Object::Node { id, label }),
            (Self::Node { .. }, None) => None,
        }
    }

    fn with_unit(self, given: Option<&str>) -> Self {
        match (self, given) {
            (Self::Literal(Object::Number { value, .. }), Some(given)) => {
                Self::Literal(Object::Number {
                    value,
                    unit: Some(canonical_unit(given)),
                })
            }
            (other, _) => other,
        }
    }
}

/// Reads a whole text as a full date: `2020-01-01`, `January 1, 2020`, `1 January 2020`, `1 Jan 2020`.
pub(crate) fn parse_date(text: &str) -> Option<NaiveDate> {
    let text = text.trim();
    if text.len() > 40 {
        return None;
    }
    let iso = text.len() == 10 && text.is_ascii();
    if iso && let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Some(date);
    }
    let parts: Vec<&str> = text
        .split(|letter: char| letter.is_whitespace() || letter == ',')
        .filter(|part| !part.is_empty())
        .collect();
    let [a, b, c] = parts.as_slice() else {
        return None;
    };
    let year = crate::text::year(c)?;
    let (month, day) = match (month_number(a), month_number(b)) {
        (Some(month), None) => (month, *b),
        (None, Some(month)) => (month, *a),
        _ => return None,
    };
    let day = day
        .trim_end_matches(|letter: char| letter.is_ascii_alphabetic())
        .parse()
        .ok()?;
    NaiveDate::from_ymd_opt(year, month, day)
}

fn month_number(word: &str) -> Option<u32> {
    let lower = word.trim_end_matches('.').to_lowercase();
    if lower.len() < 3 {
        return None;
    }
    MONTHS
        .iter()
        .position(|month| {
            month.to_lowercase() == lower
                || (lower.len() <= 4 && month.to_lowercase().starts_with(&lower))
        })
        .and_then(|at| u32::try_from(at + 1).ok())
}

/// `April 1, 1976`.
pub(crate) fn display_date(date: NaiveDate) -> String {
    let month = usize::try_from(date.month0())
        .ok()
        .and_then(|at| MONTHS.get(at))
        .copied()
        .unwrap_or_default();
    format!("{month} {}, {}", date.day(), date.year())
}

fn several_sentences(text: &str) -> bool {
    if text.contains('\n') {
        return true;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    // Initials and abbreviations ("J. R. Smith", "Inc.") do not end a sentence.
    let ends = |word: &str| {
        let body = word.trim_end_matches(['.', '!', '?']);
        body.len() < word.len() && body.chars().count() > 3
    };
    let inside = words.windows(2).any(
        |pair| matches!(pair, [word, next] if ends(word) && next.starts_with(char::is_uppercase)),
    );
    let at_end = words.last().is_some_and(|word| ends(word));
    (inside && words.len() >= 6) || (at_end && words.len() >= 12)
}

fn fnv128(bytes: &[u8]) -> u128 {
    bytes
        .iter()
        .fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, byte| {
            (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
        })
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = json!({"type": self.type_name(), "label": self.label()});
        let value = match self {
            Self::Node { label, .. } => json!(label),
            Self::Text(text) => json!(text),
            Self::Number { value, .. } => number_json(value),
            Self::Date(date) => json!(date),
            Self::Boolean(value) => json!(value),
        };
        if let Value::Object(fields) = &mut out {
            fields.insert("value".into(), value);
            match self {
                Self::Node { id, .. } => {
                    fields.insert("node_id".into(), json!(id));
                }
                Self::Number {
                    unit: Some(unit), ..
                } => {
                    fields.insert("unit".into(), json!(unit));
                }
                _ => {}
            }
        }
        out.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        match Self::parse(&value).map_err(D::Error::custom)? {
            Parsed::Literal(object) => Ok(object),
            Parsed::Node {
                label,
                id: Some(id),
            } => Ok(Self::Node { id, label }),
            Parsed::Node { .. } => {
                Err(D::Error::custom("read triple object: node without node_id"))
            }
        }
    }
}

/// A JSON number where it is exact, a string where it would not be.
fn number_json(value: &Decimal) -> Value {
    let text = value.as_str();
    if value.is_integer()
        && let Ok(integer) = text.parse::<i64>()
        && integer.unsigned_abs() <= 1 << 53
    {
        return json!(integer);
    }
    let float = value.to_f64();
    if text.len() <= 16
        && float.is_finite()
        && Decimal::parse(&float.to_string()).as_ref() == Some(value)
    {
        return json!(float);
    }
    json!(text)
}

const MAX_LABEL: usize = 200;

const MONTHS: &[&str] = &[
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
