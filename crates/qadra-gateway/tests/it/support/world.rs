use std::collections::BTreeMap;

use qadra_testkit::llm::{Gate, Reply};
use serde_json::{Value, json};

use super::{Client, SOON, TestApp, deltas, id};

/// Something of every kind that a tenant can own, by kind.
pub struct World {
    pub ids: BTreeMap<&'static str, String>,
    word: String,
    gate: Gate,
}

impl World {
    /// `word` is in every text of it.
    pub async fn of(app: &TestApp, owner: &Client, word: &str) -> Self {
        let mut ids = BTreeMap::new();
        let text = |v: &Value, pointer: &str| {
            v.pointer(pointer)
                .and_then(Value::as_str)
                .expect("an id")
                .to_owned()
        };
        ids.insert("tenant", owner.tenant_id.clone());
        ids.insert("user", owner.user_id.clone());
        let agent =
            json!({"name": format!("{word}-agent"), "system_prompt": format!("{word} prompt")});
        let agent = id(&owner.post("/api/agents", agent).await.json(201));
        for (kind, share) in [
            ("conversation", false),
            ("shared", true),
            ("deleted", false),
        ] {
            let conversation = owner.conversation().await;
            app.model().push(Reply::text(format!("{word} answer")));
            let said = owner
                .say(&conversation, &agent, &format!("{word} question"))
                .await;
            if share {
                owner
                    .patch(
                        &format!("/api/conversations/{conversation}"),
                        json!({"is_shared": true}),
                    )
                    .await
                    .json(200);
            }
            if kind == "conversation" {
                ids.insert("question", text(&said, "/user_message/id"));
                ids.insert("answer", text(&said, "/assistant_message/id"));
                let rate = format!(
                    "/api/conversations/{conversation}/messages/{}/rate",
                    ids["answer"]
                );
                owner.post(&rate, json!({"rating": 1})).await.json(200);
                let turns = format!(
                    "SELECT id::text FROM conversation_turns WHERE conversation_id = '{conversation}'"
                );
                ids.insert("turn", app.rows().await.texts(&turns).await.concat());
            }
            if kind == "deleted" {
                owner
                    .delete(&format!("/api/conversations/{conversation}"))
                    .await
                    .empty(204);
            }
            ids.insert(kind, conversation);
        }
        let gate = Gate::new();
        app.model()
            .push(Reply::text(format!("{word} to the end")).gate_each(&gate));
        let busy = owner.conversation().await;
        let asked = app.model().request_count();
        let first = owner
            .say_streamed(&busy, &agent, &format!("{word} go on"))
            .await
            .next()
            .await
            .expect("an event");
        // The reply is hers: nobody else's request may come first.
        assert!(app.model().wait_for_requests(asked + 1, SOON).await);
        ids.insert("running", text(&first.data, "/turn_id"));
        ids.insert("busy", busy);
        let triple = owner
            .fact(
                &format!("{word} Holdings"),
                &format!("{word}_rank"),
                json!(7),
            )
            .await;
        ids.insert("triple", id(&triple));
        ids.insert("node", text(&triple, "/subject/id"));
        ids.insert("predicate", text(&triple, "/predicate_id"));
        let alias = json!({"node": ids["node"], "alias": format!("{word}co")});
        ids.insert(
            "alias",
            id(&owner.post("/api/knowledge/aliases", alias).await.json(201)),
        );
        // A node that was merged into the one with the statement, and a pair to decide.
        let mut made = vec![];
        for n in ["second", "third"] {
            let node = json!({"label": format!("{word} {n}")});
            made.push(id(&owner
                .post("/api/knowledge/nodes", node)
                .await
                .json(201)));
        }
        let path = format!("/api/knowledge/nodes/{}", ids["node"]);
        owner
            .post(
                &format!("/api/knowledge/nodes/{}/merge", made[0]),
                json!({"into": ids["node"]}),
            )
            .await
            .json(200);
        let events = owner.get(&format!("{path}/events")).await.json(200);
        ids.insert("event", text(&events, "/items/0/id"));
        let pair = unknown_id();
        app.rows()
            .await
            .run(&format!(
                "INSERT INTO kg_merges (tenant_id, id, a_id, b_id, score) VALUES ('{}', '{pair}', '{}', '{}', 0.5)",
                owner.tenant_id, ids["node"], made[1]
            ))
            .await;
        ids.insert("pair", pair);
        let ball = json!({"name": format!("{word} ball"), "centers": [ids["node"]]});
        ids.insert(
            "ball",
            id(&owner.post("/api/knowledge/balls", ball).await.json(201)),
        );
        let memory = json!({"agent_id": agent, "key": word, "note": format!("{word} note")});
        ids.insert(
            "memory",
            id(&owner.post("/api/memory", memory).await.json(201)),
        );
        let document = json!({"title": format!("{word} report"), "content": format!("{word} Holdings acquired the {word} mines.")});
        let document = id(&owner.post("/api/documents", document).await.json(201));
        let state = async |pointer: &str| {
            let path = format!("/api/documents/{document}");
            let found = owner.get(&path).await.json(200);
            text(&found, pointer)
        };
        // Until nothing moves any more, so that what a stranger changes would show.
        super::eventually("the document is read", async || {
            state("/analysis/status").await == "done"
        })
        .await;
        let approve = format!("/api/documents/{document}/approve");
        owner.post(&approve, json!({})).await.json(202);
        super::eventually("the document is in", async || {
            state("/ingestion_status").await == "completed"
        })
        .await;
        ids.insert("document", document.clone());
        let key = owner
            .post("/api/api-keys", json!({"name": format!("{word} key")}))
            .await
            .json(201);
        ids.insert("api_key", id(&key));
        let flow = json!({"name": format!("{word} flow"), "flow_data": crate::flows::asking(&format!("{word} what?"))});
        let flow = id(&owner.post("/api/flows", flow).await.json(201));
        let trigger = json!({"kind": "webhook", "name": format!("{word} hook")});
        let triggers = format!("/api/flows/{flow}/triggers");
        ids.insert(
            "trigger",
            id(&owner.post(&triggers, trigger).await.json(201)),
        );
        let secret = json!({"name": word, "value": format!("{word} value")});
        owner
            .call("PUT", "/api/flows/secrets", Some(&secret))
            .await
            .empty(204);
        for kind in ["ended_execution", "execution"] {
            let input = json!({"input": {"about": format!("{word} input")}});
            let run = format!("/api/flows/{flow}/execute");
            let started = owner.post(&run, input).await.json(202);
            let execution = text(&started, "/execution_id");
            if kind == "ended_execution" {
                let cancel = format!("/api/flows/executions/{execution}/cancel");
                owner.post(&cancel, json!({})).await.json(200);
                crate::flows::Worker::new(app).work().await;
            }
            ids.insert(kind, execution);
        }
        ids.insert("flow", flow);
        ids.insert("agent", agent);
        Self {
            ids,
            word: word.to_owned(),
            gate,
        }
    }

    pub fn id(&self, kind: &str) -> String {
        self.ids
            .get(kind)
            .unwrap_or_else(|| panic!("no {kind} in the world"))
            .clone()
    }

    /// The running turn has noticed nothing and ends well.
    pub async fn finish(self, owner: &Client) {
        self.gate.open();
        let mut stream = owner
            .attach(&self.ids["busy"], &self.ids["running"], 0)
            .await;
        let events = stream.rest().await;
        assert_eq!(deltas(&events), format!("{} to the end", self.word));
        assert_eq!(
            events.last().map(|e| e.data["status"].clone()),
            Some(json!("completed"))
        );
    }
}

/// `<kind>` replaced by what `fill` says.
pub fn filled(template: &str, fill: &dyn Fn(&str) -> String) -> String {
    let mut parts = template.split('<');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (kind, rest) = part.split_once('>').expect("a closed place");
        out.push_str(&fill(kind));
        out.push_str(rest);
    }
    out
}

/// An id that nothing has.
pub fn unknown_id() -> String {
    sqlx::types::Uuid::new_v4().to_string()
}
