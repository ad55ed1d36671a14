//! What a copula, an apposition or a title says of its subject.

use ud::Upos;

use super::build::{Arg, Builder, Context, IMPLICIT, Np, Role};
use super::phrase;
use super::words;
use crate::claim::{ClauseKind, Modality, TermKind};

impl Builder<'_, '_> {
    /// "X is Y", with Y a noun, an adjective or a prepositional phrase.
    pub(crate) fn copular(&mut self, p: usize, subjects: &[Np], args: &[Arg], ctx: &Context) {
        let tree = self.tree;
        let case = self.role(p);
        for &s in subjects {
            if self.full() {
                return;
            }
            if !case.is_empty() && tree.upos(p) != Upos::Adj {
                // "507 metres above sea level"
                let measure = tree.children(p).iter().copied().find(|&k| {
                    matches!(
                        tree.base(k),
                        "obl" | "nmod" | "nummod" | "compound" | "advmod"
                    ) && tree.first(k, "case").is_none()
                        && k < p
                        && self.is_value(k)
                });
                if let Some(m) = measure {
                    let mut nouns: Vec<usize> =
                        tree.having(p, "compound").filter(|&k| k > m).collect();
                    nouns.push(p);
                    let nouns: Vec<&str> = nouns.iter().map(|&k| tree.lemma(k)).collect();
                    let phrase = format!("{case} {}", nouns.join(" "));
                    self.emit(p, s, &["be", &phrase], "", Some(Np::at(tree, m)), args, ctx);
                    continue;
                }
                self.emit(
                    p,
                    s,
                    &["be"],
                    &case,
                    Some(Np {
                        margin: f32::INFINITY,
                        ..Np::at(tree, p)
                    }),
                    args,
                    ctx,
                );
                for k in tree
                    .having(p, "conj")
                    .filter(|&k| !tree.is_clause(k))
                    .collect::<Vec<_>>()
                {
                    let own = self.role(k);
                    let np = Np {
                        fragile: true,
                        ..Np::at(tree, k)
                    };
                    self.emit(
                        p,
                        s,
                        &["be"],
                        if own.is_empty() { &case } else { &own },
                        Some(np),
                        args,
                        ctx,
                    );
                }
                continue;
            }
            match tree.upos(p) {
                Upos::Adj | Upos::Adv | Upos::Verb => self.adjectival(p, s, args, ctx),
                _ => self.identity(p, p, s, args, ctx),
            }
        }
    }

    pub(crate) fn adjectival(&mut self, p: usize, s: Np, args: &[Arg], ctx: &Context) {
        let tree = self.tree;
        let adjective = tree.lemma(p).to_string();
        let measures: Vec<Np> = args
            .iter()
            .filter(|a| a.kind == Role::Bare || a.kind == Role::Object)
            .map(|a| a.np)
            .chain(
                tree.children(p)
                    .iter()
                    .copied()
                    .filter(|&k| {
                        matches!(tree.base(k), "advmod" | "nummod" | "compound" | "nmod")
                            && k < p
                            && self.is_value(k)
                    })
                    .map(|k| Np::at(tree, k)),
            )
            .filter(|np| self.is_value(np.token))
            .collect();
        for &m in &measures {
            self.emit(p, s, &["be", &adjective], "", Some(m), args, ctx);
        }
        if measures.is_empty() {
            self.emit(
                p,
                s,
                &["be"],
                "",
                Some(Np {
                    margin: f32::INFINITY,
                    ..Np::at(tree, p)
                }),
                args,
                ctx,
            );
        }
        for a in args.iter().filter(|a| a.kind == Role::Oblique) {
            self.emit(p, s, &["be", &adjective], &a.role, Some(a.np), args, ctx);
        }
    }

