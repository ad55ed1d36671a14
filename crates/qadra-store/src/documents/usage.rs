use crate::{Result, TenantTx, UsageRecord};

impl TenantTx {
    /// Records what models were asked outside any conversation.
    pub async fn usage_add(&mut self, records: &[UsageRecord]) -> Result<()> {
        for u in records {
            sqlx::query(
                "INSERT INTO usage_records (tenant_id, id, user_id, model, tokens_in, tokens_out, operation_type, metadata)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            )
            .bind(self.tenant_id)
            .bind(qadra_types::new_id())
            .bind(u.user_id)
            .bind(&u.model)
            .bind(u.tokens_in)
            .bind(u.tokens_out)
            .bind(u.operation)
            .bind(&u.metadata)
            .execute(self.conn())
            .await?;
        }
        Ok(())
    }
}
