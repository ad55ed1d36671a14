//! What the clause rules share: phrases as arguments, and how a claim is put together from them.

use ud::Upos;

use super::phrase;
use super::tree::Tree;
use crate::claim::{Argument, Claim, ClauseKind, Modality, Polarity, Predicate, Term, TermKind};
use crate::value::Value;

/// No sentence makes more claims than this, so that time stays linear in the text.
const MOST: usize = 64;

/// Stands for a subject that the sentence does not name: that of a heading, or of the sentence before.
pub(crate) const IMPLICIT: usize = usize::MAX;

/// A noun phrase in its place, with what its attachment rests on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Np {
    pub token: usize,
    pub margin: f32,
    pub fragile: bool,
    /// One of several that are joined by "or".
    pub alternative: bool,
    pub negative: bool,
}

impl Np {
    pub(crate) fn at(tree: &Tree<'_>, token: usize) -> Np {
        Np {
            token,
            margin: if token < tree.len() {
                tree.margin(token)
            } else {
                f32::INFINITY
            },
            fragile: false,
            alternative: false,
            negative: false,
        }
    }

    /// The second phrase, which was reached through the first.
    pub(crate) fn and(self, other: Np) -> Np {
        Np {
            token: other.token,
            margin: self.margin.min(other.margin),
            fragile: self.fragile || other.fragile,
            alternative: self.alternative || other.alternative,
            negative: self.negative ^ other.negative,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Object,
    Recipient,
    Agent,
    Oblique,
    /// Without a preposition: a time or a measure.
    Bare,
    Predicative,
}

#[derive(Debug, Clone)]
pub(crate) struct Arg {
    pub kind: Role,
    pub role: String,
    pub np: Np,
}

/// What a clause has from those above it.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub subjects: Vec<Np>,
    pub negative: bool,
    pub modality: Modality,
    pub reporter: Option<usize>,
    pub fragile: bool,
    pub margin: f32,
    pub kind: Option<ClauseKind>,
}

pub(crate) struct Builder<'t, 'a> {
    pub tree: &'t Tree<'a>,
    pub implicit: Option<Term>,
    pub claims: Vec<Claim>,
    /// The noun that a relative pronoun stands for.
    pub relative: Vec<Option<usize>>,
    /// The phrase of which a predicate noun or an apposition is another name.
    pub stands: Vec<Option<usize>>,
    pub seen_clause: Vec<bool>,
    pub seen_phrase: Vec<bool>,
    pub question: bool,
    /// A relative clause without pronoun, and the noun that its missing object stands for.
    pub gap: Option<(usize, usize)>,
}

impl<'t, 'a> Builder<'t, 'a> {
    pub(crate) fn new(tree: &'t Tree<'a>, implicit: Option<Term>) -> Self {
        let n = tree.len();
        let question = tree
            .tokens
            .iter()
            .rev()
            .find(|t| !matches!(t.form.as_str(), "\"" | "”" | "'" | "’" | ")" | "]"))
            .is_some_and(|t| {
                t.form.starts_with('?') || t.form.ends_with('?') && t.upos == Upos::Punct
            });
        Builder {
            tree,
            implicit,
            claims: Vec::new(),
            relative: vec![None; n],
            stands: vec![None; n],
            seen_clause: vec![false; n],
            seen_phrase: vec![false; n],
            question,
            gap: None,
        }
    }

    pub(crate) fn full(&self) -> bool {
        self.claims.len() >= MOST
    }

    /// The phrase with those joined to it.
    pub(crate) fn conjuncts(&self, i: usize) -> Vec<Np> {
        let tree = self.tree;
        let mut first = Np::at(tree, i);
        first.negative = self.negative_inside(i);
        let mut all = vec![first];
        let joined: Vec<usize> = tree
            .having(i, "conj")
            .filter(|&k| !tree.is_clause(k) && (k > i))
            .take(16)
            .collect();
        // The predicate's own conjuncts are clauses; those of a phrase are phrases.
        if tree.is_predicate(i) {
            return all;
        }
        let or = joined
            .iter()
            .any(|&k| tree.having(k, "cc").any(|c| tree.lemma(c) == "or"));
        for &k in &joined {
            let negative = tree
                .having(k, "advmod")
                .chain(tree.having(k, "cc"))
                .any(|w| tree.lemma(w) == "not");
            all.push(Np {
                token: k,
                margin: first.margin.min(tree.margin(k)),
                fragile: true,
                alternative: or,
                negative,
            });
        }
        if or && all.len() > 1 {
            all[0].alternative = true;
        }
        all
    }

