//! Documents: their rows and states here; text and passages in `content`, what they state in `findings`, what
//! statements they carry in `support`, the work on them in `jobs`.

mod content;
mod findings;
mod jobs;
mod support;
mod usage;

pub use content::{ChunkHit, ChunkRow, NewChunk, PassageRow};
pub use findings::{Compared, FindingRow, NewFinding};
pub use jobs::{Job, JobKind};
pub use support::{Linked, ObjectAt, SourceRow, SupportCounts, SupportRow, TripleLink};

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use crate::{Result, Store, TenantTx};

#[derive(Debug, Clone)]
pub struct DocumentRow {
    pub id: Uuid,
    pub title: String,
    pub content_type: String,
    pub source_url: Option<String>,
    pub source_type: String,
    pub filename: Option<String>,
    pub size_bytes: i64,
    pub char_count: Option<i64>,
    pub status: String,
    pub result: Option<Value>,
    pub progress: Option<Value>,
    pub analysis_status: String,
    pub analysis_error: Option<Value>,
    pub analysis: Value,
    pub proposed_by: Uuid,
    pub proposed_by_agent: Option<Uuid>,
    pub approved_by: Option<Uuid>,
    pub approved_at: Option<DateTime<Utc>>,
    pub rejected_by: Option<Uuid>,
    pub rejected_at: Option<DateTime<Utc>>,
    pub rejection_reason: Option<String>,
    pub withdrawn_by: Option<Uuid>,
    pub withdrawn_at: Option<DateTime<Utc>>,
    pub withdrawal_reason: Option<String>,
    pub attempts: i32,
    pub seq: i32,
    pub created_at: DateTime<Utc>,
    pub processed_at: Option<DateTime<Utc>>,
}

pub struct NewDocument<'a> {
    pub id: Uuid,
    pub title: &'a str,
    pub content_type: &'a str,
    pub source_url: Option<&'a str>,
    pub source_type: &'a str,
    pub filename: Option<&'a str>,
    pub size_bytes: i64,
    pub proposed_by: Uuid,
    pub proposed_by_agent: Option<Uuid>,
}

/// A change of state. `None` leaves a column as it is.
#[derive(Default)]
pub struct Transition<'a> {
    /// The states it starts from; in any other nothing happens.
    pub from: &'a [&'a str],
    pub to: &'a str,
    pub actor: Option<Uuid>,
    /// Note, reason of a rejection or reason of a withdrawal, by `to`.
    pub text: Option<&'a str>,
    pub result: Option<&'a Value>,
}

const COLUMNS: &str = "d.id, d.title, d.content_type, d.source_url, d.source_type, d.filename, d.size_bytes, \
     d.char_count, d.status, d.result, d.progress, d.analysis_status, d.analysis_error, d.analysis, d.proposed_by, \
     d.proposed_by_agent, d.approved_by, d.approved_at, d.rejected_by, d.rejected_at, d.rejection_reason, \
     d.withdrawn_by, d.withdrawn_at, d.withdrawal_reason, d.attempts, d.seq, d.created_at, d.processed_at";

impl Store {
    /// Lets the server compare vectors itself where it can: where the extension `vector` is installed and may be
    /// created. It is a trusted extension, so the owner of the database may. Anything else is no error.
    pub async fn enable_vectors(&self) -> bool {
        let made = async {
            // Asked first: a refusal would stand in the server's log at each start.
            let there: bool = sqlx::query_scalar(
                "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector')",
            )
            .fetch_one(self.pool())
            .await?;
            if there {
                sqlx::query("CREATE EXTENSION IF NOT EXISTS vector")
                    .execute(self.pool())
                    .await?;
            }
            Ok::<_, sqlx::Error>(there)
        };
        made.await.unwrap_or_else(|e| {
            tracing::debug!(error = %e, "vectors are compared in the core");
            false
        })
    }
}

impl TenantTx {
    pub async fn document_create(&mut self, d: &NewDocument<'_>) -> Result<DocumentRow> {
        let sql = format!(
            "INSERT INTO documents AS d (tenant_id, id, title, content_type, source_url, source_type, filename,
                    size_bytes, proposed_by, proposed_by_agent)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING {COLUMNS}"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(d.id)
            .bind(d.title)
            .bind(d.content_type)
            .bind(d.source_url)
            .bind(d.source_type)
            .bind(d.filename)
            .bind(d.size_bytes)
            .bind(d.proposed_by)
            .bind(d.proposed_by_agent)
            .try_map(document)
            .fetch_one(self.conn())
            .await
            .map_err(Into::into)
    }

