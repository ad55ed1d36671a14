//! Agent, Extract, Artifact, Research and KnowledgeLookup, with a scripted model over HTTP and without one.

use std::time::Duration;

use qadra_flow::NodeKind;
use qadra_llm::Secret;
use qadra_runner::nodes::{ArtifactTemplate, SearchSettings, Stored, TemplateSection};
use qadra_testkit::llm::Reply;
use qadra_types::{Code, Fault, new_id};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::bed::Bed;
use crate::kit::{Kit, triple};
use crate::web::{Web, answer, json as json_answer};

fn near(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|v| (v - expected).abs() < 1e-6)
}

#[tokio::test]
async fn an_agent_speaks_as_itself_and_knows_the_state() {
    let kit = Kit::new().await;
    kit.llm
        .push(Reply::text("Fine.").usage(40, 2).model("big-model-2"));
    let id = kit.agent(Some("big-model"), Some(0.2));
    let data = json!({"agent_id": id, "prompt_template": "Judge {{x}}."});
    let output = kit
        .run(NodeKind::Agent, data, json!({"facts": {"n": 1}}))
        .await
        .unwrap();
    assert_eq!(
        output,
        json!({"response": "Fine.", "model": "big-model-2", "tokens": 42})
    );
    let told = kit.told(0);
    assert_eq!(told[0], ("system".into(), "You are the analyst.".into()));
    assert!(
        told[1].0 == "system" && told[1].1.contains("\"facts\": {\"n\":1}"),
        "{told:?}"
    );
    assert_eq!(told[2], ("user".into(), "Judge {{x}}.".into()));
    let body = &kit.llm.requests()[0].body;
    assert_eq!(
        (body["model"].as_str(), body["max_tokens"].as_u64()),
        (Some("big-model"), Some(4096))
    );
    assert!(near(&body["temperature"], 0.2));
    let spent = kit.memory.spent.lock().unwrap();
    assert_eq!(
        (
            spent[0].agent_id,
            spent[0].usage.total(),
            spent[0].model.as_str()
        ),
        (Some(id), 42, "big-model-2")
    );
}

#[tokio::test]
async fn an_agents_settings_come_from_node_then_agent_then_default() {
    let kit = Kit::new().await;
    for (agent, node, expected) in [
        (Some(0.2), json!(1.5), 1.5),
        (Some(0.2), Value::Null, 0.2),
        (None, Value::Null, 0.7),
        (None, json!("0.1"), 0.1),
    ] {
        // A template that is one key gives what stands there, and that may be no text.
        let data = json!({"agent_id": kit.agent(None, agent), "prompt_template": {"n": 1}, "temperature": node, "max_tokens": 12});
        kit.run(NodeKind::Agent, data, json!({})).await.unwrap();
        let body = kit.llm.requests().pop().unwrap().body;
        assert!(near(&body["temperature"], expected), "{body}");
        assert_eq!(
            (body["max_tokens"].as_u64(), body["model"].as_str()),
            (Some(12), Some("default-model"))
        );
        assert_eq!(
            body["messages"].as_array().unwrap().len(),
            2,
            "no state, no message about it"
        );
    }
}

#[tokio::test]
async fn a_long_state_is_cut_for_the_model() {
    let kit = Kit::new().await;
    let data = json!({"agent_id": kit.agent(None, None), "prompt_template": "x"});
    kit.run(
        NodeKind::Agent,
        data,
        json!({"long": "y".repeat(100_000), "short": "kept"}),
    )
    .await
    .unwrap();
    let state = &kit.told(0)[1].1;
    assert!(
        state.len() < 17_000 && state.contains("kept") && state.contains("… (cut)"),
        "{}",
        state.len()
    );
}

