//! PostgreSQL, the only store of record: migrations, the tenant transaction, one module per resource.
//!
//! A tenant's tables are reached through [`TenantTx`] and no other way; the few queries that run before a
//! tenant is known go through [`AuthTx`], and cross-tenant housekeeping through [`SystemTx`]. Each takes a
//! database role of its own, none of which owns a table or can bypass row-level security.
//! This crate never decides what a user may do and never formats anything for people.

mod accounts;
mod agents;
mod api_keys;
mod audit;
mod balls;
pub mod cluster;
mod conversations;
mod documents;
mod error;
mod flows;
mod knowledge;
mod memory;
mod merges;
mod messages;
mod presence;
mod turns;
mod tx;
mod usage;
mod vault;

pub use accounts::{Account, NewAccount, RefreshToken};
pub use agents::{AgentChange, NewAgent};
pub use api_keys::{KeyIdentity, NewApiKey};
pub use balls::{BallContent, BallRow};
pub use conversations::{ConversationChange, ListFilter};
pub use documents::{
    ChunkHit, ChunkRow, Compared, DocumentRow, FindingRow, Job, JobKind, Linked, NewChunk,
    NewDocument, NewFinding, ObjectAt, PassageRow, SourceRow, SupportCounts, SupportRow,
    Transition, TripleLink,
};
pub use error::{Result, StoreError};
pub use flows::{
    Claim, DueTrigger, ExecutionFilter, ExecutionRow, FlowChange, FlowRow, FlowSummary, Hook,
    InboxRow, JournalRow, NewExecution, NewFlow, NewMessage, NewTrigger, Opened, Parent, Refusal,
    Refused, RunAppend, SECRET_PURPOSE, SecretRow, TriggerChange, TriggerRow,
};
pub use knowledge::{
    EdgeEnds, EdgeFilter, NameRow, NewObject, NewTriple, NodeDegree, NodeName, NodeRow,
    PredicateChange, PredicateRow, PredicateUse, SimilarName, TripleChange, TripleFilter,
    TripleRow,
};
pub use memory::{MemoryChange, MemoryRow, NewMemory};
pub use merges::{Collapsed, LockedNode, MergeRow, Moved, MovedSource, NodeEvent, Which};
pub use messages::{HistoryMessage, Page, RatedExchange};
pub use presence::Presence;
pub use sqlx::postgres::PgConnectOptions;
pub use turns::{Answer, Branch, NewTurn, StartedTurn, StreamRecord, TurnEnd, TurnStart};
pub use tx::{AuthTx, Store, SystemTx, TenantTx};
pub use usage::{DayUsage, ModelUsage, UsageRecord, UsageTotals};
pub use vault::{Unopened, Vault};
