//! `ud-eval [--model MODEL] TREEBANK…`: scores with gold words and on raw text, and speed on one core.
//! `ud-eval [--model MODEL] --parse FILE`: CoNLL-U of a text.

use std::fs::File;
use std::io::BufReader;
use std::time::Instant;

use ud::conllu::{self, Block};
use ud::{Parser, eval};

const BOUNDS: [f32; 8] = [f32::NEG_INFINITY, 0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut model, mut parse, mut files) = (None, None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        match name.as_str() {
            "--model" => model = arguments.next(),
            "--parse" => parse = arguments.next(),
            _ => files.push(name),
        }
    }
    let bytes = model.map(std::fs::read).transpose()?;
    let start = Instant::now();
    let parser = match &bytes {
        Some(bytes) => Parser::from_bytes(bytes)?,
        None => embedded()?,
    };
    let loaded = start.elapsed();
    if let Some(file) = parse {
        let text = std::fs::read_to_string(file)?;
        let blocks: Vec<Block> = parser
            .parse(&text)
            .iter()
            .map(|s| Block::from_sentence(s, &text))
            .collect();
        conllu::write(&mut std::io::stdout().lock(), &blocks)?;
        return Ok(());
    }
    println!("model loaded in {:.1} ms", loaded.as_secs_f64() * 1e3);
    for file in files {
        let open = File::open(&file).map_err(|e| format!("opening {file}: {e}"))?;
        let gold =
            conllu::read(BufReader::new(open)).map_err(|e| format!("reading {file}: {e}"))?;
        println!("{file}");
        println!("  gold words  {}", eval::with_gold_words(&parser, &gold));
        println!("  raw text    {}", eval::with_raw_text(&parser, &gold));
        for (bound, n, right) in eval::by_margin(&parser, &gold, &BOUNDS) {
            println!(
                "  margin from {bound:4}: {n:6} arcs, {:.1} % right",
                100.0 * right
            );
        }
        let text = eval::raw_text(&gold);
        let start = Instant::now();
        let sentences = parser.parse(&text);
        let seconds = start.elapsed().as_secs_f64();
        let words: usize = sentences.iter().map(|s| s.tokens.len()).sum();
        println!(
            "  speed       {:.0} sentences/s, {:.0} words/s",
            sentences.len() as f64 / seconds,
            words as f64 / seconds
        );
    }
    Ok(())
}

#[cfg(feature = "embedded")]
fn embedded() -> Result<Parser, ud::ModelError> {
    Parser::embedded()
}

#[cfg(not(feature = "embedded"))]
fn embedded() -> Result<Parser, Box<dyn std::error::Error>> {
    Err("built without a model; give one with --model".into())
}
