//! Accounts, sessions, tenants and keys.

use serde_json::{Value, json};

use crate::support::{Answer, Client, PASSWORD, TestApp, id};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn registering_makes_a_tenant_its_owner_and_four_agents() {
    let app = TestApp::start().await;
    let account = json!({"email": " Ada@Example.ORG ", "password": PASSWORD, "name": "Ada", "tenant_name": "Acme, Ltd"});
    let session = app
        .stranger()
        .post("/api/auth/register", account)
        .await
        .json(201);
    let user = &session["user"];
    assert_eq!(
        (&user["email"], &user["name"], &user["role"]),
        (&json!("ada@example.org"), &json!("Ada"), &json!("owner"))
    );
    assert_eq!(user["is_super_admin"], false);
    assert_eq!(session["tenant"]["name"], "Acme, Ltd");
    assert!(
        session["tenant"]["slug"]
            .as_str()
            .is_some_and(|s| s.starts_with("acme-ltd-")),
        "{session}"
    );
    assert_eq!(session["expires_in"], 900);
    let ada = app.stranger().with_session(&session);
    let me = ada.get("/api/auth/me").await.json(200);
    assert_eq!(
        (&me["user"], &me["tenant"], &me["role"]),
        (user, &session["tenant"], &json!("owner"))
    );
    assert_eq!(me["tenants"][0]["is_default"], true);
    let agents = ada.get("/api/agents").await.json(200);
    let names: Vec<_> = agents["items"]
        .as_array()
        .expect("agents")
        .iter()
        .map(|a| a["name"].clone())
        .collect();
    assert_eq!(names, ["scarlet", "ayana", "eliza", "reagan"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_has_one_account_and_a_refused_one_leaves_nothing() {
    let app = TestApp::start().await;
    let ada = app.user("Ada").await;
    let rows = app.rows().await;
    let tenants = "SELECT count(*) FROM tenants";
    let before = (rows.counts().await, rows.number(tenants).await);
    let account = |email: &str, password: &str| json!({"email": email, "password": password, "name": "Eve", "tenant_name": "Eve Ltd"});
    let register = async |body: Value| app.stranger().post("/api/auth/register", body).await;
    register(account(&ada.email.to_uppercase(), PASSWORD))
        .await
        .problem(409, "EMAIL_TAKEN");
    for (email, password) in [
        ("", PASSWORD),
        ("ada", PASSWORD),
        ("a@b@c", PASSWORD),
        ("eve@example.org", "1234567"),
        ("eve@example.org", ""),
    ] {
        register(account(email, password))
            .await
            .problem(422, "VALIDATION_FAILED");
    }
    register(account("eve@example.org", &"x".repeat(1025)))
        .await
        .problem(422, "VALIDATION_FAILED");
    assert_eq!((rows.counts().await, rows.number(tenants).await), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_registrations_of_one_address_at_once_make_one_account() {
    let app = TestApp::start().await;
    let account = json!({"email": "twin@example.org", "password": PASSWORD, "name": "Twin", "tenant_name": "Twins"});
    let stranger = app.stranger();
    let register = || stranger.post("/api/auth/register", account.clone());
    let (a, b) = tokio::join!(register(), register());
    let mut statuses = [a.status, b.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409], "{} {}", a.text(), b.text());
    assert_eq!(
        app.rows()
            .await
            .number("SELECT count(*) FROM tenants")
            .await,
        1
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_password_and_an_unknown_address_look_the_same() {
    let app = TestApp::start().await;
    let ada = app.user("Ada").await;
    login(&ada, &ada.email, PASSWORD).await.json(200);
    let wrong = login(&ada, &ada.email, "wrong password").await;
    wrong.problem(401, "INVALID_CREDENTIALS");
    for email in ["nobody@example.org", "no address", ""] {
        let unknown = login(&ada, email, PASSWORD).await;
        assert_eq!(unknown.body, wrong.body, "{email}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refresh_token_is_good_once_and_its_reuse_ends_the_session() {
    let app = TestApp::start().await;
    let ada = app.user("Ada").await;
    let other = login(&ada, &ada.email, PASSWORD).await.json(200);
    let first = ada.refresh_token.clone();
    let second = refresh(&ada, &first).await.json(200);
    assert_ne!(second["refresh_token"], first.as_str());
    assert_eq!(second["user"]["id"], ada.user_id.as_str());
    assert_eq!(
        ada.with_session(&second).get("/api/auth/me").await.status,
        200
    );
    let third = refresh(&ada, token(&second)).await.json(200);

    refresh(&ada, &first)
        .await
        .problem(401, "REFRESH_TOKEN_REUSED");
    // The thief and the owner are both out; another sign-in of the same person is not.
    refresh(&ada, token(&third))
        .await
        .problem(401, "TOKEN_INVALID");
    refresh(&ada, token(&second))
        .await
        .problem(401, "TOKEN_INVALID");
    refresh(&ada, token(&other)).await.json(200);
    for nonsense in ["", "qrt_", "qrt_0000", ada.token()] {
        refresh(&ada, nonsense).await.problem(401, "TOKEN_INVALID");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_uses_of_a_refresh_token_at_once_one_succeeds() {
    let app = TestApp::start().await;
    let ada = app.user("Ada").await;
    let (a, b) = tokio::join!(
        refresh(&ada, &ada.refresh_token),
        refresh(&ada, &ada.refresh_token)
    );
    let mut statuses = [a.status, b.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401], "{} {}", a.text(), b.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_refresh_token_says_so() {
    let app = TestApp::start().await;
    let ada = app.user("Ada").await;
    app.rows()
        .await
        .run("UPDATE refresh_tokens SET expires_at = now() - interval '1 second'")
        .await;
    refresh(&ada, &ada.refresh_token)
        .await
        .problem(401, "TOKEN_EXPIRED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logging_out_ends_the_session_and_asking_twice_is_no_error() {
    let app = TestApp::start().await;
    let ada = app.user("Ada").await;
    let logout = async |token: &str| {
        ada.post("/api/auth/logout", json!({"refresh_token": token}))
            .await
    };
    let next = refresh(&ada, &ada.refresh_token).await.json(200);
    logout(token(&next)).await.empty(204);
    refresh(&ada, token(&next))
        .await
        .problem(401, "TOKEN_INVALID");
    logout(token(&next)).await.empty(204);
    logout("qrt_unknown").await.empty(204);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_of_two_tenants_switches_between_them() {
    let app = TestApp::start().await;
    let ada = app.user("Ada").await;
    let bob = app.member(&ada, "Bob", "user").await;
    assert_eq!(bob.tenant_id, ada.tenant_id);
    let me = bob.get("/api/auth/me").await.json(200);
    assert_eq!(me["role"], "user");
    let tenants = me["tenants"].as_array().expect("tenants");
    let roles: Vec<_> = tenants
        .iter()
        .map(|t| (t["role"].clone(), t["is_default"].clone()))
        .collect();
    assert_eq!(
        roles,
        [(json!("owner"), json!(true)), (json!("user"), json!(false))]
    );
    // A refreshed session stays where it was; a slug is as good as an id.
    let refreshed = refresh(&bob, &bob.refresh_token).await.json(200);
    assert_eq!(refreshed["tenant"]["id"], ada.tenant_id.as_str());
    let home = bob
        .post(
            "/api/auth/switch-tenant",
            json!({"tenant_id": tenants[0]["slug"]}),
        )
        .await
        .json(200);
    assert_eq!(
        (&home["tenant"]["id"], &home["user"]["role"]),
        (&tenants[0]["id"], &json!("owner"))
    );
    // Her agents are there for both, his own are not hers.
    bob.get(&format!("/api/agents/{}", ada.agent("scarlet").await))
        .await
        .json(200);
    let at_home = bob.with_session(&home);
    bob.get(&format!("/api/agents/{}", at_home.agent("scarlet").await))
        .await
        .problem(404, "NOT_FOUND");
    let there = json!({"email": bob.email, "password": PASSWORD, "tenant_id": ada.tenant_id});
    let session = bob.post("/api/auth/login", there).await.json(200);
    assert_eq!(session["tenant"]["id"], ada.tenant_id.as_str());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_shown_once_works_until_revoked_and_is_stored_as_a_hash() {
    let app = TestApp::start().await;
    let ada = app.user("Ada").await;
    let made = ada
        .post("/api/api-keys", json!({"name": "ci", "scopes": ["read"]}))
        .await
        .json(201);
    let key = made["key"].as_str().expect("the key");
    assert!(
        key.starts_with(made["prefix"].as_str().expect("a prefix")) && key.len() > 60,
        "{made}"
    );
    assert_eq!(
        (&made["scopes"], &made["revoked_at"], &made["last_used_at"]),
        (&json!(["read"]), &Value::Null, &Value::Null)
    );
    let robot = app.stranger().with_key(key);
    assert_eq!(
        robot.get("/api/auth/me").await.json(200)["user"]["id"],
        ada.user_id.as_str()
    );

    let listed = ada.get("/api/api-keys").await;
    assert!(!listed.text().contains(key), "the key is shown again");
    assert!(!listed.json(200)["items"][0]["last_used_at"].is_null());
    ada.delete(&format!("/api/api-keys/{}", id(&made)))
        .await
        .empty(204);
    robot
        .get("/api/auth/me")
        .await
        .problem(401, "TOKEN_INVALID");
    ada.delete(&format!("/api/api-keys/{}", id(&made)))
        .await
        .empty(204);
    assert!(!ada.get("/api/api-keys").await.json(200)["items"][0]["revoked_at"].is_null());

    let rows = app.rows().await;
    for (table, secret) in [
        ("api_keys", key),
        ("refresh_tokens", ada.refresh_token.as_str()),
        ("users", PASSWORD),
    ] {
        let secret = secret.trim_start_matches("qk_").trim_start_matches("qrt_");
        let held = format!("SELECT count(*) FROM {table} t WHERE strpos(t::text, '{secret}') > 0");
        assert_eq!(rows.number(&held).await, 0, "{table} holds a secret");
        let there = rows.number(&format!("SELECT count(*) FROM {table}")).await;
        assert!(there > 0, "{table} is empty");
    }
    let argon = "SELECT count(*) FROM users WHERE password_hash NOT LIKE '$argon2id$%'";
    assert_eq!(rows.number(argon).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_sees_and_revokes_only_the_keys_that_are_theirs() {
    let app = TestApp::start().await;
    let ada = app.user("Ada").await;
    let bob = app.member(&ada, "Bob", "user").await;
    let hers = ada
        .post("/api/api-keys", json!({"name": "hers"}))
        .await
        .json(201);
    let his = bob
        .post("/api/api-keys", json!({"name": "his"}))
        .await
        .json(201);
    assert_eq!(bob.get("/api/api-keys").await.json(200)["total"], 1);
    assert_eq!(ada.get("/api/api-keys").await.json(200)["total"], 2);
    bob.delete(&format!("/api/api-keys/{}", id(&hers)))
        .await
        .problem(404, "NOT_FOUND");
    ada.delete(&format!("/api/api-keys/{}", id(&his)))
        .await
        .empty(204);
    // A key has its owner's role as it is now, not as it was.
    let key = app
        .stranger()
        .with_key(hers["key"].as_str().expect("a key"));
    key.post("/api/agents", json!({"name": "by-key"}))
        .await
        .json(201);
    app.rows()
        .await
        .run(&format!(
            "UPDATE user_tenants SET role = 'user' WHERE user_id = '{}'",
            ada.user_id
        ))
        .await;
    key.post("/api/agents", json!({"name": "by-key-2"}))
        .await
        .problem(403, "FORBIDDEN");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sign_in_attempts_are_limited_before_a_password_is_hashed() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.user("Ada").await, app.user("Bob").await);
    for _ in 0..10 {
        login(&ada, &ada.email, "wrong password")
            .await
            .problem(401, "INVALID_CREDENTIALS");
    }
    // Hashing takes tens of milliseconds and queues 64 at most; these are all refused for the first reason.
    let many = (0..200).map(|_| login(&ada, &ada.email, PASSWORD));
    for answer in futures::future::join_all(many).await {
        let problem = answer.problem(429, "RATE_LIMITED");
        assert_eq!(
            problem["detail"],
            "too many failed sign-ins for this account"
        );
        assert_eq!(problem["hint"], "try again in 15 minutes");
    }
    login(&bob, &bob.email, PASSWORD).await.json(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_guesses_at_once_are_not_more_guesses() {
    let app = TestApp::start().await;
    let ada = app.user("Ada").await;
    let many = (0..40).map(|_| login(&ada, &ada.email, "wrong password"));
    let answers = futures::future::join_all(many).await;
    let judged = answers.iter().filter(|a| a.status == 401).count();
    assert!(judged <= 10, "{judged} passwords were tried");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_is_told_to_anyone() {
    let app = TestApp::start().await;
    let nobody = app.stranger();
    let meta = nobody.get("/api/meta").await.json(200);
    assert_eq!(
        meta["llm"],
        json!({"provider": "builtin", "model": "builtin"})
    );
    assert_eq!(
        nobody.get("/healthz").await.json(200),
        json!({"status": "ok"})
    );
    assert_eq!(nobody.get("/readyz").await.json(200)["status"], "ready");
    let metrics = nobody.get("/metrics").await;
    assert!(
        metrics
            .text()
            .contains("qadra_http_requests_total{operation=\"meta_get\",status=\"200\"} 1"),
        "{}",
        metrics.text()
    );
}

async fn login(at: &Client, email: &str, password: &str) -> Answer {
    let body = json!({"email": email, "password": password});
    let request = at.request("POST", "/api/auth/login").json(&body);
    at.send(request.header("x-request-id", "0191a0c2-7c1e-7c63-9d2a-000000000001"))
        .await
}

async fn refresh(at: &Client, token: &str) -> Answer {
    at.post("/api/auth/refresh", json!({"refresh_token": token}))
        .await
}

fn token(session: &Value) -> &str {
    session["refresh_token"].as_str().expect("a refresh token")
}
