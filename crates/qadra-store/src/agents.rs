use qadra_types::{Agent, AgentVersion, ControlType, OutputVisibility};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use crate::accounts::word;
use crate::{Result, TenantTx};

/// Columns of an agent in the order [`agent`] reads them; prefix them with a table alias to join.
pub(crate) const COLUMNS: &str = "id, name, version, display_name, avatar_url, description, system_prompt, \
     control_type::text, output_visibility::text, max_calls_per_parent_agent, model, temperature, is_active, \
     created_at, updated_at";

pub struct NewAgent<'a> {
    pub id: Uuid,
    pub name: &'a str,
    pub display_name: Option<&'a str>,
    pub avatar_url: Option<&'a str>,
    pub description: Option<&'a str>,
    pub system_prompt: &'a str,
    pub control_type: ControlType,
    pub output_visibility: OutputVisibility,
    pub max_calls_per_parent_agent: i32,
    pub model: Option<&'a str>,
    pub temperature: Option<f64>,
    pub is_active: bool,
}

/// The whole next state of an agent, and who makes it.
pub struct AgentChange<'a> {
    pub agent: &'a Agent,
    /// True when prompt, model or temperature changed and `agent.version` is therefore a new one.
    pub new_version: bool,
    pub actor_id: Uuid,
}

