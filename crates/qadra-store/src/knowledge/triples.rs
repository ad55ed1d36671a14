//! Statements: the neighbourhood of nodes, storing, listing, retracting.

use std::collections::{HashMap, HashSet};

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Postgres, QueryBuilder, Row};
use uuid::Uuid;

use super::{
    NewObject, NewTriple, NodeName, PREDICATE, PredicateRow, PredicateUse, TRIPLE, TRIPLE_JOINS,
    TripleChange, TripleFilter, TripleRow, like, predicate, triple,
};
use crate::{Result, TenantTx};

const AROUND: &str = include_str!("around.sql");

/// Statements, each once, with their names, which are rows of their own in the answer of [`AROUND`].
fn around(rows: &[PgRow]) -> sqlx::Result<Vec<TripleRow>> {
    let (mut labels, mut names) = (HashMap::new(), HashMap::new());
    let mut statements = Vec::with_capacity(rows.len());
    for row in rows {
        match (row.try_get(0)?, row.try_get::<Option<Uuid>, _>(2)?) {
            (Some(id), Some(predicate)) => statements.push((id, predicate, row)),
            (Some::<Uuid>(node), None) => drop(labels.insert(node, row.try_get::<&str, _>(4)?)),
            (None, Some(predicate)) => drop(names.insert(predicate, row.try_get::<&str, _>(4)?)),
            (None, None) => {}
        }
    }
    let mut seen = HashSet::with_capacity(statements.len());
    statements.retain(|(id, ..)| seen.insert(*id));
    let mut found = Vec::with_capacity(statements.len());
    for (id, predicate_id, row) in statements {
        let subject_id: Uuid = row.try_get(1)?;
        let object_node_id: Option<Uuid> = row.try_get(3)?;
        let object_label: &str = match object_node_id.and_then(|id| labels.get(&id)) {
            Some(label) => label,
            None => row.try_get(4)?,
        };
        // A statement whose subject or predicate cannot be seen is not one.
        let (Some(subject), Some(predicate)) = (labels.get(&subject_id), names.get(&predicate_id))
        else {
            continue;
        };
        found.push(TripleRow {
            id,
            subject_id,
            subject_label: (*subject).to_owned(),
            predicate_id,
            predicate: (*predicate).to_owned(),
            object_node_id,
            object: match object_node_id {
                None => row.try_get(5)?,
                Some(_) => None,
            },
            object_label: object_label.to_owned(),
            positive: row.try_get(6)?,
            confidence: row.try_get(7)?,
            kind: row.try_get(8)?,
            source: row.try_get(9)?,
            valid_from: row.try_get(10)?,
            valid_to: row.try_get(11)?,
            retracted_at: None,
            created_at: row.try_get(12)?,
        });
    }
    Ok(found)
}

impl TenantTx {
    /// Statements about the nodes in either place, the most certain first, at most `per_node` each way for each
    /// node; with `hops` 2 also those between nodes, those that close a chain between them, and some around the nodes
    /// found. One round trip; each part is bounded, so a hub costs no more than its bound.
    ///
    /// The asked predicates share `per_node` more each way, at least 4 for each; when no node is named, up to `per_node`
    /// statements of each are fetched.
    pub async fn triples_around(
        &mut self,
        nodes: &[Uuid],
        predicates: &[Uuid],
        per_node: i64,
        hops: u8,
    ) -> Result<Vec<TripleRow>> {
        let rows = sqlx::query(AROUND)
            .bind(self.tenant_id)
            .bind(nodes)
            .bind(per_node)
            .bind(hops > 1)
            .bind(predicates)
            .fetch_all(self.conn())
            .await?;
        around(&rows).map_err(Into::into)
    }

    /// Settings and a sample of the use of each predicate: `(row, subjects, subjects with one object)`.
    pub async fn predicate_stats(&mut self, ids: &[Uuid]) -> Result<Vec<(PredicateRow, i64, i64)>> {
        let uses = self.predicate_uses(ids, ids).await?;
        Ok(uses
            .into_iter()
            .map(|u| (u.predicate, u.subjects, u.single))
            .collect())
    }

    /// Settings of each predicate and, for the `counted` ones, a sample of its use over at most 500 statements. The
    /// sample goes by subject, so that a subject is in it with all that it has.
    pub async fn predicate_uses(
        &mut self,
        ids: &[Uuid],
        counted: &[Uuid],
    ) -> Result<Vec<PredicateUse>> {
        let sql = format!(
            "SELECT {PREDICATE}, i.name, e.name, x.subjects, x.single FROM kg_predicates p
             LEFT JOIN kg_predicates i ON i.tenant_id = p.tenant_id AND i.id = p.inverse_of
             LEFT JOIN kg_predicates e ON e.tenant_id = p.tenant_id AND e.id = p.exclusive_with,
             LATERAL (SELECT count(*) AS subjects, count(*) FILTER (WHERE least = most) AS single FROM (
                SELECT min(object_key) AS least, max(object_key) AS most FROM (
                    SELECT subject_id, object_key FROM kg_triples WHERE tenant_id = $1 AND predicate_id = p.id
                        AND p.id = ANY ($3) AND retracted_at IS NULL AND polarity
                    ORDER BY subject_id, object_key LIMIT 500) t GROUP BY subject_id) s) x
             WHERE p.tenant_id = $1 AND p.id = ANY ($2)"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(self.tenant_id)
            .bind(ids)
            .bind(counted)
            .try_map(|r: PgRow| {
                Ok(PredicateUse {
                    predicate: predicate(&r)?,
                    inverse: r.try_get(6)?,
                    exclusive: r.try_get(7)?,
                    subjects: r.try_get(8)?,
                    single: r.try_get(9)?,
                })
            })
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
                 DO UPDATE SET confidence = greatest(k.confidence, excluded.confidence), stated = true RETURNING id",
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

    /// Qualifies a statement that stands. False when there is none of that id.
    ///
    /// # Errors
    /// [`crate::StoreError::Duplicate`] when another statement says the same then,
    /// [`crate::StoreError::Check`] when it would end before it begins.
    pub async fn triple_update(&mut self, id: Uuid, c: &TripleChange) -> Result<bool> {
        let done = sqlx::query(
            "UPDATE kg_triples SET valid_from = CASE WHEN $3 THEN $4 ELSE valid_from END,
                    valid_to = CASE WHEN $5 THEN $6 ELSE valid_to END,
                    confidence = coalesce($7, confidence), kind = coalesce($8, kind)
             WHERE tenant_id = $1 AND id = $2 AND retracted_at IS NULL",
        )
        .bind(self.tenant_id)
        .bind(id)
        .bind(c.valid_from.is_some())
        .bind(c.valid_from.flatten())
        .bind(c.valid_to.is_some())
        .bind(c.valid_to.flatten())
        .bind(c.confidence)
        .bind(&c.kind)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }
}
