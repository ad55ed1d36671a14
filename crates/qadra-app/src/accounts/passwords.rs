use std::sync::Arc;

use argon2::password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash};
use argon2::{Algorithm, Argon2, Params, Version};
use qadra_types::{Code, Fault};
use tokio::sync::Semaphore;

/// Argon2id at 19 MiB, 2 passes, 1 lane (the OWASP minimum): about 50–110 ms of a core.
///
/// Hashing runs off the async threads, at most as many at once as half the cores, with a short queue:
/// a flood of sign-ins is refused rather than allowed to take the machine.
pub(crate) struct Passwords {
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    /// Checked against when there is no such account, so that both cases take the same time.
    decoy: String,
}

const QUEUE: usize = 64;

impl Passwords {
    pub(crate) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            running: Arc::new(Semaphore::new((cores / 2).max(1))),
            waiting: Arc::new(Semaphore::new(QUEUE)),
            decoy: hash("no account has this password").unwrap_or_default(),
        }
    }

    pub(crate) async fn hash(&self, password: String) -> Result<String, Fault> {
        self.run(move || hash(&password)).await?
    }

    /// Compares with the stored hash, or with the decoy's (and then false).
    pub(crate) async fn verify(
        &self,
        password: String,
        stored: Option<String>,
    ) -> Result<bool, Fault> {
        let known = stored.is_some();
        let stored = stored.unwrap_or_else(|| self.decoy.clone());
        let same = self
            .run(move || {
                PasswordHash::new(&stored).is_ok_and(|stored| {
                    argon2()
                        .verify_password(password.as_bytes(), &stored)
                        .is_ok()
                })
            })
            .await?;
        Ok(known && same)
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let busy = || {
            Fault::new(
                Code::RateLimited,
                "too many sign-ins are being checked at once",
            )
            .hint("try again in a few seconds")
        };
        let _waiting = self
            .waiting
            .clone()
            .try_acquire_owned()
            .map_err(|_| busy())?;
        let permit = self
            .running
            .clone()
            .acquire_owned()
            .await
            .map_err(|_| busy())?;
        tokio::task::spawn_blocking(move || {
            let out = work();
            drop(permit);
            out
        })
        .await
        .map_err(|_| Fault::new(Code::Internal, "the password could not be checked"))
    }
}

fn argon2() -> Argon2<'static> {
    Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::default())
}

fn hash(password: &str) -> Result<String, Fault> {
    argon2()
        .hash_password(password.as_bytes())
        .map(|h| h.to_string())
        .map_err(|e| {
            tracing::error!(error = %e, "a password could not be hashed");
            Fault::new(Code::Internal, "the password could not be stored")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_of_a_known_account_passes() {
        let p = Passwords::new();
        let stored = p.hash("correct horse".into()).await.unwrap();
        assert!(
            stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{stored}"
        );
        assert!(
            p.verify("correct horse".into(), Some(stored.clone()))
                .await
                .unwrap()
        );
        assert!(
            !p.verify("battery staple".into(), Some(stored))
                .await
                .unwrap()
        );
        assert!(
            !p.verify("no account has this password".into(), None)
                .await
                .unwrap()
        );
        assert!(
            !p.verify("x".into(), Some("not a hash".into()))
                .await
                .unwrap()
        );
    }
}
