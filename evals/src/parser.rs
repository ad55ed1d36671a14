//! The parser against a treebank: accuracy on given words and on raw text, and speed on one core.

use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use serde::Serialize;
use ud::{Parser, conllu, eval};

/// Shares in percent, as the CoNLL 2018 shared task counts them.
#[derive(Debug, Clone, Serialize)]
pub struct ParserScores {
    pub file: String,
    pub gold_words: Row,
    pub raw_text: Row,
    /// On one core, raw text to trees; the best of three passes.
    pub sentences_per_second: f64,
    pub load_ms: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub n: usize,
    pub words: f64,
    pub sentences: f64,
    pub upos: f64,
    pub lemma: f64,
    pub uas: f64,
    pub las: f64,
}

pub fn score(path: &Path) -> anyhow::Result<ParserScores> {
    let start = Instant::now();
    let parser = Parser::embedded()?;
    let load_ms = start.elapsed().as_secs_f64() * 1e3;
    let file = std::fs::File::open(path).with_context(|| format!("open {}", path.display()))?;
    let gold = conllu::read(std::io::BufReader::new(file))
        .with_context(|| format!("read {}", path.display()))?;
    let text = eval::raw_text(&gold);
    let speed = (0..3)
        .map(|_| {
            let start = Instant::now();
            let sentences = parser.parse(&text).len();
            sentences as f64 / start.elapsed().as_secs_f64()
        })
        .fold(0.0, f64::max);
    Ok(ParserScores {
        file: name(path),
        gold_words: row(eval::with_gold_words(&parser, &gold)),
        raw_text: row(eval::with_raw_text(&parser, &gold)),
        sentences_per_second: speed,
        load_ms,
    })
}

fn row(s: eval::Scores) -> Row {
    let p = |x: f64| 100.0 * x;
    Row {
        n: s.n,
        words: p(s.words),
        sentences: p(s.sentences),
        upos: p(s.upos),
        lemma: p(s.lemma),
        uas: p(s.uas),
        las: p(s.las),
    }
}

pub(crate) fn name(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.display().to_string(),
        |n| n.to_string_lossy().into_owned(),
    )
}

impl std::fmt::Display for ParserScores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "parser, {}", self.file)?;
        for (name, r) in [
            ("gold words", &self.gold_words),
            ("raw text", &self.raw_text),
        ] {
            writeln!(
                f,
                "  {name:11} words {:6.2}  sentences {:6.2}  UPOS {:.2}  lemma {:.2}  UAS {:.2}  LAS {:.2}  (n = {} words)",
                r.words, r.sentences, r.upos, r.lemma, r.uas, r.las, r.n
            )?;
        }
        write!(
            f,
            "  speed       {:.0} sentences/s on one core; the model loads in {:.1} ms",
            self.sentences_per_second, self.load_ms
        )
    }
}
