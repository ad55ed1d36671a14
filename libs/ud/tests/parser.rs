//! The embedded model on whole texts: golden parses, and what must hold for any text.

use std::collections::HashSet;
use std::sync::LazyLock;

use proptest::prelude::*;
use ud::conllu::{self, Block};
use ud::{LONGEST_TREE, Parser, Sentence, Upos};

static PARSER: LazyLock<Parser> = LazyLock::new(|| Parser::embedded().unwrap());

fn arcs(sentence: &Sentence) -> HashSet<String> {
    let arc = |t: &ud::Token| {
        let head = match t.head {
            0 => "-",
            h => &sentence.tokens[h - 1].form,
        };
        format!("{} {} {head}", t.form, t.deprel)
    };
    sentence.tokens.iter().map(arc).collect()
}

#[test]
fn everyday_business_sentences_have_their_trees() {
    let (mut wrong, mut surprises) = (Vec::new(), Vec::new());
    let golden = include_str!("golden.txt");
    let blocks = golden.split("\n\n").skip(1);
    for block in blocks {
        let (text, expected) = block.trim().split_once('\n').unwrap();
        let sentences = PARSER.parse(text);
        assert_eq!(sentences.len(), 1, "{text}");
        let found = arcs(&sentences[0]);
        for arc in expected.split(';').map(str::trim) {
            match arc.strip_prefix('?') {
                Some(missed) if found.contains(missed.trim()) => {
                    surprises.push(format!("{text} | {missed}"));
                }
                None if !found.contains(arc) => wrong.push(format!("{text} | {arc}")),
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "missing arcs:\n{}", wrong.join("\n"));
    assert!(
        surprises.is_empty(),
        "now right, drop the mark:\n{}",
        surprises.join("\n")
    );
}

#[test]
fn tags_lemmas_and_features_of_a_plain_sentence() {
    let sentences = PARSER.parse("The companies didn't buy cheaper parts.");
    let words: Vec<String> = sentences[0]
        .tokens
        .iter()
        .map(|t| format!("{}/{}/{}", t.form, t.lemma, t.upos.as_str()))
        .collect();
    assert_eq!(
        words.join(" "),
        "The/the/DET companies/company/NOUN did/do/AUX n't/not/PART buy/buy/VERB cheaper/cheap/ADJ \
         parts/part/NOUN ./././PUNCT"
            .replace("./././PUNCT", "././PUNCT")
    );
    let companies = &sentences[0].tokens[1];
    assert_eq!(companies.feat("Number"), Some("Plur"));
    assert_eq!(companies.feat("Case"), None);
    assert_eq!(sentences[0].multiwords[0].form, "didn't");
}

#[test]
fn layout_parts_sentences_and_abbreviations_do_not() {
    let text = "# Quarterly report\nDr. Smith of Acme Inc. was paid $5 million. He left.\n\n- First item\n- Second item\n";
    let starts: Vec<&str> = PARSER
        .parse(text)
        .iter()
        .map(|s| &text[s.span.clone()])
        .collect();
    assert_eq!(
        starts,
        [
            "# Quarterly report",
            "Dr. Smith of Acme Inc. was paid $5 million.",
            "He left.",
            "- First item",
            "- Second item"
        ]
    );
}

#[test]
fn conllu_of_a_text_shows_ranges_and_missing_blanks() {
    let text = "We don't.";
    let block = Block::from_sentence(&PARSER.parse(text)[0], text);
    let column =
        |f: fn(&conllu::Row) -> String| block.rows.iter().map(f).collect::<Vec<_>>().join(" ");
    assert_eq!(column(|r| r.id.to_string()), "1 2-3 2 3 4");
    assert_eq!(column(|r| r.form.clone()), "We don't do n't .");
    assert_eq!(column(|r| r.misc.clone()), "_ SpaceAfter=No _ _ _");
}

#[test]
fn annotating_a_block_keeps_its_words_and_ranges() {
    let text = "We don't.";
    let mut block = Block::from_sentence(&PARSER.parse(text)[0], text);
    let before = block.clone();
    for row in &mut block.rows {
        row.head = None;
        row.lemma = "_".into();
    }
    let words: Vec<String> = block.words().map(|r| r.form.clone()).collect();
    block.annotate(&PARSER.parse_words(words.iter().map(String::as_str)));
    assert_eq!(block, before);
}

#[test]
fn words_that_are_given_are_kept() {
    let words = ["New", "York", "can", "n't", "wait", "for", "a.b c", ""];
    let sentence = PARSER.parse_words(words);
    let forms: Vec<&str> = sentence.tokens.iter().map(|t| t.form.as_str()).collect();
    assert_eq!(forms, words);
    proper(&sentence);
    assert!(PARSER.parse_words([]).tokens.is_empty());
}

#[test]
fn a_sentence_longer_than_a_tree_still_has_one_root() {
    let words = vec!["and"; 3 * LONGEST_TREE + 7];
    proper(&PARSER.parse_words(words.iter().copied()));
    let text = "word ".repeat(3 * LONGEST_TREE);
    for sentence in PARSER.parse(&text) {
        assert!(sentence.tokens.len() <= LONGEST_TREE);
        proper(&sentence);
    }
}

#[test]
fn text_without_words_is_parsed_too() {
    assert!(PARSER.parse("").is_empty());
    assert!(PARSER.parse(" \n\t\u{2003}").is_empty());
    for text in [
        "**",
        "|",
        "# ",
        "\u{0}",
        "\u{301}",
        "```",
        "🙂🙂",
        "日本語のテキスト。",
    ] {
        for sentence in PARSER.parse(text) {
            proper(&sentence);
        }
    }
}

#[test]
fn the_same_text_gives_the_same_parse() {
    let text = "The invoice was paid. We don't know why.";
    assert_eq!(PARSER.parse(text), PARSER.parse(text));
}

#[test]
fn a_damaged_model_is_an_error() {
    let model = include_bytes!("../model/en_ewt.udm");
    assert!(Parser::from_bytes(b"").is_err());
    assert!(Parser::from_bytes(b"QADRAUD0 and so on").is_err());
    for cut in [9, 100, 10_000, 200_000, model.len() / 2, model.len() - 1] {
        assert!(Parser::from_bytes(&model[..cut]).is_err(), "{cut}");
    }
}

/// One root, no cycle, relations that fit.
fn proper(sentence: &Sentence) {
    let tokens = &sentence.tokens;
    assert_eq!(tokens.iter().filter(|t| t.head == 0).count(), 1);
    for (i, token) in tokens.iter().enumerate() {
        assert!(token.head <= tokens.len() && token.head != i + 1);
        assert_eq!(token.head == 0, &*token.deprel == "root");
        assert!(!token.margin.is_nan());
        let mut at = i + 1;
        let mut steps = 0;
        while at != 0 {
            at = tokens[at - 1].head;
            steps += 1;
            assert!(steps <= tokens.len(), "cycle at {i}");
        }
    }
}

/// Tokens in order, inside their sentence, and nothing but white space between them.
fn covered(text: &str) {
    let mut at = 0;
    for sentence in PARSER.parse(text) {
        proper(&sentence);
        assert_eq!(sentence.span.start, sentence.tokens[0].span.start);
        for token in &sentence.tokens {
            assert_eq!(&text[token.span.clone()], token.form);
            assert!(text[at..token.span.start].chars().all(char::is_whitespace));
            at = token.span.end;
        }
        assert_eq!(sentence.span.end, at);
        for m in &sentence.multiwords {
            assert_eq!(&text[m.span.clone()], m.form);
            assert!(m.first < m.last && m.last < sentence.tokens.len());
        }
    }
    assert!(text[at..].chars().all(char::is_whitespace));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_is_covered_by_proper_trees(text in any::<String>()) {
        covered(&text);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        covered(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_shuffle_of_common_pieces_is_covered(pieces in prop::collection::vec(
        prop::sample::select(vec![
            "The ", "company", "'s ", "n't ", ". ", ".", "\n", "\n\n", "- ", "# ", "**", "`", "$5m ", "U.S. ",
            "a@b.c ", "http://x.y/z ", "[a](b) ", "| ", "|---|", "!?", "\"", "’", "é", "\u{0}", "1. ", "cannot ", "dogs' ",
        ]), 0..40)) {
        covered(&pieces.concat());
    }

    #[test]
    fn any_parse_written_as_conllu_is_read_back(text in any::<String>()) {
        let blocks: Vec<Block> =
            PARSER.parse(&text).iter().map(|s| Block::from_sentence(s, &text)).collect();
        let mut out = Vec::new();
        conllu::write(&mut out, &blocks).unwrap();
        prop_assert_eq!(conllu::read(&out[..]).unwrap(), blocks);
    }

    #[test]
    fn any_words_get_one_proper_tree(words in prop::collection::vec(".{0,8}", 1..30)) {
        let sentence = PARSER.parse_words(words.iter().map(String::as_str));
        prop_assert_eq!(sentence.tokens.len(), words.len());
        proper(&sentence);
    }
}

#[test]
fn all_tags_have_names() {
    for upos in Upos::ALL {
        assert_eq!(Upos::parse(upos.as_str()), Some(upos));
    }
}
