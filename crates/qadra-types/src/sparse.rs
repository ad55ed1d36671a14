use serde::{Deserialize, Deserializer};

/// A field of a sparse update: `None` leaves it, `Some(None)` clears it, `Some(Some(v))` sets it.
///
/// Declare it as `#[serde(default, deserialize_with = "patch")]`; without the attribute serde reads
/// an explicit `null` as an absent field.
pub type Patch<T> = Option<Option<T>>;

/// Deserializes a present field, `null` included, as `Some`.
pub fn patch<'de, T, D>(d: D) -> Result<Patch<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::<T>::deserialize(d).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Update {
        #[serde(default, deserialize_with = "patch")]
        title: Patch<String>,
    }

    #[test]
    fn absent_null_and_value_are_three_things() {
        let read = |s: &str| serde_json::from_str::<Update>(s).unwrap().title;
        assert_eq!(read("{}"), None);
        assert_eq!(read(r#"{"title":null}"#), Some(None));
        assert_eq!(read(r#"{"title":"x"}"#), Some(Some("x".into())));
    }
}
