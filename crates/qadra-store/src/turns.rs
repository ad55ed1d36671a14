//! The life of one exchange: locked and started in one transaction, ended in another, and closed by
//! whoever finds its process dead.

use chrono::{DateTime, Utc};
use qadra_types::{Agent, Conversation, Message, MessageRole, Turn, TurnError, TurnStatus};
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use crate::accounts::word;
use crate::usage::UsageRecord;
use crate::{Result, SystemTx, TenantTx, agents, conversations};

/// A path of messages: segment `i` is branch `lineage_ids[i]` up to position `lineage_until[i]`, and then the
/// branch's own messages up to `head_position`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    pub id: Uuid,
    pub lineage_ids: Vec<Uuid>,
    pub lineage_until: Vec<i32>,
    pub head_position: i32,
    pub head_message_id: Option<Uuid>,
}

impl Branch {
    /// The path up to and including position `at`, to be continued on a branch of its own.
    fn cut(&self, at: i32) -> (Vec<Uuid>, Vec<i32>) {
        let mut ids = Vec::new();
        let mut until = Vec::new();
        let own = std::iter::once((self.id, i32::MAX));
        for (id, end) in self
            .lineage_ids
            .iter()
            .copied()
            .zip(self.lineage_until.iter().copied())
            .chain(own)
        {
            if until.last().copied().unwrap_or(0) >= at {
                break;
            }
            ids.push(id);
            until.push(end.min(at));
        }
        (ids, until)
    }
}

/// A conversation locked for a new turn.
pub struct TurnStart {
    pub conversation: Conversation,
    pub branch: Branch,
    /// `None` when the tenant has no agent of the id asked for.
    pub agent: Option<Agent>,
}

pub struct NewTurn<'a> {
    pub id: Uuid,
    pub conversation_id: Uuid,
    pub branch: &'a Branch,
    /// The id of the message to be answered, new or existing.
    pub user_message_id: Uuid,
    /// The text of a new message; `None` when an existing one is answered (again).
    pub content: Option<&'a str>,
    /// Becomes the thread's title if it has none.
    pub title: Option<&'a str>,
    pub agent_id: Uuid,
    pub owner_id: Uuid,
    pub owner_lock: i64,
}

/// What the database added to a started turn.
pub struct StartedTurn {
    pub conversation: Conversation,
    /// The new user message; `None` when an existing one is answered.
    pub user_message: Option<Message>,
}

/// The answer to store with a turn's end.
pub struct Answer<'a> {
    pub message_id: Uuid,
    pub content: &'a str,
    pub agent_id: Uuid,
    pub agent_version: i32,
    pub model: &'a str,
    pub prompt_tokens: i32,
    pub completion_tokens: i32,
    pub latency_ms: i32,
    pub finish_reason: &'a str,
    pub metadata: &'a Value,
    /// Earlier answers to the same user message.
    pub siblings: &'a [Uuid],
}

/// The stream as stored: see `conversation_turns.events`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamRecord {
    pub events: Value,
    pub token_chars: Vec<i32>,
}

pub struct TurnEnd<'a> {
    pub turn_id: Uuid,
    pub user_message_id: Uuid,
    pub status: TurnStatus,
    pub answer: Option<Answer<'a>>,
    pub error: Option<&'a TurnError>,
    pub stream: &'a StreamRecord,
    pub usage: &'a [UsageRecord],
}

