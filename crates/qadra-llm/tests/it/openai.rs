use std::collections::HashSet;

use qadra_llm::*;
use qadra_testkit::llm::{Gate, Reply, ScriptedLlm};
use serde_json::{Value, json};

use crate::{KEY, answer, next_token, openai, stream};

#[tokio::test]
async fn messages_go_out_exactly_in_the_order_given() {
    let server = ScriptedLlm::start().await;
    let request = ChatRequest {
        model: Some("m".into()),
        temperature: Some(0.7),
        max_tokens: Some(99),
        messages: vec![
            ChatMessage::system("you are Scarlet"),
            ChatMessage::system("FACTS\n- Apple founded_in_year 1976"),
            ChatMessage::user("hello"),
            ChatMessage::Assistant {
                content: String::new(),
                tool_calls: vec![ToolCall {
                    id: "c1".into(),
                    name: "chart".into(),
                    arguments: "{\"a\":1}".into(),
                }],
            },
            ChatMessage::tool("c1", "done"),
            ChatMessage::assistant("there"),
            ChatMessage::system("note"),
            ChatMessage::user("when?"),
        ],
        tools: vec![ToolSpec {
            name: "chart".into(),
            description: "draws".into(),
            parameters: json!({"type": "object"}),
        }],
        tool_choice: ToolChoice::Required,
        context: json!({"secret": "grounding"}),
    };
    complete(openai(&server).as_ref(), request, CancellationToken::new())
        .await
        .unwrap();

    let sent = server.requests().remove(0);
    assert_eq!(sent.path, "/v1/chat/completions");
    assert_eq!(
        sent.header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
    assert_eq!(
        sent.body,
        json!({
            "model": "m",
            "stream": true,
            "stream_options": {"include_usage": true},
            "temperature": 0.7,
            "max_tokens": 99,
            "tools": [{"type": "function", "function": {
                "name": "chart", "description": "draws", "parameters": {"type": "object"}}}],
            "tool_choice": "required",
            "messages": [
                {"role": "system", "content": "you are Scarlet"},
                {"role": "system", "content": "FACTS\n- Apple founded_in_year 1976"},
                {"role": "user", "content": "hello"},
                {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function",
                    "function": {"name": "chart", "arguments": "{\"a\":1}"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "done"},
                {"role": "assistant", "content": "there"},
                {"role": "system", "content": "note"},
                {"role": "user", "content": "when?"},
            ],
        })
    );
}

#[tokio::test]
async fn each_token_is_yielded_before_the_next_is_sent() {
    let server = ScriptedLlm::start().await;
    let gate = Gate::new();
    server.push(
        Reply::tokens(["one ", "zwei ", "три ", "四"])
            .gate_each(&gate)
            .usage(7, 4),
    );
    let provider = openai(&server);
    gate.release(1);
    let mut stream = stream(&provider).await.unwrap();
    let mut seen = vec![next_token(&mut stream).await];
    for _ in 0..3 {
        gate.release(1);
        seen.push(next_token(&mut stream).await);
    }
    assert_eq!(seen, ["one ", "zwei ", "три ", "四"]);
    let rest = stream.collect_answer().await.unwrap();
    assert_eq!(rest.reason, FinishReason::Stop);
    assert_eq!(
        rest.usage,
        Usage {
            prompt_tokens: 7,
            completion_tokens: 4,
            estimated: false
        }
    );
    assert_eq!(rest.model, "default-model");
}

#[tokio::test]
async fn several_tool_calls_of_one_answer_arrive_whole_and_in_order() {
    let server = ScriptedLlm::start().await;
    let long = json!({"option": "x".repeat(100)}).to_string();
    server.push(
        Reply::text("drawing")
            .call("a", "chart", long.as_str())
            .call("b", "lookup", ""),
    );
    let answer = answer(&openai(&server)).await.unwrap();
    assert_eq!(answer.content, "drawing");
    assert_eq!(answer.reason, FinishReason::ToolCalls);
    let call = |id: &str, name: &str, arguments: &str| ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
    };
    assert_eq!(
        answer.tool_calls,
        [call("a", "chart", &long), call("b", "lookup", "{}")]
    );
}

#[tokio::test]
async fn a_server_that_refuses_stream_options_is_asked_without_and_remembered() {
    let server = ScriptedLlm::start().await;
    server.on_request(|request| match request.body.get("stream_options") {
        Some(_) => Reply::error(400, "extra fields not permitted"),
        None => Reply::text("fine"),
    });
    let provider = openai(&server);
    for _ in 0..2 {
        let answer = answer(&provider).await.unwrap();
        assert_eq!(answer.content, "fine");
        assert!(answer.usage.estimated);
        assert!(answer.usage.prompt_tokens > 0 && answer.usage.completion_tokens > 0);
    }
    assert_eq!(server.request_count(), 3);
}

#[tokio::test]
async fn a_model_that_renames_the_limit_and_fixes_the_temperature_is_adapted_to() {
    let server = ScriptedLlm::start().await;
    server.on_request(|request| {
        let has = |name: &str| request.body.get(name).is_some();
        if has("max_tokens") {
            Reply::error(
                400,
                "Unsupported parameter: use 'max_completion_tokens' instead",
            )
        } else if has("temperature") {
            Reply::error(400, "Unsupported value: 'temperature' does not support 0.2")
        } else {
            Reply::text("fine")
        }
    });
    let provider = openai(&server);
    for _ in 0..2 {
        let request = ChatRequest {
            temperature: Some(0.2),
            max_tokens: Some(5),
            messages: vec![ChatMessage::user("hi")],
            ..ChatRequest::default()
        };
        complete(provider.as_ref(), request, CancellationToken::new())
            .await
            .unwrap();
    }
    assert_eq!(server.request_count(), 4);
    let last = server.requests().remove(3).body;
    assert_eq!(last.get("max_completion_tokens"), Some(&json!(5)));
    assert_eq!(
        last.get("stream_options"),
        Some(&json!({"include_usage": true}))
    );
}

#[tokio::test]
async fn a_refusal_names_status_and_reason_and_is_not_repeated() {
    let server = ScriptedLlm::start().await;
    let long = format!("bad key {KEY}\n{}", "x".repeat(5000));
    server.otherwise(Reply::error(401, &long));
    let error = answer(&openai(&server)).await.unwrap_err();
    let LlmError::Refused {
        status: 401,
        message,
    } = &error
    else {
        panic!("{error:?}")
    };
    assert!(
        message.starts_with("bad key *** x") && message.len() < 520,
        "{message}"
    );
    assert!(!format!("{error} {error:?}").contains(KEY));
    assert!(!error.retryable());
    assert_eq!(server.request_count(), 1);
}

#[tokio::test]
async fn connections_are_reused_after_a_finished_answer() {
    let server = ScriptedLlm::start().await;
    let provider = openai(&server);
    for _ in 0..20 {
        answer(&provider).await.unwrap();
    }
    // Over loopback a new connection may be there before the old one is back in the pool, once or so.
    let peers: HashSet<_> = server
        .requests()
        .iter()
        .map(|request| request.peer)
        .collect();
    assert!(peers.len() <= 5, "{} connections", peers.len());
}

#[tokio::test]
async fn an_answer_as_one_document_is_read_like_a_stream() {
    let server = ScriptedLlm::start().await;
    server.push(
        Reply::text("whole")
            .call("a", "t", "{\"x\":1}")
            .usage(3, 2)
            .model("real")
            .whole(),
    );
    let answer = answer(&openai(&server)).await.unwrap();
    assert_eq!(answer.content, "whole");
    assert_eq!(answer.tool_calls[0].arguments, "{\"x\":1}");
    assert_eq!(
        answer.usage,
        Usage {
            prompt_tokens: 3,
            completion_tokens: 2,
            estimated: false
        }
    );
    assert_eq!(answer.model, "real");
}

#[tokio::test]
async fn a_request_without_any_model_is_an_error_before_it_is_sent() {
    let provider = build(ProviderConfig::new(ProviderKind::Ollama)).unwrap();
    assert_eq!((provider.name(), provider.model()), ("ollama", ""));
    assert!(matches!(answer(&provider).await, Err(LlmError::Config(_))));
}

#[tokio::test]
async fn addresses_that_are_none_are_refused_and_never_shown() {
    for url in ["", "nonsense", "ftp://host/v1", "file:///etc/passwd"] {
        let config = ProviderConfig {
            base_url: Some(url.into()),
            ..ProviderConfig::new(ProviderKind::OpenAi)
        };
        assert!(matches!(build(config), Err(LlmError::Config(_))), "{url}");
    }
    let config = ProviderConfig {
        base_url: Some("http://user:hunter2@127.0.0.1:9/v1".into()),
        api_key: Some(Secret::from(KEY)),
        model: Some("m".into()),
        ..ProviderConfig::new(ProviderKind::OpenAi)
    };
    let shown = format!("{config:?}");
    assert!(
        !shown.contains("hunter2") && !shown.contains(KEY),
        "{shown}"
    );
    let provider = build(ProviderConfig {
        options: crate::quick(),
        ..config
    })
    .unwrap();
    let error = answer(&provider).await.unwrap_err();
    assert!(matches!(error, LlmError::Unreachable { .. }), "{error:?}");
    assert!(
        !format!("{error} {error:?}").contains("hunter2"),
        "{error:?}"
    );
}

#[tokio::test]
async fn the_grounding_record_stays_at_home() {
    let server = ScriptedLlm::start().await;
    let request = ChatRequest {
        messages: vec![ChatMessage::user("hi")],
        context: json!({"marker": "grounding-record"}),
        ..ChatRequest::default()
    };
    complete(openai(&server).as_ref(), request, CancellationToken::new())
        .await
        .unwrap();
    let body: Value = server.requests().remove(0).body;
    assert!(!body.to_string().contains("grounding-record"));
}
