//! Whose death closes a turn, and that a closed turn stays closed.

use qadra_store::Presence;
use qadra_types::{Code, TurnError, TurnStatus};
use uuid::Uuid;

use super::bed::{Bed, Home, Owner, end_with, join_all};

fn interrupted() -> TurnError {
    TurnError {
        code: Code::TurnInterrupted,
        detail: "the server stopped".into(),
        hint: None,
        retryable: true,
    }
}

async fn recover(bed: &Bed, own: i64, live: &[Uuid]) -> u64 {
    let mut tx = bed.store.system().await.unwrap();
    let done = tx.turn_recover(own, live, &interrupted()).await.unwrap();
    tx.commit().await.unwrap();
    done
}

/// Until the server has noticed that a session is gone, which is its own affair; bounded by the test's patience.
async fn recover_until(bed: &Bed, own: i64, wanted: u64) {
    let begun = std::time::Instant::now();
    let mut done = 0;
    while done < wanted {
        assert!(
            begun.elapsed().as_secs() < 20,
            "only {done} of {wanted} turns were closed"
        );
        done += recover(bed, own, &[]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(done, wanted);
}

async fn status(
    bed: &Bed,
    home: &Home,
    conversation: Uuid,
    turn: Uuid,
) -> (TurnStatus, Option<TurnError>, bool) {
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    let (turn, _) = tx.turn_get(conversation, turn).await.unwrap().unwrap();
    let thread = tx.conversation_get(conversation).await.unwrap().unwrap();
    (turn.status, turn.error, thread.running_turn_id.is_some())
}

#[tokio::test]
async fn only_the_turns_of_the_dead_are_closed() {
    let bed = Bed::new().await;
    let (home, other) = (bed.home().await, bed.home().await);
    let own = Presence::announce(&bed.db.options()).await.unwrap();
    let living = Presence::announce(&bed.db.options()).await.unwrap();
    let dying = Presence::announce(&bed.db.options()).await.unwrap();
    let mut threads = vec![];
    for (home, owner) in [
        (&home, &own),
        (&home, &living),
        (&home, &dying),
        (&other, &dying),
    ] {
        let agent = bed.agent(home, &Uuid::new_v4().to_string()).await;
        let thread = bed.conversation(home).await;
        let begun = bed
            .turn(home, thread.id, agent.id, "hello", Owner::from(owner))
            .await;
        threads.push((home, thread.id, begun.id));
    }
    assert_eq!(recover(&bed, own.owner_lock, &[threads[0].2]).await, 0);
    // A turn that began a moment ago may not be in its process's list yet.
    assert_eq!(recover(&bed, own.owner_lock, &[]).await, 0);
    drop(dying);
    recover_until(&bed, own.owner_lock, 2).await;
    for (at, (home, thread, turn)) in threads.iter().enumerate() {
        let expected = match at {
            0 | 1 => (TurnStatus::Running, None, true),
            _ => (TurnStatus::Failed, Some(interrupted()), false),
        };
        assert_eq!(
            status(&bed, home, *thread, *turn).await,
            expected,
            "turn {at}"
        );
    }
    living.withdraw().await.unwrap();
    recover_until(&bed, own.owner_lock, 1).await;
    own.withdraw().await.unwrap();
}

#[tokio::test]
async fn an_own_turn_that_is_lost_is_closed_after_a_minute() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let own = Presence::announce(&bed.db.options()).await.unwrap();
    let agent = bed.agent(&home, "a").await;
    let mut turns = vec![];
    for _ in 0..2 {
        let thread = bed.conversation(&home).await;
        turns.push((
            thread.id,
            bed.turn(&home, thread.id, agent.id, "hello", Owner::from(&own))
                .await
                .id,
        ));
    }
    sqlx::query("UPDATE conversation_turns SET started_at = now() - interval '61 seconds'")
        .execute(&mut bed.superuser().await)
        .await
        .unwrap();
    assert_eq!(recover(&bed, own.owner_lock, &[turns[0].1]).await, 1);
    assert_eq!(
        status(&bed, &home, turns[0].0, turns[0].1).await.0,
        TurnStatus::Running
    );
    assert_eq!(
        status(&bed, &home, turns[1].0, turns[1].1).await.0,
        TurnStatus::Failed
    );
}

#[tokio::test]
async fn an_end_that_comes_after_recovery_writes_nothing() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let agent = bed.agent(&home, "a").await;
    let thread = bed.conversation(&home).await;
    let owner = Presence::announce(&bed.db.options()).await.unwrap();
    let begun = bed
        .turn(&home, thread.id, agent.id, "hello", Owner::from(&owner))
        .await;
    drop(owner);
    recover_until(&bed, 0, 1).await;
    // The thread has gone on meanwhile.
    let next = bed
        .turn(&home, thread.id, agent.id, "again", Owner::nobody())
        .await;
    let before = bed_rows(&bed).await;
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    let ended = end_with(&mut tx, &begun, &agent, "too late").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(ended, (None, None));
    assert_eq!(bed_rows(&bed).await, before);
    assert_eq!(
        status(&bed, &home, thread.id, begun.id).await.0,
        TurnStatus::Failed
    );

    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    let (conversation, answer) = end_with(&mut tx, &next, &agent, "here").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(
        (
            conversation.unwrap().message_count,
            answer.unwrap().position
        ),
        (3, 3)
    );
}

