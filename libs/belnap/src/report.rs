//! The verdicts on a text as programs and screens read them.

use serde::Serialize;

use crate::claim::{Claim, Judgement, Modality, Polarity};
use crate::truth::Truth;

/// What was found, claim by claim. Only a contradicted claim fails the gate: a claim without evidence is told, not
/// punished.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    pub passed: bool,
    pub counts: Counts,
    pub claims: Vec<ReportedClaim>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    pub grounded: usize,
    pub contradicted: usize,
    pub contested: usize,
    pub ungrounded: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Grounded,
    Contradicted,
    Contested,
    Ungrounded,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportedClaim {
    pub text: String,
    /// Unicode code points of the text, the end not included.
    pub span: [usize; 2],
    pub subject: String,
    pub predicate: String,
    pub object: Option<String>,
    pub polarity: Polarity,
    pub modality: Modality,
    pub verdict: Verdict,
    /// What supports the claim, by the names that the caller gave.
    pub triple_ids: Vec<String>,
    /// What opposes it.
    pub against: Vec<String>,
    pub confidence: f32,
    /// Nats; how sure the parser was of the claim. Nothing when nothing could have been read otherwise.
    pub margin: Option<f32>,
    pub reason: Option<String>,
}

impl From<Truth> for Verdict {
    fn from(truth: Truth) -> Self {
        match truth {
            Truth::True => Verdict::Grounded,
            Truth::False => Verdict::Contradicted,
            Truth::Both => Verdict::Contested,
            Truth::Neither => Verdict::Ungrounded,
        }
    }
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Grounded => "grounded",
            Verdict::Contradicted => "contradicted",
            Verdict::Contested => "contested",
            Verdict::Ungrounded => "ungrounded",
        }
    }
}

impl Report {
    /// `name` gives the id of the fact or sentence with an index that a [`Judgement`] holds; an index without one
    /// is left out.
    pub fn new(
        text: &str,
        judged: &[(Claim, Judgement)],
        name: impl Fn(usize) -> Option<String>,
    ) -> Report {
        let mut counts = Counts::default();
        let mut points = CodePoints::default();
        let mut order: Vec<&(Claim, Judgement)> = judged
            .iter()
            .filter(|one| !judged.iter().any(|other| tells_for(other, one)))
            .collect();
        order.sort_by_key(|(c, _)| (c.span.start, c.span.end));
        let claims: Vec<ReportedClaim> = order
            .into_iter()
            .map(|(claim, judgement)| {
                let verdict = Verdict::from(judgement.verdict);
                match verdict {
                    Verdict::Grounded => counts.grounded += 1,
                    Verdict::Contradicted => counts.contradicted += 1,
                    Verdict::Contested => counts.contested += 1,
                    Verdict::Ungrounded => counts.ungrounded += 1,
                }
                let start = points.before(text, claim.span.start);
                let length = text
                    .get(claim.span.clone())
                    .map_or(0, |s| s.chars().count());
                ReportedClaim {
                    text: claim.text.clone(),
                    span: [start, start + length],
                    subject: claim.subject.referent().text.clone(),
                    predicate: claim.predicate.text.clone(),
                    object: claim.object.as_ref().map(|o| o.referent().text.clone()),
                    polarity: claim.polarity,
                    modality: claim.modality,
                    verdict,
                    triple_ids: judgement
                        .supporting
                        .iter()
                        .filter_map(|&i| name(i))
                        .collect(),
                    against: judgement.opposing.iter().filter_map(|&i| name(i)).collect(),
                    confidence: judgement.confidence,
                    margin: claim.margin.is_finite().then_some(claim.margin),
                    reason: judgement.reason.clone(),
                }
            })
            .collect();
        Report {
            passed: counts.contradicted == 0,
            counts,
            claims,
        }
    }
}

/// "Its CEO is Tim Cook" is read as (Tim Cook; is CEO of; it) and as (its CEO; is; Tim Cook). Where one reading has a
/// verdict, the other's lack of evidence says nothing.
fn tells_for((one, found): &(Claim, Judgement), (other, lacking): &(Claim, Judgement)) -> bool {
    lacking.verdict == Truth::Neither
        && found.verdict != Truth::Neither
        && one.predicate.copular
        && other.predicate.copular
        && (one.sentence, one.clause, &one.span) == (other.sentence, other.clause, &other.span)
}

/// Counts characters from where it stopped, so that ascending offsets cost one pass over the text.
#[derive(Default)]
struct CodePoints {
    bytes: usize,
    chars: usize,
}

impl CodePoints {
    fn before(&mut self, text: &str, at: usize) -> usize {
        if let Some(more) = text.get(self.bytes..at) {
            self.bytes = at;
            self.chars += more.chars().count();
        }
        self.chars
    }
}
