//! Who may run an execution, what of it is written, and in which order tenants are served.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use qadra_store::{
    Claim, ExecutionFilter, FlowChange, JournalRow, NewExecution, NewFlow, NewMessage, NewTrigger,
    Parent, Refusal, RunAppend, Store, StoreError, TenantTx, TriggerChange,
};
use qadra_types::new_id;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, Executor};
use uuid::Uuid;

use super::bed::{Bed, Home, connect, join_all};

const LEASE: Duration = Duration::from_secs(10);
const DATA: &str = r#"{"nodes":[{"id":"a","mine":1.50}],"edges":[]}"#;

async fn tx(bed: &Bed, home: &Home) -> TenantTx {
    bed.store.tenant(&home.ctx).await.unwrap()
}

fn new_flow(id: Uuid, name: &str) -> NewFlow<'_> {
    NewFlow {
        id,
        name,
        description: None,
        flow_data: DATA,
        digest: b"digest",
        node_count: 1,
        is_active: true,
        created_by: None,
    }
}

fn new_execution(id: Uuid, flow_id: Uuid, snapshot_id: Uuid) -> NewExecution<'static> {
    NewExecution {
        id,
        flow_id,
        snapshot_id,
        input: "{\"n\":1}",
        trigger: "manual",
        triggered_by: None,
        parent: None,
        rerun_of: None,
        conversation_id: None,
        turn_id: None,
        idempotency_key: None,
    }
}

/// A flow with its snapshot.
async fn flow(bed: &Bed, home: &Home, name: &str) -> (Uuid, Uuid) {
    let mut tx = tx(bed, home).await;
    let id = new_id();
    tx.flow_create(&new_flow(id, name)).await.unwrap();
    let snapshot = tx.flow_snapshot(id, b"digest", DATA).await.unwrap();
    tx.commit().await.unwrap();
    (id, snapshot)
}

async fn executions(bed: &Bed, home: &Home, (flow, snapshot): (Uuid, Uuid), n: usize) -> Vec<Uuid> {
    let mut tx = tx(bed, home).await;
    let mut ids = Vec::new();
    for _ in 0..n {
        let id = new_id();
        assert!(
            tx.execution_create(&new_execution(id, flow, snapshot))
                .await
                .unwrap()
        );
        ids.push(id);
    }
    tx.commit().await.unwrap();
    ids
}

/// A tenant, and one execution of a flow of it.
async fn one(bed: &Bed) -> (Home, Uuid) {
    let home = bed.home().await;
    let made = flow(bed, &home, "f").await;
    let id = executions(bed, &home, made, 1).await[0];
    (home, id)
}

async fn claim(store: &Store, worker: Uuid, most: i32) -> Vec<Claim> {
    store.flow_claim(worker, most, 100, LEASE).await.unwrap()
}

fn row(seq: u32) -> JournalRow {
    JournalRow {
        seq,
        kind: "completed".into(),
        node: "a".into(),
        attempt: 1,
        at: 1_700_000_000_123,
        body: Some(format!("{{\"n\":{seq},\"zero\":\"\\u0000\"}}")),
    }
}

fn append(c: &Claim, seqs: impl IntoIterator<Item = u32>) -> RunAppend {
    RunAppend {
        tenant_id: c.tenant_id,
        execution_id: c.execution_id,
        token: c.token,
        rows: seqs.into_iter().map(row).collect(),
        ..RunAppend::default()
    }
}

fn ends(c: &Claim, status: &'static str) -> RunAppend {
    RunAppend {
        status: Some(status),
        ..append(c, [])
    }
}

async fn refusals(store: &Store, worker: Uuid, runs: &[RunAppend]) -> Vec<(Uuid, Refusal)> {
    let refused = store.flow_append(worker, runs).await.unwrap();
    refused
        .into_iter()
        .map(|r| (r.execution_id, r.reason))
        .collect()
}

async fn seqs(bed: &Bed, c: &Claim) -> Vec<u32> {
    let rows = bed
        .store
        .flow_entries(c.tenant_id, c.execution_id, 0)
        .await
        .unwrap();
    rows.iter().map(|r| r.seq).collect()
}

