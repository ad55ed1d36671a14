//! Verdicts on labelled texts: per task accuracy, macro F1, and the gate as a detector of contradicted texts, beside
//! two baselines: "always grounded", and the share of the text's words that the evidence has, cut at its median.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use anyhow::Context;
use belnap::{Case, Polarity, Truth};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Deserialize)]
struct Labelled {
    label: Truth,
    #[serde(default = "one_task")]
    task: String,
    #[serde(flatten)]
    case: Case,
}

fn one_task() -> String {
    "cases".into()
}

#[derive(Debug, Clone, Serialize)]
pub struct TaskScores {
    pub task: String,
    pub ours: Scores,
    pub always_grounded: Scores,
    pub overlap: Scores,
    pub cases_per_second: f64,
}

/// `precision` and `recall` are of the label F; `false_alarm` is the share of T texts called F, `balanced` the mean of
/// recall and 1 − false alarm.
#[derive(Debug, Clone, Serialize)]
pub struct Scores {
    pub n: usize,
    pub accuracy: f64,
    pub macro_f1: f64,
    pub precision: f64,
    pub recall: f64,
    pub false_alarm: f64,
    pub balanced: f64,
}

/// One entry for each task in the files, in the order of their names.
pub fn score(parser: &ud::Parser, paths: &[&Path]) -> anyhow::Result<Vec<TaskScores>> {
    let mut tasks: BTreeMap<String, Vec<Labelled>> = BTreeMap::new();
    for path in paths {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        for (i, line) in text
            .lines()
            .enumerate()
            .filter(|(_, l)| !l.trim().is_empty())
        {
            let case: Labelled = serde_json::from_str(line)
                .with_context(|| format!("read the case in {}, line {}", path.display(), i + 1))?;
            tasks.entry(case.task.clone()).or_default().push(case);
        }
    }
    Ok(tasks
        .into_iter()
        .map(|(task, cases)| {
            let gold: Vec<Truth> = cases.iter().map(|c| c.label).collect();
            let start = std::time::Instant::now();
            let ours: Vec<Truth> = cases.iter().map(|c| c.case.judge(parser).label).collect();
            let cases_per_second = cases.len() as f64 / start.elapsed().as_secs_f64();
            let shares: Vec<f64> = cases.iter().map(|c| overlap(&c.case)).collect();
            let mut sorted = shares.clone();
            sorted.sort_by(f64::total_cmp);
            let cut = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
            let by_overlap: Vec<Truth> = shares
                .iter()
                .map(|s| if *s >= cut { Truth::True } else { Truth::False })
                .collect();
            TaskScores {
                task,
                ours: scores(&gold, &ours),
                always_grounded: scores(&gold, &vec![Truth::True; gold.len()]),
                overlap: scores(&gold, &by_overlap),
                cases_per_second,
            }
        })
        .collect())
}

fn scores(gold: &[Truth], said: &[Truth]) -> Scores {
    let count = |f: &dyn Fn(Truth, Truth) -> bool| {
        gold.iter().zip(said).filter(|(g, s)| f(**g, **s)).count() as f64
    };
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let labels: BTreeSet<u8> = gold.iter().map(|t| *t as u8).collect();
    let f1: f64 = labels
        .iter()
        .map(|&l| {
            let hit = count(&|g, s| g as u8 == l && s as u8 == l);
            let wrong = count(&|g, s| (g as u8 == l) != (s as u8 == l));
            share(2.0 * hit, 2.0 * hit + wrong)
        })
        .sum();
    let is = |t: Truth, l: Truth| t == l;
    let recall = share(
        count(&|g, s| is(g, Truth::False) && is(s, Truth::False)),
        count(&|g, _| is(g, Truth::False)),
    );
    let false_alarm = share(
        count(&|g, s| is(g, Truth::True) && is(s, Truth::False)),
        count(&|g, _| is(g, Truth::True)),
    );
    Scores {
        n: gold.len(),
        accuracy: share(count(&|g, s| g == s), gold.len() as f64),
        macro_f1: share(f1, labels.len() as f64),
        precision: share(
            count(&|g, s| is(g, Truth::False) && is(s, Truth::False)),
            count(&|_, s| is(s, Truth::False)),
        ),
        recall,
        false_alarm,
        balanced: (recall + 1.0 - false_alarm) / 2.0,
    }
}

fn overlap(case: &Case) -> f64 {
    let source = case.evidence.clone().unwrap_or_else(|| {
        let told = case
            .context
            .iter()
            .filter(|s| s.polarity == Polarity::Positive);
        told.map(|s| format!("{} {} {} ", s.subject, spaced(&s.predicate), s.object))
            .collect()
    });
    let (text, source) = (words(&case.text), words(&source));
    text.intersection(&source).count() as f64 / text.len().max(1) as f64
}

fn words(text: &str) -> HashSet<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|w| !w.is_empty())
        .map(str::to_owned)
        .collect()
}

/// `birthPlace` as `birth Place`.
fn spaced(name: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for c in name.chars() {
        if before.is_lowercase() && c.is_uppercase() {
            out.push(' ');
        }
        out.push(c);
        before = c;
    }
    out
}

impl std::fmt::Display for TaskScores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "verdicts, {} ({:.0} texts/s)",
            self.task, self.cases_per_second
        )?;
        for (name, s) in [
            ("ours", &self.ours),
            ("always grounded", &self.always_grounded),
            ("word overlap", &self.overlap),
        ] {
            write!(
                f,
                "\n  {name:15} accuracy {:.3}  macro F1 {:.3}  contradicted: P {:.3} R {:.3}  false alarms {:.4}  balanced {:.3}  (n = {})",
                s.accuracy, s.macro_f1, s.precision, s.recall, s.false_alarm, s.balanced, s.n
            )?;
        }
        Ok(())
    }
}
