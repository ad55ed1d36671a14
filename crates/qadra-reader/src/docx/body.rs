use super::styles::{Lists, Role, Styles, outline_level};
use super::xml::{Tag, Token, Xml};
use crate::builder::Builder;
use crate::{BlockKind, ReadError, clean};

const STEP: u64 = 1 << 20;

/// Reads the parts that hold paragraphs.
pub(super) struct Body<'a> {
    pub(super) builder: Builder,
    pub(super) title: Option<String>,
    styles: &'a Styles,
    lists: Lists,
    /// Open elements, outermost first; those that decide nothing are empty names.
    path: Vec<&'static str>,
    /// Open paragraphs: a text box holds paragraphs inside a run of another.
    paragraphs: Vec<Paragraph>,
    tables: Vec<Table>,
    /// Depth of an element that is left out with all that is in it.
    skipping: usize,
    hidden_run: bool,
    raised_run: bool,
}

#[derive(Default)]
struct Paragraph {
    text: String,
    style: Option<String>,
    level: Option<u8>,
    list: Option<String>,
    list_level: usize,
}

#[derive(Default)]
struct Table {
    row: Vec<Vec<(BlockKind, String)>>,
}

impl<'a> Body<'a> {
    pub(super) fn new(builder: Builder, styles: &'a Styles, lists: Lists) -> Self {
        Body {
            builder,
            title: None,
            styles,
            lists,
            path: Vec::new(),
            paragraphs: Vec::new(),
            tables: Vec::new(),
            skipping: 0,
            hidden_run: false,
            raised_run: false,
        }
    }

    /// `told` gets the bytes of the part that are done, and all of them.
    pub(super) fn read(
        &mut self,
        xml: &mut Xml<'_>,
        told: &mut dyn FnMut(u64, u64),
    ) -> Result<(), ReadError> {
        let mut next = STEP;
        loop {
            match xml.next()? {
                Token::Start { tag, empty } => {
                    if self.skipping > 0 {
                        self.skipping += usize::from(!empty);
                        continue;
                    }
                    if is_left_out(&tag) {
                        self.skipping = usize::from(!empty);
                        continue;
                    }
                    self.start(&tag);
                    if empty {
                        self.end(&tag.name)?;
                    } else {
                        self.path.push(known(&tag.name));
                    }
                }
                Token::End(name) => {
                    if self.skipping > 0 {
                        self.skipping -= 1;
                    } else {
                        self.path.pop();
                        self.end(&name)?;
                    }
                }
                Token::Text(text) => self.text(&text),
                Token::Done => return Ok(()),
            }
            if xml.position() >= next {
                next = xml.position() + STEP;
                told(xml.position(), xml.size);
            }
        }
    }

