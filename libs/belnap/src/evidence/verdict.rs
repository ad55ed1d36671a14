//! From conflicts and coverage to a judgement of each claim.

use std::ops::Range;

use crate::claim::{Claim, ClauseKind, Judgement, Modality, Polarity, Predicate, Term, TermKind};
use crate::truth::Truth;

use super::Evidence;
use super::compare::Comparison;
use super::conflict::{self, Conflict, Kind};
use super::reading::Reading;

/// A claim is grounded when the best place in the evidence says this much of it.
const SAID: f32 = 0.6;

/// How well the surroundings of a conflict must match, and by how much they must match better than those of the
/// best place that agrees. Set on halves of two public sets; see `docs/verification.md`.
fn enough(kind: Kind) -> (f32, f32) {
    match kind {
        Kind::Number => (0.2, 0.4),
        Kind::Opposite => (0.2, 0.2),
        Kind::Polarity => (0.25, 0.15),
        Kind::Name => (0.3, 0.1),
        Kind::Place => (0.5, 0.1),
        Kind::Filler => (0.5, 0.1),
        Kind::Sort => (0.3, 0.1),
        Kind::Title => (0.5, 0.1),
    }
}

impl Conflict {
    pub(super) fn holds(&self) -> bool {
        let (oppose, lead) = enough(self.kind);
        // A number that the evidence has nowhere needs no lead.
        self.oppose >= oppose && (self.support == 0.0 || self.oppose - self.support >= lead)
    }
}

/// One judgement for each claim; `readings` are the sentences of `text`.
pub(super) fn judge(
    evidence: &Evidence,
    text: &str,
    readings: &[Reading],
    claims: &[Claim],
) -> Vec<Judgement> {
    let mut judged = vec![Judgement::default(); claims.len()];
    for (number, reading) in readings.iter().enumerate() {
        let ours: Vec<usize> = (0..claims.len())
            .filter(|&k| claims[k].sentence == number)
            .collect();
        if ours.is_empty() {
            continue;
        }
        let c = Comparison::new(&evidence.readings, &evidence.vocabulary, reading);
        for &k in &ours {
            let words: Vec<usize> = (0..reading.words.len())
                .filter(|&t| within(&reading.words[t].span, &claims[k].span))
                .collect();
            let (share, sentence) = c.coverage(&words);
            judged[k].confidence = share;
            if share >= SAID {
                judged[k].verdict = Truth::True;
                judged[k].supporting = vec![sentence];
            } else {
                judged[k].reason = Some("the text does not say it".into());
            }
        }
        let mut conflicts: Vec<Conflict> = conflict::find(&c)
            .into_iter()
            .filter(Conflict::holds)
            .collect();
        conflicts.sort_by(|a, b| (b.oppose - b.support).total_cmp(&(a.oppose - a.support)));
        for conflict in conflicts {
            let place = &reading.words[conflict.token].span;
            let width = |k: usize| {
                let span = &claims[k].span;
                // The narrowest claim that holds the place, else the nearest.
                match within(place, span) {
                    true => (0, span.len()),
                    false => (
                        1,
                        span.start
                            .abs_diff(place.start)
                            .min(span.end.abs_diff(place.end)),
                    ),
                }
            };
            let Some(best) = ours.iter().map(|&k| width(k)).min() else {
                continue;
            };
            let like = conflict.alike_in_stance(&c);
            let reason = conflict::reason(&c, &conflict, &evidence.text, text);
            for &k in ours.iter().filter(|&&k| width(k) == best) {
                if evidence.must_name()
                    && let Some(name) =
                        unmentioned(&claims[k], place, evidence.around(conflict.against.0))
                {
                    // Another company's founding year says nothing about this one's.
                    judged[k].reason = Some(format!("the text does not speak of {name}"));
                    continue;
                }
                oppose(&mut judged[k], &claims[k], &conflict, like, &reason);
            }
        }
    }
    judged
}

