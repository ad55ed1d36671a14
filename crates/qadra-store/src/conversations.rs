use qadra_types::{Conversation, ConversationSummary, SearchMatch};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use crate::{Result, TenantTx};

/// Columns of a conversation in the order [`conversation`] reads them, for the alias `c`.
pub(crate) const COLUMNS: &str = "c.id, c.user_id, c.title, c.is_archived, c.is_shared, c.active_branch_id, \
     c.message_count, c.running_turn_id, c.created_at, c.updated_at";

/// Whose conversations to list, and which.
pub struct ListFilter<'a> {
    pub user_id: Uuid,
    /// Those that others shared with the tenant, instead of the user's own.
    pub shared_by_others: bool,
    pub archived: Option<bool>,
    /// Words looked for in titles and messages.
    pub words: Option<&'a str>,
    pub limit: i64,
    pub offset: i64,
}

/// `None` leaves a field as it is.
#[derive(Default)]
pub struct ConversationChange {
    pub title: Option<Option<String>>,
    pub is_archived: Option<bool>,
    pub is_shared: Option<bool>,
}

impl TenantTx {
    /// An empty thread with its first branch.
    pub async fn conversation_create(
        &mut self,
        user_id: Uuid,
        title: Option<&str>,
    ) -> Result<Conversation> {
        let (id, branch_id) = (qadra_types::new_id(), qadra_types::new_id());
        // The inserts of one statement's CTEs are checked for references together, at its end.
        let sql = format!(
            "WITH c AS (
                INSERT INTO conversations (tenant_id, id, user_id, title, active_branch_id)
                VALUES ($1, $2, $3, $4, $5) RETURNING *
             ), b AS (
                INSERT INTO conversation_branches (tenant_id, id, conversation_id) VALUES ($1, $5, $2)
             )
             SELECT {COLUMNS} FROM c"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .bind(user_id)
            .bind(title)
            .bind(branch_id)
            .try_map(|r: PgRow| conversation(&r, 0))
            .fetch_one(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Any conversation of the tenant that is not deleted; who may see it is the caller's question.
    pub async fn conversation_get(&mut self, id: Uuid) -> Result<Option<Conversation>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM conversations c WHERE c.tenant_id = $1 AND c.id = $2 AND c.deleted_at IS NULL"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .try_map(|r: PgRow| conversation(&r, 0))
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Newest activity first, with the number of all that match.
    pub async fn conversation_list(
        &mut self,
        f: &ListFilter<'_>,
    ) -> Result<(Vec<ConversationSummary>, i64)> {
        let whose = if f.shared_by_others {
            "c.is_shared AND c.user_id <> $2"
        } else {
            "c.user_id = $2"
        };
        let (join, found, snippet) = match f.words {
            Some(_) => (
                "LEFT JOIN search_messages($4, $2) s ON s.conversation_id = c.id",
                "(s.conversation_id IS NOT NULL OR c.title ILIKE '%' || replace(replace(replace($4, '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%')",
                "s.message_id, s.snippet",
            ),
            None => ("", "$4::text IS NULL", "NULL::uuid, NULL::text"),
        };
        let matching = format!(
            "FROM conversations c {join}
             WHERE c.tenant_id = $1 AND c.deleted_at IS NULL AND {whose}
               AND ($3::boolean IS NULL OR c.is_archived = $3) AND {found}"
        );
        let total = sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) {matching}")))
            .bind(self.tenant_id)
            .bind(f.user_id)
            .bind(f.archived)
            .bind(f.words)
            .fetch_one(self.conn())
            .await?;
        let sql = format!(
            "SELECT c.id, c.user_id, c.title, c.is_archived, c.is_shared, c.created_at, c.updated_at, c.message_count,
                    c.last_message_preview, c.last_agent_id, c.running_turn_id, {snippet}
             {matching} ORDER BY c.updated_at DESC, c.id DESC LIMIT $5 OFFSET $6"
        );
        let items = sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(f.user_id)
            .bind(f.archived)
            .bind(f.words)
            .bind(f.limit)
            .bind(f.offset)
            .try_map(summary)
            .fetch_all(self.conn())
            .await?;
        Ok((items, total))
    }

    pub async fn conversation_update(
        &mut self,
        id: Uuid,
        change: &ConversationChange,
    ) -> Result<Option<Conversation>> {
        let sql = format!(
            "UPDATE conversations c SET title = CASE WHEN $3 THEN $4 ELSE c.title END,
                    is_archived = coalesce($5, c.is_archived), is_shared = coalesce($6, c.is_shared)
             WHERE c.tenant_id = $1 AND c.id = $2 AND c.deleted_at IS NULL RETURNING {COLUMNS}"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .bind(change.title.is_some())
            .bind(change.title.clone().flatten())
            .bind(change.is_archived)
            .bind(change.is_shared)
            .try_map(|r: PgRow| conversation(&r, 0))
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Hides the thread everywhere; its rows stay.
    pub async fn conversation_delete(&mut self, id: Uuid) -> Result<bool> {
        let done = sqlx::query(
            "UPDATE conversations SET deleted_at = now() WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL",
        )
        .bind(self.tenant_id)
        .bind(id)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Brings a deleted thread of that user back.
    pub async fn conversation_restore(
        &mut self,
        id: Uuid,
        user_id: Uuid,
    ) -> Result<Option<Conversation>> {
        let sql = format!(
            "UPDATE conversations c SET deleted_at = NULL
             WHERE c.tenant_id = $1 AND c.id = $2 AND c.user_id = $3 AND c.deleted_at IS NOT NULL RETURNING {COLUMNS}"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .bind(user_id)
            .try_map(|r: PgRow| conversation(&r, 0))
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Makes the branch on which `message_id` was written the one that lists show.
    pub async fn branch_select(
        &mut self,
        conversation_id: Uuid,
        message_id: Uuid,
    ) -> Result<Option<Conversation>> {
        let sql = format!(
            "UPDATE conversations c SET active_branch_id = b.id, message_count = b.head_position
             FROM conversation_messages m JOIN conversation_branches b ON b.tenant_id = m.tenant_id AND b.id = m.branch_id
             WHERE c.tenant_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
               AND m.tenant_id = $1 AND m.id = $3 AND m.conversation_id = c.id
             RETURNING {COLUMNS}"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(conversation_id)
            .bind(message_id)
            .try_map(|r: PgRow| conversation(&r, 0))
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }
}

/// Reads a conversation from a row whose [`COLUMNS`] start at `at`.
pub(crate) fn conversation(r: &PgRow, at: usize) -> sqlx::Result<Conversation> {
    Ok(Conversation {
        id: r.try_get(at)?,
        user_id: r.try_get(at + 1)?,
        title: r.try_get(at + 2)?,
        is_archived: r.try_get(at + 3)?,
        is_shared: r.try_get(at + 4)?,
        active_branch_id: r.try_get(at + 5)?,
        message_count: r.try_get(at + 6)?,
        running_turn_id: r.try_get(at + 7)?,
        created_at: r.try_get(at + 8)?,
        updated_at: r.try_get(at + 9)?,
    })
}

fn summary(r: PgRow) -> sqlx::Result<ConversationSummary> {
    let found = match r.try_get::<Option<Uuid>, _>(11)? {
        Some(message_id) => Some(SearchMatch {
            message_id,
            snippet: r.try_get(12)?,
        }),
        None => None,
    };
    Ok(ConversationSummary {
        id: r.try_get(0)?,
        user_id: r.try_get(1)?,
        title: r.try_get(2)?,
        is_archived: r.try_get(3)?,
        is_shared: r.try_get(4)?,
        created_at: r.try_get(5)?,
        updated_at: r.try_get(6)?,
        message_count: r.try_get(7)?,
        last_message_preview: r.try_get(8)?,
        last_agent_id: r.try_get(9)?,
        running_turn_id: r.try_get(10)?,
        found,
    })
}
