//! A verdict for each rule, on examples of our own.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::{Fact, Graph, Rules, verify};
use crate::claim::Polarity;
use crate::truth::Truth::{self, Both, False, Neither, True};

static PARSER: LazyLock<ud::Parser> = LazyLock::new(|| ud::Parser::embedded().unwrap());

/// `+ subject | predicate | object` a line; a predicate with `!` at its end is functional.
fn graph(statements: &str) -> Graph {
    let mut rules = Rules::default();
    let mut facts = Vec::new();
    for line in statements.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let polarity = if line.starts_with('-') {
            Polarity::Negative
        } else {
            Polarity::Positive
        };
        let parts: Vec<&str> = line[1..].split('|').map(str::trim).collect();
        let predicate = parts[1].trim_end_matches('!').to_string();
        if parts[1].ends_with('!') {
            rules.functional.insert(predicate.clone());
        }
        facts.push(Fact {
            subject: parts[0].into(),
            predicate,
            object: parts[2].into(),
            polarity,
            confidence: 1.0,
            ..Fact::default()
        });
    }
    rules
        .inverse
        .insert("parent_company".into(), "subsidiary".into());
    rules.exclusive.push(("ally_of".into(), "enemy_of".into()));
    Graph::new(facts, rules)
}

#[track_caller]
fn check(statements: &str, text: &str, expected: Truth) {
    let judged = verify(&PARSER, text, &graph(statements));
    let label = crate::cases::label(judged.iter().map(|(_, j)| j.verdict));
    let told: Vec<String> = judged
        .iter()
        .map(|(c, j)| {
            format!(
                "{c}: {:?}, {}",
                j.verdict,
                j.reason.clone().unwrap_or_default()
            )
        })
        .collect();
    assert_eq!(label, expected, "{text}\n{}", told.join("\n"));
}

#[test]
fn a_matching_statement_grounds_a_claim() {
    check(
        "+ Lyra Bank | chairman | Ada Keller",
        "Ada Keller is the chairman of Lyra Bank.",
        True,
    );
    check(
        "+ Lyra Bank | chairman | Ada Keller",
        "The bank's history is long. Lyra Bank's chairman is Keller.",
        True,
    );
    check(
        "+ Orion Press | published | Night Trains",
        "Night Trains was published by Orion Press.",
        True,
    );
    check(
        "+ Denmark | capital | Copenhagen",
        "The Danish capital is Copenhagen.",
        True,
    );
    check(
        "+ Night Trains | author | Ida Holm",
        "Ida Holm wrote Night Trains.",
        True,
    );
    check(
        "+ Kestrel Tower | heightInMetres | 212.5",
        "Kestrel Tower is 212.5 metres tall.",
        True,
    );
}

#[test]
fn nothing_is_said_where_no_statement_bears_on_it() {
    check(
        "+ Lyra Bank | chairman | Ada Keller",
        "Orion Press sells books.",
        Neither,
    );
    check(
        "+ Lyra Bank | founder | Ada Keller",
        "Ada Keller left Lyra Bank.",
        Neither,
    );
}

#[test]
fn opposite_polarity_contradicts_either_way() {
    check(
        "- Lyra Bank | owns | Orion Press",
        "Lyra Bank owns Orion Press.",
        False,
    );
    check(
        "+ Lyra Bank | owns | Orion Press",
        "Lyra Bank does not own Orion Press.",
        False,
    );
    check(
        "- Lyra Bank | owns | Orion Press",
        "Lyra Bank does not own Orion Press.",
        True,
    );
}

#[test]
fn told_both_ways_is_contested() {
    check(
        "+ Lyra Bank | owns | Orion Press\n- Lyra Bank | owns | Orion Press",
        "Lyra Bank owns Orion Press.",
        Both,
    );
    check(
        "+ Lyra Bank | chairman! | Ada Keller\n+ Lyra Bank | chairman! | Tom Reed",
        "The chairman of Lyra Bank is Tom Reed.",
        Both,
    );
}

#[test]
fn another_object_of_a_functional_predicate_contradicts() {
    check(
        "+ Lyra Bank | chairman! | Ada Keller",
        "The chairman of Lyra Bank is Tom Reed.",
        False,
    );
    check(
        "+ Lyra Bank | chairman | Ada Keller",
        "The chairman of Lyra Bank is Tom Reed.",
        Neither,
    );
    check(
        "+ Lyra Bank | founded_in_year! | 1931",
        "Lyra Bank was founded in 1947.",
        False,
    );
    check(
        "+ Lyra Bank | founded_in_year! | 1931",
        "Lyra Bank was founded on 3 May 1931.",
        True,
    );
}

