//! `{{a.b.0}}`: places in text that are filled from the blackboard. Logic-less: no conditions, no loops, no code.
//!
//! A template is read once, from left to right. What is filled in is never read again, so a value that itself holds
//! `{{…}}` stays the text that it is. A text that is one place and nothing else becomes the value with its JSON type; a
//! place inside a text becomes text: strings as they are, other values as compact JSON, what is missing as nothing.

use serde_json::{Map, Value};

/// Where values come from: the first segment of a path.
pub trait Scope {
    fn get(&self, key: &str) -> Option<&Value>;
}

impl Scope for Map<String, Value> {
    fn get(&self, key: &str) -> Option<&Value> {
        self.get(key)
    }
}

/// Bytes of one filled-in value.
pub const OUTPUT_MOST: usize = 4 * 1024 * 1024;
/// How deep a template's own JSON may be.
const DEPTH_MOST: usize = 128;

/// Why a template is not filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("what a template becomes is larger than {OUTPUT_MOST} bytes")]
    TooLarge,
    #[error("a template is nested deeper than {DEPTH_MOST} levels")]
    TooDeep,
}

/// A piece of a template's text.
enum Piece<'a> {
    Text(&'a str),
    /// A path, without the braces.
    Place(&'a str),
}

/// Splits a text; braces that do not close, or that hold no path, are text.
fn pieces(mut text: &str) -> impl Iterator<Item = Piece<'_>> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let mut from = 0;
        while let Some(open) = text[from..].find("{{").map(|at| from + at) {
            let inside = &text[open + 2..];
            let Some(close) = inside.find("}}") else {
                break;
            };
            let path = &inside[..close];
            if is_path(path) {
                if open > 0 {
                    let (before, rest) = text.split_at(open);
                    text = rest;
                    return Some(Piece::Text(before));
                }
                text = &inside[close + 2..];
                return Some(Piece::Place(path.trim()));
            }
            // `{{{name}}` has its place one character further on.
            from = open + 1;
        }
        let all = text;
        text = "";
        Some(Piece::Text(all))
    })
}

/// Segments separated by dots, none empty, without braces and line breaks.
fn is_path(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty()
        && text.len() <= 500
        && !text.contains(['{', '}', '\n', '\r'])
        && text.split('.').all(|segment| !segment.trim().is_empty())
}

/// The value at a dotted path: keys of objects, positions of arrays.
pub fn lookup<'a>(path: &str, scope: &'a dyn Scope) -> Option<&'a Value> {
    let mut segments = path.split('.').map(str::trim);
    let first = scope.get(segments.next()?)?;
    segments.try_fold(first, |value, segment| match value {
        Value::Object(map) => map.get(segment),
        Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Fills in every text of `template`; keys of objects are not templates.
///
/// # Errors
/// When the result would be larger than [`OUTPUT_MOST`].
pub fn render(template: &Value, scope: &dyn Scope) -> Result<Value, TemplateError> {
    let mut left = OUTPUT_MOST;
    fill(template, scope, &mut left, 0)
}

fn fill(
    template: &Value,
    scope: &dyn Scope,
    left: &mut usize,
    depth: usize,
) -> Result<Value, TemplateError> {
    if depth > DEPTH_MOST {
        return Err(TemplateError::TooDeep);
    }
    Ok(match template {
        Value::String(text) => match whole(text) {
            Some(path) => {
                let value = lookup(path, scope).unwrap_or(&Value::Null);
                spend(left, size(value, *left))?;
                value.clone()
            }
            None => {
                let text = render_text(text, scope)?;
                spend(left, text.len())?;
                Value::String(text)
            }
        },
        Value::Array(items) => {
            let filled = items.iter().map(|item| fill(item, scope, left, depth + 1));
            Value::Array(filled.collect::<Result<_, _>>()?)
        }
        Value::Object(map) => {
            let filled = map
                .iter()
                .map(|(key, value)| Ok((key.clone(), fill(value, scope, left, depth + 1)?)));
            Value::Object(filled.collect::<Result<_, _>>()?)
        }
        other => other.clone(),
    })
}

/// Fills in one text and gives text, also where it is a single place.
///
/// # Errors
/// When the result would be larger than [`OUTPUT_MOST`].
pub fn render_text(template: &str, scope: &dyn Scope) -> Result<String, TemplateError> {
    let mut out = String::with_capacity(template.len());
    for piece in pieces(template) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Place(path) => match lookup(path, scope) {
                None | Some(Value::Null) => {}
                Some(Value::String(text)) => out.push_str(text),
                Some(value) => {
                    if size(value, OUTPUT_MOST) > OUTPUT_MOST {
                        return Err(TemplateError::TooLarge);
                    }
                    out.push_str(&value.to_string());
                }
            },
        }
        if out.len() > OUTPUT_MOST {
            return Err(TemplateError::TooLarge);
        }
    }
    Ok(out)
}

/// The path of a text that is one place and nothing else.
fn whole(text: &str) -> Option<&str> {
    let mut pieces = pieces(text.trim());
    match (pieces.next(), pieces.next()) {
        (Some(Piece::Place(path)), None) => Some(path),
        _ => None,
    }
}

