//! Plain text: paragraphs are parted by blank lines and keep their line breaks.

use crate::builder::{Builder, Source};
use crate::sniff::Format;
use crate::{ReadError, Text, encoding};

pub(crate) fn read(source: &mut Source<'_>) -> Result<Text, ReadError> {
    let decoded = encoding::decode(source.bytes, &[encoding::charset(source.declared)]);
    source.warnings.extend(decoded.warning);
    let text = decoded.text.as_ref();
    let mut builder = Builder::new(source.limits);
    // Old line ends are single carriage returns.
    let end = if text.contains('\n') { '\n' } else { '\r' };
    let (mut paragraph, mut done, mut told) = (0..0, 0, 0);
    for line in text.split_inclusive(end) {
        let start = done;
        done += line.len();
        if line.trim().is_empty() {
            builder.push_lines(text.get(paragraph).unwrap_or_default())?;
            paragraph = done..done;
        } else {
            paragraph = paragraph.start.min(start)..done;
        }
        if done - told > 1 << 20 {
            told = done;
            source.bytes_done(done);
        }
    }
    builder.push_lines(text.get(paragraph).unwrap_or_default())?;
    let warnings = std::mem::take(&mut source.warnings);
    let mut text = builder.finish(Format::Plain.content_type(), warnings);
    text.encoding = Some(decoded.encoding);
    Ok(text)
}
