//! What follows from an entry: which edges are decided, which nodes start, which iterations and Loops end.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};

use super::event::{Action, Entry, Event, NodeError, Progress, Step};
use super::view::preview;
use super::{ApplyError, Inst, Looping, NodeStatus, Run, RunStatus, Scope};
use crate::graph::Port;
use crate::{NodeKind, NodeRef};

/// What is left to do within a step. A queue and not recursion: a flow may be thousands of nodes long.
pub(super) enum Work {
    Start(Inst),
    Skip(Inst),
    /// All nodes of the scope have ended.
    Close(usize),
    Iterate(Inst),
    Fail(Inst, NodeError),
}

/// A step in the making.
pub(super) struct Making {
    pub at: i64,
    pub step: Step,
    pub work: VecDeque<Work>,
}

/// The longest pause between attempts.
const BACKOFF_MOST: i64 = 60_000;

/// Before attempt `next`, in milliseconds: 1 s, 2 s, 4 s, … No jitter: replaying must give the same moment.
fn backoff(next: u32, asked: Option<u64>) -> i64 {
    let own = 1_000_i64 << next.saturating_sub(2).min(16);
    let asked = asked.map_or(0, |ms| i64::try_from(ms).unwrap_or(i64::MAX));
    own.max(asked).min(BACKOFF_MOST)
}

impl Run {
    /// Takes the next entry of the journal. On an error the state is as it was.
    pub fn apply(&mut self, entry: &Entry) -> Result<Step, ApplyError> {
        if entry.seq != self.seq + 1 {
            return Err(ApplyError::Order {
                last: self.seq,
                got: entry.seq,
            });
        }
        if self.status.is_final()
            || (self.status == RunStatus::Pending) == (entry.event != Event::Started)
        {
            return Err(ApplyError::Ended(self.status));
        }
        let mut making = Making {
            at: entry.at,
            step: Step::default(),
            work: VecDeque::new(),
        };
        match &entry.event {
            Event::Started => self.begin(&mut making),
            Event::Completed {
                node,
                attempt,
                output,
                route,
                began,
            } => {
                let inst = self.expect(node, &entry.event, NodeStatus::Running)?;
                self.same_attempt(inst, node, *attempt)?;
                self.clear(inst);
                if began.is_some() {
                    self.state_mut(inst).started_at = *began;
                }
                let output = match output {
                    Some(output) => output.clone(),
                    None => Arc::new(self.derived(inst)),
                };
                self.complete(inst, output, *route, &mut making);
            }
            Event::Failed {
                node,
                attempt,
                error,
            } => {
                let inst = self.expect(node, &entry.event, NodeStatus::Running)?;
                self.same_attempt(inst, node, *attempt)?;
                self.clear(inst);
                self.attempt_failed(inst, error, &mut making);
            }
            Event::Input { node, value, .. } => {
                let inst = self.expect(node, &entry.event, NodeStatus::WaitingForInput)?;
                self.clear(inst);
                self.complete(inst, value.clone(), None, &mut making);
            }
            Event::Timer { node } => {
                let inst = self.expect(node, &entry.event, NodeStatus::WaitingForInput)?;
                self.clear(inst);
                match self.graph.node(self.node_of(inst)).data.get("default") {
                    Some(default) if !default.is_null() => {
                        let default = Arc::new(default.clone());
                        self.complete(inst, default, None, &mut making);
                    }
                    _ => {
                        let error = NodeError::fatal(
                            "deadline",
                            "nobody answered in time, and there is no default",
                        );
                        making.work.push_back(Work::Fail(inst, error));
                    }
                }
            }
            Event::Cancelled { reason, .. } => {
                let error = NodeError::fatal("cancelled", reason.clone());
                self.end(RunStatus::Cancelled, Some((None, error)), &mut making);
            }
        }
        self.seq = entry.seq;
        self.drain(&mut making);
        self.settle_status(&mut making);
        Ok(making.step)
    }

