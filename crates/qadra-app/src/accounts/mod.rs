//! Sign-in, sessions, tenants and API keys.

pub(crate) mod api_keys;
pub(crate) mod attempts;
pub(crate) mod passwords;
pub(crate) mod sessions;
pub(crate) mod tokens;
