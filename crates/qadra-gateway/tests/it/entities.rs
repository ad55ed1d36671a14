//! Entities that are one and entities that are not, statements that contradict each other, and the graph around a node.

use serde_json::{Value, json};

use crate::support::{Client, TestApp, id};

/// A member's statements about Apple under two names.
async fn apples(app: &TestApp) -> (Client, String, String) {
    let alice = app.user("Alice").await;
    let apple = alice.fact("Apple", "makes", json!("iPhone")).await;
    let inc = alice.fact("Apple Inc", "makes", json!("iPhone")).await;
    alice.fact("Apple Inc", "ceo", json!("Tim Cook")).await;
    alice
        .fact("Tim Cook", "works_for", json!("Apple Inc"))
        .await;
    let node = |t: &Value| t["subject"]["id"].as_str().expect("an id").to_owned();
    (alice, node(&apple), node(&inc))
}

async fn said(who: &Client) -> Vec<String> {
    let all = who.get("/api/knowledge/triples?limit=100").await.json(200);
    let mut said: Vec<String> = all["items"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|t| {
            let text = |p: &str| {
                t.pointer(p)
                    .and_then(Value::as_str)
                    .unwrap_or("?")
                    .to_owned()
            };
            format!(
                "{} {} {}",
                text("/subject/label"),
                text("/predicate"),
                text("/object/label")
            )
        })
        .collect();
    said.sort();
    said
}

