use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::word::words;

/// Who asks, in which tenant, under which request id. The first argument of every use case.
#[derive(Debug, Clone)]
pub struct Ctx {
    /// The tenant whose rows the request may touch.
    pub tenant_id: Uuid,
    /// The person or key on whose behalf it runs.
    pub actor: Actor,
    /// Correlates the HTTP answer, the bus message and the log lines.
    pub request_id: Uuid,
}

impl Ctx {
    /// True when the caller may do what `scope` names.
    pub fn allows(&self, scope: Scope) -> bool {
        match &self.actor.scopes {
            None => true,
            // Each scope includes the weaker ones.
            Some(granted) => granted.iter().any(|g| *g >= scope),
        }
    }
}

/// The acting user with the role held in the tenant, and the limits of the key if one was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    pub user_id: Uuid,
    pub role: Role,
    /// `None` for a signed-in person; the granted scopes for an API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<Scope>>,
}

/// Role of a user inside one tenant, weakest first so that `>=` compares power.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Admin,
    Owner,
}

/// What an API key may be used for, weakest first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Read anything its user can read.
    Read,
    /// Read, and change anything its user can change except accounts and keys.
    Write,
    /// Everything its user can do.
    Admin,
}

words!(Role { User => "user", Admin => "admin", Owner => "owner" });
words!(Scope { Read => "read", Write => "write", Admin => "admin" });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_compare_by_power() {
        assert!(Role::Owner > Role::Admin && Role::Admin > Role::User);
        assert_eq!("admin".parse::<Role>(), Ok(Role::Admin));
        assert_eq!(
            "root".parse::<Role>(),
            Err("unknown Role \"root\"".to_owned())
        );
    }
}
