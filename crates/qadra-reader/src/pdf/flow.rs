//! Lines in order become blocks: headings by size, paragraphs by distance and indentation, tables by alignment.

use std::collections::{HashMap, HashSet};

use super::Sheet;
use super::order::{Column, columns};
use super::segment::Segment;
use crate::builder::Builder;
use crate::{BlockKind, ReadError, clean};

/// How much larger than the body text a heading is.
pub(super) const LARGER: f32 = 1.15;
/// Code points that a heading has at most.
const LONGEST_HEADING: usize = 200;

/// Writes all pages; gives the first heading of the largest size as a title.
pub(super) fn write(
    sheets: Vec<Sheet>,
    measures: Measures,
    builder: &mut Builder,
) -> Result<Option<String>, ReadError> {
    let words = vocabulary(&sheets);
    let mut writer = Writer {
        builder,
        measures,
        words,
        open: None,
        title: None,
    };
    for (page, sheet) in (1..).zip(sheets) {
        for column in columns(sheet.segments) {
            writer.column(column, page)?;
        }
    }
    writer.close()?;
    Ok(writer.title.map(|(_, title)| title))
}

/// What is usual in the document.
pub(super) struct Measures {
    pub(super) body: f32,
    /// Sizes of headings, largest first, in tenths of a point.
    larger: Vec<i32>,
    /// Distance between two lines, in heights of the font.
    pitch: f32,
}

impl Measures {
    pub(super) fn of(sheets: &[Sheet]) -> Self {
        let mut by_size: HashMap<i32, usize> = HashMap::new();
        let mut pitches: HashMap<i32, usize> = HashMap::new();
        for sheet in sheets {
            for s in &sheet.segments {
                *by_size.entry(tenths(s.size)).or_default() += s.text.chars().count();
            }
            for pair in sheet.segments.windows(2) {
                if let [a, b] = pair {
                    let pitch = (b.v - a.v) / a.size.max(0.1);
                    if a.way == b.way && (0.8..2.5).contains(&pitch) {
                        *pitches.entry(tenths(pitch * 2.0)).or_default() += 1;
                    }
                }
            }
        }
        let most = |counts: &HashMap<i32, usize>| {
            let best = counts.iter().max_by_key(|(size, count)| (**count, -**size));
            best.map(|(size, _)| *size as f32 / 10.0)
        };
        let body = most(&by_size).unwrap_or(10.0);
        let mut larger: Vec<i32> = by_size.into_keys().collect();
        larger.retain(|&size| size as f32 / 10.0 > LARGER * body);
        larger.sort_unstable_by(|a, b| b.cmp(a));
        Measures {
            body,
            larger,
            pitch: most(&pitches).map_or(1.2, |p| p / 2.0),
        }
    }

    fn level(&self, size: f32) -> Option<u8> {
        if size <= LARGER * self.body {
            return None;
        }
        let rank = self.larger.iter().position(|&s| s <= tenths(size));
        let rank = rank.unwrap_or(self.larger.len());
        Some(u8::try_from(rank + 1).unwrap_or(6).min(6))
    }
}

fn tenths(size: f32) -> i32 {
    (size * 10.0).round() as i32
}

/// Every word that is written with a hyphen inside a line.
fn vocabulary(sheets: &[Sheet]) -> HashSet<String> {
    let mut words = HashSet::new();
    for segment in sheets.iter().flat_map(|s| &s.segments) {
        for word in segment.text.split_whitespace() {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            if word.contains('-') {
                words.insert(word.to_lowercase());
            }
        }
    }
    words
}

/// A block that may go on.
struct Open {
    text: String,
    kind: BlockKind,
    page: u32,
    lines: usize,
    last: Segment,
    /// Begins with the mark of a list item or a number of a reference.
    marked: bool,
    /// A line of a table of contents.
    leads: bool,
}

struct Writer<'a> {
    builder: &'a mut Builder,
    measures: Measures,
    words: HashSet<String>,
    open: Option<Open>,
    title: Option<(i32, String)>,
}

