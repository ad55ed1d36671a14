//! How well the neighbourhood of a word in a claim matches that of a word in the evidence.

use std::collections::HashMap;

use ud::Upos;

use super::measures::Fit;
use super::names;
use super::reading::Reading;
use super::vocabulary::{Bearing, Place, Vocabulary};

/// A sentence of the text beside the whole evidence.
pub(super) struct Comparison<'a> {
    pub readings: &'a [Reading],
    pub vocabulary: &'a Vocabulary,
    pub claim: &'a Reading,
    /// For each word of the claim, by sentence of the evidence: token and bearing.
    hits: Vec<HashMap<usize, Vec<(usize, Bearing)>>>,
    /// How much each word counts as context; 0 for what carries no meaning.
    weights: Vec<f32>,
}

/// What a word shares with another sentence than the one in question counts less.
const BEFORE: [f32; 2] = [0.5, 0.35];
const AFTER: f32 = 0.3;
/// A subject that the evidence may name by a pronoun or a definite phrase.
const BY_PRONOUN: f32 = 0.6;

impl<'a> Comparison<'a> {
    pub(super) fn new(
        readings: &'a [Reading],
        vocabulary: &'a Vocabulary,
        claim: &'a Reading,
    ) -> Self {
        let n = claim.words.len();
        let mut hits = vec![HashMap::new(); n];
        let mut weights = vec![0.0; n];
        for (t, w) in claim.words.iter().enumerate() {
            if let Some(m) = w.measure {
                let measure = &claim.measures[m];
                if measure.tokens.start != t {
                    continue;
                }
                weights[t] = 1.0;
                for (s, reading) in readings.iter().enumerate() {
                    for other in &reading.measures {
                        if measure.fit(other) == Fit::Equal {
                            let same = Bearing {
                                same: 1.0,
                                opposite: 0.0,
                            };
                            put(&mut hits[t], (s, other.tokens.start), same);
                        }
                    }
                }
                continue;
            }
            if !w.content {
                continue;
            }
            weights[t] = vocabulary.weight(&w.key) * if w.name { 1.3 } else { 1.0 };
            if matches!(w.upos, Upos::Adp | Upos::Sconj | Upos::Adv) {
                weights[t] *= 0.5;
            }
            for (bearing, _, places) in vocabulary.bearing_on(w) {
                for &place in places {
                    put(&mut hits[t], place, bearing);
                }
            }
        }
        let same = Bearing {
            same: 1.0,
            opposite: 0.0,
        };
        for (t, w) in claim.words.iter().enumerate() {
            if w.name && w.capitals {
                for (s, reading) in readings.iter().enumerate() {
                    for (first, last) in names::spelled_out(reading, &w.form) {
                        (first..=last).for_each(|u| put(&mut hits[t], (s, u), same));
                    }
                }
            }
        }
        for (s, reading) in readings.iter().enumerate() {
            for (u, w) in reading.words.iter().enumerate() {
                if w.name && w.capitals {
                    for (first, last) in names::spelled_out(claim, &w.form) {
                        (first..=last).for_each(|t| put(&mut hits[t], (s, u), same));
                    }
                }
            }
        }
        Comparison {
            readings,
            vocabulary,
            claim,
            hits,
            weights,
        }
    }

