//! Search services that Research nodes ask.

use std::sync::Arc;

use async_trait::async_trait;
use qadra_llm::Secret;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Url};
use serde_json::{Value, json};

use super::NodeFailure;
use crate::egress::{AllowList, Egress, EgressError, EgressOptions, Outgoing, SystemResolver};

/// One thing found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    pub title: String,
    pub url: String,
    /// What the page says, or a piece of it.
    pub text: String,
    pub published: Option<String>,
}

/// A service that finds pages.
#[async_trait]
pub trait SearchProvider: Send + Sync + 'static {
    /// What outputs call it.
    fn name(&self) -> &'static str;

    /// The best hits first, at most `most`.
    async fn search(&self, query: &str, most: usize) -> Result<Vec<SearchHit>, NodeFailure>;
}

/// Which service, as the operator configures it.
#[derive(Debug, Clone)]
pub struct SearchSettings {
    /// `searxng` or `exa`.
    pub provider: String,
    /// Exa has an address of its own when this is absent.
    pub base_url: Option<String>,
    pub api_key: Option<Secret>,
}

/// The settings name no service that can be asked.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot use the search service: {0}")]
pub struct SearchConfigError(String);

impl SearchSettings {
    pub fn build(&self) -> Result<Arc<dyn SearchProvider>, SearchConfigError> {
        let wrong = |why: String| SearchConfigError(why);
        let base = match (self.provider.as_str(), &self.base_url) {
            (_, Some(base)) => base.as_str(),
            ("exa", None) => "https://api.exa.ai",
            _ => return Err(wrong(format!("{} needs a base URL", self.provider))),
        };
        let base = Url::parse(base.trim_end_matches('/'))
            .map_err(|e| wrong(format!("its address is no URL ({e})")))?;
        let web = Web::new(&base, self.api_key.clone()).map_err(|e| wrong(e.to_string()))?;
        Ok(match self.provider.as_str() {
            "searxng" => Arc::new(SearxNg(web)),
            "exa" => Arc::new(Exa(web)),
            other => {
                return Err(wrong(format!(
                    "no provider is called {other:?} (searxng, exa)"
                )));
            }
        })
    }
}

/// A SearXNG instance with its JSON format switched on.
pub struct SearxNg(Web);

#[async_trait]
impl SearchProvider for SearxNg {
    fn name(&self) -> &'static str {
        "searxng"
    }

    async fn search(&self, query: &str, most: usize) -> Result<Vec<SearchHit>, NodeFailure> {
        let mut url = self.0.url("search")?;
        url.query_pairs_mut()
            .append_pair("q", query)
            .append_pair("format", "json");
        let mut request = Outgoing::new(Method::GET, url);
        if let Some(key) = &self.0.key {
            request.headers.insert(
                "authorization",
                self.0.sensitive(&format!("Bearer {}", key.expose()))?,
            );
        }
        let found = self.0.ask(request).await?;
        Ok(hits(&found, &["content"], most))
    }
}

/// Exa's neural search.
pub struct Exa(Web);

#[async_trait]
impl SearchProvider for Exa {
    fn name(&self) -> &'static str {
        "exa"
    }

    async fn search(&self, query: &str, most: usize) -> Result<Vec<SearchHit>, NodeFailure> {
        let mut request = Outgoing::new(Method::POST, self.0.url("search")?);
        let body = json!({"query": query, "numResults": most, "contents": {"text": {"maxCharacters": 2_000}}});
        request.body = Some(body.to_string().into_bytes());
        request
            .headers
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &self.0.key {
            request
                .headers
                .insert("x-api-key", self.0.sensitive(key.expose())?);
        }
        let found = self.0.ask(request).await?;
        Ok(hits(&found, &["text", "summary"], most))
    }
}

fn hits(found: &Value, texts: &[&str], most: usize) -> Vec<SearchHit> {
    let results = found.get("results").and_then(Value::as_array);
    let text = |hit: &Value, key: &str| {
        let text = hit.get(key)?.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let hit = |hit: &Value| {
        // A link that is no web address is of no use to a reader, and may be harmful.
        let url =
            text(hit, "url").filter(|u| u.starts_with("https://") || u.starts_with("http://"))?;
        Some(SearchHit {
            title: text(hit, "title").unwrap_or_else(|| url.clone()),
            text: texts
                .iter()
                .find_map(|key| text(hit, key))
                .unwrap_or_default(),
            published: text(hit, "publishedDate"),
            url,
        })
    };
    results
        .into_iter()
        .flatten()
        .filter_map(hit)
        .take(most)
        .collect()
}

/// The HTTP side of a service. Its address is the operator's, so it may be internal; redirects away from it may not.
pub struct Web {
    egress: Egress,
    base: Url,
    key: Option<Secret>,
}

impl Web {
    fn new(base: &Url, key: Option<Secret>) -> Result<Self, String> {
        let (Some(host), Some(port)) = (base.host_str(), base.port_or_known_default()) else {
            return Err("its address names no host".to_owned());
        };
        let allow = AllowList::parse(&format!("{host}:{port}")).map_err(|e| e.to_string())?;
        let egress = Egress::new(allow, Arc::new(SystemResolver), EgressOptions::default())
            .map_err(|e| e.to_string())?;
        Ok(Self {
            egress,
            base: base.clone(),
            key,
        })
    }

    fn url(&self, path: &str) -> Result<Url, NodeFailure> {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .map_err(|()| {
                NodeFailure::fatal("search", "the search service's address cannot have a path")
            })?
            .pop_if_empty()
            .push(path);
        Ok(url)
    }

    fn sensitive(&self, value: &str) -> Result<HeaderValue, NodeFailure> {
        let mut value = HeaderValue::from_str(value).map_err(|_| {
            NodeFailure::fatal(
                "search",
                "the search service's key cannot be sent in a header",
            )
        })?;
        value.set_sensitive(true);
        Ok(value)
    }

    async fn ask(&self, mut request: Outgoing) -> Result<Value, NodeFailure> {
        request
            .headers
            .insert(ACCEPT, HeaderValue::from_static("application/json"));
        let answer = self
            .egress
            .send(request)
            .await
            .map_err(|e| unreachable(&e))?;
        match answer.status {
            200..=299 => serde_json::from_slice(&answer.body).map_err(|_| {
                NodeFailure::fatal("search", "the search service did not answer with JSON")
            }),
            status => Err(NodeFailure {
                retryable: status == 429 || status >= 500,
                retry_after: super::http::retry_after(&answer.headers),
                ..NodeFailure::fatal(
                    "search",
                    format!("the search service answered with status {status}"),
                )
            }),
        }
    }
}

fn unreachable(error: &EgressError) -> NodeFailure {
    NodeFailure {
        retryable: error.retryable(),
        ..NodeFailure::fatal("search", format!("cannot ask the search service: {error}"))
    }
}
