//! How executions begin.

use bytes::Bytes;
use qadra_api as api;
use qadra_flow::{Entry, rerun};
use qadra_nats::Headers;
use qadra_store::{FlowRow, JournalRow, NewExecution, TenantTx};
use qadra_types::{Code, Ctx, Fault, new_id};
use serde_json::{Value, json};
use uuid::Uuid;

use super::view::{Folded, entries, missing};
use super::{check, missing as no_flow};
use crate::App;

/// Bytes of an input as JSON.
const MAX_INPUT: usize = 2 * 1024 * 1024;
/// Workers look for work when a message comes here, whatever it says.
const WAKE: &str = "_FLOW.wake";

/// Who or what starts an execution, and with which input.
pub(super) struct Cause<'a> {
    pub trigger: &'static str,
    pub triggered_by: Option<Uuid>,
    pub input: &'a Value,
    pub idempotency_key: Option<String>,
}

impl App {
    pub(crate) async fn flow_execute(
        &self,
        ctx: &Ctx,
        r: api::ExecuteFlow,
    ) -> Result<api::StartedExecution, Fault> {
        let input = r.input.unwrap_or_else(|| json!({}));
        let mut tx = self.store.tenant(ctx).await?;
        let flow = tx.flow_get(r.id).await?.ok_or_else(no_flow)?;
        let cause = Cause {
            // A key of the API acts without a person.
            trigger: match ctx.actor.scopes {
                Some(_) => "api",
                None => "manual",
            },
            triggered_by: Some(ctx.actor.user_id),
            input: &input,
            // Two people who choose the same word mean two executions.
            idempotency_key: r
                .idempotency_key
                .map(|key| format!("{}:{key}", ctx.actor.user_id)),
        };
        let started = begin(&mut tx, &flow, new_id(), cause).await?;
        tx.commit().await?;
        self.wake_workers().await;
        Ok(started)
    }

    /// Runs what failed or was stopped again; what had ended well is kept.
    pub(crate) async fn execution_retry(
        &self,
        ctx: &Ctx,
        r: api::ById,
    ) -> Result<api::StartedExecution, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let old = Folded::read(self, &mut tx, ctx, r.id).await?;
        if !matches!(old.row.status.as_str(), "failed" | "cancelled") {
            return Err(Fault::new(
                Code::FlowState,
                format!("the execution is {}, it has not failed", old.row.status),
            ));
        }
        self.again(tx, ctx, &old, &[], None).await
    }

    pub(crate) async fn execution_rerun(
        &self,
        ctx: &Ctx,
        r: api::RerunExecution,
    ) -> Result<api::StartedExecution, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let old = Folded::read(self, &mut tx, ctx, r.id).await?;
        if !matches!(
            old.row.status.as_str(),
            "completed" | "failed" | "cancelled"
        ) {
            return Err(Fault::new(
                Code::FlowState,
                format!("the execution is still {}", old.row.status),
            )
            .hint("cancel it first, or wait for its end"));
        }
        if old.run.graph().index(&r.from_node_id).is_none() {
            return Err(Fault::not_found("node"));
        }
        self.again(tx, ctx, &old, &[&r.from_node_id], r.input).await
    }

    pub(crate) async fn execution_fork(
        &self,
        ctx: &Ctx,
        r: api::ForkExecution,
    ) -> Result<api::StartedExecution, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let old = Folded::read(self, &mut tx, ctx, r.id).await?;
        check_input(&old.run, &r.input)?;
        let started = repeat(&mut tx, ctx, &old, "fork", &r.input).await?;
        tx.commit().await?;
        self.wake_workers().await;
        Ok(started)
    }

    /// A new execution of the same graph that begins with what `old` has done, but for `from` and what follows it.
    async fn again(
        &self,
        mut tx: TenantTx,
        ctx: &Ctx,
        old: &Folded,
        from: &[&str],
        input: Option<Value>,
    ) -> Result<api::StartedExecution, Fault> {
        let input = input.unwrap_or_else(|| old.input.clone());
        check_input(&old.run, &input)?;
        let at = chrono::Utc::now().timestamp_millis();
        let kept = rerun(
            old.run.graph(),
            &old.input,
            self.settings.flow_limits,
            &old.entries,
            from,
            at,
        );
        let kept = kept.map_err(|e| {
            tracing::error!(error = %e, execution = %old.row.id, "an execution could not be run again");
            Fault::new(Code::Internal, "the execution's journal could not be read")
        })?;
        let started = repeat(&mut tx, ctx, old, "rerun", &input).await?;
        let rows: Vec<JournalRow> = kept.iter().map(row).collect();
        tx.journal_seed(started.execution_id, &rows).await?;
        tx.commit().await?;
        self.wake_workers().await;
        Ok(started)
    }

    /// Tells idle workers that something is due. One that does not hear it finds out by itself a moment later.
    pub(super) async fn wake_workers(&self) {
        if let Err(e) = self.bus.publish(WAKE, Headers::new(), Bytes::new()).await {
            tracing::debug!(error = %e, "workers could not be woken");
        }
    }
}

