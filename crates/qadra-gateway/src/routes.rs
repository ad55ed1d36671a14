use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{ConnectInfo, RawPathParams, Request};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, get, on};
use futures::StreamExt;
use qadra_api::{Access, Download, Kind, Method, Operation, Param, ParamKind, openapi, operations};
use qadra_types::{Code, Fault, new_id};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::Gateway;
use crate::auth::Caller;
use crate::call::Target;
use crate::metrics::{OperationLabels, RequestLabels};
use crate::problem::{Problem, bus_fault};
use crate::{assets, follow, sse, upload};

/// Bytes of a request body: a message of 100,000 characters, each escaped as a surrogate pair, fits twice.
const MAX_BODY: usize = 4 * 1024 * 1024;
const MAX_DISCARDED: usize = 64 * 1024 * 1024;
/// Scripts come from us alone, nothing is fetched from elsewhere (an image address in an answer could carry
/// data out), and no page can frame ours. Inline styles are what the chart and component libraries set.
const CSP: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
    object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

pub(crate) fn router(gw: Arc<Gateway>) -> Router {
    let mut router = Router::new();
    for operation in operations() {
        let method = match operation.method {
            Method::Get => MethodFilter::GET,
            Method::Post => MethodFilter::POST,
            Method::Put => MethodFilter::PUT,
            Method::Patch => MethodFilter::PATCH,
            Method::Delete => MethodFilter::DELETE,
        };
        router = router.route(
            operation.path,
            endpoint(gw.clone(), Arc::new(operation), method),
        );
    }
    let document = openapi().to_string();
    let (metrics, ready) = (gw.clone(), gw);
    router
        .route(
            "/api/openapi.json",
            get(move || async move { ([(header::CONTENT_TYPE, "application/json")], document) }),
        )
        .route(
            "/healthz",
            get(|| async { axum::Json(json!({"status": "ok"})) }),
        )
        .route("/readyz", get(move || async move { readyz(&ready).await }))
        .route(
            "/metrics",
            get(move || async move {
                let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                ([(header::CONTENT_TYPE, kind)], metrics.metrics.render())
            }),
        )
        .method_not_allowed_fallback(|request: Request| async move {
            let detail = format!("{} is not possible here", request.method());
            problem(
                request.headers(),
                Fault::new(Code::MethodNotAllowed, detail),
            )
        })
        .fallback(fallback)
        .layer(axum::middleware::map_response(harden))
}

fn endpoint(gw: Arc<Gateway>, operation: Arc<Operation>, method: MethodFilter) -> MethodRouter {
    let stream = if operation.kind == Kind::TurnStream {
        "_stream"
    } else {
        ""
    };
    let label = format!("{}_{}{stream}", operation.entity, operation.op);
    on(
        method,
        move |params: Result<RawPathParams, RawPathParamsRejection>, request: Request| async move {
            let started = Instant::now();
            let request_id = request_id(request.headers());
            let answered = match params {
                Ok(params) => answer(&gw, &operation, &params, request, request_id).await,
                // Text that is not UTF-8 is no id either.
                Err(_) => Err(Fault::not_found("object")),
            };
            let mut response =
                answered.unwrap_or_else(|fault| Problem { fault, request_id }.into_response());
            if let Ok(id) = HeaderValue::from_str(&request_id.to_string()) {
                response.headers_mut().insert("x-request-id", id);
            }
            let status = response.status().as_u16();
            let labels = OperationLabels {
                operation: label.clone(),
            };
            gw.metrics
                .seconds
                .get_or_create(&labels)
                .observe(started.elapsed().as_secs_f64());
            gw.metrics
                .requests
                .get_or_create(&RequestLabels {
                    operation: label,
                    status,
                })
                .inc();
            response
        },
    )
}

