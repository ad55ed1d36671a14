use qadra_llm::*;
use qadra_testkit::llm::{Gate, Reply, ScriptedLlm};
use serde_json::json;

use crate::{KEY, answer, anthropic, ask, next_token, stream};

#[tokio::test]
async fn text_arrives_as_sent_with_the_usage_of_both_ends() {
    let server = ScriptedLlm::start().await;
    let gate = Gate::new();
    server.push(Reply::tokens(["one ", "two"]).gate_each(&gate).usage(11, 5));
    let provider = anthropic(&server);
    gate.release(1);
    let mut stream = stream(&provider).await.unwrap();
    assert_eq!(next_token(&mut stream).await, "one ");
    // The prompt is known by now, the answer is not.
    assert_eq!(
        stream.usage(),
        Usage {
            prompt_tokens: 11,
            completion_tokens: estimate_tokens("one "),
            estimated: true
        }
    );
    gate.open();
    let answer = stream.collect_answer().await.unwrap();
    assert_eq!(answer.content, "two");
    assert_eq!(answer.reason, FinishReason::Stop);
    assert_eq!(
        answer.usage,
        Usage {
            prompt_tokens: 11,
            completion_tokens: 5,
            estimated: false
        }
    );
    let sent = server.requests().remove(0);
    assert_eq!(sent.header("x-api-key"), Some(KEY));
    assert_eq!(sent.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(sent.header("authorization"), None);
    assert_eq!(sent.body["max_tokens"], 4096);
}

#[tokio::test]
async fn tool_calls_arrive_whole_and_in_order() {
    let server = ScriptedLlm::start().await;
    let reply = Reply::text("let me see")
        .call("a", "lookup", "{\"query\":\"Äpfel\"}")
        .call("b", "list", "");
    for reply in [reply.clone(), reply.whole()] {
        server.push(reply);
        let answer = answer(&anthropic(&server)).await.unwrap();
        assert_eq!(answer.content, "let me see");
        assert_eq!(answer.reason, FinishReason::ToolCalls);
        let calls: Vec<_> = answer
            .tool_calls
            .iter()
            .map(|call| (&*call.id, &*call.name))
            .collect();
        assert_eq!(calls, [("a", "lookup"), ("b", "list")]);
        assert_eq!(answer.tool_calls[0].arguments, "{\"query\":\"Äpfel\"}");
    }
}

#[tokio::test]
async fn leading_system_messages_become_the_system_text() {
    let server = ScriptedLlm::start().await;
    let mut request = ask("hi");
    request.messages.insert(0, ChatMessage::system("persona"));
    request.messages.insert(1, ChatMessage::system("FACTS"));
    complete(
        anthropic(&server).as_ref(),
        request,
        CancellationToken::new(),
    )
    .await
    .unwrap();
    let sent = server.requests().remove(0).body;
    assert_eq!(sent["system"], "persona\n\nFACTS");
    assert_eq!(
        sent["messages"],
        json!([{"role": "user", "content": [{"type": "text", "text": "hi"}]}])
    );
}

#[tokio::test]
async fn overload_is_retried_before_the_first_token_and_told_after_it() {
    let server = ScriptedLlm::start().await;
    let fault = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\
        \"message\":\"Overloaded\"}}\n\n";
    server
        .push(Reply::error(529, "Overloaded"))
        .push(Reply::new().raw(fault).bare().token(""))
        .push(Reply::text("fine"));
    assert_eq!(answer(&anthropic(&server)).await.unwrap().content, "fine");
    assert_eq!(server.request_count(), 3);

    server.push(Reply::text("half").raw(fault));
    let error = answer(&anthropic(&server)).await.unwrap_err();
    let LlmError::Interrupted { message, .. } = error else {
        panic!("{error:?}")
    };
    assert!(message.contains("529: Overloaded"), "{message}");
    assert_eq!(server.request_count(), 4);
}

#[tokio::test]
async fn hidden_reasoning_is_paid_for_but_not_shown() {
    let server = ScriptedLlm::start().await;
    let thought = "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":\
        {\"type\":\"thinking_delta\",\"thinking\":\"a long and winding thought\"}}\n\n";
    server.push(Reply::new().raw(thought).token("yes").no_usage());
    let answer = answer(&anthropic(&server)).await.unwrap();
    assert_eq!(answer.content, "yes");
    assert!(answer.usage.estimated);
    assert_eq!(
        answer.usage.completion_tokens,
        estimate_tokens("a long and winding thoughtyes")
    );
}

#[tokio::test]
async fn the_version_in_the_address_is_not_doubled() {
    let server = ScriptedLlm::start().await;
    let provider = build(ProviderConfig {
        base_url: Some(format!("{}/v1/", server.anthropic_url())),
        model: Some("m".into()),
        ..ProviderConfig::new(ProviderKind::Anthropic)
    })
    .unwrap();
    assert_eq!(answer(&provider).await.unwrap().content, "ok");
}
