//! The flows that are run, and what must come of each whatever happens on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::bed::graph;

/// A kind of flow.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) graph: Value,
    /// Beside the tag.
    pub(super) input: Map<String, Value>,
    /// Nodes that ask a person.
    pub(super) asks: Vec<&'static str>,
    /// Labels of the outside calls, each with the node that makes it.
    pub(super) calls: BTreeMap<String, String>,
    /// Nodes whose good end the journal must have, each once.
    pub(super) completed: BTreeSet<String>,
    /// Nodes that must fail.
    pub(super) failed: BTreeSet<String>,
    /// What the node `t` makes of the calls: a name and the label of the call that gave it, or a constant.
    output: Vec<(String, Made)>,
    /// Whose child it runs as; it is not started by itself then.
    pub(super) only_child: bool,
    /// Its node that runs the child.
    pub(super) runs: Option<&'static str>,
}

#[derive(Clone)]
enum Made {
    Call(String),
    Calls(Vec<String>),
    Is(Value),
    /// What the person said to the node.
    Said(&'static str),
}

impl Kind {
    /// What the execution must put out, given what people have said.
    pub(super) fn output(&self, tag: &str, said: &BTreeMap<String, Value>) -> Value {
        let made = self.output.iter().map(|(name, made)| {
            let value = match made {
                Made::Call(label) => json!(format!("{tag}/{label}")),
                Made::Calls(labels) => labels
                    .iter()
                    .map(|label| json!({"v": format!("{tag}/{label}")}))
                    .collect(),
                Made::Is(value) => value.clone(),
                Made::Said(node) => said.get(*node).map_or(Value::Null, |v| v["n"].clone()),
            };
            (name.clone(), value)
        });
        json!({"t": made.collect::<Map<_, _>>()})
    }
}

/// The name of the flow that the kind `parent` runs.
pub(super) const CHILD: &str = "child";

/// A kind that waits between attempts.
pub(super) const REFUSED: &str = "refused at first";

/// Every kind, the child first. `child` is the id of its flow, once it has one.
pub(super) fn kinds(stub: SocketAddr, child: Option<Uuid>) -> Vec<Kind> {
    let maker = Maker { stub };
    let mut all = vec![maker.chain(CHILD, &["c1", "c2"], true)];
    let ten: Vec<String> = (0..10).map(|n| format!("h{n}")).collect();
    let ten: Vec<&str> = ten.iter().map(String::as_str).collect();
    all.push(maker.chain("ten in a row", &ten, false));
    all.push(maker.fan());
    all.push(maker.each("each of six", json!(null)));
    all.push(maker.each("each of six, three at once", json!(3)));
    all.push(maker.choice("left", "right"));
    all.push(maker.choice("right", "left"));
    all.push(maker.delay("delay", 1.0));
    all.push(maker.delay("long delay", 3.2));
    all.push(maker.parent(child));
    all.push(maker.retries());
    all.push(maker.way_out());
    all.push(maker.people());
    all.push(maker.branches());
    all
}

struct Maker {
    stub: SocketAddr,
}

/// A flow in the making.
#[derive(Default)]
struct Draft {
    nodes: Vec<(String, Value)>,
    edges: String,
    mappings: Map<String, Value>,
    calls: BTreeMap<String, String>,
    completed: BTreeSet<String>,
    output: Vec<(String, Made)>,
}

impl Maker {
    fn draft(&self) -> Draft {
        let mut draft = Draft::default();
        for (id, kind) in [("s", "Start"), ("e", "End")] {
            draft.node(id, kind, json!({"output_keys": ["t"]}));
        }
        draft
    }

    /// An Http node whose call is named as the node.
    fn call(&self, draft: &mut Draft, id: &str, more: Value) {
        self.ask(draft, id, "", more);
        draft.mapped(id, &format!("{id}.body.v"), Made::Call(id.to_owned()));
    }

    fn ask(&self, draft: &mut Draft, id: &str, query: &str, more: Value) {
        let stub = self.stub;
        let mut data = json!({
            "method": "POST", "url": format!("http://{stub}/{{{{tag}}}}/{id}{query}"),
            "output_key": id, "retries": 5, "body": {"from": id},
        });
        if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
            data.extend(more);
        }
        draft.node(id, "Http", data);
        draft.calls.insert(id.to_owned(), id.to_owned());
    }

