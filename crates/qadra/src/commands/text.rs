//! `parse`, `extract` and `verify`: the parser and the gate without a server and without a database.

use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use belnap::{Case, Evidence, Fact, Graph, Report, Rules};
use serde::Deserialize;
use ud::conllu::{self, Block};

/// A text with more than this is refused rather than held in memory several times over.
const LARGEST: u64 = 256 << 20;

#[derive(clap::Args)]
pub(crate) struct ParseArgs {
    /// The input is CoNLL-U: keep its words, predict tags and trees anew
    #[arg(long)]
    conllu: bool,
    /// A file, or the text itself; standard input if it is missing or "-"
    input: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct ExtractArgs {
    /// A file, or the text itself; standard input if it is missing or "-"
    input: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct VerifyArgs {
    /// Statements to verify by: a JSON array, {"triples": […], "functional": […]}, or one JSON object a line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["evidence", "cases"])]
    triples: Option<String>,
    /// A text to verify by
    #[arg(long, value_name = "FILE", conflicts_with = "cases")]
    evidence: Option<String>,
    /// Labelled cases, one JSON object a line; writes {"id", "label", "claims"} a line
    #[arg(long, value_name = "FILE")]
    cases: Option<String>,
    /// A predicate with at most one object for a subject (may be repeated; with --triples)
    #[arg(long, value_name = "PREDICATE")]
    functional: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The answer to verify: a file, or the text itself; standard input if it is missing or "-"
    input: Option<String>,
}

pub(crate) fn parse(args: ParseArgs) -> anyhow::Result<()> {
    let parser = parser()?;
    let text = input(args.input.as_deref())?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let written = if args.conllu {
        let mut blocks = conllu::read(text.as_bytes())?;
        for block in &mut blocks {
            let parsed = parser.parse_words(block.words().map(|row| row.form.as_str()));
            block.annotate(&parsed);
        }
        conllu::write(&mut out, &blocks)
    } else {
        let blocks = parser.parse(&text).into_iter();
        let blocks: Vec<Block> = blocks.map(|s| Block::from_sentence(&s, &text)).collect();
        conllu::write(&mut out, &blocks)
    };
    finish(written.and_then(|()| out.flush()))
}

pub(crate) fn extract(args: ExtractArgs) -> anyhow::Result<()> {
    let text = input(args.input.as_deref())?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    for claim in belnap::extract(&parser()?, &text) {
        if let Err(e) = writeln!(out, "{}", serde_json::to_string(&claim)?) {
            return finish(Err(e));
        }
    }
    finish(out.flush())
}

/// Exit code 0 when nothing is contradicted, 1 when something is, 2 when it could not be told.
pub(crate) fn verify(args: VerifyArgs) -> anyhow::Result<ExitCode> {
    let parser = parser()?;
    if let Some(file) = &args.cases {
        cases(&parser, file)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (report, names) = match (&args.triples, &args.evidence) {
        (Some(file), _) => {
            let (facts, mut functional) = read_triples(file)?;
            functional.extend(args.functional);
            let names: Vec<String> = facts.iter().map(told).collect();
            let rules = Rules {
                functional: functional.into_iter().collect(),
                ..Rules::default()
            };
            let graph = Graph::new(facts, rules);
            let text = input(args.input.as_deref())?;
            let judged = belnap::verify(&parser, &text, &graph);
            (
                Report::new(&text, &judged, |i| Some((i + 1).to_string())),
                names,
            )
        }
        (None, Some(file)) => {
            let source = read_file(file)?;
            let evidence = Evidence::new(&parser, &source);
            let text = input(args.input.as_deref())?;
            let judged = belnap::verify_against(&parser, &text, &evidence);
            let names = (0..)
                .map_while(|i| evidence.sentence_span(i))
                .map(|span| one_line(source.get(span).unwrap_or_default()))
                .collect();
            (
                Report::new(&text, &judged, |i| Some((i + 1).to_string())),
                names,
            )
        }
        (None, None) => bail!("verify needs --triples, --evidence or --cases"),
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let written = if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)
    } else {
        print_report(&mut out, &report, &names)
    };
    finish(written.and_then(|()| out.flush()))?;
    Ok(ExitCode::from(u8::from(!report.passed)))
}

fn print_report(out: &mut impl Write, report: &Report, names: &[String]) -> std::io::Result<()> {
    for claim in &report.claims {
        writeln!(
            out,
            "{:12}  {}",
            claim.verdict.as_str(),
            one_line(&claim.text)
        )?;
        let not = match claim.polarity {
            belnap::Polarity::Positive => "",
            belnap::Polarity::Negative => "not ",
        };
        let object = claim.object.as_deref().unwrap_or("–");
        writeln!(
            out,
            "              {not}({}, {}, {object})",
            claim.subject, claim.predicate
        )?;
        if let Some(reason) = &claim.reason {
            writeln!(out, "              {reason}")?;
        }
        for (sign, ids) in [('+', &claim.triple_ids), ('−', &claim.against)] {
            for id in ids {
                let name = id.parse::<usize>().ok().and_then(|n| names.get(n - 1));
                writeln!(
                    out,
                    "              {sign} [{id}] {}",
                    name.map_or("", String::as_str)
                )?;
            }
        }
    }
    let c = report.counts;
    writeln!(
        out,
        "{} grounded, {} contradicted, {} contested, {} ungrounded: {}",
        c.grounded,
        c.contradicted,
        c.contested,
        c.ungrounded,
        if report.passed { "passed" } else { "failed" }
    )
}

fn cases(parser: &ud::Parser, file: &str) -> anyhow::Result<()> {
    let reader: Box<dyn BufRead> = match file {
        "-" => Box::new(BufReader::new(std::io::stdin())),
        path => Box::new(BufReader::new(
            std::fs::File::open(path).with_context(|| format!("open {path}"))?,
        )),
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    for (i, line) in reader.lines().enumerate() {
        let line = line.with_context(|| format!("read {file}, line {}", i + 1))?;
        if line.trim().is_empty() {
            continue;
        }
        let case: Case = serde_json::from_str(&line)
            .with_context(|| format!("read the case in {file}, line {}", i + 1))?;
        let prediction = serde_json::to_string(&case.judge(parser))?;
        if let Err(e) = writeln!(out, "{prediction}") {
            return finish(Err(e));
        }
    }
    finish(out.flush())
}

#[derive(Deserialize)]
struct Triple {
    subject: Name,
    predicate: String,
    object: Name,
    #[serde(default)]
    polarity: belnap::Polarity,
    #[serde(default = "certain")]
    confidence: f32,
}

/// A label, or what the API shows for a node or a value.
#[derive(Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    Number(serde_json::Number),
    Truth(bool),
    Labelled { label: String },
}

#[derive(Deserialize)]
struct TripleFile {
    #[serde(alias = "items", alias = "context")]
    triples: Vec<Triple>,
    #[serde(default)]
    functional: Vec<String>,
}

fn certain() -> f32 {
    1.0
}

fn read_triples(file: &str) -> anyhow::Result<(Vec<Fact>, Vec<String>)> {
    let text = read_file(file)?;
    let read = |e: serde_json::Error| {
        anyhow::Error::new(e).context(format!("read the statements in {file}"))
    };
    let trimmed = text.trim_start();
    let (triples, functional): (Vec<Triple>, _) = if trimmed.starts_with('[') {
        (serde_json::from_str(&text).map_err(read)?, vec![])
    } else if let Ok(file) = serde_json::from_str::<TripleFile>(&text) {
        (file.triples, file.functional)
    } else {
        let mut triples = Vec::new();
        for (i, line) in text
            .lines()
            .enumerate()
            .filter(|(_, l)| !l.trim().is_empty())
        {
            let triple = serde_json::from_str(line)
                .with_context(|| format!("read the statement in {file}, line {}", i + 1))?;
            triples.push(triple);
        }
        (triples, vec![])
    };
    let facts = triples.into_iter().map(|t| Fact {
        subject: t.subject.into(),
        predicate: t.predicate,
        object: t.object.into(),
        polarity: t.polarity,
        confidence: t.confidence,
        ..Fact::default()
    });
    Ok((facts.collect(), functional))
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        match name {
            Name::Text(text) | Name::Labelled { label: text } => text,
            Name::Number(number) => number.to_string(),
            Name::Truth(truth) => truth.to_string(),
        }
    }
}

fn told(fact: &Fact) -> String {
    let not = match fact.polarity {
        belnap::Polarity::Positive => "",
        belnap::Polarity::Negative => "not ",
    };
    format!(
        "{not}({}, {}, {})",
        fact.subject, fact.predicate, fact.object
    )
}

fn parser() -> anyhow::Result<ud::Parser> {
    ud::Parser::embedded().context("load the parser's model")
}

/// What the argument stands for: a file of that name, else the text itself when it cannot be a file's name.
fn input(argument: Option<&str>) -> anyhow::Result<String> {
    match argument {
        None | Some("-") => read_all(std::io::stdin().lock(), "standard input"),
        Some(given) if !Path::new(given).exists() && given.contains(char::is_whitespace) => {
            Ok(given.to_owned())
        }
        Some(path) => read_file(path),
    }
}

fn read_file(path: &str) -> anyhow::Result<String> {
    if path == "-" {
        return read_all(std::io::stdin().lock(), "standard input");
    }
    let file = std::fs::File::open(path).with_context(|| format!("open {path}"))?;
    read_all(file, path)
}

fn read_all(from: impl Read, name: &str) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    from.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("read {name}"))?;
    if bytes.len() as u64 > LARGEST {
        bail!("{name} has more than {} MiB", LARGEST >> 20);
    }
    // A text in another encoding is still worth reading; what cannot be read becomes U+FFFD.
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => String::from_utf8_lossy(e.as_bytes()).into_owned(),
    })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A reader that has seen enough (`| head`) is no error.
fn finish(written: std::io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e).context("write the result"),
        _ => Ok(()),
    }
}
