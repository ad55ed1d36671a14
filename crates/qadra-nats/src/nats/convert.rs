use async_nats::header::{HeaderName, HeaderValue};

use crate::bus::ReplyPath;
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
    Message {
        subject: message.subject.as_str().into(),
        headers,
        payload: message.payload,
        reply: message
            .reply
            .map(|subject| ReplyTo(ReplyPath::Subject(subject.as_str().into()))),
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
