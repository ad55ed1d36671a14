//! Anthropic's messages.

mod request;
mod wire;

use async_trait::async_trait;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use tokio_util::sync::CancellationToken;

pub(crate) use self::wire::AnthropicWire;
use crate::http::{Call, Http, client, endpoint};
use crate::{ChatRequest, ChatStream, LlmError, LlmProvider, ProviderConfig};

pub(crate) struct Anthropic {
    model: String,
    http: Http,
}

impl Anthropic {
    pub(crate) fn new(config: ProviderConfig) -> Result<Self, LlmError> {
        let base = config
            .base_url
            .as_deref()
            .unwrap_or(config.kind.default_base_url());
        // The address is given with the version as often as without.
        let versioned = base.trim_end_matches('/').ends_with("/v1");
        let url = endpoint(base, if versioned { "messages" } else { "v1/messages" })?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        let key = config.api_key.filter(|key| !key.expose().is_empty());
        if let Some(key) = &key {
            let mut value = HeaderValue::from_str(key.expose()).map_err(|_| {
                LlmError::Config("the API key has characters no header takes".into())
            })?;
            value.set_sensitive(true);
            headers.insert("x-api-key", value);
        }
        let client = client(&url, &config.options)?;
        let http = Http {
            client,
            url,
            headers,
            key,
            options: config.options,
            wire: &AnthropicWire,
        };
        Ok(Self {
            model: config.model.unwrap_or_default(),
            http,
        })
    }
}

#[async_trait]
impl LlmProvider for Anthropic {
    fn name(&self) -> &str {
        "anthropic"
    }

    fn model(&self) -> &str {
        &self.model
    }

    async fn stream(
        &self,
        request: ChatRequest,
        cancel: CancellationToken,
    ) -> Result<ChatStream, LlmError> {
        let model = request.model.as_deref().unwrap_or(&self.model);
        if model.is_empty() {
            return Err(LlmError::Config("no model is named".to_owned()));
        }
        let call = Call {
            body: request::body(&request, model)?,
            model,
            prompt_estimate: request.estimated_prompt_tokens(),
            cancel: &cancel,
        };
        self.http.open(&call).await
    }
}
