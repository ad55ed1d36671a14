//! The text of a document and its passages.

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use crate::{Result, TenantTx};

/// Code points in one row of `document_texts`.
const PART: usize = 100_000;

pub struct NewChunk {
    pub id: Uuid,
    pub position: i32,
    pub span: (i32, i32),
    pub heading: Option<String>,
    pub content: String,
}

#[derive(Debug, Clone)]
pub struct ChunkRow {
    pub id: Uuid,
    pub position: i32,
    pub span: (i32, i32),
    pub heading: Option<String>,
    pub content: String,
}

/// A passage that a search found.
pub struct ChunkHit {
    pub chunk_id: Uuid,
    pub score: f32,
    pub snippet: String,
}

/// A passage with the document it is from.
#[derive(Debug, Clone)]
pub struct PassageRow {
    pub document_id: Uuid,
    pub title: String,
    pub chunk: ChunkRow,
}

const CHUNK: &str = "c.id, c.position, c.span_start, c.span_end, c.heading, c.content";

impl TenantTx {
    /// Stores the text in place of what was there.
    pub async fn document_text_put(&mut self, document_id: Uuid, text: &str) -> Result<()> {
        sqlx::query("DELETE FROM document_texts WHERE tenant_id = $1 AND document_id = $2")
            .bind(self.tenant_id)
            .bind(document_id)
            .execute(self.conn())
            .await?;
        let mut rest = text;
        let mut part = 0_i32;
        while !rest.is_empty() {
            let cut = rest
                .char_indices()
                .nth(PART)
                .map_or(rest.len(), |(at, _)| at);
            let (head, tail) = rest.split_at(cut);
            sqlx::query(
                "INSERT INTO document_texts (tenant_id, document_id, part, content) VALUES ($1, $2, $3, $4)",
            )
            .bind(self.tenant_id)
            .bind(document_id)
            .bind(part)
            .bind(head)
            .execute(self.conn())
            .await?;
            rest = tail;
            part += 1;
        }
        Ok(())
    }

    /// The code points from `from` up to `to`, as far as there are any.
    pub async fn document_text(&mut self, document_id: Uuid, from: i64, to: i64) -> Result<String> {
        let part = |at: i64| i32::try_from(at / PART as i64).unwrap_or(i32::MAX);
        let first = part(from.max(0));
        let parts: Vec<String> = sqlx::query_scalar(
            "SELECT content FROM document_texts WHERE tenant_id = $1 AND document_id = $2 AND part BETWEEN $3 AND $4
             ORDER BY part",
        )
        .bind(self.tenant_id)
        .bind(document_id)
        .bind(first)
        .bind(part(to.saturating_sub(1)))
        .fetch_all(self.conn())
        .await?;
        let skip = usize::try_from(from.max(0) - i64::from(first) * PART as i64).unwrap_or(0);
        let take = usize::try_from(to - from.max(0)).unwrap_or(0);
        Ok(parts
            .iter()
            .flat_map(|p| p.chars())
            .skip(skip)
            .take(take)
            .collect())
    }

    /// Stores the passages in place of what was there.
    pub async fn chunks_put(&mut self, document_id: Uuid, chunks: &[NewChunk]) -> Result<()> {
        sqlx::query("DELETE FROM document_chunks WHERE tenant_id = $1 AND document_id = $2")
            .bind(self.tenant_id)
            .bind(document_id)
            .execute(self.conn())
            .await?;
        for batch in chunks.chunks(500) {
            sqlx::query(
                "INSERT INTO document_chunks (tenant_id, document_id, id, position, span_start, span_end, heading, content)
                 SELECT $1, $2, * FROM unnest($3::uuid[], $4::int[], $5::int[], $6::int[], $7::text[], $8::text[])",
            )
            .bind(self.tenant_id)
            .bind(document_id)
            .bind(batch.iter().map(|c| c.id).collect::<Vec<_>>())
            .bind(batch.iter().map(|c| c.position).collect::<Vec<_>>())
            .bind(batch.iter().map(|c| c.span.0).collect::<Vec<_>>())
            .bind(batch.iter().map(|c| c.span.1).collect::<Vec<_>>())
            .bind(batch.iter().map(|c| c.heading.as_deref()).collect::<Vec<_>>())
            .bind(batch.iter().map(|c| c.content.as_str()).collect::<Vec<_>>())
            .execute(self.conn())
            .await?;
        }
        Ok(())
    }

    pub async fn chunk_list(
        &mut self,
        document_id: Uuid,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<ChunkRow>, i64)> {
        let total = sqlx::query_scalar(
            "SELECT count(*) FROM document_chunks WHERE tenant_id = $1 AND document_id = $2",
        )
        .bind(self.tenant_id)
        .bind(document_id)
        .fetch_one(self.conn())
        .await?;
        let items = sqlx::query(AssertSqlSafe(format!(
            "SELECT {CHUNK} FROM document_chunks c WHERE c.tenant_id = $1 AND c.document_id = $2
             ORDER BY c.position LIMIT $3 OFFSET $4"
        )))
        .bind(self.tenant_id)
        .bind(document_id)
        .bind(limit)
        .bind(offset)
        .try_map(|r: PgRow| chunk(&r, 0))
        .fetch_all(self.conn())
        .await?;
        Ok((items, total))
    }

