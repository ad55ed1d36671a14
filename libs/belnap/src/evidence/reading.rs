//! A parsed sentence made ready for comparison: normalised words, scope of negation, typed measures.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use ud::{Sentence, Upos};

use super::measures::{self, Measure};
use super::names::{self, Run};
use super::words;

#[derive(Debug, Clone)]
pub(super) struct Word {
    /// Lemma in lower case.
    pub key: String,
    /// Form in lower case.
    pub form: String,
    pub upos: Upos,
    /// 0-based; none for the root.
    pub head: Option<usize>,
    pub relation: Arc<str>,
    pub span: Range<usize>,
    /// It carries meaning of its own.
    pub content: bool,
    pub name: bool,
    /// Written in capitals throughout, as abbreviations are.
    pub capitals: bool,
    /// What is said of it is denied.
    pub negative: bool,
    /// The denial stands at this word, or at the predicate it completes.
    pub denied_here: bool,
    /// A possibility, a condition or a wish, not a statement.
    pub hedged: bool,
    pub measure: Option<usize>,
    /// How clear its arc was.
    pub margin: f32,
}

#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub words: Vec<Word>,
    pub span: Range<usize>,
    pub question: bool,
    pub measures: Vec<Measure>,
    /// Runs of words that make a name: first and last.
    pub names: Vec<Run>,
    children: Vec<Vec<usize>>,
}

impl Reading {
    pub(super) fn new(sentence: &Sentence) -> Self {
        let n = sentence.tokens.len();
        let mut words: Vec<Word> = sentence
            .tokens
            .iter()
            .enumerate()
            .map(|(i, t)| Word {
                key: words::key(&t.lemma, &t.form),
                form: words::plain(&t.form),
                capitals: capitals(&t.form),
                upos: t.upos,
                head: t.head.checked_sub(1).filter(|&h| h < n && h != i),
                relation: Arc::from(t.relation()),
                span: t.span.clone(),
                content: false,
                name: t.upos == Upos::Propn
                    || (i > 0
                        && matches!(t.upos, Upos::Noun | Upos::Adj | Upos::X)
                        && t.form.chars().next().is_some_and(char::is_uppercase)),
                negative: false,
                denied_here: false,
                hedged: false,
                measure: None,
                margin: t.margin,
            })
            .collect();
        for w in &mut words {
            w.content = is_content(w);
        }
        let mut children = vec![Vec::new(); n];
        for (i, w) in words.iter().enumerate() {
            if let Some(h) = w.head {
                children[h].push(i);
            }
        }
        let mut reading = Reading {
            question: sentence
                .tokens
                .iter()
                .rev()
                .take(3)
                .any(|t| t.form.starts_with('?')),
            span: sentence.span.clone(),
            measures: Vec::new(),
            names: Vec::new(),
            words,
            children,
        };
        reading.measures = measures::find(&reading);
        for (m, measure) in reading.measures.iter().enumerate() {
            for w in &mut reading.words[measure.tokens.clone()] {
                w.measure = Some(m);
                w.content = false;
            }
        }
        reading.names = names::runs(&reading);
        reading.mark_negation();
        reading.mark_hedges();
        reading
    }

    pub(super) fn children(&self, i: usize) -> &[usize] {
        self.children.get(i).map_or(&[], Vec::as_slice)
    }

    pub(super) fn child(&self, i: usize, relation: &str) -> Option<usize> {
        self.children(i)
            .iter()
            .copied()
            .find(|&c| &*self.words[c].relation == relation)
    }

    /// Arcs between `from` and every word, at most 255; 255 where there is no path.
    pub(super) fn distances(&self, from: usize) -> Vec<u8> {
        let mut far = vec![u8::MAX; self.words.len()];
        let mut queue = VecDeque::from([from]);
        if let Some(d) = far.get_mut(from) {
            *d = 0;
        }
        while let Some(i) = queue.pop_front() {
            let next = far[i].saturating_add(1);
            for j in self.children(i).iter().copied().chain(self.words[i].head) {
                if far[j] > next {
                    far[j] = next;
                    queue.push_back(j);
                }
            }
        }
        far
    }

    /// The word whose place in the clause this one shares: of a conjunct or a part of a name, the first.
    pub(super) fn top(&self, i: usize) -> usize {
        let mut top = i;
        for _ in 0..8 {
            match (&*self.words[top].relation, self.words[top].head) {
                ("conj" | "flat" | "compound" | "appos", Some(h)) => top = h,
                _ => break,
            }
        }
        top
    }

    /// The preposition of a word, or its bare relation: what role it plays for its head.
    pub(super) fn role(&self, i: usize) -> &str {
        let top = self.top(i);
        match self.child(top, "case") {
            Some(c) => &self.words[c].key,
            None => &self.words[top].relation,
        }
    }

