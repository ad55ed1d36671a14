//! Words with their bytes, as the English Web Treebank cuts them: clitics apart, hyphens and units apart,
//! addresses, numbers and abbreviations whole. Markdown's marks become pieces that the tree ignores.
//!
//! One pass; every look ahead is bounded, which `Scanner::looked` lets a test count.

use std::ops::Range;

use crate::words::{
    ABBREVIATIONS, FUSED, KEPT_PREFIXES, NAME_ENDINGS, OPERATORS, SLASHED, SMILEYS, UNITS,
};

/// How far a look ahead for the end of an address or a link may go.
const AHEAD: usize = 320;

/// A word, or a mark of Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    pub form: &'a str,
    pub span: Range<usize>,
    /// A mark that formats the text and is no word of it.
    pub markup: bool,
    /// The token that this word was cut from.
    pub part_of: Option<Surface<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Surface<'a> {
    pub form: &'a str,
    pub span: Range<usize>,
}

impl<'a> Piece<'a> {
    pub(crate) fn word(form: &'a str, span: Range<usize>) -> Self {
        Piece {
            form,
            span,
            markup: false,
            part_of: None,
        }
    }
}

pub(crate) fn tokenize(text: &str) -> Vec<Piece<'_>> {
    let mut scanner = Scanner::new(text);
    scanner.run();
    scanner.pieces
}

