//! Reads what became of every execution, and has it judged.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anyhow::{Context, Result};
use qadra_flow::{Entry, Graph, Limits, Record, Run};
use qadra_store::{JournalRow, Store};
use sqlx::PgPool;
use uuid::Uuid;

use super::kinds::{CHILD, Kind};
use super::load::Started;
use super::stub::Call;
use super::verdict::{self, Blow, Calls, Message, Seen};

#[derive(Default)]
pub(super) struct Found {
    pub(super) runs: usize,
    pub(super) children: usize,
    /// Ends of nodes in the journals.
    pub(super) nodes: usize,
    pub(super) calls: Calls,
    pub(super) answered_twice: usize,
}

pub(super) async fn judge(
    store: &Store,
    admin: &PgPool,
    started: &[Started],
    calls: &[Call],
    blows: &[Blow],
    wrong: &mut Vec<String>,
) -> Result<Found> {
    let mut found = Found::default();
    let mut graphs = HashMap::new();
    let tenants: Vec<Uuid> = started.iter().map(|s| s.tenant_id).collect();
    let held: Vec<Uuid> = sqlx::query_scalar(
        "SELECT id FROM flow_executions WHERE tenant_id = ANY ($1) AND worker_id IS NOT NULL",
    )
    .bind(&tenants)
    .fetch_all(admin)
    .await?;
    let messages: Vec<(Uuid, String, String, bool)> = sqlx::query_as(
        "SELECT execution_id, kind, node, taken FROM flow_inbox WHERE tenant_id = ANY ($1)",
    )
    .bind(&tenants)
    .fetch_all(admin)
    .await?;
    let mut inboxes: HashMap<Uuid, Vec<Message>> = HashMap::new();
    for (id, kind, node, taken) in messages {
        let message = Message { kind, node, taken };
        inboxes.entry(id).or_default().push(message);
    }
    let mut seen = Vec::new();
    for run in started {
        let kind = run.kinds.get(run.kind).context("a kind is missing")?;
        let tag = run.id.to_string();
        let parent = read(store, run.tenant_id, run.id, kind, &tag, &mut graphs).await?;
        let mut tx = store.tenant_id(run.tenant_id).await?;
        let children = tx.execution_children(run.id).await?;
        drop(tx);
        for (_, _, id) in &children {
            let kind = run.kinds.iter().find(|k| k.name == CHILD);
            let kind = kind.context("the child's kind is missing")?;
            seen.push(read(store, run.tenant_id, *id, kind, &tag, &mut graphs).await?);
        }
        found.children += children.len();
        found.answered_twice += run.twice;
        wrong.extend(run.wrong.iter().cloned());
        seen.push(Seen {
            said: run.said.clone(),
            children: children.len(),
            ..parent
        });
    }
    for one in &mut seen {
        one.held = held.contains(&one.id);
        one.inbox = inboxes.remove(&one.id).unwrap_or_default();
    }
    found.runs = started.len();
    found.nodes = seen.iter().map(|s| s.journal.len()).sum();
    wrong.extend(seen.iter().flat_map(verdict::execution));
    found.calls = verdict::calls(&seen, calls, blows, wrong);
    let (all, open): (i64, i64) = sqlx::query_as(
        "SELECT count(*), count(*) FILTER (WHERE completed_at IS NULL) FROM flow_executions WHERE tenant_id = ANY ($1)",
    )
    .bind(&tenants)
    .fetch_one(admin)
    .await?;
    if open > 0 {
        wrong.push(format!("{open} executions have not ended"));
    }
    if usize::try_from(all).ok() != Some(seen.len()) {
        wrong.push(format!(
            "there are {all} executions and not the {} that were begun",
            seen.len()
        ));
    }
    Ok(found)
}

async fn read<'a>(
    store: &Store,
    tenant_id: Uuid,
    id: Uuid,
    kind: &'a Kind,
    tag: &str,
    graphs: &mut HashMap<(Uuid, &'static str), Arc<Graph>>,
) -> Result<Seen<'a>> {
    let mut tx = store.tenant_id(tenant_id).await?;
    let row = tx.execution_get(id).await?;
    let row = row.with_context(|| format!("execution {id} is gone"))?;
    let input = tx.execution_input(id).await?.unwrap_or_default();
    let rows = tx.journal_read(id, 0).await?;
    drop(tx);
    let graph = match graphs.get(&(tenant_id, kind.name)) {
        Some(graph) => Arc::clone(graph),
        None => {
            let graph = Arc::new(Graph::compile(&kind.graph)?);
            graphs.insert((tenant_id, kind.name), Arc::clone(&graph));
            graph
        }
    };
    let mut journal = Vec::new();
    let mut run = Run::new(graph, input, Limits::default());
    let mut error = None;
    for row in &rows {
        let applied = entry(row).and_then(|entry| {
            let applied = run.apply(&entry).map_err(|e| e.to_string());
            journal.push(entry);
            applied
        });
        if let Err(e) = applied {
            error.get_or_insert(format!("entry {}: {e}", row.seq));
        }
    }
    let output = run.output().map(|o| serde_json::Value::clone(o));
    let folded = match error {
        Some(error) => Err(error),
        None => Ok((run.status().name().to_owned(), output.unwrap_or_default())),
    };
    Ok(Seen {
        id,
        kind,
        tag: tag.to_owned(),
        status: row.status,
        error: row.error,
        held: false,
        journal,
        folded,
        inbox: Vec::new(),
        said: BTreeMap::new(),
        children: 0,
    })
}

fn entry(row: &JournalRow) -> Result<Entry, String> {
    let record = Record {
        kind: &row.kind,
        node: row.node.as_str().into(),
        attempt: row.attempt.unsigned_abs(),
        body: row.body.as_deref().map(Into::into),
    };
    Entry::from_record(row.seq, row.at, &record).map_err(|e| e.to_string())
}
