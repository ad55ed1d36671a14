//! From claims in a text to statements that the graph can hold. The rules are explained in `docs/documents.md`.

use belnap::{
    Bound, Claim, ClauseKind, Modality, PartialDate, Polarity, Quantity, Term, TermKind, Value,
};
use chrono::NaiveDate;
use serde_json::{Value as Json, json};

/// A statement with the sentence it was read from, by its number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    pub(crate) subject: String,
    pub(crate) predicate: String,
    pub(crate) object: Json,
    pub(crate) positive: bool,
    pub(crate) kind: &'static str,
    pub(crate) confidence: f32,
    pub(crate) valid_from: Option<NaiveDate>,
    pub(crate) valid_to: Option<NaiveDate>,
    pub(crate) sentence: usize,
}

const MAX_TERM: usize = 120;
const MAX_WORDS: usize = 14;

/// What the claims of one stretch of text say, and how many of them say nothing that the graph could hold.
pub(crate) fn statements(claims: &[Claim]) -> (Vec<Statement>, usize) {
    let mut found: Vec<Statement> = Vec::new();
    let mut skipped = 0;
    for claim in claims {
        if repeats(claim, claims) {
            continue;
        }
        match statement(claim) {
            Some(s) if found.iter().any(|f| same(f, &s)) => {}
            Some(s) => found.push(s),
            None => skipped += 1,
        }
    }
    (found, skipped)
}

/// A clause with several complements makes a claim of each. Those that say less than another one are left out: "bought in
/// 2010" beside "bought Sun", "is CEO of Apple" beside the CEO of Apple.
fn repeats(claim: &Claim, all: &[Claim]) -> bool {
    let beside_object = claim
        .arguments
        .iter()
        .any(|a| matches!(a.role.as_str(), "obj" | "iobj"));
    let plain = claim.predicate.copular && claim.predicate.words.len() == 1;
    let related = plain
        && all.iter().any(|c| {
            c.sentence == claim.sentence
                && c.subject.span == claim.subject.span
                && c.predicate.copular
                && c.predicate.words.len() > 1
                && c.predicate.preposition.is_some()
        });
    // A name that is called by a part of itself.
    let part = plain
        && claim
            .object
            .as_ref()
            .is_some_and(|o| o.words.iter().all(|w| claim.subject.words.contains(w)));
    beside_object || related || part
}

fn same(a: &Statement, b: &Statement) -> bool {
    a.sentence == b.sentence
        && a.subject == b.subject
        && a.predicate == b.predicate
        && a.object == b.object
        && a.positive == b.positive
}

fn statement(claim: &Claim) -> Option<Statement> {
    if matches!(claim.modality, Modality::Question | Modality::Conditional) {
        return None;
    }
    let subject = claim.subject.referent();
    let object = claim.object.as_ref()?.referent();
    let mut name = predicate_name(claim)?;
    let (mut from, mut to) = (named(subject)?, None);
    // "Y was founded by X" comes as (X, found, Y); the graph keeps the sentence's own order and its "by".
    if claim.predicate.inverted {
        to = Some(json!({"type": "node", "value": from}));
        from = named(object)?;
        if !name.ends_with("_by") {
            name.push_str("_by");
        }
    }
    // "X is the capital of Y": the relation is Y's.
    if to.is_none()
        && claim.predicate.copular
        && object_value(object).is_none_or(|v| v.get("type") == Some(&json!("node")))
        && let Some(noun) = name
            .strip_suffix("_of")
            .filter(|noun| !noun.is_empty() && *noun != "part" && *noun != "one")
    {
        let owner = named(object)?;
        to = Some(json!({"type": "node", "value": from}));
        from = owner;
        name = noun.to_owned();
    }
    let object = match to {
        Some(object) => object,
        None => {
            let value = object_value(object)?;
            if let Some(counted) = counted(claim, object) {
                // "has 164,000 employees" is a number of employees.
                name = counted;
                json!({"type": "number", "value": value.get("value").cloned().unwrap_or_default()})
            } else {
                value
            }
        }
    };
    if object.get("value").and_then(Json::as_str) == Some(from.as_str()) {
        return None;
    }
    let (valid_from, valid_to) = validity(claim, &object);
    Some(Statement {
        subject: from,
        predicate: name,
        object,
        positive: claim.polarity == Polarity::Positive,
        kind: if claim.modality == Modality::Asserted {
            "fact"
        } else {
            "claim"
        },
        confidence: confidence(claim),
        valid_from,
        valid_to,
        sentence: claim.sentence,
    })
}

