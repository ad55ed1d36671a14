//! What the engine does with small graphs, event by event.

use std::sync::Arc;

use qadra_flow::{Action, Batch, Event, Graph, Limits, NodeError, NodeRef, Run, RunStatus};
use serde_json::{Value, json};

/// `id:Type` nodes and `a>b`, `a.handle>b` edges.
pub fn flow(nodes: &[(&str, Value)], edges: &str) -> Value {
    let nodes: Vec<Value> = nodes
        .iter()
        .map(|(name, data)| {
            let (id, kind) = name.split_once(':').unwrap();
            json!({"id": id, "type": kind, "data": data})
        })
        .collect();
    let edges: Vec<Value> = edges
        .split_whitespace()
        .map(|edge| {
            let (from, to) = edge.split_once('>').unwrap();
            let (from, handle) = match from.split_once('.') {
                Some((from, handle)) => (from, json!(handle)),
                None => (from, Value::Null),
            };
            json!({"id": edge, "source": from, "target": to, "sourceHandle": handle})
        })
        .collect();
    json!({"nodes": nodes, "edges": edges})
}

struct Sim {
    run: Run,
    now: i64,
    last: Batch,
}

impl Sim {
    fn start(flow: &Value, input: Value) -> Self {
        Self::limited(flow, input, Limits::default())
    }

    fn limited(flow: &Value, input: Value, limits: Limits) -> Self {
        let graph = Arc::new(Graph::compile(flow).unwrap());
        let mut run = Run::new(graph, input, limits);
        let last = run.record(Event::Started, 1_000).unwrap();
        Self {
            run,
            now: 1_000,
            last,
        }
    }

    fn record(&mut self, event: Event) -> &Batch {
        self.now += 10;
        self.last = self.run.record(event, self.now).unwrap();
        &self.last
    }

    fn done(&mut self, node: &str, output: Value) -> &Batch {
        let attempt = self.attempt(node);
        self.record(Event::Completed {
            node: node.parse().unwrap(),
            attempt,
            output: Some(Arc::new(output)),
            route: None,
            began: None,
        })
    }

    fn failed(&mut self, node: &str, retryable: bool) -> &Batch {
        let attempt = self.attempt(node);
        let mut error = NodeError::fatal("broken", "it broke");
        error.retryable = retryable;
        self.record(Event::Failed {
            node: node.parse().unwrap(),
            attempt,
            error,
        })
    }

    fn attempt(&self, node: &str) -> u32 {
        self.run.request(&node.parse().unwrap()).unwrap().attempt
    }

    fn state(&self) -> Value {
        self.run.view()["state"].clone()
    }