    fn start(&mut self, tag: &Tag) {
        let parent = self.path.last().copied().unwrap_or_default();
        let value = || tag.get("val").map(str::to_owned);
        match tag.name.as_str() {
            "p" => {
                self.paragraphs.push(Paragraph::default());
                return;
            }
            "tbl" => self.tables.push(Table::default()),
            "tc" => {
                if let Some(table) = self.tables.last_mut() {
                    table.row.push(Vec::new());
                }
            }
            "r" => (self.hidden_run, self.raised_run) = (false, false),
            "vertAlign" => self.raised_run = tag.get("val") == Some("superscript"),
            "vanish" if self.path.ends_with(&["r", "rPr"]) => self.hidden_run = tag.is_on(),
            _ => {}
        }
        let Some(paragraph) = self.paragraphs.last_mut() else {
            return;
        };
        match tag.name.as_str() {
            "pStyle" if parent == "pPr" => paragraph.style = value(),
            "outlineLvl" if parent == "pPr" => paragraph.level = outline_level(tag.get("val")),
            "numId" => paragraph.list = value(),
            "ilvl" => {
                paragraph.list_level = tag.get("val").and_then(|v| v.parse().ok()).unwrap_or(0);
            }
            "tab" | "br" | "cr" | "ptab" if parent == "r" => paragraph.text.push(' '),
            "noBreakHyphen" if parent == "r" => paragraph.text.push('-'),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let shown = self.path.last() == Some(&"t") && self.skipping == 0 && !self.hidden_run;
        if let Some(paragraph) = self.paragraphs.last_mut().filter(|_| shown) {
            if std::mem::take(&mut self.raised_run) && clean::is_power(&paragraph.text, text) {
                paragraph.text.push('^');
            }
            paragraph.text.push_str(text);
        }
    }

    fn end(&mut self, name: &str) -> Result<(), ReadError> {
        match name {
            "p" => match self.paragraphs.pop() {
                Some(paragraph) => self.paragraph(paragraph),
                None => Ok(()),
            },
            "tr" => self.end_row(),
            "tbl" => {
                self.end_row()?;
                self.tables.pop();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn paragraph(&mut self, paragraph: Paragraph) -> Result<(), ReadError> {
        if paragraph.text.trim().is_empty() {
            return Ok(());
        }
        let style = paragraph.style.as_deref().unwrap_or_default();
        let role = match (self.styles.role(style), paragraph.level) {
            (Role::Body, Some(level)) => Role::Heading(level),
            (role, _) => role,
        };
        let mut text = paragraph.text;
        let kind = match role {
            Role::Contents => return Ok(()),
            Role::Title => {
                self.title.get_or_insert_with(|| clean::flat(&text));
                BlockKind::Heading(1)
            }
            Role::Heading(level) => {
                if level == 1 {
                    self.title.get_or_insert_with(|| clean::flat(&text));
                }
                BlockKind::Heading(level)
            }
            Role::Body => {
                let own = paragraph.list.map(|list| (list, paragraph.list_level));
                match own.or_else(|| self.styles.list(style)) {
                    // The number 0 takes a paragraph out of the list of its style.
                    Some((list, level)) if list != "0" => {
                        text.insert_str(0, &self.lists.mark(&list, level));
                        BlockKind::ListItem
                    }
                    _ => BlockKind::Paragraph,
                }
            }
        };
        match self.tables.last_mut().and_then(|t| t.row.last_mut()) {
            Some(cell) => cell.push((kind, text)),
            None => self.builder.push(kind, &text, None)?,
        }
        Ok(())
    }

    /// A row with one cell places text and is no data; a row inside a cell is told within it.
    fn end_row(&mut self) -> Result<(), ReadError> {
        let Some(table) = self.tables.last_mut() else {
            return Ok(());
        };
        let row = std::mem::take(&mut table.row);
        let nested = self.tables.len() > 1;
        let outer = self.tables.iter_mut().rev().nth(1);
        let outer = outer.and_then(|t| t.row.last_mut());
        match (outer, row.as_slice()) {
            (Some(cell), _) if nested => {
                cell.extend(row.into_iter().flatten());
                Ok(())
            }
            (_, [only]) => {
                for (kind, text) in only {
                    self.builder.push(*kind, text, None)?;
                }
                Ok(())
            }
            (_, cells) => {
                let join = |cell: &Vec<(BlockKind, String)>| {
                    let texts: Vec<&str> = cell.iter().map(|(_, t)| t.as_str()).collect();
                    texts.join(" ")
                };
                let cells: Vec<String> = cells.iter().map(join).collect();
                self.builder.push_row(&cells, None)
            }
        }
    }
}

/// What is moved away, what was so before a change, a second version for old readers, the reading aid of ideographs,
/// separators of notes.
fn is_left_out(tag: &Tag) -> bool {
    match tag.name.as_str() {
        "moveFrom" | "del" | "Fallback" | "rt" => true,
        name if name.ends_with("PrChange") => true,
        "footnote" | "endnote" => tag.get("type").is_some_and(|t| t != "normal"),
        _ => false,
    }
}

fn known(name: &str) -> &'static str {
    match name {
        "r" => "r",
        "t" => "t",
        "rPr" => "rPr",
        "pPr" => "pPr",
        _ => "",
    }
}
