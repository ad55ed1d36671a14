//! An Http node's templates, filled in with the state and the secrets in one pass: a value that itself reads
//! `{{secret.NAME}}` is text like any other.

use std::collections::BTreeMap;

use qadra_flow::template::{self, Scope};
use reqwest::Url;
use serde_json::{Map, Value};

use crate::nodes::NodeFailure;

/// The name under which templates reach secrets.
const SECRET: &str = "secret";

/// What templates see: the state, and under `secret` the secrets.
pub(super) struct Fill<'a> {
    state: &'a Map<String, Value>,
    secrets: Value,
}

impl Scope for Fill<'_> {
    fn get(&self, key: &str) -> Option<&Value> {
        match key {
            SECRET => Some(&self.secrets),
            key => self.state.get(key),
        }
    }
}

/// A body ready to be sent.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    pub(super) content_type: &'static str,
    pub(super) sensitive: bool,
}

impl<'a> Fill<'a> {
    pub(super) fn new(state: &'a Map<String, Value>, secrets: Map<String, Value>) -> Self {
        Self {
            state,
            secrets: Value::Object(secrets),
        }
    }

    fn render(&self, template: &Value) -> Result<Value, NodeFailure> {
        template::render(template, self).map_err(|e| NodeFailure::bad_input(e.to_string()))
    }

    pub(super) fn text(&self, template: &str) -> Result<String, NodeFailure> {
        Ok(text(self.render(&Value::String(template.to_owned()))?).unwrap_or_default())
    }

    /// A header or parameter; None where it is null.
    pub(super) fn value(&self, template: &Value) -> Result<Option<String>, NodeFailure> {
        Ok(text(self.render(template)?))
    }

    /// The address. A value that stands at its beginning is taken as it is; further on it fills the place it stands
    /// in and cannot leave it: in the host only what a host is made of, in the path no step upwards, and everything
    /// else percent-encoded.
    pub(super) fn url(&self, template: &str) -> Result<Url, NodeFailure> {
        let mut out = String::new();
        let mut rest = template.trim();
        while let Some((before, placeholder, after)) = next_placeholder(rest) {
            out.push_str(before);
            let value = self.text(placeholder)?;
            match place(&out) {
                Place::Beginning => out.push_str(&value),
                Place::Host => {
                    let fits = |c: char| {
                        c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']')
                    };
                    if !value.chars().all(fits) {
                        return Err(NodeFailure::bad_input(
                            "a value in the host of the url is no part of a host",
                        ));
                    }
                    out.push_str(&value);
                }
                Place::Path => {
                    if climbs(&value) {
                        return Err(NodeFailure::bad_input(
                            "a value in the path of the url leads upwards",
                        ));
                    }
                    encode(&value, b"/:@!$&'()*+,;=", &mut out);
                }
                Place::Query => encode(&value, b"", &mut out),
            }
            rest = after;
        }
        out.push_str(rest);
        Url::parse(&out)
            .map_err(|e| NodeFailure::fatal("bad_url", format!("the url cannot be read ({e})")))
    }

    /// Adds the node's `query` to the address; null leaves a parameter out, a list repeats it.
    pub(super) fn query(&self, given: Option<&Value>, url: &mut Url) -> Result<(), NodeFailure> {
        for (name, template) in pairs(given, "query")? {
            let values = match self.render(template)? {
                Value::Array(items) => items,
                one => vec![one],
            };
            for value in values.into_iter().filter_map(text) {
                url.query_pairs_mut().append_pair(name, &value);
            }
        }
        Ok(())
    }

    /// JSON as JSON, text as text. A text that is JSON as it was drawn is filled in as JSON, so that no value in it
    /// can break it.
    pub(super) fn body(&self, template: Option<&Value>) -> Result<Option<Body>, NodeFailure> {
        let Some(drawn) = template else {
            return Ok(None);
        };
        let parsed = drawn
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok())
            .filter(|json: &Value| json.is_object() || json.is_array());
        let (bytes, content_type) = match self.render(parsed.as_ref().unwrap_or(drawn))? {
            Value::Null => return Ok(None),
            Value::String(text) if text.is_empty() => return Ok(None),
            Value::String(text) => (text, "text/plain; charset=utf-8"),
            json => (json.to_string(), "application/json"),
        };
        Ok(Some(Body {
            bytes: bytes.into_bytes(),
            content_type,
            sensitive: has_secret(drawn),
        }))
    }
}

