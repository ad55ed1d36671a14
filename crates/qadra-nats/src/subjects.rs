//! The names of subjects, and the only functions that build them.
//!
//! A part that comes from outside becomes a token only if it is `[a-z0-9_]+` (or a UUID), so that no
//! dot, wildcard or space can lead a message to another tenant.

use std::fmt;
use std::ops::Deref;

use uuid::Uuid;

use crate::BusError;

/// The pattern of every operation, of tenants and of the platform.
pub const EVERY_OP: &str = "qadra.*.*.do.*";
/// The pattern of every progress subject.
pub const EVERY_PROGRESS: &str = "_PROGRESS.*";

const PLATFORM: &str = "platform";

/// A subject that was built here, hence valid and without wildcards.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Subject(String);

impl Subject {
    /// `qadra.{tenant}.{entity}.do.{op}`
    pub fn op(tenant: Uuid, entity: &str, op: &str) -> Result<Self, BusError> {
        OpSubject::new(Tenant::Tenant(tenant), entity, op).map(|op| op.subject())
    }

    /// `qadra.platform.{entity}.do.{op}`, for what happens before a tenant is known.
    pub fn platform(entity: &str, op: &str) -> Result<Self, BusError> {
        OpSubject::new(Tenant::Platform, entity, op).map(|op| op.subject())
    }

    /// `_PROGRESS.{id}`
    pub fn progress(id: Uuid) -> Self {
        Self(format!("_PROGRESS.{id}"))
    }

    /// `_CORE.{id}`: one running core, for what only that process can do, such as cancelling a turn it runs.
    pub fn core_instance(id: Uuid) -> Self {
        Self(format!("_CORE.{id}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The progress subject a request names, if it is exactly `_PROGRESS.{uuid}`: a requester must not be
/// able to direct core's messages to a subject of its choice.
pub fn parse_progress(subject: &str) -> Result<Uuid, BusError> {
    subject
        .strip_prefix("_PROGRESS.")
        .and_then(canonical_uuid)
        .ok_or_else(|| invalid(subject))
}

/// The pattern of one entity's operations in every tenant and on the platform.
pub fn every_op_of(entity: &str) -> Result<String, BusError> {
    token(entity)?;
    Ok(format!("qadra.*.{entity}.do.*"))
}

/// An operation's subject, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OpSubject {
    pub tenant: Tenant,
    pub entity: String,
    pub op: String,
}

/// For whom an operation runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tenant {
    Tenant(Uuid),
    Platform,
}

impl OpSubject {
    pub fn new(tenant: Tenant, entity: &str, op: &str) -> Result<Self, BusError> {
        token(entity)?;
        token(op)?;
        Ok(Self {
            tenant,
            entity: entity.to_owned(),
            op: op.to_owned(),
        })
    }

    /// Reads exactly what [`Subject::op`] and [`Subject::platform`] write.
    pub fn parse(subject: &str) -> Result<Self, BusError> {
        let mut tokens = subject.split('.');
        let mut next = || tokens.next().unwrap_or_default();
        let (root, tenant, entity, verb, op) = (next(), next(), next(), next(), next());
        let tenant = match tenant {
            PLATFORM => Some(Tenant::Platform),
            id => canonical_uuid(id).map(Tenant::Tenant),
        };
        match tenant {
            Some(tenant) if root == "qadra" && verb == "do" && tokens.next().is_none() => {
                Self::new(tenant, entity, op).map_err(|_| invalid(subject))
            }
            _ => Err(invalid(subject)),
        }
    }

    pub fn subject(&self) -> Subject {
        Subject(self.to_string())
    }
}

impl fmt::Display for OpSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tenant, entity, op } = self;
        match tenant {
            Tenant::Tenant(id) => write!(f, "qadra.{id}.{entity}.do.{op}"),
            Tenant::Platform => write!(f, "qadra.{PLATFORM}.{entity}.do.{op}"),
        }
    }
}

