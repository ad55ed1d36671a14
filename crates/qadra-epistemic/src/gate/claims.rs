//! The triples that an answer implies.

use std::collections::HashSet;

use super::clauses::{Sentence, sentences};
use super::context::{Context, Entity};
use super::fit::Reading;
use super::items::{Item, What, items};
use super::judge::{judge, qualified};
use crate::text::stem;

/// An implied triple.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Claim {
    /// `(Apple, was founded in, 1976)`; `NOT (…)` when the answer denies it.
    pub text: String,
    /// Context triples that support it, and how well each does alone.
    pub supports: Vec<(usize, f32)>,
    /// Why it is not grounded.
    pub reason: String,
}

/// Every triple that the answer implies and that names, numbers or dates make checkable.
pub(super) fn claims(response: &str, context: &Context<'_>, most: usize) -> Vec<Claim> {
    let mut found: Vec<Claim> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut topic: Vec<Entity> = context.about.clone();
    for sentence in sentences(response) {
        if speaks_of_itself(&sentence) {
            continue;
        }
        for claim in of_sentence(&sentence, context, &mut topic) {
            if found.len() >= most {
                return found;
            }
            if seen.insert(claim.text.clone()) {
                found.push(claim);
            }
        }
    }
    found
}

pub(super) struct Clause<'s> {
    pub sentence: &'s Sentence,
    pub items: Vec<Item>,
    start: usize,
    end: usize,
}

fn of_sentence(sentence: &Sentence, context: &Context<'_>, topic: &mut Vec<Entity>) -> Vec<Claim> {
    let items = items(sentence, context);
    let mut found = Vec::new();
    let mut inherited: Vec<String> = Vec::new();
    let mut main: Option<Vec<Entity>> = None;
    // What a relative pronoun may stand for: the nearest name before it, then the other ends of the clause.
    let mut before: Vec<Entity> = Vec::new();
    let mut named: Vec<Entity> = Vec::new();
    for clause in clauses(sentence, items) {
        let reading = Reading::of(
            sentence,
            clause.start,
            clause.end,
            &clause.items,
            &inherited,
        );
        let mut subjects = clause.subjects(topic, &reading);
        if clause.is_relative() && !before.is_empty() {
            subjects.entities.clone_from(&before);
        }
        if !reading.segment.is_empty() {
            inherited.clone_from(&reading.segment);
        }
        // A list under a heading, and nothing says whose it is.
        let explains = clause.explains(&reading);
        if explains && topic.is_empty() {
            continue;
        }
        if !reading.hedged {
            clause.claims(context, &subjects, &reading, &mut found);
        }
        if !subjects.entities.is_empty() {
            if !clause.is_relative() {
                main.get_or_insert_with(|| subjects.entities.clone());
            }
            topic.clone_from(&subjects.entities);
        }
        if explains {
            continue;
        }
        before = clause.names_backwards();
        before.extend(subjects.entities);
        named.extend(before.iter().copied());
        topic.extend(before.iter().copied());
    }
    // "It" is the sentence's first subject, or else anything that it names.
    if let Some(main) = main {
        *topic = main;
    }
    topic.extend(named);
    let mut seen = HashSet::new();
    topic.retain(|entity| seen.insert(*entity));
    found
}

/// Cuts a sentence where another statement begins.
fn clauses(sentence: &Sentence, items: Vec<Item>) -> Vec<Clause<'_>> {
    let words = &sentence.words;
    let mut cuts = vec![0];
    for at in 1..words.len() {
        let before = sentence.gap_after(at - 1);
        let plain = words.get(at).map_or("", |word| word.plain.as_str());
        let inside = items.iter().any(|item| item.start < at && at < item.end);
        let follows = items.iter().any(|item| item.end == at);
        let next_item = items.iter().find(|item| item.start > at);
        let cut = before.contains([';', ':', '—'])
            || (before.contains('–') && before.contains(' '))
            || matches!(plain, "while" | "whereas" | "although" | "though" | "but")
            || (matches!(plain, "which" | "who" | "whose" | "where") && at > 0)
            || (plain == "and" && starts_statement(sentence, &items, at, follows, next_item));
        if cut && !inside {
            cuts.push(at);
        }
    }
    cuts.push(words.len());
    cuts.windows(2)
        .filter_map(|pair| match pair {
            [start, end] if start < end => Some(Clause {
                sentence,
                items: items
                    .iter()
                    .filter(|item| item.start >= *start && item.end <= *end)
                    .cloned()
                    .collect(),
                start: *start,
                end: *end,
            }),
            _ => None,
        })
        .collect()
}

