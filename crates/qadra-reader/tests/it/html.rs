use std::fmt::Write as _;
use std::time::Instant;

use qadra_reader::{Limits, ReadError, read};

use crate::{outline, read_named};

#[test]
fn a_page_is_read_as_a_reader_sees_it() {
    let page = "<!doctype html><html><head><title>A &amp; B</title><style>p{}</style><script>if (a<b) x()</script></head>\
        <body><nav><ul><li>Home<li>About</ul></nav><h1>The <em>head</em>ing</h1>\
        <p>One <b>bold</b> word,\n  caf&eacute; &#8212; done.<p>Two 10<sup>6</sup> x<sup>2</sup><br>lines<br><br>Three\
        <ol><li>first<li>second<ul><li>inner</ul></ol>\
        <table><tr><th>Name<th>Age<tr><td>Ann<td>31</table>\
        <pre>a\n  b</pre><div hidden>secret</div><svg><text>drawn</text></svg>\
        <p aria-hidden=true>hidden too</p><footer>end</footer></body></html>";
    let text = read_named(page.as_bytes(), "a.html").unwrap();
    assert_eq!(text.title.as_deref(), Some("A & B"));
    assert_eq!(
        outline(&text),
        "h1 The heading\np One bold word, café — done.\np Two 10^6 x2 lines\np Three\nli 1. first\nli 2. second\nli - inner\n\
        tr | Name | Age |\ntr | Ann | 31 |\ncode a⏎  b\np end"
    );
    assert_eq!(text.warnings, Vec::<String>::new());
}

#[test]
fn a_table_that_places_text_is_paragraphs() {
    let page = "<table><tr><td><h1>Top</h1><p>One.<p>Two.<table><tr><td>a<td>b</table><td>side</table><p>after";
    let text = read_named(page.as_bytes(), "a.html").unwrap();
    assert_eq!(
        outline(&text),
        "h1 Top\np One.\np Two.\ntr | a | b |\np side\np after"
    );
}

#[test]
fn the_encoding_is_the_one_the_page_names() {
    let page = "<meta charset=Shift_JIS><p>東京は日本の首都です。";
    let (bytes, _, _) = encoding_rs::SHIFT_JIS.encode(page);
    let text = read_named(&bytes, "a.html").unwrap();
    assert_eq!(text.content, "東京は日本の首都です。");
    let page = b"<html><meta charset=\"latin1\"><p>caf\xe9";
    assert_eq!(read_named(page, "a.html").unwrap().content, "café");
}

#[test]
fn what_is_never_closed_does_not_swallow_the_page() {
    let text = read_named(b"<html><nav>menu<p>The text.", "a.html").unwrap();
    assert_eq!(text.content, "menu\n\nThe text.");
    assert_eq!(text.warnings.len(), 1);
    let text = read_named(b"<html><p>Text<script>never closed", "a.html").unwrap();
    assert_eq!(text.content, "Text");
}

#[test]
fn a_hundred_thousand_nested_elements_are_read() {
    for element in ["div", "table><tr><td", "ul><li", "b", "nav", "pre"] {
        let page = format!("<html>{}deep", format!("<{element}>").repeat(100_000));
        let text = read_named(page.as_bytes(), "a.html").unwrap();
        assert!(text.content.contains("deep"), "{element}");
    }
}

#[test]
fn fifty_megabytes_are_read_in_one_pass() {
    let mut page = String::from("<!doctype html><title>Big</title><body>");
    let mut n = 0;
    while page.len() < 50_000_000 {
        n += 1;
        let _ = writeln!(
            page,
            "<h2 class=\"x\">Part {n}</h2><p>The <a href=\"/{n}\">quick</a> fox &amp; the {n} dogs.</p>\
            <table><tr><td>row</td><td>{n}</td></tr></table><script>var x = {n};</script>"
        );
    }
    let started = Instant::now();
    let mut reports = 0;
    let limits = Limits::default();
    let text = read(
        page.as_bytes(),
        None,
        Some("big.html"),
        &limits,
        &mut |_| reports += 1,
    )
    .unwrap();
    eprintln!("50 MB of HTML: {:?}", started.elapsed());
    assert_eq!(text.blocks.len(), 3 * n);
    assert!(text.content.ends_with(&format!("| row | {n} |")));
    assert!(reports > 20, "{reports}");
}

#[test]
fn a_page_without_words_is_empty() {
    let e = read_named(b"<html><script>x()</script><img src=a.png>", "a.html").unwrap_err();
    assert_eq!(e, ReadError::Empty);
}
