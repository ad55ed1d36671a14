//! Reading executions, answering them, stopping them.

use qadra_api as api;
use qadra_api::{ById, EventPage, Items, StreamEvent};
use qadra_flow::NodeRef;
use qadra_store::{ExecutionFilter, NewMessage, StoreError};
use qadra_types::{Code, Ctx, Fault};
use serde_json::{Value, json};
use uuid::Uuid;

use super::check;
use super::view::{Folded, entries, moment, summary};
use crate::{App, input};

/// Events of one page for a stream's reader.
const PAGE: usize = 500;
const MAX_ANSWER: usize = 1024 * 1024;
const STATUSES: [&str; 6] = [
    "pending",
    "running",
    "paused",
    "completed",
    "failed",
    "cancelled",
];
const TRIGGERS: [&str; 8] = [
    "manual",
    "api",
    "conversation",
    "schedule",
    "webhook",
    "flow",
    "rerun",
    "fork",
];

impl App {
    pub(crate) async fn execution_list(
        &self,
        ctx: &Ctx,
        r: api::ListExecutions,
    ) -> Result<Items<api::ExecutionSummary>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        one_of("status", r.status.as_deref(), &STATUSES)?;
        one_of("trigger", r.trigger.as_deref(), &TRIGGERS)?;
        let mut tx = self.store.tenant(ctx).await?;
        let (rows, total) = tx
            .execution_list(&ExecutionFilter {
                viewer: ctx.actor.user_id,
                flow_id: r.flow_id,
                status: r.status.as_deref(),
                trigger: r.trigger.as_deref(),
                limit,
                offset,
            })
            .await?;
        let items = rows.into_iter().map(summary).collect();
        Ok(input::items((items, total), limit, offset))
    }

    pub(crate) async fn flow_executions(
        &self,
        ctx: &Ctx,
        r: api::ListFlowExecutions,
    ) -> Result<Items<api::ExecutionSummary>, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        tx.flow_get(r.id).await?.ok_or_else(super::missing)?;
        drop(tx);
        let list = api::ListExecutions {
            limit: r.limit,
            offset: r.offset,
            flow_id: Some(r.id),
            status: r.status,
            trigger: r.trigger,
        };
        self.execution_list(ctx, list).await
    }

    pub(crate) async fn execution_get(
        &self,
        ctx: &Ctx,
        r: api::ReadExecution,
    ) -> Result<api::Execution, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let mut folded = Folded::read(self, &mut tx, ctx, r.id).await?;
        let children = tx.execution_children(r.id).await?;
        drop(tx);
        if let Some(seq) = r.at_seq {
            folded = folded.rewound(self, seq)?;
        }
        Ok(folded.shown(children, r.at_seq.is_some()))
    }

    pub(crate) async fn execution_events(
        &self,
        ctx: &Ctx,
        r: api::ListExecutionEvents,
    ) -> Result<api::ExecutionEvents, Fault> {
        let limit = r.limit.unwrap_or(200);
        if !(1..=1000).contains(&limit) {
            return Err(Fault::invalid(format!(
                "limit is {limit}, not between 1 and 1,000"
            )));
        }
        let mut tx = self.store.tenant(ctx).await?;
        let folded = Folded::read(self, &mut tx, ctx, r.id).await?;
        let items = folded.progress.into_iter().filter(|p| p.seq > r.after);
        Ok(api::ExecutionEvents {
            items: items
                .take(usize::try_from(limit).unwrap_or(1))
                .map(|p| api::ExecutionEvent {
                    seq: p.seq,
                    event: p.event.to_owned(),
                    data: p.data,
                    at: moment(p.at),
                })
                .collect(),
            last_seq: folded.run.progress_seq(),
            status: folded.row.status,
        })
    }

    /// What a stream's reader has missed.
    pub(crate) async fn execution_replay(
        &self,
        ctx: &Ctx,
        r: api::ReplayExecution,
    ) -> Result<EventPage, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let folded = Folded::read(self, &mut tx, ctx, r.id).await?;
        let ended = folded.run.status().is_final();
        let mut missed: Vec<StreamEvent> = folded
            .progress
            .into_iter()
            .filter(|p| p.seq > r.after)
            .take(PAGE + 1)
            .map(|p| StreamEvent {
                seq: p.seq,
                event: p.event.to_owned(),
                data: p.data,
            })
            .collect();
        let more = missed.len() > PAGE;
        missed.truncate(PAGE);
        Ok(EventPage {
            events: missed,
            more,
            ended: ended && !more,
        })
    }

    pub(crate) async fn execution_input(
        &self,
        ctx: &Ctx,
        r: api::SubmitInput,
    ) -> Result<api::Execution, Fault> {
        if r.input.to_string().len() > MAX_ANSWER {
            return Err(Fault::invalid(format!(
                "input has more than {MAX_ANSWER} bytes"
            )));
        }
        let mut tx = self.store.tenant(ctx).await?;
        let mut folded = Folded::read(self, &mut tx, ctx, r.id).await?;
        // What was written while this was read is small; from here on no worker writes.
        tx.execution_lock(r.id).await?;
        let since = tx.journal_read(r.id, folded.run.seq()).await?;
        folded.extend(entries(&since)?)?;
        let (node, question) = asked(&folded, r.node_id.as_deref())?;
        check::fits(&question["form_schema"], &r.input, "the answer")?;
        let message = NewMessage {
            execution_id: r.id,
            kind: "input",
            node: &node.to_string(),
            body: &r.input,
            created_by: Some(ctx.actor.user_id),
        };
        let put = tx.inbox_put(&message).await.map_err(|e| match e {
            StoreError::Duplicate { .. } => taken(),
            other => other.into(),
        })?;
        if !put {
            return Err(not_waiting("the execution has ended"));
        }
        tx.commit().await?;
        self.wake_workers().await;
        self.execution_get(ctx, now(r.id)).await
    }

    pub(crate) async fn execution_cancel(
        &self,
        ctx: &Ctx,
        r: ById,
    ) -> Result<api::Execution, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let folded = Folded::read(self, &mut tx, ctx, r.id).await?;
        let ended = || {
            Fault::new(
                Code::FlowState,
                "the execution has ended and cannot be cancelled",
            )
        };
        if folded.run.status().is_final() {
            return Err(ended());
        }
        let body = json!({"reason": "user"});
        let message = NewMessage {
            execution_id: r.id,
            kind: "cancel",
            node: "",
            body: &body,
            created_by: Some(ctx.actor.user_id),
        };
        match tx.inbox_put(&message).await {
            Ok(true) => tx.commit().await?,
            Ok(false) => return Err(ended()),
            // Asked for already.
            Err(StoreError::Duplicate { .. }) => drop(tx),
            Err(e) => return Err(e.into()),
        }
        self.wake_workers().await;
        self.execution_get(ctx, now(r.id)).await
    }
}

