use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use qadra_types::{Code, Fault};

/// Failed sign-ins of late, per account and origin and per account alone. Consulted before a password is hashed.
#[derive(Default)]
pub(crate) struct Attempts {
    failures: Mutex<HashMap<String, Vec<Instant>>>,
}

const WINDOW: Duration = Duration::from_secs(15 * 60);
/// Failures from one address for one account.
const PER_ORIGIN: usize = 10;
/// Failures for one account from anywhere; higher, so that a stranger cannot easily lock a person out.
const PER_ACCOUNT: usize = 100;
/// Entries kept before the stale ones are swept out.
const SWEEP_AT: usize = 10_000;

impl Attempts {
    /// Counts a try before its password is judged, so that many at once are no more than many in turn. It stays
    /// counted unless it succeeds or is given back.
    pub(crate) fn claim(&self, email: &str, origin: &str, now: Instant) -> Result<(), Fault> {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, limit) in keys(email, origin) {
            if let Some(times) = failures.get_mut(&key) {
                times.retain(|t| now.duration_since(*t) < WINDOW);
                if times.len() >= limit {
                    let oldest = times.first().copied().unwrap_or(now);
                    let wait = WINDOW.saturating_sub(now.duration_since(oldest)).as_secs() / 60 + 1;
                    return Err(Fault::new(
                        Code::RateLimited,
                        "too many failed sign-ins for this account",
                    )
                    .hint(format!("try again in {wait} minutes")));
                }
            }
        }
        if failures.len() >= SWEEP_AT {
            failures.retain(|_, times| {
                times
                    .last()
                    .is_some_and(|t| now.duration_since(*t) < WINDOW)
            });
        }
        for (key, _) in keys(email, origin) {
            failures.entry(key).or_default().push(now);
        }
        Ok(())
    }

    /// Forgets a try that was never judged.
    pub(crate) fn give_back(&self, email: &str, origin: &str, claimed: Instant) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, _) in keys(email, origin) {
            if let Some(times) = failures.get_mut(&key)
                && let Some(i) = times.iter().position(|t| *t == claimed)
            {
                times.remove(i);
            }
        }
    }

    pub(crate) fn succeeded(&self, email: &str, origin: &str) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, _) in keys(email, origin) {
            failures.remove(&key);
        }
    }
}

fn keys(email: &str, origin: &str) -> [(String, usize); 2] {
    [
        (format!("{email}\n{origin}"), PER_ORIGIN),
        (email.to_owned(), PER_ACCOUNT),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eleventh_try_is_refused_until_the_window_has_passed() {
        let a = Attempts::default();
        let start = Instant::now();
        for _ in 0..PER_ORIGIN {
            assert!(a.claim("a@b.c", "1.2.3.4", start).is_ok());
        }
        assert_eq!(
            a.claim("a@b.c", "1.2.3.4", start).unwrap_err().code,
            Code::RateLimited
        );
        assert!(
            a.claim("a@b.c", "5.6.7.8", start).is_ok(),
            "another address is not locked out"
        );
        assert!(a.claim("a@b.c", "1.2.3.4", start + WINDOW).is_ok());
    }

    #[test]
    fn success_and_tries_that_were_not_judged_are_not_held_against_anybody() {
        let a = Attempts::default();
        let now = Instant::now();
        for _ in 0..2 * PER_ORIGIN {
            a.claim("a@b.c", "x", now).unwrap();
            a.give_back("a@b.c", "x", now);
        }
        for _ in 0..PER_ORIGIN {
            a.claim("a@b.c", "x", now).unwrap();
        }
        a.succeeded("a@b.c", "x");
        assert!(a.claim("a@b.c", "x", now).is_ok());
    }
}
