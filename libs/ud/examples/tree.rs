//! Prints the trees of standard input, for a look.
use std::io::Read;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    for s in ud::Parser::embedded()?.parse(&text) {
        for (i, t) in s.tokens.iter().enumerate() {
            println!(
                "{:2} {:14} {:12} {:6} {:2} {:12} {:.1}",
                i + 1,
                t.form,
                t.lemma,
                t.upos.as_str(),
                t.head,
                t.deprel,
                t.margin
            );
        }
        println!();
    }
    Ok(())
}
