//! The rule-based gate and the attribution behind it.

use proptest::prelude::*;
use qadra_epistemic::{
    AttributionOptions, GateConfig, Method, Triple, VerificationGateResult, attribute,
    deletion_auc, verify_response_rule_based,
};
use serde_json::json;
use uuid::Uuid;

use crate::demo::DEMO;
use crate::graph::{Graph, triple};

fn companies() -> Graph {
    Graph::of(&[
        triple("Apple", "founded_in_year", 1976),
        triple("Apple", "founded_by", "Steve Jobs"),
        triple("Apple", "founded_by", "Steve Wozniak"),
        triple("Apple", "ceo", "Tim Cook"),
        triple("Apple", "headquarters", "Cupertino, California"),
        triple("Apple", "product", "iPhone"),
        json!({"subject": "Apple", "predicate": "revenue_2023", "object": {"type": "number", "value": "383285000000", "unit": "USD"}}),
        json!({"subject": "Apple", "predicate": "revenue_2022", "object": {"type": "number", "value": "394328000000", "unit": "USD"}}),
        triple("Microsoft", "founded_in_year", 1975),
        triple("Microsoft", "acquired", "LinkedIn"),
        triple("LinkedIn", "acquired_in_year", 2016),
        json!({"subject": "Apple", "predicate": "acquired", "object": "Arm", "polarity": "-"}),
    ])
}

fn verify(response: &str, triples: &[Triple]) -> VerificationGateResult {
    verify_response_rule_based(response, triples, &GateConfig::default()).unwrap()
}

/// The texts of what is not grounded.
fn ungrounded(response: &str) -> Vec<String> {
    verify(response, &companies().triples)
        .ungrounded_claims
        .into_iter()
        .map(|claim| claim.text)
        .collect()
}

