//! PDF: what the pages show, put in reading order. `hayro` interprets the pages (fonts, encodings, compression,
//! encryption); lines, columns, paragraphs, headings and tables are found from where the glyphs stand, because most
//! files say nothing of them.

mod flow;
mod furniture;
mod glyphs;
mod order;
mod segment;

use std::sync::Arc;

use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::Rect;
use hayro_interpret::util::TransformExt as _;
use hayro_interpret::{Context, InterpreterCache, InterpreterSettings, interpret_page};

use crate::builder::{Builder, Source};
use crate::sniff::{Format, pdf_start};
use crate::{Progress, ReadError, Text, Unit, clean};
use flow::Measures;
use glyphs::Glyphs;
use segment::{Segment, segments};

/// Share of glyphs without a character from which on a reader should be told.
const UNKNOWN: f64 = 0.1;

/// A page as lines that are not yet in order.
struct Sheet {
    segments: Vec<Segment>,
    height: f32,
}

pub(crate) fn read(source: &mut Source<'_>) -> Result<Text, ReadError> {
    let start = pdf_start(source.bytes, true).unwrap_or(0);
    let bytes = source.bytes.get(start..).unwrap_or_default().to_vec();
    let pdf = Pdf::new(Arc::new(bytes)).map_err(failure)?;
    let pages = pdf.pages();
    let count = u32::try_from(pages.len()).unwrap_or(u32::MAX);
    if count > source.limits.max_pages {
        let (found, limit) = (u64::from(count), u64::from(source.limits.max_pages));
        return Err(ReadError::too_large("pages", found, limit));
    }
    if count == 0 {
        return Err(ReadError::unreadable(
            "the PDF has no pages; it is damaged or was cut short",
        ));
    }
    let cache = InterpreterCache::new();
    let mut sheets = Vec::with_capacity(pages.len());
    let (mut glyphs, mut unknown, mut chars) = (0, 0, 0);
    for (done, page) in (1..).zip(pages.iter()) {
        let found = show(page, &pdf, &cache);
        glyphs += found.count();
        unknown += found.unknown;
        let (_, height) = page.render_dimensions();
        let segments = segments(found);
        chars += segments.iter().map(|s| s.text.len()).sum::<usize>();
        if chars as u64 > source.limits.max_chars.saturating_mul(4) {
            let limit = source.limits.max_chars;
            return Err(ReadError::too_large("bytes of text", chars as u64, limit));
        }
        sheets.push(Sheet { segments, height });
        (source.progress)(Progress {
            done,
            total: u64::from(count),
            unit: Unit::Pages,
        });
    }
    warn(source, &sheets, glyphs, unknown);

    let measures = Measures::of(&sheets);
    furniture::remove(&mut sheets, measures.body);
    let mut builder = Builder::new(source.limits);
    let largest = flow::write(sheets, measures, &mut builder)?;
    let title = pdf.metadata().title.as_deref().and_then(title);
    let warnings = std::mem::take(&mut source.warnings);
    let mut text = builder.finish(Format::Pdf.content_type(), warnings);
    text.title = title.or(largest);
    text.pages = Some(count);
    Ok(text)
}

fn show<'a>(page: &Page<'a>, pdf: &'a Pdf, cache: &InterpreterCache<'a>) -> Glyphs {
    let (width, height) = page.render_dimensions();
    let bounds = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let mut context = Context::new(
        page.initial_transform(true).to_kurbo(),
        bounds,
        cache,
        pdf.xref(),
        InterpreterSettings::default(),
    );
    let mut glyphs = Glyphs::new(width, height);
    interpret_page(page, &mut context, &mut glyphs);
    glyphs
}

fn failure(e: LoadPdfError) -> ReadError {
    match e {
        LoadPdfError::Decryption(
            DecryptionError::PasswordProtected | DecryptionError::UnsupportedAlgorithm,
        ) => ReadError::Encrypted,
        LoadPdfError::Decryption(_) => {
            ReadError::unreadable("the PDF is encrypted in a way that is damaged")
        }
        LoadPdfError::Invalid => ReadError::unreadable("the PDF is damaged or was cut short"),
    }
}

fn warn(source: &mut Source<'_>, sheets: &[Sheet], glyphs: usize, unknown: usize) {
    if unknown as f64 > UNKNOWN * glyphs as f64 {
        source.warnings.push(format!(
            "{unknown} of {glyphs} characters could not be read: their fonts do not say what they are"
        ));
    }
    let blank = sheets.iter().filter(|s| s.segments.is_empty()).count();
    if blank * 2 > sheets.len() && blank < sheets.len() {
        let all = sheets.len();
        source.warnings.push(format!(
            "{blank} of {all} pages have no text; they may be scanned"
        ));
    }
}

/// The title that the file gives itself, unless a program made it from the name of the file.
fn title(bytes: &[u8]) -> Option<String> {
    let text = match bytes {
        [0xfe, 0xff, rest @ ..] => encoding_rs::UTF_16BE.decode(rest).0,
        [0xef, 0xbb, 0xbf, rest @ ..] => encoding_rs::UTF_8.decode(rest).0,
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => encoding_rs::WINDOWS_1252.decode(bytes).0,
        },
    };
    let text = clean::flat(&text);
    let lower = text.to_lowercase();
    let made = lower.starts_with("microsoft word -")
        || ["untitled", "(anonymous)", "(unspecified)"].contains(&lower.as_str())
        || [
            ".doc", ".docx", ".pdf", ".tex", ".dvi", ".indd", ".html", ".htm",
        ]
        .iter()
        .any(|ending| lower.ends_with(ending));
    (!text.is_empty() && !made).then_some(text)
}