impl Writer<'_> {
    fn column(&mut self, column: Column, page: u32) -> Result<(), ReadError> {
        let left = column.lines.iter().flatten().map(|s| s.u0);
        let left = left.fold(f32::INFINITY, f32::min);
        let right = column.lines.iter().flatten().map(|s| s.u1);
        let right = right.fold(f32::NEG_INFINITY, f32::max);
        let mut lines = column.lines.into_iter().peekable();
        let mut first = true;
        let mut in_table = false;
        while let Some(line) = lines.next() {
            let more = lines.peek().is_some_and(|next| next.len() > 1);
            if line.len() > 1 && (in_table || more) {
                self.close()?;
                in_table = true;
                let cells: Vec<&str> = line.iter().map(|s| s.text.as_str()).collect();
                self.builder.push_row(&cells, Some(page))?;
                continue;
            }
            in_table = false;
            let Some(line) = joined(line) else { continue };
            self.line(line, (left, right), page, first)?;
            first = false;
        }
        Ok(())
    }

    fn line(
        &mut self,
        mut line: Segment,
        (left, right): (f32, f32),
        page: u32,
        first: bool,
    ) -> Result<(), ReadError> {
        let level = self.measures.level(line.size);
        let (words, leads) = without_leader(&line.text);
        line.text = words;
        let level = level.filter(|_| !leads && line.text.chars().count() <= LONGEST_HEADING);
        let mark = list_mark(&line.text).filter(|_| !leads);
        let goes_on = self.open.as_ref().is_some_and(|open| {
            let heading = matches!(open.kind, BlockKind::Heading(_));
            let other = leads || open.leads || heading != level.is_some();
            if other || mark.is_some() {
                false
            } else if first {
                !heading && continues(&open.text, &line.text)
            } else {
                self.flows(open, &line, left, right)
            }
        });
        if !goes_on {
            self.close()?;
        }
        match &mut self.open {
            Some(open) => {
                join(&mut open.text, &line.text, &self.words);
                open.lines += 1;
                open.last = line;
            }
            None => {
                let (kind, text) = match (level, mark) {
                    (Some(level), _) => (BlockKind::Heading(level), line.text.clone()),
                    (None, Some((mark, rest))) => (BlockKind::ListItem, format!("{mark} {rest}")),
                    (None, None) => (BlockKind::Paragraph, line.text.clone()),
                };
                self.open = Some(Open {
                    leads,
                    marked: kind == BlockKind::ListItem || line.text.starts_with('['),
                    text,
                    kind,
                    page,
                    lines: 1,
                    last: line,
                });
            }
        }
        Ok(())
    }

    /// Whether a line goes on with the block above it in the same column.
    fn flows(&self, open: &Open, line: &Segment, left: f32, right: f32) -> bool {
        let last = &open.last;
        let size = last.size.max(line.size);
        let pitch = (line.v - last.v) / size;
        if (last.size - line.size).abs() > 0.12 * size || pitch > self.measures.pitch * 1.35 {
            return false;
        }
        let step = line.u0 - last.u0;
        let indented = step > 0.8 * size;
        let outdented = step < -0.8 * size;
        let short = last.u1 < right - 0.2 * (right - left);
        let ended = last.text.ends_with(['.', '!', '?', ':', '。']);
        if indented && !(open.marked && open.lines == 1) {
            // Centred lines grow and shrink on both sides.
            return (last.u1 - line.u1) > 0.5 * step;
        }
        if outdented && open.lines > 1 && (last.u1 - line.u1).abs() < size {
            return false;
        }
        if outdented && open.marked {
            return false;
        }
        !(short && ended)
    }

    fn close(&mut self) -> Result<(), ReadError> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        if let BlockKind::Heading(_) = open.kind {
            let size = tenths(open.last.size);
            if open.page == 1 && self.title.as_ref().is_none_or(|(s, _)| *s < size) {
                self.title = Some((size, clean::flat(&open.text)));
            }
        }
        self.builder.push(open.kind, &open.text, Some(open.page))
    }
}

fn joined(line: Vec<Segment>) -> Option<Segment> {
    line.into_iter().reduce(|mut a, b| {
        a.text.push(' ');
        a.text.push_str(&b.text);
        a.u1 = a.u1.max(b.u1);
        a.size = a.size.max(b.size);
        a
    })
}

