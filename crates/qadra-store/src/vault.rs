//! Values that the database keeps and cannot read.

use chacha20poly1305::aead::{Aead, Generate, Payload};
use chacha20poly1305::{Key, KeyInit, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use sha2::Sha256;
use uuid::Uuid;

/// Seals values with XChaCha20-Poly1305 under a key derived from the installation's secret, which is not in the database.
/// A sealed value is bound to its tenant, its purpose and its name: moved anywhere else it does not open.
#[derive(Clone)]
pub struct Vault(XChaCha20Poly1305);

/// The value was sealed with another secret or for another place, or is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sealed value does not open with this installation's secret")]
pub struct Unopened;

/// Of the layout `version, nonce, ciphertext with its tag`.
const VERSION: u8 = 1;
const NONCE: usize = 24;

impl Vault {
    /// `secret` is what access tokens are signed with; the key made of it is another one.
    pub fn new(secret: &[u8]) -> Self {
        let mut key = Key::default();
        // Only a key of more than 8,160 bytes cannot be expanded.
        let expanded = Hkdf::<Sha256>::new(None, secret).expand(b"qadra vault 1", &mut key);
        debug_assert!(expanded.is_ok());
        Self(XChaCha20Poly1305::new(&key))
    }

    pub fn seal(&self, tenant_id: Uuid, purpose: &str, name: &str, value: &[u8]) -> Vec<u8> {
        let nonce = XNonce::generate();
        let place = place(tenant_id, purpose, name);
        let payload = Payload {
            msg: value,
            aad: &place,
        };
        // Fails for messages of more than 256 GiB only.
        let sealed = self.0.encrypt(&nonce, payload).unwrap_or_default();
        [&[VERSION], nonce.as_slice(), &sealed].concat()
    }

    pub fn open(
        &self,
        tenant_id: Uuid,
        purpose: &str,
        name: &str,
        sealed: &[u8],
    ) -> Result<Vec<u8>, Unopened> {
        let rest = sealed.strip_prefix(&[VERSION]).ok_or(Unopened)?;
        let (nonce, msg) = rest.split_at_checked(NONCE).ok_or(Unopened)?;
        let nonce = XNonce::try_from(nonce).map_err(|_| Unopened)?;
        let place = place(tenant_id, purpose, name);
        let payload = Payload { msg, aad: &place };
        self.0.decrypt(&nonce, payload).map_err(|_| Unopened)
    }
}

/// NUL ends each part, and no part holds one.
fn place(tenant_id: Uuid, purpose: &str, name: &str) -> Vec<u8> {
    format!("{tenant_id}\0{purpose}\0{name}\0").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_in_its_place_with_its_secret_and_nowhere_else() {
        let (vault, t) = (Vault::new(&[1; 32]), Uuid::from_u128(1));
        let sealed = vault.seal(t, "secret", "key", b"value");
        assert_eq!(vault.open(t, "secret", "key", &sealed).unwrap(), b"value");
        assert_ne!(
            sealed,
            vault.seal(t, "secret", "key", b"value"),
            "a nonce is used once"
        );
        assert!(!sealed.windows(5).any(|w| w == b"value"));
        let other = Vault::new(&[2; 32]);
        assert_eq!(other.open(t, "secret", "key", &sealed), Err(Unopened));
        for (tenant, purpose, name) in [
            (Uuid::from_u128(2), "secret", "key"),
            (t, "hook", "key"),
            (t, "secret", "other"),
        ] {
            assert_eq!(vault.open(tenant, purpose, name, &sealed), Err(Unopened));
        }
        for n in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[n] ^= 1;
            assert_eq!(vault.open(t, "secret", "key", &damaged), Err(Unopened));
            assert_eq!(vault.open(t, "secret", "key", &sealed[..n]), Err(Unopened));
        }
    }
}
