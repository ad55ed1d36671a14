use serde::{Deserialize, Serialize};

/// Why a document gave no text. Every message is fit to be shown to the person who uploaded it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReadError {
    #[error("the document is empty")]
    Empty,
    /// The bytes are damaged, are not what they are named, or made the reader fail.
    #[error("read the document: {reason}")]
    Unreadable { reason: String },
    #[error("the document is protected with a password")]
    Encrypted,
    /// Pages without text, as a scanner makes them.
    #[error("the document has pages but no text on them; it may be scanned")]
    NoText,
    #[error("the document is too large: {what} {found}, the limit is {limit}")]
    TooLarge {
        what: String,
        found: u64,
        limit: u64,
    },
    /// `found` is the content type of the bytes, as far as they tell.
    #[error(
        "documents of the type {found} are not read; text, Markdown, HTML, PDF and Word (docx) are"
    )]
    UnsupportedType { found: String },
    #[error("reading the document took longer than {seconds} s")]
    Timeout { seconds: u64 },
}

impl ReadError {
    pub(crate) fn unreadable(reason: impl Into<String>) -> Self {
        ReadError::Unreadable {
            reason: reason.into(),
        }
    }

    pub(crate) fn too_large(what: &str, found: u64, limit: u64) -> Self {
        ReadError::TooLarge {
            what: what.to_owned(),
            found,
            limit,
        }
    }
}
