//! How processes know that another one has died: each holds an advisory lock for as long as it lives.

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection};
use uuid::Uuid;

use crate::Result;

/// A session of its own that holds this process's advisory lock; PostgreSQL frees it the moment the
/// connection breaks, so no clock and no heartbeat are involved.
pub struct Presence {
    pub owner_id: Uuid,
    pub owner_lock: i64,
    session: PgConnection,
}

impl Presence {
    /// Takes a fresh lock. The key space is ours alone within the database `qadra` uses.
    pub async fn announce(options: &PgConnectOptions) -> Result<Self> {
        let owner_id = Uuid::new_v4();
        let owner_lock = (owner_id.as_u128() >> 64) as i64;
        let mut session = options
            .clone()
            .application_name("qadra presence")
            .connect()
            .await?;
        sqlx::query("SELECT pg_advisory_lock($1)")
            .bind(owner_lock)
            .execute(&mut session)
            .await?;
        Ok(Self {
            owner_id,
            owner_lock,
            session,
        })
    }

    /// An error means that the lock is lost: others may already have closed this process's turns.
    pub async fn check(&mut self) -> Result<()> {
        self.session.ping().await.map_err(Into::into)
    }

    pub async fn withdraw(self) -> Result<()> {
        self.session.close().await.map_err(Into::into)
    }
}
