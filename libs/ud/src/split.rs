//! Sentence boundaries.

use crate::model::{Bytes, ModelError};
use crate::tokenize::Piece;

#[derive(Debug)]
pub(crate) struct Splitter {
}

impl Splitter {
    pub(crate) fn read(_bytes: &mut Bytes<'_>) -> Result<Self, ModelError> {
        Ok(Splitter {})
    }
    pub(crate) fn sentences<'a>(&self, _text: &'a str, pieces: Vec<Piece<'a>>) -> Vec<Vec<Piece<'a>>> {
        vec![pieces]
    }
}
