//! Values that more than one crate speaks: ids, the caller's context, error codes, the resources as
//! they are stored and shown.
//!
//! Nothing here does I/O or knows of a database, a broker or a web server. Entry types: [`Ctx`], [`Fault`].

mod account;
mod agent;
mod conversation;
mod ctx;
mod fault;
mod sparse;
mod word;

pub use account::{ApiKey, Membership, Tenant, User};
pub use agent::{Agent, AgentVersion, ControlType, OutputVisibility};
pub use conversation::{
    Conversation, ConversationSummary, Message, MessageRole, SearchMatch, Turn, TurnError,
    TurnStatus,
};
pub use ctx::{Actor, Ctx, Role, Scope};
pub use fault::{Code, Fault};
pub use sparse::{Patch, patch};

use uuid::Uuid;

/// A new time-ordered id (UUIDv7, RFC 9562).
pub fn new_id() -> Uuid {
    Uuid::now_v7()
}