fn oppose(judgement: &mut Judgement, claim: &Claim, conflict: &Conflict, like: bool, reason: &str) {
    if judgement.verdict == Truth::False {
        if !judgement.opposing.contains(&conflict.against.0) {
            judgement.opposing.push(conflict.against.0);
        }
        return;
    }
    judgement.supporting.clear();
    judgement.opposing = vec![conflict.against.0];
    judgement.confidence = conflict.oppose.min(1.0);
    // Roles stand and fall with the tree; numbers and opposites are compared by their surroundings at large.
    let by_role = matches!(
        conflict.kind,
        Kind::Name | Kind::Place | Kind::Filler | Kind::Sort
    );
    let unsure = claim.margin < 0.0 || (by_role && claim.fragile);
    let stance = match claim.modality {
        _ if unsure => Some("could not be read with certainty"),
        Modality::Asserted => None,
        Modality::Hedged | Modality::Reported if like => None,
        Modality::Hedged => Some("says so only as possible"),
        Modality::Conditional => Some("says so only under a condition"),
        Modality::Reported => Some("only reports it"),
        Modality::Question => Some("only asks"),
    };
    match stance {
        None => {
            judgement.verdict = Truth::False;
            judgement.reason = Some(reason.to_owned());
        }
        Some(stance) => {
            judgement.verdict = Truth::Neither;
            judgement.reason = Some(format!("{reason}, but it {stance}"));
        }
    }
}

/// What the claim is about, if the evidence has no word of its name. Such a text may say the same of
/// somebody else, and a conflict with that is none. Where the conflict, at `place`, is over the subject ("Karl directed
/// the film"), the claim is about its object, and a figure there is as good as a name.
fn unmentioned<'a>(claim: &'a Claim, place: &Range<usize>, evidence: &str) -> Option<&'a str> {
    let (about, figures) = match &claim.object {
        Some(object) if within(place, &claim.subject.span) => (object.referent(), true),
        _ => (claim.subject.referent(), false),
    };
    // At the beginning of a sentence one capital shows nothing, unless the parser saw a name.
    let first = claim.span.start == about.span.start && about.kind != TermKind::Name;
    let words = about.text.split(|c: char| !c.is_alphanumeric());
    let mut names = words
        .filter(|w| !w.is_empty())
        .enumerate()
        .filter(|(i, w)| {
            let capitals = w.chars().filter(|c| c.is_uppercase()).count();
            let named = capitals > 1 || capitals == 1 && w.len() > 1 && (*i > 0 || !first);
            named || figures && w.starts_with(|c: char| c.is_ascii_digit())
        });
    let evidence = evidence.to_lowercase();
    let mentioned = |word: &str| {
        let word = word.to_lowercase();
        evidence.match_indices(&word).any(|(at, _)| {
            let before = evidence[..at].chars().next_back();
            let after = evidence[at + word.len()..].chars().next();
            // "Applewood" is not Apple; "Apples" may be.
            before.is_none_or(|c| !c.is_alphanumeric())
                && after.is_none_or(|c| !c.is_alphanumeric() || c == 's')
        })
    };
    let mut any = false;
    for (_, word) in names.by_ref() {
        any = true;
        if mentioned(word) {
            return None;
        }
    }
    any.then_some(about.text.as_str())
}

fn within(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    inner.start >= outer.start && inner.end <= outer.end
}

/// Stands for a sentence in which no clause rule found a claim, such as a heading.
pub(super) fn stand_in(text: &str, number: usize, reading: &Reading) -> Option<Claim> {
    let content = || {
        reading
            .words
            .iter()
            .enumerate()
            .filter(|(_, w)| w.content || w.measure.is_some())
    };
    if content().count() < 2 {
        return None;
    }
    let term = |i: usize| {
        let w = &reading.words[i];
        Term {
            text: text.get(w.span.clone()).unwrap_or_default().to_owned(),
            span: w.span.clone(),
            head: w.key.clone(),
            words: vec![w.key.clone()],
            kind: if w.name {
                TermKind::Name
            } else {
                TermKind::Common
            },
            value: None,
            antecedent: None,
            token: i + 1,
        }
    };
    let (first, _) = content().next()?;
    let root = reading.words.iter().position(|w| w.head.is_none())?;
    let predicate = &reading.words[root];
    Some(Claim {
        text: text.get(reading.span.clone())?.to_owned(),
        span: reading.span.clone(),
        sentence: number,
        clause: root + 1,
        subject: term(first),
        predicate: Predicate {
            text: text
                .get(predicate.span.clone())
                .unwrap_or_default()
                .to_owned(),
            lemma: predicate.key.clone(),
            words: vec![predicate.key.clone()],
            preposition: None,
            passive: false,
            inverted: false,
            copular: false,
        },
        object: None,
        arguments: Vec::new(),
        polarity: if predicate.negative {
            Polarity::Negative
        } else {
            Polarity::Positive
        },
        modality: if reading.question {
            Modality::Question
        } else {
            Modality::Asserted
        },
        kind: ClauseKind::Existential,
        margin: reading
            .words
            .iter()
            .map(|w| w.margin)
            .fold(f32::INFINITY, f32::min),
        fragile: true,
    })
}
