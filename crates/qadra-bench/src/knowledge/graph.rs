//! A made-up graph, the same in every run: a few hubs, few well-connected nodes, many with a statement or two.

use uuid::Uuid;

/// Numbers that look random and are the same in every run.
#[derive(Clone)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// In [0, 1).
    pub(crate) fn share(&mut self) -> f64 {
        (self.roll() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((self.share() * bound as f64) as usize).min(bound.saturating_sub(1))
    }

    pub(crate) fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Node = 1,
    Alias = 2,
    Predicate = 3,
    Statement = 4,
}

/// An id as time would make it (version 7): in order of creation.
pub(crate) fn id(tenant: usize, kind: Kind, at: usize) -> Uuid {
    let time = 1_700_000_000_000_u128 + at as u128;
    let rest = u128::from(mix(at as u64
        ^ ((tenant as u64) << 40)
        ^ ((kind as u64) << 50)));
    Uuid::from_u128(
        (time << 80)
            | (0x7_u128 << 76)
            | (((rest >> 2) & 0xfff) << 64)
            | (0b10_u128 << 62)
            | (rest >> 2),
    )
}

pub(crate) struct Graph {
    pub(crate) statements: usize,
    pub(crate) nodes: usize,
}

/// Node 0 says a tenth of all; nodes 1 and 2 are the objects of a seventh and of an eighth.
pub(crate) const HUBS: usize = 3;
pub(crate) const PREDICATES: usize = 200;

impl Graph {
    pub(crate) fn new(statements: usize) -> Self {
        Self {
            statements,
            nodes: (statements * 3 / 10).max(100),
        }
    }

    /// Subject, predicate and, unless it is a literal, object of a statement.
    pub(crate) fn statement(&self, dice: &mut Dice) -> (usize, usize, Option<usize>) {
        let subject = match dice.share() {
            x if x < 0.1 => 0,
            _ => self.node(dice, 2.5),
        };
        let object = match dice.share() {
            x if x < 0.25 => None,
            x if x < 0.40 => Some(1),
            x if x < 0.53 => Some(2),
            _ => Some(self.node(dice, 1.5)),
        };
        (
            subject,
            (dice.share().powf(2.0) * PREDICATES as f64) as usize,
            object,
        )
    }

    /// Lower numbers are far more frequent, as in Zipf's law.
    fn node(&self, dice: &mut Dice, power: f64) -> usize {
        let at = dice.share().powf(power) * (self.nodes - HUBS) as f64;
        HUBS + (at as usize).min(self.nodes - HUBS - 1)
    }
}

pub(crate) fn predicate(at: usize) -> String {
    let plain = PLAIN[at % PLAIN.len()];
    match at / PLAIN.len() {
        0 => plain.to_owned(),
        round => format!("{}_{plain}", SORTS[(round - 1) % SORTS.len()]),
    }
}

/// The label of a node; unique, because of the figure where syllables run out.
pub(crate) fn label(at: usize) -> String {
    match at {
        0 => return "Panoptic Holdings".to_owned(),
        1 => return "Atlantis Republic".to_owned(),
        2 => return "Meridian Exchange".to_owned(),
        _ => {}
    }
    let syllable = |n: usize| SYLLABLES[n % SYLLABLES.len()];
    let round = SYLLABLES.len();
    let n = at / 3;
    let word = |n: usize| {
        let text = format!(
            "{}{}{}",
            syllable(n),
            syllable(n / round),
            syllable(n / round / round)
        );
        let mut letters = text.chars();
        letters.next().map_or(String::new(), |first| {
            first.to_uppercase().chain(letters).collect()
        })
    };
    let more = n / round / round / round;
    let tail = if more > 0 {
        format!(" {}", word(more * 7_919))
    } else {
        String::new()
    };
    match at % 3 {
        0 => format!("{}{tail} {}", word(n), SECTORS[n % SECTORS.len()]),
        1 => format!("{} {}{tail}", FIRST[n % FIRST.len()], word(n)),
        _ => format!("{}{tail} {}", word(n), PLACES[n % PLACES.len()]),
    }
}

/// One node in five has a second name.
pub(crate) fn alias(at: usize) -> Option<String> {
    at.is_multiple_of(5).then(|| {
        let letters = |n: usize| char::from(b'A' + u8::try_from(n % 26).unwrap_or(0));
        let n = at / 5;
        format!(
            "{}{}{}{}{}",
            letters(n),
            letters(n / 26),
            letters(n / 676),
            letters(n / 17_576),
            letters(n / 456_976)
        )
    })
}

pub(crate) const PLAIN: [&str; 20] = [
    "ceo",
    "founded_by",
    "founded_in_year",
    "headquarters",
    "revenue",
    "employees",
    "acquired",
    "subsidiary_of",
    "owns",
    "supplies",
    "partner_of",
    "competitor_of",
    "located_in",
    "studied_at",
    "born_in",
    "works_for",
    "invested_in",
    "produces",
    "member_of",
    "spouse",
];
const SORTS: [&str; 9] = [
    "former",
    "regional",
    "planned",
    "joint",
    "reported",
    "interim",
    "legal",
    "historic",
    "estimated",
];
const SYLLABLES: [&str; 60] = [
    "ba", "ber", "cal", "dor", "el", "fen", "gar", "hol", "in", "jor", "kal", "lan", "mer", "nor",
    "ol", "per", "quin", "ros", "sel", "tan", "ul", "ver", "wil", "xen", "yor", "zel", "brik",
    "cor", "dal", "est", "fald", "gris", "han", "ist", "jak", "kor", "lind", "mont", "nev", "ord",
    "pol", "rad", "sten", "tur", "urs", "van", "west", "ming", "ton", "sky", "bru", "cho", "dri",
    "flo", "gle", "hue", "kri", "plo", "sha", "tro",
];
const SECTORS: [&str; 7] = [
    "Systems", "Energy", "Bank", "Motors", "Foods", "Pharma", "Group",
];
const PLACES: [&str; 5] = ["City", "River", "Valley", "Museum", "University"];
const FIRST: [&str; 25] = [
    "James",
    "Mary",
    "Robert",
    "Patricia",
    "John",
    "Jennifer",
    "Michael",
    "Linda",
    "David",
    "Elizabeth",
    "William",
    "Barbara",
    "Richard",
    "Susan",
    "Joseph",
    "Jessica",
    "Thomas",
    "Sarah",
    "Charles",
    "Karen",
    "Wei",
    "Yuki",
    "Fatima",
    "Omar",
    "Ingrid",
];
