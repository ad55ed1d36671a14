//! What the shape of the retrieved graph adds: misspelt names, kinds of gaps, chains and curvature.

use qadra_epistemic::curvature::Measure;
use qadra_epistemic::{
    Assessment, Gap, GapKind, Match, NameHit, NameTarget, Options, PredicateFacts, Question,
    edge_curvatures, identity_key, normalize_label,
};
use serde_json::json;

use crate::demo::DEMO;
use crate::graph::{Graph, triple};

/// The look-up by similarity, as the store does it: names that share trigrams with a key.
fn similar(keys: &[String], names: &[(&str, &str)]) -> Vec<NameHit> {
    let trigrams = |text: &str| -> std::collections::HashSet<String> {
        text.split(' ')
            .flat_map(|word| {
                let padded: Vec<char> = format!("  {word} ").chars().collect();
                padded
                    .windows(3)
                    .map(|part| part.iter().collect())
                    .collect::<Vec<String>>()
            })
            .collect()
    };
    let mut hits = Vec::new();
    for key in keys {
        for (at, (label, name)) in names.iter().enumerate() {
            let (a, b) = (trigrams(key), trigrams(&normalize_label(name)));
            let similarity = a.intersection(&b).count() as f32 / a.union(&b).count() as f32;
            if similarity >= 0.3 {
                hits.push(NameHit {
                    key: key.clone(),
                    target: NameTarget::Similar {
                        id: uuid::Uuid::from_u128(at as u128 + 1),
                        label: (*label).to_owned(),
                        name: (*name).to_owned(),
                        similarity,
                    },
                });
            }
        }
    }
    hits
}

const NAMES: &[(&str, &str)] = &[
    ("Apple", "Apple"),
    ("Microsoft", "Microsoft"),
    ("Nvidia", "NVIDIA Corporation"),
    ("Alphabet", "Google"),
    ("Berkshire Hathaway", "Berkshire Hathaway"),
    ("Windows 11", "Windows 11"),
    ("Meta", "Meta"),
    ("Amazon", "Amazon"),
    ("Intel", "Intel"),
];

fn fuzzy(question: &str) -> Vec<(String, String)> {
    let question = Question::parse(question);
    let hits = similar(&question.fuzzy_keys(&[]), NAMES);
    question
        .mentions(&hits)
        .mentions
        .into_iter()
        .map(|mention| {
            assert_eq!(mention.matched, Match::Fuzzy);
            (mention.text, mention.label)
        })
        .collect()
}

#[test]
fn misspelt_names_are_found() {
    for (question, text, label) in [
        ("Who runs Microsft?", "Microsft", "Microsoft"),
        ("who is the ceo of mircosoft", "mircosoft", "Microsoft"),
        ("What is Nividia's revenue?", "Nividia", "Nvidia"),
        ("When was Aple founded?", "Aple", "Apple"),
        ("When was Gooogle founded?", "Gooogle", "Alphabet"),
        (
            "Tell me about Berkshir Hathway",
            "Berkshir Hathway",
            "Berkshire Hathaway",
        ),
        ("amazn revenue", "amazn", "Amazon"),
    ] {
        assert_eq!(
            fuzzy(question),
            [(text.to_owned(), label.to_owned())],
            "{question}"
        );
    }
}

#[test]
fn everyday_words_other_figures_and_far_names_are_not() {
    for question in [
        "how do I apply for a job",
        "I want to apply for it",
        "When was Windows 10 released?",
        "what a metal price",
        "Tell me about Apricot",
        "the mete of it",
        "Who runs Mikroshofd?",
        "until when is the offer valid",
    ] {
        assert_eq!(fuzzy(question), [], "{question}");
    }
}

