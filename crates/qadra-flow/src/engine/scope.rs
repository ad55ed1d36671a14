//! What a node sees, and its `data` with the templates filled in.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{Inst, NodeStatus, Run};
use crate::graph::Node;
use crate::template::{self, Scope};
use crate::{NodeKind, NodeRef};

/// The longest Delay.
const DELAY_MOST_SECONDS: f64 = 300.0;

/// Of the blackboard that a model is told: more than a prompt has room for, and few enough that an attempt costs the
/// same however long the run has been going.
const LATEST_BYTES: usize = 128 * 1024;
const LATEST_KEYS: usize = 100;

/// What an attempt needs to know.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub kind: NodeKind,
    pub attempt: u32,
    /// The node's `data`, filled in; of an Http node as drawn, because secrets are filled in with the rest.
    pub data: Map<String, Value>,
    /// Of the blackboard as the node sees it, what the node can make use of: what an Http node's templates name, what
    /// Extract reads, and for the nodes that tell a model the whole of it, the latest values up to a limit.
    pub state: Map<String, Value>,
    pub timeout_seconds: Option<u64>,
}

/// The variables that a node sees: those of its iteration, then those around it.
pub(super) struct View<'a> {
    run: &'a Run,
    scope: usize,
}

impl Scope for View<'_> {
    fn get(&self, key: &str) -> Option<&Value> {
        let mut scope = self.scope;
        loop {
            let here = self.run.scopes.get(scope)?;
            if let Some(value) = here.vars.get(key) {
                return Some(value);
            }
            scope = here.of?.0.0;
        }
    }
}

/// Shows secrets by their names.
struct Masked<'a> {
    inner: View<'a>,
    secrets: Value,
}

impl Scope for Masked<'_> {
    fn get(&self, key: &str) -> Option<&Value> {
        if key == "secret" {
            return Some(&self.secrets);
        }
        self.inner.get(key)
    }
}

