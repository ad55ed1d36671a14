//! All that can be said about a graph before it runs.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::catalog::spec_of;
use crate::finding::{Finding, Severity};
use crate::graph::{Graph, GraphError, Port};
use crate::{NodeKind, expression, schema, template};

const NODES_MOST: usize = 2_000;
const EDGES_MOST: usize = 10_000;
/// Findings of one graph; more help nobody.
const FINDINGS_MOST: usize = 200;
/// Keys of the input that callers of a flow send without saying so.
const CUSTOMARY: [&str; 2] = ["user_message", "input"];

/// What keeps `flow_data` from running (errors) and what its author has hardly meant (warnings), errors first.
pub fn validate(flow_data: &Value) -> Vec<Finding> {
    let mut found = Found::default();
    look(flow_data, &mut found);
    let mut all = found.0;
    all.sort_by_key(|f| f.severity);
    all.truncate(FINDINGS_MOST);
    all
}

#[derive(Default)]
struct Found(Vec<Finding>);

impl Found {
    fn add(&mut self, severity: Severity, code: &'static str, at: At<'_>, message: String) {
        let (node, edge) = match at {
            At::Flow => (None, None),
            At::Node(id) => (Some(id.to_owned()), None),
            At::Edge(id) => (None, Some(id.to_owned())),
        };
        self.0.push(Finding {
            severity,
            code,
            node_id: node,
            edge_id: edge,
            message,
        });
    }

    fn error(&mut self, code: &'static str, at: At<'_>, message: impl Into<String>) {
        self.add(Severity::Error, code, at, message.into());
    }

    fn warn(&mut self, code: &'static str, at: At<'_>, message: impl Into<String>) {
        self.add(Severity::Warning, code, at, message.into());
    }
}

#[derive(Clone, Copy)]
enum At<'a> {
    Flow,
    Node(&'a str),
    Edge(&'a str),
}

/// A node as far as it can be understood.
struct Drawn<'a> {
    id: &'a str,
    kind: NodeKind,
    data: &'a Value,
}

struct Line<'a> {
    id: &'a str,
    source: usize,
    target: usize,
    handle: Option<&'a str>,
}

fn look(flow_data: &Value, found: &mut Found) {
    let list = |key: &str| flow_data.get(key).and_then(Value::as_array);
    let (Some(nodes), Some(edges)) = (list("nodes"), list("edges")) else {
        found.error(
            "shape",
            At::Flow,
            "a flow is an object with the arrays nodes and edges",
        );
        return;
    };
    if nodes.is_empty() {
        found.error(
            "no_nodes",
            At::Flow,
            "the flow has no nodes; begin with a Start and an End",
        );
        return;
    }
    if edges.is_empty() {
        found.error(
            "no_edges",
            At::Flow,
            "nothing is connected; draw an edge from Start",
        );
    }
    for (what, n, most) in [
        ("nodes", nodes.len(), NODES_MOST),
        ("edges", edges.len(), EDGES_MOST),
    ] {
        if n > most {
            found.error(
                "too_large",
                At::Flow,
                format!("the flow has {n} {what}; {most} are the most"),
            );
            return;
        }
    }
    let drawn = look_at_nodes(nodes, found);
    let lines = look_at_edges(edges, &drawn, found);
    for node in &drawn {
        look_at_data(node, found);
    }
    look_at_ways(&drawn, &lines, found);
    let errors = |f: &Found| f.0.iter().any(|f| f.severity == Severity::Error);
    if !errors(found) {
        match Graph::compile(flow_data) {
            Ok(graph) => look_at_names(&graph, found),
            Err(e) => compile_error(&e, found),
        }
    } else if let Err(e @ (GraphError::Cycle(_) | GraphError::Straddles(_))) =
        Graph::compile(flow_data)
    {
        compile_error(&e, found);
    }
}

