//! English for statements: the lexicon's sentence templates filled in, and general rules for other predicates.
//!
//! A template's tokens: `{s}`, `{s's}`, `{o}` the subjects, their possessive, the objects; `{n}` a number without its
//! unit; `{is}` and `{makes|make|made}` a verb, which agrees with the subjects, with the objects after `@o`, is
//! singular after `@1`, plural after `@m`, and always in the past after `^`; `{one|many}` a word by number; `{in}` in or on; `{an}` a or
//! an; `{y}`, `{asof}`, `{when}` the year or day of the statement. The first verb takes the "not" of a denied one.

mod verbs;

use chrono::Datelike;

use crate::asked::is_value;
use crate::lexicon::{concept_of, name_year};
use crate::number::{display_number, display_quantity};
use crate::object::{Object, display_date};
use crate::text::{predicate_words, year};
use crate::triple::{Polarity, Triple};
use verbs::{
    ADJECTIVE_ENDS, DONE_TO, INITIALS, INTRANSITIVE, IRREGULAR_VERBS, PREPOSITIONS, STATES,
    base_of, is_participle, past_of, third_person,
};

/// Statements that one sentence tells: same predicate, polarity and time, and one subject or one object.
pub(crate) struct Clause<'t> {
    pub triples: Vec<&'t Triple>,
    pub past: bool,
    /// Say since when or until when it holds.
    pub dated: bool,
}

impl Clause<'_> {
    /// The sentence without its full stop.
    pub(crate) fn render(&self) -> String {
        let Some(first) = self.triples.first() else {
            return String::new();
        };
        if let Object::Boolean(value) = first.object {
            return boolean_sentence(first, value);
        }
        let says = match concept_of(&first.predicate, is_value(&first.object)) {
            Some(concept) if !concept.says.is_empty() => concept.says.to_owned(),
            _ => general_template(&first.predicate, &first.object),
        };
        let subjects = distinct(
            self.triples
                .iter()
                .map(|triple| clean(&triple.subject.label)),
        );
        let objects = distinct(
            self.triples
                .iter()
                .map(|triple| display_object(&triple.object)),
        );
        let filling = Filling {
            first,
            subjects,
            objects,
            past: self.past,
            negative: first.polarity == Polarity::Negative,
        };
        let mut filled = filling.fill(&says);
        let told = ["{when}", "{y}", "{asof}"]
            .iter()
            .any(|token| says.contains(token));
        if self.dated && !told {
            let time = filling.as_of();
            if !time.is_empty() {
                filled.push_str(&format!(" ({})", time.trim_start()));
            }
        }
        let mut letters = filled.chars();
        // A label keeps its own case ("iPhone"); only the template's first letter is raised.
        match letters.next() {
            Some(letter) if !says.starts_with('{') => {
                letter.to_uppercase().chain(letters).collect()
            }
            _ => filled,
        }
    }
}

struct Filling<'t> {
    first: &'t Triple,
    subjects: Vec<String>,
    objects: Vec<String>,
    past: bool,
    negative: bool,
}

