use chrono::{DateTime, NaiveDate, Utc};
use serde_json::Value;
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::{Result, TenantTx};

/// One model call of a turn.
#[derive(Debug, Clone)]
pub struct UsageRecord {
    pub user_id: Uuid,
    pub agent_id: Uuid,
    pub model: String,
    pub tokens_in: i32,
    pub tokens_out: i32,
    pub operation: &'static str,
    pub metadata: Value,
}

pub struct UsageTotals {
    pub calls: i64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
    pub by_model: Vec<ModelUsage>,
    pub by_day: Vec<DayUsage>,
}

pub struct ModelUsage {
    pub model: Option<String>,
    pub calls: i64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
}

pub struct DayUsage {
    pub day: NaiveDate,
    pub calls: i64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
}

impl TenantTx {
    /// Sums over the tenant's usage in a span of time, by model and by UTC day.
    pub async fn usage_totals(
        &mut self,
        from: Option<DateTime<Utc>>,
        to: Option<DateTime<Utc>>,
    ) -> Result<UsageTotals> {
        let rows: Vec<(Option<String>, NaiveDate, i64, i64, i64)> = sqlx::query(
            "SELECT model, (created_at AT TIME ZONE 'UTC')::date, count(*) FILTER (WHERE operation_type = 'llm_call'), sum(tokens_in)::bigint, sum(tokens_out)::bigint
             FROM usage_records
             WHERE tenant_id = $1 AND ($2::timestamptz IS NULL OR created_at >= $2) AND ($3::timestamptz IS NULL OR created_at < $3)
             GROUP BY 1, 2 ORDER BY 2, 1",
        )
        .bind(self.tenant_id)
        .bind(from)
        .bind(to)
        .try_map(|r: PgRow| Ok((r.try_get(0)?, r.try_get(1)?, r.try_get(2)?, r.try_get(3)?, r.try_get(4)?)))
        .fetch_all(self.conn())
        .await?;
        let mut t = UsageTotals {
            calls: 0,
            prompt_tokens: 0,
            completion_tokens: 0,
            by_model: vec![],
            by_day: vec![],
        };
        for (model, day, calls, prompt_tokens, completion_tokens) in rows {
            t.calls += calls;
            t.prompt_tokens += prompt_tokens;
            t.completion_tokens += completion_tokens;
            match t.by_day.last_mut().filter(|d| d.day == day) {
                Some(d) => {
                    d.calls += calls;
                    d.prompt_tokens += prompt_tokens;
                    d.completion_tokens += completion_tokens;
                }
                None => t.by_day.push(DayUsage {
                    day,
                    calls,
                    prompt_tokens,
                    completion_tokens,
                }),
            }
            match t.by_model.iter_mut().find(|m| m.model == model) {
                Some(m) => {
                    m.calls += calls;
                    m.prompt_tokens += prompt_tokens;
                    m.completion_tokens += completion_tokens;
                }
                None => t.by_model.push(ModelUsage {
                    model,
                    calls,
                    prompt_tokens,
                    completion_tokens,
                }),
            }
        }
        Ok(t)
    }
}
