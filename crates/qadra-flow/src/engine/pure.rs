//! Nodes whose outcome the engine computes, and recording them together with what led to them.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::event::{Action, Entry, Event, Progress};
use super::step::attempt_of;
use super::{ApplyError, Inst, NodeStatus, Run};
use crate::{NodeKind, NodeRef};

/// An event with all that follows from it without the outside: one commit.
#[derive(Debug, Default)]
pub struct Batch {
    pub entries: Vec<Entry>,
    /// To be acted on when the entries are durable.
    pub actions: Vec<Action>,
    pub progress: Vec<Progress>,
}

impl Run {
    /// Applies an event, then every pure node that becomes ready, one entry each.
    pub fn record(&mut self, event: Event, at: i64) -> Result<Batch, ApplyError> {
        let mut batch = Batch::default();
        self.push(event, at, &mut batch)?;
        self.settle(at, &mut batch)?;
        Ok(batch)
    }

    /// Evaluates what is ready. Of use to a worker that takes over; [`Run::record`] leaves nothing ready.
    pub fn settle(&mut self, at: i64, batch: &mut Batch) -> Result<(), ApplyError> {
        while let Some((_, &inst)) = self.to_evaluate.first_key_value() {
            let event = self.evaluate(inst);
            self.push(event, at, batch)?;
        }
        Ok(())
    }

    fn push(&mut self, event: Event, at: i64, batch: &mut Batch) -> Result<(), ApplyError> {
        let entry = Entry {
            seq: self.seq + 1,
            at,
            event,
        };
        let step = self.apply(&entry)?;
        batch.entries.push(entry);
        batch.actions.extend(step.actions);
        batch.progress.extend(step.progress);
        Ok(())
    }

    /// Everything that is under way: what a worker does that takes the execution over.
    pub fn outstanding(&self) -> Vec<Action> {
        let of = |&inst: &Inst| -> Option<Action> {
            let state = self.state(inst);
            let node = self.name(inst);
            let kind = self.graph.node(self.node_of(inst)).kind;
            let begun = state.started_at.unwrap_or_default();
            match (kind, state.status) {
                (NodeKind::Delay, _) => Some(Action::Wait {
                    node,
                    until: state.due.unwrap_or(begun),
                }),
                (_, NodeStatus::WaitingForInput) => Some(Action::AskPerson {
                    node,
                    deadline: state.due,
                }),
                (kind, _) if kind.is_pure() || kind == NodeKind::Loop => None,
                (kind, _) => {
                    let not_before = state.due.unwrap_or(begun);
                    Some(attempt_of(kind, node, state.attempt, not_before))
                }
            }
        };
        self.live.iter().filter_map(of).collect()
    }

    fn evaluate(&self, inst: Inst) -> Event {
        let node = self.graph.node(self.node_of(inst));
        let mut route = None;
        let output = match node.kind {
            NodeKind::Transform => {
                let mappings = node.data.get("mappings").and_then(Value::as_object);
                Some(self.mapped(inst, mappings.unwrap_or(&Map::new())))
            }
            NodeKind::Condition => {
                let met = node
                    .expression
                    .as_ref()
                    .is_some_and(|e| e.eval(&self.view_of(inst)));
                route = Some(met);
                Some(json!({"result": met}))
            }
            _ => None,
        };
        Event::Completed {
            node: self.name(inst),
            attempt: 1,
            output: output.map(Arc::new),
            route,
            began: None,
        }
    }

    /// The output of a node whose entry has none.
    pub(super) fn derived(&self, inst: Inst) -> Value {
        let node = self.graph.node(self.node_of(inst));
        match node.kind {
            NodeKind::Start => Value::clone(&self.input),
            NodeKind::End => {
                let mut state = self.blackboard();
                let keys = node.data.get("output_keys").and_then(Value::as_array);
                if let Some(keys) = keys.filter(|keys| !keys.is_empty()) {
                    let wanted = keys.iter().filter_map(Value::as_str);
                    state = wanted
                        .filter_map(|k| Some((k.to_owned(), state.get(k)?.clone())))
                        .collect();
                }
                Value::Object(state)
            }
            NodeKind::Loop => {
                let items = self.items(inst);
                json!({"iterations": items.len(), "results": items})
            }
            NodeKind::Delay => {
                let ms = self.delay(inst);
                let seconds = if ms % 1000 == 0 {
                    json!(ms / 1000)
                } else {
                    json!(ms as f64 / 1000.0)
                };
                json!({"delayed_seconds": seconds})
            }
            _ => Value::Null,
        }
    }

    /// The event that ends a Delay.
    pub fn delay_over(&self, node: &NodeRef) -> Event {
        Event::Completed {
            node: node.clone(),
            attempt: 1,
            output: None,
            route: None,
            began: None,
        }
    }
}
