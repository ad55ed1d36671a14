//! Gateways and cores as processes of their own, over a real NATS and a database of somebody else's.

use std::collections::BTreeSet;

use qadra_store::PgConnectOptions;
use qadra_testkit::db::Throwaway;
use qadra_testkit::llm::{Gate, Reply, ScriptedLlm};
use serde_json::{Value, json};
use sqlx::postgres::PgConnection;
use sqlx::{ConnectOptions, Connection, Executor};
use tempfile::TempDir;

use super::api::{Api, names, text};
use super::nats::NatsServer;
use super::program::{Program, SOON, directory, until};

const SECRET: &str = "a secret of more than thirty-two bytes";

/// What the processes share.
struct Site {
    dir: TempDir,
    nats: NatsServer,
    llm: ScriptedLlm,
    database: String,
    postgres: Option<Throwaway>,
}

impl Site {
    /// A migrated database whose owner is no superuser, on a server that knows nothing of us.
    async fn new() -> Self {
        let postgres = Throwaway::start().await.unwrap();
        let admin_url = postgres.cluster().superuser_url();
        let mut admin = connect(&admin_url).await;
        admin
            .execute("CREATE ROLE company LOGIN CREATEROLE")
            .await
            .unwrap();
        admin
            .execute("CREATE DATABASE company OWNER company")
            .await
            .unwrap();
        let database = admin_url
            .replace("//postgres", "//company")
            .replace("/postgres?", "/company?");
        let site = Self {
            dir: directory(),
            nats: NatsServer::start(),
            llm: ScriptedLlm::start().await,
            database,
            postgres: Some(postgres),
        };
        for _ in 0..2 {
            let migrated = site.spawn("migrate", &[]).end().await;
            assert_eq!(migrated.code, Some(0), "{}", migrated.stderr);
            assert_eq!(migrated.stdout, ["the database is at the newest schema"]);
        }
        site
    }

    fn spawn(&self, command: &str, more: &[(&str, &str)]) -> Program {
        let (data, objects) = (
            self.dir.path().join("data"),
            format!("file://{}", self.dir.path().join("objects").display()),
        );
        let llm = self.llm.openai_url();
        let mut env = vec![
            ("QADRA_DATABASE_URL", self.database.as_str()),
            ("QADRA_NATS_URL", &self.nats.url),
            ("QADRA_JWT_SECRET", SECRET),
            ("QADRA_DATA_DIR", data.to_str().unwrap()),
            ("QADRA_OBJECT_STORE", &objects),
            ("QADRA_LLM_BASE_URL", &llm),
            ("QADRA_LISTEN", "127.0.0.1:0"),
        ];
        env.extend(more);
        Program::spawn(&[command], self.dir.path(), &env)
    }

    async fn core(&self) -> Program {
        let mut core = self.spawn("core", &[]);
        assert_eq!(core.line().await, "qadra core ready");
        core
    }

    async fn gateway(&self) -> (Program, String) {
        // It has no business with the database.
        let mut gateway = self.spawn("gateway", &[("QADRA_DATABASE_URL", "")]);
        let url = gateway.ready().await;
        (gateway, url)
    }

    async fn superuser(&self) -> PgConnection {
        let url = self.postgres.as_ref().unwrap().cluster().superuser_url();
        connect(&url.replace("/postgres?", "/company?")).await
    }

    /// The process that answers a turn.
    async fn owner(&self, turn: &str) -> String {
        sqlx::query_scalar(
            "SELECT owner_id::text FROM conversation_turns WHERE id = $1::text::uuid",
        )
        .bind(turn)
        .fetch_one(&mut self.superuser().await)
        .await
        .unwrap()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(postgres) = self.postgres.take() {
            let _ = postgres.stop();
        }
    }
}

