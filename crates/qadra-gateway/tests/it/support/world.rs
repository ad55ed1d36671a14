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
        let key = owner
            .post("/api/api-keys", json!({"name": format!("{word} key")}))
            .await
            .json(201);
        ids.insert("api_key", id(&key));
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
