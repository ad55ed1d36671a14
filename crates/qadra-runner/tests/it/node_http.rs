//! Http nodes against a real server.

use std::sync::Arc;
use std::time::Duration;

use qadra_flow::NodeKind;
use serde_json::{Value, json};

use crate::kit::Kit;
use crate::web::{Web, answer, egress, json as json_answer, redirect};

#[tokio::test]
async fn a_request_is_put_together_from_state_and_secrets() {
    let web = Web::start(|_| json_answer(r#"{"made": [1, 2]}"#)).await;
    let kit = Kit::new().await;
    kit.secret("TOKEN", "t0p s3cret");
    let data = json!({
        "label": "Call", "method": "post", "url": web.url("/v1/{{order.id}}?k={{secret.TOKEN}}"), "secrets": ["TOKEN"],
        "query": {"q": "{{term}}", "tags": "{{tags}}", "gone": "{{missing}}"},
        "headers": {"Authorization": "Bearer {{secret.TOKEN}}", "X-Name": "{{order.name}}", "Accept-Encoding": "br"},
        "body": {"items": "{{tags}}", "note": "for {{order.name}}", "key": "{{secret.TOKEN}}"},
    });
    let state = json!({"order": {"id": 17, "name": "Ada"}, "term": "a&b", "tags": ["x", 2]});
    let output = kit
        .run(NodeKind::Http, data.clone(), state.clone())
        .await
        .unwrap();
    assert_eq!(
        output,
        json!({"status": 200, "headers": {"content-type": "application/json", "content-length": "16"}, "body": {"made": [1, 2]}})
    );
    let mut again = kit.job(NodeKind::Http, data, state);
    again.attempt = 2;
    kit.perform(again).await.unwrap();
    let asked = web.asked();
    let first = &asked[0];
    assert_eq!(first.method, "POST");
    assert_eq!(first.target, "/v1/17?k=t0p%20s3cret&q=a%26b&tags=x&tags=2");
    assert_eq!(first.header("authorization"), Some("Bearer t0p s3cret"));
    assert_eq!(first.header("x-name"), Some("Ada"));
    assert_eq!(first.header("accept-encoding"), Some("gzip, deflate"));
    assert_eq!(first.header("content-type"), Some("application/json"));
    assert_eq!(
        serde_json::from_str::<Value>(&first.body).unwrap(),
        json!({"items": ["x", 2], "note": "for Ada", "key": "t0p s3cret"})
    );
    let key = |n: usize| asked[n].header("idempotency-key").unwrap().to_owned();
    assert_eq!(key(0), "00000000-0000-0000-0000-00000000002a");
    assert_eq!(key(0), key(1));
}

#[tokio::test]
async fn a_value_that_reads_like_a_template_stays_text_everywhere() {
    let web = Web::start(|asked| json_answer(&json!({"echo": asked.body}).to_string())).await;
    let kit = Kit::new().await;
    kit.secret("KEY", "hidden-value");
    let data = json!({
        "method": "PUT", "url": web.url("/{{v}}"), "query": {"q": "{{v}}"}, "headers": {"X-V": "{{v}}", "X-K": "{{secret.KEY}}"},
        "body": {"v": "{{v}}", "deep": ["a {{v}}"]},
    });
    let output = kit
        .run(NodeKind::Http, data, json!({"v": "{{secret.KEY}}"}))
        .await
        .unwrap();
    let asked = web.asked().pop().unwrap();
    assert_eq!(asked.header("x-v"), Some("{{secret.KEY}}"));
    assert_eq!(asked.header("x-k"), Some("hidden-value"));
    assert_eq!(
        asked.target,
        "/%7B%7Bsecret.KEY%7D%7D?q=%7B%7Bsecret.KEY%7D%7D"
    );
    let body = r#"{"deep":["a {{secret.KEY}}"],"v":"{{secret.KEY}}"}"#;
    assert_eq!(
        serde_json::from_str::<Value>(&asked.body).unwrap(),
        serde_json::from_str::<Value>(body).unwrap()
    );
    assert!(
        output["body"]["echo"]
            .as_str()
            .unwrap()
            .contains("{{secret.KEY}}")
    );
}

#[tokio::test]
async fn secrets_are_in_no_output_and_in_no_failure() {
    let web = Web::start(|asked| {
        let all = format!("{} {:?} {}", asked.target, asked.headers, asked.body);
        match asked.target.starts_with("/fail") {
            true => answer(500, &[], all),
            false => answer(
                200,
                &[("x-echo", asked.header("x-key").unwrap_or_default())],
                json!({"all": all}).to_string(),
            ),
        }
    })
    .await;
    let kit = Kit::new().await;
    let secret = "p4ss/word+\"q\"";
    kit.secret("K", secret);
    let data = |path: &str| {
        json!({
            "method": "POST", "url": web.url(&format!("{path}?a={{{{secret.K}}}}")), "headers": {"X-Key": "{{secret.K}}"},
            "body": {"k": "{{secret.K}}"},
        })
    };
    let output = kit
        .run(NodeKind::Http, data("/fine"), json!({}))
        .await
        .unwrap()
        .to_string();
    let failure = kit
        .run(NodeKind::Http, data("/fail"), json!({}))
        .await
        .unwrap_err();
    assert_eq!(failure.code, "http_status");
    for text in [output, failure.message] {
        assert!(text.contains("***"), "{text}");
        for spelling in ["p4ss", "word"] {
            assert!(!text.contains(spelling), "{text}");
        }
    }
    assert_eq!(web.asked()[0].header("x-key"), Some(secret));
    // The address cannot even be read: what is told of it has no secret either.
    kit.secret("K", "127.0.0.1:99999999");
    let data = json!({"url": "http://{{secret.K}}/"});
    let failure = kit.run(NodeKind::Http, data, json!({})).await.unwrap_err();
    assert!(
        failure.code == "bad_url" && !failure.message.contains("99999999"),
        "{failure:?}"
    );
}

#[tokio::test]
async fn secrets_do_not_follow_a_redirect_elsewhere() {
    let away = Web::start(|_| answer(200, &[], "ok")).await;
    let target = away.url("/");
    let web = Web::start(move |_| redirect(307, &target)).await;
    let kit = Kit::new().await;
    kit.secret("K", "s3cret");
    let with = |body: Value| json!({"method": "POST", "url": web.url("/"), "headers": {"Accept-Language": "{{secret.K}}", "X-Api-Key": "{{secret.K}}"}, "body": body});
    kit.run(NodeKind::Http, with(json!("plain")), json!({}))
        .await
        .unwrap();
    let asked = away.asked().pop().unwrap();
    assert_eq!(
        (
            asked.body.as_str(),
            asked.header("accept-language"),
            asked.header("x-api-key")
        ),
        ("plain", None, None)
    );
    let refused = kit
        .run(
            NodeKind::Http,
            with(json!({"k": "{{secret.K}}"})),
            json!({}),
        )
        .await
        .unwrap_err();
    assert_eq!((refused.code, away.asked().len()), ("redirect", 1));
}

#[tokio::test]
async fn statuses_are_outputs_or_failures_as_the_node_says() {
    let web = Web::start(|asked| {
        let status = asked.target.trim_start_matches('/').parse().unwrap();
        answer(
            status,
            &[("retry-after", "3"), ("set-cookie", "a=b")],
            "why  not\n",
        )
    })
    .await;
    let kit = Kit::new().await;
    let ask = async |status: u16, setting: Value| {
        kit.run(
            NodeKind::Http,
            json!({"url": web.url(&format!("/{status}")), "fail_on_status": setting}),
            json!({}),
        )
        .await
    };
    let missing = ask(404, Value::Null).await.unwrap();
    assert_eq!(
        (&missing["status"], &missing["body"]),
        (&json!(404), &json!("why  not\n"))
    );
    assert_eq!(missing["headers"].get("set-cookie"), None);
    for status in [429, 500, 503] {
        let failure = ask(status, Value::Null).await.unwrap_err();
        assert_eq!(
            (failure.code, failure.retryable),
            ("http_status", true),
            "{status}"
        );
        assert_eq!(failure.retry_after, Some(Duration::from_secs(3)));
        assert_eq!(
            failure.message,
            format!("the server answered with status {status}: why not")
        );
        assert_eq!(
            ask(status, json!(false)).await.unwrap()["status"],
            json!(status)
        );
    }
    let strict = ask(404, json!(true)).await.unwrap_err();
    assert_eq!((strict.code, strict.retryable), ("http_status", false));
}

#[tokio::test]
async fn bodies_are_json_where_they_can_be() {
    let web = Web::start(|asked| match asked.target.as_str() {
        "/number" => answer(200, &[], "12"),
        "/bom" => answer(200, &[], "\u{feff}{\"a\": 1}"),
        "/empty" => answer(204, &[], ""),
        "/bytes" => answer(200, &[], b"a\xff\0b"),
        _ => answer(200, &[], "<p>"),
    })
    .await;
    let kit = Kit::new().await;
    for (path, expected) in [
        ("/number", json!(12)),
        ("/bom", json!({"a": 1})),
        ("/empty", json!("")),
        ("/bytes", json!("a\u{fffd}\u{fffd}b")),
        ("/text", json!("<p>")),
    ] {
        let output = kit
            .run(NodeKind::Http, json!({"url": web.url(path)}), json!({}))
            .await
            .unwrap();
        assert_eq!(output["body"], expected, "{path}");
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_with_a_reason() {
    let web = Web::start(|_| answer(200, &[], "")).await;
    let kit = Kit::new().await;
    let url = web.url("/");
    for (data, code) in [
        (json!({}), "bad_input"),
        (json!({"url": "no url"}), "bad_url"),
        (json!({"url": "ftp://127.0.0.1/"}), "bad_url"),
        (json!({"url": "http://u:p@127.0.0.1/"}), "bad_url"),
        (json!({"url": url, "method": "TRACE"}), "bad_input"),
        (
            json!({"url": url, "headers": {"Host": "inside"}}),
            "bad_input",
        ),
        (
            json!({"url": url, "headers": {"X": "a\r\nEvil: 1"}}),
            "bad_input",
        ),
        (
            json!({"url": url, "headers": {"Transfer-Encoding": "chunked"}}),
            "bad_input",
        ),
        (json!({"url": url, "headers": "x"}), "bad_input"),
        (
            json!({"url": format!("{url}{{{{secret.NO}}}}")}),
            "unknown_secret",
        ),
        (json!({"url": url, "fail_on_status": "no"}), "bad_input"),
    ] {
        let failure = kit
            .run(NodeKind::Http, data.clone(), json!({}))
            .await
            .unwrap_err();
        assert_eq!((failure.code, failure.retryable), (code, false), "{data}");
    }
}

#[tokio::test]
async fn an_inside_address_is_a_failure_that_no_retry_mends() {
    let web = Web::start(|_| answer(200, &[], "")).await;
    let mut kit = Kit::new().await;
    kit.parts.egress = Arc::new(egress(""));
    let failure = kit
        .run(NodeKind::Http, json!({"url": web.url("/")}), json!({}))
        .await
        .unwrap_err();
    assert_eq!(
        (failure.code, failure.retryable, web.connections()),
        ("blocked_address", false, 0)
    );
}