#[tokio::test]
async fn a_models_failure_is_the_nodes_with_its_wait() {
    let kit = Kit::new().await;
    let data = json!({"agent_id": kit.agent(None, None), "prompt_template": "x"});
    kit.llm
        .push(Reply::error(429, "slow down").header("retry-after", "9"));
    let failure = kit
        .run(NodeKind::Agent, data.clone(), json!({}))
        .await
        .unwrap_err();
    assert_eq!(
        (failure.code, failure.retryable, failure.retry_after),
        ("model", true, Some(Duration::from_secs(9)))
    );
    kit.llm.push(Reply::error(403, "not for you"));
    assert!(
        !kit.run(NodeKind::Agent, data.clone(), json!({}))
            .await
            .unwrap_err()
            .retryable
    );
    let unknown = json!({"agent_id": new_id(), "prompt_template": "x"});
    assert_eq!(
        kit.run(NodeKind::Agent, unknown, json!({}))
            .await
            .unwrap_err()
            .code,
        "unknown_agent"
    );
    kit.llm.push(Reply::text("cut").finish("length"));
    assert_eq!(
        kit.run(NodeKind::Agent, data, json!({})).await.unwrap()["finish_reason"],
        json!("length")
    );
}

#[tokio::test]
async fn an_agent_without_a_model_answers_from_knowledge_or_shows_what_there_is() {
    let kit = Kit::new().await.unaided();
    let data = json!({"agent_id": kit.agent(Some("big-model"), None), "prompt_template": "Who leads Acme?"});
    let state = json!({"facts": "Acme is big."});
    // No core answers: the node still does.
    let output = kit
        .run(NodeKind::Agent, data.clone(), state.clone())
        .await
        .unwrap();
    let response = output["response"].as_str().unwrap();
    assert!(
        response.starts_with("I do not know.\n\nNo model is configured")
            && response.ends_with("## facts\n\nAcme is big."),
        "{response}"
    );
    let core = kit
        .core(|_, body| {
            assert_eq!(body, &json!({"query": "Who leads Acme?"}));
            Ok(json!({"query": "", "competence": "competent", "triples": [triple(1, "Acme", "ceo", "Ada", "+")]}))
        })
        .await;
    let output = kit.run(NodeKind::Agent, data, state).await.unwrap();
    assert_eq!(
        output,
        json!({"response": "It is Ada.", "model": "builtin", "tokens": 5})
    );
    drop(core);
}

#[tokio::test]
async fn extract_follows_the_seed() {
    let kit = Kit::new().await;
    let data = json!({
        "input_key": "msg",
        "variables": ["company", {"name": "count", "type": "integer", "description": "how many"}, "absent"],
    });
    let run = async |reply: &str, state: Value| {
        kit.llm.push(Reply::text(reply));
        kit.run(NodeKind::Extract, data.clone(), state)
            .await
            .unwrap()
    };
    let nothing = json!({"company": null, "count": null, "absent": null});
    let state = json!({"msg": "Acme wants 3 boxes", "other": 1});
    let fenced = "```json\n{\"company\": \"Acme\", \"count\": \"3\", \"extra\": true}\n```";
    assert_eq!(
        run(fenced, state.clone()).await,
        json!({"company": "Acme", "count": 3, "absent": null})
    );
    for no_object in [
        "I cannot do that.",
        "[1]",
        "{broken",
        "Here you are: {\"company\": \"Acme\"}",
    ] {
        assert_eq!(run(no_object, state.clone()).await, nothing, "{no_object}");
    }
    let body = &kit.llm.requests()[0].body;
    assert!(near(&body["temperature"], 0.0));
    assert_eq!(body["max_tokens"].as_u64(), Some(1024));
    let told = kit.told(0);
    assert!(
        told[1].1.contains("- \"count\" (integer): how many")
            && told[1].1.ends_with("Acme wants 3 boxes"),
        "{told:?}"
    );
    let calls = kit.llm.request_count();
    for empty in [
        json!({}),
        json!({"msg": ""}),
        json!({"msg": " \n"}),
        json!({"msg": null}),
        json!({"msg": []}),
    ] {
        assert_eq!(
            kit.run(NodeKind::Extract, data.clone(), empty)
                .await
                .unwrap(),
            nothing
        );
    }
    assert_eq!(
        kit.llm.request_count(),
        calls,
        "nothing to read, nobody asked"
    );
    let wrong = json!({"input_key": "msg", "variables": []});
    assert_eq!(
        kit.run(NodeKind::Extract, wrong, json!({"msg": "x"}))
            .await
            .unwrap_err()
            .code,
        "bad_input"
    );
}

