use proptest::prelude::*;
use qadra_reader::{ChunkOptions, Text, chunk};

use crate::read_named;

fn check(text: &Text, options: &ChunkOptions) {
    let chars: Vec<char> = text.content.chars().collect();
    let mut covered = 0;
    for (i, chunk) in chunk(text, options).iter().enumerate() {
        assert_eq!(chunk.position, i);
        let range = chunk.span.range();
        let words: String = chars[range.clone()].iter().collect();
        assert_eq!(chunk.text, words);
        assert!(
            range.len() <= options.max,
            "{} > {}",
            range.len(),
            options.max
        );
        assert!(!words.trim().is_empty());
        let between: String = chars[covered..range.start].iter().collect();
        assert!(between.trim().is_empty(), "{between:?} is in no chunk");
        covered = range.end;
    }
    assert!(chars[covered..].iter().all(|c| c.is_whitespace()));
}

#[test]
fn sections_keep_together_and_know_their_heading() {
    let long = "A sentence of some length that says a thing. ".repeat(60);
    let source = format!("intro\n\n# One\n\n## Sub\n\nshort\n\n# Two\n\n{long}\n\n# Three\n\nend");
    let text = read_named(source.as_bytes(), "a.md").unwrap();
    let options = ChunkOptions::default();
    check(&text, &options);
    let chunks = chunk(&text, &options);
    let heads: Vec<_> = chunks
        .iter()
        .map(|c| c.heading.as_deref().unwrap_or("-"))
        .collect();
    assert_eq!(heads, ["-", "Sub", "Two", "Two", "Two", "Three"]);
    assert_eq!(chunks[1].text, "One\n\nSub\n\nshort");
    for long in &chunks[2..5] {
        assert!(long.text.ends_with("thing."), "{}", long.text);
    }
}

#[test]
fn sentences_and_words_stay_whole() {
    let words = "wörd ".repeat(1000);
    let text = read_named(words.as_bytes(), "a.txt").unwrap();
    let options = ChunkOptions {
        target: 103,
        max: 117,
    };
    check(&text, &options);
    for chunk in chunk(&text, &options) {
        assert!(chunk.text.split(' ').all(|w| w == "wörd"), "{}", chunk.text);
    }
    let japanese = "東京は日本の首都です。人口は約千四百万人です。".repeat(200);
    let text = read_named(japanese.as_bytes(), "a.txt").unwrap();
    check(&text, &ChunkOptions::default());
    assert!(
        chunk(&text, &ChunkOptions::default())
            .iter()
            .all(|c| c.text.ends_with('。'))
    );
    let endless = "x".repeat(5001);
    let text = read_named(endless.as_bytes(), "a.txt").unwrap();
    check(&text, &ChunkOptions::default());
}

proptest! {
    #[test]
    fn chunks_cover_any_text(source in "([a-zé。]{1,9}[ .\n#|-]{1,3}){0,200}", target in 0usize..80, more in 0usize..60) {
        let Ok(text) = read_named(source.as_bytes(), "a.md") else { return Ok(()) };
        check(&text, &ChunkOptions { target, max: (target + more).max(1) });
    }
}
