//! Batch evaluation: labelled cases in, labels out, one JSON object a line.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::claim::{Claim, Judgement, Polarity};
use crate::truth::Truth;

/// A text with statements or an evidence text to hold it against.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    pub id: String,
    pub text: String,
    #[serde(default)]
    pub context: Vec<Statement>,
    #[serde(default)]
    pub functional: HashSet<String>,
    #[serde(default)]
    pub evidence: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Statement {
    pub subject: String,
    pub predicate: String,
    pub object: String,
    #[serde(default)]
    pub polarity: Polarity,
}

#[derive(Debug, Clone, Serialize)]
pub struct Prediction {
    pub id: String,
    pub label: Truth,
    pub claims: Vec<Judged>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Judged {
    #[serde(flatten)]
    pub claim: Claim,
    #[serde(flatten)]
    pub judgement: Judgement,
}

/// The label of a text: contradicted if any claim is, else contested if any is, else grounded if any is. This is
/// not a conjunction: in Belnap's logic Both ∧ Neither is False.
pub fn label(verdicts: impl IntoIterator<Item = Truth>) -> Truth {
    let seen: Vec<Truth> = verdicts.into_iter().collect();
    [Truth::False, Truth::Both, Truth::True]
        .into_iter()
        .find(|t| seen.contains(t))
        .unwrap_or_default()
}

impl Case {
    pub fn judge(&self, parser: &ud::Parser) -> Prediction {
        let judged = match &self.evidence {
            Some(evidence) => {
                let evidence = crate::evidence::Evidence::new(parser, evidence);
                crate::evidence::verify_against(parser, &self.text, &evidence)
            }
            None => {
                let facts = self.context.iter().map(|s| crate::graph::Fact {
                    subject: s.subject.clone(),
                    predicate: s.predicate.clone(),
                    object: s.object.clone(),
                    polarity: s.polarity,
                    confidence: 1.0,
                    ..Default::default()
                });
                let rules = crate::graph::Rules {
                    functional: self.functional.clone(),
                    ..Default::default()
                };
                let graph = crate::graph::Graph::new(facts.collect(), rules);
                crate::graph::verify(parser, &self.text, &graph)
            }
        };
        Prediction {
            id: self.id.clone(),
            label: label(judged.iter().map(|(_, j)| j.verdict)),
            claims: judged
                .into_iter()
                .map(|(claim, judgement)| Judged { claim, judgement })
                .collect(),
        }
    }
}
