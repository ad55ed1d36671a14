use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;

use anyhow::{Context, Result};
use qadra_store::cluster::OWNER;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};

/// Any number; tests of all processes agree on it. Roles belong to the whole server, so there is one lock for all
/// templates, not one each.
const LOCK: i64 = 0x0071_6164_7261;

/// The name of the template `name` for this very executable: the migrations are compiled into it, so another
/// build never takes an older build's template.
pub(super) fn name_for(name: &str) -> Result<(String, String)> {
    let executable = std::env::current_exe().context("find the running executable")?;
    let meta = std::fs::metadata(&executable).context("look at the running executable")?;
    let family = format!("qadra_tpl_{:08x}_{name}_", hash(&executable));
    let stamp = hash(&(meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ino()));
    let full = format!("{family}{stamp:08x}");
    anyhow::ensure!(full.len() < 64, "template name {name} is too long");
    Ok((full, family))
}

fn hash(value: &impl Hash) -> u32 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish() as u32
}

pub(super) async fn exists(admin: &mut PgConnection, template: &str) -> Result<bool> {
    let found: bool = sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1 AND datistemplate)",
    )
    .bind(template)
    .fetch_one(admin)
    .await?;
    Ok(found)
}

/// Makes the template unless another process has. `migrate` gets an empty database of the owner role.
pub(super) async fn create<F, Fut>(
    admin: &PgConnectOptions,
    owner: &PgConnectOptions,
    (template, family): (&str, &str),
    migrate: F,
) -> Result<()>
where
    F: FnOnce(PgConnectOptions) -> Fut,
    Fut: Future<Output = Result<()>>,
{
    let mut connection = admin
        .connect()
        .await
        .context("connect to the test server")?;
    // Ends with the connection, so a killed process holds up nobody.
    sqlx::query("SELECT pg_advisory_lock($1)")
        .bind(LOCK)
        .execute(&mut connection)
        .await?;
    if !exists(&mut connection, template).await? {
        owner_role(&mut connection, owner).await?;
        drop_family(&mut connection, family).await?;
        run(
            &mut connection,
            format!("CREATE DATABASE {template} OWNER {OWNER}"),
        )
        .await?;
        migrate(owner.clone().database(template))
            .await
            .context("migrate the template database")?;
        // From here on it is complete, and nobody can sit in it and hold up a copy.
        run(
            &mut connection,
            format!("ALTER DATABASE {template} IS_TEMPLATE true ALLOW_CONNECTIONS false"),
        )
        .await?;
        sqlx::query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1")
            .bind(template)
            .execute(&mut connection)
            .await?;
    }
    connection.close().await?;
    Ok(())
}

/// On a server that is not our own kind of cluster the owner role may be missing.
async fn owner_role(connection: &mut PgConnection, owner: &PgConnectOptions) -> Result<()> {
    let known: bool = sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)")
        .bind(OWNER)
        .fetch_one(&mut *connection)
        .await?;
    if known {
        return Ok(());
    }
    let password = super::test_db::password_of(owner)
        .map(|password| format!("PASSWORD '{}'", password.replace('\'', "''")))
        .unwrap_or_default();
    run(
        connection,
        format!("CREATE ROLE {OWNER} LOGIN CREATEROLE {password}"),
    )
    .await
}

/// Drops templates of older builds, and one that a killed process left half made.
async fn drop_family(connection: &mut PgConnection, family: &str) -> Result<()> {
    let names: Vec<String> =
        sqlx::query_scalar("SELECT datname FROM pg_database WHERE starts_with(datname::text, $1)")
            .bind(family)
            .fetch_all(&mut *connection)
            .await?;
    for name in names {
        run(
            connection,
            format!("ALTER DATABASE {name} IS_TEMPLATE false"),
        )
        .await?;
        run(connection, format!("DROP DATABASE {name} WITH (FORCE)")).await?;
    }
    Ok(())
}

pub(super) async fn run(connection: &mut PgConnection, statement: String) -> Result<()> {
    let shown = statement.clone();
    connection
        .execute(AssertSqlSafe(statement))
        .await
        .with_context(|| shown)?;
    Ok(())
}
