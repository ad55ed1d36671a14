//! Claims lie where they say.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static PARSER: LazyLock<ud::Parser> = LazyLock::new(|| ud::Parser::embedded().unwrap());

fuzz_target!(|text: &str| {
    for claim in belnap::extract(&PARSER, text) {
        assert!(text.get(claim.span.clone()).is_some());
        assert!(text.get(claim.subject.span.clone()).is_some());
        assert!(claim.object.is_none_or(|o| text.get(o.span).is_some()));
        assert!(!claim.margin.is_nan());
    }
});
