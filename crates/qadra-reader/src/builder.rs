use crate::{Block, BlockKind, Limits, Progress, ReadError, Span, Text, Unit, clean};

/// What a format's reader gets.
pub(crate) struct Source<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) declared: Option<&'a str>,
    pub(crate) limits: &'a Limits,
    pub(crate) progress: &'a mut dyn FnMut(Progress),
    pub(crate) warnings: Vec<String>,
}

impl Source<'_> {
    pub(crate) fn bytes_done(&mut self, done: usize) {
        self.done(done as u64, self.bytes.len() as u64);
    }

    pub(crate) fn done(&mut self, done: u64, total: u64) {
        (self.progress)(Progress {
            done,
            total,
            unit: Unit::Bytes,
        });
    }
}

/// Collects blocks; the one place where spans are counted.
#[derive(Default)]
pub(crate) struct Builder {
    content: String,
    chars: usize,
    blocks: Vec<Block>,
    max_chars: u64,
}

impl Builder {
    pub(crate) fn new(limits: &Limits) -> Self {
        Builder {
            content: String::new(),
            chars: 0,
            blocks: Vec::new(),
            max_chars: limits.max_chars,
        }
    }

    /// Adds a block unless nothing of `raw` is visible.
    pub(crate) fn push(
        &mut self,
        kind: BlockKind,
        raw: &str,
        page: Option<u32>,
    ) -> Result<(), ReadError> {
        let text = match kind {
            BlockKind::Code => clean::lines(raw),
            _ => clean::flat(raw),
        };
        self.push_clean(kind, &text, page)
    }

    /// Adds a paragraph that keeps its line breaks.
    pub(crate) fn push_lines(&mut self, raw: &str) -> Result<(), ReadError> {
        self.push_clean(BlockKind::Paragraph, clean::lines(raw).trim_start(), None)
    }

    /// Adds `| cell | cell |` unless every cell is empty.
    pub(crate) fn push_row<S: AsRef<str>>(
        &mut self,
        cells: &[S],
        page: Option<u32>,
    ) -> Result<(), ReadError> {
        let cells: Vec<String> = cells.iter().map(|c| clean::flat(c.as_ref())).collect();
        if cells.iter().all(String::is_empty) {
            return Ok(());
        }
        let row = format!("| {} |", cells.join(" | "));
        self.push(BlockKind::TableRow, &row, page)
    }

    fn push_clean(
        &mut self,
        kind: BlockKind,
        text: &str,
        page: Option<u32>,
    ) -> Result<(), ReadError> {
        if text.is_empty() {
            return Ok(());
        }
        let before = match self.blocks.last() {
            None => "",
            Some(last)
                if last.kind == kind
                    && matches!(kind, BlockKind::ListItem | BlockKind::TableRow) =>
            {
                "\n"
            }
            Some(_) => "\n\n",
        };
        let start = self.chars + before.len();
        let end = start + text.chars().count();
        if end as u64 > self.max_chars {
            return Err(ReadError::too_large(
                "characters of text",
                end as u64,
                self.max_chars,
            ));
        }
        self.content.push_str(before);
        self.content.push_str(text);
        self.chars = end;
        self.blocks.push(Block {
            kind,
            span: Span { start, end },
            page,
        });
        Ok(())
    }

    pub(crate) fn finish(self, content_type: &str, warnings: Vec<String>) -> Text {
        Text {
            content: self.content,
            blocks: self.blocks,
            content_type: content_type.to_owned(),
            warnings,
            ..Text::default()
        }
    }
}
