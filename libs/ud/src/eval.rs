//! Scores against a treebank: with gold words, and as the CoNLL 2018 shared task scored raw text.

use std::collections::HashMap;
use std::fmt;

use crate::conllu::{Block, Row, RowId};
use crate::parser::Parser;
use crate::sentence::Sentence;

/// Shares of words in 0–1; with raw text they are F1 over aligned words.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scores {
    pub words: f64,
    pub sentences: f64,
    pub upos: f64,
    pub feats: f64,
    pub lemma: f64,
    pub uas: f64,
    pub las: f64,
    /// Words in the treebank.
    pub n: usize,
}

impl fmt::Display for Scores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = |x: f64| 100.0 * x;
        write!(
            f,
            "words {:.2}  sentences {:.2}  UPOS {:.2}  feats {:.2}  lemma {:.2}  UAS {:.2}  LAS {:.2}  (n = {})",
            p(self.words),
            p(self.sentences),
            p(self.upos),
            p(self.feats),
            p(self.lemma),
            p(self.uas),
            p(self.las),
            self.n
        )
    }
}

/// Parses the words of `gold` as they are given.
pub fn with_gold_words(parser: &Parser, gold: &[Block]) -> Scores {
    let system: Vec<Vec<Word>> = gold
        .iter()
        .map(|b| {
            let sentence = parser.parse_words(b.words().map(|r| r.form.as_str()));
            let spans = gold_words(b, 0).0;
            system_words(&sentence, |i| (spans[i].start, spans[i].end))
        })
        .collect();
    let gold: Vec<Vec<Word>> = gold.iter().map(|b| gold_words(b, 0).0).collect();
    let mut tally = Tally::default();
    for (g, s) in gold.iter().zip(&system) {
        tally.add(std::slice::from_ref(g), std::slice::from_ref(s));
    }
    tally.scores()
}

/// Parses the text of each paragraph of `gold`, words and sentences found by the parser.
pub fn with_raw_text(parser: &Parser, gold: &[Block]) -> Scores {
    let mut tally = Tally::default();
    for (text, words) in documents(gold) {
        let compact = compact_offsets(&text);
        let system: Vec<Vec<Word>> = parser
            .parse(&text)
            .iter()
            .map(|s| {
                let spans = shared_spans(s);
                system_words(s, |i| (compact[spans[i].0], compact[spans[i].1]))
            })
            .collect();
        tally.add(&words, &system);
    }
    tally.scores()
}

/// How far a margin can be trusted: for each lower bound in `bounds` (ascending), the arcs from there to the
/// next bound, and the share of them that have the right head and relation. Gold words; punctuation left out.
pub fn by_margin(parser: &Parser, gold: &[Block], bounds: &[f32]) -> Vec<(f32, usize, f64)> {
    let mut counts = vec![(0usize, 0usize); bounds.len()];
    for block in gold {
        let sentence = parser.parse_words(block.words().map(|r| r.form.as_str()));
        for (token, row) in sentence.tokens.iter().zip(block.words()) {
            let bound = bounds.iter().rposition(|b| token.margin >= *b);
            let Some(i) = bound.filter(|_| row.upos != "PUNCT") else {
                continue;
            };
            let universal = row.deprel.split(':').next().unwrap_or_default();
            let right = row.head == Some(token.head as u32) && universal == token.relation();
            counts[i].0 += 1;
            counts[i].1 += usize::from(right);
        }
    }
    let share = |(n, right): (usize, usize)| right as f64 / n.max(1) as f64;
    bounds
        .iter()
        .zip(counts)
        .map(|(bound, c)| (*bound, c.0, share(c)))
        .collect()
}

/// A word with its place among the characters that are not white space, as the shared task aligned words.
struct Word {
    start: usize,
    end: usize,
    /// Form, which tells the words of one surface token apart.
    form: String,
    upos: String,
    feats: String,
    lemma: String,
    head: usize,
    deprel: String,
}

