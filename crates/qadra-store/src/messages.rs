use chrono::{DateTime, Utc};
use qadra_types::{Message, MessageRole};
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use crate::accounts::word;
use crate::{Result, TenantTx};

/// Columns of a message in the order [`message`] reads them, for the alias `m`. The siblings come from two
/// index look-ups, of which one is empty, because `IS NOT DISTINCT FROM` cannot use an index.
const COLUMNS: &str = "m.id, m.conversation_id, m.parent_id, m.branch_id, m.position, m.role, m.content, m.agent_id, \
     m.agent_version, m.model, m.token_count, m.prompt_tokens, m.completion_tokens, m.latency_ms, m.finish_reason, \
     m.rating, m.flow_execution_id, m.metadata, m.created_at, \
     ARRAY(SELECT s.id FROM ( \
         SELECT a.id FROM conversation_messages a WHERE a.tenant_id = m.tenant_id \
            AND a.conversation_id = m.conversation_id AND a.parent_id = m.parent_id \
         UNION ALL \
         SELECT a.id FROM conversation_messages a WHERE a.tenant_id = m.tenant_id AND m.parent_id IS NULL \
            AND a.conversation_id = m.conversation_id AND a.parent_id IS NULL) s ORDER BY s.id)";

/// Which part of the active branch to read: positions are 1-based and inclusive.
pub struct Page {
    pub first: i32,
    pub last: i32,
    pub newest_first: bool,
}

/// What a model is told of an earlier message.
pub struct HistoryMessage {
    pub id: Uuid,
    pub role: MessageRole,
    pub content: String,
    pub agent_id: Option<Uuid>,
}

/// A rated answer with what led to it, for training.
pub struct RatedExchange {
    pub conversation_id: Uuid,
    pub message_id: Uuid,
    pub branch_id: Uuid,
    pub position: i32,
    pub rating: i16,
    pub model: Option<String>,
    pub agent_id: Option<Uuid>,
    pub agent_version: Option<i32>,
    pub system_prompt: Option<String>,
    /// `metadata.grounding` of the answer.
    pub grounding: Option<Value>,
    pub created_at: DateTime<Utc>,
}

impl TenantTx {
    /// Messages of a branch's path between two positions: one index range for each branch it runs through.
    pub async fn message_page(&mut self, branch_id: Uuid, page: &Page) -> Result<Vec<Message>> {
        let order = if page.newest_first { "DESC" } else { "ASC" };
        let sql = format!("SELECT {COLUMNS} {PATH} ORDER BY m.position {order}");
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(branch_id)
            .bind(page.first)
            .bind(page.last)
            .try_map(message)
            .fetch_all(self.conn())
            .await
            .map_err(Into::into)
    }

    /// The same path, in order, without what only people look at.
    pub async fn message_history(
        &mut self,
        branch_id: Uuid,
        first: i32,
        last: i32,
    ) -> Result<Vec<HistoryMessage>> {
        let sql = format!("SELECT m.id, m.role, m.content, m.agent_id {PATH} ORDER BY m.position");
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(branch_id)
            .bind(first)
            .bind(last)
            .try_map(|r: PgRow| {
                Ok(HistoryMessage {
                    id: r.try_get(0)?,
                    role: word(&r, 1)?,
                    content: r.try_get(2)?,
                    agent_id: r.try_get(3)?,
                })
            })
            .fetch_all(self.conn())
            .await
            .map_err(Into::into)
    }

