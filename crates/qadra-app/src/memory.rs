//! What agents and people want remembered.

use chrono::{DateTime, TimeDelta, Utc};
use qadra_api as api;
use qadra_api::{ById, Items};
use qadra_store::{MemoryChange, MemoryRow, NewMemory, StoreError, TenantTx};
use qadra_types::{Code, Ctx, Fault};
use serde_json::Value;

use crate::{App, input};

const MAX_KEY: usize = 200;
const MAX_NOTE: usize = 4_000;
/// Bytes of a value as JSON.
const MAX_VALUE: usize = 16 * 1024;
const MAX_ENTRIES: i64 = 10_000;
const MAX_TTL: i64 = 10 * 366 * 24 * 3600;
/// Expired entries that one sweep deletes.
const SWEPT: i64 = 10_000;

impl App {
    pub(crate) async fn memory_list(
        &self,
        ctx: &Ctx,
        r: api::ListMemories,
    ) -> Result<Items<api::Memory>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let words = input::optional("q", r.q, 500)?;
        let mut tx = self.store.tenant(ctx).await?;
        let (rows, total) = tx
            .memory_list(r.agent_id, words.as_deref(), limit, offset)
            .await?;
        let items = rows.into_iter().map(api_memory).collect();
        Ok(input::items((items, total), limit, offset))
    }

    pub(crate) async fn memory_create(
        &self,
        ctx: &Ctx,
        r: api::CreateMemory,
    ) -> Result<api::Memory, Fault> {
        self.memory_put(ctx, r, "person").await
    }

    /// Remembers it for a person or an agent.
    pub(crate) async fn memory_put(
        &self,
        ctx: &Ctx,
        r: api::CreateMemory,
        source: &'static str,
    ) -> Result<api::Memory, Fault> {
        let new = NewMemory {
            agent_id: r.agent_id,
            user_id: ctx.actor.user_id,
            key: input::optional("key", r.key, MAX_KEY)?,
            value: value(r.value)?,
            note: input::optional("note", r.note, MAX_NOTE)?,
            source,
            expires_at: r.ttl_seconds.map(expiry).transpose()?,
        };
        if new.value.is_none() && new.note.is_none() {
            return Err(Fault::invalid("neither value nor note is given"));
        }
        let mut tx = self.store.tenant(ctx).await?;
        let row = tx.memory_put(&new).await.map_err(|e| match e {
            StoreError::Dangling { .. } => Fault::not_found("agent"),
            other => other.into(),
        })?;
        // Counted after the write: what replaced another entry has not made more of them.
        if tx.memory_count().await? > MAX_ENTRIES {
            return Err(Fault::new(
                Code::Conflict,
                format!("there are {MAX_ENTRIES} entries already"),
            )
            .hint("delete entries that are no longer needed, or give new ones a ttl_seconds"));
        }
        tx.commit().await?;
        Ok(api_memory(row))
    }

    pub(crate) async fn memory_get(&self, ctx: &Ctx, r: ById) -> Result<api::Memory, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        found(&mut tx, r.id).await.map(api_memory)
    }

    pub(crate) async fn memory_update(
        &self,
        ctx: &Ctx,
        r: api::UpdateMemory,
    ) -> Result<api::Memory, Fault> {
        let text = |field, given: Option<Option<String>>, max| match given {
            Some(given) => input::optional(field, given, max).map(Some),
            None => Ok(None),
        };
        let change = MemoryChange {
            key: text("key", r.key, MAX_KEY)?,
            value: r.value.map(value).transpose()?,
            note: text("note", r.note, MAX_NOTE)?,
            expires_at: match r.ttl_seconds {
                Some(Some(seconds)) => Some(Some(expiry(seconds)?)),
                Some(None) => Some(None),
                None => None,
            },
        };
        let mut tx = self.store.tenant(ctx).await?;
        let row = tx
            .memory_update(r.id, &change)
            .await
            .map_err(|e| match e {
                StoreError::Duplicate { .. } => {
                    Fault::new(Code::Conflict, "another entry has that key")
                }
                StoreError::Check { .. } => Fault::invalid("neither value nor note would be left")
                    .hint("delete the entry instead"),
                other => other.into(),
            })?
            .ok_or_else(missing)?;
        tx.commit().await?;
        Ok(api_memory(row))
    }

    pub(crate) async fn memory_delete(&self, ctx: &Ctx, r: ById) -> Result<(), Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        if !tx.memory_delete(r.id).await? {
            return Err(missing());
        }
        tx.commit().await?;
        Ok(())
    }

    /// Deletes entries of all tenants whose time is over.
    pub(crate) async fn sweep_memories(&self) -> Result<(), StoreError> {
        let mut tx = self.store.system().await?;
        tx.memory_sweep(SWEPT).await?;
        tx.commit().await
    }
}

async fn found(tx: &mut TenantTx, id: uuid::Uuid) -> Result<MemoryRow, Fault> {
    tx.memory_get(id).await?.ok_or_else(missing)
}

fn missing() -> Fault {
    Fault::not_found("memory")
}

/// `null` is no value: it would be no more than a key without one.
fn value(given: Option<Value>) -> Result<Option<Value>, Fault> {
    let given = given.filter(|v| !v.is_null());
    if given
        .as_ref()
        .is_some_and(|v| v.to_string().len() > MAX_VALUE)
    {
        return Err(Fault::invalid(format!(
            "value is larger than {MAX_VALUE} bytes of JSON"
        )));
    }
    Ok(given)
}

fn expiry(seconds: i64) -> Result<DateTime<Utc>, Fault> {
    if !(1..=MAX_TTL).contains(&seconds) {
        return Err(Fault::invalid(format!(
            "ttl_seconds is {seconds}, not between 1 and {MAX_TTL}"
        )));
    }
    Ok(Utc::now() + TimeDelta::seconds(seconds))
}

pub(crate) fn api_memory(m: MemoryRow) -> api::Memory {
    api::Memory {
        scope: if m.agent_id.is_some() {
            "agent"
        } else {
            "tenant"
        }
        .to_owned(),
        id: m.id,
        agent_id: m.agent_id,
        user_id: m.user_id,
        key: m.key,
        value: m.value,
        note: m.note,
        expires_at: m.expires_at,
        source: m.source,
        created_at: m.created_at,
        updated_at: m.updated_at,
    }
}
