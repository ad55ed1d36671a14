//! The real program: started, asked over HTTP, killed and started again.

mod api;
mod documents;
mod flows;
mod kill;
mod nats;
mod program;
mod roles;
mod up;