/// Puts an execution in line, or finds the one that was made with the same idempotency key.
pub(super) async fn begin(
    tx: &mut TenantTx,
    flow: &FlowRow,
    id: Uuid,
    cause: Cause<'_>,
) -> Result<api::StartedExecution, Fault> {
    let flow_id = flow.summary.id;
    if !flow.summary.is_active {
        return Err(Fault::new(Code::FlowState, "the flow is switched off")
            .hint("set its is_active to true"));
    }
    let graph = check::compiled(&flow.flow_data)?;
    let schema = graph.node(graph.start()).data.get("input_schema");
    check::fits(schema.unwrap_or(&Value::Null), cause.input, "the input")?;
    let input = sized(cause.input)?;
    let snapshot_id = tx
        .flow_snapshot(flow_id, &flow.digest, &flow.flow_data.to_string())
        .await?;
    let made = tx
        .execution_create(&NewExecution {
            id,
            flow_id,
            snapshot_id,
            input: &input,
            trigger: cause.trigger,
            triggered_by: cause.triggered_by,
            parent: None,
            rerun_of: None,
            conversation_id: None,
            turn_id: None,
            idempotency_key: cause.idempotency_key.as_deref(),
        })
        .await?;
    if made {
        return Ok(api::StartedExecution {
            execution_id: id,
            status: "pending".into(),
        });
    }
    let first = match &cause.idempotency_key {
        Some(key) => tx.execution_by_key(flow_id, key).await?,
        None => None,
    };
    match first {
        Some((_, _, other)) if other != *cause.input => Err(Fault::new(
            Code::Conflict,
            "the idempotency key was used with another input",
        )),
        Some((execution_id, status, _)) => Ok(api::StartedExecution {
            execution_id,
            status,
        }),
        None => Err(Fault::new(
            Code::Conflict,
            "an execution with that id exists already",
        )),
    }
}

async fn repeat(
    tx: &mut TenantTx,
    ctx: &Ctx,
    old: &Folded,
    trigger: &'static str,
    input: &Value,
) -> Result<api::StartedExecution, Fault> {
    let id = new_id();
    tx.execution_create(&NewExecution {
        id,
        flow_id: old.row.flow_id,
        snapshot_id: old.row.snapshot_id,
        input: &sized(input)?,
        trigger,
        triggered_by: Some(ctx.actor.user_id),
        parent: None,
        rerun_of: Some(old.row.id),
        // Whoever may not read the conversation may not read what is made of its execution.
        conversation_id: old.row.conversation_id,
        turn_id: None,
        idempotency_key: None,
    })
    .await?;
    Ok(api::StartedExecution {
        execution_id: id,
        status: "pending".into(),
    })
}

fn check_input(run: &qadra_flow::Run, input: &Value) -> Result<(), Fault> {
    let graph = run.graph();
    let schema = graph.node(graph.start()).data.get("input_schema");
    check::fits(schema.unwrap_or(&Value::Null), input, "the input")
}

fn sized(input: &Value) -> Result<String, Fault> {
    let text = input.to_string();
    if text.len() > MAX_INPUT {
        return Err(Fault::invalid(format!(
            "input has {} bytes, more than the {MAX_INPUT} allowed",
            text.len()
        )));
    }
    Ok(text)
}

fn row(entry: &Entry) -> JournalRow {
    let record = entry.record();
    JournalRow {
        seq: entry.seq,
        kind: record.kind.to_owned(),
        node: record.node.into_owned(),
        attempt: i32::try_from(record.attempt).unwrap_or(i32::MAX),
        at: entry.at,
        body: record.body.map(|b| b.into_owned()),
    }
}

/// Reads an execution that `ctx` may see, with its journal.
impl Folded {
    pub(super) async fn read(
        app: &App,
        tx: &mut TenantTx,
        ctx: &Ctx,
        id: Uuid,
    ) -> Result<Self, Fault> {
        let row = tx.execution_get(id).await?.ok_or_else(missing)?;
        if let Some(conversation) = row.conversation_id {
            let conversation = tx.conversation_get(conversation).await?;
            let may = conversation.is_some_and(|c| c.user_id == ctx.actor.user_id || c.is_shared);
            if !may {
                return Err(missing());
            }
        }
        let data = tx
            .flow_snapshot_get(row.snapshot_id)
            .await?
            .ok_or_else(missing)?;
        let input = tx.execution_input(id).await?.ok_or_else(missing)?;
        let entries = entries(&tx.journal_read(id, 0).await?)?;
        Self::fold(app, row, &data, input, entries)
    }
}
