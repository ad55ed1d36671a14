use std::sync::Arc;

use crate::anthropic::Anthropic;
use crate::openai::OpenAi;
use crate::{LlmError, LlmProvider, ProviderConfig, ProviderKind};

/// Makes the provider that `config` names. Nothing is sent before its first call.
pub fn build(config: ProviderConfig) -> Result<Arc<dyn LlmProvider>, LlmError> {
    Ok(match config.kind {
        ProviderKind::OpenAi | ProviderKind::Ollama => Arc::new(OpenAi::new(config)?),
        ProviderKind::Anthropic => Arc::new(Anthropic::new(config)?),
    })
}
