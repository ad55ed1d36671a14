//! The engine: an execution's state, as the fold of its journal.
//!
//! ```text
//!  Entry ──► Run::apply ──► Step { actions, progress }
//!                 ▲                    │
//!      journal ───┘    worker performs, appends the outcome, applies it
//! ```
//!
//! Nodes wait on edges. An edge is undecided, *live* or *dead*; a node starts when all its incoming edges are decided
//! and one is live, and is skipped when all are dead, which makes its own edges dead (dead-path elimination, as in
//! WS-BPEL 2.0, 11.6.2). So an AND-join needs no polling, and a node that a taken branch also reaches is never
//! skipped. Each step costs what it touches: the edges of the nodes that ended, and nothing that grows with the run.
//!
//! Only outcomes are journaled. What follows from them – that a node has started, an iteration begun, a retry is due,
//! a Loop has ended – is worked out again by whoever folds the journal, and comes out the same.

mod event;
mod fail;
mod pure;
mod record;
mod rerun;
mod scope;
mod step;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

pub use event::{Action, Entry, Event, NodeError, Progress, Step};
pub use pure::Batch;
pub use record::{Record, RecordError};
pub use rerun::{RerunError, rerun};
pub use scope::Request;

use crate::{Graph, NodeRef};

/// Bounds on one execution.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Nodes that may start, iterations counted one by one.
    pub steps: u32,
    /// Iterations of one Loop, whatever its `max_iterations` says.
    pub iterations: u32,
    /// Iterations at once of a Loop with `parallel: true`.
    pub parallel: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 10_000,
            iterations: 10_000,
            parallel: 10,
        }
    }
}

/// Where an execution stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    Pending,
    Running,
    /// Nothing moves before a person answers.
    Paused,
    Completed,
    Failed,
    Cancelled,
}

impl RunStatus {
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Where a node stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeStatus {
    #[default]
    Pending,
    Running,
    WaitingForInput,
    Completed,
    Failed,
    Skipped,
    Cancelled,
}

impl NodeStatus {
    fn is_final(self) -> bool {
        !matches!(self, Self::Pending | Self::Running | Self::WaitingForInput)
    }
}

/// A node in a scope: index of the scope, place of the node in its region.
type Inst = (usize, usize);

/// One execution.
#[derive(Debug, Clone)]
pub struct Run {
    graph: Arc<Graph>,
    limits: Limits,
    /// Keeps what each node was given, for showing it; a worker has no use for that.
    keep_inputs: bool,
    input: Arc<Value>,
    status: RunStatus,
    error: Option<(Option<NodeRef>, NodeError)>,
    /// The first one is the top scope; the others are iterations.
    scopes: Vec<Scope>,
    /// Nodes that have started and not ended, Loops left out.
    live: BTreeSet<Inst>,
    timers: BTreeSet<(i64, Inst)>,
    /// Pure nodes that are ready, in the order they became so.
    to_evaluate: BTreeMap<u64, Inst>,
    steps: u32,
    /// Of the last entry.
    seq: u32,
    /// Of the last progress event.
    progress_seq: u32,
    started_at: Option<i64>,
    ended_at: Option<i64>,
    /// What the last End collected.
    output: Option<Arc<Value>>,
    /// Whether readers have been told that it is paused.
    said_paused: bool,
}

#[derive(Debug, Clone)]
struct Scope {
    region: usize,
    /// The Loop it is an iteration of, and which.
    of: Option<(Inst, u32)>,
    vars: BTreeMap<String, Arc<Value>>,
    /// Keys of `vars` in the order of writing; a key written again stands twice.
    written: Vec<String>,
    nodes: Vec<NodeState>,
    /// Nodes that have not ended.
    open: usize,
    /// What failed in it and was continued from.
    errors: Vec<(NodeRef, NodeError)>,
    closed: bool,
}

#[derive(Debug, Clone, Default)]
struct NodeState {
    status: NodeStatus,
    decided: u32,
    live: u32,
    attempt: u32,
    started_at: Option<i64>,
    ended_at: Option<i64>,
    input: Option<Arc<Value>>,
    output: Option<Arc<Value>>,
    error: Option<NodeError>,
    /// When a delay ends, a retry begins or a deadline passes.
    due: Option<i64>,
    /// Of the progress event that told of its start.
    progress_seq: u32,
    order: u64,
    looping: Option<Box<Looping>>,
}

#[derive(Debug, Clone)]
struct Looping {
    items: Vec<Value>,
    parallel: usize,
    running: usize,
    /// The scope of each iteration that has begun.
    scopes: Vec<usize>,
    results: Vec<Value>,
    errors: Vec<(u32, NodeRef, NodeError)>,
}

/// Why an entry does not fit the state. The journal is damaged, or two writers shared it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    #[error("entry {got} follows entry {last}")]
    Order { last: u32, got: u32 },
    #[error("the execution has ended ({0:?})")]
    Ended(RunStatus),
    #[error("node {0} is not in this execution")]
    UnknownNode(String),
    #[error("node {node} is {status:?}, which {event} does not fit")]
    Node {
        node: String,
        status: NodeStatus,
        event: &'static str,
    },
    #[error("attempt {got} of node {node} is recorded while attempt {now} runs")]
    Attempt { node: String, now: u32, got: u32 },
}

