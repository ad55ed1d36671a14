//! Performs what the flow engine asks for, and remembers it: claims executions, folds their journals, runs nodes,
//! appends outcomes before it acts on them.
//!
//! It decides nothing about the order of work (that is `qadra-flow`) and nothing about who may do what (that is
//! `qadra-app`); it meets the use cases in PostgreSQL and on the bus. Entry type: [`Worker`].

mod children;
pub mod egress;
mod fair;
pub mod nodes;
mod run;
mod settings;
mod worker;
mod writer;

pub use qadra_flow::Limits;
pub use settings::Settings;
pub use worker::{Running, WAKE, Worker};
