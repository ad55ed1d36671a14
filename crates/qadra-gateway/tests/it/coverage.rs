//! Every operation of the OpenAPI document is tried by nobody, by forged credentials, by keys and roles that
//! must not, and by another tenant, which must learn nothing. An operation without an entry here fails.

use std::collections::{BTreeMap, BTreeSet};

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use crate::support::{
    Answer, Client, PASSWORD, TestApp, World, filled, id, token_key_secret, unknown_id as uuid,
};

/// Needs no credentials: `operationId`s.
const PUBLIC: [&str; 5] = [
    "auth_register",
    "auth_login",
    "auth_refresh",
    "auth_logout",
    "meta_get",
];

/// Needs the role admin or owner.
const ADMINS: [&str; 7] = [
    "agent_create",
    "agent_update",
    "agent_delete",
    "agent_restore",
    "chat_training_export",
    "knowledge_update_predicate",
    "usage_get",
];

/// Changes accounts or keys, or shows them: needs a key with the scope admin.
const ACCOUNT: [&str; 4] = [
    "auth_switch_tenant",
    "api_key_list",
    "api_key_create",
    "api_key_revoke",
];

/// One way to ask an operation. `<kind>` in the path or body stands for an id of that kind.
struct Case {
    operation: &'static str,
    path: &'static str,
    body: Option<Value>,
}

