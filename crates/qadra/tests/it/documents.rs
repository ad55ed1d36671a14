//! SIGKILL in the middle of a document's processing, then a start on what it left.

use std::time::Duration;

use serde_json::{Value, json};

use super::api::Api;
use super::program::{Program, SOON, directory};

async fn document(api: &Api, id: &str) -> Value {
    api.ok(api.get(&format!("/api/documents/{id}"))).await
}

async fn until(api: &Api, id: &str, what: &str, ready: impl Fn(&Value) -> bool) -> Value {
    let wait = async {
        loop {
            let found = document(api, id).await;
            if ready(&found) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    match tokio::time::timeout(SOON, wait).await {
        Ok(found) => found,
        Err(_) => panic!("{what} did not come about: {}", document(api, id).await),
    }
}

fn status(document: &Value) -> &str {
    document["ingestion_status"].as_str().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_that_was_being_processed_is_processed_after_the_next_start() {
    let dir = directory();
    let mut qadra = Program::up(dir.path(), &[]);
    let mut api = Api::register(&qadra.ready().await).await;
    // Enough statements that the processing takes a while, each of its own.
    let sounds = ["Ba", "Ke", "Lo", "Mi", "Nu", "Ra", "So", "Ti", "Va", "Ze"];
    let text: String = (0..1_000)
        .map(|n| {
            let sound = |at: usize| sounds[n / at % 10].to_lowercase();
            format!(
                "Microsoft acquired {}{}{}x Corporation.\n\n",
                sounds[n / 100],
                sound(10),
                sound(1)
            )
        })
        .collect();
    let proposed = api
        .ok(api.post(
            "/api/documents",
            &json!({"title": "Deals", "content": text}),
        ))
        .await;
    let id = proposed["id"].as_str().unwrap().to_owned();
    let read = until(&api, &id, "the analysis", |d| {
        d["analysis"]["status"] == "done"
    })
    .await;
    let stated = read["analysis"]["triples"].as_i64().unwrap();
    assert!(stated >= 700, "{read}");
    api.ok(api.post(&format!("/api/documents/{id}/approve"), &json!({})))
        .await;
    until(&api, &id, "some of the linking", |d| {
        d["progress"]["done"].as_i64() > Some(0) || status(d) == "completed"
    })
    .await;
    qadra.kill().await;

    let mut qadra = Program::up(dir.path(), &[]);
    api.url = qadra.ready().await;
    let done = until(&api, &id, "the end of the processing", |d| {
        matches!(status(d), "completed" | "failed")
    })
    .await;
    assert_eq!(status(&done), "completed", "{done}");
    assert_eq!(done["attempts"], 1, "one processing, taken up twice");
    // Nothing twice, nothing lost.
    let carried = api
        .ok(api.get(&format!("/api/documents/{id}/triples?limit=1")))
        .await;
    assert_eq!(carried["total"], json!(stated));
    let all = api.ok(api.get("/api/knowledge/triples?limit=1")).await;
    assert_eq!(all["total"], json!(stated));
}
