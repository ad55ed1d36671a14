//! `ud-train [options] --out MODEL [--dev FILE] TRAIN…`: CoNLL-U in, a model out, a log on standard output.
//! With `--network OLD`, the network of an older model is kept and only what is counted is learned anew.

use std::fs::File;
use std::io::{BufReader, Write};
use std::time::Instant;

use ud::conllu::{self, Block};
use ud::train::{self, Options};
use ud::{Parser, eval};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = Options::default();
    let (mut out, mut dev, mut network, mut files) = (None, None, None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let Some(option) = name.strip_prefix("--") else {
            files.push(name);
            continue;
        };
        let value = arguments
            .next()
            .ok_or(format!("--{option} needs a value"))?;
        match option {
            "out" => out = Some(value),
            "dev" => dev = Some(value),
            "network" => network = Some(value),
            "seed" => options.seed = value.parse()?,
            "epochs" => options.epochs = value.parse()?,
            "batch" => options.batch = value.parse()?,
            "rate" => options.rate = value.parse()?,
            "hidden" => options.hidden = value.parse()?,
            "layers" => options.layers = value.parse()?,
            "dropout" => options.dropout = value.parse()?,
            _ => return Err(format!("unknown option --{option}").into()),
        }
    }
    let out =
        out.ok_or("usage: ud-train --out MODEL [--dev FILE] [--seed N] [--epochs N] TRAIN…")?;
    let mut blocks = Vec::new();
    for file in &files {
        blocks.extend(read(file)?);
    }
    let dev = dev.map(|file| read(&file)).transpose()?.unwrap_or_default();
    if let Some(from) = network {
        let model = std::fs::read(&from).map_err(|e| format!("reading {from}: {e}"))?;
        std::fs::write(out, train::retrain_rules(&blocks, &model, options.seed)?)?;
        return Ok(());
    }
    println!("{options:?}, {} sentences", blocks.len());
    let start = Instant::now();
    let model = train::train(&blocks, &options, |p, model| {
        println!(
            "epoch {:2}  loss per word: tag {:.4} arc {:.4} relation {:.4}",
            p.epoch, p.tag_loss, p.arc_loss, p.relation_loss
        );
        eprintln!("{:.0} s", start.elapsed().as_secs_f64());
        // What is there can be used if the run is ended early.
        let model = model();
        if let Err(e) = std::fs::write(&out, &model) {
            eprintln!("writing {out}: {e}");
        }
        if !dev.is_empty()
            && let Ok(parser) = Parser::from_bytes(&model)
        {
            println!("          dev: {}", eval::with_gold_words(&parser, &dev));
        }
        let _ = std::io::stdout().flush();
    });
    println!("{} bytes", model.len());
    std::fs::write(&out, model)?;
    Ok(())
}

fn read(file: &str) -> Result<Vec<Block>, Box<dyn std::error::Error>> {
    let open = File::open(file).map_err(|e| format!("opening {file}: {e}"))?;
    Ok(conllu::read(BufReader::new(open)).map_err(|e| format!("reading {file}: {e}"))?)
}
