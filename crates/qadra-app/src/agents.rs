use qadra_api::{
    AgentPreset, AgentPresets, AgentVersions, ById, CreateAgent, Items, ListAgents,
    RestoreAgentVersion, UpdateAgent,
};
use qadra_store::{AgentChange, NewAgent, StoreError, TenantTx};
use qadra_types::{Agent, Code, ControlType, Ctx, Fault, OutputVisibility, new_id};
use uuid::Uuid;

use crate::{App, input};

const MAX_PROMPT: usize = 100_000;
const MAX_URL: usize = 2_000;

impl App {
    pub(crate) async fn agent_create(&self, ctx: &Ctx, r: CreateAgent) -> Result<Agent, Fault> {
        let preset = match &r.preset {
            Some(name) => Some(
                presets()
                    .into_iter()
                    .find(|p| p.preset == *name)
                    .ok_or_else(|| {
                        Fault::invalid(format!("there is no preset {name:?}"))
                            .hint("GET /api/agents/presets lists them")
                    })?,
            ),
            None => None,
        };
        let name = r
            .name
            .as_deref()
            .or(r.preset.as_deref())
            .ok_or_else(|| Fault::invalid("name is missing"))?;
        let name = input::text("name", name, 100)?;
        let p = preset.as_ref();
        let display_name = input::optional(
            "display_name",
            r.display_name.or(p.map(|p| p.display_name.clone())),
            200,
        )?;
        let description = input::optional(
            "description",
            r.description.or(p.map(|p| p.description.clone())),
            4_000,
        )?;
        let avatar_url = input::optional("avatar_url", r.avatar_url, MAX_URL)?;
        let model = input::optional("model", r.model, 200)?;
        let system_prompt = r
            .system_prompt
            .or(p.map(|p| p.system_prompt.clone()))
            .unwrap_or_default();
        let new = NewAgent {
            id: new_id(),
            name: &name,
            display_name: display_name.as_deref(),
            avatar_url: avatar_url.as_deref(),
            description: description.as_deref(),
            system_prompt: &system_prompt,
            control_type: r
                .control_type
                .or(p.map(|p| p.control_type))
                .unwrap_or_default(),
            output_visibility: r
                .output_visibility
                .or(p.map(|p| p.output_visibility))
                .unwrap_or_default(),
            max_calls_per_parent_agent: r
                .max_calls_per_parent_agent
                .or(p.map(|p| p.max_calls_per_parent_agent))
                .unwrap_or(DEFAULT_CALLS),
            model: model.as_deref(),
            temperature: r.temperature,
            is_active: r.is_active.unwrap_or(true),
        };
        check(
            new.system_prompt,
            new.max_calls_per_parent_agent,
            new.temperature,
            new.avatar_url,
        )?;
        let mut tx = self.store.tenant(ctx).await?;
        let agent = tx
            .agent_create(&new, ctx.actor.user_id)
            .await
            .map_err(|e| taken(e, &name))?;
        tx.commit().await?;
        Ok(agent)
    }

