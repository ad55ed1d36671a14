/// Estimated number of tokens in `text`, without a tokenizer; zero only for empty text.
///
/// Every character adds a weight by its class, and the sum is rounded up. The weights are set so that
/// the estimate errs upwards for text that people and models write. `docs/adr/0004-llm-client.md`
/// holds the measured error for two public vocabularies; random strings (hashes, base64) can need up
/// to twice the estimate, because no tokenizer has seen them before.
///
/// The sum does not depend on how the text is cut, so a stream is metered piece by piece.
pub fn estimate_tokens(text: &str) -> u64 {
    weight_to_tokens(weigh_bytes(text.as_bytes()))
}

/// Weight units in one token.
const UNIT: u64 = 40;

pub(crate) fn weigh_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(weight(byte))).sum()
}

pub(crate) fn weight_to_tokens(weight: u64) -> u64 {
    weight.div_ceil(UNIT)
}

/// A character is weighed at its first byte in UTF-8; the following ones add nothing.
const fn weight(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => 11,
        b' ' => 6,
        // Digits, marks and line ends.
        0x00..=0x7f => 26,
        0x80..=0xbf => 0,
        // Latin with marks, Greek, Cyrillic, Hebrew, Arabic.
        0xc0..=0xdf => 32,
        // Indic scripts, Thai, Chinese, Japanese, Korean.
        0xe0..=0xef => 56,
        // Emoji and rare scripts.
        0xf0..=0xff => 120,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn empty_text_has_no_tokens_and_one_letter_has_one() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("a"), 1);
    }

    proptest! {
        #[test]
        fn weight_is_the_same_however_the_text_is_cut(text in "\\PC{0,80}", cut in 0usize..80) {
            let bytes = text.as_bytes();
            let (head, tail) = bytes.split_at(cut.min(bytes.len()));
            prop_assert_eq!(weigh_bytes(bytes), weigh_bytes(head) + weigh_bytes(tail));
        }
    }
}
