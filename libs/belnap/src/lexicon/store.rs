//! The excerpt of WordNet that is part of this library: sorted lines, found by bisection, never copied.

use std::sync::LazyLock;

static TEXT: &str = include_str!("../../lexicon/wordnet.txt");

/// Where each line starts. Finding them takes a pass over the text, once.
static STARTS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut starts = vec![0];
    let ends = TEXT.bytes().enumerate().filter(|(_, b)| *b == b'\n');
    starts.extend(ends.map(|(i, _)| i as u32 + 1));
    starts
});

/// What WordNet says of one word.
#[derive(Clone, Copy)]
pub(crate) struct Entry(&'static str);

/// A field of an entry; the letters are explained in `lexicon/make.py`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Kind,
    NounSynonym,
    VerbSynonym,
    AdjectiveSynonym,
    AdverbSynonym,
    Derived,
    Antonym,
    NounAbove,
    VerbAbove,
    Pertains,
    Entails,
}

impl Field {
    fn letter(self) -> char {
        match self {
            Field::Kind => 'k',
            Field::NounSynonym => 'n',
            Field::VerbSynonym => 'v',
            Field::AdjectiveSynonym => 'a',
            Field::AdverbSynonym => 'r',
            Field::Derived => 'd',
            Field::Antonym => 'x',
            Field::NounAbove => 'h',
            Field::VerbAbove => 'g',
            Field::Pertains => 'p',
            Field::Entails => 'i',
        }
    }
}

/// The entry of a lemma in lower case; blanks of a multi-word lemma are underscores.
pub(crate) fn entry(word: &str) -> Option<Entry> {
    let starts = &*STARTS;
    let at = starts.partition_point(|&s| key(s) < word);
    let start = *starts.get(at)?;
    (key(start) == word && !word.is_empty()).then(|| Entry(line(start)))
}

fn line(start: u32) -> &'static str {
    let rest = TEXT.get(start as usize..).unwrap_or_default();
    rest.split('\n').next().unwrap_or_default()
}

fn key(start: u32) -> &'static str {
    let rest = TEXT.get(start as usize..).unwrap_or_default();
    let end = rest
        .bytes()
        .position(|b| b == b'\t' || b == b'\n')
        .unwrap_or(rest.len());
    &rest[..end]
}

impl Entry {
    pub(crate) fn list(self, field: Field) -> impl Iterator<Item = &'static str> {
        self.0
            .split('\t')
            .skip(1)
            .find_map(move |f| f.strip_prefix(field.letter()))
            .unwrap_or_default()
            .split(',')
            .filter(|w| !w.is_empty())
    }

    pub(crate) fn holds(self, field: Field, word: &str) -> bool {
        self.list(field).any(|w| w == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_sorted_and_every_key_is_found() {
        let keys: Vec<&str> = TEXT.lines().filter_map(|l| l.split('\t').next()).collect();
        assert!(keys.windows(2).all(|w| w[0] < w[1]));
        assert!(keys.iter().step_by(97).all(|k| entry(k).is_some()));
        assert!(entry("").is_none() && entry("zzzz").is_none() && entry("auth").is_none());
    }
}
