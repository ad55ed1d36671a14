//! Clauses: who does what to whom, with the clauses below it.

use ud::Upos;

use super::build::{Arg, Builder, Context, Np, Role};
use super::words::{self, embedding, weaker};
use crate::claim::{ClauseKind, Modality};

impl Builder<'_, '_> {
    /// The claims of the clause that `p` heads and of all clauses and phrases below it.
    pub(crate) fn clause(&mut self, p: usize, mut ctx: Context) {
        if self.full() || std::mem::replace(&mut self.seen_clause[p], true) {
            return;
        }
        let tree = self.tree;
        let own: Vec<usize> = tree
            .children(p)
            .iter()
            .copied()
            .filter(|&k| {
                matches!(tree.base(k), "nsubj" | "csubj") && tree.relation(k) != "nsubj:outer"
            })
            .collect();
        let expletive = tree.first(p, "expl");
        let there = expletive.is_some_and(|e| tree.lemma(e) == "there");
        let mut subjects: Vec<Np> = own.iter().flat_map(|&s| self.conjuncts(s)).collect();
        let inherited = subjects.is_empty();
        if inherited && expletive.is_none() {
            subjects = ctx.subjects.clone();
        }
        self.clause_polarity(p, &mut ctx);
        self.clause_modality(p, &mut ctx);

        let args = self.arguments(p);
        let verbal = tree.acts(p);
        let imperative = inherited && ctx.subjects.is_empty() && expletive.is_none();
        if !imperative {
            if there && verbal {
                self.existential(p, &subjects, &args, &ctx);
            } else if verbal {
                self.verbal(p, &subjects, &args, &ctx);
            } else {
                self.copular(p, &subjects, &args, &ctx);
            }
        }
        self.gap = None;
        for &s in &own {
            self.phrase(s, &ctx);
        }
        for arg in &args {
            self.phrase(arg.np.token, &ctx);
        }
        if !verbal {
            self.phrase(p, &ctx);
        }
        self.embedded(p, &subjects, &args, &ctx);
    }

    /// Complements and adjuncts of `p`, conjuncts apart.
    pub(crate) fn arguments(&self, p: usize) -> Vec<Arg> {
        let tree = self.tree;
        let mut args = Vec::new();
        let nominal = !matches!(tree.upos(p), Upos::Verb | Upos::Aux);
        for &k in tree.children(p) {
            if args.len() > 24 {
                break;
            }
            let (kind, role) = match tree.base(k) {
                "obj" => (Role::Object, "obj".to_string()),
                "iobj" => (Role::Recipient, "iobj".to_string()),
                "obl" => {
                    let role = self.role(k);
                    if role.starts_with("according") {
                        continue;
                    }
                    if tree.relation(k) == "obl:agent" {
                        (Role::Agent, role)
                    } else if role.is_empty() {
                        if self.relative[k].is_some() {
                            continue;
                        }
                        (Role::Bare, "tmod".to_string())
                    } else {
                        (Role::Oblique, role)
                    }
                }
                // Behind a predicate adjective or number the parser may hang a nominal modifier.
                "nmod"
                    if !nominal && !self.role(k).is_empty()
                        || matches!(tree.upos(p), Upos::Adj | Upos::Adv) =>
                {
                    (Role::Oblique, self.role(k))
                }
                "xcomp" if !tree.is_clause(k) && self.is_time(k) => {
                    (Role::Bare, "tmod".to_string())
                }
                "xcomp" if !tree.is_clause(k) => (Role::Predicative, "xcomp".to_string()),
                // "similar to measles", "to" taken for that of an infinitive
                "advcl"
                    if !tree.is_clause(k)
                        && tree.upos(k) != Upos::Adj
                        && tree.first(k, "mark").is_some() =>
                {
                    let mark = tree.first(k, "mark").unwrap_or(k);
                    (Role::Oblique, tree.form(mark).to_lowercase())
                }
                // "the city where he lives"
                "advmod" if self.relative[k].is_some() => (
                    Role::Oblique,
                    if tree.lemma(k) == "when" { "on" } else { "in" }.to_string(),
                ),
                _ => continue,
            };
            for (n, np) in self.conjuncts(k).into_iter().enumerate() {
                let role = match kind {
                    Role::Oblique | Role::Agent if n > 0 => {
                        let own = self.role(np.token);
                        if own.is_empty() { role.clone() } else { own }
                    }
                    _ => role.clone(),
                };
                args.push(Arg { kind, role, np });
            }
        }
        if let Some((v, noun)) = self.gap
            && v == p
        {
            let stranded = tree.children(p).iter().find(|&&k| {
                tree.upos(k) == Upos::Adp
                    && k > p
                    && tree.relation(k) != "compound:prt"
                    && tree.children(k).is_empty()
            });
            let np = Np {
                margin: tree.margin(p),
                ..Np::at(tree, noun)
            };
            match stranded {
                Some(&k) => args.push(Arg {
                    kind: Role::Oblique,
                    role: tree.form(k).to_lowercase(),
                    np,
                }),
                None if !args.iter().any(|a| a.kind == Role::Object) => {
                    args.push(Arg {
                        kind: Role::Object,
                        role: "obj".to_string(),
                        np,
                    });
                }
                None => {}
            }
        }
        args
    }

