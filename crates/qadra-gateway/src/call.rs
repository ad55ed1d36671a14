use std::time::Duration;

use bytes::Bytes;
use qadra_app::ORIGIN;
use qadra_nats::messages::{ACTOR, REQUEST_ID};
use qadra_nats::{Headers, Reply, Subject};
use qadra_types::{Actor, Code, Fault};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::Gateway;
use crate::problem::bus_fault;

/// An operation of a tenant, or of the platform before a tenant is known.
#[derive(Clone, Copy)]
pub(crate) enum Target<'a> {
    Tenant(Uuid, &'a str, &'a str),
    Platform(&'a str, &'a str),
}

/// Longer than the core lets a turn run, so that the core's own error arrives.
pub(crate) const TURN_TIMEOUT: Duration = Duration::from_secs(280);
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

impl Gateway {
    /// Asks the core and reads its typed answer.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        target: Target<'_>,
        actor: Option<&Actor>,
        request_id: Uuid,
        origin: &str,
        body: &impl Serialize,
    ) -> Result<T, Fault> {
        let (subject, headers) = address(target, actor, request_id, origin)?;
        let payload = payload(body)?;
        let answer = self
            .bus
            .request(subject.as_str(), headers, payload, CALL_TIMEOUT)
            .await
            .map_err(|e| bus_fault(&e))?;
        read_reply(&answer.payload)
    }
}

pub(crate) fn read_reply<T: DeserializeOwned>(payload: &[u8]) -> Result<T, Fault> {
    Reply::<T>::from_bytes(payload).into_result()
}

pub(crate) fn payload(body: &impl Serialize) -> Result<Bytes, Fault> {
    serde_json::to_vec(body).map(Bytes::from).map_err(|e| {
        tracing::error!(error = %e, "a request could not be written as JSON");
        Fault::new(Code::Internal, "the request could not be passed on")
    })
}

/// Subject and headers of a request.
pub(crate) fn address(
    target: Target<'_>,
    actor: Option<&Actor>,
    request_id: Uuid,
    origin: &str,
) -> Result<(Subject, Headers), Fault> {
    let subject = match target {
        Target::Tenant(id, entity, op) => Subject::op(id, entity, op),
        Target::Platform(entity, op) => Subject::platform(entity, op),
    };
    let fault = |e| bus_fault(&e);
    let mut headers = Headers::new();
    headers
        .insert(REQUEST_ID, &request_id.to_string())
        .map_err(fault)?;
    if let Some(actor) = actor {
        let actor = serde_json::to_string(actor).unwrap_or_default();
        headers.insert(ACTOR, &actor).map_err(fault)?;
    }
    if !origin.is_empty() {
        headers.insert(ORIGIN, origin).map_err(fault)?;
    }
    Ok((subject.map_err(fault)?, headers))
}