/// A line of a table of contents with one mark for the dots that lead to its page number, and whether it is one.
fn without_leader(line: &str) -> (String, bool) {
    let mut out = String::new();
    let (mut dots, mut found) = (0, false);
    for c in line.chars() {
        match c {
            '.' | '…' | '·' => dots += if c == '…' { 3 } else { 1 },
            ' ' if dots > 0 => {}
            c => {
                if dots > 4 {
                    out.truncate(out.trim_end_matches(['.', ' ', '…', '·']).len());
                    out.push_str(" … ");
                    found = true;
                }
                dots = 0;
                out.push(c);
                continue;
            }
        }
        out.push(c);
    }
    (out, found)
}

/// Whether a paragraph goes on at the top of the next column or page.
fn continues(text: &str, next: &str) -> bool {
    let ended = text.ends_with(['.', '!', '?', ':', ';', '"', '”', ')', '。', '」']);
    let lower = next.chars().next().is_some_and(char::is_lowercase);
    let wide = next.chars().next().is_some_and(is_ideographic);
    !ended && (lower || wide || text.ends_with('-'))
}

/// Adds a line: with a space, without one between ideographs, and with a word that was parted made whole.
fn join(text: &mut String, line: &str, words: &HashSet<String>) {
    let next = line.chars().next();
    let mut back = text.chars().rev();
    let (last, before) = (back.next(), back.next());
    let hyphen = matches!(last, Some('-' | '\u{2010}' | '\u{ad}'));
    if hyphen && before.is_some_and(char::is_alphabetic) && next.is_some_and(char::is_lowercase) {
        let head = text.rsplit(char::is_whitespace).next().unwrap_or_default();
        let tail = line.split_whitespace().next().unwrap_or_default();
        let whole = format!("{head}{tail}").to_lowercase();
        if !words.contains(whole.trim_matches(|c: char| !c.is_alphanumeric())) {
            text.pop();
        }
    } else if !(last.is_some_and(is_ideographic) && next.is_some_and(is_ideographic)) {
        text.push(' ');
    }
    text.push_str(line);
}

fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}')
}

/// The mark of a list item, as this crate writes it, and the rest of the line.
fn list_mark(line: &str) -> Option<(String, &str)> {
    let (head, rest) = line.split_once(' ')?;
    if matches!(
        head,
        "•" | "‣" | "▪" | "●" | "○" | "◦" | "■" | "–" | "-" | "*" | "·"
    ) {
        return Some(("-".to_owned(), rest));
    }
    let number = head.strip_suffix(['.', ')'])?;
    let short = number.len() <= 2 && !number.is_empty();
    let known = short && number.bytes().all(|b| b.is_ascii_digit());
    known.then(|| (format!("{number}."), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], words: &[&str]) -> String {
        let words = words.iter().map(|w| (*w).to_owned()).collect();
        let mut text = lines[0].to_owned();
        for line in &lines[1..] {
            join(&mut text, line, &words);
        }
        text
    }

    #[test]
    fn a_parted_word_is_made_whole_unless_it_has_a_hyphen_elsewhere() {
        assert_eq!(check(&["an exam-", "ple here"], &[]), "an example here");
        assert_eq!(
            check(&["a well-", "known fact"], &["well-known"]),
            "a well-known fact"
        );
        assert_eq!(check(&["pages 3-", "5 of"], &[]), "pages 3- 5 of");
    }

    #[test]
    fn dots_that_lead_to_a_page_number_are_one_mark() {
        let (words, found) = without_leader("2.1 Names . . . . . . . 3");
        assert_eq!((words.as_str(), found), ("2.1 Names … 3", true));
        let (words, found) = without_leader("Wait... what. No");
        assert_eq!((words.as_str(), found), ("Wait... what. No", false));
    }

    #[test]
    fn ideographs_are_joined_without_a_space() {
        assert_eq!(check(&["東京は", "日本の首都"], &[]), "東京は日本の首都");
    }

    #[test]
    fn list_marks_are_told_from_words() {
        assert_eq!(list_mark("• one"), Some(("-".to_owned(), "one")));
        assert_eq!(list_mark("12) one"), Some(("12.".to_owned(), "one")));
        assert_eq!(list_mark("1999. one"), None);
        assert_eq!(list_mark("a. one"), None);
    }
}
