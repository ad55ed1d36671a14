//! Starting, settings and stopping.

use std::fs;
use std::net::TcpListener;
use std::time::Duration;

use qadra_testkit::db::TestDb;
use qadra_testkit::llm::{Gate, Reply, ScriptedLlm};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::api::{Api, names, text};
use super::program::{
    Ended, Program, SOON, directory, pgdata, postgres_of, postmaster, send, until,
};

/// Runs a command that ends by itself.
async fn run(args: &[&str], dir: &std::path::Path, env: &[(&str, &str)]) -> Ended {
    Program::spawn(args, dir, env).end().await
}

#[tokio::test]
async fn it_says_one_line_serves_and_stops_without_a_trace() {
    let dir = directory();
    let mut qadra = Program::up(dir.path(), &[]);
    let url = qadra.ready().await;
    let api = Api::anonymous(&url);
    assert_eq!(api.ok(api.get("/healthz")).await, json!({"status": "ok"}));
    let ready = api.ok(api.get("/readyz")).await;
    assert_eq!(
        (&ready["status"], &ready["core"]["database"]),
        (&json!("ready"), &json!("ok"))
    );
    let metrics = api.ok(api.get("/metrics")).await;
    assert!(
        metrics.as_str().is_some_and(|m| m.ends_with("# EOF\n")),
        "{metrics}"
    );
    let document = api.ok(api.get("/api/openapi.json")).await;
    assert!(
        document["openapi"]
            .as_str()
            .is_some_and(|v| v.starts_with("3."))
    );
    assert!(
        document["paths"]["/api/conversations/{conversation_id}/messages/stream"]["post"]
            .is_object()
    );
    let page = api.ok(api.get("/")).await;
    assert!(page.as_str().is_some_and(|p| p.contains("<html")), "{page}");
    let meta = api.ok(api.get("/api/meta")).await;
    assert_eq!(meta["llm"]["provider"], json!("builtin"));
    let (status, problem) = api.send(api.get("/api/nothing")).await;
    assert_eq!((status, &problem["code"]), (404, &json!("NOT_FOUND")));

    assert!(!postgres_of(dir.path()).is_empty());
    let ended = qadra.stop().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout, [format!("qadra ready {url}")]);
    assert!(
        ended.stderr.contains("PostgreSQL serves"),
        "{}",
        ended.stderr
    );
    assert!(
        !ended.stderr.contains("ERROR") && !ended.stderr.contains("panicked"),
        "{}",
        ended.stderr
    );
    assert_eq!(postgres_of(dir.path()).len(), 0);
    assert!(!pgdata(dir.path()).join("postmaster.pid").exists());
}