#[tokio::test]
async fn extract_without_a_model_takes_what_is_named() {
    let kit = Kit::new().await.unaided();
    let data = json!({"input_key": "msg", "variables": ["company", {"name": "count", "type": "integer"}, "mood"]});
    let output = kit
        .run(
            NodeKind::Extract,
            data,
            json!({"msg": "Company: Acme\nCount: 3"}),
        )
        .await
        .unwrap();
    assert_eq!(output, json!({"company": "Acme", "count": 3, "mood": null}));
}

fn inline() -> Value {
    json!({"sections": [{"name": "Summary", "description": "in three sentences", "required": true}, {"name": "Risks"}], "output_format": "html"})
}

#[tokio::test]
async fn an_artifact_has_four_modes() {
    let kit = Kit::new().await;
    kit.llm.otherwise(Reply::text("```markdown\n# Made\n```"));
    let state = json!({"draft": {"response": "The draft."}, "n": 1});
    let run = async |more: Value| {
        let mut data = json!({"artifact_name": "Memo", "artifact_type": "memo"});
        data.as_object_mut()
            .unwrap()
            .extend(more.as_object().cloned().unwrap());
        kit.run(NodeKind::Artifact, data, state.clone())
            .await
            .unwrap()
    };
    let output = |format: &str, content: &str| json!({"artifact_name": "Memo", "template_id": null, "artifact_type": "memo", "output_format": format, "content": content});
    assert_eq!(
        run(json!({"content_key": "draft"})).await,
        output("markdown", "The draft.")
    );
    assert_eq!(kit.llm.request_count(), 0, "a text as it is needs no model");

    assert_eq!(run(json!({})).await, output("markdown", "# Made"));
    let told = &kit.told(0)[1].1;
    assert!(
        told.contains("\"Memo\" in markdown")
            && told.contains("The draft.")
            && !told.contains("sections"),
        "{told}"
    );

    assert_eq!(
        run(json!({"template": inline(), "content_key": "missing"})).await,
        output("html", "# Made")
    );
    let told = &kit.told(1)[1].1;
    assert!(
        told.contains("- Summary (required): in three sentences\n- Risks (optional)")
            && told.contains("\"n\": 1"),
        "{told}"
    );

    assert_eq!(
        run(json!({"template": inline(), "content_key": "draft"})).await,
        output("html", "# Made")
    );
    let told = &kit.told(2)[1].1;
    assert!(
        told.contains("- Risks (optional)")
            && told.ends_with("The draft.")
            && !told.contains("\"n\""),
        "{told}"
    );

    let id = new_id();
    let unknown = json!({"template_id": id});
    assert_eq!(
        kit.run(NodeKind::Artifact, unknown.clone(), json!({}))
            .await
            .unwrap_err()
            .code,
        "unknown_template"
    );
    let section = TemplateSection {
        name: "Only".into(),
        ..TemplateSection::default()
    };
    let template = ArtifactTemplate {
        sections: vec![section],
        output_format: None,
    };
    kit.memory.templates.lock().unwrap().insert(id, template);
    let made = kit
        .run(NodeKind::Artifact, unknown, json!({}))
        .await
        .unwrap();
    assert_eq!(
        (&made["template_id"], &made["artifact_type"]),
        (&json!(id), &json!("document"))
    );
}

#[tokio::test]
async fn an_artifact_without_a_model_is_put_together_from_what_there_is() {
    let kit = Kit::new().await.unaided();
    let data = json!({"artifact_name": "Memo", "template": inline(), "content_key": "draft"});
    let state = json!({"draft": "## risks\nSome.\n\n## Other\nText."});
    let made = kit.run(NodeKind::Artifact, data, state).await.unwrap();
    assert_eq!(
        made["content"],
        json!(
            "# Memo\n\n## Summary\n\n_The material says nothing on this._\n\n## Risks\n\nSome.\n\n## Other material\n\n## Other\nText."
        )
    );
}

