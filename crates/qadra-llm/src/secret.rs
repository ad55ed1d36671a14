use std::fmt;

/// A key that no message, log line or debug output shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The key itself, for the one header it belongs in.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// `text` with every occurrence of the key blanked: some servers quote the key they refuse.
    pub(crate) fn scrub(&self, text: &str) -> String {
        // Shorter keys are placeholders for servers that want none, and would blank ordinary words.
        if self.0.len() < 6 {
            text.to_owned()
        } else {
            text.replace(&self.0, "***")
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self(value)
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}
