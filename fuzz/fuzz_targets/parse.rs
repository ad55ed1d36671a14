//! Every sentence is one tree, and what is written as CoNLL-U is read back.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use ud::conllu::{self, Block};

static PARSER: LazyLock<ud::Parser> = LazyLock::new(|| ud::Parser::embedded().unwrap());

fuzz_target!(|text: &str| {
    let sentences = PARSER.parse(text);
    for s in &sentences {
        let n = s.tokens.len();
        assert_eq!(s.tokens.iter().filter(|t| t.head == 0).count(), 1);
        for start in 0..n {
            let (mut at, mut steps) = (start, 0);
            while s.tokens[at].head > 0 {
                at = s.tokens[at].head - 1;
                steps += 1;
                assert!(steps <= n, "a cycle");
            }
        }
        assert!(s.tokens.iter().all(|t| text.get(t.span.clone()).is_some() && !t.margin.is_nan()));
    }
    let blocks: Vec<Block> = sentences.iter().map(|s| Block::from_sentence(s, text)).collect();
    let mut bytes = Vec::new();
    conllu::write(&mut bytes, &blocks).unwrap();
    assert_eq!(conllu::read(bytes.as_slice()).unwrap(), blocks);
});
