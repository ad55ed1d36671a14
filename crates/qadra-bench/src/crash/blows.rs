//! Strikes, notes what was hit, and measures how long it took others to take over.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use sqlx::PgPool;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::dice::Dice;
use super::stub::now_ms;
use super::verdict::{Blow, What};
use super::yard::Yard;

/// Between looks at what was hit.
const LOOK: Duration = Duration::from_millis(25);
/// Beyond this, nobody will take over.
const HOPELESS: Duration = Duration::from_secs(20);

pub(super) struct Blows {
    admin: PgPool,
    lease: Duration,
    /// From a blow until others must have taken over.
    most: Duration,
    dealt: Arc<Mutex<Dealt>>,
    watches: JoinSet<()>,
}

/// What was done and what came of it.
#[derive(Default)]
pub(super) struct Dealt {
    pub(super) blows: Vec<Blow>,
    pub(super) resumed: Vec<Duration>,
    pub(super) wrong: Vec<String>,
}

/// An execution in the hands of a worker: tenant, id, fencing token.
type Hold = (Uuid, Uuid, i64);

impl Blows {
    pub(super) fn new(admin: PgPool, lease: Duration, grace: Duration) -> Self {
        Self {
            admin,
            lease,
            most: lease + grace,
            dealt: Arc::default(),
            watches: JoinSet::new(),
        }
    }

    /// Waits a moment, then kills a worker; now and then all of them. Returns how many.
    pub(super) async fn kill(
        &mut self,
        yard: &mut Yard,
        dice: &mut Dice,
        most: usize,
    ) -> Result<usize> {
        tokio::time::sleep(Duration::from_millis(dice.between(20, 350))).await;
        let all = yard.len();
        let numbers: Vec<usize> = match dice.once_in(40) && all <= most {
            true => (0..all).collect(),
            false => vec![dice.below(all as u64) as usize],
        };
        for number in &numbers {
            let (pid, at) = yard.kill(*number).await?;
            let struck = Instant::now();
            // The dead take nothing more, and nobody takes over from them before their lease has run out.
            let held = held_by(&self.admin, pid).await?;
            self.note(What::Kill, at, at, &held);
            self.watches.spawn(taken_over(
                self.admin.clone(),
                self.dealt.clone(),
                held,
                struck,
                self.most,
            ));
        }
        Ok(numbers.len())
    }

    /// Stops a worker for longer than its lease and lets it go on.
    pub(super) async fn freeze(&mut self, yard: &mut Yard, dice: &mut Dice) -> Result<usize> {
        tokio::time::sleep(Duration::from_millis(dice.between(100, 900))).await;
        let number = dice.below(yard.len() as u64) as usize;
        let at = now_ms();
        let pid = yard.freeze(number)?;
        let held = held_by(&self.admin, pid).await;
        let past = Duration::from_millis(dice.between(100, 1_800));
        tokio::time::sleep(self.lease + past).await;
        yard.thaw(number)?;
        self.note(What::Freeze, at, now_ms(), &held?);
        Ok(1)
    }

    /// Kills PostgreSQL and starts it again.
    pub(super) async fn postgres(&mut self, yard: &mut Yard, dice: &mut Dice) -> Result<usize> {
        tokio::time::sleep(Duration::from_millis(dice.between(500, 2_500))).await;
        let mut held = unended(&self.admin).await?;
        let (at, _) = yard.crash_database().await?;
        let up = Instant::now();
        // Those that began in the last moment too.
        held.extend(unended(&self.admin).await?);
        // Workers that had gone silent meanwhile may have to learn that others have what they held.
        let until = now_ms() + self.lease.as_millis() as i64;
        self.note(What::Postgres, at, until, &held);
        self.watches.spawn(at_work_again(
            self.admin.clone(),
            self.dealt.clone(),
            up,
            self.most,
        ));
        Ok(1)
    }

    fn note(&self, what: What, at: i64, until: i64, held: &[Hold]) {
        let held: HashSet<Uuid> = held.iter().map(|(_, id, _)| *id).collect();
        let blow = Blow {
            what,
            at,
            until,
            held,
        };
        lock(&self.dealt).blows.push(blow);
    }

    /// When all that was hit has been taken over, or is given up.
    pub(super) async fn end(mut self) -> Dealt {
        while let Some(watch) = self.watches.join_next().await {
            if let Err(error) = watch {
                lock(&self.dealt)
                    .wrong
                    .push(format!("a watch broke off: {error}"));
            }
        }
        std::mem::take(&mut *lock(&self.dealt))
    }
}