impl Deref for Subject {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Subject {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const LONGEST_TOKEN: usize = 64;
const LONGEST_SUBJECT: usize = 1_024;

fn token(text: &str) -> Result<(), BusError> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    match !text.is_empty() && text.len() <= LONGEST_TOKEN && text.bytes().all(plain) {
        true => Ok(()),
        false => Err(invalid(text)),
    }
}

/// One spelling per id, so that a subject has one spelling too.
fn canonical_uuid(text: &str) -> Option<Uuid> {
    let id = Uuid::try_parse(text).ok()?;
    (id.hyphenated().encode_lower(&mut Uuid::encode_buffer()) == text).then_some(id)
}

fn invalid(subject: &str) -> BusError {
    let mut end = subject.len().min(120);
    while !subject.is_char_boundary(end) {
        end -= 1;
    }
    BusError::InvalidSubject {
        subject: subject.get(..end).unwrap_or_default().to_owned(),
    }
}

fn tokens_are_plain(subject: &str) -> bool {
    subject.len() <= LONGEST_SUBJECT
        && subject.split('.').all(|token| !token.is_empty())
        && !subject.chars().any(|c| c.is_whitespace() || c.is_control())
}

/// A subject one may publish to.
pub(crate) fn check_subject(subject: &str) -> Result<(), BusError> {
    match tokens_are_plain(subject) && !subject.contains(['*', '>']) {
        true => Ok(()),
        false => Err(invalid(subject)),
    }
}

/// A subject one may subscribe to: wildcards only as whole tokens, `>` only at the end.
pub(crate) fn check_pattern(pattern: &str) -> Result<(), BusError> {
    let wildcards_ok = || {
        let mut tokens = pattern.split('.').peekable();
        while let Some(token) = tokens.next() {
            let ok = match token {
                ">" => tokens.peek().is_none(),
                "*" => true,
                plain => !plain.contains(['*', '>']),
            };
            if !ok {
                return false;
            }
        }
        true
    };
    match tokens_are_plain(pattern) && wildcards_ok() {
        true => Ok(()),
        false => Err(invalid(pattern)),
    }
}

pub(crate) fn check_queue(queue: &str) -> Result<(), BusError> {
    match tokens_are_plain(queue) && !queue.contains(['*', '>', '.']) {
        true => Ok(()),
        false => Err(invalid(queue)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn subjects_have_the_contracts_form() {
        let id = Uuid::from_u128(7);
        let op = Subject::op(id, "chat", "send_message").unwrap();
        assert_eq!(
            op.as_str(),
            "qadra.00000000-0000-0000-0000-000000000007.chat.do.send_message"
        );
        assert_eq!(
            Subject::platform("auth", "login").unwrap().as_str(),
            "qadra.platform.auth.do.login"
        );
        assert_eq!(
            Subject::progress(id).as_str(),
            "_PROGRESS.00000000-0000-0000-0000-000000000007"
        );
        assert_eq!(
            Subject::core_instance(id).as_str(),
            "_CORE.00000000-0000-0000-0000-000000000007"
        );
        assert_eq!(parse_progress(&Subject::progress(id)).unwrap(), id);
        assert_eq!(every_op_of("chat").unwrap(), "qadra.*.chat.do.*");
    }

    #[test]
    fn other_forms_are_not_read_as_operations() {
        let id = Uuid::from_u128(7);
        for subject in [
            "".to_owned(),
            "qadra".to_owned(),
            "qadra.platform.auth.do".to_owned(),
            "qadra.platform.auth.do.login.more".to_owned(),
            "qadra.platform.auth.undo.login".to_owned(),
            "qadra.*.auth.do.login".to_owned(),
            "qadra.platform.a b.do.login".to_owned(),
            format!("qadra.{}.chat.do.list", id.simple()),
            format!("qadra.{{{id}}}.chat.do.list"),
            format!(
                "qadra.{}.chat.do.list",
                Uuid::max().to_string().to_uppercase()
            ),
        ] {
            assert!(OpSubject::parse(&subject).is_err(), "{subject}");
        }
        for subject in [
            "_PROGRESS.x",
            "_PROGRESS.",
            "_PROGRESS.*",
            "qadra.platform.auth.do.login",
        ] {
            assert!(parse_progress(subject).is_err(), "{subject}");
        }
    }

    proptest! {
        #[test]
        fn nothing_but_a_plain_token_gets_into_a_subject(entity in "\\PC{0,12}|[a-z.*> \t\n]{0,8}", op in "[a-z_0-9]{0,70}") {
            let tenant = Uuid::from_u128(9);
            if let Ok(subject) = Subject::op(tenant, &entity, &op) {
                prop_assert_eq!(subject.split('.').count(), 5);
                prop_assert!(check_subject(&subject).is_ok());
                prop_assert_eq!(
                    OpSubject::parse(&subject).unwrap(),
                    OpSubject { tenant: Tenant::Tenant(tenant), entity, op }
                );
            }
        }

        #[test]
        fn any_text_is_read_without_panic(text in "\\PC{0,200}") {
            let _ = (OpSubject::parse(&text), parse_progress(&text), check_pattern(&text), check_queue(&text));
        }
    }
}
