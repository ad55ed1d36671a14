//! Who may act next: a bound for all attempts of the worker, and one for each tenant's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

/// Places for attempts. A tenant's attempts queue for the tenant's own places first, so that however many one tenant
/// has in line, at most `per_tenant` of them stand before another's.
pub(crate) struct Turns {
    all: Arc<Semaphore>,
    per_tenant: usize,
    tenants: Mutex<HashMap<Uuid, Arc<Semaphore>>>,
}

/// A place, until it is dropped.
pub(crate) struct Turn {
    _tenant: Option<OwnedSemaphorePermit>,
    _all: Option<OwnedSemaphorePermit>,
}

/// Tenants remembered before those without attempts are forgotten.
const REMEMBERED: usize = 1_000;

impl Turns {
    pub(crate) fn new(all: usize, per_tenant: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(all.max(1))),
            per_tenant: per_tenant.max(1),
            tenants: Mutex::default(),
        }
    }

    pub(crate) async fn take(&self, tenant_id: Uuid) -> Turn {
        let tenant = {
            let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
            if tenants.len() > REMEMBERED {
                tenants.retain(|_, s| Arc::strong_count(s) > 1);
            }
            let new = || Arc::new(Semaphore::new(self.per_tenant));
            tenants.entry(tenant_id).or_insert_with(new).clone()
        };
        // Neither is ever closed; if it were, acting without a bound would be the lesser evil.
        Turn {
            _tenant: tenant.acquire_owned().await.ok(),
            _all: self.all.clone().acquire_owned().await.ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn a_tenant_with_much_to_do_leaves_room_for_another() {
        let turns = Turns::new(3, 2);
        let (busy, calm) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let first = turns.take(busy).now_or_never();
        let second = turns.take(busy).now_or_never();
        assert!(first.is_some() && second.is_some());
        assert!(turns.take(busy).now_or_never().is_none(), "its own bound");
        let other = turns.take(calm).now_or_never();
        assert!(other.is_some());
        assert!(
            turns.take(calm).now_or_never().is_none(),
            "the bound of all"
        );
        drop(first);
        assert!(turns.take(calm).now_or_never().is_some());
    }
}
