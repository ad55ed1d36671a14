//! From a bus message to a use case and back.

use std::sync::Arc;
use std::time::Duration;

use qadra_api::{Access, Operation, operations};
use qadra_nats::messages::{ACTOR, REQUEST_ID};
use qadra_nats::{
    BusError, Message, OpSubject, Reply, ServeHandle, ServeOptions, Subject, Tenant, serve,
};
use qadra_types::{Actor, Code, Ctx, Fault, Role, new_id};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::App;

/// The client's address, for sign-in limits.
pub const ORIGIN: &str = "Qadra-Origin";

/// Turns wait on models for minutes, so many must be able to wait at once.
const CONCURRENCY: usize = 20_000;

/// The services of a running core.
pub struct Running {
    operations: ServeHandle,
    owner: ServeHandle,
    documents: tokio::task::JoinHandle<()>,
    stop: CancellationToken,
    app: Arc<App>,
}

impl App {
    /// Answers every operation on the bus, and keeps house, until [`Running::stop`].
    pub async fn serve(self: &Arc<Self>) -> Result<Running, BusError> {
        let app = self.clone();
        let table: Arc<Vec<Operation>> = Arc::new(operations());
        let operations = serve(
            self.bus.clone(),
            ServeOptions::new("qadra.*.*.do.*", "core").concurrency(CONCURRENCY),
            move |m| {
                let (app, table) = (app.clone(), table.clone());
                async move {
                    match app.handle(&table, m).await {
                        Ok(value) => Reply::ok(value),
                        Err(fault) => Reply::error(fault),
                    }
                }
            },
        )
        .await?;
        let app = self.clone();
        let own = Subject::core_instance(self.owner_id);
        let owner = serve(
            self.bus.clone(),
            ServeOptions::new(own.as_str(), "owner"),
            move |m| {
                let app = app.clone();
                async move { app.owner_answer(m).await }
            },
        )
        .await?;
        let stop = CancellationToken::new();
        tokio::spawn(self.clone().housekeeping(stop.clone()));
        let documents = tokio::spawn(self.clone().documents_work(stop.clone()));
        tokio::spawn(self.clone().schedules_work(stop.clone()));
        Ok(Running {
            documents,
            operations,
            owner,
            stop,
            app: self.clone(),
        })
    }

    async fn handle(self: &Arc<Self>, table: &[Operation], m: Message) -> Result<Value, Fault> {
        let subject = OpSubject::parse(&m.subject).map_err(|_| {
            Fault::new(Code::NotFound, format!("{} is not an operation", m.subject))
        })?;
        let body = if m.payload.is_empty() {
            json!({})
        } else {
            read_bytes(&m.payload)?
        };
        no_nul(&body)?;
        let request_id = m
            .headers
            .get(REQUEST_ID)
            .and_then(|s| s.parse().ok())
            .unwrap_or_else(new_id);
        let origin = m.headers.get(ORIGIN).unwrap_or("bus").to_owned();
        let (entity, op) = (subject.entity.as_str(), subject.op.as_str());
        match subject.tenant {
            Tenant::Platform => self.platform(entity, op, body, &origin).await,
            Tenant::Tenant(tenant_id) => {
                let operation = table.iter().find(|o| o.entity == entity && o.op == op);
                let operation = operation.ok_or_else(|| {
                    Fault::new(
                        Code::NotFound,
                        format!("there is no operation {entity}.{op}"),
                    )
                })?;
                let actor = match m.headers.get(ACTOR) {
                    Some(json) => serde_json::from_str(json).map_err(|_| {
                        Fault::new(Code::Unauthenticated, "the actor header is not readable")
                    })?,
                    None => self.owner_of(tenant_id, &body).await?,
                };
                let ctx = Ctx {
                    tenant_id,
                    actor,
                    request_id,
                };
                permit(&ctx, operation.access)?;
                self.tenant_op(&ctx, entity, op, body).await
            }
        }
    }

