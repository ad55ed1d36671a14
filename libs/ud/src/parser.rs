use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::decode;
use crate::features::word_key;
use crate::lemma::Lemmas;
use crate::model::{Bytes, MAGIC, ModelError};
use crate::net::{Network, Scratch};
use crate::sentence::{Multiword, Sentence, Token, Upos};
use crate::split::Splitter;
use crate::tokenize::{self, Piece};

/// Words that are parsed as one tree. Scores are quadratic in this and in nothing else, so time stays linear
/// in the text; a longer sentence is parsed in parts.
pub const LONGEST_TREE: usize = 160;

/// A loaded model. Share one; it is never changed.
#[derive(Debug)]
pub struct Parser {
    words: HashMap<Box<str>, u32>,
    tags: Vec<(Upos, Arc<str>)>,
    relations: Vec<Arc<str>>,
    root: usize,
    fallback: Arc<str>,
    network: Network,
    lemmas: Lemmas,
    splitter: Splitter,
}

impl Parser {
    /// The model that is part of this library.
    #[cfg(feature = "embedded")]
    pub fn embedded() -> Result<Parser, ModelError> {
        Parser::from_bytes(include_bytes!("../model/en_ewt.udm"))
    }

    /// A model as `ud-train` writes it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Parser, ModelError> {
        let mut bytes = Bytes(bytes);
        let mut parser = Parser::network(&mut bytes)?;
        parser.lemmas = Lemmas::read(&mut bytes)?;
        parser.splitter = Splitter::read(&mut bytes)?;
        Ok(parser)
    }

    /// How many bytes of a model come before the lemma rules.
    pub(crate) fn length_of_network(model: &[u8]) -> Result<usize, ModelError> {
        let mut bytes = Bytes(model);
        Parser::network(&mut bytes)?;
        Ok(model.len() - bytes.0.len())
    }

    fn network(bytes: &mut Bytes<'_>) -> Result<Parser, ModelError> {
        if bytes.take(MAGIC.len())? != MAGIC {
            return Err(ModelError::Magic);
        }
        let mut words = HashMap::new();
        for i in 0..bytes.u32()? {
            words.insert(bytes.text()?.into(), i);
        }
        let mut tags = Vec::new();
        for _ in 0..bytes.u32()? {
            tags.push((bytes.upos()?, bytes.text()?.into()));
        }
        let mut relations: Vec<Arc<str>> = Vec::new();
        for _ in 0..bytes.u32()? {
            relations.push(bytes.text()?.into());
        }
        let root = relations
            .iter()
            .position(|r| &**r == "root")
            .ok_or(ModelError::Malformed("the relations"))?;
        let network = Network::read(bytes)?;
        let shape = network.shape;
        if (shape.words, shape.tags, shape.relations) != (words.len(), tags.len(), relations.len())
            || relations.len() < 2
        {
            return Err(ModelError::Malformed("sizes of the network"));
        }
        Ok(Parser {
            words,
            tags,
            relations,
            root,
            fallback: "dep".into(),
            network,
            lemmas: Lemmas::default(),
            splitter: Splitter::default(),
        })
    }

    /// Sentences of `text`, parsed. Spans are bytes of `text`; whatever is not white space is in some token.
    pub fn parse(&self, text: &str) -> Vec<Sentence> {
        let mut scratch = Scratch::default();
        self.split(text)
            .into_iter()
            .map(|pieces| self.annotate(pieces, &mut scratch))
            .collect()
    }

    /// The spans of the words of each sentence, without tags and trees: much faster than [`Parser::parse`].
    pub fn tokenize(&self, text: &str) -> Vec<Vec<Range<usize>>> {
        let spans = |pieces: Vec<Piece<'_>>| pieces.into_iter().map(|p| p.span).collect();
        self.split(text).into_iter().map(spans).collect()
    }

    fn split<'a>(&self, text: &'a str) -> Vec<Vec<Piece<'a>>> {
        self.splitter.sentences(text, tokenize::tokenize(text))
    }

    /// The tree over given words; spans are those of the words joined by single blanks.
    pub fn parse_words<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Sentence {
        let mut at = 0;
        let pieces = words
            .into_iter()
            .map(|form| {
                let span = at..at + form.len();
                at = span.end + 1;
                Piece::word(form, span)
            })
            .collect();
        self.annotate(pieces, &mut Scratch::default())
    }

    fn annotate(&self, pieces: Vec<Piece<'_>>, scratch: &mut Scratch) -> Sentence {
        let span = cover(&pieces);
        let mut sentence = Sentence {
            span,
            tokens: pieces.iter().map(|p| self.blank(p)).collect(),
            multiwords: multiwords(&pieces),
        };
        let tokens = &mut sentence.tokens;
        let words: Vec<usize> = (0..pieces.len()).filter(|&i| !pieces[i].markup).collect();
        let mut first_root = None;
        for part in words.chunks(LONGEST_TREE) {
            self.tree(part, tokens, scratch, &mut first_root);
        }
        hang_markup(&pieces, tokens, first_root);
        sentence
    }

    fn blank(&self, piece: &Piece<'_>) -> Token {
        Token {
            form: piece.form.to_string(),
            lemma: piece.form.to_string(),
            upos: Upos::Punct,
            feats: "".into(),
            head: 0,
            deprel: self.fallback.clone(),
            span: piece.span.clone(),
            margin: 0.0,
        }
    }

    /// Tags and parses the tokens with the numbers in `part`. Below an earlier part's root, its own root is
    /// a parataxis.
    fn tree(
        &self,
        part: &[usize],
        tokens: &mut [Token],
        scratch: &mut Scratch,
        first_root: &mut Option<usize>,
    ) {
        let n = part.len();
        let words = part.iter().map(|&i| {
            let form = tokens[i].form.as_str();
            (
                self.words
                    .get(word_key(form).as_str())
                    .copied()
                    .unwrap_or(0),
                form,
            )
        });
        self.network.analyse(words, scratch);
        let analysis = &scratch.analysis;
        for (&i, scores) in part.iter().zip(analysis.tags.chunks_exact(self.tags.len())) {
            let tag = self.best_tag(scores);
            let token = &mut tokens[i];
            token.upos = self.tags[tag].0;
            token.feats = self.tags[tag].1.clone();
            token.lemma = self.lemmas.lemma(&token.form, tag);
        }
        let heads = decode::tree(&analysis.arcs, n);
        self.network.relations(&heads, scratch);
        let analysis = &scratch.analysis;
        for (d, &head) in heads.iter().enumerate() {
            let row = &analysis.arcs[d * (n + 1)..(d + 1) * (n + 1)];
            let rival = row
                .iter()
                .enumerate()
                .filter(|&(h, _)| h != head && h != d + 1)
                .fold(f32::NEG_INFINITY, |m, (_, s)| m.max(*s));
            // The only word of a sentence has no rival: nothing could be clearer.
            let mut margin = if n == 1 {
                f32::INFINITY
            } else {
                row[head] - rival
            };
            let relation = if head == 0 {
                self.root
            } else {
                let count = self.relations.len();
                let scores = &analysis.relations[d * count..(d + 1) * count];
                let (relation, lead) = best_two(scores, self.root);
                margin = margin.min(lead);
                relation
            };
            let token = &mut tokens[part[d]];
            token.margin = margin;
            token.deprel = self.relations[relation].clone();
            token.head = if head > 0 { part[head - 1] + 1 } else { 0 };
            if head == 0 {
                match *first_root {
                    None => *first_root = Some(part[d]),
                    Some(root) => {
                        token.head = root + 1;
                        token.deprel = "parataxis".into();
                        token.margin = 0.0;
                    }
                }
            }
        }
    }

    /// The best tag of the part of speech that is likeliest when its tags are added up.
    fn best_tag(&self, scores: &[f32]) -> usize {
        let top = scores.iter().fold(f32::NEG_INFINITY, |m, s| m.max(*s));
        let mut sums = [0.0f32; Upos::ALL.len()];
        for ((upos, _), s) in self.tags.iter().zip(scores) {
            sums[*upos as usize] += crate::net::exp(s - top);
        }
        let mut best = 0;
        for (i, (upos, _)) in self.tags.iter().enumerate() {
            let (a, b) = (sums[*upos as usize], sums[self.tags[best].0 as usize]);
            if a > b || a == b && scores[i] > scores[best] {
                best = i;
            }
        }
        best
    }
}

