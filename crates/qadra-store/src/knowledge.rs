//! Nodes, aliases, predicates and triples. Keys are normalised by the caller (`qadra-epistemic`), so that
//! what is stored and what is looked up fold alike.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Postgres, QueryBuilder, Row};
use uuid::Uuid;

use crate::{Result, TenantTx};

pub struct NodeRow {
    pub id: Uuid,
    pub label: String,
    pub kind: Option<String>,
    pub aliases: Vec<(Uuid, String)>,
    pub created_at: DateTime<Utc>,
}

#[derive(Debug, Clone)]
pub struct PredicateRow {
    pub id: Uuid,
    pub name: String,
    pub functional: Option<bool>,
    pub symmetric: bool,
    pub inverse_of: Option<Uuid>,
    pub exclusive_with: Option<Uuid>,
}

#[derive(Default)]
pub struct PredicateChange {
    pub functional: Option<Option<bool>>,
    pub symmetric: Option<bool>,
    pub inverse_of: Option<Option<Uuid>>,
    pub exclusive_with: Option<Option<Uuid>>,
}

/// A name of the graph that a looked-up key equals.
pub enum NameRow {
    Node {
        key: String,
        id: Uuid,
        label: String,
        alias: bool,
    },
    Predicate {
        key: String,
        predicate: PredicateRow,
    },
}

