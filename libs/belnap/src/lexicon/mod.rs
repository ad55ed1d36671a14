//! Words that mean the same, the opposite, or the same seen from the other side.
//!
//! WordNet gives synonyms, derivations, antonyms and kinds; a table written by hand gives the relations people state
//! of things ([`Frame`]), roles that are two sides of one relation, and states that exclude each other.
//! Lemmas are in lower case; a lookup allocates nothing.

mod frames;
mod store;

use std::collections::HashMap;

use store::{Field, entry};

pub(crate) use frames::{Frame, exclusive, frames_of, inverse, places_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    Same,
    /// One is made from the other: found, founder, foundation.
    Derived,
    Synonym,
    /// One is a kind of the other: mayor, leader.
    Broader,
    /// Both express one relation of the table: author, write.
    Kindred,
    Antonym,
    /// Two sides of one relation: parent, child.
    Inverse,
    Unrelated,
}

/// How two words relate, and how much of the meaning they share, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Related {
    pub relation: Relation,
    pub strength: f32,
}

impl Related {
    const fn new(relation: Relation, strength: f32) -> Self {
        Related { relation, strength }
    }

    fn agrees_closely(self) -> bool {
        matches!(
            self.relation,
            Relation::Same | Relation::Derived | Relation::Synonym | Relation::Broader
        )
    }
}

pub(crate) fn related(a: &str, b: &str) -> Related {
    if a == b {
        return Related::new(Relation::Same, 1.0);
    }
    if inverse(a, b) {
        return Related::new(Relation::Inverse, 0.9);
    }
    if antonyms(a).any(|w| w == b) || antonyms(b).any(|w| w == a) || exclusive(a, b) {
        return Related::new(Relation::Antonym, 0.9);
    }
    if derived(a, b) {
        return Related::new(Relation::Derived, 0.9);
    }
    if synonyms(a).any(|w| w == b) || synonyms(b).any(|w| w == a) {
        return Related::new(Relation::Synonym, 0.8);
    }
    if frames_of(a).any(|f| frames_of(b).any(|g| std::ptr::eq(f, g))) {
        return Related::new(Relation::Kindred, 0.7);
    }
    if is_a(a, b) || is_a(b, a) {
        return Related::new(Relation::Broader, 0.6);
    }
    // author — writer — write: a synonym of one is derived from the other.
    if synonyms(a).any(|w| derived(w, b)) || synonyms(b).any(|w| derived(w, a)) {
        return Related::new(Relation::Synonym, 0.55);
    }
    Related::new(Relation::Unrelated, 0.0)
}

fn derived(a: &str, b: &str) -> bool {
    let one = |a: &str, b: &str| {
        entry(a).is_some_and(|e| e.holds(Field::Derived, b) || e.holds(Field::Pertains, b))
    };
    one(a, b) || one(b, a) || (a.len() > 5 && b.len() > 5 && sibling(a, b))
}

/// Both are derived from one word: production and producer from produce.
fn sibling(a: &str, b: &str) -> bool {
    let stem: usize = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    stem >= 5
        && entry(a).is_some_and(|e| {
            e.list(Field::Derived)
                .any(|w| entry(b).is_some_and(|f| f.holds(Field::Derived, w)))
        })
}

/// Synonyms in the commonest senses, as any part of speech.
pub(crate) fn synonyms(word: &str) -> impl Iterator<Item = &'static str> + use<> {
    let fields = [
        Field::NounSynonym,
        Field::VerbSynonym,
        Field::AdjectiveSynonym,
        Field::AdverbSynonym,
    ];
    entry(word)
        .into_iter()
        .flat_map(move |e| fields.into_iter().flat_map(move |f| e.list(f)))
}

/// Opposites; those of an adjective without one of its own are its cluster's (rapid: slow).
pub(crate) fn antonyms(word: &str) -> impl Iterator<Item = &'static str> + use<> {
    entry(word).into_iter().flat_map(|e| e.list(Field::Antonym))
}

/// What an adjective or adverb belongs to: danish, denmark.
pub(crate) fn pertains_to(word: &str) -> impl Iterator<Item = &'static str> + use<> {
    entry(word)
        .into_iter()
        .flat_map(|e| e.list(Field::Pertains).chain(e.list(Field::Derived)))
}

