//! The journal of a new execution that keeps what an old one has done.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::event::{Entry, Event};
use super::{ApplyError, Limits, NodeStatus, Run};
use crate::Graph;

/// Why an execution cannot be run again from there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RerunError {
    #[error("the flow has no node {0:?}")]
    UnknownNode(String),
    #[error("the old execution cannot be read: {0}")]
    Journal(#[from] ApplyError),
}

/// The entries of `old` that a new execution of the same graph and input begins with: those of the nodes that had
/// ended and are neither one of `from` nor follow one. An empty `from` keeps all that ended. A node inside a Loop
/// stands for the outermost Loop around it.
pub fn rerun(
    graph: &Arc<Graph>,
    input: &Value,
    limits: Limits,
    old: &[Entry],
    from: &[&str],
    at: i64,
) -> Result<Vec<Entry>, RerunError> {
    let mut again = HashSet::new();
    for id in from {
        let mut node = graph
            .index(id)
            .ok_or_else(|| RerunError::UnknownNode((*id).to_owned()))?;
        while let Some(owner) = graph.regions()[graph.node(node).region].owner {
            node = owner;
        }
        again.extend(graph.downstream(node));
    }
    let mut run = Run::new(graph.clone(), input.clone(), limits);
    for entry in old {
        run.apply(entry)?;
    }
    let ended: HashSet<&str> = graph.regions()[0]
        .nodes
        .iter()
        .filter(|n| !again.contains(n))
        .map(|&n| graph.node(n))
        .filter(|node| {
            let state = run.scopes.first().map(|s| &s.nodes[node.place]);
            let caught = node.on_error != crate::graph::OnError::Fail;
            state.is_some_and(|s| {
                s.status == NodeStatus::Completed || s.status == NodeStatus::Failed && caught
            })
        })
        .map(|node| node.id.as_str())
        .collect();
    let keep = |event: &Event| match event.node() {
        None => *event == Event::Started,
        Some(node) => {
            let outermost = node.path.first().map_or(&node.id, |(id, _)| id);
            ended.contains(outermost.as_str())
        }
    };
    let kept = old.iter().filter(|e| keep(&e.event)).zip(1..);
    Ok(kept
        .map(|(entry, seq)| Entry {
            seq,
            at,
            event: entry.event.clone(),
        })
        .collect())
}
