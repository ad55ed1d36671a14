use std::sync::LazyLock;

use proptest::prelude::*;
use ud::Parser;

use super::{Evidence, verify_against};
use crate::Truth;

static PARSER: LazyLock<Parser> = LazyLock::new(|| Parser::embedded().unwrap());

fn label(text: &str, answer: &str) -> (Truth, Vec<String>) {
    let evidence = Evidence::new(&PARSER, text);
    let judged = verify_against(&PARSER, answer, &evidence);
    let reasons = judged
        .iter()
        .filter_map(|(_, j)| j.reason.clone())
        .collect();
    let verdicts: Vec<Truth> = judged.iter().map(|(_, j)| j.verdict).collect();
    let first = [Truth::False, Truth::True]
        .into_iter()
        .find(|t| verdicts.contains(t));
    (first.unwrap_or_default(), reasons)
}

#[track_caller]
fn check(text: &str, answer: &str, expected: Truth) {
    let (verdict, reasons) = label(text, answer);
    assert_eq!(verdict, expected, "{answer} | {text} | {reasons:?}");
}

#[track_caller]
fn contradicted(text: &str, answer: &str) {
    check(text, answer, Truth::False);
}

#[track_caller]
fn not_contradicted(text: &str, answer: &str) {
    let (verdict, reasons) = label(text, answer);
    assert_ne!(verdict, Truth::False, "{answer} | {text} | {reasons:?}");
}

const REPORT: &str = "Our bakery sold 12 million loaves in the third quarter of 2022, up 8% from the year before. \
    Operating costs fell to $3.5 million. We raised the price of rye bread in March. \
    We expect sales to grow by 5% in 2023. The new oven in Lyon is not ready yet.";

const PERSON: &str = "Mira Halden (born 4 May 1961) is a Norwegian composer and pianist. \
    She studied at the Bergen Conservatory and wrote the opera Winter Light.";

#[test]
fn what_the_text_says_is_grounded() {
    check(
        REPORT,
        "The bakery sold 12 million loaves in the third quarter of 2022.",
        Truth::True,
    );
    check(
        REPORT,
        "The bakery raised the price of rye bread.",
        Truth::True,
    );
    check(PERSON, "Mira Halden is a Norwegian composer.", Truth::True);
}

#[test]
fn what_the_text_leaves_open_is_not_grounded() {
    check(
        REPORT,
        "Penguins migrate across frozen lakes.",
        Truth::Neither,
    );
    not_contradicted(PERSON, "Mira Halden owns a yellow bicycle.");
}

#[test]
fn unequal_numbers_conflict() {
    contradicted(
        REPORT,
        "The bakery sold 15 million loaves in the third quarter of 2022.",
    );
    contradicted(REPORT, "Operating costs fell to $4.5 million.");
    let (_, reasons) = label(REPORT, "Operating costs fell to $4.5 million.");
    assert_eq!(
        reasons,
        ["the text says $3.5 million, the answer $4.5 million"]
    );
}

#[test]
fn rounded_and_bounded_numbers_do_not_conflict() {
    not_contradicted(
        "The tower cost 12.04 million euros.",
        "The tower cost 12.0 million euros.",
    );
    not_contradicted(
        "The tower cost 12.4 million euros.",
        "The tower cost over 12 million euros.",
    );
    not_contradicted(
        "The tower is about 120 metres tall.",
        "The tower is 118 metres tall.",
    );
    not_contradicted(
        "Twenty-five people came to the workshop.",
        "25 people came to the workshop.",
    );
}

#[test]
fn dates_conflict_where_they_are_of_the_same_event() {
    contradicted(PERSON, "Mira Halden was born in 1971.");
    contradicted(PERSON, "Mira Halden was born in June 1961.");
    not_contradicted(PERSON, "Mira Halden was born in the sixties.");
    not_contradicted(
        "Otto Lind (3 June 1900 – 9 July 1980) was a painter.",
        "Otto Lind died in 1980.",
    );
    contradicted(
        "Otto Lind (3 June 1900 – 9 July 1980) was a painter.",
        "Otto Lind died in 1970.",
    );
}

#[test]
fn opposites_conflict() {
    contradicted(REPORT, "Operating costs rose to $3.5 million.");
    contradicted(
        REPORT,
        "The bakery lowered the price of rye bread in March.",
    );
    contradicted(
        "The bridge was opened before the war.",
        "The bridge was opened after the war.",
    );
}

#[test]
fn opposites_of_other_things_do_not() {
    not_contradicted(
        "The firm cut its debt. Its staff expanded to 300 people.",
        "The firm cut its debt and has a staff of 300 people.",
    );
}

#[test]
fn denial_conflicts_both_ways() {
    contradicted(
        "The museum offers guided tours on Sundays.",
        "The museum does not offer guided tours on Sundays.",
    );
    contradicted(
        "The museum does not offer guided tours.",
        "The museum offers guided tours.",
    );
    contradicted(
        "Ana Ruiz appeared in the film Salt Road.",
        "Ana Ruiz has yet to appear in the film Salt Road.",
    );
}

