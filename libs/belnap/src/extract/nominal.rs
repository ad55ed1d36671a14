//! Noun phrases that make claims: appositions, titles, possessives, places, relative clauses, participles.

use ud::Upos;

use super::build::{Builder, Context, Np};
use super::phrase;
use super::words::weaker;
use crate::claim::{ClauseKind, Modality, TermKind};
use crate::lexicon::{self, Kinds};

impl Builder<'_, '_> {
    /// Claims inside the phrase headed by `h`, and in all phrases below.
    pub(crate) fn phrase(&mut self, h: usize, ctx: &Context) {
        if h >= self.tree.len() || self.full() || std::mem::replace(&mut self.seen_phrase[h], true)
        {
            return;
        }
        let tree = self.tree;
        let ctx = &Context {
            subjects: Vec::new(),
            negative: false,
            // What a phrase says in passing is said even where its clause is in doubt.
            modality: self.sentence_modality(ctx),
            reporter: ctx.reporter,
            fragile: ctx.fragile,
            margin: f32::INFINITY,
            kind: None,
        };
        let me = self.me(h);
        for k in tree.children(h).to_vec() {
            if self.full() {
                return;
            }
            match tree.relation(k) {
                "appos" => {
                    self.apposition(h, k, me, ctx);
                    self.phrase(k, ctx);
                }
                "acl:relcl" | "advcl:relcl" => self.relative_clause(h, k, me, ctx),
                "acl" => self.participle(k, me, ctx),
                "nmod:desc" => self.title(h, k, me, ctx),
                "nmod:poss" => {
                    self.possessive(h, k, ctx);
                    self.phrase(k, ctx);
                }
                "compound" if phrase::described(tree, h, k) => self.title(h, k, me, ctx),
                "conj" if !tree.is_clause(k) => self.phrase(k, ctx),
                "nmod" | "obl" | "compound" | "nmod:unmarked" | "obl:unmarked" | "flat"
                | "list" | "parataxis" | "obj" => {
                    self.located(h, k, me, ctx);
                    if tree.is_clause(k) {
                        self.clause(k, ctx.clone());
                    } else {
                        self.phrase(k, ctx);
                    }
                }
                _ => {}
            }
        }
        if tree.upos(h) == Upos::Propn && !tree.is_predicate(h) {
            self.modifiers(h, me, h, ctx);
        }
    }

    /// The phrase as a subject.
    fn me(&self, h: usize) -> Np {
        Np {
            margin: f32::INFINITY,
            ..Np::at(self.tree, h)
        }
    }

    fn apposition(&mut self, h: usize, a: usize, me: Np, ctx: &Context) {
        let tree = self.tree;
        let kind = Some(ClauseKind::Apposition);
        let ctx = &Context {
            kind,
            fragile: true,
            ..ctx.clone()
        };
        let np = Np::at(tree, a);
        if phrase::distinguishing(tree, h, a) {
            return;
        }
        if phrase::place(tree, h, a) {
            let before = self.claims.len();
            self.emit(h, me, &["be"], "in", Some(np), &[], ctx);
            // The subject without the place that the claim is about.
            if let Some(claim) = self.claims.get_mut(before)
                && let Some(comma) = claim.subject.text.find(',')
            {
                claim.subject.text.truncate(comma);
                claim.subject.span.end = claim.subject.span.start + comma;
                let words = claim.subject.text.split_whitespace().count();
                claim.subject.words.truncate(words);
            }
            return;
        }
        let (first, second) = (phrase::term(tree, h).kind, phrase::term(tree, a).kind);
        if first == TermKind::Common && second == TermKind::Name {
            self.identity(a, h, Np { ..np }, &[], ctx);
            self.modifiers(a, np, h, ctx);
        } else {
            self.identity(h, a, me, &[], ctx);
        }
    }

    fn title(&mut self, h: usize, d: usize, me: Np, ctx: &Context) {
        let tree = self.tree;
        let ctx = &Context {
            kind: Some(ClauseKind::Apposition),
            fragile: true,
            ..ctx.clone()
        };
        let np = Np::at(tree, d);
        // A first name may be taken for a title.
        if tree.upos(d) == Upos::Propn
            && !lexicon::kind_of_noun(tree.lemma(d)).meets(Kinds::PERSON)
            && tree.margin(d) < 6.0
        {
            return;
        }
        self.emit(d, me, &["be"], "", Some(np), &[], ctx);
        self.relations(d, me, np, ctx);
        self.modifiers(d, me, d, ctx);
        let head = self.role_noun(d);
        for k in tree.children(d).to_vec() {
            if tree.base(k) == "compound" && tree.upos(k) == Upos::Propn {
                self.emit(
                    d,
                    me,
                    &["be", &head],
                    "of",
                    Some(np.and(Np::at(tree, k))),
                    &[],
                    ctx,
                );
            }
        }
        if let Some(owner) = tree.first(h, "nmod:poss") {
            self.emit(
                d,
                me,
                &["be", &head],
                "of",
                Some(np.and(Np::at(tree, owner))),
                &[],
                ctx,
            );
        }
    }

