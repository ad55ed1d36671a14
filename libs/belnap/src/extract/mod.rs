//! Claims from trees.

use ud::{Parser, Sentence};

use crate::claim::Claim;

/// The claims of a text, in its order.
pub fn extract(parser: &Parser, text: &str) -> Vec<Claim> {
    extract_from(text, &parser.parse(text))
}

/// The same from sentences that are parsed already; their spans are bytes of `text`.
pub fn extract_from(_text: &str, _sentences: &[Sentence]) -> Vec<Claim> {
    Vec::new()
}
