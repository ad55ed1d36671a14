//! Streams that are cut and taken up again: nothing is lost, nothing comes twice.

use std::time::Duration;

use futures::stream::{self, StreamExt};
use qadra_testkit::llm::{Gate, Reply, Request};
use serde_json::Value;

use crate::support::{Client, TestApp, deltas, names};

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