    pub(super) fn passive(&self, verb: usize) -> bool {
        self.children(verb).iter().any(|&c| {
            let w = &self.words[c];
            &*w.relation == "aux"
                && matches!(w.key.as_str(), "be" | "get")
                && !w.form.ends_with("ing")
        }) && self.words[verb].form.ends_with(['d', 'n', 't'])
    }

    fn mark_negation(&mut self) {
        let n = self.words.len();
        let mut flip = vec![false; n];
        for i in 0..n {
            let w = &self.words[i];
            let Some(h) = w.head else { continue };
            match (w.key.as_str(), &*w.relation) {
                ("not" | "never" | "n't" | "hardly" | "scarcely", _) if w.upos != Upos::Noun => {
                    // "not only A but also B" denies nothing.
                    let only = self
                        .words
                        .get(i + 1)
                        .is_some_and(|x| matches!(x.key.as_str(), "only" | "just"));
                    if !only {
                        flip[h] ^= true;
                    }
                }
                ("no" | "neither", "det" | "advmod" | "cc") => {
                    flip[h] ^= true;
                    let head = &self.words[h];
                    if let Some(v) = head.head
                        && matches!(&*head.relation, "nsubj" | "obj" | "conj")
                        && matches!(self.words[v].upos, Upos::Verb | Upos::Adj)
                        && &*w.relation == "det"
                    {
                        flip[v] ^= true;
                    }
                }
                ("nobody" | "nothing" | "none" | "nowhere", "nsubj" | "obj" | "advmod" | "obl") => {
                    flip[h] ^= true
                }
                ("without", "case" | "mark") => flip[h] ^= true,
                _ => {}
            }
        }
        // Verbs and adjectives that deny their complement.
        let mut inner = vec![false; n];
        for (i, denied) in inner.iter_mut().enumerate() {
            let w = &self.words[i];
            let head = w.head.map_or("", |h| self.words[h].key.as_str());
            // "refused to model", read as a noun with a preposition.
            let to = self
                .children(i)
                .iter()
                .any(|&c| c + 1 == i && self.words[c].form == "to");
            let complement = matches!(&*w.relation, "xcomp" | "ccomp" | "advcl" | "acl")
                || (to && &*w.relation == "obl");
            let object = matches!(&*w.relation, "obj" | "obl");
            // "has yet to appear", whatever tree it got.
            let yet = i >= 2 && self.words[i - 1].form == "to" && self.words[i - 2].form == "yet";
            *denied = yet
                || (complement && words::denies_clause(head))
                || (object && words::denies_object(head));
        }
        // Down the tree: a complement shares its predicate's denial.
        let mut order: Vec<usize> = (0..n).filter(|&i| self.words[i].head.is_none()).collect();
        let mut seen = vec![false; n];
        let mut at = 0;
        while let Some(&i) = order.get(at) {
            at += 1;
            if std::mem::replace(&mut seen[i], true) {
                continue;
            }
            let inherited = self.words[i].head.is_some_and(|h| {
                let shares = matches!(
                    &*self.words[i].relation,
                    "obj"
                        | "iobj"
                        | "xcomp"
                        | "ccomp"
                        | "obl"
                        | "nmod"
                        | "amod"
                        | "compound"
                        | "flat"
                        | "acl"
                        | "nummod"
                );
                shares && self.words[h].negative
            });
            let here = flip[i] ^ inner[i];
            let above = self.words[i].head.is_some_and(|h| {
                self.words[h].denied_here
                    && matches!(&*self.words[i].relation, "obj" | "xcomp" | "obl" | "nmod")
            });
            // "no plan" as object of a verb that "no" has already denied is denied once.
            let twice = flip[i] && inherited && self.words[i].head.is_some_and(|h| flip[h]);
            self.words[i].negative = (here ^ inherited) || twice;
            self.words[i].denied_here = here || above;
            order.extend(self.children[i].iter().copied());
        }
    }

    fn mark_hedges(&mut self) {
        for i in 0..self.words.len() {
            let w = &self.words[i];
            let hedge = words::hedges(&w.key) || (w.key == "if" && &*w.relation == "mark");
            if hedge && let Some(h) = w.head {
                self.words[h].hedged = true;
            }
        }
    }
}

fn capitals(form: &str) -> bool {
    let mut letters = form.chars().filter(|c| *c != '.');
    form.len() >= 2
        && letters.all(|c| c.is_uppercase() || c.is_ascii_digit())
        && form.contains(char::is_uppercase)
}

fn is_content(w: &Word) -> bool {
    match w.upos {
        Upos::Noun | Upos::Propn | Upos::Verb | Upos::Adj | Upos::Num => !words::is_light(&w.key),
        Upos::Adv => !words::is_light(&w.key) && w.key.len() > 2,
        Upos::Adp | Upos::Sconj => words::is_directional(&w.key),
        Upos::X => w.key.chars().any(char::is_alphanumeric),
        _ => false,
    }
}