async fn status(bed: &Bed, home: &Home, id: Uuid) -> String {
    tx(bed, home)
        .await
        .execution_get(id)
        .await
        .unwrap()
        .unwrap()
        .status
}

/// As if the worker had not been heard of for a minute.
async fn forget(bed: &Bed, worker: Uuid) {
    bed.superuser()
        .await
        .execute(AssertSqlSafe(format!(
            "UPDATE flow_workers SET seen_at = now() - interval '1 minute' WHERE id = '{worker}'"
        )))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_claimed_execution_is_held_by_one_worker_and_keeps_what_it_says() {
    let bed = Bed::new().await;
    let (home, id) = one(&bed).await;
    let (a, b) = (Uuid::new_v4(), Uuid::new_v4());
    let mine = claim(&bed.store, a, 5).await;
    assert_eq!(mine.len(), 1);
    let c = &mine[0];
    assert_eq!(
        (c.execution_id, c.token, c.last_seq, c.has_inbox),
        (id, 1, 0, false)
    );
    assert_eq!((c.status.as_str(), &c.input), ("running", &json!({"n": 1})));
    assert!(claim(&bed.store, b, 5).await.is_empty());

    assert_eq!(refusals(&bed.store, a, &[append(c, 1..=3)]).await, []);
    assert_eq!(refusals(&bed.store, a, &[append(c, [4])]).await, []);
    let rows = bed.store.flow_entries(home.tenant_id, id, 2).await.unwrap();
    assert_eq!(rows, [row(3), row(4)]);
    // Not the holder, and not with the holder's token either.
    assert_eq!(
        refusals(&bed.store, b, &[append(c, [5])]).await,
        [(id, Refusal::Stale)]
    );
    let opened = bed
        .store
        .flow_open(home.tenant_id, id, true)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(opened.flow_data.as_deref(), Some(DATA), "verbatim");
}

#[tokio::test]
async fn a_frozen_worker_writes_nothing_once_another_has_taken_over() {
    let bed = Bed::new().await;
    let (home, id) = one(&bed).await;
    let (a, b) = (Uuid::new_v4(), Uuid::new_v4());
    let old = claim(&bed.store, a, 1).await.remove(0);
    assert_eq!(refusals(&bed.store, a, &[append(&old, 1..=2)]).await, []);
    forget(&bed, a).await;
    let new = claim(&bed.store, b, 1).await.remove(0);
    assert_eq!((new.execution_id, new.last_seq), (id, 2));
    assert!(new.token > old.token);
    // It thaws: with rows that would fit, and with an end.
    for late in [append(&old, [3]), ends(&old, "failed")] {
        assert_eq!(
            refusals(&bed.store, a, &[late]).await,
            [(id, Refusal::Stale)]
        );
    }
    assert_eq!(status(&bed, &home, id).await, "running");
    assert_eq!(refusals(&bed.store, b, &[append(&new, [3]),]).await, []);
    assert_eq!(seqs(&bed, &new).await, [1, 2, 3]);
    // Even if it gets the execution back by name, the old token is void.
    bed.store.flow_release(b).await.unwrap();
    let again = claim(&bed.store, a, 1).await.remove(0);
    assert_eq!(
        refusals(&bed.store, a, &[append(&old, [4])]).await,
        [(id, Refusal::Stale)]
    );
    assert_eq!(refusals(&bed.store, a, &[append(&again, [4])]).await, []);
}

#[tokio::test]
async fn one_refusal_leaves_the_others_of_the_batch_alone() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let made = flow(&bed, &home, "f").await;
    executions(&bed, &home, made, 4).await;
    let a = Uuid::new_v4();
    let c = claim(&bed.store, a, 4).await;
    assert_eq!(
        refusals(&bed.store, a, &[ends(&c[1], "completed")]).await,
        []
    );
    let mut stale = append(&c[2], [1]);
    stale.token -= 1;
    let refused = refusals(
        &bed.store,
        a,
        &[
            append(&c[0], [1, 2]),
            append(&c[1], [1]),
            stale,
            append(&c[3], [2]),
        ],
    )
    .await;
    let expected = BTreeMap::from([
        (c[1].execution_id, Refusal::Ended),
        (c[2].execution_id, Refusal::Stale),
        (c[3].execution_id, Refusal::Gap),
    ]);
    assert_eq!(
        refused
            .into_iter()
            .map(|(id, r)| (id, r as u8))
            .collect::<BTreeMap<_, _>>(),
        expected.into_iter().map(|(id, r)| (id, r as u8)).collect()
    );
    assert_eq!(seqs(&bed, &c[0]).await, [1, 2]);
    for other in &c[1..] {
        assert_eq!(seqs(&bed, other).await, [0; 0]);
    }
}

