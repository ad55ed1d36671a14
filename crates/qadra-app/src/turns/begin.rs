use std::sync::Arc;
use std::time::Instant;

use qadra_api::{EditMessage, Exchange, RegenerateMessage, SendMessage};
use qadra_store::{Branch, HistoryMessage, NewTurn, StartedTurn, TenantTx};
use qadra_types::{Agent, Code, Ctx, Fault, Message, MessageRole, new_id};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::registry::LiveTurn;
use crate::conversations::{busy, missing, writable};
use crate::{App, input};

/// A turn whose user message is written but not yet committed.
pub(crate) struct Begun {
    pub(crate) live: Arc<LiveTurn>,
    pub(crate) agent: Agent,
    /// The message being answered.
    pub(crate) user_message: Message,
    /// What the model is told of the thread, ending with the message being answered.
    pub(crate) history: Vec<HistoryMessage>,
    /// Earlier answers to the same message.
    pub(crate) siblings: Vec<Uuid>,
    pub(crate) user_saved: Value,
    pub(crate) started: Instant,
}

/// How a turn comes about.
enum Start<'a> {
    /// A new message after the last one.
    Send { content: &'a str, agent_id: Uuid },
    /// Another wording of an earlier message, on a branch of its own.
    Edit {
        message_id: Uuid,
        content: &'a str,
        agent_id: Option<Uuid>,
    },
    /// Another answer to the same message, or the first one when the last turn failed.
    Answer {
        message_id: Uuid,
        agent_id: Option<Uuid>,
    },
}

impl App {
    pub(crate) async fn send_message(
        self: &Arc<Self>,
        ctx: &Ctx,
        r: SendMessage,
    ) -> Result<Exchange, Fault> {
        input::message(&r.content)?;
        let start = Start::Send {
            content: &r.content,
            agent_id: r.agent_id,
        };
        self.turn_take(ctx, r.conversation_id, r.turn_id, start)
            .await
    }

    pub(crate) async fn edit_message(
        self: &Arc<Self>,
        ctx: &Ctx,
        r: EditMessage,
    ) -> Result<Exchange, Fault> {
        input::message(&r.content)?;
        let start = Start::Edit {
            message_id: r.message_id,
            content: &r.content,
            agent_id: r.agent_id,
        };
        self.turn_take(ctx, r.conversation_id, r.turn_id, start)
            .await
    }

    pub(crate) async fn regenerate_message(
        self: &Arc<Self>,
        ctx: &Ctx,
        r: RegenerateMessage,
    ) -> Result<Exchange, Fault> {
        let start = Start::Answer {
            message_id: r.message_id,
            agent_id: r.agent_id,
        };
        self.turn_take(ctx, r.conversation_id, r.turn_id, start)
            .await
    }

    /// Starts the turn and waits for its end. The turn runs on a task of its own: it goes on when this future
    /// is dropped because the asker left.
    async fn turn_take(
        self: &Arc<Self>,
        ctx: &Ctx,
        conversation_id: Uuid,
        turn_id: Option<Uuid>,
        start: Start<'_>,
    ) -> Result<Exchange, Fault> {
        let turn_id = turn_id.unwrap_or_else(new_id);
        let mut tx = self.store.tenant(ctx).await?;
        let begun = self
            .turn_begin(&mut tx, ctx, conversation_id, turn_id, start)
            .await?;
        let (tell, told) = oneshot::channel();
        let (app, ctx) = (self.clone(), ctx.clone());
        tokio::spawn(async move {
            let outcome = app.turn_run(&ctx, tx, begun).await;
            // Nobody listens when the asker has left.
            let _ = tell.send(outcome);
        });
        told.await.unwrap_or_else(|_| {
            Err(Fault::new(
                Code::Internal,
                "the turn ended without an outcome",
            ))
        })
    }

