use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::{ChatRequest, LlmError};

/// Where a server, or one of its models, departs from the format. Learned from refusals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// Usage cannot be asked for.
    pub(crate) no_stream_options: bool,
    /// The limit is called `max_completion_tokens`, as OpenAI's reasoning models have it.
    pub(crate) renamed_max_tokens: bool,
    /// The temperature is not the caller's to set.
    pub(crate) fixed_temperature: bool,
    /// A request with these quirks has been served, so a refusal has another reason.
    served: bool,
}

impl Quirks {
    pub(crate) fn confirmed(self) -> Self {
        Self {
            served: true,
            ..self
        }
    }

    /// The quirks to try after `error`, or `None` when it has nothing to do with them.
    pub(crate) fn after(&self, error: &LlmError, request: &ChatRequest) -> Option<Self> {
        let LlmError::Refused {
            status: 400 | 422,
            message,
        } = error
        else {
            return None;
        };
        let message = message.to_ascii_lowercase();
        let has = |word: &str| message.contains(word);
        let unsupported = has("support") || has("default");
        if !self.renamed_max_tokens && request.max_tokens.is_some() && has("max_completion_tokens")
        {
            return Some(Self {
                renamed_max_tokens: true,
                served: false,
                ..*self
            });
        }
        if !self.fixed_temperature
            && request.temperature.is_some()
            && unsupported
            && has("temperature")
        {
            return Some(Self {
                fixed_temperature: true,
                served: false,
                ..*self
            });
        }
        // Servers word this refusal in many ways, so any first one counts.
        if !self.no_stream_options && (!self.served || has("stream_options")) {
            return Some(Self {
                no_stream_options: true,
                served: false,
                ..*self
            });
        }
        None
    }
}

/// What has been learned, by model.
#[derive(Debug, Default)]
pub(crate) struct QuirkTable(Mutex<HashMap<String, Quirks>>);

impl QuirkTable {
    pub(crate) fn of(&self, model: &str) -> Quirks {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.get(model).copied().unwrap_or_default()
    }

    pub(crate) fn learn(&self, model: &str, quirks: Quirks) {
        // Model names come from agents, so their number is not ours to bound otherwise.
        const MAX_MODELS: usize = 256;
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if table.get(model) == Some(&quirks) {
            return;
        }
        if table.len() >= MAX_MODELS {
            table.clear();
        }
        table.insert(model.to_owned(), quirks);
    }
}
