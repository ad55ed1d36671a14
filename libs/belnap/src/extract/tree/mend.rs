//! Repairs of trees where the words leave no doubt and a statistical parser errs all the same.

use ud::{Token, Upos};

use super::Tree;
use crate::extract::lemma;

impl Tree<'_> {
    /// Repairs where names mislead the parser.
    pub(super) fn join_names(&mut self) {
        let n = self.tokens.len();
        let name = |i: usize| {
            self.tokens[i].upos == Upos::Propn
                && self.tokens[i]
                    .form
                    .chars()
                    .any(|c| c.is_uppercase() || c.is_numeric())
        };
        let gap = |i: usize| {
            self.text
                .get(self.tokens[i - 1].span.end..self.tokens[i].span.start)
                .unwrap_or_default()
        };
        let mut changes: Vec<(usize, Option<usize>, &'static str)> = Vec::new();
        let joined = |i: usize| {
            self.relations
                .iter()
                .enumerate()
                .any(|(k, r)| self.heads[k] == Some(i) && *r == "cc")
        };
        for i in 1..n {
            let Some(h) = self.heads[i] else { continue };
            // Two capitalised words side by side are one name.
            if name(i) && name(i - 1) && gap(i) == " " && h < i && i - h < 8 && (h..i).all(name) {
                let odd = matches!(
                    self.base(i),
                    "vocative" | "discourse" | "list" | "parataxis" | "dep" | "appos" | "conj"
                );
                if odd && !joined(i) {
                    changes.push((i, Some(h), "flat"));
                }
            }
            // "Farid Nasser is" as two subjects, "is Anders Holm" as subject and predicate.
            if name(i) && name(i - 1) && gap(i) == " " {
                let twin = self.heads[i - 1] == Some(h)
                    && h != i - 1
                    && (self.relations[i] == self.relations[i - 1]
                        && matches!(self.base(i), "nsubj" | "obl" | "obj" | "nmod" | "appos")
                        || self.relations[i - 1] == "nmod:desc"
                            && matches!(self.base(i), "appos" | "flat"));
                if twin && !joined(i) {
                    changes.push((i, Some(i - 1), "flat"));
                    continue;
                }
            }
            if i + 1 < n
                && h == i + 1
                && self.base(i) == "nsubj"
                && name(i)
                && name(h)
                && gap(h) == " "
            {
                changes.push((i, Some(h), "compound"));
                continue;
            }
            // "the novelist Pedro": the name behind the noun is another name for it.
            if self.relations[i] == "nmod:desc" && h + 1 == i && name(i) && !name(h) {
                changes.push((i, Some(h), "appos"));
                continue;
            }
            // "Akron, Ohio is": the parser may take the town for someone spoken to.
            if self.base(i) == "nsubj"
                && name(i)
                && let Some(town) = (0..i).rev().find(|&k| {
                    self.heads[k] == Some(h)
                        && matches!(self.base(k), "vocative" | "dislocated" | "parataxis")
                })
                && name(town)
                && (town + 1..i).all(|k| {
                    self.tokens[k].form == ","
                        || self.heads[k] == Some(town)
                        || self.heads[k] == Some(i)
                })
                && self.tokens[i - 1].form == ","
                && self.tokens.get(i + 1).is_some_and(|t| t.form != ",")
            {
                changes.push((
                    town,
                    Some(h),
                    self.relations[i]
                        .strip_prefix("nsubj:pass")
                        .map_or("nsubj", |_| "nsubj:pass"),
                ));
                changes.push((i, Some(town), "appos"));
                continue;
            }
            if matches!(self.base(i), "vocative" | "dislocated")
                && name(i)
                && i > 1
                && h < i
                && i - h <= 4
                && self.tokens[i - 1].form == ","
                && (name(h) || self.tokens[h].upos == Upos::Noun)
            {
                changes.push((i, Some(h), "appos"));
                continue;
            }
            // "Nikolaj Coster-Waldau"
            if matches!(
                self.base(i),
                "conj" | "appos" | "dep" | "list" | "parataxis" | "nsubj"
            ) && i > 2
                && matches!(self.tokens[i - 1].form.as_str(), "-" | "–")
                && gap(i).is_empty()
                && gap(i - 1).is_empty()
                && name(i)
                && name(i - 2)
            {
                changes.push((i, Some(if h < i { h } else { i - 2 }), "flat"));
                continue;
            }
            // "14R/32L", "Madrid-Barajas": no blank anywhere.
            if matches!(
                self.base(i),
                "conj" | "appos" | "dep" | "list" | "parataxis"
            ) && h < i
                && i - h < 6
                && !self.tokens[h + 1..=i]
                    .iter()
                    .any(|t| matches!(t.form.as_str(), "(" | "[" | "," | ";"))
                && (h + 1..=i).all(|k| gap(k).is_empty())
            {
                changes.push((i, Some(h), "flat"));
            }
            // "Albany, Oregon is": a coordination has a conjunction.
            if self.base(i) == "conj"
                && name(i)
                && (name(h) || self.tokens[h].upos == Upos::Noun)
                && h < i
                && !joined(i)
                && !(0..n).any(|k| {
                    k != i
                        && self.heads[k] == Some(h)
                        && (self.base(k) == "cc"
                            || self.base(k) == "conj"
                                && !matches!(self.tokens[k].upos, Upos::Verb | Upos::Adj))
                })
                && (h + 1..i).any(|k| self.tokens[k].form == ",")
            {
                changes.push((i, Some(h), "appos"));
            }
            // "awarded the Medal to Shepard"
            if self.base(i) == "nmod"
                && (name(h) || name(i))
                && self.base(h) == "obj"
                && (h + 1..i).any(|k| {
                    self.heads[k] == Some(i)
                        && matches!(self.tokens[k].form.as_str(), "to" | "into" | "from")
                })
            {
                changes.push((i, self.heads[h], "obl"));
            }
            // "South Jersey Transportation Authority chief": the first four are one name.
            if self.base(i) == "compound"
                && name(i)
                && i + 1 < h
                && h < n
                && name(i + 1)
                && self.heads[i + 1] == Some(h)
                && self.base(i + 1) == "compound"
                && self.tokens[h].upos == Upos::Noun
                && !self.tokens[h].form.starts_with(char::is_uppercase)
            {
                let last = (i + 1..h)
                    .take_while(|&k| name(k) && self.heads[k] == Some(h))
                    .last()
                    .unwrap_or(i + 1);
                changes.push((i, Some(last), "compound"));
            }
        }
        // The same for the first word, and "101 Helena has": a number before a name belongs to it.
        if n > 2 && gap(1) == " " && self.heads[0] != Some(1) {
            let h = self.heads[0];
            let number = self.tokens[0].upos == Upos::Num
                && name(1)
                && h.is_some_and(|h| h > 1)
                && self.base(0) != "nummod";
            if number {
                changes.push((0, Some(1), "compound"));
            } else if let Some(h) = h
                && self.base(0) == "compound"
                && name(0)
                && name(1)
                && self.heads[1] == Some(h)
                && self.base(1) == "compound"
                && self.tokens[h].upos == Upos::Noun
                && !self.tokens[h].form.starts_with(char::is_uppercase)
            {
                let last = (1..h)
                    .take_while(|&k| name(k) && self.heads[k] == Some(h))
                    .last()
                    .unwrap_or(1);
                changes.push((0, Some(last), "compound"));
            }
        }
        for (i, h, relation) in changes {
            if h != Some(i) {
                self.heads[i] = h;
                self.relations[i] = relation;
            }
        }
    }

    /// "The plant produces cement." without a verb anywhere: one of the nouns is one, the first that may be a verb in
    /// the third person behind another noun.
    pub(super) fn find_verb(&mut self) {
        let n = self.tokens.len();
        let full = n > 3 && self.tokens.last().is_some_and(|t| t.form == ".");
        let finite = |t: &Token| {
            t.upos == Upos::Aux
                || t.feat("VerbForm") == Some("Fin")
                || t.upos == Upos::Verb && t.feat("VerbForm") == Some("Part")
        };
        if !full || self.tokens.iter().any(finite) {
            return;
        }
        let Some(root) = (0..n).find(|&i| self.heads[i].is_none()) else {
            return;
        };
        let noun = |i: usize| matches!(self.tokens[i].upos, Upos::Noun | Upos::Propn);
        let candidate = (1..n - 1).find_map(|v| {
            let form = self.tokens[v].form.as_str();
            let before = noun(v - 1)
                || self.tokens[v - 1].form == "," && root < v
                || self.tokens[v - 1].upos == Upos::Verb;
            let behind = self.tokens[v + 1].upos != Upos::Punct && self.tokens[v + 1].form != "of";
            let shaped = self.tokens[v].upos == Upos::Noun
                && form.ends_with('s')
                && form.chars().all(char::is_lowercase);
            let placed = root == v || self.heads[v] == Some(root) || self.heads[root] == Some(v);
            let stem = lemma::third_person(form)?;
            (before && behind && shaped && placed).then_some((v, stem))
        });
        let Some((v, stem)) = candidate else { return };
        let subject = if root < v { root } else { v - 1 };
        self.tags[v] = Upos::Verb;
        self.lemmas[v] = stem;
        for k in 0..n {
            let Some(h) = self.heads[k] else { continue };
            if h == v || h == root {
                match self.base(k) {
                    "nmod" if k > v && h != subject => {
                        self.heads[k] = Some(v);
                        self.relations[k] = "obl";
                    }
                    "acl" if k > v && h == v => self.relations[k] = "xcomp",
                    "det" | "amod" | "compound" | "nmod" | "nummod"
                        if k < subject && h != subject =>
                    {
                        self.heads[k] = Some(subject)
                    }
                    _ => {}
                }
            }
        }
        if root != v {
            self.heads[v] = None;
            self.relations[v] = "root";
            self.heads[root] = Some(v);
            self.relations[root] = if root < v { "nsubj" } else { "obj" };
        }
        if subject != v {
            self.heads[subject] = Some(v);
            self.relations[subject] = "nsubj";
        }
        self.uproot_cycles();
    }

    /// Repairs where a clause is plain from its words whatever the parser made of it.
    pub(super) fn mend_clauses(&mut self) {
        let n = self.tokens.len();
        let verb = |i: usize| self.tokens[i].upos == Upos::Verb;
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); n];
        for i in 0..n {
            if let Some(h) = self.heads[i] {
                below[h].push(i);
            }
        }
        let has = |i: usize, relation: &str| below[i].iter().any(|&k| self.base(k) == relation);
        let mut changes: Vec<(usize, Option<usize>, &'static str)> = Vec::new();
        for i in 0..n {
            let Some(h) = self.heads[i] else { continue };
            // "Curie, who was born in Warsaw,": a relative pronoun makes a relative clause.
            if h < i
                && (matches!(
                    self.base(i),
                    "parataxis" | "advcl" | "conj" | "dep" | "ccomp" | "appos"
                ) || self.relations[i] == "acl")
                && matches!(self.tokens[h].upos, Upos::Noun | Upos::Propn)
                && below[i]
                    .iter()
                    .flat_map(|&k| {
                        below[k]
                            .iter()
                            .chain([k].iter())
                            .copied()
                            .collect::<Vec<_>>()
                    })
                    .any(|k| {
                        k > h
                            && k < i
                            && self.tokens[k].feat("PronType") == Some("Rel")
                            && self.base(k) != "mark"
                    })
            {
                changes.push((i, Some(h), "acl:relcl"));
                continue;
            }
            // "(born 18 January 1944)"
            if h < i
                && self.base(i) == "parataxis"
                && verb(i)
                && self.tokens[i].feat("VerbForm") == Some("Part")
                && matches!(self.tokens[i - 1].form.as_str(), "(" | "-LRB-" | "[")
            {
                changes.push((i, Some(h), "acl"));
                continue;
            }
            // "a company based in Sweden": the phrase right behind a participle is the participle's.
            if self.base(i) == "nmod"
                && h < i
                && let Some(&v) = below[h]
                    .iter()
                    .find(|&&v| v > h && v < i && verb(v) && self.relations[v] == "acl")
                && below[i]
                    .iter()
                    .copied()
                    .filter(|&c| self.base(c) == "case")
                    .min()
                    == Some(v + 1)
            {
                let by = self.tokens[v + 1].form == "by";
                changes.push((i, Some(v), if by { "obl:agent" } else { "obl" }));
                continue;
            }
            // "Curie … won the prize" with the name as root.
            if h < i
                && self.heads[h].is_none()
                && matches!(
                    self.base(i),
                    "parataxis" | "conj" | "dep" | "acl:relcl" | "list"
                )
                && matches!(self.tokens[h].upos, Upos::Noun | Upos::Propn)
                && verb(i)
                && (self.tokens[i].feat("VerbForm") == Some("Fin")
                    || self.base(i) == "parataxis"
                        && self.tokens[i - 1].form == ","
                        && self.tokens[i].feat("VerbForm") == Some("Part"))
                && !below[i]
                    .iter()
                    .any(|&k| matches!(self.base(k), "nsubj" | "cc" | "mark" | "expl"))
                && !has(h, "cop")
                && !has(h, "nsubj")
                && !changes.iter().any(|c| c.1.is_none())
                && !self.tokens[h + 1..i]
                    .iter()
                    .any(|t| matches!(t.form.as_str(), ":" | "–" | "—" | "|"))
            {
                changes.push((i, None, "root"));
                changes.push((
                    h,
                    Some(i),
                    if has(i, "aux") && below[i].iter().any(|&k| self.relations[k] == "aux:pass") {
                        "nsubj:pass"
                    } else {
                        "nsubj"
                    },
                ));
                continue;
            }
            // "is worth $5 million", "is 57 km long"
            if self.base(i) == "amod" && has(i, "nsubj") {
                changes.push((i, self.heads[h], self.relation_name(h)));
                changes.push((h, Some(i), "obl:unmarked"));
                continue;
            }
            // "was elected president": the participle is the verb, the noun its complement.
            if self.base(i) == "amod"
                && verb(i)
                && i > 0
                && i < h
                && self.tokens[i].feat("VerbForm") == Some("Part")
                && self.relations[i - 1] == "cop"
                && self.heads[i - 1] == Some(h)
                && !has(h, "det")
            {
                changes.push((i, self.heads[h], self.relation_name(h)));
                changes.push((h, Some(i), "xcomp"));
                for &k in &below[h] {
                    let relation = match self.relations[k] {
                        "nsubj" => "nsubj:pass",
                        "cop" => "aux:pass",
                        "nmod"
                            if below[k].iter().any(|&c| {
                                self.base(c) == "case" && self.tokens[c].form != "of"
                            }) =>
                        {
                            "obl"
                        }
                        "aux" => "aux",
                        "advmod" if k < i => "advmod",
                        "punct" => "punct",
                        "obl" => "obl",
                        "mark" => "mark",
                        "cc" if k < i => "cc",
                        _ => continue,
                    };
                    changes.push((k, Some(i), relation));
                }
            }
            // "became the mayor of Tunis in 2012": a year does not belong to a mayor.
            if self.base(i) == "nmod"
                && h < i
                && matches!(self.base(h), "obj" | "xcomp" | "obl")
                && self.tokens[h].upos != Upos::Num
                && let Some(v) = self.heads[h]
                && verb(v)
                && v < h
                && year(&self.tokens[i])
                && below[i].iter().any(|&c| {
                    self.base(c) == "case"
                        && matches!(
                            self.tokens[c].form.as_str(),
                            "in" | "since" | "on" | "until"
                        )
                })
            {
                changes.push((i, Some(v), "obl"));
                continue;
            }
            // "built in 1932 by Dorman Long", "given a book by Anna"
            if self.base(i) == "nmod"
                && below[i].iter().any(|&c| {
                    self.base(c) == "case" && self.tokens[c].form.eq_ignore_ascii_case("by")
                })
                && let Some(v) = self.heads[h]
                && verb(v)
                && v < h
                && matches!(self.base(h), "obl" | "obj")
                && (self.tokens[v].feat("Voice") == Some("Pass")
                    || below[v].iter().any(|&k| self.relations[k] == "aux:pass"))
                && !below[v].iter().any(|&k| self.relations[k] == "obl:agent")
            {
                changes.push((i, Some(v), "obl:agent"));
            }
        }
        for (i, h, relation) in changes {
            self.heads[i] = h;
            self.relations[i] = relation;
        }
        self.uproot_cycles();
    }

    fn relation_name(&self, i: usize) -> &'static str {
        match self.base(i) {
            "root" => "root",
            "conj" => "conj",
            "ccomp" => "ccomp",
            "xcomp" => "xcomp",
            "advcl" => "advcl",
            "acl" => "acl:relcl",
            _ => "parataxis",
        }
    }

    /// A repair may meet another; whatever no longer reaches a root becomes one.
    fn uproot_cycles(&mut self) {
        let n = self.tokens.len();
        for i in 0..n {
            let mut at = i;
            let mut steps = 0;
            while let Some(h) = self.heads[at] {
                at = h;
                steps += 1;
                if steps > n {
                    self.heads[i] = None;
                    break;
                }
            }
        }
    }
}

fn year(token: &Token) -> bool {
    token.upos == Upos::Num
        && token.form.len() == 4
        && token.form.bytes().all(|b| b.is_ascii_digit())
        && token.form.starts_with(['1', '2'])
}
