//! HTTP to addresses that tenants write: reaches the public internet and what the operator allows, and nothing else.
//!
//! An address is checked where it becomes a connection. A literal in the URL is checked as the URL parser reads it;
//! a name is looked up once for each connection, by [`Resolver`], and only what was checked is connected to, so an
//! answer that changes later changes nothing. Redirects are followed here and not by the client underneath, each as
//! a request of its own. No proxy, no cookies, no referrer. Entry type: [`Egress`].

mod address;
mod allow;
mod body;
mod redirect;
mod resolve;

pub use address::inside;
pub use allow::{AllowError, AllowList};
pub(crate) use redirect::IDEMPOTENCY_KEY;
pub use resolve::{Resolver, SystemResolver};

use std::collections::BTreeMap;
use std::error::Error as _;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::{Client, Method, Url};

use self::address::is_metadata_name;
use self::resolve::Guard;

/// Bounds on one exchange, redirects included.
#[derive(Debug, Clone, Copy)]
pub struct EgressOptions {
    pub total: Duration,
    pub connect: Duration,
    pub redirects: usize,
    /// Of a body, as sent and as unpacked.
    pub body: usize,
    /// Names and values together.
    pub headers: usize,
}

impl Default for EgressOptions {
    fn default() -> Self {
        Self {
            total: Duration::from_secs(30),
            connect: Duration::from_secs(5),
            redirects: 5,
            body: 10 << 20,
            headers: 64 << 10,
        }
    }
}

/// Header lines of one answer; more is no ordinary answer.
const HEADER_LINES: usize = 100;

/// What is asked of another server.
#[derive(Debug, Clone)]
pub struct Outgoing {
    pub method: Method,
    pub url: Url,
    /// Those marked sensitive stay with the first origin, whatever their name.
    pub headers: HeaderMap,
    pub body: Option<Vec<u8>>,
    /// The body holds something that only the first origin may see.
    pub sensitive_body: bool,
}

impl Outgoing {
    pub fn new(method: Method, url: Url) -> Self {
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            body: None,
            sensitive_body: false,
        }
    }
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Incoming {
    pub status: u16,
    pub headers: HeaderMap,
    /// Unpacked.
    pub body: Vec<u8>,
    /// The address that answered, after redirects.
    pub url: Url,
}

/// An address that must not be reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Blocked {
    what: String,
}