    /// Subject `s` is what the noun `n` says; the clause is headed by `p`.
    pub(crate) fn identity(&mut self, p: usize, n: usize, s: Np, args: &[Arg], ctx: &Context) {
        let tree = self.tree;
        // Of several subjects none is the one that the noun stands for.
        let alone = !s.fragile && (s.token >= tree.len() || tree.first(s.token, "conj").is_none());
        let mut nouns = vec![Np {
            margin: if n == p {
                f32::INFINITY
            } else {
                tree.margin(n)
            },
            ..Np::at(tree, n)
        }];
        for k in tree
            .having(n, "conj")
            .filter(|&k| !tree.is_clause(k))
            .take(16)
        {
            let or = tree.having(k, "cc").any(|c| tree.lemma(c) == "or");
            nouns.push(Np {
                fragile: true,
                alternative: or,
                ..Np::at(tree, k)
            });
        }
        for noun in nouns {
            let n = noun.token;
            if words::transparent(tree.lemma(n)) {
                let behind: Vec<usize> = tree
                    .having(n, "nmod")
                    .filter(|&k| self.role(k) == "of")
                    .collect();
                if let Some(&k) = behind.first() {
                    let np = noun.and(Np::at(tree, k));
                    self.emit(p, s, &["be"], "", Some(np), args, ctx);
                    self.relations(p, s, np, ctx);
                    continue;
                }
            }
            // "57 km long" with the measure as the head
            if let Some(w) = tree
                .having(n, "amod")
                .find(|&k| k > n && tree.upos(k) == Upos::Adj)
                && self.is_value(n)
            {
                let adjective = tree.lemma(w).to_string();
                self.emit(p, s, &["be", &adjective], "", Some(noun), args, ctx);
                continue;
            }
            if let Some(w) = tree.having(n, "amod").find(|&k| tree.lemma(k) == "worth") {
                let np = noun.and(Np::at(tree, w));
                self.emit(
                    p,
                    s,
                    &["be", "worth"],
                    "",
                    Some(Np { token: n, ..np }),
                    args,
                    ctx,
                );
                continue;
            }
            if self.inverse_identity(p, s, noun, args, ctx) {
                continue;
            }
            self.emit(p, s, &["be"], "", Some(noun), args, ctx);
            if alone
                && !ctx.negative
                && ctx.modality == Modality::Asserted
                && s.token != n
                && !self.is_value(n)
            {
                self.stands[n] = Some(if s.token == IMPLICIT {
                    IMPLICIT
                } else {
                    self.relative[s.token].unwrap_or(s.token)
                });
            }
            if self.is_value(n) {
                continue;
            }
            self.relations(p, s, noun, ctx);
            self.modifiers(p, s, n, ctx);
            for a in args.iter().filter(|a| a.kind == Role::Oblique) {
                let head = self.role_noun(n);
                self.emit(p, s, &["be", &head], &a.role, Some(a.np), args, ctx);
            }
        }
    }

    /// "The leader of Aarhus is Jacob", "Apple's CEO is Tim Cook", "the population of X is 5 million".
    pub(crate) fn inverse_identity(
        &mut self,
        p: usize,
        s: Np,
        noun: Np,
        args: &[Arg],
        ctx: &Context,
    ) -> bool {
        let tree = self.tree;
        if s.token >= tree.len() || self.relative[s.token].is_some() {
            return false;
        }
        let kind = phrase::term(tree, noun.token).kind;
        let role_noun = matches!(
            tree.upos(s.token),
            Upos::Noun | Upos::Adj | Upos::Num | Upos::Pron
        ) || tree
            .children(s.token)
            .iter()
            .any(|&k| tree.relation(k) == "nmod:poss");
        // "is bronze" names what fills the role, "is part of Y" and "is a man" describe it.
        let described = kind == TermKind::Common
            && (tree
                .having(noun.token, "det")
                .any(|d| matches!(tree.lemma(d), "a" | "an"))
                || matches!(tree.lemma(noun.token), "part" | "member" | "one")
                || tree.upos(noun.token) != Upos::Noun);
        if !role_noun
            || described
            || !matches!(kind, TermKind::Name | TermKind::Value | TermKind::Common)
        {
            return false;
        }
        let mut n = s;
        if words::transparent(tree.lemma(n.token)) {
            let behind = tree.having(n.token, "nmod").find(|&k| self.role(k) == "of");
            if let Some(k) = behind {
                n = n.and(Np::at(tree, k));
                // "One of the languages is Arabic"
                if kind == TermKind::Name && !ctx.negative {
                    self.emit(p, noun, &["be"], "", Some(n), args, ctx);
                    self.stands[k] = Some(noun.token);
                }
            }
        }
        let mut owners: Vec<(String, Np, bool)> = Vec::new();
        for &k in tree.children(n.token) {
            match tree.relation(k) {
                "nmod:poss" => owners.extend(
                    self.conjuncts(k)
                        .into_iter()
                        .map(|np| ("of".to_string(), np, true)),
                ),
                "nmod" => {
                    let role = self.role(k);
                    if matches!(role.as_str(), "of" | "for" | "in" | "at" | "to") {
                        owners.extend(
                            self.conjuncts(k)
                                .into_iter()
                                .map(|np| (role.clone(), np, false)),
                        );
                    }
                }
                // "The Port Authority headquarter is X"
                "compound" if tree.upos(k) == Upos::Propn && tree.upos(n.token) == Upos::Noun => {
                    owners.push(("of".to_string(), Np::at(tree, k), true));
                }
                _ => {}
            }
        }
        if owners.is_empty() {
            if kind == TermKind::Name
                && tree.upos(s.token) == Upos::Noun
                && !ctx.negative
                && ctx.modality == Modality::Asserted
            {
                self.stands[s.token] = Some(noun.token);
            }
            return n.token != s.token && kind == TermKind::Name;
        }
        let head = self.role_noun(n.token);
        let value = kind == TermKind::Value;
        for (role, owner, possessive) in &owners {
            let owner = n.and(*owner);
            let kind = if *possessive {
                ClauseKind::Possessive
            } else {
                ClauseKind::Copular
            };
            let ctx = Context {
                kind: ctx.kind.or(Some(kind)),
                ..ctx.clone()
            };
            if value {
                self.emit(p, owner, &["have", &head], "", Some(noun), args, &ctx);
            } else {
                self.emit(p, noun, &["be", &head], role, Some(owner), args, &ctx);
            }
        }
        if !value {
            self.emit(p, s, &["be"], "", Some(noun), args, ctx);
            if !ctx.negative && ctx.modality == Modality::Asserted {
                self.stands[s.token] = Some(noun.token);
            }
        }
        true
    }