fn cases() -> Vec<Case> {
    let mut all = vec![];
    let mut case = |operation, path, body: Value| {
        let body = (!body.is_null()).then_some(body);
        all.push(Case {
            operation,
            path,
            body,
        });
    };
    let none = Value::Null;
    case("auth_me", "/api/auth/me", none.clone());
    case(
        "auth_switch_tenant",
        "/api/auth/switch-tenant",
        json!({"tenant_id": "<tenant>"}),
    );
    case("api_key_list", "/api/api-keys?limit=100", none.clone());
    case("api_key_create", "/api/api-keys", json!({"name": "k"}));
    case("api_key_revoke", "/api/api-keys/<api_key>", none.clone());
    case("agent_list", "/api/agents?limit=100", none.clone());
    // The name of another tenant's agent is free here.
    case(
        "agent_create",
        "/api/agents",
        json!({"name": "zebra-agent"}),
    );
    case("agent_presets", "/api/agents/presets", none.clone());
    case("agent_get", "/api/agents/<agent>", none.clone());
    case(
        "agent_update",
        "/api/agents/<agent>",
        json!({"description": "taken over"}),
    );
    case("agent_delete", "/api/agents/<agent>", none.clone());
    case(
        "agent_versions",
        "/api/agents/<agent>/versions",
        none.clone(),
    );
    case(
        "agent_restore",
        "/api/agents/<agent>/versions/1/restore",
        json!({}),
    );
    case("chat_list", "/api/conversations?limit=100", none.clone());
    case(
        "chat_list",
        "/api/conversations?limit=100&shared=true",
        none.clone(),
    );
    case(
        "chat_list",
        "/api/conversations?limit=100&q=zebra",
        none.clone(),
    );
    case(
        "chat_create",
        "/api/conversations",
        json!({"title": "mine"}),
    );
    case(
        "chat_training_export",
        "/api/conversations/training-export",
        none.clone(),
    );
    case(
        "chat_get",
        "/api/conversations/<conversation>",
        none.clone(),
    );
    case("chat_get", "/api/conversations/<shared>", none.clone());
    case(
        "chat_update",
        "/api/conversations/<conversation>",
        json!({"title": "taken over", "is_shared": true}),
    );
    case(
        "chat_delete",
        "/api/conversations/<conversation>",
        none.clone(),
    );
    case(
        "chat_restore",
        "/api/conversations/<deleted>/restore",
        json!({}),
    );
    case(
        "chat_export",
        "/api/conversations/<conversation>/export?format=md",
        none.clone(),
    );
    case(
        "chat_export",
        "/api/conversations/<shared>/export?format=json",
        none.clone(),
    );
    case(
        "chat_list_messages",
        "/api/conversations/<conversation>/messages",
        none.clone(),
    );
    case(
        "chat_rate_message",
        "/api/conversations/<conversation>/messages/<answer>/rate",
        json!({"rating": 1}),
    );
    case(
        "chat_select_branch",
        "/api/conversations/<conversation>/messages/<answer>/select",
        json!({}),
    );
    case(
        "chat_get_turn",
        "/api/conversations/<conversation>/turns/<turn>",
        none.clone(),
    );
    case(
        "chat_turn_events",
        "/api/conversations/<conversation>/turns/<turn>/stream",
        none.clone(),
    );
    case(
        "chat_turn_events",
        "/api/conversations/<busy>/turns/<running>/stream?last_event_id=1",
        none.clone(),
    );
    case(
        "chat_cancel_turn",
        "/api/conversations/<busy>/turns/<running>/cancel",
        json!({}),
    );
    case(
        "knowledge_list_triples",
        "/api/knowledge/triples?limit=100&include_retracted=true",
        none.clone(),
    );
    case(
        "knowledge_list_triples",
        "/api/knowledge/triples?q=zebra",
        none.clone(),
    );
    case(
        "knowledge_create_triples",
        "/api/knowledge/triples",
        json!({"subject": "Zebra Holdings", "predicate": "zebra_rank", "object": 1}),
    );
    case(
        "knowledge_get_triple",
        "/api/knowledge/triples/<triple>",
        none.clone(),
    );
    case(
        "knowledge_retract_triple",
        "/api/knowledge/triples/<triple>",
        none.clone(),
    );
    case(
        "knowledge_list_nodes",
        "/api/knowledge/nodes?limit=100",
        none.clone(),
    );
    case(
        "knowledge_create_node",
        "/api/knowledge/nodes",
        json!({"label": "Zebra Holdings", "aliases": ["ZH"]}),
    );
    case(
        "knowledge_get_node",
        "/api/knowledge/nodes/<node>",
        none.clone(),
    );
    case(
        "knowledge_list_aliases",
        "/api/knowledge/aliases?limit=100",
        none.clone(),
    );
    case(
        "knowledge_create_alias",
        "/api/knowledge/aliases",
        json!({"node": "<node>", "alias": "mine"}),
    );
    case(
        "knowledge_delete_alias",
        "/api/knowledge/aliases/<alias>",
        none.clone(),
    );
    case(
        "knowledge_list_predicates",
        "/api/knowledge/predicates?limit=100",
        none.clone(),
    );
    case(
        "knowledge_update_predicate",
        "/api/knowledge/predicates/<predicate>",
        json!({"functional": true}),
    );
    case(
        "knowledge_update_predicate",
        "/api/knowledge/predicates/<predicate>",
        json!({"inverse_of": "<predicate>"}),
    );
    case(
        "knowledge_update_predicate",
        "/api/knowledge/predicates/<predicate>",
        json!({"exclusive_with": "<predicate>"}),
    );
    case(
        "knowledge_query",
        "/api/knowledge/query",
        json!({"query": "What is the zebra rank of Zebra Holdings?"}),
    );
    case("usage_get", "/api/usage", none);
    let say = json!({"agent_id": "<agent>", "content": "hello"});
    case(
        "chat_send_message",
        "/api/conversations/<conversation>/messages",
        say.clone(),
    );
    case(
        "chat_send_message_stream",
        "/api/conversations/<conversation>/messages/stream",
        say.clone(),
    );
    case(
        "chat_edit_message",
        "/api/conversations/<conversation>/messages/<question>/edit",
        say.clone(),
    );
    case(
        "chat_edit_message_stream",
        "/api/conversations/<conversation>/messages/<question>/edit/stream",
        say.clone(),
    );
    let again = json!({"agent_id": "<agent>"});
    case(
        "chat_regenerate_message",
        "/api/conversations/<conversation>/messages/<answer>/regenerate",
        again.clone(),
    );
    case(
        "chat_regenerate_message_stream",
        "/api/conversations/<conversation>/messages/<answer>/regenerate/stream",
        again,
    );
    all
}

