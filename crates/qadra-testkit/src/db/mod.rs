//! Real PostgreSQL for tests: each [`TestDb`] is a database of its own, cloned from a migrated template.
//!
//! The server is the one that `QADRA_TEST_DATABASE_URL` names (`with-postgres` sets it for a whole test run), or a
//! [`Throwaway`] cluster that this process starts on first use. Neither keeps anything safe: fsync is off.

mod template;
mod test_db;
mod throwaway;

pub use test_db::TestDb;
pub use throwaway::{Throwaway, image};

/// Names a running server for the tests; its user must be a superuser, or may create roles and databases.
pub const URL_VARIABLE: &str = "QADRA_TEST_DATABASE_URL";