impl Filling<'_> {
    fn fill(&self, says: &str) -> String {
        let mut out = String::new();
        let mut negate = self.negative;
        let mut rest = says;
        while let Some((before, tail)) = rest.split_once('{') {
            out.push_str(before);
            let Some((token, after)) = tail.split_once('}') else {
                break;
            };
            out.push_str(&self.token(token, says, &mut negate));
            rest = after;
        }
        out.push_str(rest);
        if negate {
            format!("It is not the case that {out}")
        } else {
            out
        }
    }

    fn token(&self, token: &str, says: &str, negate: &mut bool) -> String {
        match token {
            "s" => join(&self.subjects),
            "s's" => self
                .subjects
                .iter()
                .map(|name| possessive(name))
                .collect::<Vec<_>>()
                .join(" and "),
            "o" => join(&self.objects),
            "n" => match &self.first.object {
                Object::Number { value, .. } => display_number(value, true),
                _ => join(&self.objects),
            },
            "in" => {
                if matches!(self.first.object, Object::Date(_)) {
                    "on".into()
                } else {
                    "in".into()
                }
            }
            "an" => article(self.objects.first().map(String::as_str).unwrap_or_default()).into(),
            "y" => self.period(),
            "asof" => self.as_of(),
            "when" => match self.first.valid_from {
                Some(from) if self.objects.len() == 1 && self.subjects.len() == 1 => {
                    format!(" in {}", from.year())
                }
                _ => String::new(),
            },
            _ => self.agreeing(token, says, negate),
        }
    }

    /// A verb or a noun that agrees in number.
    fn agreeing(&self, token: &str, says: &str, negate: &mut bool) -> String {
        let (body, control) = token.split_once('@').unwrap_or((token, ""));
        let (body, past) = match body.strip_prefix('^') {
            Some(body) => (body, true),
            None => (body, self.past),
        };
        let by_objects =
            control == "o" || (control.is_empty() && says.starts_with("{o}") && body != "is");
        let many = match control {
            "1" => false,
            "m" => true,
            _ if by_objects => self.objects.len() > 1,
            _ => self.subjects.len() > 1,
        };
        let not = if *negate { " not" } else { "" };
        let forms: Vec<&str> = body.split('|').collect();
        match forms.as_slice() {
            ["is"] => {
                *negate = false;
                let verb = match (past, many) {
                    (false, false) => "is",
                    (false, true) => "are",
                    (true, false) => "was",
                    (true, true) => "were",
                };
                format!("{verb}{not}")
            }
            [third, base, did] => {
                let denied = std::mem::take(negate);
                match (denied, past, many) {
                    (false, true, _) => (*did).to_owned(),
                    (false, false, false) => (*third).to_owned(),
                    (false, false, true) => (*base).to_owned(),
                    (true, true, _) => format!("did not {base}"),
                    (true, false, false) => format!("does not {base}"),
                    (true, false, true) => format!("do not {base}"),
                }
            }
            [one, several] => (if many { *several } else { *one }).to_owned(),
            _ => body.to_owned(),
        }
    }

    /// " in fiscal year 2023" from the predicate's name or the validity.
    fn period(&self) -> String {
        if let Some(year) = name_year(&self.first.predicate) {
            let words = predicate_words(&self.first.predicate);
            let fiscal = words
                .iter()
                .any(|word| word.starts_with("fy") || word == "fiscal");
            return if fiscal {
                format!(" in fiscal year {year}")
            } else {
                format!(" in {year}")
            };
        }
        self.as_of()
    }

    fn as_of(&self) -> String {
        if let Some(year) = name_year(&self.first.predicate) {
            return format!(" in {year}");
        }
        match (self.first.valid_from, self.first.valid_to) {
            (Some(from), Some(to)) if from == to => format!(" as of {}", display_date(from)),
            (Some(from), Some(to)) if from.year() == to.year() => format!(" in {}", from.year()),
            (Some(from), Some(to)) => {
                format!(" from {} until {}", display_date(from), display_date(to))
            }
            (Some(from), None) => format!(" since {}", display_date(from)),
            (None, Some(to)) => format!(" until {}", display_date(to)),
            (None, None) => String::new(),
        }
    }
}

/// A template for a predicate that the lexicon does not know.
fn general_template(predicate: &str, object: &Object) -> String {
    let all = predicate_words(predicate);
    let mut kept: Vec<&str> = all
        .iter()
        .map(String::as_str)
        .filter(|word| year(word).is_none())
        .collect();
    let dated = is_value(object);
    if dated && kept.len() > 2 && kept.ends_with(&["in", "year"]) {
        kept.pop();
    }
    if dated
        && kept.len() == 2
        && matches!(kept.last(), Some(&"in" | &"on"))
        && kept.first().is_some_and(|word| is_participle(word))
    {
        kept.pop();
    }
    let shown: Vec<String> = kept.iter().map(|word| spelled(word)).collect();
    let rest = |from: usize| shown.get(from..).unwrap_or_default().join(" ");
    let (Some(first), Some(last)) = (kept.first().copied(), kept.last().copied()) else {
        return "{s's} value{y} {is@1} {o}".into();
    };
    let many_words = kept.len() > 1;
    match first {
        "is" | "are" | "was" | "were" if many_words => {
            let past = if first.starts_with('w') { "^" } else { "" };
            let tail = rest(1);
            let article =
                if last == "of" && !matches!(kept.get(1), Some(&"part" | &"made" | &"capable")) {
                    "the "
                } else {
                    ""
                };
            return format!("{{s}} {{{past}is}} {article}{tail} {{o}}");
        }
        "has" | "have" if many_words => return format!("{{s's}} {} {{is@1}} {{o}}", rest(1)),
        "can" if many_words => return format!("{{s}} {{is}} able to {} {{o}}", rest(1)),
        _ => {}
    }
    let participle = is_participle(first);
    if participle && (many_words && PREPOSITIONS.contains(&last)) {
        let passive = last == "by" || STATES.contains(&first) || DONE_TO.contains(&first);
        let past = if STATES.contains(&first) { "" } else { "^" };
        return if passive {
            format!("{{s}} {{{past}is}} {} {{o}}", rest(0))
        } else {
            active_past(first, &rest(1))
        };
    }
    if participle && dated && !many_words && INTRANSITIVE.contains(&first) {
        return active_past(first, &rest(1)).replace(" {o}", " {in} {o}");
    }
    if participle && dated && !many_words {
        return format!("{{s}} {{^is}} {} {{in}} {{o}}", rest(0));
    }
    if participle && !many_words {
        return active_past(first, "");
    }
    if let Some((third, base)) = third_person(first, many_words && PREPOSITIONS.contains(&last)) {
        let past = past_of(&base);
        let tail = rest(1);
        let gap = if tail.is_empty() { "" } else { " " };
        return format!("{{s}} {{{third}|{base}|{past}}}{gap}{tail} {{o}}");
    }
    if last == "of" && many_words {
        let role = shown.get(..shown.len() - 1).unwrap_or_default().join(" ");
        let article = if matches!(first, "part" | "member" | "example" | "type" | "kind") {
            if first == "part" { "" } else { "{a|}" }
        } else {
            "the "
        };
        let gap = if article == "{a|}" { " " } else { "" };
        return format!("{{s}} {{is}} {article}{gap}{role} of {{o}}");
    }
    if many_words && PREPOSITIONS.contains(&last) {
        return format!("{{s's}} “{}” {{is@1}} {{o}}", shown.join(" "));
    }
    let noun = shown.join(" ");
    let plural = last.ends_with('s')
        && !last.ends_with("ss")
        && !last.ends_with("us")
        && !last.ends_with("is");
    match (plural, object) {
        (true, Object::Number { unit: None, .. }) => {
            format!("{{s's}} number of {noun}{{y}} {{is@1}} {{o}}")
        }
        (true, Object::Node { .. }) => format!("{{s's}} {noun} include {{o}}"),
        (true, _) => format!("{{s's}} {noun}{{y}} {{is@m}} {{o}}"),
        (false, _) => format!("{{s's}} {noun}{{y}} {{is@o}} {{o}}"),
    }
}

