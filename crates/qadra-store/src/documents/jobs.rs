//! The work on documents as rows: who does which piece, and whose piece is next.

use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::{Result, SystemTx, TenantTx};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    /// Read it and find out what approval would add.
    Analyze,
    /// Add it to the graph and the passages.
    Process,
}

impl JobKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Analyze => "analyze",
            Self::Process => "process",
        }
    }
}

/// A piece of work that was taken. Whoever holds `claim` may write; a later taking makes it void.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    pub tenant_id: Uuid,
    pub document_id: Uuid,
    pub kind: JobKind,
    /// How often it was taken, this time included.
    pub attempts: i32,
    pub claim: Uuid,
}

impl TenantTx {
    /// Puts work on the document in line, in place of whatever was in line or under way for it.
    pub async fn job_put(&mut self, document_id: Uuid, kind: JobKind) -> Result<()> {
        sqlx::query(
            "INSERT INTO document_jobs (tenant_id, document_id, kind) VALUES ($1, $2, $3)
             ON CONFLICT (tenant_id, document_id) DO UPDATE SET kind = excluded.kind, attempts = 0, owner_lock = NULL,
                 claim = NULL, claimed_at = NULL, not_before = now(), created_at = now()",
        )
        .bind(self.tenant_id)
        .bind(document_id)
        .bind(kind.as_str())
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// True while the claim holds; then it holds until the transaction ends.
    pub async fn job_hold(&mut self, document_id: Uuid, claim: Uuid) -> Result<bool> {
        let held: Option<i32> = sqlx::query_scalar(
            "SELECT 1 FROM document_jobs WHERE tenant_id = $1 AND document_id = $2 AND claim = $3 FOR UPDATE",
        )
        .bind(self.tenant_id)
        .bind(document_id)
        .bind(claim)
        .fetch_optional(self.conn())
        .await?;
        Ok(held.is_some())
    }

    /// The work is done, or no longer wanted.
    pub async fn job_drop(&mut self, document_id: Uuid) -> Result<()> {
        sqlx::query("DELETE FROM document_jobs WHERE tenant_id = $1 AND document_id = $2")
            .bind(self.tenant_id)
            .bind(document_id)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Gives the work back, to be taken up again after a while. `counted` is false when it was not its fault.
    pub async fn job_release(
        &mut self,
        document_id: Uuid,
        claim: Uuid,
        after_seconds: i32,
        counted: bool,
    ) -> Result<()> {
        sqlx::query(
            "UPDATE document_jobs SET owner_lock = NULL, claim = NULL, claimed_at = NULL,
                    attempts = attempts - CASE WHEN $5 THEN 0 ELSE 1 END, not_before = now() + make_interval(secs => $4)
             WHERE tenant_id = $1 AND document_id = $2 AND claim = $3",
        )
        .bind(self.tenant_id)
        .bind(document_id)
        .bind(claim)
        .bind(f64::from(after_seconds))
        .bind(counted)
        .execute(self.conn())
        .await?;
        Ok(())
    }
}

impl SystemTx {
    /// Takes the next piece of work: of the tenant that was served longest ago, what a person waits for first.
    pub async fn job_take(&mut self, owner_lock: i64) -> Result<Option<Job>> {
        let taken = sqlx::query(
            "WITH next AS (
                SELECT j.tenant_id, j.document_id FROM document_jobs j
                LEFT JOIN document_turns t ON t.tenant_id = j.tenant_id
                WHERE j.owner_lock IS NULL AND j.not_before <= now()
                ORDER BY t.served_at NULLS FIRST, j.kind DESC, j.created_at, j.document_id
                LIMIT 1 FOR UPDATE OF j SKIP LOCKED
             ), served AS (
                INSERT INTO document_turns (tenant_id, served_at) SELECT tenant_id, clock_timestamp() FROM next
                ON CONFLICT (tenant_id) DO UPDATE SET served_at = excluded.served_at
             )
             UPDATE document_jobs j SET owner_lock = $1, claim = $2, claimed_at = now(), attempts = j.attempts + 1
             FROM next WHERE j.tenant_id = next.tenant_id AND j.document_id = next.document_id
             RETURNING j.tenant_id, j.document_id, j.kind, j.attempts, j.claim",
        )
        .bind(owner_lock)
        .bind(Uuid::new_v4())
        .try_map(|r: PgRow| {
            Ok(Job {
                tenant_id: r.try_get(0)?,
                document_id: r.try_get(1)?,
                kind: match r.try_get::<&str, _>(2)? {
                    "process" => JobKind::Process,
                    _ => JobKind::Analyze,
                },
                attempts: r.try_get(3)?,
                claim: r.try_get(4)?,
            })
        })
        .fetch_optional(self.conn())
        .await?;
        Ok(taken)
    }

    /// Puts the work of dead processes back in line: those whose advisory lock is free, and our own lock's pieces
    /// that nothing here works on. Returns how many there were.
    pub async fn jobs_recover(&mut self, own_lock: i64, live: &[Uuid]) -> Result<u64> {
        let owners: Vec<i64> = sqlx::query_scalar(
            "SELECT DISTINCT owner_lock FROM document_jobs WHERE owner_lock IS NOT NULL",
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
            "UPDATE document_jobs SET owner_lock = NULL, claim = NULL, claimed_at = NULL
             WHERE owner_lock = ANY ($1)
                OR (owner_lock = $2 AND claim <> ALL ($3) AND claimed_at < now() - interval '1 minute')",
        )
        .bind(dead)
        .bind(own_lock)
        .bind(live)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }
}