#[test]
fn what_was_found_as_written_is_not_searched_again() {
    let question = Question::parse("Who is the CEO of Apple and of Microsft?");
    let hit = NameHit {
        key: "appl".into(),
        target: NameTarget::Node {
            id: uuid::Uuid::from_u128(1),
            label: "Apple".into(),
        },
    };
    let key = normalize_label("Apple");
    let keys = question.fuzzy_keys(&[NameHit { key, ..hit }]);
    assert_eq!(keys, ["microsft"]);
    assert!(identity_key("Microsft") == "microsft");
}

fn kinds(assessment: &Assessment) -> Vec<(&str, GapKind)> {
    assessment
        .gaps
        .iter()
        .map(|Gap { text, kind, .. }| (text.as_str(), *kind))
        .collect()
}

#[test]
fn gaps_say_of_what_kind_they_are() {
    let none: &[&str] = &[];
    let graph = DEMO.assess("What is the discount rate methodology of Apple?", none);
    assert!(
        kinds(&graph)
            .iter()
            .any(|(_, kind)| *kind == GapKind::Unlinked),
        "{:?}",
        graph.gaps
    );
    let missing = DEMO.assess("What is Apple's dividend?", none);
    assert_eq!(kinds(&missing), [("Apple dividend", GapKind::Missing)]);
    let json = serde_json::to_value(&missing.gaps[0]).unwrap();
    assert_eq!(json["kind"], "missing");
    let old: Gap = serde_json::from_value(json!({"text": "x", "reason": "y"})).unwrap();
    assert_eq!(old.kind, GapKind::Unlinked);
}

#[test]
fn nodes_without_a_chain_between_them_are_a_gap() {
    let graph = Graph::of(&[
        triple("Ada", "knows", "Bob"),
        triple("Bob", "knows", "Carl"),
        triple("Dan", "knows", "Eve"),
    ]);
    let apart = graph.assess("How is Ada related to Dan?", &[]);
    assert_eq!(kinds(&apart), [("Ada and Dan", GapKind::Unconnected)]);
    let joined = graph.assess("How is Ada related to Bob?", &[]);
    assert_eq!(kinds(&joined), []);
}

#[test]
fn what_most_of_a_kind_have_and_one_has_not_is_expected() {
    let mut rows = Vec::new();
    for at in 0..6 {
        let name = format!("Town{at}");
        rows.push(triple(&name, "is_a", "town"));
        rows.push(triple(&name, "located_in", "Region"));
        if at != 0 {
            rows.push(triple(&name, "population", 1000 + at));
        }
    }
    let graph = Graph::of(&rows);
    let question = Question::parse("Tell me about Town0");
    let hits = [NameHit {
        key: normalize_label("Town0"),
        target: NameTarget::Node {
            id: graph.triples[0].subject.id,
            label: "Town0".into(),
        },
    }];
    let found = question.mentions(&hits);
    let assessment = question.assess(
        &found,
        &graph.triples,
        &PredicateFacts::default(),
        &Options::default(),
    );
    assert_eq!(
        kinds(&assessment),
        [("Town0 population", GapKind::Expected)]
    );
    assert_eq!(
        assessment.gaps[0].reason,
        "5 of 5 of the same kind have this, \"Town0\" has not"
    );
    assert_eq!(
        assessment.competence,
        qadra_epistemic::Competence::Competent
    );
}

#[test]
fn statements_on_the_chain_between_two_nodes_come_first() {
    let mut rows = vec![triple("Ada", "met", "Mid"), triple("Mid", "met", "Zoe")];
    for at in 0..8 {
        rows.push(triple("Ada", "met", format!("Other{at}")));
        rows.push(triple("Zoe", "met", format!("Another{at}")));
    }
    let graph = Graph::of(&rows);
    let assessment = graph.assess("How is Ada related to Zoe?", &[]);
    let first: Vec<&str> = assessment
        .triples
        .iter()
        .take(2)
        .map(|ranked| ranked.triple.predicate.as_str())
        .collect();
    assert_eq!(first, ["met", "met"]);
    for ranked in assessment.triples.iter().take(2) {
        let ends = [
            ranked.triple.subject.label.clone(),
            ranked.triple.object.label(),
        ];
        assert!(ends.contains(&"Mid".to_owned()), "{ends:?}");
    }
}

