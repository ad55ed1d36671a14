use serde_json::{Value, json};

use super::reply::{Reply, Step, Told};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Format {
    OpenAi,
    Anthropic,
}

/// Writes one reply in one format.
pub(super) struct Writer {
    format: Format,
    model: String,
    wants_usage: bool,
    prompt_tokens: u64,
    completion_tokens: u64,
    told: Told,
    finish: Option<String>,
    /// OpenAI: index of the next tool call; Anthropic: index of the next content block.
    index: usize,
    text_open: bool,
    called: bool,
    content: String,
    calls: Vec<(String, String, String)>,
}

impl Writer {
    pub(super) fn new(
        format: Format,
        reply: &Reply,
        request: &Value,
        request_bytes: usize,
    ) -> Self {
        let asked = request
            .get("model")
            .and_then(Value::as_str)
            .unwrap_or("scripted");
        Self {
            format,
            model: reply.model.clone().unwrap_or_else(|| asked.to_owned()),
            wants_usage: format == Format::Anthropic
                || request.pointer("/stream_options/include_usage") == Some(&Value::Bool(true)),
            prompt_tokens: match reply.usage {
                Told::Exactly(prompt, _) => prompt,
                Told::Counted => request_bytes as u64 / 4 + 1,
                Told::Nothing => 0,
            },
            completion_tokens: 0,
            told: reply.usage,
            finish: reply.finish.clone(),
            index: 0,
            text_open: false,
            called: false,
            content: String::new(),
            calls: Vec::new(),
        }
    }

    /// What comes before the first step.
    pub(super) fn start(&self, out: &mut Vec<u8>) {
        match self.format {
            Format::OpenAi => self.chunk(out, &json!({"role": "assistant", "content": ""}), None),
            Format::Anthropic => {
                let mut message = json!({
                    "id": "msg_scripted", "type": "message", "role": "assistant",
                    "model": self.model, "content": [], "stop_reason": null,
                });
                if self.told != Told::Nothing {
                    message["usage"] =
                        json!({"input_tokens": self.prompt_tokens, "output_tokens": 1});
                }
                event(
                    out,
                    "message_start",
                    &json!({"type": "message_start", "message": message}),
                );
            }
        }
    }

    /// A step that puts bytes into the stream; others put none.
    pub(super) fn step(&mut self, step: &Step, out: &mut Vec<u8>) {
        match step {
            Step::Token(text) => {
                self.completion_tokens += 1;
                match self.format {
                    Format::OpenAi => self.chunk(out, &json!({"content": text}), None),
                    Format::Anthropic => self.text_block(text, out),
                }
            }
            Step::Call { id, name, pieces } => {
                self.completion_tokens += 1 + pieces.len() as u64;
                self.called = true;
                match self.format {
                    Format::OpenAi => self.call_chunks(id, name, pieces, out),
                    Format::Anthropic => self.call_block(id, name, pieces, out),
                }
            }
            Step::Raw(bytes) => out.extend_from_slice(bytes),
            Step::Gate(_) | Step::Pause(_) | Step::Drop | Step::Hang => {}
        }
    }

    /// What comes after the last step.
    pub(super) fn end(&mut self, out: &mut Vec<u8>) {
        let reason = self.reason();
        let (prompt, completion) = (self.prompt_tokens, self.completion());
        match self.format {
            Format::OpenAi => {
                self.chunk(out, &json!({}), Some(&reason));
                if self.wants_usage && self.told != Told::Nothing {
                    let chunk = json!({
                        "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0,
                        "model": self.model, "choices": [], "usage": openai_usage(prompt, completion),
                    });
                    data(out, &chunk);
                }
                out.extend_from_slice(b"data: [DONE]\n\n");
            }
            Format::Anthropic => {
                self.close_text(out);
                let mut delta = json!({"type": "message_delta", "delta": {"stop_reason": reason}});
                if self.told != Told::Nothing {
                    delta["usage"] = json!({"output_tokens": completion});
                }
                event(out, "message_delta", &delta);
                event(out, "message_stop", &json!({"type": "message_stop"}));
            }
        }
    }

    /// Notes a step for [`Self::document`].
    pub(super) fn gather(&mut self, step: &Step) {
        match step {
            Step::Token(text) => {
                self.completion_tokens += 1;
                self.content.push_str(text);
            }
            Step::Call { id, name, pieces } => {
                self.completion_tokens += 1 + pieces.len() as u64;
                self.called = true;
                self.calls.push((id.clone(), name.clone(), pieces.concat()));
            }
            _ => {}
        }
    }

