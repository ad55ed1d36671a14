//! Characters: what a reader sees stays, what only a machine sees goes.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// One line: every run of white space is one space.
pub(crate) fn flat(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut gap = false;
    each(raw, |c| {
        if c == ' ' || c == '\n' {
            gap = true;
        } else {
            if gap && !out.is_empty() {
                out.push(' ');
            }
            gap = false;
            out.push(c);
        }
    });
    compose(out)
}

/// Several lines: line breaks and inner spaces stay, the ends of lines and blank lines at both ends go.
pub(crate) fn lines(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let (mut breaks, mut spaces) = (0, 0);
    each(raw, |c| match c {
        '\n' => (breaks, spaces) = (breaks + 1, 0),
        ' ' => spaces += 1,
        c => {
            if !out.is_empty() {
                out.extend(std::iter::repeat_n('\n', breaks));
            }
            out.extend(std::iter::repeat_n(' ', spaces));
            (breaks, spaces) = (0, 0);
            out.push(c);
        }
    });
    compose(out)
}

/// Whether what is raised behind `text` would become part of a number: 10⁶ is not 106.
pub(crate) fn is_power(text: &str, raised: &str) -> bool {
    let number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '−' | '+');
    text.ends_with(|c: char| c.is_ascii_digit()) && raised.trim_start().starts_with(number)
}

fn compose(text: String) -> String {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => text,
        _ => text.nfc().collect(),
    }
}

/// Hands on what stays of `raw`, white space as `' '` or `'\n'`.
fn each(raw: &str, mut keep: impl FnMut(char)) {
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    keep('\n');
                }
            }
            '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => keep('\n'),
            '\t' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' => {
                keep(' ');
            }
            '\u{fb00}' => ['f', 'f'].into_iter().for_each(&mut keep),
            '\u{fb01}' => ['f', 'i'].into_iter().for_each(&mut keep),
            '\u{fb02}' => ['f', 'l'].into_iter().for_each(&mut keep),
            '\u{fb03}' => ['f', 'f', 'i'].into_iter().for_each(&mut keep),
            '\u{fb04}' => ['f', 'f', 'l'].into_iter().for_each(&mut keep),
            '\u{fb05}' | '\u{fb06}' => ['s', 't'].into_iter().for_each(&mut keep),
            // Invisible: soft hyphen, zero width space, byte order mark, and the marks that reorder what is shown.
            '\u{ad}'
            | '\u{200b}'
            | '\u{2060}'
            | '\u{feff}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {}
            c if c.is_control() || is_noncharacter(c) => {}
            c => keep(c),
        }
    }
}

fn is_noncharacter(c: char) -> bool {
    let n = u32::from(c);
    n & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_line_has_single_spaces_and_no_invisible_characters() {
        assert_eq!(
            flat(" a\u{a0}\r\n b\u{ad}c\0 e\u{301} \u{fb01}n "),
            "a bc é fin"
        );
        assert_eq!(flat(" \u{200b}\n"), "");
    }

    #[test]
    fn lines_keep_their_breaks_and_their_indentation() {
        assert_eq!(lines("  a"), "  a");
        assert_eq!(lines("\n\n  a  \r\n\tb\r\rc\n"), "  a\n b\n\nc");
    }
}