    /// A message of that conversation, on whatever branch.
    pub async fn message_get(
        &mut self,
        conversation_id: Uuid,
        id: Uuid,
    ) -> Result<Option<Message>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM conversation_messages m WHERE m.tenant_id = $1 AND m.id = $2"
        );
        let found = sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .try_map(message)
            .fetch_optional(self.conn())
            .await?;
        // Not asked of PostgreSQL: before it has statistics it may look the conversation up and read all of it.
        Ok(found.filter(|m| m.conversation_id == conversation_id))
    }

    /// Sets or clears the rating of an assistant message; false when there is no such message.
    pub async fn message_rate(
        &mut self,
        conversation_id: Uuid,
        id: Uuid,
        rating: Option<i16>,
    ) -> Result<bool> {
        let done = sqlx::query(
            "UPDATE conversation_messages SET rating = $4
             WHERE tenant_id = $1 AND conversation_id = $2 AND id = $3 AND role = 'assistant'",
        )
        .bind(self.tenant_id)
        .bind(conversation_id)
        .bind(id)
        .bind(rating)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Answers to a message, oldest first.
    pub async fn message_answers(
        &mut self,
        conversation_id: Uuid,
        question_id: Uuid,
    ) -> Result<Vec<Uuid>> {
        sqlx::query_scalar(
            "SELECT id FROM conversation_messages
             WHERE tenant_id = $1 AND conversation_id = $2 AND parent_id = $3 AND role = 'assistant' ORDER BY id",
        )
        .bind(self.tenant_id)
        .bind(conversation_id)
        .bind(question_id)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// The agent that answered a message last, or was asked to.
    pub async fn answering_agent(
        &mut self,
        conversation_id: Uuid,
        question_id: Uuid,
    ) -> Result<Option<Uuid>> {
        let agent: Option<Option<Uuid>> = sqlx::query_scalar(
            "SELECT agent_id FROM conversation_turns
             WHERE tenant_id = $1 AND user_message_id = $3 AND conversation_id = $2 ORDER BY id DESC LIMIT 1",
        )
        .bind(self.tenant_id)
        .bind(conversation_id)
        .bind(question_id)
        .fetch_optional(self.conn())
        .await?;
        Ok(agent.flatten())
    }

    /// Rated answers of the tenant's threads, oldest first, after the given message (for paging).
    pub async fn message_rated(
        &mut self,
        after: Option<Uuid>,
        limit: i64,
    ) -> Result<Vec<RatedExchange>> {
        sqlx::query(
            "SELECT m.conversation_id, m.id, m.branch_id, m.position, m.rating, m.model, m.agent_id, m.agent_version,
                    v.system_prompt, m.created_at, m.metadata -> 'grounding'
             FROM conversation_messages m
             JOIN conversations c ON c.tenant_id = m.tenant_id AND c.id = m.conversation_id AND c.deleted_at IS NULL
             LEFT JOIN agent_versions v ON v.tenant_id = m.tenant_id AND v.agent_id = m.agent_id AND v.version = m.agent_version
             WHERE m.tenant_id = $1 AND m.rating IS NOT NULL AND ($2::uuid IS NULL OR m.id > $2)
             ORDER BY m.id LIMIT $3",
        )
        .bind(self.tenant_id)
        .bind(after)
        .bind(limit)
        .try_map(|r: PgRow| {
            Ok(RatedExchange {
                conversation_id: r.try_get(0)?,
                message_id: r.try_get(1)?,
                branch_id: r.try_get(2)?,
                position: r.try_get(3)?,
                rating: r.try_get(4)?,
                model: r.try_get(5)?,
                agent_id: r.try_get(6)?,
                agent_version: r.try_get(7)?,
                system_prompt: r.try_get(8)?,
                created_at: r.try_get(9)?,
                grounding: r.try_get(10)?,
            })
        })
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }
}

/// The messages `m` of branch $2's path with positions $3 to $4: its lineage cut to ranges, then itself. The limit,
/// which no range exceeds, leaves the planner only the index range of each segment: it cannot know how few segments
/// there are, and would otherwise read the whole table where threads are few and long.
const PATH: &str = "FROM conversation_branches b
     CROSS JOIN LATERAL (
         SELECT l.id, l.until, lag(l.until, 1, 0) OVER (ORDER BY l.n) + 1 AS since
         FROM unnest(b.lineage_ids || b.id, b.lineage_until || 2147483647) WITH ORDINALITY AS l (id, until, n)
     ) s
     CROSS JOIN LATERAL (
         SELECT * FROM conversation_messages
         WHERE tenant_id = b.tenant_id AND branch_id = s.id
               AND position >= greatest(s.since, $3) AND position <= least(s.until, $4)
         ORDER BY position LIMIT greatest($4::bigint - $3 + 1, 0)
     ) m
     WHERE b.tenant_id = $1 AND b.id = $2 AND s.since <= $4 AND s.until >= $3";

fn message(r: PgRow) -> sqlx::Result<Message> {
    Ok(Message {
        id: r.try_get(0)?,
        conversation_id: r.try_get(1)?,
        parent_id: r.try_get(2)?,
        branch_id: r.try_get(3)?,
        position: r.try_get(4)?,
        role: word(&r, 5)?,
        content: r.try_get(6)?,
        agent_id: r.try_get(7)?,
        agent_version: r.try_get(8)?,
        model: r.try_get(9)?,
        token_count: r.try_get(10)?,
        prompt_tokens: r.try_get(11)?,
        completion_tokens: r.try_get(12)?,
        latency_ms: r.try_get(13)?,
        finish_reason: r.try_get(14)?,
        rating: r.try_get(15)?,
        flow_execution_id: r.try_get(16)?,
        metadata: r.try_get(17)?,
        created_at: r.try_get(18)?,
        siblings: r.try_get(19)?,
    })
}
