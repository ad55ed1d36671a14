use chrono::{DateTime, Utc};
use qadra_types::{Actor, ApiKey, Membership, Role, Scope, Tenant, User};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// A new account with a tenant of its own.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct Register {
    pub email: String,
    /// 8 to 1,024 characters.
    pub password: String,
    pub name: String,
    pub tenant_name: String,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct Login {
    pub email: String,
    pub password: String,
    /// Id or slug of the tenant to open; the default one if absent.
    #[serde(default)]
    pub tenant_id: Option<String>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct Refresh {
    pub refresh_token: String,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct SwitchTenant {
    /// Id or slug.
    pub tenant_id: String,
}

/// A signed-in session.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Session {
    /// Bearer token for the next `expires_in` seconds.
    pub token: String,
    pub expires_in: i64,
    /// Good for one exchange; the answer carries the next one.
    pub refresh_token: String,
    pub user: User,
    pub tenant: Tenant,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Me {
    pub user: User,
    pub tenant: Tenant,
    pub role: Role,
    pub tenants: Vec<Membership>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct CreateApiKey {
    pub name: String,
    /// `read`, `write`, `admin`; `write` if absent.
    #[serde(default)]
    pub scopes: Option<Vec<Scope>>,
    #[serde(default)]
    pub expires_at: Option<DateTime<Utc>>,
}

/// The only answer that carries the key itself.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CreatedApiKey {
    #[serde(flatten)]
    pub api_key: ApiKey,
    pub key: String,
}

/// Asked by the gateway for each request with an `X-Api-Key`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Identify {
    pub api_key: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Identity {
    pub tenant_id: Uuid,
    pub actor: Actor,
}
