use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures::{FutureExt, Stream, StreamExt};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::answer::Answer;
use crate::http::transport_error;
use crate::sse::{SseDecoder, SseEvent};
use crate::{ChatEvent, LlmError, Options, Phase, Secret, Usage};

/// How long the figures may take that follow the reason for stopping.
const TAIL: Duration = Duration::from_secs(5);

/// What a provider's answers look like. Neither method may panic on any bytes.
pub(crate) trait Wire: Send + Sync {
    /// Reads one event of a streamed answer.
    fn read_event(&self, event: &SseEvent<'_>, answer: &mut Answer) -> Result<(), LlmError>;

    /// Reads an answer that came as one JSON document.
    fn read_whole(&self, body: &[u8], answer: &mut Answer) -> Result<(), LlmError>;
}

pub(crate) type Body = Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>;

/// An answer that is arriving. It owns the connection: dropping it, or dropping `body` inside it,
/// closes the connection unless the answer was read to its end.
pub(crate) struct Live {
    body: Option<Body>,
    framing: Framing,
    wire: &'static dyn Wire,
    answer: Answer,
    /// What ends the stream once the events before it are delivered.
    failure: Option<LlmError>,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
    deadline: Pin<Box<Sleep>>,
    idle: Duration,
    phase: Phase,
    read: usize,
    body_limit: usize,
    answer_limit: usize,
    key: Option<Secret>,
}

enum Framing {
    /// Nothing but white space has come. An event stream never begins with a brace.
    Unknown(SseDecoder),
    Events(SseDecoder),
    Document(Vec<u8>),
}

impl Live {
    pub(crate) fn new(
        body: Body,
        wire: &'static dyn Wire,
        answer: Answer,
        options: &Options,
        first_byte_by: Instant,
        cancel: &CancellationToken,
        key: Option<Secret>,
    ) -> Self {
        Self {
            body: Some(body),
            framing: Framing::Unknown(SseDecoder::new(options.limits.line)),
            wire,
            answer,
            failure: None,
            cancelled: Box::pin(cancel.clone().cancelled_owned()),
            deadline: Box::pin(tokio::time::sleep_until(first_byte_by)),
            idle: options.idle_timeout,
            phase: Phase::FirstByte,
            read: 0,
            body_limit: options.limits.body,
            answer_limit: options.limits.answer,
            key,
        }
    }

    pub(crate) fn usage(&self) -> Usage {
        self.answer.usage()
    }

    /// Waits until some of the answer is there, without taking it.
    pub(crate) async fn begin(&mut self) -> Result<(), LlmError> {
        std::future::poll_fn(|cx| {
            loop {
                if self.answer.has_next() || self.answer.begun() {
                    return Poll::Ready(Ok(()));
                }
                if let Some(failure) = self.failure.take() {
                    return Poll::Ready(Err(failure));
                }
                ready!(self.poll_more(cx));
            }
        })
        .await
    }

    pub(crate) fn poll_event(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<ChatEvent, LlmError>>> {
        loop {
            if let Some(event) = self.answer.next() {
                return Poll::Ready(Some(Ok(event)));
            }
            if let Some(failure) = self.failure.take() {
                return Poll::Ready(Some(Err(failure)));
            }
            if self.body.is_none() {
                return Poll::Ready(None);
            }
            ready!(self.poll_more(cx));
        }
    }

    /// Reads one chunk, or learns that there will be no more.
    fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(body) = &mut self.body else {
            // Only reached when a failure was taken and the caller asks again.
            self.fail(LlmError::Unreachable {
                message: "the stream is over".to_owned(),
            });
            return Poll::Ready(());
        };
        if self.cancelled.poll_unpin(cx).is_ready() {
            self.fail(LlmError::Cancelled {
                usage: self.answer.usage(),
            });
            return Poll::Ready(());
        }
        match body.as_mut().poll_next(cx) {
            Poll::Ready(Some(Ok(chunk))) => {
                if let Err(error) = self.take_chunk(&chunk) {
                    self.fail(error);
                } else if self.answer.finished() {
                    self.hand_back();
                } else {
                    self.phase = Phase::Idle;
                    let patience = if self.answer.has_reason() {
                        self.idle.min(TAIL)
                    } else {
                        self.idle
                    };
                    self.deadline.as_mut().reset(Instant::now() + patience);
                }
            }
            Poll::Ready(Some(Err(error))) => {
                let error = transport_error(error);
                self.lost(error);
            }
            Poll::Ready(None) => {
                if let Err(error) = self.take_end() {
                    self.lost(error);
                } else {
                    self.body = None;
                }
            }
            Poll::Pending => {
                ready!(self.deadline.poll_unpin(cx));
                self.lost(LlmError::Timeout { phase: self.phase });
            }
        }
        Poll::Ready(())
    }