#[test]
fn true_answers_pass() {
    let graph = companies();
    let mut wrong = Vec::new();
    for response in [
        "Apple was founded in 1976 by Steve Jobs and Steve Wozniak [1][2].",
        "Apple Inc. is headquartered in Cupertino, California. Its CEO is Tim Cook.",
        "Tim Cook, who is the CEO of Apple, works in Cupertino.",
        "In 1976, Steve Jobs founded Apple.",
        "Apple's revenue was $383.285 billion in 2023 and $394.3 billion in 2022.",
        "Apple made about $380 billion in revenue in 2023.",
        "Apple was founded in 1976 and Microsoft in 1975.",
        "Microsoft acquired LinkedIn in 2016.",
        "LinkedIn was bought by Microsoft in 2016. It also sells software.",
        "Apple was not founded in 1980.",
        "Apple did not acquire Arm.",
        "Apple has two founders: Steve Jobs and Steve Wozniak.",
        "- **Founded:** 1976\n- **CEO:** Tim Cook",
        "| Apple | founded | 1976 |",
        "I do not know who audits Apple. The facts say nothing about Deloitte.",
        "Was Apple founded in 1980? Perhaps Microsoft will buy Apple in 2030.",
        "The company might move to Texas.",
        "Cook leads Apple.",
        "Apple's CEO: Tim Cook. Founders: Steve Jobs, Steve Wozniak.",
        "Apple was founded one year after Microsoft, in 1976.",
    ] {
        let result = verify(response, &graph.triples);
        if !result.passed || !result.ungrounded_claims.is_empty() {
            wrong.push((response, result.ungrounded_claims));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn false_and_invented_statements_are_named() {
    let mut wrong = Vec::new();
    for (response, named) in [
        ("Apple was founded in 1980.", "1980"),
        ("Apple was founded by Steve Ballmer.", "Steve Ballmer"),
        ("Apple's CEO is Steve Jobs.", "Steve Jobs"),
        ("The CEO of Apple is Satya Nadella.", "Satya Nadella"),
        ("Apple is headquartered in Redmond.", "Redmond"),
        ("Apple was founded in 1975 and Microsoft in 1976.", "1975"),
        ("Apple's revenue was $400 billion in 2023.", "400000000000"),
        ("Apple's revenue in 2022 was $383.285 billion.", "2022"),
        ("LinkedIn acquired Microsoft in 2016.", "Microsoft"),
        ("Apple acquired Arm.", "Arm"),
        ("Tim Cook is not the CEO of Apple.", "Apple"),
        ("Microsoft acquired Apple.", "Apple"),
        ("Apple is great. It was founded in 1999.", "1999"),
        ("Apple's CEO: Steve Wozniak.", "Steve Wozniak"),
    ] {
        let texts = ungrounded(response);
        if !texts.iter().any(|text| text.contains(named)) {
            wrong.push((response, named, texts));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn one_wrong_claim_among_right_ones_is_the_only_one_named() {
    let result = verify(
        "Apple was founded in 1976 by Steve Jobs. Its CEO is Tim Cook. Its headquarters are in Austin.",
        &companies().triples,
    );
    assert!(!result.passed);
    assert_eq!(result.ungrounded_claims.len(), 1);
    assert!(result.ungrounded_claims[0].text.contains("Austin"));
    assert!(result.ungrounded_claims[0].reason.contains("Cupertino"));
    assert_eq!(result.faithfulness, 0.75);
    assert_eq!(result.method, Method::Exact);
    assert_eq!(
        result.reason.as_deref(),
        Some("1 of 4 claims are not grounded in the context")
    );
}

#[test]
fn the_names_that_the_question_used_are_names() {
    let graph = companies();
    let answer = "AAPL was founded in 1976 and the fruit company is led by Tim Cook.";
    assert!(!verify(answer, &graph.triples).passed);
    let apple = graph.triples[0].subject.id;
    let config = GateConfig {
        aliases: vec![("AAPL".into(), apple), ("the fruit company".into(), apple)],
        ..GateConfig::default()
    };
    let result = verify_response_rule_based(answer, &graph.triples, &config).unwrap();
    assert!(result.passed, "{:?}", result.ungrounded_claims);
}

#[test]
fn an_empty_context_is_a_no_op() {
    assert!(verify_response_rule_based("Apple is big.", &[], &GateConfig::default()).is_none());
}

#[test]
fn the_json_has_the_names_of_the_contract() {
    let graph = companies();
    let result = verify(
        "Apple was founded in 1980. Apple's CEO is Tim Cook.",
        &graph.triples,
    );
    let value = serde_json::to_value(&result).unwrap();
    let mut keys: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    assert_eq!(
        keys,
        [
            "attributions",
            "faithfulness",
            "fidelity",
            "method",
            "passed",
            "reason",
            "ungrounded_claims"
        ]
    );
    assert_eq!(value["method"], "exact");
    assert_eq!(
        value["ungrounded_claims"][0]["text"],
        "(Apple, was founded in, 1980)"
    );
    assert_eq!(
        value["attributions"],
        json!([{"claim": "(Apple, CEO is, Tim Cook)", "claim_index": 1, "triple_id": graph.triples[3].id, "weight": 1.0}])
    );
    let back: VerificationGateResult = serde_json::from_value(value).unwrap();
    assert_eq!(back, result);
}

/// What the built-in answerer says of the demo facts is true by construction.
#[test]
fn answers_composed_from_the_demo_facts_pass() {
    let mut checked = 0;
    let mut claims = 0;
    let mut failed = Vec::new();
    for question in demo_questions() {
        let assessment = DEMO.assess(&question, &[]);
        let answer = qadra_epistemic::compose_answer(&question, &assessment);
        let triples: Vec<Triple> = assessment
            .triples
            .iter()
            .map(|ranked| ranked.triple.clone())
            .collect();
        let Some(result) =
            verify_response_rule_based(&answer.text, &triples, &GateConfig::default())
        else {
            continue;
        };
        checked += 1;
        claims += result.attributions.len();
        if !result.passed {
            failed.push((answer.text, result.ungrounded_claims));
        }
    }
    assert!(checked >= 500 && claims >= 700, "{checked} {claims}");
    assert!(
        failed.len() <= 1,
        "{} of {checked}: {failed:#?}",
        failed.len()
    );
}

/// Answers as a model words them.
#[test]
fn free_answers_over_the_demo_facts_are_told_apart() {
    let about = |label: &String| label == "Apple" || label == "Microsoft";
    let triples: Vec<Triple> = DEMO
        .triples
        .iter()
        .filter(|triple| about(&triple.subject.label) || about(&triple.object.label()))
        .cloned()
        .collect();
    for answer in [
        "Apple, headquartered in Cupertino, California, was founded in 1976 by Steve Jobs, Steve Wozniak and Ronald Wayne. The company is led by Tim Cook.",
        "Apple is a consumer electronics company. It makes the iPhone and the Mac, and it trades on the Nasdaq under the ticker AAPL.",
        "Here is what I found:\n\n- **Founded**: 1976\n- **Founders**: Steve Jobs, Steve Wozniak, Ronald Wayne\n- **Headquarters**: Cupertino, California",
        "Apple reported revenue of $383.3 billion in fiscal 2023, down from $394.3 billion in 2022.",
        "Founded in 1976, Apple is one of the best-known technology companies in the world.",
        "According to its Form 10-K, Apple has its headquarters in Cupertino, California.",
        "Microsoft bought LinkedIn. Microsoft was started by Bill Gates and Paul Allen in 1975 and is based in Redmond, Washington.",
        "Microsoft's chief executive is Satya Nadella, and its stock symbol is MSFT.",
    ] {
        let result = verify(answer, &triples);
        assert!(result.passed, "{answer}: {:#?}", result.ungrounded_claims);
    }
    for answer in [
        "Apple was founded in 1977 by Steve Jobs.",
        "Apple is headquartered in Redmond, Washington.",
        "Microsoft was founded by Steve Jobs.",
        "Apple reported revenue of $353.3 billion in 2023.",
        "Apple makes the Xbox.",
        "Tim Cook is the CEO of Microsoft.",
        "Apple trades under the ticker MSFT.",
        "LinkedIn bought Microsoft.",
        "Apple employs 900,000 people.",
    ] {
        assert!(!verify(answer, &triples).passed, "{answer}");
    }
}

fn demo_questions() -> Vec<String> {
    let mut questions: Vec<String> = Vec::new();
    for triple in &DEMO.triples {
        let subject = &triple.subject.label;
        questions.push(format!(
            "What is the {} of {subject}?",
            triple.predicate.replace('_', " ")
        ));
        questions.push(format!("Tell me about {subject}"));
        questions.push(format!(
            "How are {subject} and {} connected?",
            triple.object.label()
        ));
        questions.push(format!("{subject} {}", triple.predicate.replace('_', " ")));
    }
    questions.sort();
    questions.dedup();
    questions
}

fn some_triples(count: usize) -> Vec<Triple> {
    let rows: Vec<_> = (0..count)
        .map(|at| triple(&format!("Node{at}"), "size", at as i64 + 100))
        .collect();
    Graph::of(&rows).triples
}

/// Claim i rests on the statements listed for it: any one of them is enough.
fn any_of(supports: Vec<Vec<usize>>) -> impl Fn(&[bool]) -> Vec<f32> {
    move |present: &[bool]| {
        supports
            .iter()
            .map(|own| f32::from(u8::from(own.iter().any(|at| present[*at]))))
            .collect()
    }
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("claim {at}")).collect()
}

#[test]
fn a_sole_support_weighs_all_and_two_weigh_half() {
    let triples = some_triples(6);
    let oracle = any_of(vec![vec![2], vec![0, 5], vec![]]);
    let found = attribute(&texts(3), &triples, &oracle, &AttributionOptions::default());
    let edges: Vec<(usize, Uuid, f32)> = found
        .edges
        .iter()
        .map(|edge| (edge.claim_index, edge.triple_id, edge.weight))
        .collect();
    assert_eq!(
        edges,
        [
            (0, triples[2].id, 1.0),
            (1, triples[0].id, 0.5),
            (1, triples[5].id, 0.5)
        ]
    );
    assert_eq!(found.method, Method::Exact);
    assert!((found.faithfulness - 2.0 / 3.0).abs() < 1e-6);
    // The sole support is exactly additive, the pair is not: fidelity says so.
    assert!(
        found.fidelity > 0.5 && found.fidelity < 1.0,
        "{}",
        found.fidelity
    );
    let sole = attribute(
        &texts(1),
        &triples,
        &any_of(vec![vec![2]]),
        &AttributionOptions::default(),
    );
    assert_eq!(sole.fidelity, 1.0);
}

#[test]
fn sampling_finds_the_supports_and_reports_held_out_fidelity() {
    let triples = some_triples(40);
    let oracle = any_of(vec![vec![7], vec![11, 30], vec![1, 2, 3], vec![]]);
    let options = AttributionOptions::default();
    let found = attribute(&texts(4), &triples, &oracle, &options);
    assert_eq!(found.method, Method::Sampled);
    assert!(
        found.fidelity > 0.6 && found.fidelity < 1.0,
        "{}",
        found.fidelity
    );
    assert_eq!(found.faithfulness, 0.75);
    let of = |claim: usize| -> Vec<Uuid> {
        found
            .edges
            .iter()
            .filter(|edge| edge.claim_index == claim)
            .map(|edge| edge.triple_id)
            .collect()
    };
    assert_eq!(of(0), [triples[7].id]);
    let mut pair = of(1);
    pair.sort_unstable();
    assert_eq!(pair, [triples[11].id, triples[30].id]);
    assert!(of(3).is_empty());
    assert_eq!(
        found,
        attribute(&texts(4), &triples, &oracle, &options),
        "seeded"
    );
}

#[test]
fn noise_has_no_fidelity() {
    let triples = some_triples(60);
    // A hash of the mask: nothing about it is additive, and there are far fewer samples than masks.
    let oracle = |present: &[bool]| {
        let hash = present
            .iter()
            .fold(14_695_981_039_346_656_037_u64, |hash, bit| {
                (hash ^ u64::from(*bit) ^ 0x5bd1).wrapping_mul(1_099_511_628_211)
            });
        vec![(hash >> 40) as f32 / (1_u64 << 24) as f32]
    };
    let found = attribute(&texts(1), &triples, &oracle, &AttributionOptions::default());
    assert!(found.fidelity < 0.1, "{}", found.fidelity);
}

#[test]
fn deleting_the_right_statements_first_loses_the_ground_first() {
    let oracle = any_of(vec![vec![3]]);
    let mut weights = vec![0.0; 10];
    weights[3] = 1.0;
    assert!((deletion_auc(&oracle, 0, &weights) - 0.05).abs() < 1e-12);
    weights[3] = -1.0;
    assert!((deletion_auc(&oracle, 0, &weights) - 0.95).abs() < 1e-12);
    assert_eq!(deletion_auc(&any_of(vec![vec![]]), 0, &weights), 0.0);
}

/// 300 words against 200 triples.
#[test]
fn a_long_answer_is_checked_fast() {
    let mut rows = Vec::new();
    let mut text = String::new();
    for at in 0..50 {
        let name = format!("Company{at}");
        rows.push(triple(&name, "founded_in_year", 1900 + at));
        rows.push(triple(&name, "ceo", format!("Person{at} Smith{at}")));
        rows.push(triple(&name, "headquarters", format!("City{at}")));
        rows.push(triple(
            &name,
            "competes_with",
            format!("Company{}", (at + 1) % 50),
        ));
    }
    for at in 0..25 {
        text.push_str(&format!(
            "Company{at} was founded in {} and its CEO is Person{at} Smith{at}. ",
            1900 + at
        ));
    }
    let triples = Graph::of(&rows).triples;
    assert_eq!((triples.len(), text.split_whitespace().count()), (200, 275));
    verify(&text, &triples);
    let started = std::time::Instant::now();
    let result = verify(&text, &triples);
    let took = started.elapsed();
    println!(
        "300 words, 200 triples: {took:?}, {} edges, fidelity {}",
        result.attributions.len(),
        result.fidelity
    );
    assert!(result.passed, "{:#?}", result.ungrounded_claims);
    assert_eq!(result.method, Method::Sampled);
    assert!(result.fidelity > 0.9);
    assert!(took.as_millis() < 300, "{took:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_text_breaks_the_gate(text in prop_oneof![".{0,400}", "[A-Z][a-z]{0,6}( (is|was|and|not|of|Apple|1976|\\$3|in|which|[A-Z][a-z]+)){0,30}[.!?;:]?"], take in 1usize..40) {
        let triples: Vec<Triple> = DEMO.triples.iter().take(take).cloned().collect();
        let result = verify(&text, &triples);
        prop_assert!((0.0..=1.0).contains(&result.fidelity));
        prop_assert!((0.0..=1.0).contains(&result.faithfulness));
        prop_assert_eq!(result.passed, result.ungrounded_claims.is_empty());
        for edge in &result.attributions {
            prop_assert!((-1.0..=1.0).contains(&edge.weight));
            prop_assert!(triples.iter().any(|triple| triple.id == edge.triple_id));
        }
        prop_assert_eq!(result, verify(&text, &triples));
    }

    #[test]
    fn any_oracle_gives_bounded_numbers(n in 0usize..20, values in prop::collection::vec(prop_oneof![any::<f32>(), 0.0f32..1.0], 1..30)) {
        let triples = some_triples(n);
        let oracle = |present: &[bool]| {
            let kept = present.iter().filter(|bit| **bit).count();
            vec![values[kept % values.len()], values[(kept * 7) % values.len()]]
        };
        let found = attribute(&texts(3), &triples, &oracle, &AttributionOptions::default());
        prop_assert!((0.0..=1.0).contains(&found.fidelity));
        prop_assert!((0.0..=1.0).contains(&found.faithfulness));
        prop_assert!(found.edges.iter().all(|edge| (-1.0..=1.0).contains(&edge.weight)));
    }
}
