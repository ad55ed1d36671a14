//! Tenants, flows and executions, made as the use cases make them.

use anyhow::{Context, Result};
use qadra_store::{NewAccount, NewExecution, NewFlow, Store, StoreError};
use qadra_types::new_id;
use serde_json::{Value, json};
use uuid::Uuid;

/// A flow that can be executed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flow {
    pub(crate) tenant_id: Uuid,
    pub(crate) id: Uuid,
    snapshot_id: Uuid,
}

pub(crate) async fn tenant(store: &Store) -> Result<Uuid> {
    let (tenant_id, user_id) = (new_id(), new_id());
    let mut tx = store.auth().await?;
    tx.account_create(&NewAccount {
        tenant_id,
        tenant_name: "Bench",
        tenant_slug: &tenant_id.simple().to_string(),
        user_id,
        email: &format!("{}@example.org", user_id.simple()),
        name: "Bench",
        password_hash: "nobody logs in",
    })
    .await?;
    tx.commit().await?;
    Ok(tenant_id)
}

impl Flow {
    pub(crate) async fn create(
        store: &Store,
        tenant_id: Uuid,
        name: &str,
        flow_data: &Value,
    ) -> Result<Self> {
        let (id, text) = (new_id(), flow_data.to_string());
        let mut tx = store.tenant_id(tenant_id).await?;
        tx.flow_create(&NewFlow {
            id,
            name,
            description: None,
            flow_data: &text,
            digest: name.as_bytes(),
            node_count: 1,
            is_active: true,
            created_by: None,
        })
        .await
        .with_context(|| format!("make the flow {name}"))?;
        let snapshot_id = tx.flow_snapshot(id, name.as_bytes(), &text).await?;
        tx.commit().await?;
        Ok(Self {
            tenant_id,
            id,
            snapshot_id,
        })
    }

    /// Makes the execution `id` unless it is there.
    pub(crate) async fn execute(
        &self,
        store: &Store,
        id: Uuid,
        input: &Value,
    ) -> Result<(), StoreError> {
        let mut tx = store.tenant_id(self.tenant_id).await?;
        tx.execution_create(&NewExecution {
            id,
            flow_id: self.id,
            snapshot_id: self.snapshot_id,
            input: &input.to_string(),
            trigger: "api",
            triggered_by: None,
            parent: None,
            rerun_of: None,
            conversation_id: None,
            turn_id: None,
            idempotency_key: None,
        })
        .await?;
        tx.commit().await
    }
}

/// A graph out of `id:Type` nodes and `a>b`, `a.handle>b` edges.
pub(crate) fn graph(nodes: &[(String, Value)], edges: &str) -> Value {
    let nodes: Vec<Value> = nodes
        .iter()
        .map(|(name, data)| {
            let (id, kind) = name.split_once(':').unwrap_or((name, ""));
            json!({"id": id, "type": kind, "data": data})
        })
        .collect();
    let edges: Vec<Value> = edges
        .split_whitespace()
        .filter_map(|edge| {
            let (from, to) = edge.split_once('>')?;
            let (from, handle) = match from.split_once('.') {
                Some((from, handle)) => (from, json!(handle)),
                None => (from, Value::Null),
            };
            Some(json!({"id": edge, "source": from, "target": to, "sourceHandle": handle}))
        })
        .collect();
    json!({"nodes": nodes, "edges": edges})
}
