use std::borrow::Cow;

use qadra_types::{Role, Scope};
use utoipa::openapi::{RefOr, Schema};

/// One thing that can be asked of Qadra, over HTTP and over the bus alike.
pub struct Operation {
    pub method: Method,
    /// With parameters in braces; each becomes a field of the bus body.
    pub path: &'static str,
    /// The subject is `qadra.{tid}.{entity}.do.{op}`, or `qadra.platform.…` before a tenant is known.
    pub entity: &'static str,
    pub op: &'static str,
    pub summary: &'static str,
    pub access: Access,
    pub kind: Kind,
    /// HTTP status of success.
    pub success: u16,
    pub query: Vec<Param>,
    pub body: Option<Type>,
    pub reply: Option<Type>,
}

impl Operation {
    /// Names of the path's parameters, in order.
    pub fn path_params(&self) -> impl Iterator<Item = &'static str> {
        self.path
            .split('/')
            .filter_map(|s| s.strip_prefix('{')?.strip_suffix('}'))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// Who may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anyone, before a tenant is known.
    Public,
    /// A member of the tenant with at least this role, and a key (if one is used) with this scope.
    Member(Role, Scope),
}

/// How the answer comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// JSON, or nothing with 204.
    Json,
    /// A new turn as server-sent events.
    TurnStream,
    /// A running or ended turn as server-sent events.
    AttachStream,
    /// A file.
    Download,
    /// JSON; the request may be a file as `multipart/form-data` instead of JSON.
    Upload,
    /// A file of the common object store, as [`crate::FileRef`] names it.
    File,
    /// A document's changes as server-sent events.
    DocumentStream,
    /// A flow execution's events as server-sent events.
    ExecutionStream,
    /// A signed call of a webhook; the body is passed on as it was sent.
    Hook,
}

/// A query parameter; `kind` says how its text is read.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    pub name: &'static str,
    pub kind: ParamKind,
    pub about: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    Text,
    Integer,
    Boolean,
}

/// A schema by way of functions, so that the table can be built without instances.
#[derive(Clone, Copy)]
pub struct Type {
    pub name: fn() -> Cow<'static, str>,
    pub schema: fn() -> RefOr<Schema>,
    pub nested: fn(&mut Vec<(String, RefOr<Schema>)>),
}