/// From the modality and from how clear the parse was.
fn confidence(claim: &Claim) -> f32 {
    let base: f32 = match claim.modality {
        Modality::Asserted => 0.9,
        Modality::Reported => 0.6,
        _ => 0.5,
    };
    // A line of a list ("Revenue: 118 million") rests on no arc: its margin is infinite.
    let clear = match claim.margin.max(0.0) {
        margin if margin.is_finite() => margin / (margin + 2.0),
        _ => 1.0,
    };
    let fragile = if claim.fragile { 0.1 } else { 0.0 };
    ((base - 0.25 * (1.0 - clear) - fragile) * 100.0).round() / 100.0
}

/// A text that can name a node; `None` for pronouns nobody resolved, whole clauses and empty words.
fn named(term: &Term) -> Option<String> {
    if matches!(term.kind, TermKind::Pronoun | TermKind::Clause) {
        return None;
    }
    let text = clean(&term.text);
    let words: Vec<&str> = text.split_whitespace().collect();
    if text.chars().count() > MAX_TERM
        || words.len() > MAX_WORDS
        || !text.chars().any(char::is_alphabetic)
    {
        return None;
    }
    let lower = text.to_lowercase();
    let vague =
        term.kind == TermKind::Common && words.len() == 1 && VAGUE.contains(&lower.as_str());
    let pointing = [
        "this ", "that ", "these ", "those ", "such ", "some ", "any ", "each ", "every ", "no ",
        "its ", "their ", "his ", "her ", "our ", "my ", "your ",
    ]
    .iter()
    .any(|w| lower.starts_with(w));
    (!vague && !pointing && !PRONOUNS.contains(&lower.as_str())).then_some(text)
}

fn clean(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    one_line
        .trim_matches(|c: char| {
            c.is_whitespace()
                || matches!(
                    c,
                    ',' | ';'
                        | ':'
                        | '"'
                        | '“'
                        | '”'
                        | '*'
                        | '_'
                        | '`'
                        | '|'
                        | '('
                        | ')'
                        | '['
                        | ']'
                )
        })
        .to_owned()
}

/// The object as the graph types it.
fn object_value(term: &Term) -> Option<Json> {
    match &term.value {
        Some(Value::Date(date)) if whole(term) => date_value(date),
        Some(Value::Quantity(q)) if whole(term) => Some(quantity_value(q, term)),
        _ => named(term).map(|text| json!({"type": "node", "value": text})),
    }
}

/// The phrase is the value, and not something that has a number in it.
fn whole(term: &Term) -> bool {
    term.kind == TermKind::Value
        || term
            .text
            .chars()
            .find(|c| c.is_alphanumeric())
            .is_some_and(char::is_numeric)
        || term
            .text
            .trim_start()
            .starts_with(['$', '€', '£', '¥', '-', '−'])
        || matches!(term.value, Some(Value::Date(_)))
}

fn date_value(date: &PartialDate) -> Option<Json> {
    match (date.year, date.month, date.day) {
        (Some(y), Some(m), Some(d)) => {
            let day = NaiveDate::from_ymd_opt(y, m.into(), d.into())?;
            Some(json!({"type": "date", "value": day}))
        }
        (Some(y), None, None) => Some(json!({"type": "number", "value": y})),
        (Some(y), Some(m), None) => {
            let month = NaiveDate::from_ymd_opt(y, m.into(), 1)?
                .format("%B %Y")
                .to_string();
            Some(json!({"type": "text", "value": month}))
        }
        _ => None,
    }
}

fn quantity_value(q: &Quantity, term: &Term) -> Json {
    if !q.value.is_finite() || !matches!(q.bound, Bound::Exact | Bound::About) {
        // "More than five" is no number that another could differ from.
        return json!({"type": "text", "value": clean(&term.text)});
    }
    let value = if q.value.fract() == 0.0 && q.value.abs() < 9e15 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "whole and within what an i64 holds exactly"
        )]
        let whole = q.value as i64;
        json!(whole)
    } else {
        json!(q.value)
    };
    match &q.unit {
        Some(unit) => json!({"type": "number", "value": value, "unit": unit}),
        None => json!({"type": "number", "value": value}),
    }
}

