//! Extraction without a model: what stands in the text under the variable's own name, or is the one thing of its
//! kind there. What neither gives stays null.

use serde_json::{Map, Value};

use super::types::{Kind, Variable, number};

/// Characters of a labelled value; a longer one is a paragraph that happens to follow a colon.
const LONGEST: usize = 300;

pub(super) fn find(
    variables: &[Variable],
    source: Option<&Value>,
    text: &str,
) -> Map<String, Value> {
    let fields = fields(source, text);
    let labelled = labelled(text);
    variables
        .iter()
        .filter_map(|variable| {
            let key = folded(&variable.name);
            let value = fields
                .iter()
                .find(|(name, _)| *name == key)
                .or_else(|| labelled.iter().find(|(name, _)| *name == key))
                .map(|(_, value)| value.clone())
                .or_else(|| by_kind(variable, text))?;
            Some((variable.name.clone(), value))
        })
        .collect()
}

/// The fields of a text that is JSON, or of a value that never was a text.
fn fields(source: Option<&Value>, text: &str) -> Vec<(String, Value)> {
    let parsed: Option<Map<String, Value>> = match source {
        Some(Value::Object(fields)) => Some(fields.clone()),
        _ => serde_json::from_str(text).ok(),
    };
    let fields = parsed.unwrap_or_default();
    fields
        .into_iter()
        .map(|(key, value)| (folded(&key), value))
        .collect()
}

/// `Name: value` and `name = value`, each on a line or between semicolons.
fn labelled(text: &str) -> Vec<(String, Value)> {
    text.split(['\n', ';'])
        .filter_map(|line| {
            let line = line.trim().trim_start_matches(['-', '*', '•', '#']);
            let (name, value) = line.split_once([':', '='])?;
            let value = value.trim().trim_matches(['"', '*', '`']).trim();
            let fits = !value.is_empty() && value.chars().count() <= LONGEST;
            fits.then(|| (folded(name), Value::String(value.to_owned())))
        })
        .collect()
}

/// `Customer E-mail` and `customer_email` are one name.
fn folded(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

fn by_kind(variable: &Variable, text: &str) -> Option<Value> {
    let name = folded(&variable.name);
    let words = || {
        text.split_whitespace().map(|word| {
            word.trim_matches(|c: char| {
                matches!(
                    c,
                    ',' | ';'
                        | ':'
                        | '.'
                        | '!'
                        | '?'
                        | '('
                        | ')'
                        | '<'
                        | '>'
                        | '"'
                        | '\''
                        | '['
                        | ']'
                )
            })
        })
    };
    let only = |found: Vec<String>| match found.as_slice() {
        [one] => Some(Value::String(one.clone())),
        _ => None,
    };
    let matching = |test: &dyn Fn(&str) -> bool| {
        let mut found: Vec<String> = words()
            .filter(|word| test(word))
            .map(str::to_owned)
            .collect();
        found.dedup();
        only(found)
    };
    if name.ends_with("email") {
        return matching(&is_mail);
    }
    if name.ends_with("url") || name.ends_with("link") || name.ends_with("website") {
        return matching(&|word| word.starts_with("https://") || word.starts_with("http://"));
    }
    if variable.kind == Kind::Date || name.ends_with("date") {
        return matching(&is_date);
    }
    if matches!(variable.kind, Kind::Number | Kind::Integer) {
        return matching(&|word| !is_date(word) && number(word).is_some());
    }
    None
}

fn is_mail(word: &str) -> bool {
    let Some((user, host)) = word.split_once('@') else {
        return false;
    };
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    !user.is_empty()
        && host.contains('.')
        && !host.starts_with('.')
        && user.chars().all(plain)
        && host.chars().all(plain)
}

/// `2026-01-31`.
fn is_date(word: &str) -> bool {
    word.len() == 10
        && word.bytes().enumerate().all(|(at, b)| match at {
            4 | 7 => b == b'-',
            _ => b.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::super::types::variables;
    use super::*;
    use serde_json::json;

    fn found(names: Value, text: &str) -> Value {
        let data = json!({"variables": names});
        let variables = variables(data.as_object().unwrap()).unwrap();
        Value::Object(find(&variables, None, text))
    }

    #[test]
    fn labelled_values_are_found_by_name() {
        let text = "Company: Acme Corp\n- Order No. = 17; Contact e-mail: \"a@b.example\"\nNote: ";
        assert_eq!(
            found(json!(["company", "order_no", "contactEmail", "note"]), text),
            json!({"company": "Acme Corp", "order_no": "17", "contactEmail": "a@b.example"})
        );
    }

    #[test]
    fn json_is_read_as_such() {
        assert_eq!(
            found(json!(["total", "items"]), r#"{"Total": 5, "items": [1]}"#),
            json!({"total": 5, "items": [1]})
        );
    }

    #[test]
    fn the_only_thing_of_a_kind_is_taken_and_no_guess_is_made_between_two() {
        let names = json!(["email", "site_url", "due_date", {"name": "amount", "type": "number"}, "company"]);
        let text = "Please write to jo@x.example (see https://x.example/a) by 2026-03-01 about the $1,250 bill.";
        assert_eq!(
            found(names.clone(), text),
            json!({"email": "jo@x.example", "site_url": "https://x.example/a", "due_date": "2026-03-01", "amount": "$1,250"})
        );
        assert_eq!(
            found(names, "a@x.example and b@x.example owe 5 and 7"),
            json!({})
        );
    }
}