fn now(id: Uuid) -> api::ReadExecution {
    api::ReadExecution { id, at_seq: None }
}

/// The node that an answer is for, with its question.
fn asked(folded: &Folded, named: Option<&str>) -> Result<(NodeRef, std::sync::Arc<Value>), Fault> {
    let mut waiting = folded.run.asked();
    let Some(named) = named else {
        return match waiting.len() {
            1 => Ok(waiting.remove(0)),
            0 => Err(not_waiting("nothing in this execution waits for an answer")),
            n => {
                Err(not_waiting(&format!("{n} nodes wait for an answer"))
                    .hint("name one as node_id"))
            }
        };
    };
    let unknown = || Fault::not_found("node");
    let node: NodeRef = named.parse().map_err(|_| unknown())?;
    if let Some(found) = waiting.into_iter().find(|(n, _)| *n == node) {
        return Ok(found);
    }
    folded.run.graph().index(&node.id).ok_or_else(unknown)?;
    let answered = folded
        .entries
        .iter()
        .any(|e| matches!(&e.event, qadra_flow::Event::Input { node: n, .. } if *n == node));
    if answered {
        return Err(taken());
    }
    Err(not_waiting("the node does not wait for an answer"))
}

fn taken() -> Fault {
    Fault::new(Code::FlowInputTaken, "the node was answered already")
}

fn not_waiting(detail: &str) -> Fault {
    Fault::new(Code::FlowNotWaiting, detail)
}

fn one_of(field: &str, given: Option<&str>, known: &[&str]) -> Result<(), Fault> {
    match given {
        Some(word) if !known.contains(&word) => Err(Fault::invalid(format!(
            "{field} is {word:?}, not one of {}",
            known.join(", ")
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qadra_flow::NodeStatus;

    #[test]
    fn the_words_of_states_are_the_engines() {
        use qadra_flow::RunStatus::*;
        let words = [Pending, Running, Paused, Completed, Failed, Cancelled].map(|s| s.name());
        assert_eq!(words, STATUSES);
        assert_eq!(
            serde_json::to_value(NodeStatus::WaitingForInput).unwrap(),
            "waiting_for_input"
        );
    }
}