/// The paths that a template names, in order, each once.
pub fn keys(template: &Value) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut open = vec![template];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => {
                for piece in pieces(text) {
                    if let Piece::Place(path) = piece
                        && seen.insert(path.to_owned())
                    {
                        found.push(path.to_owned());
                    }
                }
            }
            // Pushed in reverse, so that they are looked at in order.
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(map) => open.extend(map.values().rev()),
            _ => {}
        }
    }
    found
}

fn spend(left: &mut usize, size: usize) -> Result<(), TemplateError> {
    *left = left.checked_sub(size).ok_or(TemplateError::TooLarge)?;
    Ok(())
}

/// Bytes of a value as JSON, roughly; counting ends soon after `enough`.
pub(crate) fn size(value: &Value, enough: usize) -> usize {
    let mut open = vec![value];
    let mut size = 0_usize;
    while let Some(value) = open.pop() {
        size += match value {
            Value::String(text) => text.len() + 2,
            Value::Array(items) => {
                open.extend(items);
                2 + items.len()
            }
            Value::Object(map) => {
                open.extend(map.values());
                2 + map.keys().map(|k| k.len() + 4).sum::<usize>()
            }
            _ => 8,
        };
        if size > enough {
            break;
        }
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn scope() -> Map<String, Value> {
        let Value::Object(map) = json!({
            "name": "Ada", "n": 3, "a": {"b": ["x", {"c": true}]}, "null": null,
            "evil": "{{name}} and {{a.b.0}}", "ünï": "ok",
        }) else {
            unreachable!()
        };
        map
    }

    fn text(template: &str) -> String {
        render_text(template, &scope()).unwrap()
    }

    #[test]
    fn places_inside_a_text_become_text() {
        assert_eq!(
            text("Hi {{name}}, {{ n }} of {{a.b}}"),
            r#"Hi Ada, 3 of ["x",{"c":true}]"#
        );
        assert_eq!(text("{{a.b.0}}{{a.b.1.c}}{{ünï}}"), "xtrueok");
        assert_eq!(
            text("[{{nobody}}{{a.b.9}}{{a.b.x}}{{name.x}}{{null}}]"),
            "[]"
        );
    }

    #[test]
    fn a_text_that_is_one_place_keeps_its_type() {
        let whole = |t: &str| render(&json!(t), &scope()).unwrap();
        assert_eq!(whole("{{n}}"), json!(3));
        assert_eq!(whole(" {{a.b.1}} "), json!({"c": true}));
        assert_eq!(whole("{{nobody}}"), Value::Null);
        assert_eq!(whole("{{n}}."), json!("3."));
        assert_eq!(
            render(
                &json!({"{{n}}": ["{{n}}", {"x": "{{name}}!"}], "k": 1.5}),
                &scope()
            )
            .unwrap(),
            json!({"{{n}}": [3, {"x": "Ada!"}], "k": 1.5})
        );
    }

    #[test]
    fn what_is_filled_in_is_never_read_again() {
        assert_eq!(text("{{evil}}"), "{{name}} and {{a.b.0}}");
        assert_eq!(text("<{{evil}}>"), "<{{name}} and {{a.b.0}}>");
        let Value::Object(map) = json!({"open": "{{", "close": "}}", "x": "no"}) else {
            unreachable!()
        };
        assert_eq!(render_text("{{open}}x{{close}}", &map).unwrap(), "{{x}}");
    }

    #[test]
    fn braces_that_name_nothing_are_text() {
        for plain in [
            "{{",
            "}}",
            "{{}}",
            "{{ }}",
            "{{a..b}}",
            "{{.a}}",
            "{ {name} }",
            "{{a\nb}}",
            "{{name}",
            "a {{ b",
        ] {
            assert_eq!(text(plain), plain);
        }
        assert_eq!(text("{{{name}}}"), "{Ada}");
        assert_eq!(text("{{ {{name}}"), "{{ Ada");
    }

    #[test]
    fn paths_are_listed_once_and_in_order() {
        assert_eq!(
            keys(&json!(["{{b.c}} {{a}}", {"x": "{{a}}", "y": "{{d}}"}, 3])),
            ["b.c", "a", "d"]
        );
    }

    #[test]
    fn what_grows_too_large_is_refused() {
        let Value::Object(map) =
            json!({"big": "x".repeat(OUTPUT_MOST / 2), "list": vec![0; OUTPUT_MOST / 4]})
        else {
            unreachable!()
        };
        assert!(render_text("{{big}}", &map).is_ok());
        assert_eq!(
            render_text("{{big}}{{big}}{{big}}", &map),
            Err(TemplateError::TooLarge)
        );
        assert_eq!(
            render(&json!(["{{big}}", "{{big}}", "{{big}}"]), &map),
            Err(TemplateError::TooLarge)
        );
        assert_eq!(render_text("x{{list}}", &map), Err(TemplateError::TooLarge));
    }

    proptest! {
        #[test]
        fn a_text_without_places_is_itself(t in "[^{}]{0,40}") {
            prop_assert_eq!(text(&t), t);
        }

        #[test]
        fn no_text_panics(t in "[{}a.b n0\\n]{0,40}") {
            let filled = text(&t);
            prop_assert!(filled.len() <= t.len() + 40 * 40);
        }
    }
}
