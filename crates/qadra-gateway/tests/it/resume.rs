//! Streams that are cut and taken up again: nothing is lost, nothing comes twice.

use std::time::Duration;

use futures::stream::{self, StreamExt};
use qadra_testkit::llm::{Gate, Reply, Request};
use serde_json::{Value, json};

use crate::support::{Client, Event, Sse, TestApp, deltas, eventually, id, names, soon};

/// Turns that are cut in each way.
const TURNS: u64 = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_streams_cut_at_a_random_event_lose_and_repeat_nothing() {
    let app = TestApp::scripted().await;
    let alice = app.user("Alice").await;
    cut_and_resumed(&app, [&alice, &alice], 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_over_a_broker_with_two_cores_resumed_at_the_other_gateway() {
    let app = TestApp::builder().scripted().over_nats(2).start().await;
    let alice = app.user("Alice").await;
    let there = app.at(&app.processes[1], &alice);
    cut_and_resumed(&app, [&alice, &there], 2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_when_the_memory_of_an_ended_turn_is_not_kept() {
    let app = TestApp::builder()
        .scripted()
        .settings(|s| s.stream_retention = Duration::ZERO)
        .start()
        .await;
    let alice = app.user("Alice").await;
    cut_and_resumed(&app, [&alice, &alice], 3).await;
}

/// Starts turns at `at[0]`, cuts each at a random event, takes it up at `at[1]` from the last event seen, and
/// compares the whole with what is stored.
async fn cut_and_resumed(app: &TestApp, at: [&Client; 2], seed: u64) {
    let agent = at[0].agent("scarlet").await;
    app.model().on_request(|request| {
        let mut dice = Dice(number_in(request));
        let tokens: Vec<String> = (0..dice.below(24))
            .map(|_| dice.word())
            .chain(["fin".to_owned()])
            .collect();
        Reply::tokens(tokens).pause_each(Duration::from_micros(dice.below(3) * 300))
    });
    let threads: Vec<String> = stream::iter(0..8)
        .then(|_| at[0].conversation())
        .collect()
        .await;
    let (agent, threads) = (&agent, &threads);
    let lanes = threads.iter().zip(0..).map(|(thread, lane)| async move {
        for n in (0..TURNS).filter(|n| n % 8 == lane) {
            let turn = seed * 1_000 + n;
            one_cut(at, thread, agent, turn).await;
        }
    });
    futures::future::join_all(lanes).await;
}

async fn one_cut(at: [&Client; 2], thread: &str, agent: &str, number: u64) {
    let mut dice = Dice(number ^ 0xc0ffee);
    let mut stream = at[0]
        .say_streamed(thread, agent, &format!("turn {number}"))
        .await;
    let mut events = vec![stream.next().await.expect("user_saved")];
    let turn = events[0].data["turn_id"]
        .as_str()
        .expect("a turn id")
        .to_owned();
    let mut cuts = 0;
    // Some are cut again and again.
    for _ in 0..=dice.below(3) {
        for _ in 0..dice.below(12) {
            match stream.next().await {
                Some(event) => events.push(event),
                None => break,
            }
        }
        drop(stream);
        cuts += 1;
        let last = events.last().map_or(0, |e| e.seq);
        stream = at[1].attach(thread, &turn, last).await;
    }
    events.extend(stream.rest().await);
    let seqs: Vec<u32> = events.iter().map(|e| e.seq).collect();
    let whole: Vec<u32> = (1..=events.len() as u32).collect();
    assert_eq!(
        seqs,
        whole,
        "turn {number} after {cuts} cuts: {:?}",
        names(&events)
    );
    assert_eq!(
        events.last().map(|e| e.name.as_str()),
        Some("done"),
        "turn {number}"
    );
    let message = &events[events.len() - 2].data["assistant_message"];
    assert_eq!(message["content"], deltas(&events), "turn {number}");
    let page = at[1]
        .get(&format!(
            "/api/conversations/{thread}/messages?order=desc&limit=1"
        ))
        .await
        .json(200);
    assert_eq!(
        &page["items"][0], message,
        "turn {number}: what was streamed is not what is stored"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_refreshed_in_mid_answer_sees_it_go_on() {
    for builder in [
        TestApp::builder().scripted(),
        TestApp::builder().scripted().over_nats(2),
    ] {
        let app = builder.start().await;
        let alice = app.user("Alice").await;
        let elsewhere = app.at(app.processes.last().expect("a process"), &alice);
        let (agent, thread) = (alice.agent("scarlet").await, alice.conversation().await);
        let gate = Gate::new();
        app.model()
            .push(Reply::tokens(["One ", "two ", "three."]).gate_each(&gate));
        let mut first = alice.say_streamed(&thread, &agent, "Count").await;
        gate.release(1);
        let seen = first.until("token").await;
        drop(first);
        // The page finds the turn in the thread it reads, and follows it from the start.
        let read = elsewhere
            .get(&format!("/api/conversations/{thread}"))
            .await
            .json(200);
        let turn = read["running_turn_id"]
            .as_str()
            .expect("a running turn")
            .to_owned();
        let mut second = elsewhere.attach(&thread, &turn, 0).await;
        let again = second.until("token").await;
        assert_eq!(again, seen);
        gate.release(1);
        assert_eq!(second.token().await, "two ");
        gate.open();
        let rest = second.rest().await;
        assert_eq!(names(&rest), ["token", "assistant_message", "done"]);
        assert_eq!(
            rest[1].data["assistant_message"]["content"],
            "One two three."
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_readers_of_one_turn_see_the_same() {
    let app = TestApp::scripted().await;
    let alice = app.user("Alice").await;
    let (agent, thread) = (alice.agent("scarlet").await, alice.conversation().await);
    let gate = Gate::new();
    app.model()
        .push(Reply::tokens(["a", "b", "c"]).gate_each(&gate));
    let mut first = alice.say_streamed(&thread, &agent, "Go").await;
    let mut heard = vec![first.next().await.expect("user_saved")];
    let turn = heard[0].data["turn_id"]
        .as_str()
        .expect("a turn id")
        .to_owned();
    let mut second = alice.attach(&thread, &turn, 0).await;
    gate.open();
    heard.extend(first.rest().await);
    assert_eq!(second.rest().await, heard);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ended_turn_replays_from_every_event_in_a_process_that_never_saw_it() {
    let app = TestApp::scripted().await;
    let alice = app.user("Alice").await;
    let (agent, thread) = (alice.agent("scarlet").await, alice.conversation().await);
    alice.fact("Apple", "founded_in_year", json!(1976)).await;
    let chart =
        json!({"chart_name": "R", "chart_config": {"series": [{"data": [1.5, 2]}]}}).to_string();
    let other = app.another_process().await;
    let late = app.at(&other, &alice);
    for (replies, ending) in [
        (
            vec![
                Reply::tokens(["Zwölf ", "Bären 🐻", "", " und"]).call(
                    "c",
                    "generate_chart",
                    chart,
                ),
                Reply::text("Ende."),
            ],
            "completed",
        ),
        (
            vec![
                Reply::calls("no_tool", "{}"),
                Reply::tokens(["half"]).gate(&Gate::new()),
            ],
            "cancelled",
        ),
        (vec![Reply::tokens(["half", " way"]).drop_here()], "failed"),
        (vec![Reply::error(404, "no model")], "failed"),
    ] {
        for reply in replies {
            app.model().push(reply);
        }
        let mut stream = alice
            .say_streamed(&thread, &agent, "When was Apple founded? 🍎")
            .await;
        let mut live = vec![stream.next().await.expect("user_saved")];
        let turn = live[0].data["turn_id"]
            .as_str()
            .expect("a turn id")
            .to_owned();
        if ending == "cancelled" {
            live.extend(stream.until("token").await);
            alice
                .post(
                    &format!("/api/conversations/{thread}/turns/{turn}/cancel"),
                    json!({}),
                )
                .await
                .json(202);
        }
        live.extend(stream.rest().await);
        assert_eq!(
            live.last().map(|e| e.data["status"].clone()),
            Some(json!(ending)),
            "{:?}",
            names(&live)
        );
        for after in 0..=live.len() {
            let replayed = late.attach(&thread, &turn, after as u32).await.rest().await;
            let (replayed, wanted) = (without_thread(&replayed), without_thread(&live[after..]));
            assert_eq!(replayed, wanted, "{ending}, after {after}");
        }
        // Past the end there is nothing, and the stream ends.
        assert_eq!(late.attach(&thread, &turn, 9_999).await.rest().await, []);
    }
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_event_id_may_stand_in_the_query_and_must_be_a_number() {
    let app = TestApp::scripted().await;
    let alice = app.user("Alice").await;
    let (agent, thread) = (alice.agent("scarlet").await, alice.conversation().await);
    let events = alice.say_streamed(&thread, &agent, "Go").await.rest().await;
    let turn = events[0].data["turn_id"].as_str().expect("a turn id");
    let path = format!("/api/conversations/{thread}/turns/{turn}/stream");
    let attach = async |query: &str, header: Option<&str>| {
        let mut request = alice.request("GET", &format!("{path}{query}"));
        if let Some(header) = header {
            request = request.header("last-event-id", header);
        }
        soon("a stream", request.send()).await.expect("a response")
    };
    let seqs = async |query: &str, header: Option<&str>| -> Vec<u32> {
        Sse::new(attach(query, header).await)
            .rest()
            .await
            .iter()
            .map(|e| e.seq)
            .collect()
    };
    let all: Vec<u32> = (1..=events.len() as u32).collect();
    assert_eq!(seqs("", None).await, all);
    assert_eq!(seqs("", Some("")).await, all);
    assert_eq!(seqs("?last_event_id=3", None).await, all[3..]);
    assert_eq!(
        seqs("?last_event_id=1", Some("4")).await,
        all[4..],
        "the header is the newer word"
    );
    for bad in ["x", "-1", "1.5", "99999999999"] {
        Sse::new(attach("", Some(bad)).await)
            .problem(422, "VALIDATION_FAILED")
            .await;
        Sse::new(attach(&format!("?last_event_id={bad}"), None).await)
            .problem(422, "VALIDATION_FAILED")
            .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_too_slow_for_the_bus_gets_everything_all_the_same() {
    for builder in [
        TestApp::builder().scripted(),
        TestApp::builder().scripted().over_nats(1),
    ] {
        let app = builder.pending(8).start().await;
        let alice = app.user("Alice").await;
        let (agent, thread) = (alice.agent("scarlet").await, alice.conversation().await);
        // More than any socket buffers, while nobody reads.
        let piece = |n: usize| format!("{n} {} ", "x".repeat(60_000));
        app.model().push(Reply::tokens((0..120).map(piece)));
        let mut stream = alice.say_streamed(&thread, &agent, "Talk").await;
        let mut events = vec![stream.next().await.expect("user_saved")];
        eventually("the turn ends", async || {
            alice
                .get(&format!("/api/conversations/{thread}"))
                .await
                .json(200)["running_turn_id"]
                .is_null()
        })
        .await;
        events.extend(stream.rest().await);
        assert!(
            events.iter().map(|e| e.seq).eq(1..=events.len() as u32),
            "a gap or a repeat"
        );
        let text: String = (0..120).map(piece).collect();
        assert!(
            deltas(&events) == text,
            "the text is not what the model said"
        );
        assert_eq!(events.last().map(|e| e.name.as_str()), Some("done"));
        let metrics = app.stranger().get("/metrics").await.text();
        let resyncs = metrics
            .lines()
            .find_map(|l| l.strip_prefix("qadra_sse_resyncs_total "))
            .expect("a counter");
        assert_ne!(
            resyncs, "0",
            "the reader was never too slow, so nothing was tested"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_is_cancelled_from_the_core_that_does_not_run_it() {
    let app = TestApp::builder().scripted().over_nats(2).start().await;
    let alice = app.user("Alice").await;
    let (agent, thread) = (alice.agent("scarlet").await, alice.conversation().await);
    // Which of two cores is asked is the broker's choice, so it is tried until both ways must have been taken.
    for n in 0..12 {
        app.model().push(Reply::text("Half").hang());
        let mut stream = alice.say_streamed(&thread, &agent, "Go").await;
        let turn = stream.until("token").await[0].data["turn_id"]
            .as_str()
            .expect("a turn id")
            .to_owned();
        let path = format!("/api/conversations/{thread}/turns/{turn}/cancel");
        alice.post(&path, json!({})).await.json(202);
        assert!(
            app.model().wait_for_close(n, Duration::from_secs(1)).await,
            "turn {n} goes on"
        );
        assert_eq!(
            stream.rest().await.last().map(|e| e.data["status"].clone()),
            Some(json!("cancelled"))
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_whose_process_died_is_closed_and_the_thread_goes_on() {
    let app = TestApp::builder().scripted().over_nats(2).start().await;
    let alice = app.user("Alice").await;
    let (agent, thread) = (alice.agent("scarlet").await, alice.conversation().await);
    app.model().push(Reply::text("Half").hang());
    let events = alice
        .say_streamed(&thread, &agent, "Go")
        .await
        .until("token")
        .await;
    let turn = events[0].data["turn_id"]
        .as_str()
        .expect("a turn id")
        .to_owned();
    // As after SIGKILL: the row says that it runs, and the lock of the process that ran it is free.
    let rows = app.rows().await;
    rows.run(&format!(
        "UPDATE conversation_turns SET owner_id = gen_random_uuid(), owner_lock = 4711 WHERE id = '{turn}';
         UPDATE conversations SET running_turn_id = '{turn}' WHERE id = '{thread}'"
    ))
    .await;
    let other = app.another_process().await;
    let late = app.at(&other, &alice);
    let told = late.attach(&thread, &turn, 0).await.rest().await;
    assert_eq!(names(&told), ["user_saved", "error", "done"]);
    assert_eq!(
        (&told[1].data["code"], &told[1].data["retryable"]),
        (&json!("TURN_INTERRUPTED"), &json!(true))
    );
    assert_eq!(told[2].data["status"], "failed");
    let messages = late.messages(&thread).await;
    assert_eq!(messages.len(), 1, "nothing half written");
    app.model().push(Reply::text("Whole."));
    let again = format!(
        "/api/conversations/{thread}/messages/{}/regenerate",
        id(&messages[0])
    );
    assert_eq!(
        late.post(&again, json!({})).await.json(200)["assistant_message"]["content"],
        "Whole."
    );
}

/// Events without the thread they carry, which is replayed as it is now.
fn without_thread(events: &[Event]) -> Vec<Event> {
    let mut events = events.to_vec();
    for event in &mut events {
        if let Some(fields) = event.data.as_object_mut() {
            fields.remove("conversation");
        }
    }
    events
}

/// The number that the question carries.
fn number_in(request: &Request) -> u64 {
    let last = request.body["messages"]
        .as_array()
        .and_then(|m| m.last())
        .map(|m| m["content"].clone());
    let text = last
        .as_ref()
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    text.trim_start_matches("turn ")
        .parse()
        .expect("a numbered turn")
}

/// Numbers that look random and are the same on every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.roll() % limit
    }

    fn word(&mut self) -> String {
        let words = [
            "the ",
            "Bär ",
            "🐻",
            "\n\n",
            "e\u{301}",
            "data: x\n",
            "四 ",
            "id: 7\n\n",
            " ",
        ];
        words[self.below(words.len() as u64) as usize].to_owned()
    }
}