    /// Whoever may publish on a tenant's subjects is trusted with that tenant (see `docs/bus.md`).
    /// For requests without an actor header, which the gateway sets: the member named by the body's `user_id`, or the tenant's owner.
    async fn owner_of(&self, tenant_id: Uuid, body: &Value) -> Result<Actor, Fault> {
        let unknown = || Fault::not_found("tenant");
        let mut tx = self.store.tenant_id(tenant_id).await?;
        match body.get("user_id").and_then(Value::as_str) {
            Some(id) => {
                let user_id = id
                    .parse()
                    .map_err(|_| Fault::invalid("user_id is not a UUID"))?;
                let role = tx.member_role(user_id).await?.ok_or_else(unknown)?;
                Ok(Actor {
                    user_id,
                    role,
                    scopes: None,
                })
            }
            None => {
                let user_id = tx.owner_id().await?.ok_or_else(unknown)?;
                Ok(Actor {
                    user_id,
                    role: Role::Owner,
                    scopes: None,
                })
            }
        }
    }

    async fn platform(
        &self,
        entity: &str,
        op: &str,
        body: Value,
        origin: &str,
    ) -> Result<Value, Fault> {
        match (entity, op) {
            ("auth", "register") => out(self.register(read(body)?).await),
            ("auth", "login") => out(self.login(read(body)?, origin).await),
            ("auth", "refresh") => out(self.refresh(read(body)?).await),
            ("auth", "logout") => out(self.logout(read(body)?).await),
            ("auth", "identify") => out(self.identify(read(body)?).await),
            ("meta", "get") => out(self.meta().await),
            ("meta", "ready") => out(self.ready().await),
            ("flow", "hook") => out(self.hook(read(body)?).await),
            _ => Err(Fault::new(
                Code::NotFound,
                format!("there is no operation {entity}.{op}"),
            )),
        }
    }