/// Words of a surface token all have its span; the shared task aligns them by form.
fn shared_spans(sentence: &Sentence) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = sentence
        .tokens
        .iter()
        .map(|t| (t.span.start, t.span.end))
        .collect();
    for m in &sentence.multiwords {
        spans[m.first..=m.last].fill((m.span.start, m.span.end));
    }
    spans
}

fn system_words(sentence: &Sentence, span: impl Fn(usize) -> (usize, usize)) -> Vec<Word> {
    sentence
        .tokens
        .iter()
        .enumerate()
        .map(|(i, t)| Word {
            start: span(i).0,
            end: span(i).1,
            form: t.form.clone(),
            upos: t.upos.as_str().to_string(),
            feats: t.feats.to_string(),
            lemma: t.lemma.clone(),
            head: t.head,
            deprel: t.deprel.to_string(),
        })
        .collect()
}

fn gold_words(block: &Block, from: usize) -> (Vec<Word>, usize) {
    let mut at = from;
    let mut range: Option<(u32, usize, usize)> = None;
    let mut words = Vec::new();
    let length = |r: &Row| r.form.chars().filter(|c| !c.is_whitespace()).count();
    for row in &block.rows {
        let (start, end) = match row.id {
            RowId::Empty(..) => continue,
            RowId::Range(_, last) => {
                range = Some((last, at, at + length(row)));
                at += length(row);
                continue;
            }
            RowId::Word(n) => match range {
                Some((last, start, end)) if n <= last => (start, end),
                _ => {
                    at += length(row);
                    (at - length(row), at)
                }
            },
        };
        let plain = |s: &str| {
            if s == "_" {
                String::new()
            } else {
                s.to_string()
            }
        };
        words.push(Word {
            start,
            end,
            form: row.form.clone(),
            upos: row.upos.clone(),
            feats: plain(&row.feats),
            lemma: row.lemma.clone(),
            head: row.head.unwrap_or(0) as usize,
            deprel: row.deprel.clone(),
        });
    }
    (words, at)
}

/// The text of every document with its gold sentences; paragraphs are parted by an empty line.
fn documents(gold: &[Block]) -> Vec<(String, Vec<Vec<Word>>)> {
    let mut all: Vec<(String, Vec<Vec<Word>>, usize)> = Vec::new();
    for block in gold {
        let new_document = block.comments.iter().any(|c| c.starts_with("# newdoc"));
        let new_paragraph = block.comments.iter().any(|c| c.starts_with("# newpar"));
        if new_document || all.is_empty() {
            all.push((String::new(), Vec::new(), 0));
        }
        let Some((text, sentences, at)) = all.last_mut() else {
            continue;
        };
        if !text.is_empty() {
            text.push_str(if new_paragraph { "\n\n" } else { " " });
        }
        text.push_str(&surface(block));
        let (words, end) = gold_words(block, *at);
        sentences.push(words);
        *at = end;
    }
    all.into_iter().map(|(t, s, _)| (t, s)).collect()
}

/// The whole text of a treebank, as the raw-text score reads it.
pub fn raw_text(gold: &[Block]) -> String {
    let texts: Vec<String> = documents(gold).into_iter().map(|(text, _)| text).collect();
    texts.join("\n\n")
}

/// The sentence as it was written, from forms and `SpaceAfter=No`.
pub(crate) fn surface(block: &Block) -> String {
    let mut text = String::new();
    let mut inside = 0;
    let mut gap = false;
    for row in &block.rows {
        match row.id {
            RowId::Empty(..) => continue,
            RowId::Range(_, last) => inside = last,
            RowId::Word(n) if n <= inside => continue,
            RowId::Word(_) => {}
        }
        if gap {
            text.push(' ');
        }
        text.push_str(&row.form);
        gap = !row.misc.split('|').any(|m| m == "SpaceAfter=No");
    }
    text
}

