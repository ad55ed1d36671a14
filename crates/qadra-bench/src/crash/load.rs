//! Keeps executions of every kind going, and answers where a person is asked.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use qadra_store::{NewMessage, Store, StoreError};
use qadra_types::new_id;
use serde_json::{Value, json};
use uuid::Uuid;

use super::dice::Dice;
use super::kinds::{CHILD, Kind, REFUSED, kinds};
use super::stub::Stub;
use crate::bed::{self, Flow};

/// Between looks at an execution.
const LOOK: Duration = Duration::from_millis(60);

/// What all slots share.
pub(super) struct Load {
    store: Store,
    tenants: Vec<Tenant>,
    /// Half of the executions wait between attempts: a worker that is frozen then must not go on with the next.
    waits: bool,
    started: Mutex<Vec<Started>>,
    ended: AtomicUsize,
    stopping: AtomicBool,
}

struct Tenant {
    id: Uuid,
    kinds: Arc<Vec<Kind>>,
    flows: Vec<Flow>,
}

/// An execution that was begun, and what people said to it.
#[derive(Clone)]
pub(super) struct Started {
    pub(super) tenant_id: Uuid,
    pub(super) id: Uuid,
    pub(super) kinds: Arc<Vec<Kind>>,
    pub(super) kind: usize,
    pub(super) said: BTreeMap<String, Vec<Value>>,
    /// Answers given from two connections at once.
    pub(super) twice: usize,
    /// What went wrong with them.
    pub(super) wrong: Vec<String>,
}

impl Load {
    pub(super) async fn new(
        store: Store,
        stub: &Stub,
        tenants: usize,
        waits: bool,
    ) -> Result<Self> {
        let mut made = Vec::new();
        for _ in 0..tenants {
            made.push(Tenant::new(&store, stub).await?);
        }
        Ok(Self {
            store,
            tenants: made,
            waits,
            started: Mutex::default(),
            ended: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
        })
    }