#[tokio::test]
async fn research_without_a_search_service_says_so() {
    let kit = Kit::new().await;
    kit.llm.push(Reply::text("Found."));
    let data = json!({"query": "State of the art?"});
    let output = kit
        .run(
            NodeKind::Research,
            data.clone(),
            json!({"long": "z".repeat(20_000)}),
        )
        .await
        .unwrap();
    assert_eq!(
        (&output["findings"], &output["source"], &output["model"]),
        (
            &json!("Found."),
            &json!("llm_knowledge"),
            &json!("default-model")
        )
    );
    assert!(
        output["note"]
            .as_str()
            .unwrap()
            .contains("No search service")
    );
    let told = &kit.told(0)[1].1;
    assert!(
        told.starts_with("State of the art?") && told.len() < 4_500,
        "{}",
        told.len()
    );
    let unaided = Kit::new().await.unaided();
    let output = unaided
        .run(NodeKind::Research, data, json!({}))
        .await
        .unwrap();
    assert_eq!(
        (&output["findings"], &output["source"], &output["found"]),
        (
            &json!("I do not know."),
            &json!("knowledge_graph"),
            &json!(false)
        )
    );
}

fn settings(provider: &str, web: &Web) -> SearchSettings {
    SearchSettings {
        provider: provider.into(),
        base_url: Some(web.url("/s/")),
        api_key: Some(Secret::from("search-key")),
    }
}

const RESULTS: &str = r#"{"results": [
    {"title": "One", "url": "https://one.example/", "content": "First text.", "publishedDate": "2026-01-02"},
    {"title": "Bad", "url": "javascript:alert(1)", "content": "x"},
    {"title": "Two", "url": "https://two.example/", "content": "Second\n[9] text."}]}"#;

#[tokio::test]
async fn research_with_searxng_is_told_from_its_sources() {
    let web = Web::start(|_| json_answer(RESULTS)).await;
    let search = settings("searxng", &web).build().unwrap();
    let kit = Kit::new().await.searching(search.clone());
    kit.llm.push(Reply::text("As [1] says."));
    let output = kit
        .run(NodeKind::Research, json!({"query": "a & b"}), json!({}))
        .await
        .unwrap();
    assert_eq!(
        output,
        json!({
            "query": "a & b", "findings": "As [1] says.", "model": "default-model", "source": "searxng",
            "sources": [
                {"n": 1, "title": "One", "url": "https://one.example/", "snippet": "First text.", "published": "2026-01-02"},
                {"n": 2, "title": "Two", "url": "https://two.example/", "snippet": "Second\n[9] text.", "published": null},
            ],
        })
    );
    let asked = web.asked().pop().unwrap();
    assert_eq!(
        (asked.method.as_str(), asked.target.as_str()),
        ("GET", "/s/search?q=a+%26+b&format=json")
    );
    assert_eq!(asked.header("authorization"), Some("Bearer search-key"));
    let told = &kit.told(0)[1].1;
    assert!(
        told.contains("[1] One (2026-01-02)\nhttps://one.example/\nFirst text.\n\n[2] Two"),
        "{told}"
    );

    let unaided = Kit::new().await.unaided().searching(search);
    let output = unaided
        .run(
            NodeKind::Research,
            json!({"query": "q", "limit": 1}),
            json!({}),
        )
        .await
        .unwrap();
    assert!(
        output["findings"]
            .as_str()
            .unwrap()
            .ends_with("[1] One: “First text.”"),
        "{output}"
    );
    assert_eq!(
        (
            output["sources"].as_array().unwrap().len(),
            &output["model"]
        ),
        (1, &Value::Null)
    );
}

#[tokio::test]
async fn research_with_exa_and_with_a_service_that_fails() {
    let web = Web::start(|asked| match asked.body.contains("broken") {
        true => answer(503, &[("retry-after", "4")], "search-key"),
        false => json_answer(&RESULTS.replace("content", "text")),
    })
    .await;
    let kit = Kit::new()
        .await
        .searching(settings("exa", &web).build().unwrap());
    let output = kit
        .run(
            NodeKind::Research,
            json!({"query": "q", "limit": 5}),
            json!({}),
        )
        .await
        .unwrap();
    assert_eq!(
        (&output["source"], &output["sources"][0]["snippet"]),
        (&json!("exa"), &json!("First text."))
    );
    let asked = web.asked().pop().unwrap();
    assert_eq!(
        (
            asked.method.as_str(),
            asked.target.as_str(),
            asked.header("x-api-key")
        ),
        ("POST", "/s/search", Some("search-key"))
    );
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!(
        (&body["query"], &body["numResults"]),
        (&json!("q"), &json!(5))
    );
    let failure = kit
        .run(NodeKind::Research, json!({"query": "broken"}), json!({}))
        .await
        .unwrap_err();
    assert_eq!(
        (failure.code, failure.retryable, failure.retry_after),
        ("search", true, Some(Duration::from_secs(4)))
    );
    assert!(!failure.message.contains("search-key"));
    assert!(settings("bing", &web).build().is_err());
}

