//! What starts flows without a person: schedules, fired by `schedule`, and signed webhooks.

use chrono::{DateTime, Utc};
use hmac::{Hmac, KeyInit, Mac};
use qadra_api as api;
use qadra_api::{ById, Items};
use qadra_store::{NewTrigger, StoreError, TriggerChange, TriggerRow};
use qadra_types::{Code, Ctx, Fault, new_id};
use rand::RngExt;
use serde_json::{Value, json};
use sha2::Sha256;
use uuid::Uuid;

use super::schedule::Schedule;
use super::start::{Cause, begin};
use crate::{App, input};

const MAX_NAME: usize = 200;
const MAX_INPUT: usize = 64 * 1024;
const MAX_TRIGGERS: i64 = 100;
/// What sealed keys are bound to.
const PURPOSE: &str = "flow_hook";
/// Seconds that a call's timestamp may be off.
const WINDOW: i64 = 300;

impl App {
    pub(crate) async fn trigger_list(
        &self,
        ctx: &Ctx,
        r: api::ListFlowTriggers,
    ) -> Result<Items<api::FlowTrigger>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let mut tx = self.store.tenant(ctx).await?;
        tx.flow_get(r.id).await?.ok_or_else(super::missing)?;
        let (rows, total) = tx.trigger_list(r.id, limit, offset).await?;
        let items = rows.into_iter().map(|t| trigger(t, None)).collect();
        Ok(input::items((items, total), limit, offset))
    }

    pub(crate) async fn trigger_create(
        &self,
        ctx: &Ctx,
        r: api::CreateFlowTrigger,
    ) -> Result<api::FlowTrigger, Fault> {
        let id = new_id();
        let name = input::optional("name", r.name, MAX_NAME)?.unwrap_or_default();
        let input = object(r.input)?;
        let is_active = r.is_active.unwrap_or(true);
        let (schedule, key) = match r.kind.as_str() {
            "schedule" => {
                let cron = r.cron.as_deref().unwrap_or_default();
                let schedule = Schedule::parse(cron, r.time_zone.as_deref().unwrap_or("UTC"))?;
                (Some(schedule), None)
            }
            "webhook" if r.cron.is_some() || r.time_zone.is_some() => {
                return Err(Fault::invalid("a webhook has neither cron nor time_zone"));
            }
            "webhook" => {
                let bytes: [u8; 32] = rand::rng().random();
                (None, Some(hex(&bytes)))
            }
            other => {
                return Err(Fault::invalid(format!(
                    "kind is {other:?}, not schedule or webhook"
                )));
            }
        };
        let sealed = key.as_ref().map(|key| {
            let vault = self.token_key.vault();
            vault.seal(ctx.tenant_id, PURPOSE, &id.to_string(), key.as_bytes())
        });
        let next_at = schedule.as_ref().map(|s| s.next(Utc::now())).transpose()?;
        let mut tx = self.store.tenant(ctx).await?;
        tx.flow_get(r.id).await?.ok_or_else(super::missing)?;
        let row = tx
            .trigger_create(&NewTrigger {
                id,
                flow_id: r.id,
                kind: &r.kind,
                name: &name,
                cron: schedule.as_ref().map(|s| s.cron.as_str()),
                time_zone: schedule.as_ref().map(|s| s.zone.name()),
                input: &input.to_string(),
                is_active,
                sealed_key: sealed.as_deref(),
                next_at,
                created_by: Some(ctx.actor.user_id),
            })
            .await
            .map_err(|e| match e {
                StoreError::Dangling { .. } => super::missing(),
                other => other.into(),
            })?;
        if tx.trigger_list(r.id, 1, 0).await?.1 > MAX_TRIGGERS {
            return Err(Fault::invalid(format!(
                "the flow has {MAX_TRIGGERS} triggers already"
            )));
        }
        tx.commit().await?;
        Ok(trigger(row, key))
    }

    pub(crate) async fn trigger_update(
        &self,
        ctx: &Ctx,
        r: api::UpdateFlowTrigger,
    ) -> Result<api::FlowTrigger, Fault> {
        let name = r
            .name
            .map(|n| input::optional("name", Some(n), MAX_NAME))
            .transpose()?;
        let input = r.input.map(|i| object(Some(i))).transpose()?;
        let mut tx = self.store.tenant(ctx).await?;
        let old = tx.trigger_lock(r.id).await?.ok_or_else(missing)?;
        let is_active = r.is_active.unwrap_or(old.is_active);
        let schedule = match (&old.cron, &old.time_zone) {
            (Some(cron), Some(zone)) => Some(Schedule::parse(
                r.cron.as_deref().unwrap_or(cron),
                r.time_zone.as_deref().unwrap_or(zone),
            )?),
            _ if r.cron.is_some() || r.time_zone.is_some() => {
                return Err(Fault::invalid("a webhook has neither cron nor time_zone"));
            }
            _ => None,
        };
        // From now: what was missed while it was switched off, or in another rhythm, is not made up for.
        let next_at = schedule.as_ref().map(|s| s.next(Utc::now())).transpose()?;
        let name = name.map(Option::unwrap_or_default).unwrap_or(old.name);
        let change = TriggerChange {
            name: &name,
            cron: schedule.as_ref().map(|s| s.cron.as_str()),
            time_zone: schedule.as_ref().map(|s| s.zone.name()),
            input: &input.unwrap_or(old.input).to_string(),
            is_active,
            next_at,
        };
        let row = tx
            .trigger_update(r.id, &change)
            .await?
            .ok_or_else(missing)?;
        tx.commit().await?;
        Ok(trigger(row, None))
    }

    pub(crate) async fn trigger_delete(&self, ctx: &Ctx, r: ById) -> Result<(), Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        if !tx.trigger_delete(r.id).await? {
            return Err(missing());
        }
        tx.commit().await?;
        Ok(())
    }

    /// A webhook's call: nobody is signed in, the signature is the credential.
    pub(crate) async fn hook(&self, r: api::CallHook) -> Result<api::HookAnswer, Fault> {
        let mut tx = self.store.auth().await?;
        let found = tx.hook_find(r.id).await?;
        drop(tx);
        let hook = found.filter(|h| h.is_active).ok_or_else(missing)?;
        let vault = self.token_key.vault();
        let key = vault
            .open(hook.tenant_id, PURPOSE, &r.id.to_string(), &hook.sealed_key)
            .map_err(|e| {
                tracing::error!(error = %e, trigger = %r.id, "a webhook's key could not be opened");
                Fault::new(Code::Internal, "the webhook's key could not be read")
            })?;
        check_call(&key, &r, Utc::now())?;

        let mut tx = self.store.tenant_id(hook.tenant_id).await?;
        let trigger = tx.trigger_lock(r.id).await?.ok_or_else(missing)?;
        let id = new_id();
        if let Some(first) = tx.delivery_put(r.id, &r.delivery, id).await? {
            return Ok(api::HookAnswer {
                execution_id: first,
                duplicate: true,
            });
        }
        let flow = tx.flow_get(trigger.flow_id).await?.ok_or_else(missing)?;
        let input = laid_over(trigger.input, &r.body);
        let cause = Cause {
            trigger: "webhook",
            triggered_by: trigger.created_by,
            input: &input,
            idempotency_key: None,
        };
        begin(&mut tx, &flow, id, cause).await?;
        tx.trigger_fired(r.id, Ok(id), None).await?;
        tx.commit().await?;
        self.wake_workers().await;
        Ok(api::HookAnswer {
            execution_id: id,
            duplicate: false,
        })
    }
}