fn look_at_nodes<'a>(nodes: &'a [Value], found: &mut Found) -> Vec<Drawn<'a>> {
    let mut drawn: Vec<Drawn<'a>> = Vec::with_capacity(nodes.len());
    let mut ids = HashSet::new();
    for (index, node) in nodes.iter().enumerate() {
        let text = |key: &str| node.get(key).and_then(Value::as_str);
        let Some(id) = text("id").filter(|id| !id.is_empty()) else {
            found.error(
                "node_without_id",
                At::Flow,
                format!("the node at index {index} has no id"),
            );
            continue;
        };
        if !ids.insert(id) {
            found.error(
                "duplicate_node_id",
                At::Node(id),
                format!("two nodes have the id {id}; give one another"),
            );
            continue;
        }
        let name = text("type").unwrap_or_default();
        let Some(kind) = NodeKind::parse(name) else {
            let all: Vec<&str> = NodeKind::ALL.iter().map(|k| k.name()).collect();
            found.error(
                "unknown_node_type",
                At::Node(id),
                format!(
                    "there is no node type {name:?}; there are {}",
                    all.join(", ")
                ),
            );
            continue;
        };
        let data = node.get("data").unwrap_or(&Value::Null);
        drawn.push(Drawn { id, kind, data });
    }
    let count = |kind: NodeKind| drawn.iter().filter(|n| n.kind == kind).count();
    match count(NodeKind::Start) {
        1 => {}
        0 => found.error("no_start", At::Flow, "the flow has no Start; add one"),
        n => found.error(
            "several_starts",
            At::Flow,
            format!("the flow has {n} Start nodes; keep one"),
        ),
    }
    if count(NodeKind::End) == 0 {
        found.error("no_end", At::Flow, "the flow has no End; add one");
    }
    drawn
}