    /// "not in Paris" as a phrase; the clause's polarity has been asked for subjects and objects.
    fn negative_inside(&self, i: usize) -> bool {
        let tree = self.tree;
        tree.base(i) == "obl" && !tree.is_predicate(i) && self.negative_phrase(i)
    }

    /// The term for a phrase, relative pronouns and predicate nouns taken for what they stand for.
    pub(crate) fn term(&self, i: usize) -> Term {
        if i == IMPLICIT {
            return self.implicit.clone().unwrap_or_else(|| Term {
                text: String::new(),
                span: 0..0,
                head: String::new(),
                words: Vec::new(),
                kind: TermKind::Pronoun,
                value: None,
                antecedent: None,
                token: 0,
            });
        }
        phrase::term(self.tree, self.relative[i].unwrap_or(i))
    }

    /// The claims, with antecedents for those terms of which the sentence has another name.
    pub(crate) fn finish(mut self) -> Vec<Claim> {
        let mut claims = std::mem::take(&mut self.claims);
        for claim in &mut claims {
            // "X is Y" does not name X by Y, nor Y by X.
            let identity = claim.predicate.words == ["be"]
                || claim.predicate.words == ["call"]
                || claim.predicate.words == ["name"];
            let tokens = [
                claim.subject.token,
                claim.object.as_ref().map_or(0, |o| o.token),
            ];
            for (n, term) in [Some(&mut claim.subject), claim.object.as_mut()]
                .into_iter()
                .enumerate()
            {
                let Some(term) = term else { continue };
                let Some(i) = term.token.checked_sub(1) else {
                    continue;
                };
                let Some(Some(a)) = self.stands.get(i).copied() else {
                    continue;
                };
                if identity || a.wrapping_add(1) == tokens[1 - n] || i == a {
                    continue;
                }
                term.antecedent = Some(Box::new(self.term(a)));
            }
        }
        claims
    }

    /// A relational noun with what narrows it down: "birth place", "general manager".
    pub(crate) fn role_noun(&self, n: usize) -> String {
        let tree = self.tree;
        let mut words: Vec<usize> = tree
            .children(n)
            .iter()
            .copied()
            .filter(|&k| {
                k < n
                    && (tree.base(k) == "compound" && tree.upos(k) == Upos::Noun
                        || tree.base(k) == "amod"
                            && tree.upos(k) == Upos::Adj
                            && !tree.capitalised(k))
            })
            .collect();
        words.push(n);
        words
            .iter()
            .map(|&w| tree.lemma(w))
            .collect::<Vec<_>>()
            .join(" ")
    }

    pub(crate) fn is_value(&self, i: usize) -> bool {
        i < self.tree.len() && phrase::term(self.tree, i).kind == TermKind::Value
    }

    pub(crate) fn is_time(&self, i: usize) -> bool {
        let value = phrase::term(self.tree, i).value;
        matches!(
            value,
            Some(Value::Date(_) | Value::Period { .. } | Value::Either(..) | Value::Time { .. })
        ) || matches!(
            self.tree.lemma(i),
            "year"
                | "month"
                | "week"
                | "day"
                | "today"
                | "yesterday"
                | "tomorrow"
                | "time"
                | "night"
                | "morning"
                | "quarter"
                | "season"
                | "once"
                | "evening"
        ) && !matches!(value, Some(Value::Quantity(_)))
    }