    /// Starts one execution after another, until told to stop. A database that is away is waited for.
    pub(super) async fn slot(self: Arc<Self>, mut dice: Dice) {
        while !self.stopping.load(Ordering::Relaxed) {
            let tenant = &self.tenants[dice.below(self.tenants.len() as u64) as usize];
            let waits = self.waits && dice.once_in(2);
            let own: Vec<usize> = (0..tenant.kinds.len())
                .filter(|k| !tenant.kinds[*k].only_child)
                .filter(|k| !waits || tenant.kinds[*k].name == REFUSED)
                .collect();
            let kind = own[dice.below(own.len() as u64) as usize];
            let mut run = Started {
                tenant_id: tenant.id,
                id: new_id(),
                kinds: tenant.kinds.clone(),
                kind,
                said: BTreeMap::new(),
                twice: 0,
                wrong: Vec::new(),
            };
            self.begin(&tenant.flows[kind], &run).await;
            // Noted before it ends, so that one that never does is missed.
            let place = {
                let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
                started.push(run.clone());
                started.len() - 1
            };
            self.follow(&mut run, &mut dice).await;
            self.started.lock().unwrap_or_else(PoisonError::into_inner)[place] = run;
            self.ended.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub(super) fn ended(&self) -> usize {
        self.ended.load(Ordering::Relaxed)
    }

    pub(super) fn started(&self) -> Vec<Started> {
        self.started
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn begin(&self, flow: &Flow, run: &Started) {
        let mut input = run.kinds[run.kind].input.clone();
        input.insert("tag".into(), json!(run.id));
        let input = Value::Object(input);
        // Under the same id it is one execution, however often it is tried.
        while flow.execute(&self.store, run.id, &input).await.is_err() {
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn follow(&self, run: &mut Started, dice: &mut Dice) {
        let mut asked = run.kinds[run.kind].asks.clone();
        // In either order.
        if dice.once_in(2) {
            asked.reverse();
        }
        loop {
            tokio::time::sleep(LOOK).await;
            match self.status(run).await.as_deref() {
                Some("completed" | "failed" | "cancelled") => return,
                Some("paused") => {
                    if let Some(node) = asked.pop() {
                        self.answer(run, node, dice).await;
                        tokio::time::sleep(Duration::from_millis(dice.between(0, 300))).await;
                    }
                }
                _ => {}
            }
        }
    }

    async fn status(&self, run: &Started) -> Option<String> {
        let mut tx = self.store.tenant_id(run.tenant_id).await.ok()?;
        Some(tx.execution_get(run.id).await.ok()??.status)
    }

    /// Answers once, or twice at the same time: then one of the two is accepted and the other refused.
    async fn answer(&self, run: &mut Started, node: &str, dice: &mut Dice) {
        let value = |dice: &mut Dice| json!({"n": dice.below(1_000_000)});
        let mut values = vec![value(dice)];
        if dice.once_in(2) {
            values.push(value(dice));
            run.twice += 1;
        }
        let said = futures::future::join_all(values.iter().map(|v| self.put(run, node, v))).await;
        let accepted: Vec<Value> = values
            .iter()
            .zip(&said)
            .filter(|(_, said)| **said == Said::Accepted)
            .map(|(value, _)| value.clone())
            .collect();
        let unclear: Vec<Value> = values
            .iter()
            .zip(&said)
            .filter(|(_, said)| **said == Said::Unclear)
            .map(|(value, _)| value.clone())
            .collect();
        let candidates = match (accepted.len(), unclear.is_empty()) {
            (1, _) => accepted,
            // Its answer was lost with PostgreSQL.
            (0, false) => unclear,
            (n, _) => {
                run.wrong.push(format!(
                    "execution {}: {n} of {} answers to {node} were accepted ({said:?})",
                    run.id,
                    values.len()
                ));
                values
            }
        };
        run.said.insert(node.to_owned(), candidates);
    }

    async fn put(&self, run: &Started, node: &str, value: &Value) -> Said {
        let mut lost = false;
        loop {
            match self.put_once(run, node, value).await {
                Ok(true) if lost => return Said::Unclear,
                Ok(true) => return Said::Accepted,
                Ok(false) => return Said::Ended,
                // By whom, cannot be told when the first try may have been the one.
                Err(StoreError::Duplicate { .. }) if lost => return Said::Unclear,
                Err(StoreError::Duplicate { .. }) => return Said::Refused,
                Err(_) => {
                    lost = true;
                    tokio::time::sleep(LOOK).await;
                }
            }
        }
    }

    async fn put_once(&self, run: &Started, node: &str, value: &Value) -> Result<bool, StoreError> {
        let mut tx = self.store.tenant_id(run.tenant_id).await?;
        let put = tx
            .inbox_put(&NewMessage {
                execution_id: run.id,
                kind: "input",
                node,
                body: value,
                created_by: None,
            })
            .await?;
        tx.commit().await?;
        Ok(put)
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Said {
    Accepted,
    /// As the second of two.
    Refused,
    Ended,
    Unclear,
}

impl Tenant {
    async fn new(store: &Store, stub: &Stub) -> Result<Self> {
        let id = bed::tenant(store).await?;
        let first = kinds(stub.address, None);
        let mut child = None;
        for kind in first.iter().filter(|k| k.name == CHILD) {
            child = Some(Flow::create(store, id, kind.name, &kind.graph).await?);
        }
        let kinds = kinds(stub.address, child.map(|c| c.id));
        let mut flows = Vec::new();
        for kind in &kinds {
            match child.filter(|_| kind.name == CHILD) {
                Some(child) => flows.push(child),
                None => flows.push(Flow::create(store, id, kind.name, &kind.graph).await?),
            }
        }
        Ok(Self {
            id,
            kinds: Arc::new(kinds),
            flows,
        })
    }
}
