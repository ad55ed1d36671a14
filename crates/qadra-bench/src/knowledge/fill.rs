//! Brings the made-up graph into the database as fast as PostgreSQL takes it.

use std::collections::HashSet;
use std::fmt::Write as _;

use anyhow::Result;
use qadra_epistemic::{Object, Parsed, identity_key, normalize_label, predicate_keys};
use qadra_store::{NewAccount, PgConnectOptions, Store};
use qadra_types::new_id;
use serde_json::{Value, json};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};
use uuid::Uuid;

use super::graph::{Dice, Graph, Kind, PREDICATES, alias, id, label, mix, predicate};

pub(crate) struct Filled {
    pub(crate) tenant_id: Uuid,
    pub(crate) user_id: Uuid,
    pub(crate) largest_hub: usize,
    pub(crate) bytes: i64,
}

/// The other tenants together have a fifth of the statements of the main one.
const OTHERS: usize = 4;

pub(crate) async fn fill(
    store: &Store,
    superuser: PgConnectOptions,
    graph: &Graph,
) -> Result<Filled> {
    let mut tenants = Vec::new();
    for at in 0..=OTHERS {
        let (tenant_id, user_id) = (new_id(), new_id());
        let mut tx = store.auth().await?;
        tx.account_create(&NewAccount {
            tenant_id,
            tenant_name: "bench",
            tenant_slug: &tenant_id.simple().to_string(),
            user_id,
            email: &format!("bench{at}@example.org"),
            name: "bench",
            password_hash: "$argon2id$not-a-hash",
        })
        .await?;
        tx.commit().await?;
        tenants.push((tenant_id, user_id));
    }
    let mut session = superuser.connect().await?;
    // References are right by construction; checking them takes longer than the load.
    session
        .execute("SET session_replication_role = replica; SET maintenance_work_mem = '512MB'; SET synchronous_commit = off")
        .await?;
    let indexes: Vec<(String, String)> = sqlx::query_as(
        "SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) FROM pg_index i
         WHERE i.indrelid::regclass::text IN ('kg_triples', 'kg_nodes', 'kg_aliases')
           AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)",
    )
    .fetch_all(&mut session)
    .await?;
    for (name, _) in &indexes {
        session
            .execute(AssertSqlSafe(format!("DROP INDEX {name}")))
            .await?;
    }
    let mut largest_hub = 0;
    for (at, (tenant_id, _)) in tenants.iter().enumerate() {
        let part = if at == 0 {
            Graph::new(graph.statements)
        } else {
            Graph::new(graph.statements / 5 / OTHERS)
        };
        let hub = tenant(&mut session, *tenant_id, at, &part).await?;
        largest_hub = largest_hub.max(hub);
    }
    for (_, sql) in &indexes {
        session.execute(AssertSqlSafe(sql.as_str())).await?;
    }
    session
        .execute(
            "VACUUM (ANALYZE) kg_triples, kg_nodes, kg_aliases, kg_predicates, kg_predicate_keys",
        )
        .await?;
    session.execute("CHECKPOINT").await?;
    let bytes = sqlx::query_scalar(
        "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class WHERE relname LIKE 'kg\\_%' AND relkind = 'r'",
    )
    .fetch_one(&mut session)
    .await?;
    session.close().await?;
    let (tenant_id, user_id) = tenants.first().copied().unwrap_or_default();
    Ok(Filled {
        tenant_id,
        user_id,
        largest_hub,
        bytes,
    })
}

