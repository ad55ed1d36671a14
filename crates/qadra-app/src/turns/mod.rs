//! The `send_message` pipeline, the heart of a conversation:
//!
//! ```text
//! lock the thread ─ write the user message ─┬─ commit ──────────────► user_saved, thinking
//!                                           └─ ground ─ prompt ─ model ⇄ tools ─► grounding, token…, tool_call…
//!                                              store answer, usage, stream record ─► assistant_message, done
//! ```
//!
//! Grounding and the call to the model start while the commit is on its way to the disk; what they produce is
//! held back until it is there, so nobody sees an answer to a message that was not kept. A turn runs on a task of
//! its own and ends as completed, cancelled or failed, whoever listens or leaves. If the process dies, the
//! turn's advisory lock goes with it and [`crate::recovery`] closes the turn.

mod answer;
mod begin;
mod chart;
mod ending;
pub(crate) use ending::interrupted;
mod prompt;
pub(crate) mod registry;
mod replay;
mod streams;

pub(crate) use begin::Begun;
pub(crate) use chart::NAME as CHART;

use qadra_types::{Code, Fault, TurnError};

/// What a failed turn tells its reader. Asking again can help unless the request itself is at fault.
pub(crate) fn turn_error(fault: &Fault) -> TurnError {
    let retryable = matches!(
        fault.code,
        Code::LlmFailed
            | Code::LlmTimeout
            | Code::TurnInterrupted
            | Code::Unavailable
            | Code::Timeout
            | Code::Internal
    );
    TurnError {
        code: fault.code,
        detail: fault.detail.clone(),
        hint: fault.hint.clone(),
        retryable,
    }
}
