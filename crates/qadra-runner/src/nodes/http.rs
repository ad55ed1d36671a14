//! Http: one request to another system, with the tenant's secrets in it and none of them in what is kept of it.

mod fill;
mod redact;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, SET_COOKIE};
use serde_json::{Map, Value, json};

use self::fill::Fill;
use self::redact::Redactor;
use super::{Job, NodeFailure, Performer, Secrets};
use crate::egress::{Egress, EgressError, IDEMPOTENCY_KEY, Incoming, Outgoing};

/// Longest wait that another server can ask of us.
const LONGEST_WAIT: Duration = Duration::from_secs(3_600);
/// Characters of a body that a failure quotes.
const QUOTED: usize = 300;

/// Headers that the connection is made of; setting them apart from it is how requests are smuggled.
const REFUSED: [&str; 12] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "http2-settings",
    "proxy-authorization",
    "proxy-connection",
];

/// Performs Http nodes.
pub struct Http {
    egress: Arc<Egress>,
    secrets: Arc<dyn Secrets>,
}

impl Http {
    pub fn new(egress: Arc<Egress>, secrets: Arc<dyn Secrets>) -> Self {
        Self { egress, secrets }
    }

    async fn exchange(
        &self,
        job: &Job,
        fill: &Fill<'_>,
        redactor: &Redactor,
    ) -> Result<Value, NodeFailure> {
        let request = request(job, fill)?;
        let answer = self
            .egress
            .send(request)
            .await
            .map_err(|e| unanswered(&e))?;
        let output = redactor.clean(output(&answer));
        match fails(job.data.get("fail_on_status"), answer.status)? {
            false => Ok(output),
            true => Err(NodeFailure {
                code: "http_status",
                message: told(answer.status, output.get("body")),
                retryable: matches!(answer.status, 408 | 425 | 429 | 500..=599),
                retry_after: retry_after(&answer.headers),
            }),
        }
    }
}

#[async_trait]
impl Performer for Http {
    async fn perform(&self, job: Job) -> Result<Value, NodeFailure> {
        let mut secrets = Map::new();
        for (alias, name) in fill::secrets(&job.data)? {
            let found = self.secrets.get(job.tenant_id, &name).await?;
            let secret = found.ok_or_else(|| {
                NodeFailure::fatal(
                    "unknown_secret",
                    format!("there is no secret named {name:?}"),
                )
            })?;
            secrets.insert(alias, Value::String(secret.expose().to_owned()));
        }
        let redactor = Redactor::new(secrets.values().filter_map(Value::as_str));
        let fill = Fill::new(&job.state, secrets);
        self.exchange(&job, &fill, &redactor)
            .await
            .map_err(|failure| NodeFailure {
                message: redactor.text(&failure.message),
                ..failure
            })
    }
}

fn request(job: &Job, fill: &Fill<'_>) -> Result<Outgoing, NodeFailure> {
    let template = job.required("url")?;
    let mut url = fill.url(&template)?;
    fill.query(job.data.get("query"), &mut url)?;
    let mut request = Outgoing::new(method(job, fill)?, url);
    request.headers = headers(job.data.get("headers"), fill)?;
    if let Some(body) = fill.body(job.data.get("body"))? {
        if !request.headers.contains_key(CONTENT_TYPE) {
            let kind = HeaderValue::from_static(body.content_type);
            request.headers.insert(CONTENT_TYPE, kind);
        }
        request.body = Some(body.bytes);
        request.sensitive_body = body.sensitive;
    }
    if !request.headers.contains_key(IDEMPOTENCY_KEY) {
        let key = HeaderValue::from_str(&job.idempotency_key.to_string())
            .map_err(|_| NodeFailure::bad_input("the idempotency key cannot be sent"))?;
        request.headers.insert(IDEMPOTENCY_KEY, key);
    }
    Ok(request)
}

fn method(job: &Job, fill: &Fill<'_>) -> Result<Method, NodeFailure> {
    let name = match job.text("method") {
        Some(template) => fill.text(&template)?.trim().to_ascii_uppercase(),
        None => "GET".to_owned(),
    };
    match name.as_str() {
        "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" => Method::from_bytes(name.as_bytes())
            .map_err(|_| NodeFailure::bad_input("the method cannot be sent")),
        _ => Err(NodeFailure::bad_input(
            "the method is none of GET, POST, PUT, PATCH, DELETE and HEAD",
        )),
    }
}

