//! The words of the evidence, by lemma, and how a word of the claim relates to them.

use std::collections::HashMap;

use ud::Upos;

use crate::lexicon;

use super::reading::{Reading, Word};
use super::words;

/// Where a word stands: sentence and token.
pub(super) type Place = (usize, usize);

/// How a word of the evidence bears on a word of the claim.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Bearing {
    /// It says the same, 0 to 1.
    pub same: f32,
    /// It says the opposite, 0 to 1.
    pub opposite: f32,
}

#[derive(Debug, Clone, Default)]
struct Entry {
    key: String,
    noun: bool,
    verb: bool,
    quality: bool,
    name: bool,
    /// It also stands as a common word.
    plain: bool,
    places: Vec<Place>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Vocabulary {
    entries: Vec<Entry>,
    by_key: HashMap<String, usize>,
    by_form: HashMap<String, usize>,
    by_stem: HashMap<String, Vec<usize>>,
    /// Words that the lexicon ties to one of ours, with how.
    beyond: HashMap<&'static str, Vec<(usize, Bearing)>>,
    sentences: usize,
}

impl Vocabulary {
    pub(super) fn new(readings: &[Reading]) -> Self {
        let mut v = Vocabulary {
            sentences: readings.len(),
            ..Default::default()
        };
        for (s, reading) in readings.iter().enumerate() {
            for (t, w) in reading.words.iter().enumerate() {
                if w.content || w.name {
                    v.add(w, (s, t));
                }
            }
        }
        for id in 0..v.entries.len() {
            v.relate(id);
        }
        v
    }

    fn add(&mut self, w: &Word, place: Place) {
        let id = *self.by_key.entry(w.key.clone()).or_insert_with(|| {
            self.entries.push(Entry {
                key: w.key.clone(),
                ..Default::default()
            });
            self.entries.len() - 1
        });
        let entry = &mut self.entries[id];
        entry.noun |= w.upos == Upos::Noun;
        entry.verb |= w.upos == Upos::Verb;
        entry.quality |= matches!(w.upos, Upos::Adj | Upos::Adv | Upos::Adp);
        entry.name |= w.name;
        entry.plain |= !w.name;
        entry.places.push(place);
        if w.form != w.key {
            self.by_form.entry(w.form.clone()).or_insert(id);
        }
        if entry.places.len() == 1 {
            self.by_stem
                .entry(words::stem(&w.key).to_owned())
                .or_default()
                .push(id);
        }
    }

    fn relate(&mut self, id: usize) {
        let key = self.entries[id].key.clone();
        let mut put = |word: &'static str, same: f32, opposite: f32| {
            self.beyond
                .entry(word)
                .or_default()
                .push((id, Bearing { same, opposite }));
        };
        for w in lexicon::synonyms(&key) {
            put(w, 0.8, 0.0);
        }
        for w in lexicon::pertains_to(&key) {
            put(w, 0.9, 0.0);
        }
        for w in lexicon::antonyms(&key) {
            put(w, 0.0, 0.9);
        }
        for w in lexicon::above(&key) {
            put(w, 0.6, 0.0);
        }
    }

    /// Words of the evidence that bear on `word`, each with its places.
    pub(super) fn bearing_on(&self, word: &Word) -> Vec<(Bearing, &str, &[Place])> {
        let mut found: HashMap<usize, Bearing> = HashMap::new();
        let mut add = |id: usize, same: f32, opposite: f32| {
            let b = found.entry(id).or_default();
            b.same = b.same.max(same);
            b.opposite = b.opposite.max(opposite);
        };
        let key = word.key.as_str();
        for k in [key, word.form.as_str()] {
            if let Some(&id) = self.by_key.get(k).or_else(|| self.by_form.get(k)) {
                // "the States" and "a state" share no more than a lemma.
                let apart = self.entries[id].name != word.name
                    && !self.entries[id].plain
                    && self.entries[id].key != word.form;
                add(id, if apart { 0.4 } else { 1.0 }, 0.0);
            }
        }
        if key.len() >= 5 {
            for &id in self.by_stem.get(words::stem(key)).into_iter().flatten() {
                add(id, 0.85, 0.0);
            }
        }
        let (noun, verb) = (word.upos == Upos::Noun, word.upos == Upos::Verb);
        let quality = matches!(word.upos, Upos::Adj | Upos::Adv | Upos::Adp);
        let alike = |id: usize| {
            let e = &self.entries[id];
            !word.name && ((noun && e.noun) || (verb && e.verb) || (quality && e.quality))
        };
        for &(id, b) in self.beyond.get(key).into_iter().flatten() {
            // A kind above is no other name of it: a Canadian is an American of one sort.
            let same = if word.name && b.same < 0.7 {
                0.0
            } else {
                b.same
            };
            add(id, same, if alike(id) { b.opposite } else { 0.0 });
        }
        let look = |w: &str| self.by_key.get(w).copied();
        for id in lexicon::synonyms(key).filter_map(look) {
            add(id, 0.8, 0.0);
        }
        for id in lexicon::pertains_to(key).filter_map(look) {
            add(id, 0.9, 0.0);
        }
        for id in lexicon::above(key).filter(|_| !word.name).filter_map(look) {
            add(id, 0.6, 0.0);
        }
        for id in lexicon::antonyms(key)
            .filter_map(look)
            .filter(|&id| alike(id))
        {
            add(id, 0.0, 0.9);
        }
        // A synonym of one is made from the other.
        for s in lexicon::synonyms(key) {
            for id in lexicon::pertains_to(s).filter_map(look) {
                add(id, 0.55, 0.0);
            }
        }
        for &o in words::opposites(key).iter().filter(|_| !word.name) {
            if let Some(id) = look(o) {
                add(id, 0.0, 1.0);
            }
        }
        // What shares an opposite says the same.
        for &o in words::opposites(key) {
            for id in words::opposites(o).iter().filter_map(|w| look(w)) {
                add(id, 0.7, 0.0);
            }
        }
        let axis = words::axis(key);
        for (id, e) in self.entries.iter().enumerate() {
            if e.key == key {
                continue;
            }
            if let (Some(a), Some(b)) = (axis, words::axis(&e.key)) {
                add(
                    id,
                    if a == b { 0.7 } else { 0.0 },
                    if a == b { 0.0 } else { 0.9 },
                );
            }
            if words::denied_by_prefix(key, &e.key) {
                add(id, 0.0, 1.0);
            }
            // "screenwriter" is a writer.
            if noun && key.len() >= 5 && e.key.len() > key.len() && e.key.ends_with(key) {
                add(id, 0.6, 0.0);
            }
        }
        found
            .into_iter()
            .map(|(id, b)| {
                (
                    b,
                    self.entries[id].key.as_str(),
                    self.entries[id].places.as_slice(),
                )
            })
            .collect()
    }

    pub(super) fn holds(&self, key: &str) -> bool {
        self.by_key.contains_key(key) || self.by_form.contains_key(key)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries
            .iter()
            .filter(|e| e.name)
            .map(|e| e.key.as_str())
    }

    /// How telling a word is: 1 where it is in no sentence, towards 0.2 where it is in all.
    pub(super) fn weight(&self, key: &str) -> f32 {
        let n = self.sentences as f32;
        let df = self
            .by_key
            .get(key)
            .map_or(0, |&id| self.entries[id].places.len().min(self.sentences))
            as f32;
        if n < 3.0 {
            return 1.0;
        }
        (((1.0 + n) / (1.0 + df)).ln() / (1.0 + n).ln()).clamp(0.2, 1.0)
    }
}
