//! Findings gathered by claim, and the verdict on each.

use std::collections::BTreeMap;
use std::ops::Range;

use ud::{Parser, Sentence, Upos};

use super::judge::{Finding, Why, findings};
use super::mention::Mention;
use super::reading::Reading;
use super::{Fact, Graph};
use crate::claim::{Claim, ClauseKind, Judgement, Modality, Polarity, Predicate, Term, TermKind};
use crate::truth::Truth;

/// The claims of a text with what the graph says of each. Beside the claims of [`extract`](crate::extract) there is
/// one for each pair of names whose relation the graph knows and no clause rule has found.
pub fn verify(parser: &Parser, text: &str, graph: &Graph) -> Vec<(Claim, Judgement)> {
    let sentences = parser.parse(text);
    let claims = crate::extract::extract_from(text, &sentences);
    graph.verify_parsed(text, &sentences, claims)
}

impl Graph {
    /// One judgement for each claim, in their order; `sentences` are those of the whole text.
    pub fn judge_parsed(
        &self,
        text: &str,
        sentences: &[Sentence],
        claims: &[Claim],
    ) -> Vec<Judgement> {
        let judged = self.verify_parsed(text, sentences, claims.to_vec());
        judged
            .into_iter()
            .take(claims.len())
            .map(|(_, j)| j)
            .collect()
    }

    /// The given claims with their judgements, then the claims that the names alone have shown.
    pub fn verify_parsed(
        &self,
        text: &str,
        sentences: &[Sentence],
        mut claims: Vec<Claim>,
    ) -> Vec<(Claim, Judgement)> {
        let reading = Reading::new(text, sentences);
        let found = findings(self, &reading);
        let mut of_claim: Vec<Vec<&Finding>> = vec![Vec::new(); claims.len()];
        for finding in &found {
            let pair = Pair::new(&reading, finding);
            let at = pair.claim(&claims).unwrap_or_else(|| {
                claims.push(pair.own(&reading, finding));
                of_claim.push(Vec::new());
                claims.len() - 1
            });
            of_claim[at].push(finding);
        }
        claims
            .into_iter()
            .zip(of_claim)
            .map(|(claim, findings)| {
                let judgement = self.judgement(&reading, &claim, &findings);
                (claim, judgement)
            })
            .collect()
    }

    fn judgement(&self, reading: &Reading<'_>, claim: &Claim, findings: &[&Finding]) -> Judgement {
        // What one relation of one subject is told is joined; a claim of several parts is false if a part is.
        let mut parts: BTreeMap<(&[usize], usize), Vec<&Finding>> = BTreeMap::new();
        for finding in findings {
            let keys = &self.keys[finding.fact];
            parts
                .entry((&keys.subjects, keys.meaning))
                .or_default()
                .push(finding);
        }
        let asserted = claim.modality == Modality::Asserted;
        let mut judgement = Judgement::default();
        let mut weak = None;
        let mut rank = 0;
        for part in parts.values() {
            let supports = part.iter().any(|f| f.supports);
            let opposing = part.iter().filter(|f| !f.supports);
            let opposes = opposing.clone().next().is_some();
            let firm = opposing.clone().any(|f| asserted && f.firm());
            let verdict = match (supports, opposes) {
                (true, true) => Truth::Both,
                (true, false) => Truth::True,
                (false, true) if firm => Truth::False,
                _ => Truth::Neither,
            };
            if opposes && !supports && !firm {
                weak = part.first().copied();
            }
            let this = [Truth::Neither, Truth::True, Truth::Both, Truth::False]
                .iter()
                .position(|t| *t == verdict)
                .unwrap_or_default();
            let score = part.iter().map(|f| f.score).fold(0.0, f32::max);
            if this > rank || (this == rank && this > 0 && score > judgement.confidence) {
                rank = this;
                judgement.verdict = verdict;
                judgement.confidence = score.min(1.0);
                judgement.reason = (verdict != Truth::True)
                    .then(|| {
                        part.iter()
                            .find(|f| !f.supports)
                            .map(|f| self.reason(reading, f))
                    })
                    .flatten();
            }
        }
        for finding in findings {
            let list = if finding.supports {
                &mut judgement.supporting
            } else {
                &mut judgement.opposing
            };
            if !list.contains(&finding.fact) {
                list.push(finding.fact);
            }
        }
        judgement.supporting.sort_unstable();
        judgement.opposing.sort_unstable();
        if judgement.verdict == Truth::Neither {
            judgement.reason = Some(match weak {
                Some(f) if f.modality != Modality::Asserted || !asserted => {
                    format!(
                        "{}, but the text does not assert it",
                        self.reason(reading, f)
                    )
                }
                Some(f) => format!(
                    "{}, but the sentence can be read otherwise",
                    self.reason(reading, f)
                ),
                None => "no statement bears on it".to_string(),
            });
        }
        judgement
    }