    pub(crate) async fn agent_get(&self, ctx: &Ctx, r: ById) -> Result<Agent, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        tx.agent_get(r.id)
            .await?
            .ok_or_else(|| Fault::not_found("agent"))
    }

    pub(crate) async fn agent_list(&self, ctx: &Ctx, r: ListAgents) -> Result<Items<Agent>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let mut tx = self.store.tenant(ctx).await?;
        let found = tx.agent_list(r.is_active, limit, offset).await?;
        Ok(input::items(found, limit, offset))
    }

    /// Applies the fields that are present. A changed prompt, model or temperature is published as version n+1.
    pub(crate) async fn agent_update(&self, ctx: &Ctx, r: UpdateAgent) -> Result<Agent, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let before = tx
            .agent_lock(r.id)
            .await?
            .ok_or_else(|| Fault::not_found("agent"))?;
        let mut agent = before.clone();
        if let Some(name) = r.name {
            let name = name.ok_or_else(|| Fault::invalid("name cannot be cleared"))?;
            agent.name = input::text("name", &name, 100)?;
        }
        if let Some(v) = r.display_name {
            agent.display_name = input::optional("display_name", v, 200)?;
        }
        if let Some(v) = r.avatar_url {
            agent.avatar_url = input::optional("avatar_url", v, MAX_URL)?;
        }
        if let Some(v) = r.description {
            agent.description = input::optional("description", v, 4_000)?;
        }
        if let Some(v) = r.system_prompt {
            agent.system_prompt = v.unwrap_or_default();
        }
        if let Some(v) = r.control_type {
            agent.control_type = v.unwrap_or_default();
        }
        if let Some(v) = r.output_visibility {
            agent.output_visibility = v.unwrap_or_default();
        }
        if let Some(v) = r.max_calls_per_parent_agent {
            agent.max_calls_per_parent_agent = v.unwrap_or(DEFAULT_CALLS);
        }
        if let Some(v) = r.model {
            agent.model = input::optional("model", v, 200)?;
        }
        if let Some(v) = r.temperature {
            agent.temperature = v;
        }
        if let Some(v) = r.is_active {
            agent.is_active = v.unwrap_or(true);
        }
        check(
            &agent.system_prompt,
            agent.max_calls_per_parent_agent,
            agent.temperature,
            agent.avatar_url.as_deref(),
        )?;
        let agent = publish(&mut tx, &before, agent, ctx.actor.user_id).await?;
        tx.commit().await?;
        Ok(agent)
    }

    pub(crate) async fn agent_delete(&self, ctx: &Ctx, r: ById) -> Result<(), Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        if !tx.agent_delete(r.id).await? {
            return Err(Fault::not_found("agent"));
        }
        tx.commit().await?;
        Ok(())
    }

    pub(crate) async fn agent_versions(&self, ctx: &Ctx, r: ById) -> Result<AgentVersions, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        tx.agent_get(r.id)
            .await?
            .ok_or_else(|| Fault::not_found("agent"))?;
        let items = tx.agent_version_list(r.id).await?;
        Ok(AgentVersions {
            total: i64::try_from(items.len()).unwrap_or(i64::MAX),
            items,
        })
    }

    pub(crate) async fn agent_restore(
        &self,
        ctx: &Ctx,
        r: RestoreAgentVersion,
    ) -> Result<Agent, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let before = tx
            .agent_lock(r.id)
            .await?
            .ok_or_else(|| Fault::not_found("agent"))?;
        let versions = tx.agent_version_list(r.id).await?;
        let old = versions
            .into_iter()
            .find(|v| v.version == r.version)
            .ok_or_else(|| Fault::not_found("version of the agent"))?;
        let agent = Agent {
            system_prompt: old.system_prompt,
            model: old.model,
            temperature: old.temperature,
            ..before.clone()
        };
        let agent = publish(&mut tx, &before, agent, ctx.actor.user_id).await?;
        tx.commit().await?;
        Ok(agent)
    }

    pub(crate) async fn agent_presets(&self) -> Result<AgentPresets, Fault> {
        Ok(AgentPresets { items: presets() })
    }

    /// The four personas, for a tenant that has just been made.
    pub(crate) async fn agents_seed(&self, tenant_id: Uuid, user_id: Uuid) -> Result<(), Fault> {
        let mut tx = self.store.tenant_id(tenant_id).await?;
        // Lists show the newest first, so the one that people start with is made last.
        for p in presets().iter().rev() {
            let new = NewAgent {
                id: new_id(),
                name: &p.preset,
                display_name: Some(&p.display_name),
                avatar_url: None,
                description: Some(&p.description),
                system_prompt: &p.system_prompt,
                control_type: p.control_type,
                output_visibility: p.output_visibility,
                max_calls_per_parent_agent: p.max_calls_per_parent_agent,
                model: None,
                temperature: None,
                is_active: true,
            };
            tx.agent_create(&new, user_id).await?;
        }
        tx.commit().await?;
        Ok(())
    }
}

const DEFAULT_CALLS: i32 = 3;

