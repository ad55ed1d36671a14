//! What the parser gives back.

use std::ops::Range;
use std::sync::Arc;

/// A parsed sentence; the text it came from stays with the caller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sentence {
    /// Bytes of the text, from the first token to the last.
    pub span: Range<usize>,
    /// The syntactic words, in order.
    pub tokens: Vec<Token>,
    /// Surface tokens that were split into several words, such as `don't`.
    pub multiwords: Vec<Multiword>,
}

/// A syntactic word with its place in the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub form: String,
    pub lemma: String,
    pub upos: Upos,
    /// Morphology as CoNLL-U writes it (`Number=Plur|Person=3`), empty if there is none.
    pub feats: Arc<str>,
    /// 1-based number of the governing word; 0 for the root.
    pub head: usize,
    /// Universal relation with its subtype, such as `nsubj:pass`.
    pub deprel: Arc<str>,
    /// Bytes of the text.
    pub span: Range<usize>,
    /// How clear the arc was, in nats: the distance in score to the best other head or the best other
    /// relation, whichever is nearer. Below zero where only the demand for a tree chose this head.
    pub margin: f32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multiword {
    /// 0-based indices into [`Sentence::tokens`], both included.
    pub first: usize,
    pub last: usize,
    pub form: String,
    pub span: Range<usize>,
}

impl Token {
    /// The value of one morphological feature, such as `Plur` for `Number`.
    pub fn feat(&self, name: &str) -> Option<&str> {
        self.feats
            .split('|')
            .find_map(|f| f.strip_prefix(name)?.strip_prefix('='))
    }

    /// The relation without its subtype.
    pub fn relation(&self) -> &str {
        self.deprel.split(':').next().unwrap_or_default()
    }
}

/// Universal part-of-speech tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Upos {
    Adj,
    Adp,
    Adv,
    Aux,
    Cconj,
    Det,
    Intj,
    Noun,
    Num,
    Part,
    Pron,
    Propn,
    Punct,
    Sconj,
    Sym,
    Verb,
    X,
}

impl Upos {
    pub const ALL: [Upos; 17] = [
        Upos::Adj,
        Upos::Adp,
        Upos::Adv,
        Upos::Aux,
        Upos::Cconj,
        Upos::Det,
        Upos::Intj,
        Upos::Noun,
        Upos::Num,
        Upos::Part,
        Upos::Pron,
        Upos::Propn,
        Upos::Punct,
        Upos::Sconj,
        Upos::Sym,
        Upos::Verb,
        Upos::X,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Upos::Adj => "ADJ",
            Upos::Adp => "ADP",
            Upos::Adv => "ADV",
            Upos::Aux => "AUX",
            Upos::Cconj => "CCONJ",
            Upos::Det => "DET",
            Upos::Intj => "INTJ",
            Upos::Noun => "NOUN",
            Upos::Num => "NUM",
            Upos::Part => "PART",
            Upos::Pron => "PRON",
            Upos::Propn => "PROPN",
            Upos::Punct => "PUNCT",
            Upos::Sconj => "SCONJ",
            Upos::Sym => "SYM",
            Upos::Verb => "VERB",
            Upos::X => "X",
        }
    }

    pub fn parse(name: &str) -> Option<Upos> {
        Upos::ALL.into_iter().find(|u| u.as_str() == name)
    }
}
