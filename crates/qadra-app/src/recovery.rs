//! Turns whose process has died: found by the advisory lock that died with it, failed, and their threads freed.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::App;
use crate::turns::interrupted;

const EVERY: Duration = Duration::from_secs(10);

impl App {
    /// Closes the turns of dead processes now. Trouble is logged: the next round tries again.
    pub async fn recover_turns(&self) {
        let done = async {
            let mut tx = self.store.system().await?;
            let recovered = tx
                .turn_recover(self.owner_lock, &self.registry.ids(), &interrupted())
                .await?;
            tx.commit().await?;
            Ok::<_, qadra_store::StoreError>(recovered)
        };
        match done.await {
            Ok(0) => {}
            Ok(n) => tracing::info!(
                turns = n,
                "closed turns that a stopped process left running"
            ),
            Err(e) => {
                tracing::warn!(error = %e, "turns of stopped processes could not be looked for")
            }
        }
    }

    /// Keeps house until stopped: orphaned turns every ten seconds, expired memories every five minutes,
    /// expired refresh tokens every hour.
    pub async fn housekeeping(self: Arc<Self>, stop: CancellationToken) {
        let mut round = 0u64;
        loop {
            self.recover_turns().await;
            if round.is_multiple_of(360)
                && let Err(e) = self.sweep_tokens().await
            {
                tracing::warn!(error = %e, "expired refresh tokens could not be swept");
            }
            if round.is_multiple_of(30)
                && let Err(e) = self.sweep_memories().await
            {
                tracing::warn!(error = %e, "expired memories could not be swept");
            }
            round += 1;
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    async fn sweep_tokens(&self) -> Result<(), qadra_store::StoreError> {
        let mut tx = self.store.auth().await?;
        tx.refresh_token_sweep().await?;
        tx.commit().await
    }
}
