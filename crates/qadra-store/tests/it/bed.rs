//! A migrated database with accounts in it, and the few things that several modules do with them.

use qadra_store::{
    Answer, Branch, NewAccount, NewAgent, NewTurn, NodeName, PgConnectOptions, Presence, Store,
    StreamRecord, TurnEnd,
};
use qadra_testkit::db::TestDb;
use qadra_types::{
    Actor, Agent, ControlType, Conversation, Ctx, Message, OutputVisibility, Role, TurnError,
    TurnStatus, new_id,
};
use serde_json::json;
use sqlx::postgres::PgConnection;
use sqlx::{ConnectOptions, Executor};
use uuid::Uuid;

pub struct Bed {
    pub db: TestDb,
    pub store: Store,
}

/// A tenant with its owner.
#[derive(Clone)]
pub struct Home {
    pub tenant_id: Uuid,
    pub user_id: Uuid,
    pub ctx: Ctx,
}

impl Bed {
    pub async fn new() -> Self {
        Self::with_connections(4).await
    }

    pub async fn with_connections(connections: u32) -> Self {
        let db = TestDb::new().await;
        let store = Store::open(db.options(), connections);
        Self { db, store }
    }

    pub async fn home(&self) -> Home {
        let (tenant_id, user_id) = (new_id(), new_id());
        let email = format!("{}@example.org", user_id.simple());
        let slug = tenant_id.simple().to_string();
        let mut tx = self.store.auth().await.unwrap();
        tx.account_create(&NewAccount {
            tenant_id,
            tenant_name: "Acme",
            tenant_slug: &slug,
            user_id,
            email: &email,
            name: "Ada",
            password_hash: "$argon2id$not-a-hash",
        })
        .await
        .unwrap();
        tx.commit().await.unwrap();
        let actor = Actor {
            user_id,
            role: Role::Owner,
            scopes: None,
        };
        Home {
            tenant_id,
            user_id,
            ctx: Ctx {
                tenant_id,
                actor,
                request_id: new_id(),
            },
        }
    }

    /// Past row-level security, to see what is really there.
    pub async fn superuser(&self) -> PgConnection {
        self.db.superuser_options().connect().await.unwrap()
    }

    /// A session of the owner role that has taken `role`, in a transaction as ours are.
    pub async fn session_as(&self, role: &str, tenant_id: Option<Uuid>) -> PgConnection {
        let mut session = connect(&self.db.options()).await;
        session
            .execute(sqlx::AssertSqlSafe(format!("BEGIN; SET LOCAL ROLE {role}")))
            .await
            .unwrap();
        if let Some(id) = tenant_id {
            session
                .execute(sqlx::AssertSqlSafe(format!(
                    "SET LOCAL qadra.tenant_id = '{id}'"
                )))
                .await
                .unwrap();
        }
        session
    }

    pub async fn agent(&self, home: &Home, name: &str) -> Agent {
        let mut tx = self.store.tenant(&home.ctx).await.unwrap();
        let agent = tx
            .agent_create(&new_agent(name), home.user_id)
            .await
            .unwrap();
        tx.commit().await.unwrap();
        agent
    }

    pub async fn conversation(&self, home: &Home) -> Conversation {
        let mut tx = self.store.tenant(&home.ctx).await.unwrap();
        let made = tx.conversation_create(home.user_id, None).await.unwrap();
        tx.commit().await.unwrap();
        made
    }

    /// Starts a turn with a new message after the last one.
    pub async fn turn(
        &self,
        home: &Home,
        conversation: Uuid,
        agent: Uuid,
        text: &str,
        owner: Owner,
    ) -> Begun {
        let mut tx = self.store.tenant(&home.ctx).await.unwrap();
        let locked = tx
            .turn_lock(conversation, Some(agent))
            .await
            .unwrap()
            .unwrap();
        let new = new_turn(conversation, &locked.branch, Some(text), agent, owner);
        let started = tx.turn_start(&new).await.unwrap();
        tx.commit().await.unwrap();
        Begun {
            id: new.id,
            user_message: started.user_message.unwrap(),
        }
    }

