//! What servers send that the format does not say.

use bytes::Bytes;
use proptest::prelude::*;
use qadra_llm::*;
use qadra_testkit::llm::{Reply, ScriptedLlm};

use crate::{answer, openai};

async fn read(body: impl Into<Bytes>) -> Result<Completion, LlmError> {
    let server = ScriptedLlm::start().await;
    server.otherwise(Reply::raw_body(200, body));
    answer(&openai(&server)).await
}

fn chunk(delta: &str) -> String {
    format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n")
}

#[tokio::test]
async fn framing_is_read_in_every_form() {
    let a = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
    let b = r#"{"choices":[{"delta":{"content":"b"}}]}"#;
    for body in [
        format!("data: {a}\n\ndata: {b}\n\ndata: [DONE]\n\n"),
        format!("data:{a}\n\ndata:{b}\n\ndata:[DONE]\n\n"),
        format!("data: {a}\r\n\r\ndata: {b}\r\n\r\ndata: [DONE]\r\n\r\n"),
        format!(": hello\n\ndata: {a}\n\n: still here\n\ndata: {b}\n\ndata: [DONE]\n\n"),
        format!("event: x\nid: 1\nretry: 3\ndata: {a}\n\ndata: {b}\n\ndata: [DONE]"),
        format!("data: {a}\ndata: {b}\ndata: [DONE]\n"),
        format!("\u{feff}data: {a}\n\ndata: {b}\n\ndata: [DONE]\n\n"),
        format!(
            "data: {}\n\ndata: {b}\n\ndata: [DONE]\n\n",
            a.replace(":{", ":\ndata: {")
        ),
        format!("data: {a}\n\ndata: {{}}\n\ndata: {{\"ping\":1}}\n\ndata: {b}\n\ndata: [DONE]\n\n"),
    ] {
        let answer = read(body.clone())
            .await
            .unwrap_or_else(|error| panic!("{error}: {body}"));
        assert_eq!(answer.content, "ab", "{body}");
        assert_eq!(answer.reason, FinishReason::Stop);
        assert!(answer.usage.estimated);
    }
}

