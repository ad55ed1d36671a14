//! Belnap's four values (Belnap 1977, "A useful four-valued logic") with both of their orders.
//!
//! Each value is two bits: whether one has been told that a thing is true, and whether one has been told that it is
//! false. The truth order ≤t runs from False to True with Neither and Both side by side between them; the knowledge
//! order ≤k runs from Neither to Both with True and False between. Meet and join of the one are ∧ and ∨, of the other
//! ⊗ and ⊕. Together they form the smallest bilattice that is not trivial, written FOUR.

use std::ops::Not;

use serde::{Deserialize, Serialize};

/// What one has been told: bit 0 is "it is true", bit 1 is "it is false".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[repr(u8)]
pub enum Truth {
    #[default]
    #[serde(rename = "N")]
    Neither = 0b00,
    #[serde(rename = "T")]
    True = 0b01,
    #[serde(rename = "F")]
    False = 0b10,
    #[serde(rename = "B")]
    Both = 0b11,
}

impl Truth {
    pub const ALL: [Truth; 4] = [Truth::Neither, Truth::True, Truth::False, Truth::Both];

    /// From "told that it is true" and "told that it is false".
    pub const fn new(told_true: bool, told_false: bool) -> Truth {
        match (told_true, told_false) {
            (false, false) => Truth::Neither,
            (true, false) => Truth::True,
            (false, true) => Truth::False,
            (true, true) => Truth::Both,
        }
    }

    pub const fn told_true(self) -> bool {
        self as u8 & 1 != 0
    }

    pub const fn told_false(self) -> bool {
        self as u8 & 2 != 0
    }

    /// The two bits; bit 0 is "true", bit 1 is "false".
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// From the two low bits.
    pub const fn from_bits(bits: u8) -> Truth {
        Truth::new(bits & 1 != 0, bits & 2 != 0)
    }

    /// Conflation, written −: what one was told becomes what one was not told to be otherwise. It turns the knowledge
    /// order round and keeps the truth order, as ¬ does the reverse.
    #[must_use]
    pub const fn conflation(self) -> Truth {
        Truth::new(!self.told_false(), !self.told_true())
    }

    /// ∧, the meet in the truth order. Both ∧ Neither is False, though nobody was told that either is false alone:
    /// which is why verdicts on several claims must never be folded with it.
    #[must_use]
    pub const fn and(self, other: Truth) -> Truth {
        Truth::new(
            self.told_true() && other.told_true(),
            self.told_false() || other.told_false(),
        )
    }

    /// ∨, the join in the truth order.
    #[must_use]
    pub const fn or(self, other: Truth) -> Truth {
        Truth::new(
            self.told_true() || other.told_true(),
            self.told_false() && other.told_false(),
        )
    }

    /// ⊗, consensus, the meet in the knowledge order: what both sources say.
    #[must_use]
    pub const fn consensus(self, other: Truth) -> Truth {
        Truth::from_bits(self.bits() & other.bits())
    }

    /// ⊕, gullibility, the join in the knowledge order: what either source says.
    #[must_use]
    pub const fn gullibility(self, other: Truth) -> Truth {
        Truth::from_bits(self.bits() | other.bits())
    }

    /// ¬a ∨ b.
    #[must_use]
    pub const fn material(self, other: Truth) -> Truth {
        self.negated().or(other)
    }

    /// a ⊃ b of Arieli and Avron: b if a is designated, True otherwise. Modus ponens and the deduction theorem hold for
    /// it; for the material one they do not.
    #[must_use]
    pub const fn internal(self, other: Truth) -> Truth {
        if self.designated() {
            other
        } else {
            Truth::True
        }
    }

    /// Strong implication, (a ⊃ b) ∧ (¬b ⊃ ¬a), which also contraposes.
    #[must_use]
    pub const fn implies(self, other: Truth) -> Truth {
        self.internal(other)
            .and(other.negated().internal(self.negated()))
    }

