//! Turns read by others than the one who asked: later, elsewhere, too slowly, from another process.

use std::time::Duration;

use qadra_testkit::llm::{Gate, Reply};
use serde_json::json;

use crate::support::{Event, Sse, TestApp, deltas, eventually, id, names, soon};

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
