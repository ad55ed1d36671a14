//! The blackboard as text for a model, and texts taken from it.

use serde_json::{Map, Value};

/// The state as JSON of at most about `limit` characters. Values that do not fit are cut, the longest first: a model
/// sees all keys, and short values whole.
pub(super) fn told(state: &Map<String, Value>, limit: usize) -> String {
    let written: Vec<(&String, String)> = state
        .iter()
        .map(|(key, value)| (key, value.to_string()))
        .collect();
    let mut by_length: Vec<usize> = written
        .iter()
        .map(|(_, text)| text.chars().count())
        .collect();
    by_length.sort_unstable();
    let framing: usize = written.iter().map(|(key, _)| key.chars().count() + 8).sum();
    let mut left = limit.saturating_sub(framing);
    let mut most = usize::MAX;
    for (done, length) in by_length.iter().enumerate() {
        let share = left / (by_length.len() - done);
        if *length > share {
            most = share;
            break;
        }
        left -= length;
    }
    let lines: Vec<String> = written
        .into_iter()
        .map(|(key, text)| format!("  {}: {}", Value::String(key.clone()), cut(&text, most)))
        .collect();
    match lines.is_empty() {
        true => "{}".to_owned(),
        false => format!("{{\n{}\n}}", lines.join(",\n")),
    }
}

/// The first `most` characters, and a sign that there was more.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}… (cut)", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A value of the state by key, or by a path such as `lead.items.0` where no key has that name.
pub(super) fn find<'a>(state: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let path = path.trim();
    if let Some(value) = state.get(path) {
        return Some(value);
    }
    let mut parts = path.split('.');
    let first = state.get(parts.next()?)?;
    parts.try_fold(first, |value, part| match value {
        Value::Object(fields) => fields.get(part),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// The text of a value as people mean it: a string itself, of an answer its words, else JSON. Empty when there is
/// nothing in it.
pub(super) fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => String::new(),
        Value::Object(fields) if fields.is_empty() => String::new(),
        Value::Object(fields) => {
            // What Agent, Research and Artifact nodes put out.
            let said = ["response", "findings", "content"]
                .iter()
                .find_map(|key| fields.get(*key)?.as_str());
            match said {
                Some(said) => said.to_owned(),
                None => pretty(value),
            }
        }
        other => pretty(other),
    }
}

pub(super) fn pretty(value: &Value) -> String {
    // A JSON value always has a JSON form.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn long_values_are_cut_and_short_ones_are_not() {
        let state = object(json!({"a": 1, "b": "x".repeat(500), "c": {"d": "short"}}));
        let text = told(&state, 200);
        assert!(
            text.contains("\"a\": 1,") && text.contains("\"c\": {\"d\":\"short\"}"),
            "{text}"
        );
        assert!(text.contains("… (cut)"));
        let length = text.chars().count();
        assert!((150..=230).contains(&length), "{length}");
        let whole = told(&state, 10_000);
        assert_eq!(
            serde_json::from_str::<Value>(&whole).unwrap(),
            Value::Object(state)
        );
        assert_eq!(told(&Map::new(), 10), "{}");
    }

    #[test]
    fn keys_come_before_paths() {
        let state = object(json!({"a": {"b": [10, 20]}, "a.b": "key"}));
        assert_eq!(find(&state, "a.b"), Some(&json!("key")));
        assert_eq!(find(&state, "a.b.1"), Some(&json!(20)));
        assert_eq!(find(&state, "a.b.2"), None);
        assert_eq!(find(&state, "x"), None);
    }

    #[test]
    fn answers_are_read_as_their_words() {
        assert_eq!(words(&json!({"response": "hi", "tokens": 3})), "hi");
        assert_eq!(words(&json!("  ")), "  ");
        assert_eq!(words(&json!([])), "");
        assert_eq!(words(&json!(7)), "7");
        assert_eq!(words(&json!({"x": 1})), "{\n  \"x\": 1\n}");
    }
}
