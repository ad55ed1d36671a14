//! Entries as the columns of a table.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::event::{Entry, Event, NodeError};
use crate::NodeRef;

/// An entry without its `seq` and `at`, in the form in which it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<'a> {
    pub kind: &'a str,
    /// Empty where the entry concerns no node.
    pub node: Cow<'a, str>,
    pub attempt: u32,
    /// JSON text of what has no column.
    pub body: Option<Cow<'a, str>>,
}

/// A stored entry that this version cannot read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {seq} ({kind}) cannot be read: {reason}")]
pub struct RecordError {
    pub seq: u32,
    pub kind: String,
    pub reason: String,
}

#[derive(Serialize, Deserialize, Default)]
struct Body {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<Arc<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    route: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    began: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<NodeError>,
    /// Not left out when it is null: a person may have answered with null.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "present")]
    value: Option<Arc<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Keeps `null` apart from absent.
mod present {
    use super::{Arc, Value};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(v: &Option<Arc<Value>>, s: S) -> Result<S::Ok, S::Error> {
        v.as_deref().unwrap_or(&Value::Null).serialize(s)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Arc<Value>>, D::Error> {
        Value::deserialize(d).map(|v| Some(Arc::new(v)))
    }
}

impl Entry {
    pub fn record(&self) -> Record<'static> {
        let mut body = Body::default();
        let mut attempt = 1;
        let node = self
            .event
            .node()
            .map(NodeRef::to_string)
            .unwrap_or_default();
        match &self.event {
            Event::Started | Event::Timer { .. } => {}
            Event::Completed {
                attempt: n,
                output,
                route,
                began,
                ..
            } => {
                attempt = *n;
                body.output = output.clone();
                body.route = *route;
                body.began = *began;
            }
            Event::Failed {
                attempt: n, error, ..
            } => {
                attempt = *n;
                body.error = Some(error.clone());
            }
            Event::Input { value, by, .. } => {
                body.value = Some(value.clone());
                body.by = *by;
            }
            Event::Cancelled { by, reason } => {
                body.by = *by;
                body.reason = Some(reason.clone());
            }
        }
        // Maps with text keys, numbers and text always have a JSON form.
        let body = serde_json::to_string(&body).unwrap_or_default();
        Record {
            kind: self.event.name(),
            node: node.into(),
            attempt,
            body: (body != "{}").then(|| body.into()),
        }
    }

    /// The entry that was stored as this.
    pub fn from_record(seq: u32, at: i64, record: &Record<'_>) -> Result<Self, RecordError> {
        let wrong = |reason: &dyn std::fmt::Display| RecordError {
            seq,
            kind: record.kind.to_owned(),
            reason: reason.to_string(),
        };
        let body: Body = match &record.body {
            Some(text) => serde_json::from_str(text).map_err(|e| wrong(&e))?,
            None => Body::default(),
        };
        let node = || record.node.parse::<NodeRef>().map_err(|e| wrong(&e));
        let event = match record.kind {
            "started" => Event::Started,
            "completed" => Event::Completed {
                node: node()?,
                attempt: record.attempt,
                output: body.output,
                route: body.route,
                began: body.began,
            },
            "failed" => Event::Failed {
                node: node()?,
                attempt: record.attempt,
                error: body.error.ok_or_else(|| wrong(&"it has no error"))?,
            },
            "input" => Event::Input {
                node: node()?,
                value: body.value.unwrap_or_default(),
                by: body.by,
            },
            "timer" => Event::Timer { node: node()? },
            "cancelled" => Event::Cancelled {
                by: body.by,
                reason: body.reason.unwrap_or_default(),
            },
            _ => return Err(wrong(&"its kind is unknown")),
        };
        Ok(Self { seq, at, event })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn stored_and_read_back() {
        let node: NodeRef = "a@l:3".parse().unwrap();
        let by = Some(Uuid::from_u128(7));
        let completed = |output: Option<Value>, route, began| Event::Completed {
            node: node.clone(),
            attempt: 2,
            output: output.map(Arc::new),
            route,
            began,
        };
        let mut error = NodeError::fatal("timeout", "late");
        error.retryable = true;
        error.retry_after = Some(1500);
        for event in [
            Event::Started,
            completed(Some(json!({"a": [1, null, "\u{0}"]})), None, Some(5)),
            completed(None, Some(false), None),
            Event::Completed {
                node: node.clone(),
                attempt: 1,
                output: None,
                route: None,
                began: None,
            },
            Event::Failed {
                node: node.clone(),
                attempt: 3,
                error,
            },
            Event::Input {
                node: node.clone(),
                value: Arc::new(Value::Null),
                by,
            },
            Event::Input {
                node: node.clone(),
                value: Arc::new(json!({"ok": true})),
                by: None,
            },
            Event::Timer { node: node.clone() },
            Event::Cancelled {
                by,
                reason: "enough".into(),
            },
        ] {
            let entry = Entry {
                seq: 9,
                at: 1234,
                event,
            };
            assert_eq!(Entry::from_record(9, 1234, &entry.record()), Ok(entry));
        }
        let plain = Entry {
            seq: 1,
            at: 0,
            event: Event::Started,
        };
        assert_eq!(plain.record().body, None);
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let record = |kind: &'static str, node: &'static str, body: &'static str| Record {
            kind,
            node: node.into(),
            attempt: 1,
            body: Some(body.into()),
        };
        for bad in [
            record("leapt", "a", "{}"),
            record("completed", "", "{}"),
            record("failed", "a", "{}"),
            record("completed", "a", "{"),
        ] {
            assert!(
                Entry::from_record(4, 0, &bad)
                    .unwrap_err()
                    .to_string()
                    .starts_with("entry 4 (")
            );
        }
    }
}