    /// A claim of the clause at `p`, with the other arguments beside its object.
    #[expect(clippy::too_many_arguments, reason = "one place puts claims together")]
    pub(crate) fn emit(
        &mut self,
        p: usize,
        s: Np,
        lemmas: &[&str],
        preposition: &str,
        o: Option<Np>,
        args: &[Arg],
        ctx: &Context,
    ) {
        self.push(p, s, lemmas, preposition, o, args, ctx, false);
    }

    /// A passive with its agent, the agent put first.
    pub(crate) fn emit_inverted(
        &mut self,
        p: usize,
        s: Np,
        lemmas: &[&str],
        o: Option<Np>,
        args: &[Arg],
        ctx: &Context,
    ) {
        self.push(p, s, lemmas, "", o, args, ctx, true);
    }

    #[expect(clippy::too_many_arguments, reason = "one place puts claims together")]
    fn push(
        &mut self,
        p: usize,
        s: Np,
        lemmas: &[&str],
        preposition: &str,
        o: Option<Np>,
        args: &[Arg],
        ctx: &Context,
        inverted: bool,
    ) {
        if self.full() {
            return;
        }
        let tree = self.tree;
        let subject = self.term(s.token);
        let object = o.map(|o| {
            if o.token == p {
                phrase::predicate(tree, p)
            } else {
                self.term(o.token)
            }
        });
        if subject.text.is_empty()
            || object
                .as_ref()
                .is_some_and(|o| o.text.is_empty() || o.span == subject.span)
        {
            return;
        }
        let used = |t: usize| Some(t) == o.map(|o| o.token) || t == s.token;
        let mut arguments: Vec<Argument> = args
            .iter()
            .filter(|a| !used(a.np.token))
            .map(|a| Argument {
                role: match a.kind {
                    Role::Predicative => "xcomp".to_string(),
                    _ => a.role.clone(),
                },
                term: self.term(a.np.token),
            })
            .collect();
        if let Some(r) = ctx.reporter
            && r < tree.len()
        {
            arguments.push(Argument {
                role: "attribution".to_string(),
                term: self.term(r),
            });
        }
        let verbal = tree.acts(p);
        let passive = verbal && self.is_passive(p);
        let copular = lemmas.first() == Some(&"be");
        let mut words: Vec<String> = lemmas
            .iter()
            .flat_map(|l| l.split(' '))
            .map(str::to_string)
            .collect();
        words.extend(preposition.split_whitespace().map(str::to_string));
        let lemma = match lemmas {
            ["be" | "have", noun, ..] => noun.rsplit(' ').next().unwrap_or_default().to_string(),
            [verb, ..] if light_verb(verb) && !preposition.is_empty() => args
                .iter()
                .find(|a| a.kind == Role::Object)
                .map_or(verb.to_string(), |a| tree.lemma(a.np.token).to_string()),
            [verb, ..] => verb.to_string(),
            [] => String::new(),
        };
        let mut margin = ctx.margin.min(s.margin);
        if let Some(o) = o {
            margin = margin.min(o.margin);
            if o.token < tree.len()
                && let Some(case) = tree.first(o.token, "case")
            {
                margin = margin.min(tree.margin(case));
            }
        }
        let alternative = s.alternative || o.is_some_and(|o| o.alternative);
        let mut negative = ctx.negative ^ s.negative ^ o.is_some_and(|o| o.negative);
        // "not born in Houston, but in Dallas"
        let contrast = |i: usize| {
            i < tree.len()
                && tree
                    .having(i, "cc")
                    .any(|c| matches!(tree.lemma(c), "but" | "rather"))
        };
        if ctx.negative && o.is_some_and(|o| o.token != p && contrast(o.token)) {
            negative = false;
        }
        if o.is_none() {
            negative ^= args.iter().any(|a| a.np.negative);
        }
        let modality = match ctx.modality {
            Modality::Asserted if alternative => Modality::Hedged,
            _ if self.question => Modality::Question,
            m => m,
        };
        let span = self.hull(p, &subject, object.as_ref(), args);
        let claim = Claim {
            text: tree.text.get(span.clone()).unwrap_or_default().to_string(),
            span,
            sentence: tree.number,
            clause: p + 1,
            predicate: Predicate {
                text: self.predicate_text(p, lemmas, preposition),
                lemma,
                words,
                preposition: (!preposition.is_empty()).then(|| preposition.to_string()),
                passive,
                inverted,
                copular,
            },
            subject,
            object,
            arguments,
            polarity: if negative {
                Polarity::Negative
            } else {
                Polarity::Positive
            },
            modality,
            kind: ctx.kind.unwrap_or(if copular {
                ClauseKind::Copular
            } else {
                ClauseKind::Verbal
            }),
            margin,
            fragile: ctx.fragile || s.fragile || o.is_some_and(|o| o.fragile),
        };
        let same = |c: &Claim| {
            c.subject.span == claim.subject.span
                && c.predicate.words == claim.predicate.words
                && c.object.as_ref().map(|o| &o.span) == claim.object.as_ref().map(|o| &o.span)
                && c.polarity == claim.polarity
        };
        if !self.claims.iter().any(same) {
            self.claims.push(claim);
        }
    }