/// The documents, once all are read and the approved one is in.
async fn analysed(api: &Api) -> Value {
    let wait = async {
        loop {
            let found = api.ok(api.get("/api/documents")).await;
            let ready = |d: &Value| {
                d["analysis"]["status"] == "done"
                    && matches!(
                        d["ingestion_status"].as_str(),
                        Some("pending_approval" | "completed")
                    )
            };
            if found["items"].as_array().unwrap().iter().all(ready) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    match tokio::time::timeout(SOON, wait).await {
        Ok(found) => found,
        Err(_) => panic!("{}", api.ok(api.get("/api/documents")).await),
    }
}

#[tokio::test]
async fn the_demo_prints_a_login_that_works_and_keeps() {
    let dir = directory();
    let data = dir.path().join("data");
    let args = [
        "up",
        "--demo",
        "--data-dir",
        data.to_str().unwrap(),
        "--listen",
        "127.0.0.1:0",
    ];
    let mut logins = vec![];
    for _ in 0..2 {
        let mut qadra = Program::spawn(&args, dir.path(), &[]);
        let login = qadra.line().await;
        let url = qadra.ready().await;
        let (email, password) = login
            .strip_prefix("demo login: ")
            .and_then(|rest| rest.split_once(" password: "))
            .unwrap_or_else(|| panic!("not the login line: {login}"));
        let api = Api::login(&url, email, password).await;
        let documents = analysed(&api).await;
        assert_eq!(documents["total"], 3, "as many after the second start");
        let waits = |d: &&Value| d["ingestion_status"] == "pending_approval";
        let documents = documents["items"].as_array().unwrap();
        assert_eq!(documents.iter().filter(waits).count(), 2, "{documents:?}");
        let against = |d: &Value| d["analysis"]["conflicts"].as_i64() > Some(0);
        assert!(documents.iter().any(against), "{documents:?}");
        assert_eq!(api.ok(api.get("/api/flows")).await["total"], 2);
        let ended = qadra.stop().await;
        assert_eq!((ended.code, ended.stdout.len()), (Some(0), 2), "{ended:?}");
        logins.push(login);
    }
    assert_eq!(logins[0], logins[1]);
}

#[tokio::test]
async fn a_second_start_on_the_directory_names_it_and_harms_nothing() {
    let dir = directory();
    let mut first = Program::up(dir.path(), &[]);
    let api = Api::register(&first.ready().await).await;
    let second = Program::up(dir.path(), &[]).end().await;
    assert_eq!(
        (second.code, second.stdout.len()),
        (Some(1), 0),
        "{second:?}"
    );
    let named = fs::canonicalize(dir.path().join("data")).unwrap();
    assert!(
        second.stderr.contains(named.to_str().unwrap()),
        "{}",
        second.stderr
    );
    assert_eq!(
        second
            .stderr
            .lines()
            .filter(|line| line.starts_with("error: "))
            .count(),
        1,
        "{}",
        second.stderr
    );
    api.ok(api.get("/api/auth/me")).await;
    assert_eq!(first.stop().await.code, Some(0));
}

#[tokio::test]
async fn a_used_directory_keeps_accounts_sessions_and_threads() {
    let dir = directory();
    let mut qadra = Program::up(dir.path(), &[]);
    let api = Api::register(&qadra.ready().await).await;
    let thread = api.conversation().await;
    let fact = json!({"subject": "Apple", "predicate": "founded_in_year", "object": 1976});
    let triple = api.ok(api.post("/api/knowledge/triples", &fact)).await;
    let exchange = api.exchange(&thread, "When was Apple founded?").await;
    let answer = &exchange["assistant_message"];
    assert!(
        answer["content"].as_str().unwrap().contains("1976"),
        "{answer}"
    );
    assert_eq!(
        answer["metadata"]["grounding"]["triples"][0]["id"],
        triple["id"]
    );
    assert_eq!(qadra.stop().await.code, Some(0));

    let begun = std::time::Instant::now();
    let mut qadra = Program::up(dir.path(), &[]);
    let url = qadra.ready().await;
    eprintln!(
        "ready on a used directory in {} ms",
        begun.elapsed().as_millis()
    );
    let api = api.at(&url);
    assert_eq!(api.messages(&thread).await[1], *answer);
    assert_eq!(qadra.stop().await.code, Some(0));
}

#[tokio::test]
async fn settings_are_shown_with_their_sources_and_without_secrets() {
    let dir = directory();
    fs::write(
        dir.path().join("qadra.toml"),
        "tool_calls = 3\nllm_model = \"from-the-file\"\n",
    )
    .unwrap();
    let env = [
        ("QADRA_LLM_API_KEY", "sk-very-secret"),
        (
            "QADRA_DATABASE_URL",
            "postgres://someone:hidden-word@db.example/qadra",
        ),
        ("QADRA_NATS_URL", "nats://hidden-token@nats.example"),
        ("QADRA_JWT_SECRET", "hidden-hidden-hidden-hidden-hidden"),
        ("QADRA_SMTP_URL", "smtp://hidden-mail@mail.example"),
        ("QADRA_LLM_MODEL", "from-the-environment"),
    ];
    let shown = run(
        &["up", "--print-config", "--listen", "127.0.0.1:1"],
        dir.path(),
        &env,
    )
    .await;
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    let all = shown.stdout.join("\n");
    assert!(
        !all.contains("very-secret") && !all.contains("hidden"),
        "{all}"
    );
    let line = |key: &str| {
        let found: Vec<&String> = shown
            .stdout
            .iter()
            .filter(|l| l.starts_with(&format!("{key} ")))
            .collect();
        assert_eq!(found.len(), 1, "{key}: {found:?}");
        found[0]
            .split_whitespace()
            .take(4)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(line("QADRA_LISTEN"), "QADRA_LISTEN 127.0.0.1:1 # command");
    assert_eq!(line("QADRA_TOOL_CALLS"), "QADRA_TOOL_CALLS 3 # qadra.toml;");
    assert_eq!(
        line("QADRA_LLM_MODEL"),
        "QADRA_LLM_MODEL from-the-environment # environment;"
    );
    assert_eq!(
        line("QADRA_LLM_API_KEY"),
        "QADRA_LLM_API_KEY **** # environment;"
    );
    assert_eq!(
        line("QADRA_TURN_SECONDS"),
        "QADRA_TURN_SECONDS 240 # default;"
    );
    // Those of the contract are there, set or not.
    for key in [
        "DATA_DIR",
        "LISTEN",
        "DATABASE_URL",
        "NATS_URL",
        "OBJECT_STORE",
        "LLM_PROVIDER",
        "LLM_BASE_URL",
        "LLM_API_KEY",
        "LLM_MODEL",
        "SMTP_URL",
        "PUBLIC_URL",
        "HTTP_ALLOW",
    ] {
        line(&format!("QADRA_{key}"));
    }
    assert!(!dir.path().join("data").exists(), "it only shows");
}

#[tokio::test]
async fn an_unknown_setting_is_refused_by_name_with_the_nearest() {
    let dir = directory();
    for command in ["up", "core", "gateway", "migrate"] {
        let refused = run(&[command], dir.path(), &[("QADRA_LISTN", "127.0.0.1:0")]).await;
        assert_eq!(
            (refused.code, refused.stderr.as_str()),
            (
                Some(1),
                "error: there is no setting QADRA_LISTN; the nearest is QADRA_LISTEN\n"
            ),
            "{command}"
        );
        assert!(refused.stdout.is_empty());
    }
}

#[tokio::test]
async fn a_role_that_lacks_a_setting_names_it() {
    let dir = directory();
    for (command, missing) in [
        ("core", "QADRA_DATABASE_URL"),
        ("gateway", "QADRA_NATS_URL"),
        ("migrate", "QADRA_DATABASE_URL"),
    ] {
        let refused = run(&[command], dir.path(), &[]).await;
        assert_eq!(refused.code, Some(1));
        assert!(
            refused
                .stderr
                .starts_with(&format!("error: {missing} is not set")),
            "{}",
            refused.stderr
        );
    }
}

#[tokio::test]
async fn a_taken_port_is_said_and_leaves_no_postgres_behind() {
    let dir = directory();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let data = dir.path().join("data");
    let refused = run(
        &[
            "up",
            "--data-dir",
            data.to_str().unwrap(),
            "--listen",
            &address,
        ],
        dir.path(),
        &[],
    )
    .await;
    assert_eq!(
        (refused.code, refused.stdout.len()),
        (Some(1), 0),
        "{refused:?}"
    );
    assert!(
        refused
            .stderr
            .contains(&format!("error: listen on {address}: ")),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("hint: choose another address"),
        "{}",
        refused.stderr
    );
    assert_eq!(postgres_of(dir.path()).len(), 0);
}

#[tokio::test]
async fn a_stop_while_it_starts_leaves_no_postgres_behind() {
    let dir = directory();
    let qadra = Program::up(dir.path(), &[]);
    until("PostgreSQL is on its way", async || {
        dir.path().join("data/log").exists()
    })
    .await;
    let ended = qadra.stop().await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(postgres_of(dir.path()).len(), 0);
    // What it began is finished by the next start.
    let mut qadra = Program::up(dir.path(), &[]);
    Api::register(&qadra.ready().await).await;
    assert_eq!(qadra.stop().await.code, Some(0));
}

#[tokio::test]
async fn an_external_database_is_used_instead_of_a_private_one() {
    let db = TestDb::with("empty", async |_| Ok(())).await;
    let dir = directory();
    let url = db.url();
    let mut qadra = Program::up(dir.path(), &[("QADRA_DATABASE_URL", &url)]);
    let api = Api::register(&qadra.ready().await).await;
    let thread = api.conversation().await;
    api.exchange(&thread, "Hello?").await;
    assert!(!dir.path().join("data/pg").exists());
    assert_eq!(qadra.stop().await.code, Some(0));
    let mut qadra = Program::up(dir.path(), &[("QADRA_DATABASE_URL", &url)]);
    let url = qadra.ready().await;
    assert_eq!(api.at(&url).messages(&thread).await.len(), 2);
    assert_eq!(qadra.stop().await.code, Some(0));

    for bad in ["mysql://u:hidden@h/d", "postgres://u:hidden@127.0.0.1:1/d"] {
        let refused = Program::up(dir.path(), &[("QADRA_DATABASE_URL", bad)])
            .end()
            .await;
        assert_eq!(
            (refused.code, refused.stdout.len()),
            (Some(1), 0),
            "{refused:?}"
        );
        assert!(!refused.stderr.contains("hidden"), "{}", refused.stderr);
    }
}

#[tokio::test]
async fn an_address_of_a_model_server_is_all_it_takes_to_use_it() {
    let llm = ScriptedLlm::start().await;
    llm.otherwise(Reply::tokens(["Hello", " from", " afar"]).usage(11, 3));
    let dir = directory();
    let mut qadra = Program::up(dir.path(), &[("QADRA_LLM_BASE_URL", &llm.openai_url())]);
    let api = Api::register(&qadra.ready().await).await;
    assert_eq!(
        api.ok(api.get("/api/meta")).await["llm"]["provider"],
        json!("openai")
    );
    let thread = api.conversation().await;
    let exchange = api.exchange(&thread, "Hello?").await;
    let answer = &exchange["assistant_message"];
    assert_eq!(answer["content"], json!("Hello from afar"));
    assert_eq!(
        (&answer["prompt_tokens"], &answer["completion_tokens"]),
        (&json!(11), &json!(3))
    );
    let requests = llm.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(
        requests[0].header("authorization"),
        None,
        "there is no key to send"
    );
    assert_eq!(qadra.stop().await.code, Some(0));
}

#[tokio::test]
async fn a_clean_stop_in_the_middle_of_an_answer_keeps_what_was_said() {
    let llm = ScriptedLlm::start().await;
    let gate = Gate::new();
    llm.push(Reply::tokens(["One ", "two "]).gate(&gate).token("three"));
    let dir = directory();
    let url = llm.openai_url();
    let env = [("QADRA_LLM_BASE_URL", url.as_str())];
    let mut qadra = Program::up(dir.path(), &env);
    let api = Api::register(&qadra.ready().await).await;
    let thread = api.conversation().await;
    let mut stream = api.ask(&thread, "Count.").await;
    let turn = stream.until("user_saved").await.turn_id();
    stream.until("token").await;
    stream.until("token").await;
    let ended = qadra.stop().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let said = stream.rest().await;
    assert_eq!(names(&said), ["assistant_message", "done"], "{said:?}");
    assert_eq!(said[1].data["status"], json!("cancelled"));

    let mut qadra = Program::up(dir.path(), &env);
    let api = api.at(&qadra.ready().await);
    let messages = api.messages(&thread).await;
    assert_eq!(messages.len(), 2);
    assert_eq!(
        (&messages[1]["content"], &messages[1]["finish_reason"]),
        (&json!("One two "), &json!("cancelled"))
    );
    let replayed = api.attach(&thread, &turn, 0).await.rest().await;
    assert_eq!(text(&replayed), "One two ");
    assert_eq!(
        replayed.iter().map(|e| e.id).collect::<Vec<_>>(),
        (1..=replayed.len() as u32).collect::<Vec<_>>()
    );
    assert_eq!(qadra.stop().await.code, Some(0));
}

#[tokio::test]
async fn the_death_of_its_postgres_is_told_and_ends_it() {
    let dir = directory();
    let mut qadra = Program::up(dir.path(), &[]);
    qadra.ready().await;
    send(postmaster(dir.path()), Signal::KILL);
    let ended = qadra.end().await;
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("error: PostgreSQL stopped by itself"),
        "{}",
        ended.stderr
    );
    until("the last backend has gone", async || {
        postgres_of(dir.path()).is_empty()
    })
    .await;
    let mut qadra = Program::up(dir.path(), &[]);
    Api::register(&qadra.ready().await).await;
    assert_eq!(qadra.stop().await.code, Some(0));
}
