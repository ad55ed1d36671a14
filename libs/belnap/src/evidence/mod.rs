//! Evidence in prose: claims of a text held against the sentences of another.

mod compare;
mod conflict;
mod measures;
mod names;
mod reading;
mod roles;
#[cfg(test)]
mod tests;
mod verdict;
mod vocabulary;
mod words;

use std::ops::Range;

use ud::{Parser, Sentence};

use crate::claim::{Claim, Judgement};
use crate::extract::extract_from;

use reading::Reading;
use vocabulary::Vocabulary;

/// A text to judge by, parsed once.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    text: String,
    readings: Vec<Reading>,
    vocabulary: Vocabulary,
    found: bool,
}

/// Sentences of a text that is taken to speak of what the claim speaks of although it does not name it.
const PRESUMED: usize = 3;

impl Evidence {
    /// A text that somebody has chosen as the evidence. A short one (up to three sentences) is taken to be about the
    /// claim's subject, named or not. Takes about as long as parsing the text does.
    pub fn new(parser: &Parser, text: &str) -> Self {
        let plain = plain(text);
        let readings: Vec<Reading> = parser.parse(&plain).iter().map(Reading::new).collect();
        Evidence {
            vocabulary: Vocabulary::new(&readings),
            text: text.to_owned(),
            readings,
            found: false,
        }
    }

    /// A text that a search has found. It may be about anything, so it speaks against a claim only if it names what the
    /// claim is about.
    pub fn found(parser: &Parser, text: &str) -> Self {
        Evidence {
            found: true,
            ..Self::new(parser, text)
        }
    }

    /// Where a name must stand for sentence `i` to be about it: anywhere in a text that somebody has chosen; in what was
    /// found, which may be pieces of several texts, in the sentence itself or the two before it.
    fn around(&self, i: usize) -> &str {
        let span = |i: usize| self.readings.get(i).map(|r| &r.span);
        match (span(i.saturating_sub(2)), span(i)) {
            (Some(first), Some(last)) if self.found => {
                self.text.get(first.start..last.end).unwrap_or_default()
            }
            _ => &self.text,
        }
    }

    fn must_name(&self) -> bool {
        self.found || self.readings.len() > PRESUMED
    }

    /// Bytes of the evidence text that sentence `i` takes up.
    pub fn sentence_span(&self, i: usize) -> Option<Range<usize>> {
        self.readings.get(i).map(|r| r.span.clone())
    }

    /// One judgement for each claim of `text`, whose parsed sentences these are.
    pub fn judge(&self, text: &str, sentences: &[Sentence], claims: &[Claim]) -> Vec<Judgement> {
        let readings: Vec<Reading> = sentences.iter().map(Reading::new).collect();
        verdict::judge(self, text, &readings, claims)
    }
}

/// The claims of `text` with what the evidence says of each.
pub fn verify_against(parser: &Parser, text: &str, evidence: &Evidence) -> Vec<(Claim, Judgement)> {
    let sentences = parser.parse(&plain(text));
    let readings: Vec<Reading> = sentences.iter().map(Reading::new).collect();
    let mut claims = extract_from(text, &sentences);
    for (number, reading) in readings.iter().enumerate() {
        if claims.iter().all(|c| c.sentence != number) {
            claims.extend(verdict::stand_in(text, number, reading));
        }
    }
    claims.sort_by_key(|c| c.sentence);
    let judged = verdict::judge(evidence, text, &readings, &claims);
    claims.into_iter().zip(judged).collect()
}

/// Without brackets in a script or an alphabet of sounds that the parser does not know.
fn unspelled(text: &str) -> String {
    const LONGEST: usize = 240;
    let strange = |c: char| matches!(c, '\u{250}'..='\u{2ff}' | '\u{370}'..='\u{1dff}' | '\u{2e80}'..='\u{a7ff}' | '\u{ac00}'..='\u{d7ff}');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(['(', '[']) {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let close = if from.starts_with('(') { ')' } else { ']' };
        let group = from.find(close).map(|end| &from[..end + 1]);
        match group.filter(|g| {
            g.len() <= LONGEST && g.chars().any(strange) && !g.chars().any(|c| c.is_ascii_digit())
        }) {
            Some(g) => {
                out.extend(std::iter::repeat_n(' ', g.len()));
                rest = &from[g.len()..];
            }
            None => {
                out.push_str(&from[..1]);
                rest = &from[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Without the bracketed notes on pronunciation, which no parser reads; blanks keep every offset.
fn unpronounced(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("-LSB-") {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        match from.find("-RSB-") {
            Some(end) if end < LONGEST => {
                let end = end + "-RSB-".len();
                out.extend(std::iter::repeat_n(' ', end));
                rest = &from[end..];
            }
            _ => {
                let (mark, after) = from.split_at("-LSB-".len());
                out.push_str(mark);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Brackets and quotes as treebanks write them, put back in as many bytes.
fn plain(text: &str) -> String {
    if !text.contains("-LRB-") && !text.contains("-LSB-") && !text.contains("``") {
        return unspelled(text);
    }
    let text = unpronounced(text)
        .replace("-LRB-", "    (")
        .replace("-RRB-", ")    ")
        .replace("-LSB-", "    [")
        .replace("-RSB-", "]    ")
        .replace("``", " \"")
        .replace("''", "\" ");
    unspelled(&text)
}
