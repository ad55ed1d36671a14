//! English Universal Dependencies: text in; sentences, words, tags, lemmas and trees out.
//!
//! Entry type: [`Parser`].
//! It never does I/O, never panics, and takes time linear in the text.

pub mod conllu;
mod decode;
pub mod eval;
mod features;
mod lemma;
mod model;
mod net;
mod parser;
mod sentence;
mod split;
mod tokenize;
pub mod train;
mod words;

pub use model::ModelError;
pub use parser::{LONGEST_TREE, Parser};
pub use sentence::{Multiword, Sentence, Token, Upos};