    /// The whole reply as one document.
    pub(super) fn document(&self) -> Value {
        let reason = self.reason();
        let (prompt, completion) = (self.prompt_tokens, self.completion());
        let mut document = match self.format {
            Format::OpenAi => {
                let mut message = json!({"role": "assistant", "content": self.content});
                if self.called {
                    message["tool_calls"] = self
                        .calls
                        .iter()
                        .map(|(id, name, arguments)| {
                            json!({"id": id, "type": "function",
                                "function": {"name": name, "arguments": arguments}})
                        })
                        .collect();
                }
                json!({
                    "id": "chatcmpl-scripted", "object": "chat.completion", "created": 0,
                    "model": self.model,
                    "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                    "usage": openai_usage(prompt, completion),
                })
            }
            Format::Anthropic => {
                let mut content = vec![json!({"type": "text", "text": self.content})];
                content.extend(self.calls.iter().map(|(id, name, arguments)| {
                    let input: Value = serde_json::from_str(arguments).unwrap_or_default();
                    json!({"type": "tool_use", "id": id, "name": name, "input": input})
                }));
                json!({
                    "id": "msg_scripted", "type": "message", "role": "assistant",
                    "model": self.model, "content": content, "stop_reason": reason,
                    "usage": {"input_tokens": prompt, "output_tokens": completion},
                })
            }
        };
        if self.told == Told::Nothing
            && let Some(fields) = document.as_object_mut()
        {
            fields.remove("usage");
        }
        document
    }

    fn completion(&self) -> u64 {
        match self.told {
            Told::Exactly(_, completion) => completion,
            Told::Counted | Told::Nothing => self.completion_tokens,
        }
    }

    fn reason(&self) -> String {
        self.finish.clone().unwrap_or_else(|| {
            let word = match (self.format, self.called) {
                (Format::OpenAi, false) => "stop",
                (Format::OpenAi, true) => "tool_calls",
                (Format::Anthropic, false) => "end_turn",
                (Format::Anthropic, true) => "tool_use",
            };
            word.to_owned()
        })
    }

    fn chunk(&self, out: &mut Vec<u8>, delta: &Value, reason: Option<&str>) {
        let chunk = json!({
            "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0,
            "model": self.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        });
        data(out, &chunk);
    }

    fn call_chunks(&mut self, id: &str, name: &str, pieces: &[String], out: &mut Vec<u8>) {
        let index = self.index;
        self.index += 1;
        let head = json!({"index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": ""}});
        self.chunk(out, &json!({"tool_calls": [head]}), None);
        for piece in pieces {
            let part = json!({"index": index, "function": {"arguments": piece}});
            self.chunk(out, &json!({"tool_calls": [part]}), None);
        }
    }

    fn text_block(&mut self, text: &str, out: &mut Vec<u8>) {
        if !self.text_open {
            self.text_open = true;
            let block = json!({"type": "text", "text": ""});
            block_start(out, self.index, &block);
        }
        block_delta(
            out,
            self.index,
            &json!({"type": "text_delta", "text": text}),
        );
    }

    fn close_text(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.text_open) {
            block_stop(out, self.index);
            self.index += 1;
        }
    }

    fn call_block(&mut self, id: &str, name: &str, pieces: &[String], out: &mut Vec<u8>) {
        self.close_text(out);
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        block_start(out, self.index, &block);
        for piece in pieces {
            let delta = json!({"type": "input_json_delta", "partial_json": piece});
            block_delta(out, self.index, &delta);
        }
        block_stop(out, self.index);
        self.index += 1;
    }
}

fn openai_usage(prompt: u64, completion: u64) -> Value {
    json!({"prompt_tokens": prompt, "completion_tokens": completion,
        "total_tokens": prompt + completion})
}

fn data(out: &mut Vec<u8>, value: &Value) {
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(value.to_string().as_bytes());
    out.extend_from_slice(b"\n\n");
}

fn event(out: &mut Vec<u8>, name: &str, value: &Value) {
    out.extend_from_slice(format!("event: {name}\n").as_bytes());
    data(out, value);
}

fn block_start(out: &mut Vec<u8>, index: usize, block: &Value) {
    let value = json!({"type": "content_block_start", "index": index, "content_block": block});
    event(out, "content_block_start", &value);
}

fn block_delta(out: &mut Vec<u8>, index: usize, delta: &Value) {
    let value = json!({"type": "content_block_delta", "index": index, "delta": delta});
    event(out, "content_block_delta", &value);
}

fn block_stop(out: &mut Vec<u8>, index: usize) {
    event(
        out,
        "content_block_stop",
        &json!({"type": "content_block_stop", "index": index}),
    );
}
