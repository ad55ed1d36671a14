//! The system message that puts facts before a model.

use crate::assess::{Assessment, Competence};
use crate::triple::{Polarity, Triple};

/// Estimated tokens that the message may take.
pub const DEFAULT_BUDGET: usize = 2_000;

/// The system message in its three sections, or nothing when there is nothing to say.
pub fn system_message(assessment: &Assessment) -> Option<String> {
    system_message_within(assessment, DEFAULT_BUDGET)
}

/// As [`system_message`], within a number of tokens (estimated at four characters each). Contradictions and gaps are
/// kept before facts, and better ranked facts before others.
pub fn system_message_within(assessment: &Assessment, budget: usize) -> Option<String> {
    let out_of_scope = assessment.competence == Competence::OutOfScope;
    let mut room = budget
        .saturating_mul(CHARS_PER_TOKEN)
        .saturating_sub(if out_of_scope { OUT_OF_SCOPE.len() } else { 0 });
    let quarter = room / 4;
    let mut take = |lines: Vec<String>, cap: usize| -> Vec<String> {
        let mut left = cap.min(room);
        let mut kept = Vec::new();
        for line in lines {
            let cost = line.chars().count() + 1;
            if cost > left {
                break;
            }
            left -= cost;
            room -= cost;
            kept.push(line);
        }
        kept
    };
    let contradictions = take(
        assessment
            .contradictions
            .iter()
            .map(|pair| format!("{} vs {}", shown(&pair.a), shown(&pair.b)))
            .collect(),
        quarter,
    );
    let gaps = take(
        assessment
            .gaps
            .iter()
            .map(|gap| format!("No triples found for {}", quoted(&gap.text)))
            .collect(),
        quarter,
    );
    let facts = take(
        assessment
            .triples
            .iter()
            .map(|ranked| {
                format!(
                    "{} [{}]{}",
                    shown(&ranked.triple),
                    ranked.triple.kind.as_str(),
                    validity(&ranked.triple)
                )
            })
            .collect(),
        usize::MAX,
    );
    let mut sections = Vec::new();
    for (title, lines) in [
        ("FACTS:", facts),
        ("CONTRADICTIONS:", contradictions),
        ("KNOWLEDGE GAPS:", gaps),
    ] {
        if !lines.is_empty() {
            sections.push(format!("{title}\n{}", lines.join("\n")));
        }
    }
    if out_of_scope {
        sections.push(OUT_OF_SCOPE.to_owned());
    }
    (!sections.is_empty()).then(|| sections.join("\n\n"))
}

/// `(Apple, founded_in_year, 1976)`, with `NOT` before a denied statement.
fn shown(triple: &Triple) -> String {
    let not = if triple.polarity == Polarity::Negative {
        "NOT "
    } else {
        ""
    };
    format!(
        "{not}({}, {}, {})",
        term(&triple.subject.label),
        term(&triple.predicate),
        term(&triple.object.label())
    )
}

fn validity(triple: &Triple) -> String {
    match (triple.valid_from, triple.valid_to) {
        (Some(from), Some(to)) if from == to => format!(" as of {from}"),
        (Some(from), Some(to)) => format!(" from {from} until {to}"),
        (Some(from), None) => format!(" since {from}"),
        (None, Some(to)) => format!(" until {to}"),
        (None, None) => String::new(),
    }
}

/// A label as one term: no line break, control or direction mark survives, and a label with the marks of the format
/// in it is quoted, so that data cannot pass for a fact or a section.
fn term(label: &str) -> String {
    let safe = escaped(label);
    if safe.contains([',', '(', ')', '[', ']', '"', '\\']) {
        format!("\"{}\"", safe.replace('"', "\\\""))
    } else {
        safe
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text).replace('"', "\\\""))
}

fn escaped(label: &str) -> String {
    let mut out = String::new();
    for (at, letter) in label.trim().chars().enumerate() {
        if at >= MAX_TERM {
            out.push('…');
            break;
        }
        match letter {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter if letter.is_control() || is_invisible_break(letter) => {
                out.push_str(&format!("\\u{{{:04X}}}", u32::from(letter)));
            }
            letter => out.push(letter),
        }
    }
    out
}

/// Separators and direction marks that some readers treat as a new line or use to reorder what is shown.
pub(crate) fn is_invisible_break(letter: char) -> bool {
    matches!(letter, '\u{2028}' | '\u{2029}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{E0000}'..='\u{E007F}')
}

const CHARS_PER_TOKEN: usize = 4;
const MAX_TERM: usize = 300;
const OUT_OF_SCOPE: &str = "The knowledge of this workspace does not cover this question. If it asks for facts, say that you do not know them; do not guess.";
