use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::{LlmError, Secret};

/// Everything that names one provider.
#[derive(Clone)]
pub struct ProviderConfig {
    pub kind: ProviderKind,
    /// The kind's own address when `None`.
    pub base_url: Option<String>,
    pub api_key: Option<Secret>,
    /// Used when a request names no model.
    pub model: Option<String>,
    pub options: Options,
}

impl ProviderConfig {
    pub fn new(kind: ProviderKind) -> Self {
        Self {
            kind,
            base_url: None,
            api_key: None,
            model: None,
            options: Options::default(),
        }
    }
}

impl fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address is left out: it may carry a user and password.
        f.debug_struct("ProviderConfig")
            .field("kind", &self.kind)
            .field("api_key", &self.api_key)
            .field("model", &self.model)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// Which network provider. The one that needs no model lives with the knowledge it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderKind {
    /// Any server that speaks OpenAI's chat completions.
    OpenAi,
    Anthropic,
    /// OpenAI's format at Ollama's usual address, without a key.
    Ollama,
}

impl ProviderKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    pub fn default_base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Ollama => "http://127.0.0.1:11434/v1",
        }
    }
}

impl FromStr for ProviderKind {
    type Err = LlmError;

    fn from_str(name: &str) -> Result<Self, LlmError> {
        match name {
            "openai" => Ok(Self::OpenAi),
            "anthropic" => Ok(Self::Anthropic),
            "ollama" => Ok(Self::Ollama),
            _ => Err(LlmError::Config(format!(
                "no network provider is called `{name}` (openai, anthropic, ollama)"
            ))),
        }
    }
}

/// How patient, persistent and trusting a provider is.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Attempts per call, the first included; zero counts as one.
    pub max_attempts: u32,
    /// Longest wait before the second attempt; it doubles for each one after.
    pub base_delay: Duration,
    /// Longest wait before any attempt when the server names none.
    pub max_delay: Duration,
    /// Longest wait that a server's `Retry-After` can ask for.
    pub max_retry_after: Duration,
    pub connect_timeout: Duration,
    /// From sending the request to the first byte of the answer's body; a local server may load its
    /// model in this time.
    pub first_byte_timeout: Duration,
    /// Between two chunks of the answer. Comments that keep a connection alive count as chunks.
    pub idle_timeout: Duration,
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_attempts: 3,
            base_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(8),
            max_retry_after: Duration::from_secs(20),
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_secs(120),
            idle_timeout: Duration::from_secs(60),
            limits: Limits::default(),
        }
    }
}

/// Most that is accepted from a server, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// One line, and one event, of the stream.
    pub line: usize,
    /// Text and tool arguments of one answer together; also a whole answer sent as plain JSON.
    pub answer: usize,
    /// The arguments of one tool call.
    pub arguments: usize,
    /// Everything read for one answer, framing included.
    pub body: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line: 1 << 20,
            answer: 8 << 20,
            arguments: 256 << 10,
            body: 256 << 20,
        }
    }
}
