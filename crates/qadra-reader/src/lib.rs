//! Document formats: the bytes of an upload become plain text with structure and offsets, and text becomes chunks.
//!
//! [`read`] is pure: no files, no network, no clock; bytes in, [`Text`] out. It fetches nothing that a document names,
//! runs nothing that a document contains, and recognises no text in pictures. The libraries behind it may panic, loop
//! or grow on hostile input, so a server calls [`worker::read_in_worker`], which does the same in a process of its own
//! with limits. Entry point: [`read`]; then [`chunk`].

mod builder;
mod chunk;
mod clean;
mod docx;
mod encoding;
mod error;
mod html;
mod limits;
mod markdown;
mod pdf;
mod plain;
mod sniff;
mod text;
pub mod worker;

pub use chunk::{Chunk, ChunkOptions, chunk};
pub use error::ReadError;
pub use limits::Limits;
pub use text::{Block, BlockKind, Progress, Span, Text, Unit};

use builder::Source;
use sniff::Format;

/// Reads a document. `declared` is the content type of the request, `filename` the name of the upload; the bytes
/// decide what the document is, and the two only choose between the kinds of text.
pub fn read(
    bytes: &[u8],
    declared: Option<&str>,
    filename: Option<&str>,
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
) -> Result<Text, ReadError> {
    if bytes.is_empty() {
        return Err(ReadError::Empty);
    }
    limits.check_bytes(bytes.len())?;
    let sniffed = sniff::sniff(bytes, declared, filename)?;
    let mut source = Source {
        bytes,
        declared,
        limits,
        progress,
        warnings: sniffed.warnings,
    };
    let text = match sniffed.format {
        Format::Plain => plain::read(&mut source)?,
        Format::Markdown => markdown::read(&mut source)?,
        Format::Html => html::read(&mut source)?,
        Format::Docx => docx::read(&mut source)?,
        Format::Pdf => pdf::read(&mut source)?,
    };
    if text.content.is_empty() {
        return Err(match sniffed.format {
            Format::Pdf => ReadError::NoText,
            _ => ReadError::Empty,
        });
    }
    Ok(text)
}