/// The counted thing, when the verb says no more than that there are so many of it.
fn counted(claim: &Claim, object: &Term) -> Option<String> {
    let Some(Value::Quantity(q)) = &object.value else {
        return None;
    };
    let verb = claim.predicate.lemma.as_str();
    let plain = matches!(q.bound, Bound::Exact | Bound::About)
        && matches!(verb, "have" | "employ" | "own" | "operate");
    let last = object.text.split_whitespace().last()?.to_lowercase();
    let noun = last.trim_matches(|c: char| !c.is_alphanumeric());
    let unit = q.unit.as_deref()?;
    // Units of measure stay units; "employees" is a thing that is counted.
    let counted = noun.chars().count() >= 4
        && noun.chars().all(char::is_alphabetic)
        && noun.starts_with(unit.get(..unit.len().min(3)).unwrap_or(unit))
        && unit.chars().all(|c| c.is_lowercase());
    if verb == "employ" && plain && whole(object) {
        return Some("employees".to_owned());
    }
    (plain && whole(object) && counted).then(|| noun.to_owned())
}

/// `founded_by`, `headquartered_in`, `ceo`, `acquired`: as written, without what only carries the tense.
fn predicate_name(claim: &Claim) -> Option<String> {
    if claim.kind == ClauseKind::Apposition && claim.predicate.copular {
        // Nothing is written between the two ("Linz, Austria"); the words are the reader's.
        let words: Vec<&str> = claim.predicate.words.iter().map(String::as_str).collect();
        return match words.strip_prefix(&["be"]).unwrap_or(&words) {
            [] => Some("is".to_owned()),
            ["in"] => Some("located_in".to_owned()),
            rest => Some(rest.join("_")),
        };
    }
    let text = clean(&claim.predicate.text).to_lowercase();
    let mut words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .collect();
    words.retain(|w| {
        !matches!(
            *w,
            "the" | "a" | "an" | "not" | "n't" | "never" | "also" | "still" | "currently" | "now"
        )
    });
    while words.len() > 1
        && words.first().is_some_and(|w| {
            matches!(
                *w,
                "is" | "are"
                    | "was"
                    | "were"
                    | "be"
                    | "been"
                    | "being"
                    | "am"
                    | "has"
                    | "have"
                    | "had"
                    | "having"
                    | "will"
                    | "would"
                    | "can"
                    | "could"
                    | "may"
                    | "might"
                    | "shall"
                    | "should"
                    | "must"
                    | "do"
                    | "does"
                    | "did"
            )
        })
    {
        words.remove(0);
    }
    let name = words.join("_");
    let name = match name.as_str() {
        "is" | "are" | "was" | "were" | "am" | "be" | "been" => "is".to_owned(),
        "has" | "have" | "had" => "has".to_owned(),
        "" if matches!(claim.kind, ClauseKind::Apposition | ClauseKind::Copular) => "is".to_owned(),
        "" => claim.predicate.words.join("_"),
        _ => name,
    };
    let fits = !name.is_empty() && name.chars().count() <= 80 && name.split('_').count() <= 7;
    (fits && name.chars().any(char::is_alphabetic)).then_some(name)
}

/// The days between which the statement holds, where the sentence says so outright.
fn validity(claim: &Claim, object: &Json) -> (Option<NaiveDate>, Option<NaiveDate>) {
    let (mut from, mut to) = (None, None);
    for argument in &claim.arguments {
        let Some(Value::Date(date)) = &argument.term.value else {
            continue;
        };
        let Some((first, next)) = span(date) else {
            continue;
        };
        match argument.role.to_lowercase().as_str() {
            "since" | "from" => from = Some(first),
            "until" | "till" => to = Some(first),
            "to" if from.is_some() => to = Some(next),
            // A figure belongs to its year; when something else happened says nothing on how long it holds.
            "in" | "during" | "for" | "tmod"
                if object.get("type") == Some(&json!("number")) && object.get("unit").is_some() =>
            {
                (from, to) = (Some(first), Some(next));
            }
            "as of" | "as" if date.day.is_some() => (from, to) = (Some(first), Some(first)),
            _ => {}
        }
    }
    match (from, to) {
        (Some(a), Some(b)) if a > b => (None, None),
        both => both,
    }
}

/// First day of a date, and the first day after it.
fn span(date: &PartialDate) -> Option<(NaiveDate, NaiveDate)> {
    let year = date.year?;
    let first = NaiveDate::from_ymd_opt(
        year,
        date.month.unwrap_or(1).into(),
        date.day.unwrap_or(1).into(),
    )?;
    let next = match (date.month, date.day) {
        (_, Some(_)) => first.succ_opt()?,
        (Some(12), None) => NaiveDate::from_ymd_opt(year + 1, 1, 1)?,
        (Some(m), None) => NaiveDate::from_ymd_opt(year, u32::from(m) + 1, 1)?,
        (None, None) => NaiveDate::from_ymd_opt(year + 1, 1, 1)?,
    };
    Some((first, next))
}