#[test]
fn values_that_are_equal_after_normalisation_do_not_contradict() {
    check(
        "+ Lyra Bank | revenue! | 3200000000 USD",
        "Lyra Bank had revenue of $3.2 billion.",
        True,
    );
    check(
        "+ Kestrel Tower | height! | 1000 feet",
        "Kestrel Tower has a height of 304.8 metres.",
        True,
    );
    check(
        "+ Lyra Bank | opening_date! | 1931-05-03",
        "Lyra Bank's opening date was May 3, 1931.",
        True,
    );
    check(
        "+ Lyra Bank | revenue! | 3200000000 USD",
        "Lyra Bank had revenue of $4.1 billion.",
        False,
    );
}

#[test]
fn a_city_does_not_contradict_its_country() {
    check(
        "+ Lyra Bank | headquarters! | France",
        "Lyra Bank has its headquarters in Paris.",
        Neither,
    );
}

#[test]
fn a_value_of_another_year_or_another_measure_does_not_contradict() {
    check(
        "+ Lyra Bank | revenue_2021! | 5 USD",
        "The revenue of Lyra Bank in 2022 was 7 USD.",
        Neither,
    );
    check(
        "+ Lyra Bank | net_income! | 5000000 USD",
        "Lyra Bank had operating income of $7 million.",
        Neither,
    );
}

#[test]
fn what_was_once_does_not_contradict_what_is_now() {
    check(
        "+ Lyra Bank | chairman! | Ada Keller",
        "The former chairman of Lyra Bank is Tom Reed.",
        Neither,
    );
    check(
        "+ Lyra Bank | president! | Ada Keller",
        "Tom Reed is vice president of Lyra Bank.",
        Neither,
    );
}

#[test]
fn what_is_not_asserted_is_never_false() {
    let fact = "+ Lyra Bank | chairman! | Ada Keller\n- Lyra Bank | owns | Orion Press";
    for text in [
        "Lyra Bank may own Orion Press.",
        "Does Lyra Bank own Orion Press?",
        "If Lyra Bank owns Orion Press, prices will rise.",
        "Some people say that Lyra Bank owns Orion Press.",
        "Perhaps the chairman of Lyra Bank is Tom Reed.",
    ] {
        check(fact, text, Neither);
    }
}

#[test]
fn an_asymmetric_relation_told_backwards_contradicts() {
    check(
        "+ Lyra Bank | acquired | Orion Press",
        "Orion Press acquired Lyra Bank.",
        False,
    );
    check(
        "+ Lyra Bank | acquired | Orion Press",
        "Orion Press was acquired by Lyra Bank.",
        True,
    );
    check(
        "+ Lyra Bank | competes_with | Orion Press",
        "Orion Press competes with Lyra Bank.",
        True,
    );
}

#[test]
fn exclusive_predicates_contradict_and_inverses_support() {
    check(
        "+ Lyra Bank | ally_of | Orion Press",
        "Lyra Bank is an enemy of Orion Press.",
        False,
    );
    check(
        "+ Orion Press | parent_company | Lyra Bank",
        "Orion Press is a subsidiary of Lyra Bank.",
        True,
    );
}

#[test]
fn what_another_statement_explains_is_no_contradiction() {
    check(
        "+ Hays | county_seat! | San Remo\n+ Dunn | county_seat! | Elton",
        "The county seat of Dunn is Elton. The county seat of Hays is San Remo.",
        True,
    );
}

#[test]
fn spans_and_reasons_are_for_people() {
    let text = "The café is open. The chairman of Lyra Bank is Tom Reed.";
    let judged = verify(
        &PARSER,
        text,
        &graph("+ Lyra Bank | chairman! | Ada Keller"),
    );
    let (claim, judgement) = judged.iter().find(|(_, j)| j.verdict == False).unwrap();
    assert!(text.get(claim.span.clone()).unwrap().contains("Tom"));
    assert!(judgement.reason.as_deref().unwrap().contains("Ada Keller"));
    assert_eq!(judgement.opposing, [0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_text_and_no_statement_makes_it_panic(text in "\\PC{0,80}", s in "\\PC{0,20}", p in "\\PC{0,20}", o in "\\PC{0,20}") {
        let fact = Fact { subject: s.clone(), predicate: p.clone(), object: o.clone(), ..Fact::default() };
        let rules = Rules { functional: [p.clone()].into(), ..Rules::default() };
        let graph = Graph::new(vec![fact], rules);
        for t in [text.clone(), format!("{s} {p} {o}."), format!("The {p} of {s} is {text}.")] {
            for (claim, _) in verify(&PARSER, &t, &graph) {
                prop_assert!(t.get(claim.span.clone()).is_some());
            }
        }
    }
}
