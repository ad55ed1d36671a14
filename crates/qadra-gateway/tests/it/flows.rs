//! Flows over HTTP, with a worker that runs what the engine can compute and stops where a person is asked.

use std::sync::Arc;
use std::time::Duration;

use qadra_flow::{Action, Batch, Entry, Event, Graph, Limits, NodeRef, Record, Run};
use qadra_nats::{FlowProgressEvent, Headers, Subject};
use qadra_store::{Claim, JournalRow, RunAppend};
use serde_json::{Value, json};
use sqlx::types::Uuid;

use crate::support::{Client, Sse, TestApp, id, unknown_id};

/// Start, one question, End.
pub fn asking(prompt: &str) -> Value {
    json!({
        "nodes": [
            {"id": "start", "type": "Start", "data": {}, "position": {"x": 1.5, "y": 2}, "mine": {"kept": true}},
            {"id": "ask", "type": "HumanInput", "data": {"prompt": prompt, "output_key": "answer",
                "form_schema": {"type": "object", "properties": {"ok": {"type": "boolean"}}}}},
            {"id": "end", "type": "End", "data": {}}
        ],
        "edges": [
            {"id": "a", "source": "start", "target": "ask"},
            {"id": "b", "source": "ask", "target": "end"}
        ],
        "viewport": {"x": 0, "y": 0, "zoom": 1}
    })
}

/// Does what workers do, when it is told to.
pub struct Worker<'a> {
    app: &'a TestApp,
    id: Uuid,
}

impl<'a> Worker<'a> {
    pub fn new(app: &'a TestApp) -> Self {
        Self {
            app,
            id: Uuid::new_v4(),
        }
    }

    /// Takes everything that is due and brings it as far as it goes. Returns how many there were.
    pub async fn work(&self) -> usize {
        let claims = self
            .app
            .store()
            .flow_claim(self.id, 100, 100, Duration::from_secs(60))
            .await
            .expect("claims");
        for claim in &claims {
            self.run(claim).await;
        }
        claims.len()
    }

    async fn run(&self, c: &Claim) {
        let store = self.app.store();
        let opened = store
            .flow_open(c.tenant_id, c.execution_id, true)
            .await
            .expect("an execution")
            .expect("an execution");
        let data: Value =
            serde_json::from_str(&opened.flow_data.expect("a graph")).expect("a graph");
        let graph = Arc::new(Graph::compile(&data).expect("a graph"));
        let mut run = Run::new(graph, opened.input, Limits::default());
        for row in store
            .flow_entries(c.tenant_id, c.execution_id, 0)
            .await
            .expect("entries")
        {
            let record = Record {
                kind: &row.kind,
                node: row.node.as_str().into(),
                attempt: row.attempt.unsigned_abs(),
                body: row.body.as_deref().map(Into::into),
            };
            let entry = Entry::from_record(row.seq, row.at, &record).expect("an entry");
            run.apply(&entry).expect("a journal");
        }
        let at = chrono::Utc::now().timestamp_millis();
        let mut batch = Batch::default();
        // What the entries of a repeated execution have made ready.
        run.settle(at, &mut batch).expect("a journal");
        let mut record = |event, batch: &mut Batch| {
            let more = run.record(event, at).expect("a fitting event");
            batch.entries.extend(more.entries);
            batch.actions.extend(more.actions);
            batch.progress.extend(more.progress);
        };
        if c.last_seq == 0 {
            record(Event::Started, &mut batch);
        }
        for m in &opened.inbox {
            let event = match m.kind.as_str() {
                "input" => Event::Input {
                    node: m.node.parse::<NodeRef>().expect("a node"),
                    value: Arc::new(m.body.clone()),
                    by: m.created_by,
                },
                _ => Event::Cancelled {
                    by: m.created_by,
                    reason: "asked".into(),
                },
            };
            record(event, &mut batch);
        }
        assert!(
            !batch
                .actions
                .iter()
                .any(|a| matches!(a, Action::Perform { .. })),
            "this worker performs nothing"
        );
        let rows = batch.entries.iter().map(|entry| {
            let record = entry.record();
            JournalRow {
                seq: entry.seq,
                kind: record.kind.to_owned(),
                node: record.node.into_owned(),
                attempt: 1,
                at: entry.at,
                body: record.body.map(|b| b.into_owned()),
            }
        });
        let append = RunAppend {
            tenant_id: c.tenant_id,
            execution_id: c.execution_id,
            token: c.token,
            rows: rows.collect(),
            status: Some(run.status().name()),
            error: run.error(),
            release: true,
            inbox_done: opened.inbox.iter().map(|m| m.id).collect(),
            ..RunAppend::default()
        };
        let refused = store
            .flow_append(self.id, &[append])
            .await
            .expect("an append");
        assert_eq!(refused, []);
        for p in batch.progress {
            let event = FlowProgressEvent {
                event: p.event.to_owned(),
                data: p.data,
                seq: p.seq,
            };
            let subject = Subject::progress(c.execution_id);
            self.app
                .bus()
                .publish(subject.as_str(), Headers::new(), event.to_bytes())
                .await
                .expect("the bus");
        }
    }
}

