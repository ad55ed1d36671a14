//! Words of a text and the keys under which names are stored and looked up.
//!
//! The rule, in order: lower case and NFKD, combining marks dropped, a few letters without a decomposition
//! spelled out (ß → ss, ø → o, æ → ae, ł → l); words are runs of letters and digits; an apostrophe inside a word
//! and everything after it in `'s` goes, dots inside an abbreviation go (`U.S.` → `us`), thousands commas go
//! (`1,000` → `1000`), `&` reads as `and`; each ideograph or kana is a word. Then English inflection is folded
//! (`founders`, `founder's` → `founder`; `acquired`, `acquires`, `acquiring` → `acquir`), a leading article and
//! trailing legal forms (`Inc.`, `Corp`, `Ltd` …) are dropped while something is left.

mod lists;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use lists::{ARTICLES, GENERIC_WORDS, IRREGULAR, LEGAL_FORMS, STOP_WORDS};

/// One word of a text, with its place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// First code point of the word in the text.
    pub start: usize,
    /// One past its last code point.
    pub end: usize,
    /// As written.
    pub surface: String,
    /// Case, accents and punctuation folded; inflection kept.
    pub plain: String,
    /// `plain` with inflection folded.
    pub folded: String,
    /// Written with a capital first letter or a digit.
    pub capital: bool,
    /// First word of the text or of a sentence in it.
    pub opens: bool,
}

impl Word {
    pub(crate) fn is_stop(&self) -> bool {
        is_stop(&self.plain)
    }

    pub(crate) fn year(&self) -> Option<i32> {
        year(&self.plain)
    }
}

/// Key under which a label, an alias or a predicate name is looked up. Inflection is folded, so several names may
/// share a key: it finds names, it does not identify them (see [`identity_key`]).
pub fn normalize_label(label: &str) -> String {
    let found = words(label, MAX_LABEL_WORDS);
    let folded: Vec<&str> = found.iter().map(|word| word.folded.as_str()).collect();
    let key = join_key(&folded);
    if key.is_empty() {
        fallback_key(label)
    } else {
        key
    }
}

/// Key that tells whether two labels name the same node: case, accents, spacing and punctuation do not count,
/// inflection does (`Window` and `Windows` stay two nodes).
pub fn identity_key(label: &str) -> String {
    let found = words(label, MAX_LABEL_WORDS);
    let plain: Vec<&str> = found.iter().map(|word| word.plain.as_str()).collect();
    let key = plain.join(" ");
    if key.is_empty() {
        fallback_key(label)
    } else {
        key
    }
}