    fn chain(&self, name: &'static str, ids: &[&str], only_child: bool) -> Kind {
        let mut draft = self.draft();
        let mut before = "s".to_owned();
        for id in ids {
            self.call(&mut draft, id, json!({}));
            draft.edge(&before, id);
            before = (*id).to_owned();
        }
        draft.edge(&before, "t");
        Kind {
            only_child,
            ..draft.kind(name)
        }
    }

    fn fan(&self) -> Kind {
        let mut draft = self.draft();
        for n in 0..8 {
            let id = format!("f{n}");
            self.call(&mut draft, &id, json!({}));
            draft.edge("s", &id);
            draft.edge(&id, "t");
        }
        draft.kind("eight at once")
    }

    /// A Loop; the last node of its body says what the call gave.
    fn each(&self, name: &'static str, parallel: Value) -> Kind {
        let mut draft = self.draft();
        let stub = self.stub;
        draft.node(
            "l",
            "Loop",
            json!({"collection_key": "items", "output_key": "l", "parallel": parallel}),
        );
        draft.node(
            "b",
            "Http",
            json!({"method": "POST", "url": format!("http://{stub}/{{{{tag}}}}/b{{{{index}}}}"), "output_key": "b", "retries": 5}),
        );
        draft.node(
            "m",
            "Transform",
            json!({"mappings": {"v": "b.body.v"}, "output_key": "m"}),
        );
        for id in ["l", "b", "m"] {
            draft.completed.remove(id);
        }
        let mut labels = Vec::new();
        for n in 0..6 {
            draft.calls.insert(format!("b{n}"), format!("b@l:{n}"));
            draft.completed.insert(format!("b@l:{n}"));
            draft.completed.insert(format!("m@l:{n}"));
            labels.push(format!("b{n}"));
        }
        draft.edges += "s>l l.body>b b>m l.done>t ";
        draft.mapped("results", "l.results", Made::Calls(labels));
        draft.mapped("errors", "l.errors", Made::Is(json!([])));
        let mut kind = draft.kind(name);
        kind.input.insert("items".into(), json!([1, 2, 3, 4, 5, 6]));
        kind
    }

    fn choice(&self, taken: &'static str, other: &str) -> Kind {
        let mut draft = self.draft();
        self.call(&mut draft, "a", json!({}));
        draft.node("c", "Condition", json!({"expression": "pick == left"}));
        for id in [taken, other] {
            self.ask(&mut draft, id, "", json!({}));
            draft.edge(id, "t");
        }
        draft.edges += "s>a a>c c.true>left c.false>right ";
        // Skipped: never called, never in the journal.
        draft.calls.remove(other);
        draft.completed.remove(other);
        draft.mapped(
            "taken",
            &format!("{taken}.body.v"),
            Made::Call(taken.into()),
        );
        let mut kind = draft.kind(if taken == "left" {
            "left, not right"
        } else {
            "right, not left"
        });
        kind.input.insert("pick".into(), json!(taken));
        kind
    }

    fn delay(&self, name: &'static str, seconds: f64) -> Kind {
        let mut draft = self.draft();
        self.call(&mut draft, "a", json!({}));
        draft.node("d", "Delay", json!({"duration_seconds": seconds}));
        self.call(&mut draft, "b", json!({}));
        draft.edges += "s>a a>d d>b b>t ";
        draft.kind(name)
    }

    fn parent(&self, child: Option<Uuid>) -> Kind {
        let mut draft = self.draft();
        self.call(&mut draft, "a", json!({}));
        draft.node(
            "k",
            "ExecuteFlow",
            json!({"target_flow_id": child.unwrap_or_default(), "input_mapping": {"tag": "tag"}, "output_key": "k"}),
        );
        self.call(&mut draft, "b", json!({}));
        draft.edges += "s>a a>k k>b b>t ";
        draft.mapped("child", "k.t.c2", Made::Call("c2".into()));
        Kind {
            runs: Some("k"),
            ..draft.kind("a flow that runs a flow")
        }
    }