    fn take_chunk(&mut self, chunk: &[u8]) -> Result<(), LlmError> {
        self.read += chunk.len();
        if self.read > self.body_limit {
            return Err(LlmError::TooLarge {
                what: "one response",
                limit: self.body_limit,
            });
        }
        if let Framing::Unknown(decoder) = &mut self.framing {
            match chunk.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => {}
                Some(b'{') => self.framing = Framing::Document(Vec::new()),
                Some(_) => {
                    let decoder = std::mem::replace(decoder, SseDecoder::new(0));
                    self.framing = Framing::Events(decoder);
                }
            }
        }
        match &mut self.framing {
            Framing::Unknown(_) => Ok(()),
            Framing::Document(document) => {
                if document.len() + chunk.len() > self.answer_limit {
                    return Err(LlmError::TooLarge {
                        what: "one answer",
                        limit: self.answer_limit,
                    });
                }
                document.extend_from_slice(chunk);
                Ok(())
            }
            Framing::Events(decoder) => {
                decoder.push(chunk);
                while let Some(event) = decoder.next_event()? {
                    self.wire.read_event(&event, &mut self.answer)?;
                    if self.answer.finished() {
                        break;
                    }
                }
                Ok(())
            }
        }
    }

    fn take_end(&mut self) -> Result<(), LlmError> {
        match &mut self.framing {
            Framing::Unknown(_) => {}
            Framing::Document(document) => {
                return self.wire.read_whole(document, &mut self.answer);
            }
            Framing::Events(decoder) => {
                if let Some(event) = decoder.last_event()? {
                    self.wire.read_event(&event, &mut self.answer)?;
                }
            }
        }
        if self.answer.finished() {
            return Ok(());
        }
        if self.answer.has_reason() {
            return self.answer.finish();
        }
        Err(LlmError::Unreachable {
            message: "the connection was closed before the answer ended".to_owned(),
        })
    }

    /// The connection is gone. An answer that had ended, and only lacked its figures, stands.
    fn lost(&mut self, error: LlmError) {
        if self.answer.has_reason() && self.answer.finish().is_ok() {
            self.body = None;
        } else {
            self.fail(error);
        }
    }

    fn fail(&mut self, error: LlmError) {
        self.body = None;
        let error = match &self.key {
            Some(key) => error.scrubbed(key),
            None => error,
        };
        self.failure = Some(match error {
            error @ (LlmError::Cancelled { .. }
            | LlmError::TooLarge { .. }
            | LlmError::Malformed { .. }) => error,
            error if self.answer.begun() => LlmError::Interrupted {
                message: error.to_string(),
                usage: self.answer.usage(),
            },
            error => error,
        });
    }