    async fn tenant_op(
        self: &Arc<Self>,
        ctx: &Ctx,
        entity: &str,
        op: &str,
        body: Value,
    ) -> Result<Value, Fault> {
        match (entity, op) {
            ("auth", "me") => out(self.me(ctx).await),
            ("auth", "switch_tenant") => out(self.switch_tenant(ctx, read(body)?).await),
            ("api_key", "list") => out(self.api_key_list(ctx, read(body)?).await),
            ("api_key", "create") => out(self.api_key_create(ctx, read(body)?).await),
            ("api_key", "revoke") => out(self.api_key_revoke(ctx, read(body)?).await),

            ("agent", "list") => out(self.agent_list(ctx, read(body)?).await),
            ("agent", "create") => out(self.agent_create(ctx, read(body)?).await),
            ("agent", "presets") => out(self.agent_presets().await),
            ("agent", "get") => out(self.agent_get(ctx, read(body)?).await),
            ("agent", "update") => out(self.agent_update(ctx, read(body)?).await),
            ("agent", "delete") => out(self.agent_delete(ctx, read(body)?).await),
            ("agent", "versions") => out(self.agent_versions(ctx, read(body)?).await),
            ("agent", "restore") => out(self.agent_restore(ctx, read(body)?).await),

            ("chat", "list") => out(self.conversation_list(ctx, read(body)?).await),
            ("chat", "create") => out(self.conversation_create(ctx, read(body)?).await),
            ("chat", "get") => out(self.conversation_get(ctx, read(body)?).await),
            ("chat", "update") => out(self.conversation_update(ctx, read(body)?).await),
            ("chat", "delete") => out(self.conversation_delete(ctx, read(body)?).await),
            ("chat", "restore") => out(self.conversation_restore(ctx, read(body)?).await),
            ("chat", "export") => out(self.conversation_export(ctx, read(body)?).await),
            ("chat", "training_export") => out(self.training_export(ctx, read(body)?).await),
            ("chat", "list_messages") => out(self.message_list(ctx, read(body)?).await),
            ("chat", "rate_message") => out(self.message_rate(ctx, read(body)?).await),
            ("chat", "select_branch") => out(self.branch_select(ctx, read(body)?).await),
            ("chat", "send_message") => out(self.send_message(ctx, read(body)?).await),
            ("chat", "edit_message") => out(self.edit_message(ctx, read(body)?).await),
            ("chat", "regenerate_message") => out(self.regenerate_message(ctx, read(body)?).await),
            ("chat", "get_turn") => out(self.turn_get(ctx, read(body)?).await),
            ("chat", "turn_events") => out(self.turn_events(ctx, read(body)?).await),
            ("chat", "cancel_turn") => out(self.turn_cancel(ctx, read(body)?).await),

            ("knowledge", "list_triples") => out(self.triple_list(ctx, read(body)?).await),
            ("knowledge", "create_triples") => self.triples_create(ctx, body).await,
            ("knowledge", "get_triple") => out(self.triple_get(ctx, read(body)?).await),
            ("knowledge", "retract_triple") => out(self.triple_retract(ctx, read(body)?).await),
            ("knowledge", "list_nodes") => out(self.node_list(ctx, read(body)?).await),
            ("knowledge", "create_node") => out(self.node_create(ctx, read(body)?).await),
            ("knowledge", "get_node") => out(self.node_get(ctx, read(body)?).await),
            ("knowledge", "list_aliases") => out(self.alias_list(ctx, read(body)?).await),
            ("knowledge", "create_alias") => out(self.alias_create(ctx, read(body)?).await),
            ("knowledge", "delete_alias") => out(self.alias_delete(ctx, read(body)?).await),
            ("knowledge", "list_predicates") => out(self.predicate_list(ctx, read(body)?).await),
            ("knowledge", "update_predicate") => out(self.predicate_update(ctx, read(body)?).await),
            ("knowledge", "query") => out(self.knowledge_query(ctx, read(body)?).await),
            ("knowledge", "verify") => out(self.knowledge_verify(ctx, read(body)?).await),
            ("knowledge", "update_triple") => out(self.triple_update(ctx, read(body)?).await),
            ("knowledge", "list_contradictions") => {
                out(self.contradiction_list(ctx, read(body)?).await)
            }
            ("knowledge", "node_graph") => out(self.node_graph(ctx, read(body)?).await),
            ("knowledge", "merge_node") => out(self.node_merge(ctx, read(body)?).await),
            ("knowledge", "split_node") => out(self.node_split(ctx, read(body)?).await),
            ("knowledge", "list_node_events") => out(self.node_events(ctx, read(body)?).await),
            ("knowledge", "undo_node_event") => out(self.node_event_undo(ctx, read(body)?).await),
            ("knowledge", "list_merges") => out(self.merge_list(ctx, read(body)?).await),
            ("knowledge", "accept_merge") => out(self.merge_accept(ctx, read(body)?).await),
            ("knowledge", "reject_merge") => out(self.merge_reject(ctx, read(body)?).await),

            ("ball", "list") => out(self.ball_list(ctx, read(body)?).await),
            ("ball", "create") => out(self.ball_create(ctx, read(body)?).await),
            ("ball", "get") => out(self.ball_get(ctx, read(body)?).await),
            ("ball", "update") => out(self.ball_update(ctx, read(body)?).await),
            ("ball", "delete") => out(self.ball_delete(ctx, read(body)?).await),
            ("ball", "refresh") => out(self.ball_refresh(ctx, read(body)?).await),

            ("memory", "list") => out(self.memory_list(ctx, read(body)?).await),
            ("memory", "create") => out(self.memory_create(ctx, read(body)?).await),
            ("memory", "get") => out(self.memory_get(ctx, read(body)?).await),
            ("memory", "update") => out(self.memory_update(ctx, read(body)?).await),
            ("memory", "delete") => out(self.memory_delete(ctx, read(body)?).await),

            ("knowledge", "list_sources") => out(self.triple_sources(ctx, read(body)?).await),

            ("document", "list") => out(self.document_list(ctx, read(body)?).await),
            ("document", "propose") => out(self.document_propose(ctx, read(body)?).await),
            ("document", "search") => out(self.document_search(ctx, read(body)?).await),
            ("document", "get") => out(self.document_get(ctx, read(body)?).await),
            ("document", "update") => out(self.document_update(ctx, read(body)?).await),
            ("document", "delete") => out(self.document_delete(ctx, read(body)?).await),
            ("document", "text") => out(self.document_text(ctx, read(body)?).await),
            ("document", "file") => out(self.document_file(ctx, read(body)?).await),
            ("document", "preview") => out(self.document_preview(ctx, read(body)?).await),
            ("document", "approve") => out(self.document_approve(ctx, read(body)?).await),
            ("document", "reject") => out(self.document_reject(ctx, read(body)?).await),
            ("document", "retry") => out(self.document_retry(ctx, read(body)?).await),
            ("document", "withdraw") => out(self.document_withdraw(ctx, read(body)?).await),
            ("document", "triples") => out(self.document_triples(ctx, read(body)?).await),
            ("document", "chunks") => out(self.document_chunks(ctx, read(body)?).await),
            ("document", "watch") => out(self.document_watch(ctx, read(body)?).await),

            ("flow", "list") => out(self.flow_list(ctx, read(body)?).await),
            ("flow", "create") => out(self.flow_create(ctx, read(body)?).await),
            ("flow", "get") => out(self.flow_get(ctx, read(body)?).await),
            ("flow", "update") => out(self.flow_update(ctx, read(body)?).await),
            ("flow", "delete") => out(self.flow_delete(ctx, read(body)?).await),
            ("flow", "catalog") => out(self.flow_catalog().await),
            ("flow", "validate") => out(self.flow_validate(read(body)?).await),
            ("flow", "execute") => out(self.flow_execute(ctx, read(body)?).await),
            ("flow", "executions_of") => out(self.flow_executions(ctx, read(body)?).await),
            ("flow", "list_executions") => out(self.execution_list(ctx, read(body)?).await),
            ("flow", "get_execution") => out(self.execution_get(ctx, read(body)?).await),
            ("flow", "list_events") => out(self.execution_events(ctx, read(body)?).await),
            ("flow", "watch") => out(self.execution_replay(ctx, read(body)?).await),
            ("flow", "submit_input") => out(self.execution_input(ctx, read(body)?).await),
            ("flow", "cancel") => out(self.execution_cancel(ctx, read(body)?).await),
            ("flow", "retry") => out(self.execution_retry(ctx, read(body)?).await),
            ("flow", "rerun") => out(self.execution_rerun(ctx, read(body)?).await),
            ("flow", "fork") => out(self.execution_fork(ctx, read(body)?).await),
            ("flow", "list_secrets") => out(self.secret_list(ctx, read(body)?).await),
            ("flow", "put_secret") => out(self.secret_put(ctx, read(body)?).await),
            ("flow", "delete_secret") => out(self.secret_delete(ctx, read(body)?).await),
            ("flow", "list_triggers") => out(self.trigger_list(ctx, read(body)?).await),
            ("flow", "create_trigger") => out(self.trigger_create(ctx, read(body)?).await),
            ("flow", "update_trigger") => out(self.trigger_update(ctx, read(body)?).await),
            ("flow", "delete_trigger") => out(self.trigger_delete(ctx, read(body)?).await),

            ("usage", "get") => out(self.usage_get(ctx, read(body)?).await),
            _ => Err(Fault::new(
                Code::NotFound,
                format!("there is no operation {entity}.{op}"),
            )),
        }
    }

