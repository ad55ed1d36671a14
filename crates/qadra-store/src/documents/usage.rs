use crate::{Result, TenantTx, UsageRecord};

impl TenantTx {
    /// Records what models were asked outside any conversation.
    pub async fn usage_add(&mut self, records: &[UsageRecord]) -> Result<()> {
        for u in records {
            sqlx::query(
                // A record without a person or an agent has the nil id there.
                "INSERT INTO usage_records (tenant_id, id, user_id, agent_id, model, tokens_in, tokens_out, operation_type, metadata)
                 VALUES ($1, $2, NULLIF($3, '00000000-0000-0000-0000-000000000000'::uuid), NULLIF($4, '00000000-0000-0000-0000-000000000000'::uuid), $5, $6, $7, $8, $9)",
            )
            .bind(self.tenant_id)
            .bind(qadra_types::new_id())
            .bind(u.user_id)
            .bind(u.agent_id)
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
