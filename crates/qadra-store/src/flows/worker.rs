//! What workers ask: executions of all tenants, one round trip each, by functions that can do nothing else. See the end
//! of migration 0008 for what they promise.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::postgres::types::PgInterval;
use uuid::Uuid;

use super::{InboxRow, JournalRow};
use crate::{Result, Store, StoreError};

/// An execution that a worker may run until somebody else's token is higher.
#[derive(Debug, Clone)]
pub struct Claim {
    pub tenant_id: Uuid,
    pub execution_id: Uuid,
    pub token: i64,
    pub flow_id: Uuid,
    pub snapshot_id: Uuid,
    pub status: String,
    pub input: Value,
    pub parent: Option<Parent>,
    pub root_id: Uuid,
    pub depth: i32,
    pub trigger: String,
    pub triggered_by: Option<Uuid>,
    pub conversation_id: Option<Uuid>,
    pub turn_id: Option<Uuid>,
    /// Of the journal; 0 for one that was never run.
    pub last_seq: u32,
    /// Whether [`Store::flow_open`] would bring messages.
    pub has_inbox: bool,
}

/// The node that waits for an execution to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    pub execution_id: Uuid,
    pub node: String,
    pub attempt: i32,
}

/// What is to be written for one execution.
#[derive(Debug, Clone, Default)]
pub struct RunAppend {
    pub tenant_id: Uuid,
    pub execution_id: Uuid,
    /// Of the claim.
    pub token: i64,
    /// In order and without gaps, following what the journal has.
    pub rows: Vec<JournalRow>,
    /// A new status. A final one ends the lease.
    pub status: Option<&'static str>,
    pub error: Option<String>,
    /// With `release`: when somebody should look at it again; `None` when only a message can move it.
    pub ready_at: Option<DateTime<Utc>>,
    /// Gives the lease back.
    pub release: bool,
    /// Messages that these rows contain, or that nothing needs any more.
    pub inbox_done: Vec<Uuid>,
    pub steps: Option<i32>,
    /// With a final status: what the parent's node is told, as JSON text.
    pub note: Option<String>,
}

/// Why nothing of an execution's part was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Somebody else holds it now, or nobody does.
    Stale,
    /// It has ended.
    Ended,
    /// The rows do not follow the journal.
    Gap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    pub tenant_id: Uuid,
    pub execution_id: Uuid,
    pub reason: Refusal,
}

/// What a worker needs to begin or take over an execution, but for its journal.
#[derive(Debug, Clone)]
pub struct Opened {
    pub snapshot_id: Uuid,
    /// As JSON text; `None` if it was not asked for.
    pub flow_data: Option<String>,
    pub input: Value,
    /// Oldest first, without those that were taken.
    pub inbox: Vec<InboxRow>,
}

/// How often a statement is tried again that PostgreSQL ended because two waited for each other.
const TRIES: u32 = 5;

impl Store {
    /// Takes at most `most` executions that are due, in turns between tenants, with at most `per_tenant` at work for
    /// each; also those of workers not seen for `lease`. Counts as a heartbeat.
    pub async fn flow_claim(
        &self,
        worker: Uuid,
        most: i32,
        per_tenant: i32,
        lease: Duration,
    ) -> Result<Vec<Claim>> {
        sqlx::query(
            "SELECT tenant_id, id, lease_token, flow_id, snapshot_id, status, input, parent_id, parent_node, parent_attempt,
                    root_id, depth, trigger, triggered_by, conversation_id, turn_id, last_seq, has_inbox
             FROM flow_claim($1, $2, $3, $4)",
        )
        .bind(worker)
        .bind(most)
        .bind(per_tenant)
        .bind(PgInterval {
            months: 0,
            days: 0,
            microseconds: i64::try_from(lease.as_micros()).unwrap_or(i64::MAX),
        })
        .try_map(claim)
        .fetch_all(self.pool())
        .await
        .map_err(Into::into)
    }

