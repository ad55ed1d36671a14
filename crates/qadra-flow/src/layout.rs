//! Where nodes stand when nobody has placed them: layers from top to bottom, by the longest way from a beginning, each
//! layer ordered by where its predecessors stand (the barycentre heuristic of Sugiyama, Tagawa and Toda, 1981).

use std::collections::HashMap;

use serde_json::{Value, json};

const START: (f64, f64) = (400.0, 50.0);
const DOWN: f64 = 200.0;
const ACROSS: f64 = 300.0;

/// Lays all nodes out if one of them has no position with x and y.
pub fn ensure_positions(flow_data: &mut Value) {
    let placed = |node: &Value| {
        let at = |key: &str| {
            node.pointer(&format!("/position/{key}"))
                .is_some_and(Value::is_number)
        };
        at("x") && at("y")
    };
    let nodes = flow_data.get("nodes").and_then(Value::as_array);
    if nodes.is_some_and(|nodes| !nodes.iter().all(placed)) {
        layout(flow_data);
    }
}

/// Gives every node a new position; everything else stays.
pub fn layout(flow_data: &mut Value) {
    let Some(nodes) = flow_data.get("nodes").and_then(Value::as_array) else {
        return;
    };
    let id = |node: &Value| node.get("id").and_then(Value::as_str).map(str::to_owned);
    let by_id: HashMap<String, usize> = nodes
        .iter()
        .enumerate()
        .filter_map(|(i, n)| Some((id(n)?, i)))
        .collect();
    let mut next = vec![Vec::new(); nodes.len()];
    let edges = flow_data.get("edges").and_then(Value::as_array);
    for edge in edges.into_iter().flatten() {
        let end = |key: &str| by_id.get(edge.get(key)?.as_str()?).copied();
        if let (Some(from), Some(to)) = (end("source"), end("target"))
            && from != to
        {
            next[from].push(to);
        }
    }
    let layers = layers(&next);
    let positions = positions(&layers, &next);
    if let Some(nodes) = flow_data.get_mut("nodes").and_then(Value::as_array_mut) {
        for (node, (x, y)) in nodes.iter_mut().zip(positions) {
            if let Some(node) = node.as_object_mut() {
                node.insert("position".to_owned(), json!({"x": x, "y": y}));
            }
        }
    }
}

/// The layer of each node. Edges that close a cycle (a Loop's way back) are left out: those that lead to a node which
/// a depth-first walk has entered and not left.
fn layers(next: &[Vec<usize>]) -> Vec<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        Open,
        Done,
    }
    let mut seen = vec![Seen::Not; next.len()];
    let mut order = Vec::with_capacity(next.len());
    let mut forward: Vec<Vec<usize>> = vec![Vec::new(); next.len()];
    for root in 0..next.len() {
        if seen[root] != Seen::Not {
            continue;
        }
        seen[root] = Seen::Open;
        let mut stack = vec![(root, 0)];
        while let Some((node, at)) = stack.pop() {
            match next[node].get(at) {
                None => {
                    seen[node] = Seen::Done;
                    order.push(node);
                }
                Some(&target) => {
                    stack.push((node, at + 1));
                    if seen[target] != Seen::Open {
                        forward[node].push(target);
                    }
                    if seen[target] == Seen::Not {
                        seen[target] = Seen::Open;
                        stack.push((target, 0));
                    }
                }
            }
        }
    }
    let mut layer = vec![0; next.len()];
    for &node in order.iter().rev() {
        for &target in &forward[node] {
            layer[target] = layer[target].max(layer[node] + 1);
        }
    }
    layer
}

fn positions(layers: &[usize], next: &[Vec<usize>]) -> Vec<(f64, f64)> {
    let depth = layers.iter().max().map_or(0, |d| d + 1);
    let mut rows = vec![Vec::new(); depth];
    for (node, &layer) in layers.iter().enumerate() {
        rows[layer].push(node);
    }
    let mut before = vec![Vec::new(); next.len()];
    for (from, targets) in next.iter().enumerate() {
        for &to in targets.iter().filter(|&&to| layers[to] > layers[from]) {
            before[to].push(from);
        }
    }
    let mut x = vec![START.0; layers.len()];
    for row in &mut rows {
        let centre = |n: usize| match before[n].len() {
            0 => START.0,
            count => before[n].iter().map(|&p| x[p]).sum::<f64>() / count as f64,
        };
        let mut ordered: Vec<(f64, usize)> = row.iter().map(|&n| (centre(n), n)).collect();
        ordered.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let left = START.0 - ACROSS * (ordered.len().saturating_sub(1)) as f64 / 2.0;
        for (place, (_, node)) in ordered.into_iter().enumerate() {
            x[node] = left + ACROSS * place as f64;
        }
    }
    layers
        .iter()
        .zip(x)
        .map(|(&layer, x)| (x, START.1 + DOWN * layer as f64))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(edges: &[(&str, &str)]) -> HashMap<String, (f64, f64)> {
        let mut ids: Vec<&str> = Vec::new();
        for id in edges.iter().flat_map(|(a, b)| [*a, *b]) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let nodes: Vec<Value> = ids
            .iter()
            .map(|id| json!({"id": id, "type": "agent", "mine": 1}))
            .collect();
        let edges: Vec<Value> = edges
            .iter()
            .map(|(a, b)| json!({"source": a, "target": b}))
            .collect();
        let mut flow = json!({"nodes": nodes, "edges": edges, "viewport": {"x": 1}});
        ensure_positions(&mut flow);
        assert_eq!(flow["viewport"]["x"], 1);
        let at = |n: &Value| {
            (
                n["position"]["x"].as_f64().unwrap(),
                n["position"]["y"].as_f64().unwrap(),
            )
        };
        flow["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| (n["id"].as_str().unwrap().to_owned(), at(n)))
            .collect()
    }

    #[test]
    fn a_chain_goes_straight_down() {
        let at = laid_out(&[("s", "a"), ("a", "e")]);
        assert_eq!(
            (at["s"], at["a"], at["e"]),
            ((400.0, 50.0), (400.0, 250.0), (400.0, 450.0))
        );
    }

    #[test]
    fn branches_stand_side_by_side_and_a_join_below_them() {
        let at = laid_out(&[("s", "a"), ("s", "b"), ("a", "c"), ("c", "j"), ("b", "j")]);
        assert_eq!((at["a"], at["b"]), ((250.0, 250.0), (550.0, 250.0)));
        assert_eq!(at["j"], (400.0, 650.0), "below the longer way");
    }

    #[test]
    fn a_way_back_does_not_push_anything_down() {
        let at = laid_out(&[("s", "l"), ("l", "b"), ("b", "l"), ("l", "e")]);
        assert_eq!(at["l"].1, 250.0);
        assert_eq!((at["b"].1, at["e"].1), (450.0, 450.0));
    }

    #[test]
    fn positions_that_are_all_there_stay() {
        let placed = json!({"nodes": [{"id": "s", "position": {"x": 1, "y": 2}}], "edges": []});
        let mut flow = placed.clone();
        ensure_positions(&mut flow);
        assert_eq!(flow, placed);
        layout(&mut flow);
        assert_eq!(flow["nodes"][0]["position"], json!({"x": 400.0, "y": 50.0}));
    }
}
