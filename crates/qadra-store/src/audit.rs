use serde_json::Value;
use uuid::Uuid;

use crate::{Result, TenantTx};

impl TenantTx {
    /// Records that `actor_id` did `action` (such as `conversation.read`) to an object of the tenant.
    pub async fn audit(
        &mut self,
        actor_id: Uuid,
        action: &str,
        object_type: &str,
        object_id: Option<Uuid>,
        detail: &Value,
    ) -> Result<()> {
        sqlx::query(
            "INSERT INTO audit_log (tenant_id, id, actor_id, action, object_type, object_id, detail)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(self.tenant_id)
        .bind(qadra_types::new_id())
        .bind(actor_id)
        .bind(action)
        .bind(object_type)
        .bind(object_id)
        .bind(detail)
        .execute(self.conn())
        .await?;
        Ok(())
    }
}
