//! Streams as bytes on the wire: heads, heartbeats, ends, and a real nginx in between.

use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use qadra_gateway::StreamTimes;
use qadra_testkit::llm::{Gate, Reply};
use tokio::process::{Child, Command};

use crate::support::{Client, TestApp, eventually, find, names, soon};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_says_what_it_is_and_asks_proxies_not_to_hold_it_back() {
    let app = TestApp::scripted().await;
    let (alice, agent, thread) = ready(&app).await;
    let mut stream = alice.say_streamed(&thread, &agent, "Hi").await;
    let head = |name: &str| stream.header(name).to_owned();
    assert_eq!(
        (stream.status(), head("content-type")),
        (200, "text/event-stream".to_owned())
    );
    assert_eq!(
        (head("cache-control"), head("x-accel-buffering")),
        ("no-cache".to_owned(), "no".to_owned())
    );
    assert_eq!(
        (head("content-length"), head("content-encoding")),
        (String::new(), String::new())
    );
    assert_eq!(
        (head("x-request-id").len(), head("x-content-type-options")),
        (36, "nosniff".to_owned())
    );
    let turn = stream.rest().await[0].data["turn_id"]
        .as_str()
        .expect("a turn id")
        .to_owned();
    assert_eq!(
        alice.attach(&thread, &turn, 0).await.header("content-type"),
        "text/event-stream"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_defaults_are_a_heartbeat_each_15_seconds_and_an_end_after_250() {
    let StreamTimes { heartbeat, longest } = StreamTimes::default();
    assert_eq!(
        (heartbeat, longest),
        (Duration::from_secs(15), Duration::from_secs(250))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_stream_beats_and_still_ends_well() {
    let times = StreamTimes {
        heartbeat: Duration::from_millis(50),
        ..StreamTimes::default()
    };
    let app = TestApp::builder().scripted().times(times).start().await;
    let (alice, agent, thread) = ready(&app).await;
    let gate = Gate::new();
    app.model().push(Reply::text("At last.").gate_each(&gate));
    let mut stream = alice.say_streamed(&thread, &agent, "Hi").await;
    for _ in 0..5 {
        assert!(stream.comment().await.starts_with(':'));
    }
    gate.open();
    assert_eq!(names(&stream.rest().await).last(), Some(&"done"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_has_lasted_long_enough_ends_and_is_taken_up_again() {
    let times = StreamTimes {
        heartbeat: Duration::from_millis(20),
        longest: Duration::from_millis(60),
    };
    let app = TestApp::builder().scripted().times(times).start().await;
    let (alice, agent, thread) = ready(&app).await;
    let gate = Gate::new();
    app.model().push(Reply::text("At last.").gate_each(&gate));
    let mut stream = alice.say_streamed(&thread, &agent, "Hi").await;
    let first = stream.next().await.expect("user_saved");
    let turn = first.data["turn_id"]
        .as_str()
        .expect("a turn id")
        .to_owned();
    let mut events = vec![first];
    // It ends in the middle of the turn, which waits for the gate: if it did not, this would wait for ever. How much was
    // said by then depends on the machine.
    events.extend(stream.rest().await);
    for _ in 0..500 {
        if events.len() >= 3 {
            gate.open();
        }
        if names(&events).last() == Some(&"done") {
            break;
        }
        let after = u32::try_from(events.len()).unwrap_or(u32::MAX);
        events.extend(alice.attach(&thread, &turn, after).await.rest().await);
    }
    let told = [
        "user_saved",
        "thinking",
        "grounding",
        "token",
        "assistant_message",
        "done",
    ];
    assert_eq!(names(&events), told);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn open_streams_are_counted_and_none_is_left_when_clients_leave() {
    let app = TestApp::scripted().await;
    let (alice, agent, thread) = ready(&app).await;
    let gate = Gate::new();
    app.model().push(Reply::text("x").gate_each(&gate));
    let mut stream = alice.say_streamed(&thread, &agent, "Hi").await;
    let turn = stream.next().await.expect("user_saved").data["turn_id"]
        .as_str()
        .expect("a turn id")
        .to_owned();
    let other = alice.attach(&thread, &turn, 0).await;
    let open = async || {
        let metrics = app.stranger().get("/metrics").await.text();
        metrics
            .lines()
            .find_map(|l| l.strip_prefix("qadra_sse_streams "))
            .expect("a gauge")
            .to_owned()
    };
    assert_eq!(open().await, "2");
    drop((stream, other));
    eventually("streams are let go", async || open().await == "0").await;
    gate.open();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_the_server_ends_streams_with_what_was_said_kept() {
    let mut app = TestApp::scripted().await;
    let (alice, agent, thread) = ready(&app).await;
    app.model().push(Reply::text("Half").hang());
    let mut stream = alice.say_streamed(&thread, &agent, "Hi").await;
    stream.until("token").await;
    let process = app.processes.remove(0);
    soon("a clean stop", process.stop()).await;
    stream.rest().await;
    let again = app.another_process().await;
    let last = app
        .at(&again, &alice)
        .messages(&thread)
        .await
        .pop()
        .expect("an answer");
    assert_eq!(
        (&last["content"], &last["finish_reason"]),
        (&"Half".into(), &"cancelled".into())
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_pass_an_nginx_with_default_settings_one_by_one() {
    let app = TestApp::scripted().await;
    let (alice, agent, thread) = ready(&app).await;
    let nginx = Nginx::before(&app.processes[0].url).await;
    let alice = alice.at(&nginx.url);
    let gate = Gate::new();
    let tokens = ["One", " two", " three"];
    app.model().push(Reply::tokens(tokens).gate_each(&gate));
    let mut stream = alice.say_streamed(&thread, &agent, "Count").await;
    let first = stream.next().await.expect("user_saved");
    let turn = first.data["turn_id"]
        .as_str()
        .expect("a turn id")
        .to_owned();
    let mut follower = alice.attach(&thread, &turn, 1).await;
    for token in tokens {
        gate.release(1);
        assert_eq!(stream.token().await, token);
        assert_eq!(follower.token().await, token);
    }
    assert_eq!(names(&stream.rest().await), ["assistant_message", "done"]);
    assert_eq!(names(&follower.rest().await), ["assistant_message", "done"]);
    assert!(
        stream.header("server").starts_with("nginx"),
        "the stream did not pass nginx"
    );
}

async fn ready(app: &TestApp) -> (Client, String, String) {
    let alice = app.user("Alice").await;
    let (agent, thread) = (alice.agent("scarlet").await, alice.conversation().await);
    (alice, agent, thread)
}

const MISSING: &str = "no nginx found: this test sends streams through a real one; install it with `apt-get install nginx`";

/// An nginx that does nothing but `proxy_pass`, with every proxy setting at its default; ended when dropped.
struct Nginx {
    url: String,
    _child: Child,
    _dir: tempfile::TempDir,
}

impl Nginx {
    async fn before(upstream: &str) -> Self {
        let program = find("nginx").unwrap_or_else(|| panic!("{MISSING}"));
        let dir = tempfile::tempdir().expect("a directory");
        // Nginx takes no port 0; between this and its start another program could take the port.
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|l| l.local_addr())
            .expect("a free port")
            .port();
        let config = dir.path().join("nginx.conf");
        std::fs::write(&config, configuration(dir.path(), port, upstream))
            .expect("the configuration is written");
        let child = Command::new(program)
            .arg("-p")
            .arg(dir.path())
            .arg("-c")
            .arg(&config)
            .args(["-e", "stderr"])
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .expect("nginx starts");
        let address = ("127.0.0.1", port);
        eventually("nginx listens", async || {
            tokio::net::TcpStream::connect(address).await.is_ok()
        })
        .await;
        Self {
            url: format!("http://127.0.0.1:{port}"),
            _child: child,
            _dir: dir,
        }
    }
}

/// One process, in the foreground, that keeps its files to `dir`.
fn configuration(dir: &Path, port: u16, upstream: &str) -> String {
    let dir = dir.display();
    format!(
        "daemon off; master_process off; pid {dir}/nginx.pid;
         events {{}}
         http {{
             access_log off;
             client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/fastcgi;
             uwsgi_temp_path {dir}/uwsgi; scgi_temp_path {dir}/scgi;
             server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass {upstream}; }} }}
         }}"
    )
}
