//! Damaged documents of every format: any answer is right, a panic is not.

use std::sync::LazyLock;

use proptest::prelude::*;

use crate::make_docx::{docx, paragraph};
use crate::make_pdf::{Page, pdf};
use crate::read_named;

static WHOLE: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(|| {
    let page = || {
        Page::default()
            .text(60.0, 780.0, 20.0, "A title")
            .lines(
                60.0,
                740.0,
                &["One line of words (and more)", "and another one."],
            )
            .japanese(60.0, 600.0, "東京は日本の")
            .picture()
    };
    vec![
        ("a.pdf", pdf(vec![page(), page(), page()])),
        ("b.pdf", include_bytes!("../fixtures/restricted.pdf").to_vec()),
        ("a.docx", docx(&paragraph("<w:numPr><w:numId w:val=\"1\"/></w:numPr>", "words &amp; more"))),
        ("a.html", b"<html><title>t</title><nav>n</nav><table><tr><td>a<td>b</table><ol><li>x<pre>y</pre>&eacute;".to_vec()),
        ("a.md", "---\ntitle: x\n---\n# h\n\n- a\n\n| a | b |\n|---|---|\n| c | d |\n\n```\ncode\n```\n[^1]\n\n[^1]: n\n<b>é".into()),
        ("a.txt", "Some words.\r\n\r\nMore é words\u{2029}".into()),
    ]
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damage_is_answered(
        which in 0usize..6,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in prop::option::weighted(0.3, any::<prop::sample::Index>()),
        moved in prop::option::weighted(0.3, (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1usize..60)),
    ) {
        let (name, whole) = &WHOLE[which];
        let mut bytes = whole.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some((from, to, length)) = moved {
            let from = from.index(bytes.len());
            let piece = bytes[from..(from + length).min(bytes.len())].to_vec();
            let to = to.index(bytes.len());
            bytes.splice(to..to, piece);
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let _ = read_named(&bytes, name);
        let _ = read_named(&bytes, "");
    }

    #[test]
    fn noise_is_answered(bytes in prop::collection::vec(any::<u8>(), 0..2000), name in "(a\\.(txt|md|html|pdf|docx))?") {
        let _ = read_named(&bytes, &name);
    }
}
