//! What travels in the messages: the reply envelope, progress events, header names.

use bytes::Bytes;
use qadra_types::{Code, Fault};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Header with the acting user as JSON (`qadra_types::Actor`), set by the gateway, believed by core.
pub const ACTOR: &str = "Qadra-Actor";
/// Header that correlates a message with the HTTP request behind it.
pub const REQUEST_ID: &str = "Qadra-Request-Id";
/// Header that refers to a payload in the object store; names that begin with it belong to the bus.
pub const OBJECT: &str = "Qadra-Object";
pub(crate) const OBJECT_LENGTH: &str = "Qadra-Object-Length";
pub(crate) const OBJECT_SHA256: &str = "Qadra-Object-Sha256";

/// One step of a turn or a flow, on `_PROGRESS.{uuid}`. `seq` grows by one from event to event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowProgressEvent {
    pub event: String,
    pub data: Value,
    pub seq: u32,
}

impl FlowProgressEvent {
    pub fn to_bytes(&self) -> Bytes {
        // A string, a number and a JSON value always have a JSON form.
        serde_json::to_vec(self)
            .map(Bytes::from)
            .unwrap_or_default()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }
}

/// The answer to every operation: `{"ok": …}` or `{"error": {"code", "detail", "hint"?}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Reply<T = Value> {
    #[serde(rename = "ok")]
    Ok(T),
    #[serde(rename = "error")]
    Error(Fault),
}

impl<T> Reply<T> {
    pub fn ok(value: T) -> Self {
        Self::Ok(value)
    }

    pub fn error(fault: Fault) -> Self {
        Self::Error(fault)
    }

    pub fn into_result(self) -> Result<T, Fault> {
        match self {
            Self::Ok(value) => Ok(value),
            Self::Error(fault) => Err(fault),
        }
    }
}

impl<T: Serialize> Reply<T> {
    /// The envelope; a value without a JSON form becomes an `INTERNAL` error rather than silence.
    pub fn to_bytes(&self) -> Bytes {
        match serde_json::to_vec(self) {
            Ok(bytes) => bytes.into(),
            Err(error) => {
                tracing::error!(%error, "reply has no JSON form");
                Bytes::from_static(
                    br#"{"error":{"code":"INTERNAL","detail":"the answer could not be written"}}"#,
                )
            }
        }
    }
}

impl<T: DeserializeOwned> Reply<T> {
    /// Reads an envelope; anything else is an `INTERNAL` fault of the responder.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_else(|error| {
            tracing::error!(%error, length = bytes.len(), "reply is no envelope of the expected shape");
            Self::Error(Fault::new(Code::Internal, "the answer could not be read"))
        })
    }
}

impl<T> From<Result<T, Fault>> for Reply<T> {
    fn from(result: Result<T, Fault>) -> Self {
        match result {
            Ok(value) => Self::Ok(value),
            Err(fault) => Self::Error(fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn envelopes_read_as_written() {
        let ok = Reply::ok(json!({"n": 1}));
        assert_eq!(&ok.to_bytes()[..], br#"{"ok":{"n":1}}"#);
        assert_eq!(Reply::from_bytes(&ok.to_bytes()), ok);
        let error: Reply = Reply::error(Fault::not_found("agent").hint("look again"));
        assert_eq!(
            &error.to_bytes()[..],
            br#"{"error":{"code":"NOT_FOUND","detail":"no such agent","hint":"look again"}}"#
        );
        assert_eq!(Reply::from_bytes(&error.to_bytes()), error);
        assert_eq!(Reply::<()>::from_bytes(br#"{"ok":null}"#), Reply::Ok(()));
    }

    #[test]
    fn any_other_bytes_are_an_internal_fault() {
        for bytes in [
            &b""[..],
            b"{}",
            b"null",
            b"\xff\xfe",
            br#"{"ok":1,"error":2}"#,
            br#"{"error":{"code":"WHAT"}}"#,
        ] {
            let fault = Reply::<Value>::from_bytes(bytes).into_result().unwrap_err();
            assert_eq!(fault.code, Code::Internal, "{bytes:?}");
        }
    }
}
