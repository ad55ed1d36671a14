//! Two tenants in one database: whatever one asks with the other's ids, it finds and changes nothing.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use qadra_store::{
    AgentChange, ConversationChange, ListFilter, NewApiKey, NewObject, NewTriple, Page,
    PredicateChange, Store, StoreError, TenantTx, TripleFilter,
};
use qadra_types::{Agent, Code, Scope, TurnError, new_id};
use serde_json::json;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Row};
use uuid::Uuid;

use super::bed::{Bed, Home, Owner, connect, end_turn, name, new_agent, new_turn};
use super::{documents, flows, graph};

/// A tenant with a row in every table.
struct Full {
    home: Home,
    agent: Agent,
    thread: Uuid,
    branch: Uuid,
    messages: [Uuid; 2],
    /// In a second thread.
    running: (Uuid, Uuid, Uuid),
    ended_turn: Uuid,
    key: Uuid,
    node: Uuid,
    alias: Uuid,
    predicate: Uuid,
    triple: Uuid,
    deleted_thread: Uuid,
    documents: documents::Filled,
    graph: graph::Filled,
    flows: flows::Filled,
}

impl Full {
    /// The statement, its subject and its predicate.
    fn statement(&self) -> (Uuid, Uuid, Uuid) {
        (self.triple, self.node, self.predicate)
    }

    async fn new(bed: &Bed, word: &str) -> Self {
        let home = bed.home().await;
        let agent = bed.agent(&home, word).await;
        let thread = bed.conversation(&home).await;
        let question = bed
            .turn(
                &home,
                thread.id,
                agent.id,
                &format!("{word} question"),
                Owner::nobody(),
            )
            .await;
        let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
        let asked = question.user_message.id;
        let (_, answer) = end_turn(
            &mut tx,
            question.id,
            asked,
            &agent,
            Ok(&format!("{word} answer")),
        )
        .await
        .unwrap();
        tx.commit().await.unwrap();
        let second = bed.conversation(&home).await;
        let running = bed
            .turn(&home, second.id, agent.id, word, Owner::nobody())
            .await;
        let deleted = bed.conversation(&home).await;
        let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
        let answer = answer.unwrap().id;
        assert!(tx.message_rate(thread.id, answer, Some(1)).await.unwrap());
        assert!(tx.conversation_delete(deleted.id).await.unwrap());
        tx.audit(home.user_id, "test", "none", None, &json!({}))
            .await
            .unwrap();
        let key = new_id();
        tx.api_key_create(&new_key(key, home.user_id, word))
            .await
            .unwrap();
        let triple = tx
            .triples_insert(&[statement(word)], home.user_id)
            .await
            .unwrap()[0];
        let row = tx.triples_get(&[triple]).await.unwrap().remove(0);
        let (alias, _) = tx
            .alias_create(row.subject_id, &name(&format!("{word} alias")))
            .await
            .unwrap();
        tx.commit().await.unwrap();
        let mut tx = bed.store.auth().await.unwrap();
        let expires = Utc::now() + TimeDelta::days(1);
        tx.refresh_token_create(
            home.tenant_id,
            new_id(),
            home.user_id,
            new_id(),
            word.as_bytes(),
            expires,
        )
        .await
        .unwrap();
        tx.commit().await.unwrap();
        let documents =
            documents::fill(bed, &home, word, (triple, row.subject_id, row.predicate_id)).await;
        let graph = graph::fill(bed, &home, word, agent.id, documents.document).await;
        let flows = flows::fill(bed, &home, word).await;
        Self {
            home,
            documents,
            graph,
            flows,
            agent,
            thread: thread.id,
            branch: thread.active_branch_id,
            messages: [asked, answer],
            running: (second.id, running.id, running.user_message.id),
            ended_turn: question.id,
            key,
            node: row.subject_id,
            alias,
            predicate: row.predicate_id,
            triple,
            deleted_thread: deleted.id,
        }
    }
}

fn new_key<'a>(id: Uuid, user_id: Uuid, word: &'a str) -> NewApiKey<'a> {
    NewApiKey {
        id,
        user_id,
        name: word,
        prefix: "qk",
        hash: word.as_bytes(),
        scopes: &[Scope::Read],
        expires_at: None,
    }
}