fn headers(given: Option<&Value>, fill: &Fill<'_>) -> Result<HeaderMap, NodeFailure> {
    let mut headers = HeaderMap::new();
    for (name, template) in fill::pairs(given, "headers")? {
        let Some(value) = fill.value(template)? else {
            continue;
        };
        let refused = || NodeFailure::bad_input(format!("the header {name:?} cannot be sent"));
        let header = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| refused())?;
        if REFUSED.contains(&header.as_str()) {
            return Err(refused());
        }
        // What we can unpack is ours to say.
        if header == "accept-encoding" {
            continue;
        }
        let mut value = HeaderValue::from_str(value.trim()).map_err(|_| refused())?;
        value.set_sensitive(fill::has_secret(template));
        headers.append(header, value);
    }
    Ok(headers)
}

fn output(answer: &Incoming) -> Value {
    let mut headers = Map::new();
    for name in answer.headers.keys().filter(|name| **name != SET_COOKIE) {
        let values: Vec<_> = answer
            .headers
            .get_all(name)
            .iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        headers.insert(name.as_str().to_owned(), json!(values.join(", ")));
    }
    json!({"status": answer.status, "headers": headers, "body": body(&answer.body)})
}

fn body(bytes: &[u8]) -> Value {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
}

/// Whether a status is a failure of the node. Unless the node says otherwise: what a later attempt may mend is, an
/// answer that says no is a result.
fn fails(setting: Option<&Value>, status: u16) -> Result<bool, NodeFailure> {
    match setting {
        None | Some(Value::Null) => Ok(status >= 500 || status == 429),
        Some(Value::Bool(always)) => Ok(*always && status >= 400),
        Some(_) => Err(NodeFailure::bad_input(
            "fail_on_status is neither true nor false",
        )),
    }
}

fn told(status: u16, body: Option<&Value>) -> String {
    let body = match body {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(json) => json.to_string(),
    };
    let line = super::unaided::one_line(&body);
    match line.is_empty() {
        true => format!("the server answered with status {status}"),
        false => format!(
            "the server answered with status {status}: {}",
            super::state::cut(&line, QUOTED)
        ),
    }
}

fn unanswered(error: &EgressError) -> NodeFailure {
    NodeFailure {
        code: error.code(),
        message: error.to_string(),
        retryable: error.retryable(),
        retry_after: None,
    }
}

/// The wait that an answer asks for, in seconds or as a date.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let at: DateTime<Utc> = DateTime::parse_from_rfc2822(text).ok()?.into();
            at.signed_duration_since(Utc::now())
                .to_std()
                .unwrap_or_default()
        }
    };
    Some(wait.min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_fails_as_the_node_says() {
        for (setting, failing, fine) in [
            (
                None,
                vec![429, 500, 503, 599],
                vec![200, 302, 400, 404, 422],
            ),
            (Some(json!(true)), vec![400, 404, 429, 500], vec![200, 304]),
            (Some(json!(false)), vec![], vec![200, 404, 429, 500]),
        ] {
            for status in failing {
                assert!(
                    fails(setting.as_ref(), status).unwrap(),
                    "{setting:?} {status}"
                );
            }
            for status in fine {
                assert!(
                    !fails(setting.as_ref(), status).unwrap(),
                    "{setting:?} {status}"
                );
            }
        }
        assert!(fails(Some(&json!("no")), 200).is_err());
    }

    #[test]
    fn waits_are_read_in_both_forms_and_bounded() {
        let wait = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_str(text).unwrap());
            retry_after(&headers)
        };
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        assert_eq!(wait("999999"), Some(LONGEST_WAIT));
        assert_eq!(wait("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        assert_eq!(wait("soon"), None);
        let soon = (Utc::now() + chrono::TimeDelta::seconds(100)).to_rfc2822();
        assert!(wait(&soon).is_some_and(|w| (90..=100).contains(&w.as_secs())));
    }
}