impl Blocked {
    fn address(host: &str, ip: IpAddr, kind: &str) -> Self {
        // The address itself is not told: what an internal name resolves to is not the tenant's business.
        let what = match host.parse() == Ok(ip) {
            true => format!("{host} is not a public address ({kind})"),
            false => format!("{host} does not resolve to public addresses only ({kind})"),
        };
        Self { what }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EgressError {
    #[error(transparent)]
    Blocked(#[from] Blocked),
    #[error("{0}")]
    Url(String),
    #[error("cannot follow the redirect: {0}")]
    Redirect(String),
    #[error("the request took longer than {} s", .0.as_secs_f32())]
    Timeout(Duration),
    #[error("cannot connect to {host}: {cause}")]
    Connect { host: String, cause: String },
    #[error("the connection to {host} broke off: {cause}")]
    Broken { host: String, cause: String },
    #[error("the answer's {what} is over the limit of {limit} bytes")]
    TooLarge { what: &'static str, limit: usize },
    #[error("the answer cannot be read: {0}")]
    Unreadable(String),
}

impl EgressError {
    /// A stable word for it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Blocked(_) => "blocked_address",
            Self::Url(_) => "bad_url",
            Self::Redirect(_) => "redirect",
            Self::Timeout(_) => "timeout",
            Self::Connect { .. } | Self::Broken { .. } => "connection",
            Self::TooLarge { .. } => "too_large",
            Self::Unreadable(_) => "bad_response",
        }
    }

    /// Whether the same request may go better later.
    pub fn retryable(&self) -> bool {
        matches!(
            self,
            Self::Timeout(_) | Self::Connect { .. } | Self::Broken { .. }
        )
    }
}

/// The way out. Keep one: connections are kept open between requests.
pub struct Egress {
    options: EgressOptions,
    allow: Arc<AllowList>,
    /// For any name on any port.
    guarded: Client,
    /// For any name on the ports on which more is allowed than on others.
    by_port: BTreeMap<u16, Client>,
    /// For names on the list.
    trusted: Client,
}

impl Egress {
    /// # Errors
    /// [`EgressError::Unreadable`] when the HTTP client cannot start on this machine.
    pub fn new(
        allow: AllowList,
        resolver: Arc<dyn Resolver>,
        options: EgressOptions,
    ) -> Result<Self, EgressError> {
        let allow = Arc::new(allow);
        let guard = |port, trusted| Guard {
            resolver: resolver.clone(),
            allow: allow.clone(),
            port,
            trusted,
        };
        let by_port = allow
            .ports()
            .into_iter()
            .map(|port| Ok((port, client(&guard(Some(port), false), &options)?)))
            .collect::<Result<_, EgressError>>()?;
        Ok(Self {
            guarded: client(&guard(None, false), &options)?,
            trusted: client(&guard(None, true), &options)?,
            by_port,
            allow,
            options,
        })
    }

    pub fn options(&self) -> &EgressOptions {
        &self.options
    }

    /// Sends the request and follows redirects, all within the time limit.
    pub async fn send(&self, request: Outgoing) -> Result<Incoming, EgressError> {
        let total = self.options.total;
        tokio::time::timeout(total, self.follow(request))
            .await
            .unwrap_or(Err(EgressError::Timeout(total)))
    }

    async fn follow(&self, mut request: Outgoing) -> Result<Incoming, EgressError> {
        let mut hops = 0;
        loop {
            let response = self.hop(&request).await?;
            let Some(target) = redirect::target(&response, &request.url)? else {
                return self.read(response).await;
            };
            if hops == self.options.redirects {
                let message = format!("it is number {} in a row", hops + 1);
                return Err(EgressError::Redirect(message));
            }
            hops += 1;
            let status = response.status();
            drop(response);
            request = redirect::follow(request, status, target)?;
        }
    }

    /// One request to one address, up to the head of its answer.
    async fn hop(&self, request: &Outgoing) -> Result<reqwest::Response, EgressError> {
        let (host, client) = self.client_for(&request.url)?;
        let mut headers = request.headers.clone();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate"));
        let mut builder = client
            .request(request.method.clone(), request.url.clone())
            .headers(headers);
        if let Some(body) = &request.body {
            builder = builder.body(body.clone());
        }
        let response = builder.send().await.map_err(|e| failed(&host, &e))?;
        let size: usize = response
            .headers()
            .iter()
            .map(|(name, value)| name.as_str().len() + value.len() + 4)
            .sum();
        if size > self.options.headers {
            return Err(EgressError::TooLarge {
                what: "head",
                limit: self.options.headers,
            });
        }
        Ok(response)
    }

    async fn read(&self, response: reqwest::Response) -> Result<Incoming, EgressError> {
        let (status, url) = (response.status().as_u16(), response.url().clone());
        let headers = response.headers().clone();
        let host = url.host_str().unwrap_or_default().to_owned();
        let body = body::read(response, &host, self.options.body).await?;
        Ok(Incoming {
            status,
            headers,
            body,
            url,
        })
    }

    /// Checks all that the URL itself says, and chooses the client that checks the rest.
    fn client_for(&self, url: &Url) -> Result<(String, &Client), EgressError> {
        let wrong = |why: &str| Err(EgressError::Url(why.to_owned()));
        if !matches!(url.scheme(), "http" | "https") {
            return wrong("the address is neither http nor https");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return wrong("the address holds a user name or password; send them in a header");
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return wrong("the address names no host");
        };
        let text = host.to_string();
        // The client below wants literals without brackets, and so do our messages.
        let ip: Option<IpAddr> = text
            .trim_start_matches('[')
            .trim_end_matches(']')
            .parse()
            .ok();
        if let Some(ip) = ip {
            return match inside(ip) {
                Some(kind) if !self.allow.has_address(ip, Some(port)) => {
                    Err(Blocked::address(&ip.to_string(), ip, kind).into())
                }
                _ => Ok((text, &self.guarded)),
            };
        }
        if self.allow.has_host(&text, port) {
            return Ok((text, &self.trusted));
        }
        if is_metadata_name(&text) {
            let what = format!("{text} is not a public name (metadata service)");
            return Err(Blocked { what }.into());
        }
        let client = self.by_port.get(&port).unwrap_or(&self.guarded);
        Ok((text, client))
    }
}

fn client(guard: &Guard, options: &EgressOptions) -> Result<Client, EgressError> {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // An `Err` means that another thread was first, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    let builder = || {
        Client::builder()
            .http1_only()
            .http1_max_headers(HEADER_LINES)
            .dns_resolver(guard.clone())
            .no_proxy()
            .referer(false)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .connect_timeout(options.connect)
            .pool_idle_timeout(Duration::from_secs(30))
            .pool_max_idle_per_host(16)
            .user_agent(concat!("qadra/", env!("CARGO_PKG_VERSION")))
    };
    let cannot = |e: &reqwest::Error| EgressError::Unreadable(causes(e));
    builder().build().or_else(|error| {
        // A machine without certificates can still speak plain HTTP.
        tracing::warn!(
            cause = causes(&error),
            "flows cannot use https on this machine"
        );
        builder().tls_certs_only([]).build().map_err(|e| cannot(&e))
    })
}

/// What went wrong underneath, in our words.
fn failed(host: &str, error: &reqwest::Error) -> EgressError {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(blocked) = inner.downcast_ref::<Blocked>() {
            return blocked.clone().into();
        }
        cause = inner.source();
    }
    let (host, cause) = (host.to_owned(), causes(error));
    match error.is_connect() || error.is_timeout() {
        true => EgressError::Connect { host, cause },
        false => EgressError::Broken { host, cause },
    }
}

/// The innermost cause; the outer ones repeat the address, which may hold a secret.
fn causes(error: &reqwest::Error) -> String {
    let mut text = "no further cause".to_owned();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = inner.to_string();
        cause = inner.source();
    }
    text
}
