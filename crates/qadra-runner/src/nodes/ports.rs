//! What the nodes need of the rest of the product, as traits: [`super::Stored`] has them from PostgreSQL, tests have
//! them from memory.

use async_trait::async_trait;
use qadra_llm::{Secret, Usage};
use qadra_types::Agent;
use serde::Deserialize;
use uuid::Uuid;

use super::NodeFailure;

/// Values that a tenant keeps for its flows and never sees again.
#[async_trait]
pub trait Secrets: Send + Sync + 'static {
    /// None when the tenant has no secret of that name.
    async fn get(&self, tenant_id: Uuid, name: &str) -> Result<Option<Secret>, NodeFailure>;
}

#[async_trait]
pub trait Agents: Send + Sync + 'static {
    async fn get(&self, tenant_id: Uuid, id: Uuid) -> Result<Option<Agent>, NodeFailure>;
}

/// How an artifact is built up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ArtifactTemplate {
    pub sections: Vec<TemplateSection>,
    /// `markdown` when absent.
    pub output_format: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct TemplateSection {
    pub name: String,
    pub description: Option<String>,
    pub required: bool,
}

#[async_trait]
pub trait Templates: Send + Sync + 'static {
    async fn get(&self, tenant_id: Uuid, id: Uuid)
    -> Result<Option<ArtifactTemplate>, NodeFailure>;
}

/// For as long as tenants cannot store templates: there are none.
#[derive(Debug, Default, Clone, Copy)]
pub struct NoTemplates;

#[async_trait]
impl Templates for NoTemplates {
    async fn get(&self, _: Uuid, _: Uuid) -> Result<Option<ArtifactTemplate>, NodeFailure> {
        Ok(None)
    }
}

/// What one call of a model has cost.
#[derive(Debug, Clone)]
pub struct Spent {
    pub tenant_id: Uuid,
    pub user_id: Option<Uuid>,
    pub agent_id: Option<Uuid>,
    pub execution_id: Uuid,
    pub node: String,
    pub model: String,
    pub usage: Usage,
}

/// The account of what tenants spend.
#[async_trait]
pub trait Ledger: Send + Sync + 'static {
    async fn record(&self, spent: Spent) -> Result<(), NodeFailure>;
}