#[tokio::test]
async fn a_finish_reason_stands_in_for_the_end_mark() {
    let body = chunk(r#"{"content":"a"}"#)
        + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n";
    assert_eq!(read(body).await.unwrap().reason, FinishReason::Length);
    let body = chunk(r#"{"content":"a"}"#)
        + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"eos\"}]}\n\n";
    assert_eq!(
        read(body).await.unwrap().reason,
        FinishReason::Other("eos".into())
    );
}

#[tokio::test]
async fn an_answer_cut_off_without_any_end_is_interrupted() {
    let error = read(chunk(r#"{"content":"abcdef"}"#)).await.unwrap_err();
    let LlmError::Interrupted { usage, .. } = &error else {
        panic!("{error:?}")
    };
    assert!(usage.estimated && usage.completion_tokens > 0 && usage.prompt_tokens > 0);
    assert_eq!(error.usage(), *usage);
    assert!(error.retryable());
}

#[tokio::test]
async fn fields_of_other_kinds_are_read_as_what_they_mean() {
    let body = [
        r#"{"role":"assistant","content":null,"tool_calls":null}"#,
        r#"{"content":[{"type":"text","text":"a"}]}"#,
        r#"{"reasoning_content":"thinking hard","content":""}"#,
        r#"{"tool_calls":[{"function":{"name":"t","arguments":{"x":1}}}]}"#,
    ]
    .map(chunk)
    .concat()
        + "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"other\"}}]}\n\n"
        + "data: {\"choices\":null,\"usage\":{\"prompt_tokens\":5.0,\"completion_tokens\":null}}\n\n"
        + "data: [DONE]\n\n";
    let answer = read(body).await.unwrap();
    assert_eq!(answer.content, "a");
    assert_eq!(answer.tool_calls[0].arguments, r#"{"x":1}"#);
    assert_eq!(answer.tool_calls[0].id, "call_0");
    assert_eq!(answer.reason, FinishReason::ToolCalls);
    assert_eq!(answer.usage.prompt_tokens, 5);
    assert!(answer.usage.estimated && answer.usage.completion_tokens > 3);
}

#[tokio::test]
async fn whole_calls_that_share_an_index_are_told_apart() {
    let call = |id: &str| {
        chunk(&format!(
            r#"{{"tool_calls":[{{"index":0,"id":"{id}","function":{{"name":"t","arguments":"{{}}"}}}}]}}"#
        ))
    };
    let answer = read(call("a") + &call("b") + "data: [DONE]\n\n")
        .await
        .unwrap();
    let ids: Vec<&str> = answer
        .tool_calls
        .iter()
        .map(|call| call.id.as_str())
        .collect();
    assert_eq!(ids, ["a", "b"]);
}

#[tokio::test]
async fn a_huge_call_index_costs_nothing() {
    let body = chunk(r#"{"tool_calls":[{"index":4294967295,"id":"a","function":{"name":"t"}}]}"#)
        + "data: [DONE]\n\n";
    assert_eq!(read(body).await.unwrap().tool_calls.len(), 1);
}

#[tokio::test]
async fn errors_inside_the_stream_are_told_apart_by_what_came_before() {
    let fault = "data: {\"error\":{\"message\":\"no such model\",\"code\":404}}\n\n";
    let error = read(fault).await.unwrap_err();
    assert_eq!(
        error,
        LlmError::Refused {
            status: 404,
            message: "no such model".into()
        }
    );
    let error = read(chunk(r#"{"content":"a"}"#) + fault).await.unwrap_err();
    let LlmError::Interrupted { message, .. } = error else {
        panic!("{error:?}")
    };
    assert!(message.contains("no such model"), "{message}");
    for fault in [
        r#"{"object":"error","message":"no such model","code":400}"#,
        r#"{"error":"no such model"}"#,
        r#"{"detail":"no such model"}"#,
    ] {
        let error = read(format!("data: {fault}\n\n")).await.unwrap_err();
        assert!(error.to_string().contains("no such model"), "{error}");
        let error = read(fault).await.unwrap_err();
        assert!(error.to_string().contains("no such model"), "{error}");
    }
}

#[tokio::test]
async fn documents_that_are_no_answer_are_malformed() {
    for body in [
        "{}",
        "{\"choices\":[]}",
        "{\"choices\":{}}",
        "<html>",
        "data: {\"choices\":7}\n\n",
        "",
    ] {
        let error = read(body).await.unwrap_err();
        assert!(
            matches!(
                error,
                LlmError::Malformed { .. } | LlmError::Unreachable { .. }
            ),
            "{body}: {error:?}"
        );
    }
    let deep = format!("data: {}\n\n", "[".repeat(100_000));
    assert!(matches!(read(deep).await, Err(LlmError::Malformed { .. })));
}

fn on_runtime<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_end_in_an_answer_or_an_error(
        kind in 0..3,
        noise in proptest::collection::vec(any::<u8>(), 0..300),
        words in proptest::collection::vec("[a-z\\[\\]{}:,\"\\\\0-9\n ]{0,30}", 0..8),
    ) {
        let body: Vec<u8> = match kind {
            0 => noise,
            1 => words.iter().flat_map(|word| format!("data: {word}\n\n").into_bytes()).collect(),
            _ => words.iter().flat_map(|word| {
                format!("data: {{\"choices\":[{{\"delta\":{{\"content\":{word:?}}}}}]}}\n\n").into_bytes()
            }).collect(),
        };
        on_runtime(async {
            let server = ScriptedLlm::start().await;
            server.otherwise(Reply::raw_body(200, body));
            for provider in [openai(&server), crate::anthropic(&server)] {
                let _ = tokio::time::timeout(crate::SOON, answer(&provider)).await.expect("an end");
            }
        });
    }
}
