use std::time::Duration;

use qadra_types::{Code, Fault};

pub(crate) type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why a message did not go out, or a reply did not come back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BusError {
    /// Nobody subscribes to the subject. Told at once; nothing ran.
    #[error("nobody answers on {subject}")]
    NoResponder { subject: String },
    /// The request was taken and then dropped without an answer. Only the in-process transport can
    /// tell; over NATS the same situation is a [`BusError::Timeout`].
    #[error("the request on {subject} was dropped unanswered")]
    Unanswered { subject: String },
    /// No reply came in time; the request may have run, or may still run.
    #[error("no reply on {subject} within {after:?}")]
    Timeout { subject: String, after: Duration },
    /// Over the transport's limit with no object store, or over the limit of references.
    #[error("a message of {size} bytes on {subject} exceeds the limit of {limit}")]
    TooLarge {
        subject: String,
        size: usize,
        limit: usize,
    },
    /// There is no connection to the broker now; nothing was sent.
    #[error("not connected to the broker")]
    Disconnected,
    /// The bus was closed for good.
    #[error("the bus is closed")]
    Closed,
    #[error("{subject:?} is not a valid subject")]
    InvalidSubject { subject: String },
    #[error("{name:?} is not a header that may be set, or its value is not one line of text")]
    InvalidHeader { name: String },
    /// `respond` was called with a message that asks for no reply.
    #[error("the message on {subject} asks for no reply")]
    NotARequest { subject: String },
    /// A payload by reference could not be stored, or the reference does not hold.
    #[error("{doing}")]
    Object {
        doing: String,
        #[source]
        source: Option<Source>,
    },
    #[error("{doing}")]
    Transport {
        doing: String,
        #[source]
        source: Source,
    },
}

impl BusError {
    pub(crate) fn transport(doing: impl Into<String>, source: impl Into<Source>) -> Self {
        Self::Transport {
            doing: doing.into(),
            source: source.into(),
        }
    }

    pub(crate) fn object(doing: impl Into<String>) -> Self {
        Self::Object {
            doing: doing.into(),
            source: None,
        }
    }

    pub(crate) fn object_store(doing: impl Into<String>, source: impl Into<Source>) -> Self {
        Self::Object {
            doing: doing.into(),
            source: Some(source.into()),
        }
    }

    /// True when nothing was delivered to anybody, so that sending again cannot do the work twice.
    pub fn nothing_ran(&self) -> bool {
        !matches!(
            self,
            Self::Unanswered { .. }
                | Self::Timeout { .. }
                | Self::Object { .. }
                | Self::Transport { .. }
        )
    }
}

/// What a caller of the operation is told; the bus's own words stay in the log.
impl From<&BusError> for Fault {
    fn from(error: &BusError) -> Self {
        match error {
            BusError::NoResponder { .. }
            | BusError::Unanswered { .. }
            | BusError::Disconnected
            | BusError::Closed
            | BusError::Transport { .. } => {
                Fault::new(Code::Unavailable, "the service cannot answer now")
            }
            BusError::Timeout { .. } => Fault::new(Code::Timeout, "the service took too long"),
            BusError::TooLarge { .. } => Fault::new(Code::TooLarge, "the message is too large"),
            BusError::InvalidSubject { .. }
            | BusError::InvalidHeader { .. }
            | BusError::NotARequest { .. }
            | BusError::Object { .. } => {
                Fault::new(Code::Internal, "the message could not be passed on")
            }
        }
    }
}
