//! Random graphs, random outcomes, random crashes: whoever folds the journal is where the run was.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use proptest::prelude::*;
use qadra_flow::{Action, Batch, Entry, Event, Graph, Limits, NodeError, NodeRef, Run, rerun};
use serde_json::{Value, json};

/// xorshift64*: one seed gives graph, outcomes and crashes, so that a failing case is one number.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % below.max(1)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.roll(100) < percent
    }
}

/// A flow without cycles: edges go from earlier nodes to later ones, each node has at least one incoming edge, and
/// some Loops hold small bodies, some of which hold a Loop.
fn graph(dice: &mut Dice) -> Value {
    let mut made = Made {
        nodes: vec![json!({"id": "s", "type": "Start"})],
        edges: vec![],
    };
    let size = 2 + dice.roll(14);
    let mut earlier = vec![("s".to_owned(), "Start")];
    for i in 0..size {
        let id = format!("n{i}");
        let kind = made.node(&id, dice, true);
        for _ in 0..=dice.roll(3) {
            let (from, of) = earlier[dice.roll(earlier.len() as u64) as usize].clone();
            made.edge(&from, of, &id, dice);
        }
        if kind == "Loop" && dice.chance(80) {
            made.body(&id, 0, dice);
        }
        earlier.push((id, kind));
    }
    made.nodes.push(json!({"id": "e", "type": "End"}));
    for (from, of) in &earlier {
        made.edge(from, of, "e", dice);
    }
    json!({"nodes": made.nodes, "edges": made.edges})
}

struct Made {
    nodes: Vec<Value>,
    edges: Vec<Value>,
}

impl Made {
    fn node(&mut self, id: &str, dice: &mut Dice, loops: bool) -> &'static str {
        let kinds = [
            "Agent",
            "Http",
            "Transform",
            "Condition",
            "Delay",
            "HumanInput",
            "ExecuteFlow",
            "Extract",
            "Loop",
        ];
        let kind = kinds[dice.roll(if loops { 9 } else { 8 }) as usize];
        let on_error = ["fail", "continue", "branch"][(dice.roll(6) / 2) as usize];
        let data = json!({
            "output_key": format!("k{}", dice.roll(6)),
            "on_error": on_error,
            "retries": dice.roll(3),
            "expression": "k1 or not k2",
            "mappings": {"x": "k0", "y": "{{k1}}{{item}}", "z": 3},
            "duration_seconds": dice.roll(10),
            "collection_key": "xs",
            "max_iterations": 1 + dice.roll(4),
            "parallel": dice.roll(3),
            "deadline_seconds": dice.roll(50),
            "default": if dice.chance(50) { json!("d") } else { Value::Null },
        });
        self.nodes
            .push(json!({"id": id, "type": kind, "data": data}));
        kind
    }

    fn edge(&mut self, from: &str, kind: &str, to: &str, dice: &mut Dice) {
        let handle = match kind {
            "Condition" => json!(["true", "false"][dice.roll(2) as usize]),
            "Start" => Value::Null,
            _ if dice.chance(15) => json!("error"),
            _ => Value::Null,
        };
        self.edges
            .push(json!({"source": from, "target": to, "sourceHandle": handle}));
    }

    fn body(&mut self, owner: &str, depth: u32, dice: &mut Dice) {
        let mut earlier: Vec<(String, &'static str)> = Vec::new();
        for i in 0..1 + dice.roll(3) {
            let id = format!("{owner}_{i}");
            let kind = self.node(&id, dice, depth == 0);
            match earlier.len() {
                0 => self
                    .edges
                    .push(json!({"source": owner, "target": id, "sourceHandle": "body"})),
                n => {
                    let (from, of) = earlier[dice.roll(n as u64) as usize].clone();
                    self.edge(&from, of, &id, dice);
                }
            }
            if kind == "Loop" {
                self.body(&id, depth + 1, dice);
            }
            earlier.push((id, kind));
        }
        if dice.chance(50) {
            let (last, _) = &earlier[earlier.len() - 1];
            self.edges.push(json!({"source": last, "target": owner}));
        }
    }
}

fn fold(graph: &Arc<Graph>, input: &Value, journal: &[Entry]) -> Run {
    let mut run = Run::new(graph.clone(), input.clone(), Limits::default());
    for entry in journal {
        run.apply(entry).unwrap();
    }
    run
}