/// The best relation other than `not`, and its lead over the next.
fn best_two(scores: &[f32], not: usize) -> (usize, f32) {
    let mut best = usize::from(not == 0);
    let mut second = f32::NEG_INFINITY;
    for (r, &score) in scores.iter().enumerate() {
        if r == not || r == best {
            continue;
        }
        if score > scores[best] {
            second = scores[best];
            best = r;
        } else {
            second = second.max(score);
        }
    }
    (best, scores[best] - second)
}

fn cover(pieces: &[Piece<'_>]) -> Range<usize> {
    match (pieces.first(), pieces.last()) {
        (Some(a), Some(b)) => a.span.start..b.span.end,
        _ => 0..0,
    }
}

fn multiwords(pieces: &[Piece<'_>]) -> Vec<Multiword> {
    let mut all: Vec<Multiword> = Vec::new();
    for (i, piece) in pieces.iter().enumerate() {
        let Some(part) = &piece.part_of else { continue };
        match all.last_mut() {
            Some(last) if last.span == part.span => last.last = i,
            _ => all.push(Multiword {
                first: i,
                last: i,
                form: part.form.to_string(),
                span: part.span.clone(),
            }),
        }
    }
    all.retain(|m| m.last > m.first);
    all
}

/// Markup takes no part in the tree: each piece hangs on the next word, the last ones on the one before.
fn hang_markup(pieces: &[Piece<'_>], tokens: &mut [Token], root: Option<usize>) {
    let Some(root) = root else {
        for (i, token) in tokens.iter_mut().enumerate() {
            token.head = usize::from(i > 0);
            token.deprel = if i > 0 { "punct" } else { "root" }.into();
        }
        return;
    };
    let mut next = None;
    for i in (0..tokens.len()).rev() {
        if !pieces[i].markup {
            next = Some(i);
            continue;
        }
        tokens[i].head = next.unwrap_or(root) + 1;
        tokens[i].deprel = "punct".into();
        tokens[i].margin = f32::INFINITY;
    }
}
