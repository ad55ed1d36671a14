//! Nodes with everything they need in memory, and a model that says what a test tells it to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::stream;
use qadra_flow::{NodeKind, NodeRef};
use qadra_llm::{
    CancellationToken, ChatEvent, ChatRequest, ChatStream, FinishReason, LlmError, LlmProvider,
    Options, ProviderConfig, ProviderKind, Secret, Usage,
};
use qadra_nats::{Bus, InProcess, Message, Reply, ServeHandle, ServeOptions, serve, subjects};
use qadra_runner::nodes::{
    Agents, ArtifactTemplate, Job, Ledger, NodeFailure, Nodes, Parts, Performer, SearchProvider,
    Secrets, Spent, Templates,
};
use qadra_testkit::llm::ScriptedLlm;
use qadra_types::{Agent, ControlType, Fault, OutputVisibility, new_id};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::web::egress;

pub struct Kit {
    pub llm: ScriptedLlm,
    pub bus: Arc<InProcess>,
    pub memory: Arc<Memory>,
    pub parts: Parts,
    pub tenant_id: Uuid,
}

/// What the tenant has.
#[derive(Default)]
pub struct Memory {
    pub secrets: Mutex<HashMap<String, String>>,
    pub agents: Mutex<HashMap<Uuid, Agent>>,
    pub templates: Mutex<HashMap<Uuid, ArtifactTemplate>>,
    pub spent: Mutex<Vec<Spent>>,
}

#[async_trait]
impl Secrets for Memory {
    async fn get(&self, _: Uuid, name: &str) -> Result<Option<Secret>, NodeFailure> {
        Ok(self
            .secrets
            .lock()
            .unwrap()
            .get(name)
            .map(|s| Secret::from(s.as_str())))
    }
}

#[async_trait]
impl Agents for Memory {
    async fn get(&self, _: Uuid, id: Uuid) -> Result<Option<Agent>, NodeFailure> {
        Ok(self.agents.lock().unwrap().get(&id).cloned())
    }
}

#[async_trait]
impl Templates for Memory {
    async fn get(&self, _: Uuid, id: Uuid) -> Result<Option<ArtifactTemplate>, NodeFailure> {
        Ok(self.templates.lock().unwrap().get(&id).cloned())
    }
}

#[async_trait]
impl Ledger for Memory {
    async fn record(&self, spent: Spent) -> Result<(), NodeFailure> {
        self.spent.lock().unwrap().push(spent);
        Ok(())
    }
}

/// Says what it was asked to look up, as a provider without a model does after looking.
pub struct Unaided;

#[async_trait]
impl LlmProvider for Unaided {
    fn name(&self) -> &str {
        "builtin"
    }

    fn model(&self) -> &str {
        "builtin"
    }

    async fn stream(
        &self,
        request: ChatRequest,
        _: CancellationToken,
    ) -> Result<ChatStream, LlmError> {
        let known = request
            .context
            .pointer("/assessment/triples/0/object/label")
            .and_then(Value::as_str);
        let said = known.map_or_else(
            || "I do not know.".to_owned(),
            |label| format!("It is {label}."),
        );
        let finish = ChatEvent::Finish {
            reason: FinishReason::Stop,
            usage: Usage {
                prompt_tokens: 3,
                completion_tokens: 2,
                estimated: true,
            },
            model: "builtin".into(),
        };
        Ok(ChatStream::from_events(
            stream::iter([Ok(ChatEvent::Token(said)), Ok(finish)]),
            3,
        ))
    }
}

impl Kit {
    pub async fn new() -> Self {
        let llm = ScriptedLlm::start().await;
        let provider = qadra_llm::build(ProviderConfig {
            base_url: Some(llm.openai_url()),
            api_key: Some(Secret::from("sk-test-key")),
            model: Some("default-model".into()),
            options: Options {
                max_attempts: 1,
                ..Options::default()
            },
            ..ProviderConfig::new(ProviderKind::OpenAi)
        });
        let (bus, memory) = (Arc::new(InProcess::new()), Arc::new(Memory::default()));
        let parts = Parts {
            llm: provider.unwrap(),
            bus: bus.clone(),
            egress: Arc::new(egress("127.0.0.1")),
            secrets: memory.clone(),
            agents: memory.clone(),
            templates: memory.clone(),
            ledger: memory.clone(),
            search: None,
        };
        Self {
            llm,
            bus,
            memory,
            parts,
            tenant_id: new_id(),
        }
    }

