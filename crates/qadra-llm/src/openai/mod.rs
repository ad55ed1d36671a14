//! OpenAI's chat completions, and every server that speaks them.

mod embeddings;
mod quirks;
pub(crate) mod request;
mod wire;

use async_trait::async_trait;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use tokio_util::sync::CancellationToken;

use self::quirks::QuirkTable;
pub(crate) use self::wire::OpenAiWire;
use crate::http::{Call, Http, client, endpoint};
use crate::{ChatRequest, ChatStream, Embeddings, LlmError, LlmProvider, ProviderConfig};

pub(crate) struct OpenAi {
    name: &'static str,
    model: String,
    http: Http,
    embeddings: Url,
    quirks: QuirkTable,
}

impl OpenAi {
    pub(crate) fn new(config: ProviderConfig) -> Result<Self, LlmError> {
        let base = config
            .base_url
            .as_deref()
            .unwrap_or(config.kind.default_base_url());
        let url = endpoint(base, "chat/completions")?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let key = config.api_key.filter(|key| !key.expose().is_empty());
        if let Some(key) = &key {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {}", key.expose())).map_err(|_| {
                    LlmError::Config("the API key has characters no header takes".into())
                })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let client = client(&url, &config.options)?;
        let http = Http {
            client,
            url,
            headers,
            key,
            options: config.options,
            wire: &OpenAiWire,
        };
        Ok(Self {
            name: config.kind.name(),
            model: config.model.unwrap_or_default(),
            http,
            embeddings: endpoint(base, "embeddings")?,
            quirks: QuirkTable::default(),
        })
    }
}

#[async_trait]
impl LlmProvider for OpenAi {
    async fn embed(&self, texts: &[String], model: &str) -> Result<Embeddings, LlmError> {
        embeddings::embed(&self.http, &self.embeddings, texts, model).await
    }

    fn name(&self) -> &str {
        self.name
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
        let prompt_estimate = request.estimated_prompt_tokens();
        let mut quirks = self.quirks.of(model);
        // Each round learns one quirk, so there are at most as many rounds as quirks.
        loop {
            let body = request::body(&request, model, &quirks)?;
            let call = Call {
                body,
                model,
                prompt_estimate,
                cancel: &cancel,
            };
            let error = match self.http.open(&call).await {
                Ok(stream) => {
                    self.quirks.learn(model, quirks.confirmed());
                    return Ok(stream);
                }
                Err(error) => error,
            };
            quirks = match quirks.after(&error, &request) {
                Some(next) => next,
                None => return Err(error),
            };
            tracing::info!(%error, provider = self.name, model, "adapting to the model server");
        }
    }
}