impl TenantTx {
    /// Locks a conversation until the transaction ends and reads what a turn needs of it.
    pub async fn turn_lock(
        &mut self,
        conversation_id: Uuid,
        agent_id: Option<Uuid>,
    ) -> Result<Option<TurnStart>> {
        let sql = format!(
            "SELECT {}, b.lineage_ids, b.lineage_until, b.head_position, b.head_message_id, a.*
             FROM conversations c
             JOIN conversation_branches b ON b.tenant_id = c.tenant_id AND b.id = c.active_branch_id
             LEFT JOIN (SELECT {} FROM agents WHERE tenant_id = $1 AND id = $3) a ON true
             WHERE c.tenant_id = $1 AND c.id = $2 AND c.deleted_at IS NULL FOR UPDATE OF c",
            conversations::COLUMNS,
            agents::COLUMNS,
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(conversation_id)
            .bind(agent_id)
            .try_map(|r: PgRow| {
                let conversation = conversations::conversation(&r, 0)?;
                let agent = match r.try_get::<Option<Uuid>, _>(14)? {
                    Some(_) => Some(agents::agent(&r, 14)?),
                    None => None,
                };
                Ok(TurnStart {
                    branch: branch(&r, conversation.active_branch_id, 10)?,
                    conversation,
                    agent,
                })
            })
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    pub async fn branch_get(&mut self, id: Uuid) -> Result<Option<Branch>> {
        sqlx::query(
            "SELECT lineage_ids, lineage_until, head_position, head_message_id
             FROM conversation_branches WHERE tenant_id = $1 AND id = $2",
        )
        .bind(self.tenant_id)
        .bind(id)
        .try_map(|r: PgRow| branch(&r, id, 0))
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }

    /// A new branch that shares `from`'s path up to position `at`, where `head_message_id` stands.
    pub async fn branch_fork(
        &mut self,
        conversation_id: Uuid,
        from: &Branch,
        at: i32,
        head_message_id: Option<Uuid>,
    ) -> Result<Branch> {
        let (lineage_ids, lineage_until) = from.cut(at);
        let fork = Branch {
            id: qadra_types::new_id(),
            lineage_ids,
            lineage_until,
            head_position: at,
            head_message_id,
        };
        sqlx::query(
            "INSERT INTO conversation_branches
                 (tenant_id, id, conversation_id, lineage_ids, lineage_until, head_position, head_message_id)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(self.tenant_id)
        .bind(fork.id)
        .bind(conversation_id)
        .bind(&fork.lineage_ids)
        .bind(&fork.lineage_until)
        .bind(fork.head_position)
        .bind(fork.head_message_id)
        .execute(self.conn())
        .await?;
        Ok(fork)
    }

    /// Writes the user message (if it is new), makes the branch the active one and marks the turn as running:
    /// one statement, so one round trip.
    pub async fn turn_start(&mut self, t: &NewTurn<'_>) -> Result<StartedTurn> {
        let sql = format!(
            "WITH m AS (
                INSERT INTO conversation_messages (tenant_id, id, conversation_id, branch_id, position, parent_id, role, content)
                SELECT $1, $5, $3, $4, $6, $7, 'user', $8 WHERE $8::text IS NOT NULL
                RETURNING created_at
             ), b AS (
                UPDATE conversation_branches SET head_position = $6, head_message_id = $5
                WHERE tenant_id = $1 AND id = $4 AND $8::text IS NOT NULL
             ), t AS (
                INSERT INTO conversation_turns (tenant_id, id, conversation_id, branch_id, user_message_id, agent_id,
                                                status, owner_id, owner_lock)
                VALUES ($1, $2, $3, $4, $5, $10, 'running', $11, $12)
             )
             UPDATE conversations c SET active_branch_id = $4, message_count = $6, running_turn_id = $2,
                    title = coalesce(c.title, $9), updated_at = now(),
                    last_message_preview = coalesce(left($8, 160), c.last_message_preview)
             WHERE c.tenant_id = $1 AND c.id = $3
             RETURNING {}, (SELECT created_at FROM m)",
            conversations::COLUMNS
        );
        let position = t.branch.head_position + i32::from(t.content.is_some());
        let parent_id = t.branch.head_message_id;
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(t.id)
            .bind(t.conversation_id)
            .bind(t.branch.id)
            .bind(t.user_message_id)
            .bind(position)
            .bind(parent_id)
            .bind(t.content)
            .bind(t.title)
            .bind(t.agent_id)
            .bind(t.owner_id)
            .bind(t.owner_lock)
            .try_map(|r: PgRow| {
                let created_at: Option<DateTime<Utc>> = r.try_get(10)?;
                let user_message = created_at
                    .zip(t.content)
                    .map(|(created_at, content)| Message {
                        position,
                        parent_id,
                        content: content.to_owned(),
                        siblings: vec![t.user_message_id],
                        ..blank(
                            t.user_message_id,
                            t.conversation_id,
                            t.branch.id,
                            MessageRole::User,
                            created_at,
                        )
                    });
                Ok(StartedTurn {
                    conversation: conversations::conversation(&r, 0)?,
                    user_message,
                })
            })
            .fetch_one(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Ends a running turn and stores its answer, usage and stream in one statement.
    ///
    /// `None` means that the turn is not running any more: another process took it for dead and closed it,
    /// and nothing was written.
    pub async fn turn_end(
        &mut self,
        e: &TurnEnd<'_>,
    ) -> Result<Option<(Conversation, Option<Message>)>> {
        let sql = format!(
            "WITH t AS (
                UPDATE conversation_turns SET status = $3, assistant_message_id = $4, error = $5, events = $6,
                       token_chars = $7, finished_at = now()
                WHERE tenant_id = $1 AND id = $2 AND status = 'running'
                RETURNING conversation_id, branch_id, user_message_id
             ), b AS (
                UPDATE conversation_branches b SET head_position = b.head_position + 1, head_message_id = $4
                FROM t WHERE b.tenant_id = $1 AND b.id = t.branch_id AND $4::uuid IS NOT NULL
                RETURNING b.id, b.head_position
             ), m AS (
                INSERT INTO conversation_messages (tenant_id, id, conversation_id, branch_id, position, parent_id, role,
                       content, agent_id, agent_version, model, token_count, prompt_tokens, completion_tokens,
                       latency_ms, finish_reason, metadata)
                SELECT $1, $4, t.conversation_id, b.id, b.head_position, t.user_message_id, 'assistant', $8,
                       (SELECT id FROM agents WHERE tenant_id = $1 AND id = $9), $10, $11, $12 + $13, $12, $13, $14, $15, $16
                FROM t, b RETURNING position, branch_id, created_at
             ), u AS (
                INSERT INTO usage_records (tenant_id, id, user_id, conversation_id, turn_id, agent_id, model, tokens_in,
                       tokens_out, operation_type, metadata)
                SELECT $1, x.id, x.user_id, t.conversation_id, $2, x.agent_id, x.model, x.tokens_in, x.tokens_out, x.operation, x.metadata
                FROM t, unnest($17::uuid[], $18::uuid[], $19::uuid[], $20::text[], $21::int[], $22::int[], $23::text[], $24::jsonb[])
                     AS x (id, user_id, agent_id, model, tokens_in, tokens_out, operation, metadata)
             )
             UPDATE conversations c SET running_turn_id = NULL, updated_at = now(),
                    message_count = coalesce((SELECT position FROM m WHERE m.branch_id = c.active_branch_id), c.message_count),
                    last_message_preview = coalesce(left($8, 160), c.last_message_preview),
                    last_agent_id = coalesce($9, c.last_agent_id)
             FROM t WHERE c.tenant_id = $1 AND c.id = t.conversation_id
             RETURNING {}, (SELECT created_at FROM m), (SELECT position FROM m), (SELECT branch_id FROM m)",
            conversations::COLUMNS
        );
        let a = e.answer.as_ref();
        let u = e.usage;
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(e.turn_id)
            .bind(e.status.as_str())
            .bind(a.map(|a| a.message_id))
            .bind(e.error.map(sqlx::types::Json))
            .bind(&e.stream.events)
            .bind(&e.stream.token_chars)
            .bind(a.map(|a| a.content))
            .bind(a.map(|a| a.agent_id))
            .bind(a.map(|a| a.agent_version))
            .bind(a.map(|a| a.model))
            .bind(a.map(|a| a.prompt_tokens))
            .bind(a.map(|a| a.completion_tokens))
            .bind(a.map(|a| a.latency_ms))
            .bind(a.map(|a| a.finish_reason))
            .bind(a.map_or(&Value::Null, |a| a.metadata))
            .bind(u.iter().map(|_| qadra_types::new_id()).collect::<Vec<_>>())
            .bind(u.iter().map(|u| u.user_id).collect::<Vec<_>>())
            .bind(u.iter().map(|u| u.agent_id).collect::<Vec<_>>())
            .bind(u.iter().map(|u| u.model.clone()).collect::<Vec<_>>())
            .bind(u.iter().map(|u| u.tokens_in).collect::<Vec<_>>())
            .bind(u.iter().map(|u| u.tokens_out).collect::<Vec<_>>())
            .bind(u.iter().map(|u| u.operation.to_owned()).collect::<Vec<_>>())
            .bind(u.iter().map(|u| u.metadata.clone()).collect::<Vec<_>>())
            .try_map(|r: PgRow| {
                let conversation = conversations::conversation(&r, 0)?;
                let created_at: Option<DateTime<Utc>> = r.try_get(10)?;
                let message = match created_at.zip(a) {
                    Some((created_at, a)) => Some(Message {
                        position: r.try_get(11)?,
                        parent_id: Some(e.user_message_id),
                        content: a.content.to_owned(),
                        agent_id: Some(a.agent_id),
                        agent_version: Some(a.agent_version),
                        model: Some(a.model.to_owned()),
                        token_count: Some(a.prompt_tokens + a.completion_tokens),
                        prompt_tokens: Some(a.prompt_tokens),
                        completion_tokens: Some(a.completion_tokens),
                        latency_ms: Some(a.latency_ms),
                        finish_reason: Some(a.finish_reason.to_owned()),
                        metadata: a.metadata.clone(),
                        siblings: a.siblings.iter().copied().chain([a.message_id]).collect(),
                        ..blank(
                            a.message_id,
                            conversation.id,
                            r.try_get(12)?,
                            MessageRole::Assistant,
                            created_at,
                        )
                    }),
                    None => None,
                };
                Ok((conversation, message))
            })
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// A turn of that conversation, with the process that answers it.
    pub async fn turn_get(
        &mut self,
        conversation_id: Uuid,
        id: Uuid,
    ) -> Result<Option<(Turn, Uuid)>> {
        sqlx::query(
            "SELECT id, conversation_id, status, user_message_id, assistant_message_id, agent_id, error, started_at,
                    finished_at, owner_id
             FROM conversation_turns WHERE tenant_id = $1 AND id = $2 AND conversation_id = $3",
        )
        .bind(self.tenant_id)
        .bind(id)
        .bind(conversation_id)
        .try_map(|r: PgRow| {
            let error: Option<sqlx::types::Json<TurnError>> = r.try_get(6)?;
            let turn = Turn {
                id: r.try_get(0)?,
                conversation_id: r.try_get(1)?,
                status: word(&r, 2)?,
                user_message_id: r.try_get(3)?,
                assistant_message_id: r.try_get(4)?,
                agent_id: r.try_get(5)?,
                error: error.map(|e| e.0),
                started_at: r.try_get(7)?,
                finished_at: r.try_get(8)?,
            };
            Ok((turn, r.try_get(9)?))
        })
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }

    /// The stored stream of an ended turn with the text that its tokens were cut from.
    pub async fn turn_stream(&mut self, id: Uuid) -> Result<Option<(StreamRecord, String)>> {
        sqlx::query(
            "SELECT t.events, t.token_chars, m.content FROM conversation_turns t
             LEFT JOIN conversation_messages m ON m.tenant_id = t.tenant_id AND m.id = t.assistant_message_id
             WHERE t.tenant_id = $1 AND t.id = $2",
        )
        .bind(self.tenant_id)
        .bind(id)
        .try_map(|r: PgRow| {
            let record = StreamRecord {
                events: r.try_get::<Option<Value>, _>(0)?.unwrap_or_default(),
                token_chars: r.try_get::<Option<Vec<i32>>, _>(1)?.unwrap_or_default(),
            };
            Ok((record, r.try_get::<Option<String>, _>(2)?.unwrap_or_default()))
        })
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }
}

impl SystemTx {
    /// Fails the running turns whose owner's advisory lock is free, so dead, and those under `own_lock` that are
    /// not among the `live` ones and a minute old, so lost. Returns how many.
    pub async fn turn_recover(
        &mut self,
        own_lock: i64,
        live: &[Uuid],
        error: &TurnError,
    ) -> Result<u64> {
        let owners: Vec<i64> = sqlx::query_scalar(
            "SELECT DISTINCT owner_lock FROM conversation_turns WHERE status = 'running'",
        )
        .fetch_all(self.conn())
        .await?;
        let mut dead = Vec::new();
        for owner in owners.into_iter().filter(|o| *o != own_lock) {
            let free: bool = sqlx::query_scalar("SELECT pg_try_advisory_xact_lock($1)")
                .bind(owner)
                .fetch_one(self.conn())
                .await?;
            if free {
                dead.push(owner);
            }
        }
        let done = sqlx::query(
            "WITH t AS (
                UPDATE conversation_turns SET status = 'failed', error = $2, finished_at = now()
                WHERE status = 'running' AND (owner_lock = ANY ($1)
                   OR (owner_lock = $3 AND id <> ALL ($4) AND started_at < now() - interval '1 minute'))
                RETURNING tenant_id, conversation_id, id
             )
             UPDATE conversations c SET running_turn_id = NULL FROM t
             WHERE c.tenant_id = t.tenant_id AND c.id = t.conversation_id AND c.running_turn_id = t.id",
        )
        .bind(dead)
        .bind(sqlx::types::Json(error))
        .bind(own_lock)
        .bind(live)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }
}

fn branch(r: &PgRow, id: Uuid, at: usize) -> sqlx::Result<Branch> {
    Ok(Branch {
        id,
        lineage_ids: r.try_get(at)?,
        lineage_until: r.try_get(at + 1)?,
        head_position: r.try_get(at + 2)?,
        head_message_id: r.try_get(at + 3)?,
    })
}

fn blank(
    id: Uuid,
    conversation_id: Uuid,
    branch_id: Uuid,
    role: MessageRole,
    created_at: DateTime<Utc>,
) -> Message {
    Message {
        id,
        conversation_id,
        parent_id: None,
        branch_id,
        position: 1,
        role,
        content: String::new(),
        agent_id: None,
        agent_version: None,
        model: None,
        token_count: None,
        prompt_tokens: None,
        completion_tokens: None,
        latency_ms: None,
        finish_reason: None,
        rating: None,
        flow_execution_id: None,
        metadata: Value::Object(Default::default()),
        created_at,
        siblings: vec![id],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_keeps_the_shared_path_and_nothing_after_it() {
        let [a, b, c] = [1, 2, 3].map(Uuid::from_u128);
        let path = Branch {
            id: c,
            lineage_ids: vec![a, b],
            lineage_until: vec![4, 7],
            head_position: 9,
            head_message_id: None,
        };
        assert_eq!(path.cut(0), (vec![], vec![]));
        assert_eq!(path.cut(3), (vec![a], vec![3]));
        assert_eq!(path.cut(4), (vec![a], vec![4]));
        assert_eq!(path.cut(5), (vec![a, b], vec![4, 5]));
        assert_eq!(path.cut(9), (vec![a, b, c], vec![4, 7, 9]));
    }
}