fn look_at_edges<'a>(edges: &'a [Value], drawn: &[Drawn<'a>], found: &mut Found) -> Vec<Line<'a>> {
    let by_id: HashMap<&str, usize> = drawn.iter().enumerate().map(|(i, n)| (n.id, i)).collect();
    let mut lines = Vec::with_capacity(edges.len());
    for edge in edges {
        let text = |key: &str| edge.get(key).and_then(Value::as_str).unwrap_or_default();
        let (source, target) = (text("source"), text("target"));
        let at = if text("id").is_empty() {
            At::Flow
        } else {
            At::Edge(text("id"))
        };
        let mut ends = Vec::new();
        for (end, id) in [("source", source), ("target", target)] {
            match by_id.get(id) {
                Some(&index) => ends.push(index),
                None => found.error(
                    "unknown_node",
                    at,
                    format!(
                        "the {end} of an edge, {id:?}, is no node of the flow; remove the edge"
                    ),
                ),
            }
        }
        let [source, target] = ends[..] else { continue };
        let handle = edge.get("sourceHandle").and_then(Value::as_str);
        let (from, to) = (&drawn[source], &drawn[target]);
        if to.kind == NodeKind::Start {
            found.error(
                "into_start",
                at,
                "an edge leads into Start; nothing comes before it",
            );
        }
        if from.kind == NodeKind::End {
            found.error(
                "out_of_end",
                at,
                format!(
                    "an edge leaves {}, which is an End; nothing comes after it",
                    from.id
                ),
            );
        }
        let known = |h: &&str| {
            spec_of(from.kind)
                .outputs
                .iter()
                .any(|o| o.handle == Some(*h))
        };
        match handle.filter(|h| !known(h)) {
            _ if from.kind == NodeKind::Condition && !matches!(handle, Some("true" | "false")) => {
                found.error(
                    "condition_handle",
                    at,
                    format!(
                        "an edge from the Condition {} must leave from true or from false",
                        from.id
                    ),
                );
            }
            Some(handle) if !matches!(handle, "output" | "out" | "source" | "default" | "done") => {
                found.warn(
                    "unknown_handle",
                    at,
                    format!(
                        "{} has no way out called {handle:?}; the edge counts as the ordinary one",
                        from.id
                    ),
                );
            }
            _ => {}
        }
        lines.push(Line {
            id: text("id"),
            source,
            target,
            handle,
        });
    }
    lines
}

fn look_at_data(node: &Drawn<'_>, found: &mut Found) {
    let at = At::Node(node.id);
    let empty = Value::Object(Default::default());
    let data = if node.data.is_null() {
        &empty
    } else {
        node.data
    };
    for (field, message) in schema::check(&spec_of(node.kind).schema, data) {
        let field = if field.is_empty() {
            "data".to_owned()
        } else {
            field
        };
        found.error(
            "data",
            at,
            format!("{} of {}: it {message}", field, node.id),
        );
    }
    if node.kind == NodeKind::Condition
        && let Some(text) = data.get("expression").and_then(Value::as_str)
        && !text.trim().is_empty()
        && let Err(e) = expression::parse(text)
    {
        found.error(
            "expression",
            at,
            format!("the expression of {} cannot be read: {e}", node.id),
        );
    }
    if node.kind == NodeKind::Http {
        let listed: Vec<&str> = data
            .get("secrets")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        for path in template::keys(data) {
            if let Some(name) = path.strip_prefix("secret.")
                && !listed.contains(&name)
            {
                found.warn(
                    "unlisted_secret",
                    at,
                    format!(
                        "{} uses the secret {name}, which its secrets do not list; it stays empty",
                        node.id
                    ),
                );
            }
        }
    }
}

/// Ways through the graph as drawn.
fn look_at_ways(drawn: &[Drawn<'_>], lines: &[Line<'_>], found: &mut Found) {
    let mut next = vec![Vec::new(); drawn.len()];
    for line in lines {
        next[line.source].push(line);
    }
    for (index, node) in drawn.iter().enumerate() {
        let has = |handle: &str| next[index].iter().any(|l| l.handle == Some(handle));
        match node.kind {
            NodeKind::Condition if next[index].is_empty() => {
                found.error(
                    "condition_without_branch",
                    At::Node(node.id),
                    format!(
                        "the Condition {} leads nowhere; draw edges from true and false",
                        node.id
                    ),
                );
            }
            NodeKind::Condition => {
                for missing in ["true", "false"].into_iter().filter(|h| !has(h)) {
                    found.warn(
                        "missing_branch",
                        At::Node(node.id),
                        format!("nothing follows when {} is {missing}", node.id),
                    );
                }
            }
            NodeKind::Loop
                if has("body")
                    && !next[index]
                        .iter()
                        .any(|l| Port::of(NodeKind::Loop, l.handle) == Port::Out) =>
            {
                found.warn(
                    "loop_without_done",
                    At::Node(node.id),
                    format!(
                        "nothing follows the last item of {}; draw an edge from done",
                        node.id
                    ),
                );
            }
            _ => {}
        }
        let on_error = node.data.get("on_error").and_then(Value::as_str);
        if on_error == Some("branch") && !has("error") {
            found.warn(
                "missing_error_branch",
                At::Node(node.id),
                format!(
                    "{} takes its error edge when it fails, and has none",
                    node.id
                ),
            );
        }
    }
    let Some(start) = drawn.iter().position(|n| n.kind == NodeKind::Start) else {
        return;
    };
    let mut reached = vec![false; drawn.len()];
    let mut open = vec![start];
    reached[start] = true;
    while let Some(n) = open.pop() {
        for line in &next[n] {
            if !std::mem::replace(&mut reached[line.target], true) {
                open.push(line.target);
            }
        }
    }
    for (node, _) in drawn.iter().zip(&reached).filter(|(_, reached)| !**reached) {
        found.warn(
            "unreachable",
            At::Node(node.id),
            format!("no way leads from Start to {}; it is skipped", node.id),
        );
    }
    let ends: Vec<usize> = (0..drawn.len())
        .filter(|&n| drawn[n].kind == NodeKind::End)
        .collect();
    if !ends.is_empty() && ends.iter().all(|&n| !reached[n]) {
        found.error(
            "end_unreachable",
            At::Node(drawn[ends[0]].id),
            "no way leads from Start to an End; connect them",
        );
    }
    let mut pairs = HashSet::new();
    for line in lines {
        if !pairs.insert((line.source, line.target, line.handle)) && !line.id.is_empty() {
            found.warn(
                "duplicate_edge",
                At::Edge(line.id),
                "the same edge is drawn twice",
            );
        }
    }
}

/// Names in templates and expressions that nothing before them writes.
fn look_at_names(graph: &Graph, found: &mut Found) {
    let nodes = graph.nodes();
    let mut before = vec![Vec::new(); nodes.len()];
    for (n, node) in nodes.iter().enumerate() {
        for edge in &node.outgoing {
            before[edge.target].push(n);
        }
    }
    for region in graph.regions() {
        for &entry in &region.entries {
            before[entry].extend(region.owner);
        }
    }
    let declared = nodes[graph.start()]
        .data
        .get("input_schema")
        .and_then(|s| s.get("properties"));
    let declared: HashSet<&str> = declared
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(k, _)| k.as_str())
        .collect();
    for (n, node) in nodes.iter().enumerate() {
        let mut paths = match node.kind {
            NodeKind::Start | NodeKind::End => continue,
            _ => template::keys(&Value::Object(node.data.clone())),
        };
        paths.extend(
            node.expression
                .iter()
                .flat_map(expression::Expression::keys),
        );
        for field in ["collection_key", "input_key", "content_key"] {
            let path = node.data.get(field).and_then(Value::as_str);
            paths.extend(
                path.map(str::trim)
                    .filter(|p| !p.is_empty())
                    .map(str::to_owned),
            );
        }
        if paths.is_empty() {
            continue;
        }
        let mut known: HashSet<String> = declared.iter().map(|k| (*k).to_owned()).collect();
        known.extend(CUSTOMARY.map(str::to_owned));
        if node.kind == NodeKind::Http {
            known.insert("secret".to_owned());
        }
        let mut region = node.region;
        while let Some(owner) = graph.regions()[region].owner {
            let item = nodes[owner].data.get("item_key").and_then(Value::as_str);
            known.insert(
                item.filter(|k| !k.trim().is_empty())
                    .unwrap_or("item")
                    .to_owned(),
            );
            known.insert("index".to_owned());
            region = nodes[owner].region;
        }
        let mut seen = HashSet::new();
        let mut open = before[n].clone();
        while let Some(m) = open.pop() {
            if seen.insert(m) {
                known.extend(written(&nodes[m].data, nodes[m].kind));
                open.extend(&before[m]);
            }
        }
        let mut told = HashSet::new();
        for path in paths {
            let first = path.split('.').next().unwrap_or_default().trim().to_owned();
            if !known.contains(&first) && told.insert(first.clone()) {
                found.warn(
                    "unknown_key",
                    At::Node(&node.id),
                    format!("{} uses {first}, which no node before it writes; if it is part of the input, declare it in Start's input_schema", node.id),
                );
            }
        }
    }
}