    /// Answers once the database does.
    async fn ready(&self) -> Result<Value, Fault> {
        self.store.ping().await?;
        Ok(json!({"database": "ok", "turns_running": self.registry.running()}))
    }
}

impl Running {
    /// Stops taking requests, ends the running turns as cancelled (what they said is kept) and waits for them.
    pub async fn stop(self, deadline: Duration) {
        self.stop.cancel();
        self.app.registry.cancel_all();
        let stopped = self.operations.stop(deadline).await;
        self.owner.stop(Duration::from_millis(100)).await;
        // What it gives back is taken up by another core at once, and otherwise when its lock is found free.
        if tokio::time::timeout(deadline, self.documents)
            .await
            .is_err()
        {
            tracing::warn!("work on documents was cut off at shutdown");
        }
        if stopped.cut_off > 0 {
            tracing::warn!(
                requests = stopped.cut_off,
                "requests were cut off at shutdown"
            );
        }
    }
}

fn permit(ctx: &Ctx, access: Access) -> Result<(), Fault> {
    let Access::Member(role, scope) = access else {
        return Ok(());
    };
    if ctx.actor.role < role {
        return Err(Fault::new(
            Code::Forbidden,
            format!("this needs the role {role}, yours is {}", ctx.actor.role),
        ));
    }
    if !ctx.allows(scope) {
        return Err(Fault::new(
            Code::Forbidden,
            format!("the API key lacks the scope {scope}"),
        ));
    }
    Ok(())
}

