use std::time::Duration;

use bytes::{Bytes, BytesMut};
use chrono::Utc;
use futures::StreamExt;
use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{Client, Response, Url};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::answer::Answer;
use crate::error::bounded;
use crate::live::{Live, Wire};
use crate::retry::{delay_before_next, retry_after};
use crate::{ChatStream, LlmError, Options, Phase, Secret, Usage};

/// One endpoint and how it is called.
pub(crate) struct Http {
    pub(crate) client: Client,
    pub(crate) url: Url,
    /// The key is in here, marked sensitive.
    pub(crate) headers: HeaderMap,
    pub(crate) key: Option<Secret>,
    pub(crate) options: Options,
    pub(crate) wire: &'static dyn Wire,
}

/// A request, written out once for all its attempts.
pub(crate) struct Call<'a> {
    pub(crate) body: Bytes,
    pub(crate) model: &'a str,
    pub(crate) prompt_estimate: u64,
    pub(crate) cancel: &'a CancellationToken,
}

impl Http {
    /// Sends the call until some of its answer has come, or no attempt is left.
    pub(crate) async fn open(&self, call: &Call<'_>) -> Result<ChatStream, LlmError> {
        if call.cancel.is_cancelled() {
            return Err(LlmError::Cancelled {
                usage: Usage::default(),
            });
        }
        let mut made = 0;
        loop {
            let error = match self.attempt(call).await {
                Ok(live) => return Ok(ChatStream::live(live)),
                Err(error) => error,
            };
            made += 1;
            let random = rand::random::<f64>();
            let Some(delay) = delay_before_next(&self.options, made, &error, random) else {
                return Err(error);
            };
            tracing::debug!(%error, made, ?delay, "asking the model provider again");
            tokio::select! {
                biased;
                () = call.cancel.cancelled() => {
                    return Err(LlmError::Cancelled { usage: Usage::default() });
                }
                () = tokio::time::sleep(delay) => {}
            }
        }
    }

    async fn attempt(&self, call: &Call<'_>) -> Result<Live, LlmError> {
        let first_byte_by = Instant::now() + self.options.first_byte_timeout;
        let send = self
            .client
            .post(self.url.clone())
            .headers(self.headers.clone())
            .body(call.body.clone())
            .send();
        let response = tokio::select! {
            biased;
            () = call.cancel.cancelled() => {
                let usage = Usage {
                    prompt_tokens: call.prompt_estimate,
                    completion_tokens: 0,
                    estimated: true,
                };
                return Err(LlmError::Cancelled { usage });
            }
            sent = tokio::time::timeout_at(first_byte_by, send) => match sent {
                Ok(Ok(response)) => response,
                Ok(Err(error)) => return Err(transport_error(error)),
                Err(_) => return Err(LlmError::Timeout { phase: Phase::FirstByte }),
            },
        };
        if !response.status().is_success() {
            let error = tokio::select! {
                biased;
                () = call.cancel.cancelled() => LlmError::Cancelled { usage: Usage::default() },
                error = refusal(response) => error,
            };
            return Err(match &self.key {
                Some(key) => error.scrubbed(key),
                None => error,
            });
        }
        let answer = Answer::new(self.options.limits, call.model, call.prompt_estimate);
        let mut live = Live::new(
            Box::pin(response.bytes_stream()),
            self.wire,
            answer,
            &self.options,
            first_byte_by,
            call.cancel,
            self.key.clone(),
        );
        live.begin().await?;
        Ok(live)
    }
}

/// A client for one provider, whose connections all its calls share.
pub(crate) fn client(url: &Url, options: &Options) -> Result<Client, LlmError> {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // An `Err` means that another thread was first, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    let mut builder = Client::builder()
        .http1_only()
        .tcp_nodelay(true)
        .tcp_keepalive(Duration::from_secs(30))
        .connect_timeout(options.connect_timeout)
        .pool_idle_timeout(Duration::from_secs(90))
        .pool_max_idle_per_host(256)
        .retry(reqwest::retry::never())
        // A redirected POST would carry the prompt to an address nobody configured.
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("qadra/", env!("CARGO_PKG_VERSION")));
    if url.scheme() == "http" {
        // No certificate is ever checked, so a machine without a certificate store is no obstacle.
        builder = builder.tls_certs_only([]);
    }
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| {
        LlmError::Config(format!(
            "the HTTP client cannot start: {}",
            with_causes(&error)
        ))
    })
}

