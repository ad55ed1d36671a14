//! The built-in answerer: English from facts, each sentence with its citations, nothing that no triple states.

mod compare;
mod draft;
mod overview;
mod talk;
mod yes_or_no;

use std::collections::HashSet;

use chrono::Datelike;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::asked::{Asked, Form, is_value};
use crate::assess::{Assessment, Competence, answering, unique};
use crate::lexicon::{concept_of, name_year};
use crate::phrase::{clean, join};
use crate::question::Question;
use crate::triple::{Polarity, Triple};

use draft::Draft;

/// An answer with markers such as `[1]`, each explained by a citation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub text: String,
    pub citations: Vec<Citation>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    pub n: usize,
    pub triple_id: Uuid,
}

/// Answers a question on its own.
pub fn compose_answer(question: &str, assessment: &Assessment) -> Answer {
    compose_answer_in(question, &[], assessment)
}

/// Answers a question of a thread; `previous` holds the questions before it, oldest first, as given to
/// [`Question::parse_in`].
pub fn compose_answer_in(question: &str, previous: &[&str], assessment: &Assessment) -> Answer {
    let question = Question::parse_in(question, previous);
    let asked = Asked::read(&question, &assessment.mentions);
    if assessment.mentions.is_empty()
        && let Some(text) = talk::small_talk(&question)
    {
        return Answer {
            text,
            citations: Vec::new(),
        };
    }
    let mut draft = Draft::new(assessment, asked.form == Form::When);
    Composer {
        question: &question,
        asked: &asked,
        assessment,
    }
    .write(&mut draft);
    draft.finish()
}

struct Composer<'a> {
    question: &'a Question,
    asked: &'a Asked<'a>,
    assessment: &'a Assessment,
}

impl<'a> Composer<'a> {
    fn write(&self, draft: &mut Draft<'a>) {
        let nameless = self.assessment.mentions.is_empty();
        if nameless && self.assessment.competence != Competence::Competent {
            return self.unknown(draft);
        }
        let answers = self.timely(answering(self.asked, self.triples()));
        if !answers.is_empty() {
            self.answer(draft, answers);
        } else if nameless || self.assessment.competence == Competence::OutOfScope {
            return self.unknown(draft);
        } else if self.several() && self.compares() {
            self.side_by_side(draft);
        } else if !self.several() || !self.connects(draft) {
            self.summarise(draft);
        }
        if draft.is_empty() {
            return self.unknown(draft);
        }
        let gaps = self.gap_names();
        if self.assessment.competence == Competence::Partial && !gaps.is_empty() {
            draft.say(format!("The facts here say nothing about {gaps}."));
        }
    }

    fn answer(&self, draft: &mut Draft<'a>, answers: Vec<&'a Triple>) {
        if compare::compare(self.asked, &answers, draft) {
            return;
        }
        if self.asked.form == Form::YesNo {
            return self.yes_or_no(draft, answers);
        }
        let linking: Vec<&Triple> = answers
            .iter()
            .copied()
            .filter(|triple| self.links(triple))
            .collect();
        let listed = if self.several() && !linking.is_empty() {
            linking
        } else {
            answers
        };
        if self.asked.form == Form::HowMany && self.asked.has_word(&["many"]) {
            count(draft, &listed);
        }
        if self.asked.form == Form::Why {
            draft.say("The facts here give no reasons or explanations. What they say:".to_owned());
        }
        let between_two = matches!(self.asked.form, Form::When | Form::Where | Form::HowMany)
            && self.several()
            && !self.asked.lists_mentions(self.question);
        if between_two && !listed.iter().any(|triple| self.links(triple)) {
            self.connection(draft);
        }
        draft.tell(&listed);
    }

