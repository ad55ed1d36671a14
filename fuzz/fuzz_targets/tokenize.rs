//! Every byte that is not white space is in exactly one word, in order, whatever the text.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static PARSER: LazyLock<ud::Parser> = LazyLock::new(|| ud::Parser::embedded().unwrap());

fuzz_target!(|text: &str| {
    let mut end = 0;
    let mut last = 0..0;
    for span in PARSER.tokenize(text).into_iter().flatten() {
        // Words cut from one written token may share its span.
        if span == last {
            continue;
        }
        assert!(span.start >= end && span.start < span.end, "{span:?} after {end}");
        assert!(text[end..span.start].trim().is_empty(), "text left out before {span:?}");
        assert!(!text[span.clone()].trim().is_empty());
        end = span.end;
        last = span;
    }
    assert!(text[end..].trim().is_empty());
});
