//! Markdown: its blocks, without its marks. Front matter gives the title and is not text.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::builder::{Builder, Source};
use crate::sniff::Format;
use crate::{BlockKind, ReadError, Text, clean, encoding, html};

pub(crate) fn read(source: &mut Source<'_>) -> Result<Text, ReadError> {
    let decoded = encoding::decode(source.bytes, &[encoding::charset(source.declared)]);
    source.warnings.extend(decoded.warning);
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let mut reader = Reader {
        builder: Builder::new(source.limits),
        buffer: String::new(),
        mark: None,
        lists: Vec::new(),
        row: Vec::new(),
        title: None,
        first_heading: None,
    };
    let mut told = 0;
    for (event, range) in Parser::new_ext(&decoded.text, options).into_offset_iter() {
        reader.event(event)?;
        if range.end > told + (1 << 20) {
            told = range.end;
            source.bytes_done(told);
        }
    }
    reader.flush(BlockKind::Paragraph)?;
    let title = reader.title.or(reader.first_heading);
    let warnings = std::mem::take(&mut source.warnings);
    let mut text = reader
        .builder
        .finish(Format::Markdown.content_type(), warnings);
    text.title = title;
    text.encoding = Some(decoded.encoding);
    Ok(text)
}

struct Reader {
    builder: Builder,
    buffer: String,
    /// The mark of a list item whose first words are still to come.
    mark: Option<String>,
    lists: Vec<Option<u64>>,
    row: Vec<String>,
    title: Option<String>,
    first_heading: Option<String>,
}

impl Reader {
    fn event(&mut self, event: Event<'_>) -> Result<(), ReadError> {
        match event {
            Event::Start(tag) => self.start(tag)?,
            Event::End(tag) => self.end(tag)?,
            Event::Text(t) | Event::Code(t) | Event::InlineMath(t) | Event::DisplayMath(t) => {
                self.buffer.push_str(&t);
            }
            Event::Html(t) => self.buffer.push_str(&t),
            Event::InlineHtml(t) if t.starts_with("<br") => self.buffer.push(' '),
            Event::SoftBreak | Event::HardBreak => self.buffer.push('\n'),
            Event::Rule => self.flush(BlockKind::Paragraph)?,
            Event::InlineHtml(_) | Event::FootnoteReference(_) | Event::TaskListMarker(_) => {}
        }
        Ok(())
    }

    fn start(&mut self, tag: Tag<'_>) -> Result<(), ReadError> {
        match tag {
            Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. }
            | Tag::TableCell => {}
            Tag::List(first) => {
                self.flush(BlockKind::Paragraph)?;
                self.lists.push(first);
            }
            Tag::Item => {
                self.flush(BlockKind::Paragraph)?;
                self.mark = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number = number.saturating_add(1);
                        format!("{}. ", number.saturating_sub(1))
                    }
                    _ => "- ".to_owned(),
                });
            }
            _ => self.flush(BlockKind::Paragraph)?,
        }
        Ok(())
    }

    fn end(&mut self, tag: TagEnd) -> Result<(), ReadError> {
        match tag {
            TagEnd::Heading(level) => {
                if level == HeadingLevel::H1 && self.first_heading.is_none() {
                    self.first_heading = Some(clean::flat(&self.buffer)).filter(|t| !t.is_empty());
                }
                self.flush(BlockKind::Heading(level as u8))
            }
            TagEnd::CodeBlock => self.flush(BlockKind::Code),
            TagEnd::HtmlBlock => {
                let block = std::mem::take(&mut self.buffer);
                self.mark = None;
                html::fragment(&block, &mut self.builder)
            }
            TagEnd::MetadataBlock(_) => {
                let block = std::mem::take(&mut self.buffer);
                self.title = front_matter_title(&block);
                Ok(())
            }
            TagEnd::List(_) => {
                self.flush(BlockKind::Paragraph)?;
                self.lists.pop();
                Ok(())
            }
            TagEnd::TableCell => {
                self.row.push(std::mem::take(&mut self.buffer));
                Ok(())
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                let row = std::mem::take(&mut self.row);
                self.builder.push_row(&row, None)
            }
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link
            | TagEnd::Image => Ok(()),
            _ => self.flush(BlockKind::Paragraph),
        }
    }

    fn flush(&mut self, kind: BlockKind) -> Result<(), ReadError> {
        let text = std::mem::take(&mut self.buffer);
        if text.trim().is_empty() {
            return Ok(());
        }
        match self.mark.take() {
            Some(mark) if kind == BlockKind::Paragraph => {
                self.builder
                    .push(BlockKind::ListItem, &(mark + &text), None)
            }
            _ => self.builder.push(kind, &text, None),
        }
    }
}

/// `title: …` of YAML or `title = …` of TOML.
fn front_matter_title(block: &str) -> Option<String> {
    block.lines().find_map(|line| {
        let rest = line.strip_prefix("title")?.trim_start();
        let value = rest.strip_prefix([':', '='])?.trim();
        let value = value.trim_matches(|c| c == '"' || c == '\'');
        Some(clean::flat(value)).filter(|t| !t.is_empty())
    })
}