/// Everything that a turn's end could write, as text.
async fn bed_rows(bed: &Bed) -> Vec<String> {
    let mut admin = bed.superuser().await;
    sqlx::query_scalar(
        "SELECT t::text FROM conversation_turns t UNION ALL SELECT m::text FROM conversation_messages m
         UNION ALL SELECT b::text FROM conversation_branches b UNION ALL SELECT c::text FROM conversations c
         UNION ALL SELECT u::text FROM usage_records u ORDER BY 1",
    )
    .fetch_all(&mut admin)
    .await
    .unwrap()
}

#[tokio::test]
async fn a_turn_ends_once() {
    let bed = Bed::new().await;
    let home = bed.home().await;
    let agent = bed.agent(&home, "a").await;
    let thread = bed.conversation(&home).await;
    let begun = bed
        .turn(&home, thread.id, agent.id, "hello", Owner::nobody())
        .await;
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    let (conversation, answer) = end_with(&mut tx, &begun, &agent, "hi").await.unwrap();
    assert_eq!(conversation.unwrap().running_turn_id, None);
    assert!(answer.is_some());
    assert_eq!(
        end_with(&mut tx, &begun, &agent, "hi again").await.unwrap(),
        (None, None)
    );
    tx.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_and_a_recovery_at_once_have_one_winner() {
    let bed = Bed::with_connections(8).await;
    let home = bed.home().await;
    let agent = bed.agent(&home, "a").await;
    for _ in 0..20 {
        let thread = bed.conversation(&home).await;
        let owner = Presence::announce(&bed.db.options()).await.unwrap();
        let begun = bed
            .turn(&home, thread.id, agent.id, "hello", Owner::from(&owner))
            .await;
        let (user_message, turn) = (begun.user_message.clone(), begun.id);
        owner.withdraw().await.unwrap();
        let (ending, closing) = (bed.store.clone(), bed.store.clone());
        let (ctx, speaker) = (home.ctx.clone(), agent.clone());
        let jobs: Vec<std::pin::Pin<Box<dyn Future<Output = bool> + Send>>> = vec![
            Box::pin(async move {
                let mut tx = ending.tenant(&ctx).await.unwrap();
                let ended = end_with(&mut tx, &begun, &speaker, "hi").await.unwrap();
                tx.commit().await.unwrap();
                ended.1.is_some()
            }),
            Box::pin(async move {
                let mut tx = closing.system().await.unwrap();
                let done = tx.turn_recover(0, &[], &interrupted()).await.unwrap();
                tx.commit().await.unwrap();
                done > 0
            }),
        ];
        let won = join_all(jobs).await;
        let (now, _, busy) = status(&bed, &home, thread.id, turn).await;
        assert!(!busy);
        let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
        let answers = tx
            .message_answers(thread.id, user_message.id)
            .await
            .unwrap();
        let expected = match now {
            TurnStatus::Completed => (vec![true, false], 1),
            TurnStatus::Failed => (vec![false, true], 0),
            other => panic!("the turn is {other}"),
        };
        assert_eq!((won, answers.len()), expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_messages_at_once_are_one_turn_after_the_other() {
    let bed = Bed::with_connections(8).await;
    let home = bed.home().await;
    let agent = bed.agent(&home, "a").await;
    let thread = bed.conversation(&home).await;
    let sends = (0..8).map(|n| {
        let (store, ctx, agent, thread) =
            (bed.store.clone(), home.ctx.clone(), agent.id, thread.id);
        async move {
            let mut tx = store.tenant(&ctx).await.unwrap();
            let locked = tx.turn_lock(thread, Some(agent)).await.unwrap().unwrap();
            if locked.conversation.running_turn_id.is_some() {
                return false;
            }
            let text = format!("message {n}");
            let new =
                super::bed::new_turn(thread, &locked.branch, Some(&text), agent, Owner::nobody());
            tx.turn_start(&new).await.unwrap();
            tx.commit().await.unwrap();
            true
        }
    });
    let started = join_all(sends)
        .await
        .into_iter()
        .filter(|started| *started)
        .count();
    assert_eq!(started, 1);
    let mut tx = bed.store.tenant(&home.ctx).await.unwrap();
    assert_eq!(
        tx.conversation_get(thread.id)
            .await
            .unwrap()
            .unwrap()
            .message_count,
        1
    );
}
