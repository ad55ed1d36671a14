use std::time::Duration;

use qadra_types::Ctx;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, PgPool, Postgres, Transaction};
use uuid::Uuid;

use crate::{Result, StoreError};

/// Our statements are prepared once per connection and select by id, so a plan made without their values is as
/// good as one made for each call; planning the neighbourhood query took longer than running it. A statement
/// whose best plan depends on which filters are set must leave the others out of its text.
const PLANS: &str = "SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL jit = off";

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("./migrations");

/// The pool, and the three doors to the tables.
#[derive(Clone)]
pub struct Store {
    pool: PgPool,
}

impl Store {
    /// Connects with at most `connections` connections; nothing is opened before the first use.
    pub fn open(options: PgConnectOptions, connections: u32) -> Self {
        let pool = PgPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(Duration::from_secs(10))
            // A ping would cost every transaction a round trip; a dead connection shows in its first query.
            .test_before_acquire(false)
            .connect_lazy_with(options);
        Self { pool }
    }

    /// Brings the schema to the newest version. Safe to run from several processes at once.
    pub async fn migrate(&self) -> Result<()> {
        MIGRATIONS.run(&self.pool).await?;
        Ok(())
    }

    /// A transaction that sees the rows of the caller's tenant only.
    pub async fn tenant(&self, ctx: &Ctx) -> Result<TenantTx> {
        self.tenant_id(ctx.tenant_id).await
    }

    /// As [`Store::tenant`], for work that a tenant's data asks for and no request does.
    pub async fn tenant_id(&self, tenant_id: Uuid) -> Result<TenantTx> {
        // A Uuid prints as hex and dashes only, so it can stand in the statement; one round trip opens all.
        let tx = self
            .begin(format!(
                "BEGIN; SET LOCAL ROLE qadra_app; SET LOCAL qadra.tenant_id = '{tenant_id}'; {PLANS}"
            ))
            .await?;
        Ok(TenantTx { tx, tenant_id })
    }

    /// A transaction that can look up accounts, keys and refresh tokens of any tenant, and nothing else.
    pub async fn auth(&self) -> Result<AuthTx> {
        Ok(AuthTx {
            tx: self
                .begin("BEGIN; SET LOCAL ROLE qadra_auth".into())
                .await?,
        })
    }

    /// A transaction that can find and close the turns of dead processes, and nothing else.
    pub async fn system(&self) -> Result<SystemTx> {
        Ok(SystemTx {
            tx: self
                .begin("BEGIN; SET LOCAL ROLE qadra_system".into())
                .await?,
        })
    }

    /// One round trip that tells whether the database answers.
    pub async fn ping(&self) -> Result<()> {
        sqlx::query("SELECT 1").execute(&self.pool).await?;
        Ok(())
    }

    pub async fn close(&self) {
        self.pool.close().await;
    }

    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// Opens a transaction on a task of its own. sqlx 0.9 may return a connection to the pool with the
    /// transaction still open when `begin` is cancelled between sending BEGIN and reading the answer;
    /// a task is not cancelled with its caller, and drops (rolls back) what nobody takes.
    async fn begin(&self, prelude: String) -> Result<Transaction<'static, Postgres>> {
        let pool = self.pool.clone();
        tokio::spawn(async move { pool.begin_with(AssertSqlSafe(prelude)).await })
            .await
            .map_err(|e| StoreError::Database(sqlx::Error::Protocol(e.to_string())))?
            .map_err(Into::into)
    }
}

macro_rules! transaction {
    ($name:ident) => {
        impl $name {
            /// Makes the work durable. Dropping the transaction instead undoes it.
            pub async fn commit(self) -> Result<()> {
                self.tx.commit().await.map_err(Into::into)
            }

            pub(crate) fn conn(&mut self) -> &mut sqlx::PgConnection {
                &mut self.tx
            }
        }
    };
}

/// Role `qadra_app`, confined to one tenant by row-level security.
pub struct TenantTx {
    tx: Transaction<'static, Postgres>,
    pub(crate) tenant_id: Uuid,
}

/// Role `qadra_auth`.
pub struct AuthTx {
    tx: Transaction<'static, Postgres>,
}

/// Role `qadra_system`.
pub struct SystemTx {
    tx: Transaction<'static, Postgres>,
}

transaction!(TenantTx);
transaction!(AuthTx);
transaction!(SystemTx);
