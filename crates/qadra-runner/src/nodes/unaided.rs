//! Texts put together without a model: everything in them was there before, and they say what they are.

use serde_json::{Map, Value};

use super::search::SearchHit;
use super::{ArtifactTemplate, state};

/// Characters of one value in a digest.
const VALUE: usize = 2_000;
/// Characters of one search result that are quoted.
const QUOTED: usize = 400;

/// The blackboard as a list, for an answer that knowledge alone could not give.
pub(super) fn digest(state: &Map<String, Value>) -> String {
    format!(
        "No model is configured, so nothing is concluded from what earlier steps have put out. They have put out:\n\n{}",
        sections(state, 2)
    )
}

/// A document of what the state holds: under the template's headings where there is one, else under its own.
pub(super) fn document(
    name: &str,
    template: Option<&ArtifactTemplate>,
    state: &Map<String, Value>,
) -> String {
    let title = format!("# {}", one_line(name));
    let Some(template) = template.filter(|t| !t.sections.is_empty()) else {
        let body = match state.is_empty() {
            true => "_Earlier steps have put out nothing._".to_owned(),
            false => sections(state, 2),
        };
        return format!("{title}\n\n{body}");
    };
    let mut left = state.clone();
    let mut parts = vec![title];
    for section in &template.sections {
        let wanted = folded(&section.name);
        let key = left.keys().find(|key| folded(key) == wanted).cloned();
        let text = match key.and_then(|key| left.remove(&key)) {
            Some(value) => shown(&value),
            None => MISSING.to_owned(),
        };
        parts.push(format!("## {}\n\n{text}", one_line(&section.name)));
    }
    if !left.is_empty() {
        parts.push(format!("## Other material\n\n{}", sections(&left, 3)));
    }
    parts.join("\n\n")
}

/// A text under the template's headings: what stood under a heading of the same name moves there, the rest is kept
/// at the end.
pub(super) fn rearranged(name: &str, template: &ArtifactTemplate, content: &str) -> String {
    if template.sections.is_empty() {
        return content.to_owned();
    }
    let (mut pieces, mut inside) = (vec![(String::new(), Vec::new())], false);
    for line in content.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        }
        match heading(line).filter(|_| !inside) {
            Some(title) => pieces.push((title.to_owned(), vec![line])),
            None => {
                if let Some((_, lines)) = pieces.last_mut() {
                    lines.push(line);
                }
            }
        }
    }
    let mut parts = vec![format!("# {}", one_line(name))];
    for section in &template.sections {
        let wanted = folded(&section.name);
        let at = pieces
            .iter()
            .position(|(title, _)| !title.is_empty() && folded(title) == wanted);
        let text = at
            .map(|at| pieces.remove(at).1)
            .and_then(|lines| {
                lines
                    .split_first()
                    .map(|(_, rest)| rest.join("\n").trim().to_owned())
            })
            .filter(|text| !text.is_empty());
        let text = text.unwrap_or_else(|| MISSING.to_owned());
        parts.push(format!("## {}\n\n{text}", one_line(&section.name)));
    }
    let own_title = folded(name);
    let rest: Vec<String> = pieces
        .into_iter()
        .map(
            |(title, lines)| match folded(&title) == own_title && !title.is_empty() {
                true => lines.get(1..).unwrap_or_default().join("\n"),
                false => lines.join("\n"),
            },
        )
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
        .collect();
    if !rest.is_empty() {
        parts.push(format!("## Other material\n\n{}", rest.join("\n\n")));
    }
    parts.join("\n\n")
}

const MISSING: &str = "_The material says nothing on this._";

/// Search results word for word, with their numbers.
pub(super) fn quoted(hits: &[SearchHit]) -> String {
    let lines: Vec<String> = hits
        .iter()
        .zip(1..)
        .map(|(hit, n)| {
            let title = one_line(&hit.title);
            match one_line(&hit.text) {
                text if text.is_empty() => format!("[{n}] {title}"),
                text => format!("[{n}] {title}: “{}”", state::cut(&text, QUOTED)),
            }
        })
        .collect();
    format!(
        "No model is configured, so the search results are quoted as they are:\n\n{}",
        lines.join("\n\n")
    )
}