#[tokio::test]
async fn a_lookup_asks_the_core_and_shapes_its_answer() {
    let kit = Kit::new().await;
    let user = new_id();
    let tenant = kit.tenant_id;
    let core = kit
        .core(move |subject, body| {
            assert_eq!(subject, format!("qadra.{tenant}.knowledge.do.query"));
            assert_eq!(body["user_id"], json!(user));
            match body["query"].as_str() {
                Some("broken") => Err(Fault::new(Code::Unavailable, "try later")),
                _ => Ok(json!({"triples": [
                    triple(1, "Acme", "ceo", "Ada", "+"), triple(1, "Acme", "ceo", "Ada", "+"), triple(2, "Acme", "owns", "Bolt", "-"),
                    triple(3, "Bolt", "in", "Oslo", "+"),
                ]})),
            }
        })
        .await;
    let ask = async |data: Value| {
        let mut job = kit.job(NodeKind::KnowledgeLookup, data, json!({}));
        job.user_id = Some(user);
        kit.perform(job).await.unwrap()
    };
    assert_eq!(
        ask(json!({"query": "Who leads Acme?", "limit": "2"})).await,
        json!({
            "query": "Who leads Acme?", "source": "knowledge_graph", "limit": 2,
            "results": [
                {"subject": "Acme", "predicate": "ceo", "object": "Ada", "confidence": 0.9, "source": "doc.pdf"},
                {"subject": "Acme", "predicate": "owns", "object": "Bolt", "confidence": 0.9, "source": "doc.pdf", "polarity": "-"},
            ],
        })
    );
    assert_eq!(
        ask(json!({"query": "x", "limit": 1_000})).await["limit"],
        json!(100)
    );
    let broken = ask(json!({"query": "broken"})).await;
    assert_eq!(
        (&broken["results"], &broken["limit"], &broken["error"]),
        (&json!([]), &json!(20), &json!("try later"))
    );
    assert_eq!(ask(json!({"query": " "})).await["results"], json!([]));
    drop(core);
    assert_eq!(
        ask(json!({"query": "nobody there"})).await["results"],
        json!([])
    );
}

#[tokio::test]
async fn agents_and_usage_are_those_of_the_store() {
    let bed = Bed::new().await;
    let mut kit = Kit::new().await;
    let stored = std::sync::Arc::new(Stored(bed.store.clone()));
    (kit.parts.agents, kit.parts.ledger) = (stored.clone(), stored);
    kit.tenant_id = bed.tenant_id;
    let mut tx = bed.store.tenant_id(bed.tenant_id).await.unwrap();
    let id = new_id();
    let new = qadra_store::NewAgent {
        id,
        name: "a",
        display_name: None,
        avatar_url: None,
        description: None,
        system_prompt: "From the store.",
        control_type: qadra_types::ControlType::Retain,
        output_visibility: qadra_types::OutputVisibility::UserFacing,
        max_calls_per_parent_agent: 1,
        model: None,
        temperature: None,
        is_active: true,
    };
    tx.agent_create(&new, new_id()).await.unwrap();
    tx.commit().await.unwrap();
    kit.llm.otherwise(Reply::text("Yes.").usage(30, 5));
    let data = json!({"agent_id": id, "prompt_template": "x"});
    kit.run(NodeKind::Agent, data.clone(), json!({}))
        .await
        .unwrap();
    assert_eq!(kit.told(0)[0].1, "From the store.");
    let mut tx = bed.store.tenant_id(bed.tenant_id).await.unwrap();
    let totals = tx.usage_totals(None, None).await.unwrap();
    assert_eq!(
        (totals.calls, totals.prompt_tokens, totals.completion_tokens),
        (1, 30, 5)
    );
    // The agent of one tenant is no agent of another.
    kit.tenant_id = Uuid::from_u128(99);
    assert_eq!(
        kit.run(NodeKind::Agent, data, json!({}))
            .await
            .unwrap_err()
            .code,
        "unknown_agent"
    );
}
