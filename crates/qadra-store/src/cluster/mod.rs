//! A private PostgreSQL that lives and dies with this process.
//!
//! [`Cluster::start`] finds the installed binaries, makes a cluster in the data directory on first use, clears
//! whatever an earlier life left behind, starts the postmaster and waits until it answers. [`Cluster::stop`]
//! shuts it down; [`Cluster::watch`] tells when it ended. If this process is killed, the kernel tells the
//! postmaster to shut down (Linux); elsewhere the next start stops it.
//!
//! Invariants: one process at a time owns a data directory; no process is signalled unless it is proven to be a
//! PostgreSQL of this data directory; an existing cluster is never deleted; nothing listens beyond this machine.

mod account;
mod binaries;
mod error;
mod leftover;
mod lock;
mod log;
mod place;
mod postmaster;
mod provision;
mod service;
mod socket;
mod spawn;

pub use error::ClusterError;
pub use postmaster::{Exit, Watch};
pub use service::{Cluster, Durability, Options, installed_major};

/// The login role that owns the database of the same name.
pub const OWNER: &str = "qadra";
/// The database that the product lives in.
pub const DATABASE: &str = "qadra";
/// The bootstrap superuser of the private cluster.
pub const SUPERUSER: &str = "postgres";
