//! Nodes that are one, or not: the queue of pairs to decide, merging, splitting, and undoing either.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use uuid::Uuid;

use crate::{NodeName, Result, TenantTx};

pub struct MergeRow {
    pub id: Uuid,
    pub a: Uuid,
    pub b: Uuid,
    pub score: f32,
    pub reasons: Vec<String>,
    pub document_id: Option<Uuid>,
    pub status: String,
    pub decided_by: Option<Uuid>,
    pub decided_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

/// An act on two nodes, with what moved from one to the other.
pub struct NodeEvent {
    pub id: Uuid,
    pub kind: String,
    pub node_id: Uuid,
    pub other_id: Uuid,
    pub detail: Moved,
    pub actor_id: Option<Uuid>,
    pub created_at: DateTime<Utc>,
    pub undone_at: Option<DateTime<Utc>>,
}

/// What went from one node to another.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Moved {
    /// The names that the merged node had, or that the split one was given.
    pub label: String,
    pub identity: String,
    pub key: String,
    /// Statements that had the node as their subject, and as their object.
    pub subjects: Vec<Uuid>,
    pub objects: Vec<Uuid>,
    /// Statements that would have stood twice.
    pub collapsed: Vec<Collapsed>,
    pub sources: Vec<MovedSource>,
    pub aliases: Vec<Uuid>,
    pub made_alias: Option<Uuid>,
    pub dropped_aliases: Vec<NodeName>,
    /// Nodes that had been merged into the merged one.
    pub followers: Vec<Uuid>,
}

/// A statement that was retracted because another says the same.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Collapsed {
    pub id: Uuid,
    pub kept: Uuid,
    /// The kept one's confidence before it was raised, and what it was raised to.
    pub before: f32,
    pub after: f32,
    /// The kept one became one that somebody said directly.
    pub made_stated: bool,
}

/// A sentence of a document that carried a collapsed statement and now carries the kept one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MovedSource {
    pub triple_id: Uuid,
    pub document_id: Uuid,
    pub position: i32,
}

/// Which statements of a node to move.
#[derive(Clone, Copy)]
pub enum Which<'a> {
    All,
    These {
        subjects: &'a [Uuid],
        objects: &'a [Uuid],
    },
}

/// A node under lock.
pub struct LockedNode {
    pub id: Uuid,
    pub name: NodeName,
    pub merged_into: Option<Uuid>,
}

impl TenantTx {
    /// Pairs of a status, the likeliest first.
    pub async fn merge_list(
        &mut self,
        status: &str,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<MergeRow>, i64)> {
        let total = sqlx::query_scalar(
            "SELECT count(*) FROM kg_merges WHERE tenant_id = $1 AND status = $2",
        )
        .bind(self.tenant_id)
        .bind(status)
        .fetch_one(self.conn())
        .await?;
        let rows = sqlx::query(
            "SELECT id, a_id, b_id, score, reasons, document_id, status, decided_by, decided_at, created_at
             FROM kg_merges WHERE tenant_id = $1 AND status = $2 ORDER BY score DESC, id LIMIT $3 OFFSET $4",
        )
        .bind(self.tenant_id)
        .bind(status)
        .bind(limit)
        .bind(offset)
        .try_map(merge)
        .fetch_all(self.conn())
        .await?;
        Ok((rows, total))
    }

    /// One pair, held until the transaction ends.
    pub async fn merge_lock(&mut self, id: Uuid) -> Result<Option<MergeRow>> {
        sqlx::query(
            "SELECT id, a_id, b_id, score, reasons, document_id, status, decided_by, decided_at, created_at
             FROM kg_merges WHERE tenant_id = $1 AND id = $2 FOR UPDATE",
        )
        .bind(self.tenant_id)
        .bind(id)
        .try_map(merge)
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }

