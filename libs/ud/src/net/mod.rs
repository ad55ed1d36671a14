//! The network that tags and parses: embeddings of words and spellings, bidirectional LSTM layers, a
//! softmax over tags on the first layer, biaffine scores of heads and relations on the last
//! (Dozat and Manning 2017, with the tagger as an auxiliary task as in Hashimoto et al. 2017).
//!
//! This module computes with 16-bit integers from a finished model; `train` holds the float version.

mod infer;
mod kernel;
mod math;

pub(crate) use infer::{Network, Scratch, write_affine, write_table};
pub(crate) use math::{exp, sigmoid, tanh};

/// Sizes of a network; a model file begins with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub words: usize,
    pub word_dim: usize,
    pub buckets: usize,
    pub spelling_dim: usize,
    /// Units per direction.
    pub hidden: usize,
    pub layers: usize,
    pub tags: usize,
    /// Width of the head and dependent vectors of the arc scorer, the constant 1 included.
    pub arc: usize,
    /// The same for the relation scorer.
    pub label: usize,
    pub relations: usize,
}

impl Shape {
    pub(crate) fn input(&self) -> usize {
        self.word_dim + self.spelling_dim
    }

    /// Width of what layer `i` reads.
    pub(crate) fn layer_input(&self, i: usize) -> usize {
        match i {
            0 => self.input(),
            1 => 2 * self.hidden,
            _ => 2 * self.hidden,
        }
    }
}

/// Slope of the leaky rectifier for negative inputs.
pub(crate) const LEAK: f32 = 0.1;
