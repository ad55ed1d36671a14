//! SIGKILL in the middle of flows, then a start on what it left.

use std::time::Duration;

use serde_json::{Value, json};

use super::api::Api;
use super::program::{Program, SOON, directory};

async fn execution(api: &Api, id: &str) -> Value {
    api.ok(api.get(&format!("/api/flows/executions/{id}")))
        .await
}

async fn reached(api: &Api, id: &str, status: &str) -> Value {
    let wait = async {
        loop {
            let found = execution(api, id).await;
            if found["status"] == status {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    match tokio::time::timeout(SOON, wait).await {
        Ok(found) => found,
        Err(_) => panic!("not {status}: {}", execution(api, id).await),
    }
}

async fn run(api: &Api, name: &str, nodes: Value, edges: &[(&str, &str)]) -> String {
    let edges: Vec<Value> = edges
        .iter()
        .map(|(from, to)| json!({"id": format!("{from}-{to}"), "source": from, "target": to}))
        .collect();
    let flow = json!({"name": name, "flow_data": {"nodes": nodes, "edges": edges}});
    let flow = api.ok(api.post("/api/flows", &flow)).await;
    let path = format!("/api/flows/{}/execute", flow["id"].as_str().unwrap());
    let started = api
        .ok(api.post(&path, &json!({"input": {"who": "Ada"}})))
        .await;
    started["execution_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_going_on_is_finished_after_the_next_start() {
    let dir = directory();
    let mut qadra = Program::up(dir.path(), &[("QADRA_FLOW_LEASE_SECONDS", "1")]);
    let mut api = Api::register(&qadra.ready().await).await;
    let waiting = run(
        &api,
        "wait",
        json!([
            {"id": "s", "type": "Start"},
            {"id": "d", "type": "Delay", "data": {"duration_seconds": 2}},
            {"id": "t", "type": "Transform", "data": {"mappings": {"name": "who"}, "output_key": "t"}},
            {"id": "e", "type": "End", "data": {"output_keys": ["t"]}}
        ]),
        &[("s", "d"), ("d", "t"), ("t", "e")],
    )
    .await;
    let asking = run(
        &api,
        "ask",
        json!([
            {"id": "s", "type": "Start"},
            {"id": "p", "type": "HumanInput", "data": {"prompt": "Is it {{who}}?", "output_key": "p"}},
            {"id": "e", "type": "End", "data": {"output_keys": ["p"]}}
        ]),
        &[("s", "p"), ("p", "e")],
    )
    .await;
    reached(&api, &waiting, "running").await;
    let paused = reached(&api, &asking, "paused").await;
    assert_eq!(paused["waiting"][0]["prompt"], "Is it Ada?");
    qadra.kill().await;

    let mut qadra = Program::up(dir.path(), &[("QADRA_FLOW_LEASE_SECONDS", "1")]);
    api.url = qadra.ready().await;
    let done = reached(&api, &waiting, "completed").await;
    assert_eq!(done["output"], json!({"t": {"name": "Ada"}}));
    let answer = format!("/api/flows/executions/{asking}/input");
    api.ok(api.post(&answer, &json!({"node_id": "p", "input": {"yes": true}})))
        .await;
    let (status, body) = api
        .send(api.post(&answer, &json!({"node_id": "p", "input": {"yes": false}})))
        .await;
    assert_eq!(status, 409, "{body}");
    let done = reached(&api, &asking, "completed").await;
    assert_eq!(done["output"], json!({"p": {"yes": true}}));
    assert_eq!(qadra.stop().await.code, Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_http_node_reaches_nothing_inside() {
    let dir = directory();
    let mut qadra = Program::up(dir.path(), &[]);
    let api = Api::register(&qadra.ready().await).await;
    let own = format!("{}/healthz", api.url);
    let id = run(
        &api,
        "inside",
        json!([{"id": "s", "type": "Start"}, {"id": "h", "type": "Http", "data": {"url": own}}, {"id": "e", "type": "End"}]),
        &[("s", "h"), ("h", "e")],
    )
    .await;
    let failed = reached(&api, &id, "failed").await;
    let error = failed["error"].as_str().unwrap();
    assert!(error.contains("not a public address"), "{error}");
    assert_eq!(qadra.stop().await.code, Some(0));
}