    fn expect(
        &self,
        node: &NodeRef,
        event: &Event,
        wanted: NodeStatus,
    ) -> Result<Inst, ApplyError> {
        let unknown = || ApplyError::UnknownNode(node.to_string());
        let inst = self.find(node).ok_or_else(unknown)?;
        let status = self.state(inst).status;
        // A Loop runs, and is never told about.
        if status != wanted || self.state(inst).looping.is_some() {
            return Err(ApplyError::Node {
                node: node.to_string(),
                status,
                event: event.name(),
            });
        }
        Ok(inst)
    }

    fn same_attempt(&self, inst: Inst, node: &NodeRef, got: u32) -> Result<(), ApplyError> {
        let now = self.state(inst).attempt;
        if now != got {
            return Err(ApplyError::Attempt {
                node: node.to_string(),
                now,
                got,
            });
        }
        Ok(())
    }

    /// The node no longer runs or waits.
    pub(super) fn clear(&mut self, inst: Inst) {
        self.live.remove(&inst);
        let order = self.state(inst).order;
        self.to_evaluate.remove(&order);
        if let Some(due) = self.state_mut(inst).due.take() {
            self.timers.remove(&(due, inst));
        }
    }

    fn begin(&mut self, making: &mut Making) {
        self.status = RunStatus::Running;
        self.started_at = Some(making.at);
        self.say(making, "flow_started", json!({}));
        let vars = match &*self.input {
            Value::Object(map) => map
                .iter()
                .map(|(k, v)| (k.clone(), Arc::new(v.clone())))
                .collect(),
            Value::Null => [].into(),
            other => [("input".to_owned(), Arc::new(other.clone()))].into(),
        };
        let scope = self.open_scope(0, None, vars);
        let start = self.graph.start();
        for place in 0..self.scopes[scope].nodes.len() {
            let node = self.node_of((scope, place));
            if self.graph.node(node).incoming == 0 {
                let inst = (scope, place);
                making.work.push_back(if node == start {
                    Work::Start(inst)
                } else {
                    Work::Skip(inst)
                });
            }
        }
    }

    pub(super) fn open_scope(
        &mut self,
        region: usize,
        of: Option<(Inst, u32)>,
        vars: std::collections::BTreeMap<String, Arc<Value>>,
    ) -> usize {
        let size = self.graph.regions()[region].nodes.len();
        self.scopes.push(Scope {
            region,
            of,
            written: vars.keys().cloned().collect(),
            vars,
            nodes: vec![super::NodeState::default(); size],
            open: size,
            errors: Vec::new(),
            closed: false,
        });
        self.scopes.len() - 1
    }

    pub(super) fn drain(&mut self, making: &mut Making) {
        while let Some(work) = making.work.pop_front() {
            if self.status.is_final() {
                making.work.clear();
                return;
            }
            match work {
                Work::Start(inst) => self.start(inst, making),
                Work::Skip(inst) => self.skip(inst, making),
                Work::Close(scope) => self.close(scope, making),
                Work::Iterate(inst) => self.iterate(inst, making),
                Work::Fail(inst, error) => self.fail(inst, error, making),
            }
        }
    }

    fn start(&mut self, inst: Inst, making: &mut Making) {
        if self.scopes[inst.0].closed {
            return;
        }
        if self.steps >= self.limits.steps {
            let error = NodeError::fatal(
                "step_limit",
                format!(
                    "the execution reached its limit of {} steps",
                    self.limits.steps
                ),
            );
            let node = Some(self.name(inst));
            self.end(RunStatus::Failed, Some((node, error)), making);
            return;
        }
        self.steps += 1;
        let graph = self.graph.clone();
        let node = graph.node(self.node_of(inst));
        let order = u64::from(self.steps);
        let input = self.keep_inputs.then(|| Arc::new(self.shown_input(inst)));
        let at = making.at;
        let state = self.state_mut(inst);
        state.status = NodeStatus::Running;
        state.attempt = 1;
        state.started_at = Some(at);
        state.order = order;
        state.input = input;
        let name = self.name(inst);
        let mut said = json!({"node_id": node.id, "node_type": node.kind.name(), "label": node.label, "attempt": 1});
        self.mark_instance(&name, &mut said);
        self.say(making, "node_started", said);
        self.state_mut(inst).progress_seq = self.progress_seq;
        match node.kind {
            NodeKind::Loop if node.body.is_some() => making.work.push_back(Work::Iterate(inst)),
            kind if kind.is_pure() || kind == NodeKind::Loop => {
                self.live.insert(inst);
                self.to_evaluate.insert(order, inst);
            }
            NodeKind::Delay => {
                let until = at.saturating_add(self.delay(inst));
                self.set_due(inst, until);
                self.live.insert(inst);
                making.step.actions.push(Action::Wait { node: name, until });
            }
            NodeKind::HumanInput => {
                let deadline = self.deadline(inst).map(|ms| at.saturating_add(ms));
                if let Some(deadline) = deadline {
                    self.set_due(inst, deadline);
                }
                self.live.insert(inst);
                self.state_mut(inst).status = NodeStatus::WaitingForInput;
                making.step.actions.push(Action::AskPerson {
                    node: name,
                    deadline,
                });
            }
            kind => {
                self.live.insert(inst);
                making.step.actions.push(attempt_of(kind, name, 1, at));
            }
        }
    }

