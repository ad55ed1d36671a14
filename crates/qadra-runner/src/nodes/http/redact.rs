use serde_json::{Map, Value};

use super::fill::encoded;

const BLANK: &str = "***";

/// Blanks secrets in what is kept of an exchange. Servers quote what they are sent.
pub(super) struct Redactor {
    /// Each secret in the spellings that an answer may quote it in, the longest first.
    needles: Vec<String>,
}

impl Redactor {
    pub(super) fn new<'a>(secrets: impl Iterator<Item = &'a str>) -> Self {
        let mut needles: Vec<String> = secrets
            .filter(|secret| !secret.is_empty())
            .flat_map(spellings)
            .collect();
        needles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        needles.dedup();
        Self { needles }
    }

    pub(super) fn text(&self, text: &str) -> String {
        self.needles.iter().fold(text.to_owned(), |text, needle| {
            match text.contains(needle) {
                true => text.replace(needle, BLANK),
                false => text,
            }
        })
    }

    /// The value without secrets, and without the one character that PostgreSQL cannot keep.
    pub(super) fn clean(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&storable(text))),
            Value::Array(items) => items.into_iter().map(|item| self.clean(item)).collect(),
            Value::Object(fields) => {
                let fields: Map<String, Value> = fields
                    .into_iter()
                    .map(|(name, value)| (self.text(&storable(name)), self.clean(value)))
                    .collect();
                Value::Object(fields)
            }
            // A secret of digits comes back as a number.
            Value::Number(number) if self.needles.contains(&number.to_string()) => BLANK.into(),
            other => other,
        }
    }
}

fn storable(text: String) -> String {
    match text.contains('\0') {
        true => text.replace('\0', "\u{fffd}"),
        false => text,
    }
}

fn spellings(secret: &str) -> Vec<String> {
    let json = Value::String(secret.to_owned()).to_string();
    let json = json.get(1..json.len() - 1).unwrap_or_default().to_owned();
    let strict = encoded(secret, b"");
    vec![
        secret.to_owned(),
        // What is sent in a header is trimmed.
        secret.trim().to_owned(),
        json,
        encoded(secret, b"/:@!$&'()*+,;="),
        strict.replace("%20", "+"),
        strict.to_ascii_lowercase(),
        strict,
    ]
    .into_iter()
    .filter(|spelling| !spelling.is_empty())
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_blanked_wherever_they_stand() {
        let redactor = Redactor::new(["s3cret", "a b/\"c\"", "12345"].into_iter());
        let answer = json!({
            "echo": "Bearer s3cret!", "s3cret": [12345, 123456, {"deep": "a b/\"c\""}],
            "url": "https://x/?t=a%20b%2F%22c%22&u=a+b%2F%22c%22", "raw": "{\"x\":\"a b/\\\"c\\\"\"", "nul": "a\0b",
        });
        assert_eq!(
            redactor.clean(answer),
            json!({
                "echo": "Bearer ***!", "***": ["***", 123456, {"deep": "***"}],
                "url": "https://x/?t=***&u=***", "raw": "{\"x\":\"***\"", "nul": "a\u{fffd}b",
            })
        );
        assert_eq!(Redactor::new(std::iter::once("")).text("abc"), "abc");
    }
}
