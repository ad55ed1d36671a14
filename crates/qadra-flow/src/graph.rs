//! A drawn graph, compiled for the engine: indices for ids, edges by port, and the *regions* that run as one.
//!
//! The top region holds what runs once; each Loop with a body owns a region that runs once for each item. A node
//! belongs to the innermost region that holds it. Within a region edges form no cycle, so "all incoming edges are
//! decided" is reached for every node.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::NodeKind;
use crate::expression::{self, Expression};

/// Where an edge leaves its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Port {
    /// The ordinary way on; of a Loop, after its last iteration.
    Out,
    True,
    False,
    /// Into the body of a Loop.
    Body,
    /// Taken when the node fails.
    Error,
}

impl Port {
    /// Reads a `sourceHandle`. Names that mean nothing to the kind are the ordinary way on.
    pub fn of(kind: NodeKind, handle: Option<&str>) -> Self {
        match (kind, handle) {
            (_, Some("error")) => Self::Error,
            (NodeKind::Condition, Some("true")) => Self::True,
            (NodeKind::Condition, Some("false")) => Self::False,
            (NodeKind::Loop, Some("body")) => Self::Body,
            _ => Self::Out,
        }
    }
}

/// An edge inside one region, from the node that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    pub port: Port,
    /// Index of the target node.
    pub target: usize,
}

/// What happens when a node has failed for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// The execution fails, or the iteration that holds the node.
    Fail,
    /// The ordinary edges are taken; the output is `{"error": …}`.
    Continue,
    /// The edges from the handle `error` are taken.
    Branch,
}

/// One node, with what the engine needs to know before it runs.
#[derive(Debug, Clone)]
pub struct Node {
    pub id: String,
    pub kind: NodeKind,
    pub label: String,
    /// As drawn; templates are filled in when the node starts.
    pub data: Map<String, Value>,
    pub output_key: Option<String>,
    pub on_error: OnError,
    /// Attempts after the first one.
    pub retries: u32,
    /// For one attempt, in seconds.
    pub timeout_seconds: Option<u64>,
    /// Of a Condition.
    pub expression: Option<Expression>,
    /// The region the node runs in, and its place there.
    pub region: usize,
    pub place: usize,
    /// The region a Loop runs for each item; a Loop without one passes its items on.
    pub body: Option<usize>,
    /// How many edges decide whether it runs.
    pub incoming: u32,
    pub outgoing: Vec<Edge>,
}

/// Nodes that run together.
#[derive(Debug, Clone, Default)]
pub struct Region {
    /// The Loop it is the body of.
    pub owner: Option<usize>,
    pub nodes: Vec<usize>,
    /// Where a Loop enters it, once for each edge.
    pub entries: Vec<usize>,
    /// Nodes without an edge to another: their outputs are an iteration's result.
    pub leaves: Vec<usize>,
}

/// A flow that can run.
#[derive(Debug)]
pub struct Graph {
    nodes: Vec<Node>,
    regions: Vec<Region>,
    start: usize,
    by_id: HashMap<String, usize>,
}

/// Why a graph cannot run. `validate` says more, and all of it at once.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    #[error("a flow is an object with the arrays \"nodes\" and \"edges\"")]
    Shape,
    #[error("the node at index {0} has no id")]
    NoId(usize),
    #[error("two nodes have the id {0:?}")]
    DuplicateId(String),
    #[error("node {0:?} is of the unknown type {1:?}")]
    UnknownKind(String, String),
    #[error("an edge names the node {0:?}, which is not there")]
    UnknownNode(String),
    #[error("a flow has exactly one Start, this one has {0}")]
    Starts(usize),
    #[error("the nodes around {0:?} form a cycle outside a Loop")]
    Cycle(String),
    #[error("node {0:?} is reached from inside a Loop and from outside it")]
    Straddles(String),
    #[error("the expression of node {0:?} cannot be read: {1}")]
    Expression(String, String),
}

/// An edge as drawn.
struct Drawn {
    source: usize,
    target: usize,
    port: Port,
}