#[test]
fn a_denial_of_part_is_no_denial_of_the_rest() {
    not_contradicted(
        "The Long Tide is an album by Ines Moreau.",
        "The Long Tide is not an album by Karl Weber.",
    );
    not_contradicted("The hotel is expensive.", "The hotel is not too expensive.");
    not_contradicted(
        "The firm declined to sell the mill.",
        "The firm refused to sell the mill.",
    );
}

#[test]
fn another_name_or_country_in_the_same_role_conflicts() {
    contradicted(
        "The film was directed by Ines Moreau.",
        "The film was directed by Karl Weber.",
    );
    contradicted(PERSON, "Mira Halden is a Danish composer.");
}

#[test]
fn spellings_and_abbreviations_of_one_name_do_not() {
    not_contradicted(
        "The school is located in Asunción.",
        "The school is located in Asuncion.",
    );
    not_contradicted(
        "She graduated from the Massachusetts Institute of Technology in 1963.",
        "She graduated from MIT in 1963.",
    );
    not_contradicted(
        "The firm is based in the United States.",
        "The firm is based in the U.S.",
    );
}

#[test]
fn kinds_that_exclude_each_other_conflict() {
    contradicted(
        "Prenton is a city in the county of Arle.",
        "Prenton is a river.",
    );
    contradicted("Salt Road is a 1980 Canadian film.", "Salt Road is a dog.");
    not_contradicted(
        "Prenton is a town in the county of Arle.",
        "Prenton is a place.",
    );
}

#[test]
fn titles_of_another_sex_conflict() {
    contradicted(
        "Good morning, am I speaking with Mr. Okafor?",
        "The agent called Ms. Okafor to ask about a policy.",
    );
}

#[test]
fn possibilities_are_not_contradicted() {
    not_contradicted(REPORT, "Operating costs may have risen.");
    not_contradicted(REPORT, "Did operating costs rise to $3.5 million?");
}

#[test]
fn expectations_are_held_against_expectations() {
    contradicted(REPORT, "The bakery expects sales to shrink by 5% in 2023.");
}

#[test]
fn opposing_sentences_have_spans() {
    let evidence = Evidence::new(&PARSER, REPORT);
    let judged = verify_against(&PARSER, "Operating costs fell to $4.5 million.", &evidence);
    let opposing = judged.iter().flat_map(|(_, j)| &j.opposing).next().unwrap();
    let span = evidence.sentence_span(*opposing).unwrap();
    assert_eq!(&REPORT[span], "Operating costs fell to $3.5 million.");
    assert!(evidence.sentence_span(1000).is_none());
}

/// Passages come from any document that shares words with the question.
#[test]
fn a_text_about_somebody_else_is_no_evidence_against() {
    let against = |text: &str, answer: &str| {
        let judged = verify_against(&PARSER, answer, &Evidence::found(&PARSER, text));
        judged.iter().any(|(_, j)| j.verdict == Truth::False)
    };
    let rest = "The site was visited in May. There were three of us. It rained all day.";
    for text in [
        "The company was founded in 2012 by Ida Hollenbeck and Tomasz Reiss.",
        "Management said that a second plant in Maribor may follow in 2026.",
        "Hollenbeck Robotics was founded in 2012. It employs 640 people.",
    ] {
        for answer in [
            "NVIDIA was founded in 1993.",
            "Kessel Motion was founded in 1998 and employs 85 people.",
        ] {
            assert!(!against(text, answer), "{answer} | {text}");
            // Chosen by a person, a text of some length must name it too.
            not_contradicted(&format!("{text} {rest}"), answer);
            // Named elsewhere in what was found is not named here.
            let elsewhere = format!("{text} {rest} The boards are by NVIDIA and Kessel Motion.");
            assert!(!against(&elsewhere, answer), "{answer} | {elsewhere}");
        }
    }
    for text in [
        "NVIDIA was founded in 1995.",
        "NVIDIA is a maker of chips. It was founded in 1995.",
    ] {
        assert!(against(text, "NVIDIA was founded in 1993."), "{text}");
    }
    // A short text that a person has chosen is about what it is held against.
    contradicted("It was founded in 1995.", "NVIDIA was founded in 1993.");
}

#[test]
fn treebank_brackets_keep_their_places() {
    let text = "Lund -LRB- -LSB- lʉnd -RSB- -RRB- is a city . It has 90,000 inhabitants .";
    let plain = super::plain(text);
    assert_eq!(plain.len(), text.len());
    assert!(!plain.contains("lʉnd"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,120}", answer in "\\PC{0,80}") {
        let _ = label(&text, &answer);
    }

    #[test]
    fn no_words_make_it_panic(
        text in prop::collection::vec(WORDS, 0..30),
        answer in prop::collection::vec(WORDS, 0..20),
    ) {
        let _ = label(&text.join(" "), &answer.join(" "));
    }
}

const WORDS: &str = "(not|no|never|12|1980s|Q3|May|5th|\\$3|million|%|is|was|a|the|yet|to|Mr|Lee|U\\.S\\.|film|rise|fall|in|by|of|born|\\(|\\)|-LSB-|-RSB-|-LRB-|\\.|\\?|,|–|é|東京)";
