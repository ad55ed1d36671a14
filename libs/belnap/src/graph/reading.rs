//! A parsed text, indexed so that names, numbers and words are found in it without a scan.

use std::cell::RefCell;
use std::collections::HashMap;

use ud::{Sentence, Token, Upos};

use super::label::{fold, key, level, pieces};
use super::meaning::{Core, Meaning};
use super::number::{self, Number};
use crate::lexicon::{self, Level};

pub(super) struct Reading<'a> {
    pub text: &'a str,
    pub sentences: &'a [Sentence],
    /// All tokens of all sentences.
    pub tokens: Vec<Node<'a>>,
    /// First token of each sentence, and the number of tokens at the end.
    pub starts: Vec<usize>,
    /// Words of the text, finer than tokens.
    pub words: Vec<TextWord>,
    /// Where a word stands: numbers into `words`.
    pub index: HashMap<String, Vec<usize>>,
    pub numbers: Vec<TextNumber>,
    /// What adjectives of the text belong to ("danish": denmark), with their tokens.
    pub belongs: HashMap<&'static str, Vec<usize>>,
    pub vocabulary: Vec<Lemma>,
    /// Initials of runs of capitalised words, with their first and last token.
    pub runs: Vec<(String, usize, usize)>,
    /// Names by sentence.
    pub names: Vec<Vec<Name>>,
    /// How well each lemma expresses each core of the graph's predicates, as far as it has been asked.
    strengths: RefCell<Vec<f32>>,
}

/// A run of capitalised words.
pub(super) struct Name {
    pub first: usize,
    pub last: usize,
    pub keys: Vec<String>,
    pub level: Option<Level>,
}

pub(super) struct Node<'a> {
    pub token: &'a Token,
    pub sentence: usize,
    pub head: Option<usize>,
    pub children: Vec<usize>,
    /// Number into the vocabulary.
    pub lemma: usize,
}

pub(super) struct TextWord {
    pub key: String,
    pub token: usize,
}

pub(super) struct TextNumber {
    pub number: Number,
    pub first: usize,
    pub last: usize,
}

/// A distinct lemma of the text with the words that it relates to.
pub(super) struct Lemma {
    /// What it is a kind of, if it is a noun.
    pub kinds: Vec<&'static str>,
    pub lemma: String,
    pub kin: HashMap<&'static str, f32>,
    pub frames: Vec<&'static lexicon::Frame>,
    pub tokens: Vec<usize>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(text: &'a str, sentences: &'a [Sentence]) -> Self {
        let mut reading = Reading {
            text,
            sentences,
            tokens: Vec::new(),
            starts: Vec::new(),
            words: Vec::new(),
            index: HashMap::new(),
            numbers: Vec::new(),
            belongs: HashMap::new(),
            vocabulary: Vec::new(),
            runs: Vec::new(),
            names: Vec::new(),
            strengths: RefCell::default(),
        };
        let mut lemmas: HashMap<String, usize> = HashMap::new();
        for (number, sentence) in sentences.iter().enumerate() {
            reading.add(number, sentence, &mut lemmas);
        }
        reading.starts.push(reading.tokens.len());
        for at in 0..reading.words.len() {
            let key = reading.words[at].key.clone();
            reading.index.entry(key).or_default().push(at);
        }
        reading.names = (0..sentences.len()).map(|s| reading.names_of(s)).collect();
        reading
    }

    fn add(&mut self, number: usize, sentence: &'a Sentence, lemmas: &mut HashMap<String, usize>) {
        let start = self.tokens.len();
        let n = sentence.tokens.len();
        self.starts.push(start);
        let mut after_letter = None;
        for (i, token) in sentence.tokens.iter().enumerate() {
            let at = start + i;
            let lemma = token.lemma.to_lowercase();
            let id = *lemmas.entry(lemma.clone()).or_insert_with(|| {
                self.vocabulary.push(Lemma::new(lemma));
                self.vocabulary.len() - 1
            });
            self.vocabulary[id].tokens.push(at);
            // "A. C." and "A.C." are the same word.
            let letter = |w: &str| w.len() == 1 && w.starts_with(|c: char| c.is_ascii_alphabetic());
            for piece in pieces(&token.form) {
                let capital = token.form.len() <= 2 && token.form.starts_with(char::is_uppercase);
                match self.words.last_mut() {
                    Some(last) if capital && letter(&piece) && after_letter == Some(i) => {
                        last.key.push_str(&piece)
                    }
                    _ => self.words.push(TextWord {
                        key: key(&piece),
                        token: at,
                    }),
                }
                after_letter = (capital && letter(&piece)).then_some(i + 1);
            }
            if matches!(token.upos, Upos::Adj | Upos::Propn | Upos::Noun) {
                let form = fold(&token.form);
                let singular = key(&form);
                for place in lexicon::belongs_to(&form).chain(lexicon::belongs_to(&singular)) {
                    let tokens = self.belongs.entry(place).or_default();
                    if tokens.last() != Some(&at) {
                        tokens.push(at);
                    }
                }
            }
            self.tokens.push(Node {
                token,
                sentence: number,
                head: token
                    .head
                    .checked_sub(1)
                    .filter(|h| *h < n && *h != i)
                    .map(|h| start + h),
                children: Vec::new(),
                lemma: id,
            });
        }
        for at in start..start + n {
            if let Some(head) = self.tokens[at].head {
                self.tokens[head].children.push(at);
            }
        }
        self.read_numbers(start, sentence);
        self.read_runs(start, sentence);
    }