/// Returns how many statements the largest hub has.
async fn tenant(
    session: &mut PgConnection,
    tenant_id: Uuid,
    at: usize,
    graph: &Graph,
) -> Result<usize> {
    let predicates: Vec<String> = (0..PREDICATES).map(predicate).collect();
    let mut copy = Copy::new("kg_predicates (tenant_id, id, name)");
    for (n, name) in predicates.iter().enumerate() {
        copy.row(session, &[&tenant_id, &id(at, Kind::Predicate, n), name])
            .await?;
    }
    copy.end(session).await?;
    let mut copy = Copy::new("kg_predicate_keys (tenant_id, key, predicate_id)");
    for (n, name) in predicates.iter().enumerate() {
        for key in predicate_keys(name) {
            copy.row(session, &[&tenant_id, &key, &id(at, Kind::Predicate, n)])
                .await?;
        }
    }
    copy.end(session).await?;
    let mut taken = HashSet::new();
    let mut copy = Copy::new("kg_nodes (tenant_id, id, label, identity, key)");
    for n in 0..graph.nodes {
        let mut name = label(n);
        if !taken.insert(identity_key(&name)) {
            name = format!("{name} {n}");
        }
        copy.row(
            session,
            &[
                &tenant_id,
                &id(at, Kind::Node, n),
                &name,
                &identity_key(&name),
                &normalize_label(&name),
            ],
        )
        .await?;
    }
    copy.end(session).await?;
    let mut copy = Copy::new("kg_aliases (tenant_id, id, node_id, alias, identity, key)");
    for n in 0..graph.nodes {
        if let Some(name) = alias(n) {
            copy.row(
                session,
                &[
                    &tenant_id,
                    &id(at, Kind::Alias, n),
                    &id(at, Kind::Node, n),
                    &name,
                    &identity_key(&name),
                    &normalize_label(&name),
                ],
            )
            .await?;
        }
    }
    copy.end(session).await?;
    let mut copy = Copy::new(
        "kg_triples (tenant_id, id, subject_id, predicate_id, object_node_id, object, object_key, object_label, confidence, kind)",
    );
    let mut dice = Dice(at as u64);
    let (mut seen, mut made, mut hubs) = (HashSet::new(), 0, [0_usize; 3]);
    while made < graph.statements {
        let (subject, predicate, object) = graph.statement(&mut dice);
        let amount = made as i64 + 1_000;
        let same = object.unwrap_or(usize::MAX - made) as u64;
        if !seen.insert(mix(mix(subject as u64)
            ^ mix(predicate as u64 + 7)
            ^ mix(same.wrapping_add(1_000_003))))
        {
            // The pair of these is used up: a value instead keeps the number of statements.
            continue;
        }
        for hub in [Some(subject), object].into_iter().flatten() {
            if let Some(count) = hubs.get_mut(hub) {
                *count += 1;
            }
        }
        let (node, value, key, shown) = match object {
            Some(n) => {
                let node = id(at, Kind::Node, n).to_string();
                (node.clone(), NULL.to_owned(), node, label(n))
            }
            None => match Object::parse(&json!(amount)) {
                Ok(Parsed::Literal(object)) => {
                    let value = json!(object);
                    let shown = value
                        .get("label")
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                        .to_owned();
                    (
                        NULL.to_owned(),
                        value.to_string(),
                        object.object_key(),
                        shown,
                    )
                }
                _ => continue,
            },
        };
        let kind = if dice.below(5) == 0 { "claim" } else { "fact" };
        let confidence = 0.5 + dice.share() / 2.0;
        copy.row(
            session,
            &[
                &tenant_id,
                &id(at, Kind::Statement, made),
                &id(at, Kind::Node, subject),
                &id(at, Kind::Predicate, predicate),
                &node,
                &value,
                &key,
                &shown,
                &format!("{confidence:.3}"),
                &kind,
            ],
        )
        .await?;
        made += 1;
    }
    copy.end(session).await?;
    Ok(hubs.into_iter().max().unwrap_or_default())
}

const NULL: &str = "\u{1}";

/// Rows on their way in.
struct Copy {
    target: &'static str,
    text: String,
}

impl Copy {
    fn new(target: &'static str) -> Self {
        Self {
            target,
            text: String::new(),
        }
    }

    async fn row(
        &mut self,
        session: &mut PgConnection,
        fields: &[&(dyn std::fmt::Display + Sync)],
    ) -> Result<()> {
        for (at, field) in fields.iter().enumerate() {
            if at > 0 {
                self.text.push('\t');
            }
            let from = self.text.len();
            write!(self.text, "{field}")?;
            if self.text.get(from..) == Some(NULL) {
                self.text.truncate(from);
                self.text.push_str("\\N");
            }
        }
        self.text.push('\n');
        if self.text.len() > 64 << 20 {
            self.end(session).await?;
        }
        Ok(())
    }

    async fn end(&mut self, session: &mut PgConnection) -> Result<()> {
        let sql = format!("COPY {} FROM STDIN", self.target);
        let mut sink = session.copy_in_raw(&sql).await?;
        sink.send(self.text.as_bytes()).await?;
        sink.finish().await?;
        self.text.clear();
        Ok(())
    }
}
