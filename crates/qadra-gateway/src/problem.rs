use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use qadra_nats::BusError;
use qadra_types::{Code, Fault};
use serde_json::json;
use uuid::Uuid;

/// A fault as an answer to one request: problem+json (RFC 9457).
pub(crate) struct Problem {
    pub(crate) fault: Fault,
    pub(crate) request_id: Uuid,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Fault {
            code,
            detail,
            hint,
            findings,
        } = self.fault;
        let status =
            StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if status.is_server_error() {
            tracing::warn!(code = code.as_str(), detail, request_id = %self.request_id, "answered with an error");
        }
        let mut body = json!({
            "type": format!("urn:qadra:error:{}", code.as_str()),
            "title": code.title(),
            "status": status.as_u16(),
            "code": code.as_str(),
            "detail": detail,
            "request_id": self.request_id,
        });
        if let Some(hint) = hint {
            body["hint"] = json!(hint);
        }
        if !findings.is_empty() {
            body["findings"] = json!(findings);
        }
        let mut response = (status, body.to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// What the caller is told when the core cannot be reached or does not answer.
pub(crate) fn bus_fault(e: &BusError) -> Fault {
    match e {
        BusError::NoResponder { .. } | BusError::Disconnected | BusError::Closed => {
            tracing::error!(error = %e, "no core answers");
            Fault::new(Code::Unavailable, "no core is there to answer")
                .hint("try again in a moment")
        }
        BusError::Timeout { .. } | BusError::Unanswered { .. } => {
            tracing::error!(error = %e, "the core did not answer");
            Fault::new(Code::Timeout, "the core did not answer in time")
        }
        BusError::TooLarge { .. } => Fault::new(
            Code::TooLarge,
            "the request is too large for the message bus",
        ),
        other => {
            tracing::error!(error = %other, "the message bus failed");
            Fault::new(Code::Internal, "the message bus failed")
        }
    }
}
