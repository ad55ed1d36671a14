use std::time::Duration;

use serde_json::{Value, json};

use crate::machine;

/// Everything measured so far.
#[derive(Default)]
pub(crate) struct Report {
    figures: Vec<Figure>,
}

struct Figure {
    name: &'static str,
    about: String,
    value: f64,
    unit: &'static str,
    /// The largest value that is good enough.
    goal: Option<f64>,
    load: f64,
    detail: Value,
}

impl Report {
    /// `detail` is an object with what the value was made of.
    pub(crate) fn add(
        &mut self,
        name: &'static str,
        about: impl Into<String>,
        (value, unit): (f64, &'static str),
        goal: Option<f64>,
        detail: Value,
    ) {
        let figure = Figure {
            name,
            about: about.into(),
            value,
            unit,
            goal,
            load: machine::load(),
            detail,
        };
        eprintln!("  {} = {} {unit}", figure.about, shown(value));
        self.figures.push(figure);
    }

    /// A table for people, then a line of JSON for the machine and one for each figure.
    pub(crate) fn print(&self, facts: &Value) {
        let heading = ["figure", "value", "goal", ""].map(str::to_owned);
        let rows = self.figures.iter().map(|f| {
            let goal = f.goal.map_or("–".to_owned(), |goal| {
                format!("≤ {} {}", shown(goal), f.unit)
            });
            let value = format!("{} {}", shown(f.value), f.unit);
            [f.about.clone(), value, goal, f.verdict().to_owned()]
        });
        let table: Vec<[String; 4]> = std::iter::once(heading).chain(rows).collect();
        let width = |column: usize| {
            table
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let (first, second, third) = (width(0), width(1), width(2));
        println!();
        for [about, value, goal, verdict] in &table {
            let line = format!("{about:<first$}  {value:>second$}  {goal:>third$}  {verdict}");
            println!("{}", line.trim_end());
        }
        println!();
        println!("{}", json!({"machine": facts}));
        for f in &self.figures {
            let mut line = json!({
                "figure": f.name, "about": f.about, "value": rounded(f.value), "unit": f.unit, "goal": f.goal,
                "met": f.met(), "cores": machine::cores(), "load": f.load,
            });
            if let (Value::Object(line), Value::Object(detail)) = (&mut line, &f.detail) {
                line.extend(detail.clone());
            }
            println!("{line}");
        }
    }

    pub(crate) fn missed(&self) -> usize {
        self.figures
            .iter()
            .filter(|f| f.met() == Some(false))
            .count()
    }
}

impl Figure {
    fn met(&self) -> Option<bool> {
        self.goal.map(|goal| self.value <= goal)
    }

    fn verdict(&self) -> &'static str {
        match self.met() {
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "",
        }
    }
}

/// Durations in order, for percentiles.
#[derive(Clone, Default)]
pub(crate) struct Sample(Vec<Duration>);

impl FromIterator<Duration> for Sample {
    fn from_iter<I: IntoIterator<Item = Duration>>(durations: I) -> Self {
        let mut all: Vec<Duration> = durations.into_iter().collect();
        all.sort_unstable();
        Self(all)
    }
}

impl Sample {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The smallest value that `percent` of the sample do not exceed, in milliseconds.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0
            .get(rank - 1)
            .map_or(0.0, |duration| duration.as_secs_f64() * 1e3)
    }

    pub(crate) fn merged(self, other: Self) -> Self {
        self.0.into_iter().chain(other.0).collect()
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "n": self.len(), "p50_ms": rounded(self.percentile(50)), "p90_ms": rounded(self.percentile(90)),
            "p99_ms": rounded(self.percentile(99)), "max_ms": rounded(self.percentile(100)),
        })
    }
}

pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

fn shown(value: f64) -> String {
    match value.abs() {
        100.0.. => format!("{value:.0}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let sample: Sample = (1..=200).rev().map(Duration::from_millis).collect();
        assert_eq!(
            [0, 50, 99, 100].map(|percent| sample.percentile(percent)),
            [1.0, 100.0, 198.0, 200.0]
        );
        assert_eq!(Sample::default().percentile(50), 0.0);
    }

    #[test]
    fn a_missed_goal_is_counted() {
        let mut report = Report::default();
        report.add("a", "a", (3.0, "ms"), Some(3.0), json!({}));
        report.add("b", "b", (3.1, "ms"), Some(3.0), json!({}));
        report.add("c", "c", (9.0, "ms"), None, json!({}));
        assert_eq!(report.missed(), 1);
    }
}