#[derive(Debug, Clone)]
pub struct TripleRow {
    pub id: Uuid,
    pub subject_id: Uuid,
    pub subject_label: String,
    pub predicate_id: Uuid,
    pub predicate: String,
    pub object_node_id: Option<Uuid>,
    /// The typed literal when the object is no node.
    pub object: Option<Value>,
    pub object_label: String,
    pub positive: bool,
    pub confidence: f32,
    pub kind: String,
    pub source: Option<String>,
    pub valid_from: Option<NaiveDate>,
    pub valid_to: Option<NaiveDate>,
    pub retracted_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

/// A node by name, with the two folded forms of it (see `kg_nodes`).
#[derive(Debug, Clone)]
pub struct NodeName {
    pub label: String,
    pub identity: String,
    pub key: String,
}

/// The object of a statement to store.
pub enum NewObject {
    Node(NodeName),
    /// A typed literal with its canonical form and how people read it.
    Literal {
        value: Value,
        key: String,
        label: String,
    },
}

/// A statement to store: names are found or made.
pub struct NewTriple {
    pub subject: NodeName,
    pub predicate: String,
    /// The phrases the predicate is found by.
    pub predicate_keys: Vec<String>,
    pub object: NewObject,
    pub positive: bool,
    pub confidence: f32,
    pub kind: String,
    pub source: Option<String>,
    pub valid_from: Option<NaiveDate>,
    pub valid_to: Option<NaiveDate>,
}

/// `None` does not filter. Subject and object are identities; `words` is looked for in the labels as typed.
#[derive(Default)]
pub struct TripleFilter {
    pub subject: Option<String>,
    pub predicate: Option<String>,
    pub object: Option<String>,
    /// The canonical form that `object` has if it is a literal.
    pub object_key: Option<String>,
    pub words: Option<String>,
    pub node_id: Option<Uuid>,
    pub include_retracted: bool,
    pub limit: i64,
    pub offset: i64,
}

const TRIPLE: &str = "t.id, t.subject_id, s.label, t.predicate_id, p.name, t.object_node_id, t.object, \
     coalesce(o.label, t.object_label), t.polarity, t.confidence, t.kind, t.source, t.valid_from, t.valid_to, \
     t.retracted_at, t.created_at";
const TRIPLE_JOINS: &str = "JOIN kg_nodes s ON s.tenant_id = t.tenant_id AND s.id = t.subject_id \
     JOIN kg_predicates p ON p.tenant_id = t.tenant_id AND p.id = t.predicate_id \
     LEFT JOIN kg_nodes o ON o.tenant_id = t.tenant_id AND o.id = t.object_node_id";
const PREDICATE: &str =
    "p.id, p.name, p.functional, p.is_symmetric, p.inverse_of, p.exclusive_with";

impl TenantTx {
    /// Every node, alias and predicate whose key is among `keys`: one round trip, three index look-ups.
    pub async fn names_find(&mut self, keys: &[String]) -> Result<Vec<NameRow>> {
        sqlx::query(
            "SELECT key, id, label, false AS alias, NULL::boolean, NULL::boolean, NULL::uuid, NULL::uuid, 'node' AS what
             FROM kg_nodes WHERE tenant_id = $1 AND key = ANY ($2)
             UNION ALL
             SELECT a.key, n.id, n.label, true, NULL, NULL, NULL, NULL, 'node'
             FROM kg_aliases a JOIN kg_nodes n ON n.tenant_id = a.tenant_id AND n.id = a.node_id
             WHERE a.tenant_id = $1 AND a.key = ANY ($2)
             UNION ALL
             SELECT k.key, p.id, p.name, false, p.functional, p.is_symmetric, p.inverse_of, p.exclusive_with, 'predicate'
             FROM kg_predicate_keys k JOIN kg_predicates p ON p.tenant_id = k.tenant_id AND p.id = k.predicate_id
             WHERE k.tenant_id = $1 AND k.key = ANY ($2)",
        )
        .bind(self.tenant_id)
        .bind(keys)
        .try_map(|r: PgRow| {
            let (key, id, label) = (r.try_get(0)?, r.try_get(1)?, r.try_get(2)?);
            Ok(match r.try_get::<&str, _>(8)? {
                "node" => NameRow::Node { key, id, label, alias: r.try_get(3)? },
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

    /// Statements about the nodes in either place, the most certain first, at most `per_node` each way for
    /// each node; with `hops` 2 also those around the nodes found. One round trip.
    ///
    /// Statements with one of the asked `predicates` come before others where the cap bites; when no node is
    /// named, up to `per_node` statements of each asked predicate are fetched.
    pub async fn triples_around(
        &mut self,
        nodes: &[Uuid],
        predicates: &[Uuid],
        per_node: i64,
        hops: u8,
    ) -> Result<Vec<TripleRow>> {
        let sql = format!(
            "WITH one AS (
                SELECT t.* FROM unnest($2::uuid[]) AS n (id), LATERAL (
                    (SELECT id, subject_id, object_node_id FROM kg_triples WHERE tenant_id = $1 AND subject_id = n.id
                        AND retracted_at IS NULL ORDER BY confidence DESC LIMIT $3)
                    UNION ALL
                    (SELECT id, subject_id, object_node_id FROM kg_triples WHERE tenant_id = $1 AND object_node_id = n.id
                        AND retracted_at IS NULL ORDER BY confidence DESC LIMIT $3)
                    UNION ALL
                    (SELECT id, subject_id, object_node_id FROM kg_triples WHERE tenant_id = $1 AND subject_id = n.id
                        AND predicate_id = ANY ($5) AND retracted_at IS NULL ORDER BY confidence DESC LIMIT $3)) t
                UNION ALL
                SELECT t.* FROM unnest($5::uuid[]) AS p (id), LATERAL (
                    SELECT id, subject_id, object_node_id FROM kg_triples WHERE tenant_id = $1 AND predicate_id = p.id
                        AND retracted_at IS NULL AND cardinality($2) = 0 LIMIT $3) t
             ), rim AS (
                SELECT DISTINCT x.id FROM one, LATERAL (VALUES (one.subject_id), (one.object_node_id)) AS x (id)
                WHERE $4 AND x.id IS NOT NULL AND x.id <> ALL ($2) LIMIT 200
             ), two AS (
                SELECT t.id FROM rim, LATERAL (
                    (SELECT id FROM kg_triples WHERE tenant_id = $1 AND subject_id = rim.id
                        AND retracted_at IS NULL ORDER BY confidence DESC LIMIT 20)
                    UNION ALL
                    (SELECT id FROM kg_triples WHERE tenant_id = $1 AND object_node_id = rim.id
                        AND retracted_at IS NULL ORDER BY confidence DESC LIMIT 20)) t
             )
             SELECT {TRIPLE} FROM kg_triples t {TRIPLE_JOINS}
             WHERE t.tenant_id = $1 AND t.id IN (SELECT id FROM one UNION SELECT id FROM two)"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(nodes)
            .bind(per_node)
            .bind(hops > 1)
            .bind(predicates)
            .try_map(triple)
            .fetch_all(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Settings and a sample of the use of each predicate, over at most 500 of its statements:
    /// `(row, subjects, subjects with one object)`.
    pub async fn predicate_stats(&mut self, ids: &[Uuid]) -> Result<Vec<(PredicateRow, i64, i64)>> {
        let sql = format!(
            "SELECT {PREDICATE}, x.subjects, x.single FROM kg_predicates p, LATERAL (
                SELECT count(*) AS subjects, count(*) FILTER (WHERE objects = 1) AS single FROM (
                    SELECT count(DISTINCT object_key) AS objects FROM (
                        SELECT subject_id, object_key FROM kg_triples WHERE tenant_id = $1 AND predicate_id = p.id
                            AND retracted_at IS NULL AND polarity LIMIT 500) t GROUP BY subject_id) s) x
             WHERE p.tenant_id = $1 AND p.id = ANY ($2)"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(ids)
            .try_map(|r: PgRow| Ok((predicate(&r)?, r.try_get(6)?, r.try_get(7)?)))
            .fetch_all(self.conn())
            .await
            .map_err(Into::into)
    }

    /// Stores statements, making nodes and predicates that are new. A statement that stands already (same
    /// source, same validity) is kept and its confidence raised to the new one. Ids come in input order.
    pub async fn triples_insert(
        &mut self,
        triples: &[NewTriple],
        actor_id: Uuid,
    ) -> Result<Vec<Uuid>> {
        let names: Vec<&NodeName> = triples
            .iter()
            .flat_map(|t| {
                let object = match &t.object {
                    NewObject::Node(name) => Some(name),
                    NewObject::Literal { .. } => None,
                };
                [Some(&t.subject), object].into_iter().flatten()
            })
            .collect();
        let nodes = self.nodes_ensure(&names).await?;
        let predicates = self.predicates_ensure(triples).await?;
        let mut rows = Vec::with_capacity(triples.len());
        for t in triples {
            let (Some(subject), Some(predicate)) =
                (nodes.get(&t.subject.identity), predicates.get(&t.predicate))
            else {
                return Err(sqlx::Error::RowNotFound.into());
            };
            let (object_node, object, object_key, object_label) = match &t.object {
                NewObject::Node(name) => {
                    let id = nodes
                        .get(&name.identity)
                        .copied()
                        .ok_or(sqlx::Error::RowNotFound)?;
                    (Some(id), None, id.to_string(), &name.label)
                }
                NewObject::Literal { value, key, label } => (None, Some(value), key.clone(), label),
            };
            rows.push((
                t,
                subject,
                predicate,
                object_node,
                object,
                object_key,
                object_label,
            ));
        }
        // In the order of their key, as the nodes: each statement that stands already is locked.
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|i| {
            rows.get(*i)
                .map(|(t, subject, predicate, _, _, object_key, _)| {
                    (
                        *subject,
                        *predicate,
                        object_key,
                        t.positive,
                        &t.kind,
                        &t.source,
                        t.valid_from,
                        t.valid_to,
                    )
                })
        });
        let mut ids = vec![Uuid::nil(); rows.len()];
        for i in order {
            let (
                Some((t, subject, predicate, object_node, object, object_key, object_label)),
                Some(id),
            ) = (rows.get(i), ids.get_mut(i))
            else {
                continue;
            };
            *id = sqlx::query_scalar(
                "INSERT INTO kg_triples AS k (tenant_id, id, subject_id, predicate_id, object_node_id, object, object_key,
                        object_label, polarity, confidence, kind, source, valid_from, valid_to, created_by)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
                 ON CONFLICT (tenant_id, subject_id, predicate_id, object_key, polarity, kind, coalesce(source, ''),
                        coalesce(valid_from, '-infinity'), coalesce(valid_to, 'infinity')) WHERE retracted_at IS NULL
                 DO UPDATE SET confidence = greatest(k.confidence, excluded.confidence) RETURNING id",
            )
            .bind(self.tenant_id)
            .bind(qadra_types::new_id())
            .bind(subject)
            .bind(predicate)
            .bind(object_node)
            .bind(object)
            .bind(object_key)
            .bind(object_label)
            .bind(t.positive)
            .bind(t.confidence)
            .bind(&t.kind)
            .bind(&t.source)
            .bind(t.valid_from)
            .bind(t.valid_to)
            .bind(actor_id)
            .fetch_one(self.conn())
            .await?;
        }
        Ok(ids)
    }

    /// Finds each named node by label or alias, and makes those that are new. Returns identity → id.
    async fn nodes_ensure(&mut self, names: &[&NodeName]) -> Result<HashMap<String, Uuid>> {
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
        // A label wins over an alias; of several nodes with the alias, the oldest.
        let found: Vec<(String, Uuid)> = sqlx::query_as(
            "SELECT DISTINCT ON (identity) identity, id FROM (
                SELECT identity, id, 0 AS rank FROM kg_nodes WHERE tenant_id = $1 AND identity = ANY ($2)
                UNION ALL
                SELECT identity, node_id, 1 FROM kg_aliases WHERE tenant_id = $1 AND identity = ANY ($2)) x
             ORDER BY identity, rank, id",
        )
        .bind(self.tenant_id)
        .bind(&identities)
        .fetch_all(self.conn())
        .await?;
        Ok(found.into_iter().collect())
    }

    /// As [`TenantTx::nodes_ensure`], for predicates by their name.
    async fn predicates_ensure(&mut self, triples: &[NewTriple]) -> Result<HashMap<String, Uuid>> {
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

    pub async fn triple_list(&mut self, f: &TripleFilter) -> Result<(Vec<TripleRow>, i64)> {
        let mut count = QueryBuilder::new("SELECT count(*) ");
        self.triples_matching(&mut count, f);
        let total = count.build_query_scalar().fetch_one(self.conn()).await?;
        let mut page = QueryBuilder::new(format!("SELECT {TRIPLE} "));
        self.triples_matching(&mut page, f);
        page.push(" ORDER BY t.created_at DESC, t.id DESC LIMIT ")
            .push_bind(f.limit);
        page.push(" OFFSET ").push_bind(f.offset);
        let items = page.build().try_map(triple).fetch_all(self.conn()).await?;
        Ok((items, total))
    }

    fn triples_matching(&self, q: &mut QueryBuilder<Postgres>, f: &TripleFilter) {
        q.push(format!(
            "FROM kg_triples t {TRIPLE_JOINS} WHERE t.tenant_id = "
        ))
        .push_bind(self.tenant_id);
        if !f.include_retracted {
            q.push(" AND t.retracted_at IS NULL");
        }
        if let Some(subject) = &f.subject {
            q.push(" AND t.subject_id IN ");
            self.nodes_named(q, subject);
        }
        if let Some(object) = &f.object {
            q.push(" AND (t.object_node_id IN ");
            self.nodes_named(q, object);
            if let Some(key) = &f.object_key {
                q.push(" OR (t.object_node_id IS NULL AND t.object_key = ")
                    .push_bind(key.clone())
                    .push(")");
            }
            q.push(")");
        }
        if let Some(predicate) = &f.predicate {
            q.push(" AND lower(p.name) = lower(")
                .push_bind(predicate.clone())
                .push(")");
        }
        if let Some(words) = &f.words {
            let pattern = like(words);
            q.push(" AND (s.label ILIKE ").push_bind(pattern.clone());
            q.push(" OR p.name ILIKE ").push_bind(pattern.clone());
            q.push(" OR coalesce(o.label, t.object_label) ILIKE ")
                .push_bind(pattern)
                .push(")");
        }
        if let Some(id) = f.node_id {
            q.push(" AND (t.subject_id = ")
                .push_bind(id)
                .push(" OR t.object_node_id = ")
                .push_bind(id)
                .push(")");
        }
    }

    /// A sub-select of the nodes with that label or alias: found first, so that the triples' indexes lead.
    fn nodes_named(&self, q: &mut QueryBuilder<Postgres>, identity: &str) {
        q.push("(SELECT id FROM kg_nodes WHERE tenant_id = ")
            .push_bind(self.tenant_id);
        q.push(" AND identity = ").push_bind(identity.to_owned());
        q.push(" UNION ALL SELECT node_id FROM kg_aliases WHERE tenant_id = ")
            .push_bind(self.tenant_id);
        q.push(" AND identity = ")
            .push_bind(identity.to_owned())
            .push(")");
    }

    /// The statements with these ids, in no particular order, retracted ones too.
    pub async fn triples_get(&mut self, ids: &[Uuid]) -> Result<Vec<TripleRow>> {
        let sql = format!(
            "SELECT {TRIPLE} FROM kg_triples t {TRIPLE_JOINS} WHERE t.tenant_id = $1 AND t.id = ANY ($2)"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(ids)
            .try_map(triple)
            .fetch_all(self.conn())
            .await
            .map_err(Into::into)
    }

    /// False when there is no such statement. Retracting twice is no error and changes nothing.
    pub async fn triple_retract(&mut self, id: Uuid, actor_id: Uuid) -> Result<bool> {
        let done = sqlx::query(
            "UPDATE kg_triples SET retracted_at = coalesce(retracted_at, now()), retracted_by = coalesce(retracted_by, $3)
             WHERE tenant_id = $1 AND id = $2",
        )
        .bind(self.tenant_id)
        .bind(id)
        .bind(actor_id)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

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

    pub async fn node_get(&mut self, id: Uuid) -> Result<Option<NodeRow>> {
        sqlx::query(AssertSqlSafe(format!(
            "SELECT {NODE} FROM kg_nodes n WHERE n.tenant_id = $1 AND n.id = $2"
        )))
        .bind(self.tenant_id)
        .bind(id)
        .try_map(node)
        .fetch_optional(self.conn())
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
        let matching = "FROM kg_nodes n WHERE n.tenant_id = $1 AND ($2::text IS NULL OR n.label ILIKE $2 OR EXISTS
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

const NODE: &str = "n.id, n.label, n.kind, n.created_at, \
     ARRAY(SELECT a.id FROM kg_aliases a WHERE a.tenant_id = n.tenant_id AND a.node_id = n.id ORDER BY a.alias, a.id), \
     ARRAY(SELECT a.alias FROM kg_aliases a WHERE a.tenant_id = n.tenant_id AND a.node_id = n.id ORDER BY a.alias, a.id)";

fn node(r: PgRow) -> sqlx::Result<NodeRow> {
    let (ids, names): (Vec<Uuid>, Vec<String>) = (r.try_get(4)?, r.try_get(5)?);
    Ok(NodeRow {
        id: r.try_get(0)?,
        label: r.try_get(1)?,
        kind: r.try_get(2)?,
        created_at: r.try_get(3)?,
        aliases: ids.into_iter().zip(names).collect(),
    })
}

fn predicate(r: &PgRow) -> sqlx::Result<PredicateRow> {
    Ok(PredicateRow {
        id: r.try_get(0)?,
        name: r.try_get(1)?,
        functional: r.try_get(2)?,
        symmetric: r.try_get(3)?,
        inverse_of: r.try_get(4)?,
        exclusive_with: r.try_get(5)?,
    })
}

fn triple(r: PgRow) -> sqlx::Result<TripleRow> {
    Ok(TripleRow {
        id: r.try_get(0)?,
        subject_id: r.try_get(1)?,
        subject_label: r.try_get(2)?,
        predicate_id: r.try_get(3)?,
        predicate: r.try_get(4)?,
        object_node_id: r.try_get(5)?,
        object: r.try_get(6)?,
        object_label: r.try_get(7)?,
        positive: r.try_get(8)?,
        confidence: r.try_get(9)?,
        kind: r.try_get(10)?,
        source: r.try_get(11)?,
        valid_from: r.try_get(12)?,
        valid_to: r.try_get(13)?,
        retracted_at: r.try_get(14)?,
        created_at: r.try_get(15)?,
    })
}

/// A pattern that finds `words` anywhere, its own wildcards taken literally.
fn like(words: &str) -> String {
    format!(
        "%{}%",
        words
            .replace('\\', "\\\\")
            .replace('%', "\\%")
            .replace('_', "\\_")
    )
}