/// The names that a node writes.
fn written(data: &serde_json::Map<String, Value>, kind: NodeKind) -> Vec<String> {
    if kind == NodeKind::Extract {
        let variables = data.get("variables").and_then(Value::as_array);
        let name = |v: &Value| {
            v.as_str()
                .or_else(|| v.get("name")?.as_str())
                .map(str::to_owned)
        };
        return variables.into_iter().flatten().filter_map(name).collect();
    }
    let key = data.get("output_key").and_then(Value::as_str);
    key.map(|k| k.trim().to_owned()).into_iter().collect()
}

fn compile_error(e: &GraphError, found: &mut Found) {
    let (code, node, advice) = match e {
        GraphError::Cycle(id) => (
            "cycle",
            Some(id),
            "; a way back is allowed from the body of a Loop to the Loop",
        ),
        GraphError::Straddles(id) => (
            "loop_boundary",
            Some(id),
            "; what follows a Loop hangs on its handle done",
        ),
        GraphError::Expression(id, _) => ("expression", Some(id), ""),
        GraphError::UnknownKind(id, _) | GraphError::DuplicateId(id) => ("node", Some(id), ""),
        _ => ("flow", None, ""),
    };
    let at = node.map_or(At::Flow, |id| At::Node(id));
    found.error(code, at, format!("{e}{advice}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn flow(nodes: &[(&str, Value)], edges: &str) -> Value {
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
                let (from, handle) = from
                    .split_once('.')
                    .map_or((from, Value::Null), |(f, h)| (f, json!(h)));
                json!({"id": edge, "source": from, "target": to, "sourceHandle": handle})
            })
            .collect();
        json!({"nodes": nodes, "edges": edges})
    }

    fn told(flow: &Value) -> Vec<(String, String)> {
        let at = |f: &Finding| f.node_id.clone().or(f.edge_id.clone()).unwrap_or_default();
        validate(flow)
            .iter()
            .map(|f| (f.code.to_owned(), at(f)))
            .collect()
    }

    fn one(code: &str, at: &str) -> Vec<(String, String)> {
        vec![(code.to_owned(), at.to_owned())]
    }

    const AGENT: &str = r#"{"agent_id": "a", "prompt_template": "hi", "output_key": "out"}"#;

    fn agent() -> Value {
        serde_json::from_str(AGENT).unwrap()
    }

    #[test]
    fn a_flow_that_runs_has_nothing_to_tell() {
        let good = flow(
            &[
                (
                    "s:start",
                    json!({"input_schema": {"properties": {"list": {}, "q": {}}}}),
                ),
                (
                    "x:extract",
                    json!({"input_key": "q", "variables": ["v", {"name": "w"}]}),
                ),
                (
                    "l:loop",
                    json!({"collection_key": "list", "item_key": "row", "output_key": "l"}),
                ),
                (
                    "b:http",
                    json!({"url": "https://x/{{row.id}}/{{index}}/{{v}}?k={{secret.K}}", "secrets": ["K"], "output_key": "b"}),
                ),
                (
                    "c:condition",
                    json!({"expression": "l.iterations > 3 and w == yes"}),
                ),
                ("a:agent", agent()),
                ("e:end", json!({})),
            ],
            "s>x x>l l.body>b b>l l.done>c c.true>a c.false>e a>e",
        );
        assert_eq!(told(&good), []);
    }

    #[test]
    fn the_rules_of_the_seed() {
        assert_eq!(told(&json!({"nodes": []})), one("shape", ""));
        assert_eq!(
            told(&json!({"nodes": [], "edges": []})),
            one("no_nodes", "")
        );
        let ok = [("s:Start", json!({})), ("e:End", json!({}))];
        assert_eq!(
            told(&flow(&ok, "")),
            [
                ("no_edges".into(), String::new()),
                ("end_unreachable".into(), "e".into()),
                ("unreachable".into(), "e".into())
            ]
        );
        assert_eq!(told(&flow(&ok, "s>e")), []);
        assert_eq!(
            told(&flow(&ok[..1], "s>e")),
            [
                ("no_end".into(), String::new()),
                ("unknown_node".into(), "s>e".into())
            ]
        );
        assert_eq!(
            told(&flow(&ok[1..], "e>e"))[0],
            ("no_start".into(), String::new())
        );
        assert_eq!(
            told(&flow(
                &[
                    ("s:Start", json!({})),
                    ("t:Start", json!({})),
                    ("e:End", json!({}))
                ],
                "s>e t>e"
            ))[0],
            ("several_starts".into(), String::new())
        );
        assert_eq!(
            told(&flow(
                &[
                    ("s:Start", json!({})),
                    ("x:Teleport", json!({})),
                    ("e:End", json!({}))
                ],
                "s>e"
            ))[0],
            ("unknown_node_type".into(), "x".into())
        );
    }

    #[test]
    fn beyond_the_seed() {
        let with = |name: &str, data: Value, edges: &str| {
            told(&flow(
                &[
                    ("s:Start", json!({})),
                    (name, data),
                    ("a:Agent", agent()),
                    ("e:End", json!({})),
                ],
                edges,
            ))
        };
        assert_eq!(
            with(
                "x:Condition",
                json!({"expression": "a =="}),
                "s>x x.true>e x.false>a a>e"
            ),
            one("expression", "x")
        );
        assert_eq!(
            with(
                "x:Condition",
                json!({"expression": "input"}),
                "s>x x>e s>a a>e"
            ),
            [
                ("condition_handle".into(), "x>e".into()),
                ("missing_branch".into(), "x".into()),
                ("missing_branch".into(), "x".into())
            ]
        );
        assert_eq!(
            with("x:Condition", json!({"expression": "input"}), "s>x s>a a>e"),
            one("condition_without_branch", "x")
        );
        assert_eq!(
            with(
                "x:Condition",
                json!({"expression": "input"}),
                "s>x x.true>a a>e"
            ),
            one("missing_branch", "x")
        );
        assert_eq!(with("x:Http", json!({}), "s>x x>a a>e"), one("data", "x"));
        assert_eq!(
            with(
                "x:Http",
                json!({"url": "u", "method": "BREW"}),
                "s>x x>a a>e"
            ),
            one("data", "x")
        );
        assert_eq!(
            with("x:Http", json!({"url": "u"}), "s>a a>e"),
            one("unreachable", "x")
        );
        assert_eq!(
            with("x:Http", json!({"url": "{{nobody.x}}"}), "s>x x>a a>e"),
            one("unknown_key", "x")
        );
        assert_eq!(
            with("x:Http", json!({"url": "{{out.response}}"}), "s>x x>a a>e"),
            one("unknown_key", "x"),
            "written later"
        );
        assert_eq!(
            with("x:Http", json!({"url": "{{out.response}}"}), "s>a a>x x>e"),
            []
        );
        assert_eq!(
            with("x:Http", json!({"url": "{{secret.K}}"}), "s>x x>a a>e"),
            one("unlisted_secret", "x")
        );
        assert_eq!(
            with(
                "x:Http",
                json!({"url": "u", "on_error": "branch"}),
                "s>x x>a a>e"
            ),
            one("missing_error_branch", "x")
        );
        assert_eq!(
            with("x:Http", json!({"url": "u"}), "s>x x>a a>x a>e"),
            one("cycle", "x")
        );
        assert_eq!(
            with(
                "x:Loop",
                json!({"collection_key": "input"}),
                "s>x x.body>a a>e x.done>e"
            ),
            one("loop_boundary", "e")
        );
        assert_eq!(
            with("x:Http", json!({"url": "u"}), "s>x x.sideways>a a>e"),
            one("unknown_handle", "x.sideways>a")
        );
        assert_eq!(
            with("x:Delay", json!({"duration_seconds": 1}), "s>x x>s s>a a>e")[0],
            ("into_start".into(), "x>s".into())
        );
    }

    #[test]
    fn a_graph_of_two_thousand_nodes_is_looked_through() {
        let mut nodes = vec![
            ("s:Start".to_owned(), json!({})),
            ("e:End".to_owned(), json!({})),
        ];
        let mut edges = "s>n0 n1997>e ".to_owned();
        for i in 0..1998 {
            nodes.push((
                format!("n{i}:Transform"),
                json!({"mappings": {"x": "{{user_message}}"}, "output_key": format!("k{i}")}),
            ));
            if i > 0 {
                edges += &format!("n{}>n{i} ", i - 1);
            }
        }
        let nodes: Vec<(&str, Value)> =
            nodes.iter().map(|(n, d)| (n.as_str(), d.clone())).collect();
        assert_eq!(told(&flow(&nodes, &edges)), []);
    }

    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "(start|end|loop|condition|a|b|true|body|\\{\\{a\\}\\}|a == b)".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 6, |inner| {
            let key = "(nodes|edges|id|type|data|source|target|sourceHandle|expression|position|mappings|collection_key)";
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(key, inner, 0..6).prop_map(|m| Value::Object(m.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_value_panics(value in anything(), nodes in prop::collection::vec(anything(), 0..5), edges in prop::collection::vec(anything(), 0..5)) {
            validate(&value);
            let mut whole = json!({"nodes": nodes, "edges": edges});
            validate(&whole);
            let _ = Graph::compile(&whole);
            crate::layout(&mut whole);
            crate::ensure_positions(&mut whole);
        }
    }
}