/// `base` with `path` added to its path; what follows a `?` in `base` is kept.
pub(crate) fn endpoint(base: &str, path: &str) -> Result<Url, LlmError> {
    let mut url = Url::parse(base.trim())
        .map_err(|error| LlmError::Config(format!("the base URL is not a URL: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(LlmError::Config(
            "the base URL must begin with http:// or https://".to_owned(),
        ));
    }
    url.set_fragment(None);
    let joined = format!("{}/{path}", url.path().trim_end_matches('/'));
    url.set_path(&joined);
    Ok(url)
}

/// An error of the connection, without the address, which may carry a password.
pub(crate) fn transport_error(error: reqwest::Error) -> LlmError {
    if error.is_connect() && error.is_timeout() {
        return LlmError::Timeout {
            phase: Phase::Connect,
        };
    }
    if error.is_builder() {
        return LlmError::Config("the request cannot be written".to_owned());
    }
    LlmError::Unreachable {
        message: bounded(&with_causes(&error.without_url())),
    }
}

/// The error that a status and a provider's own words amount to.
pub(crate) fn classify(
    status: u16,
    code: &str,
    message: String,
    retry_after: Option<Duration>,
) -> LlmError {
    match status {
        // Paid-up quota does not come back by waiting.
        429 if code == "insufficient_quota" => LlmError::Refused { status, message },
        429 => LlmError::RateLimited {
            message,
            retry_after,
        },
        501 | 505 => LlmError::Refused { status, message },
        408 | 500.. => LlmError::Unavailable {
            status,
            message,
            retry_after,
        },
        _ => LlmError::Refused { status, message },
    }
}

/// What a provider says about a failure, in whichever shape.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Fault {
    pub(crate) message: String,
    /// Its `code`, or its `type` when it has no code.
    pub(crate) code: String,
    pub(crate) status: Option<u16>,
}

impl Fault {
    /// Reads `{"error": {…}}`, `{"error": "…"}`, or the inner object itself.
    pub(crate) fn read(value: &Value) -> Self {
        let inner = value
            .get("error")
            .filter(|inner| !inner.is_null())
            .unwrap_or(value);
        let text = |name: &str| inner.get(name).and_then(Value::as_str);
        let mut message = match inner {
            Value::String(message) => message.clone(),
            _ => text("message")
                .or_else(|| text("detail"))
                .map_or_else(|| inner.to_string(), str::to_owned),
        };
        if let Some(param) = text("param").filter(|param| !message.contains(param)) {
            message = format!("{message} ({param})");
        }
        let number = inner
            .get("code")
            .or_else(|| inner.get("status"))
            .and_then(Value::as_u64);
        Self {
            message: bounded(&message),
            code: text("code")
                .or_else(|| text("type"))
                .unwrap_or_default()
                .to_owned(),
            status: number
                .and_then(|n| u16::try_from(n).ok())
                .filter(|n| (400..600).contains(n)),
        }
    }
}

pub(crate) async fn refusal(response: Response) -> LlmError {
    const MAX_BYTES: usize = 64 << 10;
    let status = response.status().as_u16();
    let wait = retry_after(response.headers(), Utc::now());
    if (300..400).contains(&status) {
        let target = response
            .headers()
            .get(LOCATION)
            .and_then(|value| value.to_str().ok());
        let message = format!(
            "redirects are not followed; it points to {}",
            bounded(target.unwrap_or("nowhere"))
        );
        return LlmError::Refused { status, message };
    }
    let mut body = BytesMut::new();
    let mut stream = response.bytes_stream();
    let read = async {
        while let Some(Ok(chunk)) = stream.next().await {
            body.extend_from_slice(chunk.get(..MAX_BYTES - body.len()).unwrap_or(&chunk));
            if body.len() >= MAX_BYTES {
                break;
            }
        }
    };
    // The status alone is worth telling, should the explanation not come.
    let _ = tokio::time::timeout(Duration::from_secs(5), read).await;
    let fault = match serde_json::from_slice::<Value>(&body) {
        Ok(value) => Fault::read(&value),
        Err(_) => Fault {
            message: bounded(&String::from_utf8_lossy(&body)),
            ..Fault::default()
        },
    };
    classify(status, &fault.code, fault.message, wait)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback())
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}