    /// What the noun's complements make of it: "capital of France", "Apple's CEO".
    pub(crate) fn relations(&mut self, p: usize, s: Np, noun: Np, ctx: &Context) {
        let tree = self.tree;
        let n = noun.token;
        let head = self.role_noun(n);
        for k in tree.children(n).to_vec() {
            let (role, kind) = match tree.relation(k) {
                "nmod:poss" => ("of".to_string(), Some(ClauseKind::Possessive)),
                "nmod" => (self.role(k), None),
                "compound"
                    if tree.upos(k) == Upos::Propn
                        && tree.upos(n) == Upos::Noun
                        && tree.base(n) == "nmod" =>
                {
                    ("of".to_string(), Some(ClauseKind::Possessive))
                }
                _ => continue,
            };
            if role.is_empty() {
                continue;
            }
            for owner in self.conjuncts(k) {
                let ctx = Context {
                    kind: ctx.kind.or(kind),
                    ..ctx.clone()
                };
                self.emit(
                    p,
                    s,
                    &["be", &head],
                    &role,
                    Some(noun.and(owner)),
                    &[],
                    &ctx,
                );
            }
        }
    }

    /// "an Italian dish", "a Houston-based company", of subject `s`.
    pub(crate) fn modifiers(&mut self, p: usize, s: Np, n: usize, ctx: &Context) {
        let tree = self.tree;
        for k in tree.children(n).to_vec() {
            if tree.base(k) != "amod" {
                continue;
            }
            let ctx = Context {
                kind: Some(ClauseKind::Adjectival),
                ..ctx.clone()
            };
            if tree.upos(k) == Upos::Verb || matches!(tree.lemma(k), "base" | "bear" | "own") {
                let verb = tree.lemma(k).to_string();
                for m in tree.children(k).to_vec() {
                    if matches!(tree.base(m), "obl" | "compound" | "nmod" | "advmod")
                        && (tree.capitalised(m) || self.is_value(m))
                    {
                        let role = if self.is_value(m) || verb != "own" {
                            "in"
                        } else {
                            "by"
                        };
                        self.emit(k, s, &[&verb], role, Some(Np::at(tree, m)), &[], &ctx);
                    }
                }
            } else if tree.capitalised(k)
                && k > 0
                && matches!(tree.upos(k), Upos::Adj | Upos::Propn)
                && !tree.form(n).starts_with(char::is_uppercase)
            {
                self.emit(p, s, &["be"], "", Some(Np::at(tree, k)), &[], &ctx);
                for c in tree.having(k, "conj").collect::<Vec<_>>() {
                    if tree.capitalised(c) {
                        let np = Np {
                            fragile: true,
                            ..Np::at(tree, c)
                        };
                        self.emit(p, s, &["be"], "", Some(np), &[], &ctx);
                    }
                }
            }
        }
    }
}