/// Whether "and" begins a statement of its own: a name and then a verb follow, or a name follows a value.
fn starts_statement(
    sentence: &Sentence,
    items: &[Item],
    at: usize,
    follows: bool,
    next: Option<&Item>,
) -> bool {
    let Some(next) = next.filter(|next| next.start == at + 1) else {
        return false;
    };
    if !matches!(next.what, What::Known(_) | What::Unknown(_)) {
        return false;
    }
    let after = sentence
        .words
        .get(next.end)
        .map_or("", |word| word.plain.as_str());
    let acts = VERBS.contains(&after) || crate::asked::ACTIONS.contains(&stem(after).as_str());
    let last = items.iter().rfind(|item| item.end <= at);
    let after_value = last.is_some_and(|last| {
        last.end == at && matches!(last.what, What::Value(_)) && !after.is_empty()
    });
    // "founded by A and B was …" is rare; "A and B were …" is a list unless something was said before.
    let said_before = items.iter().filter(|item| item.end <= at).count() >= 2;
    after_value || (acts && (said_before || !follows))
}

/// Who a clause speaks of.
struct Subjects {
    entities: Vec<Entity>,
    /// Indexes of the items that name them.
    items: Vec<usize>,
    /// A name that the context does not have.
    unknown: Option<String>,
    /// Several things, each of which the clause speaks of; otherwise the names are one thing.
    several: bool,
}

impl Clause<'_> {
    fn is_relative(&self) -> bool {
        self.sentence
            .words
            .get(self.start)
            .is_some_and(|word| matches!(word.plain.as_str(), "which" | "who" | "whose" | "where"))
    }

    /// "Founders: A, B" says what the words before the colon ask for.
    fn explains(&self, reading: &Reading) -> bool {
        let colon = self.start.checked_sub(1);
        !reading.has_words
            && colon.is_some_and(|before| self.sentence.gap_after(before).contains(':'))
    }

    /// Known names, the last one first.
    fn names_backwards(&self) -> Vec<Entity> {
        self.items
            .iter()
            .rev()
            .filter_map(|item| match &item.what {
                What::Known(entities) => Some(entities),
                _ => None,
            })
            .flatten()
            .copied()
            .collect()
    }

    fn subjects(&self, topic: &[Entity], reading: &Reading) -> Subjects {
        let carried = Subjects {
            entities: topic.to_vec(),
            items: Vec::new(),
            unknown: None,
            several: false,
        };
        let explains = self.explains(reading);
        if self.is_relative() || reading.starts_with_pronoun || explains {
            return carried;
        }
        let Some(first) = self
            .items
            .iter()
            .position(|item| !matches!(item.what, What::Value(_)))
        else {
            return carried;
        };
        let mut found = Subjects {
            entities: Vec::new(),
            items: Vec::new(),
            unknown: None,
            several: false,
        };
        let mut last_end = None;
        for (at, item) in self.items.iter().enumerate().skip(first) {
            if let Some(end) = last_end
                && !self.listed(end, item.start)
            {
                break;
            }
            match &item.what {
                What::Known(entities) => found.entities.extend(entities.iter().copied()),
                What::Unknown(name) => {
                    found.unknown.get_or_insert_with(|| name.clone());
                }
                What::Value(_) => break,
            }
            if let Some(end) = last_end {
                found.several |= self
                    .sentence
                    .words
                    .get(end..item.start)
                    .is_some_and(|between| !between.is_empty());
            }
            found.items.push(at);
            last_end = Some(item.end);
        }
        found
    }

    /// Whether nothing but a comma or "and" stands between two items.
    fn listed(&self, end: usize, start: usize) -> bool {
        let between = self.sentence.words.get(end..start).unwrap_or_default();
        let commas = self.sentence.gap_after(end.wrapping_sub(1)).contains(',');
        match between {
            [] => commas,
            words => words
                .iter()
                .all(|word| matches!(word.plain.as_str(), "and" | "or" | "both")),
        }
    }

    fn claims(
        &self,
        context: &Context<'_>,
        subjects: &Subjects,
        reading: &Reading,
        found: &mut Vec<Claim>,
    ) {
        let first = found.len();
        let mut dated: Vec<usize> = Vec::new();
        // Where each claim's item stands, for the years beside it.
        let mut places: Vec<(usize, usize, usize)> = Vec::new();
        for (at, item) in self.items.iter().enumerate() {
            if subjects.items.contains(&at) {
                continue;
            }
            if matches!(&item.what, What::Value(value) if value.year().is_some()) {
                dated.push(at);
                continue;
            }
            for claim in self.claims_of(context, subjects, reading, at, item) {
                places.push((item.start, item.end, found.len()));
                found.push(claim);
            }
        }
        for at in dated {
            let Some(item) = self.items.get(at) else {
                continue;
            };
            let direct = self.claims_of(context, subjects, reading, at, item);
            let grounded = direct.iter().any(|claim| !claim.supports.is_empty());
            if !grounded
                && let What::Value(value) = &item.what
                && let Some(supports) =
                    qualified(context, value, item, &places, found, first, reading)
            {
                found.extend(direct.into_iter().map(|claim| Claim {
                    supports: supports.clone(),
                    ..claim
                }));
                continue;
            }
            found.extend(direct);
        }
    }

    /// The claims that one item makes about the subjects.
    fn claims_of(
        &self,
        context: &Context<'_>,
        subjects: &Subjects,
        reading: &Reading,
        at: usize,
        item: &Item,
    ) -> Vec<Claim> {
        let others: Vec<Entity> = self
            .items
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at && !subjects.items.contains(other))
            .filter_map(|(_, other)| match &other.what {
                What::Known(entities) => Some(entities.clone()),
                _ => None,
            })
            .flatten()
            .collect();
        let said = reading.predicate_of(item);
        let mut made = Vec::new();
        let named: Vec<Option<Entity>> = if subjects.entities.is_empty() {
            vec![None]
        } else if !subjects.several {
            // Several meanings of one name, an apposition, or a carried subject: any of them will do.
            vec![subjects.entities.first().copied()]
        } else {
            subjects.entities.iter().copied().map(Some).collect()
        };
        for subject in named {
            let mut ends: Vec<Entity> = match subject {
                Some(_) if !subjects.several => subjects.entities.clone(),
                Some(one) => vec![one],
                None => Vec::new(),
            };
            if let What::Known(own) = &item.what
                && own.iter().any(|entity| ends.contains(entity))
            {
                continue;
            }
            let own_ends = ends.len();
            ends.extend(others.iter().copied());
            let label = match (subject, &subjects.unknown) {
                (Some(entity), _) => context.label(entity),
                (None, Some(name)) => name.as_str(),
                (None, None) => match others.first() {
                    Some(entity) => context.label(*entity),
                    None => continue,
                },
            };
            let judged = judge(context, &ends, own_ends, item, self, reading);
            let Some((supports, reason)) = judged else {
                continue;
            };
            let object = match &item.what {
                What::Known(entities) => entities
                    .first()
                    .map_or(String::new(), |entity| context.label(*entity).to_owned()),
                What::Unknown(name) => name.clone(),
                What::Value(value) => value.show(),
            };
            let not = if reading.denies { "NOT " } else { "" };
            made.push(Claim {
                text: format!("{not}({label}, {said}, {object})"),
                supports,
                reason,
            });
        }
        made
    }
}

