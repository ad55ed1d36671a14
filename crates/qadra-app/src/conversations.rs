use qadra_api::{
    ById, CreateConversation, Items, ListConversations, MessageRef, UpdateConversation,
};
use qadra_store::{ConversationChange, ListFilter, TenantTx};
use qadra_types::{Code, Conversation, ConversationSummary, Ctx, Fault};
use serde_json::json;
use uuid::Uuid;

use crate::{App, input};

const MAX_TITLE: usize = 200;

impl App {
    pub(crate) async fn conversation_create(
        &self,
        ctx: &Ctx,
        r: CreateConversation,
    ) -> Result<Conversation, Fault> {
        let title = input::optional("title", r.title, MAX_TITLE)?;
        let mut tx = self.store.tenant(ctx).await?;
        let conversation = tx
            .conversation_create(ctx.actor.user_id, title.as_deref())
            .await?;
        tx.commit().await?;
        Ok(conversation)
    }

    pub(crate) async fn conversation_list(
        &self,
        ctx: &Ctx,
        r: ListConversations,
    ) -> Result<Items<ConversationSummary>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let words = input::optional("q", r.q, 500)?;
        let mut tx = self.store.tenant(ctx).await?;
        let found = tx
            .conversation_list(&ListFilter {
                user_id: ctx.actor.user_id,
                shared_by_others: r.shared.unwrap_or(false),
                archived: r.archived,
                words: words.as_deref(),
                limit,
                offset,
            })
            .await?;
        Ok(input::items(found, limit, offset))
    }

    pub(crate) async fn conversation_get(&self, ctx: &Ctx, r: ById) -> Result<Conversation, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let conversation = readable(&mut tx, ctx, r.id).await?;
        tx.commit().await?;
        Ok(conversation)
    }

    pub(crate) async fn conversation_update(
        &self,
        ctx: &Ctx,
        r: UpdateConversation,
    ) -> Result<Conversation, Fault> {
        let title = match r.title {
            Some(Some(title)) => Some(Some(input::text("title", &title, MAX_TITLE)?)),
            other => other,
        };
        let change = ConversationChange {
            title,
            is_archived: r.is_archived.map(|v| v.unwrap_or(false)),
            is_shared: r.is_shared.map(|v| v.unwrap_or(false)),
        };
        let mut tx = self.store.tenant(ctx).await?;
        own(&mut tx, ctx, r.id).await?;
        let updated = tx
            .conversation_update(r.id, &change)
            .await?
            .ok_or_else(missing)?;
        tx.commit().await?;
        Ok(updated)
    }

    /// Hides the thread. An answer that is still being written is stopped.
    pub(crate) async fn conversation_delete(&self, ctx: &Ctx, r: ById) -> Result<(), Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let conversation = own(&mut tx, ctx, r.id).await?;
        tx.conversation_delete(r.id).await?;
        tx.commit().await?;
        if let Some(turn_id) = conversation.running_turn_id {
            self.turn_stop(ctx, r.id, turn_id).await?;
        }
        Ok(())
    }

    pub(crate) async fn conversation_restore(
        &self,
        ctx: &Ctx,
        r: ById,
    ) -> Result<Conversation, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let restored = tx
            .conversation_restore(r.id, ctx.actor.user_id)
            .await?
            .ok_or_else(missing)?;
        tx.commit().await?;
        Ok(restored)
    }

    pub(crate) async fn branch_select(
        &self,
        ctx: &Ctx,
        r: MessageRef,
    ) -> Result<Conversation, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let conversation = own(&mut tx, ctx, r.conversation_id).await?;
        if conversation.running_turn_id.is_some() {
            return Err(busy());
        }
        let selected = tx
            .branch_select(r.conversation_id, r.message_id)
            .await?
            .ok_or_else(|| Fault::not_found("message in this conversation"))?;
        tx.commit().await?;
        Ok(selected)
    }
}

/// A conversation that the caller may read: their own, one shared with the tenant, or (for owners and admins,
/// and then on record) anybody's. The caller commits the transaction.
pub(crate) async fn readable(
    tx: &mut TenantTx,
    ctx: &Ctx,
    id: Uuid,
) -> Result<Conversation, Fault> {
    let conversation = tx.conversation_get(id).await?.ok_or_else(missing)?;
    if conversation.user_id == ctx.actor.user_id || conversation.is_shared {
        return Ok(conversation);
    }
    if !input::is_admin(ctx) {
        return Err(missing());
    }
    tx.audit(
        ctx.actor.user_id,
        "conversation.read",
        "conversation",
        Some(id),
        &json!({"request_id": ctx.request_id}),
    )
    .await?;
    Ok(conversation)
}

/// A conversation that the caller may write to: their own. Others that they can see answer 403, the rest 404.
pub(crate) async fn own(tx: &mut TenantTx, ctx: &Ctx, id: Uuid) -> Result<Conversation, Fault> {
    let conversation = tx.conversation_get(id).await?.ok_or_else(missing)?;
    writable(ctx, &conversation)?;
    Ok(conversation)
}

pub(crate) fn writable(ctx: &Ctx, conversation: &Conversation) -> Result<(), Fault> {
    if conversation.user_id == ctx.actor.user_id {
        Ok(())
    } else if conversation.is_shared || input::is_admin(ctx) {
        Err(input::forbidden(
            "the conversation belongs to another person and can only be read",
        ))
    } else {
        Err(missing())
    }
}

pub(crate) fn missing() -> Fault {
    Fault::not_found("conversation")
}

pub(crate) fn busy() -> Fault {
    Fault::new(
        Code::ConversationBusy,
        "an answer is still being written in this conversation",
    )
    .hint("wait for it, or stop it with POST …/turns/{turn_id}/cancel")
}
