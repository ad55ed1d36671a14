use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One node in one scope: `http`, or `http@each:3` in the fourth iteration of the loop `each`, or
/// `http@outer:2/inner:0` in a loop within a loop. Iterations count from 0.
///
/// Node ids come from people, so `%`, `@`, `:` and `/` in them are written as `%25`, `%40`, `%3A` and `%2F`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeRef {
    pub id: String,
    /// Enclosing iterations, outermost first: the loop's node id and the iteration.
    pub path: Vec<(String, u32)>,
}

impl NodeRef {
    /// A node outside every loop.
    pub fn top(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            path: Vec::new(),
        }
    }
}

impl fmt::Display for NodeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape(&self.id))?;
        for (i, (id, iteration)) in self.path.iter().enumerate() {
            let before = if i == 0 { '@' } else { '/' };
            write!(f, "{before}{}:{iteration}", escape(id))?;
        }
        Ok(())
    }
}

/// The text is not of the form `id` or `id@loop:0/…`.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} does not name a node of an execution")]
pub struct NodeRefError(String);

impl FromStr for NodeRef {
    type Err = NodeRefError;

    fn from_str(text: &str) -> Result<Self, NodeRefError> {
        let wrong = || NodeRefError(text.to_owned());
        let (id, path) = match text.split_once('@') {
            None => (text, Vec::new()),
            Some((id, rest)) => {
                let steps = rest.split('/').map(|step| {
                    let (id, iteration) = step.split_once(':')?;
                    Some((unescape(id)?, iteration.parse().ok()?))
                });
                (id, steps.collect::<Option<_>>().ok_or_else(wrong)?)
            }
        };
        let id = unescape(id).filter(|id| !id.is_empty()).ok_or_else(wrong)?;
        Ok(Self { id, path })
    }
}

impl Serialize for NodeRef {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for NodeRef {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

fn escape(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for c in id.chars() {
        match c {
            '%' => out.push_str("%25"),
            '@' => out.push_str("%40"),
            ':' => out.push_str("%3A"),
            '/' => out.push_str("%2F"),
            c => out.push(c),
        }
    }
    out
}

fn unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let code = after.get(..2)?;
        out.push(match code {
            "25" => '%',
            "40" => '@',
            "3A" => ':',
            "2F" => '/',
            _ => return None,
        });
        rest = &after[2..];
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_and_read_back() {
        for (id, path) in [
            ("http", vec![]),
            ("http", vec![("each", 3)]),
            ("a@b:1/%2F", vec![("o/1", 2), ("i@:", 0)]),
            ("ノード", vec![("ループ", 7)]),
        ] {
            let node = NodeRef {
                id: id.into(),
                path: path.into_iter().map(|(l, i)| (l.to_owned(), i)).collect(),
            };
            assert_eq!(node.to_string().parse(), Ok(node.clone()), "{node}");
        }
        let inner = NodeRef {
            id: "http".into(),
            path: vec![("outer".into(), 2), ("inner".into(), 0)],
        };
        assert_eq!(inner.to_string(), "http@outer:2/inner:0");
    }

    #[test]
    fn other_text_is_refused() {
        for text in [
            "",
            "@a:1",
            "x@",
            "x@a",
            "x@a:",
            "x@a:-1",
            "x@a:1/",
            "x%",
            "x%zz",
            "x@a:99999999999",
        ] {
            assert!(text.parse::<NodeRef>().is_err(), "{text}");
        }
    }
}