struct Scanner<'a> {
    text: &'a str,
    chars: Vec<(usize, char)>,
    at: usize,
    pieces: Vec<Piece<'a>>,
    /// A single quotation mark was opened in this paragraph and not closed.
    quoted: bool,
    /// The line is a row of a table.
    table: bool,
    /// A `[` was taken for the start of a link.
    linked: bool,
    looked: std::cell::Cell<usize>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        Scanner {
            text,
            chars: text.char_indices().collect(),
            at: 0,
            pieces: Vec::new(),
            quoted: false,
            table: false,
            linked: false,
            looked: std::cell::Cell::new(0),
        }
    }

    fn run(&mut self) {
        let mut line_start = true;
        let mut line_ends = 0;
        while let Some(c) = self.peek(self.at) {
            if c.is_whitespace() {
                if c == '\n' {
                    line_start = true;
                    self.table = false;
                    line_ends += 1;
                    if line_ends > 1 {
                        self.quoted = false;
                    }
                }
                self.at += 1;
                continue;
            }
            line_ends = 0;
            let marked = line_start && self.line_markup();
            line_start = false;
            if marked || self.inline_markup() {
                continue;
            }
            self.token();
        }
    }

    fn peek(&self, i: usize) -> Option<char> {
        self.looked.set(self.looked.get() + 1);
        self.chars.get(i).map(|&(_, c)| c)
    }

    fn is(&self, i: usize, test: impl Fn(char) -> bool) -> bool {
        self.peek(i).is_some_and(test)
    }

    fn gap(&self, i: usize) -> bool {
        self.peek(i).is_none_or(char::is_whitespace)
    }

    fn before(&self) -> Option<char> {
        self.at.checked_sub(1).and_then(|i| self.peek(i))
    }

    /// The first index from `i` on, at most `limit` further, where `test` fails.
    fn run_of(&self, i: usize, limit: usize, test: impl Fn(char) -> bool) -> usize {
        let mut end = i;
        while end - i < limit && self.is(end, &test) {
            end += 1;
        }
        end
    }

    fn byte(&self, i: usize) -> usize {
        self.chars.get(i).map_or(self.text.len(), |&(b, _)| b)
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text
            .get(self.byte(from)..self.byte(to))
            .unwrap_or_default()
    }

    fn push(&mut self, to: usize, markup: bool) {
        let (from, to) = (self.at, to.max(self.at + 1));
        let mut piece = Piece::word(self.slice(from, to), self.byte(from)..self.byte(to));
        piece.markup = markup;
        self.pieces.push(piece);
        self.at = to;
    }

    /// Pushes the words of one token, cut where `cuts` (ascending, inside the token) say.
    fn push_parts(&mut self, to: usize, cuts: &[usize]) {
        let surface = Surface {
            form: self.slice(self.at, to),
            span: self.byte(self.at)..self.byte(to),
        };
        for &end in cuts.iter().chain([&to]) {
            self.push(end, false);
            if let Some(last) = self.pieces.last_mut() {
                last.part_of = Some(surface.clone());
            }
        }
    }

    // Markdown.

    /// Marks that count at the start of a line only.
    fn line_markup(&mut self) -> bool {
        let Some(c) = self.peek(self.at) else {
            return false;
        };
        let run = self.run_of(self.at, usize::MAX, |x| x == c);
        let length = run - self.at;
        let ends_line = || {
            let end = self.run_of(run, 4, |x| x == ' ' || x == '\r' || x == '\t');
            self.is(end, |x| x == '\n') || self.peek(end).is_none()
        };
        match c {
            '#' if length <= 6 && self.is(run, |x| x == ' ') => self.push(run, true),
            '>' if length <= 3 && self.is(run, |x| x == ' ') => self.push(run, true),
            '`' | '~' if length >= 3 => {
                let end = self.run_of(run, 24, |x| x.is_alphanumeric() || x == '-' || x == '_');
                self.push(end, true);
            }
            '-' | '*' | '=' | '_' if length >= 3 && ends_line() => self.push(run, true),
            '|' if length == 1 => {
                self.table = true;
                self.push(run, true);
            }
            _ => return false,
        }
        true
    }

    fn inline_markup(&mut self) -> bool {
        let Some(c) = self.peek(self.at) else {
            return false;
        };
        let end = match c {
            '|' if self.table => self.at + 1,
            '-' | ':' if self.table => {
                let end = self.run_of(self.at, usize::MAX, |x| matches!(x, '-' | ':'));
                let alone = self.is(end, |x| x == '|') || self.gap(end);
                if end - self.at < 3 || !alone {
                    return false;
                }
                end
            }
            '*' | '_' | '~' | '`' => {
                let end = self.run_of(self.at, 4, |x| x == c);
                let length = end - self.at;
                if length > 3 || (c == '~' && length != 2) {
                    return false;
                }
                let before = self.before();
                let opens = before.is_none_or(|x| x.is_whitespace() || is_opening(x) || is_mark(x))
                    && self.is(end, |x| {
                        x.is_alphanumeric() || is_opening(x) || is_mark(x) || x == '$'
                    });
                let closes = before.is_some_and(|x| !x.is_whitespace())
                    && (self.gap(end) || self.is(end, |x| !x.is_alphanumeric()));
                if !opens && !closes {
                    return false;
                }
                end
            }
            '[' => {
                let close = self.run_of(self.at + 1, AHEAD, |x| !matches!(x, ']' | '\n' | '['));
                if !self.is(close, |x| x == ']') || self.link_end(close).is_none() {
                    return false;
                }
                self.linked = true;
                self.at + 1
            }
            ']' if self.linked => {
                self.linked = false;
                let Some(end) = self.link_end(self.at) else {
                    return false;
                };
                end
            }
            _ => return false,
        };
        self.push(end, true);
        true
    }

    /// The end of `](address)` at `i`.
    fn link_end(&self, i: usize) -> Option<usize> {
        if !self.is(i + 1, |x| x == '(') {
            return None;
        }
        let end = self.run_of(i + 2, AHEAD, |x| !x.is_whitespace() && x != ')');
        (self.is(end, |x| x == ')') && end > i + 2).then_some(end + 1)
    }

    // Words.

    fn token(&mut self) {
        let Some(c) = self.peek(self.at) else { return };
        let after_gap = self
            .before()
            .is_none_or(|x| x.is_whitespace() || is_opening(x));
        if let Some(end) = self.address() {
            return self.push(end, false);
        }
        if c.is_ascii_digit() {
            return self.number(self.at);
        }
        let next_digit = self.is(self.at + 1, |x| x.is_ascii_digit());
        if matches!(c, '-' | '+' | '−') && after_gap && next_digit {
            return self.number(self.at + 1);
        }
        if c == '.' && after_gap && next_digit {
            return self.number(self.at + 1);
        }
        if is_apostrophe(c) {
            return self.apostrophe(c);
        }
        if matches!(c, '#' | '@') && after_gap && self.is(self.at + 1, char::is_alphabetic) {
            let end = self.run_of(self.at + 1, usize::MAX, |x| x.is_alphanumeric() || x == '_');
            return self.push(end, false);
        }
        if is_word(c) {
            return self.word();
        }
        let end = self.punctuation(c, after_gap);
        self.push(end, false);
    }

    /// The end of a URL or mail address that starts here.
    fn address(&self) -> Option<usize> {
        let c = self.peek(self.at)?;
        if !c.is_ascii_alphanumeric() || self.before().is_some_and(|x| x.is_alphanumeric()) {
            return None;
        }
        let scheme = self.run_of(self.at, 12, |x| x.is_ascii_alphanumeric() || x == '+');
        let written = self.slice(scheme, scheme + 3) == "://";
        let www = self
            .slice(self.at, self.at + 4)
            .eq_ignore_ascii_case("www.");
        if written || (www && !self.gap(self.at + 4)) {
            return Some(self.url_end(self.at));
        }
        let local = self.run_of(self.at, 65, |x| {
            x.is_ascii_alphanumeric() || matches!(x, '.' | '_' | '%' | '+' | '-')
        });
        if local - self.at > 64 || !self.is(local, |x| x == '@') {
            return None;
        }
        let host = |x: char| x.is_ascii_alphanumeric() || matches!(x, '.' | '-');
        let mut end = self.run_of(local + 1, AHEAD, host);
        while end > local + 1 && self.is(end - 1, |x| !x.is_ascii_alphanumeric()) {
            end -= 1;
        }
        self.slice(local + 1, end).contains('.').then_some(end)
    }

    /// To the next blank, without the punctuation of the sentence around it.
    fn url_end(&self, from: usize) -> usize {
        let stop =
            |x: char| x.is_whitespace() || matches!(x, '<' | '>' | '"' | '”' | '“' | '|' | '`');
        let mut depth = 0usize;
        let mut end = from;
        while let Some(c) = self.peek(end) {
            match c {
                c if stop(c) => break,
                '(' => depth += 1,
                ')' if depth == 0 => break,
                ')' => depth -= 1,
                _ => {}
            }
            end += 1;
        }
        let trailing = |x: char| {
            matches!(
                x,
                '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '’' | ']' | '*'
            )
        };
        while end > from + 1 && self.is(end - 1, trailing) {
            end -= 1;
        }
        end
    }

    /// A number whose first digit is at `digits`; a sign may stand before it.
    fn number(&mut self, digits: usize) {
        let digit = |x: char| x.is_ascii_digit();
        let mut end = self.run_of(digits, usize::MAX, digit);
        let mut first_hyphen = None;
        let mut hyphens = 0;
        while let Some(c) = self.peek(end) {
            if !matches!(c, ',' | '.' | ':' | '/' | '-') || !self.is(end + 1, digit) {
                break;
            }
            if c == '-' {
                first_hyphen = first_hyphen.or(Some(end));
                hyphens += 1;
            }
            end = self.run_of(end + 1, usize::MAX, digit);
        }
        // Two hyphens make a date or a telephone number, one makes a range unless it parts 3 from 4 digits.
        if let (Some(hyphen), 1) = (first_hyphen, hyphens)
            && (hyphen - digits, end - hyphen) != (3, 5)
        {
            end = hyphen;
        }
        // The 80's.
        if matches!(end - digits, 2 | 4)
            && self.is(end, |x| matches!(x, '\'' | '’'))
            && self.is(end + 1, |x| x == 's')
            && !self.is(end + 2, is_word)
        {
            return self.push(end + 2, false);
        }
        let letters = self.run_of(end, 24, char::is_alphabetic);
        let unit = self.slice(end, letters);
        let glued = self.is(letters, |x| x.is_alphanumeric() || x == '_');
        if unit.is_empty() || (UNITS.contains(&unit) && !glued) {
            return self.push(end, false);
        }
        let lower = unit.to_lowercase();
        let ordinal = matches!(lower.as_str(), "st" | "nd" | "rd" | "th" | "s");
        if ordinal && !glued {
            return self.push(letters, false);
        }
        let end = self.run_of(end, usize::MAX, |x| x.is_alphanumeric() || x == '_');
        self.push(end, false);
    }

    fn apostrophe(&mut self, c: char) {
        if self.is(self.at + 1, |x| x == c) {
            return self.push(self.at + 2, false);
        }
        let end = self.run_of(self.at + 1, 4, char::is_alphabetic);
        let tail = self.slice(self.at + 1, end).to_lowercase();
        let whole = !self.is(end, is_word);
        if whole
            && matches!(
                tail.as_str(),
                "s" | "m" | "d" | "ll" | "re" | "ve" | "em" | "til" | "cause"
            )
        {
            return self.push(end, false);
        }
        // '90s
        if self.is(self.at + 1, |x| x.is_ascii_digit())
            && self.is(self.at + 2, |x| x.is_ascii_digit())
        {
            let end = self.run_of(self.at + 1, 3, |x| x.is_ascii_digit() || x == 's');
            if !self.is(end, is_word) {
                return self.push(end, false);
            }
        }
        self.quoted = !self.quoted && self.before().is_none_or(|x| !x.is_alphanumeric());
        self.push(self.at + 1, false);
    }

    fn word(&mut self) {
        let start = self.at;
        let mut end = start;
        loop {
            end = self.run_of(end, usize::MAX, is_word);
            let Some(c) = self.peek(end) else { break };
            let next = |test: fn(char) -> bool| self.is(end + 1, test);
            let length = end - start;
            let last = self.chars.get(end - 1).map_or(' ', |&(_, c)| c);
            let goes_on = match c {
                '\'' | '’' | '`' => {
                    if !next(char::is_alphabetic) {
                        break;
                    }
                    true
                }
                '-' => {
                    let prefix = length <= 7
                        && KEPT_PREFIXES.contains(&self.slice(start, end).to_lowercase().as_str());
                    if !prefix || !next(char::is_alphanumeric) {
                        break;
                    }
                    true
                }
                '&' => last.is_uppercase() && length <= 4 && next(char::is_uppercase),
                '*' => last.is_lowercase() && next(char::is_lowercase),
                '@' => last.is_alphabetic() && next(char::is_alphabetic),
                '/' => {
                    let two = self
                        .slice(start, (end + 2).min(self.chars.len()))
                        .to_lowercase();
                    let three = self.run_of(end + 1, 4, char::is_alphabetic);
                    let whole = self.slice(start, three).to_lowercase();
                    length <= 2
                        && !self.is(three, is_word)
                        && (SLASHED.contains(&whole.as_str()) || SLASHED.contains(&two.as_str()))
                        && three > end + 1
                }
                '.' => {
                    match self.full_stop(start, end) {
                        Some(to) => end = to,
                        None => break,
                    }
                    // After a full stop that belongs to the word, a word may go on (`U.S.`, `report.pdf`).
                    if self.is(end, is_word) && self.is(end - 1, |x| x == '.') {
                        continue;
                    }
                    break;
                }
                '+' if length == 1 && last.is_uppercase() => {
                    let plus = self.run_of(end, 3, |x| x == '+');
                    if self.is(plus, is_word) {
                        break;
                    }
                    end = plus;
                    break;
                }
                '#' if length == 1 && last.is_uppercase() && self.gap(end + 1) => {
                    end += 1;
                    break;
                }
                _ => false,
            };
            if !goes_on {
                break;
            }
            end += 1;
        }
        let cuts = self.clitics(start, end);
        if !cuts.is_empty() {
            return self.push_parts(end, &cuts);
        }
        // The plural's possessive.
        let possessive = self.is(end, |x| matches!(x, '\'' | '’'))
            && self.is(end - 1, |x| x == 's')
            && end - start > 2
            && !self.quoted
            && !self.is(end + 1, |x| x.is_alphanumeric() || is_apostrophe(x));
        if possessive {
            return self.push_parts(end + 1, &[end]);
        }
        self.push(end, false);
    }

    /// Where a word with a full stop at `dot` ends if the stop belongs to it.
    fn full_stop(&self, start: usize, dot: usize) -> Option<usize> {
        let length = dot - start;
        let after = self.run_of(dot + 1, 24, is_word);
        let word = if length <= 24 {
            self.slice(start, dot)
        } else {
            ""
        };
        let lower = word.to_lowercase();
        // v2.0.1
        let digit = |x: char| x.is_ascii_digit();
        if self.is(dot - 1, digit) && self.is(dot + 1, digit) {
            return Some(dot + 1);
        }
        // U.S., e.g., a.m.: single letters with stops between, the last stop included.
        let single =
            length == 1 || self.is(dot.saturating_sub(2), |x| x == '.') && word.contains('.');
        if single && after == dot + 2 && self.is(dot + 1, char::is_alphabetic) {
            return Some(dot + 1);
        }
        if word.contains('.') && single && after == dot + 1 {
            return Some(dot + 1);
        }
        if after > dot + 1 {
            let tail = self.slice(dot + 1, after).to_lowercase();
            let same_case =
                !self.is(dot + 1, char::is_uppercase) || word.chars().all(char::is_uppercase);
            let group = self.is(after, |x| x == '.') && self.is(after + 1, char::is_lowercase);
            if same_case && (NAME_ENDINGS.contains(&tail.as_str()) || group || word.contains('.')) {
                // A host name goes on with its path.
                if self.is(after, |x| x == '/') && self.is(after + 1, |x| x.is_alphanumeric()) {
                    return Some(self.url_end(dot));
                }
                return Some(dot + 1);
            }
            return if ABBREVIATIONS.contains(&lower.as_str()) {
                Some(dot + 1)
            } else {
                None
            };
        }
        if self.is(dot + 1, |x| x == '.') {
            return None;
        }
        if ABBREVIATIONS.contains(&lower.as_str()) {
            // These are words too; a stop after them ends the sentence unless a name or number follows.
            let ambiguous = matches!(
                lower.as_str(),
                "no" | "sat" | "sun" | "mon" | "co" | "fig" | "art" | "gen" | "mar"
            );
            let follows = self.run_of(dot + 1, 2, |x| x == ' ');
            let fits = match lower.as_str() {
                "no" | "fig" | "art" => self.is(follows, |x| x.is_ascii_digit()),
                "co" => true,
                _ => word.starts_with(char::is_uppercase),
            };
            return (!ambiguous || fits).then_some(dot + 1);
        }
        // An initial: one capital before another capitalised word.
        if length == 1 && word.chars().all(char::is_uppercase) && word != "I" {
            let next = self.run_of(dot + 1, 2, |x| x == ' ');
            let named = self.pieces.last().is_none_or(|p| {
                p.form
                    .starts_with(|x: char| x.is_uppercase() || !x.is_alphanumeric())
            });
            if named && self.is(next, char::is_uppercase) {
                return Some(dot + 1);
            }
        }
        None
    }

    /// Where to cut a word such as `don't`, `she'd've` or `gonna`.
    fn clitics(&self, start: usize, end: usize) -> Vec<usize> {
        if end - start > 40 {
            return Vec::new();
        }
        let lower: Vec<char> = self
            .slice(start, end)
            .chars()
            .map(|c| {
                if is_apostrophe(c) {
                    '\''
                } else {
                    c.to_lowercase().next().unwrap_or(c)
                }
            })
            .collect();
        let word: String = lower.iter().collect();
        if let Some((_, lengths)) = FUSED.iter().find(|(w, _)| *w == word) {
            let shouted = word == "im" && self.is(start + 1, char::is_uppercase);
            let mut at = start;
            return match shouted {
                true => Vec::new(),
                false => lengths
                    .iter()
                    .map(|n| {
                        at += n;
                        at
                    })
                    .collect(),
            };
        }
        let mut cuts = Vec::new();
        let mut length = lower.len();
        if !lower.contains(&'\'') {
            return cuts;
        }
        for _ in 0..2 {
            let head = &lower[..length];
            let ending = ["n't", "'ll", "'re", "'ve", "'s", "'m", "'d"]
                .into_iter()
                .find(|e| {
                    let e: Vec<char> = e.chars().collect();
                    head.len() > e.len() && head.ends_with(&e)
                });
            let Some(ending) = ending else { break };
            length -= ending.chars().count();
            // `80's` is a word.
            if !lower[length - 1].is_alphabetic() {
                break;
            }
            cuts.insert(0, start + length);
        }
        cuts
    }

    fn punctuation(&self, c: char, after_gap: bool) -> usize {
        if after_gap {
            for smiley in SMILEYS {
                let end = self.at + smiley.chars().count();
                if self.slice(self.at, end.min(self.chars.len())) == *smiley
                    && !self.is(end, char::is_alphanumeric)
                {
                    return end;
                }
            }
        }
        for operator in OPERATORS {
            let end = self.at + operator.len();
            if self.slice(self.at, end.min(self.chars.len())) == *operator {
                return end;
            }
        }
        match c {
            '!' | '?' => self.run_of(self.at, usize::MAX, |x| matches!(x, '!' | '?')),
            '.' | '-' | '*' | '_' | '=' | '~' | '<' | '>' | '#' | '+' | '$' | '…' | '–' | '—' => {
                self.run_of(self.at, usize::MAX, |x| x == c)
            }
            _ => self.run_of(self.at + 1, 16, |x| {
                matches!(x, '\u{fe0f}' | '\u{200d}' | '\u{1f3fb}'..='\u{1f3ff}')
            }),
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '\u{ad}' | '\u{200c}' | '\u{300}'..='\u{36f}')
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '‘' | '`')
}