    /// Reads what trails a finished answer, so that the connection can serve the next one.
    fn hand_back(&mut self) {
        let Some(mut body) = self.body.take() else {
            return;
        };
        let rest = async move {
            // Nothing but the end of the body is due; a server that sends more loses the connection.
            for _ in 0..8 {
                if !matches!(body.next().await, Some(Ok(_))) {
                    break;
                }
            }
        };
        let mut rest = Box::pin(tokio::time::timeout(Duration::from_millis(250), rest));
        if rest.as_mut().now_or_never().is_none()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anthropic::AnthropicWire;
    use crate::openai::OpenAiWire;
    use proptest::prelude::*;

    const OPENAI: &str = concat!(
        ": hi\r\n\r\n",
        "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Grüße, 世界 🦀\"}}]}\n\n",
        "data:{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"t\",",
        "\"arguments\":\"{\\\"é\"}}]}}]}\r\n\r\n",
        "data: {\"choices\":[{\"delta\":\ndata: {\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":",
        "\"\\\":1}\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\ndata:[DONE]\n\n",
    );

    const ANTHROPIC: &str = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",",
        "\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",",
        "\"text\":\"Grüße, 世界 🦀\"}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",",
        "\"id\":\"a\",\"name\":\"t\",\"input\":{}}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",",
        "\"partial_json\":\"{\\\"é\\\":1}\"}}\r\n\r\n",
        "data: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},",
        "\"usage\":{\"output_tokens\":4}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
    );

    fn play(wire: &'static dyn Wire, chunks: Vec<Bytes>) -> Vec<Result<ChatEvent, LlmError>> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            let options = Options::default();
            let mut live = Live::new(
                Box::pin(futures::stream::iter(chunks.into_iter().map(Ok))),
                wire,
                Answer::new(options.limits, "asked", 9),
                &options,
                Instant::now() + options.first_byte_timeout,
                &CancellationToken::new(),
                None,
            );
            futures::stream::poll_fn(|cx| live.poll_event(cx))
                .collect()
                .await
        })
    }

    fn cut(stream: &str, cuts: &[usize]) -> Vec<Bytes> {
        let mut rest = Bytes::copy_from_slice(stream.as_bytes());
        let mut chunks = Vec::new();
        for cut in cuts.iter().cycle() {
            chunks.push(rest.split_to((*cut).min(rest.len())));
            if rest.is_empty() {
                break;
            }
        }
        chunks
    }

    proptest! {
        #[test]
        fn an_answer_is_the_same_however_the_network_cuts_it(
            cuts in proptest::collection::vec(1usize..60, 1..30),
        ) {
            let wires: [(&'static dyn Wire, &str); 2] =
                [(&OpenAiWire, OPENAI), (&AnthropicWire, ANTHROPIC)];
            for (wire, stream) in wires {
                let expected = [
                    Ok(ChatEvent::Token("Grüße, 世界 🦀".to_owned())),
                    Ok(ChatEvent::ToolCall(crate::ToolCall {
                        id: "a".to_owned(),
                        name: "t".to_owned(),
                        arguments: "{\"é\":1}".to_owned(),
                    })),
                    Ok(ChatEvent::Finish {
                        reason: crate::FinishReason::ToolCalls,
                        usage: Usage { prompt_tokens: 3, completion_tokens: 4, estimated: false },
                        model: "m".to_owned(),
                    }),
                ];
                prop_assert_eq!(&play(wire, cut(stream, &cuts)), &expected);
            }
        }

        #[test]
        fn a_stream_with_any_bytes_put_into_it_ends_without_a_panic(
            at in 0usize..800,
            noise in proptest::collection::vec(any::<u8>(), 1..20),
        ) {
            let wires: [(&'static dyn Wire, &str); 2] =
                [(&OpenAiWire, OPENAI), (&AnthropicWire, ANTHROPIC)];
            for (wire, stream) in wires {
                let (head, tail) = stream.as_bytes().split_at(at.min(stream.len()));
                let chunks = [head, &noise, tail].map(Bytes::copy_from_slice).to_vec();
                prop_assert!(!play(wire, chunks).is_empty());
            }
        }
    }
}