/// Sentences about the answer itself or about what is not known state no triple.
fn speaks_of_itself(sentence: &Sentence) -> bool {
    let plain: Vec<&str> = sentence
        .words
        .iter()
        .map(|word| word.plain.as_str())
        .collect();
    let has = |words: &[&str]| plain.iter().any(|word| words.contains(word));
    let first_person = plain.first().is_some_and(|first| {
        matches!(
            *first,
            "i" | "im" | "ill" | "ive" | "you" | "let" | "lets" | "please" | "would" | "if"
        )
    });
    let lacks = has(&[
        "nothing", "no", "not", "dont", "doesnt", "cannot", "cant", "without", "isnt", "arent",
        "unable", "lack", "lacks", "neither",
    ]) && has(&[
        "information",
        "facts",
        "fact",
        "data",
        "know",
        "known",
        "mention",
        "mentioned",
        "mentions",
        "say",
        "says",
        "said",
        "specify",
        "specified",
        "confirm",
        "context",
        "available",
        "records",
        "record",
        "answer",
        "sources",
        "details",
        "stated",
        "provided",
    ]);
    let holds = plain.windows(2).any(|pair| {
        matches!(
            pair,
            ["facts" | "sources", "disagree" | "conflict" | "differ"]
        )
    });
    first_person || lacks || holds
}

const VERBS: &[&str] = &[
    "is",
    "was",
    "are",
    "were",
    "has",
    "have",
    "had",
    "does",
    "did",
    "will",
    "makes",
    "made",
    "sells",
    "sold",
    "owns",
    "owned",
    "leads",
    "led",
    "runs",
    "ran",
    "operates",
    "employs",
    "competes",
    "supplies",
    "supplied",
    "acquired",
    "bought",
    "founded",
    "became",
    "serves",
    "works",
    "lives",
    "holds",
    "produces",
    "develops",
    "developed",
    "offers",
    "joined",
    "trades",
    "reported",
    "earned",
    "invested",
    "says",
    "said",
];