    /// "Apple's headquarters": Apple has headquarters.
    fn possessive(&mut self, h: usize, k: usize, ctx: &Context) {
        let tree = self.tree;
        let ctx = &Context {
            kind: Some(ClauseKind::Possessive),
            ..ctx.clone()
        };
        let told = tree.base(h) == "nsubj"
            && tree.head(h).is_some_and(|p| {
                tree.first(p, "cop").is_some()
                    && !matches!(tree.upos(p), Upos::Adj | Upos::Adv)
                    && self.role(p).is_empty()
            });
        if tree.upos(h) == Upos::Noun && !told {
            self.emit(
                h,
                Np::at(tree, k),
                &["have"],
                "",
                Some(self.me(h)),
                &[],
                ctx,
            );
        }
    }

    /// "the airport in Aarhus": a named or definite thing and its place.
    fn located(&mut self, h: usize, k: usize, me: Np, ctx: &Context) {
        let tree = self.tree;
        let role = self.role(k);
        if tree.base(k) == "nmod"
            && matches!(role.as_str(), "in" | "near" | "at")
            && phrase::term(tree, k).kind == TermKind::Name
            && !tree.is_predicate(h)
            && tree.upos(h) == Upos::Propn
        {
            let ctx = &Context {
                kind: Some(ClauseKind::Adjectival),
                fragile: true,
                ..ctx.clone()
            };
            self.emit(h, me, &["be"], &role, Some(Np::at(tree, k)), &[], ctx);
        }
    }

    fn relative_clause(&mut self, h: usize, v: usize, me: Np, ctx: &Context) {
        let tree = self.tree;
        let inside = tree.subtree(v, |_, k| tree.relation(k) != "acl:relcl");
        let mut found = false;
        for w in inside {
            let pronoun = match tree.feat(w, "PronType") {
                Some("Rel") => true,
                Some("Int") => {
                    w < v
                        && matches!(
                            tree.lemma(w),
                            "who" | "whom" | "whose" | "which" | "where" | "when"
                        )
                }
                _ => false,
            };
            if pronoun && tree.base(w) != "mark" {
                self.relative[w] = Some(h);
                found = true;
            }
        }
        // What a predicate noun is said to do, its subject does.
        let margin = tree.margin(v);
        let has_subject = tree
            .children(v)
            .iter()
            .any(|&k| matches!(tree.base(k), "nsubj" | "csubj" | "expl"));
        let below = Context {
            subjects: if has_subject {
                Vec::new()
            } else {
                vec![Np { margin, ..me }]
            },
            margin,
            kind: Some(ClauseKind::Relative),
            ..ctx.clone()
        };
        self.gap = (!found && has_subject).then_some((v, h));
        self.clause(v, below);
        self.gap = None;
    }

    fn participle(&mut self, v: usize, me: Np, ctx: &Context) {
        let tree = self.tree;
        // "an increase compared to last year" says nothing of the increase.
        if matches!(tree.lemma(v), "compare" | "include" | "regard" | "concern")
            && tree.first(v, "nsubj").is_none()
        {
            return;
        }
        let infinitive = tree.feat(v, "VerbForm") == Some("Inf");
        let ordinal = tree.children(me.token).iter().any(|&k| {
            tree.base(k) == "amod"
                && matches!(
                    tree.lemma(k),
                    "first" | "last" | "only" | "second" | "third"
                )
        });
        let modality = match infinitive && !ordinal {
            true => weaker(ctx.modality, Modality::Hedged),
            false => ctx.modality,
        };
        let has_subject = tree
            .children(v)
            .iter()
            .any(|&k| matches!(tree.base(k), "nsubj" | "csubj" | "expl"));
        let margin = tree.margin(v);
        // "the decision to buy": whose it is, the phrase does not say.
        let subjects = if has_subject || infinitive && !ordinal {
            Vec::new()
        } else {
            vec![Np { margin, ..me }]
        };
        let below = Context {
            subjects,
            modality,
            margin,
            kind: Some(ClauseKind::Participial),
            ..ctx.clone()
        };
        self.clause(v, below);
    }

    /// A fragment without a verb: phrases and clauses wherever they hang.
    pub(crate) fn loose(&mut self, root: usize, ctx: &Context) {
        let tree = self.tree;
        for k in tree.children(root).to_vec() {
            if tree.is_clause(k) {
                self.clause(
                    k,
                    Context {
                        margin: tree.margin(k),
                        ..ctx.clone()
                    },
                );
            } else if !matches!(tree.base(k), "punct" | "cc" | "case" | "det") {
                self.phrase(k, ctx);
            }
        }
    }
}