/// The place that an adjective or the name of an inhabitant belongs to: danish, dane: denmark.
pub(crate) fn belongs_to(word: &str) -> impl Iterator<Item = &'static str> + use<> {
    let listed = pertains_to(word).filter(|w| kind_of_noun(w).meets(Kinds::PLACE));
    listed.chain(places_of(word))
}

/// All words that can stand for this one in the same direction, with the share of meaning: the other side of
/// [`related`], for matching against many words at once. Frames are left out.
pub(crate) fn kin(word: &str) -> HashMap<&'static str, f32> {
    let mut kin = HashMap::new();
    let mut put = |w: &'static str, strength: f32| {
        let old: &mut f32 = kin.entry(w).or_default();
        *old = old.max(strength);
    };
    let Some(e) = entry(word) else { return kin };
    for w in e.list(Field::NounAbove).chain(e.list(Field::VerbAbove)) {
        put(w, 0.6);
    }
    for s in synonyms(word) {
        put(s, 0.8);
        for d in entry(s).into_iter().flat_map(|e| e.list(Field::Derived)) {
            put(d, 0.55);
        }
    }
    for d in e.list(Field::Derived).chain(e.list(Field::Pertains)) {
        put(d, 0.9);
        // Siblings of one stem: production, producer.
        for s in entry(d).into_iter().flat_map(|e| e.list(Field::Derived)) {
            if s.bytes()
                .zip(word.bytes())
                .take_while(|(a, b)| a == b)
                .count()
                >= 5
            {
                put(s, 0.85);
            }
        }
    }
    kin
}

/// What follows from doing it: buy, pay.
#[expect(dead_code, reason = "for evidence in prose")]
pub(crate) fn entailed(verb: &str) -> impl Iterator<Item = &'static str> + use<> {
    entry(verb).into_iter().flat_map(|e| e.list(Field::Entails))
}

/// Whether the first is a kind of the second (nouns), or a way of doing it (verbs), in its commonest senses.
pub(crate) fn is_a(word: &str, above: &str) -> bool {
    entry(word)
        .is_some_and(|e| e.holds(Field::NounAbove, above) || e.holds(Field::VerbAbove, above))
}

/// What the word is a kind or a way of, nearest first.
pub(crate) fn above(word: &str) -> impl Iterator<Item = &'static str> + use<> {
    entry(word)
        .into_iter()
        .flat_map(|e| e.list(Field::NounAbove).chain(e.list(Field::VerbAbove)))
}

/// What the noun is a kind of, the three nearest; for [`coordinate`].
pub(crate) fn nearest_kinds(word: &str) -> Vec<&'static str> {
    entry(word)
        .into_iter()
        .flat_map(|e| e.list(Field::NounAbove).take(3))
        .collect()
}

/// Two different nouns of one nearest kind, such as rupee and euro.
pub(crate) fn coordinate(a: &str, b: &str) -> bool {
    let (Some(x), Some(y)) = (entry(a), entry(b)) else {
        return false;
    };
    let near = |w: &str| x.list(Field::NounAbove).take(3).any(|v| v == w);
    a != b && y.list(Field::NounAbove).take(3).any(near) && !related(a, b).agrees_closely()
}

/// Rough types of what a noun names, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kinds(u16);

impl Kinds {
    pub(crate) const PERSON: Kinds = Kinds(1);
    pub(crate) const PLACE: Kinds = Kinds(1 << 1);
    pub(crate) const GROUP: Kinds = Kinds(1 << 2);
    pub(crate) const ORGANISATION: Kinds = Kinds(1 << 3);
    pub(crate) const TIME: Kinds = Kinds(1 << 4);
    pub(crate) const QUANTITY: Kinds = Kinds(1 << 5);
    pub(crate) const ARTEFACT: Kinds = Kinds(1 << 6);
    pub(crate) const EVENT: Kinds = Kinds(1 << 7);
    pub(crate) const ACT: Kinds = Kinds(1 << 8);
    pub(crate) const FOOD: Kinds = Kinds(1 << 9);
    pub(crate) const SUBSTANCE: Kinds = Kinds(1 << 10);
    pub(crate) const CREATURE: Kinds = Kinds(1 << 11);
    pub(crate) const WORD: Kinds = Kinds(1 << 12);
    pub(crate) const MONEY: Kinds = Kinds(1 << 13);
    pub(crate) const LANGUAGE: Kinds = Kinds(1 << 14);

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }
}

