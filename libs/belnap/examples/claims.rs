//! `claims [--tree] [TEXT]`: the claims of a text given as an argument or on standard input, a line each.

use std::io::Read;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let parser = ud::Parser::embedded()?;
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let tree = arguments.first().is_some_and(|a| a == "--tree");
    if tree {
        arguments.remove(0);
    }
    let mut text = arguments.join(" ");
    if text.is_empty() {
        std::io::stdin().read_to_string(&mut text)?;
    }
    let sentences = parser.parse(&text);
    if tree {
        for sentence in &sentences {
            for (i, t) in sentence.tokens.iter().enumerate() {
                println!(
                    "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.1}",
                    i + 1,
                    t.form,
                    t.lemma,
                    t.upos.as_str(),
                    t.feats,
                    t.head,
                    t.deprel,
                    t.margin
                );
            }
            println!();
        }
    }
    for claim in belnap::extract_from(&text, &sentences) {
        println!("{claim}");
    }
    Ok(())
}
