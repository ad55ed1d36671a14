use serde::{Deserialize, Serialize};

/// A refusal or failure as the caller sees it: a stable code, what was attempted on what, and what to do.
///
/// It travels over the bus as `{"error": …}` and over HTTP as problem+json (RFC 9457).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{detail}")]
pub struct Fault {
    pub code: Code,
    pub detail: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What is wrong in detail, where it is more than one thing; its form is the operation's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<serde_json::Value>,
}

impl Fault {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            hint: None,
            findings: Vec::new(),
        }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The one answer for an id that does not exist and for one that is another tenant's:
    /// the text names no id so that the two cannot be told apart.
    pub fn not_found(what: &str) -> Self {
        Self::new(Code::NotFound, format!("no such {what}"))
    }

    pub fn invalid(detail: impl Into<String>) -> Self {
        Self::new(Code::Validation, detail)
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $word:literal, $status:literal, $title:literal;)+) => {
        /// Stable machine-readable codes; `docs/errors.md` lists each with cause and remedy.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Code { $($(#[$doc])* #[serde(rename = $word)] $variant),+ }

        impl Code {
            pub const ALL: &'static [Code] = &[$(Code::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $word),+ }
            }
            /// The HTTP status that carries it.
            pub fn status(self) -> u16 {
                match self { $(Code::$variant => $status),+ }
            }
            pub fn title(self) -> &'static str {
                match self { $(Code::$variant => $title),+ }
            }
        }
    };
}

codes! {
    MalformedJson = "MALFORMED_JSON", 400, "The body is not readable JSON";
    MalformedRequest = "MALFORMED_REQUEST", 400, "The request is malformed";
    Unauthenticated = "UNAUTHENTICATED", 401, "Sign in first";
    InvalidCredentials = "INVALID_CREDENTIALS", 401, "E-mail or password is wrong";
    TokenExpired = "TOKEN_EXPIRED", 401, "The token has expired";
    TokenInvalid = "TOKEN_INVALID", 401, "The token is not valid";
    RefreshReused = "REFRESH_TOKEN_REUSED", 401, "The session was ended";
    Forbidden = "FORBIDDEN", 403, "Not allowed";
    NotFound = "NOT_FOUND", 404, "Not found";
    MethodNotAllowed = "METHOD_NOT_ALLOWED", 405, "Method not allowed";
    Conflict = "CONFLICT", 409, "In conflict with what exists";
    EmailTaken = "EMAIL_TAKEN", 409, "The e-mail address has an account";
    DocumentState = "DOCUMENT_STATE", 409, "The document is in another state";
    DocumentTooLarge = "DOCUMENT_TOO_LARGE", 413, "The document is too large";
    DocumentType = "DOCUMENT_TYPE", 415, "Documents of that type are not read";
    DocumentUnreadable = "DOCUMENT_UNREADABLE", 422, "The document cannot be read";
    DocumentEncrypted = "DOCUMENT_ENCRYPTED", 422, "The document is protected with a password";
    DocumentNoText = "DOCUMENT_NO_TEXT", 422, "The document has no text";
    DocumentTimeout = "DOCUMENT_TIMEOUT", 504, "The document took too long";
    FlowInvalid = "FLOW_INVALID", 422, "The flow cannot run";
    FlowInputInvalid = "FLOW_INPUT_INVALID", 422, "The input does not fit";
    FlowInputTaken = "FLOW_INPUT_TAKEN", 409, "The answer was given already";
    FlowNotWaiting = "FLOW_NOT_WAITING", 409, "Nobody is asked there";
    FlowState = "FLOW_STATE", 409, "The execution is in another state";
    ConversationBusy = "CONVERSATION_BUSY", 409, "An answer is still being written";
    TooLarge = "PAYLOAD_TOO_LARGE", 413, "The request is too large";
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", 415, "The content type is not supported";
    Validation = "VALIDATION_FAILED", 422, "The request is not valid";
    AgentInactive = "AGENT_INACTIVE", 422, "The agent is switched off";
    RateLimited = "RATE_LIMITED", 429, "Too many attempts";
    TurnInterrupted = "TURN_INTERRUPTED", 503, "The answer was interrupted";
    LlmFailed = "LLM_FAILED", 502, "The model could not answer";
    LlmTimeout = "LLM_TIMEOUT", 504, "The model took too long";
    Unavailable = "UNAVAILABLE", 503, "The service cannot answer now";
    Timeout = "TIMEOUT", 504, "The service took too long";
    Internal = "INTERNAL", 500, "Something failed inside";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_travel_as_their_word() {
        let mut words: Vec<_> = Code::ALL.iter().map(|c| c.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Code::ALL.len());
        let json = serde_json::to_string(&Fault::not_found("agent")).unwrap();
        assert_eq!(json, r#"{"code":"NOT_FOUND","detail":"no such agent"}"#);
        assert_eq!(
            serde_json::from_str::<Fault>(&json).unwrap(),
            Fault::not_found("agent")
        );
    }
}