    pub async fn merge_decide(&mut self, id: Uuid, status: &str, actor_id: Uuid) -> Result<()> {
        sqlx::query(
            "UPDATE kg_merges SET status = $3, decided_by = $4, decided_at = now() WHERE tenant_id = $1 AND id = $2",
        )
        .bind(self.tenant_id)
        .bind(id)
        .bind(status)
        .bind(actor_id)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Both nodes, held against every other writer, in the order of `ids`; fewer when one does not exist.
    pub async fn nodes_lock(&mut self, ids: &[Uuid]) -> Result<Vec<LockedNode>> {
        let mut found: Vec<LockedNode> = sqlx::query(
            "SELECT id, label, identity, key, merged_into FROM kg_nodes WHERE tenant_id = $1 AND id = ANY ($2)
             ORDER BY id FOR UPDATE",
        )
        .bind(self.tenant_id)
        .bind(ids)
        .try_map(|r: PgRow| {
            Ok(LockedNode {
                id: r.try_get(0)?,
                name: NodeName {
                    label: r.try_get(1)?,
                    identity: r.try_get(2)?,
                    key: r.try_get(3)?,
                },
                merged_into: r.try_get(4)?,
            })
        })
        .fetch_all(self.conn())
        .await?;
        found.sort_by_key(|n| ids.iter().position(|id| *id == n.id));
        Ok(found)
    }

    /// How many statements that stand are about the node, counted to at most 100,001.
    pub async fn node_weight(&mut self, id: Uuid) -> Result<i64> {
        sqlx::query_scalar(
            "SELECT count(*) FROM (
                (SELECT 1 FROM kg_triples WHERE tenant_id = $1 AND subject_id = $2 AND retracted_at IS NULL LIMIT 100001)
                UNION ALL
                (SELECT 1 FROM kg_triples WHERE tenant_id = $1 AND object_node_id = $2 AND retracted_at IS NULL LIMIT 100001)
             ) x",
        )
        .bind(self.tenant_id)
        .bind(id)
        .fetch_one(self.conn())
        .await
        .map_err(Into::into)
    }