    fn status(&self, node: &str) -> String {
        self.run.view()["node_states"][node]["status"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// What runs or waits now.
    fn under_way(&self) -> Vec<String> {
        let name = |a: Action| match a {
            Action::Perform { node, .. }
            | Action::Wait { node, .. }
            | Action::AskPerson { node, .. }
            | Action::StartChild { node, .. }
            | Action::Abort { node } => node.to_string(),
            Action::Finish { .. } => "finish".into(),
        };
        let mut names: Vec<String> = self.run.outstanding().into_iter().map(name).collect();
        names.sort();
        names
    }
}

#[test]
fn pure_nodes_share_one_commit_with_what_led_to_them() {
    let flow = flow(
        &[
            ("s:Start", json!({})),
            (
                "t:Transform",
                json!({"mappings": {"company": "name", "ready": true, "missing": "nowhere"}, "output_key": "t"}),
            ),
            (
                "u:Transform",
                json!({"mappings": {"again": "t.company"}, "output_key": "u"}),
            ),
            ("e:End", json!({"output_keys": ["u"]})),
        ],
        "s>t t>u u>e",
    );
    let sim = Sim::start(&flow, json!({"name": "Acme"}));
    assert_eq!(sim.run.status(), RunStatus::Completed);
    assert_eq!(sim.last.entries.len(), 5, "started and four nodes");
    assert_eq!(
        sim.state(),
        json!({"name": "Acme", "t": {"company": "Acme", "ready": true, "missing": null}, "u": {"again": "Acme"}})
    );
    assert_eq!(
        sim.run.output().map(|o| Value::clone(o)),
        Some(json!({"u": {"again": "Acme"}}))
    );
    let events: Vec<&str> = sim.last.progress.iter().map(|p| p.event).collect();
    assert_eq!(
        events,
        [
            "flow_started",
            "node_started",
            "node_completed",
            "node_started",
            "node_completed",
            "node_started",
            "node_completed",
            "node_started",
            "node_completed",
            "flow_completed"
        ]
    );
    let seqs: Vec<u32> = sim.last.progress.iter().map(|p| p.seq).collect();
    assert_eq!(seqs, (1..=10).collect::<Vec<u32>>());
}

#[test]
fn a_join_waits_for_all_and_siblings_run_together() {
    let flow = flow(
        &[
            ("s:Start", json!({})),
            ("a:Agent", json!({"output_key": "a"})),
            ("b:Http", json!({"output_key": "b"})),
            ("j:Agent", json!({"prompt_template": "{{a}} and {{b.x}}"})),
            ("e:End", json!({})),
        ],
        "s>a s>b a>j b>j j>e",
    );
    let mut sim = Sim::start(&flow, json!({}));
    assert_eq!(sim.under_way(), ["a", "b"]);
    sim.done("b", json!({"x": 2}));
    assert_eq!(sim.under_way(), ["a"], "the join waits");
    sim.done("a", json!("one"));
    assert_eq!(sim.under_way(), ["j"]);
    let request = sim.run.request(&NodeRef::top("j")).unwrap();
    assert_eq!(request.data["prompt_template"], "one and 2");
    assert_eq!(
        Value::Object(request.state),
        json!({"a": "one", "b": {"x": 2}})
    );
    sim.done("j", json!({}));
    assert_eq!(sim.run.status(), RunStatus::Completed);
}

#[test]
fn the_branch_not_taken_is_skipped_but_not_what_both_reach() {
    let flow = flow(
        &[
            ("s:Start", json!({})),
            ("c:Condition", json!({"expression": "score >= 5"})),
            ("y:Agent", json!({})),
            ("n:Agent", json!({})),
            ("n2:Agent", json!({})),
            ("m:Agent", json!({})),
            ("e:End", json!({})),
        ],
        "s>c c.true>y c.false>n n>n2 y>m n2>m m>e",
    );
    let mut sim = Sim::start(&flow, json!({"score": 7}));
    assert_eq!(sim.under_way(), ["y"]);
    assert_eq!(
        (sim.status("n"), sim.status("n2")),
        ("skipped".into(), "skipped".into())
    );
    assert_eq!(sim.status("m"), "pending");
    sim.done("y", json!({}));
    assert_eq!(sim.under_way(), ["m"]);
    sim.done("m", json!({}));
    assert_eq!(sim.run.status(), RunStatus::Completed);
    let other = Sim::start(&flow, json!({"score": 1}));
    assert_eq!(other.under_way(), ["n"]);
}

#[test]
fn retries_wait_longer_each_time_and_then_the_flow_fails() {
    let flow = flow(
        &[
            ("s:Start", json!({})),
            ("a:Http", json!({"retries": 2})),
            ("b:Agent", json!({})),
            ("e:End", json!({})),
        ],
        "s>a s>b a>e b>e",
    );
    let mut sim = Sim::start(&flow, json!({}));
    let again = |at: i64, attempt: u32| Action::Perform {
        node: NodeRef::top("a"),
        attempt,
        not_before: at,
    };
    let batch = sim.failed("a", true);
    assert_eq!(batch.actions, [again(2_010, 2)]);
    assert_eq!(batch.progress[0].data["will_retry"], true);
    let batch = sim.failed("a", true);
    assert_eq!(batch.actions, [again(3_020, 3)]);
    let batch = sim.failed("a", true);
    assert_eq!(
        batch.actions,
        [
            Action::Abort {
                node: NodeRef::top("b")
            },
            Action::Finish {
                status: RunStatus::Failed
            }
        ]
    );
    assert_eq!(sim.run.error().unwrap(), "a failed: it broke");
    assert_eq!(
        (sim.status("a"), sim.status("b"), sim.status("e")),
        ("failed".into(), "cancelled".into(), "cancelled".into())
    );
    assert!(
        sim.run
            .apply(&qadra_flow::Entry {
                seq: sim.run.seq() + 1,
                at: 0,
                event: Event::Started
            })
            .is_err()
    );
}

#[test]
fn an_error_that_no_attempt_would_mend_is_not_retried() {
    let flow = flow(
        &[
            ("s:Start", json!({})),
            ("a:Http", json!({"retries": 5})),
            ("e:End", json!({})),
        ],
        "s>a a>e",
    );
    let mut sim = Sim::start(&flow, json!({}));
    sim.failed("a", false);
    assert_eq!(sim.run.status(), RunStatus::Failed);
}

#[test]
fn an_error_edge_is_taken_and_the_other_is_dead() {
    let flow = flow(
        &[
            ("s:Start", json!({})),
            ("a:Http", json!({"output_key": "a"})),
            ("ok:Agent", json!({})),
            (
                "bad:Agent",
                json!({"prompt_template": "{{a.error.message}}"}),
            ),
            ("e:End", json!({})),
        ],
        "s>a a>ok a.error>bad ok>e bad>e",
    );
    let mut sim = Sim::start(&flow, json!({}));
    sim.failed("a", false);
    assert_eq!(sim.under_way(), ["bad"]);
    assert_eq!(sim.status("ok"), "skipped");
    assert_eq!(
        sim.run.request(&NodeRef::top("bad")).unwrap().data["prompt_template"],
        "it broke"
    );
    sim.done("bad", json!({}));
    assert_eq!(sim.run.status(), RunStatus::Completed);
}

#[test]
fn two_people_may_be_asked_at_once_and_answer_in_either_order() {
    let flow = flow(
        &[
            ("s:Start", json!({})),
            (
                "p:HumanInput",
                json!({"prompt": "Approve {{what}}?", "output_key": "p"}),
            ),
            ("q:HumanInput", json!({"output_key": "q"})),
            ("e:End", json!({})),
        ],
        "s>p s>q p>e q>e",
    );
    for order in [["p", "q"], ["q", "p"]] {
        let mut sim = Sim::start(&flow, json!({"what": "it"}));
        assert_eq!(sim.run.status(), RunStatus::Paused);
        assert_eq!(sim.last.progress.last().unwrap().event, "flow_paused");
        assert_eq!(sim.run.view()["waiting"][0]["prompt"], "Approve it?");
        let answer = |node: &str| Event::Input {
            node: node.parse().unwrap(),
            value: Arc::new(json!({"by": node})),
            by: None,
        };
        sim.record(answer(order[0]));
        assert_eq!(sim.run.status(), RunStatus::Paused);
        let twice = sim.run.clone().record(answer(order[0]), 0);
        assert!(twice.is_err(), "answered twice");
        sim.record(answer(order[1]));
        assert_eq!(sim.run.status(), RunStatus::Completed);
        assert_eq!(
            sim.state(),
            json!({"what": "it", "p": {"by": "p"}, "q": {"by": "q"}})
        );
    }
}

#[test]
fn a_deadline_takes_the_default_or_fails() {
    for (data, status) in [
        (
            json!({"deadline_seconds": 60, "default": {"ok": false}, "output_key": "p"}),
            RunStatus::Completed,
        ),
        (json!({"deadline_seconds": 60}), RunStatus::Failed),
    ] {
        let flow = flow(
            &[
                ("s:Start", json!({})),
                ("p:HumanInput", data),
                ("e:End", json!({})),
            ],
            "s>p p>e",
        );
        let mut sim = Sim::start(&flow, json!({}));
        assert_eq!(sim.run.next_timer(), Some(61_000));
        sim.record(Event::Timer {
            node: NodeRef::top("p"),
        });
        assert_eq!(sim.run.status(), status);
    }
}

#[test]
fn a_delay_ends_at_a_moment_that_replaying_gives_again() {
    let flow = flow(
        &[
            ("s:Start", json!({})),
            (
                "d:Delay",
                json!({"duration_seconds": "{{wait}}", "output_key": "d"}),
            ),
            ("e:End", json!({})),
        ],
        "s>d d>e",
    );
    let mut sim = Sim::start(&flow, json!({"wait": 1000}));
    assert_eq!(
        sim.last.actions,
        [Action::Wait {
            node: NodeRef::top("d"),
            until: 301_000
        }],
        "300 s at most"
    );
    let over = sim.run.delay_over(&NodeRef::top("d"));
    sim.record(over);
    assert_eq!(sim.state()["d"], json!({"delayed_seconds": 300}));
}

fn loop_flow(looping: Value, body: Value) -> Value {
    flow(
        &[
            ("s:Start", json!({})),
            ("l:Loop", looping),
            ("b:Agent", body),
            (
                "t:Transform",
                json!({"mappings": {"got": "b", "of": "item", "at": "index"}}),
            ),
            ("e:End", json!({})),
        ],
        "s>l l.body>b b>t t>l l.done>e",
    )
}

#[test]
fn a_loop_runs_its_body_once_for_each_item_in_order() {
    let flow = loop_flow(
        json!({"collection_key": "xs.list", "output_key": "l"}),
        json!({"prompt_template": "do {{item}}", "output_key": "b"}),
    );
    let mut sim = Sim::start(&flow, json!({"xs": {"list": ["a", "b"]}}));
    assert_eq!(sim.under_way(), ["b@l:0"]);
    assert_eq!(
        sim.run.request(&"b@l:0".parse().unwrap()).unwrap().data["prompt_template"],
        "do a"
    );
    sim.done("b@l:0", json!(1));
    assert_eq!(sim.under_way(), ["b@l:1"]);
    sim.done("b@l:1", json!(2));
    assert_eq!(sim.run.status(), RunStatus::Completed);
    assert_eq!(
        sim.state()["l"],
        json!({"iterations": 2, "errors": [], "results": [{"got": 1, "of": "a", "at": 0}, {"got": 2, "of": "b", "at": 1}]})
    );
    assert!(
        sim.state().get("b").is_none(),
        "what the body writes stays in its iteration"
    );
    assert_eq!(
        sim.run.view()["node_states"]["b"]["iterations"][1]["output"],
        2
    );
}

#[test]
fn one_bad_item_of_twenty_is_told_and_the_others_are_kept() {
    let items: Vec<u32> = (0..20).collect();
    let of_loop = (
        json!({"collection_key": "xs", "output_key": "l", "on_error": "continue", "parallel": 4}),
        json!({"output_key": "b"}),
    );
    let of_body = (
        json!({"collection_key": "xs", "output_key": "l", "parallel": 4}),
        json!({"output_key": "b", "on_error": "continue"}),
    );
    for (looping, body) in [of_loop, of_body] {
        let mut sim = Sim::start(&loop_flow(looping, body), json!({"xs": items}));
        assert_eq!(sim.under_way().len(), 4, "as many at once as it says");
        for i in 0..20 {
            let node = format!("b@l:{i}");
            if i == 7 {
                sim.failed(&node, false);
            } else {
                sim.done(&node, json!(i * 10));
            }
        }
        assert_eq!(sim.run.status(), RunStatus::Completed);
        let out = sim.state()["l"].clone();
        assert_eq!(out["results"].as_array().unwrap().len(), 20);
        for i in (0..20).filter(|&i| i != 7) {
            assert_eq!(out["results"][i]["got"], json!(i * 10));
        }
        assert_eq!(
            out["errors"],
            json!([{"index": 7, "node_id": "b", "error": "it broke", "code": "broken"}])
        );
    }
}

#[test]
fn a_bad_item_fails_the_loop_unless_it_is_to_continue() {
    let flow = loop_flow(json!({"collection_key": "xs", "parallel": true}), json!({}));
    let mut sim = Sim::start(&flow, json!({"xs": [1, 2, 3]}));
    let batch = sim.failed("b@l:1", false);
    assert_eq!(
        batch.actions.len(),
        3,
        "two aborted, one finish: {:?}",
        batch.actions
    );
    assert_eq!(sim.run.status(), RunStatus::Failed);
    assert_eq!(sim.status("l"), "failed");
}

#[test]
fn a_loop_without_items_or_without_a_body_ends_at_once() {
    let flow = loop_flow(
        json!({"collection_key": "nowhere", "output_key": "l"}),
        json!({}),
    );
    let sim = Sim::start(&flow, json!({}));
    assert_eq!(
        sim.state()["l"],
        json!({"iterations": 0, "results": [], "errors": []})
    );
    let batch = self::flow(
        &[
            ("s:Start", json!({})),
            (
                "l:Loop",
                json!({"collection_key": "xs", "max_iterations": 2, "output_key": "l"}),
            ),
            ("e:End", json!({})),
        ],
        "s>l l>e",
    );
    let sim = Sim::start(&batch, json!({"xs": [1, 2, 3]}));
    assert_eq!(
        sim.state()["l"],
        json!({"iterations": 2, "results": [1, 2]})
    );
}

#[test]
fn loops_nest() {
    let flow = flow(
        &[
            ("s:Start", json!({})),
            (
                "o:Loop",
                json!({"collection_key": "rows", "item_key": "row", "output_key": "o"}),
            ),
            (
                "i:Loop",
                json!({"collection_key": "row", "output_key": "i"}),
            ),
            (
                "b:Transform",
                json!({"mappings": {"v": "item", "of": "row"}}),
            ),
            ("e:End", json!({})),
        ],
        "s>o o.body>i i.body>b o.done>e",
    );
    let sim = Sim::start(&flow, json!({"rows": [[1, 2], [3]]}));
    assert_eq!(sim.run.status(), RunStatus::Completed);
    let results = &sim.state()["o"]["results"];
    assert_eq!(
        results[0]["results"],
        json!([{"v": 1, "of": [1, 2]}, {"v": 2, "of": [1, 2]}])
    );
    assert_eq!(results[1]["results"], json!([{"v": 3, "of": [3]}]));
}

#[test]
fn five_hundred_branches_give_five_hundred_results() {
    let mut nodes = vec![
        ("s:Start".to_owned(), json!({})),
        ("e:End".to_owned(), json!({})),
    ];
    let mut edges = String::new();
    for i in 0..500 {
        nodes.push((
            format!("n{i}:Agent"),
            json!({"output_key": format!("r{i}")}),
        ));
        edges += &format!("s>n{i} n{i}>e ");
    }
    let nodes: Vec<(&str, Value)> = nodes.iter().map(|(n, d)| (n.as_str(), d.clone())).collect();
    let mut sim = Sim::start(&flow(&nodes, &edges), json!({}));
    for i in (0..500).rev() {
        sim.done(&format!("n{i}"), json!(i));
    }
    assert_eq!(sim.run.status(), RunStatus::Completed);
    assert_eq!(sim.state().as_object().unwrap().len(), 500);
}

#[test]
fn the_step_limit_ends_the_execution() {
    let flow = flow(
        &[
            ("s:Start", json!({})),
            ("a:Transform", json!({})),
            ("b:Transform", json!({})),
            ("e:End", json!({})),
        ],
        "s>a a>b b>e",
    );
    let sim = Sim::limited(
        &flow,
        json!({}),
        Limits {
            steps: 2,
            ..Limits::default()
        },
    );
    assert_eq!(sim.run.status(), RunStatus::Failed);
    assert!(sim.run.error().unwrap().contains("limit of 2 steps"));
}

#[test]
fn a_value_that_looks_like_a_template_stays_text() {
    let flow = flow(
        &[
            ("s:Start", json!({})),
            (
                "t:Transform",
                json!({"mappings": {"x": "{{evil}}", "y": "evil"}, "output_key": "t"}),
            ),
            ("a:Agent", json!({"prompt_template": "{{t.x}} {{t.y}}"})),
            ("e:End", json!({})),
        ],
        "s>t t>a a>e",
    );
    let sim = Sim::start(&flow, json!({"evil": "{{secret}}", "secret": "no"}));
    let request = sim.run.request(&NodeRef::top("a")).unwrap();
    assert_eq!(request.data["prompt_template"], "{{secret}} {{secret}}");
}

#[test]
fn cancelling_aborts_what_runs() {
    let flow = flow(
        &[
            ("s:Start", json!({})),
            ("a:Agent", json!({})),
            ("e:End", json!({})),
        ],
        "s>a a>e",
    );
    let mut sim = Sim::start(&flow, json!({}));
    let batch = sim.record(Event::Cancelled {
        by: None,
        reason: "stopped by Ann".into(),
    });
    assert_eq!(
        batch.actions,
        [
            Action::Abort {
                node: NodeRef::top("a")
            },
            Action::Finish {
                status: RunStatus::Cancelled
            }
        ]
    );
    assert_eq!(sim.run.view()["error"], "stopped by Ann");
}

#[test]
fn entries_that_do_not_fit_are_refused_and_change_nothing() {
    let flow = flow(
        &[
            ("s:Start", json!({})),
            ("a:Agent", json!({})),
            ("e:End", json!({})),
        ],
        "s>a a>e",
    );
    let mut sim = Sim::start(&flow, json!({}));
    let before = sim.run.view();
    let completed = |node: &str, attempt| Event::Completed {
        node: NodeRef::top(node),
        attempt,
        output: None,
        route: None,
        began: None,
    };
    for event in [
        completed("s", 1),
        completed("e", 1),
        completed("zzz", 1),
        completed("a", 2),
        Event::Timer {
            node: NodeRef::top("a"),
        },
        Event::Started,
    ] {
        assert!(sim.run.record(event.clone(), 5).is_err(), "{event:?}");
        assert_eq!(sim.run.view(), before);
    }
}