#[tokio::test]
async fn rows_that_skip_or_repeat_a_number_are_refused() {
    let bed = Bed::new().await;
    let (_, id) = one(&bed).await;
    let a = Uuid::new_v4();
    let c = claim(&bed.store, a, 1).await.remove(0);
    for wrong in [vec![2], vec![0], vec![1, 3], vec![1, 1], vec![2, 1]] {
        assert_eq!(
            refusals(&bed.store, a, &[append(&c, wrong)]).await,
            [(id, Refusal::Gap)]
        );
    }
    assert_eq!(refusals(&bed.store, a, &[append(&c, 1..=2)]).await, []);
    assert_eq!(
        refusals(&bed.store, a, &[append(&c, 1..=2)]).await,
        [(id, Refusal::Gap)]
    );
    assert_eq!(seqs(&bed, &c).await, [1, 2]);
}

#[tokio::test]
async fn an_end_is_written_once_and_nothing_after_it() {
    let bed = Bed::new().await;
    let (home, id) = one(&bed).await;
    let a = Uuid::new_v4();
    let c = claim(&bed.store, a, 1).await.remove(0);
    let mut end = ends(&c, "completed");
    end.rows = vec![row(1)];
    end.steps = Some(7);
    assert_eq!(refusals(&bed.store, a, &[end]).await, []);
    for late in [ends(&c, "failed"), ends(&c, "cancelled"), append(&c, [2])] {
        assert_eq!(
            refusals(&bed.store, a, &[late]).await,
            [(id, Refusal::Ended)]
        );
    }
    let row = tx(&bed, &home)
        .await
        .execution_get(id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((row.status.as_str(), row.steps), ("completed", 7));
    assert!(row.started_at.is_some() && row.completed_at.is_some());
    forget(&bed, a).await;
    assert!(claim(&bed.store, Uuid::new_v4(), 10).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_that_race_share_the_executions_and_each_row_is_written_once() {
    let bed = Bed::with_connections(10).await;
    let home = bed.home().await;
    let made = flow(&bed, &home, "f").await;
    let ids = executions(&bed, &home, made, 40).await;
    let runs = (0..4).map(|_| {
        let store = bed.store.clone();
        async move {
            let worker = Uuid::new_v4();
            let mut got = Vec::new();
            loop {
                let claims = claim(&store, worker, 3).await;
                if claims.is_empty() {
                    return got;
                }
                let batch: Vec<RunAppend> = claims
                    .iter()
                    .map(|c| RunAppend {
                        rows: (1..=5).map(row).collect(),
                        ..ends(c, "completed")
                    })
                    .collect();
                assert_eq!(refusals(&store, worker, &batch).await, []);
                got.extend(claims.iter().map(|c| c.execution_id));
            }
        }
    });
    let mut got: Vec<Uuid> = join_all(runs).await.concat();
    got.sort_unstable();
    assert_eq!(got, {
        let mut ids = ids;
        ids.sort_unstable();
        ids
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_that_hold_the_same_token_at_once_one_wins() {
    // The lease changes hands while the old holder's append waits for the row.
    let bed = Bed::with_connections(6).await;
    let (home, id) = one(&bed).await;
    let a = Uuid::new_v4();
    let old = claim(&bed.store, a, 1).await.remove(0);
    let mut blocker = connect(&bed.db.superuser_options()).await;
    let mut held = blocker.begin().await.unwrap();
    held.execute(AssertSqlSafe(format!(
        "UPDATE flow_executions SET lease_token = lease_token + 1, worker_id = '{}' WHERE id = '{id}'",
        Uuid::new_v4()
    )))
    .await
    .unwrap();
    let store = bed.store.clone();
    let late = append(&old, [1]);
    let waiting = tokio::spawn(async move { refusals(&store, a, &[late]).await });
    let mut watch = bed.superuser().await;
    loop {
        let blocked: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%flow_append%' AND datname = current_database()",
        )
        .fetch_one(&mut watch)
        .await
        .unwrap();
        if blocked == 1 {
            break;
        }
        tokio::task::yield_now().await;
    }
    held.commit().await.unwrap();
    assert_eq!(waiting.await.unwrap(), [(id, Refusal::Stale)]);
    let rows = tx(&bed, &home).await.journal_read(id, 0).await.unwrap();
    assert_eq!(rows, []);
}

#[tokio::test]
async fn a_tenant_with_a_thousand_waiting_does_not_starve_one_with_one() {
    let bed = Bed::new().await;
    let (many, few) = (bed.home().await, bed.home().await);
    let made = flow(&bed, &many, "f").await;
    executions(&bed, &many, made, 1000).await;
    let worker = Uuid::new_v4();
    // The big one's are older. With eight places, the small one gets one as soon as it asks.
    let first = claim(&bed.store, worker, 8).await;
    assert!(first.iter().all(|c| c.tenant_id == many.tenant_id));
    let made = flow(&bed, &few, "f").await;
    executions(&bed, &few, made, 1).await;
    let next = claim(&bed.store, worker, 1).await;
    assert_eq!(
        next[0].tenant_id, few.tenant_id,
        "the one with fewer at work is first"
    );
    // Within one claim they take turns.
    executions(&bed, &few, made, 3).await;
    let turns = claim(&bed.store, Uuid::new_v4(), 4).await;
    assert_eq!(
        turns
            .iter()
            .filter(|c| c.tenant_id == few.tenant_id)
            .count(),
        3
    );
    // Nobody has more at work than allowed, whoever asks.
    let all = bed
        .store
        .flow_claim(Uuid::new_v4(), 100, 20, LEASE)
        .await
        .unwrap();
    let of_many = all.iter().filter(|c| c.tenant_id == many.tenant_id).count();
    assert_eq!(of_many, 20 - 9, "nine are at work already");
}

#[tokio::test]
async fn with_one_place_at_a_time_both_tenants_are_served() {
    let bed = Bed::new().await;
    let (many, few) = (bed.home().await, bed.home().await);
    let made = flow(&bed, &many, "f").await;
    executions(&bed, &many, made, 200).await;
    let made = flow(&bed, &few, "f").await;
    executions(&bed, &few, made, 1).await;
    let worker = Uuid::new_v4();
    // By lot among equals: that it takes more than 60 turns has a chance of 2^-60.
    for _ in 0..60 {
        let c = claim(&bed.store, worker, 1).await.remove(0);
        assert_eq!(
            refusals(&bed.store, worker, &[ends(&c, "completed")]).await,
            []
        );
        if c.tenant_id == few.tenant_id {
            return;
        }
    }
    panic!("the tenant with one execution was never served");
}

#[tokio::test]
async fn a_released_execution_sleeps_until_its_time_or_a_message() {
    let bed = Bed::new().await;
    let (home, id) = one(&bed).await;
    let a = Uuid::new_v4();
    let c = claim(&bed.store, a, 1).await.remove(0);
    let later = Utc::now() + TimeDelta::hours(1);
    let sleep = RunAppend {
        release: true,
        ready_at: Some(later),
        status: Some("paused"),
        ..append(&c, [1])
    };
    assert_eq!(refusals(&bed.store, a, &[sleep]).await, []);
    assert!(claim(&bed.store, a, 1).await.is_empty());
    let next = bed.store.flow_next_ready().await.unwrap().unwrap();
    assert_eq!(next.timestamp_micros(), later.timestamp_micros());

    let answer = json!({"ok": true});
    let message = NewMessage {
        execution_id: id,
        kind: "input",
        node: "a",
        body: &answer,
        created_by: Some(home.user_id),
    };
    let mut t = tx(&bed, &home).await;
    assert!(t.inbox_put(&message).await.unwrap());
    t.commit().await.unwrap();
    assert!(bed.store.flow_next_ready().await.unwrap().unwrap() < Utc::now());
    let c = claim(&bed.store, a, 1).await.remove(0);
    assert!(c.has_inbox);
    let opened = bed
        .store
        .flow_open(home.tenant_id, id, false)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(opened.flow_data, None);
    let [m] = &opened.inbox[..] else {
        panic!("{opened:?}")
    };
    assert_eq!(
        (m.kind.as_str(), m.node.as_str(), &m.body, m.created_by),
        ("input", "a", &answer, Some(home.user_id))
    );

    // A second answer is refused before the first is taken, and after.
    for taken in [false, true] {
        if taken {
            let mut take = append(&c, [2]);
            take.inbox_done = vec![m.id];
            assert_eq!(refusals(&bed.store, a, &[take]).await, []);
            assert!(
                bed.store
                    .flow_heartbeat(a, "w", false)
                    .await
                    .unwrap()
                    .is_empty()
            );
        }
        let twice = tx(&bed, &home).await.inbox_put(&message).await;
        assert!(
            matches!(&twice, Err(StoreError::Duplicate { constraint }) if constraint == "flow_inbox_once"),
            "{twice:?}"
        );
    }
    // One that comes while the worker is about to let go wakes it at once.
    let cancel = NewMessage {
        kind: "cancel",
        node: "",
        ..message
    };
    let mut t = tx(&bed, &home).await;
    assert!(t.inbox_put(&cancel).await.unwrap());
    t.commit().await.unwrap();
    assert_eq!(
        bed.store.flow_heartbeat(a, "w", false).await.unwrap(),
        [(home.tenant_id, id)]
    );
    let sleep = RunAppend {
        release: true,
        ..append(&c, [])
    };
    assert_eq!(refusals(&bed.store, a, &[sleep]).await, []);
    let c = claim(&bed.store, a, 1).await.remove(0);
    assert!(c.has_inbox);
    assert_eq!(refusals(&bed.store, a, &[ends(&c, "cancelled")]).await, []);
    let mut t = tx(&bed, &home).await;
    assert!(
        !t.inbox_put(&NewMessage {
            node: "b",
            kind: "input",
            ..cancel
        })
        .await
        .unwrap(),
        "it has ended"
    );
}

#[tokio::test]
async fn the_end_of_a_child_is_told_to_its_parent_and_a_parents_failure_to_its_children() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let made = flow(&bed, &home, "f").await;
    let top = executions(&bed, &home, made, 1).await[0];
    let a = Uuid::new_v4();
    let parent = claim(&bed.store, a, 1).await.remove(0);
    let children = [new_id(), new_id()];
    let mut t = tx(&bed, &home).await;
    for (child, node) in children.iter().zip(["x", "y"]) {
        let new = NewExecution {
            trigger: "flow",
            parent: Some(Parent {
                execution_id: top,
                node: node.into(),
                attempt: 1,
            }),
            ..new_execution(*child, made.0, made.1)
        };
        assert!(t.execution_create(&new).await.unwrap());
        assert!(
            !t.execution_create(&new).await.unwrap(),
            "the same child is made once"
        );
    }
    t.commit().await.unwrap();
    let row = tx(&bed, &home)
        .await
        .execution_get(children[0])
        .await
        .unwrap()
        .unwrap();
    assert_eq!((row.root_id, row.depth), (top, 1));
    let listed = tx(&bed, &home).await.execution_children(top).await.unwrap();
    assert_eq!(
        listed,
        [
            ("x".to_owned(), 1, children[0]),
            ("y".to_owned(), 1, children[1])
        ]
    );
    assert_eq!(
        tx(&bed, &home)
            .await
            .execution_lineage(children[0])
            .await
            .unwrap(),
        [made.0; 2]
    );

    let both = claim(&bed.store, a, 5).await;
    let x = both.iter().find(|c| c.execution_id == children[0]).unwrap();
    let mut end = ends(x, "completed");
    end.note = Some("{\"output\":42}".into());
    assert_eq!(refusals(&bed.store, a, &[end]).await, []);
    assert_eq!(
        bed.store.flow_heartbeat(a, "w", false).await.unwrap(),
        [(home.tenant_id, top)]
    );
    let inbox = bed
        .store
        .flow_open(home.tenant_id, top, false)
        .await
        .unwrap()
        .unwrap()
        .inbox;
    assert_eq!(
        (
            inbox[0].kind.as_str(),
            inbox[0].node.as_str(),
            &inbox[0].body
        ),
        ("child", "x", &json!({"output": 42}))
    );

    assert_eq!(
        refusals(&bed.store, a, &[ends(&parent, "failed")]).await,
        []
    );
    let y = tx(&bed, &home)
        .await
        .execution_get(children[1])
        .await
        .unwrap()
        .unwrap();
    assert!(y.cancel_requested);
    let inbox = bed
        .store
        .flow_open(home.tenant_id, children[1], false)
        .await
        .unwrap()
        .unwrap()
        .inbox;
    assert_eq!(inbox[0].kind, "cancel");
}

#[tokio::test]
async fn a_worker_that_stops_gives_everything_back_at_once() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let made = flow(&bed, &home, "f").await;
    executions(&bed, &home, made, 3).await;
    let (a, b) = (Uuid::new_v4(), Uuid::new_v4());
    assert_eq!(claim(&bed.store, a, 10).await.len(), 3);
    assert_eq!(bed.store.flow_release(a).await.unwrap(), 3);
    assert_eq!(claim(&bed.store, b, 10).await.len(), 3);
}

#[tokio::test]
async fn a_claim_does_not_wait_for_the_disk_and_an_append_does() {
    let bed = Bed::new().await;
    one(&bed).await;
    let mut session = connect(&bed.db.options()).await;
    // The server of the tests waits for no disk at all.
    session
        .execute("SET synchronous_commit = on")
        .await
        .unwrap();
    for (sql, expected) in [
        (
            "SELECT count(*) FROM flow_claim(gen_random_uuid(), 0, 1, '10 s')",
            "off",
        ),
        (
            "SELECT count(*) FROM flow_heartbeat(gen_random_uuid(), 'w', false)",
            "off",
        ),
        (
            "SELECT count(*) FROM flow_append(gen_random_uuid(), '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')",
            "on",
        ),
    ] {
        let mut tx = session.begin().await.unwrap();
        tx.execute(sql).await.unwrap();
        let now: String = sqlx::query_scalar("SHOW synchronous_commit")
            .fetch_one(&mut *tx)
            .await
            .unwrap();
        assert_eq!(now, expected, "{sql}");
        tx.commit().await.unwrap();
    }
}

#[tokio::test]
async fn no_tenants_transaction_may_call_what_workers_call() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    for sql in [
        "SELECT * FROM flow_claim(gen_random_uuid(), 1, 1, '1 s')",
        "SELECT * FROM flow_entries(current_tenant(), gen_random_uuid(), 0)",
        "SELECT flow_release(gen_random_uuid())",
        "UPDATE flow_executions SET status = 'completed'",
        "UPDATE flow_journal SET seq = 1",
        "DELETE FROM flow_journal",
    ] {
        for role in ["qadra_app", "qadra_system", "qadra_auth"] {
            let mut session = bed.session_as(role, Some(home.tenant_id)).await;
            let error = session.execute(sql).await.unwrap_err();
            let code = error
                .as_database_error()
                .and_then(|e| e.code())
                .map(|c| c.into_owned());
            assert_eq!(code.as_deref(), Some("42501"), "{role}: {sql}");
        }
    }
}

#[tokio::test]
async fn a_flow_keeps_its_text_counts_its_versions_and_frees_its_name() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let (id, _) = flow(&bed, &home, "f").await;
    let twice = tx(&bed, &home)
        .await
        .flow_create(&new_flow(new_id(), "f"))
        .await;
    assert!(matches!(twice, Err(StoreError::Duplicate { .. })));
    let mut t = tx(&bed, &home).await;
    let stale = FlowChange {
        name: Some("g"),
        expected_version: Some(2),
        ..FlowChange::default()
    };
    assert!(t.flow_update(id, &stale).await.unwrap().is_none());
    let fresh = FlowChange {
        expected_version: Some(1),
        ..stale
    };
    let changed = t.flow_update(id, &fresh).await.unwrap().unwrap();
    assert_eq!(
        (changed.summary.version, changed.summary.name.as_str()),
        (2, "g")
    );
    assert!(t.flow_delete(id).await.unwrap());
    assert!(!t.flow_delete(id).await.unwrap());
    t.flow_create(&new_flow(new_id(), "g")).await.unwrap();
}

/// What the other tenant has, for [`probe`].
pub struct Filled {
    flow: Uuid,
    snapshot: Uuid,
    execution: Uuid,
    schedule: Uuid,
    hook: Uuid,
}

/// A row in every table of this module.
pub async fn fill(bed: &Bed, home: &Home, word: &str) -> Filled {
    let (flow, snapshot) = flow(bed, home, word).await;
    let execution = new_id();
    let mut t = tx(bed, home).await;
    let key = format!("{word} key");
    let new = NewExecution {
        idempotency_key: Some(&key),
        ..new_execution(execution, flow, snapshot)
    };
    assert!(t.execution_create(&new).await.unwrap());
    t.journal_seed(execution, &[row(1)]).await.unwrap();
    let body = json!({"from": word});
    let message = NewMessage {
        execution_id: execution,
        kind: "input",
        node: "a",
        body: &body,
        created_by: None,
    };
    assert!(t.inbox_put(&message).await.unwrap());
    assert!(t.secret_put(word, word.as_bytes(), None).await.unwrap());
    let (schedule, hook) = (new_id(), new_id());
    t.trigger_create(&new_trigger(schedule, flow, None))
        .await
        .unwrap();
    t.trigger_create(&new_trigger(hook, flow, Some(word.as_bytes())))
        .await
        .unwrap();
    assert_eq!(t.delivery_put(hook, "d", execution).await.unwrap(), None);
    assert_eq!(
        t.delivery_put(hook, "d", new_id()).await.unwrap(),
        Some(execution)
    );
    t.commit().await.unwrap();
    bed.store
        .flow_heartbeat(Uuid::new_v4(), word, false)
        .await
        .unwrap();
    Filled {
        flow,
        snapshot,
        execution,
        schedule,
        hook,
    }
}

fn new_trigger(id: Uuid, flow_id: Uuid, key: Option<&[u8]>) -> NewTrigger<'_> {
    let schedule = key.is_none();
    NewTrigger {
        id,
        flow_id,
        kind: if schedule { "schedule" } else { "webhook" },
        name: "t",
        cron: schedule.then_some("* * * * *"),
        time_zone: schedule.then_some("UTC"),
        input: "{}",
        is_active: true,
        sealed_key: key,
        next_at: schedule.then(|| Utc::now() - TimeDelta::minutes(1)),
        created_by: None,
    }
}

