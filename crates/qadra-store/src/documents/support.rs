//! Statements that documents carry, and what becomes of them when a document goes.

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::{Value, json};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use crate::{NewObject, NodeName, PredicateRow, Result, TenantTx, TripleRow, knowledge};

/// A finding whose nodes and predicate are known.
pub struct TripleLink {
    pub position: i32,
    pub subject_id: Uuid,
    pub predicate_id: Uuid,
    pub object: ObjectAt,
    pub positive: bool,
    pub confidence: f32,
    pub kind: String,
    pub source: String,
    pub valid_from: Option<NaiveDate>,
    pub valid_to: Option<NaiveDate>,
    pub chunk_id: Option<Uuid>,
    pub span: (i32, i32),
    pub sentence: String,
}

/// A node that is there, or a literal.
#[derive(Debug, Clone)]
pub enum ObjectAt {
    Node {
        id: Uuid,
        label: String,
    },
    Literal {
        value: Value,
        key: String,
        label: String,
    },
}

impl ObjectAt {
    /// The canonical form as the graph stores it.
    pub fn key(&self) -> String {
        match self {
            Self::Node { id, .. } => id.to_string(),
            Self::Literal { key, .. } => key.clone(),
        }
    }
}

/// What became of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linked {
    /// A statement that nobody had made before.
    Added,
    /// A statement that stood already, and has one more sentence behind it.
    Supported,
    /// This very finding was linked before.
    Repeated,
}

/// What linking a document came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SupportCounts {
    /// Sentences that carry a statement.
    pub sentences: i64,
    pub added: i64,
    pub supported: i64,
    pub merges: i64,
}

/// A sentence behind a statement, as the document's page shows it.
pub struct SupportRow {
    pub triple: TripleRow,
    pub span: (i32, i32),
    pub sentence: String,
    pub chunk_id: Option<Uuid>,
}

/// A sentence behind a statement, as the statement's page shows it.
pub struct SourceRow {
    pub document_id: Uuid,
    pub title: String,
    pub span: (i32, i32),
    pub sentence: String,
    pub chunk_id: Option<Uuid>,
    pub source_url: Option<String>,
    pub created_at: DateTime<Utc>,
}

