use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A document as text. `content` is NFC, its lines end in `\n`, it has no control characters; blocks are parted by a
/// blank line, except that list items and table rows follow each other line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    pub content: String,
    /// In order, without overlap; together they cover all of `content` but the white space between them.
    pub blocks: Vec<Block>,
    pub title: Option<String>,
    /// Of a format that has pages.
    pub pages: Option<u32>,
    /// Name of the character encoding, of a format that leaves it open.
    pub encoding: Option<String>,
    /// Of the bytes, whatever was declared.
    pub content_type: String,
    /// Sentences for people: what was odd, and what was left out.
    pub warnings: Vec<String>,
}

impl Text {
    /// Length of `content` in code points, the unit of every span.
    pub fn char_count(&self) -> usize {
        self.content.chars().count()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    pub kind: BlockKind,
    pub span: Span,
    /// Counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// Level 1 to 6.
    Heading(u8),
    Paragraph,
    /// Its text begins with its mark: `- ` or a number and `. `.
    ListItem,
    /// Its text is `| cell | cell |`.
    TableRow,
    /// Keeps its line breaks and its indentation.
    Code,
}

/// From, to, in code points of `content`; on the wire `[from, to]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "(usize, usize)", into = "(usize, usize)")]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

impl From<(usize, usize)> for Span {
    fn from((start, end): (usize, usize)) -> Self {
        Span { start, end }
    }
}

impl From<Span> for (usize, usize) {
    fn from(span: Span) -> Self {
        (span.start, span.end)
    }
}

/// How far the reading is. `total` may be an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub done: u64,
    pub total: u64,
    pub unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Bytes,
    Pages,
}
