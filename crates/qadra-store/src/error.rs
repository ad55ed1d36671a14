use qadra_types::{Code, Fault};

pub type Result<T> = std::result::Result<T, StoreError>;

/// What can go wrong between us and PostgreSQL, as far as callers act on it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A unique constraint says that it exists already; the constraint's name tells which.
    #[error("a row with that key exists already ({constraint})")]
    Duplicate { constraint: String },
    /// A reference points at nothing in this tenant.
    #[error("a referenced row does not exist ({constraint})")]
    Dangling { constraint: String },
    /// The value does not satisfy a check of the table.
    #[error("the value is outside what {constraint} allows")]
    Check { constraint: String },
    #[error("no connection to PostgreSQL became free in time")]
    Busy,
    #[error("PostgreSQL did not do what was asked")]
    Database(#[source] sqlx::Error),
    #[error("the migrations did not run")]
    Migrate(#[from] sqlx::migrate::MigrateError),
}

impl From<sqlx::Error> for StoreError {
    fn from(e: sqlx::Error) -> Self {
        match &e {
            sqlx::Error::PoolTimedOut => Self::Busy,
            sqlx::Error::Database(db) => {
                let constraint = db.constraint().unwrap_or_default().to_owned();
                match db.code().as_deref() {
                    Some("23505") => Self::Duplicate { constraint },
                    Some("23503") => Self::Dangling { constraint },
                    Some("23514") => Self::Check { constraint },
                    _ => Self::Database(e),
                }
            }
            _ => Self::Database(e),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(e: StoreError) -> Self {
        match e {
            StoreError::Duplicate { .. } => {
                Fault::new(Code::Conflict, "one with that name exists already")
            }
            StoreError::Dangling { .. } => Fault::not_found("object the request refers to"),
            StoreError::Check { constraint } => Fault::invalid(format!(
                "a value is outside its allowed range ({constraint})"
            )),
            StoreError::Busy => {
                tracing::warn!("the connection pool is exhausted");
                Fault::new(Code::Unavailable, "the database is busy").hint("try again in a moment")
            }
            StoreError::Database(source) => {
                tracing::error!(error = %source, "database call failed");
                let gone = matches!(source, sqlx::Error::Io(_) | sqlx::Error::PoolClosed);
                if gone {
                    Fault::new(Code::Unavailable, "the database cannot be reached")
                        .hint("try again in a moment")
                } else {
                    Fault::new(Code::Internal, "the database refused a query")
                }
            }
            StoreError::Migrate(source) => {
                tracing::error!(error = %source, "migration failed");
                Fault::new(Code::Internal, "the database is not migrated")
            }
        }
    }
}
