//! A web server that answers as a test says, and a resolver that answers what a test says.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use qadra_runner::egress::{AllowList, Egress, EgressOptions, Resolver};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

#[derive(Debug, Clone)]
pub struct Asked {
    pub method: String,
    /// As it stands in the request line.
    pub target: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

/// The bytes of an answer, head included; no bytes at all is a server that stays silent.
pub type Answer = Vec<u8>;

pub fn answer(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Answer {
    let body = body.as_ref();
    let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    [head.as_bytes(), b"\r\n", body].concat()
}

pub fn json(body: &str) -> Answer {
    answer(200, &[("content-type", "application/json")], body)
}

pub fn redirect(status: u16, target: &str) -> Answer {
    answer(status, &[("location", target)], "")
}

type Handler = Arc<dyn Fn(&Asked) -> Answer + Send + Sync>;

pub struct Web {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: JoinHandle<()>,
}

impl Drop for Web {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Web {
    pub async fn start(handler: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", handler).await
    }

    pub async fn at(
        address: &str,
        handler: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, asked) = (Arc::new(AtomicUsize::new(0)), Arc::default());
        let handler: Handler = Arc::new(handler);
        let (count, log): (_, Arc<Mutex<Vec<Asked>>>) = (connections.clone(), Arc::clone(&asked));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(talk(stream, handler.clone(), log.clone()));
            }
        });
        Self {
            address,
            connections,
            asked,
            task,
        }
    }

    /// How many connections were made to it, whatever came over them.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

async fn talk(mut stream: TcpStream, handler: Handler, log: Arc<Mutex<Vec<Asked>>>) -> Option<()> {
    let mut bytes = Vec::new();
    loop {
        let end = loop {
            if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
                break end + 4;
            }
            if stream.read_buf(&mut bytes).await.ok()? == 0 {
                return None;
            }
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.lines();
        let mut first = lines.next()?.split(' ');
        let mut asked = Asked {
            method: first.next()?.to_owned(),
            target: first.next()?.to_owned(),
            headers: lines
                .filter_map(|line| line.split_once(": "))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
                .collect(),
            body: String::new(),
        };
        let length: usize = asked
            .header("content-length")
            .map_or(0, |n| n.parse().unwrap());
        while bytes.len() < end + length {
            if stream.read_buf(&mut bytes).await.ok()? == 0 {
                return None;
            }
        }
        asked.body = String::from_utf8_lossy(&bytes[end..end + length]).into_owned();
        bytes.drain(..end + length);
        log.lock().unwrap().push(asked.clone());
        let reply = handler(&asked);
        if reply.is_empty() {
            std::future::pending::<()>().await;
        }
        stream.write_all(&reply).await.ok()?;
    }
}

/// Answers each look-up of a name with the next of its answers, and the last one from then on.
#[derive(Default)]
pub struct Names {
    answers: HashMap<String, Vec<Vec<IpAddr>>>,
    pub lookups: Mutex<HashMap<String, usize>>,
}

impl Names {
    pub fn with(mut self, name: &str, answers: &[&[&str]]) -> Self {
        let parsed = answers
            .iter()
            .map(|ips| ips.iter().map(|ip| ip.parse().unwrap()).collect())
            .collect();
        self.answers.insert(name.to_owned(), parsed);
        self
    }
}

#[async_trait]
impl Resolver for Names {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let answers = self.answers.get(host).ok_or(io::ErrorKind::NotFound)?;
        let mut lookups = self.lookups.lock().unwrap();
        let count = lookups.entry(host.to_owned()).or_default();
        let found = answers
            .get(*count)
            .or(answers.last())
            .cloned()
            .unwrap_or_default();
        *count += 1;
        Ok(found)
    }
}

pub fn egress_with(allow: &str, names: Arc<Names>, options: EgressOptions) -> Egress {
    Egress::new(AllowList::parse(allow).unwrap(), names, options).unwrap()
}

pub fn egress(allow: &str) -> Egress {
    let options = EgressOptions {
        total: Duration::from_secs(10),
        ..EgressOptions::default()
    };
    egress_with(allow, Arc::default(), options)
}