    /// A message and its answer.
    pub async fn exchange(
        &self,
        home: &Home,
        conversation: Uuid,
        agent: &Agent,
        texts: (&str, &str),
    ) -> [Message; 2] {
        let begun = self
            .turn(home, conversation, agent.id, texts.0, Owner::nobody())
            .await;
        let mut tx = self.store.tenant(&home.ctx).await.unwrap();
        let (_, answer) = end_with(&mut tx, &begun, agent, texts.1).await.unwrap();
        tx.commit().await.unwrap();
        [begun.user_message, answer.unwrap()]
    }
}

/// The process that answers a turn.
#[derive(Clone, Copy)]
pub struct Owner {
    pub id: Uuid,
    pub lock: i64,
}

impl Owner {
    pub fn nobody() -> Self {
        Self {
            id: Uuid::nil(),
            lock: 0,
        }
    }
}

impl From<&Presence> for Owner {
    fn from(p: &Presence) -> Self {
        Self {
            id: p.owner_id,
            lock: p.owner_lock,
        }
    }
}

pub struct Begun {
    pub id: Uuid,
    pub user_message: Message,
}

pub fn new_turn<'a>(
    conversation_id: Uuid,
    branch: &'a Branch,
    content: Option<&'a str>,
    agent_id: Uuid,
    owner: Owner,
) -> NewTurn<'a> {
    let user_message_id = match content {
        Some(_) => new_id(),
        None => branch.head_message_id.unwrap(),
    };
    NewTurn {
        id: new_id(),
        conversation_id,
        branch,
        user_message_id,
        content,
        title: content,
        agent_id,
        owner_id: owner.id,
        owner_lock: owner.lock,
    }
}

pub fn new_agent(name: &str) -> NewAgent<'_> {
    NewAgent {
        id: new_id(),
        name,
        display_name: None,
        avatar_url: None,
        description: None,
        system_prompt: "Be brief.",
        control_type: ControlType::Retain,
        output_visibility: OutputVisibility::UserFacing,
        max_calls_per_parent_agent: 3,
        model: None,
        temperature: None,
        is_active: true,
    }
}

/// Ends a turn as answered with `text`.
pub async fn end_with(
    tx: &mut qadra_store::TenantTx,
    begun: &Begun,
    agent: &Agent,
    text: &str,
) -> qadra_store::Result<(Option<Conversation>, Option<Message>)> {
    end_turn(tx, begun.id, begun.user_message.id, agent, Ok(text)).await
}

/// Ends a turn with an answer or an error. A `None` conversation means that it was not running.
pub async fn end_turn(
    tx: &mut qadra_store::TenantTx,
    turn_id: Uuid,
    user_message_id: Uuid,
    agent: &Agent,
    said: Result<&str, &TurnError>,
) -> qadra_store::Result<(Option<Conversation>, Option<Message>)> {
    let metadata = json!({});
    let answer = said.ok().map(|content| Answer {
        message_id: new_id(),
        content,
        agent_id: agent.id,
        agent_version: agent.version,
        model: "scripted",
        prompt_tokens: 7,
        completion_tokens: 3,
        latency_ms: 1,
        finish_reason: "stop",
        metadata: &metadata,
        siblings: &[],
    });
    let usage = [qadra_store::UsageRecord {
        user_id: Uuid::nil(),
        agent_id: agent.id,
        model: "scripted".into(),
        tokens_in: 7,
        tokens_out: 3,
        operation: "llm_call",
        metadata: json!({}),
    }];
    let ended = tx
        .turn_end(&TurnEnd {
            turn_id,
            user_message_id,
            status: if said.is_ok() {
                TurnStatus::Completed
            } else {
                TurnStatus::Failed
            },
            answer,
            error: said.err(),
            stream: &StreamRecord {
                events: json!([]),
                token_chars: vec![],
            },
            usage: &usage,
        })
        .await?;
    Ok(match ended {
        Some((conversation, message)) => (Some(conversation), message),
        None => (None, None),
    })
}

/// A name folded in the simplest way, as far as these tests need it.
pub fn name(label: &str) -> NodeName {
    let folded = label.to_lowercase();
    NodeName {
        label: label.into(),
        identity: folded.clone(),
        key: folded,
    }
}

pub async fn connect(options: &PgConnectOptions) -> PgConnection {
    options.connect().await.unwrap()
}

/// Runs all on tasks of their own and gives their results in order.
pub async fn join_all<T: Send + 'static>(
    jobs: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let tasks: Vec<_> = jobs.into_iter().map(tokio::spawn).collect();
    let mut done = Vec::new();
    for task in tasks {
        done.push(task.await.unwrap());
    }
    done
}
