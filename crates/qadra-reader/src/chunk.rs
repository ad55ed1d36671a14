//! Text in pieces of about a page's paragraph each, cut where the text itself pauses.

use serde::{Deserialize, Serialize};

use crate::{BlockKind, Span, Text};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkOptions {
    /// Code points that a chunk should have.
    pub target: usize,
    /// Code points that a chunk never exceeds.
    pub max: usize,
}

impl Default for ChunkOptions {
    fn default() -> Self {
        ChunkOptions {
            target: 1200,
            max: 2000,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// Counted from 0.
    pub position: usize,
    pub span: Span,
    /// The text at `span`.
    pub text: String,
    /// The heading that the chunk is under, its own if it begins with one.
    pub heading: Option<String>,
}

/// Cuts a text into chunks. They do not overlap, and together hold every character that is not white space. A chunk
/// begins at a heading where it can, else at a paragraph, a sentence, a word; a run without white space that is longer
/// than `max` is the one thing that is cut inside.
pub fn chunk(text: &Text, options: &ChunkOptions) -> Vec<Chunk> {
    let max = options.max.max(1);
    let target = options.target.clamp(1, max);
    let mut packer = Packer {
        content: &text.content,
        target,
        max,
        heading: None,
        open: None,
        chunks: Vec::new(),
    };
    let mut at = Place::default();
    for block in &text.blocks {
        let start = at.forward(&text.content, block.span.start);
        let end = start.forward(&text.content, block.span.end);
        at = end;
        let Some(words) = text.content.get(start.byte..end.byte) else {
            continue;
        };
        if let BlockKind::Heading(_) = block.kind {
            packer.heading(words);
        }
        packer.block(start, words);
    }
    packer.close();
    packer.chunks
}

/// A place in the content, counted both ways.
#[derive(Clone, Copy, Default)]
struct Place {
    char: usize,
    byte: usize,
}

impl Place {
    fn forward(self, content: &str, char: usize) -> Place {
        let rest = content.get(self.byte..).unwrap_or_default();
        let steps = char.saturating_sub(self.char);
        match rest.char_indices().nth(steps) {
            Some((bytes, _)) => Place {
                char: self.char + steps,
                byte: self.byte + bytes,
            },
            None => Place {
                char: self.char + rest.chars().count(),
                byte: content.len(),
            },
        }
    }

    fn after(self, text: &str) -> Place {
        Place {
            char: self.char + text.chars().count(),
            byte: self.byte + text.len(),
        }
    }
}

struct Open {
    start: Place,
    end: Place,
    heading: Option<String>,
    /// Nothing but headings so far.
    bare: bool,
}

struct Packer<'a> {
    content: &'a str,
    target: usize,
    max: usize,
    heading: Option<String>,
    open: Option<Open>,
    chunks: Vec<Chunk>,
}

impl Packer<'_> {
    /// A heading ends the chunk before it, and stays with what follows.
    fn heading(&mut self, words: &str) {
        if self.open.as_ref().is_some_and(|open| !open.bare) {
            self.close();
        }
        self.heading = Some(words.to_owned());
        if let Some(open) = &mut self.open {
            open.heading = self.heading.clone();
        }
    }

    fn block(&mut self, start: Place, words: &str) {
        let is_heading = self.heading.as_deref() == Some(words);
        let mut at = start;
        let mut rest = words;
        while !rest.is_empty() {
            let room = self.target.max(1);
            let piece = if rest.chars().nth(self.max).is_none() && at.byte == start.byte {
                rest
            } else {
                cut(rest, room, self.max)
            };
            let end = at.after(piece);
            self.piece(at, end, is_heading);
            rest = rest.get(piece.len()..).unwrap_or_default();
            let words = rest.trim_start();
            let white = rest.get(..rest.len() - words.len()).unwrap_or_default();
            at = end.after(white);
            rest = words;
        }
    }

    fn piece(&mut self, start: Place, end: Place, is_heading: bool) {
        let fits = self.open.as_ref().is_none_or(|open| {
            let whole = end.char - open.start.char;
            let so_far = open.end.char - open.start.char;
            whole <= self.target || whole <= self.max && (open.bare || so_far < self.target / 3)
        });
        if !fits {
            self.close();
        }
        match &mut self.open {
            Some(open) => {
                open.end = end;
                open.bare &= is_heading;
            }
            None => {
                self.open = Some(Open {
                    start,
                    end,
                    heading: self.heading.clone(),
                    bare: is_heading,
                });
            }
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        let text = self.content.get(open.start.byte..open.end.byte);
        self.chunks.push(Chunk {
            position: self.chunks.len(),
            span: Span {
                start: open.start.char,
                end: open.end.char,
            },
            text: text.unwrap_or_default().to_owned(),
            heading: open.heading,
        });
    }
}

/// The beginning of `text` with at most `room` code points, or a little more, never more than `max`: up to the last
/// end of a sentence, else the last gap between words, else as much as may be.
fn cut(text: &str, room: usize, max: usize) -> &str {
    let (mut sentence, mut word, mut whole) = (None, None, text.len());
    let mut before = ' ';
    for (count, (at, c)) in text.char_indices().enumerate() {
        let late = count > room && sentence.is_some();
        if count >= max || late || count > room && word.is_some() && sentence.is_none() {
            whole = at;
            break;
        }
        let ended = matches!(before, '.' | '!' | '?' | '…' | '"' | '”' | ')' | ':' | ';');
        if c.is_whitespace() && at > 0 {
            word = Some(at);
            if ended || c == '\n' {
                sentence = Some(at);
            }
        } else if matches!(before, '。' | '！' | '？') {
            sentence = Some(at);
        }
        before = c;
    }
    if whole == text.len() {
        return text;
    }
    let end = sentence.or(word).unwrap_or(whole);
    text.get(..end).unwrap_or(text)
}
