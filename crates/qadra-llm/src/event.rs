use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::{Stream, StreamExt};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::live::Live;
use crate::tokens::{weigh_bytes, weight_to_tokens};
use crate::{ChatRequest, LlmError, LlmProvider, ToolCall};

/// One thing that happens while a model answers. `Finish` is the last, and comes once.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatEvent {
    /// The next piece of the answer's text; never empty.
    Token(String),
    /// A tool call, complete. Calls come in the model's order.
    ToolCall(ToolCall),
    Finish {
        reason: FinishReason,
        usage: Usage,
        /// The model that answered, as the server names it.
        model: String,
    },
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinishReason {
    Stop,
    Length,
    ToolCalls,
    ContentFilter,
    Other(String),
}

impl FinishReason {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
            Self::Other(word) => word,
        }
    }
}

/// Tokens that a call, or several added together, has spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// True when any part was not told by the provider: the prompt is then
    /// [`ChatRequest::estimated_prompt_tokens`], the answer [`crate::estimate_tokens`] of all that
    /// arrived, tool calls and hidden reasoning included.
    pub estimated: bool,
}

impl Usage {
    pub fn total(self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            prompt_tokens: self.prompt_tokens.saturating_add(other.prompt_tokens),
            completion_tokens: self
                .completion_tokens
                .saturating_add(other.completion_tokens),
            estimated: self.estimated || other.estimated,
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), Self::add)
    }
}

/// The events of one answer. After an `Err` item or `Finish` it yields nothing more.
///
/// Dropping it closes the connection to the model.
pub struct ChatStream(Source);

enum Source {
    Live(Box<Live>),
    Made(Box<Made>),
}

/// A stream that some other provider makes, metered here.
struct Made {
    events: Pin<Box<dyn Stream<Item = Result<ChatEvent, LlmError>> + Send>>,
    prompt_tokens: u64,
    weight: u64,
    told: Option<Usage>,
}

impl ChatStream {
    /// Wraps the events of a provider outside this crate. `prompt_tokens` counts for [`Self::usage`]
    /// until the stream tells its own in `Finish`.
    pub fn from_events(
        events: impl Stream<Item = Result<ChatEvent, LlmError>> + Send + 'static,
        prompt_tokens: u64,
    ) -> Self {
        let made = Made {
            events: Box::pin(events),
            prompt_tokens,
            weight: 0,
            told: None,
        };
        Self(Source::Made(Box::new(made)))
    }

    pub(crate) fn live(live: Live) -> Self {
        Self(Source::Live(Box::new(live)))
    }

    /// What has been spent so far: the provider's own figures once it has told them, estimated and
    /// flagged before that. Holds at any time, after an error or a cancellation too.
    pub fn usage(&self) -> Usage {
        match &self.0 {
            Source::Live(live) => live.usage(),
            Source::Made(made) => made.told.unwrap_or(Usage {
                prompt_tokens: made.prompt_tokens,
                completion_tokens: weight_to_tokens(made.weight),
                estimated: true,
            }),
        }
    }

    /// Reads to the end and puts the answer together.
    pub async fn collect_answer(mut self) -> Result<Completion, LlmError> {
        let mut content = String::new();
        let mut tool_calls = Vec::new();
        while let Some(event) = self.next().await {
            match event? {
                ChatEvent::Token(text) => content.push_str(&text),
                ChatEvent::ToolCall(call) => tool_calls.push(call),
                ChatEvent::Finish {
                    reason,
                    usage,
                    model,
                } => {
                    return Ok(Completion {
                        content,
                        tool_calls,
                        reason,
                        usage,
                        model,
                    });
                }
            }
        }
        Err(LlmError::Interrupted {
            message: "it ended without saying why".to_owned(),
            usage: self.usage(),
        })
    }
}

impl Stream for ChatStream {
    type Item = Result<ChatEvent, LlmError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut self.0 {
            Source::Live(live) => live.poll_event(cx),
            Source::Made(made) => made.poll_event(cx),
        }
    }
}

impl std::fmt::Debug for ChatStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatStream")
            .field("usage", &self.usage())
            .finish_non_exhaustive()
    }
}

impl Made {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<ChatEvent, LlmError>>> {
        let event = std::task::ready!(self.events.as_mut().poll_next(cx));
        match &event {
            Some(Ok(ChatEvent::Token(text))) => self.weight += weigh_bytes(text.as_bytes()),
            Some(Ok(ChatEvent::ToolCall(call))) => self.weight += call.weight(),
            Some(Ok(ChatEvent::Finish { usage, .. })) => self.told = Some(*usage),
            Some(Err(_)) | None => {}
        }
        Poll::Ready(event)
    }
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    pub content: String,
    pub tool_calls: Vec<ToolCall>,
    pub reason: FinishReason,
    pub usage: Usage,
    pub model: String,
}

/// Asks and waits for the whole answer.
pub async fn complete(
    provider: &dyn LlmProvider,
    request: ChatRequest,
    cancel: CancellationToken,
) -> Result<Completion, LlmError> {
    provider
        .stream(request, cancel)
        .await?
        .collect_answer()
        .await
}