impl TenantTx {
    /// # Errors
    /// [`crate::StoreError::Duplicate`] when the tenant has an agent of that name.
    pub async fn agent_create(&mut self, a: &NewAgent<'_>, actor_id: Uuid) -> Result<Agent> {
        let sql = format!(
            "INSERT INTO agents (tenant_id, id, name, display_name, avatar_url, description, system_prompt,
                                 control_type, output_visibility, max_calls_per_parent_agent, model, temperature, is_active)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8::control_type, $9::output_visibility, $10, $11, $12, $13)
             RETURNING {COLUMNS}"
        );
        let agent = sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(a.id)
            .bind(a.name)
            .bind(a.display_name)
            .bind(a.avatar_url)
            .bind(a.description)
            .bind(a.system_prompt)
            .bind(a.control_type.as_str())
            .bind(a.output_visibility.as_str())
            .bind(a.max_calls_per_parent_agent)
            .bind(a.model)
            .bind(a.temperature)
            .bind(a.is_active)
            .try_map(|r: PgRow| agent(&r, 0))
            .fetch_one(self.conn())
            .await?;
        self.agent_version_add(&agent, actor_id).await?;
        Ok(agent)
    }

    pub async fn agent_get(&mut self, id: Uuid) -> Result<Option<Agent>> {
        self.agent_by_id(id, "").await
    }

    /// As [`TenantTx::agent_get`], locked until the transaction ends so that two updates cannot overwrite each other.
    pub async fn agent_lock(&mut self, id: Uuid) -> Result<Option<Agent>> {
        self.agent_by_id(id, " FOR UPDATE").await
    }

    async fn agent_by_id(&mut self, id: Uuid, suffix: &str) -> Result<Option<Agent>> {
        let sql = format!("SELECT {COLUMNS} FROM agents WHERE tenant_id = $1 AND id = $2{suffix}");
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .try_map(|r: PgRow| agent(&r, 0))
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Newest first. `active` `None` lists both kinds.
    pub async fn agent_list(
        &mut self,
        active: Option<bool>,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<Agent>, i64)> {
        let total = sqlx::query_scalar(
            "SELECT count(*) FROM agents WHERE tenant_id = $1 AND ($2::boolean IS NULL OR is_active = $2)",
        )
        .bind(self.tenant_id)
        .bind(active)
        .fetch_one(self.conn())
        .await?;
        let sql = format!(
            "SELECT {COLUMNS} FROM agents WHERE tenant_id = $1 AND ($2::boolean IS NULL OR is_active = $2)
             ORDER BY id DESC LIMIT $3 OFFSET $4"
        );
        let items = sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(active)
            .bind(limit)
            .bind(offset)
            .try_map(|r: PgRow| agent(&r, 0))
            .fetch_all(self.conn())
            .await?;
        Ok((items, total))
    }

    /// Writes the next state of an agent that the transaction holds locked.
    pub async fn agent_update(&mut self, change: &AgentChange<'_>) -> Result<Agent> {
        let a = change.agent;
        let sql = format!(
            "UPDATE agents SET name = $3, version = $4, display_name = $5, avatar_url = $6, description = $7,
                    system_prompt = $8, control_type = $9::control_type, output_visibility = $10::output_visibility,
                    max_calls_per_parent_agent = $11, model = $12, temperature = $13, is_active = $14, updated_at = now()
             WHERE tenant_id = $1 AND id = $2 RETURNING {COLUMNS}"
        );
        let updated = sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(a.id)
            .bind(&a.name)
            .bind(a.version)
            .bind(&a.display_name)
            .bind(&a.avatar_url)
            .bind(&a.description)
            .bind(&a.system_prompt)
            .bind(a.control_type.as_str())
            .bind(a.output_visibility.as_str())
            .bind(a.max_calls_per_parent_agent)
            .bind(&a.model)
            .bind(a.temperature)
            .bind(a.is_active)
            .try_map(|r: PgRow| agent(&r, 0))
            .fetch_one(self.conn())
            .await?;
        if change.new_version {
            self.agent_version_add(&updated, change.actor_id).await?;
        }
        Ok(updated)
    }

    pub async fn agent_delete(&mut self, id: Uuid) -> Result<bool> {
        let done = sqlx::query("DELETE FROM agents WHERE tenant_id = $1 AND id = $2")
            .bind(self.tenant_id)
            .bind(id)
            .execute(self.conn())
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Every published version, newest first.
    pub async fn agent_version_list(&mut self, agent_id: Uuid) -> Result<Vec<AgentVersion>> {
        sqlx::query(
            "SELECT version, system_prompt, model, temperature, created_by, created_at
             FROM agent_versions WHERE tenant_id = $1 AND agent_id = $2 ORDER BY version DESC",
        )
        .bind(self.tenant_id)
        .bind(agent_id)
        .try_map(|r: PgRow| {
            Ok(AgentVersion {
                version: r.try_get(0)?,
                system_prompt: r.try_get(1)?,
                model: r.try_get(2)?,
                temperature: r.try_get(3)?,
                created_by: r.try_get(4)?,
                created_at: r.try_get(5)?,
            })
        })
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    async fn agent_version_add(&mut self, a: &Agent, actor_id: Uuid) -> Result<()> {
        sqlx::query(
            "INSERT INTO agent_versions (tenant_id, agent_id, version, system_prompt, model, temperature, created_by)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(self.tenant_id)
        .bind(a.id)
        .bind(a.version)
        .bind(&a.system_prompt)
        .bind(&a.model)
        .bind(a.temperature)
        .bind(actor_id)
        .execute(self.conn())
        .await?;
        Ok(())
    }
}

/// Reads an agent from a row whose [`COLUMNS`] start at `at`.
pub(crate) fn agent(r: &PgRow, at: usize) -> sqlx::Result<Agent> {
    Ok(Agent {
        id: r.try_get(at)?,
        name: r.try_get(at + 1)?,
        version: r.try_get(at + 2)?,
        display_name: r.try_get(at + 3)?,
        avatar_url: r.try_get(at + 4)?,
        description: r.try_get(at + 5)?,
        system_prompt: r.try_get(at + 6)?,
        control_type: word(r, at + 7)?,
        output_visibility: word(r, at + 8)?,
        max_calls_per_parent_agent: r.try_get(at + 9)?,
        model: r.try_get(at + 10)?,
        temperature: r.try_get(at + 11)?,
        is_active: r.try_get(at + 12)?,
        created_at: r.try_get(at + 13)?,
        updated_at: r.try_get(at + 14)?,
    })
}
