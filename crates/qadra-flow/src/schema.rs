//! The part of JSON Schema that the catalog uses: `type`, `enum`, `properties`, `required`, `items`, and bounds.

use serde_json::Value;

/// What does not fit: the field (empty for the whole) and what was expected. A text that holds a template may stand
/// for any type: what it becomes is not known before the run.
pub(crate) fn check(schema: &Value, value: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    walk(schema, value, "", 0, &mut found);
    found
}

fn walk(schema: &Value, value: &Value, at: &str, depth: usize, found: &mut Vec<(String, String)>) {
    if depth > 8 {
        return;
    }
    let mut wrong = |message: String| found.push((at.to_owned(), message));
    let is_template = value.as_str().is_some_and(|t| t.contains("{{"));
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        if !is_template && !words.contains(value) {
            let words: Vec<String> = words
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect();
            wrong(format!("must be one of {}", words.join(", ")));
        }
        return;
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|t| is(t, value)) {
        if !(is_template && schema.get("format").is_some()) {
            wrong(format!("must be {}", types.join(" or ")));
        }
        return;
    }
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    if let Some(n) = value.as_f64() {
        if let Some(least) = number("minimum").filter(|least| n < *least) {
            wrong(format!("must be at least {least}"));
        }
        if let Some(most) = number("maximum").filter(|most| n > *most) {
            wrong(format!("must be at most {most}"));
        }
    }
    if let (Some(text), Some(most)) = (value.as_str(), number("maxLength"))
        && text.chars().count() as f64 > most
    {
        wrong(format!("must have at most {most} characters"));
    }
    if let Some(items) = value.as_array() {
        if number("minItems").is_some_and(|least| (items.len() as f64) < least) {
            wrong("must not be empty".to_owned());
        }
        if let Some(most) = number("maxItems").filter(|most| items.len() as f64 > *most) {
            wrong(format!("must have at most {most} entries"));
        }
        if let Some(each) = schema.get("items") {
            for (i, item) in items.iter().enumerate().take(200) {
                walk(each, item, &join(at, &i.to_string()), depth + 1, found);
            }
        }
        return;
    }
    let Some(map) = value.as_object() else { return };
    for name in schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        let given = map
            .get(name)
            .is_some_and(|v| !v.is_null() && v.as_str().is_none_or(|t| !t.trim().is_empty()));
        if !given {
            found.push((join(at, name), "is missing".to_owned()));
        }
    }
    let fields = schema.get("properties").and_then(Value::as_object);
    for (name, field) in fields.into_iter().flatten() {
        // An editor clears a field with null or an empty text.
        if let Some(value) = map
            .get(name)
            .filter(|v| !v.is_null() && v.as_str() != Some(""))
        {
            walk(field, value, &join(at, name), depth + 1, found);
        }
    }
}

fn join(at: &str, name: &str) -> String {
    if at.is_empty() {
        name.to_owned()
    } else {
        format!("{at}.{name}")
    }
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_i64().is_some() || value.as_u64().is_some(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_does_not_fit_is_named() {
        let schema = json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "string", "maxLength": 3}, "n": {"type": "integer", "minimum": 1, "maximum": 5, "format": "template"},
            "e": {"enum": ["x", "y"]}, "l": {"type": "array", "minItems": 1, "items": {"type": "string"}}}});
        let found = |value: Value| -> Vec<String> {
            check(&schema, &value)
                .into_iter()
                .map(|(at, m)| format!("{at} {m}"))
                .collect()
        };
        assert!(found(json!({"a": "abc", "n": 3, "e": "y", "l": ["z"], "other": 1})).is_empty());
        assert!(found(json!({"a": "abc", "n": "{{n}}", "e": null, "l": null})).is_empty());
        assert_eq!(found(json!({"a": " "})), ["a is missing"]);
        assert_eq!(
            found(json!({"a": "abcd", "n": 9})),
            ["a must have at most 3 characters", "n must be at most 5"]
        );
        assert_eq!(
            found(json!({"a": "b", "e": "z", "l": []})),
            ["e must be one of x, y", "l must not be empty"]
        );
        assert_eq!(
            found(json!({"a": "b", "l": ["c", 4], "n": "7"})),
            ["l.1 must be string", "n must be integer"]
        );
        assert_eq!(found(json!([])), [" must be object"]);
    }
}
