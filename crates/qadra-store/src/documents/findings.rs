//! What a document states, before and after it was compared with the graph.

use chrono::NaiveDate;
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use crate::{Result, TenantTx};

#[derive(Debug, Clone)]
pub struct NewFinding {
    pub position: i32,
    pub subject: String,
    pub predicate: String,
    /// As `{type, value, unit?}`.
    pub object: Value,
    pub positive: bool,
    pub kind: &'static str,
    pub confidence: f32,
    pub valid_from: Option<NaiveDate>,
    pub valid_to: Option<NaiveDate>,
    /// Of the sentence, in code points.
    pub span: (i32, i32),
    pub sentence: String,
    pub chunk_position: Option<i32>,
    pub found_by: &'static str,
}

#[derive(Debug, Clone)]
pub struct FindingRow {
    pub position: i32,
    pub subject: String,
    pub predicate: String,
    pub object: Value,
    pub positive: bool,
    pub kind: String,
    pub confidence: f32,
    pub valid_from: Option<NaiveDate>,
    pub valid_to: Option<NaiveDate>,
    pub span: (i32, i32),
    pub sentence: String,
    pub chunk_position: Option<i32>,
    pub status: String,
    /// `[{triple_id, reason}]`
    pub conflicts: Value,
}

/// The outcome of a comparison with the graph.
pub struct Compared {
    pub position: i32,
    pub status: &'static str,
    pub conflicts: Value,
}

const FINDING: &str = "f.position, f.subject, f.predicate, f.object, f.polarity, f.kind, f.confidence, f.valid_from, \
     f.valid_to, f.span_start, f.span_end, f.sentence, f.chunk_position, f.status, f.conflicts";

impl TenantTx {
    /// Stores the findings in place of what was there.
    pub async fn findings_put(&mut self, document_id: Uuid, found: &[NewFinding]) -> Result<()> {
        sqlx::query("DELETE FROM document_findings WHERE tenant_id = $1 AND document_id = $2")
            .bind(self.tenant_id)
            .bind(document_id)
            .execute(self.conn())
            .await?;
        for batch in found.chunks(500) {
            sqlx::query(
                "INSERT INTO document_findings (tenant_id, document_id, position, subject, predicate, object, polarity,
                        kind, confidence, valid_from, valid_to, span_start, span_end, sentence, chunk_position, found_by)
                 SELECT $1, $2, * FROM unnest($3::int[], $4::text[], $5::text[], $6::jsonb[], $7::bool[], $8::text[],
                        $9::real[], $10::date[], $11::date[], $12::int[], $13::int[], $14::text[], $15::int[], $16::text[])",
            )
            .bind(self.tenant_id)
            .bind(document_id)
            .bind(batch.iter().map(|f| f.position).collect::<Vec<_>>())
            .bind(batch.iter().map(|f| f.subject.as_str()).collect::<Vec<_>>())
            .bind(batch.iter().map(|f| f.predicate.as_str()).collect::<Vec<_>>())
            .bind(batch.iter().map(|f| f.object.clone()).collect::<Vec<_>>())
            .bind(batch.iter().map(|f| f.positive).collect::<Vec<_>>())
            .bind(batch.iter().map(|f| f.kind).collect::<Vec<_>>())
            .bind(batch.iter().map(|f| f.confidence).collect::<Vec<_>>())
            .bind(batch.iter().map(|f| f.valid_from).collect::<Vec<_>>())
            .bind(batch.iter().map(|f| f.valid_to).collect::<Vec<_>>())
            .bind(batch.iter().map(|f| f.span.0).collect::<Vec<_>>())
            .bind(batch.iter().map(|f| f.span.1).collect::<Vec<_>>())
            .bind(batch.iter().map(|f| f.sentence.as_str()).collect::<Vec<_>>())
            .bind(batch.iter().map(|f| f.chunk_position).collect::<Vec<_>>())
            .bind(batch.iter().map(|f| f.found_by).collect::<Vec<_>>())
            .execute(self.conn())
            .await?;
        }
        Ok(())
    }

    /// The findings from a position on, in order.
    pub async fn findings_from(
        &mut self,
        document_id: Uuid,
        from: i32,
        most: i64,
    ) -> Result<Vec<FindingRow>> {
        sqlx::query(AssertSqlSafe(format!(
            "SELECT {FINDING} FROM document_findings f
             WHERE f.tenant_id = $1 AND f.document_id = $2 AND f.position >= $3 ORDER BY f.position LIMIT $4"
        )))
        .bind(self.tenant_id)
        .bind(document_id)
        .bind(from)
        .bind(most)
        .try_map(finding)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// A page of them, conflicts first, then in the order of the text; with how many there are in all.
    pub async fn findings_page(
        &mut self,
        document_id: Uuid,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<FindingRow>, i64)> {
        let total = sqlx::query_scalar(
            "SELECT count(*) FROM document_findings WHERE tenant_id = $1 AND document_id = $2",
        )
        .bind(self.tenant_id)
        .bind(document_id)
        .fetch_one(self.conn())
        .await?;
        let items = sqlx::query(AssertSqlSafe(format!(
            "SELECT {FINDING} FROM document_findings f WHERE f.tenant_id = $1 AND f.document_id = $2
             ORDER BY f.status <> 'conflict', f.position LIMIT $3 OFFSET $4"
        )))
        .bind(self.tenant_id)
        .bind(document_id)
        .bind(limit)
        .bind(offset)
        .try_map(finding)
        .fetch_all(self.conn())
        .await?;
        Ok((items, total))
    }

    pub async fn findings_compared(
        &mut self,
        document_id: Uuid,
        outcomes: &[Compared],
    ) -> Result<()> {
        for batch in outcomes.chunks(1_000) {
            sqlx::query(
                "UPDATE document_findings f SET status = x.status, conflicts = x.conflicts
                 FROM unnest($3::int[], $4::text[], $5::jsonb[]) AS x (position, status, conflicts)
                 WHERE f.tenant_id = $1 AND f.document_id = $2 AND f.position = x.position",
            )
            .bind(self.tenant_id)
            .bind(document_id)
            .bind(batch.iter().map(|c| c.position).collect::<Vec<_>>())
            .bind(batch.iter().map(|c| c.status).collect::<Vec<_>>())
            .bind(
                batch
                    .iter()
                    .map(|c| c.conflicts.clone())
                    .collect::<Vec<_>>(),
            )
            .execute(self.conn())
            .await?;
        }
        Ok(())
    }
}

fn finding(r: PgRow) -> sqlx::Result<FindingRow> {
    Ok(FindingRow {
        position: r.try_get(0)?,
        subject: r.try_get(1)?,
        predicate: r.try_get(2)?,
        object: r.try_get(3)?,
        positive: r.try_get(4)?,
        kind: r.try_get(5)?,
        confidence: r.try_get(6)?,
        valid_from: r.try_get(7)?,
        valid_to: r.try_get(8)?,
        span: (r.try_get(9)?, r.try_get(10)?),
        sentence: r.try_get(11)?,
        chunk_position: r.try_get(12)?,
        status: r.try_get(13)?,
        conflicts: r.try_get(14)?,
    })
}