fn active_past(participle: &str, tail: &str) -> String {
    let (past, base) = IRREGULAR_VERBS
        .iter()
        .find(|(form, _, _)| *form == participle)
        .map_or_else(
            || (participle.to_owned(), base_of(participle)),
            |(_, past, base)| ((*past).to_owned(), (*base).to_owned()),
        );
    let gap = if tail.is_empty() { "" } else { " " };
    format!("{{s}} {{^{base}s|{base}|{past}}}{gap}{tail} {{o}}")
}

/// A predicate with a yes or no: `is_public` true reads "X is public".
fn boolean_sentence(triple: &Triple, value: bool) -> String {
    let holds = value == (triple.polarity == Polarity::Positive);
    let subject = clean(&triple.subject.label);
    let words: Vec<String> = predicate_words(&triple.predicate)
        .iter()
        .map(|word| spelled(word))
        .collect();
    let tail = words.get(1..).unwrap_or_default().join(" ");
    let all = words.join(" ");
    let not = if holds { "" } else { " not" };
    match words.first().map(String::as_str) {
        Some("is") if words.len() > 1 => format!("{subject} is{not} {tail}"),
        Some("was") if words.len() > 1 => format!("{subject} was{not} {tail}"),
        Some("can") if words.len() > 1 => {
            format!("{subject} can{not} {tail}").replace("can not", "cannot")
        }
        Some("has") if words.len() > 1 && holds => format!("{subject} has {tail}"),
        Some("has") if words.len() > 1 => format!("{subject} does not have {tail}"),
        Some(_)
            if words
                .last()
                .is_some_and(|word| ADJECTIVE_ENDS.iter().any(|end| word.ends_with(end))) =>
        {
            format!("{subject} is{not} {all}")
        }
        _ => format!(
            "For {subject}, “{all}” is {}",
            if holds { "true" } else { "false" }
        ),
    }
}

/// The object in English.
pub(crate) fn display_object(object: &Object) -> String {
    match object {
        Object::Node { label, .. } => clean(label),
        Object::Text(text) => {
            let text = clean(text);
            match text.char_indices().nth(400) {
                Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default().trim_end()),
                None => {
                    if text.chars().count() > 40 {
                        text.trim_end_matches('.').to_owned()
                    } else {
                        text
                    }
                }
            }
        }
        Object::Number { value, unit } => {
            display_quantity(value, unit.as_deref().map(clean).as_deref(), false)
        }
        Object::Date(date) => display_date(*date),
        Object::Boolean(value) => value.to_string(),
    }
}

/// A label on one line, without the marks of a citation, so that data cannot forge one.
pub(crate) fn clean(label: &str) -> String {
    let replaced: String = label
        .chars()
        .map(|letter| match letter {
            '[' => '(',
            ']' => ')',
            letter if letter.is_control() || crate::message::is_invisible_break(letter) => ' ',
            letter => letter,
        })
        .take(600)
        .collect();
    replaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `A`, `A and B`, `A, B and C`; past ten, "and others".
pub(crate) fn join(names: &[String]) -> String {
    let shown = names.get(..names.len().min(MAX_LISTED)).unwrap_or_default();
    match shown {
        [] => String::new(),
        [only] => only.clone(),
        _ if names.len() > shown.len() => format!("{} and others", shown.join(", ")),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

pub(crate) fn possessive(name: &str) -> String {
    if name.ends_with('s') {
        format!("{name}'")
    } else {
        format!("{name}'s")
    }
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    names.filter(|name| seen.insert(name.clone())).collect()
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) {
        "an"
    } else {
        "a"
    }
}

/// Predicate words in prose: initials in capitals.
fn spelled(word: &str) -> String {
    if INITIALS.contains(&word) {
        word.to_uppercase()
    } else {
        word.to_owned()
    }
}

const MAX_LISTED: usize = 10;
