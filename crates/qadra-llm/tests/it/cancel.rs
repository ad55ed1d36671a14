use futures::StreamExt;
use qadra_llm::*;
use qadra_testkit::llm::{Reply, ScriptedLlm};

use crate::{SOON, anthropic, ask, next_token, openai, provider_with, quick, stream};

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server = ScriptedLlm::start().await;
    server.otherwise(Reply::text("a").hang());
    for (index, provider) in [openai(&server), anthropic(&server)].iter().enumerate() {
        let mut stream = stream(provider).await.unwrap();
        next_token(&mut stream).await;
        assert!(!server.requests()[index].closed_early());
        drop(stream);
        assert!(server.wait_for_close(index, SOON).await);
    }
}

#[tokio::test]
async fn cancelling_closes_the_connection_and_tells_what_was_spent() {
    let server = ScriptedLlm::start().await;
    server.push(Reply::text("a dozen letters").hang());
    let cancel = CancellationToken::new();
    let mut stream = openai(&server)
        .stream(ask("hello there"), cancel.clone())
        .await
        .unwrap();
    next_token(&mut stream).await;
    cancel.cancel();
    let error = stream.next().await.unwrap().unwrap_err();
    // The stream is still held: the connection must close without its being dropped.
    assert!(server.wait_for_close(0, SOON).await);
    assert!(stream.next().await.is_none());
    let LlmError::Cancelled { usage } = error else {
        panic!("{error:?}")
    };
    assert!(usage.estimated);
    assert_eq!(
        usage.prompt_tokens,
        ask("hello there").estimated_prompt_tokens()
    );
    assert_eq!(usage.completion_tokens, estimate_tokens("a dozen letters"));
    assert_eq!(stream.usage(), usage);
}

#[tokio::test]
async fn cancelling_wakes_a_reader_that_waits_for_the_next_token() {
    let server = ScriptedLlm::start().await;
    server.push(Reply::text("a").hang());
    let cancel = CancellationToken::new();
    let mut stream = openai(&server)
        .stream(ask("hi"), cancel.clone())
        .await
        .unwrap();
    next_token(&mut stream).await;
    let reader = tokio::spawn(async move { stream.next().await });
    tokio::task::yield_now().await;
    cancel.cancel();
    let end = tokio::time::timeout(SOON, reader)
        .await
        .expect("woken")
        .unwrap();
    assert!(
        matches!(end, Some(Err(LlmError::Cancelled { .. }))),
        "{end:?}"
    );
    assert!(server.wait_for_close(0, SOON).await);
}

#[tokio::test]
async fn cancelling_while_waiting_for_headers_closes_the_connection() {
    let server = ScriptedLlm::start().await;
    server.push(Reply::silence());
    let provider = openai(&server);
    let cancel = CancellationToken::new();
    let waiting = provider.stream(ask("hi"), cancel.clone());
    let (ended, ()) = tokio::join!(waiting, async {
        assert!(server.wait_for_requests(1, SOON).await);
        cancel.cancel();
    });
    let error = ended.unwrap_err();
    let LlmError::Cancelled { usage } = error else {
        panic!("{error:?}")
    };
    assert_eq!(usage.prompt_tokens, ask("hi").estimated_prompt_tokens());
    assert!(server.wait_for_close(0, SOON).await);
}

#[tokio::test]
async fn dropping_a_call_that_waits_for_its_first_token_closes_the_connection() {
    let server = ScriptedLlm::start().await;
    server.push(Reply::new().token("").hang());
    let provider = openai(&server);
    let waiting = tokio::spawn(async move { stream(&provider).await });
    assert!(server.wait_for_requests(1, SOON).await);
    waiting.abort();
    assert!(server.wait_for_close(0, SOON).await);
}

#[tokio::test]
async fn cancelling_ends_the_wait_between_attempts() {
    let server = ScriptedLlm::start().await;
    server.otherwise(Reply::error(429, "slow down").header("retry-after", "3600"));
    let options = Options {
        max_retry_after: SOON * 100,
        ..quick()
    };
    let provider = provider_with(&server, ProviderKind::OpenAi, options);
    let cancel = CancellationToken::new();
    let waiting = provider.stream(ask("hi"), cancel.clone());
    let stop = async {
        assert!(server.wait_for_requests(1, SOON).await);
        cancel.cancel();
    };
    let (ended, ()) = tokio::time::timeout(SOON, async { tokio::join!(waiting, stop) })
        .await
        .expect("an end");
    assert!(
        matches!(ended, Err(LlmError::Cancelled { .. })),
        "{ended:?}"
    );
    assert_eq!(server.request_count(), 1);
}

#[tokio::test]
async fn a_call_that_is_cancelled_already_sends_nothing() {
    let server = ScriptedLlm::start().await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let ended = openai(&server).stream(ask("hi"), cancel).await;
    assert_eq!(
        ended.unwrap_err(),
        LlmError::Cancelled {
            usage: Usage::default()
        }
    );
    assert_eq!(server.request_count(), 0);
}
