//! A caller that leaves at any moment costs the pool nothing and leaves no transaction open.
//!
//! sqlx 0.9 by itself returns a connection with an open transaction when the future of `begin` is dropped at the
//! wrong moment; [`qadra_store::Store`] must not.

use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use qadra_store::Store;
use qadra_types::Ctx;
use sqlx::Row;

use super::bed::{Bed, Home};

const CONNECTIONS: u32 = 3;

/// Polls a future at most `polls` times, with a turn of the scheduler between, then drops it.
async fn leave_after(polls: usize, future: impl Future) {
    let mut future = pin!(future);
    for _ in 0..polls {
        let ready =
            std::future::poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_ready()))
                .await;
        if ready {
            return;
        }
        tokio::task::yield_now().await;
    }
}

async fn tenant_work(store: &Store, ctx: &Ctx, name: &str) -> qadra_store::Result<()> {
    let mut tx = store.tenant(ctx).await?;
    tx.agent_create(&super::bed::new_agent(name), ctx.actor.user_id)
        .await?;
    tx.commit().await
}

async fn auth_work(store: &Store, home: &Home) -> qadra_store::Result<()> {
    let mut tx = store.auth().await?;
    tx.account_signed_in(home.user_id).await?;
    tx.commit().await
}

async fn system_work(store: &Store) -> qadra_store::Result<()> {
    let mut tx = store.system().await?;
    let error = qadra_types::TurnError {
        code: qadra_types::Code::TurnInterrupted,
        detail: String::new(),
        hint: None,
        retryable: true,
    };
    tx.turn_recover(0, &[], &error).await?;
    tx.commit().await
}

/// Every connection of the pool can be had, is in no transaction, plays no role and names no tenant.
async fn assert_whole(bed: &Bed) {
    let pool = bed.store.pool();
    let begun = Instant::now();
    let mut held = Vec::new();
    while held.len() < CONNECTIONS as usize {
        match tokio::time::timeout(Duration::from_secs(20), pool.acquire()).await {
            Ok(Ok(connection)) => held.push(connection),
            other => panic!(
                "connection {} of {CONNECTIONS} cannot be had: {other:?}",
                held.len() + 1
            ),
        }
    }
    assert!(pool.size() <= CONNECTIONS);
    for connection in &mut held {
        // In the simple protocol a statement of its own begins with its transaction.
        let row = sqlx::raw_sql(
            "SELECT current_user::text, coalesce(current_setting('qadra.tenant_id', true), ''),
                    now() = statement_timestamp()",
        )
        .fetch_one(&mut **connection)
        .await
        .unwrap();
        let state: (String, String, bool) = (row.get(0), row.get(1), row.get(2));
        assert_eq!(state, ("qadra".to_owned(), String::new(), true));
    }
    drop(held);
    // A connection may just be on its way back; one that is left behind would stay as it is.
    let mut admin = bed.superuser().await;
    loop {
        let open: Vec<(i32, String, String)> = sqlx::query_as(
            "SELECT pid, state, query FROM pg_stat_activity
             WHERE datname = current_database() AND usename = 'qadra' AND state LIKE 'idle in transaction%'",
        )
        .fetch_all(&mut admin)
        .await
        .unwrap();
        if open.is_empty() {
            break;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "left open: {open:?}"
        );
    }
}

async fn leave_everywhere(bed: &Bed, home: &Home) {
    for round in 0..6 {
        for polls in 0..50 {
            let name = format!("agent-{round}-{polls}");
            match round % 3 {
                0 => leave_after(polls, tenant_work(&bed.store, &home.ctx, &name)).await,
                1 => leave_after(polls, auth_work(&bed.store, home)).await,
                _ => leave_after(polls, system_work(&bed.store)).await,
            }
        }
        assert_whole(bed).await;
    }
}

#[tokio::test]
async fn a_caller_that_leaves_at_any_poll_leaves_the_pool_whole() {
    let bed = Bed::with_connections(CONNECTIONS).await;
    let home = bed.home().await;
    leave_everywhere(&bed, &home).await;
    assert_all_or_nothing(&bed).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_do_many_that_leave_at_once() {
    let bed = Bed::with_connections(CONNECTIONS).await;
    let home = bed.home().await;
    for round in 0..4 {
        let leavers = (0..200).map(|n| {
            let (store, ctx, home) = (bed.store.clone(), home.ctx.clone(), home.clone());
            async move {
                let name = format!("agent-{round}-{n}");
                match n % 3 {
                    0 => leave_after(n % 50, tenant_work(&store, &ctx, &name)).await,
                    1 => leave_after(n % 50, auth_work(&store, &home)).await,
                    _ => leave_after(n % 50, system_work(&store)).await,
                }
            }
        });
        super::bed::join_all(leavers).await;
        assert_whole(&bed).await;
    }
    assert_all_or_nothing(&bed).await;
}

/// Tasks that are aborted from outside, as a server does with the request of a client that hung up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn aborted_tasks_leave_the_pool_whole() {
    let bed = Bed::with_connections(CONNECTIONS).await;
    let home = bed.home().await;
    for round in 0..10 {
        let tasks: Vec<_> = (0..30)
            .map(|n| {
                let (store, ctx) = (bed.store.clone(), home.ctx.clone());
                tokio::spawn(async move {
                    tenant_work(&store, &ctx, &format!("agent-{round}-{n}")).await
                })
            })
            .collect();
        for (n, task) in tasks.iter().enumerate() {
            for _ in 0..n % 7 {
                tokio::task::yield_now().await;
            }
            task.abort();
        }
        for task in tasks {
            let _ = task.await;
        }
        assert_whole(&bed).await;
    }
    assert_all_or_nothing(&bed).await;
}

/// An agent is written with its first version, in two statements: one without the other would be half a transaction.
async fn assert_all_or_nothing(bed: &Bed) {
    let half: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM agents a FULL JOIN agent_versions v ON v.tenant_id = a.tenant_id AND v.agent_id = a.id
         WHERE a.id IS NULL OR v.agent_id IS NULL",
    )
    .fetch_one(&mut bed.superuser().await)
    .await
    .unwrap();
    assert_eq!(half, 0);
}
