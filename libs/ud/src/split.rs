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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    let at = |j: Option<usize>| {
        j.and_then(|j| looks.get(j))
            .copied()
            .unwrap_or(Look::NOTHING)
    };
    let (a, b) = (at(i.checked_sub(1)), at(Some(i)));
    let (c, d) = (at(Some(i + 1)), at(Some(i + 2)));
    let z = at(i.checked_sub(2));
    let gap = gap as u32;
    let length = since.min(40).checked_ilog2().unwrap_or(0);
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

pub(crate) fn score(weights: &[f32], features: &[usize]) -> f32 {
    features.iter().map(|&f| weights[f]).sum()
}

impl Splitter {
    pub(crate) fn sentences<'a>(
        &self,
        text: &'a str,
        pieces: Vec<Piece<'a>>,
    ) -> Vec<Vec<Piece<'a>>> {
        let mut starts = layout(text, &pieces);
        self.predict(text, &pieces, &mut starts);
        let mut sentences: Vec<Vec<Piece<'a>>> = Vec::new();
        for (piece, start) in pieces.into_iter().zip(starts) {
            match sentences.last_mut() {
                Some(sentence) if !start => sentence.push(piece),
                _ => sentences.push(vec![piece]),
            }
        }
        sentences
    }

    /// Adds the starts that the model sees between words that layout has not parted. It looks past markup, as
    /// the parser does.
    fn predict(&self, text: &str, pieces: &[Piece<'_>], starts: &mut [bool]) {
        let words: Vec<usize> = (0..pieces.len()).filter(|&i| !pieces[i].markup).collect();
        let looks: Vec<Look> = words.iter().map(|&i| Look::of(pieces[i].form)).collect();
        let mut since = 0;
        for (rank, pair) in words.windows(2).enumerate() {
            let (a, b) = (pair[0], pair[1]);
            since += 1;
            if starts[a + 1..=b].contains(&true) {
                since = 0;
                continue;
            }
            if pieces[a].part_of.is_some() && pieces[a].part_of == pieces[b].part_of {
                continue;
            }
            let gap = (a..b)
                .map(|i| gap(text, pieces[i].span.end, pieces[i + 1].span.start))
                .max()
                .unwrap_or(Gap::None);
            let score = score(&self.weights, &features(&looks, rank, gap, since));
            let needed = if gap == Gap::None { 1.0 } else { 0.0 };
            if score > needed || since >= LONGEST_TREE {
                starts[opening(text, pieces, a, b)] = true;
                since = 0;
            }
        }
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

/// Which pieces start a sentence because of where they stand on the page.
fn layout(text: &str, pieces: &[Piece<'_>]) -> Vec<bool> {
    let mut starts = Vec::with_capacity(pieces.len());
    let mut closed_line = false;
    for (i, piece) in pieces.iter().enumerate() {
        let gap = match i {
            0 => Gap::Paragraph,
            _ => gap(text, pieces[i - 1].span.end, piece.span.start),
        };
        let new_line = gap >= Gap::Line;
        starts.push(gap == Gap::Paragraph || new_line && (closed_line || item(text, piece)));
        if new_line {
            let first = piece.form.as_bytes().first();
            closed_line = piece.markup && matches!(first, Some(b'#' | b'|' | b'`' | b'~'));
        }
    }
    starts
}

/// Where a sentence starts that has `b` as its first word and follows the word `a`: marks that touch `a` belong
/// to `a`, the others to `b`.
fn opening(text: &str, pieces: &[Piece<'_>], a: usize, b: usize) -> usize {
    (a + 1..b)
        .find(|&i| gap(text, pieces[i - 1].span.end, pieces[i].span.start) != Gap::None)
        .unwrap_or(b)
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
        form if piece.markup => matches!(
            form.as_bytes().first(),
            Some(b'#' | b'|' | b'`' | b'~' | b'-' | b'=')
        ),
        form => {
            form.len() <= 3
                && form.bytes().all(|b| b.is_ascii_digit())
                && matches!(next.next(), Some('.' | ')'))
                && next.next() == Some(' ')
        }
    }
}