/// Method and document of every operation, by `operationId`.
async fn document(app: &TestApp) -> BTreeMap<String, (String, Value)> {
    let document = app.stranger().get("/api/openapi.json").await.json(200);
    let mut found = BTreeMap::new();
    for methods in document["paths"].as_object().expect("paths").values() {
        for (method, operation) in methods.as_object().expect("methods") {
            let name = operation["operationId"]
                .as_str()
                .expect("an operationId")
                .to_owned();
            found.insert(name, (method.to_uppercase(), operation.clone()));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_operation_has_a_case() {
    let app = TestApp::start().await;
    let document: BTreeSet<String> = document(&app).await.into_keys().collect();
    let tried: BTreeSet<String> = cases()
        .iter()
        .map(|c| c.operation)
        .chain(PUBLIC)
        .map(str::to_owned)
        .collect();
    let missing: Vec<_> = document.difference(&tried).collect();
    assert!(
        missing.is_empty(),
        "add an unauthenticated and an other-tenant case for {missing:?}"
    );
    let gone: Vec<_> = tried.difference(&document).collect();
    assert!(gone.is_empty(), "no longer operations: {gone:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_document_says_who_may_ask() {
    let app = TestApp::start().await;
    for (name, (_, operation)) in document(&app).await {
        let name = name.as_str();
        assert_eq!(
            operation.get("security").is_none(),
            PUBLIC.contains(&name),
            "{name}"
        );
        if PUBLIC.contains(&name) {
            continue;
        }
        assert_eq!(
            operation["x-role"] == "admin",
            ADMINS.contains(&name),
            "{name}"
        );
        assert_eq!(
            operation["x-scope"] == "admin",
            ACCOUNT.contains(&name),
            "{name}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_and_forged_credentials_get_401_from_every_operation() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let key = alice
        .post("/api/api-keys", json!({"name": "k", "scopes": ["admin"]}))
        .await
        .json(201);
    alice
        .delete(&format!("/api/api-keys/{}", id(&key)))
        .await
        .empty(204);
    let revoked = key["key"].as_str().expect("a key").to_owned();
    let expired = alice
        .post("/api/api-keys", json!({"name": "old", "scopes": ["admin"]}))
        .await
        .json(201);
    let rows = app.rows().await;
    rows.run(&format!(
        "UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = '{}'",
        id(&expired)
    ))
    .await;
    let expired = expired["key"].as_str().expect("a key");

    let nobody = app.stranger();
    let bearer = |token: String| nobody.with_header("authorization", &format!("Bearer {token}"));
    let good = alice.token();
    let claims = decoded(good);
    let mut cut = good.to_owned();
    cut.pop();
    let late = with(&claims, "exp", json!(chrono::Utc::now().timestamp() - 1));
    let owner_elsewhere = with(&claims, "tid", json!(uuid()));
    let (head, tail) = good.rsplit_once('.').expect("a signature");
    let body = head.split_once('.').expect("two parts").1;
    let with_other_body = format!(
        "{}.{}.{tail}",
        head.split_once('.').expect("two parts").0,
        base64url(&owner_elsewhere)
    );
    let who: Vec<(&str, Client, &str)> = vec![
        ("nobody", nobody.clone(), "UNAUTHENTICATED"),
        (
            "expired token",
            bearer(signed(&late, token_key_secret())),
            "TOKEN_EXPIRED",
        ),
        (
            "token signed by another",
            bearer(signed(
                &claims,
                b"another secret, also longer than 32 bytes",
            )),
            "TOKEN_INVALID",
        ),
        (
            "token with a changed body",
            bearer(with_other_body),
            "TOKEN_INVALID",
        ),
        ("token cut short", bearer(cut), "TOKEN_INVALID"),
        (
            "alg none",
            bearer(format!(
                "{}.{body}.",
                base64url(&json!({"alg": "none", "typ": "JWT"}))
            )),
            "TOKEN_INVALID",
        ),
        (
            "alg None, with a signature",
            bearer(format!(
                "{}.{body}.{tail}",
                base64url(&json!({"alg": "None"}))
            )),
            "TOKEN_INVALID",
        ),
        (
            "token of another issuer",
            bearer(signed(
                &with(&claims, "iss", json!("other")),
                token_key_secret(),
            )),
            "TOKEN_INVALID",
        ),
        (
            "refresh token as access token",
            bearer(alice.refresh_token.clone()),
            "TOKEN_INVALID",
        ),
        (
            "wrong scheme",
            nobody.with_header("authorization", &format!("Basic {good}")),
            "UNAUTHENTICATED",
        ),
        (
            "no scheme",
            nobody.with_header("authorization", good),
            "UNAUTHENTICATED",
        ),
        ("revoked key", nobody.with_key(&revoked), "TOKEN_INVALID"),
        ("expired key", nobody.with_key(expired), "TOKEN_INVALID"),
        (
            "unknown key",
            nobody.with_key("qk_0123456789"),
            "TOKEN_INVALID",
        ),
        ("empty key", nobody.with_key(""), "TOKEN_INVALID"),
    ];
    let document = document(&app).await;
    let before = rows.counts().await;
    for case in cases() {
        let (method, path) = (&document[case.operation].0, filled(case.path, &|_| uuid()));
        for (who, client, code) in &who {
            let answer = client.call(method, &path, case.body.as_ref()).await;
            assert_eq!(
                answer.status,
                401,
                "{} by {who}: {}",
                case.operation,
                answer.text()
            );
            answer.problem(401, code);
            assert_eq!(
                answer.header("www-authenticate"),
                "Bearer",
                "{} by {who}",
                case.operation
            );
        }
    }
    assert_eq!(rows.counts().await, before);
    assert_eq!(
        alice.get("/api/auth/me").await.status,
        200,
        "the token they were made from is good"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_does_what_its_scope_says_and_a_role_what_it_may() {
    let app = TestApp::start().await;
    let alice = app.user("Alice").await;
    let bob = app.member(&alice, "Bob", "user").await;
    let make = async |scope: &str| {
        let key = alice
            .post("/api/api-keys", json!({"name": scope, "scopes": [scope]}))
            .await
            .json(201);
        app.stranger().with_key(key["key"].as_str().expect("a key"))
    };
    let (read, write) = (make("read").await, make("write").await);
    let document = document(&app).await;
    let rows = app.rows().await;
    let before = rows.of_tenant(&alice.tenant_id).await;
    for case in cases() {
        let (method, path) = (&document[case.operation].0, filled(case.path, &|_| uuid()));
        let changes = method != "GET" && case.operation != "knowledge_query";
        let account = ACCOUNT.contains(&case.operation);
        let answer = async |who: &Client| who.call(method, &path, case.body.as_ref()).await;
        if changes || account {
            answer(&read).await.problem(403, "FORBIDDEN");
        }
        if account {
            answer(&write).await.problem(403, "FORBIDDEN");
        }
        if ADMINS.contains(&case.operation) {
            let answer = answer(&bob).await;
            assert_eq!(
                answer.status,
                403,
                "{} by a user: {}",
                case.operation,
                answer.text()
            );
            answer.problem(403, "FORBIDDEN");
        }
    }
    // Only that the keys were used has been noted.
    rows.run("UPDATE api_keys SET last_used_at = NULL").await;
    assert_eq!(rows.of_tenant(&alice.tenant_id).await, before);
    assert_eq!(
        read.get("/api/auth/me").await.json(200)["user"]["id"],
        alice.user_id.as_str()
    );
    write.post("/api/conversations", json!({})).await.json(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_tenants_ids_answer_byte_for_byte_like_unknown_ones() {
    let app = TestApp::scripted().await;
    let alice = app.user("Alice").await;
    let hers = World::of(&app, &alice, "zebra").await;
    let bob = app.user("Bob").await;
    let his = World::of(&app, &bob, "heron").await;
    let key = bob
        .post("/api/api-keys", json!({"name": "k", "scopes": ["admin"]}))
        .await
        .json(201);
    let by_key = app.stranger().with_key(key["key"].as_str().expect("a key"));
    let document = document(&app).await;
    let rows = app.rows().await;
    let before = rows.of_tenant(&alice.tenant_id).await;

    let mut probes = 0;
    for case in cases() {
        let method = &document[case.operation].0;
        let template = format!(
            "{} {}",
            case.path,
            case.body
                .as_ref()
                .map_or_else(String::new, Value::to_string)
        );
        let slots = template.matches('<').count();
        for client in [&bob, &by_key] {
            // Every way to put her ids into some of the places and his into the others.
            for chosen in 1..(1_u32 << slots) {
                let ask = async |theirs: &dyn Fn(&str) -> String| {
                    let place = std::cell::Cell::new(0);
                    let fill = |kind: &str| {
                        let at = place.replace(place.get() + 1);
                        if chosen & (1 << at) == 0 {
                            his.id(kind)
                        } else {
                            theirs(kind)
                        }
                    };
                    let path = filled(case.path, &fill);
                    let body = case.body.as_ref().map(|b| filled(&b.to_string(), &fill));
                    raw(client, method, &path, body).await
                };
                let unknown = ask(&|_| uuid()).await;
                let answer = ask(&|kind| hers.id(kind)).await;
                same(
                    &answer,
                    &unknown,
                    &format!("{} with places {chosen:b}", case.operation),
                );
                assert_eq!(answer.status, 404, "{}: {}", case.operation, answer.text());
                probes += 1;
            }
            // Her ids of every kind in every place of the path: a message for a conversation, a node for an agent.
            if case.path.contains('<') {
                for odd in hers.ids.values() {
                    let path = filled(case.path, &|_| odd.clone());
                    let body = case
                        .body
                        .as_ref()
                        .map(|b| filled(&b.to_string(), &|kind| his.id(kind)));
                    let answer = raw(client, method, &path, body.clone()).await;
                    let unknown = uuid();
                    let path = filled(case.path, &|_| unknown.clone());
                    same(
                        &answer,
                        &raw(client, method, &path, body).await,
                        case.operation,
                    );
                    assert_eq!(answer.status, 404, "{}: {}", case.operation, answer.text());
                    probes += 1;
                }
            }
        }
    }
    assert!(probes >= 1_000, "only {probes} probes");
    assert_eq!(
        rows.of_tenant(&alice.tenant_id).await,
        before,
        "something of hers was changed"
    );
    hers.finish(&alice).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_searches_and_answers_never_carry_anything_of_another_tenant() {
    let app = TestApp::scripted().await;
    let alice = app.user("Alice").await;
    let hers = World::of(&app, &alice, "zebra").await;
    let bob = app.user("Bob").await;
    let his = World::of(&app, &bob, "heron").await;
    let document = document(&app).await;
    let rows = app.rows().await;
    let before = rows.of_tenant(&alice.tenant_id).await;
    for case in cases() {
        let method = &document[case.operation].0;
        // Stopping a thread is for the end.
        if matches!(
            case.operation,
            "chat_cancel_turn" | "chat_turn_events" | "agent_delete"
        ) {
            continue;
        }
        // Fields that the operation does not have, and ids that the path names already.
        let mut body = case
            .body
            .clone()
            .map(|b| filled(&b.to_string(), &|kind| his.id(kind)));
        let smuggled = [
            "tenant_id",
            "user_id",
            "id",
            "conversation_id",
            "message_id",
            "turn_id",
            "reader",
            "actor",
        ];
        if let Some(text) = &mut body {
            let mut value: Value = serde_json::from_str(text).expect("JSON");
            for name in smuggled {
                let kind = match name {
                    "id" | "conversation_id" => "conversation",
                    "message_id" => "answer",
                    "turn_id" => "running",
                    "tenant_id" => "tenant",
                    _ => "user",
                };
                // The one body field of this name that is real.
                if value.get(name).is_none() {
                    value[name] = json!(hers.id(kind));
                }
            }
            *text = value.to_string();
        }
        let joint = if case.path.contains('?') { '&' } else { '?' };
        let path = filled(case.path, &|kind| his.id(kind));
        let path = format!(
            "{path}{joint}tenant_id={}&user_id={}",
            hers.id("tenant"),
            hers.id("user")
        );
        let answer = raw(&bob, method, &path, body).await;
        let text = answer.text();
        assert!(answer.status < 500, "{}: {text}", case.operation);
        for (kind, theirs) in &hers.ids {
            assert!(
                !text.contains(theirs),
                "{} shows her {kind}: {text}",
                case.operation
            );
        }
        let own_words = [
            "chat_list",
            "knowledge_query",
            "knowledge_create_triples",
            "knowledge_create_node",
        ];
        let told = answer.status < 300
            && !own_words.contains(&case.operation)
            && case.operation != "agent_create";
        if told && !case.operation.starts_with("knowledge_list") {
            assert!(
                !text.to_lowercase().contains("zebra"),
                "{} shows her words: {text}",
                case.operation
            );
        }
    }
    assert_eq!(
        rows.of_tenant(&alice.tenant_id).await,
        before,
        "something of hers was changed"
    );
    let found = bob.get("/api/conversations?q=zebra").await.json(200);
    assert_eq!(found["total"], 0, "{found}");
    // What he typed himself is his own: one node and one statement, not two.
    assert_eq!(
        bob.get("/api/knowledge/nodes?q=zebra").await.json(200)["total"],
        1
    );
    assert_eq!(
        bob.get("/api/knowledge/triples?q=zebra").await.json(200)["total"],
        1
    );
    hers.finish(&alice).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_tenant_uses_is_not_taken_for_another() {
    let app = TestApp::start().await;
    let (alice, bob) = (app.user("Alice").await, app.user("Bob").await);
    alice.fact("Apple", "founded_in_year", json!(1976)).await;
    alice
        .say(
            &alice.conversation().await,
            &alice.agent("scarlet").await,
            "When was Apple founded?",
        )
        .await;
    let usage = bob.get("/api/usage").await.json(200);
    assert_eq!(
        usage,
        json!({"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "by_model": [], "by_day": []})
    );
    let asked = bob
        .post(
            "/api/knowledge/query",
            json!({"query": "When was Apple founded?"}),
        )
        .await
        .json(200);
    assert_eq!(
        (&asked["competence"], &asked["triples"]),
        (&json!("out_of_scope"), &json!([]))
    );
    // One tenant's account opens no other tenant's door.
    let login = json!({"email": bob.email, "password": PASSWORD, "tenant_id": alice.tenant_id});
    bob.post("/api/auth/login", login)
        .await
        .problem(403, "FORBIDDEN");
}

/// The same request id each time, so that answers can be compared byte by byte.
async fn raw(client: &Client, method: &str, path: &str, body: Option<String>) -> Answer {
    let request = client
        .request(method, path)
        .header("x-request-id", "0191a0c2-7c1e-7c63-9d2a-000000000001");
    client
        .send(match body {
            Some(body) => request
                .header("content-type", "application/json")
                .body(body),
            None => request,
        })
        .await
}

#[track_caller]
fn same(a: &Answer, b: &Answer, what: &str) {
    assert_eq!((a.status, a.text()), (b.status, b.text()), "{what}");
    let headers = |answer: &Answer| {
        let mut headers = answer.headers.clone();
        headers.remove("date");
        headers
    };
    assert_eq!(headers(a), headers(b), "{what}");
}

fn decoded(token: &str) -> Value {
    jsonwebtoken::dangerous::insecure_decode::<Value>(token)
        .expect("a token")
        .claims
}

fn signed(claims: &Value, secret: &[u8]) -> String {
    let key = EncodingKey::from_secret(secret).expect("a key");
    jsonwebtoken::encode(&Header::new(Algorithm::HS256), claims, &key).expect("a token")
}

fn with(claims: &Value, name: &str, value: Value) -> Value {
    let mut claims = claims.clone();
    claims[name] = value;
    claims
}

/// JSON as a part of a token.
fn base64url(v: &Value) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for three in v.to_string().as_bytes().chunks(3) {
        let n = three.iter().fold(0_u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - three.len()));
        for i in 0..=three.len() {
            out.push(char::from(SIGNS[(n >> (18 - 6 * i) & 63) as usize]));
        }
    }
    out
}
