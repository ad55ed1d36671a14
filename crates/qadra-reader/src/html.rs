//! HTML: what a reader of the page would read. Works on the stream of tags, without a tree, so that memory does not
//! depend on nesting and a page of any size is read in one pass.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

use crate::builder::{Builder, Source};
use crate::sniff::Format;
use crate::{BlockKind, ReadError, Text, clean, encoding};

const PIECE: usize = 256 * 1024;
/// A cell longer than this is laid out with a table, not told by it.
const LONG_CELL: usize = 1000;

pub(crate) fn read(source: &mut Source<'_>) -> Result<Text, ReadError> {
    let labels = [
        encoding::charset(source.declared),
        meta_charset(source.bytes),
    ];
    let decoded = encoding::decode(source.bytes, &labels);
    source.warnings.extend(decoded.warning);
    let html = decoded.text.as_ref();
    let mut page = pass(html, Page::new(Builder::new(source.limits), true), |done| {
        source.bytes_done(done);
    })?;
    if page.hiding.is_some() {
        source
            .warnings
            .push("a part that is left out is never closed; nothing was left out".to_owned());
        page = pass(html, Page::new(Builder::new(source.limits), false), |_| {})?;
    }
    let title = Some(clean::flat(&page.title)).filter(|t| !t.is_empty());
    let warnings = std::mem::take(&mut source.warnings);
    let mut text = page.builder.finish(Format::Html.content_type(), warnings);
    text.title = title;
    text.encoding = Some(decoded.encoding);
    Ok(text)
}

/// Reads a piece of HTML inside another format into its blocks.
pub(crate) fn fragment(html: &str, builder: &mut Builder) -> Result<(), ReadError> {
    let page = Page::new(std::mem::take(builder), false);
    *builder = pass(html, page, |_| {})?.builder;
    Ok(())
}

fn pass(html: &str, page: Page, mut told: impl FnMut(usize)) -> Result<Page, ReadError> {
    let options = TokenizerOpts::default();
    let tokenizer = Tokenizer::new(Sink(RefCell::new(page)), options);
    let input = BufferQueue::default();
    let mut done = 0;
    while done < html.len() {
        let end = html.floor_char_boundary((done + PIECE).min(html.len()));
        input.push_back(StrTendril::from(html.get(done..end).unwrap_or_default()));
        let _ = tokenizer.feed(&input);
        done = end;
        told(done);
        if let Some(e) = tokenizer.sink.0.borrow_mut().failed.take() {
            return Err(e);
        }
    }
    tokenizer.end();
    let mut page = tokenizer.sink.0.into_inner();
    while !page.tables.is_empty() {
        page.close("table");
    }
    page.flush();
    match page.failed.take() {
        Some(e) => Err(e),
        None => Ok(page),
    }
}

/// The encoding that the page itself names, near its start.
fn meta_charset(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(bytes.get(..4096).unwrap_or(bytes)).to_ascii_lowercase();
    let at = head
        .find("charset=")
        .map(|at| at + 8)
        .or(head.find("encoding=").map(|at| at + 9))?;
    let rest = head.get(at..)?.trim_start_matches(['"', '\'']);
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"-_:.".contains(c))?;
    rest.get(..end).map(str::to_owned)
}

