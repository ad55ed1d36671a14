//! What the statements of a graph say about a text: every place where the text states one of them, denies one, or
//! gives another filler for a relation that has one filler only.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::label::{Label, key, pieces};
use super::link::{Direction, Link, foreign, link, local, stand_ins};
use super::meaning::{Meaning, Shape};
use super::mention::{self, How, LEAST, Mention};
use super::number::{Match, Number};
use super::reading::{Name, Reading};
use super::relation::{Fit, fit, same_kind};
use super::{Graph, Keys};
use crate::claim::{Modality, Polarity};
use crate::lexicon::{self, Kinds, Level};

/// The least fit at which the text counts as stating a fact, and as denying it.
const STATES: f32 = 0.4;
const DENIES: f32 = 0.4;
/// The least fit of another filler, and the least margin of the arcs that a contradiction rests on.
const RIVAL: f32 = 0.6;
/// And of the word that names the relation, where the filler is a name and so says nothing of the relation itself.
const RIVAL_HEAD: f32 = 0.62;
const CLEAR: f32 = 0.1;
const CLEAR_FRAGILE: f32 = 0.6;

/// One place in the text that bears on one fact.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub fact: usize,
    pub supports: bool,
    pub score: f32,
    pub subject: Mention,
    pub object: Mention,
    pub negative: bool,
    pub modality: Modality,
    pub margin: f32,
    pub fragile: bool,
    pub why: Why,
    pub by: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    Stated,
    OppositePolarity,
    OtherFiller,
    Exclusive,
    Reversed,
}

impl Finding {
    /// It may make a claim false: asserted, and clear enough in the tree.
    pub(super) fn firm(&self) -> bool {
        self.modality == Modality::Asserted
            && self.margin >= if self.fragile { CLEAR_FRAGILE } else { CLEAR }
    }
}

pub(super) fn findings(graph: &Graph, reading: &Reading<'_>) -> Vec<Finding> {
    let mut judge = Judge {
        graph,
        reading,
        mentions: vec![None; graph.labels.len()],
        slots: (0..reading.sentences.len())
            .map(|s| stand_ins(reading, s))
            .collect(),
        links: RefCell::default(),
        coordinates: RefCell::new(vec![None; graph.labels.len() * reading.vocabulary.len()]),
        found: Vec::new(),
    };
    for fact in 0..graph.facts.len() {
        judge.stated(fact);
    }
    let rivals: Vec<Finding> = (0..graph.facts.len())
        .filter_map(|f| judge.rival(f))
        .collect();
    judge.found.extend(rivals);
    judge.found
}

struct Judge<'a> {
    graph: &'a Graph,
    reading: &'a Reading<'a>,
    /// By label.
    mentions: Vec<Option<Vec<Mention>>>,
    /// By sentence.
    slots: Vec<Vec<Mention>>,
    /// What lies between two mentions is the same for every fact that is named there.
    links: RefCell<HashMap<Ends, Option<Rc<Link>>>>,
    /// Whether a lemma is another thing of a label's kind, by label and lemma, as far as it has been asked.
    coordinates: RefCell<Vec<Option<bool>>>,
    found: Vec<Finding>,
}

/// All that [`link`] asks of two mentions: where they are, and whether the first is a pronoun.
type Ends = (usize, usize, bool, usize, usize);