    /// Makes `from` part of `into`: its statements, aliases, pairs and places in neighbourhoods move, its label becomes
    /// an alias. Both are locked and alive. Retracted statements stay with the old node, as its history.
    pub async fn nodes_merge(
        &mut self,
        from: &LockedNode,
        into: &LockedNode,
        actor_id: Uuid,
    ) -> Result<Uuid> {
        let mut moved = self
            .triples_move(from.id, into.id, Which::All, actor_id)
            .await?;
        moved.label.clone_from(&from.name.label);
        moved.identity.clone_from(&from.name.identity);
        moved.key.clone_from(&from.name.key);
        // Names that the node has already are dropped.
        moved.dropped_aliases = sqlx::query(
            "DELETE FROM kg_aliases a WHERE a.tenant_id = $1 AND a.node_id = $2 AND (a.identity = $4 OR EXISTS (
                SELECT 1 FROM kg_aliases b WHERE b.tenant_id = $1 AND b.node_id = $3 AND b.identity = a.identity))
             RETURNING a.alias, a.identity, a.key",
        )
        .bind(self.tenant_id)
        .bind(from.id)
        .bind(into.id)
        .bind(&into.name.identity)
        .try_map(|r: PgRow| {
            Ok(NodeName {
                label: r.try_get(0)?,
                identity: r.try_get(1)?,
                key: r.try_get(2)?,
            })
        })
        .fetch_all(self.conn())
        .await?;
        moved.aliases = self.aliases_move(from.id, into.id, None).await?;
        moved.followers = sqlx::query_scalar(
            "UPDATE kg_nodes SET merged_into = $3 WHERE tenant_id = $1 AND merged_into = $2 RETURNING id",
        )
        .bind(self.tenant_id)
        .bind(from.id)
        .bind(into.id)
        .fetch_all(self.conn())
        .await?;
        sqlx::query(
            "UPDATE kg_nodes SET merged_into = $3, identity = '#' || $2::text, key = '#' || $2::text
             WHERE tenant_id = $1 AND id = $2",
        )
        .bind(self.tenant_id)
        .bind(from.id)
        .bind(into.id)
        .execute(self.conn())
        .await?;
        sqlx::query(
            "UPDATE kg_nodes n SET kind = f.kind FROM kg_nodes f
             WHERE n.tenant_id = $1 AND n.id = $3 AND n.kind IS NULL AND f.tenant_id = $1 AND f.id = $2",
        )
        .bind(self.tenant_id)
        .bind(from.id)
        .bind(into.id)
        .execute(self.conn())
        .await?;
        let made = qadra_types::new_id();
        let done = sqlx::query(
            "INSERT INTO kg_aliases (tenant_id, id, node_id, alias, identity, key) VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (tenant_id, identity, node_id) DO NOTHING",
        )
        .bind(self.tenant_id)
        .bind(made)
        .bind(into.id)
        .bind(&from.name.label)
        .bind(&from.name.identity)
        .bind(&from.name.key)
        .execute(self.conn())
        .await?;
        moved.made_alias = (done.rows_affected() == 1).then_some(made);
        self.pairs_move(from.id, into.id, actor_id).await?;
        self.ball_members_move(from.id, into.id).await?;
        self.node_event("merge", into.id, from.id, &moved, actor_id)
            .await
    }

    /// Takes statements and aliases out of `node` into another one: a new node, or one that was merged into it before
    /// and is brought back. `other` is its id and `back` says which.
    ///
    /// # Errors
    /// [`crate::StoreError::Duplicate`] when another node has that name.
    pub async fn node_split(
        &mut self,
        node: Uuid,
        (other, back): (Uuid, bool),
        name: &NodeName,
        which: Which<'_>,
        alias_ids: &[Uuid],
        actor_id: Uuid,
    ) -> Result<Uuid> {
        let sql = match back {
            true => {
                "UPDATE kg_nodes SET merged_into = NULL, label = $3, identity = $4, key = $5 WHERE tenant_id = $1 AND id = $2"
            }
            false => {
                "INSERT INTO kg_nodes (tenant_id, id, label, identity, key) VALUES ($1, $2, $3, $4, $5)"
            }
        };
        sqlx::query(sql)
            .bind(self.tenant_id)
            .bind(other)
            .bind(&name.label)
            .bind(&name.identity)
            .bind(&name.key)
            .execute(self.conn())
            .await?;
        let mut moved = self.triples_move(node, other, which, actor_id).await?;
        moved.aliases = self.aliases_move(node, other, Some(alias_ids)).await?;
        // The name is the new node's own now.
        sqlx::query(
            "DELETE FROM kg_aliases WHERE tenant_id = $1 AND node_id = ANY ($2) AND identity = $3",
        )
        .bind(self.tenant_id)
        .bind(vec![node, other])
        .bind(&name.identity)
        .execute(self.conn())
        .await?;
        moved.label.clone_from(&name.label);
        moved.identity.clone_from(&name.identity);
        moved.key.clone_from(&name.key);
        self.node_event("split", node, other, &moved, actor_id)
            .await
    }

    /// Undoes a merge: the node lives again with its names, and what moved with it and is still there goes back.
    /// Both nodes are locked.
    ///
    /// # Errors
    /// [`crate::StoreError::Duplicate`] when another node has taken its name.
    pub async fn node_unmerge(&mut self, event: &NodeEvent, actor_id: Uuid) -> Result<()> {
        let (into, from, moved) = (event.node_id, event.other_id, &event.detail);
        sqlx::query(
            "UPDATE kg_nodes SET merged_into = NULL, label = $3, identity = $4, key = $5 WHERE tenant_id = $1 AND id = $2",
        )
        .bind(self.tenant_id)
        .bind(from)
        .bind(&moved.label)
        .bind(&moved.identity)
        .bind(&moved.key)
        .execute(self.conn())
        .await?;
        let which = Which::These {
            subjects: &moved.subjects,
            objects: &moved.objects,
        };
        self.triples_move(into, from, which, actor_id).await?;
        let collapsed = &moved.collapsed;
        let (ids, kept): (Vec<Uuid>, Vec<Uuid>) = collapsed.iter().map(|c| (c.id, c.kept)).unzip();
        // Only what this merge retracted; the rest has its own reasons.
        sqlx::query(
            "UPDATE kg_triples SET retracted_at = NULL, retracted_by = NULL
             WHERE tenant_id = $1 AND id = ANY ($2) AND retracted_at = $3",
        )
        .bind(self.tenant_id)
        .bind(&ids)
        .bind(event.created_at)
        .execute(self.conn())
        .await?;
        sqlx::query(
            "UPDATE document_triples d SET triple_id = x.id FROM unnest($2::uuid[], $3::uuid[], $4::integer[]) AS x (id, document_id, position)
             WHERE d.tenant_id = $1 AND d.document_id = x.document_id AND d.position = x.position",
        )
        .bind(self.tenant_id)
        .bind(moved.sources.iter().map(|s| s.triple_id).collect::<Vec<_>>())
        .bind(moved.sources.iter().map(|s| s.document_id).collect::<Vec<_>>())
        .bind(moved.sources.iter().map(|s| s.position).collect::<Vec<_>>())
        .execute(self.conn())
        .await?;
        sqlx::query("UPDATE kg_triples SET stated = false WHERE tenant_id = $1 AND id = ANY ($2)")
            .bind(self.tenant_id)
            .bind(
                collapsed
                    .iter()
                    .filter(|c| c.made_stated)
                    .map(|c| c.kept)
                    .collect::<Vec<_>>(),
            )
            .execute(self.conn())
            .await?;
        sqlx::query(
            "UPDATE kg_triples t SET confidence = x.before FROM unnest($2::uuid[], $3::real[], $4::real[]) AS x (id, before, after)
             WHERE t.tenant_id = $1 AND t.id = x.id AND t.confidence = x.after",
        )
        .bind(self.tenant_id)
        .bind(&kept)
        .bind(collapsed.iter().map(|c| c.before).collect::<Vec<_>>())
        .bind(collapsed.iter().map(|c| c.after).collect::<Vec<_>>())
        .execute(self.conn())
        .await?;
        sqlx::query("DELETE FROM kg_aliases WHERE tenant_id = $1 AND id = $2 AND node_id = $3")
            .bind(self.tenant_id)
            .bind(moved.made_alias)
            .bind(into)
            .execute(self.conn())
            .await?;
        self.aliases_move(into, from, Some(&moved.aliases)).await?;
        for alias in &moved.dropped_aliases {
            self.alias_create(from, alias).await?;
        }
        sqlx::query(
            "UPDATE kg_nodes SET merged_into = $3 WHERE tenant_id = $1 AND id = ANY ($2) AND merged_into = $4",
        )
        .bind(self.tenant_id)
        .bind(&moved.followers)
        .bind(from)
        .bind(into)
        .execute(self.conn())
        .await?;
        // The pair is not asked about again.
        sqlx::query(
            "UPDATE kg_merges SET status = 'rejected', decided_by = $4, decided_at = now()
             WHERE tenant_id = $1 AND least(a_id, b_id) = least($2, $3) AND greatest(a_id, b_id) = greatest($2, $3)",
        )
        .bind(self.tenant_id)
        .bind(into)
        .bind(from)
        .bind(actor_id)
        .execute(self.conn())
        .await?;
        self.node_event_undone(event.id, actor_id).await
    }

    pub async fn node_event_undone(&mut self, id: Uuid, actor_id: Uuid) -> Result<()> {
        sqlx::query(
            "UPDATE kg_node_events SET undone_at = now(), undone_by = $3 WHERE tenant_id = $1 AND id = $2",
        )
        .bind(self.tenant_id)
        .bind(id)
        .bind(actor_id)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// What was done to a node, newest first.
    pub async fn node_events(
        &mut self,
        node_id: Uuid,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<NodeEvent>, i64)> {
        let total = sqlx::query_scalar(
            "SELECT count(*) FROM kg_node_events WHERE tenant_id = $1 AND (node_id = $2 OR other_id = $2)",
        )
        .bind(self.tenant_id)
        .bind(node_id)
        .fetch_one(self.conn())
        .await?;
        let rows = sqlx::query(
            "SELECT id, kind, node_id, other_id, detail, actor_id, created_at, undone_at FROM kg_node_events
             WHERE tenant_id = $1 AND (node_id = $2 OR other_id = $2) ORDER BY id DESC LIMIT $3 OFFSET $4",
        )
        .bind(self.tenant_id)
        .bind(node_id)
        .bind(limit)
        .bind(offset)
        .try_map(event)
        .fetch_all(self.conn())
        .await?;
        Ok((rows, total))
    }

    pub async fn node_event_get(&mut self, id: Uuid) -> Result<Option<NodeEvent>> {
        sqlx::query(
            "SELECT id, kind, node_id, other_id, detail, actor_id, created_at, undone_at FROM kg_node_events
             WHERE tenant_id = $1 AND id = $2",
        )
        .bind(self.tenant_id)
        .bind(id)
        .try_map(event)
        .fetch_optional(self.conn())
        .await
        .map_err(Into::into)
    }

    /// The nodes that were merged into this one, with the names they had.
    pub async fn node_followers(&mut self, node_id: Uuid) -> Result<Vec<(Uuid, String)>> {
        sqlx::query_as(
            "SELECT id, label FROM kg_nodes WHERE tenant_id = $1 AND merged_into = $2 ORDER BY id DESC LIMIT 1000",
        )
        .bind(self.tenant_id)
        .bind(node_id)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    async fn node_event(
        &mut self,
        kind: &str,
        node_id: Uuid,
        other_id: Uuid,
        moved: &Moved,
        actor_id: Uuid,
    ) -> Result<Uuid> {
        let id = qadra_types::new_id();
        sqlx::query(
            "INSERT INTO kg_node_events (tenant_id, id, kind, node_id, other_id, detail, actor_id)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(self.tenant_id)
        .bind(id)
        .bind(kind)
        .bind(node_id)
        .bind(other_id)
        .bind(Json(moved))
        .bind(actor_id)
        .execute(self.conn())
        .await?;
        Ok(id)
    }

    /// Moves statements that stand from one node to another. One that would say what another says already is
    /// retracted instead, and raises the other's confidence to its own.
    async fn triples_move(
        &mut self,
        from: Uuid,
        to: Uuid,
        which: Which<'_>,
        actor_id: Uuid,
    ) -> Result<Moved> {
        let (all, subjects, objects): (bool, &[Uuid], &[Uuid]) = match which {
            Which::All => (true, &[], &[]),
            Which::These { subjects, objects } => (false, subjects, objects),
        };
        let mut moved = Moved {
            collapsed: sqlx::query(
                "WITH touched AS (
                    SELECT t.id, t.confidence, t.created_at, t.predicate_id AS p, t.polarity, t.kind,
                        CASE WHEN t.subject_id = $2 AND ($4 OR t.id = ANY ($5)) THEN $3 ELSE t.subject_id END AS s,
                        CASE WHEN t.object_node_id = $2 AND ($4 OR t.id = ANY ($6)) THEN $3::text ELSE t.object_key END AS o,
                        coalesce(t.source, '') AS src, coalesce(t.valid_from, '-infinity') AS since,
                        coalesce(t.valid_to, 'infinity') AS until
                    FROM kg_triples t WHERE t.tenant_id = $1 AND t.retracted_at IS NULL
                        AND ((t.subject_id = $2 AND ($4 OR t.id = ANY ($5))) OR (t.object_node_id = $2 AND ($4 OR t.id = ANY ($6))))
                 ), kept AS (
                    SELECT x.id AS dup, coalesce(e.id, first_value(x.id) OVER (
                        PARTITION BY x.s, x.p, x.o, x.polarity, x.kind, x.src, x.since, x.until ORDER BY x.created_at, x.id)) AS kept
                    FROM touched x LEFT JOIN kg_triples e ON e.tenant_id = $1 AND e.retracted_at IS NULL
                        AND e.subject_id = x.s AND e.predicate_id = x.p AND e.object_key = x.o AND e.polarity = x.polarity
                        AND e.kind = x.kind AND coalesce(e.source, '') = x.src
                        AND coalesce(e.valid_from, '-infinity') = x.since AND coalesce(e.valid_to, 'infinity') = x.until
                        AND NOT EXISTS (SELECT 1 FROM touched y WHERE y.id = e.id)
                 ), gone AS (
                    UPDATE kg_triples t SET retracted_at = now(), retracted_by = $7 FROM kept k
                    WHERE t.tenant_id = $1 AND t.id = k.dup AND k.kept <> k.dup RETURNING t.id, k.kept, t.confidence, t.stated
                 ), best AS (
                    SELECT kept, max(confidence) AS confidence, bool_or(stated) AS stated FROM gone GROUP BY kept
                 ), raised AS (
                    UPDATE kg_triples t SET confidence = greatest(t.confidence, b.confidence), stated = t.stated OR b.stated FROM best b
                    WHERE t.tenant_id = $1 AND t.id = b.kept
                 )
                 SELECT g.id, g.kept, t.confidence, greatest(t.confidence, b.confidence), b.stated AND NOT t.stated
                 FROM gone g JOIN best b ON b.kept = g.kept JOIN kg_triples t ON t.tenant_id = $1 AND t.id = g.kept",
            )
            .bind(self.tenant_id)
            .bind(from)
            .bind(to)
            .bind(all)
            .bind(subjects)
            .bind(objects)
            .bind(actor_id)
            .try_map(|r: PgRow| {
                Ok(Collapsed {
                    id: r.try_get(0)?,
                    kept: r.try_get(1)?,
                    before: r.try_get(2)?,
                    after: r.try_get(3)?,
                    made_stated: r.try_get(4)?,
                })
            })
            .fetch_all(self.conn())
            .await?,
            ..Moved::default()
        };
        let (gone, kept): (Vec<Uuid>, Vec<Uuid>) =
            moved.collapsed.iter().map(|c| (c.id, c.kept)).unzip();
        if !gone.is_empty() {
            moved.sources = sqlx::query(
                "UPDATE document_triples d SET triple_id = x.kept FROM unnest($2::uuid[], $3::uuid[]) AS x (gone, kept)
                 WHERE d.tenant_id = $1 AND d.triple_id = x.gone RETURNING x.gone, d.document_id, d.position",
            )
            .bind(self.tenant_id)
            .bind(&gone)
            .bind(&kept)
            .try_map(|r: PgRow| {
                Ok(MovedSource {
                    triple_id: r.try_get(0)?,
                    document_id: r.try_get(1)?,
                    position: r.try_get(2)?,
                })
            })
            .fetch_all(self.conn())
            .await?;
        }
        let rows: Vec<(Uuid, bool, bool)> = sqlx::query_as(
            "WITH touched AS (
                SELECT t.id, t.subject_id = $2 AND ($4 OR t.id = ANY ($5)) AS s,
                    coalesce(t.object_node_id = $2 AND ($4 OR t.id = ANY ($6)), false) AS o
                FROM kg_triples t WHERE t.tenant_id = $1 AND t.retracted_at IS NULL
                    AND ((t.subject_id = $2 AND ($4 OR t.id = ANY ($5))) OR (t.object_node_id = $2 AND ($4 OR t.id = ANY ($6))))
             )
             UPDATE kg_triples t SET subject_id = CASE WHEN x.s THEN $3 ELSE t.subject_id END,
                    object_node_id = CASE WHEN x.o THEN $3 ELSE t.object_node_id END,
                    object_key = CASE WHEN x.o THEN $3::text ELSE t.object_key END
             FROM touched x WHERE t.tenant_id = $1 AND t.id = x.id RETURNING t.id, x.s, x.o",
        )
        .bind(self.tenant_id)
        .bind(from)
        .bind(to)
        .bind(all)
        .bind(subjects)
        .bind(objects)
        .fetch_all(self.conn())
        .await?;
        for (id, subject, object) in rows {
            if subject {
                moved.subjects.push(id);
            }
            if object {
                moved.objects.push(id);
            }
        }
        Ok(moved)
    }

    /// Gives aliases of one node to another: all, or those named.
    async fn aliases_move(
        &mut self,
        from: Uuid,
        to: Uuid,
        only: Option<&[Uuid]>,
    ) -> Result<Vec<Uuid>> {
        sqlx::query_scalar(
            "UPDATE kg_aliases SET node_id = $3 WHERE tenant_id = $1 AND node_id = $2 AND ($4::uuid[] IS NULL OR id = ANY ($4))
             RETURNING id",
        )
        .bind(self.tenant_id)
        .bind(from)
        .bind(to)
        .bind(only)
        .fetch_all(self.conn())
        .await
        .map_err(Into::into)
    }

    /// The pair of the two is decided; what was asked or refused of the one is asked or refused of the other.
    async fn pairs_move(&mut self, from: Uuid, into: Uuid, actor_id: Uuid) -> Result<()> {
        sqlx::query(
            "UPDATE kg_merges SET status = 'accepted', decided_by = $4, decided_at = now()
             WHERE tenant_id = $1 AND least(a_id, b_id) = least($2, $3) AND greatest(a_id, b_id) = greatest($2, $3)",
        )
        .bind(self.tenant_id)
        .bind(from)
        .bind(into)
        .bind(actor_id)
        .execute(self.conn())
        .await?;
        // A pair that is known of the other node, or would be one of a node with itself, goes.
        for sql in [
            "DELETE FROM kg_merges m WHERE m.tenant_id = $1 AND m.status <> 'accepted' AND (m.a_id = $2 OR m.b_id = $2)
                AND EXISTS (SELECT 1 FROM kg_merges k WHERE k.tenant_id = $1
                    AND least(k.a_id, k.b_id) = least($3, CASE WHEN m.a_id = $2 THEN m.b_id ELSE m.a_id END)
                    AND greatest(k.a_id, k.b_id) = greatest($3, CASE WHEN m.a_id = $2 THEN m.b_id ELSE m.a_id END))",
            "UPDATE kg_merges SET a_id = CASE WHEN a_id = $2 THEN $3 ELSE a_id END, b_id = CASE WHEN b_id = $2 THEN $3 ELSE b_id END
             WHERE tenant_id = $1 AND status <> 'accepted' AND (a_id = $2 OR b_id = $2)",
        ] {
            sqlx::query(sql)
                .bind(self.tenant_id)
                .bind(from)
                .bind(into)
                .execute(self.conn())
                .await?;
        }
        Ok(())
    }

    async fn ball_members_move(&mut self, from: Uuid, into: Uuid) -> Result<()> {
        for sql in [
            "INSERT INTO kg_ball_nodes AS k (tenant_id, ball_id, node_id, hop)
             SELECT tenant_id, ball_id, $3, hop FROM kg_ball_nodes WHERE tenant_id = $1 AND node_id = $2
             ON CONFLICT (tenant_id, ball_id, node_id) DO UPDATE SET hop = least(k.hop, excluded.hop)",
            "DELETE FROM kg_ball_nodes WHERE tenant_id = $1 AND node_id = $2 AND $3::uuid IS NOT NULL",
        ] {
            sqlx::query(sql)
                .bind(self.tenant_id)
                .bind(from)
                .bind(into)
                .execute(self.conn())
                .await?;
        }
        Ok(())
    }
}

fn merge(r: PgRow) -> sqlx::Result<MergeRow> {
    Ok(MergeRow {
        id: r.try_get(0)?,
        a: r.try_get(1)?,
        b: r.try_get(2)?,
        score: r.try_get(3)?,
        reasons: serde_json::from_value(r.try_get::<Value, _>(4)?).unwrap_or_default(),
        document_id: r.try_get(5)?,
        status: r.try_get(6)?,
        decided_by: r.try_get(7)?,
        decided_at: r.try_get(8)?,
        created_at: r.try_get(9)?,
    })
}

fn event(r: PgRow) -> sqlx::Result<NodeEvent> {
    Ok(NodeEvent {
        id: r.try_get(0)?,
        kind: r.try_get(1)?,
        node_id: r.try_get(2)?,
        other_id: r.try_get(3)?,
        detail: serde_json::from_value(r.try_get::<Value, _>(4)?).unwrap_or_default(),
        actor_id: r.try_get(5)?,
        created_at: r.try_get(6)?,
        undone_at: r.try_get(7)?,
    })
}
