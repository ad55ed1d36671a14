use async_nats::header::{HeaderName, HeaderValue};

use crate::bus::ReplyPath;
use crate::subjects::check_subject;
use crate::{BusError, Headers, Message, ReplyTo};

/// What came from the wire may be anything; a header line that cannot be ours is left out.
pub(super) fn from_nats(message: async_nats::Message) -> Message {
    let mut headers = Headers::new();
    for (name, values) in message.headers.iter().flat_map(|map| map.iter()) {
        if let Some(value) = values.last()
            && headers.set(name.as_ref(), value.as_str()).is_err()
        {
            tracing::debug!(subject = %message.subject, "unreadable header line left out");
        }
    }
    let reply = message.reply.as_deref().filter(|reply| {
        let fine = is_inbox(reply);
        if !fine {
            tracing::warn!(subject = %message.subject, "a requester wants its answer elsewhere than in an inbox");
        }
        fine
    });
    Message {
        subject: message.subject.as_str().into(),
        headers,
        payload: message.payload,
        reply: reply.map(|subject| ReplyTo(ReplyPath::Subject(subject.into()))),
    }
}

pub(super) fn to_nats(headers: &Headers) -> Result<Option<async_nats::HeaderMap>, BusError> {
    if headers.is_empty() {
        return Ok(None);
    }
    let mut map = async_nats::HeaderMap::new();
    for (name, value) in headers.iter() {
        let invalid = || BusError::InvalidHeader {
            name: name.to_owned(),
        };
        let key: HeaderName = name.parse().map_err(|_| invalid())?;
        let value: HeaderValue = value.parse().map_err(|_| invalid())?;
        map.insert(key, value);
    }
    Ok(Some(map))
}

pub(super) fn is_no_responder(message: &async_nats::Message) -> bool {
    message.status == Some(async_nats::StatusCode::NO_RESPONDERS)
}

/// Where answers may go. Any other subject would let a requester make us, who may publish anywhere,
/// send our answer as a request to another tenant's operation.
pub(super) fn is_inbox(subject: &str) -> bool {
    subject.starts_with("_INBOX") && check_subject(subject).is_ok()
}