const PRONOUNS: &[&str] = &[
    "i",
    "me",
    "you",
    "he",
    "him",
    "she",
    "her",
    "it",
    "we",
    "us",
    "they",
    "them",
    "this",
    "that",
    "these",
    "those",
    "who",
    "whom",
    "which",
    "what",
    "one",
    "ones",
    "there",
    "here",
    "himself",
    "herself",
    "itself",
    "themselves",
    "someone",
    "somebody",
    "something",
    "anyone",
    "anybody",
    "anything",
    "everyone",
    "everybody",
    "everything",
    "nobody",
    "nothing",
    "none",
    "both",
    "all",
    "some",
    "many",
    "most",
    "few",
    "several",
    "others",
    "other",
    "another",
    "each",
    "either",
    "neither",
    "each other",
    "the latter",
    "the former",
    "latter",
    "former",
];

/// Words that stand for something named elsewhere.
const VAGUE: &[&str] = &[
    "company",
    "firm",
    "group",
    "organisation",
    "organization",
    "corporation",
    "business",
    "report",
    "document",
    "paper",
    "article",
    "author",
    "authors",
    "year",
    "time",
    "way",
    "thing",
    "things",
    "case",
    "part",
    "number",
    "people",
    "person",
    "man",
    "woman",
    "result",
    "results",
    "fact",
    "example",
    "end",
    "lot",
    "kind",
    "sort",
    "section",
    "chapter",
    "page",
    "figure",
    "table",
    "following",
    "reason",
    "problem",
    "question",
    "place",
    "team",
    "rest",
    "total",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let Some(parser) = crate::parser::shared() else {
            return vec![];
        };
        let (found, _) = statements(&belnap::extract(parser, text));
        found
            .iter()
            .map(|s| {
                let unit = s
                    .object
                    .get("unit")
                    .and_then(Json::as_str)
                    .map(|u| format!(" {u}"));
                format!(
                    "{} {} {} {}{}",
                    s.subject,
                    s.predicate,
                    if s.positive { "+" } else { "-" },
                    s.object["value"].to_string().trim_matches('"'),
                    unit.unwrap_or_default()
                )
            })
            .collect()
    }

    /// The forms that the graph's own statements have, so that a document and a person who say the same agree.
    #[test]
    fn plain_sentences_become_the_statements_people_write() {
        for (text, wanted) in [
            (
                "Apple was founded by Steve Jobs.",
                "Apple founded_by + Steve Jobs",
            ),
            ("Steve Jobs founded Apple.", "Steve Jobs founded + Apple"),
            ("Tim Cook is the CEO of Apple.", "Apple ceo + Tim Cook"),
            ("Paris is the capital of France.", "France capital + Paris"),
            (
                "Globex Corporation acquired Initech Corporation.",
                "Globex Corporation acquired + Initech Corporation",
            ),
            ("Apple was founded in 1976.", "Apple founded_in + 1976"),
            ("Apple did not acquire Netflix.", "Apple acquire - Netflix"),
            (
                "Kessel Motion is based in Linz, Austria.",
                "Linz located_in + Austria",
            ),
        ] {
            let found = read(text);
            assert!(found.iter().any(|s| s == wanted), "{text} gave {found:?}");
        }
    }

    /// The database refuses what is no share, and the whole document with it.
    #[test]
    fn every_confidence_is_a_share() {
        let parser = crate::parser::shared().unwrap();
        let text = "# Figures\n\n- Revenue: 118 million euros\n- Largest customer: Nordlager\n\nAcme owns Beta, a maker of \
            robots. It said that it may grow. Acme, Beta and Gamma merged in 2020.";
        let (found, _) = statements(&belnap::extract(parser, text));
        assert!(found.len() > 2, "{found:?}");
        for s in found {
            assert!((0.0..=1.0).contains(&s.confidence), "{s:?}");
        }
    }

    #[test]
    fn what_is_asked_or_supposed_or_said_of_nobody_is_no_statement() {
        for text in [
            "Did Apple acquire Netflix?",
            "If Apple acquires Netflix, prices will rise.",
            "It was founded in 1976.",
            "",
        ] {
            let found = read(text);
            assert!(
                !found
                    .iter()
                    .any(|s| s.starts_with("It ") || s.contains("Netflix")),
                "{text} gave {found:?}"
            );
        }
    }
}
