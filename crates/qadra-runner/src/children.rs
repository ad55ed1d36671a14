//! Flows that run flows, and what reaches an execution from outside.

use std::sync::Arc;

use qadra_flow::{Event, NodeError, NodeKind, NodeRef, Run, RunStatus};
use qadra_store::{Claim, InboxRow, NewExecution, NewMessage, Parent, StoreError};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::nodes::NodeFailure;
use crate::worker::Shared;

/// The child's id follows from who asks for it, so asking twice makes one child.
fn child_id(claim: &Claim, node: &NodeRef, attempt: u32) -> Uuid {
    Uuid::new_v5(
        &claim.execution_id,
        format!("child {node} {attempt}").as_bytes(),
    )
}

/// Makes the execution that the node waits for, if it is not there yet.
pub(crate) async fn start(
    shared: &Shared,
    claim: &Claim,
    node: &NodeRef,
    attempt: u32,
    data: &Map<String, Value>,
) -> Result<(), NodeFailure> {
    let target = data
        .get("target_flow_id")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let flow_id: Uuid = target.trim().parse().map_err(|_| {
        NodeFailure::fatal(
            "bad_input",
            format!("target_flow_id {target:?} is not the id of a flow"),
        )
    })?;
    if claim.depth.unsigned_abs() >= shared.settings.depth {
        return Err(NodeFailure::fatal(
            "depth",
            format!("flows run flows {} deep at most", shared.settings.depth),
        ));
    }
    let input = data
        .get("input")
        .map_or_else(|| "{}".to_owned(), Value::to_string);
    let begun = async {
        let mut tx = shared.store.tenant_id(claim.tenant_id).await?;
        let Some(flow) = tx.flow_get(flow_id).await?.filter(|f| f.summary.is_active) else {
            return Ok(false);
        };
        let drawn = flow.flow_data.to_string();
        let snapshot_id = tx.flow_snapshot(flow_id, &flow.digest, &drawn).await?;
        tx.execution_create(&NewExecution {
            id: child_id(claim, node, attempt),
            flow_id,
            snapshot_id,
            input: &input,
            trigger: "flow",
            triggered_by: claim.triggered_by,
            parent: Some(Parent {
                execution_id: claim.execution_id,
                node: node.to_string(),
                attempt: attempt as i32,
            }),
            rerun_of: None,
            conversation_id: claim.conversation_id,
            turn_id: claim.turn_id,
            idempotency_key: None,
        })
        .await?;
        tx.commit().await?;
        Ok::<bool, StoreError>(true)
    };
    match begun.await {
        Ok(true) => {
            shared.wake_all().await;
            Ok(())
        }
        Ok(false) => Err(NodeFailure::fatal(
            "unknown_flow",
            "there is no such flow to run, or it is switched off",
        )),
        Err(error) => {
            tracing::warn!(%error, "a flow within a flow could not begin");
            Err(NodeFailure::passing(
                "store",
                "the flow could not begin: the database did not answer",
            ))
        }
    }
}

/// Nobody waits for the child any more.
pub(crate) async fn cancel(shared: &Shared, claim: &Claim, node: &NodeRef, run: &Run) {
    let kind = run
        .graph()
        .index(&node.id)
        .map(|n| run.graph().node(n).kind);
    if kind != Some(NodeKind::ExecuteFlow) {
        return;
    }
    let told = async {
        let mut tx = shared.store.tenant_id(claim.tenant_id).await?;
        tx.inbox_put(&NewMessage {
            execution_id: child_id(claim, node, run.attempt(node).unwrap_or(1)),
            kind: "cancel",
            node: "",
            body: &json!({"reason": "the flow that ran it has gone on without it"}),
            created_by: None,
        })
        .await?;
        tx.commit().await
    };
    match told.await {
        // Somebody else has told it.
        Ok(()) | Err(StoreError::Duplicate { .. }) => shared.wake_all().await,
        Err(error) => tracing::warn!(%error, "a flow within a flow could not be stopped"),
    }
}

/// What the parent's node is told when its child ends, as JSON text.
pub(crate) fn note(status: RunStatus, run: &Run) -> String {
    json!({"status": status.name(), "output": run.output().map(|o| &**o), "error": run.error()})
        .to_string()
}

/// The event that a message is; None when it comes too late to matter.
pub(crate) fn event_of(message: &InboxRow, run: &Run) -> Option<Event> {
    let node = || message.node.parse::<NodeRef>().ok();
    match message.kind.as_str() {
        "cancel" => {
            let reason = message.body.get("reason").and_then(Value::as_str);
            Some(Event::Cancelled {
                by: message.created_by,
                reason: reason.unwrap_or("cancelled").to_owned(),
            })
        }
        "input" => {
            let node = node()?;
            run.asked()
                .iter()
                .any(|(asked, _)| *asked == node)
                .then(|| Event::Input {
                    node,
                    value: Arc::new(message.body.clone()),
                    by: message.created_by,
                })
        }
        "child" => {
            let (node, attempt) = (node()?, message.attempt.unsigned_abs());
            if !run.is_under_way(&node, attempt) {
                return None;
            }
            let field = |key: &str| message.body.get(key).and_then(Value::as_str);
            Some(match field("status") {
                Some("completed") => Event::Completed {
                    node,
                    attempt,
                    output: Some(Arc::new(
                        message.body.get("output").cloned().unwrap_or(Value::Null),
                    )),
                    route: None,
                    began: None,
                },
                status => Event::Failed {
                    node,
                    attempt,
                    error: NodeError {
                        retryable: status == Some("failed"),
                        ..NodeError::fatal(
                            "child",
                            format!(
                                "the flow it ran {}",
                                match (status, field("error")) {
                                    (Some("cancelled"), _) => "was cancelled".to_owned(),
                                    (_, Some(error)) => format!("failed: {error}"),
                                    _ => "failed".to_owned(),
                                }
                            ),
                        )
                    },
                },
            })
        }
        _ => None,
    }
}