impl Run {
    /// An execution to which nothing has happened. An `input` that is no object is seen by the nodes as `input`.
    pub fn new(graph: Arc<Graph>, input: Value, limits: Limits) -> Self {
        Self {
            graph,
            limits,
            keep_inputs: false,
            input: Arc::new(input),
            status: RunStatus::Pending,
            error: None,
            scopes: Vec::new(),
            live: BTreeSet::new(),
            timers: BTreeSet::new(),
            to_evaluate: BTreeMap::new(),
            steps: 0,
            seq: 0,
            progress_seq: 0,
            started_at: None,
            ended_at: None,
            output: None,
            said_paused: false,
        }
    }

    /// Keeps what each node was given, so that [`Run::view`] can show it.
    #[must_use]
    pub fn keeping_inputs(mut self) -> Self {
        self.keep_inputs = true;
        self
    }

    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    pub fn status(&self) -> RunStatus {
        self.status
    }

    /// Of the last entry applied; 0 before the first.
    pub fn seq(&self) -> u32 {
        self.seq
    }

    /// Of the last progress event that the entries so far gave.
    pub fn progress_seq(&self) -> u32 {
        self.progress_seq
    }

    /// Nodes started, iterations counted one by one.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Why it failed or was cancelled.
    pub fn error(&self) -> Option<String> {
        self.error.as_ref().map(|(node, error)| match node {
            Some(node) => {
                let label = self
                    .graph
                    .index(&node.id)
                    .map(|n| &self.graph.node(n).label);
                let label = label.unwrap_or(&node.id);
                format!("{label} failed: {}", error.message)
            }
            None => error.message.clone(),
        })
    }

    /// What the End nodes collected, once it is completed.
    pub fn output(&self) -> Option<&Arc<Value>> {
        self.output.as_ref()
    }

    /// The earliest moment at which something is due, in milliseconds since the epoch.
    pub fn next_timer(&self) -> Option<i64> {
        self.timers.first().map(|&(at, _)| at)
    }

    fn node_of(&self, (scope, place): Inst) -> usize {
        self.graph.regions()[self.scopes[scope].region].nodes[place]
    }

    fn state(&self, (scope, place): Inst) -> &NodeState {
        &self.scopes[scope].nodes[place]
    }

    fn state_mut(&mut self, (scope, place): Inst) -> &mut NodeState {
        &mut self.scopes[scope].nodes[place]
    }

    /// The name of a node in its scope.
    fn name(&self, inst: Inst) -> NodeRef {
        let mut path = Vec::new();
        let mut scope = inst.0;
        while let Some((owner, iteration)) = self.scopes[scope].of {
            path.push((self.graph.node(self.node_of(owner)).id.clone(), iteration));
            scope = owner.0;
        }
        path.reverse();
        NodeRef {
            id: self.graph.node(self.node_of(inst)).id.clone(),
            path,
        }
    }

    /// The attempt that runs, or ran last; None if there is no such node.
    pub fn attempt(&self, node: &NodeRef) -> Option<u32> {
        self.find(node).map(|inst| self.state(inst).attempt)
    }

    /// Whether that attempt is under way, as far as the journal says.
    pub fn is_under_way(&self, node: &NodeRef, attempt: u32) -> bool {
        self.find(node).is_some_and(|inst| {
            let state = self.state(inst);
            state.status == NodeStatus::Running && state.attempt == attempt
        })
    }

    fn find(&self, node: &NodeRef) -> Option<Inst> {
        let mut scope = 0;
        for (id, iteration) in &node.path {
            let owner = self.place_in(scope, id)?;
            let looping = self.state((scope, owner)).looping.as_ref()?;
            scope = *looping.scopes.get(*iteration as usize)?;
        }
        Some((scope, self.place_in(scope, &node.id)?))
    }

    fn place_in(&self, scope: usize, id: &str) -> Option<usize> {
        let node = self.graph.node(self.graph.index(id)?);
        (node.region == self.scopes.get(scope)?.region).then_some(node.place)
    }

    /// The blackboard at the top.
    pub fn blackboard(&self) -> Map<String, Value> {
        let vars = self.scopes.first().map(|s| &s.vars);
        let vars = vars.into_iter().flatten();
        vars.map(|(k, v)| (k.clone(), Value::clone(v))).collect()
    }
}
