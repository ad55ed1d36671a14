//! An answer's sentences and clauses, cut by punctuation and function words alone.

use crate::text::{Word, words};

/// A sentence without Markdown, citation marks and web addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    pub text: String,
    pub words: Vec<Word>,
    /// The characters between each word and the next one, and after the last one.
    pub after: Vec<String>,
    /// The characters right before each word, up to the word before it.
    pub before: Vec<String>,
}

/// The sentences of an answer that state something: questions and code are left out. At most `MAX_SENTENCES`.
pub(super) fn sentences(response: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut in_code = false;
    for line in response.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            in_code = !in_code;
            continue;
        }
        if in_code || trimmed.is_empty() {
            continue;
        }
        for text in split(&plain_line(trimmed)) {
            if found.len() >= MAX_SENTENCES {
                return found;
            }
            if text.ends_with('?') {
                continue;
            }
            let sentence = Sentence::read(text);
            if !sentence.words.is_empty() {
                found.push(sentence);
            }
        }
    }
    found
}

impl Sentence {
    fn read(text: String) -> Self {
        let words = words(&text, MAX_WORDS);
        let letters: Vec<char> = text.chars().collect();
        let gap = |from: usize, to: usize| -> String {
            letters
                .get(from..to)
                .map(|gap| gap.iter().collect())
                .unwrap_or_default()
        };
        let mut after = Vec::with_capacity(words.len());
        let mut before = Vec::with_capacity(words.len());
        let mut last = 0;
        for (at, word) in words.iter().enumerate() {
            before.push(gap(last, word.start));
            let next = words.get(at + 1).map_or(letters.len(), |next| next.start);
            after.push(gap(word.end, next));
            last = word.end;
        }
        Self {
            text,
            words,
            after,
            before,
        }
    }

    pub(super) fn gap_after(&self, at: usize) -> &str {
        self.after.get(at).map_or("", String::as_str)
    }
}

/// One line without list and heading marks, emphasis, links, citation marks and web addresses.
fn plain_line(line: &str) -> String {
    let line = line.trim_start_matches(['#', '>', '-', '*', '+', '•', ' ', '\t']);
    let body = match line.split_once(['.', ')']) {
        Some((number, rest))
            if !number.is_empty()
                && number.len() <= 3
                && number.bytes().all(|byte| byte.is_ascii_digit())
                && rest.starts_with(' ') =>
        {
            rest.trim_start()
        }
        _ => line,
    };
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(letter) = rest.chars().next() {
        if let Some(tail) = rest.strip_prefix('[')
            && let Some((inside, tail)) = tail.split_once(']')
            && inside.len() <= 200
        {
            let is_mark = inside
                .chars()
                .all(|letter| letter.is_ascii_digit() || matches!(letter, ',' | ' ' | '^'));
            if !is_mark {
                out.push_str(inside);
            }
            rest = match tail.strip_prefix('(').and_then(|tail| tail.split_once(')')) {
                Some((_, after)) if !is_mark => after,
                _ => tail,
            };
            continue;
        }
        if rest.starts_with("http://") || rest.starts_with("https://") {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            rest = rest.get(end..).unwrap_or_default();
            continue;
        }
        match letter {
            '*' | '`' => {}
            '|' => out.push(';'),
            other => out.push(other),
        }
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
    }
    out
}

/// Cuts where a full stop, exclamation or question mark ends a sentence.
fn split(line: &str) -> Vec<String> {
    let letters: Vec<char> = line.chars().collect();
    let mut found = Vec::new();
    let mut start = 0;
    for (at, letter) in letters.iter().enumerate() {
        if !matches!(letter, '.' | '!' | '?') {
            continue;
        }
        let rest = letters.get(at + 1..).unwrap_or_default();
        let closing = rest
            .iter()
            .take_while(|letter| matches!(letter, '"' | '”' | '\'' | '’' | ')' | ']'))
            .count();
        let rest = rest.get(closing..).unwrap_or_default();
        let spaced = rest.first().is_none_or(|next| next.is_whitespace());
        let next = rest.iter().find(|letter| !letter.is_whitespace());
        let opens = next.is_none_or(|next| !next.is_lowercase());
        if !spaced || !opens {
            continue;
        }
        let ends_here = *letter != '.' || !is_abbreviation(letters.get(start..at), next.is_none());
        if ends_here {
            let end = at + 1 + closing;
            found.push(
                letters
                    .get(start..end)
                    .unwrap_or_default()
                    .iter()
                    .collect::<String>(),
            );
            start = end;
        }
    }
    found.push(letters.get(start..).unwrap_or_default().iter().collect());
    found
        .into_iter()
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
        .collect()
}

fn is_abbreviation(before: Option<&[char]>, at_end: bool) -> bool {
    if at_end {
        return false;
    }
    let word: String = before
        .unwrap_or_default()
        .iter()
        .rev()
        .take_while(|letter| letter.is_alphanumeric() || matches!(letter, '.' | '&'))
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect();
    let lower = word.to_lowercase();
    let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    initial || ABBREVIATIONS.contains(&lower.as_str()) || lower.contains('.') && lower.len() <= 6
}

const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "inc", "corp", "ltd", "co", "no", "vs",
    "approx", "ca", "e.g", "i.e", "etc", "est", "fig", "vol", "jan", "feb", "mar", "apr", "jun",
    "jul", "aug", "sep", "sept", "oct", "nov", "dec", "gen", "sen", "rep", "gov", "mt", "ft",
];
const MAX_SENTENCES: usize = 400;
const MAX_WORDS: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_lists_and_abbreviations_do_not_cut_sentences_apart() {
        let texts = |response: &str| -> Vec<String> {
            sentences(response)
                .into_iter()
                .map(|sentence| sentence.text)
                .collect()
        };
        assert_eq!(
            texts("Apple Inc. was founded in 1976 [1][2]. **Tim Cook** is its CEO [3]!"),
            ["Apple Inc. was founded in 1976 .", "Tim Cook is its CEO !"]
        );
        assert_eq!(
            texts("# Facts\n1. J. R. Smith leads it.\n- See [the site](https://a.b/c) now\n"),
            ["Facts", "J. R. Smith leads it.", "See the site now"]
        );
        assert_eq!(
            texts("Was it 1976? It was 3.5 billion.\n```\nlet x = 1980;\n```"),
            ["It was 3.5 billion."]
        );
        assert!(texts("").is_empty());
    }
}
