//! Executions as their readers see them: the fold of the journal.

use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, Utc};
use qadra_api as api;
use qadra_flow::{Entry, Graph, Progress, Record, Run};
use qadra_store::{ExecutionRow, JournalRow};
use qadra_types::{Code, Fault};
use serde_json::Value;

use crate::App;

/// An execution, read whole.
pub(super) struct Folded {
    pub row: ExecutionRow,
    pub input: Value,
    pub flow_data: Value,
    pub entries: Vec<Entry>,
    pub run: Run,
    pub progress: Vec<Progress>,
}

impl Folded {
    pub(super) fn fold(
        app: &App,
        row: ExecutionRow,
        flow_data: &str,
        input: Value,
        entries: Vec<Entry>,
    ) -> Result<Self, Fault> {
        let flow_data: Value = serde_json::from_str(flow_data).map_err(|e| unreadable(&e))?;
        // It could be compiled when the execution was made.
        let graph = Graph::compile(&flow_data).map_err(|e| unreadable(&e))?;
        let run = Run::new(Arc::new(graph), input.clone(), app.settings.flow_limits);
        let mut folded = Self {
            row,
            input,
            flow_data,
            entries: Vec::new(),
            run: run.keeping_inputs(),
            progress: Vec::new(),
        };
        folded.extend(entries)?;
        Ok(folded)
    }

    /// Goes on with what was written since.
    pub(super) fn extend(&mut self, entries: Vec<Entry>) -> Result<(), Fault> {
        for entry in entries {
            let step = self.run.apply(&entry).map_err(|e| unreadable(&e))?;
            self.progress.extend(step.progress);
            self.entries.push(entry);
        }
        Ok(())
    }

    /// As it was after the event `seq`.
    pub(super) fn rewound(self, app: &App, seq: u32) -> Result<Self, Fault> {
        let mut run = Run::new(
            self.run.graph().clone(),
            self.input.clone(),
            app.settings.flow_limits,
        );
        let mut before = Vec::new();
        for entry in self.entries {
            run.apply(&entry).map_err(|e| unreadable(&e))?;
            if run.progress_seq() > seq {
                break;
            }
            before.push(entry);
        }
        Self::fold(
            app,
            self.row,
            &self.flow_data.to_string(),
            self.input,
            before,
        )
    }

    pub(super) fn shown(
        self,
        children: Vec<(String, i32, uuid::Uuid)>,
        past: bool,
    ) -> api::Execution {
        let mut view = self.run.view();
        times(&mut view);
        let mut part = |key: &str| view.get_mut(key).map(Value::take).unwrap_or_default();
        let mut summary = summary(self.row);
        let (status, error) = (part("status"), part("error"));
        // The row is what workers agree on; the journal's fold says the same, and more of a moment in the past.
        if past {
            summary.status = status.as_str().unwrap_or_default().to_owned();
            summary.error = error.as_str().map(str::to_owned);
        }
        api::Execution {
            summary,
            state: part("state"),
            output: part("output"),
            node_states: part("node_states"),
            waiting: part("waiting"),
            seq: self.run.progress_seq(),
            input: self.input,
            flow_snapshot: self.flow_data,
            children: children
                .into_iter()
                .map(|(node_id, attempt, execution_id)| api::ChildExecution {
                    node_id,
                    attempt,
                    execution_id,
                })
                .collect(),
        }
    }
}

pub(super) fn entries(rows: &[JournalRow]) -> Result<Vec<Entry>, Fault> {
    rows.iter()
        .map(|row| {
            let record = Record {
                kind: &row.kind,
                node: row.node.as_str().into(),
                attempt: row.attempt.unsigned_abs(),
                body: row.body.as_deref().map(Into::into),
            };
            Entry::from_record(row.seq, row.at, &record).map_err(|e| unreadable(&e))
        })
        .collect()
}

pub(super) fn summary(row: ExecutionRow) -> api::ExecutionSummary {
    let until = row.completed_at.unwrap_or_else(Utc::now);
    api::ExecutionSummary {
        id: row.id,
        flow_id: row.flow_id,
        flow_name: row.flow_name,
        status: row.status,
        trigger: row.trigger,
        error: row.error,
        triggered_by: row.triggered_by,
        parent_id: row.parent.map(|p| p.execution_id),
        rerun_of: row.rerun_of,
        conversation_id: row.conversation_id,
        cancel_requested: row.cancel_requested,
        duration_ms: row
            .started_at
            .map(|from| (until - from).num_milliseconds().max(0)),
        started_at: row.started_at,
        completed_at: row.completed_at,
        created_at: row.created_at,
    }
}

pub(super) fn moment(at: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(at).unwrap_or_default()
}

/// The engine counts in milliseconds; readers get times as everywhere else. Outputs are left as they are.
fn times(view: &mut Value) {
    let one = |node: &mut Value| {
        for key in ["started_at", "completed_at", "deadline", "since"] {
            if let Some(at) = node.get(key).and_then(Value::as_i64) {
                node[key] = moment(at)
                    .to_rfc3339_opts(SecondsFormat::Millis, true)
                    .into();
            }
        }
    };
    if let Some(nodes) = view["node_states"].as_object_mut() {
        for node in nodes.values_mut() {
            one(node);
            let iterations = node.get_mut("iterations").and_then(Value::as_array_mut);
            iterations.into_iter().flatten().for_each(one);
        }
    }
    let waiting = view["waiting"].as_array_mut();
    waiting.into_iter().flatten().for_each(one);
}

pub(super) fn missing() -> Fault {
    Fault::not_found("execution")
}

pub(super) fn unreadable(e: &dyn std::fmt::Display) -> Fault {
    tracing::error!(error = %e, "an execution's journal could not be folded");
    Fault::new(Code::Internal, "the execution's journal could not be read")
}
