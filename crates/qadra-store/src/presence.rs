//! How processes know that another one has died: each holds an advisory lock for as long as it lives.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::Result;

/// How often the session is tried, and how long it may take to answer.
const EVERY: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(5);

/// A session of its own that holds this process's advisory lock; PostgreSQL frees it the moment the
/// connection breaks, so no clock and no heartbeat are involved.
///
/// A process may outlive its session (PostgreSQL restarts, a network fails), so the lock is taken again, under
/// the same key. Turns that others closed meanwhile stay closed; later ones are safe again.
pub struct Presence {
    pub owner_id: Uuid,
    pub owner_lock: i64,
    /// Dropped with this value, which ends the session.
    stop: oneshot::Sender<()>,
    keeper: JoinHandle<Result<()>>,
}

impl Presence {
    /// Takes a fresh lock. The key space is ours alone within the database `qadra` uses.
    pub async fn announce(options: &PgConnectOptions) -> Result<Self> {
        let owner_id = Uuid::new_v4();
        let owner_lock = (owner_id.as_u128() >> 64) as i64;
        let options = options.clone().application_name("qadra presence");
        let session = hold(&options, owner_lock).await?;
        let (stop, stopped) = oneshot::channel();
        let keeper = tokio::spawn(keep(session, options, owner_lock, stopped));
        Ok(Self {
            owner_id,
            owner_lock,
            stop,
            keeper,
        })
    }

    pub async fn withdraw(self) -> Result<()> {
        drop(self.stop);
        // Only a panic or the runtime's end can keep the task from answering; both end the session too.
        self.keeper.await.unwrap_or(Ok(()))
    }
}

async fn hold(options: &PgConnectOptions, owner_lock: i64) -> Result<PgConnection> {
    let mut session = options.connect().await?;
    // If the server does not know yet that the old session is gone, this waits until it does.
    sqlx::query("SELECT pg_advisory_lock($1)")
        .bind(owner_lock)
        .execute(&mut session)
        .await?;
    Ok(session)
}

async fn keep(
    mut session: PgConnection,
    options: PgConnectOptions,
    owner_lock: i64,
    mut stopped: oneshot::Receiver<()>,
) -> Result<()> {
    loop {
        tokio::select! {
            _ = &mut stopped => return session.close().await.map_err(Into::into),
            () = tokio::time::sleep(EVERY) => {}
        }
        if matches!(
            tokio::time::timeout(PATIENCE, session.ping()).await,
            Ok(Ok(()))
        ) {
            continue;
        }
        tracing::warn!("the presence session was lost; announcing this process again");
        drop(session);
        session = loop {
            let held = tokio::select! {
                _ = &mut stopped => return Ok(()),
                held = hold(&options, owner_lock) => held,
            };
            match held {
                Ok(session) => break session,
                Err(e) => tracing::debug!(error = %e, "this process could not be announced yet"),
            }
            tokio::select! {
                _ = &mut stopped => return Ok(()),
                () = tokio::time::sleep(EVERY) => {}
            }
        };
    }
}