/// WordNet has the word.
pub(crate) fn known(word: &str) -> bool {
    entry(word).is_some()
}

/// WordNet has it as a verb.
pub(crate) fn is_verb(word: &str) -> bool {
    entry(word).is_some_and(|e| {
        e.list(Field::VerbSynonym).next().is_some() || e.list(Field::VerbAbove).next().is_some()
    })
}

/// WordNet has it as a noun and not as a verb.
pub(crate) fn is_plain_noun(word: &str) -> bool {
    !kind_of_noun(word).is_empty() && !is_verb(word)
}

/// Empty for a word that is no common noun and no well-known name.
pub(crate) fn kind_of_noun(word: &str) -> Kinds {
    let letters = entry(word).and_then(|e| e.list(Field::Kind).next());
    letters
        .unwrap_or_default()
        .chars()
        .fold(Kinds::default(), |k, c| {
            k.or(match c {
                'H' => Kinds::PERSON,
                'P' => Kinds::PLACE,
                'G' => Kinds::GROUP,
                'O' => Kinds::ORGANISATION,
                'T' => Kinds::TIME,
                'Q' => Kinds::QUANTITY,
                'A' => Kinds::ARTEFACT,
                'E' => Kinds::EVENT,
                'C' => Kinds::ACT,
                'F' => Kinds::FOOD,
                'S' => Kinds::SUBSTANCE,
                'B' => Kinds::CREATURE,
                'W' => Kinds::WORD,
                'M' => Kinds::MONEY,
                'L' => Kinds::LANGUAGE,
                _ => Kinds::default(),
            })
        })
}

/// How large a place is that WordNet knows by name (underscores for blanks).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Continent,
    Country,
    State,
    City,
}

pub(crate) fn level_of_place(name: &str) -> Option<Level> {
    let e = entry(name)?;
    e.list(Field::NounAbove).find_map(|w| match w {
        "continent" => Some(Level::Continent),
        "country"
        | "european_country"
        | "asian_country"
        | "african_country"
        | "north_american_country"
        | "south_american_country"
        | "kingdom" => Some(Level::Country),
        "american_state" | "province" | "canadian_province" | "australian_state" | "state" => {
            Some(Level::State)
        }
        "city" | "town" | "national_capital" | "state_capital" | "provincial_capital" | "port" => {
            Some(Level::City)
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, relation: Relation) {
        assert_eq!(related(a, b).relation, relation, "{a} {b}");
        assert_eq!(related(b, a).relation, relation, "{b} {a}");
    }

    #[test]
    fn words_relate_as_in_english() {
        check("founder", "found", Relation::Derived);
        check("purchase", "buy", Relation::Synonym);
        check("mayor", "leader", Relation::Kindred);
        check("hotel", "building", Relation::Broader);
        check("author", "write", Relation::Kindred);
        check("parent", "child", Relation::Inverse);
        check("employer", "employee", Relation::Inverse);
        check("alive", "dead", Relation::Antonym);
        check("rapid", "slow", Relation::Antonym);
        check("banana", "treaty", Relation::Unrelated);
    }

    #[test]
    fn nouns_have_kinds() {
        assert!(kind_of_noun("city").meets(Kinds::PLACE));
        assert!(kind_of_noun("teacher").meets(Kinds::PERSON));
        assert!(kind_of_noun("company").meets(Kinds::ORGANISATION));
        assert!(kind_of_noun("month").meets(Kinds::TIME));
        assert!(!kind_of_noun("teacher").meets(Kinds::PLACE));
        assert!(kind_of_noun("qwertz").is_empty());
        assert_eq!(level_of_place("france"), Some(Level::Country));
        assert_eq!(level_of_place("paris"), Some(Level::City));
        assert!(pertains_to("danish").any(|w| w == "denmark"));
    }
}