/// The secrets that the templates name, by the name they use, with the name under which each is stored. The node's
/// `secrets` may list names, or map its own names to stored ones.
pub(super) fn secrets(data: &Map<String, Value>) -> Result<BTreeMap<String, String>, NodeFailure> {
    let stored = match data.get("secrets") {
        Some(Value::Object(names)) => names.clone(),
        None | Some(Value::Null | Value::Array(_)) => Map::new(),
        Some(_) => return Err(NodeFailure::bad_input("secrets is not a list of names")),
    };
    let mut names = Vec::new();
    for (_, template) in data.iter().filter(|(key, _)| *key != "secrets") {
        names_in(template, &mut names);
    }
    let pair = |name: String| {
        let known = stored.get(&name).and_then(Value::as_str);
        let known = known.map_or_else(|| name.clone(), str::to_owned);
        (name, known)
    };
    Ok(names.into_iter().map(pair).collect())
}

pub(super) fn has_secret(template: &Value) -> bool {
    let mut names = Vec::new();
    names_in(template, &mut names);
    !names.is_empty()
}

fn names_in(template: &Value, names: &mut Vec<String>) {
    match template {
        Value::String(text) => {
            let mut rest = text.as_str();
            while let Some((_, placeholder, after)) = next_placeholder(rest) {
                let path = placeholder.trim_matches(['{', '}']).trim();
                if let Some(name) = path.strip_prefix("secret.") {
                    names.push(name.split('.').next().unwrap_or_default().to_owned());
                }
                rest = after;
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names_in(item, names)),
        Value::Object(fields) => fields.values().for_each(|field| names_in(field, names)),
        _ => {}
    }
}

/// Names and values, of an object or of a list of `{name, value}` (or `{key, value}`).
pub(super) fn pairs<'v>(
    given: Option<&'v Value>,
    what: &str,
) -> Result<Vec<(&'v str, &'v Value)>, NodeFailure> {
    let pair = |item: &'v Value| {
        let name = item.get("name").or_else(|| item.get("key"))?.as_str()?;
        Some((name, item.get("value")?))
    };
    let found = match given {
        None | Some(Value::Null) => Some(vec![]),
        Some(Value::Object(fields)) => Some(
            fields
                .iter()
                .map(|(name, value)| (name.as_str(), value))
                .collect(),
        ),
        Some(Value::Array(items)) => items.iter().map(pair).collect(),
        Some(_) => None,
    };
    found.ok_or_else(|| NodeFailure::bad_input(format!("{what} is not an object")))
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

/// The text before the next `{{…}}`, that placeholder, and the text after it.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find("{{")?;
    let end = start + text.get(start..)?.find("}}")? + 2;
    Some((text.get(..start)?, text.get(start..end)?, text.get(end..)?))
}

enum Place {
    Beginning,
    Host,
    Path,
    Query,
}

/// Where in an address the next character stands.
fn place(so_far: &str) -> Place {
    let Some((_, rest)) = so_far.split_once("://") else {
        return Place::Beginning;
    };
    match (rest.contains(['?', '#']), rest.contains(['/', '\\'])) {
        (true, _) => Place::Query,
        (false, true) => Place::Path,
        (false, false) => Place::Host,
    }
}

fn climbs(value: &str) -> bool {
    value
        .split(['/', '\\'])
        .any(|segment| matches!(segment, "." | ".."))
}

