//! The graph around nodes, hop by hop, and statements that may contradict each other.

use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::{Result, TenantTx};

/// Which statements count as edges. `None` does not filter.
#[derive(Default)]
pub struct EdgeFilter {
    pub predicates: Option<Vec<Uuid>>,
    pub kinds: Option<Vec<String>>,
    pub min_confidence: f32,
    pub positive: Option<bool>,
}

/// A statement between two nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeEnds {
    pub id: Uuid,
    pub subject: Uuid,
    pub object: Uuid,
}

/// A node with how many statements tie it to others, counted to at most 1,000 in each direction.
pub struct NodeDegree {
    pub id: Uuid,
    pub label: String,
    pub kind: Option<String>,
    pub degree: i64,
}

impl TenantTx {
    /// Statements that tie the nodes to others, the most certain first, at most `per_node` each way for each node.
    pub async fn edges_around(
        &mut self,
        nodes: &[Uuid],
        filter: &EdgeFilter,
        per_node: i64,
    ) -> Result<Vec<EdgeEnds>> {
        sqlx::query(
            "SELECT t.id, t.subject_id, t.object_node_id FROM unnest($2::uuid[]) AS n (id), LATERAL (
                (SELECT id, subject_id, object_node_id, confidence FROM kg_triples WHERE tenant_id = $1 AND subject_id = n.id
                    AND retracted_at IS NULL AND object_node_id IS NOT NULL
                    AND ($4::uuid[] IS NULL OR predicate_id = ANY ($4)) AND ($5::text[] IS NULL OR kind = ANY ($5))
                    AND confidence >= $6 AND ($7::boolean IS NULL OR polarity = $7) ORDER BY confidence DESC LIMIT $3)
                UNION ALL
                (SELECT id, subject_id, object_node_id, confidence FROM kg_triples WHERE tenant_id = $1 AND object_node_id = n.id
                    AND retracted_at IS NULL
                    AND ($4::uuid[] IS NULL OR predicate_id = ANY ($4)) AND ($5::text[] IS NULL OR kind = ANY ($5))
                    AND confidence >= $6 AND ($7::boolean IS NULL OR polarity = $7) ORDER BY confidence DESC LIMIT $3)) t
             ORDER BY t.confidence DESC, t.id",
        )
        .bind(self.tenant_id)
        .bind(nodes)
        .bind(per_node)
        .bind(&filter.predicates)
        .bind(&filter.kinds)
        .bind(filter.min_confidence)
        .bind(filter.positive)
        .try_map(ends)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// Statements between two of the nodes, found among the 1,000 most certain ones of each, at most `limit`.
    pub async fn edges_within(
        &mut self,
        nodes: &[Uuid],
        filter: &EdgeFilter,
        limit: i64,
    ) -> Result<Vec<EdgeEnds>> {
        sqlx::query(
            "WITH members AS MATERIALIZED (SELECT id FROM unnest($2::uuid[]) AS n (id))
             SELECT t.id, t.subject_id, t.object_node_id FROM members n, LATERAL (
                SELECT id, subject_id, object_node_id, confidence FROM kg_triples WHERE tenant_id = $1 AND subject_id = n.id
                    AND retracted_at IS NULL AND object_node_id IS NOT NULL
                    AND ($4::uuid[] IS NULL OR predicate_id = ANY ($4)) AND ($5::text[] IS NULL OR kind = ANY ($5))
                    AND confidence >= $6 AND ($7::boolean IS NULL OR polarity = $7) ORDER BY confidence DESC LIMIT 1000) t
             JOIN members m ON m.id = t.object_node_id ORDER BY t.confidence DESC, t.id LIMIT $3",
        )
        .bind(self.tenant_id)
        .bind(nodes)
        .bind(limit)
        .bind(&filter.predicates)
        .bind(&filter.kinds)
        .bind(filter.min_confidence)
        .bind(filter.positive)
        .try_map(ends)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// Labels, kinds and degrees of nodes that live, in no particular order.
    pub async fn nodes_degree(&mut self, ids: &[Uuid]) -> Result<Vec<NodeDegree>> {
        sqlx::query(
            "SELECT n.id, n.label, n.kind, a.many + b.many FROM kg_nodes n,
                LATERAL (SELECT count(*) AS many FROM (SELECT 1 FROM kg_triples WHERE tenant_id = $1 AND subject_id = n.id
                    AND retracted_at IS NULL AND object_node_id IS NOT NULL LIMIT 1000) x) a,
                LATERAL (SELECT count(*) AS many FROM (SELECT 1 FROM kg_triples WHERE tenant_id = $1 AND object_node_id = n.id
                    AND retracted_at IS NULL LIMIT 1000) x) b
             WHERE n.tenant_id = $1 AND n.id = ANY ($2) AND n.merged_into IS NULL",
        )
        .bind(self.tenant_id)
        .bind(ids)
        .try_map(|r: PgRow| {
            Ok(NodeDegree {
                id: r.try_get(0)?,
                label: r.try_get(1)?,
                kind: r.try_get(2)?,
                degree: r.try_get(3)?,
            })
        })
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// Statements among which a contradiction may be: of one subject and one of the `functional` predicates with more
    /// than one object, denied and asserted (also through an inverse or mirrored predicate), or under two predicates
    /// that exclude each other. At most `limit` groups of each sort; whoever asks for one node gets those about it.
    pub async fn conflict_candidates(
        &mut self,
        functional: &[Uuid],
        limit: i64,
    ) -> Result<Vec<Uuid>> {
        sqlx::query_scalar(
            "WITH doubled AS (
                SELECT t.id FROM (
                    SELECT p.id AS p, g.s FROM unnest($2::uuid[]) AS p (id), LATERAL (
                        SELECT subject_id AS s FROM kg_triples WHERE tenant_id = $1 AND predicate_id = p.id
                            AND retracted_at IS NULL AND polarity
                        GROUP BY subject_id HAVING min(object_key) <> max(object_key) LIMIT $3) g LIMIT $3) g,
                    LATERAL (SELECT id FROM kg_triples WHERE tenant_id = $1 AND predicate_id = g.p AND subject_id = g.s
                        AND retracted_at IS NULL AND polarity LIMIT 16) t
             ), mirrors AS MATERIALIZED (
                SELECT id AS p, id AS q FROM kg_predicates WHERE tenant_id = $1 AND is_symmetric
                UNION SELECT id, inverse_of FROM kg_predicates WHERE tenant_id = $1 AND inverse_of IS NOT NULL
                UNION SELECT inverse_of, id FROM kg_predicates WHERE tenant_id = $1 AND inverse_of IS NOT NULL
             ), denied AS (
                SELECT n.id AS a, t.id AS b FROM (
                    SELECT k.id, k.subject_id, k.predicate_id, k.object_node_id, k.object_key FROM kg_triples k
                    WHERE k.tenant_id = $1 AND k.retracted_at IS NULL AND NOT k.polarity ORDER BY k.created_at DESC LIMIT 20000) n,
                    LATERAL (
                        (SELECT id FROM kg_triples t WHERE t.tenant_id = $1 AND t.subject_id = n.subject_id
                            AND t.predicate_id = n.predicate_id AND t.object_key = n.object_key AND t.polarity
                            AND t.retracted_at IS NULL LIMIT 4)
                        UNION ALL
                        (SELECT t.id FROM mirrors m JOIN kg_triples t ON t.tenant_id = $1 AND t.predicate_id = m.q
                            WHERE m.p = n.predicate_id AND n.object_node_id IS NOT NULL
                            AND t.subject_id = n.object_node_id AND t.object_key = n.subject_id::text AND t.polarity
                            AND t.retracted_at IS NULL LIMIT 4)) t LIMIT $3
             ), excluded AS (
                SELECT a.id AS a, b.id AS b FROM kg_predicates p
                    JOIN kg_triples a ON a.tenant_id = $1 AND a.predicate_id = p.id AND a.retracted_at IS NULL AND a.polarity,
                    LATERAL (SELECT t.id FROM kg_triples t WHERE t.tenant_id = $1 AND t.subject_id = a.subject_id
                        AND t.predicate_id = p.exclusive_with AND t.object_key = a.object_key AND t.polarity
                        AND t.retracted_at IS NULL LIMIT 4) b
                WHERE p.tenant_id = $1 AND p.exclusive_with IS NOT NULL LIMIT $3
             )
             SELECT id FROM doubled UNION SELECT a FROM denied UNION SELECT b FROM denied
             UNION SELECT a FROM excluded UNION SELECT b FROM excluded",
        )
        .bind(self.tenant_id)
        .bind(functional)
        .bind(limit)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// Ids of the predicates with these names, without regard to case.
    pub async fn predicates_named(&mut self, names: &[String]) -> Result<Vec<Uuid>> {
        let names: Vec<String> = names.iter().map(|n| n.trim().to_lowercase()).collect();
        sqlx::query_scalar(
            "SELECT id FROM kg_predicates WHERE tenant_id = $1 AND lower(name) = ANY ($2)",
        )
        .bind(self.tenant_id)
        .bind(names)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// Ids of at most `limit` predicates that are not said to be non-functional, the ones that are said to be first.
    pub async fn predicates_maybe_functional(&mut self, limit: i64) -> Result<Vec<Uuid>> {
        sqlx::query_scalar(
            "SELECT id FROM kg_predicates WHERE tenant_id = $1 AND functional IS NOT FALSE
             ORDER BY functional NULLS LAST, id LIMIT $2",
        )
        .bind(self.tenant_id)
        .bind(limit)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }
}

fn ends(r: PgRow) -> sqlx::Result<EdgeEnds> {
    Ok(EdgeEnds {
        id: r.try_get(0)?,
        subject: r.try_get(1)?,
        object: r.try_get(2)?,
    })
}
