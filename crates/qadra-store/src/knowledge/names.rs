//! From names to nodes and predicates, found or made.

use std::collections::{BTreeSet, HashMap};

use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::{NameRow, NewTriple, NodeName, PredicateRow, SimilarName};
use crate::{Result, TenantTx};

const NAMES: &str = include_str!("names.sql");

impl TenantTx {
    /// The nodes, aliases and predicates whose key is among `keys`, at most 16 of each sort for each key: one round
    /// trip, three index look-ups for each key.
    pub async fn names_find(&mut self, keys: &[String]) -> Result<Vec<NameRow>> {
        sqlx::query(NAMES)
            .bind(self.tenant_id)
            .bind(keys)
            .try_map(|r: PgRow| {
                let (key, id, label) = (r.try_get(0)?, r.try_get(1)?, r.try_get(2)?);
                Ok(match r.try_get::<&str, _>(8)? {
                    "node" => NameRow::Node {
                        key,
                        id,
                        label,
                        alias: r.try_get(3)?,
                    },
                    _ => NameRow::Predicate {
                        key,
                        predicate: PredicateRow {
                            id,
                            name: label,
                            functional: r.try_get(4)?,
                            symmetric: r.try_get::<Option<bool>, _>(5)?.unwrap_or(false),
                            inverse_of: r.try_get(6)?,
                            exclusive_with: r.try_get(7)?,
                        },
                    },
                })
            })
            .fetch_all(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Names that may be what each of the first 16 keys was meant to be, by label or alias, at most 2,000. They are
    /// candidates for whoever compares them; the function that finds them is in the migrations.
    pub async fn names_similar(&mut self, keys: &[String]) -> Result<Vec<SimilarName>> {
        sqlx::query("SELECT key, node_id, label, name, name_key FROM similar_names($1)")
            .bind(keys)
            .try_map(|r: PgRow| {
                Ok(SimilarName {
                    key: r.try_get(0)?,
                    node_id: r.try_get(1)?,
                    label: r.try_get(2)?,
                    name: r.try_get(3)?,
                    name_key: r.try_get(4)?,
                })
            })
            .fetch_all(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Finds each named node by label or alias, and makes those that are new. Returns identity → id.
    pub(crate) async fn nodes_ensure(
        &mut self,
        names: &[&NodeName],
    ) -> Result<HashMap<String, Uuid>> {
        let identities: Vec<&str> = names.iter().map(|n| n.identity.as_str()).collect();
        let keys: Vec<&str> = names.iter().map(|n| n.key.as_str()).collect();
        let labels: Vec<&str> = names.iter().map(|n| n.label.as_str()).collect();
        let ids: Vec<Uuid> = names.iter().map(|_| qadra_types::new_id()).collect();
        // Sorted, so that two transactions that make the same nodes wait for each other instead of deadlocking.
        sqlx::query(
            "INSERT INTO kg_nodes (tenant_id, id, label, identity, key)
             SELECT DISTINCT ON (x.identity) $1, x.id, x.label, x.identity, x.key
             FROM unnest($2::text[], $3::text[], $4::text[], $5::uuid[]) AS x (identity, key, label, id)
             WHERE NOT EXISTS (SELECT 1 FROM kg_aliases a WHERE a.tenant_id = $1 AND a.identity = x.identity)
             ORDER BY x.identity ON CONFLICT (tenant_id, identity) DO NOTHING",
        )
        .bind(self.tenant_id)
        .bind(&identities)
        .bind(&keys)
        .bind(&labels)
        .bind(&ids)
        .execute(self.conn())
        .await?;
        // A label wins over an alias; of several nodes with the alias, the oldest. The lock waits for a merge that is
        // under way, and then tells where the node went.
        let found: Vec<(String, Uuid)> = sqlx::query_as(
            "SELECT x.identity, coalesce(n.merged_into, n.id) FROM (
                SELECT DISTINCT ON (identity) identity, id FROM (
                    SELECT identity, id, 0 AS rank FROM kg_nodes WHERE tenant_id = $1 AND identity = ANY ($2)
                    UNION ALL
                    SELECT identity, node_id, 1 FROM kg_aliases WHERE tenant_id = $1 AND identity = ANY ($2)) y
                ORDER BY identity, rank, id) x
             JOIN kg_nodes n ON n.tenant_id = $1 AND n.id = x.id ORDER BY n.id FOR KEY SHARE OF n",
        )
        .bind(self.tenant_id)
        .bind(&identities)
        .fetch_all(self.conn())
        .await?;
        Ok(found.into_iter().collect())
    }

    /// As [`TenantTx::nodes_ensure`], for predicates by their name.
    pub(crate) async fn predicates_ensure(
        &mut self,
        triples: &[NewTriple],
    ) -> Result<HashMap<String, Uuid>> {
        let names: Vec<&str> = triples.iter().map(|t| t.predicate.as_str()).collect();
        let ids: Vec<Uuid> = triples.iter().map(|_| qadra_types::new_id()).collect();
        sqlx::query(
            "INSERT INTO kg_predicates (tenant_id, id, name)
             SELECT DISTINCT ON (x.name) $1, x.id, x.name FROM unnest($2::text[], $3::uuid[]) AS x (name, id)
             ORDER BY x.name ON CONFLICT (tenant_id, name) DO NOTHING",
        )
        .bind(self.tenant_id)
        .bind(&names)
        .bind(&ids)
        .execute(self.conn())
        .await?;
        let found: HashMap<String, Uuid> = sqlx::query_as(
            "SELECT name, id FROM kg_predicates WHERE tenant_id = $1 AND name = ANY ($2)",
        )
        .bind(self.tenant_id)
        .bind(&names)
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .collect();
        let keys: BTreeSet<(&str, Uuid)> = triples
            .iter()
            .filter_map(|t| found.get(&t.predicate).map(|id| (t, *id)))
            .flat_map(|(t, id)| t.predicate_keys.iter().map(move |k| (k.as_str(), id)))
            .collect();
        sqlx::query(
            "INSERT INTO kg_predicate_keys (tenant_id, key, predicate_id)
             SELECT $1, x.key, x.id FROM unnest($2::text[], $3::uuid[]) AS x (key, id) ON CONFLICT DO NOTHING",
        )
        .bind(self.tenant_id)
        .bind(keys.iter().map(|k| k.0).collect::<Vec<_>>())
        .bind(keys.iter().map(|k| k.1).collect::<Vec<_>>())
        .execute(self.conn())
        .await?;
        Ok(found)
    }
}