    fn read_numbers(&mut self, start: usize, sentence: &Sentence) {
        let forms: Vec<String> = sentence
            .tokens
            .iter()
            .map(|t| t.form.to_lowercase())
            .collect();
        let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
        let mut i = 0;
        while i < forms.len() {
            // "1984-07-23" may have come apart.
            let from = sentence.tokens[i].span.start;
            let glued = self
                .text
                .get(from..from + 10)
                .and_then(|s| number::at(&[s]).filter(|(n, _)| n.is_full_date()));
            if let Some((number, _)) = glued {
                let mut last = i;
                while last + 1 < forms.len() && sentence.tokens[last + 1].span.start < from + 10 {
                    last += 1;
                }
                self.numbers.push(TextNumber {
                    number,
                    first: start + i,
                    last: start + last,
                });
                i = last + 1;
                continue;
            }
            let window = &forms[i..forms.len().min(i + 10)];
            match number::at(window) {
                Some((number, used)) => {
                    let last = (i + used.max(1) - 1).min(forms.len() - 1);
                    self.numbers.push(TextNumber {
                        number,
                        first: start + i,
                        last: start + last,
                    });
                    i = last + 1;
                }
                None => i += 1,
            }
        }
    }

    fn names_of(&self, sentence: usize) -> Vec<Name> {
        let range = self.sentence_range(sentence);
        let mut names = Vec::new();
        let mut at = range.start;
        while at < range.end {
            if !self.is_name(at) {
                at += 1;
                continue;
            }
            let first = at;
            while at + 1 < range.end && self.is_name(at + 1) {
                at += 1;
            }
            let folded: Vec<String> = (first..=at)
                .map(|t| fold(&self.tokens[t].token.form))
                .collect();
            let words = (first..=at).flat_map(|t| pieces(&self.tokens[t].token.form));
            names.push(Name {
                first,
                last: at,
                keys: words.map(|p| key(&p)).collect(),
                level: level(&folded.join("_")),
            });
            at += 1;
        }
        names
    }

    /// How well the word expresses one word of a predicate's name.
    pub(super) fn strength(&self, core: &Core, token: usize) -> f32 {
        let width = self.vocabulary.len();
        let lemma = self.tokens[token].lemma;
        let at = core.id * width + lemma;
        let mut memo = self.strengths.borrow_mut();
        if memo.len() <= at {
            memo.resize((core.id + 1) * width, f32::NAN);
        }
        if memo[at].is_nan() {
            memo[at] = Meaning::strength(core, &self.vocabulary[lemma]);
        }
        memo[at]
    }

    fn read_runs(&mut self, start: usize, sentence: &Sentence) {
        let capital = |i: usize| {
            sentence
                .tokens
                .get(i)
                .is_some_and(|t| t.form.starts_with(char::is_uppercase) && t.upos != Upos::Punct)
        };
        let light = |i: usize| {
            sentence.tokens.get(i).is_some_and(|t| {
                matches!(&*t.form, "of" | "and" | "the" | "for" | "de" | "&" | "in")
            })
        };
        let mut i = 0;
        while i < sentence.tokens.len() {
            if !capital(i) {
                i += 1;
                continue;
            }
            let mut last = i;
            let mut initials = String::new();
            let mut at = i;
            while capital(at) || (light(at) && capital(at + 1)) {
                if capital(at) {
                    initials.extend(
                        sentence.tokens[at]
                            .form
                            .chars()
                            .next()
                            .into_iter()
                            .flat_map(char::to_lowercase),
                    );
                    last = at;
                }
                at += 1;
            }
            if initials.chars().count() >= 2 {
                self.runs.push((initials, start + i, start + last));
            }
            i = at.max(i + 1);
        }
    }

    pub(super) fn lemma(&self, token: usize) -> &Lemma {
        &self.vocabulary[self.tokens[token].lemma]
    }

    pub(super) fn sentence_range(&self, sentence: usize) -> std::ops::Range<usize> {
        let start = self.starts.get(sentence).copied().unwrap_or_default();
        start..self.starts.get(sentence + 1).copied().unwrap_or(start)
    }

    pub(super) fn is_name(&self, token: usize) -> bool {
        self.tokens.get(token).is_some_and(|n| {
            let first = self.starts.get(n.sentence) == Some(&token);
            n.token.upos == Upos::Propn
                || (!first
                    && n.token.form.starts_with(char::is_uppercase)
                    && matches!(n.token.upos, Upos::Noun | Upos::X | Upos::Adj))
        })
    }

    /// The word of the stretch whose head lies outside it.
    pub(super) fn head_of(&self, first: usize, last: usize) -> usize {
        (first..=last)
            .find(|&i| {
                self.tokens[i].head.is_none_or(|h| h < first || h > last)
                    && self.tokens[i].token.upos != Upos::Punct
            })
            .unwrap_or(last)
    }
}

impl Lemma {
    fn new(lemma: String) -> Self {
        Lemma {
            kinds: lexicon::nearest_kinds(&lemma),
            kin: lexicon::kin(&lemma),
            frames: lexicon::frames_of(&lemma).collect(),
            lemma,
            tokens: Vec::new(),
        }
    }
}
