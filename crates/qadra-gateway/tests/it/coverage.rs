//! Every operation of the OpenAPI document is tried by nobody, by forged credentials, and by keys and roles that must
//! not. An operation without an entry in [`crate::operations`] fails.

use std::collections::BTreeSet;

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use crate::operations::{ACCOUNT, ADMINS, PUBLIC, cases, document};
use crate::support::{Client, TestApp, filled, id, token_key_secret, unknown_id as uuid};

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
        let changes =
            method != "GET" && !["knowledge_query", "knowledge_verify"].contains(&case.operation);
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