    /// For "when did A buy B?": the statement that A bought B, or that none says so.
    fn connection(&self, draft: &mut Draft<'a>) {
        let mut linking: Vec<&Triple> =
            self.triples().filter(|triple| self.links(triple)).collect();
        let is_event = |triple: &Triple| {
            concept_of(&triple.predicate, false)
                .is_some_and(|concept| concept.says.contains("{when}"))
        };
        if linking.iter().any(|triple| is_event(triple)) {
            linking.retain(|triple| is_event(triple));
        }
        linking.truncate(2);
        if linking.is_empty() {
            let names: Vec<String> = unique(&self.assessment.mentions)
                .iter()
                .map(|mention| clean(&mention.label))
                .collect();
            draft.say(format!(
                "The facts here do not connect {}. What they do say:",
                join(&names)
            ));
        }
        draft.tell(&linking);
    }

    fn links(&self, triple: &Triple) -> bool {
        self.asked.mentioned(triple.subject.id)
            && triple
                .object
                .node_id()
                .is_some_and(|id| self.asked.mentioned(id))
    }

    /// Statements of the time asked about: those that hold, unless the question looks back; newest figures first.
    fn timely(&self, answers: Vec<&'a Triple>) -> Vec<&'a Triple> {
        let today = self.assessment.today;
        let ended = |triple: &Triple| {
            triple.is_past(today) && !triple.is_snapshot() && !is_value(&triple.object)
        };
        let before = self.asked.has_word(&[
            "former",
            "previous",
            "before",
            "predecessor",
            "formerly",
            "previously",
            "preceded",
        ]);
        let all_times = !self.asked.years.is_empty()
            || self.asked.form == Form::YesNo
            || self
                .asked
                .has_word(&["ever", "all", "history", "past", "list"]);
        let mut kept = answers.clone();
        if before && answers.iter().any(|triple| ended(triple)) {
            kept.retain(|triple| ended(triple));
        } else if !all_times {
            kept.retain(|triple| {
                !ended(triple)
                    || !answers.iter().any(|other| {
                        other.subject.id == triple.subject.id
                            && other.predicate == triple.predicate
                            && !ended(other)
                    })
            });
        }
        if self.asked.has_word(&[
            "latest",
            "last",
            "recent",
            "current",
            "currently",
            "now",
            "today",
            "newest",
        ]) {
            let newest = kept
                .iter()
                .filter(|triple| is_value(&triple.object))
                .filter_map(|triple| year_of(triple))
                .max();
            kept.retain(|triple| {
                !is_value(&triple.object)
                    || newest.is_none()
                    || year_of(triple).is_none_or(|year| Some(year) == newest)
            });
        }
        kept.sort_by_key(|triple| {
            if is_value(&triple.object) {
                -day_of(triple)
            } else {
                0
            }
        });
        kept
    }

    fn several(&self) -> bool {
        unique(&self.assessment.mentions).len() > 1
    }

    fn gap_names(&self) -> String {
        let names: Vec<String> = self
            .assessment
            .gaps
            .iter()
            .take(5)
            .map(|gap| format!("“{}”", clean(&gap.text)))
            .collect();
        join(&names).replace("” and “", "” or “")
    }

    fn triples(&self) -> impl Iterator<Item = &'a Triple> + use<'a> {
        self.assessment.triples.iter().map(|ranked| &ranked.triple)
    }
}

/// "How many" of things that are listed and not counted.
fn count(draft: &mut Draft<'_>, listed: &[&Triple]) {
    let figures = listed.iter().any(|triple| is_value(&triple.object));
    let subjects: HashSet<Uuid> = listed.iter().map(|triple| triple.subject.id).collect();
    let items: HashSet<String> = listed
        .iter()
        .filter(|triple| triple.polarity == Polarity::Positive)
        .map(|triple| triple.object.object_key())
        .collect();
    if !figures && subjects.len() == 1 && items.len() > 1 {
        draft.say(format!(
            "The facts here list {}; there may be more.",
            talk::count_word(items.len())
        ));
    }
}

fn year_of(triple: &Triple) -> Option<i32> {
    name_year(&triple.predicate).or_else(|| triple.valid_from.map(|from| from.year()))
}

/// Day number of a figure, for newest first.
fn day_of(triple: &Triple) -> i32 {
    let in_name = name_year(&triple.predicate).map(|year| year.saturating_mul(366));
    in_name
        .or_else(|| triple.valid_from.map(|from| from.num_days_from_ce()))
        .unwrap_or(0)
}