    /// `(position, id)` of every passage.
    pub async fn chunk_ids(&mut self, document_id: Uuid) -> Result<Vec<(i32, Uuid)>> {
        sqlx::query_as(
            "SELECT position, id FROM document_chunks WHERE tenant_id = $1 AND document_id = $2",
        )
        .bind(self.tenant_id)
        .bind(document_id)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// Passages of completed documents with these words, the best first.
    pub async fn chunks_search(
        &mut self,
        words: &str,
        every_word: bool,
        most: i32,
    ) -> Result<Vec<ChunkHit>> {
        sqlx::query("SELECT chunk_id, score, snippet FROM search_chunks($1, $2, $3)")
            .bind(words)
            .bind(every_word)
            .bind(most)
            .try_map(|r: PgRow| {
                Ok(ChunkHit {
                    chunk_id: r.try_get(0)?,
                    score: r.try_get(1)?,
                    snippet: r.try_get(2)?,
                })
            })
            .fetch_all(self.conn())
            .await
            .map_err(Into::into)
    }

    /// The passages with these ids that may be shown as sources, in no particular order.
    pub async fn passages_get(&mut self, ids: &[Uuid]) -> Result<Vec<PassageRow>> {
        sqlx::query(AssertSqlSafe(format!(
            "SELECT {CHUNK}, d.id, d.title FROM document_chunks c
             JOIN documents d ON d.tenant_id = c.tenant_id AND d.id = c.document_id
             WHERE c.tenant_id = $1 AND c.id = ANY ($2) AND d.status = 'completed' AND d.deleted_at IS NULL"
        )))
        .bind(self.tenant_id)
        .bind(ids)
        .try_map(|r: PgRow| {
            Ok(PassageRow {
                chunk: chunk(&r, 0)?,
                document_id: r.try_get(6)?,
                title: r.try_get(7)?,
            })
        })
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// Passages of the document that have no embedding of this model yet.
    pub async fn chunks_unembedded(
        &mut self,
        document_id: Uuid,
        model: &str,
        most: i64,
    ) -> Result<Vec<(Uuid, String)>> {
        sqlx::query_as(
            "SELECT id, concat_ws(E'\\n', heading, content) FROM document_chunks
             WHERE tenant_id = $1 AND document_id = $2 AND embedding_model IS DISTINCT FROM $3 ORDER BY position LIMIT $4",
        )
        .bind(self.tenant_id)
        .bind(document_id)
        .bind(model)
        .bind(most)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    pub async fn chunk_embed(&mut self, id: Uuid, model: &str, embedding: &[f32]) -> Result<()> {
        sqlx::query(
            "UPDATE document_chunks SET embedding = $3, embedding_model = $4 WHERE tenant_id = $1 AND id = $2",
        )
        .bind(self.tenant_id)
        .bind(id)
        .bind(embedding)
        .bind(model)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Whether this server can compare vectors itself: the extension `vector` is installed in the database.
    pub async fn has_vectors(&mut self) -> Result<bool> {
        sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector')")
            .fetch_one(self.conn())
            .await
            .map_err(Into::into)
    }

    /// The passages nearest to a vector of length 1, compared by the server (see [`TenantTx::has_vectors`]).
    pub async fn chunks_near(
        &mut self,
        model: &str,
        query: &[f32],
        most: i64,
    ) -> Result<Vec<(Uuid, f32)>> {
        sqlx::query_as(
            "SELECT c.id, (1 - (c.embedding::vector <=> $3::real[]::vector))::real FROM document_chunks c
             JOIN documents d ON d.tenant_id = c.tenant_id AND d.id = c.document_id
             WHERE c.tenant_id = $1 AND c.embedding_model = $2 AND c.embedding IS NOT NULL
               AND cardinality(c.embedding) = cardinality($3) AND d.status = 'completed' AND d.deleted_at IS NULL
             ORDER BY 2 DESC, 1 LIMIT $4",
        )
        .bind(self.tenant_id)
        .bind(model)
        .bind(query)
        .bind(most)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// The next page of embedded passages, by id, for a caller that compares them itself.
    pub async fn chunks_embedded(
        &mut self,
        model: &str,
        after: Uuid,
        most: i64,
    ) -> Result<Vec<(Uuid, Vec<f32>)>> {
        sqlx::query_as(
            "SELECT c.id, c.embedding FROM document_chunks c
             JOIN documents d ON d.tenant_id = c.tenant_id AND d.id = c.document_id
             WHERE c.tenant_id = $1 AND c.embedding_model = $2 AND c.embedding IS NOT NULL AND c.id > $3
               AND d.status = 'completed' AND d.deleted_at IS NULL
             ORDER BY c.id LIMIT $4",
        )
        .bind(self.tenant_id)
        .bind(model)
        .bind(after)
        .bind(most)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }
}

fn chunk(r: &PgRow, at: usize) -> sqlx::Result<ChunkRow> {
    Ok(ChunkRow {
        id: r.try_get(at)?,
        position: r.try_get(at + 1)?,
        span: (r.try_get(at + 2)?, r.try_get(at + 3)?),
        heading: r.try_get(at + 4)?,
        content: r.try_get(at + 5)?,
    })
}
