//! A database with one tenant, flows in it, and workers whose nodes do as their `data` says.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use qadra_flow::{Entry, Event, Graph, Limits, Record, Run};
use qadra_nats::{Bus, InProcess, InProcessOptions};
use qadra_runner::nodes::{Job, NodeFailure, Performer};
use qadra_runner::{Running, Settings, Worker};
use qadra_store::{ExecutionRow, NewAccount, NewExecution, NewFlow, NewMessage, Store, StoreError};
use qadra_testkit::db::TestDb;
use qadra_types::new_id;
use serde_json::{Value, json};
use tokio::sync::Notify;
use uuid::Uuid;

pub struct Bed {
    pub db: TestDb,
    pub store: Store,
    pub bus: Arc<dyn Bus>,
    pub tenant_id: Uuid,
    pub nodes: Arc<Scripted>,
}

/// Notes each call. `data.say` is the output, `data.wait` holds the attempt until [`Scripted::let_go`], `data.fail` is
/// the number of attempts that fail first.
#[derive(Default)]
pub struct Scripted {
    pub calls: Mutex<Vec<(String, u32, Uuid)>>,
    pub go: Notify,
    held: Mutex<HashMap<String, u32>>,
}

impl Scripted {
    pub fn count(&self, node: &str) -> usize {
        self.calls
            .lock()
            .unwrap()
            .iter()
            .filter(|(n, ..)| n == node)
            .count()
    }

    pub fn let_go(&self) {
        self.go.notify_waiters();
    }

    pub fn held(&self) -> usize {
        self.held.lock().unwrap().len()
    }
}

#[async_trait]
impl Performer for Scripted {
    async fn perform(&self, job: Job) -> Result<Value, NodeFailure> {
        let name = job.node.to_string();
        self.calls
            .lock()
            .unwrap()
            .push((name.clone(), job.attempt, job.idempotency_key));
        if job.data.get("wait") == Some(&json!(true)) {
            let go = self.go.notified();
            self.held.lock().unwrap().insert(name.clone(), 1);
            go.await;
            self.held.lock().unwrap().remove(&name);
        }
        let fails = job.data.get("fail").and_then(Value::as_u64).unwrap_or(0);
        if u64::from(job.attempt) <= fails {
            return Err(NodeFailure::passing("broken", "it broke"));
        }
        if job.data.get("panic") == Some(&json!(true)) {
            panic!("a node that panics");
        }
        Ok(job
            .data
            .get("say")
            .cloned()
            .unwrap_or_else(|| json!({"node": name})))
    }
}

pub fn quick() -> Settings {
    Settings {
        lease: Duration::from_millis(1_500),
        poll: Duration::from_millis(200),
        ..Settings::default()
    }
}

impl Bed {
    pub async fn new() -> Self {
        let db = TestDb::new().await;
        let store = Store::open(db.options(), 6);
        let (tenant_id, user_id) = (new_id(), new_id());
        let mut tx = store.auth().await.unwrap();
        tx.account_create(&NewAccount {
            tenant_id,
            tenant_name: "Acme",
            tenant_slug: &tenant_id.simple().to_string(),
            user_id,
            email: &format!("{}@example.org", user_id.simple()),
            name: "Ada",
            password_hash: "$argon2id$not-a-hash",
        })
        .await
        .unwrap();
        tx.commit().await.unwrap();
        Self {
            db,
            store,
            bus: Arc::new(InProcess::with_options(InProcessOptions::default())),
            tenant_id,
            nodes: Arc::default(),
        }
    }

    pub async fn worker(&self) -> Running {
        self.worker_with(quick()).await
    }

    pub async fn worker_with(&self, settings: Settings) -> Running {
        let worker = Worker {
            store: self.store.clone(),
            bus: self.bus.clone(),
            performer: self.nodes.clone(),
            settings,
            name: "test".into(),
        };
        worker.start().await.unwrap()
    }

    pub async fn flow(&self, name: &str, flow_data: &Value) -> Uuid {
        let id = new_id();
        let text = flow_data.to_string();
        let mut tx = self.store.tenant_id(self.tenant_id).await.unwrap();
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
        .unwrap();
        tx.commit().await.unwrap();
        id
    }

