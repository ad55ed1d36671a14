//! Word documents from their parts.

use std::io::{Cursor, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const NAMESPACES: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
    xmlns:mc=\"http://schemas.openxmlformats.org/markup-compatibility/2006\"";

pub(crate) fn zip(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, bytes) in parts {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A document of one body, with the styles that Word writes in German.
pub(crate) fn docx(body: &str) -> Vec<u8> {
    let document = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><w:document {NAMESPACES}><w:body>{body}</w:body></w:document>"
    );
    let styles = format!(
        "<w:styles {NAMESPACES}>\
        <w:style w:styleId=\"berschrift1\"><w:name w:val=\"heading 1\"/></w:style>\
        <w:style w:styleId=\"Own\"><w:name w:val=\"My Own\"/><w:basedOn w:val=\"berschrift2\"/></w:style>\
        <w:style w:styleId=\"berschrift2\"><w:name w:val=\"heading 2\"/></w:style>\
        <w:style w:styleId=\"Verzeichnis1\"><w:name w:val=\"toc 1\"/></w:style></w:styles>"
    );
    let numbering = format!(
        "<w:numbering {NAMESPACES}><w:abstractNum w:abstractNumId=\"7\"><w:lvl w:ilvl=\"0\"><w:start w:val=\"1\"/>\
        <w:numFmt w:val=\"decimal\"/></w:lvl><w:lvl w:ilvl=\"1\"><w:numFmt w:val=\"bullet\"/></w:lvl></w:abstractNum>\
        <w:num w:numId=\"1\"><w:abstractNumId w:val=\"7\"/></w:num></w:numbering>"
    );
    let footnotes = format!(
        "<w:footnotes {NAMESPACES}><w:footnote w:type=\"separator\" w:id=\"0\"><w:p><w:r><w:t>sep</w:t></w:r></w:p>\
        </w:footnote><w:footnote w:id=\"1\"><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>"
    );
    zip(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("word/document.xml", document.as_bytes()),
        ("word/styles.xml", styles.as_bytes()),
        ("word/numbering.xml", numbering.as_bytes()),
        ("word/footnotes.xml", footnotes.as_bytes()),
    ])
}

pub(crate) fn paragraph(properties: &str, text: &str) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}
