//! KnowledgeLookup: what the tenant's graph says, asked of the core over the bus.

use std::time::Duration;

use bytes::Bytes;
use qadra_nats::messages::REQUEST_ID;
use qadra_nats::{Headers, Reply, Subject};
use serde_json::{Map, Value, json};

use super::{Job, NodeFailure, Parts};

const TIMEOUT: Duration = Duration::from_secs(20);
const LIMIT: f64 = 20.0;
const MOST: f64 = 100.0;
/// The core's own limit on a question.
const LONGEST: usize = 100_000;

pub(super) async fn perform(parts: &Parts, job: &Job) -> Result<Value, NodeFailure> {
    let query = job.text("query").unwrap_or_default();
    let query = query.trim();
    // Within 1 to 100, so the cast loses nothing.
    let limit = job.number("limit").unwrap_or(LIMIT).clamp(1.0, MOST) as usize;
    let found = match query.is_empty() {
        true => Err("there is nothing to look up".to_owned()),
        false => ask(parts, job, query).await,
    };
    let mut output = json!({
        "query": query,
        "source": "knowledge_graph",
        "limit": limit,
        "results": found.as_ref().map_or_else(|_| vec![], |found| results(found, limit)),
    });
    // An empty result that is the fault of something else must not read like an empty graph.
    if let (Err(why), Some(output)) = (found, output.as_object_mut()) {
        output.insert("error".to_owned(), Value::String(why));
    }
    Ok(output)
}

/// What the graph says to a text, in the form of the operation `knowledge.query`.
pub(super) async fn ask(
    parts: &Parts,
    job: &Job,
    query: &str,
) -> Result<Map<String, Value>, String> {
    let subject = Subject::op(job.tenant_id, "knowledge", "query").map_err(|e| e.to_string())?;
    let query: String = query.chars().take(LONGEST).collect();
    let mut body = json!({"query": query});
    // Without an actor header the core looks the user up itself, with the role held now.
    if let (Some(user_id), Some(body)) = (job.user_id, body.as_object_mut()) {
        body.insert("user_id".to_owned(), json!(user_id));
    }
    let headers = Headers::new()
        .with(REQUEST_ID, &job.execution_id.to_string())
        .map_err(|e| e.to_string())?;
    let reply = parts
        .bus
        .request(&subject, headers, Bytes::from(body.to_string()), TIMEOUT)
        .await
        .map_err(|e| e.to_string())?;
    Reply::<Map<String, Value>>::from_bytes(&reply.payload)
        .into_result()
        .map_err(|fault| fault.detail)
}

/// The most relevant statements in the node's shape, each once.
fn results(found: &Map<String, Value>, limit: usize) -> Vec<Value> {
    let triples = found.get("triples").and_then(Value::as_array);
    let mut seen = std::collections::HashSet::new();
    triples
        .into_iter()
        .flatten()
        .filter(|triple| seen.insert(triple.get("id").map(Value::to_string)))
        .take(limit)
        .map(result)
        .collect()
}

fn result(triple: &Value) -> Value {
    let at = |pointer: &str| triple.pointer(pointer).cloned().unwrap_or(Value::Null);
    let mut result = json!({
        "subject": at("/subject/label"),
        "predicate": at("/predicate"),
        "object": at("/object/label"),
        "confidence": at("/confidence"),
        "source": at("/source"),
    });
    // That something is *not* so must not read as if it were.
    if let (Some("-"), Some(result)) = (
        triple.get("polarity").and_then(Value::as_str),
        result.as_object_mut(),
    ) {
        result.insert("polarity".to_owned(), json!("-"));
    }
    result
}
