//! Threads and rated answers as files.

use std::fmt::Write as _;

use chrono::Utc;
use qadra_api::{Download, ExportConversation, ExportFormat, ExportedThread, TrainingExport};
use qadra_epistemic::{Assessment, system_message};
use qadra_store::Page;
use qadra_types::{Code, Conversation, Ctx, Fault, Message, MessageRole};
use serde_json::{Value, json};

use crate::App;
use crate::conversations::readable;

/// Messages read in one go.
const BATCH: i32 = 500;
/// Characters of an export; beyond it the answer would not fit a bus reference.
const MAX_CHARS: usize = 48 * 1024 * 1024;

impl App {
    pub(crate) async fn conversation_export(
        &self,
        ctx: &Ctx,
        r: ExportConversation,
    ) -> Result<Download, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let conversation = readable(&mut tx, ctx, r.id).await?;
        let mut messages = Vec::new();
        let mut size = 0;
        let mut first = 1;
        while first <= conversation.message_count {
            let page = Page {
                first,
                last: first.saturating_add(BATCH - 1),
                newest_first: false,
            };
            for message in tx
                .message_page(conversation.active_branch_id, &page)
                .await?
            {
                size += message.content.len() + message.metadata.to_string().len();
                messages.push(message);
            }
            if size > MAX_CHARS {
                return Err(Fault::new(
                    Code::TooLarge,
                    "the thread is larger than an export may be",
                )
                .hint("read it page by page from GET …/messages"));
            }
            first = first.saturating_add(BATCH);
        }
        tx.commit().await?;
        let title = conversation.title.as_deref().unwrap_or("conversation");
        let stem: String = title
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { '-' })
            .take(60)
            .collect();
        Ok(match r.format {
            ExportFormat::Md => Download {
                filename: format!("{stem}.md"),
                content_type: "text/markdown; charset=utf-8".into(),
                content: markdown(&conversation, &messages),
            },
            ExportFormat::Json => Download {
                filename: format!("{stem}.json"),
                content_type: "application/json".into(),
                content: serde_json::to_string_pretty(&ExportedThread {
                    exported_at: Utc::now(),
                    conversation,
                    messages,
                })
                .unwrap_or_default(),
            },
        })
    }

    /// One JSON line per rated answer: the prompt in the order the model saw it, the answer, the rating.
    pub(crate) async fn training_export(
        &self,
        ctx: &Ctx,
        r: TrainingExport,
    ) -> Result<Download, Fault> {
        let wanted = match r.rating.as_deref() {
            None => None,
            Some("up") => Some(1),
            Some("down") => Some(-1),
            Some(other) => {
                return Err(Fault::invalid(format!(
                    "rating is {other:?}, not up or down"
                )));
            }
        };
        let mut tx = self.store.tenant(ctx).await?;
        tx.audit(
            ctx.actor.user_id,
            "training.export",
            "tenant",
            Some(ctx.tenant_id),
            &json!({}),
        )
        .await?;
        let mut content = String::new();
        let mut after = None;
        loop {
            let batch = tx.message_rated(after, i64::from(BATCH)).await?;
            let Some(last) = batch.last() else { break };
            after = Some(last.message_id);
            for e in batch
                .iter()
                .filter(|e| wanted.is_none_or(|w| w == e.rating))
            {
                let first = (e.position - self.settings.history_messages).max(1);
                let path = tx.message_history(e.branch_id, first, e.position).await?;
                let mut messages: Vec<Value> = Vec::with_capacity(path.len() + 1);
                if let Some(prompt) = e.system_prompt.as_deref().filter(|p| !p.is_empty()) {
                    messages.push(json!({"role": "system", "content": prompt}));
                }
                // Rebuilt from the record of what grounded the answer, as the model was given it.
                let facts = e
                    .grounding
                    .clone()
                    .and_then(|g| serde_json::from_value::<Assessment>(g).ok());
                if let Some(facts) = facts.as_ref().and_then(system_message) {
                    messages.push(json!({"role": "system", "content": facts}));
                }
                messages.extend(
                    path.iter()
                        .map(|m| json!({"role": m.role, "content": m.content})),
                );
                let line = json!({
                    "messages": messages,
                    "rating": e.rating,
                    "model": e.model,
                    "agent_id": e.agent_id,
                    "agent_version": e.agent_version,
                    "conversation_id": e.conversation_id,
                    "message_id": e.message_id,
                    "created_at": e.created_at,
                });
                let _ = writeln!(content, "{line}");
                if content.len() > MAX_CHARS {
                    return Err(Fault::new(
                        Code::TooLarge,
                        "the rated answers are more than one export may hold",
                    ));
                }
            }
        }
        tx.commit().await?;
        Ok(Download {
            filename: "training.jsonl".into(),
            content_type: "application/x-ndjson".into(),
            content,
        })
    }
}

fn markdown(conversation: &Conversation, messages: &[Message]) -> String {
    let mut out = format!(
        "# {}\n",
        conversation.title.as_deref().unwrap_or("Conversation")
    );
    for m in messages {
        let speaker = match m.role {
            MessageRole::User => "You".to_owned(),
            MessageRole::System => "System".to_owned(),
            MessageRole::Assistant => speaker(m),
        };
        let _ = write!(
            out,
            "\n## {speaker} — {}\n\n{}\n",
            m.created_at.format("%Y-%m-%d %H:%M UTC"),
            m.content.trim_end()
        );
        for chart in m
            .metadata
            .get("artifacts")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let name = chart.get("name").and_then(Value::as_str).unwrap_or("chart");
            let content = chart
                .get("content")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let _ = write!(out, "\n**Chart: {name}**\n\n```json\n{content}\n```\n");
        }
        sources(&mut out, m);
    }
    out
}

fn speaker(m: &Message) -> String {
    let agent = m.metadata.get("agent");
    let field = |k: &str| agent.and_then(|a| a.get(k)).and_then(Value::as_str);
    let name = field("display_name").or(field("name")).unwrap_or("Agent");
    match m.agent_version {
        Some(v) => format!("{name} (version {v})"),
        None => name.to_owned(),
    }
}

/// The cited facts, numbered as in the text.
fn sources(out: &mut String, m: &Message) {
    let citations = m.metadata.get("citations").and_then(Value::as_array);
    let triples = m
        .metadata
        .pointer("/grounding/triples")
        .and_then(Value::as_array);
    let (Some(citations), Some(triples)) = (citations, triples) else {
        return;
    };
    if citations.is_empty() {
        return;
    }
    out.push('\n');
    for c in citations {
        let Some(t) = triples.iter().find(|t| t.get("id") == c.get("triple_id")) else {
            continue;
        };
        let text = |p: &str| t.pointer(p).and_then(Value::as_str).unwrap_or_default();
        let source = t
            .get("source")
            .and_then(Value::as_str)
            .map(|s| format!(" — {s}"))
            .unwrap_or_default();
        let n = c.get("n").and_then(Value::as_u64).unwrap_or_default();
        let _ = writeln!(
            out,
            "[{n}] ({}, {}, {}){source}  ",
            text("/subject/label"),
            text("/predicate"),
            text("/object/label")
        );
    }
}