fn check_call(key: &[u8], r: &api::CallHook, now: DateTime<Utc>) -> Result<(), Fault> {
    let refused = |detail: &str| Fault::new(Code::Unauthenticated, detail);
    let timestamp: i64 = r
        .timestamp
        .parse()
        .map_err(|_| refused("X-Qadra-Timestamp is not a number of seconds"))?;
    if r.delivery.is_empty() || r.delivery.chars().count() > 200 {
        return Err(refused("X-Qadra-Delivery is not 1 to 200 characters"));
    }
    let signature = unhex(&r.signature)
        .ok_or_else(|| refused("X-Qadra-Signature is not 64 hexadecimal digits"))?;
    let mut mac = Hmac::<Sha256>::new_from_slice(key)
        .map_err(|_| Fault::new(Code::Internal, "the webhook's key cannot be used"))?;
    mac.update(format!("{timestamp}.{}.{}", r.delivery, r.body).as_bytes());
    // In constant time.
    mac.verify_slice(&signature)
        .map_err(|_| refused("the signature does not fit"))?;
    if now.timestamp().abs_diff(timestamp) > WINDOW.unsigned_abs() {
        return Err(refused("the timestamp is more than 5 minutes off")
            .hint("sign each call anew, and set the clock"));
    }
    Ok(())
}

