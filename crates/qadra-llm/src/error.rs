use std::fmt;
use std::time::Duration;

use crate::Usage;

/// Why an answer did not come, or stopped coming.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LlmError {
    /// The settings cannot name a provider or a model.
    #[error("cannot use the model provider: {0}")]
    Config(String),
    /// The provider understood the request and will not serve it (a 4xx, or its like in the stream).
    #[error("the model provider refused the request with status {status}: {message}")]
    Refused { status: u16, message: String },
    /// Still over the provider's rate limit after every attempt.
    #[error("the model provider is rate limiting requests: {message}")]
    RateLimited {
        message: String,
        retry_after: Option<Duration>,
    },
    /// The provider failed on its side (408, 5xx, 529) on every attempt.
    #[error("the model provider failed with status {status}: {message}")]
    Unavailable {
        status: u16,
        message: String,
        retry_after: Option<Duration>,
    },
    /// No connection, or the connection was lost before anything of the answer came.
    #[error("cannot reach the model provider: {message}")]
    Unreachable { message: String },
    #[error("timed out {phase} of the model provider")]
    Timeout { phase: Phase },
    /// The answer broke off after it had begun; what came stays valid, and it is never retried here.
    #[error("the model's answer broke off: {message}")]
    Interrupted { message: String, usage: Usage },
    #[error("the model provider sent something unreadable: {message}")]
    Malformed { message: String },
    #[error("the model's answer is over the limit for {what} of {limit} bytes")]
    TooLarge { what: &'static str, limit: usize },
    /// The caller stopped it. `usage` is what had been spent by then.
    #[error("the request to the model was cancelled")]
    Cancelled { usage: Usage },
}

impl LlmError {
    /// Whether the same request may succeed later without any change to it.
    pub fn retryable(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Unavailable { .. }
            | Self::Unreachable { .. }
            | Self::Timeout { .. }
            | Self::Interrupted { .. } => true,
            Self::Config(_)
            | Self::Refused { .. }
            | Self::Malformed { .. }
            | Self::TooLarge { .. }
            | Self::Cancelled { .. } => false,
        }
    }

    /// Tokens spent on a call that ended this way, as far as the error knows.
    pub fn usage(&self) -> Usage {
        match self {
            Self::Interrupted { usage, .. } | Self::Cancelled { usage } => *usage,
            _ => Usage::default(),
        }
    }

    /// Whether the next attempt is worth making within this call. A slow server is not asked again:
    /// it is likely still working on the first request.
    pub(crate) fn retry_within_call(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Unavailable { .. } | Self::Unreachable { .. } => true,
            Self::Timeout { phase } => *phase == Phase::Connect,
            _ => false,
        }
    }

    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Unavailable { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }
}

/// What was being waited for when time ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Connect,
    /// From sending the request to the first byte of the answer's body.
    FirstByte,
    /// Between two chunks of the answer.
    Idle,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "waiting for a connection",
            Self::FirstByte => "waiting for the first byte",
            Self::Idle => "waiting for the next part",
        })
    }
}

/// A server's own words, made fit for a message: one line, no control characters, bounded.
pub(crate) fn bounded(text: &str) -> String {
    const MAX_CHARS: usize = 500;
    let mut line = String::new();
    for (count, c) in text.trim().chars().enumerate() {
        if count == MAX_CHARS {
            line.push('…');
            break;
        }
        line.push(if c.is_control() { ' ' } else { c });
    }
    if line.is_empty() {
        "no further explanation".to_owned()
    } else {
        line
    }
}

impl LlmError {
    /// The same error with `key` blanked in what the server said.
    pub(crate) fn scrubbed(mut self, key: &crate::Secret) -> Self {
        match &mut self {
            Self::Refused { message, .. }
            | Self::RateLimited { message, .. }
            | Self::Unavailable { message, .. }
            | Self::Unreachable { message }
            | Self::Interrupted { message, .. }
            | Self::Malformed { message } => *message = bounded(&key.scrub(message)),
            Self::Config(_)
            | Self::Timeout { .. }
            | Self::TooLarge { .. }
            | Self::Cancelled { .. } => {}
        }
        self
    }
}

/// A document that is not what it should be, with its beginning.
pub(crate) fn unreadable(json: &[u8], error: &serde_json::Error) -> LlmError {
    let start = String::from_utf8_lossy(json.get(..120).unwrap_or(json));
    LlmError::Malformed {
        message: bounded(&format!("{error} in `{start}`")),
    }
}
