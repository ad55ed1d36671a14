//! An execution as its readers see it.

use std::collections::BTreeSet;
use std::io::Write;

use serde_json::{Map, Value, json};

use super::{Inst, NodeStatus, Run};

/// Characters of a preview.
const PREVIEW: usize = 200;

/// The beginning of a value as people read it: text as it is, anything else as compact JSON. Costs no more for a
/// large value than for a small one.
pub(super) fn preview(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.chars().take(PREVIEW + 1).collect(),
        Value::Null => return String::new(),
        other => {
            let mut start = Capped(Vec::new());
            // It ends early by an error when the buffer is full.
            let _ = serde_json::to_writer(&mut start, other);
            String::from_utf8_lossy(&start.0).into_owned()
        }
    };
    match text.char_indices().nth(PREVIEW) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

struct Capped(Vec<u8>);

impl Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // UTF-8 has at most four bytes for a character.
        if self.0.len() > PREVIEW * 4 + 8 {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Run {
    /// `{status, state, output, error, node_states, waiting, seq}`; times in milliseconds since the epoch.
    pub fn view(&self) -> Value {
        let mut nodes = Map::new();
        if let Some(top) = self.scopes.first() {
            for place in 0..top.nodes.len() {
                self.show((0, place), &mut nodes);
            }
        }
        // Nodes of a body that no item has reached.
        for node in self.graph.nodes() {
            if !nodes.contains_key(&node.id) {
                let status = if self.status.is_final() {
                    NodeStatus::Skipped
                } else {
                    NodeStatus::Pending
                };
                nodes.insert(node.id.clone(), json!({"status": status, "attempts": 0}));
            }
        }
        json!({
            "status": self.status.name(),
            "input": &*self.input,
            "state": self.blackboard(),
            "output": self.output.as_deref(),
            "error": self.error(),
            "error_node": self.error.as_ref().and_then(|(node, _)| node.as_ref()).map(|n| n.id.clone()),
            "node_states": nodes,
            "waiting": self.waiting(),
            "seq": self.progress_seq,
            "started_at": self.started_at,
            "completed_at": self.ended_at,
        })
    }

    fn show(&self, inst: Inst, into: &mut Map<String, Value>) {
        let id = &self.graph.node(self.node_of(inst)).id;
        let mut shown = self.show_one(inst);
        if let Some(looping) = &self.state(inst).looping {
            // The body's nodes stand beside the others, each with its iterations.
            let mut touched = BTreeSet::new();
            for (iteration, &scope) in looping.scopes.iter().enumerate() {
                for place in 0..self.scopes[scope].nodes.len() {
                    let mut below = Map::new();
                    self.show((scope, place), &mut below);
                    for (id, mut one) in below {
                        one["iteration"] = json!(iteration);
                        touched.insert(id.clone());
                        let entry = into.entry(id).or_insert_with(|| json!({"iterations": []}));
                        if let Some(list) = entry["iterations"].as_array_mut() {
                            list.push(one);
                        }
                    }
                }
            }
            for id in touched {
                if let Some(entry) = into.get_mut(&id) {
                    summarise(entry);
                }
            }
            shown["total"] = json!(looping.items.len());
            shown["begun"] = json!(looping.scopes.len());
        }
        into.insert(id.clone(), shown);
    }

    fn show_one(&self, inst: Inst) -> Value {
        let state = self.state(inst);
        json!({
            "status": state.status,
            "input": state.input.as_deref(),
            "output": state.output.as_deref(),
            "error": state.error.as_ref().filter(|_| state.status != NodeStatus::Completed).map(|e| &e.message),
            "error_code": state.error.as_ref().filter(|_| state.status != NodeStatus::Completed).map(|e| &e.code),
            "started_at": state.started_at,
            "completed_at": state.ended_at,
            "attempts": state.attempt,
            "seq": state.progress_seq,
        })
    }
}

/// A node of a Loop's body as one: it runs while an iteration does, and has failed if one has.
fn summarise(entry: &mut Value) {
    let list: Vec<Value> = entry["iterations"].as_array().cloned().unwrap_or_default();
    let any = |status: &str| list.iter().any(|one| one["status"] == status);
    let all = |status: &str| list.iter().all(|one| one["status"] == status);
    let status = if any("running") {
        "running"
    } else if any("waiting_for_input") {
        "waiting_for_input"
    } else if any("failed") {
        "failed"
    } else if all("skipped") {
        "skipped"
    } else if any("pending") {
        "pending"
    } else if any("completed") {
        "completed"
    } else {
        "cancelled"
    };
    entry["status"] = json!(status);
    let first = list.iter().filter_map(|o| o["started_at"].as_i64()).min();
    let last = list.iter().filter_map(|o| o["completed_at"].as_i64()).max();
    entry["started_at"] = json!(first);
    entry["completed_at"] = json!(last);
    let attempts: u64 = list.iter().filter_map(|o| o["attempts"].as_u64()).sum();
    entry["attempts"] = json!(attempts);
    let latest = list.iter().rev().find(|o| !o["output"].is_null());
    entry["output"] = latest.map_or(Value::Null, |o| o["output"].clone());
    let failed = list.iter().find(|o| !o["error"].is_null());
    entry["error"] = failed.map_or(Value::Null, |o| o["error"].clone());
    entry["seq"] = json!(
        list.iter()
            .filter_map(|o| o["seq"].as_u64())
            .filter(|&s| s > 0)
            .min()
    );
}