/// Keys under which a predicate is found: its words as one phrase, and each of its content words.
pub fn predicate_keys(name: &str) -> Vec<String> {
    let parts = predicate_words(name);
    let phrase = parts.join(" ");
    let mut keys = vec![normalize_label(&phrase)];
    for word in parts
        .iter()
        .filter(|word| !is_stop(word) && year(word).is_none())
    {
        let key = fold_word(word);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// Words of a predicate name: `foundedInYear`, `founded_in_year` and `founded in year` are the same three.
pub(crate) fn predicate_words(name: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(name.len() + 8);
    let mut before: Option<char> = None;
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        if let Some(last) = before {
            let hump = last.is_lowercase() && letter.is_uppercase();
            let acronym_end = last.is_uppercase()
                && letter.is_uppercase()
                && letters.peek().is_some_and(|next| next.is_lowercase());
            if hump || acronym_end {
                spaced.push(' ');
            }
        }
        spaced.push(letter);
        before = Some(letter);
    }
    words(&spaced, MAX_LABEL_WORDS)
        .into_iter()
        .map(|word| word.plain)
        .collect()
}

/// Joins folded words into a lookup key: article and legal forms off.
pub(crate) fn join_key(folded: &[&str]) -> String {
    let mut rest = folded;
    while let [first, tail @ ..] = rest {
        if tail.is_empty() || !ARTICLES.contains(first) {
            break;
        }
        rest = tail;
    }
    while let [head @ .., last] = rest {
        if head.is_empty() || !LEGAL_FORMS.contains(last) {
            break;
        }
        rest = head;
    }
    rest.join(" ")
}

/// Whether [`join_key`] leaves a word out at the beginning of a phrase.
pub(crate) fn drops_off(folded: &str) -> bool {
    ARTICLES.contains(&folded)
}

/// The first `limit` words of a text.
pub(crate) fn words(text: &str, limit: usize) -> Vec<Word> {
    let mut found = Vec::new();
    let mut opens = true;
    let mut letters = text.chars().enumerate().peekable();
    while let Some((start, first)) = letters.next() {
        if found.len() >= limit {
            break;
        }
        if first == '&' {
            found.push(word(start, start + 1, "&", "and".into(), opens));
            continue;
        }
        if is_single(first) {
            let plain = fold_letters(std::iter::once(first));
            if !plain.is_empty() {
                found.push(word(start, start + 1, &first.to_string(), plain, opens));
                opens = false;
            }
            continue;
        }
        if !first.is_alphanumeric() {
            opens |= matches!(first, '.' | '!' | '?' | '\n');
            continue;
        }
        let mut surface = String::from(first);
        let mut end = start + 1;
        while let Some(&(at, letter)) = letters.peek() {
            let goes_on = (letter.is_alphanumeric() && !is_single(letter))
                || is_combining_mark(letter)
                || is_ignorable(letter)
                || is_apostrophe(letter)
                || matches!(letter, '.' | ',' | '+' | '#');
            if !goes_on || surface.len() > MAX_WORD_BYTES {
                break;
            }
            if is_joint(letter) && !joins(&surface, letter, &letters) {
                break;
            }
            surface.push(letter);
            end = at + 1;
            letters.next();
        }
        let plain = plain_word(&surface);
        if !plain.is_empty() {
            found.push(word(start, end, &surface, plain, opens));
            opens = false;
        }
    }
    found
}

fn word(start: usize, end: usize, surface: &str, plain: String, opens: bool) -> Word {
    Word {
        start,
        end,
        folded: fold_word(&plain),
        capital: surface.chars().next().is_some_and(|letter| {
            letter.is_uppercase() || letter.is_numeric() || is_single(letter)
        }),
        surface: surface.to_owned(),
        plain,
        opens,
    }
}

/// Whether a joint character (dot, comma, apostrophe, plus) belongs to the word before it.
fn joins<I>(surface: &str, joint: char, letters: &std::iter::Peekable<I>) -> bool
where
    I: Iterator<Item = (usize, char)> + Clone,
{
    let mut ahead = letters.clone();
    ahead.next();
    let next = ahead.next().map(|(_, letter)| letter);
    let after = ahead.next().map(|(_, letter)| letter);
    let last_is_digit = surface.chars().next_back().is_some_and(char::is_numeric);
    match joint {
        '+' | '#' => !surface.chars().all(char::is_numeric),
        ',' => last_is_digit && next.is_some_and(char::is_numeric),
        '.' if last_is_digit => next.is_some_and(char::is_numeric),
        // An abbreviation: single letters between dots.
        '.' => {
            let segment = surface.rsplit('.').next().unwrap_or_default();
            let single = segment.chars().count() == 1;
            let next_is_single = next.is_some_and(char::is_alphabetic)
                && !after.is_some_and(|letter| letter.is_alphanumeric() || is_apostrophe(letter));
            single && (next_is_single || surface.contains('.'))
        }
        _ => next.is_some_and(char::is_alphanumeric) || surface.ends_with(['s', 'S']),
    }
}

/// Folds case, accents and inner punctuation of one word as written.
fn plain_word(surface: &str) -> String {
    // Nearly every word; the rest of this function leaves such a word as it is but for its case.
    if surface.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return surface.to_ascii_lowercase();
    }
    let mut kept = String::with_capacity(surface.len());
    let mut rest = surface;
    if let Some(at) = rest.rfind(is_apostrophe) {
        let (head, tail) = rest.split_at(at);
        let tail: String = tail.chars().skip(1).collect();
        if tail.is_empty() || tail.eq_ignore_ascii_case("s") {
            rest = head;
        }
    }
    kept.extend(rest.chars().filter(|letter| !is_apostrophe(*letter)));
    let number = kept.chars().next().is_some_and(char::is_numeric);
    let cleaned = kept
        .chars()
        .filter(|letter| *letter != ',' && (*letter != '.' || number));
    fold_letters(cleaned)
}

fn fold_letters(letters: impl Iterator<Item = char>) -> String {
    let mut folded = String::new();
    for letter in letters.flat_map(char::to_lowercase).nfkd() {
        if is_combining_mark(letter) || is_ignorable(letter) || letter.is_control() {
            continue;
        }
        for lower in letter.to_lowercase() {
            match lower {
                'ß' => folded.push_str("ss"),
                'ø' => folded.push('o'),
                'æ' => folded.push_str("ae"),
                'œ' => folded.push_str("oe"),
                'ł' => folded.push('l'),
                'đ' | 'ð' => folded.push('d'),
                'þ' => folded.push_str("th"),
                'ı' => folded.push('i'),
                other => folded.push(other),
            }
        }
    }
    folded
}