fn statement(word: &str) -> NewTriple {
    NewTriple {
        subject: name(&format!("{word} subject")),
        predicate: "is".into(),
        predicate_keys: vec!["be".into()],
        object: NewObject::Node(name(&format!("{word} object"))),
        positive: true,
        confidence: 1.0,
        kind: "fact".into(),
        source: None,
        valid_from: None,
        valid_to: None,
    }
}

/// Every row of every table, as text, with the tables that have some.
async fn everything(admin: &mut PgConnection) -> (BTreeSet<String>, Vec<String>) {
    let mut rows = Vec::new();
    let mut filled = BTreeSet::new();
    for table in tables(admin).await {
        let of_table: Vec<String> = sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT t::text FROM {table} t ORDER BY 1"
        )))
        .fetch_all(&mut *admin)
        .await
        .unwrap();
        if !of_table.is_empty() {
            filled.insert(table.clone());
        }
        rows.extend(of_table.into_iter().map(|row| format!("{table} {row}")));
    }
    (filled, rows)
}

async fn tables(session: &mut PgConnection) -> Vec<String> {
    sqlx::query_scalar(
        "SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
           AND relname <> '_sqlx_migrations' ORDER BY 1",
    )
    .fetch_all(session)
    .await
    .unwrap()
}

/// Every method of the tenant transaction, by the source.
fn methods() -> BTreeSet<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let mut found = BTreeSet::new();
    let mut folders = vec![std::path::PathBuf::from(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    for path in files {
        if path.extension().is_none_or(|e| e != "rs") {
            continue;
        }
        let mut inside = false;
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            match line {
                "impl TenantTx {" => inside = true,
                "}" => inside = false,
                _ if inside => {
                    let name = line
                        .strip_prefix("    pub async fn ")
                        .and_then(|rest| rest.split(['(', '<']).next());
                    found.extend(name.map(str::to_owned));
                }
                _ => {}
            }
        }
    }
    found
}

/// Whether a probe came to nothing.
trait Nothing {
    fn is_nothing(&self) -> bool;
}

impl Nothing for bool {
    fn is_nothing(&self) -> bool {
        !self
    }
}

impl<T> Nothing for Option<T> {
    fn is_nothing(&self) -> bool {
        self.is_none()
    }
}

impl<T> Nothing for Vec<T> {
    fn is_nothing(&self) -> bool {
        self.is_empty()
    }
}

/// A page and the number of all.
impl<T> Nothing for (Vec<T>, i64) {
    fn is_nothing(&self) -> bool {
        self.0.is_empty() && self.1 == 0
    }
}

/// Something was made.
impl Nothing for (Uuid, DateTime<Utc>) {
    fn is_nothing(&self) -> bool {
        false
    }
}

impl<T: Nothing> Nothing for qadra_store::Result<T> {
    fn is_nothing(&self) -> bool {
        match self {
            Ok(found) => found.is_nothing(),
            // The reference points at nothing in the tenant.
            Err(e) => matches!(e, StoreError::Dangling { .. }),
        }
    }
}

struct Probes<'a> {
    store: &'a Store,
    mine: &'a Full,
    done: BTreeSet<String>,
}

impl Probes<'_> {
    async fn tx(&self) -> TenantTx {
        self.store.tenant(&self.mine.home.ctx).await.unwrap()
    }

    fn saw(&mut self, method: &str, nothing: bool) {
        assert!(nothing, "{method} found something of another tenant");
        self.done.insert(method.to_owned());
    }
}

/// A probe in a transaction of its own, committed if it can be, so that a change would stay.
macro_rules! probe {
    ($probes:ident, $method:ident ( $($argument:expr),* $(,)? )) => {{
        let mut tx = $probes.tx().await;
        let outcome = tx.$method($($argument),*).await;
        if outcome.is_ok() {
            tx.commit().await.unwrap();
        }
        $probes.saw(stringify!($method), Nothing::is_nothing(&outcome));
    }};
}

