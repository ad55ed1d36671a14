use std::fmt;
use std::sync::Arc;

use crate::BusError;

/// Header lines of a message, sorted by name; a name is looked up without regard to ASCII case.
///
/// Copies share the lines, so fan-out to many subscribers costs one pointer each.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Option<Arc<Vec<(String, String)>>>);

impl Headers {
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a line, replacing the one of the same name. The value is trimmed, as it would be on the wire.
    ///
    /// Refuses what the wire cannot carry (line breaks, control characters, `:` in a name) and the
    /// names under which the bus itself refers to large payloads.
    pub fn insert(&mut self, name: &str, value: &str) -> Result<(), BusError> {
        if is_reserved(name) {
            return Err(BusError::InvalidHeader {
                name: name.to_owned(),
            });
        }
        self.set(name, value)
    }

    /// [`Headers::insert`] for building in one expression.
    pub fn with(mut self, name: &str, value: &str) -> Result<Self, BusError> {
        self.insert(name, value)?;
        Ok(self)
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .flat_map(|lines| lines.iter())
            .map(|(n, v)| (n.as_str(), v.as_str()))
    }

    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |lines| lines.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), BusError> {
        let value = value.trim();
        let name_ok = !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic() && b != b':');
        if !name_ok || value.chars().any(char::is_control) {
            return Err(BusError::InvalidHeader {
                name: name.to_owned(),
            });
        }
        let lines = Arc::make_mut(self.0.get_or_insert_default());
        match lines.iter_mut().find(|(n, _)| n.eq_ignore_ascii_case(name)) {
            Some((_, old)) => value.clone_into(old),
            None => {
                let at = lines.partition_point(|(n, _)| n.as_str() < name);
                lines.insert(at, (name.to_owned(), value.to_owned()));
            }
        }
        Ok(())
    }

    pub(crate) fn remove_reserved(&mut self) {
        if let Some(lines) = &mut self.0 {
            Arc::make_mut(lines).retain(|(name, _)| !is_reserved(name));
            if lines.is_empty() {
                self.0 = None;
            }
        }
    }

    /// Bytes the lines take in NATS's encoding, which its payload limit counts.
    pub(crate) fn wire_len(&self) -> usize {
        match self.len() {
            0 => 0,
            _ => {
                "NATS/1.0\r\n\r\n".len()
                    + self
                        .iter()
                        .map(|(n, v)| n.len() + v.len() + ": \r\n".len())
                        .sum::<usize>()
            }
        }
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

fn is_reserved(name: &str) -> bool {
    const PREFIX: &str = crate::messages::OBJECT;
    name.get(..PREFIX.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_sorted_and_names_ignore_case() {
        let mut headers = Headers::new();
        headers.insert("Qadra-Request-Id", "2").unwrap();
        headers.insert("Alpha", " 1 ").unwrap();
        headers.insert("qadra-request-id", "3").unwrap();
        assert_eq!(
            headers.iter().collect::<Vec<_>>(),
            [("Alpha", "1"), ("Qadra-Request-Id", "3")]
        );
        assert_eq!(headers.get("QADRA-REQUEST-ID"), Some("3"));
    }

    #[test]
    fn what_the_wire_cannot_carry_is_refused() {
        for (name, value) in [
            ("", "x"),
            ("a b", "x"),
            ("a:b", "x"),
            ("é", "x"),
            ("a", "x\r\nInjected: y"),
            ("a", "\0"),
        ] {
            assert!(
                Headers::new().insert(name, value).is_err(),
                "{name:?}: {value:?}"
            );
        }
        for name in ["Qadra-Object", "qadra-object", "Qadra-Object-Length"] {
            assert!(Headers::new().insert(name, "bus/x").is_err(), "{name}");
        }
    }

    #[test]
    fn a_copy_does_not_follow_later_changes() {
        let mut headers = Headers::new().with("A", "1").unwrap();
        let copy = headers.clone();
        headers.insert("A", "2").unwrap();
        assert_eq!(copy.get("A"), Some("1"));
    }
}
