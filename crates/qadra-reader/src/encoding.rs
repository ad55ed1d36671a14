//! Bytes to characters: byte order mark, then UTF-8, then what is declared, then a guess.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// How much of a long document the guess is made from.
const EVIDENCE: usize = 1024 * 1024;

pub(crate) struct Decoded<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) encoding: String,
    pub(crate) warning: Option<String>,
}

/// `labels` are declared encodings, the most trusted first; unknown ones are skipped.
pub(crate) fn decode<'a>(bytes: &'a [u8], labels: &[Option<String>]) -> Decoded<'a> {
    let (encoding, sure) = choose(bytes, labels);
    let (text, encoding, replaced) = encoding.decode(bytes);
    let warning = match (replaced, sure) {
        (true, _) => Some(format!(
            "some bytes are not valid {} and are shown as \u{fffd}",
            encoding.name()
        )),
        (false, false) => Some(format!(
            "the encoding is not declared; {} was assumed",
            encoding.name()
        )),
        (false, true) => None,
    };
    Decoded {
        text,
        encoding: encoding.name().to_owned(),
        warning,
    }
}

/// The `charset` of a content type.
pub(crate) fn charset(content_type: Option<&str>) -> Option<String> {
    content_type?.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let found = name.trim().eq_ignore_ascii_case("charset");
        found.then(|| value.trim().trim_matches('"').to_owned())
    })
}

fn choose(bytes: &[u8], labels: &[Option<String>]) -> (&'static Encoding, bool) {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return (encoding, true);
    }
    if let Some(encoding) = utf16(bytes.get(..4096).unwrap_or(bytes)) {
        return (encoding, true);
    }
    // ISO-2022-JP is ASCII with escapes, so its text is valid UTF-8 too.
    let escapes = bytes.contains(&0x1b);
    if !escapes && nearly_utf8(bytes) {
        return (UTF_8, true);
    }
    let declared = labels
        .iter()
        .flatten()
        .filter_map(|label| Encoding::for_label(label.as_bytes()))
        // Declared as UTF-8 and not valid: the declaration is wrong.
        .find(|&e| e != UTF_8 && e != UTF_16LE && e != UTF_16BE);
    if let Some(encoding) = declared {
        return (encoding, true);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes.get(..EVIDENCE).unwrap_or(bytes), true);
    let guess = detector.guess(None, Utf8Detection::Allow);
    (guess, guess == UTF_8)
}

/// Valid, or cut within its last character after others that are no ASCII.
fn nearly_utf8(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(e) => {
            let valid = bytes.get(..e.valid_up_to()).unwrap_or_default();
            e.error_len().is_none() && !valid.is_ascii()
        }
    }
}

/// UTF-16, with a mark or told by the zero bytes of its ASCII characters.
pub(crate) fn utf16(sample: &[u8]) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(sample) {
        return (encoding != UTF_8).then_some(encoding);
    }
    let pairs = sample.chunks_exact(2).len();
    if pairs < 2 {
        return None;
    }
    let zeros = |at: usize| {
        sample
            .chunks_exact(2)
            .filter(|p| p.get(at) == Some(&0))
            .count()
    };
    let (high_first, low_first) = (zeros(0), zeros(1));
    if low_first * 3 > pairs && high_first * 50 < pairs {
        Some(UTF_16LE)
    } else if high_first * 3 > pairs && low_first * 50 < pairs {
        Some(UTF_16BE)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], label: Option<&str>) -> (String, String, bool) {
        let d = decode(bytes, &[label.map(str::to_owned)]);
        (d.text.into_owned(), d.encoding, d.warning.is_some())
    }

    #[test]
    fn marks_utf8_declarations_and_guesses_in_this_order() {
        let (text, encoding, warned) = check(b"\xff\xfeh\0i\0", None);
        assert_eq!((text.as_str(), encoding.as_str()), ("hi", "UTF-16LE"));
        assert!(!warned);
        assert_eq!(check(b"\0h\0i\0!", None).1, "UTF-16BE");
        assert_eq!(check("é".as_bytes(), Some("latin1")).0, "é");
        assert_eq!(check(b"caf\xe9", Some("iso-8859-1")).0, "café");
        let (text, _, warned) = check(b"Le caf\xe9 est ferm\xe9 \xe0 No\xebl.", None);
        assert_eq!(text, "Le café est fermé à Noël.");
        assert!(warned);
    }

    #[test]
    fn a_cut_last_character_does_not_change_the_encoding() {
        let (text, encoding, warned) = check(b"caf\xc3\xa9 \xe2\x82", None);
        assert_eq!(
            (text.as_str(), encoding.as_str()),
            ("café \u{fffd}", "UTF-8")
        );
        assert!(warned);
    }

    #[test]
    fn the_charset_of_a_content_type_is_found() {
        let found = charset(Some("text/html; boundary=x; Charset=\"Shift_JIS\""));
        assert_eq!(found.as_deref(), Some("Shift_JIS"));
        assert_eq!(charset(Some("text/html")), None);
    }
}
