use std::collections::HashMap;

use super::xml::{Token, Xml};
use crate::ReadError;

/// How far a style is followed to the styles it is based on.
const ANCESTORS: usize = 16;

/// What the styles of a document say about paragraphs.
#[derive(Default)]
pub(super) struct Styles {
    by_id: HashMap<String, Style>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    name: String,
    based_on: Option<String>,
    /// Level of a heading, from 1.
    level: Option<u8>,
    pub(super) list: Option<(String, usize)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Body,
    Title,
    Heading(u8),
    /// A line of the table of contents.
    Contents,
}

impl Styles {
    pub(super) fn read(&mut self, xml: &mut Xml<'_>) -> Result<(), ReadError> {
        let mut open: Option<(String, Style)> = None;
        loop {
            match xml.next()? {
                Token::Start { tag, .. } => match (tag.name.as_str(), &mut open) {
                    ("style", _) => {
                        open = tag
                            .get("styleId")
                            .map(|id| (id.to_owned(), Style::default()));
                    }
                    ("name", Some((_, style))) => {
                        style.name = tag.get("val").unwrap_or_default().to_ascii_lowercase();
                    }
                    ("basedOn", Some((_, style))) => {
                        style.based_on = tag.get("val").map(str::to_owned);
                    }
                    ("outlineLvl", Some((_, style))) => {
                        style.level = outline_level(tag.get("val"));
                    }
                    ("numId", Some((_, style))) => {
                        style.list = tag.get("val").map(|id| (id.to_owned(), 0));
                    }
                    _ => {}
                },
                Token::End(name) if name == "style" => {
                    if let Some((id, style)) = open.take() {
                        self.by_id.insert(id, style);
                    }
                }
                Token::Done => return Ok(()),
                Token::End(_) | Token::Text(_) => {}
            }
        }
    }

    pub(super) fn role(&self, id: &str) -> Role {
        let mut at = Some(id);
        for _ in 0..ANCESTORS {
            let Some(this) = at else { break };
            let style = self.by_id.get(this);
            // Without a styles part the id is the best there is; writers derive it from the English name.
            let name = style.map_or_else(|| this.to_ascii_lowercase(), |s| s.name.clone());
            if let Some(role) = role_of_name(&name) {
                return role;
            }
            if let Some(level) = style.and_then(|s| s.level) {
                return Role::Heading(level);
            }
            at = style.and_then(|s| s.based_on.as_deref());
        }
        Role::Body
    }

    pub(super) fn list(&self, id: &str) -> Option<(String, usize)> {
        let mut at = Some(id);
        for _ in 0..ANCESTORS {
            let style = self.by_id.get(at?)?;
            if style.list.is_some() {
                return style.list.clone();
            }
            at = style.based_on.as_deref();
        }
        None
    }
}

fn role_of_name(name: &str) -> Option<Role> {
    let number = |prefix: &str| {
        let rest = name.strip_prefix(prefix)?.trim();
        rest.parse::<u8>().ok().filter(|n| (1..=9).contains(n))
    };
    if name == "title" {
        Some(Role::Title)
    } else if let Some(level) = number("heading") {
        Some(Role::Heading(level.min(6)))
    } else {
        number("toc").map(|_| Role::Contents)
    }
}

/// 0 to 8 are headings, 9 is body text.
pub(super) fn outline_level(value: Option<&str>) -> Option<u8> {
    let level: u8 = value?.parse().ok()?;
    (level < 9).then(|| (level + 1).min(6))
}

/// The numbering of lists, and where each one is.
#[derive(Default)]
pub(super) struct Lists {
    /// Of an abstract list: its levels' format and first number.
    formats: HashMap<String, HashMap<usize, (bool, u64)>>,
    abstract_of: HashMap<String, String>,
    counters: HashMap<(String, usize), u64>,
}

impl Lists {
    pub(super) fn read(&mut self, xml: &mut Xml<'_>) -> Result<(), ReadError> {
        let (mut list, mut level, mut number) = (String::new(), 0, String::new());
        loop {
            match xml.next()? {
                Token::Start { tag, .. } => {
                    let value = tag.get("val");
                    match tag.name.as_str() {
                        "abstractNum" => {
                            list = tag.get("abstractNumId").unwrap_or_default().to_owned();
                        }
                        "lvl" => {
                            level = tag.get("ilvl").and_then(|v| v.parse().ok()).unwrap_or(0);
                        }
                        "start" | "numFmt" => {
                            let levels = self.formats.entry(list.clone()).or_default();
                            let format = levels.entry(level).or_insert((true, 1));
                            match (tag.name.as_str(), value) {
                                ("start", Some(v)) => format.1 = v.parse().unwrap_or(1),
                                (_, v) => format.0 = !matches!(v, Some("bullet" | "none")),
                            }
                        }
                        "num" => number = tag.get("numId").unwrap_or_default().to_owned(),
                        "abstractNumId" => {
                            let id = value.unwrap_or_default().to_owned();
                            self.abstract_of.insert(number.clone(), id);
                        }
                        _ => {}
                    }
                }
                Token::Done => return Ok(()),
                Token::End(_) | Token::Text(_) => {}
            }
        }
    }

    /// The mark of the next item of a list at a level.
    pub(super) fn mark(&mut self, list: &str, level: usize) -> String {
        let id = self.abstract_of.get(list);
        let format = id.and_then(|id| self.formats.get(id)?.get(&level));
        let Some(&(true, first)) = format else {
            return "- ".to_owned();
        };
        self.counters
            .retain(|(l, deeper), _| l != list || *deeper <= level);
        let counter = self.counters.entry((list.to_owned(), level));
        let counter = counter
            .and_modify(|n| *n = n.saturating_add(1))
            .or_insert(first);
        format!("{counter}. ")
    }
}