fn lock(dealt: &Mutex<Dealt>) -> std::sync::MutexGuard<'_, Dealt> {
    dealt.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the worker with this process id has.
async fn held_by(admin: &PgPool, pid: u32) -> Result<Vec<Hold>> {
    Ok(sqlx::query_as(
        "SELECT e.tenant_id, e.id, e.lease_token FROM flow_executions e JOIN flow_workers w ON w.id = e.worker_id
         WHERE w.name LIKE '%:' || $1::text",
    )
    .bind(pid.to_string())
    .fetch_all(admin)
    .await?)
}

async fn unended(admin: &PgPool) -> Result<Vec<Hold>> {
    Ok(sqlx::query_as(
        "SELECT tenant_id, id, lease_token FROM flow_executions WHERE completed_at IS NULL",
    )
    .fetch_all(admin)
    .await?)
}

/// Waits until all that a dead worker held has another holder, has ended, or was given back by a last message of the
/// dead.
async fn taken_over(
    admin: PgPool,
    dealt: Arc<Mutex<Dealt>>,
    held: Vec<Hold>,
    struck: Instant,
    most: Duration,
) {
    let mut left: HashMap<Uuid, Hold> = held.into_iter().map(|h| (h.1, h)).collect();
    while !left.is_empty() && struck.elapsed() < HOPELESS {
        tokio::time::sleep(LOOK).await;
        let tenants: Vec<Uuid> = left.values().map(|h| h.0).collect();
        let ids: Vec<Uuid> = left.values().map(|h| h.1).collect();
        let tokens: Vec<i64> = left.values().map(|h| h.2).collect();
        let rows: Result<Vec<(Uuid, bool)>, _> = sqlx::query_as(
            "SELECT e.id, e.lease_token > u.token FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) u (tenant_id, id, token)
             JOIN flow_executions e ON e.tenant_id = u.tenant_id AND e.id = u.id
             WHERE e.completed_at IS NOT NULL OR (e.worker_id IS NULL AND e.lease_token = u.token)
                OR (e.lease_token > u.token AND (e.worker_id IS NOT NULL OR e.ready_at IS NULL OR e.ready_at > now()))",
        )
        .bind(&tenants)
        .bind(&ids)
        .bind(&tokens)
        .fetch_all(&admin)
        .await;
        let took = struck.elapsed();
        // A database that does not answer is asked again.
        for (id, by_another) in rows.unwrap_or_default() {
            left.remove(&id);
            if by_another {
                let mut dealt = lock(&dealt);
                dealt.resumed.push(took);
                if took > most {
                    dealt.wrong.push(format!(
                        "execution {id} was taken over {took:?} after its worker was killed; {most:?} is allowed"
                    ));
                }
            }
        }
    }
    for id in left.keys() {
        lock(&dealt).wrong.push(format!(
            "execution {id} was not taken over within {HOPELESS:?} of its worker's death"
        ));
    }
}

/// Waits until everything that a worker held when PostgreSQL was killed is with a worker that has been heard since.
async fn at_work_again(admin: PgPool, dealt: Arc<Mutex<Dealt>>, up: Instant, most: Duration) {
    let begun: Result<chrono::DateTime<chrono::Utc>, _> =
        sqlx::query_scalar("SELECT pg_postmaster_start_time()")
            .fetch_one(&admin)
            .await;
    let Ok(begun) = begun else {
        // Killed again meanwhile, or not to be reached: the runs that do not end will tell.
        return;
    };
    while up.elapsed() < HOPELESS {
        let silent: Result<i64, _> = sqlx::query_scalar(
            "SELECT count(*) FROM flow_executions e LEFT JOIN flow_workers w ON w.id = e.worker_id
             WHERE e.worker_id IS NOT NULL AND e.created_at < $1 AND coalesce(w.seen_at < $1, true)",
        )
        .bind(begun)
        .fetch_one(&admin)
        .await;
        match silent {
            Ok(0) => break,
            Ok(_) => {}
            // Killed again before.
            Err(_) => return,
        }
        tokio::time::sleep(LOOK).await;
    }
    let took = up.elapsed();
    let mut dealt = lock(&dealt);
    dealt.resumed.push(took);
    if took > most {
        dealt.wrong.push(format!(
            "what ran when PostgreSQL was killed was at work again {took:?} after its start; {most:?} is allowed"
        ));
    }
}
