//! Nodes, their aliases, and how predicates behave.

use chrono::{DateTime, Utc};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use super::{
    NODE, NodeName, NodeRow, PREDICATE, PredicateChange, PredicateRow, like, node, predicate,
};
use crate::{Result, TenantTx};

impl TenantTx {
    /// The id of the node of that name, made if new.
    pub async fn node_ensure(&mut self, name: &NodeName, kind: Option<&str>) -> Result<Uuid> {
        let ids = self.nodes_ensure(&[name]).await?;
        let id = ids
            .get(&name.identity)
            .copied()
            .ok_or(sqlx::Error::RowNotFound)?;
        if let Some(kind) = kind {
            sqlx::query("UPDATE kg_nodes SET kind = $3 WHERE tenant_id = $1 AND id = $2")
                .bind(self.tenant_id)
                .bind(id)
                .bind(kind)
                .execute(self.conn())
                .await?;
        }
        Ok(id)
    }

    pub async fn node_by_identity(&mut self, identity: &str) -> Result<Option<Uuid>> {
        sqlx::query_scalar("SELECT id FROM kg_nodes WHERE tenant_id = $1 AND identity = $2")
            .bind(self.tenant_id)
            .bind(identity)
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }

    /// The node of that id, or the one that it was merged into.
    pub async fn node_get(&mut self, id: Uuid) -> Result<Option<NodeRow>> {
        sqlx::query(AssertSqlSafe(format!(
            "SELECT {NODE} FROM kg_nodes n WHERE n.tenant_id = $1 AND n.id =
                (SELECT coalesce(m.merged_into, m.id) FROM kg_nodes m WHERE m.tenant_id = $1 AND m.id = $2)"
        )))
        .bind(self.tenant_id)
        .bind(id)
        .try_map(node)
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }

    /// The nodes with these ids as they are, merged ones too, in no particular order.
    pub async fn nodes_get(&mut self, ids: &[Uuid]) -> Result<Vec<NodeRow>> {
        sqlx::query(AssertSqlSafe(format!(
            "SELECT {NODE} FROM kg_nodes n WHERE n.tenant_id = $1 AND n.id = ANY ($2)"
        )))
        .bind(self.tenant_id)
        .bind(ids)
        .try_map(node)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// Nodes by label, those whose label or alias contains `words` if given.
    pub async fn node_list(
        &mut self,
        words: Option<&str>,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<NodeRow>, i64)> {
        let matching = "FROM kg_nodes n WHERE n.tenant_id = $1 AND n.merged_into IS NULL AND ($2::text IS NULL OR n.label ILIKE $2 OR EXISTS
             (SELECT 1 FROM kg_aliases a WHERE a.tenant_id = $1 AND a.node_id = n.id AND a.alias ILIKE $2))";
        let pattern = words.map(like);
        let total = sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) {matching}")))
            .bind(self.tenant_id)
            .bind(&pattern)
            .fetch_one(self.conn())
            .await?;
        let items = sqlx::query(AssertSqlSafe(format!(
            "SELECT {NODE} {matching} ORDER BY n.label, n.id LIMIT $3 OFFSET $4"
        )))
        .bind(self.tenant_id)
        .bind(&pattern)
        .bind(limit)
        .bind(offset)
        .try_map(node)
        .fetch_all(self.conn())
        .await?;
        Ok((items, total))
    }

    /// # Errors
    /// [`crate::StoreError::Duplicate`] when the node has that alias already.
    pub async fn alias_create(
        &mut self,
        node_id: Uuid,
        alias: &NodeName,
    ) -> Result<(Uuid, DateTime<Utc>)> {
        sqlx::query(
            "INSERT INTO kg_aliases (tenant_id, id, node_id, alias, identity, key) VALUES ($1, $2, $3, $4, $5, $6)
             RETURNING id, created_at",
        )
        .bind(self.tenant_id)
        .bind(qadra_types::new_id())
        .bind(node_id)
        .bind(&alias.label)
        .bind(&alias.identity)
        .bind(&alias.key)
        .try_map(|r: PgRow| Ok((r.try_get(0)?, r.try_get(1)?)))
        .fetch_one(self.conn())
        .await
        .map_err(Into::into)
    }

    /// `(alias id, alias, node id, node label, created at)`, by alias.
    pub async fn alias_list(
        &mut self,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<(Uuid, String, Uuid, String, DateTime<Utc>)>, i64)> {
        let total = sqlx::query_scalar("SELECT count(*) FROM kg_aliases WHERE tenant_id = $1")
            .bind(self.tenant_id)
            .fetch_one(self.conn())
            .await?;
        let items = sqlx::query(
            "SELECT a.id, a.alias, n.id, n.label, a.created_at FROM kg_aliases a
             JOIN kg_nodes n ON n.tenant_id = a.tenant_id AND n.id = a.node_id
             WHERE a.tenant_id = $1 ORDER BY a.alias, a.id LIMIT $2 OFFSET $3",
        )
        .bind(self.tenant_id)
        .bind(limit)
        .bind(offset)
        .try_map(|r: PgRow| {
            Ok((
                r.try_get(0)?,
                r.try_get(1)?,
                r.try_get(2)?,
                r.try_get(3)?,
                r.try_get(4)?,
            ))
        })
        .fetch_all(self.conn())
        .await?;
        Ok((items, total))
    }

    pub async fn alias_delete(&mut self, id: Uuid) -> Result<bool> {
        let done = sqlx::query("DELETE FROM kg_aliases WHERE tenant_id = $1 AND id = $2")
            .bind(self.tenant_id)
            .bind(id)
            .execute(self.conn())
            .await?;
        Ok(done.rows_affected() == 1)
    }

    pub async fn predicate_list(
        &mut self,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<PredicateRow>, i64)> {
        let total = sqlx::query_scalar("SELECT count(*) FROM kg_predicates WHERE tenant_id = $1")
            .bind(self.tenant_id)
            .fetch_one(self.conn())
            .await?;
        let sql = format!(
            "SELECT {PREDICATE} FROM kg_predicates p WHERE p.tenant_id = $1 ORDER BY p.name LIMIT $2 OFFSET $3"
        );
        let items = sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(limit)
            .bind(offset)
            .try_map(|r: PgRow| predicate(&r))
            .fetch_all(self.conn())
            .await?;
        Ok((items, total))
    }

    /// # Errors
    /// [`crate::StoreError::Dangling`] when a predicate referred to does not exist.
    pub async fn predicate_update(
        &mut self,
        id: Uuid,
        c: &PredicateChange,
    ) -> Result<Option<PredicateRow>> {
        let sql = format!(
            "UPDATE kg_predicates p SET functional = CASE WHEN $3 THEN $4 ELSE p.functional END,
                    is_symmetric = coalesce($5, p.is_symmetric),
                    inverse_of = CASE WHEN $6 THEN $7 ELSE p.inverse_of END,
                    exclusive_with = CASE WHEN $8 THEN $9 ELSE p.exclusive_with END
             WHERE p.tenant_id = $1 AND p.id = $2 RETURNING {PREDICATE}"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(id)
            .bind(c.functional.is_some())
            .bind(c.functional.flatten())
            .bind(c.symmetric)
            .bind(c.inverse_of.is_some())
            .bind(c.inverse_of.flatten())
            .bind(c.exclusive_with.is_some())
            .bind(c.exclusive_with.flatten())
            .try_map(|r: PgRow| predicate(&r))
            .fetch_optional(self.conn())
            .await
            .map_err(Into::into)
    }
}
