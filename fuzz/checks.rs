//! What holds for any input, however strange: the fuzz targets check it on inputs of their own making, and the tests of
//! `belnap` on those that fuzzing has found worth keeping.

use std::sync::LazyLock;

use belnap::{Claim, Evidence, Fact, Graph, Judgement, Report, Rules};
use ud::conllu::{self, Block};

static PARSER: LazyLock<ud::Parser> = LazyLock::new(|| ud::Parser::embedded().unwrap());

/// Every byte that is not white space is in exactly one word, in order, whatever the text.
pub fn tokenize(text: &str) {
    let mut end = 0;
    let mut last = 0..0;
    for span in PARSER.tokenize(text).into_iter().flatten() {
        // Words cut from one written token may share its span.
        if span == last {
            continue;
        }
        assert!(
            span.start >= end && span.start < span.end,
            "{span:?} after {end}"
        );
        assert!(
            text[end..span.start].trim().is_empty(),
            "text left out before {span:?}"
        );
        assert!(!text[span.clone()].trim().is_empty());
        end = span.end;
        last = span;
    }
    assert!(text[end..].trim().is_empty());
}

/// Every sentence is one tree, and what is written as CoNLL-U is read back.
pub fn parse(text: &str) {
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
        assert!(
            s.tokens
                .iter()
                .all(|t| text.get(t.span.clone()).is_some() && !t.margin.is_nan())
        );
    }
    let blocks: Vec<Block> = sentences
        .iter()
        .map(|s| Block::from_sentence(s, text))
        .collect();
    let mut bytes = Vec::new();
    conllu::write(&mut bytes, &blocks).unwrap();
    assert_eq!(conllu::read(bytes.as_slice()).unwrap(), blocks);
}

/// Any bytes: an error or blocks, and blocks survive being written, read and parsed anew.
pub fn conllu(bytes: &[u8]) {
    let Ok(mut blocks) = conllu::read(bytes) else {
        return;
    };
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
}

/// Claims lie where they say.
pub fn extract(text: &str) {
    for claim in belnap::extract(&PARSER, text) {
        assert!(text.get(claim.span.clone()).is_some());
        assert!(text.get(claim.subject.span.clone()).is_some());
        assert!(claim.object.is_none_or(|o| text.get(o.span).is_some()));
        assert!(!claim.margin.is_nan());
    }
}

/// The first line is held against the others: as statements (tab between the three parts), and as a text.
pub fn verify(input: &str) {
    let (text, rest) = input.split_once('\n').unwrap_or((input, ""));
    let fact = |line: &str| {
        let mut parts = line.splitn(3, '\t').map(str::to_owned);
        Some(Fact {
            subject: parts.next()?,
            predicate: parts.next()?,
            object: parts.next()?,
            confidence: 1.0,
            ..Fact::default()
        })
    };
    let facts: Vec<Fact> = rest.lines().filter_map(fact).collect();
    let rules = Rules {
        functional: facts.iter().map(|f| f.predicate.clone()).collect(),
        ..Rules::default()
    };
    let judged = belnap::verify(&PARSER, text, &Graph::new(facts, rules));
    places(text, &judged);
    let judged = belnap::verify_against(&PARSER, text, &Evidence::new(&PARSER, rest));
    places(text, &judged);
}

fn places(text: &str, judged: &[(Claim, Judgement)]) {
    let report = Report::new(text, judged, |i| Some(i.to_string()));
    let length = text.chars().count();
    assert!(
        report
            .claims
            .iter()
            .all(|c| c.span[0] <= c.span[1] && c.span[1] <= length)
    );
}
