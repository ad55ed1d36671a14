//! Scores of what Qadra works out by rule: the parser, claims, verdicts, grounding. Each score comes with the number
//! of cases behind it and, where there is one, with a baseline on the same cases.
//!
//! It ships with nothing and never touches the network. Entry types: [`parser::score`], [`verify::score`].

pub mod claims;
pub mod grounding;
pub mod parser;
pub mod verify;