async fn answer(
    gw: &Arc<Gateway>,
    operation: &Operation,
    params: &RawPathParams,
    request: Request,
    request_id: Uuid,
) -> Result<Response, Fault> {
    let origin = origin(gw, &request);
    // Before the body is read: a stranger cannot make us read one.
    let caller = match operation.access {
        Access::Public => None,
        Access::Member(..) => Some(gw.authenticate(request.headers(), request_id).await?),
    };
    let resume_after = match operation.kind {
        Kind::AttachStream | Kind::ExecutionStream => Some(sse::last_event_id(
            request.headers(),
            request.uri().query(),
        )?),
        _ => None,
    };
    let query = read_query(request.uri().query(), &operation.query)?;
    let idempotency_key = idempotency_key(operation, request.headers())?;
    let mut body = match (operation.body, &caller) {
        (None, _) if operation.kind == Kind::Hook => read_hook(request).await?,
        (Some(_), Some(caller)) if operation.kind == Kind::Upload => {
            upload::proposal(gw, caller.tenant_id, request).await?
        }
        (Some(_), _) => read_body(request).await?,
        (None, _) => json!({}),
    };
    match &mut body {
        Value::Object(o) => {
            // The id names the progress subject, so it is never a client's to choose.
            o.remove("turn_id");
            o.extend(query);
            if operation.entity == "flow" {
                o.remove("idempotency_key");
                o.extend(idempotency_key.map(|key| ("idempotency_key".to_owned(), key)));
            }
            for (name, value) in params {
                o.insert(name.to_owned(), path_value(name, value)?);
            }
        }
        // Only operations without parameters take anything but an object.
        _ if params.iter().next().is_none() => {}
        _ => return Err(Fault::invalid("the body is not a JSON object")),
    }
    let asker = sse::Asker {
        gw: gw.clone(),
        caller: caller.clone(),
        request_id,
        origin,
    };
    match operation.kind {
        Kind::TurnStream => sse::turn(asker, operation, body).await,
        Kind::AttachStream => sse::attach(asker, body, resume_after.unwrap_or(0)).await,
        Kind::DocumentStream => follow::follow(asker, operation, body).await,
        Kind::ExecutionStream => sse::execution(asker, body, resume_after.unwrap_or(0)).await,
        Kind::Json | Kind::Download | Kind::Upload | Kind::File | Kind::Hook => {
            json_answer(asker, operation, body).await
        }
    }
}

async fn json_answer(
    asker: sse::Asker,
    operation: &Operation,
    body: Value,
) -> Result<Response, Fault> {
    let answer = match asker.ask(operation, &body).await {
        Ok(answer) => answer,
        Err(fault) => {
            if let (Kind::Upload, Some(caller)) = (operation.kind, &asker.caller) {
                upload::forget(&asker.gw, caller.tenant_id, upload::referred(&body)).await;
            }
            return Err(fault);
        }
    };
    let mut status = StatusCode::from_u16(operation.success).unwrap_or(StatusCode::OK);
    if operation.kind == Kind::Hook && answer["duplicate"] == true {
        status = StatusCode::OK;
    }
    if let (Kind::File, Some(caller)) = (operation.kind, &asker.caller) {
        let file = serde_json::from_value(answer).map_err(|_| {
            Fault::new(
                Code::Internal,
                "the file could not be read from the core's answer",
            )
        })?;
        return upload::download(&asker.gw, caller.tenant_id, file).await;
    }
    if operation.kind == Kind::Download {
        let file: Download = serde_json::from_value(answer).map_err(|_| {
            Fault::new(
                Code::Internal,
                "the file could not be read from the core's answer",
            )
        })?;
        let ascii: String = file
            .filename
            .chars()
            .map(|c| {
                if c.is_ascii_graphic() && c != '"' {
                    c
                } else {
                    '-'
                }
            })
            .collect();
        let headers = [
            (header::CONTENT_TYPE, file.content_type),
            (
                header::CONTENT_DISPOSITION,
                format!("attachment; filename=\"{ascii}\""),
            ),
        ];
        return Ok((status, headers, file.content).into_response());
    }
    if status == StatusCode::NO_CONTENT {
        return Ok(status.into_response());
    }
    Ok((
        status,
        [(header::CONTENT_TYPE, "application/json")],
        answer.to_string(),
    )
        .into_response())
}

