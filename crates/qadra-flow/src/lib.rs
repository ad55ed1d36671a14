//! Flows as values: the graph that people draw, what may stand in it, and the engine that runs it.
//!
//! Pure: no I/O, no clock, no randomness, no async. A caller that acts (`qadra-runner`) tells the engine what
//! happened, as [`Entry`]s of a journal, and is told what to do next, as [`Action`]s. The state of an execution is
//! the fold of its journal and nothing else, so any process that reads the journal can go on with the work.
//!
//! Entry points: [`Graph::compile`], then [`Run::new`] and [`Run::apply`].

mod catalog;
mod engine;
pub mod expression;
mod finding;
mod graph;
mod kind;
mod layout;
mod node_ref;
mod schema;
pub mod template;
mod validate;

pub use catalog::{Effect, Handle, NodeSpec, catalog, spec_of};
pub use engine::{
    Action, ApplyError, Batch, Entry, Event, Limits, NodeError, NodeStatus, Progress, Record,
    RecordError, Request, RerunError, Run, RunStatus, Step, rerun,
};
pub use finding::{Finding, Severity};
pub use graph::{Edge, Graph, GraphError, Node, OnError, Port, Region};
pub use kind::NodeKind;
pub use layout::{ensure_positions, layout};
pub use node_ref::NodeRef;
pub use validate::validate;
