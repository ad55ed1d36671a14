use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Semaphore;

/// What the server does with one request: steps, in the order they are added.
///
/// Unless a step says how it ends, a reply ends as a good server's does: with its finish reason, its
/// usage when that is asked for, and the format's end mark.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) steps: Vec<Step>,
    pub(super) usage: Told,
    pub(super) finish: Option<String>,
    pub(super) model: Option<String>,
    pub(super) whole: bool,
    pub(super) ending: Ending,
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Token(String),
    Call {
        id: String,
        name: String,
        pieces: Vec<String>,
    },
    Raw(Bytes),
    Gate(Gate),
    Pause(Duration),
    Drop,
    Hang,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Told {
    /// A token for every four bytes of the request, and one for every step of the answer.
    Counted,
    Exactly(u64, u64),
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Ending {
    Proper,
    /// The body ends after the last step, with nothing that says so.
    Bare,
}

impl Reply {
    /// A reply of no steps yet.
    pub fn new() -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            steps: Vec::new(),
            usage: Told::Counted,
            finish: None,
            model: None,
            whole: false,
            ending: Ending::Proper,
        }
    }

    /// Says `text` as one token.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new().token(text)
    }

    /// Says each of `tokens`.
    pub fn tokens<T: Into<String>>(tokens: impl IntoIterator<Item = T>) -> Self {
        tokens
            .into_iter()
            .fold(Self::new(), |reply, token| reply.token(token))
    }

    /// Calls one tool. As the standing reply it is a model that never stops doing so.
    pub fn calls(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::new().call("call_1", name, arguments)
    }

    /// Refuses with `status` and `message`, in the error shape that both formats share.
    pub fn error(status: u16, message: &str) -> Self {
        let body = serde_json::json!({"type": "error", "error": {"type": "api_error", "message": message}});
        Self::raw_body(status, body.to_string())
    }

    /// Answers `status` and `body` as they are; the content type is JSON unless a header says else.
    pub fn raw_body(status: u16, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            ..Self::new().raw(body).bare()
        }
    }

    /// Sends no answer at all, not even headers, and closes the connection.
    pub fn disconnect() -> Self {
        Self {
            status: 0,
            ..Self::new()
        }
    }

    /// Sends no answer at all, not even headers, and keeps the connection until the client leaves.
    pub fn silence() -> Self {
        Self {
            status: 0,
            ..Self::new().hang()
        }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers
            .push((name.to_ascii_lowercase(), value.to_owned()));
        self
    }

    pub fn token(self, text: impl Into<String>) -> Self {
        self.step(Step::Token(text.into()))
    }

    /// A tool call whose arguments come in pieces of a few characters.
    pub fn call(
        self,
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        let arguments: Vec<char> = arguments.into().chars().collect();
        let pieces = arguments
            .chunks(7)
            .map(|piece| piece.iter().collect())
            .collect();
        self.step(Step::Call {
            id: id.into(),
            name: name.into(),
            pieces,
        })
    }

    /// Bytes put into the body as they are.
    pub fn raw(self, bytes: impl Into<Bytes>) -> Self {
        self.step(Step::Raw(bytes.into()))
    }

    /// Waits here until `gate` lets one through.
    pub fn gate(self, gate: &Gate) -> Self {
        self.step(Step::Gate(gate.clone()))
    }

    /// Puts a gate before every token so far.
    pub fn gate_each(mut self, gate: &Gate) -> Self {
        let steps = std::mem::take(&mut self.steps);
        for step in steps {
            if matches!(step, Step::Token(_)) {
                self.steps.push(Step::Gate(gate.clone()));
            }
            self.steps.push(step);
        }
        self
    }

    pub fn pause(self, time: Duration) -> Self {
        self.step(Step::Pause(time))
    }

    /// Pauses before every token so far.
    pub fn pause_each(mut self, time: Duration) -> Self {
        let steps = std::mem::take(&mut self.steps);
        for step in steps {
            if matches!(step, Step::Token(_)) && !time.is_zero() {
                self.steps.push(Step::Pause(time));
            }
            self.steps.push(step);
        }
        self
    }

    /// Breaks the connection here, in the middle of the body.
    pub fn drop_here(self) -> Self {
        self.step(Step::Drop)
    }

    /// Sends nothing more and keeps the connection until the client leaves.
    pub fn hang(self) -> Self {
        self.step(Step::Hang)
    }

    pub fn usage(mut self, prompt: u64, completion: u64) -> Self {
        self.usage = Told::Exactly(prompt, completion);
        self
    }

    pub fn no_usage(mut self) -> Self {
        self.usage = Told::Nothing;
        self
    }

    /// The reason for stopping, in the words of the format that is asked for.
    pub fn finish(mut self, reason: &str) -> Self {
        self.finish = Some(reason.to_owned());
        self
    }

    /// The model it says it is; the one that was asked for otherwise.
    pub fn model(mut self, model: &str) -> Self {
        self.model = Some(model.to_owned());
        self
    }

    /// Answers with one JSON document although a stream was asked for.
    pub fn whole(mut self) -> Self {
        self.whole = true;
        self
    }

    /// Ends the body properly, but without finish reason, usage and end mark.
    pub fn bare(mut self) -> Self {
        self.ending = Ending::Bare;
        self
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

impl Default for Reply {
    fn default() -> Self {
        Self::new()
    }
}

/// Holds replies back until a test lets them go on, so that no test has to sleep.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Semaphore>);

impl Gate {
    pub fn new() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    /// Lets `count` waits through, those to come included.
    pub fn release(&self, count: usize) {
        self.0.add_permits(count);
    }

    /// Lets everything through from now on.
    pub fn open(&self) {
        self.0.close();
    }

    pub(super) async fn pass(&self) {
        // An error means that the gate is open for good.
        if let Ok(permit) = self.0.acquire().await {
            permit.forget();
        }
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}
