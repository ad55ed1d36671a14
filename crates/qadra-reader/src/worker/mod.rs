//! Reading in a process of its own. The child limits its own memory, processor time and files, reads one document from
//! standard input and answers on standard output; whatever happens to it, the parent gets a [`Text`] or a
//! [`ReadError`](crate::ReadError).
//!
//! On the wire, both ways: a line of JSON, then as many bytes as the line says. The child sends any number of
//! `progress` lines, then one `text` or `error`.

mod child;
mod parent;

pub use child::run_worker;
pub use parent::{Reader, WorkerCommand, read_in_worker};

use serde::{Deserialize, Serialize};

use crate::{Limits, Progress, ReadError, Text};

#[derive(Debug, Serialize, Deserialize)]
struct Request {
    declared: Option<String>,
    filename: Option<String>,
    limits: Limits,
    /// Length of the document, which follows.
    bytes: usize,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    Progress(Progress),
    /// `content` is empty here; its bytes follow.
    Text {
        text: Text,
        bytes: usize,
    },
    Error(ReadError),
}
