//! What holds for every text and every graph.

use std::collections::HashSet;

use proptest::prelude::*;
use qadra_epistemic::{
    Answer, Object, Question, Triple, chart_from_facts, compose_answer, identity_key,
    normalize_label, system_message,
};
use serde_json::{Value, json};

use crate::answers::questions;
use crate::demo::DEMO;
use crate::graph::Graph;

/// Texts that break careless code: marks, directions, NUL, lone regional indicators, apostrophes, digits.
fn any_text() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "\u{0301}",
        "\u{202E}",
        "\0",
        "\u{1F1E6}",
        "'",
        "’s",
        "مرحبا",
        "שלום",
        "é",
        "e\u{0301}",
        "ﬁ",
        "İ",
        "ß",
        "&",
        "U.S.",
        "1,000",
        "3.14",
        "C++",
        "苹果",
        "\u{200D}",
        "👩‍👩‍👧",
        "\u{FEFF}",
        "\n",
        "\t",
        "[1]",
        "{s}",
        "}",
        "Apple",
        "founded",
        "when",
        "1976",
        "its",
        "\u{E0041}",
        "…",
        "ǅ",
    ]);
    prop_oneof![
        any::<String>(),
        prop::collection::vec(
            prop_oneof![
                odd.prop_map(str::to_owned),
                "\\PC{0,6}",
                Just(" ".to_owned())
            ],
            0..40
        )
        .prop_map(|parts| parts.concat()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_question_is_answered_without_panic(text in any_text(), before in any_text()) {
        let previous = [before.as_str()];
        let question = Question::parse_in(&text, &previous);
        let keys = question.lookup_keys();
        prop_assert!(keys.len() <= 512);
        prop_assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len());
        let assessment = DEMO.assess(&text, &previous);
        let length = text.chars().count();
        for mention in &assessment.mentions {
            prop_assert!(mention.start <= mention.end && mention.end <= length);
        }
        golden(&DEMO.triples, &DEMO.ask_in(&text, &previous));
        chart_from_facts(&text, &assessment);
        lines_are_well_formed(system_message(&assessment));
    }

    #[test]
    fn any_label_is_told_and_shown_on_one_line(subject in any_text(), predicate in any_text(), object in any_text(), denied in any::<bool>()) {
        prop_assume!(!object.trim().is_empty());
        let mut graph = Graph::default();
        let polarity = if denied { "-" } else { "+" };
        graph.add(&json!({"subject": subject, "predicate": predicate, "object": object, "polarity": polarity}));
        graph.add(&json!({"subject": "Apple", "predicate": predicate, "object": {"type": "text", "value": object}}));
        for question in [format!("Tell me about {subject}"), format!("What is the {predicate} of Apple?"), "Apple".to_owned()] {
            let assessment = graph.assess(&question, &[]);
            let answer = compose_answer(&question, &assessment);
            prop_assert!(!answer.text.contains('\n'));
            markers_match(&answer);
            lines_are_well_formed(system_message(&assessment));
        }
    }

    #[test]
    fn a_label_is_found_by_its_name(label in "[A-Za-z]{10,12}( [A-Za-z0-9]{3,9}){0,3}") {
        let mut graph = Graph::default();
        graph.add(&json!({"subject": label, "predicate": "color", "object": "red"}));
        let assessment = graph.assess(&format!("tell me about {label} please"), &[]);
        prop_assert_eq!(assessment.mentions.first().map(|mention| mention.label.clone()), Some(label.clone()));
        let upper = graph.assess(&label.to_uppercase(), &[]);
        prop_assert_eq!(upper.mentions.len(), 1);
    }

    #[test]
    fn keys_ignore_case_and_spacing(label in any_text()) {
        let spaced = format!("  {label} ");
        prop_assert_eq!(normalize_label(&label), normalize_label(&spaced));
        let ascii: String = label.chars().filter(char::is_ascii).collect();
        prop_assert_eq!(identity_key(&ascii.to_uppercase()), identity_key(&ascii.to_lowercase()));
    }

    #[test]
    fn objects_survive_json(text in any_text(), number in any::<i64>(), scale in 0u32..9) {
        for value in [json!(text), json!(number), json!(format!("{number}e-{scale}")), json!(number as f64 / 7.0)] {
            let Ok(qadra_epistemic::Parsed::Literal(object)) = Object::parse(&value) else { continue };
            let back: Object = serde_json::from_value(serde_json::to_value(&object).unwrap()).unwrap();
            prop_assert_eq!(back.object_key(), object.object_key());
            prop_assert!(object.object_key().len() < 400);
        }
    }
}

#[test]
fn a_hundred_thousand_characters_stay_bounded() {
    for text in [
        "when was Apple founded ".repeat(4_400),
        "a".repeat(100_000),
        "é\u{0301}".repeat(50_000),
        "\u{1F1E6}".repeat(100_000),
        "'s.".repeat(33_000),
    ] {
        let started = std::time::Instant::now();
        assert!(Question::parse(&text).lookup_keys().len() <= 512);
        DEMO.ask(&text);
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    }
}