/// The text without a code fence around all of it.
pub(super) fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"))
        .and_then(|rest| rest.split_once('\n'));
    match inner {
        // A fence that ends and begins again inside is not around all of it.
        Some((language, inner)) if !language.contains('`') && !fence_inside(inner) => inner.trim(),
        _ => text,
    }
}

/// Whether fences inside do not pair up: then the outer ones belong to two different blocks.
fn fence_inside(inner: &str) -> bool {
    let fences = inner
        .lines()
        .filter(|line| line.trim_start().starts_with("```"));
    let mut open = false;
    for fence in fences {
        // A bare fence where none is open closes the outer one.
        if !open && fence.trim() == "```" {
            return true;
        }
        open = !open;
    }
    open
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn sections(state: &Map<String, Value>, level: usize) -> String {
    let parts: Vec<String> = state
        .iter()
        .map(|(key, value)| {
            format!(
                "{} {}\n\n{}",
                "#".repeat(level),
                one_line(key),
                shown(value)
            )
        })
        .collect();
    parts.join("\n\n")
}

fn shown(value: &Value) -> String {
    let text = state::words(value);
    match (text.trim().is_empty(), value, text.starts_with(['{', '['])) {
        (true, ..) => "_Empty._".to_owned(),
        (_, Value::Object(_) | Value::Array(_), true) => {
            format!("```json\n{}\n```", state::cut(&text, VALUE))
        }
        _ => state::cut(text.trim(), VALUE),
    }
}

fn heading(line: &str) -> Option<&str> {
    let line = line.trim();
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    ((1..=6).contains(&level) && title.starts_with(' '))
        .then(|| title.trim().trim_end_matches('#').trim())
}

/// `Key Findings` and `key_findings` are one name.
fn folded(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::TemplateSection;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    fn template(names: &[&str]) -> ArtifactTemplate {
        let sections = names
            .iter()
            .map(|name| TemplateSection {
                name: (*name).to_owned(),
                ..TemplateSection::default()
            })
            .collect();
        ArtifactTemplate {
            sections,
            output_format: None,
        }
    }

    #[test]
    fn fences_go_only_when_they_hold_everything() {
        for (text, expected) in [
            ("```json\n{\"a\": 1}\n```", "{\"a\": 1}"),
            ("  ```\nx\n```  ", "x"),
            ("plain", "plain"),
            ("before\n```\nx\n```", "before\n```\nx\n```"),
            (
                "```a\nx\n```\nmiddle\n```b\ny\n```",
                "```a\nx\n```\nmiddle\n```b\ny\n```",
            ),
            (
                "```markdown\n# T\n```sh\nls\n```\nend\n```",
                "# T\n```sh\nls\n```\nend",
            ),
            ("```", "```"),
        ] {
            assert_eq!(unfenced(text), expected);
        }
    }

    #[test]
    fn a_document_fills_the_templates_sections_and_loses_nothing() {
        let state =
            object(json!({"key_findings": {"response": "All is well."}, "extra": {"n": 1}}));
        assert_eq!(
            document(
                "Report",
                Some(&template(&["Key findings", "Risks"])),
                &state
            ),
            "# Report\n\n## Key findings\n\nAll is well.\n\n## Risks\n\n_The material says nothing on this._\n\n\
             ## Other material\n\n### extra\n\n```json\n{\n  \"n\": 1\n}\n```"
        );
        assert_eq!(
            document("Report", None, &object(json!({"a": "x"}))),
            "# Report\n\n## a\n\nx"
        );
    }

    #[test]
    fn a_text_moves_under_the_templates_headings() {
        let content =
            "# Memo\nIntro.\n\n## Risks\nSome.\n\n## Background\nLong ago.\n```\n# no heading\n```";
        assert_eq!(
            rearranged("Memo", &template(&["Summary", "risks"]), content),
            "# Memo\n\n## Summary\n\n_The material says nothing on this._\n\n## risks\n\nSome.\n\n\
             ## Other material\n\nIntro.\n\n## Background\nLong ago.\n```\n# no heading\n```"
        );
    }
}