    fn set_due(&mut self, inst: Inst, due: i64) {
        self.state_mut(inst).due = Some(due);
        self.timers.insert((due, inst));
    }

    fn skip(&mut self, inst: Inst, making: &mut Making) {
        if self.scopes[inst.0].closed {
            return;
        }
        self.state_mut(inst).status = NodeStatus::Skipped;
        let name = self.name(inst);
        let mut said = json!({"node_id": name.id});
        self.mark_instance(&name, &mut said);
        self.say(making, "node_skipped", said);
        self.leave(inst, |_| false, making);
    }

    /// Decides the edges of a node that has ended.
    pub(super) fn leave(
        &mut self,
        inst: Inst,
        is_live: impl Fn(Port) -> bool,
        making: &mut Making,
    ) {
        let graph = self.graph.clone();
        let node = graph.node(self.node_of(inst));
        for edge in &node.outgoing {
            let target = graph.node(edge.target);
            let at = (inst.0, target.place);
            self.decide(at, is_live(edge.port), making);
        }
        let scope = &mut self.scopes[inst.0];
        scope.open = scope.open.saturating_sub(1);
        if scope.open == 0 {
            making.work.push_back(Work::Close(inst.0));
        }
    }

    fn decide(&mut self, inst: Inst, live: bool, making: &mut Making) {
        let incoming = self.graph.node(self.node_of(inst)).incoming;
        let state = self.state_mut(inst);
        state.decided += 1;
        state.live += u32::from(live);
        if state.decided == incoming {
            let work = if state.live > 0 {
                Work::Start
            } else {
                Work::Skip
            };
            making.work.push_back(work(inst));
        }
    }

    pub(super) fn complete(
        &mut self,
        inst: Inst,
        output: Arc<Value>,
        route: Option<bool>,
        making: &mut Making,
    ) {
        let graph = self.graph.clone();
        let node = graph.node(self.node_of(inst));
        let at = making.at;
        let state = self.state_mut(inst);
        state.status = NodeStatus::Completed;
        state.ended_at = Some(at);
        state.output = Some(output.clone());
        let took = at - state.started_at.unwrap_or(at);
        let attempt = state.attempt;
        if node.kind == NodeKind::End {
            self.output = Some(output.clone());
        }
        self.merge(inst, &output);
        let name = self.name(inst);
        let mut said = json!({"node_id": node.id, "output_preview": preview(&output), "duration_ms": took, "attempt": attempt});
        if let Some(route) = route {
            said["route"] = json!(if route { "true" } else { "false" });
        }
        self.mark_instance(&name, &mut said);
        self.say(making, "node_completed", said);
        self.leave(
            inst,
            |port| match port {
                Port::Out => true,
                Port::True => route == Some(true),
                Port::False => route == Some(false),
                Port::Body | Port::Error => false,
            },
            making,
        );
    }

