//! Use cases: what Qadra does, one module per resource. The conversation pipeline lives in `turns`.
//!
//! [`App::serve`] puts every operation of `qadra-api` on the bus; there is no other way in. This crate knows
//! nothing of HTTP, and reaches PostgreSQL only through `qadra-store`.

mod accounts;
mod agents;
mod balls;
mod builtin;
mod conversations;
mod demo;
mod dispatch;
mod documents;
mod export;
mod flows;
mod graph;
mod input;
mod knowledge;
mod memory;
mod merges;
mod messages;
mod parser;
mod passages;
mod recovery;
mod settings;
mod tools;
mod turns;
mod usage;
mod verify;

pub use accounts::tokens::{Claims, TokenKey};
pub use builtin::Builtin;
pub use demo::DEMO_EMAIL;
pub use dispatch::{ORIGIN, Running};
pub use settings::Settings;

use std::sync::{Arc, OnceLock};

use qadra_llm::LlmProvider;
use qadra_nats::Bus;
use qadra_store::{Presence, Store};
use uuid::Uuid;

use accounts::attempts::Attempts;
use accounts::passwords::Passwords;
use turns::registry::Registry;

/// Everything that use cases need. One per process; cheap to clone through its `Arc`.
pub struct App {
    pub(crate) store: Store,
    pub(crate) bus: Arc<dyn Bus>,
    pub(crate) llm: Arc<dyn LlmProvider>,
    pub(crate) settings: Settings,
    pub(crate) token_key: TokenKey,
    pub(crate) passwords: Passwords,
    pub(crate) attempts: Attempts,
    pub(crate) registry: Registry,
    /// This process as the owner of turns; see [`Presence`].
    pub(crate) owner_id: Uuid,
    pub(crate) owner_lock: i64,
    pub(crate) documents: documents::queue::Work,
    pub(crate) embedder: OnceLock<documents::search::Embedder>,
}

impl App {
    pub fn new(
        store: Store,
        bus: Arc<dyn Bus>,
        llm: Arc<dyn LlmProvider>,
        token_key: TokenKey,
        settings: Settings,
        presence: &Presence,
    ) -> Arc<Self> {
        Arc::new(Self {
            store,
            bus,
            llm,
            settings,
            token_key,
            passwords: Passwords::new(),
            attempts: Attempts::default(),
            registry: Registry::default(),
            owner_id: presence.owner_id,
            owner_lock: presence.owner_lock,
            documents: documents::queue::Work::default(),
            embedder: OnceLock::new(),
        })
    }
}