    fn reason(&self, reading: &Reading<'_>, finding: &Finding) -> String {
        let fact = &self.facts[finding.fact];
        let told = told(fact);
        match finding.why {
            Why::OtherFiller => {
                format!(
                    "the text gives \u{201c}{}\u{201d}, the statement is: {told}",
                    text_of(reading, &finding.object)
                )
            }
            Why::Reversed => {
                format!("the text has it the other way round; the statement is: {told}")
            }
            Why::Exclusive => format!("both cannot hold; the statement is: {told}"),
            Why::OppositePolarity if finding.negative => {
                format!("the text denies the statement: {told}")
            }
            _ => format!("the statement is: {told}"),
        }
    }
}

fn told(fact: &Fact) -> String {
    let not = if fact.polarity == Polarity::Negative {
        "not: "
    } else {
        ""
    };
    format!(
        "{not}{} – {} – {}",
        fact.subject, fact.predicate, fact.object
    )
}

fn text_of<'a>(reading: &Reading<'a>, mention: &Mention) -> &'a str {
    reading
        .text
        .get(span_of(reading, mention))
        .unwrap_or_default()
}

fn span_of(reading: &Reading<'_>, mention: &Mention) -> Range<usize> {
    reading.tokens[mention.first].token.span.start..reading.tokens[mention.last].token.span.end
}

/// The two mentions of a finding as stretches of the text.
struct Pair {
    sentence: usize,
    subject: Range<usize>,
    object: Range<usize>,
}

impl Pair {
    fn new(reading: &Reading<'_>, finding: &Finding) -> Pair {
        Pair {
            sentence: reading.tokens[finding.object.first].sentence,
            subject: span_of(reading, &finding.subject),
            object: span_of(reading, &finding.object),
        }
    }

    /// The claim that is about both, the object of one being the subject of the other or not.
    fn claim(&self, claims: &[Claim]) -> Option<usize> {
        let score = |c: &Claim| {
            let meets = |t: &Term, r: &Range<usize>| t.span.start < r.end && r.start < t.span.end;
            let holds = |t: &Term, r: &Range<usize>| {
                meets(t, r) || t.antecedent.as_ref().is_some_and(|a| meets(a, r))
            };
            let object = |r| c.object.as_ref().is_some_and(|o| meets(o, r));
            let argument = |r| c.arguments.iter().any(|a| meets(&a.term, r));
            match () {
                _ if c.sentence != self.sentence => 0,
                _ if holds(&c.subject, &self.subject) && object(&self.object) => 3,
                _ if holds(&c.subject, &self.object) && object(&self.subject) => 3,
                _ if (holds(&c.subject, &self.subject) || object(&self.subject))
                    && (object(&self.object) || argument(&self.object)) =>
                {
                    2
                }
                _ if (holds(&c.subject, &self.object) || object(&self.object))
                    && argument(&self.subject) =>
                {
                    2
                }
                _ => 0,
            }
        };
        let ranked = claims.iter().enumerate().map(|(i, c)| {
            (
                score(c),
                std::cmp::Reverse(c.span.len()),
                std::cmp::Reverse(i),
            )
        });
        ranked.filter(|r| r.0 > 0).max().map(|r| r.2.0)
    }

    fn own(&self, reading: &Reading<'_>, finding: &Finding) -> Claim {
        let span = self.subject.start.min(self.object.start)..self.subject.end.max(self.object.end);
        let start = reading.starts[self.sentence];
        let words: Vec<String> = finding
            .by
            .map(|t| reading.lemma(t).lemma.clone())
            .into_iter()
            .collect();
        let lemma = words.first().cloned().unwrap_or_else(|| "be".into());
        Claim {
            text: reading
                .text
                .get(span.clone())
                .unwrap_or_default()
                .to_string(),
            span,
            sentence: self.sentence,
            clause: finding.by.unwrap_or(finding.object.first) - start + 1,
            subject: term(reading, &finding.subject),
            predicate: Predicate {
                text: lemma.clone(),
                words: if words.is_empty() {
                    vec!["be".into()]
                } else {
                    words
                },
                lemma,
                preposition: None,
                passive: false,
                inverted: false,
                copular: finding.by.is_none(),
            },
            object: Some(term(reading, &finding.object)),
            arguments: Vec::new(),
            polarity: if finding.negative {
                Polarity::Negative
            } else {
                Polarity::Positive
            },
            modality: finding.modality,
            kind: ClauseKind::Verbal,
            margin: finding.margin,
            fragile: finding.fragile,
        }
    }
}

fn term(reading: &Reading<'_>, mention: &Mention) -> Term {
    let head = reading.head_of(mention.first, mention.last);
    let node = &reading.tokens[head];
    let words = (mention.first..=mention.last)
        .filter(|&t| {
            !matches!(
                reading.tokens[t].token.upos,
                Upos::Punct | Upos::Det | Upos::Adp
            )
        })
        .map(|t| reading.lemma(t).lemma.clone())
        .collect();
    Term {
        text: text_of(reading, mention).to_string(),
        span: span_of(reading, mention),
        head: reading.lemma(head).lemma.clone(),
        words,
        kind: match node.token.upos {
            Upos::Propn => TermKind::Name,
            Upos::Pron => TermKind::Pronoun,
            Upos::Num => TermKind::Value,
            _ => TermKind::Common,
        },
        value: None,
        antecedent: None,
        token: head - reading.starts[node.sentence] + 1,
    }
}