    /// At least told true: True or Both. The values that an inference hands on.
    pub const fn designated(self) -> bool {
        self.told_true()
    }

    /// ≤t: no less true and no more false.
    pub const fn at_most_as_true(self, other: Truth) -> bool {
        (!self.told_true() || other.told_true()) && (self.told_false() || !other.told_false())
    }

    /// ≤k: whatever is told here is told there.
    pub const fn at_most_as_known(self, other: Truth) -> bool {
        self.bits() & !other.bits() == 0
    }

    /// What all evidence about ONE claim comes to: ⊕ over its pieces, Neither if there are none.
    pub fn of_evidence(pieces: impl IntoIterator<Item = Truth>) -> Truth {
        pieces.into_iter().fold(Truth::Neither, Truth::gullibility)
    }

    /// From the presence of support and of opposition.
    pub const fn of_support(supported: bool, opposed: bool) -> Truth {
        Truth::new(supported, opposed)
    }

    const fn negated(self) -> Truth {
        Truth::new(self.told_false(), self.told_true())
    }
}

/// ¬, truth negation: swaps True and False, leaves Both and Neither.
impl Not for Truth {
    type Output = Truth;

    fn not(self) -> Truth {
        self.negated()
    }
}

#[cfg(test)]
mod tests {
    use super::Truth::{self, Both, False, Neither, True};

    type Binary = fn(Truth, Truth) -> Truth;
    const LATTICE: [(&str, Binary); 4] = [
        ("∧", Truth::and),
        ("∨", Truth::or),
        ("⊗", Truth::consensus),
        ("⊕", Truth::gullibility),
    ];

    fn triples() -> impl Iterator<Item = (Truth, Truth, Truth)> {
        let all = Truth::ALL;
        all.into_iter().flat_map(move |a| {
            all.into_iter()
                .flat_map(move |b| all.into_iter().map(move |c| (a, b, c)))
        })
    }

    #[test]
    fn both_and_neither_is_false() {
        assert_eq!(Both.and(Neither), False);
        assert_eq!(Both.or(Neither), True);
        assert_eq!(True.consensus(False), Neither);
        assert_eq!(True.gullibility(False), Both);
    }

    #[test]
    fn tables_are_belnaps() {
        let table = |f: Binary| Truth::ALL.map(|a| Truth::ALL.map(|b| f(a, b)));
        assert_eq!(
            table(Truth::and),
            [
                [Neither, Neither, False, False],
                [Neither, True, False, Both],
                [False, False, False, False],
                [False, Both, False, Both]
            ]
        );
        assert_eq!(
            table(Truth::or),
            [
                [Neither, True, Neither, True],
                [True, True, True, True],
                [Neither, True, False, Both],
                [True, True, Both, Both]
            ]
        );
        assert_eq!(Truth::ALL.map(|a| !a), [Neither, False, True, Both]);
        assert_eq!(
            Truth::ALL.map(Truth::conflation),
            [Both, True, False, Neither]
        );
    }

    #[test]
    fn each_operation_is_associative_commutative_and_idempotent() {
        for (name, f) in LATTICE {
            for (a, b, c) in triples() {
                assert_eq!(f(a, f(b, c)), f(f(a, b), c), "{name}");
                assert_eq!(f(a, b), f(b, a), "{name}");
                assert_eq!(f(a, a), a, "{name}");
            }
        }
    }

    #[test]
    fn meets_and_joins_absorb_and_agree_with_their_order() {
        for (a, b, _) in triples() {
            assert_eq!(a.and(a.or(b)), a);
            assert_eq!(a.or(a.and(b)), a);
            assert_eq!(a.consensus(a.gullibility(b)), a);
            assert_eq!(a.gullibility(a.consensus(b)), a);
            assert_eq!(a.at_most_as_true(b), a.and(b) == a);
            assert_eq!(a.at_most_as_true(b), a.or(b) == b);
            assert_eq!(a.at_most_as_known(b), a.consensus(b) == a);
            assert_eq!(a.at_most_as_known(b), a.gullibility(b) == b);
        }
    }

