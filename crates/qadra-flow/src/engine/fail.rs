//! What a failure does: to the node, to the iteration that holds it, to the execution.

use std::sync::Arc;

use serde_json::json;

use super::event::{Action, NodeError};
use super::step::{Making, Work};
use super::{Inst, NodeStatus, Run, RunStatus};
use crate::graph::{OnError, Port};

impl Run {
    /// The node has failed for good.
    pub(super) fn fail(&mut self, inst: Inst, error: NodeError, making: &mut Making) {
        if self.scopes[inst.0].closed || self.state(inst).status.is_final() {
            return;
        }
        self.clear(inst);
        self.abandon_iterations(inst, making);
        let graph = self.graph.clone();
        let node = graph.node(self.node_of(inst));
        let name = self.name(inst);
        let at = making.at;
        let told = json!({"error": {"code": error.code, "message": error.message}});
        let state = self.state_mut(inst);
        state.status = NodeStatus::Failed;
        state.ended_at = Some(at);
        state.error = Some(error.clone());
        let attempt = state.attempt;
        let mut said = json!({"node_id": node.id, "error": error.message, "code": error.code, "attempt": attempt, "will_retry": false});
        self.mark_instance(&name, &mut said);
        self.say(making, "node_failed", said);
        if node.on_error == OnError::Fail {
            self.fail_scope(inst, error, making);
            return;
        }
        // Later nodes find the failure where they look for the output.
        if let Some(key) = &node.output_key {
            let told = Arc::new(told);
            self.state_mut(inst).output = Some(told.clone());
            self.scopes[inst.0].vars.insert(key.clone(), told);
        }
        self.scopes[inst.0].errors.push((name, error));
        let branch = node.on_error == OnError::Branch;
        self.leave(
            inst,
            |port| match port {
                Port::Error => branch,
                Port::Out => !branch,
                Port::True | Port::False | Port::Body => false,
            },
            making,
        );
    }

    /// A failure that nothing catches at the node itself.
    fn fail_scope(&mut self, inst: Inst, error: NodeError, making: &mut Making) {
        let name = self.name(inst);
        let Some((owner, iteration)) = self.scopes[inst.0].of else {
            self.end(RunStatus::Failed, Some((Some(name), error)), making);
            return;
        };
        self.abandon(inst.0, making);
        let keeps_on = self.graph.node(self.node_of(owner)).on_error == OnError::Continue;
        if let Some(looping) = &mut self.state_mut(owner).looping {
            looping.running = looping.running.saturating_sub(1);
            looping
                .errors
                .push((iteration, name.clone(), error.clone()));
        }
        making.work.push_back(if keeps_on {
            Work::Iterate(owner)
        } else {
            let message = format!("item {iteration}: {}: {}", name.id, error.message);
            Work::Fail(owner, NodeError::fatal(&error.code, message))
        });
    }

    fn abandon_iterations(&mut self, inst: Inst, making: &mut Making) {
        let looping = self.state(inst).looping.as_ref();
        let scopes = looping.map(|l| l.scopes.clone()).unwrap_or_default();
        for scope in scopes {
            self.abandon(scope, making);
        }
    }

    /// Closes a scope and all below it; what runs there is aborted, what has not ended is cancelled.
    pub(super) fn abandon(&mut self, scope: usize, making: &mut Making) {
        let mut open = vec![scope];
        while let Some(scope) = open.pop() {
            if scope >= self.scopes.len() || self.scopes[scope].closed {
                continue;
            }
            self.scopes[scope].closed = true;
            for place in 0..self.scopes[scope].nodes.len() {
                let inst = (scope, place);
                let state = self.state(inst);
                if let Some(looping) = &state.looping {
                    open.extend(&looping.scopes);
                }
                match state.status {
                    NodeStatus::Running | NodeStatus::WaitingForInput => {
                        if self.live.contains(&inst) {
                            let node = self.name(inst);
                            making.step.actions.push(Action::Abort { node });
                        }
                        self.clear(inst);
                        let at = making.at;
                        let state = self.state_mut(inst);
                        state.status = NodeStatus::Cancelled;
                        state.ended_at = Some(at);
                    }
                    NodeStatus::Pending => self.state_mut(inst).status = NodeStatus::Cancelled,
                    _ => {}
                }
            }
        }
    }
}
