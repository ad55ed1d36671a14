//! Sentence boundaries: layout decides where it speaks (blank lines, headings, list items, table rows),
//! elsewhere a logistic model over the words around each gap, learned from the treebank.

use crate::features::{Hash, shape, word_key};
use crate::model::{Bytes, ModelError, Output};
use crate::parser::LONGEST_TREE;
use crate::tokenize::Piece;

/// Weights of the boundary model; features are hashed into them.
pub(crate) const WEIGHTS: usize = 1 << 15;

#[derive(Debug, Default)]
pub(crate) struct Splitter {
    weights: Vec<f32>,
}

/// White space between two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    None,
    Space,
    Line,
    Paragraph,
}

/// What the model sees of one word; hashes of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    key: u32,
    shape: u32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    Number,
    Terminal,
    Closing,
    Other,
}

impl Look {
    pub(crate) fn of(form: &str) -> Look {
        let hash = |chars: &mut dyn Iterator<Item = char>| {
            let mut h = Hash::new(b'k');
            for c in chars {
                h.add(c as u32);
            }
            h.finish() as u32
        };
        let first = form.chars().next().unwrap_or(' ');
        let terminal = form
            .chars()
            .take(16)
            .all(|c| matches!(c, '.' | '!' | '?' | '…'));
        Look {
            key: hash(&mut word_key(form).chars()),
            shape: hash(&mut shape(form).into_iter()),
            kind: match first {
                _ if terminal => Kind::Terminal,
                '"' | '\'' | '”' | '’' | ')' | ']' | '}' => Kind::Closing,
                c if c.is_alphabetic() => Kind::Word,
                c if c.is_numeric() => Kind::Number,
                _ => Kind::Other,
            },
        }
    }

    const NOTHING: Look = Look {
        key: 0,
        shape: 0,
        kind: Kind::Other,
    };
}

/// Feature numbers of the gap after word `i`; `since` words of the sentence lie before it.
pub(crate) fn features(looks: &[Look], i: usize, gap: Gap, since: usize) -> [usize; 16] {
    let at = |j: Option<usize>| j.and_then(|j| looks.get(j)).copied().unwrap_or(Look::NOTHING);
    let (a, b) = (at(i.checked_sub(1)), at(Some(i)));
    let (c, d) = (at(Some(i + 1)), at(Some(i + 2)));
    let z = at(i.checked_sub(2));
    let gap = gap as u32;
    let length = since.min(40).ilog2_or_zero();
    // A terminal mark behind closing quotes still ends a sentence.
    let ending = match (b.kind, a.kind) {
        (Kind::Closing, Kind::Terminal) => 9,
        (kind, _) => kind as u32,
    };
    let number = |kind: u8, parts: &[u32]| {
        let mut h = Hash::new(kind);
        for part in parts {
            h.add(*part);
        }
        h.finish() as usize % WEIGHTS
    };
    [
        number(1, &[ending, gap]),
        number(2, &[b.key]),
        number(3, &[c.key, ending, gap]),
        number(4, &[b.key, c.shape, gap]),
        number(5, &[a.key, b.key]),
        number(6, &[c.key, d.key]),
        number(7, &[b.shape, c.shape, gap]),
        number(8, &[a.shape, b.shape, c.shape]),
        number(9, &[a.kind as u32, b.key, c.shape, d.shape]),
        number(10, &[length, ending, c.shape]),
        number(11, &[c.key, c.shape, ending]),
        number(12, &[b.key, c.key]),
        number(13, &[z.shape, a.shape, ending, c.shape]),
        number(14, &[c.shape, d.shape, ending]),
        number(15, &[b.key, gap, length]),
        number(16, &[ending, c.shape, gap]),
    ]
}

trait Log {
    fn ilog2_or_zero(self) -> u32;
}

impl Log for usize {
    fn ilog2_or_zero(self) -> u32 {
        self.checked_ilog2().unwrap_or(0)
    }
}

pub(crate) fn score(weights: &[f32], features: &[usize]) -> f32 {
    features.iter().map(|&f| weights[f]).sum()
}

