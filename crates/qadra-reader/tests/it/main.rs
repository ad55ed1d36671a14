//! Documents as people upload them: made here by small writers, so that what is in them is known.

mod chunks;
mod docx;
mod html;
mod make_docx;
mod make_pdf;
mod markdown;
mod mutated;
mod pdf;
mod plain;
mod worker;

use qadra_reader::{BlockKind, Limits, ReadError, Text, read};

fn read_named(bytes: &[u8], filename: &str) -> Result<Text, ReadError> {
    let text = read(bytes, None, Some(filename), &Limits::default(), &mut |_| {});
    if let Ok(text) = &text {
        check_invariants(text);
    }
    text
}

/// What holds for every text, whatever it was read from.
fn check_invariants(text: &Text) {
    let chars: Vec<char> = text.content.chars().collect();
    for &c in &chars {
        assert!(c == '\n' || !c.is_control(), "{c:?} in the text");
    }
    let mut covered = 0;
    for block in &text.blocks {
        let range = block.span.range();
        let between: String = chars[covered..range.start].iter().collect();
        assert!(between.trim().is_empty(), "{between:?} is in no block");
        assert!(range.start < range.end, "an empty block");
        assert!(!chars[range.start].is_whitespace() || block.kind == BlockKind::Code);
        assert!(!chars[range.end - 1].is_whitespace());
        covered = range.end;
    }
    assert_eq!(covered, chars.len());
}

/// Every block on a line of its own, with its kind and page in front.
fn outline(text: &Text) -> String {
    let chars: Vec<char> = text.content.chars().collect();
    let line = |b: &qadra_reader::Block| {
        let words: String = chars[b.span.range()].iter().collect();
        let kind = match b.kind {
            BlockKind::Heading(level) => format!("h{level}"),
            BlockKind::Paragraph => "p".to_owned(),
            BlockKind::ListItem => "li".to_owned(),
            BlockKind::TableRow => "tr".to_owned(),
            BlockKind::Code => "code".to_owned(),
        };
        let page = b.page.map(|p| format!("@{p}")).unwrap_or_default();
        format!("{kind}{page} {}", words.replace('\n', "⏎"))
    };
    let lines: Vec<String> = text.blocks.iter().map(line).collect();
    lines.join("\n")
}
