//! Claims from trees.

mod build;
mod clause;
mod copula;
mod layout;
mod lemma;
mod nominal;
mod phrase;
mod resolve;
mod stance;
mod tree;
mod words;

use ud::{Parser, Sentence, Upos};

use crate::claim::{Claim, Modality, Term, TermKind};
use build::{Builder, Context, IMPLICIT, Np};
use layout::{Line, Page};
use tree::Tree;

/// The claims of a text, in its order.
pub fn extract(parser: &Parser, text: &str) -> Vec<Claim> {
    extract_from(text, &parser.parse(text))
}

/// The same from sentences that are parsed already; their spans are bytes of `text`.
pub fn extract_from(text: &str, sentences: &[Sentence]) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    let mut page = Page::default();
    let mut last: Option<Term> = None;
    for (number, sentence) in sentences.iter().enumerate() {
        let tree = Tree::new(text, number, sentence);
        if let Line::Claims(mut found) = page.read(&tree, last.as_ref()) {
            claims.append(&mut found);
            continue;
        }
        let mut builder = Builder::new(&tree, page.topic.clone().or_else(|| last.clone()));
        let roots: Vec<usize> = (0..tree.len())
            .filter(|&i| tree.head(i).is_none())
            .collect();
        for root in roots {
            let ctx = Context {
                subjects: fragment_subject(&builder, root),
                negative: false,
                modality: if builder.question {
                    Modality::Question
                } else {
                    Modality::Asserted
                },
                reporter: None,
                fragile: false,
                margin: f32::INFINITY,
                kind: None,
            };
            if tree.is_clause(root) || !ctx.subjects.is_empty() {
                builder.clause(root, ctx);
            } else {
                builder.phrase(root, &ctx);
                builder.loose(root, &ctx);
            }
        }
        let mut found = builder.finish();
        found.sort_by_key(|c| (c.span.start, c.clause));
        if let Some(first) = found
            .iter()
            .find(|c| c.subject.referent().kind == TermKind::Name)
        {
            last = Some(first.subject.referent().clone());
        }
        claims.append(&mut found);
    }
    resolve::resolve(text, &mut claims);
    claims
}

/// "Founded in 1976.": a participle without subject speaks of what the text speaks of.
fn fragment_subject(builder: &Builder<'_, '_>, root: usize) -> Vec<Np> {
    let tree = builder.tree;
    // Behind other words a missing subject is more likely the parser's doing.
    let first =
        (0..tree.len()).find(|&i| !matches!(tree.upos(i), Upos::Punct | Upos::Adv | Upos::Aux));
    let headless = builder.implicit.is_some()
        && first == Some(root)
        && tree.upos(root) == Upos::Verb
        && !tree.is_predicate(root)
        && (tree.feat(root, "VerbForm") == Some("Part")
            || tree.feat(root, "VerbForm") == Some("Fin")
                && tree.feat(root, "Mood") != Some("Imp"));
    if headless {
        vec![Np::at(tree, IMPLICIT)]
    } else {
        Vec::new()
    }
}
