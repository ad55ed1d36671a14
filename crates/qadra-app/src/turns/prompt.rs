use qadra_llm::{ChatMessage, ChatRequest};
use qadra_store::HistoryMessage;
use qadra_types::{Agent, MessageRole};
use serde_json::Value;

use super::chart;
use crate::tools;

/// Estimated tokens kept free for the answer.
const ANSWER_RESERVE: u64 = 1_024;

/// The request in the seed's order: system prompt, grounding, history, of which the last is the new message.
///
/// The oldest messages are left out when the whole would be over `budget` estimated tokens; the last one never is.
pub(crate) fn request(
    agent: &Agent,
    grounding: Option<String>,
    history: &[HistoryMessage],
    budget: u64,
    context: Value,
    documents: bool,
) -> ChatRequest {
    let mut messages = Vec::with_capacity(history.len() + 2);
    if !agent.system_prompt.trim().is_empty() {
        messages.push(ChatMessage::system(&agent.system_prompt));
    }
    messages.extend(grounding.map(ChatMessage::system));
    let mut request = ChatRequest {
        model: agent.model.clone(),
        // A sampling temperature has no use for more digits than a float holds.
        temperature: agent.temperature.map(|t| t as f32),
        messages,
        tools: std::iter::once(chart::tool())
            .chain(tools::specs(documents))
            .collect(),
        context,
        ..ChatRequest::default()
    };
    let mut left = budget.saturating_sub(request.estimated_prompt_tokens() + ANSWER_RESERVE);
    let mut kept: Vec<ChatMessage> = Vec::with_capacity(history.len());
    for message in history.iter().rev().filter(|m| !m.content.is_empty()) {
        let message = match message.role {
            MessageRole::User => ChatMessage::user(&message.content),
            MessageRole::Assistant => ChatMessage::assistant(&message.content),
            MessageRole::System => ChatMessage::system(&message.content),
        };
        let cost = message.estimated_tokens();
        if cost > left && !kept.is_empty() {
            break;
        }
        left = left.saturating_sub(cost);
        kept.push(message);
    }
    request.messages.extend(kept.into_iter().rev());
    request
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::DateTime;
    use uuid::Uuid;

    fn agent() -> Agent {
        Agent {
            id: Uuid::nil(),
            name: "a".into(),
            version: 1,
            display_name: None,
            avatar_url: None,
            description: None,
            system_prompt: "Be exact.".into(),
            control_type: Default::default(),
            output_visibility: Default::default(),
            max_calls_per_parent_agent: 3,
            model: None,
            temperature: None,
            is_active: true,
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        }
    }

    fn history(texts: &[&str]) -> Vec<HistoryMessage> {
        texts
            .iter()
            .enumerate()
            .map(|(i, t)| HistoryMessage {
                id: Uuid::from_u128(i as u128),
                role: if i % 2 == 0 {
                    MessageRole::User
                } else {
                    MessageRole::Assistant
                },
                content: (*t).to_owned(),
                agent_id: None,
            })
            .collect()
    }

    #[test]
    fn the_order_is_prompt_facts_history() {
        let r = request(
            &agent(),
            Some("FACTS:\n…".into()),
            &history(&["one", "two", "three"]),
            32_000,
            Value::Null,
            false,
        );
        assert_eq!(
            r.messages,
            [
                ChatMessage::system("Be exact."),
                ChatMessage::system("FACTS:\n…"),
                ChatMessage::user("one"),
                ChatMessage::assistant("two"),
                ChatMessage::user("three"),
            ]
        );
    }

    #[test]
    fn the_oldest_are_dropped_first_and_the_question_never() {
        let long = "word ".repeat(2_000);
        let texts = history(&[&long, &long, "short", &long]);
        let kept = |budget| {
            let r = request(&agent(), None, &texts, budget, Value::Null, false);
            r.messages.len() - 1
        };
        assert_eq!(kept(1), 1);
        assert_eq!(kept(5_000), 2);
        assert_eq!(kept(100_000), 4);
    }

    #[test]
    fn a_blank_system_prompt_and_empty_answers_are_not_sent() {
        let mut a = agent();
        a.system_prompt = "  ".into();
        let r = request(
            &a,
            None,
            &history(&["one", "", "three"]),
            32_000,
            Value::Null,
            false,
        );
        assert_eq!(
            r.messages,
            [ChatMessage::user("one"), ChatMessage::user("three")]
        );
    }
}