async fn flow(owner: &Client, data: Value) -> String {
    let flow = json!({"name": "f", "flow_data": data});
    id(&owner.post("/api/flows", flow).await.json(201))
}

/// Starts it and returns the execution's path.
async fn execute(owner: &Client, flow: &str, input: Value) -> String {
    let started = owner
        .post(
            &format!("/api/flows/{flow}/execute"),
            json!({"input": input}),
        )
        .await
        .json(202);
    assert_eq!(started["status"], "pending");
    format!(
        "/api/flows/executions/{}",
        started["execution_id"].as_str().expect("an id")
    )
}

async fn follow(owner: &Client, execution: &str, after: u32) -> Sse {
    let mut request = owner.request("GET", &format!("{execution}/stream"));
    if after > 0 {
        request = request.header("last-event-id", after.to_string());
    }
    Sse::new(request.send().await.expect("a response"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flow_is_kept_as_drawn_and_changed_by_version() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let data = asking("Well?");
    let flow = json!({"name": "Ask", "description": "asks", "flow_data": data});
    let made = alice.post("/api/flows", flow.clone()).await.json(201);
    assert_eq!(
        (&made["flow_data"], &made["node_count"], &made["version"]),
        (&data, &json!(3), &json!(1))
    );
    alice
        .post("/api/flows", flow)
        .await
        .problem(409, "CONFLICT");
    let path = format!("/api/flows/{}", id(&made));
    let change = json!({"description": null, "is_active": false, "expected_version": 1});
    let changed = alice.patch(&path, change.clone()).await.json(200);
    assert_eq!(
        (
            &changed["description"],
            &changed["version"],
            &changed["flow_data"]
        ),
        (&Value::Null, &json!(2), &data)
    );
    alice.patch(&path, change).await.problem(409, "CONFLICT");
    alice
        .post(&format!("{path}/execute"), json!({}))
        .await
        .problem(409, "FLOW_STATE");
    let listed = alice.get("/api/flows?q=ask").await.json(200);
    assert_eq!(listed["total"], 1);
    assert!(listed["items"][0].get("flow_data").is_none());
    let big = json!({"name": "big", "flow_data": {"nodes": [], "x": "y".repeat(2 << 20)}});
    alice
        .post("/api/flows", big)
        .await
        .problem(422, "VALIDATION_FAILED");
    alice.delete(&path).await.empty(204);
    alice.get(&path).await.problem(404, "NOT_FOUND");
    let catalog = alice.get("/api/flows/catalog").await.json(200);
    assert_eq!(catalog["items"].as_array().map(Vec::len), Some(14));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_run_or_does_not_fit_is_refused_with_findings() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let broken = json!({"nodes": [{"id": "a", "type": "Nonsense", "data": {}}], "edges": []});
    let found = alice
        .post("/api/flows/validate", json!({"flow_data": broken}))
        .await
        .json(200);
    assert_eq!(found["valid"], false);
    assert!(!found["errors"].as_array().expect("errors").is_empty());
    let broken = flow(&alice, broken).await;
    let problem = alice
        .post(&format!("/api/flows/{broken}/execute"), json!({}))
        .await
        .problem(422, "FLOW_INVALID");
    assert_eq!(problem["findings"], found["errors"]);

    let mut strict = asking("?");
    strict["nodes"][0]["data"]["input_schema"] =
        json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    let strict = json!({"name": "strict", "flow_data": strict});
    let strict = id(&alice.post("/api/flows", strict).await.json(201));
    let problem = alice
        .post(
            &format!("/api/flows/{strict}/execute"),
            json!({"input": {"n": "x"}}),
        )
        .await
        .problem(422, "FLOW_INPUT_INVALID");
    assert_eq!(problem["findings"][0]["path"], "/n");
    execute(&alice, &strict, json!({"n": 1})).await;
    let all = alice.get("/api/flows/executions").await.json(200);
    assert_eq!(all["total"], 1, "nothing was made of what was refused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_idempotency_key_starts_one_execution() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let bob = app.member(&alice, "Bob", "user").await;
    let flow = flow(&alice, asking("?")).await;
    let path = format!("/api/flows/{flow}/execute");
    let start = async |who: &Client, n: i64| {
        let request = who.request("POST", &path).header("idempotency-key", "k1");
        who.send(request.json(&json!({"input": {"n": n}}))).await
    };
    let first = start(&alice, 1).await.json(202);
    assert_eq!(start(&alice, 1).await.json(202), first);
    start(&alice, 2).await.problem(409, "CONFLICT");
    let other = start(&bob, 1).await.json(202);
    assert_ne!(
        other["execution_id"], first["execution_id"],
        "the key is a person's own"
    );
    let listed = alice
        .get(&format!("/api/flows/{flow}/executions"))
        .await
        .json(200);
    assert_eq!(listed["total"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_execution_asks_is_answered_once_and_ends() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let worker = Worker::new(&app);
    let flow = flow(&alice, asking("Is {{what}} good?")).await;
    let run = execute(&alice, &flow, json!({"what": "it {{what}}"})).await;
    let input = format!("{run}/input");
    alice
        .post(&input, json!({"input": {"ok": true}}))
        .await
        .problem(409, "FLOW_NOT_WAITING");
    let mut stream = follow(&alice, &run, 0).await;
    assert_eq!(worker.work().await, 1);
    let paused = alice.get(&run).await.json(200);
    assert_eq!(paused["status"], "paused");
    assert_eq!(paused["waiting"][0]["node_id"], "ask");
    assert_eq!(paused["waiting"][0]["prompt"], "Is it {{what}} good?");
    assert_eq!(paused["node_states"]["ask"]["status"], "waiting_for_input");
    assert!(paused["node_states"]["start"]["completed_at"].is_string());
    let only = alice
        .get("/api/flows/executions?status=paused")
        .await
        .json(200);
    assert_eq!(only["total"], 1);

    alice
        .post(&input, json!({"node_id": "nowhere", "input": {}}))
        .await
        .problem(404, "NOT_FOUND");
    alice
        .post(&input, json!({"node_id": "end", "input": {}}))
        .await
        .problem(409, "FLOW_NOT_WAITING");
    let unfit = json!({"node_id": "ask", "input": {"ok": "maybe"}});
    alice
        .post(&input, unfit)
        .await
        .problem(422, "FLOW_INPUT_INVALID");
    let answer = json!({"input": {"ok": true}});
    alice.post(&input, answer.clone()).await.json(200);
    // Before a worker has seen it, and after.
    alice
        .post(&input, answer)
        .await
        .problem(409, "FLOW_INPUT_TAKEN");
    assert_eq!(worker.work().await, 1);
    let again = json!({"node_id": "ask", "input": {"ok": false}});
    alice
        .post(&input, again)
        .await
        .problem(409, "FLOW_INPUT_TAKEN");

    let ended = alice.get(&run).await.json(200);
    assert_eq!(ended["status"], "completed");
    assert_eq!(ended["state"]["answer"], json!({"ok": true}));
    let events = stream.rest().await;
    let names: Vec<&str> = events.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names.first(), Some(&"flow_started"), "{names:?}");
    assert_eq!(names[names.len() - 2..], ["flow_completed", "done"]);
    // The list of events says the same, and so does a reader who comes late or back.
    let listed = alice.get(&format!("{run}/events")).await.json(200);
    let told: Vec<&str> = listed["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|e| e["event"].as_str())
        .collect();
    assert_eq!(told, names[..names.len() - 1]);
    assert_eq!(listed["last_seq"], ended["seq"]);
    let late = follow(&alice, &run, 0).await.rest().await;
    assert_eq!(
        late.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(),
        names
    );
    let back = follow(&alice, &run, 2).await.rest().await;
    assert_eq!(
        back.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(),
        names[2..]
    );
    // Before the answer.
    let asked = paused["seq"].as_u64().expect("a number");
    let past = alice.get(&format!("{run}?at_seq={asked}")).await.json(200);
    assert_eq!(
        (&past["status"], &past["state"]),
        (&json!("paused"), &paused["state"])
    );
    alice
        .post(&format!("{run}/cancel"), json!({}))
        .await
        .problem(409, "FLOW_STATE");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_execution_is_cancelled_retried_rerun_and_forked() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let worker = Worker::new(&app);
    let flow = flow(&alice, asking("?")).await;
    let run = execute(&alice, &flow, json!({"n": 1})).await;
    worker.work().await;
    alice
        .post(&format!("{run}/rerun"), json!({"from_node_id": "ask"}))
        .await
        .problem(409, "FLOW_STATE");
    for _ in 0..2 {
        let asked = alice
            .post(&format!("{run}/cancel"), json!({}))
            .await
            .json(200);
        assert_eq!(asked["cancel_requested"], true);
    }
    worker.work().await;
    assert_eq!(alice.get(&run).await.json(200)["status"], "cancelled");

    let again = async |verb: &str, body: Value| {
        let started = alice.post(&format!("{run}/{verb}"), body).await.json(202);
        format!(
            "/api/flows/executions/{}",
            started["execution_id"].as_str().expect("an id")
        )
    };
    let retried = again("retry", json!({})).await;
    let rerun = again("rerun", json!({"from_node_id": "ask"})).await;
    let forked = again("fork", json!({"input": {"n": 2}})).await;
    alice
        .post(&format!("{run}/rerun"), json!({"from_node_id": "nowhere"}))
        .await
        .problem(404, "NOT_FOUND");
    worker.work().await;
    let old = run.rsplit('/').next().expect("an id");
    for (path, trigger, n) in [
        (&retried, "rerun", 1),
        (&rerun, "rerun", 1),
        (&forked, "fork", 2),
    ] {
        let found = alice.get(path).await.json(200);
        assert_eq!(
            (&found["status"], &found["trigger"]),
            (&json!("paused"), &json!(trigger)),
            "{found}"
        );
        assert_eq!(
            (&found["rerun_of"], &found["input"]["n"]),
            (&json!(old), &json!(n))
        );
        alice
            .post(&format!("{path}/input"), json!({"input": {"ok": true}}))
            .await
            .json(200);
    }
    worker.work().await;
    // What has been answered is kept when End alone runs again.
    let started = alice
        .post(&format!("{retried}/rerun"), json!({"from_node_id": "end"}))
        .await
        .json(202);
    worker.work().await;
    let path = format!(
        "/api/flows/executions/{}",
        started["execution_id"].as_str().expect("an id")
    );
    let found = alice.get(&path).await.json(200);
    assert_eq!(
        (&found["status"], &found["state"]["answer"]["ok"]),
        (&json!("completed"), &json!(true))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_goes_in_and_never_comes_out() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let put = async |value: &str| {
        let secret = json!({"name": "token", "value": value});
        alice
            .call("PUT", "/api/flows/secrets", Some(&secret))
            .await
            .empty(204);
    };
    put("hunter2-one").await;
    put("hunter2-two").await;
    let listed = alice.get("/api/flows/secrets").await.json(200);
    assert_eq!(
        (&listed["total"], &listed["items"][0]["name"]),
        (&json!(1), &json!("token"))
    );
    assert!(!listed.to_string().contains("hunter2"));
    let stored = app
        .rows()
        .await
        .texts("SELECT t::text FROM flow_secrets t")
        .await;
    assert!(!stored.concat().contains("hunter2"));
    // A worker can open it.
    let tenant: Uuid = alice.tenant_id.parse().expect("an id");
    let mut tx = app.store().tenant_id(tenant).await.expect("a transaction");
    let sealed = tx.secrets_read(&["token".into()]).await.expect("secrets");
    let vault = qadra_store::Vault::new(crate::support::token_key_secret());
    let open = vault.open(tenant, qadra_store::SECRET_PURPOSE, "token", &sealed[0].1);
    assert_eq!(open.expect("the value"), b"hunter2-two");
    let odd = json!({"name": "no spaces", "value": "x"});
    alice
        .call("PUT", "/api/flows/secrets", Some(&odd))
        .await
        .problem(422, "VALIDATION_FAILED");
    alice.delete("/api/flows/secrets/token").await.empty(204);
    alice
        .delete("/api/flows/secrets/token")
        .await
        .problem(404, "NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signed_call_starts_a_flow_once() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let flow = flow(&alice, asking("?")).await;
    let hook = json!({"kind": "webhook", "input": {"from": "hook", "n": 0}});
    let hook = alice
        .post(&format!("/api/flows/{flow}/triggers"), hook)
        .await
        .json(201);
    let (key, path) = (
        hook["secret"].as_str().expect("a secret"),
        hook["path"].as_str().expect("a path"),
    );
    let now = chrono::Utc::now().timestamp();
    let call = async |key: &str, at: i64, delivery: &str, body: &str| {
        let stranger = app.stranger();
        let request = stranger
            .request("POST", path)
            .header("x-qadra-timestamp", at.to_string())
            .header("x-qadra-delivery", delivery)
            .header("x-qadra-signature", signature(key, at, delivery, body))
            .body(body.to_owned());
        stranger.send(request).await
    };
    let body = r#"{"n": 7}"#;
    call("wrong", now, "d1", body)
        .await
        .problem(401, "UNAUTHENTICATED");
    call(key, now - 400, "d1", body)
        .await
        .problem(401, "UNAUTHENTICATED");
    let first = call(key, now, "d1", body).await.json(202);
    let again = call(key, now, "d1", body).await.json(200);
    assert_eq!(
        (&again["execution_id"], &again["duplicate"]),
        (&first["execution_id"], &json!(true))
    );
    call(key, now, "d2", body).await.json(202);
    let run = format!(
        "/api/flows/executions/{}",
        first["execution_id"].as_str().expect("an id")
    );
    let run = alice.get(&run).await.json(200);
    assert_eq!(
        (&run["input"], &run["trigger"]),
        (&json!({"from": "hook", "n": 7}), &json!("webhook"))
    );
    let all = alice
        .get("/api/flows/executions?trigger=webhook")
        .await
        .json(200);
    assert_eq!(all["total"], 2);
    // The secret is shown once.
    let listed = alice
        .get(&format!("/api/flows/{flow}/triggers"))
        .await
        .json(200);
    assert!(!listed.to_string().contains(key));
    let change = format!("/api/flows/triggers/{}", id(&hook));
    alice
        .patch(&change, json!({"is_active": false}))
        .await
        .json(200);
    call(key, now, "d3", body).await.problem(404, "NOT_FOUND");
    app.stranger()
        .post(&format!("/api/hooks/{}", unknown_id()), json!({}))
        .await
        .problem(404, "NOT_FOUND");
}

fn signature(key: &str, at: i64, delivery: &str, body: &str) -> String {
    use sha2::{Digest, Sha256};
    // HMAC (RFC 2104) written out, so that the test does not check the code by itself.
    let pad = |byte: u8| -> Vec<u8> {
        let mut block = [0u8; 64];
        block[..key.len()].copy_from_slice(key.as_bytes());
        block.iter().map(|b| b ^ byte).collect()
    };
    let inner = Sha256::new()
        .chain_update(pad(0x36))
        .chain_update(format!("{at}.{delivery}.{body}"))
        .finalize();
    let outer = Sha256::new()
        .chain_update(pad(0x5c))
        .chain_update(inner)
        .finalize();
    outer.iter().map(|b| format!("{b:02x}")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schedule_that_is_due_starts_one_execution_however_many_cores_there_are() {
    let app = TestApp::start().await;
    let _second = app.another_process().await;
    let alice = app.user("Alice").await;
    let flow = flow(&alice, asking("?")).await;
    let triggers = format!("/api/flows/{flow}/triggers");
    let wrong = json!({"kind": "schedule", "cron": "61 * * * *"});
    alice
        .post(&triggers, wrong)
        .await
        .problem(422, "VALIDATION_FAILED");
    let schedule = json!({"kind": "schedule", "cron": "0 9 * * 1", "time_zone": "Europe/Berlin", "input": {"n": 5}});
    let made = alice.post(&triggers, schedule).await.json(201);
    assert!(made["next_at"].is_string());
    let rows = app.rows().await;
    rows.run("UPDATE flow_triggers SET next_at = now() - interval '3 weeks'")
        .await;
    crate::support::eventually("the schedule has started it", async || {
        alice
            .get("/api/flows/executions?trigger=schedule")
            .await
            .json(200)["total"]
            != 0
    })
    .await;
    // The others look at it again in two seconds: nothing is due any more.
    let now = alice.get(&triggers).await.json(200);
    let trigger = &now["items"][0];
    assert_eq!(trigger["next_at"], made["next_at"]);
    assert!(trigger["last_execution_id"].is_string() && trigger["last_error"].is_null());
    let all = alice.get("/api/flows/executions").await.json(200);
    assert_eq!(
        (&all["total"], &all["items"][0]["trigger"]),
        (&json!(1), &json!("schedule"))
    );
}