impl Splitter {
    pub(crate) fn sentences<'a>(
        &self,
        text: &'a str,
        pieces: Vec<Piece<'a>>,
    ) -> Vec<Vec<Piece<'a>>> {
        // The model looks past markup, as the parser does.
        let words: Vec<usize> = (0..pieces.len()).filter(|&i| !pieces[i].markup).collect();
        let looks: Vec<Look> = words.iter().map(|&i| Look::of(pieces[i].form)).collect();
        let mut rank = vec![0; pieces.len()];
        for (r, &i) in words.iter().enumerate() {
            rank[i] = r;
        }
        let mut sentences = Vec::new();
        let mut sentence: Vec<Piece<'a>> = Vec::new();
        let mut since = 0;
        let mut last_word = None;
        let mut heading = false;
        let mut pending = Gap::None;
        for (i, piece) in pieces.into_iter().enumerate() {
            let gap = sentence
                .last()
                .map_or(Gap::None, |p| gap(text, p.span.end, piece.span.start));
            pending = if (gap as u8) > (pending as u8) { gap } else { pending };
            let starts_line = matches!(gap, Gap::Line | Gap::Paragraph);
            let layout = match gap {
                Gap::Paragraph => true,
                Gap::Line => heading || item(text, &piece),
                _ => false,
            };
            let inside = sentence.last().is_some_and(|p| {
                p.part_of.is_some() && p.part_of == piece.part_of
            });
            let by_model = !piece.markup
                && !inside
                && last_word.is_some_and(|w: usize| {
                    since >= LONGEST_TREE
                        || pending != Gap::None
                            && score(&self.weights, &features(&looks, rank[w], pending, since)) > 0.0
                        || pending == Gap::None
                            && score(&self.weights, &features(&looks, rank[w], pending, since)) > 1.0
                });
            if !sentence.is_empty() && (layout || by_model) {
                // Marks right before the word belong to it, not to the sentence before.
                let keep = sentence
                    .iter()
                    .rposition(|p| !p.markup)
                    .map_or(0, |last| opening_marks(text, &sentence, last + 1));
                let rest = match layout {
                    true => Vec::new(),
                    false => sentence.split_off(keep),
                };
                sentences.push(std::mem::replace(&mut sentence, rest));
                since = 0;
                last_word = None;
            }
            if starts_line || i == 0 || sentence.is_empty() {
                heading = piece.markup && matches!(piece.form.as_bytes().first(), Some(b'#' | b'|' | b'`' | b'~'));
            }
            if !piece.markup {
                last_word = Some(i);
                since += 1;
                pending = Gap::None;
            }
            sentence.push(piece);
        }
        if !sentence.is_empty() {
            sentences.push(sentence);
        }
        sentences
    }

    pub(crate) fn read(bytes: &mut Bytes<'_>) -> Result<Self, ModelError> {
        Ok(Splitter {
            weights: bytes.f32s(WEIGHTS)?,
        })
    }

    pub(crate) fn write(out: &mut Output, weights: &[f32]) {
        for w in weights {
            out.f32(*w);
        }
    }
}

/// Where the marks begin that stand before a word rather than after one, from `from` on.
fn opening_marks(text: &str, sentence: &[Piece<'_>], from: usize) -> usize {
    let mut at = sentence.len();
    while at > from {
        let start = sentence[at - 1].span.start;
        let free = text[..start].chars().next_back().is_none_or(char::is_whitespace);
        let glued = at < sentence.len() && sentence[at - 1].span.end == sentence[at].span.start;
        if !free && !glued && at < sentence.len() {
            break;
        }
        if !free && at == sentence.len() {
            // Right behind the word before: a closing mark.
            break;
        }
        at -= 1;
    }
    at
}

fn gap(text: &str, from: usize, to: usize) -> Gap {
    let between = text.get(from..to).unwrap_or_default();
    match between.bytes().filter(|&b| b == b'\n').count() {
        0 if between.is_empty() => Gap::None,
        0 => Gap::Space,
        1 => Gap::Line,
        _ => Gap::Paragraph,
    }
}

/// Whether a line that begins with this piece is an item of its own: a list item, heading, quote or row.
fn item(text: &str, piece: &Piece<'_>) -> bool {
    let rest = text.get(piece.span.end..).unwrap_or_default();
    let mut next = rest.chars();
    match piece.form {
        "-" | "*" | "+" | "•" | "–" | "·" | "▪" => next.next() == Some(' '),
        form if piece.markup => matches!(form.as_bytes().first(), Some(b'#' | b'|' | b'`' | b'~' | b'-' | b'=')),
        form => {
            form.len() <= 3
                && form.bytes().all(|b| b.is_ascii_digit())
                && matches!(next.next(), Some('.' | ')'))
                && next.next() == Some(' ')
        }
    }
}
