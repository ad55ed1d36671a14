use qadra_api::{Items, ListMessages, Order, RateMessage};
use qadra_store::Page;
use qadra_types::{Ctx, Fault, Message};

use crate::conversations::{own, readable};
use crate::{App, input};

impl App {
    /// A page of the active branch. Positions are dense, so the page is an index range and the total is known.
    pub(crate) async fn message_list(
        &self,
        ctx: &Ctx,
        r: ListMessages,
    ) -> Result<Items<Message>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let mut tx = self.store.tenant(ctx).await?;
        let conversation = readable(&mut tx, ctx, r.conversation_id).await?;
        let total = i64::from(conversation.message_count);
        let (first, last) = match r.order {
            Order::Asc => (offset + 1, offset + limit),
            Order::Desc => (total - offset - limit + 1, total - offset),
        };
        let clamp = |n: i64| i32::try_from(n.clamp(0, i64::from(i32::MAX))).unwrap_or(i32::MAX);
        let page = Page {
            first: clamp(first),
            last: clamp(last),
            newest_first: r.order == Order::Desc,
        };
        let items = tx
            .message_page(conversation.active_branch_id, &page)
            .await?;
        tx.commit().await?;
        Ok(input::items((items, total), limit, offset))
    }

    pub(crate) async fn message_rate(&self, ctx: &Ctx, r: RateMessage) -> Result<Message, Fault> {
        let rating = match r.rating {
            None => None,
            Some(1) => Some(1),
            Some(-1) => Some(-1),
            Some(other) => {
                return Err(Fault::invalid(format!(
                    "rating is {other}, not 1, -1 or null"
                )));
            }
        };
        let mut tx = self.store.tenant(ctx).await?;
        own(&mut tx, ctx, r.conversation_id).await?;
        let message = tx
            .message_get(r.conversation_id, r.message_id)
            .await?
            .ok_or_else(|| Fault::not_found("message in this conversation"))?;
        if !tx
            .message_rate(r.conversation_id, r.message_id, rating)
            .await?
        {
            return Err(Fault::invalid("only an agent's message can be rated"));
        }
        tx.commit().await?;
        Ok(Message { rating, ..message })
    }
}