async fn publish(
    tx: &mut TenantTx,
    before: &Agent,
    mut agent: Agent,
    actor_id: Uuid,
) -> Result<Agent, Fault> {
    let new_version = agent.system_prompt != before.system_prompt
        || agent.model != before.model
        || agent.temperature != before.temperature;
    if new_version {
        agent.version += 1;
    }
    let change = AgentChange {
        agent: &agent,
        new_version,
        actor_id,
    };
    tx.agent_update(&change)
        .await
        .map_err(|e| taken(e, &agent.name))
}

fn check(
    prompt: &str,
    calls: i32,
    temperature: Option<f64>,
    avatar_url: Option<&str>,
) -> Result<(), Fault> {
    input::at_most("system_prompt", prompt, MAX_PROMPT)?;
    if !(1..=100).contains(&calls) {
        return Err(Fault::invalid(format!(
            "max_calls_per_parent_agent is {calls}, not between 1 and 100"
        )));
    }
    if let Some(t) = temperature
        && !(0.0..=2.0).contains(&t)
    {
        return Err(Fault::invalid(format!(
            "temperature is {t}, not between 0 and 2"
        )));
    }
    // Anything else could run script or reveal readers to a third party when it is shown.
    if let Some(url) = avatar_url
        && !(url.starts_with('/') && !url.starts_with("//") || url.starts_with("https://"))
    {
        return Err(Fault::invalid(
            "avatar_url is neither a path of this site nor an https address",
        ));
    }
    Ok(())
}

fn taken(e: StoreError, name: &str) -> Fault {
    match e {
        StoreError::Duplicate { .. } => Fault::new(
            Code::Conflict,
            format!("there is an agent named {name:?} already"),
        ),
        other => other.into(),
    }
}

/// The canonical personas of the knowledge pipeline, in the order in which work passes them.
pub(crate) fn presets() -> Vec<AgentPreset> {
    let persona =
        |preset: &str, display_name: &str, description: &str, system_prompt: &str| AgentPreset {
            preset: preset.to_owned(),
            display_name: display_name.to_owned(),
            description: description.to_owned(),
            system_prompt: system_prompt.to_owned(),
            control_type: ControlType::RelinquishToParent,
            output_visibility: OutputVisibility::UserFacing,
            max_calls_per_parent_agent: DEFAULT_CALLS,
        };
    vec![
        persona(
            "scarlet",
            "Scarlet",
            "Establishes facts: what is known about a company or market, and from which source",
            "You are Scarlet, a research analyst. You establish facts; others build on them.\n\
             - Answer from the FACTS you are given. Give each number with its unit, its date and its source.\n\
             - When facts contradict each other, show both and say which source says what. Do not choose in silence.\n\
             - When something is not among the facts, say that it is not known here, and what would settle it.\n\
             - Write short declarative sentences, one statement each, so that every one can be checked.",
        ),
        persona(
            "ayana",
            "Ayana",
            "Reads established facts as a market analyst: competitors, trends, what compares with what",
            "You are Ayana, a market analyst. You take established facts and work out what they mean together.\n\
             - Start from the FACTS; name the ones each conclusion rests on.\n\
             - Compare like with like: same measure, same period, same currency. Say so when that is impossible.\n\
             - Keep what is known apart from what you infer, and mark an inference as one.\n\
             - Use a chart when three or more numbers are compared.",
        ),
        persona(
            "eliza",
            "Eliza",
            "Tests a case: risks, contradictions, missing evidence, what would change the view",
            "You are Eliza, a due-diligence specialist. You test what others have concluded.\n\
             - Look for what contradicts the case, what rests on one source only, and what nobody has checked.\n\
             - Rank risks by likelihood and damage, and say what evidence each judgement rests on.\n\
             - List the KNOWLEDGE GAPS that matter for the decision and how to close them.\n\
             - Never soften a contradiction to make the story smoother.",
        ),
        persona(
            "reagan",
            "Reagan",
            "Recommends: a decision people can act on, with the reasons and the facts behind them",
            "You are Reagan, who writes the recommendation that people act on.\n\
             - Open with the recommendation in one sentence, then the three reasons that carry it.\n\
             - Every reason cites the facts it stands on. No fact, no reason.\n\
             - State what would make you change your mind.\n\
             - If the facts do not allow a recommendation, say that, and say what is missing.",
        ),
    ]
}