    fn retries(&self) -> Kind {
        let mut draft = self.draft();
        // With pauses that are longer than a lease.
        for (id, query) in [("r", "?fail=1"), ("w", "?fail=3")] {
            self.ask(&mut draft, id, query, json!({}));
            draft.mapped(id, &format!("{id}.body.v"), Made::Call(id.into()));
        }
        draft.edges += "s>r s>w r>t w>t ";
        draft.kind(REFUSED)
    }

    fn way_out(&self) -> Kind {
        let mut draft = self.draft();
        let branch = json!({"fail_on_status": true, "on_error": "branch"});
        self.ask(&mut draft, "bad", "?status=400", branch);
        self.call(&mut draft, "fix", json!({}));
        self.ask(&mut draft, "never", "", json!({}));
        draft.edges += "s>bad bad>never bad.error>fix never>t fix>t ";
        draft.calls.remove("never");
        draft.completed.remove("never");
        draft.completed.remove("bad");
        draft.mapped("why", "bad.error.code", Made::Is(json!("http_status")));
        let mut kind = draft.kind("an error with a way out");
        kind.failed.insert("bad".into());
        kind
    }

    fn people(&self) -> Kind {
        let mut draft = self.draft();
        self.call(&mut draft, "a", json!({}));
        for id in ["p", "q"] {
            draft.node(
                id,
                "HumanInput",
                json!({"prompt": "Go on?", "output_key": id}),
            );
            draft.edge("a", id);
            draft.edge(id, "b");
        }
        self.call(&mut draft, "b", json!({}));
        draft.edges += "s>a b>t ";
        draft.mapped("p", "p.n", Made::Said("p"));
        draft.mapped("q", "q.n", Made::Said("q"));
        let mut kind = draft.kind("two people");
        kind.asks = vec!["p", "q"];
        kind
    }

    /// Chains of different lengths side by side, which meet.
    fn branches(&self) -> Kind {
        let mut draft = self.draft();
        for id in ["x1", "x2", "x3", "y2", "z1"] {
            self.call(&mut draft, id, json!({}));
        }
        self.ask(&mut draft, "y1", "?fail=1", json!({}));
        draft.node("d", "Delay", json!({"duration_seconds": 0.3}));
        draft.edges += "s>x1 x1>x2 x2>x3 x3>t s>y1 y1>y2 y2>t s>d d>z1 z1>t ";
        draft.kind("three branches")
    }
}

impl Draft {
    fn node(&mut self, id: &str, kind: &str, data: Value) {
        self.nodes.push((format!("{id}:{kind}"), data));
        self.completed.insert(id.to_owned());
    }

    fn edge(&mut self, from: &str, to: &str) {
        self.edges += &format!("{from}>{to} ");
    }

    /// A value of the output: where the flow finds it, and what it must be.
    fn mapped(&mut self, name: &str, path: &str, made: Made) {
        self.mappings.insert(name.to_owned(), json!(path));
        self.output.push((name.to_owned(), made));
    }

    fn kind(mut self, name: &'static str) -> Kind {
        let mappings = std::mem::take(&mut self.mappings);
        self.node(
            "t",
            "Transform",
            json!({"mappings": mappings, "output_key": "t"}),
        );
        self.edge("t", "e");
        Kind {
            name,
            graph: graph(&self.nodes, &self.edges),
            input: Map::new(),
            asks: Vec::new(),
            calls: self.calls,
            completed: self.completed,
            failed: BTreeSet::new(),
            output: self.output,
            only_child: false,
            runs: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qadra_flow::{Graph, Severity, validate};

    #[test]
    fn every_kind_is_a_flow_that_can_run() {
        for kind in kinds(([127, 0, 0, 1], 9).into(), Some(Uuid::from_u128(1))) {
            let findings = validate(&kind.graph);
            let errors: Vec<_> = findings
                .iter()
                .filter(|f| f.severity == Severity::Error)
                .collect();
            assert!(errors.is_empty(), "{}: {errors:?}", kind.name);
            Graph::compile(&kind.graph).unwrap();
        }
    }
}
