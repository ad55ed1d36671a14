//! The contract over HTTP and the bus: every operation with its path, subject, rights and types, and the OpenAPI
//! document made from that one table.
//!
//! It holds data and types only; what an operation does is in `qadra-app`, how it travels in `qadra-gateway`.
//! Entry types: [`Operation`], [`operations`].

mod openapi;
mod operation;
mod resources;
mod table;

pub use openapi::openapi;
pub use operation::{Access, Kind, Method, Operation, Param, ParamKind, Type};
pub use resources::accounts::*;
pub use resources::agents::*;
pub use resources::conversations::*;
pub use resources::documents::*;
pub use resources::flows::*;
pub use resources::graph::*;
pub use resources::knowledge::*;
pub use resources::memory::*;
pub use resources::usage::*;
pub use resources::{ById, Items, ListQuery};
pub use table::operations;

/// Bytes that a document may have.
pub const MAX_DOCUMENT_BYTES: usize = 64 * 1024 * 1024;

/// Characters (Unicode scalar values) a message may have.
pub const MAX_MESSAGE_CHARS: usize = 100_000;