#[test]
fn every_number_and_name_of_an_answer_is_in_a_cited_triple() {
    for question in questions() {
        golden(&DEMO.triples, &DEMO.ask(question));
    }
}

/// Each sentence's figures and capital words occur in the statements that the answer cites.
fn golden(triples: &[Triple], answer: &Answer) {
    markers_match(answer);
    let cited: Vec<&Triple> = triples
        .iter()
        .filter(|triple| {
            answer
                .citations
                .iter()
                .any(|citation| citation.triple_id == triple.id)
        })
        .collect();
    let mut words: HashSet<String> = HashSet::new();
    let mut figures: Vec<f64> = Vec::new();
    for triple in &cited {
        let dates = [triple.valid_from, triple.valid_to]
            .into_iter()
            .flatten()
            .map(|day| day.format("%B %-d %Y").to_string());
        let texts = [
            triple.subject.label.clone(),
            triple.object.label(),
            triple.source.clone().unwrap_or_default(),
            triple.predicate.replace(['_'], " ").replace("fy", ""),
        ];
        for text in texts.into_iter().chain(dates) {
            for word in text.split(|letter: char| !letter.is_alphanumeric() && letter != '.') {
                figures.extend(word.trim_matches('.').parse::<f64>());
                words.insert(word.trim_matches('.').to_lowercase());
            }
        }
    }
    for sentence in told(&answer.text) {
        let parts: Vec<&str> = sentence.split_whitespace().collect();
        for (at, part) in parts.iter().enumerate() {
            let bare = part
                .split('[')
                .next()
                .unwrap_or_default()
                .trim_matches(|letter: char| !letter.is_alphanumeric());
            let digits = bare.replace(',', "");
            if let Ok(figure) = digits.parse::<f64>() {
                let scale = match parts.get(at + 1).map(|next| next.trim_matches('.')) {
                    Some("million") => 1e6,
                    Some("billion") => 1e9,
                    Some("trillion") => 1e12,
                    _ => 1.0,
                };
                let known = figures
                    .iter()
                    .any(|known| (known - figure * scale).abs() <= 1e-9 * known.abs())
                    || words.contains(&bare.to_lowercase());
                assert!(known, "{figure} is in no cited triple: {}", answer.text);
            } else if bare.starts_with(char::is_uppercase) && !FRAME.contains(&bare) {
                let every = bare
                    .split(|letter: char| !letter.is_alphanumeric())
                    .filter(|piece| piece.len() > 1)
                    .all(|piece| words.contains(&piece.to_lowercase()));
                assert!(every, "{bare} is in no cited triple: {}", answer.text);
            }
        }
    }
}

/// The answer's sentences that state something: what is quoted as unknown, and speech about itself, are not.
fn told(text: &str) -> Vec<String> {
    if text.contains("I am Qadra's") {
        return Vec::new();
    }
    let mut out = String::new();
    let mut quoted = 0;
    for letter in text.chars() {
        match letter {
            '“' => quoted += 1,
            '”' => quoted -= 1,
            _ if quoted <= 0 => out.push(letter),
            _ => {}
        }
    }
    out.split("]. ")
        .map(|sentence| {
            sentence
                .rsplit(": ")
                .next()
                .filter(|_| {
                    sentence.contains("What they do say") || sentence.contains("What they say")
                })
                .unwrap_or(sentence)
                .to_owned()
        })
        .filter(|sentence| sentence.contains('['))
        .collect()
}

fn markers_match(answer: &Answer) {
    for (at, citation) in answer.citations.iter().enumerate() {
        assert_eq!(citation.n, at + 1);
    }
    let mut rest = answer.text.as_str();
    while let Some((_, tail)) = rest.split_once('[') {
        let (number, after) = tail.split_once(']').unwrap();
        let n: usize = number.parse().unwrap();
        assert!((1..=answer.citations.len()).contains(&n), "{}", answer.text);
        rest = after;
    }
}

fn lines_are_well_formed(message: Option<String>) {
    let Some(message) = message else { return };
    assert!(message.len() < 40_000);
    let mut sections: Vec<&str> = Vec::new();
    for line in message.split('\n') {
        match line {
            "FACTS:" | "CONTRADICTIONS:" | "KNOWLEDGE GAPS:" => sections.push(line),
            "" => {}
            line => assert!(
                [
                    "(",
                    "NOT (",
                    "No triples found for \"",
                    "The knowledge of this workspace"
                ]
                .iter()
                .any(|start| line.starts_with(start)),
                "{line:?} in {message}"
            ),
        }
    }
    assert_eq!(
        sections.iter().collect::<HashSet<_>>().len(),
        sections.len(),
        "{message}"
    );
    let _: Value = json!(message);
}

const FRAME: &[&str] = &[
    "Yes",
    "No",
    "Of",
    "Sources",
    "According",
    "The",
    "It",
    "CEO",
    "CEOs",
    "co-CEOs",
    "For",
    "On",
    "I",
    "You",
];
