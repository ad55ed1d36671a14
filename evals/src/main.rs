//! `qadra-evals [--out FILE] parser FILE… | claims FILE… | verify FILE… | grounding FILE… | ablation FILE… | all DIR`

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Parser, Subcommand};
use qadra_evals::{claims, grounding, parser, verify};
use serde_json::{Value, json};

/// Scores of the parser, of claims, of verdicts and of grounding, each with its n.
#[derive(Parser)]
struct Cli {
    /// Also store the scores here, as JSON
    #[arg(long, global = true)]
    out: Option<PathBuf>,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// CoNLL-U files: UAS, LAS, UPOS, lemma on given words and on raw text; speed
    Parser { files: Vec<PathBuf> },
    /// Sentences with their claims, JSONL as in evals/claims
    Claims { files: Vec<PathBuf> },
    /// Labelled cases, JSONL: {"id", "text", "context" or "evidence", "functional", "label", "task"}
    Verify { files: Vec<PathBuf> },
    /// Questions with the statements that answer them, JSONL as in evals/grounding, or sets of triples with texts
    Grounding { files: Vec<PathBuf> },
    /// Recall with and without curvature, on a synthetic family and on files as for grounding
    Ablation { files: Vec<PathBuf> },
    /// Whatever a folder holds of parser/, claims/, verify/ and grounding/
    All { folder: PathBuf },
}

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    let mut scores = serde_json::Map::new();
    match cli.what {
        What::Parser { files } => run("parser", &files, &mut scores)?,
        What::Claims { files } => run("claims", &files, &mut scores)?,
        What::Verify { files } => run("verify", &files, &mut scores)?,
        What::Grounding { files } => run("grounding", &files, &mut scores)?,
        What::Ablation { files } => grounding::print_ablation(&files)?,
        What::All { folder } => {
            for kind in ["parser", "claims", "verify", "grounding"] {
                run(kind, &files_of(&folder.join(kind))?, &mut scores)?;
            }
        }
    }
    if let Some(out) = cli.out {
        let text = serde_json::to_string_pretty(&Value::Object(scores))?;
        std::fs::write(&out, text + "\n").with_context(|| format!("write {}", out.display()))?;
    }
    Ok(())
}

fn run(
    kind: &str,
    files: &[PathBuf],
    scores: &mut serde_json::Map<String, Value>,
) -> anyhow::Result<()> {
    let mut all = Vec::new();
    let model = ud::Parser::embedded()?;
    let mut show = |shown: String, value: Value| {
        println!("{shown}");
        all.push(value);
    };
    match kind {
        "parser" => {
            for file in files {
                let s = parser::score(file)?;
                show(s.to_string(), json!(s));
            }
        }
        "claims" => {
            for file in files {
                let s = claims::score(&model, file)?;
                show(s.to_string(), json!(s));
            }
        }
        "verify" => {
            let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
            for s in verify::score(&model, &files)? {
                show(s.to_string(), json!(s));
            }
        }
        _ => {
            for file in files {
                let s = grounding::score(file)?;
                show(s.to_string(), json!(s));
            }
        }
    }
    scores.insert(kind.to_owned(), Value::Array(all));
    Ok(())
}

fn files_of(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(vec![]);
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .with_context(|| format!("list {}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "conllu" || e == "jsonl"))
        .collect();
    files.sort();
    Ok(files)
}
