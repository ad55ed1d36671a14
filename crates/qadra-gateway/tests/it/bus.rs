//! The same operations over the bus, as a client of the broker asks them: what one tenant's subjects never tell
//! of another.

use std::time::Duration;

use qadra_api::operations;
use qadra_nats::messages::ACTOR;
use qadra_nats::{FlowProgressEvent, Headers, Subject};
use qadra_testkit::llm::Reply;
use serde_json::{Value, json};

use crate::support::{SOON, TestApp, World, soon, unknown_id};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenants_subject_answers_anothers_ids_like_unknown_ones() {
    let app = TestApp::scripted().await;
    let (alice, bob) = (app.user("Alice").await, app.user("Bob").await);
    let hers = World::of(&app, &alice, "zebra").await;
    let rows = app.rows().await;
    let before = rows.of_tenant(&alice.tenant_id).await;
    let (mut asked, mut unknown) = (0, 0);
    for operation in operations() {
        if matches!(operation.access, qadra_api::Access::Public) {
            continue;
        }
        let thing = match (operation.entity, operation.op) {
            ("agent", _) => "agent",
            ("api_key", _) => "api_key",
            ("ball", _) => "ball",
            ("memory", _) => "memory",
            (_, "accept_merge" | "reject_merge") => "pair",
            (_, "get_triple" | "retract_triple" | "update_triple") => "triple",
            (
                _,
                "get_node" | "node_graph" | "merge_node" | "split_node" | "list_node_events"
                | "undo_node_event",
            ) => "node",
            (_, "delete_alias") => "alias",
            (_, "update_predicate") => "predicate",
            (_, "restore") => "deleted",
            ("flow", "update_trigger" | "delete_trigger") => "trigger",
            (
                "flow",
                "get_execution" | "list_events" | "watch" | "submit_input" | "cancel" | "retry"
                | "rerun" | "fork",
            ) => "execution",
            ("flow", _) => "flow",
            _ => "conversation",
        };
        let body = |id: &dyn Fn(&str) -> String| {
            let mut body = json!({
                "id": id(thing), "conversation_id": id("conversation"), "message_id": id("answer"),
                "turn_id": id("turn"), "agent_id": id("agent"), "node": id("node"), "alias": "mine",
                "inverse_of": id("predicate"), "content": "hello", "rating": 1, "version": 1, "after": 0,
                "name": "zebra-agent", "label": "mine", "subject": "mine", "predicate": "is", "object": "mine",
                "query": "zebra", "tenant_id": id("tenant"),
            });
            let more = json!({
                "q": "zebra", "text": "zebra", "note": "mine", "reason": "none", "into": id("node"),
                "flow_data": {}, "input": {}, "from_node_id": "s", "value": "mine",
                "event_id": id("event"), "triple_ids": [id("triple")], "centers": [id("node")],
            });
            for (field, value) in more.as_object().into_iter().flatten() {
                body[field] = value.clone();
            }
            body
        };
        let ask = async |mut body: Value| {
            if operation.op == "training_export" {
                body["rating"] = Value::Null;
            }
            if operation.entity == "flow" {
                body["kind"] = json!("webhook");
            }
            call(
                &app,
                &bob.tenant_id,
                operation.entity,
                operation.op,
                &body,
                None,
            )
            .await
        };
        let theirs = ask(body(&|kind| hers.id(kind))).await;
        for (kind, id) in hers
            .ids
            .iter()
            .filter(|(kind, _)| !matches!(**kind, "node" | "tenant"))
        {
            assert!(
                !theirs.to_string().contains(id.as_str()),
                "{} shows her {kind}: {theirs}",
                operation.op
            );
        }
        // What names nothing of anybody (lists and new things) is answered, the rest is as if it did not exist.
        if theirs.get("ok").is_none() {
            assert_eq!(
                theirs,
                ask(body(&|_| unknown_id())).await,
                "{}.{}",
                operation.entity,
                operation.op
            );
            assert_eq!(
                theirs["error"]["code"], "NOT_FOUND",
                "{}.{}: {theirs}",
                operation.entity, operation.op
            );
            unknown += 1;
        }
        asked += 1;
    }
    assert!(
        asked > 45 && unknown >= 30,
        "{asked} asked, {unknown} refused"
    );
    assert_eq!(rows.of_tenant(&alice.tenant_id).await, before);
    hers.finish(&alice).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_cannot_speak_for_a_person_of_another_tenant() {
    let app = TestApp::start().await;
    let (alice, bob) = (app.user("Alice").await, app.user("Bob").await);
    let ask = async |body: Value| call(&app, &bob.tenant_id, "chat", "list", &body, None).await;
    let hers = ask(json!({"user_id": alice.user_id})).await;
    assert_eq!(hers["error"]["code"], "NOT_FOUND");
    assert_eq!(hers, ask(json!({"user_id": unknown_id()})).await);
    assert_eq!(ask(json!({"user_id": bob.user_id})).await["ok"]["total"], 0);
    assert_eq!(
        ask(json!({"user_id": "nobody"})).await["error"]["code"],
        "VALIDATION_FAILED"
    );
    // A tenant that does not exist, with and without a person that does.
    for body in [json!({}), json!({"user_id": alice.user_id})] {
        let answer = call(&app, &unknown_id(), "chat", "list", &body, None).await;
        assert_eq!(answer, hers);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_actor_header_gives_no_sight_of_another_tenant() {
    let app = TestApp::start().await;
    let (alice, bob) = (app.user("Alice").await, app.user("Bob").await);
    let conversation = alice.conversation().await;
    let actor = json!({"user_id": alice.user_id, "role": "owner"}).to_string();
    let get = async |id: &str| {
        call(
            &app,
            &bob.tenant_id,
            "chat",
            "get",
            &json!({"id": id}),
            Some(&actor),
        )
        .await
    };
    let hers = get(&conversation).await;
    assert_eq!(hers["error"]["code"], "NOT_FOUND");
    assert_eq!(hers, get(&unknown_id()).await);
    // Over HTTP the header means nothing.
    let path = format!("/api/conversations/{conversation}");
    let request = bob
        .request("GET", &path)
        .header("qadra-actor", &actor)
        .header("Qadra-Actor", &actor);
    bob.send(request).await.problem(404, "NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operations_of_a_tenant_are_not_on_the_platforms_subjects() {
    let app = TestApp::start().await;
    for (entity, op) in [
        ("chat", "list"),
        ("agent", "list"),
        ("usage", "get"),
        ("auth", "me"),
    ] {
        let subject = Subject::platform(entity, op).expect("a subject");
        assert_eq!(
            request(&app, subject.as_str(), &json!({}), None).await["error"]["code"],
            "NOT_FOUND",
            "{op}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_cannot_take_over_the_stream_of_another_tenants_turn() {
    let app = TestApp::scripted().await;
    let (alice, bob) = (app.user("Alice").await, app.user("Bob").await);
    let hers = World::of(&app, &alice, "zebra").await;
    let (agent, conversation) = (bob.agent("scarlet").await, bob.conversation().await);
    let body = json!({"agent_id": agent, "content": "mine", "turn_id": hers.id("running"), "conversation_id": conversation});
    // Over HTTP the id is not the client's to choose; on the bus an id that is in use is refused.
    app.model().push(Reply::text("for Bob"));
    bob.post(
        &format!("/api/conversations/{conversation}/messages"),
        body.clone(),
    )
    .await
    .json(200);
    let path = format!(
        "/api/conversations/{conversation}/turns/{}",
        hers.id("running")
    );
    bob.get(&path).await.problem(404, "NOT_FOUND");
    let answer = call(&app, &bob.tenant_id, "chat", "send_message", &body, None).await;
    assert_eq!(answer["error"]["code"], "CONFLICT", "{answer}");
    bob.get(&path).await.problem(404, "NOT_FOUND");
    bob.get(&format!("{path}/stream"))
        .await
        .problem(404, "NOT_FOUND");
    assert_eq!(
        bob.messages(&conversation).await.len(),
        2,
        "the refused message was kept"
    );
    hers.finish(&alice).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bus_client_follows_the_turn_whose_id_it_chose() {
    for builder in [
        TestApp::builder().scripted(),
        TestApp::builder().scripted().over_nats(1),
    ] {
        let app = builder.start().await;
        let alice = app.user("Alice").await;
        let (agent, conversation) = (alice.agent("scarlet").await, alice.conversation().await);
        app.model().push(Reply::tokens(["Over ", "the ", "bus."]));
        let turn = unknown_id();
        let subject = Subject::progress(turn.parse().expect("a UUID"));
        let mut events = app
            .bus()
            .subscribe(subject.as_str())
            .await
            .expect("a subscription");
        let body = json!({"conversation_id": conversation, "agent_id": agent, "content": "Hi", "turn_id": turn});
        let answer = call(&app, &alice.tenant_id, "chat", "send_message", &body, None).await;
        assert_eq!(
            answer["ok"]["assistant_message"]["content"],
            "Over the bus."
        );
        let mut heard = vec![];
        while heard.last().is_none_or(|(_, name)| name != "done") {
            let message = soon("an event", events.next())
                .await
                .expect("the subscription goes on");
            let event = FlowProgressEvent::from_bytes(&message.payload).expect("an event");
            heard.push((event.seq, event.event));
        }
        let names: Vec<_> = heard.iter().map(|(_, name)| name.as_str()).collect();
        let wanted = [
            "user_saved",
            "thinking",
            "grounding",
            "token",
            "token",
            "token",
            "assistant_message",
            "done",
        ];
        assert_eq!(names, wanted);
        assert!(heard.iter().map(|(seq, _)| *seq).eq(1..=8), "{heard:?}");
    }
}

/// The reply envelope to an operation on a tenant's subject.
async fn call(
    app: &TestApp,
    tenant: &str,
    entity: &str,
    op: &str,
    body: &Value,
    actor: Option<&str>,
) -> Value {
    let subject = Subject::op(tenant.parse().expect("a UUID"), entity, op).expect("a subject");
    request(app, subject.as_str(), body, actor).await
}

async fn request(app: &TestApp, subject: &str, body: &Value, actor: Option<&str>) -> Value {
    let mut headers = Headers::new();
    if let Some(actor) = actor {
        headers.insert(ACTOR, actor).expect("a header");
    }
    let patience = SOON.min(Duration::from_secs(30));
    let reply = app
        .bus()
        .request(subject, headers, body.to_string().into(), patience)
        .await
        .expect("a reply");
    serde_json::from_slice(&reply.payload).expect("a JSON envelope")
}
