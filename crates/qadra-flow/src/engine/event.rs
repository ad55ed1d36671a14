use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::RunStatus;
use crate::NodeRef;

/// Why a node failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeError {
    /// A stable word: `timeout`, `http_status`, `deadline`, `step_limit`, …
    pub code: String,
    /// For people.
    pub message: String,
    /// Whether another attempt may go better.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retryable: bool,
    /// How long the other side asked us to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

impl NodeError {
    /// One that no further attempt would mend.
    pub fn fatal(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
            retryable: false,
            retry_after: None,
        }
    }
}

/// What happened, as the journal keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    Started,
    /// A node has ended well. `output` is absent where the state and the node determine it (Start, End, a Loop
    /// without a body).
    Completed {
        node: NodeRef,
        attempt: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Arc<Value>>,
        /// Of a Condition.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        route: Option<bool>,
        /// When the attempt began, in milliseconds since the epoch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        began: Option<i64>,
    },
    /// An attempt has failed. Whether another follows is the engine's to say.
    Failed {
        node: NodeRef,
        attempt: u32,
        error: NodeError,
    },
    /// A person has answered.
    Input {
        node: NodeRef,
        value: Arc<Value>,
        by: Option<Uuid>,
    },
    /// The deadline of a node that waits for a person has passed.
    Timer {
        node: NodeRef,
    },
    Cancelled {
        by: Option<Uuid>,
        reason: String,
    },
}

impl Event {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Input { .. } => "input",
            Self::Timer { .. } => "timer",
            Self::Cancelled { .. } => "cancelled",
        }
    }

    pub fn node(&self) -> Option<&NodeRef> {
        match self {
            Self::Completed { node, .. }
            | Self::Failed { node, .. }
            | Self::Input { node, .. }
            | Self::Timer { node } => Some(node),
            Self::Started | Self::Cancelled { .. } => None,
        }
    }
}

/// One line of an execution's journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// From 1, without gaps.
    pub seq: u32,
    /// When it was written, in milliseconds since the epoch. Delays, retries and deadlines count from here.
    pub at: i64,
    pub event: Event,
}

/// What whoever runs the execution is to do, once the entries that led to it are durable.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// An attempt at a node with an outside effect, not before `not_before`.
    Perform {
        node: NodeRef,
        attempt: u32,
        not_before: i64,
    },
    /// Record that the node has completed, at `until` and not earlier.
    Wait { node: NodeRef, until: i64 },
    /// A person is asked; at `deadline` the timer is recorded.
    AskPerson {
        node: NodeRef,
        deadline: Option<i64>,
    },
    /// Another flow is to run; its end is recorded as the node's.
    StartChild {
        node: NodeRef,
        attempt: u32,
        not_before: i64,
    },
    /// What runs for this node is of no use any more.
    Abort { node: NodeRef },
    /// The execution has ended.
    Finish { status: RunStatus },
}

/// Something that readers are told. `seq` counts from 1 and is the same whenever the journal is folded.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    pub seq: u32,
    pub event: &'static str,
    pub data: Value,
    /// Of the entry that led to it.
    pub at: i64,
}

/// What an entry led to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    pub actions: Vec<Action>,
    pub progress: Vec<Progress>,
}