/// Some outcome of something that is under way.
fn outcome(run: &Run, dice: &mut Dice) -> Event {
    let actions = run.outstanding();
    assert!(
        !actions.is_empty(),
        "nothing is under way, yet the run has not ended: {}",
        run.view()
    );
    match &actions[dice.roll(actions.len() as u64) as usize] {
        Action::Perform { node, attempt, .. } | Action::StartChild { node, attempt, .. } => {
            if dice.chance(25) {
                let mut error = NodeError::fatal("broken", "it broke");
                error.retryable = dice.chance(60);
                Event::Failed {
                    node: node.clone(),
                    attempt: *attempt,
                    error,
                }
            } else {
                let output = json!({"n": dice.roll(100), "list": [1, 2]});
                Event::Completed {
                    node: node.clone(),
                    attempt: *attempt,
                    output: Some(Arc::new(output)),
                    route: None,
                    began: None,
                }
            }
        }
        Action::Wait { node, .. } => run.delay_over(node),
        Action::AskPerson { node, .. } if dice.chance(20) => Event::Timer { node: node.clone() },
        Action::AskPerson { node, .. } => Event::Input {
            node: node.clone(),
            value: Arc::new(json!({"a": dice.roll(9)})),
            by: None,
        },
        other => panic!("{other:?} is not under way"),
    }
}

fn check(seed: u64) {
    let mut dice = Dice(seed | 1);
    let drawn = graph(&mut dice);
    let graph = Arc::new(Graph::compile(&drawn).unwrap_or_else(|e| panic!("{e}: {drawn}")));
    let input = json!({"xs": [1, "two", {"three": 3}], "k0": dice.roll(2)});
    let mut run = Run::new(graph.clone(), input.clone(), Limits::default());
    let mut journal: Vec<Entry> = Vec::new();
    let mut told = Vec::new();
    let mut now = 1_000;
    let mut event = Event::Started;
    loop {
        now += dice.roll(1_000) as i64;
        let batch: Batch = run.record(event, now).unwrap();
        told.extend(batch.progress);
        // A commit keeps all of a batch or none of it.
        if !dice.chance(15) {
            journal.extend(batch.entries);
        } else {
            told.truncate(told.len().min(run_told(&graph, &input, &journal)));
        }
        if dice.chance(15) || run.seq() != journal.len() as u32 {
            // The worker dies; another one reads the journal.
            run = fold(&graph, &input, &journal);
        } else {
            let other = fold(&graph, &input, &journal);
            assert_eq!(other.view(), run.view());
            assert_eq!(other.outstanding(), run.outstanding());
            assert_eq!(other.next_timer(), run.next_timer());
        }
        if run.status().is_final() {
            break;
        }
        event = match run.status() {
            qadra_flow::RunStatus::Pending => Event::Started,
            _ if dice.chance(1) => Event::Cancelled {
                by: None,
                reason: "enough".into(),
            },
            _ => outcome(&run, &mut dice),
        };
    }
    // What readers were told is what a later reader is told, numbered without gaps.
    let mut again = Run::new(graph.clone(), input.clone(), Limits::default());
    let replayed: Vec<_> = journal
        .iter()
        .flat_map(|e| again.apply(e).unwrap().progress)
        .collect();
    assert_eq!(replayed, told);
    assert!(told.iter().zip(1..).all(|(p, n)| p.seq == n));
    // No node is recorded twice.
    let mut ended = HashSet::new();
    for entry in &journal {
        if let Event::Completed { node, .. } | Event::Input { node, .. } = &entry.event {
            assert!(ended.insert(node.clone()), "{node} is recorded twice");
        }
    }
    // No node is left behind.
    let view = run.view();
    for (id, node) in view["node_states"].as_object().unwrap() {
        let status = node["status"].as_str().unwrap();
        assert!(
            !matches!(status, "pending" | "running" | "waiting_for_input"),
            "{id} is {status}: {drawn}"
        );
    }
    check_rerun(&graph, &input, &journal, &run, &mut dice);
}

fn run_told(graph: &Arc<Graph>, input: &Value, journal: &[Entry]) -> usize {
    fold(graph, input, journal).progress_seq() as usize
}

/// A run again from some node keeps what the node does not reach, and can be finished.
fn check_rerun(graph: &Arc<Graph>, input: &Value, journal: &[Entry], old: &Run, dice: &mut Dice) {
    let nodes = graph.nodes();
    let from = &nodes[dice.roll(nodes.len() as u64) as usize].id;
    let kept = rerun(graph, input, Limits::default(), journal, &[from], 77_000).unwrap();
    let mut run = fold(graph, input, &kept);
    let before: BTreeSet<NodeRef> = kept
        .iter()
        .filter_map(|e| e.event.node().cloned())
        .collect();
    assert!(
        before.iter().all(|n| &n.id != from || n.id == "s"),
        "{from} is to run again"
    );
    let mut batch = Batch::default();
    if !run.status().is_final() {
        run.settle(77_000, &mut batch).unwrap();
    }
    for _ in 0..10_000 {
        if run.status().is_final() {
            let reached = run.view();
            for node in &before {
                if node.path.is_empty() {
                    let was = &old.view()["node_states"][&node.id]["output"];
                    assert_eq!(&reached["node_states"][&node.id]["output"], was, "{node}");
                }
            }
            return;
        }
        let event = if run.seq() == 0 {
            Event::Started
        } else {
            outcome(&run, dice)
        };
        run.record(event, 78_000).unwrap();
    }
    panic!("the run again does not end");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn replaying_a_journal_gives_the_state_of_the_run(seed in any::<u64>()) {
        check(seed);
    }
}