    /// "was born in", "is the capital of": what stands in the text, auxiliaries of tense left out.
    fn predicate_text(&self, p: usize, lemmas: &[&str], preposition: &str) -> String {
        let tree = self.tree;
        let mut parts: Vec<usize> = tree
            .children(p)
            .iter()
            .copied()
            .filter(|&k| matches!(tree.relation(k), "aux:pass" | "cop" | "compound:prt"))
            .collect();
        let mut text: Vec<&str> = Vec::new();
        if lemmas.len() > 1 && lemmas.first().is_some_and(|l| matches!(*l, "be" | "have"))
            || tree.first(p, "cop").is_some()
        {
            let be = parts
                .iter()
                .find(|&&k| tree.relation(k) == "cop")
                .map(|&k| tree.form(k));
            text.push(be.unwrap_or(match lemmas.first() {
                Some(&"be") => "is",
                _ if tree.lemma(p) == "have" => tree.form(p),
                _ => "has",
            }));
            text.extend(lemmas.iter().skip(1));
        } else {
            parts.push(p);
            parts.sort_unstable();
            text.extend(parts.iter().map(|&k| tree.form(k)));
        }
        if !preposition.is_empty() {
            text.push(preposition);
        }
        text.join(" ")
    }

    /// From the first to the last byte of what the claim rests on in this clause.
    fn hull(
        &self,
        p: usize,
        subject: &Term,
        object: Option<&Term>,
        args: &[Arg],
    ) -> std::ops::Range<usize> {
        let tree = self.tree;
        let at = |i: usize| tree.tokens[i].span.clone();
        let mut span = at(p);
        let mut add = |r: std::ops::Range<usize>| {
            if r.start < r.end {
                span = span.start.min(r.start)..span.end.max(r.end);
            }
        };
        for &k in tree.children(p) {
            if matches!(tree.base(k), "aux" | "cop") || matches!(tree.relation(k), "compound:prt") {
                add(at(k));
            }
        }
        // An inherited subject may stand far away and behind other clauses.
        let own = tree.children(p).contains(&subject.token.wrapping_sub(1)) || object.is_none();
        let sentence = tree.tokens.first().map_or(0, |t| t.span.start)
            ..tree.tokens.last().map_or(0, |t| t.span.end);
        let inside = |t: &Term| t.span.start >= sentence.start && t.span.end <= sentence.end;
        if (own || args.is_empty()) && inside(subject) {
            add(subject.span.clone());
        }
        if let Some(o) = object
            && inside(o)
        {
            add(o.span.clone());
        }
        for a in args
            .iter()
            .filter(|a| a.np.token < tree.len() && tree.head(a.np.token) == Some(p))
        {
            let t = phrase::term(tree, a.np.token);
            add(t.span);
        }
        span
    }
}

fn light_verb(verb: &str) -> bool {
    matches!(
        verb,
        "make" | "take" | "give" | "do" | "play" | "hold" | "pay" | "have"
    )
}
