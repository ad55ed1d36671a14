use qadra_llm::*;
use qadra_testkit::llm::{Reply, ScriptedLlm};

use crate::{SOON, answer, anthropic, openai, provider_with, quick};

#[tokio::test]
async fn a_line_without_end_is_cut_at_its_limit() {
    let server = ScriptedLlm::start().await;
    server.push(Reply::new().raw(vec![b'x'; (1 << 20) + 1]).hang());
    let error = answer(&openai(&server)).await.unwrap_err();
    assert_eq!(
        error,
        LlmError::TooLarge {
            what: "one line",
            limit: 1 << 20
        }
    );
    assert!(server.wait_for_close(0, SOON).await);
}

#[tokio::test]
async fn an_answer_without_end_is_cut_at_its_limit() {
    let server = ScriptedLlm::start().await;
    let piece = "x".repeat(500_000);
    server.otherwise(Reply::tokens(vec![piece; 20]));
    for provider in [openai(&server), anthropic(&server)] {
        let error = answer(&provider).await.unwrap_err();
        assert_eq!(
            error,
            LlmError::TooLarge {
                what: "one answer",
                limit: 8 << 20
            }
        );
    }
    let whole = Reply::text("x".repeat(9 << 20)).whole();
    server.push(whole);
    let error = answer(&openai(&server)).await.unwrap_err();
    assert_eq!(
        error,
        LlmError::TooLarge {
            what: "one answer",
            limit: 8 << 20
        }
    );
}

#[tokio::test]
async fn arguments_without_end_are_cut_at_their_limit() {
    let server = ScriptedLlm::start().await;
    server.otherwise(Reply::calls(
        "t",
        format!("{{\"x\":\"{}\"}}", "y".repeat(256 << 10)),
    ));
    for provider in [openai(&server), anthropic(&server)] {
        let error = answer(&provider).await.unwrap_err();
        assert!(
            matches!(error, LlmError::TooLarge { limit: 262_144, .. }),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn endless_heartbeats_are_cut_at_the_limit_of_the_body() {
    let server = ScriptedLlm::start().await;
    server.push(Reply::new().raw(": beat\n\n".repeat(10_000)).hang());
    let limits = Limits {
        body: 50_000,
        ..Limits::default()
    };
    let options = Options { limits, ..quick() };
    let provider = provider_with(&server, ProviderKind::OpenAi, options);
    let error = answer(&provider).await.unwrap_err();
    assert_eq!(
        error,
        LlmError::TooLarge {
            what: "one response",
            limit: 50_000
        }
    );
}