/// The fields of a body that is an object replace the trigger's; any other body is the field `body`.
fn laid_over(input: Value, body: &str) -> Value {
    let mut fields = match input {
        Value::Object(fields) => fields,
        _ => Default::default(),
    };
    match serde_json::from_str(body) {
        Ok(Value::Object(sent)) => fields.extend(sent),
        Ok(other) => drop(fields.insert("body".into(), other)),
        Err(_) if body.is_empty() => {}
        Err(_) => drop(fields.insert("body".into(), json!(body))),
    }
    fields.into()
}

fn object(input: Option<Value>) -> Result<Value, Fault> {
    let input = input.unwrap_or_else(|| json!({}));
    if !input.is_object() || input.to_string().len() > MAX_INPUT {
        return Err(Fault::invalid(format!(
            "input is not a JSON object of at most {MAX_INPUT} bytes"
        )));
    }
    Ok(input)
}

fn missing() -> Fault {
    Fault::not_found("trigger")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..32).map(|n| u8::from_str_radix(&text[n * 2..n * 2 + 2], 16).ok());
    pairs.collect()
}

fn trigger(t: TriggerRow, secret: Option<String>) -> api::FlowTrigger {
    let path = |id: Uuid| format!("/api/hooks/{id}");
    api::FlowTrigger {
        path: (t.kind == "webhook").then(|| path(t.id)),
        id: t.id,
        flow_id: t.flow_id,
        kind: t.kind,
        name: t.name,
        cron: t.cron,
        time_zone: t.time_zone,
        input: t.input,
        is_active: t.is_active,
        next_at: t.next_at,
        last_at: t.last_at,
        last_execution_id: t.last_execution_id,
        last_error: t.last_error,
        secret,
        created_by: t.created_by,
        created_at: t.created_at,
        updated_at: t.updated_at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(key: &[u8], timestamp: i64, body: &str) -> api::CallHook {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(format!("{timestamp}.d.{body}").as_bytes());
        api::CallHook {
            id: Uuid::nil(),
            timestamp: timestamp.to_string(),
            delivery: "d".into(),
            signature: hex(&mac.finalize().into_bytes()),
            body: body.into(),
        }
    }

    #[test]
    fn a_call_is_taken_with_the_right_key_in_its_time_and_unchanged() {
        let now = Utc::now();
        let at = now.timestamp();
        assert!(check_call(b"key", &signed(b"key", at, "{}"), now).is_ok());
        assert!(check_call(b"key", &signed(b"key", at - 300, "{}"), now).is_ok());
        let changed = |f: fn(&mut api::CallHook)| {
            let mut call = signed(b"key", at, "{}");
            f(&mut call);
            call
        };
        for call in [
            signed(b"other", at, "{}"),
            signed(b"key", at - 301, "{}"),
            signed(b"key", at + 301, "{}"),
            changed(|c| c.body.push(' ')),
            changed(|c| c.delivery = "e".into()),
            changed(|c| c.timestamp = "0".into()),
            changed(|c| c.signature.clear()),
            changed(|c| c.signature = "é".repeat(32)),
        ] {
            let f = check_call(b"key", &call, now).unwrap_err();
            assert_eq!(f.code, Code::Unauthenticated, "{call:?}");
        }
    }

    #[test]
    fn a_body_is_laid_over_the_input() {
        let input = json!({"a": 1, "b": 2});
        assert_eq!(
            laid_over(input.clone(), r#"{"b":3}"#),
            json!({"a": 1, "b": 3})
        );
        assert_eq!(
            laid_over(input.clone(), "[1]"),
            json!({"a": 1, "b": 2, "body": [1]})
        );
        assert_eq!(
            laid_over(input.clone(), "text"),
            json!({"a": 1, "b": 2, "body": "text"})
        );
        assert_eq!(laid_over(input.clone(), ""), input);
    }
}