    /// Makes what happened in these executions durable: one statement, one commit, one round trip. Returns those of
    /// which nothing was written; that leaves the others as they are.
    pub async fn flow_append(&self, worker: Uuid, runs: &[RunAppend]) -> Result<Vec<Refused>> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let batch = Batch::of(runs);
        let mut tries = 0;
        loop {
            tries += 1;
            match self.flow_append_once(worker, &batch).await {
                Err(StoreError::Database(e)) if tries < TRIES && deadlock(&e) => {
                    tracing::debug!(tries, "two workers waited for each other; again");
                }
                Err(e) => return Err(e),
                Ok(refused) => {
                    return Ok(refused
                        .into_iter()
                        .filter_map(|(n, reason)| {
                            let run = runs.get(usize::try_from(n).ok()?.checked_sub(1)?)?;
                            Some(Refused {
                                tenant_id: run.tenant_id,
                                execution_id: run.execution_id,
                                reason,
                            })
                        })
                        .collect());
                }
            }
        }
    }

    async fn flow_append_once(&self, worker: Uuid, b: &Batch<'_>) -> Result<Vec<(i32, Refusal)>> {
        sqlx::query(
            "SELECT execution, reason FROM flow_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
                    $16, $17, $18, $19, $20)",
        )
        .bind(worker)
        .bind(&b.tenants)
        .bind(&b.executions)
        .bind(&b.tokens)
        .bind(&b.first_seqs)
        .bind(&b.statuses)
        .bind(&b.errors)
        .bind(&b.ready)
        .bind(&b.releases)
        .bind(&b.steps)
        .bind(&b.notes)
        .bind(&b.row_of)
        .bind(&b.seqs)
        .bind(&b.kinds)
        .bind(&b.nodes)
        .bind(&b.attempts)
        .bind(&b.ats)
        .bind(&b.bodies)
        .bind(&b.done_of)
        .bind(&b.done)
        .try_map(|r: PgRow| {
            Ok((
                r.try_get(0)?,
                match r.try_get::<&str, _>(1)? {
                    "ended" => Refusal::Ended,
                    "gap" => Refusal::Gap,
                    _ => Refusal::Stale,
                },
            ))
        })
        .fetch_all(self.pool())
        .await
        .map_err(Into::into)
    }

    /// Says that the worker lives. Returns which executions that it holds have messages: (tenant, execution).
    pub async fn flow_heartbeat(
        &self,
        worker: Uuid,
        name: &str,
        draining: bool,
    ) -> Result<Vec<(Uuid, Uuid)>> {
        sqlx::query_as("SELECT tenant_id, execution_id FROM flow_heartbeat($1, $2, $3)")
            .bind(worker)
            .bind(name)
            .bind(draining)
            .fetch_all(self.pool())
            .await
            .map_err(Into::into)
    }

    /// Gives back everything that the worker holds, and forgets it. Returns how many executions there were.
    pub async fn flow_release(&self, worker: Uuid) -> Result<i64> {
        sqlx::query_scalar("SELECT flow_release($1)")
            .bind(worker)
            .fetch_one(self.pool())
            .await
            .map_err(Into::into)
    }

    /// When the next execution that nobody holds is due.
    pub async fn flow_next_ready(&self) -> Result<Option<DateTime<Utc>>> {
        sqlx::query_scalar("SELECT flow_next_ready()")
            .fetch_one(self.pool())
            .await
            .map_err(Into::into)
    }

    /// The graph (if asked for), the input and the messages of an execution.
    pub async fn flow_open(
        &self,
        tenant_id: Uuid,
        execution_id: Uuid,
        with_graph: bool,
    ) -> Result<Option<Opened>> {
        sqlx::query("SELECT snapshot_id, flow_data::text, input, inbox FROM flow_open($1, $2, $3)")
            .bind(tenant_id)
            .bind(execution_id)
            .bind(with_graph)
            .try_map(|r: PgRow| {
                let inbox: Option<sqlx::types::Json<Vec<InboxRow>>> = r.try_get(3)?;
                Ok(Opened {
                    snapshot_id: r.try_get(0)?,
                    flow_data: r.try_get(1)?,
                    input: r.try_get(2)?,
                    inbox: inbox.map(|j| j.0).unwrap_or_default(),
                })
            })
            .fetch_optional(self.pool())
            .await
            .map_err(Into::into)
    }

    /// An execution's journal from after `after`, in order.
    pub async fn flow_entries(
        &self,
        tenant_id: Uuid,
        execution_id: Uuid,
        after: u32,
    ) -> Result<Vec<JournalRow>> {
        sqlx::query("SELECT seq, kind, node, attempt, at, body::text FROM flow_entries($1, $2, $3)")
            .bind(tenant_id)
            .bind(execution_id)
            .bind(i32::try_from(after).unwrap_or(i32::MAX))
            .try_map(|r: PgRow| super::journal::row(&r))
            .fetch_all(self.pool())
            .await
            .map_err(Into::into)
    }
}

