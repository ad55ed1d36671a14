//! A thread of 10,000 messages costs the database what one of 10 costs. Counted, never timed.

use std::collections::BTreeMap;

use qadra_testkit::llm::Reply;
use serde_json::json;

use crate::support::{Client, TestApp, eventually};

const LONG: i64 = 10_000;
const SHORT: i64 = 10;

/// The same thread in two lengths, each in a database of its own: in one, the short thread would bear the costs of
/// the long one.
struct Pair {
    short: Bench,
    long: Bench,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_of_ten_thousand_messages_is_read_and_answered_with_the_work_of_ten() {
    Pair::new("VACUUM ANALYZE").await.compare_all().await;
}

/// The planner knows nothing of the tables yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_right_after_the_messages_have_come() {
    Pair::new("SELECT").await.compare_all().await;
}

impl Pair {
    async fn compare_all(&self) {
        for (what, path) in [
            ("opening", "?limit=10&order=desc"),
            ("the first page", "?limit=10&offset=0"),
            ("the middle page", "?limit=10&offset=MIDDLE"),
            ("the last page", "?limit=10&offset=LAST"),
        ] {
            self.compare(what, async |who, thread, length| {
                let path = path
                    .replace("MIDDLE", &(length / 2 - 5).to_string())
                    .replace("LAST", &(length - 10).to_string());
                let thread = format!("/api/conversations/{thread}");
                who.get(&thread).await.json(200);
                let page = who.get(&format!("{thread}/messages{path}")).await.json(200);
                assert_eq!(page["total"], length);
            })
            .await;
        }
        self.compare("the list", async |who, _, _| {
            who.get("/api/conversations").await.json(200);
        })
        .await;
        self.compare("an answer", async |who, thread, length| {
            let said = who
                .say(thread, &who.agent("scarlet").await, "And now?")
                .await;
            assert_eq!(said["conversation"]["message_count"], length + 2);
        })
        .await;
        self.compare(
            "another wording of the last question",
            async |who, thread, length| {
                let last = who
                    .get(&format!(
                        "/api/conversations/{thread}/messages?order=desc&limit=2"
                    ))
                    .await
                    .json(200);
                let question = last["items"][1]["id"].as_str().expect("an id").to_owned();
                let path = format!("/api/conversations/{thread}/messages/{question}/edit");
                let said = who
                    .post(&path, json!({"content": "In other words?"}))
                    .await
                    .json(200);
                assert_eq!(said["conversation"]["message_count"], length);
            },
        )
        .await;
    }

    async fn new(prepare: &str) -> Self {
        Self {
            short: Bench::new(SHORT, prepare).await,
            long: Bench::new(LONG, prepare).await,
        }
    }

    /// Fails when `act` on the long thread makes the database touch more than twice the rows or blocks that it
    /// touches for the short one.
    async fn compare(&self, what: &str, act: impl AsyncFn(&Client, &str, i64)) {
        let few = self.short.work(&act).await;
        let many = self.long.work(&act).await;
        for kind in ["rows", "blocks"] {
            let sum = |work: &BTreeMap<String, i64>| {
                work.iter()
                    .filter(|(k, _)| k.starts_with(kind))
                    .map(|(_, n)| n)
                    .sum::<i64>()
            };
            assert!(sum(&few) > 0, "{what}: nothing was counted: {few:?}");
            assert!(
                sum(&many) <= 2 * sum(&few),
                "{what} touches {} {kind} for {LONG} messages and {} for {SHORT}:\n{many:#?}\n{few:#?}",
                sum(&many),
                sum(&few)
            );
        }
    }
}

/// A database with one thread in it.
struct Bench {
    app: TestApp,
    alice: Client,
    thread: String,
}

