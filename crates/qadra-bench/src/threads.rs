//! A long thread against a short one.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use qadra_store::PgConnectOptions;
use serde_json::json;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use crate::api::{Api, Thread};
use crate::client::Conn;
use crate::model;
use crate::report::{Report, Sample};
use crate::stage::Stage;

const LONG: usize = 10_000;
const SHORT: usize = 10;
/// More messages than a model is told of, so that a prompt is as long as that of the longest thread.
const FULL: usize = 60;
const READS: usize = 200;
const SENDS: usize = 60;
/// The same work on our side for a thread that takes as much as for one that does not is within the noise of this.
const GOAL: f64 = 1.25;

/// Threads with messages in them.
pub(crate) struct Filled {
    long: Thread,
    short: Vec<Thread>,
    full: Vec<Thread>,
}

/// Fills the database before anything is measured, so that it has the statistics of one that is in use. On empty
/// tables PostgreSQL makes plans that it keeps until it has looked at the tables again, a minute later.
pub(crate) async fn fill(stage: &Stage, api: &Api) -> Result<Filled> {
    let filled = Filled {
        long: api.threads(1).await?.remove(0),
        short: api.threads(SENDS).await?,
        full: api.threads(SENDS).await?,
    };
    let database = stage.database().context("there is no database")?;
    let mut db = Seeder::connect(&database, api).await?;
    db.fill(&filled.long, LONG).await?;
    for (few, many) in filled.short.iter().zip(&filled.full) {
        db.fill(few, SHORT).await?;
        db.fill(many, FULL).await?;
    }
    db.finish().await?;
    Ok(filled)
}

pub(crate) async fn measure(filled: Filled, api: &Api, report: &mut Report) -> Result<()> {
    let Filled { long, short, full } = filled;
    let get = |thread: &Thread, rest: &str| {
        let path = format!("/api/conversations/{}{rest}", thread.id);
        api.request("GET", &path, None)
    };
    let mut conn = api.conn().await?;
    let one = short.first().context("there is no short thread")?;
    // The same number of messages from both, so that only where they stand differs.
    let newest = "/messages?limit=10&order=desc";
    let opening = |thread| vec![get(thread, ""), get(thread, newest)];
    let middle = |thread, offset: usize| {
        let rest = format!("/messages?limit=5&offset={offset}");
        vec![get(thread, &rest)]
    };
    let reads = [
        ("thread_open", "open", opening(one), opening(&long)),
        (
            "thread_page",
            "page in the middle",
            middle(one, SHORT / 2),
            middle(&long, LONG / 2),
        ),
    ];
    for (name, about, few, many) in reads {
        let (mut short, mut long) = (Vec::new(), Vec::new());
        for number in 0..READS + 10 {
            let (a, b) = (
                timed(&mut conn, &few).await?,
                timed(&mut conn, &many).await?,
            );
            if number >= 10 {
                short.push(a);
                long.push(b);
            }
        }
        add(report, name, about, short, long);
    }

    let agent = api
        .agent(&mut conn, &format!("{}-threads", model::named(5, 0)))
        .await?;
    let (mut few, mut many, mut most) = (Vec::new(), Vec::new(), Vec::new());
    for (a, b) in short.iter().zip(&full) {
        for (thread, times) in [(a, &mut few), (b, &mut many), (&long, &mut most)] {
            let asked = [api.ask(thread, &agent, false)];
            times.push(timed(&mut conn, &asked).await?);
        }
    }
    add(report, "thread_send", "send", few, most.clone());
    let (many, most): (Sample, Sample) = (many.into_iter().collect(), most.into_iter().collect());
    report.add(
        "thread_send_same_prompt",
        format!("send, thread of {LONG} messages ÷ one of {FULL}"),
        (most.percentile(50) / many.percentile(50), "×"),
        Some(GOAL),
        json!({"short": many.json(), "long": most.json()}),
    );
    Ok(())
}

fn add(
    report: &mut Report,
    name: &'static str,
    about: &str,
    short: Vec<Duration>,
    long: Vec<Duration>,
) {
    let (short, long): (Sample, Sample) = (short.into_iter().collect(), long.into_iter().collect());
    // The prompt of a short thread is shorter: what that saves is no sign of work that grows with the thread.
    let goal = (name != "thread_send").then_some(GOAL);
    report.add(
        name,
        format!("{about}, thread of {LONG} messages ÷ one of {SHORT}"),
        (long.percentile(50) / short.percentile(50), "×"),
        goal,
        json!({"short": short.json(), "long": long.json()}),
    );
}

async fn timed(conn: &mut Conn, requests: &[Bytes]) -> Result<Duration> {
    let mut total = Duration::ZERO;
    for request in requests {
        let seen = conn.exchange(request, b"\0").await?;
        ensure!(
            seen.status == 200,
            "a request was answered {}: {}",
            seen.status,
            seen.text()
        );
        total += seen.total;
    }
    Ok(total)
}

/// Writes threads straight into the tables: thousands of turns would take longer than all the rest.
struct Seeder {
    db: PgConnection,
    tenant_id: Uuid,
}

impl Seeder {
    async fn connect(options: &PgConnectOptions, api: &Api) -> Result<Self> {
        Ok(Self {
            db: PgConnection::connect_with(options)
                .await
                .context("connect to the database")?,
            tenant_id: api.tenant_id.parse()?,
        })
    }

    async fn fill(&mut self, thread: &Thread, messages: usize) -> Result<()> {
        let ids: Vec<Uuid> = (0..messages).map(|_| Uuid::now_v7()).collect();
        let (conversation_id, branch_id): (Uuid, Uuid) =
            (thread.id.parse()?, thread.branch_id.parse()?);
        let count = i32::try_from(messages)?;
        let mut tx = self.db.begin().await?;
        sqlx::query(
            "INSERT INTO conversation_messages
                 (tenant_id, id, conversation_id, branch_id, position, parent_id, role, content)
             SELECT $1, x.id, $2, $3, x.n, lag(x.id) OVER (ORDER BY x.n),
                    CASE WHEN x.n % 2 = 1 THEN 'user' ELSE 'assistant' END,
                    'Message ' || x.n || ': ' || repeat('a few words of a long conversation ', 6)
             FROM unnest($4::uuid[]) WITH ORDINALITY AS x (id, n)",
        )
        .bind(self.tenant_id)
        .bind(conversation_id)
        .bind(branch_id)
        .bind(&ids)
        .execute(&mut *tx)
        .await
        .context("write the messages of a thread")?;
        sqlx::query(
            "UPDATE conversation_branches SET head_position = $3, head_message_id = $4
             WHERE tenant_id = $1 AND id = $2",
        )
        .bind(self.tenant_id)
        .bind(branch_id)
        .bind(count)
        .bind(ids.last())
        .execute(&mut *tx)
        .await?;
        sqlx::query("UPDATE conversations SET message_count = $3 WHERE tenant_id = $1 AND id = $2")
            .bind(self.tenant_id)
            .bind(conversation_id)
            .bind(count)
            .execute(&mut *tx)
            .await?;
        tx.commit().await.context("store a thread")
    }

    async fn finish(mut self) -> Result<()> {
        // As the database would by itself within a minute.
        sqlx::query("ANALYZE").execute(&mut self.db).await?;
        self.db.close().await.map_err(Into::into)
    }
}
