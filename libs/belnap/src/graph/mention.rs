//! Where a text names a thing of the graph.

use super::label::{Label, fold, key};
use super::number::{Match, Number};
use super::reading::Reading;
use crate::lexicon::{self, Kinds};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mention {
    /// Numbers of tokens in the reading, both included.
    pub first: usize,
    pub last: usize,
    /// How surely it is this thing, 0 to 1.
    pub score: f32,
    pub how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Name,
    Number,
    /// An adjective of the place or a word of the same meaning.
    Meaning,
    /// A pronoun or a definite phrase that can stand for it.
    Pronoun,
}

impl Mention {
    pub(super) fn whole(token: usize) -> Mention {
        Mention {
            first: token,
            last: token,
            score: 1.0,
            how: How::Name,
        }
    }

    pub(super) fn overlaps(&self, other: &Mention) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// Mentions below this are no evidence that the text speaks of the thing.
pub(super) const LEAST: f32 = 0.4;

pub(super) fn find(reading: &Reading<'_>, label: &Label) -> Vec<Mention> {
    let mut found = Vec::new();
    if let Some(number) = label.number {
        numbers(reading, number, &mut found);
        if !found.is_empty() || label.words.len() > 1 {
            return found;
        }
    }
    names(reading, label, &mut found);
    initials(reading, label, &mut found);
    if !found.iter().any(|m| m.score >= 0.7) {
        places(reading, label, &mut found);
    }
    if label.common && !found.iter().any(|m| m.score >= 0.7) {
        meanings(reading, label, &mut found);
    }
    found
}

fn numbers(reading: &Reading<'_>, number: Number, found: &mut Vec<Mention>) {
    for n in &reading.numbers {
        // "3 metres below the sea" for -3: the sign may be in the words.
        if number
            .negated()
            .is_some_and(|m| n.number.compare(m) == Match::Equal)
        {
            found.push(Mention {
                first: n.first,
                last: n.last,
                score: 0.9,
                how: How::Number,
            });
        }
        if n.number.compare(number) == Match::Equal {
            let exact = n.number.is_full_date() == number.is_full_date();
            found.push(Mention {
                first: n.first,
                last: n.last,
                score: if exact { 1.0 } else { 0.8 },
                how: How::Number,
            });
        }
    }
}

/// Stretches of the text made of the label's words.
fn names(reading: &Reading<'_>, label: &Label, found: &mut Vec<Mention>) {
    let mut hits: Vec<(usize, usize)> = Vec::new();
    for (i, word) in label.words.iter().enumerate() {
        match reading.index.get(&word.key) {
            Some(at) => hits.extend(at.iter().map(|&w| (w, i))),
            None if word.key.chars().count() >= 6 && word.weight == 1.0 => {
                let near = reading.index.iter().filter(|(k, _)| nearly(k, &word.key));
                hits.extend(near.flat_map(|(_, at)| at.iter().map(move |&w| (w, i))));
            }
            None => {}
        }
    }
    hits.sort_unstable();
    let token = |w: usize| reading.words[w].token;
    let sentence = |w: usize| reading.tokens[token(w)].sentence;
    let mut start = 0;
    while start < hits.len() {
        let mut end = start + 1;
        while end < hits.len() && {
            let (a, b) = (hits[end - 1].0, hits[end].0);
            sentence(a) == sentence(b) && joined(reading, a, b)
        } {
            end += 1;
        }
        cluster(reading, label, &hits[start..end], found);
        start = end;
    }
    if label.words.len() >= 6 {
        scattered(reading, label, &hits, found);
    }
}

/// Both words can be of one name: what is between them is punctuation or one light word.
fn joined(reading: &Reading<'_>, a: usize, b: usize) -> bool {
    match b - a {
        0 | 1 => true,
        2 | 3 => (a + 1..b).all(|w| super::label::is_light(&reading.words[w].key)),
        _ => false,
    }
}

fn cluster(
    reading: &Reading<'_>,
    label: &Label,
    hits: &[(usize, usize)],
    found: &mut Vec<Mention>,
) {
    let mut seen = vec![false; label.words.len()];
    let mut lower = 0.0;
    // Light words at the ends are not part of the name unless the label has them there.
    let heavy = |h: &&(usize, usize)| label.words[h.1].weight >= 0.25;
    let (Some(first), Some(last)) = (hits.iter().find(heavy), hits.iter().rev().find(heavy)) else {
        return;
    };
    for &(w, i) in hits {
        if (first.0..=last.0).contains(&w) {
            let word = &label.words[i];
            if !seen[i]
                && word.capital
                && reading.tokens[reading.words[w].token]
                    .token
                    .form
                    .starts_with(char::is_lowercase)
            {
                lower += word.weight;
            }
            seen[i] = true;
        }
    }
    let covered: f32 = label
        .words
        .iter()
        .zip(&seen)
        .filter(|(_, s)| **s)
        .map(|(w, _)| w.weight)
        .sum();
    if !label
        .words
        .iter()
        .zip(&seen)
        .any(|(w, s)| *s && w.weight == 1.0)
    {
        return;
    }
    let (first, last) = (reading.words[first.0].token, reading.words[last.0].token);
    let mut score = covered / label.weight;
    if score < 0.95 {
        // "semiconductor" is not short for Taiwan Semiconductor.
        if !label.common {
            score -= 0.7 * lower / label.weight;
        }
        let surname = label.person && seen.last() == Some(&true);
        if surname {
            score = score.max(0.8);
        }
        // Part of somebody else's name: "Melinda Gates" is not Bill Gates.
        let stranger = |t: usize, inside: usize| {
            reading.is_name(t)
                && !label
                    .words
                    .iter()
                    .any(|w| w.key == key(&fold(&reading.tokens[t].token.form)))
                && !super::label::is_generic(&fold(&reading.tokens[t].token.form))
                && reading.tokens[t].sentence == reading.tokens[inside].sentence
                && reading.tokens[t]
                    .token
                    .form
                    .chars()
                    .filter(|c| c.is_alphabetic())
                    .count()
                    > 1
        };
        if !label.common && (first > 0 && stranger(first - 1, first) || stranger(last + 1, last)) {
            score *= 0.6;
        }
    }
    if score >= 0.3 {
        found.push(Mention {
            first,
            last,
            score,
            how: How::Name,
        });
    }
}

/// A long description may come in pieces.
fn scattered(
    reading: &Reading<'_>,
    label: &Label,
    hits: &[(usize, usize)],
    found: &mut Vec<Mention>,
) {
    for sentence in 0..reading.sentences.len() {
        let range = reading.sentence_range(sentence);
        let mut seen = vec![false; label.words.len()];
        let (mut first, mut last) = (usize::MAX, 0);
        for &(w, i) in hits {
            let token = reading.words[w].token;
            if range.contains(&token) && label.words[i].weight == 1.0 {
                seen[i] = true;
                (first, last) = (first.min(token), last.max(token));
            }
        }
        let covered: f32 = label
            .words
            .iter()
            .zip(&seen)
            .filter(|(_, s)| **s)
            .map(|(w, _)| w.weight)
            .sum();
        let score = covered / label.weight;
        if score >= 0.4 && !found.iter().any(|m| m.score >= score) {
            found.push(Mention {
                first,
                last,
                score,
                how: How::Name,
            });
        }
    }
}

fn initials(reading: &Reading<'_>, label: &Label, found: &mut Vec<Mention>) {
    if let Some(initials) = &label.initials {
        for &w in reading.index.get(initials).into_iter().flatten() {
            let token = reading.words[w].token;
            let form = &reading.tokens[token].token.form;
            if form.chars().filter(|c| c.is_uppercase()).count() >= 2 {
                found.push(Mention {
                    first: token,
                    last: token,
                    score: 0.9,
                    how: How::Name,
                });
            }
        }
    }
    let [only] = label.words.as_slice() else {
        return;
    };
    if (2..=6).contains(&only.key.len()) && label.initials.is_none() && !label.common {
        for (initials, first, last) in &reading.runs {
            if *initials == only.key {
                found.push(Mention {
                    first: *first,
                    last: *last,
                    score: 0.85,
                    how: How::Name,
                });
            }
        }
    }
}

/// "Danish" for Denmark, "US" for United States, and the other way about.
fn places(reading: &Reading<'_>, label: &Label, found: &mut Vec<Mention>) {
    let usual = lexicon::places_of(&label.entry).next();
    let names = [Some(label.entry.as_str()), usual];
    for name in names.into_iter().flatten() {
        for &t in reading.belongs.get(name).into_iter().flatten() {
            found.push(Mention {
                first: t,
                last: t,
                score: 0.8,
                how: How::Meaning,
            });
        }
    }
    // "Indian people", "Greek language" where the text has the place.
    let first = label
        .words
        .first()
        .map(|w| w.key.as_str())
        .unwrap_or_default();
    for place in lexicon::belongs_to(first) {
        for &w in reading.index.get(place).into_iter().flatten() {
            let token = reading.words[w].token;
            found.push(Mention {
                first: token,
                last: token,
                score: 0.6,
                how: How::Meaning,
            });
        }
    }
}

/// Words that mean the same as a general noun or phrase: "died" for deceased, "singer" for singing.
fn meanings(reading: &Reading<'_>, label: &Label, found: &mut Vec<Mention>) {
    let heavy: Vec<_> = label.words.iter().filter(|w| w.weight >= 0.35).collect();
    if heavy.is_empty() || heavy.len() > 3 {
        return;
    }
    let mut best: Option<Mention> = None;
    let frames: Vec<_> = heavy
        .iter()
        .map(|w| lexicon::frames_of(&w.key).collect::<Vec<_>>())
        .collect();
    for lemma in &reading.vocabulary {
        let mut score: f32 = 0.0;
        for (word, frames) in heavy.iter().zip(&frames) {
            let kindred = !lexicon::kind_of_noun(&word.key).meets(Kinds::PERSON)
                && lemma
                    .frames
                    .iter()
                    .any(|f| f.words.len() <= 12 && frames.iter().any(|g| std::ptr::eq(*f, *g)));
            let strength = match lemma.kin.get(word.key.as_str()) {
                _ if lemma.lemma == word.key => 1.0,
                Some(s) if *s >= 0.6 => *s,
                _ if kindred => 0.5,
                _ => 0.0,
            };
            score = score.max(strength * 0.9 * if heavy.len() > 1 { 0.7 } else { 1.0 });
        }
        if score >= 0.45 && best.is_none_or(|b| b.score < score) {
            for &t in &lemma.tokens {
                let mention = Mention {
                    first: t,
                    last: t,
                    score,
                    how: How::Meaning,
                };
                best = Some(mention);
                found.push(mention);
            }
        }
    }
}

/// They differ in one letter.
fn nearly(a: &str, b: &str) -> bool {
    if a.len().abs_diff(b.len()) > 1 || a.chars().next() != b.chars().next() {
        return false;
    }
    if a.bytes().any(|c| c.is_ascii_digit()) {
        return false;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let front = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let back = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    let shorter = a.len().min(b.len());
    a.len().max(b.len()) - shorter <= 1 && front + back + 1 >= a.len().max(b.len())
}
