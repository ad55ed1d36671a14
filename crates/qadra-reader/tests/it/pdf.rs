use std::time::Instant;

use qadra_reader::{Limits, Progress, ReadError, Unit, read};

use crate::make_pdf::{Page, pdf, pdf_titled};
use crate::{outline, read_named};

#[test]
fn headings_paragraphs_lists_and_parted_words_are_found() {
    let page = Page::default()
        .text(60.0, 780.0, 20.0, "Annual report")
        .lines(
            60.0,
            740.0,
            &[
                "The company sold forty thousand machines in the year, an exam-",
                "ple of what a well-known maker can do. It had £ 3 million (net)",
                "in the bank.",
                "   Its second year was better than its first, which had been well-",
                "known to be poor.",
            ],
        )
        .lines(60.0, 660.0, &["\u{95} First thing", "\u{95} Second thing"]);
    let text = read_named(&pdf(vec![page]), "a.pdf").unwrap();
    assert_eq!(
        outline(&text),
        "h1@1 Annual report\n\
        p@1 The company sold forty thousand machines in the year, an example of what a well-known maker can do. \
        It had £ 3 million (net) in the bank.\n\
        p@1 Its second year was better than its first, which had been well-known to be poor.\n\
        li@1 - First thing\nli@1 - Second thing"
    );
    assert_eq!(text.title.as_deref(), Some("Annual report"));
    assert_eq!((text.pages, text.encoding), (Some(1), None));
}

#[test]
fn columns_are_read_down_and_tables_across() {
    let left = [
        "The first column has lines that are full of",
        "words, so that they reach its right edge or",
        "come near to it, and it goes on for long",
        "enough to be told from a table. It ends.",
    ];
    let right = [
        "The second column stands beside the first",
        "and is read when the first one is done, not",
        "line by line across the page as a table is,",
        "which would make no sense to a reader. End.",
    ];
    let mut page = Page::default()
        .text(200.0, 800.0, 18.0, "Across both columns")
        .lines(60.0, 760.0, &left)
        .lines(320.0, 760.0, &right);
    for (i, (name, age)) in [("Name", "Age"), ("Ann", "31"), ("Bob", "27")]
        .iter()
        .enumerate()
    {
        let y = 600.0 - 14.0 * i as f32;
        page = page.text(60.0, y, 10.0, name).text(300.0, y, 10.0, age);
    }
    let text = read_named(&pdf(vec![page]), "a.pdf").unwrap();
    assert_eq!(
        outline(&text),
        format!(
            "h1@1 Across both columns\np@1 {}\np@1 {}\ntr@1 | Name | Age |\ntr@1 | Ann | 31 |\ntr@1 | Bob | 27 |",
            left.join(" "),
            right.join(" ")
        )
    );
}

#[test]
fn two_hundred_pages_lose_their_running_titles_and_page_numbers() {
    let pages = (1..=200).map(|n| {
        let mut page = Page::default()
            .text(60.0, 810.0, 9.0, "The long book")
            .text(500.0, 810.0, 9.0, &format!("Part {}", n / 20))
            .text(290.0, 30.0, 9.0, &n.to_string())
            .text(60.0, 770.0, 16.0, &format!("Chapter {n}"));
        for line in 0..45 {
            let y = 740.0 - 14.0 * line as f32;
            page = page.text(
                60.0,
                y,
                10.0,
                &format!("Line {line} of the page {n} says that the fox number {line} is quick."),
            );
        }
        page
    });
    let bytes = pdf(pages.collect());
    let started = Instant::now();
    let mut last = None;
    let limits = Limits::default();
    let text = read(&bytes, None, Some("book.pdf"), &limits, &mut |p| {
        last = Some(p)
    })
    .unwrap();
    eprintln!(
        "200 pages of PDF ({} kB): {:?}",
        bytes.len() / 1000,
        started.elapsed()
    );
    assert_eq!(
        last,
        Some(Progress {
            done: 200,
            total: 200,
            unit: Unit::Pages
        })
    );
    assert_eq!(text.pages, Some(200));
    assert_eq!(text.content.matches("Chapter").count(), 200);
    assert!(!text.content.contains("The long book") && !text.content.contains("Part 3"));
    assert!(text.content.contains("Line 44 of the page 200"));
    let last = text.blocks.last().unwrap();
    assert_eq!(last.page, Some(200));
}

#[test]
fn pages_of_pictures_have_no_text() {
    let scanned = || (0..3).map(|_| Page::default().picture());
    assert_eq!(
        read_named(&pdf(scanned().collect()), "scan.pdf").unwrap_err(),
        ReadError::NoText
    );
    let mut pages: Vec<Page> = scanned().collect();
    pages.push(Page::default().text(60.0, 700.0, 10.0, "One page has words."));
    let text = read_named(&pdf(pages), "scan.pdf").unwrap();
    assert_eq!(text.content, "One page has words.");
    assert!(
        text.warnings[0].contains("3 of 4 pages"),
        "{:?}",
        text.warnings
    );
}

#[test]
fn japanese_is_read_with_a_font_that_is_not_in_the_file() {
    let page = Page::default()
        .japanese(60.0, 700.0, "東京は日本の首都です。人口は")
        .japanese(60.0, 685.0, "約千四百万人です。");
    let text = read_named(&pdf_titled(vec![page], "<FEFF67714EAC>"), "a.pdf").unwrap();
    assert_eq!(
        text.content,
        "東京は日本の首都です。人口は約千四百万人です。"
    );
    assert_eq!(text.title.as_deref(), Some("東京"));
}

#[test]
fn a_password_locks_a_document_and_a_mere_restriction_does_not() {
    let locked = include_bytes!("../fixtures/password.pdf");
    assert_eq!(
        read_named(locked, "a.pdf").unwrap_err(),
        ReadError::Encrypted
    );
    let restricted = include_bytes!("../fixtures/restricted.pdf");
    assert_eq!(
        read_named(restricted, "a.pdf").unwrap().content,
        "Nobody may print this."
    );
}

#[test]
fn a_cut_document_gives_its_first_pages_or_is_unreadable() {
    let pages =
        (0..40).map(|n| Page::default().text(60.0, 700.0, 10.0, &format!("Page {n} is here.")));
    let whole = pdf(pages.collect());
    for share in [0, 1, 3, 6, 9] {
        match read_named(&whole[..9 + whole.len() * share / 10], "a.pdf") {
            Ok(text) => assert!(text.content.starts_with("Page 0"), "{}", text.content),
            Err(e) => assert!(matches!(e, ReadError::Unreadable { .. }), "{e}"),
        }
    }
}

#[test]
fn junk_before_the_header_and_too_many_pages_are_handled() {
    let mut bytes = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    bytes.extend(pdf(vec![
        Page::default().text(60.0, 700.0, 10.0, "Words."),
        Page::default(),
    ]));
    assert_eq!(read_named(&bytes, "a.pdf").unwrap().content, "Words.");
    let limits = Limits {
        max_pages: 1,
        ..Limits::default()
    };
    let e = read(&bytes, None, Some("a.pdf"), &limits, &mut |_| {}).unwrap_err();
    assert!(
        matches!(
            e,
            ReadError::TooLarge {
                found: 2,
                limit: 1,
                ..
            }
        ),
        "{e}"
    );
}
