//! Words, numbers and signs of a text, for the readers of values.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// Digits with the number of decimals.
    Number {
        value: f64,
        decimals: i32,
        digits: usize,
        plain: bool,
    },
    /// In lower case.
    Word(String),
    Sign(char),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Lexeme {
    pub kind: Kind,
    pub range: Range<usize>,
    /// White space stands before it.
    pub apart: bool,
    pub capital: bool,
}

impl Lexeme {
    pub(super) fn word(&self) -> Option<&str> {
        match &self.kind {
            Kind::Word(w) => Some(w),
            _ => None,
        }
    }

    pub(super) fn is(&self, sign: char) -> bool {
        self.kind == Kind::Sign(sign)
    }

    pub(super) fn dash(&self) -> bool {
        matches!(self.kind, Kind::Sign('-' | '–' | '—' | '‐' | '‑' | '−'))
    }

    /// A whole number written without separators, such as a year or a day, with its count of digits.
    pub(super) fn plain(&self) -> Option<(i64, usize)> {
        match self.kind {
            Kind::Number {
                value,
                decimals: 0,
                digits,
                plain: true,
            } if value.abs() < 1e9 => Some((value as i64, digits)),
            _ => None,
        }
    }
}

pub(super) fn lexemes(text: &str) -> Vec<Lexeme> {
    let mut found: Vec<Lexeme> = Vec::new();
    let bytes = text.as_bytes();
    let mut apart = true;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        let kind = if c.is_whitespace() || c == '_' {
            apart = true;
            at += c.len_utf8();
            continue;
        } else if c.is_ascii_digit()
            || c == '.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) && apart
        {
            number(text, &mut at)
        } else if c.is_alphabetic() {
            let rest = &text[at..];
            // "U.S.", "p.m.": letters with points between them are one word.
            let mut end = at;
            let mut chars = rest.char_indices().peekable();
            while let Some((i, ch)) = chars.next() {
                let inner = ch == '.'
                    && chars.peek().is_some_and(|(_, n)| n.is_alphabetic())
                    && rest[..i]
                        .chars()
                        .rev()
                        .take_while(|l| l.is_alphabetic())
                        .count()
                        == 1;
                if ch.is_alphabetic() || inner || matches!(ch, '²' | '³') {
                    end = at + i + ch.len_utf8();
                } else {
                    break;
                }
            }
            // "km2", "m3"
            if matches!(&text[at..end], "km" | "m" | "cm" | "mi" | "ft")
                && matches!(bytes.get(end), Some(b'2' | b'3'))
                && !bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric)
            {
                end += 1;
            }
            at = end;
            Kind::Word(text[start..end].to_lowercase())
        } else {
            at += c.len_utf8();
            match fraction_sign(c) {
                Some(value) => Kind::Number {
                    value,
                    decimals: 2,
                    digits: 1,
                    plain: false,
                },
                None => Kind::Sign(c),
            }
        };
        found.push(Lexeme {
            kind,
            range: start..at,
            apart,
            capital: c.is_uppercase(),
        });
        apart = false;
    }
    found
}

fn fraction_sign(c: char) -> Option<f64> {
    Some(match c {
        '½' => 0.5,
        '¼' => 0.25,
        '¾' => 0.75,
        '⅓' => 1.0 / 3.0,
        '⅔' => 2.0 / 3.0,
        _ => return None,
    })
}

/// Digits, in groups of three by commas, with decimals behind a point and a decimal exponent.
fn number(text: &str, at: &mut usize) -> Kind {
    let bytes = text.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let start = *at;
    let mut clean = String::new();
    let mut plain = true;
    let mut i = start;
    while digit(i) {
        clean.push(bytes[i] as char);
        i += 1;
        // "1,234,567" and Indian "12,34,567"
        if bytes.get(i) == Some(&b',') && i - start <= 3 * 8 {
            let run = (i + 1..).take_while(|&j| digit(j)).count();
            if run == 3 || run == 2 && bytes.get(i + 3) == Some(&b',') && digit(i + 4) {
                plain = false;
                i += 1;
            }
        }
    }
    let digits = clean.len();
    let mut decimals = 0;
    if bytes.get(i) == Some(&b'.') && digit(i + 1) {
        let run = (i + 1..).take_while(|&j| digit(j)).count();
        // "26.06.1980" and version numbers are not decimals.
        let dotted = bytes.get(i + 1 + run) == Some(&b'.') && digit(i + 2 + run);
        let after_dot = start > 1 && bytes[start - 1] == b'.' && bytes[start - 2].is_ascii_digit();
        if !dotted && !after_dot {
            clean.push_str(&text[i..i + 1 + run]);
            decimals = run as i32;
            i += 1 + run;
        }
    }
    if matches!(bytes.get(i), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(bytes.get(i + 1), Some(b'+' | b'-')));
        let run = (i + 1 + signed..).take_while(|&j| digit(j)).count();
        if (1..=2).contains(&run)
            && !bytes
                .get(i + 1 + signed + run)
                .is_some_and(u8::is_ascii_alphanumeric)
        {
            let exponent: i32 = text[i + 1..i + 1 + signed + run].parse().unwrap_or(0);
            clean.push_str(&text[i..i + 1 + signed + run]);
            decimals -= exponent;
            plain = false;
            i += 1 + signed + run;
        }
    }
    *at = i;
    Kind::Number {
        value: clean.parse().unwrap_or(0.0),
        decimals,
        digits,
        plain: plain && decimals == 0,
    }
}
