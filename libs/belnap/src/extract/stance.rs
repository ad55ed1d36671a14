//! How a clause stands to what it says: polarity, modality, and what it does to the clauses below it.

use ud::Upos;

use super::build::{Builder, Context};
use super::words::{self, embedding, weaker};
use crate::claim::Modality;

impl Builder<'_, '_> {
    pub(crate) fn clause_polarity(&self, p: usize, ctx: &mut Context) {
        let tree = self.tree;
        for &k in tree.children(p) {
            match tree.base(k) {
                "advmod" | "det" if words::negates(tree.lemma(k)) => {
                    let only = tree.tokens.get(k + 1).is_some_and(|_| {
                        matches!(
                            tree.lemma(k + 1),
                            "only" | "just" | "merely" | "necessarily"
                        )
                    });
                    if !only
                        && (tree.base(k) == "advmod"
                            || !tree.is_predicate(p)
                            || tree.lemma(k) == "no")
                    {
                        ctx.negative ^= true;
                    }
                }
                // "no longer", "not yet"
                "advmod" | "amod"
                    if k < p
                        && tree
                            .children(k)
                            .iter()
                            .any(|&g| words::negates(tree.lemma(g))) =>
                {
                    ctx.negative ^= true
                }
                "cc" if matches!(tree.lemma(k), "neither" | "nor") => ctx.negative = true,
                "mark" if tree.lemma(k) == "without" => ctx.negative ^= true,
                "nsubj" | "obj" if tree.relation(k) != "nsubj:outer" && self.negative_phrase(k) => {
                    ctx.negative ^= true
                }
                _ => {}
            }
        }
        if words::negates(tree.lemma(p)) && tree.upos(p) != Upos::Noun {
            ctx.negative ^= true;
        }
    }

    /// "no X", "none", "nobody", "few X" (but not "a few X").
    pub(crate) fn negative_phrase(&self, i: usize) -> bool {
        let tree = self.tree;
        let a_few = |w: usize| {
            w > 0
                && matches!(
                    tree.lemma(w - 1),
                    "a" | "the" | "these" | "last" | "first" | "past"
                )
        };
        if words::negative_phrase(tree.lemma(i)) && tree.base(i) != "det" {
            return !a_few(i) && tree.upos(i) != Upos::Adj;
        }
        tree.children(i).iter().any(|&k| {
            k < i
                && match tree.base(k) {
                    "det" | "amod" => {
                        words::negative_phrase(tree.lemma(k))
                            && !a_few(k)
                            && tree.lemma(k) != "little"
                    }
                    "advmod" => {
                        !tree.is_predicate(i)
                            && words::negates(tree.lemma(k))
                            && !matches!(tree.lemma(k + 1), "only" | "just")
                    }
                    "cc" => tree.lemma(k) == "neither",
                    _ => false,
                }
        })
    }

    pub(crate) fn clause_modality(&self, p: usize, ctx: &mut Context) {
        let tree = self.tree;
        for &k in tree.children(p) {
            let found = match tree.base(k) {
                "aux" => words::auxiliary_modality(tree.lemma(k)),
                "advmod" => words::adverb_modality(tree.lemma(k)),
                "mark" => words::marker_modality(tree.lemma(k)),
                "obl" if self.role(k).starts_with("according") => {
                    ctx.reporter = Some(k);
                    Some(Modality::Reported)
                }
                "parataxis"
                    if embedding(tree.lemma(k)).modality == Modality::Reported
                        && tree.first(k, "ccomp").is_none()
                        && tree.first(k, "obj").is_none() =>
                {
                    ctx.reporter = tree.first(k, "nsubj");
                    Some(Modality::Reported)
                }
                _ => None,
            };
            if let Some(m) = found {
                ctx.modality = weaker(ctx.modality, m);
            }
            // "if X happens, Y follows"
            if tree.base(k) == "advcl"
                && tree
                    .having(k, "mark")
                    .any(|m| matches!(tree.lemma(m), "if" | "unless"))
            {
                ctx.modality = weaker(ctx.modality, Modality::Conditional);
            }
        }
    }

    /// What `p` does to its complement, its own negation taken in: "did not fail to" is positive.
    pub(crate) fn embedding_of(&self, p: usize, ctx: &Context) -> words::Embedding {
        let tree = self.tree;
        let mut e = embedding(tree.lemma(p));
        let passive_belief = self.is_passive(p) && !e.light && e.modality != Modality::Reported;
        if passive_belief
            && matches!(
                tree.lemma(p),
                "believe" | "think" | "expect" | "rumor" | "consider"
            )
        {
            e.modality = Modality::Hedged;
        }
        if e.light || e.modality == Modality::Asserted {
            // "did not manage to" denies; "did not know that" does not.
            if e.light {
                e.negative ^= ctx.negative;
            }
        } else {
            e.negative ^= ctx.negative
                && matches!(
                    tree.lemma(p),
                    "believe" | "think" | "expect" | "deny" | "doubt" | "plan" | "intend" | "want"
                );
        }
        e
    }

    pub(crate) fn sentence_modality(&self, ctx: &Context) -> Modality {
        if self.question {
            Modality::Question
        } else if ctx.modality == Modality::Reported {
            Modality::Reported
        } else {
            Modality::Asserted
        }
    }
}