    async fn turn_begin(
        &self,
        tx: &mut TenantTx,
        ctx: &Ctx,
        conversation_id: Uuid,
        turn_id: Uuid,
        start: Start<'_>,
    ) -> Result<Begun, Fault> {
        let started = Instant::now();
        let asked_agent = match &start {
            Start::Send { agent_id, .. } => Some(*agent_id),
            Start::Edit { agent_id, .. } | Start::Answer { agent_id, .. } => *agent_id,
        };
        let locked = tx
            .turn_lock(conversation_id, asked_agent)
            .await?
            .ok_or_else(missing)?;
        writable(ctx, &locked.conversation)?;
        if locked.conversation.running_turn_id.is_some() {
            return Err(busy());
        }
        let (mut branch, mut existing, mut agent) = (locked.branch, None, locked.agent);
        let (mut answers, mut rewordings) = (vec![], vec![]);
        let mut content = None;
        match start {
            Start::Send { content: c, .. } => content = Some(c),
            Start::Edit {
                message_id,
                content: c,
                ..
            } => {
                let old = message(tx, conversation_id, message_id).await?;
                if old.role != MessageRole::User {
                    return Err(Fault::invalid("only a person's message can be edited"));
                }
                agent = self
                    .agent_or_last(tx, agent, asked_agent, conversation_id, old.id)
                    .await?;
                branch = fork(tx, conversation_id, &old, old.position - 1, old.parent_id).await?;
                rewordings = old.siblings;
                content = Some(c);
            }
            Start::Answer { message_id, .. } => {
                let target = message(tx, conversation_id, message_id).await?;
                let question = match (target.role, target.parent_id) {
                    (MessageRole::User, _) => target,
                    (_, Some(parent)) => message(tx, conversation_id, parent).await?,
                    (_, None) => return Err(Fault::invalid("the message answers nothing")),
                };
                agent = self
                    .agent_or_last(tx, agent, asked_agent, conversation_id, question.id)
                    .await?;
                answers = tx.message_answers(conversation_id, question.id).await?;
                if branch.head_message_id != Some(question.id) {
                    branch = fork(
                        tx,
                        conversation_id,
                        &question,
                        question.position,
                        Some(question.id),
                    )
                    .await?;
                }
                existing = Some(question);
            }
        }
        let agent = agent.ok_or_else(|| match asked_agent {
            Some(_) => Fault::not_found("agent"),
            None => Fault::not_found("agent any more").hint("name another with agent_id"),
        })?;
        if !agent.is_active {
            return Err(Fault::new(Code::AgentInactive, "the agent is switched off")
                .hint("choose another agent"));
        }
        let last = branch.head_position;
        // With a new message, one place of the cap is its own.
        let room = self.settings.history_messages - i32::from(content.is_some());
        let mut history = tx
            .message_history(branch.id, (last - room + 1).max(1), last)
            .await?;
        let user_message_id = existing.as_ref().map_or_else(new_id, |m| m.id);
        let title = content.map(auto_title);
        let new = NewTurn {
            id: turn_id,
            conversation_id,
            branch: &branch,
            user_message_id,
            content,
            title: title.as_deref(),
            agent_id: agent.id,
            owner_id: self.owner_id,
            owner_lock: self.owner_lock,
        };
        let StartedTurn {
            conversation,
            user_message,
        } = tx.turn_start(&new).await.map_err(|e| match e {
            qadra_store::StoreError::Duplicate { .. } => {
                Fault::new(Code::Conflict, "there is a turn with that id already")
            }
            other => other.into(),
        })?;
        if let Some(content) = content {
            history.push(HistoryMessage {
                id: user_message_id,
                role: MessageRole::User,
                content: content.to_owned(),
                agent_id: None,
            });
        }
        let mut user_message = user_message
            .or(existing)
            .ok_or_else(|| Fault::new(Code::Internal, "the turn has no message"))?;
        if !rewordings.is_empty() {
            user_message.siblings.splice(0..0, rewordings);
        }
        let user_saved =
            json!({"turn_id": turn_id, "user_message": user_message, "conversation": conversation});
        Ok(Begun {
            live: LiveTurn::new(ctx.tenant_id, turn_id),
            agent,
            user_message,
            history,
            siblings: answers,
            user_saved,
            started,
        })
    }

    /// The agent asked for, or else the one that answered the message last.
    async fn agent_or_last(
        &self,
        tx: &mut TenantTx,
        found: Option<Agent>,
        asked: Option<Uuid>,
        conversation_id: Uuid,
        question_id: Uuid,
    ) -> Result<Option<Agent>, Fault> {
        if asked.is_some() {
            return Ok(found);
        }
        match tx.answering_agent(conversation_id, question_id).await? {
            Some(id) => Ok(tx.agent_get(id).await?),
            None => Err(Fault::invalid("agent_id is missing")
                .hint("no agent has answered this message before")),
        }
    }
}

async fn message(tx: &mut TenantTx, conversation_id: Uuid, id: Uuid) -> Result<Message, Fault> {
    tx.message_get(conversation_id, id)
        .await?
        .ok_or_else(|| Fault::not_found("message in this conversation"))
}

/// A new branch that shares the path of `m`'s branch up to position `at`.
async fn fork(
    tx: &mut TenantTx,
    conversation_id: Uuid,
    m: &Message,
    at: i32,
    head: Option<Uuid>,
) -> Result<Branch, Fault> {
    let from = tx
        .branch_get(m.branch_id)
        .await?
        .ok_or_else(|| Fault::not_found("branch"))?;
    Ok(tx.branch_fork(conversation_id, &from, at, head).await?)
}

const TITLE_CHARS: usize = 60;

/// The first line of a message, cut at a word boundary near 60 characters.
fn auto_title(content: &str) -> String {
    let line = content
        .lines()
        .map(str::trim)
        .find(|l| !l.is_empty())
        .unwrap_or_default();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((cut, _)) = line.char_indices().nth(TITLE_CHARS) else {
        return line;
    };
    let head = line.get(..cut).unwrap_or_default();
    // A single long word (or a script without spaces) is cut hard.
    let end = match line.get(cut..).is_some_and(|rest| rest.starts_with(' ')) {
        true => cut,
        false => head.rfind(' ').filter(|i| *i > 0).unwrap_or(cut),
    };
    format!(
        "{}…",
        head.get(..end)
            .unwrap_or(head)
            .trim_end_matches([',', ';', ':', ' '])
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_end_on_a_word_near_sixty_characters() {
        assert_eq!(
            auto_title("  When was Apple\tfounded?\nThanks"),
            "When was Apple founded?"
        );
        assert_eq!(
            auto_title(
                "Compare the revenue of Apple, Microsoft and NVIDIA over the last five years, please"
            ),
            "Compare the revenue of Apple, Microsoft and NVIDIA over the…"
        );
        let exact = format!("{} tail", "a".repeat(60));
        assert_eq!(auto_title(&exact), format!("{}…", "a".repeat(60)));
        assert_eq!(
            auto_title(&"字".repeat(80)),
            format!("{}…", "字".repeat(60))
        );
        assert_eq!(auto_title(&"x".repeat(60)), "x".repeat(60));
    }
}