    /// Writes an output where the other nodes of the scope see it.
    fn merge(&mut self, inst: Inst, output: &Arc<Value>) {
        let graph = self.graph.clone();
        let node = graph.node(self.node_of(inst));
        let scope = &mut self.scopes[inst.0];
        let mut write = |key: &String, value: Arc<Value>| {
            scope.written.push(key.clone());
            scope.vars.insert(key.clone(), value);
        };
        match (node.kind, &**output) {
            (NodeKind::Start | NodeKind::End | NodeKind::Condition, _)
                if node.output_key.is_none() => {}
            (NodeKind::Extract, Value::Object(map)) => {
                for (key, value) in map {
                    write(key, Arc::new(value.clone()));
                }
            }
            _ => {
                if let Some(key) = &node.output_key {
                    write(key, output.clone());
                }
            }
        }
    }

    fn attempt_failed(&mut self, inst: Inst, error: &NodeError, making: &mut Making) {
        let graph = self.graph.clone();
        let node = graph.node(self.node_of(inst));
        let attempt = self.state(inst).attempt;
        if !error.retryable || attempt > node.retries {
            making.work.push_back(Work::Fail(inst, error.clone()));
            return;
        }
        let next = attempt + 1;
        let not_before = making.at.saturating_add(backoff(next, error.retry_after));
        let name = self.name(inst);
        let mut said = json!({"node_id": node.id, "error": error.message, "code": error.code, "attempt": attempt, "will_retry": true, "retry_at": not_before});
        self.mark_instance(&name, &mut said);
        self.say(making, "node_failed", said);
        let state = self.state_mut(inst);
        state.attempt = next;
        state.error = Some(error.clone());
        self.live.insert(inst);
        self.set_due(inst, not_before);
        making
            .step
            .actions
            .push(attempt_of(node.kind, name, next, not_before));
    }

    fn close(&mut self, scope: usize, making: &mut Making) {
        if self.scopes[scope].closed {
            return;
        }
        self.scopes[scope].closed = true;
        match self.scopes[scope].of {
            None => self.end(RunStatus::Completed, None, making),
            Some((owner, iteration)) => {
                let result = self.result_of(scope);
                let errors = std::mem::take(&mut self.scopes[scope].errors);
                if let Some(looping) = &mut self.state_mut(owner).looping {
                    looping.running = looping.running.saturating_sub(1);
                    if let Some(slot) = looping.results.get_mut(iteration as usize) {
                        *slot = result;
                    }
                    for (node, error) in errors {
                        looping.errors.push((iteration, node, error));
                    }
                }
                making.work.push_back(Work::Iterate(owner));
            }
        }
    }

    /// The output of the last node that ran, or of all last nodes by key where several ran.
    fn result_of(&self, scope: usize) -> Value {
        let leaves = &self.graph.regions()[self.scopes[scope].region].leaves;
        let mut ran = leaves.iter().filter_map(|&n| {
            let node = self.graph.node(n);
            let output = self.scopes[scope].nodes[node.place].output.as_ref()?;
            Some((node.output_key.as_ref().unwrap_or(&node.id), output))
        });
        let Some((key, first)) = ran.next() else {
            return Value::Null;
        };
        let mut rest = ran.peekable();
        if rest.peek().is_none() {
            return Value::clone(first);
        }
        let all = std::iter::once((key, first)).chain(rest);
        Value::Object(all.map(|(k, v)| (k.clone(), Value::clone(v))).collect())
    }

