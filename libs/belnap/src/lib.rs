//! Claims in English text, and what a body of evidence says about each of them.
//!
//! Text is parsed by [`ud`] and cut into [`Claim`]s by clause rules; each claim is held against a [`Graph`] of
//! statements or against [`Evidence`] in prose, and the outcome is one of the four values of Belnap's logic
//! ([`Truth`]). Pure: no I/O, no clock, no tenant, no model service. It never panics on any text.
//! Definitions and rules: `docs/verification.md`.

mod cases;
mod claim;
mod evidence;
mod extract;
mod graph;
mod lexicon;
mod report;
mod truth;
mod value;

pub use cases::{Case, Prediction};
pub use claim::{
    Argument, Claim, ClauseKind, Judgement, Modality, Polarity, Predicate, Term, TermKind,
};
pub use evidence::{Evidence, verify_against};
pub use extract::{extract, extract_from};
pub use graph::{Fact, Graph, Rules, verify};
pub use report::{Counts, Report, ReportedClaim, Verdict};
pub use truth::Truth;
pub use value::{Bound, PartialDate, Quantity, Relation, Value};