#[tokio::test]
async fn the_ids_of_another_tenant_find_and_change_nothing() {
    let bed = Bed::new().await;
    let (mine, theirs) = (
        Full::new(&bed, "mine").await,
        Full::new(&bed, "theirs").await,
    );
    let mut admin = bed.superuser().await;
    let (filled, before) = everything(&mut admin).await;
    assert_eq!(
        filled.into_iter().collect::<Vec<_>>(),
        tables(&mut admin).await,
        "a table is not tried"
    );
    let mut p = Probes {
        store: &bed.store,
        mine: &mine,
        done: BTreeSet::new(),
    };
    let (me, them) = (mine.home.user_id, theirs.home.user_id);
    let thread = theirs.thread;
    let page = Page {
        first: 1,
        last: 100,
        newest_first: false,
    };
    let error = TurnError {
        code: Code::Internal,
        detail: String::new(),
        hint: None,
        retryable: false,
    };

    probe!(p, member_role(them));
    probe!(p, agent_get(theirs.agent.id));
    probe!(p, agent_lock(theirs.agent.id));
    probe!(p, agent_delete(theirs.agent.id));
    probe!(p, agent_version_list(theirs.agent.id));
    probe!(p, api_key_list(Some(them), 10, 0));
    probe!(p, api_key_revoke(theirs.key, None));
    probe!(p, api_key_revoke(theirs.key, Some(them)));
    probe!(p, conversation_get(thread));
    probe!(
        p,
        conversation_update(
            thread,
            &ConversationChange {
                is_shared: Some(true),
                ..Default::default()
            }
        )
    );
    probe!(p, conversation_delete(thread));
    probe!(p, conversation_restore(theirs.deleted_thread, them));
    probe!(p, branch_select(thread, theirs.messages[0]));
    probe!(p, branch_select(mine.thread, theirs.messages[0]));
    probe!(p, branch_get(theirs.branch));
    probe!(p, message_page(theirs.branch, &page));
    probe!(p, message_history(theirs.branch, 1, 100));
    probe!(p, message_get(thread, theirs.messages[0]));
    probe!(p, message_get(mine.thread, theirs.messages[0]));
    probe!(p, message_rate(thread, theirs.messages[1], Some(-1)));
    probe!(p, message_answers(thread, theirs.messages[0]));
    probe!(p, answering_agent(thread, theirs.messages[0]));
    probe!(p, turn_lock(thread, Some(theirs.agent.id)));
    probe!(p, turn_get(thread, theirs.ended_turn));
    probe!(p, turn_stream(theirs.ended_turn));
    probe!(
        p,
        triples_around(&[theirs.node], &[theirs.predicate], 10, 2)
    );
    probe!(p, triples_around(&[], &[theirs.predicate], 10, 2));
    probe!(p, predicate_stats(&[theirs.predicate]));
    probe!(p, predicate_uses(&[theirs.predicate], &[theirs.predicate]));
    probe!(p, triples_get(&[theirs.triple]));
    probe!(p, triple_retract(theirs.triple, me));
    probe!(p, node_get(theirs.node));
    probe!(p, node_by_identity("theirs subject"));
    probe!(p, alias_create(theirs.node, &name("stolen")));
    probe!(p, alias_delete(theirs.alias));
    probe!(
        p,
        predicate_update(
            theirs.predicate,
            &PredicateChange {
                symmetric: Some(true),
                ..Default::default()
            }
        )
    );
    let inverse = PredicateChange {
        inverse_of: Some(Some(theirs.predicate)),
        ..Default::default()
    };
    probe!(p, predicate_update(mine.predicate, &inverse));
    let exclusive = PredicateChange {
        exclusive_with: Some(Some(theirs.predicate)),
        ..Default::default()
    };
    probe!(p, predicate_update(mine.predicate, &exclusive));
    probe!(
        p,
        names_find(&["theirs subject", "theirs alias"].map(str::to_owned))
    );
    probe!(
        p,
        names_similar(&["theirs subjetc", "theirs alais"].map(str::to_owned))
    );
    let lists = |words, shared| ListFilter {
        user_id: them,
        shared_by_others: shared,
        archived: None,
        words,
        limit: 10,
        offset: 0,
    };
    probe!(p, conversation_list(&lists(None, false)));
    probe!(p, conversation_list(&lists(Some("theirs"), false)));
    let node_filter = TripleFilter {
        node_id: Some(theirs.node),
        include_retracted: true,
        limit: 10,
        ..TripleFilter::default()
    };
    probe!(p, triple_list(&node_filter));
    probe!(p, node_list(Some("theirs"), 10, 0));

    let ids = (theirs.triple, theirs.agent.id);
    for method in graph::probe(&bed, (&mine.home, &mine.graph), &theirs.graph, ids).await {
        p.saw(method, true);
    }
    for method in documents::probe(&bed, &mine.home, &theirs.documents, theirs.statement()).await {
        p.saw(method, true);
    }

    for method in flows::probe(&bed, &mine.home, &mine.flows, &theirs.flows).await {
        p.saw(method, true);
    }

    // Those that answer more than found or not found.
    let change = AgentChange {
        agent: &theirs.agent,
        new_version: true,
        actor_id: me,
    };
    let changed = p.tx().await.agent_update(&change).await.is_err();
    p.saw("agent_update", changed);
    let (running_thread, running, asked) = theirs.running;
    let mut tx = p.tx().await;
    let ended = end_turn(&mut tx, running, asked, &theirs.agent, Err(&error))
        .await
        .unwrap();
    tx.commit().await.unwrap();
    p.saw("turn_end", ended == (None, None));
    let locked = {
        let mut tx = bed.store.tenant(&theirs.home.ctx).await.unwrap();
        tx.turn_lock(thread, None).await.unwrap().unwrap()
    };
    for conversation in [thread, running_thread] {
        let new = new_turn(
            conversation,
            &locked.branch,
            Some("stolen"),
            theirs.agent.id,
            Owner::nobody(),
        );
        let started = p.tx().await.turn_start(&new).await.is_err();
        p.saw("turn_start", started);
    }
    let forked = p
        .tx()
        .await
        .branch_fork(thread, &locked.branch, 1, None)
        .await
        .is_err();
    p.saw("branch_fork", forked);
    let keyed = p
        .tx()
        .await
        .api_key_create(&new_key(new_id(), them, "stolen"))
        .await
        .is_err();
    p.saw("api_key_create", keyed);

    // Those that take no id see only their own.
    let mut tx = p.tx().await;
    let owner = tx.owner_id().await.unwrap();
    p.saw("owner_id", owner == Some(me));
    let agents = tx.agent_list(None, 100, 0).await.unwrap();
    p.saw(
        "agent_list",
        agents.1 == 1 && agents.0[0].id == mine.agent.id,
    );
    let rated = tx.message_rated(None, 100).await.unwrap();
    p.saw(
        "message_rated",
        rated.iter().map(|r| r.message_id).eq([mine.messages[1]]),
    );
    let usage = tx.usage_totals(None, None).await.unwrap();
    p.saw("usage_totals", usage.calls == 1);
    let aliases = tx.alias_list(100, 0).await.unwrap();
    p.saw(
        "alias_list",
        aliases.0.iter().any(|a| a.0 == mine.alias)
            && aliases.0.iter().all(|a| a.0 != theirs.alias),
    );
    let predicates = tx.predicate_list(100, 0).await.unwrap();
    p.saw(
        "predicate_list",
        predicates.0.iter().any(|p| p.id == mine.predicate)
            && predicates.0.iter().all(|p| p.id != theirs.predicate),
    );
    drop(tx);

    let (_, after) = everything(&mut admin).await;
    assert_eq!(before, after);

    // Those that make things make them in the own tenant, of the same names that the other has.
    let mut tx = p.tx().await;
    tx.agent_create(&new_agent("theirs"), me).await.unwrap();
    let created = tx.conversation_create(them, None).await.unwrap();
    tx.triples_insert(&[statement("theirs")], me).await.unwrap();
    let node = tx
        .node_ensure(&name("theirs object"), Some("thing"))
        .await
        .unwrap();
    tx.audit(me, "test", "none", Some(thread), &json!({}))
        .await
        .unwrap();
    for made in documents::make(&mut tx, &mine.home).await {
        p.saw(made, true);
    }
    for made in graph::make(&mut tx, &mine.home).await {
        p.saw(made, true);
    }
    for made in flows::make(&mut tx).await {
        p.saw(made, true);
    }
    tx.commit().await.unwrap();
    assert_ne!((created.id, node), (theirs.thread, theirs.node));
    for made in [
        "agent_create",
        "conversation_create",
        "triples_insert",
        "node_ensure",
        "audit",
    ] {
        p.saw(made, true);
    }
    let (_, after) = everything(&mut admin).await;
    let tenant = theirs.home.tenant_id.to_string();
    let own = |rows: &[String]| {
        rows.iter()
            .filter(|row| row.contains(&tenant))
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(own(&before), own(&after));

    assert_eq!(p.done, methods(), "every method of TenantTx is tried here");
}

#[tokio::test]
async fn without_a_tenant_no_table_gives_a_row() {
    let bed = Bed::new().await;
    Full::new(&bed, "mine").await;
    let mut admin = bed.superuser().await;
    let names = tables(&mut admin).await;
    // The owner itself, tenant work before the tenant is named, and tenant work that names nobody.
    for prelude in [
        "SELECT 1",
        "SET LOCAL ROLE qadra_app",
        "SET LOCAL ROLE qadra_app; SET LOCAL qadra.tenant_id = ''",
        "SET LOCAL ROLE qadra_app; SET LOCAL qadra.tenant_id = '00000000-0000-0000-0000-000000000000'",
    ] {
        for table in &names {
            let mut session = connect(&bed.db.options()).await;
            let mut tx = session.begin().await.unwrap();
            sqlx::raw_sql(AssertSqlSafe(prelude))
                .execute(&mut *tx)
                .await
                .unwrap();
            let count = sqlx::query_scalar::<_, i64>(AssertSqlSafe(format!(
                "SELECT count(*) FROM {table}"
            )))
            .fetch_one(&mut *tx)
            .await;
            match count {
                Ok(count) => assert_eq!(count, 0, "{table} after {prelude}"),
                // No right to look at all is as good.
                Err(e) => {
                    let code = e
                        .as_database_error()
                        .and_then(|e| e.code())
                        .map(|c| c.into_owned());
                    assert_eq!(
                        code.as_deref(),
                        Some("42501"),
                        "{table} after {prelude}: {e}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn nothing_of_a_tenant_stays_with_the_connection() {
    let bed = Bed::with_connections(1).await;
    let (mine, theirs) = (
        Full::new(&bed, "mine").await,
        Full::new(&bed, "theirs").await,
    );
    for way in ["commit", "drop", "error"] {
        let mut tx = bed.store.tenant(&mine.home.ctx).await.unwrap();
        assert!(tx.agent_get(mine.agent.id).await.unwrap().is_some());
        match way {
            "commit" => tx.commit().await.unwrap(),
            "drop" => drop(tx),
            _ => {
                let twice = tx.agent_create(&new_agent("mine"), mine.home.user_id).await;
                assert!(matches!(twice, Err(StoreError::Duplicate { .. })));
                drop(tx);
            }
        }
        let row = sqlx::query(
            "SELECT current_user::text, coalesce(current_setting('qadra.tenant_id', true), ''), (SELECT count(*) FROM agents)",
        )
        .fetch_one(bed.store.pool())
        .await
        .unwrap();
        let state: (String, String, i64) = (row.get(0), row.get(1), row.get(2));
        assert_eq!(state, ("qadra".into(), String::new(), 0), "after {way}");
        let mut next = bed.store.tenant(&theirs.home.ctx).await.unwrap();
        assert!(next.agent_get(mine.agent.id).await.unwrap().is_none());
        assert_eq!(next.agent_list(None, 10, 0).await.unwrap().1, 1);
    }
}

/// The pool's doors to other roles see no tenant data either.
#[tokio::test]
async fn sign_in_and_housekeeping_cannot_read_conversations_or_knowledge() {
    let bed = Bed::new().await;
    let mine = Full::new(&bed, "mine").await;
    let mut admin = bed.superuser().await;
    for table in tables(&mut admin).await {
        for role in ["qadra_auth", "qadra_system"] {
            let allowed: &[&str] = match role {
                "qadra_auth" => &[
                    "tenants",
                    "users",
                    "user_tenants",
                    "refresh_tokens",
                    "api_keys",
                    "flow_triggers",
                ],
                _ => &[
                    "conversation_turns",
                    "conversations",
                    "document_jobs",
                    "document_turns",
                    "flow_deliveries",
                    "flow_triggers",
                    "memories",
                ],
            };
            let mut session = bed.session_as(role, Some(mine.home.tenant_id)).await;
            let read = sqlx::query(AssertSqlSafe(format!("SELECT tenant_id FROM {table}")))
                .fetch_all(&mut session)
                .await;
            if !allowed.contains(&table.as_str()) {
                assert!(read.is_err(), "{role} can read {table}");
            }
        }
    }
    let mut session = bed.session_as("qadra_system", None).await;
    assert!(
        sqlx::query("SELECT title FROM conversations")
            .fetch_all(&mut session)
            .await
            .is_err()
    );
}
