//! Saved neighbourhoods: what is within a radius of some nodes, as of the last refresh.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use crate::{Result, TenantTx};

pub struct BallRow {
    pub id: Uuid,
    pub name: String,
    /// Ids and labels.
    pub centers: Vec<(Uuid, String)>,
    pub radius: i16,
    pub filters: Value,
    pub node_count: i32,
    pub edge_count: i32,
    pub truncated: bool,
    pub refreshed_at: DateTime<Utc>,
    pub created_by: Option<Uuid>,
    pub created_at: DateTime<Utc>,
}

/// What a neighbourhood holds.
pub struct BallContent<'a> {
    /// Each with its distance from the nearest center.
    pub nodes: &'a [(Uuid, i16)],
    pub triples: &'a [Uuid],
    pub truncated: bool,
}

const BALL: &str = "b.id, b.name, b.radius, b.filters, b.node_count, b.edge_count, b.truncated, b.refreshed_at, \
     b.created_by, b.created_at, \
     ARRAY(SELECT c.node_id FROM kg_ball_nodes c WHERE c.tenant_id = b.tenant_id AND c.ball_id = b.id AND c.hop = 0 ORDER BY c.node_id), \
     ARRAY(SELECT n.label FROM kg_ball_nodes c JOIN kg_nodes n ON n.tenant_id = c.tenant_id AND n.id = c.node_id \
        WHERE c.tenant_id = b.tenant_id AND c.ball_id = b.id AND c.hop = 0 ORDER BY c.node_id)";