impl Judge<'_> {
    fn mentions(&mut self, labels: &[usize]) -> Vec<Mention> {
        let mut all = Vec::new();
        for &label in labels {
            let found = match &self.mentions[label] {
                Some(found) => found,
                None => {
                    let found = mention::find(self.reading, &self.graph.labels[label]);
                    self.mentions[label].insert(found)
                }
            };
            all.extend(found.iter().copied());
        }
        all
    }

    fn link(&self, a: &Mention, b: &Mention) -> Option<Rc<Link>> {
        let ends = (a.first, a.last, a.how == How::Pronoun, b.first, b.last);
        self.links
            .borrow_mut()
            .entry(ends)
            .or_insert_with(|| link(self.reading, a, b).map(Rc::new))
            .clone()
    }

    /// The lemma names another thing of the kind that a label names, such as rupee for euro.
    fn coordinate(&self, label: usize, lemma: usize) -> bool {
        let at = label * self.reading.vocabulary.len() + lemma;
        if let Some(Some(known)) = self.coordinates.borrow().get(at) {
            return *known;
        }
        let (words, lemma) = (
            &self.graph.labels[label].words,
            &self.reading.vocabulary[lemma],
        );
        let found = words.iter().any(|w| {
            w.kinds.iter().any(|k| lemma.kinds.contains(k))
                && lexicon::coordinate(&w.key, &lemma.lemma)
        }) && !words.iter().any(|w| w.key == lemma.lemma);
        if let Some(slot) = self.coordinates.borrow_mut().get_mut(at) {
            *slot = Some(found);
        }
        found
    }

    fn sentence(&self, m: &Mention) -> usize {
        self.reading.tokens[m.first].sentence
    }

    /// Subject mentions by sentence, with stand-ins where a sentence has none but an earlier one has.
    fn subjects(&self, named: &[Mention], sentence: usize) -> Vec<Mention> {
        let here: Vec<Mention> = named
            .iter()
            .filter(|m| self.sentence(m) == sentence)
            .copied()
            .collect();
        let before = named
            .iter()
            .filter(|m| self.sentence(m) < sentence)
            .map(|m| m.score)
            .fold(0.0, f32::max);
        let mut all = here;
        if before >= 0.6 {
            all.extend(self.slots[sentence].iter().map(|slot| Mention {
                score: slot.score * before,
                ..*slot
            }));
        }
        all
    }

    fn stated(&mut self, fact: usize) {
        let graph = self.graph;
        let keys = &graph.keys[fact];
        let named = self.mentions(&keys.subjects);
        if !named.iter().any(|m| m.score >= LEAST) {
            return;
        }
        let objects = self.mentions(&keys.objects);
        let label = &graph.labels[keys.objects[0]];
        let meaning = &graph.meanings[keys.meaning];
        let mut best: BTreeMap<usize, Finding> = BTreeMap::new();
        for object in objects.iter().filter(|m| m.score >= LEAST) {
            let sentence = self.sentence(object);
            for subject in self.subjects(&named, sentence) {
                if subject.score < LEAST || subject.overlaps(object) {
                    continue;
                }
                let Some(link) = self.link(&subject, object) else {
                    continue;
                };
                let Some(finding) = self.pair(fact, meaning, label, &subject, object, &link) else {
                    continue;
                };
                let old = best.get(&sentence);
                if old.is_none_or(|o| o.score < finding.score) {
                    best.insert(sentence, finding);
                }
            }
        }
        self.found.extend(best.into_values());
    }

    fn pair(
        &self,
        fact: usize,
        meaning: &Meaning,
        label: &Label,
        subject: &Mention,
        object: &Mention,
        link: &Link,
    ) -> Option<Finding> {
        let fit = fit(self.reading, meaning, link, object, Some(label));
        let mut score = fit.loose;
        if self.graph.keys[fact].inverse.is_some_and(|i| {
            let other = self.fit(&self.graph.meanings[i], link, object, label);
            other.head >= 0.8 && other.head > fit.head
        }) {
            score = score.max(0.8);
        }
        if subject.how == How::Pronoun {
            score *= 0.9;
        }
        if !self.year_agrees(meaning, subject) {
            return None;
        }
        let certainty = (0.5 + 0.5 * subject.score) * (0.5 + 0.5 * object.score);
        let statement = &self.graph.facts[fact];
        let positive = (statement.polarity == Polarity::Positive) != link.negative;
        let reversed = self.reversed(meaning, link, fit.head, fit.by);
        let excluded = statement.polarity == Polarity::Positive
            && !link.negative
            && subject.score.min(object.score) >= 0.8
            && self.excluded(fact, link, object, label, fit.head);
        let (supports, why, least) = match (reversed, positive) {
            _ if excluded => (false, Why::Exclusive, 0.0),
            // Told the wrong way round, it says nothing for the fact; against it only if all is clear.
            (true, true)
                if statement.polarity == Polarity::Positive
                    && fit.head >= 0.85
                    && link.margin >= 1.0 =>
            {
                (false, Why::Reversed, 0.7)
            }
            (true, _) => return None,
            (false, true) => (true, Why::Stated, STATES),
            (false, false) => (false, Why::OppositePolarity, DENIES),
        };
        let sure =
            why == Why::OppositePolarity && !link.negative && (fit.head >= 0.6 || link.neutral);
        (score >= least).then_some(Finding {
            fact,
            supports,
            score: score * certainty,
            subject: *subject,
            object: *object,
            negative: link.negative,
            modality: link.modality,
            // Names and words say that the denied statement is made; the tree matters for a denial in the text.
            margin: if sure { f32::INFINITY } else { link.margin },
            fragile: link.fragile && !sure,
            why,
            by: fit.by,
        })
    }

    fn fit(&self, meaning: &Meaning, link: &Link, object: &Mention, label: &Label) -> Fit {
        fit(self.reading, meaning, link, object, Some(label))
    }

    /// The words between the two name a relation that cannot hold beside the fact's.
    fn excluded(
        &self,
        fact: usize,
        link: &Link,
        object: &Mention,
        label: &Label,
        head: f32,
    ) -> bool {
        let keys = &self.graph.keys[fact];
        let by_rule = keys.exclusive.iter().any(|&other| {
            let other = self.fit(&self.graph.meanings[other], link, object, label);
            other.head >= 0.8 && other.head > head + 0.1
        });
        let meaning = &self.graph.meanings[keys.meaning];
        let [core] = meaning.cores.as_slice() else {
            return by_rule;
        };
        let by_word = head < 0.6
            && link.words.iter().any(|&(t, weight)| {
                let lemma = &self.reading.lemma(t).lemma;
                weight == 1.0 && core.forms.iter().any(|f| lexicon::exclusive(f, lemma))
            });
        by_rule || by_word
    }

    /// A predicate that is tied to a year needs that year near, if any year is.
    fn year_agrees(&self, meaning: &Meaning, subject: &Mention) -> bool {
        let Some(year) = meaning.year else {
            return true;
        };
        let range = self.reading.sentence_range(self.sentence(subject));
        let mut years = self
            .reading
            .numbers
            .iter()
            .filter(|n| range.contains(&n.first))
            .filter_map(|n| match n.number {
                Number::Plain {
                    value, year: true, ..
                } => Some(value as i32),
                Number::Date { year, .. } => year,
                _ => None,
            });
        let mut any = false;
        years.any(|y| {
            any = true;
            y == year
        }) || !any
    }

    fn reversed(&self, meaning: &Meaning, link: &Link, head: f32, by: Option<usize>) -> bool {
        if meaning.symmetric || head < 0.75 {
            return false;
        }
        // The links go from the subject of the fact to its object.
        let flipped = by.is_some_and(|t| meaning.other_side(&self.reading.lemma(t).lemma));
        if flipped {
            return match (meaning.shape, link.direction) {
                (Shape::Doer, Direction::Does(v)) | (Shape::Done, Direction::Suffers(v)) => {
                    Some(v) == by
                }
                (Shape::Role, Direction::Holds(n)) | (Shape::RoleOf, Direction::Fills(n)) => {
                    Some(n) == by
                }
                _ => false,
            };
        }
        match (meaning.shape, link.direction) {
            (Shape::Doer, Direction::Suffers(v)) | (Shape::Done, Direction::Does(v)) => {
                Some(v) == by
            }
            // "The state of Texas" names the same thing twice; "the employer of Ann" does not.
            (Shape::Role, Direction::Fills(n)) | (Shape::RoleOf, Direction::Holds(n)) => {
                Some(n) == by
                    && meaning.cores.len() == 1
                    && meaning.cores[0]
                        .forms
                        .contains(&self.reading.lemma(n).lemma)
                    && lexicon::kind_of_noun(&self.reading.lemma(n).lemma).meets(Kinds::PERSON)
            }
            _ => false,
        }
    }

    /// Another filler in the text for a relation that has one.
    fn rival(&mut self, fact: usize) -> Option<Finding> {
        let graph = self.graph;
        let keys = &graph.keys[fact];
        let statement = &graph.facts[fact];
        if !graph.rules.functional.contains(&statement.predicate)
            || statement.polarity == Polarity::Negative
        {
            return None;
        }
        let named = self.mentions(&keys.subjects);
        if !named.iter().any(|m| m.score >= 0.7) {
            return None;
        }
        let objects = self.mentions(&keys.objects);
        if objects.iter().any(|m| m.score >= 0.3) {
            return None;
        }
        let label = &graph.labels[keys.objects[0]];
        let meaning = &graph.meanings[keys.meaning];
        let mut best: Option<(f32, Finding)> = None;
        for sentence in 0..self.reading.sentences.len() {
            let subjects = self.subjects(&named, sentence);
            if subjects.is_empty() {
                continue;
            }
            for candidate in self.candidates(sentence, label, keys, meaning) {
                if candidate.how != How::Number && self.in_a_date(&candidate) {
                    continue;
                }
                for subject in &subjects {
                    if subject.score < 0.5 || subject.overlaps(&candidate) {
                        continue;
                    }
                    let Some(link) = self.link(subject, &candidate) else {
                        continue;
                    };
                    if link.negative || link.modality != Modality::Asserted {
                        continue;
                    }
                    let fit = fit(self.reading, meaning, &link, &candidate, None);
                    let Some(by) = fit.by else { continue };
                    let least = if candidate.how == How::Number {
                        0.65
                    } else {
                        RIVAL_HEAD
                    };
                    if fit.head < least || fit.strict < RIVAL {
                        continue;
                    }
                    // Of several fillers, the one next to the word for the relation.
                    let distance = by
                        .abs_diff(candidate.first)
                        .min(by.abs_diff(candidate.last)) as f32;
                    let tie = local(self.reading, by, &candidate);
                    let steps = tie.map_or(9, |t| t.2) as f32;
                    let score = fit.strict - 0.02 * steps.min(9.0) - 0.002 * distance.min(20.0);
                    if best.as_ref().is_some_and(|b| b.0 >= score) {
                        continue;
                    }
                    if self.reversed(meaning, &link, fit.head, fit.by)
                        || self.in_the_past(label, &link)
                    {
                        continue;
                    }
                    if meaning.year.is_some() && !self.year_stated(meaning, sentence) {
                        continue;
                    }
                    if self.explained(fact, &candidate, score)
                        || foreign(self.reading, subject, &candidate, by)
                    {
                        continue;
                    }
                    // What ties the filler to the word for the relation has to be clear; whose relation it is, is then
                    // a matter of who else is named.
                    let (margin, fragile) = match tie {
                        Some((margin, fragile, length)) if length <= 3 => {
                            (margin.max(link.margin), fragile && link.fragile)
                        }
                        _ => (link.margin, link.fragile),
                    };
                    best = Some((
                        score,
                        Finding {
                            fact,
                            supports: false,
                            score: score * subject.score,
                            subject: *subject,
                            object: candidate,
                            negative: false,
                            modality: link.modality,
                            margin,
                            fragile,
                            why: Why::OtherFiller,
                            by: fit.by,
                        },
                    ));
                }
            }
        }
        best.map(|b| b.1)
    }

    /// The "March" of a date is no place, whatever else fills the relation.
    fn in_a_date(&self, candidate: &Mention) -> bool {
        self.reading.numbers.iter().any(|n| {
            matches!(n.number, Number::Date { .. })
                && n.first <= candidate.last
                && candidate.first <= n.last
        })
    }

    fn year_stated(&self, meaning: &Meaning, sentence: usize) -> bool {
        let range = self.reading.sentence_range(sentence);
        let years: Vec<i32> = self
            .reading
            .numbers
            .iter()
            .filter(|n| range.contains(&n.first))
            .filter_map(|n| match n.number {
                Number::Plain {
                    value, year: true, ..
                } => Some(value as i32),
                Number::Date { year, .. } => year,
                _ => None,
            })
            .collect();
        matches!((years.as_slice(), meaning.year), ([only], Some(y)) if *only == y)
    }

    /// Who was it once is no contradiction to who is it now.
    fn in_the_past(&self, label: &Label, link: &Link) -> bool {
        if label.number.is_some() {
            return false;
        }
        const PAST: &[&str] = &[
            "former",
            "formerly",
            "until",
            "previously",
            "previous",
            "once",
            "then",
            "original",
            "originally",
            "first",
            "last",
            "interim",
            "acting",
            "later",
            "briefly",
            "temporarily",
            "initially",
            "earlier",
        ];
        link.words
            .iter()
            .any(|&(t, w)| w >= 0.8 && PAST.contains(&self.reading.lemma(t).lemma.as_str()))
    }

    /// Another fact is what the text states here.
    fn explained(&self, fact: usize, candidate: &Mention, score: f32) -> bool {
        let graph = self.graph;
        let own = &graph.keys[fact];
        self.found.iter().any(|f| {
            if !f.supports || !f.object.overlaps(candidate) {
                return false;
            }
            let other = &graph.keys[f.fact];
            // The same relation with another object is a conflict within the graph, for the reader to see; nor do
            // birth year and birth date of one person explain each other.
            if graph.meanings[other.meaning].same_words(&graph.meanings[own.meaning]) {
                return other.subjects != own.subjects;
            }
            // A year does not explain a whole date.
            let partial = f.object.how == How::Number && f.object.score < 1.0;
            !partial && f.score >= score - 0.15
        })
    }

    /// What could fill the place of a label, being of its kind and not it.
    fn candidates(
        &self,
        sentence: usize,
        label: &Label,
        keys: &Keys,
        meaning: &Meaning,
    ) -> Vec<Mention> {
        let range = self.reading.sentence_range(sentence);
        if let Some(number) = label.number {
            let numbers = self
                .reading
                .numbers
                .iter()
                .filter(|n| range.contains(&n.first));
            return numbers
                .filter(|n| {
                    same_kind(number, n.number, meaning)
                        && number.compare(n.number) == Match::Unequal
                        && self.free(n.first, number, n.number)
                })
                .map(|n| Mention {
                    first: n.first,
                    last: n.last,
                    score: 1.0,
                    how: How::Number,
                })
                .collect();
        }
        if label.code {
            let codes = range.filter(|&t| {
                let form = &self.reading.tokens[t].token.form;
                form.chars().filter(char::is_ascii_digit).count() >= 3
                    && !pieces(form).iter().any(|p| {
                        label
                            .words
                            .iter()
                            .any(|w| w.weight >= 0.25 && w.key == key(p))
                    })
            });
            return codes.map(Mention::whole).collect();
        }
        let others = range.filter(|&t| {
            let token = &self.reading.tokens[t];
            token.token.upos == ud::Upos::Noun && self.coordinate(keys.objects[0], token.lemma)
        });
        let mut all: Vec<Mention> = others.map(Mention::whole).collect();
        if label.common {
            return all;
        }
        let label = |l: &usize| &self.graph.labels[*l];
        let names = self.reading.names[sentence].iter().filter(|name| {
            keys.objects.iter().all(|l| could_replace(name, label(l)))
                && !keys.subjects.iter().any(|l| shares_words(name, label(l)))
        });
        all.extend(names.map(|n| Mention {
            first: n.first,
            last: n.last,
            score: 1.0,
            how: How::Name,
        }));
        all
    }

    /// A bare year does not stand for a measure where it is a time ("in 1984"), nor a number in words for a large
    /// one ("one of the founders").
    fn free(&self, first: usize, wanted: Number, found: Number) -> bool {
        if self.reading.tokens[first]
            .token
            .form
            .starts_with(|c: char| c.is_alphabetic())
            && !found.is_date()
        {
            return false;
        }
        if wanted.is_date() || !found.is_date() {
            return true;
        }
        let before = first
            .checked_sub(1)
            .map(|t| self.reading.lemma(t).lemma.as_str())
            .unwrap_or_default();
        !matches!(
            before,
            "in" | "since"
                | "of"
                | "by"
                | "from"
                | "until"
                | "during"
                | "after"
                | "before"
                | "to"
                | "and"
                | "on"
        )
    }
}

fn shares_words(name: &Name, label: &Label) -> bool {
    name.keys
        .iter()
        .any(|f| label.words.iter().any(|w| w.weight >= 0.25 && w.key == *f))
}

fn could_replace(name: &Name, label: &Label) -> bool {
    // A city does not contradict the country it lies in.
    let wide = |l: Option<Level>| matches!(l, Some(Level::Country | Level::Continent));
    let ranks = name.level == label.level || !(wide(name.level) || wide(label.level));
    ranks && !shares_words(name, label) && !(name.level.is_some() && label.person)
}
