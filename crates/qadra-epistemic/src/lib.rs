//! Grounding: what a tenant's knowledge graph can say to a question, and an answer in English made from it.
//!
//! Pure: no I/O, no clock, no database, no async; values in, values out. It never panics on any text, and never states
//! what no triple states. The caller looks names up and fetches the neighbourhood. Entry type: [`Question`].
//! Rules and formulas: `docs/grounding.md`.

mod answer;
mod asked;
mod assess;
mod chart;
mod contradiction;
mod coverage;
pub mod curvature;
mod evaluation;
mod fuzzy;
mod gate;
mod lexicon;
mod local;
mod message;
mod missing;
mod number;
mod object;
mod phrase;
mod question;
mod text;
mod triple;

pub use answer::{Answer, Citation, compose_answer, compose_answer_in};
pub use assess::{Assessment, Competence, Gap, GapKind, Options, RankedTriple};
pub use chart::{ChartSpec, chart_from_facts, chart_from_facts_in};
pub use contradiction::{Contradiction, PredicateFacts, PredicateInfo, contradictions, undecided};
pub use evaluation::{Mean, recall_at, reciprocal_rank};
pub use gate::{
    AttributedEdge, Attribution, AttributionOptions, GateConfig, GroundingOracle, Method,
    UngroundedClaim, VerificationGateResult, attribute, deletion_auc, verify_response_rule_based,
};
pub use local::{LocalGraph, edge_curvatures};
pub use message::{DEFAULT_BUDGET, system_message, system_message_within};
pub use number::Decimal;
pub use object::{Likeness, Object, ObjectError, Parsed};
pub use question::{Found, Match, Mention, NameHit, NameTarget, PredicateMention, Question};
pub use text::{identity_key, normalize_label, predicate_keys};
pub use triple::{Kind, NodeRef, Polarity, Triple};
