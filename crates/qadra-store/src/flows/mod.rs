//! Flows: graphs in `definitions`, their runs in `executions`, what happened in them in `journal`, what reaches them from
//! outside in `inbox`, what starts them in `triggers`, what they may use in `secrets`; and the work on all of them, for
//! all tenants, in `worker`.

mod definitions;
mod executions;
mod inbox;
mod journal;
mod secrets;
mod triggers;
mod worker;

pub use definitions::{FlowChange, FlowRow, FlowSummary, NewFlow};
pub use executions::{ExecutionFilter, ExecutionRow, NewExecution};
pub use inbox::{InboxRow, NewMessage};
pub use journal::JournalRow;
pub use secrets::{SECRET_PURPOSE, SecretRow};
pub use triggers::{DueTrigger, Hook, NewTrigger, TriggerChange, TriggerRow};
pub use worker::{Claim, Opened, Parent, Refusal, Refused, RunAppend};