    pub(super) fn hits(&self, token: usize) -> impl Iterator<Item = (Place, Bearing)> + '_ {
        self.hits[token]
            .iter()
            .flat_map(|(&s, list)| list.iter().map(move |&(t, b)| ((s, t), b)))
    }

    /// Whether any word of the evidence says the same as this one.
    pub(super) fn known(&self, token: usize) -> bool {
        self.hits(token).any(|(_, b)| b.same > 0.0)
    }

    /// The word of the claim that says what word `at` of the evidence says.
    pub(super) fn partner(&self, at: Place) -> Option<usize> {
        (0..self.hits.len()).find(|&t| {
            self.hits[t]
                .get(&at.0)
                .is_some_and(|l| l.iter().any(|&(u, b)| u == at.1 && b.same >= 0.5))
        })
    }

    pub(super) fn same_at(&self, token: usize, at: Place) -> f32 {
        self.hits[token]
            .get(&at.0)
            .and_then(|l| l.iter().find(|(u, _)| *u == at.1))
            .map_or(0.0, |(_, b)| b.same)
    }

    /// 0 to 1: how much of what stands around `token` in the claim stands around `at` in the evidence. Nearness is
    /// counted in arcs on both sides. `skip` are words that are not context.
    pub(super) fn alike(&self, token: usize, near: &[u8], at: Place, skip: &[usize]) -> f32 {
        let (s, q) = at;
        let reading = &self.readings[s];
        let away = reading.distances(q);
        let (mut total, mut got) = (0.0, 0.0);
        for (t, w) in self.claim.words.iter().enumerate() {
            if t == token
                || self.weights[t] == 0.0
                || skip.contains(&t)
                || w.measure
                    .is_some_and(|m| Some(m) == self.claim.words[token].measure)
            {
                continue;
            }
            let weight = self.weights[t] * fade(near[t], 0.75);
            total += weight;
            let mut best = 0.0f32;
            if let Some(list) = self.hits[t].get(&s) {
                for &(u, b) in list {
                    if u != q && b.same >= b.opposite {
                        best = best.max(b.same * fade(away[u].saturating_sub(1), 0.85));
                    }
                }
            }
            for (back, share) in BEFORE.iter().enumerate() {
                if best < *share
                    && let Some(list) = s.checked_sub(back + 1).and_then(|s| self.hits[t].get(&s))
                {
                    best = list
                        .iter()
                        .map(|(_, b)| b.same * share)
                        .fold(best, f32::max);
                }
            }
            if best < AFTER
                && let Some(list) = self.hits[t].get(&(s + 1))
            {
                best = list
                    .iter()
                    .map(|(_, b)| b.same * AFTER)
                    .fold(best, f32::max);
            }
            if best < BY_PRONOUN && self.in_subject(t) && reading.refers_back() {
                best = BY_PRONOUN;
            }
            got += weight * best;
        }
        if total > 0.0 { got / total } else { 0.0 }
    }

    /// How much of the given words the best place in the evidence says, and which sentence that is.
    pub(super) fn coverage(&self, words: &[usize]) -> (f32, usize) {
        let total: f32 = words.iter().map(|&t| self.weights[t]).sum();
        if total == 0.0 {
            return (0.0, 0);
        }
        let mut best = (0.0f32, 0);
        for (s, reading) in self.readings.iter().enumerate() {
            let mut got = 0.0;
            for &t in words {
                let mut m = self.best_in(t, s);
                for (back, share) in BEFORE.iter().enumerate() {
                    if let Some(p) = s.checked_sub(back + 1) {
                        m = m.max(share * self.best_in(t, p));
                    }
                }
                m = m.max(AFTER * self.best_in(t, s + 1));
                if m < BY_PRONOUN && self.in_subject(t) && reading.refers_back() {
                    m = BY_PRONOUN;
                }
                got += self.weights[t] * m;
            }
            if got / total > best.0 {
                best = (got / total, s);
            }
        }
        best
    }

    fn best_in(&self, t: usize, s: usize) -> f32 {
        self.hits[t]
            .get(&s)
            .map_or(0.0, |l| l.iter().map(|(_, b)| b.same).fold(0.0, f32::max))
    }

    fn in_subject(&self, mut t: usize) -> bool {
        for _ in 0..4 {
            let w = &self.claim.words[t];
            match (&*w.relation, w.head) {
                ("nsubj", _) => return true,
                ("compound" | "flat" | "amod" | "det", Some(h)) => t = h,
                _ => return false,
            }
        }
        false
    }
}

fn fade(arcs: u8, by: f32) -> f32 {
    by.powi(i32::from(arcs.saturating_sub(1).min(20)))
}

fn put(hits: &mut HashMap<usize, Vec<(usize, Bearing)>>, (s, t): Place, b: Bearing) {
    hits.entry(s).or_default().push((t, b));
}

impl Reading {
    /// Its subject may be something named before: "he", "the film".
    pub(super) fn refers_back(&self) -> bool {
        self.words.iter().enumerate().any(|(i, w)| {
            (w.upos == Upos::Pron
                && (&*w.relation == "nsubj"
                    || matches!(
                        w.form.as_str(),
                        "his" | "her" | "its" | "their" | "our" | "my"
                    )))
                || (&*w.relation == "nsubj"
                    && w.upos == Upos::Noun
                    && self
                        .child(i, "det")
                        .is_some_and(|d| matches!(self.words[d].key.as_str(), "the" | "this")))
        })
    }
}
