//! Any bytes: an error or blocks, and blocks survive being written, read and parsed anew.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use ud::conllu;

static PARSER: LazyLock<ud::Parser> = LazyLock::new(|| ud::Parser::embedded().unwrap());

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut blocks) = conllu::read(bytes) else { return };
    let mut out = Vec::new();
    conllu::write(&mut out, &blocks).unwrap();
    assert_eq!(conllu::read(out.as_slice()).unwrap(), blocks);
    for block in &mut blocks {
        let parsed = PARSER.parse_words(block.words().map(|row| row.form.as_str()));
        block.annotate(&parsed);
    }
    let mut out = Vec::new();
    conllu::write(&mut out, &blocks).unwrap();
    assert_eq!(conllu::read(out.as_slice()).unwrap(), blocks);
});
