pub(crate) mod core;
pub(crate) mod gateway;
pub(crate) mod migrate;
pub(crate) mod text;
pub(crate) mod up;
mod wiring;
pub(crate) mod worker;
