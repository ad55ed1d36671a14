//! One suite over both transports, then what only one of them can do.

mod bed;
mod in_process;
mod nats;
mod payloads;
mod permissions;
mod server;
mod service;
mod suite;