impl Bench {
    async fn new(length: i64, prepare: &str) -> Self {
        // As many as the short thread has: how much of a thread a model is told is bounded for both.
        let mut app = TestApp::builder()
            .scripted()
            .settings(|s| s.history_messages = 10)
            .start()
            .await;
        app.model().otherwise(Reply::text("Yes."));
        let alice = app.user("Alice").await;
        let agent = alice.agent("scarlet").await;
        let rows = app.rows().await;
        let thread = alice.conversation().await;
        let branch = alice
            .get(&format!("/api/conversations/{thread}"))
            .await
            .json(200)["active_branch_id"]
            .clone();
        let branch = branch.as_str().expect("a branch");
        // Ids in order, each message the child of the one before.
        rows.run(&format!(
                "CREATE TEMPORARY TABLE thread AS SELECT n, gen_random_uuid() AS id FROM generate_series(1, {length}) n;
                 INSERT INTO conversation_messages
                     (tenant_id, id, conversation_id, branch_id, position, parent_id, role, content, agent_id, agent_version)
                 SELECT '{tenant}', t.id, '{thread}', '{branch}', t.n, p.id,
                        CASE WHEN t.n % 2 = 1 THEN 'user' ELSE 'assistant' END, 'message number ' || t.n,
                        CASE WHEN t.n % 2 = 0 THEN '{agent}'::uuid END, CASE WHEN t.n % 2 = 0 THEN 1 END
                 FROM thread t LEFT JOIN thread p ON p.n = t.n - 1;
                 INSERT INTO conversation_turns
                     (tenant_id, id, conversation_id, branch_id, user_message_id, assistant_message_id, agent_id, status,
                      owner_id, owner_lock)
                 SELECT '{tenant}', gen_random_uuid(), '{thread}', '{branch}', t.id, a.id, '{agent}', 'completed',
                        gen_random_uuid(), 1
                 FROM thread t JOIN thread a ON a.n = t.n + 1 WHERE t.n % 2 = 1;
                 UPDATE conversation_branches SET head_position = {length},
                        head_message_id = (SELECT id FROM thread WHERE n = {length}) WHERE id = '{branch}';
                 UPDATE conversations SET message_count = {length} WHERE id = '{thread}';
                 DROP TABLE thread",
                tenant = alice.tenant_id,
            ))
            .await;
        // Nobody else may work while work is counted.
        let tables = rows
            .texts("SELECT relname::text FROM pg_stat_user_tables")
            .await;
        for table in tables {
            rows.run(&format!(
                "ALTER TABLE {table} SET (autovacuum_enabled = false)"
            ))
            .await;
        }
        rows.run(prepare).await;
        app.processes.remove(0).stop().await;
        Self { app, alice, thread }
    }

    /// What one process's whole life with one `act` in it makes the database do, by kind of work. Sessions hand in
    /// their counts when they end, so each measurement has a process of its own.
    async fn work(&self, act: &impl AsyncFn(&Client, &str, i64)) -> BTreeMap<String, i64> {
        let thread = &self.thread;
        let before = self.counters().await;
        let process = self.app.another_process().await;
        let who = self.app.at(&process, &self.alice);
        let length = who
            .get(&format!("/api/conversations/{thread}"))
            .await
            .json(200)["message_count"]
            .as_i64()
            .expect("a number");
        act(&who, thread, length).await;
        process.stop().await;
        let after = self.counters().await;
        after
            .into_iter()
            .map(|(name, n)| (n - before.get(&name).copied().unwrap_or(0), name))
            .filter(|(n, _)| *n != 0)
            .map(|(n, name)| (name, n))
            .collect()
    }

    async fn counters(&self) -> BTreeMap<String, i64> {
        let rows = self.app.rows().await;
        let others = "SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
        eventually("all other sessions end", async || {
            rows.number(others).await == 0
        })
        .await;
        // Entries of indexes only tell, in a failure, where the rows came from.
        let counters = "SELECT 'rows of ' || relname || ' by index', coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables
             UNION ALL SELECT 'rows of ' || relname || ' by scan', coalesce(seq_tup_read, 0) FROM pg_stat_user_tables
             UNION ALL SELECT 'blocks of ' || relname, heap_blks_read + heap_blks_hit FROM pg_statio_user_tables
             UNION ALL SELECT 'blocks of indexes of ' || relname, coalesce(idx_blks_read + idx_blks_hit, 0)
             FROM pg_statio_user_tables
             UNION ALL SELECT 'entries of ' || indexrelname, idx_tup_read FROM pg_stat_user_indexes";
        rows.pairs(counters).await.into_iter().collect()
    }
}
