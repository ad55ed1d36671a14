//! Word documents (docx): a ZIP archive of XML parts. Read are the body, its tables, text boxes, foot- and endnotes;
//! left out are headers, footers, comments, deleted and hidden text, and the table of contents.

mod archive;
mod body;
mod styles;
mod xml;

use archive::Archive;
use body::Body;
use styles::{Lists, Styles};

use crate::builder::{Builder, Source};
use crate::sniff::Format;
use crate::{ReadError, Text, clean};

pub(crate) fn read(source: &mut Source<'_>) -> Result<Text, ReadError> {
    let mut archive = Archive::open(source.bytes, source.limits)?;
    let main = archive.main_part()?;
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder);
    let beside = |name: &str| format!("{folder}/{name}");
    let depth = source.limits.max_depth;

    let mut styles = Styles::default();
    archive.part(&beside("styles.xml"), depth, |x| styles.read(x))?;
    let mut lists = Lists::default();
    archive.part(&beside("numbering.xml"), depth, |x| lists.read(x))?;

    let mut body = Body::new(Builder::new(source.limits), &styles, lists);
    let found = archive.part(&main, depth, |x| {
        body.read(x, &mut |done, total| source.done(done, total))
    })?;
    if !found {
        return Err(ReadError::unreadable("the archive has no text in it"));
    }
    for notes in ["footnotes.xml", "endnotes.xml"] {
        archive.part(&beside(notes), depth, |x| body.read(x, &mut |_, _| {}))?;
    }
    let mut title = None;
    archive.part("docProps/core.xml", depth, |x| {
        title = x.text_of("title")?;
        Ok(())
    })?;
    let title = title
        .map(|t| clean::flat(&t))
        .filter(|t| !t.is_empty())
        .or(body.title.take());
    let warnings = std::mem::take(&mut source.warnings);
    let mut text = body.builder.finish(Format::Docx.content_type(), warnings);
    text.title = title;
    Ok(text)
}
