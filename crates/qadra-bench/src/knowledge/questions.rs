//! Questions of eight kinds about the made-up graph.

use super::graph::{Dice, Graph, PLAIN, alias, label};

pub(crate) const KINDS: [&str; 8] = [
    "known name",
    "two names",
    "alias",
    "misspelt name",
    "unknown name",
    "hub",
    "predicate only",
    "long text",
];

pub(crate) struct Asked {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
}

/// `each` of every kind, the kinds in turn.
pub(crate) fn questions(graph: &Graph, each: usize) -> Vec<Asked> {
    let mut dice = Dice(42);
    (0..each)
        .flat_map(|_| KINDS)
        .map(|kind| Asked {
            kind,
            text: text(kind, graph, &mut dice),
        })
        .collect()
}

fn text(kind: &str, graph: &Graph, dice: &mut Dice) -> String {
    // Well-known nodes are asked about more often.
    let node = |dice: &mut Dice| 3 + (dice.share().powf(1.5) * (graph.nodes - 3) as f64) as usize;
    let what = |dice: &mut Dice| dice.of(&PLAIN).replace('_', " ");
    match kind {
        "known name" => {
            let name = label(node(dice));
            match dice.below(4) {
                0 => format!("Who is the CEO of {name}?"),
                1 => format!("What is the {} of {name}?", what(dice)),
                2 => format!("Tell me about {name}."),
                _ => format!("When was {name} founded and where is its headquarters?"),
            }
        }
        "two names" => {
            let (a, b) = (
                label(node(dice)),
                label(if dice.below(3) == 0 {
                    dice.below(3)
                } else {
                    node(dice)
                }),
            );
            match dice.below(2) {
                0 => format!("How is {a} connected to {b}?"),
                _ => format!("Did {a} acquire {b}?"),
            }
        }
        "alias" => {
            let at = node(dice) / 5 * 5;
            format!(
                "What is the {} of {}?",
                what(dice),
                alias(at).unwrap_or_default()
            )
        }
        "misspelt name" => format!(
            "What is the {} of {}?",
            what(dice),
            slip(&label(node(dice)), dice)
        ),
        "unknown name" => {
            let word = |dice: &mut Dice| -> String {
                (0..3)
                    .map(|_| {
                        *dice.of::<&str>(&["qua", "xir", "vop", "zug", "wex", "yim", "juk", "fiq"])
                    })
                    .collect()
            };
            let (a, b) = (word(dice), word(dice));
            format!("What do you know about Zz{a} Vv{b} and their products in Qq{b}?")
        }
        "hub" => {
            let hub = label(dice.below(3));
            match dice.below(3) {
                0 => format!("Tell me about {hub}."),
                1 => format!("What is the {} of {hub}?", what(dice)),
                _ => format!("How is {hub} connected to {}?", label(dice.below(3))),
            }
        }
        "predicate only" => match dice.below(3) {
            0 => "Which company has the most employees?".to_owned(),
            1 => format!("Which {} is the largest?", what(dice)),
            _ => format!("List every {} that is known.", what(dice)),
        },
        _ => {
            let mut text = String::new();
            for at in 0..2_000 {
                match dice.below(60) {
                    0 => text.push_str(&label(node(dice))),
                    _ => text.push_str(dice.of::<&str>(&FILLER)),
                }
                text.push_str(if at % 14 == 13 { ". The " } else { " " });
            }
            format!(
                "{text}. Given all that, what is the {} of {}?",
                what(dice),
                label(node(dice))
            )
        }
    }
}

/// A letter lost, doubled, replaced or swapped, not the first.
fn slip(name: &str, dice: &mut Dice) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    let at = 1 + dice.below(letters.len().saturating_sub(3));
    match dice.below(4) {
        0 => drop(letters.remove(at)),
        1 => letters.insert(at, letters[at]),
        2 => letters[at] = 'e',
        _ => letters.swap(at, at + 1),
    }
    letters.into_iter().collect()
}

const FILLER: [&str; 24] = [
    "report",
    "of",
    "the",
    "quarter",
    "which",
    "showed",
    "growth",
    "in",
    "several",
    "markets",
    "although",
    "costs",
    "rose",
    "because",
    "suppliers",
    "asked",
    "for",
    "more",
    "and",
    "a",
    "new",
    "contract",
    "was",
    "signed",
];