    #[test]
    fn bounds_are_false_true_neither_both() {
        for a in Truth::ALL {
            assert!(False.at_most_as_true(a) && a.at_most_as_true(True));
            assert!(Neither.at_most_as_known(a) && a.at_most_as_known(Both));
            assert_eq!((a.and(True), a.or(False)), (a, a));
            assert_eq!((a.consensus(Both), a.gullibility(Neither)), (a, a));
        }
    }

    #[test]
    fn all_twelve_distributive_laws_hold() {
        let mut laws = 0;
        for (f_name, f) in LATTICE {
            for (g_name, g) in LATTICE.iter().filter(|(g, _)| *g != f_name) {
                laws += 1;
                for (a, b, c) in triples() {
                    assert_eq!(f(a, g(b, c)), g(f(a, b), f(a, c)), "{f_name} over {g_name}");
                }
            }
        }
        assert_eq!(laws, 12);
    }

    #[test]
    fn every_operation_is_monotone_in_both_orders() {
        for (name, f) in LATTICE {
            for (a, b, c) in triples() {
                if a.at_most_as_true(b) {
                    assert!(f(a, c).at_most_as_true(f(b, c)), "{name} in ≤t");
                }
                if a.at_most_as_known(b) {
                    assert!(f(a, c).at_most_as_known(f(b, c)), "{name} in ≤k");
                }
            }
        }
    }

    #[test]
    fn negation_turns_truth_and_keeps_knowledge() {
        for (a, b, _) in triples() {
            assert_eq!(!!a, a);
            assert_eq!(a.at_most_as_true(b), (!b).at_most_as_true(!a));
            assert_eq!(a.at_most_as_known(b), (!a).at_most_as_known(!b));
            assert_eq!(!a.and(b), (!a).or(!b));
            assert_eq!(!a.or(b), (!a).and(!b));
            assert_eq!(!a.consensus(b), (!a).consensus(!b));
            assert_eq!(!a.gullibility(b), (!a).gullibility(!b));
        }
    }

    #[test]
    fn conflation_turns_knowledge_and_keeps_truth() {
        for (a, b, _) in triples() {
            let minus = Truth::conflation;
            assert_eq!(minus(minus(a)), a);
            assert_eq!(a.at_most_as_known(b), minus(b).at_most_as_known(minus(a)));
            assert_eq!(a.at_most_as_true(b), minus(a).at_most_as_true(minus(b)));
            assert_eq!(minus(a.consensus(b)), minus(a).gullibility(minus(b)));
            assert_eq!(minus(a.and(b)), minus(a).and(minus(b)));
            assert_eq!(minus(!a), !minus(a));
        }
    }

    #[test]
    fn strong_implication_is_true_just_where_the_order_says() {
        for (a, b, _) in triples() {
            assert_eq!(a.implies(b).designated(), a.at_most_as_true(b));
            assert_eq!(a.implies(b), (!b).implies(!a));
            assert_eq!(a.material(b), (!a).or(b));
            // Modus ponens.
            assert!(!(a.designated() && a.internal(b).designated()) || b.designated());
        }
        // For material implication it fails at Both.
        assert!(Both.designated() && Both.material(False).designated() && !False.designated());
    }

    #[test]
    fn evidence_adds_up_in_the_knowledge_order() {
        assert_eq!(Truth::of_evidence([]), Neither);
        assert_eq!(Truth::of_evidence([Neither, True, True]), True);
        assert_eq!(Truth::of_evidence([True, Neither, False]), Both);
        for a in Truth::ALL {
            assert_eq!(Truth::from_bits(a.bits()), a);
            assert_eq!(Truth::new(a.told_true(), a.told_false()), a);
            assert_eq!(Truth::of_support(a.told_true(), a.told_false()), a);
        }
    }
}