impl TenantTx {
    /// Finds the statement of a finding, or makes it, and notes that the document carries it. Safe to repeat.
    pub async fn triple_link(
        &mut self,
        document_id: Uuid,
        link: &TripleLink,
        actor_id: Uuid,
    ) -> Result<(Uuid, Linked)> {
        let (node, literal, label) = match &link.object {
            ObjectAt::Node { id, label } => (Some(*id), None, label),
            ObjectAt::Literal { value, label, .. } => (None, Some(value), label),
        };
        let key = link.object.key();
        // A statement without a time of its own is carried by one that has it; one that somebody stated comes first.
        // Locked, so that it cannot be withdrawn between here and the note.
        let standing: Option<Uuid> = sqlx::query_scalar(
            "SELECT id FROM kg_triples WHERE tenant_id = $1 AND subject_id = $2 AND predicate_id = $3 AND object_key = $4
               AND polarity = $5 AND retracted_at IS NULL
               AND (($6::date IS NULL AND $7::date IS NULL)
                    OR (valid_from IS NOT DISTINCT FROM $6 AND valid_to IS NOT DISTINCT FROM $7))
             ORDER BY valid_from IS NOT DISTINCT FROM $6 DESC, stated DESC, id LIMIT 1 FOR UPDATE",
        )
        .bind(self.tenant_id)
        .bind(link.subject_id)
        .bind(link.predicate_id)
        .bind(&key)
        .bind(link.positive)
        .bind(link.valid_from)
        .bind(link.valid_to)
        .fetch_optional(self.conn())
        .await?;
        let (triple_id, made) = match standing {
            Some(id) => (id, false),
            None => {
                let row: (Uuid, bool) = sqlx::query_as(
                    "INSERT INTO kg_triples AS k (tenant_id, id, subject_id, predicate_id, object_node_id, object, object_key,
                            object_label, polarity, confidence, kind, source, valid_from, valid_to, created_by, stated)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, false)
                     ON CONFLICT (tenant_id, subject_id, predicate_id, object_key, polarity, kind, coalesce(source, ''),
                            coalesce(valid_from, '-infinity'), coalesce(valid_to, 'infinity')) WHERE retracted_at IS NULL
                     DO UPDATE SET confidence = greatest(k.confidence, excluded.confidence) RETURNING id, id = $2",
                )
                .bind(self.tenant_id)
                .bind(qadra_types::new_id())
                .bind(link.subject_id)
                .bind(link.predicate_id)
                .bind(node)
                .bind(literal)
                .bind(&key)
                .bind(label)
                .bind(link.positive)
                .bind(link.confidence)
                .bind(&link.kind)
                .bind(&link.source)
                .bind(link.valid_from)
                .bind(link.valid_to)
                .bind(actor_id)
                .fetch_one(self.conn())
                .await?;
                row
            }
        };
        let fresh: bool = sqlx::query_scalar(
            "INSERT INTO document_triples AS t (tenant_id, document_id, position, triple_id, chunk_id, span_start, span_end, sentence, added)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
             ON CONFLICT (tenant_id, document_id, position) DO UPDATE SET triple_id = excluded.triple_id,
                 chunk_id = excluded.chunk_id, span_start = excluded.span_start, span_end = excluded.span_end,
                 sentence = excluded.sentence, active = true, added = t.added OR excluded.added RETURNING xmax = 0",
        )
        .bind(self.tenant_id)
        .bind(document_id)
        .bind(link.position)
        .bind(triple_id)
        .bind(link.chunk_id)
        .bind(link.span.0)
        .bind(link.span.1)
        .bind(&link.sentence)
        .bind(made)
        .fetch_one(self.conn())
        .await?;
        let outcome = match (made, fresh) {
            (true, _) => Linked::Added,
            (false, true) => Linked::Supported,
            (false, false) => Linked::Repeated,
        };
        Ok((triple_id, outcome))
    }

    /// Takes the document's support away, and retracts what nobody else has said. Returns how many statements went.
    pub async fn support_withdraw(&mut self, document_id: Uuid, actor_id: Uuid) -> Result<i64> {
        // Locked in one order first: of two documents that go at once, the second sees that the first has gone.
        sqlx::query(
            "SELECT id FROM kg_triples WHERE tenant_id = $1 AND id IN (SELECT triple_id FROM document_triples
                WHERE tenant_id = $1 AND document_id = $2 AND active) ORDER BY id FOR UPDATE",
        )
        .bind(self.tenant_id)
        .bind(document_id)
        .execute(self.conn())
        .await?;
        let carried: Vec<Uuid> = sqlx::query_scalar(
            "UPDATE document_triples SET active = false WHERE tenant_id = $1 AND document_id = $2 AND active RETURNING triple_id",
        )
        .bind(self.tenant_id)
        .bind(document_id)
        .fetch_all(self.conn())
        .await?;
        let gone = sqlx::query(
            "UPDATE kg_triples t SET retracted_at = now(), retracted_by = $3
             WHERE t.tenant_id = $1 AND t.id = ANY ($2) AND t.retracted_at IS NULL AND NOT t.stated
               AND NOT EXISTS (SELECT FROM document_triples s
                   WHERE s.tenant_id = $1 AND s.triple_id = t.id AND s.active)",
        )
        .bind(self.tenant_id)
        .bind(&carried)
        .bind(actor_id)
        .execute(self.conn())
        .await?;
        Ok(i64::try_from(gone.rows_affected()).unwrap_or(i64::MAX))
    }

    /// The document's statements in the order of its text.
    pub async fn support_list(
        &mut self,
        document_id: Uuid,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<SupportRow>, i64)> {
        let total = sqlx::query_scalar(
            "SELECT count(*) FROM document_triples WHERE tenant_id = $1 AND document_id = $2",
        )
        .bind(self.tenant_id)
        .bind(document_id)
        .fetch_one(self.conn())
        .await?;
        let items = sqlx::query(AssertSqlSafe(format!(
            "SELECT {}, x.span_start, x.span_end, x.sentence, x.chunk_id FROM document_triples x
             JOIN kg_triples t ON t.tenant_id = x.tenant_id AND t.id = x.triple_id {}
             WHERE x.tenant_id = $1 AND x.document_id = $2 ORDER BY x.position LIMIT $3 OFFSET $4",
            knowledge::TRIPLE,
            knowledge::TRIPLE_JOINS
        )))
        .bind(self.tenant_id)
        .bind(document_id)
        .bind(limit)
        .bind(offset)
        .try_map(|r: PgRow| {
            let at = r.len() - 4;
            Ok(SupportRow {
                span: (r.try_get(at)?, r.try_get(at + 1)?),
                sentence: r.try_get(at + 2)?,
                chunk_id: r.try_get(at + 3)?,
                triple: knowledge::triple(r)?,
            })
        })
        .fetch_all(self.conn())
        .await?;
        Ok((items, total))
    }

    /// The sentences behind a statement, of documents that still stand.
    pub async fn triple_sources(
        &mut self,
        triple_id: Uuid,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<SourceRow>, i64)> {
        let matching = "FROM document_triples x
             JOIN documents d ON d.tenant_id = x.tenant_id AND d.id = x.document_id
             WHERE x.tenant_id = $1 AND x.triple_id = $2 AND x.active AND d.deleted_at IS NULL";
        let total = sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) {matching}")))
            .bind(self.tenant_id)
            .bind(triple_id)
            .fetch_one(self.conn())
            .await?;
        let items = sqlx::query(AssertSqlSafe(format!(
            "SELECT d.id, d.title, x.span_start, x.span_end, x.sentence, x.chunk_id, d.source_url, x.created_at
             {matching} ORDER BY x.created_at, x.document_id, x.position LIMIT $3 OFFSET $4"
        )))
        .bind(self.tenant_id)
        .bind(triple_id)
        .bind(limit)
        .bind(offset)
        .try_map(|r: PgRow| {
            Ok(SourceRow {
                document_id: r.try_get(0)?,
                title: r.try_get(1)?,
                span: (r.try_get(2)?, r.try_get(3)?),
                sentence: r.try_get(4)?,
                chunk_id: r.try_get(5)?,
                source_url: r.try_get(6)?,
                created_at: r.try_get(7)?,
            })
        })
        .fetch_all(self.conn())
        .await?;
        Ok((items, total))
    }

    /// `(identity, node, label)` of every label or alias among these identities; a label wins over an alias.
    pub async fn nodes_by_identity(
        &mut self,
        identities: &[String],
    ) -> Result<Vec<(String, Uuid, String)>> {
        sqlx::query_as(
            "SELECT DISTINCT ON (x.identity) x.identity, n.id, n.label FROM (
                SELECT identity, id, 0 AS rank FROM kg_nodes WHERE tenant_id = $1 AND identity = ANY ($2)
                UNION ALL
                SELECT identity, node_id, 1 FROM kg_aliases WHERE tenant_id = $1 AND identity = ANY ($2)) x
             JOIN kg_nodes n ON n.tenant_id = $1 AND n.id = x.id
             ORDER BY x.identity, x.rank, n.id",
        )
        .bind(self.tenant_id)
        .bind(identities)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// `(key, node, label)` of nodes whose own or other name has one of these keys, at most eight for each key.
    pub async fn nodes_by_key(&mut self, keys: &[String]) -> Result<Vec<(String, Uuid, String)>> {
        sqlx::query_as(
            "SELECT k.key, x.id, x.label FROM unnest($2::text[]) AS k (key), LATERAL (
                (SELECT id, label FROM kg_nodes WHERE tenant_id = $1 AND key = k.key LIMIT 8)
                UNION
                (SELECT n.id, n.label FROM kg_aliases a JOIN kg_nodes n ON n.tenant_id = a.tenant_id AND n.id = a.node_id
                 WHERE a.tenant_id = $1 AND a.key = k.key LIMIT 8)) x",
        )
        .bind(self.tenant_id)
        .bind(keys)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// `(node, name)` of every node and alias, for a caller that compares names itself; `None` when there are more
    /// than `most`.
    pub async fn names_all(&mut self, most: i64) -> Result<Option<Vec<(Uuid, String)>>> {
        let names: Vec<(Uuid, String)> = sqlx::query_as(
            "(SELECT id, label FROM kg_nodes WHERE tenant_id = $1 AND merged_into IS NULL LIMIT $2 + 1)
             UNION ALL
             (SELECT node_id, alias FROM kg_aliases WHERE tenant_id = $1 LIMIT $2 + 1)",
        )
        .bind(self.tenant_id)
        .bind(most)
        .fetch_all(self.conn())
        .await?;
        Ok((i64::try_from(names.len()).unwrap_or(i64::MAX) <= most).then_some(names))
    }

    /// Every predicate, at most `most`: a tenant has some hundred.
    pub async fn predicates_all(&mut self, most: i64) -> Result<Vec<PredicateRow>> {
        Ok(self.predicate_list(most, 0).await?.0)
    }

    /// The ids of these nodes by identity, made if they are new.
    pub async fn nodes_make(
        &mut self,
        names: &[&NodeName],
    ) -> Result<std::collections::HashMap<String, Uuid>> {
        self.nodes_ensure(names).await
    }

    /// The id of the predicate of that name, made if it is new.
    pub async fn predicate_named(&mut self, name: &str, keys: &[String]) -> Result<Uuid> {
        let sample = crate::NewTriple {
            subject: NodeName {
                label: String::new(),
                identity: String::new(),
                key: String::new(),
            },
            predicate: name.to_owned(),
            predicate_keys: keys.to_vec(),
            object: NewObject::Literal {
                value: json!(null),
                key: String::new(),
                label: String::new(),
            },
            positive: true,
            confidence: 1.0,
            kind: "fact".into(),
            source: None,
            valid_from: None,
            valid_to: None,
        };
        let found = self.predicates_ensure(&[sample]).await?;
        found
            .get(name)
            .copied()
            .ok_or_else(|| sqlx::Error::RowNotFound.into())
    }

    /// Gives a node another name; false when it has that name already.
    pub async fn alias_add(&mut self, node_id: Uuid, alias: &NodeName) -> Result<bool> {
        let done = sqlx::query(
            "INSERT INTO kg_aliases (tenant_id, id, node_id, alias, identity, key) VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (tenant_id, identity, node_id) DO NOTHING",
        )
        .bind(self.tenant_id)
        .bind(qadra_types::new_id())
        .bind(node_id)
        .bind(&alias.label)
        .bind(&alias.identity)
        .bind(&alias.key)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Asks people whether the two nodes are one; false when that was asked before.
    pub async fn merge_propose(
        &mut self,
        (there, new): (Uuid, Uuid),
        score: f32,
        reasons: &[String],
        document_id: Uuid,
    ) -> Result<bool> {
        let done = sqlx::query(
            "INSERT INTO kg_merges (tenant_id, id, a_id, b_id, score, reasons, document_id) VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (tenant_id, least(a_id, b_id), greatest(a_id, b_id)) DO NOTHING",
        )
        .bind(self.tenant_id)
        .bind(qadra_types::new_id())
        .bind(there)
        .bind(new)
        .bind(score)
        .bind(json!(reasons))
        .bind(document_id)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// What the document has come to so far, however often the work on it was taken up.
    pub async fn support_counts(&mut self, document_id: Uuid) -> Result<SupportCounts> {
        sqlx::query(
            "SELECT count(DISTINCT (span_start, span_end)), count(DISTINCT triple_id) FILTER (WHERE added),
                    count(DISTINCT triple_id), (SELECT count(*) FROM kg_merges WHERE tenant_id = $1 AND document_id = $2)
             FROM document_triples WHERE tenant_id = $1 AND document_id = $2 AND active",
        )
        .bind(self.tenant_id)
        .bind(document_id)
        .try_map(|r: PgRow| {
            let (added, all): (i64, i64) = (r.try_get(1)?, r.try_get(2)?);
            Ok(SupportCounts {
                sentences: r.try_get(0)?,
                added,
                supported: all - added,
                merges: r.try_get(3)?,
            })
        })
        .fetch_one(self.conn())
        .await
        .map_err(Into::into)
    }
}