    /// The preposition of a phrase: "because of", "in".
    pub(crate) fn role(&self, k: usize) -> String {
        let tree = self.tree;
        let mut parts: Vec<usize> = Vec::new();
        for c in tree.having(k, "case") {
            if matches!(tree.upos(c), Upos::Part) && tree.form(c) != "to" {
                continue;
            }
            parts.push(c);
            parts.extend(tree.having(c, "fixed"));
        }
        parts.sort_unstable();
        parts
            .iter()
            .map(|&c| tree.form(c).to_lowercase())
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn existential(&mut self, p: usize, subjects: &[Np], args: &[Arg], ctx: &Context) {
        let ctx = Context {
            kind: Some(ClauseKind::Existential),
            ..ctx.clone()
        };
        let places: Vec<(String, Np)> = args
            .iter()
            .filter(|a| a.kind == Role::Oblique)
            .map(|a| (a.role.clone(), a.np))
            .chain(subjects.iter().flat_map(|s| {
                self.tree
                    .having(s.token, "nmod")
                    .map(|k| (self.role(k), Np::at(self.tree, k)))
                    .filter(|(r, _)| matches!(r.as_str(), "in" | "at" | "on" | "within" | "inside"))
                    .collect::<Vec<_>>()
            }))
            .collect();
        for &s in subjects {
            if places.is_empty() {
                self.emit(p, s, &["be"], "", None, args, &ctx);
            }
            for (role, place) in &places {
                self.emit(p, s, &["be"], role, Some(*place), args, &ctx);
                if matches!(role.as_str(), "in" | "at" | "on" | "within" | "inside") {
                    self.emit(p, *place, &["have"], "", Some(s), args, &ctx);
                }
            }
        }
    }

    fn verbal(&mut self, p: usize, subjects: &[Np], args: &[Arg], ctx: &Context) {
        let tree = self.tree;
        let passive = self.is_passive(p);
        let particle = tree
            .first(p, "compound:prt")
            .map(|k| tree.lemma(k).to_string());
        let verb = match tree.upos(p) {
            Upos::Noun => tree.lemma(p).trim_end_matches('s').to_string(),
            _ => tree.lemma(p).to_string(),
        };
        let mut lemmas: Vec<&str> = vec![&verb];
        lemmas.extend(particle.as_deref());
        let agents: Vec<&Arg> = args
            .iter()
            .filter(|a| {
                passive && a.kind == Role::Agent && !self.is_value(a.np.token)
                    || passive
                        && a.kind == Role::Oblique
                        && a.role == "by"
                        && !self.is_time(a.np.token)
            })
            .collect();
        let object = args.iter().any(|a| a.kind == Role::Object);
        let objects: Vec<&Arg> = args
            .iter()
            .filter(|a| {
                a.kind == Role::Object
                    || a.kind == Role::Predicative && !object
                    || a.kind == Role::Bare && !self.is_time(a.np.token)
            })
            .collect();
        let obliques: Vec<&Arg> = args
            .iter()
            .filter(|a| match a.kind {
                Role::Oblique | Role::Agent => !agents.iter().any(|g| std::ptr::eq(*g, *a)),
                Role::Bare => self.is_time(a.np.token),
                _ => false,
            })
            .collect();
        let clause = ["ccomp", "xcomp"]
            .iter()
            .flat_map(|r| tree.having(p, r))
            .find(|&k| tree.is_clause(k));
        let light = clause
            .is_some_and(|c| embedding(&verb).light || passive && tree.base(c) == "xcomp")
            && objects.is_empty();
        for &s in subjects {
            if self.full() {
                return;
            }
            let mut made = false;
            if passive
                && matches!(verb.as_str(), "call" | "name" | "dub" | "title" | "entitle")
                && let [o] = objects.as_slice()
                && s.token < tree.len()
                && tree.upos(s.token) == Upos::Noun
                && !ctx.negative
            {
                self.stands[s.token] = Some(o.np.token);
            }
            if passive {
                for agent in &agents {
                    if objects.is_empty() {
                        self.emit_inverted(p, agent.np, &lemmas, Some(s), args, ctx);
                    } else {
                        for o in &objects {
                            self.emit_inverted(p, agent.np, &lemmas, Some(o.np), args, ctx);
                        }
                    }
                    made = true;
                }
            }
            for o in &objects {
                made = true;
                if verb == "have" && !passive && self.has_amount(p, s, o.np, args, ctx) {
                    continue;
                }
                self.emit(p, s, &lemmas, "", Some(o.np), args, ctx);
                if verb == "lack" {
                    let ctx = Context {
                        negative: !ctx.negative,
                        ..ctx.clone()
                    };
                    self.emit(p, s, &["have"], "", Some(o.np), args, &ctx);
                }
                if verb == "have" {
                    self.has_as(p, s, o.np, args, ctx);
                }
            }
            for o in &obliques {
                made = true;
                let role = if o.kind == Role::Bare { "" } else { &o.role };
                self.emit(p, s, &lemmas, role, Some(o.np), args, ctx);
            }
            if let Some(c) = clause
                && !light
            {
                made = true;
                self.emit(p, s, &lemmas, "", Some(Np::at(tree, c)), args, ctx);
            }
            if !made && !light {
                self.emit(p, s, &lemmas, "", None, args, ctx);
            }
        }
    }

    /// "X has a population of 5 million" is (X; have population; 5 million).
    fn has_amount(&mut self, p: usize, s: Np, o: Np, args: &[Arg], ctx: &Context) -> bool {
        let tree = self.tree;
        let values: Vec<usize> = tree
            .having(o.token, "nmod")
            .filter(|&k| self.role(k) == "of" && self.is_value(k))
            .collect();
        let noun = self.role_noun(o.token);
        for &v in &values {
            let np = o.and(Np::at(tree, v));
            self.emit(p, s, &["have", &noun], "", Some(np), args, ctx);
        }
        !values.is_empty()
    }

    /// "X has Y as its capital" is (Y; be capital of; X).
    fn has_as(&mut self, p: usize, s: Np, o: Np, args: &[Arg], ctx: &Context) {
        for a in args
            .iter()
            .filter(|a| a.kind == Role::Oblique && a.role == "as")
        {
            let noun = self.role_noun(a.np.token);
            self.emit(p, a.np.and(o), &["be", &noun], "of", Some(s), &[], ctx);
        }
    }

    pub(crate) fn is_passive(&self, p: usize) -> bool {
        let tree = self.tree;
        let active = tree.feat(p, "VerbForm") == Some("Fin")
            && !tree
                .children(p)
                .iter()
                .any(|&k| matches!(tree.relation(k), "aux:pass" | "cop"));
        tree.upos(p) == Upos::Verb
            && !active
            && (tree.children(p).iter().any(|&k| {
                matches!(
                    tree.relation(k),
                    "aux:pass" | "nsubj:pass" | "csubj:pass" | "cop"
                )
            }) || tree.feat(p, "Voice") == Some("Pass")
                || tree.feat(p, "VerbForm") == Some("Part")
                    && tree.feat(p, "Tense") == Some("Past")
                    && matches!(tree.base(p), "acl" | "advcl" | "root" | "amod")
                    && tree.first(p, "nsubj").is_none()
                    && tree.first(p, "aux").is_none())
    }

    /// Clauses below `p`.
    fn embedded(&mut self, p: usize, subjects: &[Np], args: &[Arg], ctx: &Context) {
        let tree = self.tree;
        let verb = tree.lemma(p).to_string();
        let mut kids = tree.children(p).to_vec();
        kids.sort_unstable();
        for k in kids {
            if self.full() {
                return;
            }
            let margin = tree.margin(k);
            let below = Context {
                subjects: Vec::new(),
                negative: false,
                margin: ctx.margin.min(margin),
                kind: None,
                ..ctx.clone()
            };
            match tree.base(k) {
                "conj" if tree.is_clause(k) || matches!(tree.upos(p), Upos::Verb | Upos::Adj) => {
                    self.conjoined(p, k, subjects, ctx);
                }
                "ccomp" | "csubj" => {
                    let e = self.embedding_of(p, ctx);
                    let mut below = Context {
                        modality: weaker(ctx.modality, e.modality),
                        negative: e.negative,
                        ..below
                    };
                    if e.modality == Modality::Reported {
                        below.reporter = subjects
                            .first()
                            .map(|s| s.token)
                            .filter(|&s| s < tree.len());
                    }
                    self.clause(k, below);
                }
                "xcomp" if tree.is_clause(k) => {
                    let e = self.embedding_of(p, ctx);
                    let controller: Vec<Np> = args
                        .iter()
                        .filter(|a| matches!(a.kind, Role::Object | Role::Recipient))
                        .map(|a| a.np)
                        .collect();
                    let passive = self.is_passive(p);
                    let controller =
                        if controller.is_empty() || words::subject_control(&verb) || passive {
                            subjects.to_vec()
                        } else {
                            controller
                        };
                    self.clause(
                        k,
                        Context {
                            subjects: controller,
                            modality: weaker(ctx.modality, e.modality),
                            negative: e.negative,
                            kind: Some(ClauseKind::Controlled),
                            ..below
                        },
                    );
                }
                "advcl" => {
                    let purpose = tree.having(k, "mark").any(|m| tree.form(m) == "to")
                        && tree.feat(k, "VerbForm") == Some("Inf");
                    // A clause on its own ground: the matrix's doubt does not reach it unless it shares its subject.
                    let modality = if purpose {
                        weaker(ctx.modality, Modality::Hedged)
                    } else {
                        self.sentence_modality(ctx)
                    };
                    let participial = tree.first(k, "nsubj").is_none();
                    self.clause(
                        k,
                        Context {
                            subjects: if participial {
                                subjects.to_vec()
                            } else {
                                Vec::new()
                            },
                            modality,
                            kind: participial.then_some(ClauseKind::Participial),
                            fragile: ctx.fragile || participial,
                            ..below
                        },
                    );
                }
                "parataxis" | "discourse" | "list" | "dep" if tree.is_clause(k) => {
                    let modality = self.sentence_modality(ctx);
                    self.clause(
                        k,
                        Context {
                            modality,
                            reporter: None,
                            ..below
                        },
                    );
                }
                "parataxis" | "list" | "dep" | "vocative" | "dislocated" => self.phrase(
                    k,
                    &Context {
                        fragile: true,
                        ..below
                    },
                ),
                "advmod" => {
                    for g in tree.children(k).to_vec() {
                        if tree.is_clause(g) && tree.base(g) == "advcl" {
                            self.clause(g, below.clone());
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn conjoined(&mut self, p: usize, k: usize, subjects: &[Np], ctx: &Context) {
        let tree = self.tree;
        let cc = tree.first(k, "cc").map(|c| tree.lemma(c).to_string());
        let own_subject = tree
            .children(k)
            .iter()
            .any(|&g| matches!(tree.base(g), "nsubj" | "csubj" | "expl"));
        let shares = !own_subject
            && tree.first(k, "aux").is_none()
            && tree.first(k, "cop").is_none()
            && (tree.feat(k, "VerbForm") == tree.feat(p, "VerbForm")
                && tree.feat(k, "VerbForm") != Some("Fin")
                || tree.feat(k, "VerbForm").is_none());
        let but = matches!(cc.as_deref(), Some("but" | "rather" | "yet"));
        let mut modality = if shares {
            ctx.modality
        } else {
            self.sentence_modality(ctx)
        };
        if cc.as_deref() == Some("or") {
            modality = weaker(modality, Modality::Hedged);
        }
        self.clause(
            k,
            Context {
                subjects: if own_subject {
                    Vec::new()
                } else {
                    subjects.to_vec()
                },
                negative: ctx.negative && shares && !but,
                modality,
                fragile: true,
                margin: ctx.margin.min(tree.margin(k)),
                kind: ctx.kind.filter(|_| !own_subject),
                reporter: ctx.reporter,
            },
        );
    }
}
