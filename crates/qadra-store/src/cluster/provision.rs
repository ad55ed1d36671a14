use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor};

use super::error::{ClusterError, sql};
use super::{DATABASE, OWNER};

/// Sees to it that the owner role and its database exist, whatever an interrupted first start has left out.
/// `password` is set when the server is reached over loopback.
pub(super) async fn provision(
    superuser: PgConnectOptions,
    password: Option<&str>,
) -> Result<(), ClusterError> {
    let mut connection = superuser
        .connect()
        .await
        .map_err(sql("connect to the private PostgreSQL"))?;

    let (role, database): (bool, bool) = sqlx::query_as(
        "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1 AND rolcanlogin AND rolcreaterole
                        AND rolinherit AND NOT rolsuper AND NOT rolbypassrls),
                EXISTS (SELECT FROM pg_database WHERE datname = $2)",
    )
    .bind(OWNER)
    .bind(DATABASE)
    .fetch_one(&mut connection)
    .await
    .map_err(sql("look for the owner role"))?;

    if !role {
        // It owns the database, and by inheritance the right to create in its schema.
        let sql_text = "DO $do$ BEGIN
               IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'qadra') THEN CREATE ROLE qadra; END IF;
             END $do$;
             ALTER ROLE qadra LOGIN INHERIT CREATEROLE NOSUPERUSER NOCREATEDB NOREPLICATION NOBYPASSRLS";
        connection
            .execute(sql_text)
            .await
            .map_err(sql("create the owner role"))?;
    }
    if let Some(password) = password {
        // Our own random letters and digits, so there is nothing to quote; ALTER ROLE takes no parameters.
        let text = format!("ALTER ROLE qadra PASSWORD '{password}'");
        connection
            .execute(sqlx::AssertSqlSafe(text))
            .await
            .map_err(sql("set the password of the owner role"))?;
    }
    if !database {
        connection
            .execute("CREATE DATABASE qadra OWNER qadra")
            .await
            .map_err(sql("create the database"))?;
    }
    connection
        .close()
        .await
        .map_err(sql("disconnect from the private PostgreSQL"))
}