/// For each byte offset, how many characters other than white space lie before it.
fn compact_offsets(text: &str) -> Vec<usize> {
    let mut offsets = Vec::with_capacity(text.len() + 1);
    let mut count = 0;
    for c in text.chars() {
        for _ in 0..c.len_utf8() {
            offsets.push(count);
        }
        count += usize::from(!c.is_whitespace());
    }
    offsets.push(count);
    offsets
}

#[derive(Default)]
struct Tally {
    gold: usize,
    system: usize,
    gold_sentences: usize,
    system_sentences: usize,
    right_sentences: usize,
    words: usize,
    upos: usize,
    feats: usize,
    lemma: usize,
    uas: usize,
    las: usize,
}

impl Tally {
    fn add(&mut self, gold: &[Vec<Word>], system: &[Vec<Word>]) {
        let ends = |sentences: &[Vec<Word>]| -> Vec<(usize, usize)> {
            sentences
                .iter()
                .filter_map(|s| Some((s.first()?.start, s.last()?.end)))
                .collect()
        };
        let (g, s) = (ends(gold), ends(system));
        self.gold_sentences += g.len();
        self.system_sentences += s.len();
        self.right_sentences += g.iter().filter(|x| s.contains(x)).count();

        type Place = (usize, usize);
        // A word is known by its span and its rank among equal forms there.
        fn index(sentences: &[Vec<Word>]) -> Vec<(Place, String, usize)> {
            let mut seen: HashMap<(Place, String), usize> = HashMap::new();
            sentences
                .iter()
                .flatten()
                .map(|w| {
                    let key = ((w.start, w.end), w.form.to_lowercase());
                    let rank = seen.entry(key.clone()).or_default();
                    *rank += 1;
                    (key.0, key.1, *rank)
                })
                .collect()
        }
        let (gold_keys, system_keys) = (index(gold), index(system));
        self.gold += gold_keys.len();
        self.system += system_keys.len();
        let positions: HashMap<_, usize> =
            gold_keys.iter().enumerate().map(|(i, k)| (k, i)).collect();
        let gold_flat = flatten(gold);
        let system_flat = flatten(system);
        let aligned: Vec<Option<usize>> = system_keys
            .iter()
            .map(|k| positions.get(k).copied())
            .collect();
        for (i, (word, head)) in system_flat.iter().enumerate() {
            let Some(j) = aligned[i] else { continue };
            let (other, other_head) = &gold_flat[j];
            self.words += 1;
            self.upos += usize::from(word.upos == other.upos);
            self.feats += usize::from(word.feats == other.feats);
            self.lemma += usize::from(word.lemma == other.lemma || other.lemma == "_");
            let same_head = match (head, other_head) {
                (None, None) => true,
                (Some(h), Some(g)) => aligned[*h] == Some(*g),
                _ => false,
            };
            self.uas += usize::from(same_head);
            let universal = |r: &str| r.split(':').next().map(str::to_string);
            self.las +=
                usize::from(same_head && universal(&word.deprel) == universal(&other.deprel));
        }
    }

    fn scores(&self) -> Scores {
        let f1 = |right: usize, gold: usize, system: usize| match gold + system {
            0 => 0.0,
            both => 2.0 * right as f64 / both as f64,
        };
        let words = |right| f1(right, self.gold, self.system);
        Scores {
            words: words(self.words),
            sentences: f1(
                self.right_sentences,
                self.gold_sentences,
                self.system_sentences,
            ),
            upos: words(self.upos),
            feats: words(self.feats),
            lemma: words(self.lemma),
            uas: words(self.uas),
            las: words(self.las),
            n: self.gold,
        }
    }
}

/// All words with the index of their head among all words.
fn flatten(sentences: &[Vec<Word>]) -> Vec<(&Word, Option<usize>)> {
    let mut all = Vec::new();
    for sentence in sentences {
        let base = all.len();
        all.extend(
            sentence
                .iter()
                .map(|w| (w, w.head.checked_sub(1).map(|h| base + h))),
        );
    }
    all
}
