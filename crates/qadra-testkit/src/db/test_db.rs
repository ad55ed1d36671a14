use std::sync::OnceLock;

use anyhow::{Context, Result};
use qadra_store::Store;
use qadra_store::cluster::OWNER;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgPool};
use uuid::Uuid;

use super::{Throwaway, URL_VARIABLE, template};

/// A database that no other test sees, dropped with this value.
#[derive(Debug)]
pub struct TestDb {
    name: String,
    admin: PgConnectOptions,
    owner: PgConnectOptions,
}

impl TestDb {
    /// A database with the newest schema of `qadra-store`.
    pub async fn new() -> Self {
        Self::with("store", async |options: PgConnectOptions| {
            let store = Store::open(options, 1);
            store.migrate().await?;
            store.close().await;
            Ok(())
        })
        .await
    }

    /// A database cloned from the template `name` (letters, digits, `_`), which `migrate` fills on first use.
    pub async fn with<F, Fut>(name: &str, migrate: F) -> Self
    where
        F: FnOnce(PgConnectOptions) -> Fut,
        Fut: Future<Output = Result<()>>,
    {
        match Self::try_with(name, migrate).await {
            Ok(database) => database,
            Err(error) => panic!("no test database: {error:?}"),
        }
    }

    /// Connects as the owner role, as the product does; row-level security holds.
    pub fn options(&self) -> PgConnectOptions {
        self.owner.clone()
    }

    /// Connects to the same database as the superuser, whom no row-level security stops.
    pub fn superuser_options(&self) -> PgConnectOptions {
        self.admin.clone().database(&self.name)
    }

    pub fn url(&self) -> String {
        self.owner.to_url_lossy().into()
    }

    pub async fn pool(&self, connections: u32) -> PgPool {
        PgPoolOptions::new()
            .max_connections(connections)
            .connect_lazy_with(self.options())
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    async fn try_with<F, Fut>(name: &str, migrate: F) -> Result<Self>
    where
        F: FnOnce(PgConnectOptions) -> Fut,
        Fut: Future<Output = Result<()>>,
    {
        let admin = tokio::task::spawn_blocking(server).await??;
        let owner = as_owner(&admin);
        let (template, family) = template::name_for(name)?;
        let mut connection = admin
            .connect()
            .await
            .context("connect to the test server")?;
        if !template::exists(&mut connection, &template).await? {
            template::create(&admin, &owner, (&template, &family), migrate).await?;
        }
        let name = format!("qadra_test_{}", Uuid::now_v7().simple());
        template::run(
            &mut connection,
            format!("CREATE DATABASE {name} TEMPLATE {template} OWNER {OWNER}"),
        )
        .await?;
        connection.close().await?;
        Ok(Self {
            owner: owner.database(&name),
            name,
            admin,
        })
    }
}

impl Drop for TestDb {
    fn drop(&mut self) {
        let (admin, name) = (self.admin.clone(), self.name.clone());
        // The test's own runtime may be on its way out, so the drop brings a thread and a runtime of its own.
        let dropped = std::thread::spawn(move || {
            block_on(async {
                let mut connection = admin.connect().await?;
                template::run(
                    &mut connection,
                    format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
                )
                .await?;
                connection.close().await?;
                Ok(())
            })
        })
        .join();
        if let Ok(Err(error)) = dropped {
            eprintln!("could not drop a test database: {error:#}");
        }
    }
}

/// The server for this process, found or started once.
fn server() -> Result<PgConnectOptions> {
    static SERVER: OnceLock<Result<(PgConnectOptions, Option<Throwaway>), String>> =
        OnceLock::new();
    let server = SERVER.get_or_init(|| find().map_err(|error| format!("{error:#}")));
    match server {
        Ok((options, _)) => Ok(options.clone()),
        Err(error) => Err(anyhow::anyhow!(error.clone())),
    }
}

fn find() -> Result<(PgConnectOptions, Option<Throwaway>)> {
    match std::env::var(URL_VARIABLE) {
        Ok(url) => {
            let options = url
                .parse()
                .with_context(|| format!("read {URL_VARIABLE}"))?;
            Ok((options, None))
        }
        // Lives in the static until the process ends; the kernel then stops it, and the next start sweeps it.
        Err(_) => {
            let throwaway = block_on(Throwaway::start())?;
            Ok((throwaway.cluster().superuser_options(), Some(throwaway)))
        }
    }
}

fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(future)
}

/// The owner on the same server; a server that wants a password gets the superuser's for both.
fn as_owner(admin: &PgConnectOptions) -> PgConnectOptions {
    admin.clone().username(OWNER)
}

pub(super) fn password_of(options: &PgConnectOptions) -> Option<String> {
    let url = options.to_url_lossy();
    url.password().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlx::Executor;

    async fn numbers() -> TestDb {
        TestDb::with("numbers", async |options: PgConnectOptions| {
            let mut connection = options.connect().await?;
            connection
                .execute("CREATE TABLE number (n int); INSERT INTO number VALUES (7)")
                .await?;
            Ok(())
        })
        .await
    }

    #[tokio::test]
    async fn databases_of_one_template_do_not_see_each_other() {
        let (a, b) = tokio::join!(numbers(), numbers());
        let (a_pool, b_pool) = (a.pool(2).await, b.pool(2).await);
        a_pool
            .execute("INSERT INTO number VALUES (8)")
            .await
            .unwrap();
        let count = "SELECT count(*) FROM number";
        let in_a: i64 = sqlx::query_scalar(count).fetch_one(&a_pool).await.unwrap();
        let in_b: i64 = sqlx::query_scalar(count).fetch_one(&b_pool).await.unwrap();
        assert_eq!((in_a, in_b), (2, 1));
    }

    #[tokio::test]
    async fn a_dropped_database_is_gone_even_with_connections_open() {
        let database = numbers().await;
        let name = database.name().to_owned();
        let admin = database.admin.clone();
        let pool = database.pool(1).await;
        pool.execute("SELECT 1").await.unwrap();
        drop(database);
        let left: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_database WHERE datname = $1")
            .bind(name)
            .fetch_one(&mut admin.connect().await.unwrap())
            .await
            .unwrap();
        assert_eq!(left, 0);
    }

    #[tokio::test]
    async fn the_schema_of_the_store_belongs_to_the_owner_role() {
        let database = TestDb::new().await;
        let foreign: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND tableowner <> 'qadra'",
        )
        .fetch_one(&database.pool(1).await)
        .await
        .unwrap();
        assert_eq!(foreign, 0);
    }
}
