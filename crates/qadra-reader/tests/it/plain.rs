use encoding_rs::{SHIFT_JIS, WINDOWS_1252};
use qadra_reader::{Limits, ReadError, read};

use crate::{outline, read_named};

const JAPANESE: &str = "東京は日本の首都です。人口は約千四百万人です。\n\n富士山は日本で一番高い山で、高さは3776メートルです。";

#[test]
fn paragraphs_keep_their_lines_and_lose_what_cannot_be_seen() {
    let text = read_named(
        b"One\0 line\r\nand  another\x07.  \r\n\r\n\r\n \tNext\x0c\rlast\r\n",
        "a.txt",
    )
    .unwrap();
    assert_eq!(text.content, "One line\nand  another.\n\nNext\n\nlast");
    assert_eq!(outline(&text), "p One line⏎and  another.\np Next⏎⏎last");
    assert_eq!(text.content_type, "text/plain");
    assert_eq!(text.encoding.as_deref(), Some("UTF-8"));
}

#[test]
fn a_document_in_latin_1_is_read_with_and_without_a_declaration() {
    let words = "Le café Müller est fermé depuis l'été ; la façade a coûté 300 £ à réparer.";
    let (bytes, _, _) = WINDOWS_1252.encode(words);
    let declared = Some("text/plain; charset=iso-8859-1");
    let text = read(&bytes, declared, None, &Limits::default(), &mut |_| {}).unwrap();
    assert_eq!(text.content, words);
    assert!(text.warnings.is_empty());
    let text = read_named(&bytes, "latin.txt").unwrap();
    assert_eq!(text.content, words);
    assert_eq!(text.encoding.as_deref(), Some("windows-1252"));
    assert_eq!(text.warnings.len(), 1, "a guess is said");
}

#[test]
fn japanese_is_read_in_utf_8_shift_jis_and_utf_16() {
    assert_eq!(
        read_named(JAPANESE.as_bytes(), "a.txt").unwrap().content,
        JAPANESE
    );
    let (bytes, _, lost) = SHIFT_JIS.encode(JAPANESE);
    assert!(!lost);
    let text = read_named(&bytes, "a.txt").unwrap();
    assert_eq!(text.content, JAPANESE);
    assert_eq!(text.encoding.as_deref(), Some("Shift_JIS"));
    for (mark, to_bytes) in [
        ([0xff, 0xfe], u16::to_le_bytes as fn(u16) -> [u8; 2]),
        ([0xfe, 0xff], u16::to_be_bytes),
    ] {
        let units = JAPANESE.encode_utf16().flat_map(to_bytes);
        let bytes: Vec<u8> = mark.into_iter().chain(units).collect();
        assert_eq!(read_named(&bytes, "a.txt").unwrap().content, JAPANESE);
    }
}

#[test]
fn nothing_and_white_space_are_empty() {
    assert_eq!(read_named(b"", "a.txt").unwrap_err(), ReadError::Empty);
    assert_eq!(
        read_named(b" \r\n\t", "a.txt").unwrap_err(),
        ReadError::Empty
    );
    assert_eq!(
        read_named(b"\xef\xbb\xbf", "a.md").unwrap_err(),
        ReadError::Empty
    );
}

#[test]
fn limits_on_bytes_and_characters_are_kept() {
    let limits = Limits {
        max_bytes: 10,
        max_chars: 5,
        ..Limits::default()
    };
    let big = read(b"0123456789x", None, None, &limits, &mut |_| {});
    assert!(matches!(
        big,
        Err(ReadError::TooLarge {
            found: 11,
            limit: 10,
            ..
        })
    ));
    let long = read(b"abc def", None, None, &limits, &mut |_| {});
    assert!(matches!(
        long,
        Err(ReadError::TooLarge {
            found: 7,
            limit: 5,
            ..
        })
    ));
}

#[test]
fn bytes_that_are_no_document_are_refused_with_their_type() {
    let noise: Vec<u8> = (0..4096u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let e = read_named(&noise, "noise.txt").unwrap_err();
    assert!(
        matches!(&e, ReadError::UnsupportedType { found } if found == "application/octet-stream"),
        "{e}"
    );
    for name in ["noise.docx", "noise.pdf"] {
        let e = read_named(&noise, name).unwrap_err();
        assert!(
            matches!(&e, ReadError::Unreadable { reason } if reason.contains("named as")),
            "{e}"
        );
    }
}
