//! What holds of the claims of any text whatever.

use proptest::prelude::*;

fn check(text: &str) {
    use std::sync::LazyLock;
    static PARSER: LazyLock<ud::Parser> = LazyLock::new(|| ud::Parser::embedded().unwrap());
    let claims = belnap::extract(&PARSER, text);
    let inside = |span: &std::ops::Range<usize>| text.get(span.clone()).is_some();
    for (i, claim) in claims.iter().enumerate() {
        assert!(inside(&claim.span), "{claim} in {text:?}");
        assert_eq!(text[claim.span.clone()], claim.text);
        for term in std::iter::once(&claim.subject)
            .chain(&claim.object)
            .chain(claim.arguments.iter().map(|a| &a.term))
        {
            assert!(inside(&term.span), "{term:?} in {text:?}");
            assert!(!term.text.is_empty(), "{claim} in {text:?}");
        }
        assert!(!claims[..i].contains(claim), "twice: {claim} in {text:?}");
    }
    assert!(claims.windows(2).all(|w| w[0].sentence <= w[1].sentence));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn nor_does_a_text_of_words_and_marks(
        parts in prop::collection::vec(
            prop_oneof![
                Just("the"), Just("Paris"), Just("is"), Just("who"), Just("was founded by"), Just("and"), Just("not"),
                Just(","), Just("("), Just(")"), Just("."), Just("1980"), Just("$5M"), Just("5 %"), Just("\n\n"),
                Just("# "), Just("- "), Just("**"), Just("|"), Just(": "), Just("its"), Just("CEO"), Just("of"), Just("é ü 東京"),
                Just("to"), Just("that"), Just("?"), Just("whose"), Just("26/06/1980"), Just("said"), Just("if")
            ],
            0..60,
        )
    ) {
        check(&parts.join(" "));
    }

    #[test]
    fn values_are_found_on_character_boundaries(text in "[0-9a-zA-Z$€£%°.,/:’'() \\-–½]{0,40}") {
        for (range, _) in belnap::Value::find(&text) {
            prop_assert!(text.get(range).is_some());
        }
        if let Some(value) = belnap::Value::parse(&text) {
            prop_assert_eq!(value.compare(&value), belnap::Relation::Equal);
        }
    }
}

#[test]
fn long_and_deep_texts_are_read() {
    let words = "the cat that saw the dog that bit ".repeat(400);
    check(&words);
    check(&"(".repeat(5_000));
    check(&"and ".repeat(5_000));
    check(&"| a | b ".repeat(2_000));
    check(&"- key: value\n".repeat(1_000));
    check(&"Tom, Ann, ".repeat(1_000));
}