impl sse::Asker {
    /// Asks an operation of the core with the caller's rights.
    pub(crate) async fn ask(&self, operation: &Operation, body: &Value) -> Result<Value, Fault> {
        let target = self.target(operation.entity, operation.op);
        let actor = self.caller.as_ref().map(|c: &Caller| &c.actor);
        if matches!(
            operation.op,
            "send_message" | "edit_message" | "regenerate_message"
        ) {
            let (subject, headers) =
                crate::call::address(target, actor, self.request_id, &self.origin)?;
            let payload = crate::call::payload(body)?;
            let answer = self
                .gw
                .bus
                .request(
                    subject.as_str(),
                    headers,
                    payload,
                    crate::call::TURN_TIMEOUT,
                )
                .await;
            return crate::call::read_reply(&answer.map_err(|e| bus_fault(&e))?.payload);
        }
        self.gw
            .call(target, actor, self.request_id, &self.origin, body)
            .await
    }
}

/// The client's address, for sign-in limits; empty when it is not known.
fn origin(gw: &Gateway, request: &Request) -> String {
    let forwarded = request
        .headers()
        .get_all("x-forwarded-for")
        .iter()
        .next_back();
    let last = forwarded.and_then(|v| {
        v.to_str()
            .ok()?
            .rsplit(',')
            .next()?
            .trim()
            .parse::<IpAddr>()
            .ok()
    });
    let peer = || {
        request
            .extensions()
            .get::<ConnectInfo<SocketAddr>>()
            .map(|c| c.0.ip())
    };
    let client = if gw.options.behind_proxy {
        last.or_else(peer)
    } else {
        peer()
    };
    client.map(|ip| ip.to_string()).unwrap_or_default()
}

/// The client's own id if it is a UUID, so that logs of both sides can be matched.
fn request_id(headers: &HeaderMap) -> Uuid {
    headers
        .get("x-request-id")
        .and_then(|v| v.to_str().ok()?.parse().ok())
        .unwrap_or_else(new_id)
}

/// The body, at most `most` bytes. What is over it is read on and thrown away, up to a point: a connection that is
/// closed with bytes unread is reset, and the client would never see the answer that says why.
async fn read_bytes(body: Body, most: usize, code: Code) -> Result<Vec<u8>, Fault> {
    let mut chunks = body.into_data_stream();
    let (mut bytes, mut size) = (Vec::new(), 0usize);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk
            .map_err(|_| Fault::new(Code::MalformedRequest, "the body did not arrive whole"))?;
        size = size.saturating_add(chunk.len());
        if size <= most {
            bytes.extend_from_slice(&chunk);
        } else {
            bytes = Vec::new();
        }
        if size > MAX_DISCARDED.max(most.saturating_mul(2)) {
            break;
        }
    }
    if size > most {
        return Err(Fault::new(
            code,
            format!("the body has more than {most} bytes"),
        ));
    }
    Ok(bytes)
}

/// Of an operation that starts something: the client's name for this one attempt at it.
fn idempotency_key(operation: &Operation, headers: &HeaderMap) -> Result<Option<Value>, Fault> {
    let Some(key) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    if (operation.entity, operation.op) != ("flow", "execute") {
        return Ok(None);
    }
    let text = key.to_str().map(str::trim).unwrap_or_default();
    if text.is_empty() || text.len() > 200 {
        return Err(Fault::invalid(
            "Idempotency-Key is not 1 to 200 characters of ASCII",
        ));
    }
    Ok(Some(json!(text)))
}

/// Bytes of a webhook's call.
const MAX_HOOK: usize = 1024 * 1024;

/// A webhook's call with what its signature is made of; the core judges it.
async fn read_hook(request: Request) -> Result<Value, Fault> {
    let (head, body) = request.into_parts();
    let header = |name: &str| {
        let value = head.headers.get(name).and_then(|v| v.to_str().ok());
        value.unwrap_or_default().trim().to_owned()
    };
    let (timestamp, delivery, signature) = (
        header("x-qadra-timestamp"),
        header("x-qadra-delivery"),
        header("x-qadra-signature"),
    );
    let bytes = read_bytes(body, MAX_HOOK, Code::TooLarge).await?;
    let body = String::from_utf8(bytes)
        .map_err(|_| Fault::new(Code::MalformedRequest, "the body is not UTF-8"))?;
    Ok(json!({"timestamp": timestamp, "delivery": delivery, "signature": signature, "body": body}))
}