impl Graph {
    /// Compiles `flow_data` as React Flow writes it. Checks what the engine relies on, in linear time but for
    /// nested loops, each of which is walked once for each loop around it.
    pub fn compile(flow_data: &Value) -> Result<Self, GraphError> {
        let list = |key: &str| flow_data.get(key).and_then(Value::as_array);
        let (Some(drawn_nodes), Some(drawn_edges)) = (list("nodes"), list("edges")) else {
            return Err(GraphError::Shape);
        };
        let mut nodes = Vec::with_capacity(drawn_nodes.len());
        let mut by_id = HashMap::with_capacity(drawn_nodes.len());
        for (index, drawn) in drawn_nodes.iter().enumerate() {
            let node = node(index, drawn)?;
            if by_id.insert(node.id.clone(), index).is_some() {
                return Err(GraphError::DuplicateId(node.id));
            }
            nodes.push(node);
        }
        let starts: Vec<usize> = (0..nodes.len())
            .filter(|&n| nodes[n].kind == NodeKind::Start)
            .collect();
        let [start] = starts[..] else {
            return Err(GraphError::Starts(starts.len()));
        };
        let edges = edges(drawn_edges, &nodes, &by_id)?;
        let mut graph = Self {
            nodes,
            regions: vec![Region::default()],
            start,
            by_id,
        };
        graph.place(&edges)?;
        graph.connect(&edges)?;
        graph.acyclic()?;
        Ok(graph)
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub fn node(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    pub fn index(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    pub fn start(&self) -> usize {
        self.start
    }

    /// The first one is the top region.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Indices of a node and of everything that runs after it or inside it, in the whole graph.
    pub fn downstream(&self, index: usize) -> HashSet<usize> {
        let mut found = HashSet::from([index]);
        let mut open = vec![index];
        while let Some(n) = open.pop() {
            let node = &self.nodes[n];
            let body = node.body.map(|r| self.regions[r].nodes.as_slice());
            // What follows an iteration follows the Loop around it.
            let owner = self.regions[node.region].owner;
            let next = node.outgoing.iter().map(|e| e.target);
            for t in next
                .chain(body.unwrap_or_default().iter().copied())
                .chain(owner)
            {
                if found.insert(t) {
                    open.push(t);
                }
            }
        }
        found
    }

    /// Gives each node its region: outer loops first, so that an inner one overwrites what an outer one said.
    fn place(&mut self, edges: &[Drawn]) -> Result<(), GraphError> {
        let mut forward = vec![Vec::new(); self.nodes.len()];
        for (i, edge) in edges.iter().enumerate() {
            forward[edge.source].push(i);
        }
        let mut bodies: Vec<(usize, HashSet<usize>)> = Vec::new();
        for (owner, node) in self.nodes.iter().enumerate() {
            if node.kind != NodeKind::Loop {
                continue;
            }
            let mut body = HashSet::new();
            let mut open: Vec<usize> = forward[owner]
                .iter()
                .map(|&e| &edges[e])
                .filter(|e| e.port == Port::Body && e.target != owner)
                .map(|e| e.target)
                .collect();
            while let Some(n) = open.pop() {
                if body.insert(n) {
                    let next = forward[n].iter().map(|&e| edges[e].target);
                    open.extend(next.filter(|&t| t != owner));
                }
            }
            if !body.is_empty() {
                bodies.push((owner, body));
            }
        }
        // A loop inside another has the smaller body.
        bodies.sort_by_key(|(owner, body)| (std::cmp::Reverse(body.len()), *owner));
        for (owner, body) in bodies {
            if body.contains(&owner) {
                return Err(GraphError::Cycle(self.nodes[owner].id.clone()));
            }
            let around = self.nodes[owner].region;
            let region = self.regions.len();
            for &n in &body {
                // All of it must lie where the Loop lies, or the two loops overlap without one holding the other.
                if self.nodes[n].region != around {
                    return Err(GraphError::Straddles(self.nodes[n].id.clone()));
                }
                self.nodes[n].region = region;
            }
            self.nodes[owner].body = Some(region);
            self.regions.push(Region {
                owner: Some(owner),
                ..Region::default()
            });
        }
        for n in 0..self.nodes.len() {
            let region = &mut self.regions[self.nodes[n].region];
            self.nodes[n].place = region.nodes.len();
            region.nodes.push(n);
        }
        Ok(())
    }

    fn connect(&mut self, edges: &[Drawn]) -> Result<(), GraphError> {
        for edge in edges {
            let (from, to) = (
                self.nodes[edge.source].region,
                self.nodes[edge.target].region,
            );
            if edge.port == Port::Body && self.nodes[edge.source].body == Some(to) {
                self.regions[to].entries.push(edge.target);
            } else if from == to {
                self.nodes[edge.source].outgoing.push(Edge {
                    port: edge.port,
                    target: edge.target,
                });
            } else if self.regions[from].owner == Some(edge.target) {
                // Back to the Loop: the iteration ends here, as it would without the edge.
                continue;
            } else {
                return Err(GraphError::Straddles(self.nodes[edge.target].id.clone()));
            }
            self.nodes[edge.target].incoming += 1;
        }
        for node in &mut self.nodes {
            // Drawing an error edge says what is to happen.
            if node.on_error == OnError::Fail && node.outgoing.iter().any(|e| e.port == Port::Error)
            {
                node.on_error = OnError::Branch;
            }
        }
        for region in &mut self.regions {
            let nodes = &self.nodes;
            region.leaves = region
                .nodes
                .iter()
                .copied()
                .filter(|&n| nodes[n].outgoing.iter().all(|e| e.port == Port::Error))
                .collect();
        }
        Ok(())
    }

    /// Kahn's algorithm over all regions at once: edges never cross them.
    fn acyclic(&self) -> Result<(), GraphError> {
        let mut left: Vec<u32> = self.nodes.iter().map(|n| n.incoming).collect();
        for region in &self.regions {
            for &n in &region.entries {
                left[n] -= 1;
            }
        }
        let mut open: Vec<usize> = (0..left.len()).filter(|&n| left[n] == 0).collect();
        let mut done = 0;
        while let Some(n) = open.pop() {
            done += 1;
            for edge in &self.nodes[n].outgoing {
                left[edge.target] -= 1;
                if left[edge.target] == 0 {
                    open.push(edge.target);
                }
            }
        }
        match (0..left.len()).find(|&n| left[n] > 0) {
            Some(n) if done < left.len() => Err(GraphError::Cycle(self.nodes[n].id.clone())),
            _ => Ok(()),
        }
    }
}

fn node(index: usize, drawn: &Value) -> Result<Node, GraphError> {
    let text = |key: &str| drawn.get(key).and_then(Value::as_str);
    let id = text("id").filter(|id| !id.is_empty());
    let id = id.ok_or(GraphError::NoId(index))?.to_owned();
    let name = text("type").unwrap_or_default();
    let kind = NodeKind::parse(name)
        .ok_or_else(|| GraphError::UnknownKind(id.clone(), name.to_owned()))?;
    let data = drawn.get("data").and_then(Value::as_object);
    let data = data.cloned().unwrap_or_default();
    let word = |key: &str| data.get(key).and_then(Value::as_str).map(str::trim);
    let expression = match kind {
        NodeKind::Condition => {
            let text = word("expression").unwrap_or_default();
            let parsed = expression::parse(text);
            Some(parsed.map_err(|e| GraphError::Expression(id.clone(), e.to_string()))?)
        }
        _ => None,
    };
    Ok(Node {
        label: word("label")
            .filter(|l| !l.is_empty())
            .unwrap_or(&id)
            .to_owned(),
        output_key: word("output_key")
            .filter(|k| !k.is_empty())
            .map(str::to_owned),
        on_error: match word("on_error") {
            Some("continue") => OnError::Continue,
            Some("branch" | "error") => OnError::Branch,
            _ => OnError::Fail,
        },
        retries: data
            .get("retries")
            .and_then(Value::as_u64)
            .map_or(0, |n| n.min(100) as u32),
        timeout_seconds: data
            .get("timeout_seconds")
            .and_then(Value::as_u64)
            .filter(|&s| s > 0),
        expression,
        region: 0,
        place: 0,
        body: None,
        incoming: 0,
        outgoing: Vec::new(),
        id,
        kind,
        data,
    })
}

fn edges(
    drawn: &[Value],
    nodes: &[Node],
    by_id: &HashMap<String, usize>,
) -> Result<Vec<Drawn>, GraphError> {
    let mut out = Vec::with_capacity(drawn.len());
    let mut seen = HashSet::with_capacity(drawn.len());
    for edge in drawn {
        let end = |key: &str| {
            let id = edge.get(key).and_then(Value::as_str).unwrap_or_default();
            let found = by_id.get(id).copied();
            found.ok_or_else(|| GraphError::UnknownNode(id.to_owned()))
        };
        let (source, target) = (end("source")?, end("target")?);
        let handle = edge.get("sourceHandle").and_then(Value::as_str);
        let port = Port::of(nodes[source].kind, handle);
        // The same edge drawn twice is one edge.
        if seen.insert((source, target, port)) {
            out.push(Drawn {
                source,
                target,
                port,
            });
        }
    }
    Ok(out)
}