/// A pair in the queue, as a document's processing leaves it.
async fn queued(app: &TestApp, who: &Client, a: &str, b: &str) -> String {
    let pair = crate::support::unknown_id();
    let sql = format!(
        "INSERT INTO kg_merges (tenant_id, id, a_id, b_id, score, reasons)
         VALUES ('{}', '{pair}', '{a}', '{b}', 0.75, '[\"one name is part of the other\"]')",
        who.tenant_id
    );
    app.rows().await.run(&sql).await;
    pair
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_accepted_pair_becomes_one_node_and_can_be_taken_apart_again() {
    let app = TestApp::start().await;
    let (alice, apple, inc) = apples(&app).await;
    let before = said(&alice).await;
    let pair = queued(&app, &alice, &apple, &inc).await;
    let queue = alice.get("/api/knowledge/merges").await.json(200);
    assert_eq!(queue["total"], 1);
    let item = &queue["items"][0];
    assert_eq!(
        (&item["a"]["label"], &item["b"]["label"]),
        (&json!("Apple"), &json!("Apple Inc"))
    );
    assert_eq!(
        (&item["score"], &item["status"]),
        (&json!(0.75), &json!("pending"))
    );
    assert_eq!(item["reasons"], json!(["one name is part of the other"]));

    let kept = alice
        .post(
            &format!("/api/knowledge/merges/{pair}/accept"),
            json!({"keep": "a"}),
        )
        .await
        .json(200);
    assert_eq!(kept["id"], apple.as_str());
    assert_eq!(kept["aliases"][0]["alias"], "Apple Inc");
    assert_eq!(
        said(&alice).await,
        [
            "Apple ceo Tim Cook",
            "Apple makes iPhone",
            "Tim Cook works_for Apple"
        ]
    );
    // The old id leads to the node that stayed.
    let old = alice
        .get(&format!("/api/knowledge/nodes/{inc}"))
        .await
        .json(200);
    assert_eq!(old["id"], apple.as_str());
    assert_eq!(
        alice.get("/api/knowledge/merges").await.json(200)["total"],
        0
    );
    alice
        .post(&format!("/api/knowledge/merges/{pair}/accept"), json!({}))
        .await
        .problem(409, "CONFLICT");
    alice
        .post(
            &format!("/api/knowledge/nodes/{inc}/merge"),
            json!({"into": apple}),
        )
        .await
        .problem(409, "CONFLICT");

    let events = alice
        .get(&format!("/api/knowledge/nodes/{apple}/events"))
        .await
        .json(200);
    let event = &events["items"][0];
    assert_eq!(
        (&event["kind"], &event["other"]["label"]),
        (&json!("merge"), &json!("Apple Inc"))
    );
    assert_eq!(
        (&event["triples"], &event["collapsed"]),
        (&json!(2), &json!(1))
    );
    let undo = format!("/api/knowledge/nodes/{apple}/events/{}/undo", id(event));
    let back = alice.post(&undo, json!({})).await.json(200);
    assert_eq!(
        (&back["id"], &back["label"]),
        (&json!(inc), &json!("Apple Inc"))
    );
    assert_eq!(said(&alice).await, before);
    alice.post(&undo, json!({})).await.problem(409, "CONFLICT");
    let rejected = alice
        .get("/api/knowledge/merges?status=rejected")
        .await
        .json(200);
    assert_eq!(
        rejected["items"][0]["id"],
        pair.as_str(),
        "the pair is not asked about again"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejected_pair_stays_two() {
    let app = TestApp::start().await;
    let (alice, apple, inc) = apples(&app).await;
    let pair = queued(&app, &alice, &apple, &inc).await;
    let before = said(&alice).await;
    let done = alice
        .post(&format!("/api/knowledge/merges/{pair}/reject"), json!({}))
        .await
        .json(200);
    assert_eq!(
        (&done["status"], &done["decided_by"]),
        (&json!("rejected"), &json!(alice.user_id))
    );
    assert_eq!(said(&alice).await, before);
    alice
        .get("/api/knowledge/merges?status=maybe")
        .await
        .problem(422, "VALIDATION_FAILED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_split_undoes_a_merge_under_the_old_id() {
    let app = TestApp::start().await;
    let (alice, apple, inc) = apples(&app).await;
    let path = format!("/api/knowledge/nodes/{inc}/merge");
    alice.post(&path, json!({"into": apple})).await.json(200);
    let node = alice
        .get(&format!("/api/knowledge/nodes/{apple}"))
        .await
        .json(200);
    let ceo = node["triples"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|t| t["predicate"] == "ceo")
        .map(id)
        .expect("a statement");
    let split = format!("/api/knowledge/nodes/{apple}/split");
    let made = alice
        .post(&split, json!({"label": "Apple Inc", "triple_ids": [ceo]}))
        .await
        .json(201);
    assert_eq!(made["id"], inc.as_str());
    assert_eq!(
        said(&alice).await,
        [
            "Apple Inc ceo Tim Cook",
            "Apple makes iPhone",
            "Tim Cook works_for Apple"
        ]
    );
    for (body, status, code) in [
        (
            json!({"label": "X", "triple_ids": []}),
            422,
            "VALIDATION_FAILED",
        ),
        (json!({"label": "X", "triple_ids": [ceo]}), 404, "NOT_FOUND"),
        (
            json!({"label": "Apple", "triple_ids": [ceo]}),
            409,
            "CONFLICT",
        ),
    ] {
        alice.post(&split, body).await.problem(status, code);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_statements_that_contradict_each_other_one_is_qualified_and_both_hold() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let jobs = alice.fact("Apple", "ceo", json!("Steve Jobs")).await;
    alice.fact("Apple", "ceo", json!("Tim Cook")).await;
    alice.fact("Apple", "makes", json!("iPhone")).await;
    alice.fact("Apple", "makes", json!("iPad")).await;
    let list = "/api/knowledge/contradictions";
    let found = alice.get(list).await.json(200);
    assert_eq!(found["total"], 1, "{found}");
    let pair = &found["items"][0];
    let mut objects = ["a", "b"].map(|s| {
        pair[s]["object"]["label"]
            .as_str()
            .unwrap_or("?")
            .to_owned()
    });
    objects.sort();
    assert_eq!(objects, ["Steve Jobs", "Tim Cook"]);
    assert!(pair["reason"].as_str().is_some_and(|r| r.contains("ceo")));
    let node = jobs["subject"]["id"].as_str().expect("an id");
    let of_node = alice.get(&format!("{list}?node={node}")).await.json(200);
    assert_eq!(of_node["total"], 1);

    let path = format!("/api/knowledge/triples/{}", id(&jobs));
    alice
        .patch(
            &path,
            json!({"valid_from": "1997-09-16", "valid_to": "1990-01-01"}),
        )
        .await
        .problem(422, "VALIDATION_FAILED");
    let now = alice
        .patch(
            &path,
            json!({"valid_to": "2011-08-24", "confidence": 0.9, "kind": "claim"}),
        )
        .await
        .json(200);
    assert_eq!(
        (&now["valid_to"], &now["kind"]),
        (&json!("2011-08-24"), &json!("claim"))
    );
    let cook = alice
        .get("/api/knowledge/triples?object=Tim%20Cook")
        .await
        .json(200);
    alice
        .patch(
            &format!("/api/knowledge/triples/{}", id(&cook["items"][0])),
            json!({"valid_from": "2011-08-24"}),
        )
        .await
        .json(200);
    assert_eq!(alice.get(list).await.json(200)["total"], 0);
    alice.delete(&path).await.empty(204);
    alice
        .patch(&path, json!({"confidence": 0.1}))
        .await
        .problem(409, "CONFLICT");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_graph_around_a_node_has_hops_and_curvature_and_says_when_it_is_cut() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    // A triangle A, B, C with a tail C, D, E.
    let a = alice.fact("A", "knows", json!("B")).await;
    for (s, o) in [("B", "C"), ("C", "A"), ("C", "D"), ("D", "E")] {
        alice.fact(s, "knows", json!(o)).await;
    }
    alice.fact("A", "age", json!(7)).await;
    let path = format!(
        "/api/knowledge/nodes/{}/graph",
        a["subject"]["id"].as_str().expect("an id")
    );
    let one = alice.get(&path).await.json(200);
    let labels = |g: &Value| -> Vec<String> {
        let mut all: Vec<String> = g["nodes"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|n| {
                format!(
                    "{} {} {}",
                    n["label"].as_str().unwrap_or("?"),
                    n["hop"],
                    n["degree"]
                )
            })
            .collect();
        all.sort();
        all
    };
    assert_eq!(labels(&one), ["A 0 2", "B 1 2", "C 1 3"]);
    assert_eq!(
        one["edges"].as_array().map(Vec::len),
        Some(3),
        "B knows C is drawn too"
    );
    assert_eq!(
        (&one["center"]["label"], &one["truncated"]),
        (&json!("A"), &json!(false))
    );
    let two = alice
        .get(&format!("{path}?hops=2&curvature=augmented"))
        .await
        .json(200);
    assert_eq!(labels(&two), ["A 0 2", "B 1 2", "C 1 3", "D 2 2"]);
    let bent = |s: &str, o: &str| {
        let id_of = |label: &str| {
            two["nodes"]
                .as_array()
                .into_iter()
                .flatten()
                .find(|n| n["label"] == label)
                .map(id)
                .expect("a node")
        };
        let (s, o) = (id_of(s), id_of(o));
        two["edges"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|e| e["subject"] == s.as_str() && e["object"] == o.as_str())
            .and_then(|e| e["curvature"].as_f64())
            .expect("an edge")
    };
    // 4 − d(u) − d(v) + 3 for each triangle.
    assert_eq!(
        (bent("A", "B"), bent("C", "A"), bent("C", "D")),
        (3.0, 2.0, 0.0)
    );
    let cut = alice.get(&format!("{path}?hops=2&limit=1")).await.json(200);
    assert_eq!(cut["truncated"], true);
    assert_eq!(cut["edges"].as_array().map(Vec::len), Some(1));
    for bad in ["hops=3", "limit=0", "limit=5001", "curvature=ricci"] {
        alice
            .get(&format!("{path}?{bad}"))
            .await
            .problem(422, "VALIDATION_FAILED");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_saved_neighbourhood_holds_what_was_there_until_it_is_refreshed() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let a = alice.fact("A", "knows", json!("B")).await;
    alice.fact("B", "likes", json!("C")).await;
    let center = a["subject"]["id"].clone();
    let made = alice
        .post(
            "/api/knowledge/balls",
            json!({"name": " Around A ", "centers": [center], "radius": 2}),
        )
        .await
        .json(201);
    assert_eq!(
        (&made["name"], &made["radius"]),
        (&json!("Around A"), &json!(2))
    );
    assert_eq!(
        (&made["node_count"], &made["edge_count"]),
        (&json!(3), &json!(2))
    );
    assert_eq!(made["centers"][0]["label"], "A");
    let path = format!("/api/knowledge/balls/{}", id(&made));
    alice.fact("A", "knows", json!("D")).await;
    alice
        .delete(&format!("/api/knowledge/triples/{}", id(&a)))
        .await
        .empty(204);
    let seen = alice.get(&path).await.json(200);
    assert_eq!(seen["nodes"].as_array().map(Vec::len), Some(3));
    assert_eq!(
        seen["edges"].as_array().map(Vec::len),
        Some(1),
        "what was retracted is not shown"
    );
    let fresh = alice
        .post(&format!("{path}/refresh"), json!({}))
        .await
        .json(200);
    assert_eq!(
        (&fresh["node_count"], &fresh["edge_count"]),
        (&json!(2), &json!(1))
    );
    let filtered = alice
        .patch(
            &path,
            json!({"name": "Likes", "filters": {"predicates": ["likes"]}}),
        )
        .await
        .json(200);
    assert_eq!(
        (&filtered["name"], &filtered["node_count"]),
        (&json!("Likes"), &json!(1))
    );
    assert_eq!(filtered["filters"], json!({"predicates": ["likes"]}));
    alice
        .post(
            "/api/knowledge/balls",
            json!({"name": "Likes", "centers": [center]}),
        )
        .await
        .problem(409, "CONFLICT");
    for bad in [
        json!({"name": "x", "centers": []}),
        json!({"name": "x", "centers": [center], "radius": 4}),
        json!({"name": "", "centers": [center]}),
        json!({"name": "x", "centers": [center], "filters": {"kinds": ["rumour"]}}),
    ] {
        alice
            .post("/api/knowledge/balls", bad)
            .await
            .problem(422, "VALIDATION_FAILED");
    }
    alice.delete(&path).await.empty(204);
    alice.get(&path).await.problem(404, "NOT_FOUND");
}