async fn connect(url: &str) -> PgConnection {
    url.parse::<PgConnectOptions>()
        .unwrap()
        .connect()
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_is_read_and_stopped_through_any_gateway_whichever_core_has_it() {
    let site = Site::new().await;
    let (a, b) = (site.core().await, site.core().await);
    let ((first, first_url), (second, second_url)) = (site.gateway().await, site.gateway().await);
    let here = Api::register(&first_url).await;
    let there = here.at(&second_url);
    let gate = Gate::new();
    let mut owners = BTreeSet::new();
    let mut turns = 0;
    // The bus gives each request to either; a few turns later both have had one.
    while owners.len() < 2 {
        assert!(turns < 60, "one core gets all the work");
        site.llm.push(
            Reply::tokens(["Once ", "upon "])
                .gate(&gate)
                .token("never said"),
        );
        let thread = here.conversation().await;
        let mut mine = here.ask(&thread, "A story?").await;
        let saved = mine.until("user_saved").await;
        let turn = saved.turn_id();
        owners.insert(site.owner(&turn).await);
        let mut theirs = there.attach(&thread, &turn, 0).await;
        let mut told = vec![];
        while text(&told) != "Once upon " {
            told.push(theirs.next().await.unwrap());
        }
        assert_eq!(told[0], saved);
        let (status, _) = there
            .send(there.post(
                &format!("/api/conversations/{thread}/turns/{turn}/cancel"),
                &json!({}),
            ))
            .await;
        assert_eq!(status, 202);
        assert!(
            site.llm.wait_for_close(turns, SOON).await,
            "the connection to the model is closed"
        );
        let rest = theirs.rest().await;
        assert_eq!(names(&rest), ["assistant_message", "done"]);
        assert_eq!(rest[1].data["status"], json!("cancelled"));
        let end = mine.rest().await;
        assert_eq!(end[end.len() - 2..], rest[..]);
        let messages = there.messages(&thread).await;
        assert_eq!(
            (&messages[1]["content"], &messages[1]["finish_reason"]),
            (&json!("Once upon "), &json!("cancelled"))
        );
        turns += 1;
    }
    for program in [first, second, a, b] {
        let ended = program.stop().await;
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_a_core_is_killed_the_other_closes_its_turns_and_the_reader_is_told() {
    let site = Site::new().await;
    let mut doomed = site.core().await;
    let ((_first, first_url), (_second, second_url)) = (site.gateway().await, site.gateway().await);
    let here = Api::register(&first_url).await;
    let there = here.at(&second_url);
    let gate = Gate::new();
    site.llm
        .push(Reply::text("Half ").gate(&gate).token("never said"));
    let thread = here.conversation().await;
    let mut mine = here.ask(&thread, "Whole?").await;
    let turn = mine.until("user_saved").await.turn_id();
    mine.until("token").await;
    let mut theirs = there.attach(&thread, &turn, 0).await;
    theirs.until("token").await;
    let _other = site.core().await;
    doomed.kill().await;

    for stream in [&mut mine, &mut theirs] {
        let end = stream.rest().await;
        assert_eq!(names(&end), ["error", "done"]);
        assert_eq!(end[0].data["code"], json!("TURN_INTERRUPTED"));
        assert_eq!(end[1].data, json!({"turn_id": turn, "status": "failed"}));
    }
    let state = there
        .ok(there.get(&format!("/api/conversations/{thread}/turns/{turn}")))
        .await;
    assert_eq!(
        (&state["status"], &state["error"]["code"]),
        (&json!("failed"), &json!("TURN_INTERRUPTED"))
    );
    let messages = there.messages(&thread).await;
    assert_eq!(messages.len(), 1);
    site.llm
        .push(Reply::text("Whole."))
        .push(Reply::text("More."));
    let path = format!(
        "/api/conversations/{thread}/messages/{}/regenerate",
        messages[0]["id"].as_str().unwrap()
    );
    let retried = there.ok(there.post(&path, &json!({}))).await;
    assert_eq!(retried["assistant_message"]["content"], json!("Whole."));
    let next = here.exchange(&thread, "More?").await;
    assert_eq!(next["assistant_message"]["content"], json!("More."));
}

/// A database that restarts, or a network that hiccups, must not make a core look dead for ever after.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_core_whose_presence_is_cut_off_announces_itself_again() {
    let site = Site::new().await;
    let (_a, _b) = (site.core().await, site.core().await);
    let (_gateway, url) = site.gateway().await;
    let api = Api::register(&url).await;
    let mut admin = site.superuser().await;
    let before = locks(&mut admin).await;
    assert_eq!(before.len(), 2);
    let cut: i64 = sqlx::query_scalar(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'qadra presence'",
    )
    .fetch_one(&mut admin)
    .await
    .unwrap();
    assert_eq!(cut, 2);
    let url = site
        .postgres
        .as_ref()
        .unwrap()
        .cluster()
        .superuser_url()
        .replace("/postgres?", "/company?");
    until("both locks are held again", async || {
        let mut session = connect(&url).await;
        let held = locks(&mut session).await;
        session.close().await.unwrap();
        held == before
    })
    .await;
    let gate = Gate::new();
    site.llm
        .push(Reply::text("Still ").gate(&gate).token("here."));
    let thread = api.conversation().await;
    let mut stream = api.ask(&thread, "Are you there?").await;
    let turn = stream.until("user_saved").await.turn_id();
    stream.until("token").await;
    // Whoever looks for dead processes in this moment finds none.
    let state: Value = api
        .ok(api.get(&format!("/api/conversations/{thread}/turns/{turn}")))
        .await;
    assert_eq!(state["status"], json!("running"));
    gate.open();
    let end = stream.rest().await;
    assert_eq!(names(&end), ["token", "assistant_message", "done"]);
}

/// The advisory locks that stand for living cores.
async fn locks(session: &mut PgConnection) -> BTreeSet<(i64, i64)> {
    let held: Vec<(i64, i64)> = sqlx::query_as(
        "SELECT l.classid::bigint, l.objid::bigint FROM pg_locks l JOIN pg_database d ON d.oid = l.database
         WHERE l.locktype = 'advisory' AND l.granted AND d.datname = 'company'
           AND l.pid IN (SELECT pid FROM pg_stat_activity WHERE application_name = 'qadra presence')",
    )
    .fetch_all(session)
    .await
    .unwrap();
    held.into_iter().collect()
}