struct Sink(RefCell<Page>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut page = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => page.text(&text),
            Token::TagToken(tag) => return page.tag(&tag),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// What a tag does to the flow of text.
enum Role {
    Inline,
    Block,
    /// Left out with all that is in it.
    Hidden,
    /// Left out, and its content is not HTML.
    Raw(RawKind),
}

#[derive(Default)]
struct Table {
    row: Vec<String>,
    in_cell: bool,
    /// Found to be a way to place text: its cells are paragraphs.
    layout: bool,
}

struct Page {
    builder: Builder,
    failed: Option<ReadError>,
    buffer: String,
    title: String,
    in_title: bool,
    kind: BlockKind,
    mark: Option<String>,
    lists: Vec<Option<u64>>,
    tables: Vec<Table>,
    pre: usize,
    breaks: u8,
    /// At the beginning of raised text.
    raised: bool,
    /// Whether elements that are not for reading are left out.
    hide: bool,
    /// The element that is left out now, and how many of its name are open.
    hiding: Option<(String, usize)>,
    /// Inside an element whose content is not HTML.
    raw: bool,
}

impl Page {
    fn new(builder: Builder, hide: bool) -> Self {
        Page {
            builder,
            failed: None,
            buffer: String::new(),
            title: String::new(),
            in_title: false,
            kind: BlockKind::Paragraph,
            mark: None,
            lists: Vec::new(),
            tables: Vec::new(),
            pre: 0,
            breaks: 0,
            raised: false,
            hide,
            hiding: None,
            raw: false,
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_title {
            self.title.push_str(text);
        } else if !self.raw && self.hiding.is_none() {
            if std::mem::take(&mut self.raised) && clean::is_power(&self.buffer, text) {
                self.buffer.push('^');
            }
            self.buffer.push_str(text);
            if self.breaks > 0 && !text.trim().is_empty() {
                self.breaks = 0;
            }
        }
    }

    fn tag(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        let starts = tag.kind == TagKind::StartTag;
        if self.raw {
            // Only the end of the raw element gets here.
            self.raw = false;
            return TokenSinkResult::Continue;
        }
        if self.in_title {
            self.in_title = false;
            return TokenSinkResult::Continue;
        }
        let role = role(name);
        if starts && let Role::Raw(kind) = role {
            self.raw = true;
            return TokenSinkResult::RawData(kind);
        }
        if starts && name == "title" && self.title.is_empty() && self.hiding.is_none() {
            self.in_title = true;
            return TokenSinkResult::RawData(RawKind::Rcdata);
        }
        if let Some((hidden, open)) = &mut self.hiding {
            if hidden == name && !tag.self_closing {
                *open = if starts { *open + 1 } else { *open - 1 };
                if *open == 0 {
                    self.hiding = None;
                }
            }
            return TokenSinkResult::Continue;
        }
        if starts && self.hide && !tag.self_closing && !is_void(name) {
            let marked = tag.attrs.iter().any(|a| {
                let value = a.value.trim();
                match &*a.name.local {
                    "hidden" => !value.eq_ignore_ascii_case("until-found"),
                    "aria-hidden" => value.eq_ignore_ascii_case("true"),
                    "role" => value.eq_ignore_ascii_case("navigation"),
                    _ => false,
                }
            });
            if marked || matches!(role, Role::Hidden) {
                if !matches!(role, Role::Inline) {
                    self.flush();
                }
                self.hiding = Some((name.to_owned(), 1));
                return TokenSinkResult::Continue;
            }
        }
        match role {
            Role::Inline if name == "br" => self.line_break(),
            Role::Inline if name == "sup" => self.raised = starts,
            Role::Inline if name == "q" => self.buffer.push('"'),
            Role::Inline => {}
            _ if starts => self.open(name),
            _ => self.close(name),
        }
        TokenSinkResult::Continue
    }

    fn line_break(&mut self) {
        self.buffer.push('\n');
        self.breaks = self.breaks.saturating_add(1);
        if self.breaks > 1 && self.pre == 0 {
            self.flush();
        }
    }

    fn open(&mut self, name: &str) {
        match name {
            "td" | "th" => {
                self.end_cell();
                if let Some(table) = self.tables.last_mut() {
                    self.buffer.clear();
                    table.in_cell = true;
                }
            }
            "tr" => self.end_row(),
            "table" => {
                self.lay_out();
                self.flush();
                self.tables.push(Table::default());
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.lay_out();
                self.flush();
                let level = name.as_bytes().get(1).map_or(1, |b| b - b'0');
                self.kind = BlockKind::Heading(level);
            }
            "ul" | "ol" | "menu" => {
                self.flush();
                self.lists.push((name == "ol").then_some(1));
            }
            "li" => {
                self.flush();
                self.mark = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "- ".to_owned(),
                });
            }
            "pre" | "listing" | "xmp" => {
                self.flush();
                self.pre += 1;
            }
            _ => self.flush(),
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "td" | "th" => self.end_cell(),
            "tr" => self.end_row(),
            "table" => {
                self.end_row();
                self.flush();
                self.tables.pop();
            }
            "ul" | "ol" | "menu" => {
                self.flush();
                self.lists.pop();
                self.mark = None;
            }
            "li" => {
                self.flush();
                self.mark = None;
            }
            "pre" | "listing" | "xmp" => {
                self.flush();
                self.pre = self.pre.saturating_sub(1);
            }
            _ => self.flush(),
        }
    }

    /// Ends the block that is being read; within a cell of a table of data only a word.
    fn flush(&mut self) {
        self.breaks = 0;
        if let Some(table) = self.tables.last()
            && table.in_cell
            && !table.layout
        {
            if !self.buffer.is_empty() && !self.buffer.ends_with(' ') {
                self.buffer.push(' ');
            }
            return;
        }
        let kind = std::mem::replace(&mut self.kind, BlockKind::Paragraph);
        let kind = if self.pre > 0 { BlockKind::Code } else { kind };
        if self.buffer.trim().is_empty() {
            self.buffer.clear();
            // An empty heading stays open: its text may be in an element inside it.
            if let BlockKind::Heading(_) = kind {
                self.kind = kind;
            }
            return;
        }
        let text = std::mem::take(&mut self.buffer);
        let pushed = match self.mark.take() {
            Some(mark) if kind == BlockKind::Paragraph => {
                self.builder
                    .push(BlockKind::ListItem, &(mark + &text), None)
            }
            _ => self.builder.push(kind, &text, None),
        };
        self.keep(pushed);
    }

    fn end_cell(&mut self) {
        let Some(table) = self.tables.last_mut() else {
            return self.flush();
        };
        if !table.in_cell {
            self.buffer.clear();
            return;
        }
        if table.layout || self.buffer.len() > LONG_CELL {
            self.lay_out();
            self.flush();
        } else {
            table.row.push(std::mem::take(&mut self.buffer));
        }
        if let Some(table) = self.tables.last_mut() {
            table.in_cell = false;
        }
    }

    fn end_row(&mut self) {
        self.end_cell();
        let Some(table) = self.tables.last_mut() else {
            return;
        };
        let row = std::mem::take(&mut table.row);
        let pushed = match row.as_slice() {
            [only] => self.builder.push(BlockKind::Paragraph, only, None),
            cells => self.builder.push_row(cells, None),
        };
        self.keep(pushed);
    }

    /// The table around is no table of data; what its row holds so far becomes paragraphs.
    fn lay_out(&mut self) {
        let Some(table) = self.tables.last_mut() else {
            return;
        };
        if !table.in_cell || table.layout {
            return;
        }
        table.layout = true;
        for cell in std::mem::take(&mut table.row) {
            let pushed = self.builder.push(BlockKind::Paragraph, &cell, None);
            self.keep(pushed);
        }
    }

    fn keep(&mut self, pushed: Result<(), ReadError>) {
        if let Err(e) = pushed {
            self.failed.get_or_insert(e);
        }
    }
}

fn role(name: &str) -> Role {
    match name {
        "script" => Role::Raw(RawKind::ScriptData),
        "style" | "iframe" | "noembed" | "noframes" => Role::Raw(RawKind::Rawtext),
        "textarea" => Role::Raw(RawKind::Rcdata),
        "nav" | "template" | "svg" | "select" | "button" | "noscript" | "object" | "canvas"
        | "audio" | "video" | "datalist" | "dialog" => Role::Hidden,
        "address" | "article" | "aside" | "blockquote" | "body" | "caption" | "center" | "dd"
        | "details" | "dir" | "div" | "dl" | "dt" | "fieldset" | "figcaption" | "figure"
        | "footer" | "form" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "head" | "header"
        | "hgroup" | "hr" | "html" | "legend" | "li" | "listing" | "main" | "menu" | "ol"
        | "optgroup" | "option" | "p" | "pre" | "section" | "summary" | "table" | "tbody"
        | "td" | "tfoot" | "th" | "thead" | "title" | "tr" | "ul" | "xmp" => Role::Block,
        _ => Role::Inline,
    }
}

fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
            | "html"
            | "body"
    )
}
