//! Rows of the store as the API shows them.

use qadra_api as api;
use qadra_epistemic::{Object, Parsed};
use qadra_store::{DocumentRow, FindingRow, TripleRow};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) fn document(row: DocumentRow) -> api::Document {
    let analysis = analysis(&row);
    api::Document {
        id: row.id,
        title: row.title,
        content_type: row.content_type,
        source_url: row.source_url,
        source_type: row.source_type,
        filename: row.filename,
        size_bytes: row.size_bytes,
        char_count: row.char_count,
        ingestion_status: row.status,
        ingestion_result: typed(row.result),
        progress: typed(row.progress),
        analysis,
        proposed_by: row.proposed_by,
        proposed_by_agent: row.proposed_by_agent,
        approved_by: row.approved_by,
        approved_at: row.approved_at,
        rejected_by: row.rejected_by,
        rejected_at: row.rejected_at,
        rejection_reason: row.rejection_reason,
        withdrawn_by: row.withdrawn_by,
        withdrawn_at: row.withdrawn_at,
        withdrawal_reason: row.withdrawal_reason,
        created_at: row.created_at,
        processed_at: row.processed_at,
        attempts: row.attempts,
    }
}

pub(crate) fn state(row: DocumentRow) -> api::DocumentState {
    api::DocumentState {
        seq: u32::try_from(row.seq).unwrap_or(0),
        document: document(row),
    }
}

pub(crate) fn analysis(row: &DocumentRow) -> api::DocumentAnalysis {
    let count = |name: &str| row.analysis.get(name).and_then(Value::as_i64).unwrap_or(0);
    api::DocumentAnalysis {
        status: row.analysis_status.clone(),
        error: typed(row.analysis_error.clone()),
        triples: count("triples"),
        conflicts: count("conflicts"),
        known: count("known"),
        new: count("new"),
    }
}

fn typed<T: DeserializeOwned>(value: Option<Value>) -> Option<T> {
    serde_json::from_value(value?).ok()
}

/// The statements that some of these contradict.
pub(crate) fn conflicting(found: &[FindingRow]) -> Vec<Uuid> {
    found
        .iter()
        .flat_map(|f| f.conflicts.as_array().into_iter().flatten())
        .filter_map(|c| c.get("triple_id")?.as_str()?.parse().ok())
        .collect()
}

pub(crate) fn finding(f: FindingRow, triples: &[TripleRow]) -> api::Finding {
    let conflicts = f
        .conflicts
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|c| {
            let id: Uuid = c.get("triple_id")?.as_str()?.parse().ok()?;
            let row = triples.iter().find(|t| t.id == id)?;
            Some(api::FindingConflict {
                triple: crate::knowledge::api_triple(row.clone()),
                reason: c.get("reason")?.as_str()?.to_owned(),
            })
        })
        .collect();
    api::Finding {
        subject: f.subject,
        predicate: f.predicate,
        object: shown(f.object),
        polarity: if f.positive { "+" } else { "-" }.to_owned(),
        kind: f.kind,
        confidence: (f64::from(f.confidence) * 100.0).round() / 100.0,
        span: f.span,
        sentence: f.sentence,
        status: f.status,
        conflicts,
    }
}

/// With the label that people read.
fn shown(mut object: Value) -> Value {
    let label = match Object::parse(&object) {
        Ok(Parsed::Literal(o)) => o.label(),
        Ok(Parsed::Node { label, .. }) => label,
        Err(_) => String::new(),
    };
    object["label"] = json!(label);
    object
}
