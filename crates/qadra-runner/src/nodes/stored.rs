use async_trait::async_trait;
use qadra_llm::Secret;
use qadra_store::{SECRET_PURPOSE, Store, StoreError, UsageRecord, Vault};
use qadra_types::Agent;
use serde_json::json;
use uuid::Uuid;

use super::{Agents, Ledger, NodeFailure, Secrets, Spent};

/// Agents and the account of usage, as PostgreSQL has them.
#[derive(Clone)]
pub struct Stored(pub Store);

#[async_trait]
impl Agents for Stored {
    async fn get(&self, tenant_id: Uuid, id: Uuid) -> Result<Option<Agent>, NodeFailure> {
        let mut tx = self.0.tenant_id(tenant_id).await.map_err(failed)?;
        tx.agent_get(id).await.map_err(failed)
    }
}

#[async_trait]
impl Ledger for Stored {
    async fn record(&self, spent: Spent) -> Result<(), NodeFailure> {
        let tokens = |n: u64| i32::try_from(n).unwrap_or(i32::MAX);
        let record = UsageRecord {
            user_id: spent.user_id.unwrap_or_default(),
            agent_id: spent.agent_id.unwrap_or_default(),
            model: spent.model,
            tokens_in: tokens(spent.usage.prompt_tokens),
            tokens_out: tokens(spent.usage.completion_tokens),
            operation: "llm_call",
            metadata: json!({
                "flow_execution_id": spent.execution_id,
                "node": spent.node,
                "agent_id": spent.agent_id,
                "estimated": spent.usage.estimated,
            }),
        };
        let mut tx = self.0.tenant_id(spent.tenant_id).await.map_err(failed)?;
        tx.usage_add(&[record]).await.map_err(failed)?;
        tx.commit().await.map_err(failed)
    }
}

/// The cause is ours: it is logged here and not told to the tenant.
fn failed(error: StoreError) -> NodeFailure {
    tracing::warn!(%error, "a node cannot use the store");
    NodeFailure::passing("store", "the database did not answer")
}

/// Secrets as PostgreSQL keeps them, opened for the attempt that needs them.
pub struct StoredSecrets {
    pub store: Store,
    /// None on a worker that was not given the installation's secret.
    pub vault: Option<Vault>,
}

#[async_trait]
impl Secrets for StoredSecrets {
    async fn get(&self, tenant_id: Uuid, name: &str) -> Result<Option<Secret>, NodeFailure> {
        let mut tx = self.store.tenant_id(tenant_id).await.map_err(failed)?;
        let found = tx.secrets_read(&[name.to_owned()]).await.map_err(failed)?;
        let Some((_, sealed)) = found.into_iter().next() else {
            return Ok(None);
        };
        let Some(vault) = &self.vault else {
            return Err(NodeFailure::fatal(
                "secrets",
                "this worker was started without QADRA_JWT_SECRET, so it cannot open secrets",
            ));
        };
        let opened = vault.open(tenant_id, SECRET_PURPOSE, name, &sealed);
        let value = opened.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        value.map(|v| Some(Secret::new(v))).ok_or_else(|| {
            NodeFailure::fatal(
                "secrets",
                format!("the secret {name} was sealed under another key; set it again"),
            )
        })
    }
}
