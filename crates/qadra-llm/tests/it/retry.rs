use std::time::{Duration, Instant};

use futures::StreamExt;
use qadra_llm::*;
use qadra_testkit::llm::{Gate, Reply, ScriptedLlm};

use crate::{answer, next_token, openai, provider_with, quick, stream};

#[tokio::test]
async fn passing_failures_before_the_first_token_are_retried() {
    for reply in [
        Reply::error(429, "slow down").header("retry-after", "0"),
        Reply::error(408, "too slow"),
        Reply::error(500, "oops"),
        Reply::error(503, "busy"),
        Reply::error(529, "overloaded"),
        Reply::disconnect(),
        Reply::new().drop_here(),
        Reply::new().bare(),
        Reply::raw_body(
            200,
            "data: {\"error\":{\"message\":\"overloaded\",\"code\":529}}\n\n",
        ),
    ] {
        let server = ScriptedLlm::start().await;
        server
            .push(reply.clone())
            .push(reply.clone())
            .push(Reply::text("fine"));
        let answer = answer(&openai(&server)).await;
        assert_eq!(
            answer.map(|answer| answer.content),
            Ok("fine".to_owned()),
            "{reply:?}"
        );
        assert_eq!(server.request_count(), 3);
    }
}

#[tokio::test]
async fn attempts_are_limited_and_the_last_error_is_told() {
    let server = ScriptedLlm::start().await;
    server.otherwise(Reply::error(503, "busy"));
    let options = Options {
        max_attempts: 4,
        ..quick()
    };
    let provider = provider_with(&server, ProviderKind::OpenAi, options);
    let error = answer(&provider).await.unwrap_err();
    assert_eq!(
        error,
        LlmError::Unavailable {
            status: 503,
            message: "busy".into(),
            retry_after: None
        }
    );
    assert_eq!(server.request_count(), 4);
}

#[tokio::test]
async fn a_rate_limit_is_waited_out_as_the_server_asks() {
    let server = ScriptedLlm::start().await;
    server.push(Reply::error(429, "slow down").header("retry-after", "0.2"));
    let begun = Instant::now();
    answer(&openai(&server)).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(200));

    // An hour is cut to the cap.
    server.push(Reply::error(429, "slow down").header("retry-after", "3600"));
    let options = Options {
        max_retry_after: Duration::from_millis(50),
        ..quick()
    };
    answer(&provider_with(&server, ProviderKind::OpenAi, options))
        .await
        .unwrap();
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn spent_quota_is_not_a_rate_limit() {
    let server = ScriptedLlm::start().await;
    let body = r#"{"error":{"message":"pay first","code":"insufficient_quota"}}"#;
    server.otherwise(Reply::raw_body(429, body));
    let error = answer(&openai(&server)).await.unwrap_err();
    assert_eq!(
        error,
        LlmError::Refused {
            status: 429,
            message: "pay first".into()
        }
    );
    assert_eq!(server.request_count(), 1);
}

#[tokio::test]
async fn nothing_is_retried_after_the_first_token() {
    let server = ScriptedLlm::start().await;
    let gate = Gate::new();
    server.push(Reply::text("half").gate(&gate).drop_here());
    let provider = openai(&server);
    let mut stream = stream(&provider).await.unwrap();
    assert_eq!(next_token(&mut stream).await, "half");
    gate.open();
    let error = stream.next().await.unwrap().unwrap_err();
    assert!(matches!(error, LlmError::Interrupted { .. }), "{error:?}");
    assert!(stream.next().await.is_none());
    assert_eq!(error.usage(), stream.usage());
    assert_eq!(server.request_count(), 1);
}

#[tokio::test]
async fn nothing_is_retried_after_a_part_of_a_tool_call() {
    let server = ScriptedLlm::start().await;
    let part = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"t","arguments":"{"}}]}}]}"#;
    server.push(
        Reply::new()
            .token("")
            .raw(format!("data: {part}\n\n"))
            .drop_here(),
    );
    let error = answer(&openai(&server)).await.unwrap_err();
    assert!(matches!(error, LlmError::Interrupted { .. }), "{error:?}");
    assert_eq!(server.request_count(), 1);
}

#[tokio::test]
async fn an_answer_that_only_lacks_its_figures_stands() {
    let server = ScriptedLlm::start().await;
    let end = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    server.push(
        Reply::text("all")
            .raw(format!("data: {end}\n\n"))
            .drop_here(),
    );
    let answer = answer(&openai(&server)).await.unwrap();
    assert_eq!(
        (answer.content.as_str(), answer.usage.estimated),
        ("all", true)
    );
}

#[tokio::test]
async fn a_refused_connection_is_unreachable_after_every_attempt() {
    let server = ScriptedLlm::start().await;
    let provider = openai(&server);
    drop(server);
    let error = answer(&provider).await.unwrap_err();
    assert!(matches!(error, LlmError::Unreachable { .. }), "{error:?}");
    assert!(error.retryable());
}

#[tokio::test]
async fn silence_times_out_by_its_phase() {
    let server = ScriptedLlm::start().await;
    let options = Options {
        first_byte_timeout: Duration::from_millis(50),
        idle_timeout: Duration::from_millis(50),
        ..quick()
    };
    let provider = provider_with(&server, ProviderKind::OpenAi, options);
    server.push(Reply::silence());
    let error = answer(&provider).await.unwrap_err();
    assert_eq!(
        error,
        LlmError::Timeout {
            phase: Phase::FirstByte
        }
    );
    assert_eq!(server.request_count(), 1);
    assert!(server.wait_for_close(0, crate::SOON).await);

    server.push(Reply::new().token("").hang());
    let error = answer(&provider).await.unwrap_err();
    assert_eq!(error, LlmError::Timeout { phase: Phase::Idle });

    server.push(Reply::text("half").hang());
    let error = answer(&provider).await.unwrap_err();
    let LlmError::Interrupted { message, .. } = error else {
        panic!("{error:?}")
    };
    assert!(message.contains("timed out"), "{message}");
    assert!(server.wait_for_close(2, crate::SOON).await);
}