    /// Makes an execution; workers are not told, they look by themselves.
    pub async fn execute(&self, flow_id: Uuid, input: Value) -> Uuid {
        let id = new_id();
        let mut tx = self.store.tenant_id(self.tenant_id).await.unwrap();
        let flow = tx.flow_get(flow_id).await.unwrap().unwrap();
        let snapshot_id = tx
            .flow_snapshot(flow_id, &flow.digest, &flow.flow_data.to_string())
            .await
            .unwrap();
        tx.execution_create(&NewExecution {
            id,
            flow_id,
            snapshot_id,
            input: &input.to_string(),
            trigger: "api",
            triggered_by: None,
            parent: None,
            rerun_of: None,
            conversation_id: None,
            turn_id: None,
            idempotency_key: None,
        })
        .await
        .unwrap();
        tx.commit().await.unwrap();
        self.bus
            .publish(qadra_runner::WAKE, Default::default(), Default::default())
            .await
            .unwrap();
        id
    }

    pub async fn tell(
        &self,
        execution_id: Uuid,
        kind: &str,
        node: &str,
        body: Value,
    ) -> Result<bool, StoreError> {
        let mut tx = self.store.tenant_id(self.tenant_id).await.unwrap();
        let put = tx
            .inbox_put(&NewMessage {
                execution_id,
                kind,
                node,
                body: &body,
                created_by: None,
            })
            .await?;
        tx.commit().await.unwrap();
        self.bus
            .publish(qadra_runner::WAKE, Default::default(), Default::default())
            .await
            .unwrap();
        Ok(put)
    }

    pub async fn row(&self, id: Uuid) -> ExecutionRow {
        let mut tx = self.store.tenant_id(self.tenant_id).await.unwrap();
        tx.execution_get(id).await.unwrap().unwrap()
    }

    /// Waits until the execution has the status and, unless it has ended, nobody holds it.
    pub async fn reached(&self, id: Uuid, status: &str) -> ExecutionRow {
        for _ in 0..1_500 {
            let row = self.row(id).await;
            if row.status == status {
                return row;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!(
            "the execution does not become {status}: {:?}\n{:#?}",
            self.row(id).await,
            self.journal(id).await
        );
    }

    pub async fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        for _ in 0..1_000 {
            if holds() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("it never happens that {what}");
    }

    pub async fn journal(&self, id: Uuid) -> Vec<Entry> {
        let mut tx = self.store.tenant_id(self.tenant_id).await.unwrap();
        let rows = tx.journal_read(id, 0).await.unwrap();
        let read = rows.iter().map(|row| {
            let record = Record {
                kind: &row.kind,
                node: row.node.as_str().into(),
                attempt: row.attempt as u32,
                body: row.body.as_deref().map(Into::into),
            };
            Entry::from_record(row.seq, row.at, &record).unwrap()
        });
        read.collect()
    }

    /// What readers see, folded from the journal, after a check that no node is recorded twice.
    pub async fn view(&self, id: Uuid, flow_data: &Value) -> Value {
        let journal = self.journal(id).await;
        let mut ended: Vec<String> = journal
            .iter()
            .filter_map(|e| match &e.event {
                Event::Completed { node, .. } | Event::Input { node, .. } => Some(node.to_string()),
                _ => None,
            })
            .collect();
        let all = ended.len();
        ended.sort();
        ended.dedup();
        assert_eq!(ended.len(), all, "a node is recorded twice");
        let mut tx = self.store.tenant_id(self.tenant_id).await.unwrap();
        let input = tx.execution_input(id).await.unwrap().unwrap();
        let mut run = Run::new(
            Arc::new(Graph::compile(flow_data).unwrap()),
            input,
            Limits::default(),
        );
        for entry in &journal {
            run.apply(entry).unwrap();
        }
        run.view()
    }
}

/// `id:Type` nodes and `a>b`, `a.handle>b` edges.
pub fn flow(nodes: &[(&str, Value)], edges: &str) -> Value {
    let nodes: Vec<Value> = nodes
        .iter()
        .map(|(name, data)| {
            let (id, kind) = name.split_once(':').unwrap();
            json!({"id": id, "type": kind, "data": data})
        })
        .collect();
    let edges: Vec<Value> = edges
        .split_whitespace()
        .map(|edge| {
            let (from, to) = edge.split_once('>').unwrap();
            let (from, handle) = match from.split_once('.') {
                Some((from, handle)) => (from, json!(handle)),
                None => (from, Value::Null),
            };
            json!({"id": edge, "source": from, "target": to, "sourceHandle": handle})
        })
        .collect();
    json!({"nodes": nodes, "edges": edges})
}
