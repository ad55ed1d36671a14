//! A model server that says what a test tells it to, over real HTTP on a loopback port.
//!
//! It speaks OpenAI's and Anthropic's formats, streamed and whole, and can also do what no good server
//! does: refuse, hang, break off, talk nonsense, never stop calling a tool. It never contacts a model.
//! Entry type: [`ScriptedLlm`]; what it answers is a [`Reply`].

mod format;
mod reply;
mod serve;

pub use reply::{Gate, Reply};

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;

type Handler = Arc<dyn Fn(&Request) -> Reply + Send + Sync>;

/// The server. It stops, and drops its connections, when this is dropped.
///
/// A request is answered by the handler if there is one, else by the next queued reply, else by the
/// standing reply, which says `ok` unless it was set.
pub struct ScriptedLlm {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// Null when the body was no JSON.
    pub body: Value,
    pub at: Instant,
    /// The address of the connection; two requests with the same one shared a connection.
    pub peer: SocketAddr,
    closed_early: Arc<AtomicBool>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Whether the client closed the connection before its reply was over.
    pub fn closed_early(&self) -> bool {
        self.closed_early.load(Ordering::SeqCst)
    }
}

impl ScriptedLlm {
    /// Starts on a free port of 127.0.0.1.
    ///
    /// # Panics
    /// When there is none.
    pub async fn start() -> Self {
        Self::bind(SocketAddr::from(([127, 0, 0, 1], 0)))
            .await
            .expect("no free loopback port")
    }

    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = tokio::net::TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new());
        let task = tokio::spawn(serve::run(listener, Arc::clone(&shared)));
        Ok(Self {
            address,
            shared,
            task,
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL of an OpenAI-compatible client.
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The base URL of an Anthropic client.
    pub fn anthropic_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Queues the reply to the next request that no earlier reply takes.
    pub fn push(&self, reply: Reply) -> &Self {
        self.shared.lock().queue.push_back(reply);
        self
    }

    /// The reply to every request that finds the queue empty.
    pub fn otherwise(&self, reply: Reply) -> &Self {
        self.shared.lock().standing = reply;
        self
    }

    /// Answers every request from here on by what `handler` makes of it.
    pub fn on_request(&self, handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> &Self {
        self.shared.lock().handler = Some(Arc::new(handler));
        self
    }

    /// Keeps no requests, so that a long run does not grow; counting goes on.
    pub fn forget_requests(&self) -> &Self {
        self.shared.lock().forget = true;
        self
    }

    /// The requests so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.lock().requests.clone()
    }

    /// How many requests came; not the same as how many are kept.
    pub fn request_count(&self) -> usize {
        *self.shared.count.borrow()
    }

    /// Waits until `count` requests have come; false when `within` is over first.
    pub async fn wait_for_requests(&self, count: usize, within: Duration) -> bool {
        let mut seen = self.shared.count.subscribe();
        tokio::time::timeout(within, seen.wait_for(|seen| *seen >= count))
            .await
            .is_ok()
    }

    /// Waits until the client of request `index` has closed its connection before the reply was over.
    pub async fn wait_for_close(&self, index: usize, within: Duration) -> bool {
        let mut changes = self.shared.closes.subscribe();
        let closed = || {
            self.shared
                .lock()
                .requests
                .get(index)
                .is_some_and(Request::closed_early)
        };
        tokio::time::timeout(within, changes.wait_for(|_| closed()))
            .await
            .is_ok()
    }
}

impl Drop for ScriptedLlm {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Shared {
    script: Mutex<Script>,
    count: watch::Sender<usize>,
    closes: watch::Sender<usize>,
}

struct Script {
    queue: VecDeque<Reply>,
    standing: Reply,
    handler: Option<Handler>,
    requests: Vec<Request>,
    forget: bool,
}

impl Shared {
    fn new() -> Self {
        let script = Script {
            queue: VecDeque::new(),
            standing: Reply::text("ok"),
            handler: None,
            requests: Vec::new(),
            forget: false,
        };
        Self {
            script: Mutex::new(script),
            count: watch::Sender::new(0),
            closes: watch::Sender::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the request and finds its reply.
    fn take(&self, request: &Request) -> Reply {
        let mut script = self.lock();
        if !script.forget {
            script.requests.push(request.clone());
        }
        let reply = match script.handler.clone() {
            Some(handler) => {
                // Not under the lock, so that a handler may look at the server.
                drop(script);
                handler(request)
            }
            None => script
                .queue
                .pop_front()
                .unwrap_or_else(|| script.standing.clone()),
        };
        self.count.send_modify(|count| *count += 1);
        reply
    }

    fn note_close(&self, request: &Request) {
        request.closed_early.store(true, Ordering::SeqCst);
        self.closes.send_modify(|count| *count += 1);
    }
}
