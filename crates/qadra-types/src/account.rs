use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{Role, Scope};

/// A team with everything that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Tenant {
    pub id: Uuid,
    pub name: String,
    /// Unique, made from the name; accepted wherever a tenant id is.
    pub slug: String,
}

/// A person, as shown to the members of one tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct User {
    pub id: Uuid,
    pub email: String,
    pub email_verified: bool,
    pub name: String,
    pub avatar_url: Option<String>,
    /// Role in the tenant of the request.
    pub role: Role,
    pub is_super_admin: bool,
    pub created_at: DateTime<Utc>,
}

/// One of the tenants a person belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Membership {
    pub id: Uuid,
    pub name: String,
    pub slug: String,
    pub role: Role,
    /// The tenant that opens at sign-in.
    pub is_default: bool,
}

/// An API key without its secret, which is stored only as a hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApiKey {
    pub id: Uuid,
    pub user_id: Uuid,
    pub name: String,
    /// First characters of the key, enough to tell keys apart.
    pub prefix: String,
    pub scopes: Vec<Scope>,
    pub created_at: DateTime<Utc>,
    pub expires_at: Option<DateTime<Utc>>,
    pub last_used_at: Option<DateTime<Utc>>,
    pub revoked_at: Option<DateTime<Utc>>,
}