/// Tries every method of this module with the other tenant's ids, and returns which.
pub async fn probe(bed: &Bed, me: &Home, mine: &Filled, theirs: &Filled) -> Vec<&'static str> {
    let mut nothing = Vec::new();
    macro_rules! tried {
        ($method:ident ( $($argument:expr),* ), $found:pat => $is_nothing:expr) => {{
            let mut tx = tx(bed, me).await;
            let outcome = tx.$method($($argument),*).await;
            if outcome.is_ok() {
                tx.commit().await.unwrap();
            }
            let empty = match &outcome {
                Ok($found) => $is_nothing,
                Err(e) => matches!(e, StoreError::Dangling { .. }),
            };
            assert!(empty, "{} found something of another tenant", stringify!($method));
            nothing.push(stringify!($method));
        }};
    }
    let new_name = FlowChange {
        name: Some("stolen"),
        ..FlowChange::default()
    };
    let body = json!({});
    let message = NewMessage {
        execution_id: theirs.execution,
        kind: "cancel",
        node: "",
        body: &body,
        created_by: None,
    };
    let trigger = TriggerChange {
        name: "stolen",
        cron: Some("x"),
        time_zone: Some("x"),
        input: "{}",
        is_active: false,
        next_at: None,
    };
    let of_flow = ExecutionFilter {
        viewer: me.user_id,
        flow_id: Some(theirs.flow),
        limit: 10,
        ..ExecutionFilter::default()
    };
    let child = NewExecution {
        parent: Some(Parent {
            execution_id: theirs.execution,
            node: "a".into(),
            attempt: 1,
        }),
        ..new_execution(new_id(), mine.flow, mine.snapshot)
    };
    tried!(flow_get(theirs.flow), x => x.is_none());
    tried!(flow_update(theirs.flow, &new_name), x => x.is_none());
    tried!(flow_delete(theirs.flow), x => !x);
    tried!(flow_list(None, Some("theirs"), 10, 0), x => x.0.is_empty() && x.1 == 0);
    tried!(flow_snapshot(theirs.flow, b"digest", DATA), _ => false);
    tried!(flow_snapshot_get(theirs.snapshot), x => x.is_none());
    tried!(execution_create(&new_execution(new_id(), theirs.flow, theirs.snapshot)), _ => false);
    tried!(execution_create(&new_execution(new_id(), mine.flow, theirs.snapshot)), _ => false);
    tried!(execution_create(&child), _ => false);
    tried!(execution_get(theirs.execution), x => x.is_none());
    tried!(execution_input(theirs.execution), x => x.is_none());
    tried!(execution_lock(theirs.execution), x => !x);
    tried!(execution_by_key(theirs.flow, "theirs key"), x => x.is_none());
    tried!(execution_by_key(mine.flow, "theirs key"), x => x.is_none());
    tried!(execution_list(&of_flow), x => x.0.is_empty() && x.1 == 0);
    tried!(execution_children(theirs.execution), x => x.is_empty());
    tried!(execution_lineage(theirs.execution), x => x.is_empty());
    tried!(journal_read(theirs.execution, 0), x => x.is_empty());
    tried!(journal_seed(theirs.execution, &[row(2)]), () => true);
    tried!(inbox_put(&message), x => !x);
    tried!(secret_list(10, 0), x => x.1 == 1 && x.0[0].name == "mine");
    tried!(secrets_read(&["theirs".to_owned()]), x => x.is_empty());
    tried!(secret_delete("theirs"), x => !x);
    tried!(trigger_list(theirs.flow, 10, 0), x => x.0.is_empty() && x.1 == 0);
    tried!(trigger_create(&new_trigger(new_id(), theirs.flow, None)), _ => false);
    tried!(trigger_lock(theirs.schedule), x => x.is_none());
    tried!(trigger_take(theirs.schedule), x => x.is_none());
    tried!(trigger_update(theirs.schedule, &trigger), x => x.is_none());
    tried!(trigger_fired(theirs.schedule, Ok(mine.execution), None), x => !x);
    tried!(trigger_delete(theirs.hook), x => !x);
    tried!(delivery_put(theirs.hook, "d", mine.execution), _ => false);
    tried!(delivery_put(theirs.hook, "e", mine.execution), _ => false);
    nothing
}

/// What makes things makes them in the own tenant, of the names that the other has.
pub async fn make(tx: &mut TenantTx) -> Vec<&'static str> {
    tx.flow_create(&new_flow(new_id(), "theirs")).await.unwrap();
    assert!(tx.secret_put("theirs", b"mine", None).await.unwrap());
    vec!["flow_create", "secret_put"]
}
