//! Evidence in prose: claims of a text held against the sentences of another.

use ud::{Parser, Sentence};

use crate::claim::{Claim, Judgement};

/// A text to judge by, parsed once.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    #[expect(dead_code, reason = "skeleton")]
    sentences: Vec<Sentence>,
}

impl Evidence {
    pub fn new(parser: &Parser, text: &str) -> Self {
        Evidence {
            sentences: parser.parse(text),
        }
    }

    /// One judgement for each claim of `text`.
    pub fn judge(&self, _text: &str, claims: &[Claim]) -> Vec<Judgement> {
        vec![Judgement::default(); claims.len()]
    }
}