/// Folds English inflection of a plain word.
pub(crate) fn fold_word(plain: &str) -> String {
    if plain.len() < 4 || !plain.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return plain.to_owned();
    }
    static BASES: LazyLock<HashMap<&str, &str>> =
        LazyLock::new(|| IRREGULAR.iter().rev().copied().collect());
    if let Some(base) = BASES.get(plain) {
        return (*base).to_owned();
    }
    let mut base = plain;
    let singular;
    if let Some(stem) = base.strip_suffix("ies").filter(|stem| stem.len() >= 2) {
        singular = format!("{stem}y");
        base = &singular;
    } else if let Some(stem) = ["sses", "shes", "ches", "xes", "zzes"]
        .iter()
        .find_map(|end| base.ends_with(end).then(|| &base[..base.len() - 2]))
    {
        base = stem;
    } else if let Some(stem) = base.strip_suffix('s')
        && !stem.ends_with(['s', 'u', 'i'])
    {
        base = stem;
    }
    let mut cut = base;
    if let Some(stem) = base.strip_suffix("ing").filter(|stem| stem.len() >= 4) {
        cut = undouble(stem);
    } else if let Some(stem) = base.strip_suffix("ied").filter(|stem| stem.len() >= 3) {
        return format!("{stem}y");
    } else if let Some(stem) = base.strip_suffix("ed").filter(|stem| stem.len() >= 3) {
        cut = undouble(stem);
    }
    if cut.len() >= 5 {
        cut = cut.strip_suffix('e').unwrap_or(cut);
    } else if cut.len() == 4 && cut == base {
        // "make" and "made" style short words keep their e on both sides; "base" meets "based" here.
        cut = cut.strip_suffix('e').unwrap_or(cut);
    }
    cut.to_owned()
}

/// A coarser stem for matching a question with a predicate: agents and actions meet their verb.
pub(crate) fn stem(plain: &str) -> String {
    let folded = fold_word(plain);
    for end in [
        "ational", "ition", "ation", "itor", "ion", "er", "or", "ment", "ant",
    ] {
        if let Some(base) = folded.strip_suffix(end).filter(|base| base.len() >= 4) {
            return base.to_owned();
        }
    }
    folded
}

fn undouble(base: &str) -> &str {
    let bytes = base.as_bytes();
    match bytes {
        [.., a, b] if a == b && !matches!(b, b'l' | b's' | b'z' | b'e' | b'o') => {
            base.get(..base.len() - 1).unwrap_or(base)
        }
        _ => base,
    }
}

/// A four-digit year.
pub(crate) fn year(word: &str) -> Option<i32> {
    let digits = word.strip_prefix("fy").unwrap_or(word);
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits
        .parse()
        .ok()
        .filter(|year| (1000..=2999).contains(year))
}

pub(crate) fn is_stop(plain: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_WORDS.iter().copied().collect());
    WORDS.contains(plain)
}

/// Words that ask or address without naming anything a graph could hold.
pub(crate) fn is_generic(plain: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| GENERIC_WORDS.iter().copied().collect());
    WORDS.contains(plain)
}

/// The part of a text between two code points.
pub(crate) fn slice(text: &str, start: usize, end: usize) -> String {
    if text.is_ascii() {
        let end = end.min(text.len());
        return text.get(start..end).unwrap_or_default().to_owned();
    }
    text.chars()
        .skip(start)
        .take(end.saturating_sub(start))
        .collect()
}

fn fallback_key(label: &str) -> String {
    let kept: String = label
        .nfkc()
        .filter(|letter| !letter.is_control())
        .flat_map(char::to_lowercase)
        .take(200)
        .collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_apostrophe(letter: char) -> bool {
    matches!(
        letter,
        '\'' | '\u{2019}' | '\u{2018}' | '\u{02BC}' | '\u{FF07}'
    )
}

fn is_joint(letter: char) -> bool {
    is_apostrophe(letter) || matches!(letter, '.' | ',' | '+' | '#')
}

fn is_ignorable(letter: char) -> bool {
    matches!(letter, '\u{00AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

/// Characters that are a word by themselves: scripts written without spaces, and symbols such as emoji.
fn is_single(letter: char) -> bool {
    matches!(
        u32::from(letter),
        0x2190..=0x2BFF | 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x1F000..=0x1FAFF | 0x20000..=0x3FFFF
    )
}

const MAX_LABEL_WORDS: usize = 64;
const MAX_WORD_BYTES: usize = 200;
