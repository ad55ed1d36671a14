//! The small sets of this folder, as floors: a change that loses much on them is a mistake.

use std::path::PathBuf;

use qadra_evals::{claims, grounding, parser, verify};

fn set(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn model() -> ud::Parser {
    ud::Parser::embedded().unwrap()
}

#[test]
fn plain_sentences_are_parsed() {
    let scores = parser::score(&set("parser/small.conllu")).unwrap();
    for row in [&scores.gold_words, &scores.raw_text] {
        assert_eq!(row.n, 177, "{scores}");
        assert!(row.las >= 90.0 && row.uas >= 92.0, "{scores}");
        assert!(row.upos >= 96.0 && row.lemma >= 96.0, "{scores}");
    }
}

#[test]
fn claims_are_extracted() {
    let scores = claims::score(&model(), &set("claims/gold.jsonl")).unwrap();
    assert!(scores.n >= 150, "{scores}");
    assert!(scores.f1 >= 85.0, "{scores}\n{:#?}", scores.wrong);
}

#[test]
fn verdicts_beat_both_baselines_and_raise_no_false_alarm_on_statements() {
    let path = set("verify/small.jsonl");
    let tasks = verify::score(&model(), &[&path]).unwrap();
    assert_eq!(tasks.len(), 2);
    for task in &tasks {
        let best = task.overlap.macro_f1.max(task.always_grounded.macro_f1);
        assert!(task.ours.macro_f1 > best + 0.05, "{task}");
        assert!(task.ours.false_alarm <= 0.1, "{task}");
        if task.task == "statements" {
            assert_eq!(task.ours.false_alarm, 0.0, "{task}");
            assert!(task.ours.balanced >= 0.9, "{task}");
        }
    }
}

#[test]
fn a_question_brings_up_what_answers_it() {
    let scores = grounding::score(&set("grounding/small.jsonl")).unwrap();
    for kind in &scores.kinds {
        assert!(kind.n > 0, "{scores}");
        assert!(kind.recall[3] >= 0.9, "{scores}");
    }
}
