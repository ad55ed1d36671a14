use qadra_reader::{Limits, ReadError, read};

use crate::make_docx::{docx, paragraph, zip};
use crate::{outline, read_named};

const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

fn style(id: &str) -> String {
    format!("<w:pStyle w:val=\"{id}\"/>")
}

fn item(level: usize) -> String {
    format!("<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"1\"/></w:numPr>")
}

#[test]
fn headings_lists_tables_and_notes_are_blocks() {
    let body = [
        paragraph(&style("Verzeichnis1"), "Contents 1"),
        paragraph(&style("berschrift1"), "The report"),
        "<w:p><w:r><w:t xml:space=\"preserve\">One </w:t></w:r><w:r><w:t>&amp; two</w:t><w:tab/><w:t>x&#233;</w:t></w:r>\
         <w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>away</w:t></w:r></w:moveFrom>\
         <w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>".to_owned(),
        paragraph(&style("Own"), "A part 10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val=\"superscript\"/></w:rPr><w:t>6"),
        paragraph(&item(0), "first"),
        paragraph(&item(1), "inner"),
        paragraph(&item(0), "second"),
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Name</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Age</w:t></w:r></w:p></w:tc></w:tr>\
         <w:tr><w:tc><w:p><w:r><w:t>Ann</w:t></w:r></w:p><w:p><w:r><w:t>Lee</w:t></w:r></w:p></w:tc>\
         <w:tc><w:p><w:r><w:t>31</w:t></w:r></w:p></w:tc></w:tr></w:tbl>".to_owned(),
        "<w:p><w:r><w:t>Before</w:t></w:r><w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p>\
         </w:txbxContent></mc:Choice><mc:Fallback><w:p><w:r><w:t>boxed</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent></w:r></w:p>".to_owned(),
    ]
    .concat();
    let text = read_named(&docx(&body), "a.docx").unwrap();
    assert_eq!(
        outline(&text),
        "h1 The report\np One & two xé\nh2 A part 10^6\nli 1. first\nli - inner\nli 2. second\ntr | Name | Age |\n\
        tr | Ann Lee | 31 |\np boxed\np Before\np A note."
    );
    assert_eq!(text.title.as_deref(), Some("The report"));
}

#[test]
fn japanese_is_read_without_its_reading_aids() {
    let body = "<w:p><w:r><w:ruby><w:rt><w:r><w:t>とうきょう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東京</w:t></w:r></w:rubyBase>\
        </w:ruby></w:r><w:r><w:t>は日本の首都です。</w:t></w:r></w:p>";
    let text = read_named(&docx(body), "a.docx").unwrap();
    assert_eq!(text.content, "東京は日本の首都です。\n\nA note.");
}

#[test]
fn a_bomb_is_refused_before_and_while_it_is_unpacked() {
    let white = vec![b' '; 300 << 20];
    let bomb = zip(&[("word/document.xml", &white)]);
    drop(white);
    assert!(bomb.len() < 1 << 20);
    let e = read_named(&bomb, "a.docx").unwrap_err();
    assert!(
        matches!(e, ReadError::TooLarge { found, .. } if found == 300 << 20),
        "{e}"
    );

    // The same with a lie about its size, in both places where it is written.
    let small = zip(&[("word/document.xml", &vec![b' '; 3 << 20])]);
    let size = (3u32 << 20).to_le_bytes();
    let mut lie = small.clone();
    for at in 0..lie.len() - 4 {
        if lie[at..at + 4] == size {
            lie[at..at + 4].copy_from_slice(&100u32.to_le_bytes());
        }
    }
    assert_ne!(lie, small);
    let limits = Limits {
        max_unpacked: 1 << 20,
        ..Limits::default()
    };
    let e = read(&lie, None, Some("a.docx"), &limits, &mut |_| {}).unwrap_err();
    assert!(
        matches!(e, ReadError::TooLarge { .. } | ReadError::Unreadable { .. }),
        "{e}"
    );
}

#[test]
fn entities_of_the_document_are_not_expanded() {
    let bomb = b"<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;\"><!ENTITY f SYSTEM \"file:///etc/passwd\">]>\
        <w:document><w:p><w:r><w:t>start&b;&f;end</w:t></w:r></w:p></w:document>";
    let text = read_named(&zip(&[("word/document.xml", bomb)]), "a.docx").unwrap();
    assert_eq!(text.content, "startend");
}

#[test]
fn deep_elements_are_refused() {
    let body = "<w:sdt>".repeat(100_000);
    let e = read_named(&docx(&body), "a.docx").unwrap_err();
    assert!(matches!(e, ReadError::TooLarge { limit: 256, .. }), "{e}");
}

#[test]
fn a_cut_document_is_unreadable() {
    let whole = docx(&paragraph("", &"Some words. ".repeat(2000)));
    for share in [1, 5, 9] {
        let e = read_named(&whole[..whole.len() * share / 10], "a.docx").unwrap_err();
        assert!(matches!(e, ReadError::Unreadable { .. }), "{e}");
    }
    let broken = zip(&[(
        "word/document.xml",
        b"<w:document><w:p><w:r><w:t>one".as_slice(),
    )]);
    let e = read_named(&broken, "a.docx").unwrap_err();
    assert!(matches!(e, ReadError::Unreadable { .. }), "{e}");
}

#[test]
fn other_archives_are_named_and_locked_ones_are_said_to_be() {
    let e = read_named(&zip(&[("xl/workbook.xml", b"<x/>")]), "a.docx").unwrap_err();
    assert!(
        matches!(&e, ReadError::UnsupportedType { found } if found.contains("spreadsheet")),
        "{e}"
    );
    let mut locked = OLE.to_vec();
    locked.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    assert_eq!(read_named(&locked, "a").unwrap_err(), ReadError::Encrypted);
}