/// The same as arrays, since a statement has a fixed number of parameters.
#[derive(Default)]
struct Batch<'a> {
    tenants: Vec<Uuid>,
    executions: Vec<Uuid>,
    tokens: Vec<i64>,
    first_seqs: Vec<Option<i32>>,
    statuses: Vec<Option<&'a str>>,
    errors: Vec<Option<&'a str>>,
    ready: Vec<Option<DateTime<Utc>>>,
    releases: Vec<bool>,
    steps: Vec<Option<i32>>,
    notes: Vec<Option<&'a str>>,
    row_of: Vec<i32>,
    seqs: Vec<i32>,
    kinds: Vec<&'a str>,
    nodes: Vec<&'a str>,
    attempts: Vec<i32>,
    ats: Vec<DateTime<Utc>>,
    bodies: Vec<Option<&'a str>>,
    done_of: Vec<i32>,
    done: Vec<Uuid>,
}

impl<'a> Batch<'a> {
    fn of(runs: &'a [RunAppend]) -> Self {
        let mut b = Self::default();
        for (run, n) in runs.iter().zip(1..) {
            b.tenants.push(run.tenant_id);
            b.executions.push(run.execution_id);
            b.tokens.push(run.token);
            b.statuses.push(run.status);
            b.errors.push(run.error.as_deref());
            b.ready.push(run.ready_at);
            b.releases.push(run.release);
            b.steps.push(run.steps);
            b.notes.push(run.note.as_deref());
            // A gap among the rows is refused like one before them: no journal is followed by 0.
            let dense = run
                .rows
                .is_sorted_by(|a, b| a.seq.checked_add(1) == Some(b.seq));
            let first = run.rows.first().map(|r| if dense { seq(r.seq) } else { 0 });
            b.first_seqs.push(first);
            for row in &run.rows {
                b.row_of.push(n);
                b.seqs.push(seq(row.seq));
                b.kinds.push(&row.kind);
                b.nodes.push(&row.node);
                b.attempts.push(row.attempt);
                b.ats.push(row.time());
                b.bodies.push(row.body.as_deref());
            }
            for id in &run.inbox_done {
                b.done_of.push(n);
                b.done.push(*id);
            }
        }
        b
    }
}

fn seq(seq: u32) -> i32 {
    i32::try_from(seq).unwrap_or(0)
}

fn deadlock(e: &sqlx::Error) -> bool {
    let code = e.as_database_error().and_then(|e| e.code());
    matches!(code.as_deref(), Some("40P01" | "40001"))
}

fn claim(r: PgRow) -> sqlx::Result<Claim> {
    let parent_id: Option<Uuid> = r.try_get(7)?;
    let parent_node: Option<String> = r.try_get(8)?;
    let attempt = r.try_get(9)?;
    Ok(Claim {
        tenant_id: r.try_get(0)?,
        execution_id: r.try_get(1)?,
        token: r.try_get(2)?,
        flow_id: r.try_get(3)?,
        snapshot_id: r.try_get(4)?,
        status: r.try_get(5)?,
        input: r.try_get(6)?,
        parent: parent_id
            .zip(parent_node)
            .map(|(execution_id, node)| Parent {
                execution_id,
                node,
                attempt,
            }),
        root_id: r.try_get(10)?,
        depth: r.try_get(11)?,
        trigger: r.try_get(12)?,
        triggered_by: r.try_get(13)?,
        conversation_id: r.try_get(14)?,
        turn_id: r.try_get(15)?,
        last_seq: r.try_get::<i32, _>(16)?.unsigned_abs(),
        has_inbox: r.try_get(17)?,
    })
}
