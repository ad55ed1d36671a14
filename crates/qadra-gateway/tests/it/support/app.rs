use std::sync::Arc;
use std::time::Duration;

use qadra_app::{App, Builtin, Running, Settings, TokenKey};
use qadra_gateway::{Gateway, StreamTimes};
use qadra_llm::{LlmProvider, Options, ProviderConfig, ProviderKind, Secret};
use qadra_nats::{Bus, InProcess, InProcessOptions, Nats, NatsOptions, Objects, Pending};
use qadra_store::{Presence, Store};
use qadra_testkit::db::TestDb;
use qadra_testkit::llm::ScriptedLlm;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{Client, NatsServer, Rows, client};

const SECRET: &[u8] = b"a secret for tests, longer than 32 bytes";

/// What signs access tokens here, for tests that forge some.
pub fn token_key_secret() -> &'static [u8] {
    SECRET
}

/// What a test wants to run.
pub struct Builder {
    settings: Settings,
    times: StreamTimes,
    scripted: bool,
    pending: Pending,
    /// Pairs of a core and a gateway on a real broker; none is one pair on the in-process bus.
    pairs: Option<usize>,
    /// Address of a server that embeds.
    embedding: Option<String>,
}

/// A core and its gateway.
pub struct Process {
    pub url: String,
    /// The bus as this process's gateway has it.
    pub bus: Arc<dyn Bus>,
    store: Store,
    core: Option<Running>,
    stop: CancellationToken,
    /// Lives as long as the process: it holds the lock that says so.
    _presence: Presence,
}

/// Everything a test needs. What is dropped first is listed first.
pub struct TestApp {
    pub processes: Vec<Process>,
    model: Option<Arc<ScriptedLlm>>,
    http: reqwest::Client,
    builder: Builder,
    _nats: Option<NatsServer>,
    objects: tempfile::TempDir,
    db: TestDb,
}

impl Builder {
    /// Answers come from a scripted server that speaks OpenAI's format, instead of the built-in provider.
    pub fn scripted(mut self) -> Self {
        self.scripted = true;
        self
    }

    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    pub fn times(mut self, times: StreamTimes) -> Self {
        self.times = times;
        self
    }

    /// Messages that a progress subscription keeps for a reader that is behind.
    pub fn pending(mut self, messages: usize) -> Self {
        self.pending.subscription = messages;
        self
    }

    /// Passages and questions are embedded by a server that speaks OpenAI's format.
    pub fn embedding(mut self, url: &str) -> Self {
        self.embedding = Some(url.to_owned());
        self
    }

    pub fn over_nats(mut self, pairs: usize) -> Self {
        self.pairs = Some(pairs);
        self
    }

    pub async fn start(self) -> TestApp {
        let db = TestDb::new().await;
        let objects = tempfile::tempdir().expect("a directory for large payloads");
        let model = match self.scripted {
            true => Some(Arc::new(ScriptedLlm::start().await)),
            false => None,
        };
        let nats = self.pairs.map(|_| NatsServer::start());
        let (pairs, url) = (self.pairs.unwrap_or(1), nats.as_ref().map(NatsServer::url));
        let mut app = TestApp {
            processes: vec![],
            model,
            http: client::http(),
            builder: self,
            _nats: nats,
            objects,
            db,
        };
        for _ in 0..pairs {
            let process = app.process(url.as_deref()).await;
            app.processes.push(process);
        }
        app
    }
}

impl TestApp {
    pub fn builder() -> Builder {
        Builder {
            settings: Settings::default(),
            times: StreamTimes::default(),
            scripted: false,
            pending: Pending::default(),
            pairs: None,
            embedding: None,
        }
    }

    /// The product as it starts with nothing configured.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// With a scripted model behind it.
    pub async fn scripted() -> Self {
        Self::builder().scripted().start().await
    }

    pub fn model(&self) -> &ScriptedLlm {
        self.model
            .as_ref()
            .expect("the app was started without a scripted model")
    }

    /// The database, as a process of ours has it.
    pub fn store(&self) -> Store {
        self.processes.first().expect("a process").store.clone()
    }

    pub fn bus(&self) -> &Arc<dyn Bus> {
        &self.processes[0].bus
    }

