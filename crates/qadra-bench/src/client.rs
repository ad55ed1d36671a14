use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One HTTP/1.1 connection that is kept alive. It knows lengths and chunks and nothing else, so that it takes
/// little of the cores which it shares with what it measures.
pub(crate) struct Conn {
    tcp: TcpStream,
    buffer: BytesMut,
    body: Body,
}

#[derive(Debug, Clone, Copy)]
enum Body {
    Done,
    Length(usize),
    ChunkHead,
    Chunk(usize),
    ChunkEnd,
    LastEnd,
}

/// One request and its whole answer.
pub(crate) struct Seen {
    pub(crate) status: u16,
    /// From before the request was written to the first sight of the needle.
    pub(crate) first: Option<Duration>,
    pub(crate) total: Duration,
    pub(crate) hits: usize,
    pub(crate) body: Vec<u8>,
}

/// The bytes of a request.
pub(crate) fn request(method: &str, path: &str, token: Option<&str>, body: Option<&str>) -> Bytes {
    let mut text =
        format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n");
    if let Some(token) = token {
        text.push_str(&format!("Authorization: Bearer {token}\r\n"));
    }
    if let Some(body) = body {
        let head = format!(
            "Content-Type: application/json\r\nContent-Length: {}\r\n",
            body.len()
        );
        text.push_str(&head);
    }
    text.push_str("\r\n");
    text.push_str(body.unwrap_or_default());
    text.into()
}

impl Conn {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let tcp = TcpStream::connect(address)
            .await
            .with_context(|| format!("connect to {address}"))?;
        tcp.set_nodelay(true)?;
        Ok(Self {
            tcp,
            buffer: BytesMut::new(),
            body: Body::Done,
        })
    }

    /// Sends `request` and reads all of its answer, looking for `needle`.
    pub(crate) async fn exchange(&mut self, request: &[u8], needle: &[u8]) -> Result<Seen> {
        let begun = Instant::now();
        let status = self.send(request).await?;
        let mut seen = Seen {
            status,
            first: None,
            total: Duration::ZERO,
            hits: 0,
            body: Vec::new(),
        };
        while let Some(piece) = self.piece().await? {
            let from = seen.body.len().saturating_sub(needle.len() - 1);
            seen.body.extend_from_slice(&piece);
            let hits = count(seen.body.get(from..).unwrap_or_default(), needle);
            if hits > 0 && seen.first.is_none() {
                seen.first = Some(begun.elapsed());
            }
            seen.hits += hits;
        }
        seen.total = begun.elapsed();
        Ok(seen)
    }

    /// Sends `request` and reads its answer until `needle` has come; the rest stays to be read. Returns the
    /// length of what was read.
    pub(crate) async fn until(&mut self, request: &[u8], needle: &[u8]) -> Result<usize> {
        let status = self.send(request).await?;
        let mut body = Vec::new();
        while let Some(piece) = self.piece().await? {
            body.extend_from_slice(&piece);
            if count(&body, needle) > 0 {
                ensure!(status == 200, "status {status}");
                return Ok(body.len());
            }
        }
        bail!(
            "the answer (status {status}) ended without what was waited for: {}",
            shown(&body)
        )
    }

    /// Writes a request and reads the head of its answer.
    async fn send(&mut self, request: &[u8]) -> Result<u16> {
        ensure!(
            matches!(self.body, Body::Done),
            "the last answer was not read to its end"
        );
        self.tcp.write_all(request).await?;
        let length = loop {
            match find(&self.buffer, b"\r\n\r\n") {
                Some(at) => break at + 4,
                None => self.fill().await?,
            }
        };
        let head = self.buffer.split_to(length);
        let head = std::str::from_utf8(&head).context("read the head of an answer")?;
        let mut lines = head.lines();
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1))
            .and_then(|word| word.parse().ok())
            .with_context(|| format!("no status in {head:?}"))?;
        self.body = Body::Done;
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                self.body = Body::Length(value.trim().parse().context("read a content length")?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                self.body = Body::ChunkHead;
            }
        }
        Ok(status)
    }

    /// The next bytes of the answer's body; `None` at its end.
    async fn piece(&mut self) -> Result<Option<Bytes>> {
        loop {
            match self.body {
                Body::Done => return Ok(None),
                Body::Length(0) => self.body = Body::Done,
                Body::Chunk(0) => self.body = Body::ChunkEnd,
                Body::Length(left) | Body::Chunk(left) => {
                    if self.buffer.is_empty() {
                        self.fill().await?;
                    }
                    let taken = left.min(self.buffer.len());
                    self.body = match self.body {
                        Body::Length(_) => Body::Length(left - taken),
                        _ => Body::Chunk(left - taken),
                    };
                    return Ok(Some(self.buffer.split_to(taken).freeze()));
                }
                Body::ChunkHead => match find(&self.buffer, b"\r\n") {
                    None => self.fill().await?,
                    Some(at) => {
                        let line = self.buffer.split_to(at + 2);
                        let digits = std::str::from_utf8(&line)?.trim();
                        let size =
                            usize::from_str_radix(digits, 16).context("read a chunk's size")?;
                        self.body = match size {
                            0 => Body::LastEnd,
                            size => Body::Chunk(size),
                        };
                    }
                },
                Body::ChunkEnd | Body::LastEnd => {
                    if self.buffer.len() < 2 {
                        self.fill().await?;
                        continue;
                    }
                    self.buffer.advance(2);
                    self.body = match self.body {
                        Body::ChunkEnd => Body::ChunkHead,
                        _ => Body::Done,
                    };
                }
            }
        }
    }

    async fn fill(&mut self) -> Result<()> {
        self.buffer.reserve(8 * 1024);
        let read = self.tcp.read_buf(&mut self.buffer).await?;
        ensure!(
            read > 0,
            "the server closed the connection within an answer"
        );
        Ok(())
    }
}

impl Seen {
    pub(crate) fn text(&self) -> String {
        shown(&self.body)
    }
}

fn shown(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(400).collect()
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len())
        .position(|window| window == needle)
}

fn count(text: &[u8], needle: &[u8]) -> usize {
    text.windows(needle.len())
        .filter(|window| *window == needle)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn chunks_cut_anywhere_and_a_kept_connection_are_read() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabt\r\nb\r\noken1 token\r\n0\r\n\r\n";
        let whole = "HTTP/1.1 404 Not Found\r\ncontent-length: 5\r\n\r\ntoken";
        tokio::spawn(async move {
            let (mut tcp, _) = listener.accept().await.unwrap();
            let mut asked = [0; 1024];
            for answer in [chunked, whole] {
                let _ = tcp.read(&mut asked).await.unwrap();
                for byte in answer.bytes() {
                    tcp.write_all(&[byte]).await.unwrap();
                    tokio::task::yield_now().await;
                }
            }
        });
        let mut conn = Conn::open(address).await.unwrap();
        let asked = request("GET", "/", None, None);
        let seen = conn.exchange(&asked, b"token").await.unwrap();
        assert_eq!(
            (seen.status, seen.hits, seen.text().as_str()),
            (200, 2, "abtoken1 token")
        );
        assert!(seen.first.is_some_and(|first| first <= seen.total));
        let seen = conn.exchange(&asked, b"token").await.unwrap();
        assert_eq!((seen.status, seen.hits), (404, 1));
    }
}
