//! Charts from retrieved figures, as ECharts options.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::asked::Asked;
use crate::assess::{Assessment, answering};
use crate::lexicon::{concept_of, name_year};
use crate::number::Decimal;
use crate::object::Object;
use crate::phrase::{clean, join};
use crate::question::Question;
use crate::triple::{Polarity, Triple};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChartSpec {
    pub name: String,
    /// An ECharts option: data only, no functions.
    pub option: Value,
}

/// A chart of the figures asked for, when the question asks for one and at least two figures can share an axis: lines
/// over years, or bars by subject.
pub fn chart_from_facts(question: &str, assessment: &Assessment) -> Option<ChartSpec> {
    chart_from_facts_in(question, &[], assessment)
}

/// As [`chart_from_facts`], for a question of a thread.
pub fn chart_from_facts_in(
    question: &str,
    previous: &[&str],
    assessment: &Assessment,
) -> Option<ChartSpec> {
    let question = Question::parse_in(question, previous);
    let asked = Asked::read(&question, &assessment.mentions);
    if !["chart", "plot", "graph", "visualiz", "visualis", "diagram"]
        .iter()
        .any(|word| asked.says_stem(word))
    {
        return None;
    }
    let answers = answering(
        &asked,
        assessment.triples.iter().map(|ranked| &ranked.triple),
    );
    let mut groups: BTreeMap<(String, String), Vec<Point<'_>>> = BTreeMap::new();
    for triple in answers {
        if let Some((kind, unit, point)) = point(triple) {
            groups.entry((kind, unit)).or_default().push(point);
        }
    }
    let ((kind, unit), points) = groups.into_iter().max_by_key(|(_, points)| points.len())?;
    draw(&kind, &unit, &points)
}

struct Point<'t> {
    subject: &'t str,
    year: Option<i32>,
    value: &'t Decimal,
}

fn point(triple: &Triple) -> Option<(String, String, Point<'_>)> {
    let Object::Number { value, unit } = &triple.object else {
        return None;
    };
    if triple.polarity == Polarity::Negative {
        return None;
    }
    let kind = concept_of(&triple.predicate, true).map_or_else(
        || crate::lexicon::bare_name(&triple.predicate),
        |concept| concept.noun.to_owned(),
    );
    let year = name_year(&triple.predicate).or_else(|| {
        triple
            .valid_to
            .or(triple.valid_from)
            .map(|day| chrono::Datelike::year(&day))
    });
    Some((
        kind,
        unit.clone().unwrap_or_default(),
        Point {
            subject: &triple.subject.label,
            year,
            value,
        },
    ))
}

fn draw(kind: &str, unit: &str, points: &[Point<'_>]) -> Option<ChartSpec> {
    let years: BTreeSet<i32> = points.iter().filter_map(|point| point.year).collect();
    let mut subjects: Vec<&str> = Vec::new();
    for point in points {
        if !subjects.contains(&point.subject) && subjects.len() < MAX_SERIES {
            subjects.push(point.subject);
        }
    }
    let over_time = years.len() > 1 && points.iter().all(|point| point.year.is_some());
    if points.len() < 2 || (!over_time && subjects.len() < 2) {
        return None;
    }
    let (divisor, scale) = scale_of(points);
    let number = |value: &Decimal| {
        value
            .shifted(-divisor)
            .map_or(Value::Null, |scaled| json!(scaled.to_f64()))
    };
    let axis = [scale, unit]
        .iter()
        .filter(|part| !part.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(" ");
    let labels: Vec<String> = subjects.iter().map(|subject| clean(subject)).collect();
    let mut title = format!("{} of {}", capital(kind), join(&labels));
    let (categories, series) = if over_time {
        let categories: Vec<String> = years.iter().map(i32::to_string).collect();
        let series: Vec<Value> = subjects
            .iter()
            .map(|subject| {
                let data: Vec<Value> = years
                    .iter()
                    .map(|year| {
                        points
                            .iter()
                            .find(|point| point.subject == *subject && point.year == Some(*year))
                            .map_or(Value::Null, |point| number(point.value))
                    })
                    .collect();
                json!({"name": clean(subject), "type": "line", "data": data})
            })
            .collect();
        (categories, series)
    } else {
        if let (Some(year), 1) = (years.first(), years.len()) {
            title = format!("{title}, {year}");
        }
        let data: Vec<Value> = subjects
            .iter()
            .map(|subject| {
                points
                    .iter()
                    .find(|point| point.subject == *subject)
                    .map_or(Value::Null, |point| number(point.value))
            })
            .collect();
        (
            labels,
            vec![json!({"name": capital(kind), "type": "bar", "data": data})],
        )
    };
    let option = json!({
        "title": {"text": title},
        "tooltip": {"trigger": "axis"},
        "legend": {"show": series.len() > 1, "bottom": 0},
        "xAxis": {"type": "category", "data": categories},
        "yAxis": {"type": "value", "name": axis},
        "series": series,
    });
    Some(ChartSpec {
        name: title,
        option,
    })
}

/// The power of ten by which all figures are divided for the axis, and its name.
fn scale_of(points: &[Point<'_>]) -> (i32, &'static str) {
    let largest = points
        .iter()
        .map(|point| point.value.to_f64().abs())
        .fold(0.0_f64, f64::max);
    match largest {
        large if large >= 1e9 => (9, "billion"),
        large if large >= 1e6 => (6, "million"),
        _ => (0, ""),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

const MAX_SERIES: usize = 12;