    /// Nobody in particular.
    pub fn stranger(&self) -> Client {
        Client::new(self.http.clone(), self.processes[0].url.clone())
    }

    /// The owner of a new tenant.
    pub async fn user(&self, name: &str) -> Client {
        self.stranger().registered(name).await
    }

    /// A new person who is a member of `of`'s tenant with a role; there is no invitation to do it through.
    pub async fn member(&self, of: &Client, name: &str, role: &str) -> Client {
        let person = self.user(name).await;
        let rows = self.rows().await;
        rows.run(&format!(
            "INSERT INTO user_tenants (tenant_id, user_id, role) VALUES ('{}', '{}', '{role}')",
            of.tenant_id, person.user_id
        ))
        .await;
        let tenant_id = of.tenant_id.to_string();
        let session = person
            .post(
                "/api/auth/switch-tenant",
                serde_json::json!({"tenant_id": tenant_id}),
            )
            .await
            .json(200);
        person.with_session(&session)
    }

    /// The database as the superuser sees it, whom row-level security does not stop.
    pub async fn rows(&self) -> Rows {
        Rows::connect(self.db.superuser_options()).await
    }

    /// One more process on the same database, with an in-process bus of its own: it shares nothing else
    /// with the others, like a program that was started again.
    pub async fn another_process(&self) -> Process {
        self.process(None).await
    }

    /// The same person at another process.
    pub fn at(&self, process: &Process, person: &Client) -> Client {
        person.at(&process.url)
    }

    async fn process(&self, nats: Option<&str>) -> Process {
        let b = &self.builder;
        let objects = Some(Objects::local(self.objects.path()).expect("an object store"));
        let (core_bus, gateway_bus): (Arc<dyn Bus>, Arc<dyn Bus>) = match nats {
            Some(url) => {
                let options = NatsOptions {
                    objects,
                    pending: b.pending,
                    ..NatsOptions::default()
                };
                let connect = async || {
                    Arc::new(
                        Nats::connect(url, options.clone())
                            .await
                            .expect("the broker"),
                    )
                };
                (connect().await, connect().await)
            }
            None => {
                let options = InProcessOptions {
                    objects,
                    pending: b.pending,
                    ..InProcessOptions::default()
                };
                let bus = Arc::new(InProcess::with_options(options));
                (bus.clone(), bus)
            }
        };
        let store = Store::open(self.db.options(), 12);
        let presence = Presence::announce(&self.db.options())
            .await
            .expect("a presence");
        let key = TokenKey::new(SECRET).expect("a token key");
        let app = App::new(
            store.clone(),
            core_bus,
            self.provider(),
            key.clone(),
            b.settings.clone(),
            &presence,
        );
        if let Some(url) = &b.embedding {
            let provider = qadra_llm::build(ProviderConfig {
                base_url: Some(url.clone()),
                ..ProviderConfig::new(ProviderKind::OpenAi)
            });
            app.embed_with(provider.expect("a provider"), "tiny".into());
        }
        app.recover_turns().await;
        let core = app.serve().await.expect("the core on the bus");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let stop = CancellationToken::new();
        let gateway = Gateway::with_options(
            gateway_bus.clone(),
            key,
            qadra_gateway::Options {
                times: b.times,
                ..Default::default()
            },
        );
        tokio::spawn(gateway.serve(listener, stop.clone()));
        Process {
            url,
            bus: gateway_bus,
            store,
            core: Some(core),
            stop,
            _presence: presence,
        }
    }

    fn provider(&self) -> Arc<dyn LlmProvider> {
        let Some(model) = &self.model else {
            return Arc::new(Builtin);
        };
        qadra_llm::build(ProviderConfig {
            base_url: Some(model.openai_url()),
            api_key: Some(Secret::from("sk-test")),
            model: Some("default-model".to_owned()),
            options: Options {
                base_delay: Duration::from_millis(2),
                max_delay: Duration::from_millis(10),
                ..Options::default()
            },
            ..ProviderConfig::new(ProviderKind::OpenAi)
        })
        .expect("a provider")
    }
}

impl Process {
    /// Stops as on SIGTERM, and returns when its database sessions are closed.
    pub async fn stop(mut self) {
        self.stop.cancel();
        if let Some(core) = self.core.take() {
            core.stop(Duration::from_secs(8)).await;
        }
        self.store.close().await;
    }
}