fn encode(value: &str, kept: &[u8], out: &mut String) {
    for byte in value.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.contains(&byte);
        match plain {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
}

/// The value as it stands in a query or path, for those who must find it again.
pub(super) fn encoded(value: &str, kept: &[u8]) -> String {
    let mut out = String::new();
    encode(value, kept, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    fn url(template: &str) -> Result<String, NodeFailure> {
        let state = object(json!({
            "base": "https://api.example/v1", "host": "api.example:8443", "id": "a b/c?d#e%", "up": "x/../../admin",
            "q": "1&admin=true", "n": 7, "evil": "x@evil.example", "literal": "{{secret.KEY}}",
        }));
        Fill::new(&state, object(json!({"KEY": "k/1"})))
            .url(template)
            .map(String::from)
    }

    #[test]
    fn values_fill_their_place_in_an_address_and_cannot_leave_it() {
        for (template, expected) in [
            ("{{base}}/items/{{n}}", "https://api.example/v1/items/7"),
            ("https://{{host}}/x", "https://api.example:8443/x"),
            (
                "https://a.example/i/{{id}}/z",
                "https://a.example/i/a%20b/c%3Fd%23e%25/z",
            ),
            (
                "https://a.example/?q={{q}}&n={{ n }}",
                "https://a.example/?q=1%26admin%3Dtrue&n=7",
            ),
            (
                "https://a.example/{{evil}}",
                "https://a.example/x@evil.example",
            ),
            ("https://a.example/{{secret.KEY}}", "https://a.example/k/1"),
            (
                "https://a.example/?t={{literal}}",
                "https://a.example/?t=%7B%7Bsecret.KEY%7D%7D",
            ),
        ] {
            assert_eq!(url(template).unwrap(), expected, "{template}");
        }
        for template in [
            "https://a.example/{{up}}",
            "https://{{evil}}/",
            "https://{{id}}.example/",
            "{{n}}/x",
        ] {
            assert!(url(template).is_err(), "{template}");
        }
    }

    #[test]
    fn bodies_keep_their_types_and_cannot_be_broken() {
        let state = object(json!({"name": "a\"b", "list": [1, 2], "literal": "{{secret.KEY}}"}));
        let fill = Fill::new(&state, object(json!({"KEY": "k"})));
        for (template, expected, kind, sensitive) in [
            (
                json!({"l": "{{list}}", "n": "x {{name}}"}),
                r#"{"l":[1,2],"n":"x a\"b"}"#,
                "application/json",
                false,
            ),
            (
                json!("{\"n\": \"{{name}}\"}"),
                r#"{"n":"a\"b"}"#,
                "application/json",
                false,
            ),
            (
                json!("Hello {{name}}"),
                "Hello a\"b",
                "text/plain; charset=utf-8",
                false,
            ),
            (json!("{{list}}"), "[1,2]", "application/json", false),
            (
                json!({"k": "{{secret.KEY}}", "l": "{{literal}}"}),
                r#"{"k":"k","l":"{{secret.KEY}}"}"#,
                "application/json",
                true,
            ),
        ] {
            let body = fill.body(Some(&template)).unwrap().unwrap();
            assert_eq!(String::from_utf8(body.bytes).unwrap(), expected);
            assert_eq!(
                (body.content_type, body.sensitive),
                (kind, sensitive),
                "{template}"
            );
        }
        assert!(fill.body(None).unwrap().is_none());
        assert!(fill.body(Some(&json!("{{missing}}"))).unwrap().is_none());
    }

    #[test]
    fn secrets_are_those_that_templates_name() {
        let data = object(json!({
            "url": "https://x/{{ secret.A }}", "headers": {"h": "Bearer {{secret.B}}"}, "body": ["{{secret.A}}", "{{b.secret.C}}"],
            "secrets": {"B": "stored-b", "unused": "x"},
        }));
        let found: Vec<(String, String)> = secrets(&data).unwrap().into_iter().collect();
        assert_eq!(
            found,
            [("A".into(), "A".into()), ("B".into(), "stored-b".into())]
        );
        assert!(has_secret(&data["body"]) && !has_secret(&json!("{{secrets.A}}")));
    }
}
