//! The outside world: an HTTP server that logs each call before it answers, slowly and sometimes with a refusal.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::dice::Dice;

/// A call as the other side saw it.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// Which run it is for.
    pub(super) tag: String,
    /// Which node of it.
    pub(super) label: String,
    pub(super) key: String,
    /// Milliseconds since the epoch.
    pub(super) at: i64,
}

#[derive(Clone)]
pub(super) struct Stub {
    pub(super) address: SocketAddr,
    log: Arc<Log>,
}

struct Log {
    calls: Mutex<Vec<Call>>,
    /// How often each key was refused.
    refused: Mutex<HashMap<String, u64>>,
    dice: Mutex<Dice>,
}

impl Stub {
    pub(super) async fn serve(dice: Dice) -> Result<Self> {
        let log = Arc::new(Log {
            calls: Mutex::default(),
            refused: Mutex::default(),
            dice: Mutex::new(dice),
        });
        let router = Router::new()
            .route("/{tag}/{label}", post(answer))
            .with_state(log.clone());
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let address = listener.local_addr()?;
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { address, log })
    }

    /// The calls so far, which are forgotten.
    pub(super) fn take(&self) -> Vec<Call> {
        let mut calls = self
            .log
            .calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut calls)
    }
}

/// `?fail=2` refuses the first two calls of a key with 503, `?status=400` all of them with 400.
async fn answer(
    State(log): State<Arc<Log>>,
    Path((tag, label)): Path<(String, String)>,
    Query(query): Query<HashMap<String, u64>>,
    headers: HeaderMap,
) -> (StatusCode, Json<Value>) {
    let key = headers
        .get("idempotency-key")
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default()
        .to_owned();
    let call = Call {
        tag: tag.clone(),
        label: label.clone(),
        key: key.clone(),
        at: now_ms(),
    };
    log.calls
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(call);
    let pause = {
        let mut dice = log.dice.lock().unwrap_or_else(PoisonError::into_inner);
        dice.between(0, 30)
    };
    tokio::time::sleep(Duration::from_millis(pause)).await;
    if let Some(status) = query.get("status") {
        let status = u16::try_from(*status)
            .ok()
            .and_then(|s| StatusCode::from_u16(s).ok());
        return (status.unwrap_or(StatusCode::BAD_REQUEST), Json(json!({})));
    }
    let refuse = query.get("fail").copied().unwrap_or(0);
    if refuse > 0 {
        let mut refused = log.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let so_far = refused.entry(key).or_default();
        if *so_far < refuse {
            *so_far += 1;
            return (StatusCode::SERVICE_UNAVAILABLE, Json(json!({})));
        }
    }
    (StatusCode::OK, Json(json!({"v": format!("{tag}/{label}")})))
}

pub(super) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX))
}