    pub async fn document_get(&mut self, id: Uuid) -> Result<Option<DocumentRow>> {
        self.document_read(id, "").await
    }

    /// As [`TenantTx::document_get`], held until the transaction ends.
    pub async fn document_lock(&mut self, id: Uuid) -> Result<Option<DocumentRow>> {
        self.document_read(id, "FOR UPDATE").await
    }

    async fn document_read(&mut self, id: Uuid, lock: &str) -> Result<Option<DocumentRow>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM documents d WHERE d.tenant_id = $1 AND d.id = $2 AND d.deleted_at IS NULL {lock}"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .try_map(document)
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Newest first; `words` is looked for in title, file name and address.
    pub async fn document_list(
        &mut self,
        status: Option<&str>,
        words: Option<&str>,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<DocumentRow>, i64)> {
        let matching = "FROM documents d WHERE d.tenant_id = $1 AND d.deleted_at IS NULL
             AND ($2::text IS NULL OR d.status = $2)
             AND ($3::text IS NULL OR d.title ILIKE $3 OR d.filename ILIKE $3 OR d.source_url ILIKE $3)";
        let pattern = words.map(crate::knowledge::like);
        let total = sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) {matching}")))
            .bind(self.tenant_id)
            .bind(status)
            .bind(&pattern)
            .fetch_one(self.conn())
            .await?;
        let items = sqlx::query(AssertSqlSafe(format!(
            "SELECT {COLUMNS} {matching} ORDER BY d.created_at DESC, d.id DESC LIMIT $4 OFFSET $5"
        )))
        .bind(self.tenant_id)
        .bind(status)
        .bind(&pattern)
        .bind(limit)
        .bind(offset)
        .try_map(document)
        .fetch_all(self.conn())
        .await?;
        Ok((items, total))
    }

    pub async fn document_update(
        &mut self,
        id: Uuid,
        title: Option<&str>,
        source_url: Option<Option<&str>>,
    ) -> Result<Option<DocumentRow>> {
        let sql = format!(
            "UPDATE documents d SET title = coalesce($3, d.title),
                    source_url = CASE WHEN $4 THEN $5 ELSE d.source_url END, seq = d.seq + 1
             WHERE d.tenant_id = $1 AND d.id = $2 AND d.deleted_at IS NULL RETURNING {COLUMNS}"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .bind(title)
            .bind(source_url.is_some())
            .bind(source_url.flatten())
            .try_map(document)
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Moves the document from one of the states it may come from; `None` when it is in another, or is not there.
    pub async fn document_move(
        &mut self,
        id: Uuid,
        t: &Transition<'_>,
    ) -> Result<Option<DocumentRow>> {
        let sql = format!(
            "UPDATE documents d SET status = $4, seq = d.seq + 1,
                    approved_by = CASE WHEN $4 = 'approved' THEN $5 ELSE d.approved_by END,
                    approved_at = CASE WHEN $4 = 'approved' THEN now() ELSE d.approved_at END,
                    approval_note = CASE WHEN $4 = 'approved' THEN coalesce($6, d.approval_note) ELSE d.approval_note END,
                    rejected_by = CASE WHEN $4 = 'rejected' THEN $5 ELSE d.rejected_by END,
                    rejected_at = CASE WHEN $4 = 'rejected' THEN now() ELSE d.rejected_at END,
                    rejection_reason = CASE WHEN $4 = 'rejected' THEN $6 ELSE d.rejection_reason END,
                    withdrawn_by = CASE WHEN $4 = 'withdrawn' THEN $5 ELSE d.withdrawn_by END,
                    withdrawn_at = CASE WHEN $4 = 'withdrawn' THEN now() ELSE d.withdrawn_at END,
                    withdrawal_reason = CASE WHEN $4 = 'withdrawn' THEN $6 ELSE d.withdrawal_reason END,
                    attempts = CASE WHEN $4 = 'processing' AND d.status <> 'processing' THEN d.attempts + 1 ELSE d.attempts END,
                    processed_at = CASE WHEN $4 IN ('completed', 'failed') THEN now() ELSE d.processed_at END,
                    progress = CASE WHEN $4 = 'processing' THEN d.progress END,
                    result = CASE WHEN $4 = 'approved' THEN NULL ELSE coalesce($7, d.result) END
             WHERE d.tenant_id = $1 AND d.id = $2 AND d.deleted_at IS NULL AND d.status = ANY ($3) RETURNING {COLUMNS}"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .bind(t.from)
            .bind(t.to)
            .bind(t.actor)
            .bind(t.text)
            .bind(t.result)
            .try_map(document)
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Notes how far the work is.
    pub async fn document_progress(
        &mut self,
        id: Uuid,
        progress: Option<&Value>,
    ) -> Result<Option<DocumentRow>> {
        let sql = format!(
            "UPDATE documents d SET progress = $3, seq = d.seq + 1
             WHERE d.tenant_id = $1 AND d.id = $2 AND d.deleted_at IS NULL RETURNING {COLUMNS}"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .bind(progress)
            .try_map(document)
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Notes how the analysis stands. Its state leaves the document's own state alone.
    pub async fn document_analysis(
        &mut self,
        id: Uuid,
        status: &str,
        error: Option<&Value>,
        analysis: &Value,
    ) -> Result<Option<DocumentRow>> {
        let sql = format!(
            "UPDATE documents d SET analysis_status = $3, analysis_error = $4, analysis = $5, progress = NULL, seq = d.seq + 1
             WHERE d.tenant_id = $1 AND d.id = $2 AND d.deleted_at IS NULL RETURNING {COLUMNS}"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .bind(status)
            .bind(error)
            .bind(analysis)
            .try_map(document)
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// What reading found out about the document.
    pub async fn document_read_as(
        &mut self,
        id: Uuid,
        content_type: &str,
        char_count: i64,
        title: Option<&str>,
    ) -> Result<()> {
        sqlx::query(
            "UPDATE documents SET content_type = $3, char_count = $4, title = coalesce($5, title)
             WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL",
        )
        .bind(self.tenant_id)
        .bind(id)
        .bind(content_type)
        .bind(char_count)
        .bind(title)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Takes the document out of every list, with its text and passages. What it said of statements stays.
    pub async fn document_delete(&mut self, id: Uuid) -> Result<bool> {
        let done = sqlx::query(
            "UPDATE documents SET deleted_at = now(), seq = seq + 1 WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL",
        )
        .bind(self.tenant_id)
        .bind(id)
        .execute(self.conn())
        .await?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        for table in ["document_chunks", "document_texts", "document_findings"] {
            sqlx::query(AssertSqlSafe(format!(
                "DELETE FROM {table} WHERE tenant_id = $1 AND document_id = $2"
            )))
            .bind(self.tenant_id)
            .bind(id)
            .execute(self.conn())
            .await?;
        }
        Ok(true)
    }
}

fn document(r: PgRow) -> sqlx::Result<DocumentRow> {
    Ok(DocumentRow {
        id: r.try_get(0)?,
        title: r.try_get(1)?,
        content_type: r.try_get(2)?,
        source_url: r.try_get(3)?,
        source_type: r.try_get(4)?,
        filename: r.try_get(5)?,
        size_bytes: r.try_get(6)?,
        char_count: r.try_get(7)?,
        status: r.try_get(8)?,
        result: r.try_get(9)?,
        progress: r.try_get(10)?,
        analysis_status: r.try_get(11)?,
        analysis_error: r.try_get(12)?,
        analysis: r.try_get(13)?,
        proposed_by: r.try_get(14)?,
        proposed_by_agent: r.try_get(15)?,
        approved_by: r.try_get(16)?,
        approved_at: r.try_get(17)?,
        rejected_by: r.try_get(18)?,
        rejected_at: r.try_get(19)?,
        rejection_reason: r.try_get(20)?,
        withdrawn_by: r.try_get(21)?,
        withdrawn_at: r.try_get(22)?,
        withdrawal_reason: r.try_get(23)?,
        attempts: r.try_get(24)?,
        seq: r.try_get(25)?,
        created_at: r.try_get(26)?,
        processed_at: r.try_get(27)?,
    })
}
