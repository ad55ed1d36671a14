use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use qadra_api::{Identify, Identity};
use qadra_types::{Actor, Code, Fault};
use uuid::Uuid;

use crate::Gateway;
use crate::call::Target;

/// A caller whose credential holds.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) tenant_id: Uuid,
    pub(crate) actor: Actor,
}

const API_KEY: &str = "x-api-key";

impl Gateway {
    /// Who a request comes from: a bearer token is checked here, an API key is asked of the core.
    pub(crate) async fn authenticate(
        &self,
        headers: &HeaderMap,
        request_id: Uuid,
    ) -> Result<Caller, Fault> {
        if let Some(value) = headers.get(AUTHORIZATION) {
            let token = value.to_str().ok().and_then(|v| {
                let (scheme, token) = v.split_once(' ')?;
                scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
            });
            let token = token.ok_or_else(|| {
                Fault::new(
                    Code::Unauthenticated,
                    "the Authorization header is not `Bearer <token>`",
                )
            })?;
            let claims = self.token_key.verify(token)?;
            return Ok(Caller {
                tenant_id: claims.tid,
                actor: claims.actor(),
            });
        }
        if let Some(value) = headers.get(API_KEY) {
            let api_key = value
                .to_str()
                .map_err(|_| {
                    Fault::new(
                        Code::TokenInvalid,
                        "the API key has characters that no key has",
                    )
                })?
                .to_owned();
            let found: Identity = self
                .call(
                    Target::Platform("auth", "identify"),
                    None,
                    request_id,
                    "",
                    &Identify { api_key },
                )
                .await?;
            return Ok(Caller {
                tenant_id: found.tenant_id,
                actor: found.actor,
            });
        }
        Err(Fault::new(
            Code::Unauthenticated,
            "the request carries neither a bearer token nor an API key",
        )
        .hint("sign in with POST /api/auth/login, or send X-Api-Key"))
    }
}