#[test]
fn cohesive_statements_win_in_questions_about_one_thing_and_bridges_in_connecting_ones() {
    // Ada, Bob and Carl all know each other; the way to Zoe leads over Yan, who also knows others.
    let mut rows = vec![
        triple("Ada", "met", "Bob"),
        triple("Bob", "met", "Carl"),
        triple("Carl", "met", "Ada"),
        triple("Ada", "met", "Yan"),
        triple("Yan", "met", "Xi"),
        triple("Yan", "met", "Wu"),
        triple("Zoe", "met", "Val"),
        triple("Val", "met", "Uma"),
    ];
    rows.push(triple("Wu", "met", "Tom"));
    let graph = Graph::of(&rows);
    let order = |text: &str, lambda: f64| -> Vec<String> {
        let question = Question::parse(text);
        let hits: Vec<NameHit> = ["Ada", "Zoe"]
            .into_iter()
            .filter(|name| text.contains(name))
            .map(|name| NameHit {
                key: normalize_label(name),
                target: NameTarget::Node {
                    id: graph
                        .triples
                        .iter()
                        .find(|triple| triple.subject.label == name)
                        .unwrap()
                        .subject
                        .id,
                    label: name.into(),
                },
            })
            .collect();
        let found = question.mentions(&hits);
        let options = Options {
            lambda,
            ..Options::default()
        };
        question
            .assess(&found, &graph.triples, &PredicateFacts::default(), &options)
            .triples
            .iter()
            .filter(|ranked| ranked.triple.subject.label == "Ada")
            .map(|ranked| ranked.triple.object.label())
            .collect()
    };
    assert_eq!(order("Tell me about Ada", 0.3), ["Bob", "Yan"]);
    assert_eq!(order("How is Ada related to Zoe?", 0.3), ["Yan", "Bob"]);
    let curvatures = edge_curvatures(&graph.triples, Measure::Balanced);
    assert!(curvatures[0].unwrap() > 0.0 && curvatures[3].unwrap() < 0.0);
}

/// Two named nodes, one of them a hub, with 2,400 statements around them.
#[test]
fn a_large_neighbourhood_is_assessed_fast() {
    let mut rows = Vec::new();
    for at in 0..1200 {
        rows.push(triple("Hub", "supplies", format!("Firm{at}")));
        rows.push(triple(
            &format!("Firm{at}"),
            "competes_with",
            format!("Firm{}", (at + 7) % 1200),
        ));
    }
    rows.push(triple("Firm3", "partner", "Acme"));
    let graph = Graph::of(&rows);
    for question in [
        "How is Hub related to Acme?",
        "Tell me about Hub",
        "Who competes with Hub?",
    ] {
        let question = Question::parse(question);
        let hits: Vec<NameHit> = ["Hub", "Acme"]
            .into_iter()
            .map(|name| NameHit {
                key: normalize_label(name),
                target: NameTarget::Node {
                    id: graph
                        .triples
                        .iter()
                        .find_map(|triple| {
                            let object = triple
                                .object
                                .node_id()
                                .filter(|_| triple.object.label() == name);
                            object.or((triple.subject.label == name).then_some(triple.subject.id))
                        })
                        .unwrap(),
                    label: name.into(),
                },
            })
            .collect();
        let found = question.mentions(&hits);
        let started = std::time::Instant::now();
        let assessment = question.assess(
            &found,
            &graph.triples,
            &PredicateFacts::default(),
            &Options::default(),
        );
        let took = started.elapsed();
        println!("{} statements: {took:?}", graph.triples.len());
        assert!(!assessment.triples.is_empty());
        assert!(took.as_millis() < 1_000, "{took:?}");
    }
}
