use std::time::Duration;

use chrono::Utc;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use qadra_store::Vault;
use qadra_types::{Actor, Code, Fault, Role, new_id};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The secret that signs access tokens (HS256), shared by core and gateway.
#[derive(Clone)]
pub struct TokenKey {
    encode: EncodingKey,
    decode: DecodingKey,
    validation: Validation,
    vault: Vault,
}

/// What an access token says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    pub iss: String,
    /// The user.
    pub sub: Uuid,
    pub tid: Uuid,
    pub role: Role,
    /// Super admin; absent when false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sa: bool,
    pub iat: i64,
    pub exp: i64,
    pub jti: Uuid,
}

const ISSUER: &str = "qadra";

impl TokenKey {
    /// `secret` should have 32 random bytes or more.
    ///
    /// # Errors
    /// When the secret is too short for HS256.
    pub fn new(secret: &[u8]) -> Result<Self, Fault> {
        // The algorithm is fixed here, not read from the token, so `none` and key confusion cannot happen.
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_issuer(&[ISSUER]);
        validation.set_required_spec_claims(&["exp", "iss", "sub"]);
        validation.leeway = 0;
        // A token is expired in the second that it names, not only after it (RFC 7519, 4.1.4).
        validation.reject_tokens_expiring_in_less_than = 1;
        let unusable = |e: jsonwebtoken::errors::Error| {
            Fault::new(
                Code::Validation,
                format!("the token secret cannot be used: {e}"),
            )
            .hint("give it 32 bytes or more")
        };
        if secret.len() < 32 {
            return Err(Fault::new(
                Code::Validation,
                "the token secret has fewer than 32 bytes",
            ));
        }
        Ok(Self {
            encode: EncodingKey::from_secret(secret).map_err(unusable)?,
            decode: DecodingKey::from_secret(secret).map_err(unusable)?,
            validation,
            vault: Vault::new(secret),
        })
    }

    /// Seals what the database may keep and not read, under a key of its own made of the same secret.
    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    pub(crate) fn issue(
        &self,
        user_id: Uuid,
        tenant_id: Uuid,
        role: Role,
        sa: bool,
        ttl: Duration,
    ) -> Result<String, Fault> {
        let iat = Utc::now().timestamp();
        let claims = Claims {
            iss: ISSUER.to_owned(),
            sub: user_id,
            tid: tenant_id,
            role,
            sa,
            iat,
            exp: iat + i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX / 2),
            jti: new_id(),
        };
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &self.encode).map_err(|e| {
            tracing::error!(error = %e, "an access token could not be signed");
            Fault::new(Code::Internal, "the session could not be opened")
        })
    }

    /// Checks signature, algorithm, issuer and expiry.
    ///
    /// # Errors
    /// `TOKEN_EXPIRED` when everything but the time is right, else `TOKEN_INVALID`.
    pub fn verify(&self, token: &str) -> Result<Claims, Fault> {
        jsonwebtoken::decode::<Claims>(token, &self.decode, &self.validation)
            .map(|t| t.claims)
            .map_err(|e| match e.kind() {
                jsonwebtoken::errors::ErrorKind::ExpiredSignature => {
                    Fault::new(Code::TokenExpired, "the access token has expired")
                        .hint("POST /api/auth/refresh with the refresh token gives a new one")
                }
                _ => Fault::new(Code::TokenInvalid, "the access token is not one of ours"),
            })
    }
}

impl Claims {
    pub fn actor(&self) -> Actor {
        Actor {
            user_id: self.sub,
            role: self.role,
            scopes: None,
        }
    }
}

/// 32 random bytes as text, with a prefix that tells people (and secret scanners) what it is.
pub(crate) fn random_secret(prefix: &str) -> String {
    let bytes: [u8; 32] = rand::rng().random();
    let mut s = String::with_capacity(prefix.len() + 64);
    s.push_str(prefix);
    for b in bytes {
        s.push_str(&format!("{b:02x}"));
    }
    s
}

/// SHA-256: enough for secrets of 256 random bits, which cannot be guessed from their hash.
pub(crate) fn secret_hash(secret: &str) -> Vec<u8> {
    Sha256::digest(secret.as_bytes()).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> TokenKey {
        TokenKey::new(b"0123456789abcdef0123456789abcdef").unwrap()
    }

    fn issue(ttl: u64) -> String {
        key()
            .issue(
                Uuid::from_u128(1),
                Uuid::from_u128(2),
                Role::Admin,
                false,
                Duration::from_secs(ttl),
            )
            .unwrap()
    }

    #[test]
    fn a_token_says_who_it_was_issued_to() {
        let claims = key().verify(&issue(60)).unwrap();
        assert_eq!(
            (claims.sub, claims.tid, claims.role),
            (Uuid::from_u128(1), Uuid::from_u128(2), Role::Admin)
        );
    }

    #[test]
    fn forged_expired_and_unsigned_tokens_are_told_apart_and_refused() {
        let code = |t: &str| key().verify(t).unwrap_err().code;
        let good = issue(60);
        assert_eq!(code(&issue(0)), Code::TokenExpired);
        let other = TokenKey::new(b"another secret another secret 32")
            .unwrap()
            .issue(
                Uuid::from_u128(1),
                Uuid::from_u128(2),
                Role::Owner,
                true,
                Duration::from_secs(60),
            )
            .unwrap();
        assert_eq!(code(&other), Code::TokenInvalid);
        // {"alg":"none","typ":"JWT"} with the same claims and no signature.
        let claims = good.split('.').nth(1).unwrap();
        assert_eq!(
            code(&format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{claims}.")),
            Code::TokenInvalid
        );
        // HS384 with the right secret: the algorithm is fixed.
        let hs384 = jsonwebtoken::encode(
            &Header::new(Algorithm::HS384),
            &key().verify(&good).unwrap(),
            &EncodingKey::from_secret(b"0123456789abcdef0123456789abcdef").unwrap(),
        )
        .unwrap();
        assert_eq!(code(&hs384), Code::TokenInvalid);
        for t in ["", ".", "..", "a.b.c", &good[..good.len() - 2]] {
            assert_eq!(code(t), Code::TokenInvalid, "{t}");
        }
    }
}