impl Run {
    pub(super) fn view_of(&self, inst: Inst) -> View<'_> {
        View {
            run: self,
            scope: inst.0,
        }
    }

    /// What an attempt at the node needs; None if the node does not run.
    pub fn request(&self, node: &NodeRef) -> Option<Request> {
        let inst = self.find(node)?;
        if self.state(inst).status != NodeStatus::Running {
            return None;
        }
        let drawn = self.graph.node(self.node_of(inst));
        Some(Request {
            kind: drawn.kind,
            attempt: self.state(inst).attempt,
            data: match drawn.kind {
                NodeKind::Http => drawn.data.clone(),
                NodeKind::ExecuteFlow => self.child_data(inst, drawn),
                _ => self.filled(inst, drawn),
            },
            state: match drawn.kind {
                NodeKind::Http => {
                    self.named(inst, template::keys(&Value::Object(drawn.data.clone())))
                }
                NodeKind::Extract => self.named(inst, word(drawn, "input_key")),
                NodeKind::Agent | NodeKind::Research => self.latest(inst, vec![]),
                NodeKind::Artifact => self.latest(inst, word(drawn, "content_key")),
                _ => Map::new(),
            },
            timeout_seconds: drawn.timeout_seconds,
        })
    }

    /// The same for every attempt at a node, on whichever worker (UUID version 5 of execution and node).
    pub fn idempotency_key(execution_id: Uuid, node: &NodeRef) -> Uuid {
        Uuid::new_v5(&execution_id, node.to_string().as_bytes())
    }

    /// The variables that paths begin with.
    fn named(&self, inst: Inst, paths: Vec<String>) -> Map<String, Value> {
        let view = self.view_of(inst);
        let first = |path: &String| path.split('.').next().unwrap_or_default().trim().to_owned();
        let found = paths.iter().map(first).filter_map(|key| {
            let value = view.get(&key)?.clone();
            Some((key, value))
        });
        found.collect()
    }

    /// The values written last, at most [`LATEST_KEYS`] and until they fill [`LATEST_BYTES`]; `always` is there in any case. What an attempt
    /// costs must not grow with the run.
    fn latest(&self, inst: Inst, always: Vec<String>) -> Map<String, Value> {
        let mut out = self.named(inst, always);
        let mut left = LATEST_BYTES;
        let mut scope = inst.0;
        loop {
            let here = &self.scopes[scope];
            for key in here.written.iter().rev() {
                if out.contains_key(key) {
                    continue;
                }
                let Some(value) = here.vars.get(key) else {
                    continue;
                };
                let size = template::size(value, left);
                if size > left || out.len() >= LATEST_KEYS {
                    return out;
                }
                left -= size;
                out.insert(key.clone(), Value::clone(value));
            }
            match here.of {
                Some((owner, _)) => scope = owner.0,
                None => return out,
            }
        }
    }

    fn visible(&self, inst: Inst) -> Map<String, Value> {
        let mut chain = vec![inst.0];
        while let Some((owner, _)) = chain.last().and_then(|&s| self.scopes[s].of) {
            chain.push(owner.0);
        }
        let vars = chain.iter().rev().flat_map(|&s| &self.scopes[s].vars);
        vars.map(|(k, v)| (k.clone(), Value::clone(v))).collect()
    }

    fn filled(&self, inst: Inst, node: &Node) -> Map<String, Value> {
        let view = self.view_of(inst);
        let fill = |(key, value): (&String, &Value)| {
            // A template that cannot be filled in is shown as it is; the attempt will say what is wrong with it.
            let filled = template::render(value, &view).unwrap_or_else(|_| value.clone());
            (key.clone(), filled)
        };
        node.data.iter().map(fill).collect()
    }

    /// `target_flow_id`, and the child's `input`: the mapped values, or everything that the node sees.
    fn child_data(&self, inst: Inst, node: &Node) -> Map<String, Value> {
        let mut data = self.filled(inst, node);
        let input = match node.data.get("input_mapping").and_then(Value::as_object) {
            Some(mappings) if !mappings.is_empty() => self.mapped(inst, mappings),
            _ => Value::Object(self.visible(inst)),
        };
        data.insert("input".into(), input);
        data
    }

    /// The seed's Transform: a string names a value of the state (a template in it is filled in), anything else is
    /// itself.
    pub(super) fn mapped(&self, inst: Inst, mappings: &Map<String, Value>) -> Value {
        let view = self.view_of(inst);
        let value = |mapping: &Value| match mapping {
            Value::String(text) if text.contains("{{") => {
                template::render(mapping, &view).unwrap_or(Value::Null)
            }
            Value::String(path) => template::lookup(path, &view)
                .cloned()
                .unwrap_or(Value::Null),
            literal => literal.clone(),
        };
        Value::Object(
            mappings
                .iter()
                .map(|(k, v)| (k.clone(), value(v)))
                .collect(),
        )
    }

    /// What a reader is shown as the node's input.
    pub(super) fn shown_input(&self, inst: Inst) -> Value {
        let node = self.graph.node(self.node_of(inst));
        let mut data = match node.kind {
            NodeKind::Start => return Value::clone(&self.input),
            NodeKind::Http => {
                let names = node.data.get("secrets").and_then(Value::as_array);
                let names = names.into_iter().flatten().filter_map(Value::as_str);
                let masked = Masked {
                    inner: self.view_of(inst),
                    secrets: names
                        .map(|n| (n.to_owned(), json!(format!("{{{{secret.{n}}}}}"))))
                        .collect(),
                };
                let fill = |(k, v): (&String, &Value)| {
                    (
                        k.clone(),
                        template::render(v, &masked).unwrap_or_else(|_| v.clone()),
                    )
                };
                node.data.iter().map(fill).collect()
            }
            NodeKind::ExecuteFlow => self.child_data(inst, node),
            NodeKind::Transform | NodeKind::Condition => node.data.clone(),
            _ => self.filled(inst, node),
        };
        data.remove("label");
        Value::Object(data)
    }

    /// A number of `data`, which may come from a template; text that reads as a number is one.
    fn number(&self, inst: Inst, key: &str) -> Option<f64> {
        let node = self.graph.node(self.node_of(inst));
        let value = template::render(node.data.get(key)?, &self.view_of(inst)).ok()?;
        let number = match &value {
            Value::Number(n) => n.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.filter(|n: &f64| n.is_finite() && *n >= 0.0)
    }

    /// Milliseconds of a Delay.
    pub(super) fn delay(&self, inst: Inst) -> i64 {
        let seconds = self.number(inst, "duration_seconds").unwrap_or(0.0);
        (seconds.min(DELAY_MOST_SECONDS) * 1000.0) as i64
    }

    /// Milliseconds that a person has.
    pub(super) fn deadline(&self, inst: Inst) -> Option<i64> {
        let seconds = self.number(inst, "deadline_seconds")?;
        Some((seconds.min(315_360_000.0) * 1000.0) as i64)
    }

    /// The items of a Loop, at most as many as it may have.
    pub(super) fn items(&self, inst: Inst) -> Vec<Value> {
        let node = self.graph.node(self.node_of(inst));
        let path = node.data.get("collection_key").and_then(Value::as_str);
        let view = self.view_of(inst);
        let found = path.and_then(|path| template::lookup(path.trim(), &view));
        let items = found.and_then(Value::as_array);
        let most = self.number(inst, "max_iterations").unwrap_or(100.0) as usize;
        let most = most.min(self.limits.iterations as usize);
        items.map_or_else(Vec::new, |items| items.iter().take(most).cloned().collect())
    }

    /// Iterations at once: 1, or what `parallel` says.
    pub(super) fn parallel_of(&self, node: &Node) -> usize {
        match node.data.get("parallel") {
            Some(Value::Bool(true)) => self.limits.parallel.max(1) as usize,
            Some(Value::Number(n)) => n.as_u64().unwrap_or(1).clamp(1, 1000) as usize,
            _ => 1,
        }
    }

    /// What a person is asked, for every node that waits.
    pub(super) fn waiting(&self) -> Vec<Value> {
        let waits = self
            .live
            .iter()
            .filter(|&&i| self.state(i).status == NodeStatus::WaitingForInput);
        waits.map(|&inst| self.question(inst)).collect()
    }

    fn question(&self, inst: Inst) -> Value {
        let node = self.graph.node(self.node_of(inst));
        let data = self.filled(inst, node);
        let part = |key: &str| data.get(key).cloned().unwrap_or(Value::Null);
        let name = self.name(inst);
        json!({
            "node_id": name.to_string(),
            "label": node.label,
            "prompt": part("prompt"),
            "form_schema": part("form_schema"),
            "assignee": part("assignee"),
            "deadline": self.state(inst).due,
            "default": part("default"),
            "since": self.state(inst).started_at,
        })
    }

    /// The nodes that wait for a person, by name, with the schema of the answer.
    pub fn asked(&self) -> Vec<(NodeRef, Arc<Value>)> {
        let waits = self
            .live
            .iter()
            .filter(|&&i| self.state(i).status == NodeStatus::WaitingForInput);
        waits
            .map(|&i| (self.name(i), Arc::new(self.question(i))))
            .collect()
    }
}

fn word(node: &Node, key: &str) -> Vec<String> {
    let value = node.data.get(key).and_then(Value::as_str);
    value.map(str::to_owned).into_iter().collect()
}