    /// Begins the Loop, or its next iterations, or ends it.
    fn iterate(&mut self, inst: Inst, making: &mut Making) {
        if self.state(inst).status != NodeStatus::Running {
            return;
        }
        let graph = self.graph.clone();
        let node = graph.node(self.node_of(inst));
        let Some(body) = node.body else { return };
        if self.state(inst).looping.is_none() {
            let items = self.items(inst);
            let parallel = self.parallel_of(node);
            self.state_mut(inst).looping = Some(Box::new(Looping {
                results: vec![Value::Null; items.len()],
                items,
                parallel,
                running: 0,
                scopes: Vec::new(),
                errors: Vec::new(),
            }));
        }
        let item_key = node.data.get("item_key").and_then(Value::as_str);
        let item_key = item_key
            .map(str::trim)
            .filter(|k| !k.is_empty())
            .unwrap_or("item");
        loop {
            let Some(looping) = &mut self.state_mut(inst).looping else {
                return;
            };
            let iteration = looping.scopes.len();
            if looping.running >= looping.parallel || iteration >= looping.items.len() {
                break;
            }
            let item = Arc::new(looping.items[iteration].take());
            let vars = [
                (item_key.to_owned(), item),
                ("index".to_owned(), Arc::new(json!(iteration))),
            ];
            let scope = self.open_scope(body, Some((inst, iteration as u32)), vars.into());
            if let Some(looping) = &mut self.state_mut(inst).looping {
                looping.running += 1;
                looping.scopes.push(scope);
            }
            for &entry in &graph.regions()[body].entries {
                self.decide((scope, graph.node(entry).place), true, making);
            }
        }
        let Some(looping) = &mut self.state_mut(inst).looping else {
            return;
        };
        if looping.running > 0 {
            return;
        }
        let errors: Vec<Value> = looping
            .errors
            .iter()
            .map(|(iteration, node, e)| {
                json!({"index": iteration, "node_id": node.id, "error": e.message, "code": e.code})
            })
            .collect();
        let results = std::mem::take(&mut looping.results);
        let output = json!({
            "iterations": results.len(),
            "results": results,
            "errors": errors,
        });
        self.complete(inst, Arc::new(output), None, making);
    }

    /// Ends the execution. Whatever still runs is of no use.
    pub(super) fn end(
        &mut self,
        status: RunStatus,
        error: Option<(Option<NodeRef>, NodeError)>,
        making: &mut Making,
    ) {
        self.abandon(0, making);
        self.status = status;
        self.ended_at = Some(making.at);
        self.error = error;
        if status != RunStatus::Completed {
            self.output = None;
        } else if self.output.is_none() {
            self.output = Some(Arc::new(Value::Object(self.blackboard())));
        }
        let mut said = json!({
            "status": status.name(),
            "duration_ms": making.at - self.started_at.unwrap_or(making.at),
        });
        if let Some(output) = &self.output {
            said["output_preview"] = json!(preview(output));
        }
        if let Some(error) = self.error() {
            said["error"] = json!(error);
        }
        self.say(making, "flow_completed", said);
        making.step.actions.push(Action::Finish { status });
        making.work.clear();
    }

    /// Paused when only people can move it on.
    fn settle_status(&mut self, making: &mut Making) {
        if self.status.is_final() {
            return;
        }
        let waits = |&&i: &&Inst| self.state(i).status == NodeStatus::WaitingForInput;
        let paused = !self.live.is_empty() && self.live.iter().all(|i| waits(&i));
        self.status = if paused {
            RunStatus::Paused
        } else {
            RunStatus::Running
        };
        // Told once nothing else is about to run: a pure node in between would make it flicker.
        if paused && !self.said_paused {
            self.said_paused = true;
            let waiting = self.waiting();
            self.say(making, "flow_paused", json!({"waiting": waiting}));
        } else if !paused && self.said_paused && self.to_evaluate.is_empty() {
            self.said_paused = false;
            self.say(making, "flow_resumed", json!({}));
        }
    }

    pub(super) fn say(&mut self, making: &mut Making, event: &'static str, data: Value) {
        self.progress_seq += 1;
        making.step.progress.push(Progress {
            seq: self.progress_seq,
            event,
            data,
            at: making.at,
        });
    }

    /// Within a Loop, an event names the iteration too.
    pub(super) fn mark_instance(&self, name: &NodeRef, data: &mut Value) {
        if !name.path.is_empty() {
            data["instance"] = json!(name.to_string());
            data["iteration"] = json!(name.path.last().map(|(_, i)| *i));
            data["loop_id"] = json!(name.path.last().map(|(id, _)| id));
        }
    }
}

/// The action that begins an attempt at a node that the engine cannot evaluate.
pub(super) fn attempt_of(kind: NodeKind, node: NodeRef, attempt: u32, not_before: i64) -> Action {
    if kind == NodeKind::ExecuteFlow {
        Action::StartChild {
            node,
            attempt,
            not_before,
        }
    } else {
        Action::Perform {
            node,
            attempt,
            not_before,
        }
    }
}