fn out<T: Serialize>(result: Result<T, Fault>) -> Result<Value, Fault> {
    result.and_then(|v| {
        serde_json::to_value(v).map_err(|e| {
            tracing::error!(error = %e, "an answer could not be written as JSON");
            Fault::new(Code::Internal, "the answer could not be written")
        })
    })
}

/// Reads a typed request; the fault names the field.
pub(crate) fn read<T: DeserializeOwned>(body: Value) -> Result<T, Fault> {
    serde_path_to_error::deserialize(body).map_err(|e| {
        let path = e.path().to_string();
        let what = e.into_inner().to_string();
        match path.as_str() {
            "." | "?" => Fault::invalid(what),
            _ => Fault::invalid(format!("{path}: {what}")),
        }
    })
}

pub(crate) fn read_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Fault> {
    serde_json::from_slice(bytes).map_err(|e| {
        Fault::new(
            Code::MalformedJson,
            format!("the body is not readable: {e}"),
        )
    })
}

/// PostgreSQL's text cannot hold the character NUL, so no text of ours may.
fn no_nul(v: &Value) -> Result<(), Fault> {
    let bad = |s: &str| s.contains('\0');
    let found = match v {
        Value::String(s) => bad(s),
        Value::Array(a) => return a.iter().try_for_each(no_nul),
        Value::Object(o) => {
            o.values().try_for_each(no_nul)?;
            o.keys().any(|k| bad(k))
        }
        _ => false,
    };
    if found {
        Err(Fault::invalid("a text contains the character NUL"))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_the_field_that_is_wrong() {
        let f = read::<qadra_api::SendMessage>(
            json!({"conversation_id": Uuid::nil(), "agent_id": "x", "content": "hi"}),
        )
        .unwrap_err();
        assert_eq!(f.code, Code::Validation);
        assert!(f.detail.starts_with("agent_id: "), "{}", f.detail);
        let f = read::<qadra_api::Login>(json!({"email": "a@b.c"})).unwrap_err();
        assert_eq!(f.detail, "missing field `password`");
    }

    #[test]
    fn nul_is_found_wherever_it_hides() {
        for v in [
            json!("a\0"),
            json!([["\0"]]),
            json!({"a": {"b": "\0"}}),
            json!({"\0": 1}),
        ] {
            assert!(no_nul(&v).is_err(), "{v}");
        }
        assert!(no_nul(&json!({"a": ["b", 1, null, true]})).is_ok());
    }
}
