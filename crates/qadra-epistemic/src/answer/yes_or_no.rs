//! Answers that begin with yes or no, and only where a statement allows it.

use std::collections::HashSet;

use uuid::Uuid;

use super::Composer;
use super::draft::{Draft, is_doubtful};
use crate::assess::Competence;
use crate::lexicon::conventionally_functional;
use crate::number::Decimal;
use crate::object::Object;
use crate::triple::{Polarity, Triple};

impl<'a> Composer<'a> {
    /// "Yes" for a statement that says what the question asks, "no" for one that denies it or that gives another value
    /// where there is one at a time.
    pub(super) fn yes_or_no(&self, draft: &mut Draft<'a>, answers: Vec<&'a Triple>) {
        if let [only] = answers.as_slice()
            && let Object::Boolean(value) = only.object
            && !is_doubtful(only)
            && !draft.is_contested(only.id)
        {
            draft.lead(if value == (only.polarity == Polarity::Positive) {
                "Yes:"
            } else {
                "No:"
            });
            return draft.tell(&answers);
        }
        let digits = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
        let compares =
            self.several() || self.asked.free.iter().any(|(_, word)| digits(&word.plain));
        if !compares {
            if self.assessment.competence == Competence::Partial {
                draft.say(NOT_SAID.to_owned());
            }
            return draft.tell(&answers);
        }
        let hit: Vec<&Triple> = answers
            .iter()
            .copied()
            .filter(|triple| self.links(triple) || self.says_value(triple))
            .collect();
        if hit.is_empty() {
            let subjects: HashSet<Uuid> = answers.iter().map(|triple| triple.subject.id).collect();
            let one_value = answers.len() == 1
                && subjects.len() == 1
                && answers
                    .iter()
                    .all(|triple| self.excludes_others(triple) && !draft.is_contested(triple.id));
            if one_value {
                draft.lead("No:");
            } else {
                draft.say(NOT_SAID.to_owned());
            }
            return draft.tell(&answers);
        }
        if hit.iter().any(|triple| draft.is_contested(triple.id)) {
            let both: Vec<&Triple> = answers
                .iter()
                .copied()
                .filter(|triple| draft.is_contested(triple.id))
                .collect();
            return draft.tell(&both);
        }
        let over =
            |triple: &&Triple| triple.is_past(self.assessment.today) && !triple.is_snapshot();
        if hit.iter().any(over) {
            let now: Vec<&Triple> = answers
                .iter()
                .copied()
                .filter(|triple| {
                    !over(triple) && hit.iter().any(|past| past.subject.id == triple.subject.id)
                })
                .collect();
            draft.tell(&hit);
            return draft.tell(&now);
        }
        if hit.iter().any(|triple| is_doubtful(triple)) {
            return draft.tell(&hit);
        }
        draft.lead(
            if hit
                .iter()
                .all(|triple| triple.polarity == Polarity::Negative)
            {
                "No:"
            } else {
                "Yes:"
            },
        );
        draft.tell(&hit);
    }

    /// Whether the statement leaves no room for another value: who holds an office now says nothing of who held it.
    fn excludes_others(&self, triple: &Triple) -> bool {
        let present = self
            .question
            .words()
            .first()
            .is_some_and(|word| matches!(word.plain.as_str(), "is" | "are"));
        (present || crate::asked::is_value(&triple.object))
            && conventionally_functional(&triple.predicate)
            && triple.polarity == Polarity::Positive
            && !is_doubtful(triple)
            && !triple.is_past(self.assessment.today)
    }

    /// Whether a value written in the question is the statement's.
    fn says_value(&self, triple: &Triple) -> bool {
        let year = crate::asked::object_year(&triple.object);
        self.asked
            .free
            .iter()
            .any(|(_, word)| match &triple.object {
                Object::Number { value, .. } => Decimal::parse(&word.plain).as_ref() == Some(value),
                Object::Date(_) => word.year().is_some() && word.year() == year,
                _ => false,
            })
    }
}

const NOT_SAID: &str = "The facts here do not say that. What they do say:";
