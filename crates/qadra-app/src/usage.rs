use qadra_api::{DayUsage, LlmMeta, Meta, ModelUsage, Usage, UsageQuery};
use qadra_types::{Ctx, Fault};

use crate::App;

impl App {
    pub(crate) async fn usage_get(&self, ctx: &Ctx, r: UsageQuery) -> Result<Usage, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let t = tx.usage_totals(r.from, r.to).await?;
        Ok(Usage {
            calls: t.calls,
            prompt_tokens: t.prompt_tokens,
            completion_tokens: t.completion_tokens,
            by_model: t
                .by_model
                .into_iter()
                .map(|m| ModelUsage {
                    model: m.model,
                    calls: m.calls,
                    prompt_tokens: m.prompt_tokens,
                    completion_tokens: m.completion_tokens,
                })
                .collect(),
            by_day: t
                .by_day
                .into_iter()
                .map(|d| DayUsage {
                    day: d.day,
                    calls: d.calls,
                    prompt_tokens: d.prompt_tokens,
                    completion_tokens: d.completion_tokens,
                })
                .collect(),
        })
    }

    pub(crate) async fn meta(&self) -> Result<Meta, Fault> {
        Ok(Meta {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            llm: LlmMeta {
                provider: self.llm.name().to_owned(),
                model: self.llm.model().to_owned(),
            },
        })
    }
}
