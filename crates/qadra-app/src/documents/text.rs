//! What bytes are, what a text is called, and the stretches of it that are read for claims.

use qadra_reader::{BlockKind, ReadError, Text};
use qadra_types::{Code, Fault};

const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
/// Characters of a stretch that is parsed at once.
const STRETCH: usize = 4_000;

/// The type by the first bytes; name and declaration choose between the kinds of text, and are taken at their word for
/// what no bytes can tell. What the reader cannot read is refused here where that is certain already.
pub(crate) fn content_type(
    head: &[u8],
    declared: Option<&str>,
    filename: Option<&str>,
) -> Result<String, Fault> {
    let extension = filename
        .and_then(|n| n.rsplit_once('.'))
        .map(|(_, e)| e.to_ascii_lowercase())
        .unwrap_or_default();
    let refused = |found: &str| {
        Err(Fault::new(
            Code::DocumentType,
            format!(
                "documents of the type {found} are not read; text, Markdown, HTML, PDF and Word (docx) are"
            ),
        ))
    };
    let holds = |needle: &[u8]| head.windows(needle.len()).any(|w| w == needle);
    if head
        .get(..1_024.min(head.len()))
        .is_some_and(|h| h.windows(5).any(|w| w == b"%PDF-"))
    {
        return Ok("application/pdf".into());
    }
    if head.starts_with(b"PK\x03\x04") {
        return match extension == "docx" || holds(b"word/") || holds(b"[Content_Types].xml") {
            true if !matches!(extension.as_str(), "xlsx" | "pptx") => Ok(DOCX.into()),
            _ => refused("application/zip"),
        };
    }
    for (magic, found) in [
        (&b"\x89PNG"[..], "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF8", "image/gif"),
        (b"\x1f\x8b", "application/gzip"),
        (b"\x7fELF", "application/x-executable"),
        (b"MZ\x90", "application/x-executable"),
    ] {
        if head.starts_with(magic) {
            return refused(found);
        }
    }
    let declared = declared
        .and_then(|d| d.split(';').next())
        .map(|d| d.trim().to_ascii_lowercase());
    Ok(match (extension.as_str(), declared.as_deref()) {
        ("docx", _) => DOCX,
        ("pdf", _) => "application/pdf",
        (
            "doc" | "xls" | "ppt" | "xlsx" | "pptx" | "odt" | "rtf" | "epub" | "png" | "jpg"
            | "jpeg" | "exe",
            _,
        ) => {
            return refused(&format!(".{extension}"));
        }
        ("md" | "markdown", _) | ("", Some("text/markdown")) => "text/markdown",
        ("html" | "htm" | "xhtml", _) | ("", Some("text/html" | "application/xhtml+xml")) => {
            "text/html"
        }
        _ => "text/plain",
    }
    .into())
}

/// A title before the document was read: its first heading or line, its file's name, its address.
pub(crate) fn first_title(
    head: &[u8],
    content_type: &str,
    filename: Option<&str>,
    source_url: Option<&str>,
) -> String {
    if let Some(name) = filename {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).trim();
        if !stem.is_empty() {
            return stem.to_owned();
        }
    }
    let text = String::from_utf8_lossy(head);
    let line = match content_type {
        "text/plain" | "text/markdown" => text
            .lines()
            .map(|l| l.trim_matches(|c: char| c.is_whitespace() || c == '#' || c == '\u{feff}'))
            .find(|l| !l.is_empty())
            .map(|l| {
                l.chars()
                    .filter(|c| !c.is_control())
                    .take(100)
                    .collect::<String>()
            }),
        "text/html" => {
            let lower = text.to_ascii_lowercase();
            lower.find("<title>").and_then(|at| {
                let rest = text.get(at + 7..)?;
                let end = rest.find('<')?;
                let title = rest.get(..end)?.trim();
                (!title.is_empty()).then(|| title.chars().take(200).collect())
            })
        }
        _ => None,
    };
    line.filter(|l| !l.is_empty())
        .or_else(|| source_url.map(|u| u.chars().take(200).collect()))
        .unwrap_or_else(|| "Untitled".into())
}

/// A name under which the bytes are saved.
pub(crate) fn download_name(title: &str, filename: Option<&str>, content_type: &str) -> String {
    if let Some(name) = filename {
        return name.to_owned();
    }
    let extension = match content_type {
        "text/markdown" => "md",
        "text/html" => "html",
        "application/pdf" => "pdf",
        DOCX => "docx",
        _ => "txt",
    };
    let stem: String = title
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.') {
                c
            } else {
                '-'
            }
        })
        .take(100)
        .collect();
    format!("{}.{extension}", stem.trim())
}

/// Why a document cannot be read, as its state says it.
pub(crate) fn unread(e: &ReadError) -> Fault {
    let code = match e {
        ReadError::Empty | ReadError::NoText => Code::DocumentNoText,
        ReadError::Unreadable { .. } => Code::DocumentUnreadable,
        ReadError::Encrypted => Code::DocumentEncrypted,
        ReadError::TooLarge { .. } => Code::DocumentTooLarge,
        ReadError::UnsupportedType { .. } => Code::DocumentType,
        ReadError::Timeout { .. } => Code::DocumentTimeout,
    };
    Fault::new(code, e.to_string())
}