impl TenantTx {
    /// # Errors
    /// [`crate::StoreError::Duplicate`] when one has that name.
    pub async fn ball_create(
        &mut self,
        id: Uuid,
        name: &str,
        radius: i16,
        filters: &Value,
        actor_id: Uuid,
    ) -> Result<()> {
        sqlx::query(
            "INSERT INTO kg_balls (tenant_id, id, name, radius, filters, created_by) VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(self.tenant_id)
        .bind(id)
        .bind(name)
        .bind(radius)
        .bind(filters)
        .bind(actor_id)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Holds the row until the transaction ends, so that two refreshes come one after the other.
    pub async fn ball_lock(&mut self, id: Uuid) -> Result<bool> {
        let found: Option<Uuid> = sqlx::query_scalar(
            "SELECT id FROM kg_balls WHERE tenant_id = $1 AND id = $2 FOR UPDATE",
        )
        .bind(self.tenant_id)
        .bind(id)
        .fetch_optional(self.conn())
        .await?;
        Ok(found.is_some())
    }

    /// # Errors
    /// [`crate::StoreError::Duplicate`] when another one has that name.
    pub async fn ball_update(
        &mut self,
        id: Uuid,
        name: &str,
        radius: i16,
        filters: &Value,
    ) -> Result<()> {
        sqlx::query(
            "UPDATE kg_balls SET name = $3, radius = $4, filters = $5 WHERE tenant_id = $1 AND id = $2",
        )
        .bind(self.tenant_id)
        .bind(id)
        .bind(name)
        .bind(radius)
        .bind(filters)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Replaces what it holds.
    pub async fn ball_fill(&mut self, id: Uuid, content: &BallContent<'_>) -> Result<()> {
        for sql in [
            "DELETE FROM kg_ball_nodes WHERE tenant_id = $1 AND ball_id = $2",
            "DELETE FROM kg_ball_triples WHERE tenant_id = $1 AND ball_id = $2",
        ] {
            sqlx::query(sql)
                .bind(self.tenant_id)
                .bind(id)
                .execute(self.conn())
                .await?;
        }
        let (nodes, hops): (Vec<Uuid>, Vec<i16>) = content.nodes.iter().copied().unzip();
        sqlx::query(
            "INSERT INTO kg_ball_nodes (tenant_id, ball_id, node_id, hop)
             SELECT $1, $2, x.id, x.hop FROM unnest($3::uuid[], $4::smallint[]) AS x (id, hop)",
        )
        .bind(self.tenant_id)
        .bind(id)
        .bind(&nodes)
        .bind(&hops)
        .execute(self.conn())
        .await?;
        sqlx::query(
            "INSERT INTO kg_ball_triples (tenant_id, ball_id, triple_id) SELECT $1, $2, x.id FROM unnest($3::uuid[]) AS x (id)",
        )
        .bind(self.tenant_id)
        .bind(id)
        .bind(content.triples)
        .execute(self.conn())
        .await?;
        sqlx::query(
            "UPDATE kg_balls SET node_count = cardinality($3::uuid[]), edge_count = cardinality($4::uuid[]), truncated = $5,
                refreshed_at = now() WHERE tenant_id = $1 AND id = $2",
        )
        .bind(self.tenant_id)
        .bind(id)
        .bind(&nodes)
        .bind(content.triples)
        .bind(content.truncated)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    pub async fn ball_list(&mut self, limit: i64, offset: i64) -> Result<(Vec<BallRow>, i64)> {
        let total = self.ball_count().await?;
        let rows = sqlx::query(AssertSqlSafe(format!(
            "SELECT {BALL} FROM kg_balls b WHERE b.tenant_id = $1 ORDER BY b.name, b.id LIMIT $2 OFFSET $3"
        )))
        .bind(self.tenant_id)
        .bind(limit)
        .bind(offset)
        .try_map(ball)
        .fetch_all(self.conn())
        .await?;
        Ok((rows, total))
    }

    pub async fn ball_count(&mut self) -> Result<i64> {
        sqlx::query_scalar("SELECT count(*) FROM kg_balls WHERE tenant_id = $1")
            .bind(self.tenant_id)
            .fetch_one(self.conn())
            .await
            .map_err(Into::into)
    }

    pub async fn ball_get(&mut self, id: Uuid) -> Result<Option<BallRow>> {
        sqlx::query(AssertSqlSafe(format!(
            "SELECT {BALL} FROM kg_balls b WHERE b.tenant_id = $1 AND b.id = $2"
        )))
        .bind(self.tenant_id)
        .bind(id)
        .try_map(ball)
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }

    /// Its nodes with their distance, and its statements that still stand.
    pub async fn ball_members(&mut self, id: Uuid) -> Result<(Vec<(Uuid, i16)>, Vec<Uuid>)> {
        let nodes = sqlx::query_as(
            "SELECT node_id, hop FROM kg_ball_nodes WHERE tenant_id = $1 AND ball_id = $2 ORDER BY hop, node_id",
        )
        .bind(self.tenant_id)
        .bind(id)
        .fetch_all(self.conn())
        .await?;
        let triples = sqlx::query_scalar(
            "SELECT t.id FROM kg_ball_triples b JOIN kg_triples t ON t.tenant_id = b.tenant_id AND t.id = b.triple_id
             WHERE b.tenant_id = $1 AND b.ball_id = $2 AND t.retracted_at IS NULL ORDER BY t.id",
        )
        .bind(self.tenant_id)
        .bind(id)
        .fetch_all(self.conn())
        .await?;
        Ok((nodes, triples))
    }

    pub async fn ball_delete(&mut self, id: Uuid) -> Result<bool> {
        let done = sqlx::query("DELETE FROM kg_balls WHERE tenant_id = $1 AND id = $2")
            .bind(self.tenant_id)
            .bind(id)
            .execute(self.conn())
            .await?;
        Ok(done.rows_affected() == 1)
    }
}

fn ball(r: PgRow) -> sqlx::Result<BallRow> {
    let (ids, labels): (Vec<Uuid>, Vec<String>) = (r.try_get(10)?, r.try_get(11)?);
    Ok(BallRow {
        id: r.try_get(0)?,
        name: r.try_get(1)?,
        radius: r.try_get(2)?,
        filters: r.try_get(3)?,
        node_count: r.try_get(4)?,
        edge_count: r.try_get(5)?,
        truncated: r.try_get(6)?,
        refreshed_at: r.try_get(7)?,
        created_by: r.try_get(8)?,
        created_at: r.try_get(9)?,
        centers: ids.into_iter().zip(labels).collect(),
    })
}
