//! What a document is: the bytes decide, names and declarations choose between the kinds of text.

use crate::ReadError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Plain,
    Markdown,
    Html,
    Pdf,
    Docx,
}

pub(crate) struct Sniffed {
    pub(crate) format: Format,
    pub(crate) warnings: Vec<String>,
}

/// How much is looked at to tell text from bytes.
const SAMPLE: usize = 64 * 1024;

/// First bytes of formats that people upload and that are not read.
const FOREIGN: &[(&[u8], &str)] = &[
    (b"{\\rtf", "application/rtf"),
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"RIFF", "application/x-riff"),
    (b"\x1f\x8b", "application/gzip"),
    (b"7z\xbc\xaf", "application/x-7z-compressed"),
    (b"Rar!", "application/vnd.rar"),
    (b"\x7fELF", "application/x-executable"),
    (b"%!PS", "application/postscript"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
];

const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

impl Format {
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Format::Plain => "text/plain",
            Format::Markdown => "text/markdown",
            Format::Html => "text/html",
            Format::Pdf => "application/pdf",
            Format::Docx => {
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Format::Plain => "plain text",
            Format::Markdown => "Markdown",
            Format::Html => "HTML",
            Format::Pdf => "PDF",
            Format::Docx => "Word (docx)",
        }
    }

    fn is_text(self) -> bool {
        !matches!(self, Format::Pdf | Format::Docx)
    }
}

pub(crate) fn sniff(
    bytes: &[u8],
    declared: Option<&str>,
    filename: Option<&str>,
) -> Result<Sniffed, ReadError> {
    let claim = filename.and_then(by_name).or(declared.and_then(by_type));
    let format = by_bytes(bytes, claim)?;
    let mut warnings = Vec::new();
    if let Some(claim) = claim.filter(|&claim| claim != format)
        && !(claim == Format::Markdown && format == Format::Plain)
    {
        warnings.push(format!(
            "named as {}, but it is {}; read as that",
            claim.name(),
            format.name()
        ));
    }
    Ok(Sniffed { format, warnings })
}

fn by_bytes(bytes: &[u8], claim: Option<Format>) -> Result<Format, ReadError> {
    if pdf_start(bytes, claim == Some(Format::Pdf)).is_some() {
        return Ok(Format::Pdf);
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return Ok(Format::Docx);
    }
    if bytes.starts_with(OLE) {
        return Err(ole(bytes, claim));
    }
    if let Some((_, found)) = FOREIGN.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err(ReadError::UnsupportedType {
            found: (*found).to_owned(),
        });
    }
    if let Some(claim) = claim.filter(|c| !c.is_text()) {
        let name = claim.name();
        return Err(ReadError::unreadable(format!(
            "it is named as {name}, but its bytes are not a {name} file"
        )));
    }
    if looks_binary(bytes) {
        return Err(ReadError::UnsupportedType {
            found: "application/octet-stream".to_owned(),
        });
    }
    Ok(match claim {
        Some(Format::Html) => Format::Html,
        Some(Format::Markdown) => Format::Markdown,
        _ if looks_html(bytes) => Format::Html,
        _ => Format::Plain,
    })
}

/// Where the PDF begins. Readers forgive bytes before the header, so a file that is named a PDF may have some.
pub(crate) fn pdf_start(bytes: &[u8], forgiving: bool) -> Option<usize> {
    let head = bytes.get(..1024).unwrap_or(bytes);
    let at = head.windows(5).position(|w| w == b"%PDF-")?;
    let blank = |b: &u8| b.is_ascii_whitespace() || matches!(b, 0xef | 0xbb | 0xbf);
    (forgiving || head.get(..at)?.iter().all(blank)).then_some(at)
}

/// An encrypted docx is kept inside a container that old Word files are too.
fn ole(bytes: &[u8], claim: Option<Format>) -> ReadError {
    let package: Vec<u8> = "EncryptedPackage"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    if claim == Some(Format::Docx) || bytes.windows(package.len()).any(|w| w == package) {
        return ReadError::Encrypted;
    }
    ReadError::UnsupportedType {
        found: "application/msword".to_owned(),
    }
}

fn by_name(filename: &str) -> Option<Format> {
    let (_, extension) = filename.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "txt" | "text" => Format::Plain,
        "md" | "markdown" | "mdown" | "mkd" => Format::Markdown,
        "html" | "htm" | "xhtml" => Format::Html,
        "pdf" => Format::Pdf,
        "docx" | "docm" | "dotx" => Format::Docx,
        _ => return None,
    })
}

fn by_type(declared: &str) -> Option<Format> {
    let essence = declared.split(';').next()?.trim().to_ascii_lowercase();
    Some(match essence.as_str() {
        "text/plain" => Format::Plain,
        "text/markdown" | "text/x-markdown" => Format::Markdown,
        "text/html" | "application/xhtml+xml" => Format::Html,
        "application/pdf" | "application/x-pdf" => Format::Pdf,
        t if t == Format::Docx.content_type() => Format::Docx,
        _ => return None,
    })
}

fn looks_html(bytes: &[u8]) -> bool {
    let head = bytes.get(..512).unwrap_or(bytes);
    // Zero bytes go so that UTF-16 reads the same.
    let head: Vec<u8> = head.iter().copied().filter(|&b| b != 0).collect();
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let head = head.trim_start_matches(|c: char| !c.is_ascii() || c.is_ascii_whitespace());
    head.starts_with("<!doctype html")
        || head.starts_with("<html")
        || head.starts_with("<?xml") && head.contains("<html")
}

/// Text in any encoding has next to no control bytes, a few at most; random bytes are a tenth of them.
fn looks_binary(bytes: &[u8]) -> bool {
    let sample = bytes.get(..SAMPLE).unwrap_or(bytes);
    if crate::encoding::utf16(sample).is_some() {
        return false;
    }
    let odd = |b: &&u8| matches!(b, 0..=8 | 14..=26 | 28..=31 | 127);
    sample.iter().filter(odd).count() * 100 > sample.len() + 300
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], declared: Option<&str>, filename: Option<&str>) -> String {
        match sniff(bytes, declared, filename) {
            Ok(s) => format!("{:?} {}", s.format, s.warnings.join("; ")),
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn the_bytes_decide_and_a_wrong_name_is_said() {
        assert_eq!(check(b"%PDF-1.7", None, Some("a.pdf")), "Pdf ");
        assert_eq!(
            check(b"%PDF-1.7", Some("text/plain"), Some("a.docx")),
            "Pdf named as Word (docx), but it is PDF; read as that"
        );
        assert_eq!(
            check(b"plain words", None, Some("a.docx")),
            "read the document: it is named as Word (docx), but its bytes are not a Word (docx) file"
        );
        assert_eq!(
            check(b"<!DOCTYPE html><p>x", Some("text/plain"), None),
            "Html named as plain text, but it is HTML; read as that"
        );
        assert_eq!(check(b"# x", None, Some("README.md")), "Markdown ");
        assert_eq!(check(b"x", Some("text/html; charset=utf-8"), None), "Html ");
        assert_eq!(check(b"We read %PDF- files", None, None), "Plain ");
    }

    #[test]
    fn foreign_formats_are_named() {
        let said = check(b"\x89PNG\r\n", None, Some("a.txt"));
        assert!(said.contains("image/png"), "{said}");
        let said = check(OLE, None, Some("a.doc"));
        assert!(said.contains("application/msword"), "{said}");
        assert_eq!(
            check(OLE, None, Some("a.docx")),
            ReadError::Encrypted.to_string()
        );
    }
}