fn is_opening(c: char) -> bool {
    matches!(c, '(' | '[' | '{' | '"' | '“' | '‘' | '«')
}

fn is_mark(c: char) -> bool {
    matches!(c, '*' | '_' | '`' | '~')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str) {
        let forms: Vec<String> = tokenize(text)
            .iter()
            .map(|p| {
                if p.markup {
                    format!("‹{}›", p.form)
                } else {
                    p.form.to_string()
                }
            })
            .collect();
        assert_eq!(forms.join(" "), expected, "{text:?}");
    }

    #[test]
    fn clitics_are_words_of_their_own() {
        check("I don't know.", "I do n't know .");
        check(
            "She’s here; they'll've left",
            "She ’s here ; they 'll 've left",
        );
        check(
            "We cannot, can't and won't.",
            "We can not , ca n't and wo n't .",
        );
        check(
            "the company's and the owners' shares",
            "the company 's and the owners ' shares",
        );
        check("'the owners' said O'Brien", "' the owners ' said O'Brien");
        check(
            "I'm gonna go in the 80's and '90s",
            "I 'm gon na go in the 80's and '90s",
        );
        check("dont wanna", "do nt wan na");
    }

    #[test]
    fn words_of_one_token_share_its_span() {
        let text = "We don't.";
        let pieces = tokenize(text);
        let surface = pieces[1].part_of.as_ref().unwrap();
        assert_eq!((surface.form, surface.span.clone()), ("don't", 3..8));
        assert_eq!(
            (pieces[1].span.clone(), pieces[2].span.clone()),
            (3..5, 5..8)
        );
        assert!(pieces[0].part_of.is_none());
    }

    #[test]
    fn numbers_stay_whole_and_units_stand_apart() {
        check(
            "$1,200.50 (up 12.5%) in Q3",
            "$ 1,200.50 ( up 12.5 % ) in Q3",
        );
        check("€5M, £20bn or 30 USD", "€ 5 M , £ 20 bn or 30 USD");
        check(
            "a 15-year, 35mm lens at 5pm",
            "a 15 - year , 35 mm lens at 5 pm",
        );
        check(
            "the 20th, 1990s, 10:30, 9/11",
            "the 20th , 1990s , 10:30 , 9/11",
        );
        check(
            "2024-03-01 or 11/28/2000, 5-10 days",
            "2024-03-01 or 11/28/2000 , 5 - 10 days",
        );
        check(
            "call 713-853-3989 or 646-8420",
            "call 713-853-3989 or 646-8420",
        );
        check("fell by -3.5 to .5", "fell by -3.5 to .5");
        check("see #1 and v2.0.1", "see # 1 and v2.0.1");
    }

    #[test]
    fn abbreviations_keep_their_stop() {
        check(
            "Mr. J. Smith of Acme Inc. came.",
            "Mr. J. Smith of Acme Inc. came .",
        );
        check(
            "The U.S. and e.g. the U.K. at 5 p.m.",
            "The U.S. and e.g. the U.K. at 5 p.m.",
        );
        check("No. 5 is a no. Go.", "No. 5 is a no . Go .");
        check("Plans A and B.", "Plans A and B .");
        check("It ended.The end", "It ended . The end");
    }

    #[test]
    fn addresses_are_single_words() {
        check(
            "See https://a.org/b_(c)?d=e#f.",
            "See https://a.org/b_(c)?d=e#f .",
        );
        check(
            "(www.enron.com), jeff@enron.com.",
            "( www.enron.com ) , jeff@enron.com .",
        );
        check(
            "liquidweb.com/x and report.pdf",
            "liquidweb.com/x and report.pdf",
        );
        check(
            "snake_case, PG&E, C++ and AT&T",
            "snake_case , PG&E , C++ and AT&T",
        );
    }

    #[test]
    fn hyphens_and_slashes_part_words() {
        check(
            "a well-known e-mail and/or re-election w/o",
            "a well - known e-mail and / or re-election w/o",
        );
    }

    #[test]
    fn punctuation_runs_stay_together() {
        check(
            "Well... what?! -- no!!! :)",
            "Well ... what ?! -- no !!! :)",
        );
        check("a -> b >= c", "a -> b >= c");
    }

    #[test]
    fn markdown_is_set_apart() {
        check(
            "# Title\n\n**Bold** and `code` here",
            "‹#› Title ‹**› Bold ‹**› and ‹`› code ‹`› here",
        );
        check("- item\n* item", "- item * item");
        check(
            "see [the docs](https://a.b/c), now",
            "see ‹[› the docs ‹](https://a.b/c)› , now",
        );
        check(
            "| a | b |\n|---|:-:|\n| 1 | 2 |",
            "‹|› a ‹|› b ‹|› ‹|› ‹---› ‹|› ‹:-:› ‹|› ‹|› 1 ‹|› 2 ‹|›",
        );
        check("```rust\nlet x\n```", "‹```rust› let x ‹```›");
    }

    /// Everything but white space is in exactly one piece.
    fn covers(text: &str) {
        let mut at = 0;
        for piece in tokenize(text) {
            assert!(
                text[at..piece.span.start].chars().all(char::is_whitespace),
                "{text:?}"
            );
            assert_eq!(&text[piece.span.clone()], piece.form);
            assert!(!piece.form.is_empty());
            at = piece.span.end;
        }
        assert!(text[at..].chars().all(char::is_whitespace), "{text:?}");
    }

    proptest! {
        #[test]
        fn any_text_is_covered(text in any::<String>()) {
            covers(&text);
        }

        #[test]
        fn any_soup_of_marks_is_covered(text in "[a-zA-Z0-9 .,'’`*_#|\\[\\]()@/:\\-\n$%&+<>~]{0,60}") {
            covers(&text);
        }

        #[test]
        fn any_bytes_read_as_text_are_covered(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            covers(&String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn the_work_grows_with_the_text_and_no_faster() {
        for unit in [
            "a",
            "a.",
            "a@",
            "a-",
            "a.b@",
            "[",
            "[a](",
            "[a](b",
            "http://",
            "www.",
            "(",
            "'",
            "n't",
            "1-",
            "1.",
            "*",
            "`",
            "|",
            "|-",
            "# ",
            "_a",
            ".",
            "-",
            "\n",
            "a\u{300}",
            "x.y/",
            "U.",
            "é",
            "\u{1f600}",
            "a b@c ",
        ] {
            let work = |n: usize| {
                let text = unit.repeat(n);
                let mut scanner = Scanner::new(&text);
                scanner.run();
                scanner.looked.get()
            };
            let (small, large) = (work(2_000), work(8_000));
            assert!(large <= 5 * small, "{unit:?}: {small} then {large}");
            assert!(large <= 8_000 * 4 * 400, "{unit:?}: {large}");
        }
    }
}