    pub fn unaided(mut self) -> Self {
        self.parts.llm = Arc::new(Unaided);
        self
    }

    pub fn searching(mut self, search: Arc<dyn SearchProvider>) -> Self {
        self.parts.search = Some(search);
        self
    }

    pub fn secret(&self, name: &str, value: &str) {
        self.memory
            .secrets
            .lock()
            .unwrap()
            .insert(name.into(), value.into());
    }

    pub fn agent(&self, model: Option<&str>, temperature: Option<f64>) -> Uuid {
        let agent = Agent {
            id: new_id(),
            name: "analyst".into(),
            version: 1,
            display_name: None,
            avatar_url: None,
            description: None,
            system_prompt: "You are the analyst.".into(),
            control_type: ControlType::Retain,
            output_visibility: OutputVisibility::UserFacing,
            max_calls_per_parent_agent: 3,
            model: model.map(str::to_owned),
            temperature,
            is_active: true,
            created_at: chrono::Utc::now(),
            updated_at: chrono::Utc::now(),
        };
        let id = agent.id;
        self.memory.agents.lock().unwrap().insert(id, agent);
        id
    }

    /// Answers `knowledge.query` with `reply`.
    pub async fn core(
        &self,
        reply: impl Fn(&str, &Value) -> Result<Value, Fault> + Send + Sync + 'static,
    ) -> ServeHandle {
        let reply = Arc::new(reply);
        let bus: Arc<dyn Bus> = self.bus.clone();
        let options = ServeOptions::new(subjects::every_op_of("knowledge").unwrap(), "core");
        let answer = move |m: Message| {
            let reply = reply.clone();
            async move {
                let body = serde_json::from_slice(&m.payload).unwrap();
                Reply::from(reply(&m.subject, &body))
            }
        };
        serve(bus, options, answer).await.unwrap()
    }

    pub fn job(&self, kind: NodeKind, data: Value, state: Value) -> Job {
        Job {
            tenant_id: self.tenant_id,
            execution_id: Uuid::from_u128(7),
            user_id: None,
            node: NodeRef::top("node"),
            kind,
            attempt: 1,
            data: data.as_object().cloned().unwrap(),
            state: state.as_object().cloned().unwrap(),
            idempotency_key: Uuid::from_u128(42),
        }
    }

    pub async fn run(
        &self,
        kind: NodeKind,
        data: Value,
        state: Value,
    ) -> Result<Value, NodeFailure> {
        self.perform(self.job(kind, data, state)).await
    }

    pub async fn perform(&self, job: Job) -> Result<Value, NodeFailure> {
        Nodes::new(self.parts.clone()).perform(job).await
    }

    /// The messages of request `index` to the model, as (role, content).
    pub fn told(&self, index: usize) -> Vec<(String, String)> {
        let requests = self.llm.requests();
        let messages = requests[index].body["messages"].as_array().unwrap();
        let text = |m: &Value, key: &str| m[key].as_str().unwrap().to_owned();
        messages
            .iter()
            .map(|m| (text(m, "role"), text(m, "content")))
            .collect()
    }
}

/// A statement as the core answers with it.
pub fn triple(id: u128, subject: &str, predicate: &str, object: &str, polarity: &str) -> Value {
    json!({
        "id": Uuid::from_u128(id), "subject": {"id": Uuid::from_u128(id), "label": subject}, "predicate": predicate,
        "object": {"type": "text", "label": object, "value": object}, "polarity": polarity, "confidence": 0.9,
        "source": "doc.pdf", "score": 0.5,
    })
}
