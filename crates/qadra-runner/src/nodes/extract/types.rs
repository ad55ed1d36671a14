use serde_json::{Map, Number, Value};

use crate::nodes::NodeFailure;

/// One value to find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Whatever JSON it is.
    Any,
    Text,
    Number,
    Integer,
    Boolean,
    List,
    Object,
    Date,
}

/// The node's `variables`: names, or objects with `name`, `description` and `type`.
pub(super) fn variables(data: &Map<String, Value>) -> Result<Vec<Variable>, NodeFailure> {
    let given = data.get("variables").and_then(Value::as_array);
    let found: Option<Vec<Variable>> = given.into_iter().flatten().map(variable).collect();
    match found {
        Some(found) if !found.is_empty() => Ok(found),
        _ => Err(NodeFailure::bad_input(
            "variables is not a list of names or of {name, description, type}",
        )),
    }
}

fn variable(given: &Value) -> Option<Variable> {
    let text = |key: &str| given.get(key)?.as_str().map(str::to_owned);
    let (name, description, kind) = match given {
        Value::String(name) => (name.clone(), None, Kind::Any),
        Value::Object(_) => {
            let kind = text("type").map_or(Kind::Any, |kind| Kind::parse(&kind));
            (text("name")?, text("description"), kind)
        }
        _ => return None,
    };
    let name = name.trim().to_owned();
    (!name.is_empty()).then_some(Variable {
        name,
        description,
        kind,
    })
}

impl Kind {
    fn parse(name: &str) -> Self {
        match name.trim().to_ascii_lowercase().as_str() {
            "string" | "text" => Self::Text,
            "number" | "float" | "decimal" => Self::Number,
            "integer" | "int" => Self::Integer,
            "boolean" | "bool" => Self::Boolean,
            "array" | "list" => Self::List,
            "object" | "json" => Self::Object,
            "date" => Self::Date,
            _ => Self::Any,
        }
    }

    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::Any => return None,
            Self::Text => "string",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::List => "array",
            Self::Object => "object",
            Self::Date => "date as YYYY-MM-DD",
        })
    }
}

impl Variable {
    /// The line that tells a model of it.
    pub(super) fn described(&self) -> String {
        let kind = self
            .kind
            .name()
            .map(|kind| format!(" ({kind})"))
            .unwrap_or_default();
        let about = self
            .description
            .as_deref()
            .map(|text| format!(": {text}"))
            .unwrap_or_default();
        format!("- {}{kind}{about}", Value::String(self.name.clone()))
    }

    /// The value as the variable's type; null where it cannot be that.
    pub(super) fn coerce(&self, value: Value) -> Value {
        match (self.kind, value) {
            (_, Value::Null) => Value::Null,
            (Kind::Any, value) => value,
            (Kind::Text | Kind::Date, Value::String(text)) => Value::String(text),
            (Kind::Text, value) => Value::String(value.to_string()),
            (Kind::Number, Value::Number(number)) => Value::Number(number),
            (Kind::Number, Value::String(text)) => number(&text).map_or(Value::Null, Value::Number),
            (Kind::Integer, Value::Number(number)) => integer(&number),
            (Kind::Integer, Value::String(text)) => {
                number(&text).map_or(Value::Null, |n| integer(&n))
            }
            (Kind::Boolean, value) => boolean(&value).map_or(Value::Null, Value::Bool),
            (Kind::List, Value::Array(items)) => Value::Array(items),
            (Kind::List, Value::String(text)) => match serde_json::from_str(&text) {
                Ok(Value::Array(items)) => Value::Array(items),
                _ => Value::Array(vec![Value::String(text)]),
            },
            (Kind::List, value) => Value::Array(vec![value]),
            (Kind::Object, Value::Object(fields)) => Value::Object(fields),
            (Kind::Object, Value::String(text)) => {
                serde_json::from_str(&text).map_or(Value::Null, Value::Object)
            }
            (Kind::Number | Kind::Integer | Kind::Object | Kind::Date, _) => Value::Null,
        }
    }
}

/// A number as people write it: `1,250.50`, `$ 1 000`, `-3 %`.
pub(super) fn number(text: &str) -> Option<Number> {
    let plain: String = text
        .trim()
        .trim_start_matches(['$', '€', '£', '¥'])
        .trim_end_matches(['%', '$', '€', '£', '¥'])
        .chars()
        .filter(|c| !matches!(c, ',' | '_' | ' ' | '\u{a0}' | '\u{202f}'))
        .collect();
    if let Ok(whole) = plain.parse::<i64>() {
        return Some(whole.into());
    }
    // `inf` and `nan` are words to us.
    if !plain.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    plain.parse::<f64>().ok().and_then(Number::from_f64)
}

fn integer(number: &Number) -> Value {
    if number.is_i64() || number.is_u64() {
        return Value::Number(number.clone());
    }
    match number.as_f64() {
        // Beyond this a float does not tell one integer from the next.
        Some(float) if float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0 => {
            Value::Number((float as i64).into())
        }
        _ => Value::Null,
    }
}

fn boolean(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::Number(number) if number.as_f64() == Some(1.0) => Some(true),
        Value::Number(number) if number.as_f64() == Some(0.0) => Some(false),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "y" | "1" | "on" => Some(true),
            "false" | "no" | "n" | "0" | "off" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn coerced(kind: &str, value: Value) -> Value {
        let variable = variable(&json!({"name": "x", "type": kind})).unwrap();
        variable.coerce(value)
    }

    #[test]
    fn values_become_what_was_asked_for_or_null() {
        for (kind, given, expected) in [
            ("number", json!("1,250.50"), json!(1250.5)),
            ("number", json!("$ 1 000"), json!(1000)),
            ("number", json!("12 apples"), json!(null)),
            ("number", json!("nan"), json!(null)),
            ("number", json!(3.5), json!(3.5)),
            ("integer", json!(3.0), json!(3)),
            ("integer", json!("-42"), json!(-42)),
            ("integer", json!(3.5), json!(null)),
            ("boolean", json!("Yes"), json!(true)),
            ("boolean", json!(0), json!(false)),
            ("boolean", json!("perhaps"), json!(null)),
            ("string", json!(7), json!("7")),
            ("string", json!({"a": 1}), json!("{\"a\":1}")),
            ("array", json!("one"), json!(["one"])),
            ("array", json!("[1, 2]"), json!([1, 2])),
            ("object", json!("{\"a\": 1}"), json!({"a": 1})),
            ("object", json!([1]), json!(null)),
            ("date", json!("2026-01-31"), json!("2026-01-31")),
            ("date", json!(2026), json!(null)),
            ("unheard-of", json!([1]), json!([1])),
            ("number", json!(null), json!(null)),
        ] {
            assert_eq!(coerced(kind, given.clone()), expected, "{kind} of {given}");
        }
    }

    #[test]
    fn variables_are_names_or_objects() {
        let data = |v: Value| json!({"variables": v}).as_object().cloned().unwrap();
        let found = variables(&data(
            json!(["a", {"name": "b", "type": "integer", "description": "how many"}]),
        ))
        .unwrap();
        assert_eq!(found[0].described(), "- \"a\"");
        assert_eq!(found[1].described(), "- \"b\" (integer): how many");
        for wrong in [
            json!([]),
            json!("a"),
            json!([1]),
            json!([{"type": "x"}]),
            json!([" "]),
        ] {
            assert!(variables(&data(wrong.clone())).is_err(), "{wrong}");
        }
    }
}