async fn read_body(request: Request) -> Result<Value, Fault> {
    read_json(request, MAX_BODY, Code::TooLarge).await
}

/// The body as JSON, at most `most` bytes of it; `code` is what a larger one is answered with.
pub(crate) async fn read_json(request: Request, most: usize, code: Code) -> Result<Value, Fault> {
    let kind = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default()
        .to_owned();
    let bytes = read_bytes(request.into_body(), most, code).await?;
    if bytes.is_empty() {
        return Ok(json!({}));
    }
    let media = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    if media != "application/json"
        && !(media.starts_with("application/") && media.ends_with("+json"))
    {
        return Err(Fault::new(
            Code::UnsupportedMediaType,
            format!("the content type is {media:?}"),
        )
        .hint("send the body as application/json"));
    }
    serde_json::from_slice(&bytes).map_err(|e| {
        Fault::new(
            Code::MalformedJson,
            format!("the body is not readable: {e}"),
        )
    })
}

fn read_query(query: Option<&str>, known: &[Param]) -> Result<Map<String, Value>, Fault> {
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query.unwrap_or_default())
        .map_err(|_| Fault::new(Code::MalformedRequest, "the query string is not readable"))?;
    let mut out = Map::new();
    for (name, value) in pairs {
        let Some(param) = known.iter().find(|p| p.name == name) else {
            continue;
        };
        let bad = |what: &str| Fault::invalid(format!("{name} is {value:?}, not {what}"));
        let typed = match param.kind {
            ParamKind::Text => json!(value),
            ParamKind::Integer => json!(value.parse::<i64>().map_err(|_| bad("a whole number"))?),
            ParamKind::Boolean => match value.as_str() {
                "true" | "1" | "" => json!(true),
                "false" | "0" => json!(false),
                _ => return Err(bad("true or false")),
            },
        };
        out.insert(name, typed);
    }
    Ok(out)
}

/// Ids must be UUIDs; what is not one names nothing, so it is not found rather than invalid.
fn path_value(name: &str, value: &str) -> Result<Value, Fault> {
    let unknown = || Fault::not_found("object");
    match name {
        "name" => Ok(json!(value)),
        "version" => value
            .parse::<i32>()
            .map(|n| json!(n))
            .map_err(|_| unknown()),
        _ => value
            .parse::<Uuid>()
            .map(|id| json!(id))
            .map_err(|_| unknown()),
    }
}

async fn readyz(gw: &Gateway) -> Response {
    let id = new_id();
    match gw
        .call::<Value>(Target::Platform("meta", "ready"), None, id, "", &json!({}))
        .await
    {
        Ok(state) => axum::Json(json!({"status": "ready", "core": state})).into_response(),
        Err(fault) => Problem {
            fault: Fault {
                code: Code::Unavailable,
                ..fault
            },
            request_id: id,
        }
        .into_response(),
    }
}

async fn fallback(request: Request) -> Response {
    let path = request.uri().path();
    if path.starts_with("/api/") || path == "/api" {
        return problem(
            request.headers(),
            Fault::new(Code::NotFound, format!("there is nothing at {path}")),
        );
    }
    match *request.method() {
        axum::http::Method::GET | axum::http::Method::HEAD => {
            assets::asset(path, request.headers())
        }
        _ => {
            let fault = Fault::new(Code::MethodNotAllowed, "pages can only be read");
            let mut response = problem(request.headers(), fault);
            let allowed = HeaderValue::from_static("GET,HEAD");
            response.headers_mut().insert(header::ALLOW, allowed);
            response
        }
    }
}

fn problem(headers: &HeaderMap, fault: Fault) -> Response {
    Problem {
        fault,
        request_id: request_id(headers),
    }
    .into_response()
}

async fn harden(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    );
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(CSP),
    );
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}
