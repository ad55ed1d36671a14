//! A family of synthetic graphs with known answers: communities, stray links, hubs, and planted chains.
//!
//! It tests the mechanism, not its use: that what belongs to a node's community is relevant is built in.

use qadra_epistemic::Object;

use super::world::{Case, World};

pub struct Family {
    pub world: World,
    /// "Tell me about X": the statements that tie X to its own community.
    pub about: Vec<Case>,
    /// "How is X related to Y?": the planted chain between two communities.
    pub connect: Vec<Case>,
}

pub fn family(seed: u64) -> Family {
    let mut random = Random(seed);
    let mut world = World::default();
    let (mut about, mut connect) = (Vec::new(), Vec::new());
    let name = |community: usize, member: usize| {
        format!(
            "{}{} {}",
            LETTERS[community % 20],
            community,
            LETTERS[member % 20]
        )
    };
    for community in 0..COMMUNITIES {
        let mut ties = vec![Vec::new(); MEMBERS];
        for a in 0..MEMBERS {
            for b in a + 1..MEMBERS {
                if random.chance(0.4) {
                    let predicate = VERBS[random.below(VERBS.len())];
                    let (from, to) = (name(community, a), name(community, b));
                    let id = world.add(&from, predicate, None, &to);
                    ties[a].push(id);
                    ties[b].push(id);
                }
            }
        }
        for (member, own) in ties.into_iter().enumerate() {
            let label = name(community, member);
            for _ in 0..random.below(6) {
                let far = name(random.below(COMMUNITIES), random.below(MEMBERS));
                let predicate = VERBS[random.below(VERBS.len())];
                world.add(&label, predicate, None, &far);
            }
            let hub = format!("Region {}", LETTERS[random.below(4)]);
            world.add(&label, VERBS[0], None, &hub);
            let figure = Object::Number {
                value: qadra_epistemic::Decimal::parse(&random.below(9_000).to_string())
                    .expect("a number"),
                unit: None,
            };
            world.add(&label, "size", Some(figure), "");
            if own.len() >= 2 {
                about.push(Case {
                    question: format!("Tell me about {label}"),
                    relevant: own.into_iter().collect(),
                });
            }
        }
    }
    for at in 0..CHAINS {
        let (from, to) = (
            name(at % COMMUNITIES, random.below(MEMBERS)),
            name((at + 7) % COMMUNITIES, random.below(MEMBERS)),
        );
        let middle = format!("Bridge {}{at}", LETTERS[at % 20]);
        let first = world.add(&from, VERBS[random.below(VERBS.len())], None, &middle);
        let second = world.add(&middle, VERBS[random.below(VERBS.len())], None, &to);
        connect.push(Case {
            question: format!("How is {from} related to {to}?"),
            relevant: [first, second].into(),
        });
    }
    Family {
        world,
        about,
        connect,
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn chance(&mut self, share: f64) -> bool {
        (self.next() >> 11) as f64 / ((1_u64 << 53) as f64) < share
    }
}

const COMMUNITIES: usize = 30;
const MEMBERS: usize = 12;
const CHAINS: usize = 150;
const VERBS: &[&str] = &["cites", "advises", "hosts", "visits", "helps", "reviews"];
const LETTERS: &[&str] = &[
    "Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Ginkgo", "Hazel", "Ivy", "Juniper",
    "Kapok", "Larch", "Maple", "Nutmeg", "Oak", "Pine", "Quince", "Rowan", "Spruce", "Teak",
];