/// A stretch of running text, and where it begins in code points.
pub(crate) struct Stretch {
    pub(crate) start: usize,
    pub(crate) text: String,
}

/// Paragraphs and list items in stretches of about a page; headings, tables and code say nothing in sentences. Ends
/// after `most` characters, and says whether it left any out.
pub(crate) fn stretches(text: &Text, most: usize) -> (Vec<Stretch>, bool) {
    let mut found: Vec<Stretch> = Vec::new();
    let mut open: Option<(usize, usize, usize, usize)> = None;
    let (mut at_char, mut at_byte, mut read) = (0_usize, 0_usize, 0_usize);
    let mut cut = false;
    let mut close = |open: &mut Option<(usize, usize, usize, usize)>| {
        if let Some((start, _, from, to)) = open.take()
            && let Some(part) = text.content.get(from..to)
        {
            found.push(Stretch {
                start,
                text: part.to_owned(),
            });
        }
    };
    for block in &text.blocks {
        let forward = |chars: usize, at_char: &mut usize, at_byte: &mut usize| {
            let rest = text.content.get(*at_byte..).unwrap_or_default();
            let more = chars.saturating_sub(*at_char);
            *at_byte += rest.char_indices().nth(more).map_or(rest.len(), |(i, _)| i);
            *at_char = chars;
        };
        forward(block.span.start, &mut at_char, &mut at_byte);
        let from = at_byte;
        forward(block.span.end, &mut at_char, &mut at_byte);
        if !matches!(block.kind, BlockKind::Paragraph | BlockKind::ListItem) {
            close(&mut open);
            continue;
        }
        if read >= most {
            cut = true;
            break;
        }
        read += block.span.end - block.span.start;
        match &mut open {
            Some((start, end, _, to)) if block.span.end - *start <= STRETCH => {
                *end = block.span.end;
                *to = at_byte;
            }
            _ => {
                close(&mut open);
                open = Some((block.span.start, block.span.end, from, at_byte));
            }
        }
    }
    close(&mut open);
    (found, cut)
}

/// Code points before each of these bytes of `text`, which come in any order.
pub(crate) fn chars_at(text: &str, bytes: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..bytes.len()).collect();
    order.sort_by_key(|i| bytes.get(*i));
    let mut out = vec![0; bytes.len()];
    let (mut at, mut chars) = (0_usize, 0_usize);
    for i in order {
        let byte = bytes.get(i).copied().unwrap_or(0).min(text.len());
        chars += text.get(at..byte).map_or(0, |part| part.chars().count());
        at = byte;
        if let Some(place) = out.get_mut(i) {
            *place = chars;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use qadra_reader::Limits;

    fn read(text: &str) -> Text {
        qadra_reader::read(
            text.as_bytes(),
            Some("text/markdown"),
            None,
            &Limits::default(),
            &mut |_| {},
        )
        .unwrap()
    }

    #[test]
    fn stretches_hold_the_text_they_say_they_hold() {
        let text = read(
            "# Übersicht\n\nÄrger im Büro. Zwei.\n\n- eins\n- zwei ☃ drei\n\n```\ncode\n```\n\nEnde.\n",
        );
        let (found, cut) = stretches(&text, 1_000_000);
        assert!(!cut);
        assert!(found.len() >= 2);
        for s in &found {
            let there: String = text
                .content
                .chars()
                .skip(s.start)
                .take(s.text.chars().count())
                .collect();
            assert_eq!(there, s.text);
        }
        let all: String = found.iter().map(|s| s.text.as_str()).collect();
        assert!(
            all.contains("☃") && !all.contains("code") && !all.contains("Übersicht"),
            "{all}"
        );
        assert!(stretches(&text, 1).1);
    }

    #[test]
    fn types_are_told_by_the_bytes() {
        let kind = |head: &[u8], name: &str| content_type(head, None, Some(name));
        assert_eq!(kind(b"%PDF-1.7", "x.txt").unwrap(), "application/pdf");
        assert_eq!(kind(b"hello", "a.md").unwrap(), "text/markdown");
        assert_eq!(kind(b"\xe9\x8f random", "a.docx").unwrap(), DOCX);
        assert_eq!(
            kind(b"\x89PNG\r\n", "a.txt").unwrap_err().code,
            Code::DocumentType
        );
        assert_eq!(
            kind(b"PK\x03\x04....", "a.zip").unwrap_err().code,
            Code::DocumentType
        );
        assert_eq!(
            content_type(b"<p>", Some("text/html; charset=x"), None).unwrap(),
            "text/html"
        );
    }

    #[test]
    fn places_are_counted_in_characters() {
        assert_eq!(chars_at("aé☃b", &[6, 0, 1, 3, 7]), [3, 0, 1, 2, 4]);
    }
}
