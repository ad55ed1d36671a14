//! Workers and their executions, on a real PostgreSQL.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::bed::{Bed, flow, quick};

fn linear(middle: Value) -> Value {
    flow(
        &[
            ("s:Start", json!({})),
            ("a:Agent", middle),
            ("e:End", json!({})),
        ],
        "s>a a>e",
    )
}

#[tokio::test]
async fn an_execution_runs_to_its_end() {
    let bed = Bed::new().await;
    let data = flow(
        &[
            ("s:Start", json!({})),
            (
                "a:Agent",
                json!({"say": {"response": "hi {{who}}"}, "output_key": "a"}),
            ),
            (
                "t:Transform",
                json!({"mappings": {"text": "a.response"}, "output_key": "t"}),
            ),
            ("e:End", json!({"output_keys": ["t"]})),
        ],
        "s>a a>t t>e",
    );
    let flow_id = bed.flow("hello", &data).await;
    let worker = bed.worker().await;
    let id = bed.execute(flow_id, json!({"who": "Ada"})).await;
    let row = bed.reached(id, "completed").await;
    assert_eq!((row.error, row.steps), (None, 4));
    assert!(row.started_at.is_some() && row.completed_at.is_some());
    let view = bed.view(id, &data).await;
    assert_eq!(view["output"], json!({"t": {"text": "hi Ada"}}));
    worker.drain(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn siblings_run_at_the_same_time() {
    let bed = Bed::new().await;
    let data = flow(
        &[
            ("s:Start", json!({})),
            ("a:Agent", json!({"wait": true})),
            ("b:Http", json!({"wait": true})),
            ("e:End", json!({})),
        ],
        "s>a s>b a>e b>e",
    );
    let id = bed.execute(bed.flow("two", &data).await, json!({})).await;
    let _worker = bed.worker().await;
    bed.until("both are under way", || bed.nodes.held() == 2)
        .await;
    bed.nodes.let_go();
    bed.reached(id, "completed").await;
}

#[tokio::test]
async fn a_failed_attempt_is_repeated_under_the_same_key() {
    let bed = Bed::new().await;
    let data = linear(json!({"fail": 1, "retries": 1}));
    let id = bed.execute(bed.flow("again", &data).await, json!({})).await;
    let _worker = bed.worker().await;
    bed.reached(id, "completed").await;
    let calls = bed.nodes.calls.lock().unwrap().clone();
    assert_eq!(calls.iter().map(|c| c.1).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(calls.iter().map(|c| c.2).collect::<HashSet<_>>().len(), 1);
}

#[tokio::test]
async fn a_node_that_fails_for_good_or_panics_fails_the_execution_with_words() {
    let bed = Bed::new().await;
    let _worker = bed.worker().await;
    for (name, data, words) in [
        ("f", json!({"fail": 9}), "a failed: it broke"),
        ("p", json!({"panic": true}), "broke off"),
    ] {
        let id = bed
            .execute(bed.flow(name, &linear(data)).await, json!({}))
            .await;
        let row = bed.reached(id, "failed").await;
        assert!(row.error.as_ref().unwrap().contains(words), "{row:?}");
    }
}

#[tokio::test]
async fn a_node_has_a_time_limit() {
    let bed = Bed::new().await;
    let _worker = bed.worker().await;
    let id = bed
        .execute(
            bed.flow("slow", &linear(json!({"wait": true, "timeout_seconds": 1})))
                .await,
            json!({}),
        )
        .await;
    let row = bed.reached(id, "failed").await;
    assert_eq!(row.error.as_deref(), Some("a failed: no answer within 1 s"));
}

#[tokio::test]
async fn people_answer_after_a_restart_and_only_once() {
    let bed = Bed::new().await;
    let data = flow(
        &[
            ("s:Start", json!({})),
            ("p:HumanInput", json!({"output_key": "p"})),
            ("q:HumanInput", json!({"output_key": "q"})),
            ("e:End", json!({})),
        ],
        "s>p s>q p>e q>e",
    );
    let worker = bed.worker().await;
    let id = bed.execute(bed.flow("ask", &data).await, json!({})).await;
    bed.reached(id, "paused").await;
    bed.until("nobody holds it", || worker.holds() == 0).await;
    worker.drain(Duration::from_secs(5)).await;
    assert!(bed.tell(id, "input", "q", json!({"ok": 1})).await.unwrap());
    let twice = bed.tell(id, "input", "q", json!({"ok": 2})).await;
    assert!(matches!(
        twice,
        Err(qadra_store::StoreError::Duplicate { .. })
    ));
    let _worker = bed.worker().await;
    assert!(bed.tell(id, "input", "p", json!({"ok": 3})).await.unwrap());
    bed.reached(id, "completed").await;
    let view = bed.view(id, &data).await;
    assert_eq!(view["state"], json!({"p": {"ok": 3}, "q": {"ok": 1}}));
}

#[tokio::test]
async fn a_running_execution_is_cancelled() {
    let bed = Bed::new().await;
    let data = linear(json!({"wait": true}));
    let _worker = bed.worker().await;
    let id = bed.execute(bed.flow("stop", &data).await, json!({})).await;
    bed.until("it is under way", || bed.nodes.held() == 1).await;
    assert!(
        bed.tell(id, "cancel", "", json!({"reason": "not needed"}))
            .await
            .unwrap()
    );
    let row = bed.reached(id, "cancelled").await;
    assert_eq!(row.error.as_deref(), Some("not needed"));
    assert!(
        !bed.tell(id, "cancel", "", json!({})).await.unwrap(),
        "it has ended"
    );
}

#[tokio::test]
async fn a_delay_is_waited_for_without_a_worker() {
    let bed = Bed::new().await;
    let data = flow(
        &[
            ("s:Start", json!({})),
            ("d:Delay", json!({"duration_seconds": 3})),
            ("e:End", json!({})),
        ],
        "s>d d>e",
    );
    let worker = bed.worker().await;
    let id = bed.execute(bed.flow("wait", &data).await, json!({})).await;
    bed.reached(id, "running").await;
    bed.until("nobody holds it", || worker.holds() == 0).await;
    worker.drain(Duration::from_secs(5)).await;
    let _other = bed.worker().await;
    let row = bed.reached(id, "completed").await;
    let took = row.completed_at.unwrap() - row.started_at.unwrap();
    assert!(took.num_milliseconds() >= 3_000, "{took}");
}

#[tokio::test]
async fn a_flow_runs_a_flow_and_takes_its_output() {
    let bed = Bed::new().await;
    let child = flow(
        &[
            ("s:Start", json!({})),
            ("a:Agent", json!({"say": "{{n}} done", "output_key": "r"})),
            ("e:End", json!({"output_keys": ["r"]})),
        ],
        "s>a a>e",
    );
    let child_id = bed.flow("child", &child).await;
    let parent = flow(
        &[
            ("s:Start", json!({})),
            (
                "x:ExecuteFlow",
                json!({"target_flow_id": child_id, "input_mapping": {"n": "number"}, "output_key": "x"}),
            ),
            ("e:End", json!({})),
        ],
        "s>x x>e",
    );
    let _worker = bed.worker().await;
    let id = bed
        .execute(bed.flow("parent", &parent).await, json!({"number": 7}))
        .await;
    bed.reached(id, "completed").await;
    assert_eq!(
        bed.view(id, &parent).await["state"]["x"],
        json!({"r": "7 done"})
    );
}

#[tokio::test]
async fn a_flow_that_runs_itself_comes_to_an_end() {
    let bed = Bed::new().await;
    let own = flow(
        &[
            ("s:Start", json!({})),
            ("x:ExecuteFlow", json!({"target_flow_id": "{{me}}"})),
            ("e:End", json!({})),
        ],
        "s>x x>e",
    );
    let flow_id = bed.flow("self", &own).await;
    let _worker = bed.worker().await;
    let id = bed.execute(flow_id, json!({"me": flow_id})).await;
    let row = bed.reached(id, "failed").await;
    assert!(row.error.unwrap().contains("8 deep at most"));
}

#[tokio::test]
async fn what_a_dead_worker_held_is_finished_by_another() {
    let bed = Bed::new().await;
    let data = flow(
        &[
            ("s:Start", json!({})),
            ("a:Agent", json!({"output_key": "a"})),
            ("b:Agent", json!({"wait": true, "output_key": "b"})),
            ("e:End", json!({})),
        ],
        "s>a a>b b>e",
    );
    // A runtime of its own, dropped without a word, as a process that is killed.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let (store, bus, nodes) = (
        qadra_store::Store::open(bed.db.options(), 3),
        bed.bus.clone(),
        bed.nodes.clone(),
    );
    let first = qadra_runner::Worker {
        store,
        bus,
        performer: nodes,
        settings: quick(),
        name: "first".into(),
    };
    let first = runtime.spawn(first.start()).await.unwrap().unwrap();
    let id = bed.execute(bed.flow("die", &data).await, json!({})).await;
    bed.until("b is under way", || bed.nodes.held() == 1).await;
    std::mem::forget(first);
    runtime.shutdown_background();
    let died = std::time::Instant::now();
    let _second = bed.worker().await;
    bed.until("b is tried again", || bed.nodes.count("b") == 2)
        .await;
    let silence = died.elapsed();
    assert!(
        silence < quick().lease + Duration::from_secs(2),
        "{silence:?}"
    );
    bed.nodes.let_go();
    bed.reached(id, "completed").await;
    assert_eq!(bed.nodes.count("a"), 1, "what has ended is not done again");
    let keys: HashSet<_> = bed
        .nodes
        .calls
        .lock()
        .unwrap()
        .iter()
        .filter(|c| c.0 == "b")
        .map(|c| c.2)
        .collect();
    assert_eq!(keys.len(), 1);
    bed.view(id, &data).await;
}

#[tokio::test]
async fn a_worker_that_was_frozen_between_attempts_leaves_the_next_to_the_one_that_took_over() {
    let bed = Bed::new().await;
    // The second pause, of 2 s, is longer than the lease and the freeze.
    let data = linear(json!({"fail": 2, "retries": 2}));
    let settings = qadra_runner::Settings {
        lease: Duration::from_millis(600),
        poll: Duration::from_millis(100),
        ..quick()
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let first = qadra_runner::Worker {
        store: qadra_store::Store::open(bed.db.options(), 3),
        bus: bed.bus.clone(),
        performer: bed.nodes.clone(),
        settings: settings.clone(),
        name: "first".into(),
    };
    let first = runtime.spawn(first.start()).await.unwrap().unwrap();
    let id = bed.execute(bed.flow("cold", &data).await, json!({})).await;
    let failed = |e: &qadra_flow::Entry| matches!(e.event, qadra_flow::Event::Failed { .. });
    while bed.journal(id).await.iter().filter(|e| failed(e)).count() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let _second = bed.worker_with(settings).await;
    // Its only thread waits for a word that never comes.
    let (_word, never) = std::sync::mpsc::channel::<()>();
    runtime.spawn(async move { never.recv_timeout(Duration::from_millis(900)) });
    bed.reached(id, "completed").await;
    bed.until("the first has let go", || first.holds() == 0)
        .await;
    assert_eq!(bed.nodes.count("a"), 3);
    runtime.shutdown_background();
}

#[tokio::test]
async fn a_worker_that_drains_lets_attempts_end() {
    let bed = Bed::new().await;
    let data = flow(
        &[
            ("s:Start", json!({})),
            ("a:Agent", json!({"wait": true})),
            ("b:Agent", json!({})),
            ("e:End", json!({})),
        ],
        "s>a a>b b>e",
    );
    let worker = bed.worker().await;
    let id = bed.execute(bed.flow("drain", &data).await, json!({})).await;
    bed.until("a is under way", || bed.nodes.held() == 1).await;
    let nodes = bed.nodes.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        nodes.let_go();
    });
    worker.drain(Duration::from_secs(10)).await;
    assert_eq!((bed.nodes.count("a"), bed.nodes.count("b")), (1, 0));
    let _next = bed.worker().await;
    bed.reached(id, "completed").await;
    assert_eq!((bed.nodes.count("a"), bed.nodes.count("b")), (1, 1));
}

#[tokio::test]
async fn five_hundred_branches_give_five_hundred_results() {
    let bed = Bed::new().await;
    let mut nodes = vec![
        ("s:Start".to_owned(), json!({})),
        ("e:End".to_owned(), json!({})),
    ];
    let mut edges = String::new();
    for i in 0..500 {
        nodes.push((
            format!("n{i}:Agent"),
            json!({"say": i, "output_key": format!("r{i}")}),
        ));
        edges += &format!("s>n{i} n{i}>e ");
    }
    let nodes: Vec<(&str, Value)> = nodes.iter().map(|(n, d)| (n.as_str(), d.clone())).collect();
    let data = flow(&nodes, &edges);
    let _worker = bed.worker().await;
    let id = bed.execute(bed.flow("wide", &data).await, json!({})).await;
    bed.reached(id, "completed").await;
    let state = bed.view(id, &data).await["state"].clone();
    assert_eq!(state.as_object().unwrap().len(), 500);
    assert_eq!(state["r499"], 499);
}

#[tokio::test]
async fn text_that_postgresql_has_no_room_for_is_kept_or_told() {
    let bed = Bed::new().await;
    let _worker = bed.worker().await;
    let data = linear(json!({"say": {"x": "a\u{0}b"}, "output_key": "a"}));
    let id = bed.execute(bed.flow("nul", &data).await, json!({})).await;
    bed.reached(id, "completed").await;
    assert_eq!(bed.view(id, &data).await["state"]["a"]["x"], "a\u{0}b");
}

#[tokio::test]
async fn many_quick_executions_at_once_all_end() {
    let bed = Bed::new().await;
    let mut nodes = vec![
        ("s:Start".to_owned(), json!({})),
        ("e:End".to_owned(), json!({})),
    ];
    let mut edges = "s>n0 n19>e ".to_owned();
    for i in 0..20 {
        nodes.push((format!("n{i}:Agent"), json!({})));
        if i > 0 {
            edges += &format!("n{}>n{i} ", i - 1);
        }
    }
    let nodes: Vec<(&str, Value)> = nodes.iter().map(|(n, d)| (n.as_str(), d.clone())).collect();
    let flow_id = bed.flow("quick", &flow(&nodes, &edges)).await;
    let worker = bed
        .worker_with(qadra_runner::Settings {
            runs_per_tenant: 40,
            ..quick()
        })
        .await;
    let mut ids = Vec::new();
    for _ in 0..120 {
        ids.push(bed.execute(flow_id, json!({})).await);
    }
    for id in ids {
        let row = bed.reached(id, "completed").await;
        assert_eq!(row.steps, 22);
    }
    bed.until("all are let go", || worker.holds() == 0).await;
    assert_eq!(bed.nodes.calls.lock().unwrap().len(), 120 * 20);
}
