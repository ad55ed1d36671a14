//! The rule-based gate: what an answer says, held against the triples that it was given.
//!
//! It knows no grammar. Names, numbers and dates of a clause are the ends of the triples that the clause implies, the
//! words beside them the predicate. It is therefore strict where the context says otherwise and mild where the lexicon
//! does not know a verb. Definitions: `docs/verification.md`.

mod attribution;
mod claims;
mod clauses;
mod context;
mod fit;
mod items;
mod judge;
mod ridge;
mod value;

pub use attribution::{
    AttributedEdge, Attribution, AttributionOptions, GroundingOracle, Method, attribute,
    deletion_auc,
};

use serde::{Deserialize, Serialize};

use uuid::Uuid;

use crate::question::Mention;
use crate::triple::{Triple, short_float};

/// What the gate found; the value of `verification` in an assistant message's metadata.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerificationGateResult {
    /// Whether enough of the claims are grounded ([`GateConfig::min_grounded`]).
    pub passed: bool,
    /// R² of the attribution where it was not fitted, 0 to 1.
    #[serde(serialize_with = "short_float")]
    pub fidelity: f32,
    /// Share of the claims that are grounded, and no longer are without the triples that they are attributed to.
    #[serde(serialize_with = "short_float")]
    pub faithfulness: f32,
    pub attributions: Vec<AttributedEdge>,
    pub ungrounded_claims: Vec<UngroundedClaim>,
    /// Why it did not pass, or why there was nothing to check.
    pub reason: Option<String>,
    pub method: Method,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UngroundedClaim {
    pub text: String,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct GateConfig {
    /// Share of the claims that must be grounded, 0 to 1.
    pub min_grounded: f32,
    /// At most so many claims are read.
    pub max_claims: usize,
    /// Other names of the triples' nodes that an answer may use.
    pub aliases: Vec<(String, Uuid)>,
    pub attribution: AttributionOptions,
}

impl Default for GateConfig {
    fn default() -> Self {
        Self {
            min_grounded: 1.0,
            max_claims: 200,
            aliases: Vec::new(),
            attribution: AttributionOptions::default(),
        }
    }
}

impl GateConfig {
    /// The defaults, with the names that the question used for the nodes it is about.
    pub fn for_mentions(mentions: &[Mention]) -> Self {
        Self {
            aliases: mentions
                .iter()
                .map(|mention| (mention.text.clone(), mention.node_id))
                .collect(),
            ..Self::default()
        }
    }
}

/// Checks every triple that an answer implies against the context triples. `None` where there are none: an answer
/// without context is not held against anything.
///
/// Reads the answer's first 400 sentences. Deterministic; never panics on any text.
pub fn verify_response_rule_based(
    response: &str,
    triples: &[Triple],
    config: &GateConfig,
) -> Option<VerificationGateResult> {
    if triples.is_empty() {
        return None;
    }
    let context = context::Context::of(triples, &config.aliases);
    let claims = claims::claims(response, &context, config.max_claims);
    let texts: Vec<String> = claims.iter().map(|claim| claim.text.clone()).collect();
    let oracle = |present: &[bool]| -> Vec<f32> {
        claims
            .iter()
            .map(|claim| {
                claim
                    .supports
                    .iter()
                    .filter(|(at, _)| present.get(*at) == Some(&true))
                    .map(|(_, strength)| *strength)
                    .fold(0.0, f32::max)
            })
            .collect()
    };
    let attribution = attribute(&texts, triples, &oracle, &config.attribution);
    let ungrounded: Vec<UngroundedClaim> = claims
        .iter()
        .zip(&attribution.grounding)
        .filter(|(_, grounding)| **grounding < config.attribution.grounded_from)
        .map(|(claim, _)| UngroundedClaim {
            text: claim.text.clone(),
            reason: claim.reason.clone(),
        })
        .collect();
    let grounded = claims.len() - ungrounded.len();
    let share = if claims.is_empty() {
        1.0
    } else {
        (crate::curvature::count(grounded) / crate::curvature::count(claims.len())) as f32
    };
    let passed = share >= config.min_grounded;
    let reason = if claims.is_empty() {
        Some("the answer states nothing that could be checked".to_owned())
    } else if passed {
        None
    } else {
        Some(format!(
            "{} of {} claims are not grounded in the context",
            ungrounded.len(),
            claims.len()
        ))
    };
    Some(VerificationGateResult {
        passed,
        fidelity: attribution.fidelity,
        faithfulness: attribution.faithfulness,
        attributions: attribution.edges,
        ungrounded_claims: ungrounded,
        reason,
        method: attribution.method,
    })
}
