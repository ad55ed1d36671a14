use std::collections::VecDeque;

use crate::tokens::{weigh_bytes, weight_to_tokens};
use crate::{ChatEvent, FinishReason, Limits, LlmError, ToolCall, Usage};

/// Most tool calls in one answer; a server that counts further is not talking about tools.
const MAX_CALLS: usize = 128;

/// An answer in the making: what a wire format says goes in, events come out.
#[derive(Debug)]
pub(crate) struct Answer {
    limits: Limits,
    events: VecDeque<ChatEvent>,
    calls: Vec<OpenCall>,
    released: usize,
    model: String,
    reason: Option<FinishReason>,
    prompt_estimate: u64,
    told_prompt: Option<u64>,
    told_completion: Option<u64>,
    weight: u64,
    bytes: usize,
    begun: bool,
    finished: bool,
}

#[derive(Debug)]
struct OpenCall {
    key: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Answer {
    pub(crate) fn new(limits: Limits, model: &str, prompt_estimate: u64) -> Self {
        Self {
            limits,
            events: VecDeque::new(),
            calls: Vec::new(),
            released: 0,
            model: model.to_owned(),
            reason: None,
            prompt_estimate,
            told_prompt: None,
            told_completion: None,
            weight: 0,
            bytes: 0,
            begun: false,
            finished: false,
        }
    }

    pub(crate) fn text(&mut self, text: String) -> Result<(), LlmError> {
        if !text.is_empty() {
            self.spend(text.as_bytes())?;
            self.begun = true;
            self.events.push_back(ChatEvent::Token(text));
        }
        Ok(())
    }

    /// Text that is paid for but not shown, such as a model's reasoning.
    pub(crate) fn hidden(&mut self, text: &str) -> Result<(), LlmError> {
        self.spend(text.as_bytes())
    }

    /// A piece of a tool call. Pieces belong together by `key`; without one, to the last call.
    ///
    /// A name with a new id opens another call even under a key already in use: some servers send
    /// every call whole, and all under index 0.
    pub(crate) fn call_piece(
        &mut self,
        key: Option<u64>,
        id: &str,
        name: &str,
        arguments: &str,
    ) -> Result<(), LlmError> {
        self.spend(arguments.as_bytes())?;
        self.spend(name.as_bytes())?;
        self.begun = true;
        let limits = self.limits;
        let position = match key {
            Some(_) => self.calls.iter().rposition(|call| call.key == key),
            None => self.calls.len().checked_sub(1),
        };
        let open = position
            .and_then(|at| self.calls.get_mut(at))
            .filter(|call| {
                name.is_empty() || call.name.is_empty() || id.is_empty() || call.id == id
            });
        match open {
            Some(call) => {
                if call.id.is_empty() {
                    call.id.push_str(id);
                }
                if call.name.is_empty() {
                    call.name.push_str(name);
                }
                if call.arguments.len() + arguments.len() > limits.arguments {
                    return Err(arguments_too_large(limits));
                }
                call.arguments.push_str(arguments);
            }
            None => {
                if arguments.len() > limits.arguments {
                    return Err(arguments_too_large(limits));
                }
                if self.released + self.calls.len() >= MAX_CALLS {
                    return Err(LlmError::Malformed {
                        message: format!("more than {MAX_CALLS} tool calls in one answer"),
                    });
                }
                self.calls.push(OpenCall {
                    key,
                    id: id.to_owned(),
                    name: name.to_owned(),
                    arguments: arguments.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Hands out the calls gathered so far, which are complete.
    pub(crate) fn release_calls(&mut self) -> Result<(), LlmError> {
        for call in std::mem::take(&mut self.calls) {
            if call.name.is_empty() {
                if call.arguments.trim().is_empty() {
                    continue;
                }
                return Err(LlmError::Malformed {
                    message: "a tool call without a name".to_owned(),
                });
            }
            let number = self.released;
            self.released += 1;
            let blank = call.arguments.trim().is_empty();
            self.events.push_back(ChatEvent::ToolCall(ToolCall {
                id: if call.id.is_empty() {
                    format!("call_{number}")
                } else {
                    call.id
                },
                name: call.name,
                arguments: if blank {
                    "{}".to_owned()
                } else {
                    call.arguments
                },
            }));
        }
        Ok(())
    }

    pub(crate) fn model(&mut self, model: &str) {
        // Bounded, because it is stored with every message.
        if !model.is_empty() && model.len() <= 256 && self.model != model {
            model.clone_into(&mut self.model);
        }
    }

    /// Figures the server tells; later ones replace earlier ones. No request has an empty prompt, so
    /// a zero there means that the server does not count.
    pub(crate) fn count(&mut self, prompt: Option<u64>, completion: Option<u64>) {
        let sane = |count: u64| count.min(u64::from(u32::MAX));
        self.told_prompt = prompt
            .filter(|&count| count > 0)
            .map(sane)
            .or(self.told_prompt);
        self.told_completion = completion.map(sane).or(self.told_completion);
    }

    pub(crate) fn reason(&mut self, reason: FinishReason) {
        self.reason = Some(reason);
    }

    /// Whether the server has said why it stopped, though figures may still follow.
    pub(crate) fn has_reason(&self) -> bool {
        self.reason.is_some()
    }

    pub(crate) fn finish(&mut self) -> Result<(), LlmError> {
        if self.finished {
            return Ok(());
        }
        self.release_calls()?;
        self.begun = true;
        self.finished = true;
        let called = self.released > 0;
        let reason = match self.reason.take() {
            None | Some(FinishReason::Stop) if called => FinishReason::ToolCalls,
            None => FinishReason::Stop,
            Some(FinishReason::ToolCalls) if !called => FinishReason::Stop,
            Some(reason) => reason,
        };
        let usage = self.usage();
        self.events.push_back(ChatEvent::Finish {
            reason,
            usage,
            model: self.model.clone(),
        });
        Ok(())
    }

    pub(crate) fn next(&mut self) -> Option<ChatEvent> {
        self.events.pop_front()
    }

    pub(crate) fn has_next(&self) -> bool {
        !self.events.is_empty()
    }

    /// Whether any of the answer has been seen, so that asking again would say it twice.
    pub(crate) fn begun(&self) -> bool {
        self.begun
    }

    pub(crate) fn finished(&self) -> bool {
        self.finished
    }

    pub(crate) fn usage(&self) -> Usage {
        let completion = self
            .told_completion
            .filter(|&count| count > 0 || self.weight == 0);
        Usage {
            prompt_tokens: self.told_prompt.unwrap_or(self.prompt_estimate),
            completion_tokens: completion.unwrap_or_else(|| weight_to_tokens(self.weight)),
            estimated: self.told_prompt.is_none() || completion.is_none(),
        }
    }

    fn spend(&mut self, bytes: &[u8]) -> Result<(), LlmError> {
        self.bytes += bytes.len();
        if self.bytes > self.limits.answer {
            return Err(LlmError::TooLarge {
                what: "one answer",
                limit: self.limits.answer,
            });
        }
        self.weight += weigh_bytes(bytes);
        Ok(())
    }
}

fn arguments_too_large(limits: Limits) -> LlmError {
    LlmError::TooLarge {
        what: "the arguments of one tool call",
        limit: limits.arguments,
    }
}
