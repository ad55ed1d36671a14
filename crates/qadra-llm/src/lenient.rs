//! JSON fields as servers really send them: the right value, or something else that means "nothing".

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Text. An array of parts is the text of its parts; null and other kinds are empty.
#[derive(Debug, Default)]
pub(crate) struct Text(pub(crate) String);

/// JSON as text: a string is taken as it stands, any other JSON value is written out.
#[derive(Debug, Default)]
pub(crate) struct JsonText(pub(crate) String);

/// A count. Null, negative numbers and other kinds are absent.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Count(pub(crate) Option<u64>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(StringVisitor { json: false })
            .map(Self)
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(StringVisitor { json: true })
            .map(Self)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A count is a few bytes long, so a detour over `Value` costs nothing.
        let value = Value::deserialize(deserializer)?;
        Ok(Self(value.as_u64().or_else(|| {
            let number = value.as_f64().filter(|number| *number >= 0.0)?;
            Some(number as u64)
        })))
    }
}

struct StringVisitor {
    json: bool,
}

impl<'de> Visitor<'de> for StringVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_string<E>(self, text: String) -> Result<String, E> {
        Ok(text)
    }

    fn visit_unit<E>(self) -> Result<String, E> {
        Ok(String::new())
    }

    fn visit_bool<E>(self, value: bool) -> Result<String, E> {
        Ok(if self.json {
            value.to_string()
        } else {
            String::new()
        })
    }

    fn visit_i64<E>(self, value: i64) -> Result<String, E> {
        Ok(if self.json {
            value.to_string()
        } else {
            String::new()
        })
    }

    fn visit_u64<E>(self, value: u64) -> Result<String, E> {
        Ok(if self.json {
            value.to_string()
        } else {
            String::new()
        })
    }

    fn visit_f64<E>(self, value: f64) -> Result<String, E> {
        Ok(if self.json {
            value.to_string()
        } else {
            String::new()
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<String, A::Error> {
        let parts = Vec::<Value>::deserialize(SeqAccessDeserializer::new(seq))?;
        if self.json {
            return Ok(Value::Array(parts).to_string());
        }
        Ok(parts
            .iter()
            .filter_map(|part| part.get("text")?.as_str())
            .collect())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<String, A::Error> {
        let value = Value::deserialize(MapAccessDeserializer::new(map))?;
        Ok(if self.json {
            value.to_string()
        } else {
            String::new()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, text: &str, as_json: &str, count: Option<u64>) {
        assert_eq!(serde_json::from_str::<Text>(json).unwrap().0, text);
        assert_eq!(serde_json::from_str::<JsonText>(json).unwrap().0, as_json);
        assert_eq!(serde_json::from_str::<Count>(json).unwrap().0, count);
    }

    #[test]
    fn every_kind_of_json_is_read_as_something() {
        check(r#""a\n""#, "a\n", "a\n", None);
        check("null", "", "", None);
        check("12", "", "12", Some(12));
        check("12.7", "", "12.7", Some(12));
        check("-3", "", "-3", None);
        check("true", "", "true", None);
        check(r#"{"a":1}"#, "", r#"{"a":1}"#, None);
        check(
            r#"[{"type":"text","text":"a"},{"x":1},"b",{"text":"c"}]"#,
            "ac",
            r#"[{"text":"a","type":"text"},{"x":1},"b",{"text":"c"}]"#,
            None,
        );
    }
}
