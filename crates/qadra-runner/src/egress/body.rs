use std::io::{self, Write};

use flate2::write::{MultiGzDecoder, ZlibDecoder};
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;

use super::{EgressError, causes};

/// Unpacked in pieces of this size, so that a bomb is noticed before it has grown.
const PIECE: usize = 1 << 10;

/// Reads the body while it arrives, and stops where it passes `limit`, before and after unpacking.
pub(super) async fn read(
    mut response: Response,
    host: &str,
    limit: usize,
) -> Result<Vec<u8>, EgressError> {
    let too_large = || EgressError::TooLarge {
        what: "body",
        limit,
    };
    if response
        .content_length()
        .is_some_and(|length| length > limit as u64)
    {
        return Err(too_large());
    }
    let coding = response.headers().get(CONTENT_ENCODING).map(|value| {
        String::from_utf8_lossy(value.as_bytes())
            .trim()
            .to_ascii_lowercase()
    });
    let mut unpacker = Unpacker::new(coding.as_deref().unwrap_or_default(), limit)?;
    let mut arrived = 0usize;
    loop {
        let chunk = response.chunk().await.map_err(|e| EgressError::Broken {
            host: host.to_owned(),
            cause: causes(&e),
        })?;
        let Some(chunk) = chunk else { break };
        arrived = arrived.saturating_add(chunk.len());
        if arrived > limit {
            return Err(too_large());
        }
        for piece in chunk.chunks(PIECE) {
            unpacker.write(piece).map_err(|e| fault(&e, limit))?;
        }
    }
    // Nothing came, as for HEAD or 204, whatever the head announced.
    if arrived == 0 {
        return Ok(Vec::new());
    }
    unpacker.finish().map_err(|e| fault(&e, limit))
}

fn fault(error: &io::Error, limit: usize) -> EgressError {
    match error.kind() {
        io::ErrorKind::FileTooLarge => EgressError::TooLarge {
            what: "body",
            limit,
        },
        _ => EgressError::Unreadable(format!("its compression is damaged ({error})")),
    }
}

enum Unpacker {
    Plain(Bounded),
    Gzip(Box<MultiGzDecoder<Bounded>>),
    Zlib(Box<ZlibDecoder<Bounded>>),
}

impl Unpacker {
    fn new(coding: &str, limit: usize) -> Result<Self, EgressError> {
        let out = Bounded {
            bytes: Vec::new(),
            limit,
        };
        Ok(match coding {
            "" | "identity" => Self::Plain(out),
            "gzip" | "x-gzip" => Self::Gzip(Box::new(MultiGzDecoder::new(out))),
            "deflate" => Self::Zlib(Box::new(ZlibDecoder::new(out))),
            other => {
                let shown: String = other.chars().take(40).collect();
                return Err(EgressError::Unreadable(format!(
                    "it is encoded as {shown:?}, which was not asked for"
                )));
            }
        })
    }

    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.write_all(piece),
            Self::Gzip(unpack) => unpack.write_all(piece),
            Self::Zlib(unpack) => unpack.write_all(piece),
        }
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Plain(out) => Ok(out.bytes),
            Self::Gzip(unpack) => Ok(unpack.finish()?.bytes),
            Self::Zlib(unpack) => Ok(unpack.finish()?.bytes),
        }
    }
}

/// Takes so many bytes and no more.
struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
}

impl Write for Bounded {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.bytes.len().saturating_add(piece.len()) > self.limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
