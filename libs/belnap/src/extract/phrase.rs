//! Noun phrases: which words belong to a term, and what kind of term it is.

use ud::Upos;

use super::tree::Tree;
use crate::claim::{Term, TermKind};
use crate::lexicon::{self, Kinds};
use crate::value::{self, Value};

/// The phrase that the word `i` heads, without articles, clauses and appositions.
pub(crate) fn term(tree: &Tree<'_>, i: usize) -> Term {
    let clause = tree.is_predicate(i) && matches!(tree.base(i), "ccomp" | "csubj" | "advcl")
        || matches!(tree.upos(i), Upos::Verb | Upos::Aux)
            && tree.is_clause(i)
            && !tree.is_predicate(i)
        || tree.upos(i) == Upos::Verb
            && tree.first(i, "cop").is_none()
            && !matches!(tree.base(i), "compound" | "flat" | "nmod" | "amod");
    build(tree, i, clause)
}

/// What a copula says of its subject: the phrase without the rest of the clause that it heads.
pub(crate) fn predicate(tree: &Tree<'_>, i: usize) -> Term {
    build(tree, i, false)
}

fn build(tree: &Tree<'_>, i: usize, clause: bool) -> Term {
    let mut words = if clause {
        tree.subtree(i, |_, k| {
            !matches!(
                tree.base(k),
                "mark" | "punct" | "cc" | "parataxis" | "discourse"
            )
        })
    } else {
        tree.subtree(i, |p, k| belongs(tree, i, p, k))
    };
    trim(tree, i, &mut words);
    per(tree, i, &mut words);
    let (text, span) = written(tree, &words);
    let kind = if clause {
        TermKind::Clause
    } else {
        kind(tree, i)
    };
    let value = value_of(tree, i, &words, &text);
    let kind = match (&value, kind) {
        (Some((_, true)), TermKind::Common | TermKind::Name) => TermKind::Value,
        (_, kind) => kind,
    };
    Term {
        text,
        span,
        head: tree.lemma(i).to_string(),
        words: words
            .iter()
            .filter(|&&w| content(tree, w))
            .map(|&w| tree.lemma(w).to_string())
            .collect(),
        kind,
        value: value.map(|(v, _)| v),
        antecedent: None,
        token: i + 1,
    }
}

/// Whether child `k` of `p` is part of the phrase headed by `i`.
fn belongs(tree: &Tree<'_>, i: usize, p: usize, k: usize) -> bool {
    let relation = tree.relation(k);
    let base = tree.base(k);
    if p == i {
        match base {
            "case" | "conj" | "cc" | "mark" => return false,
            "advmod" => {
                return !tree.is_predicate(i)
                    && !super::words::negates(tree.lemma(k))
                    && (k < i || tree.upos(i) == Upos::Num);
            }
            "obl" => return !tree.is_predicate(i) && tree.upos(i) == Upos::Adj,
            "compound" | "nmod" if described(tree, i, k) => return false,
            // Behind the noun of a copular clause, "in 1990" may hang on either.
            _ => {}
        }
    }
    match base {
        "det" | "compound" | "amod" | "nummod" | "flat" | "fixed" | "goeswith" | "case"
        | "conj" | "cc" | "advmod" | "obl" | "reparandum" | "dep" => !tree.is_predicate(k),
        // "300 patients a day"
        "nmod" if relation == "nmod:unmarked" && k > p && tree.first(k, "det").is_some() => false,
        "nmod" => !tree.is_predicate(k) && !parenthetical(tree, k),
        "appos" => place(tree, p, k) || distinguishing(tree, p, k),
        "punct" => false,
        "list" => relation == "flat",
        _ => false,
    }
}

/// "Wheeler, Texas": a name in apposition that is part of the name of a place.
pub(crate) fn place(tree: &Tree<'_>, p: usize, k: usize) -> bool {
    let between = tree
        .text
        .get(tree.tokens[p.min(k)].span.end..tree.tokens[p.max(k)].span.start)
        .unwrap_or_default();
    let upper = |w: usize| tree.form(w).starts_with(char::is_uppercase);
    k > p
        && upper(k)
        && upper(p)
        && tree.upos(k) == Upos::Propn
        && matches!(tree.upos(p), Upos::Propn | Upos::Noun)
        && between.contains(',')
        && !between.contains('(')
        && tree.first(k, "det").is_none()
        && tree.first(k, "conj").is_none()
        && tree.first(k, "nmod").is_none()
}

/// "Olympic Stadium (Athens)": a name in brackets that tells one bearer of a name from others, not its abbreviation.
pub(crate) fn distinguishing(tree: &Tree<'_>, p: usize, k: usize) -> bool {
    k > p
        && parenthetical(tree, k)
        && matches!(tree.upos(p), Upos::Propn)
        && !abbreviation(tree.form(k))
        && tree
            .children(k)
            .iter()
            .all(|&g| matches!(tree.base(g), "punct" | "flat" | "compound" | "amod"))
}

/// "astronaut Buzz Aldrin", "novelist Pedro Alves": what a person is stands before the name and is no part of it.
pub(crate) fn described(tree: &Tree<'_>, h: usize, k: usize) -> bool {
    k < h
        && matches!(tree.relation(k), "compound" | "nmod:desc")
        && tree.upos(h) == Upos::Propn
        && !tree.capitalised(k)
        && lexicon::kind_of_noun(tree.lemma(k)).meets(Kinds::PERSON)
}

fn abbreviation(form: &str) -> bool {
    let letters = form.chars().filter(|c| c.is_alphabetic()).count();
    letters > 1 && form.chars().filter(|c| c.is_uppercase()).count() * 2 > letters
}

fn parenthetical(tree: &Tree<'_>, k: usize) -> bool {
    tree.having(k, "punct")
        .any(|q| q < k && matches!(tree.form(q), "(" | "[" | "-LRB-"))
}

/// Takes articles, negative determiners and marks off the ends.
fn trim(tree: &Tree<'_>, head: usize, words: &mut Vec<usize>) {
    while words.len() > 1
        && words.first().is_some_and(|&w| {
            w != head
                && (matches!(
                    tree.lemma(w),
                    "the"
                        | "a"
                        | "an"
                        | "no"
                        | "neither"
                        | "both"
                        | "and"
                        | "or"
                        | "either"
                        | "not"
                        | "whose"
                ) && matches!(
                    tree.upos(w),
                    Upos::Det | Upos::Cconj | Upos::Adv | Upos::Part | Upos::Pron
                ) || matches!(tree.upos(w), Upos::Punct | Upos::Adp))
        })
    {
        words.remove(0);
    }
    while words.len() > 1
        && words.last().is_some_and(|&w| {
            w != head
                && (tree.upos(w) == Upos::Punct || possessive(tree, w) || tree.base(w) == "cc")
        })
    {
        words.pop();
    }
}

/// "0.0068 kilometres per second", wherever the parser has hung the rate.
fn per(tree: &Tree<'_>, i: usize, words: &mut Vec<usize>) {
    let Some(&last) = words.last() else { return };
    let era = |w: usize| matches!(tree.form(w), "BC" | "BCE" | "AD" | "CE");
    if last == i && tree.upos(i) == Upos::Num && last + 1 < tree.len() && era(last + 1) {
        words.push(last + 1);
    } else if last == i
        && tree.upos(i) == Upos::Noun
        && last + 2 < tree.len()
        && tree.lemma(last + 1) == "per"
        && tree.upos(last + 2) == Upos::Noun
    {
        words.extend([last + 1, last + 2]);
    }
}

fn possessive(tree: &Tree<'_>, w: usize) -> bool {
    tree.upos(w) == Upos::Part && matches!(tree.form(w), "'s" | "’s" | "'" | "’" | "s")
}

/// The words as they stand in the text; where others stand between them than marks, they are left out.
fn written(tree: &Tree<'_>, words: &[usize]) -> (String, std::ops::Range<usize>) {
    let (Some(&first), Some(&last)) = (words.first(), words.last()) else {
        return (String::new(), 0..0);
    };
    let mut text = String::new();
    let mut from = first;
    let mut at = first;
    for &w in &words[1..] {
        let mark = |g: usize| {
            tree.upos(g) == Upos::Punct && !matches!(tree.form(g), "|" | "—") || tree.form(g) == "/"
        };
        if !(at + 1..w).all(mark) {
            text.push_str(tree.slice(from, at));
            text.push(' ');
            from = w;
        }
        at = w;
    }
    text.push_str(tree.slice(from, at));
    let mut end = tree.tokens[last].span.end;
    if let Some(next) = tree.tokens.get(last + 1)
        && next.span.start == end
        && matches!(next.form.as_str(), "\"" | "''" | "”")
        && text.matches(['"', '“', '”']).count() % 2 == 1
    {
        text.push_str(&next.form);
        end = next.span.end;
    }
    // Quotes and brackets that open inside the phrase close inside it.
    if let Some(next) = tree.tokens.get(last + 1)
        && next.span.start == end
        && matches!(
            (text.contains('('), text.contains(')'), next.form.as_str()),
            (true, false, ")")
        )
    {
        text.push_str(&next.form);
        end = next.span.end;
    }
    let text = if text.contains(['\n', '\r', '\t']) || text.contains("  ") {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    } else {
        text
    };
    (text, tree.tokens[first].span.start..end)
}

fn content(tree: &Tree<'_>, w: usize) -> bool {
    !matches!(
        tree.upos(w),
        Upos::Det | Upos::Adp | Upos::Punct | Upos::Part | Upos::Cconj | Upos::Sconj | Upos::Aux
    )
}

fn kind(tree: &Tree<'_>, i: usize) -> TermKind {
    match tree.upos(i) {
        Upos::Pron => TermKind::Pronoun,
        Upos::Propn => TermKind::Name,
        Upos::Det if tree.base(i) != "det" => TermKind::Pronoun,
        Upos::X if tree.capitalised(i) => TermKind::Name,
        Upos::Noun | Upos::Adj | Upos::Sym | Upos::Verb if i > 0 && named(tree, i) => {
            TermKind::Name
        }
        _ => TermKind::Common,
    }
}

/// "AIDA Cruises": the tagger may call a capitalised word a noun.
fn named(tree: &Tree<'_>, i: usize) -> bool {
    let upper = |w: usize| tree.form(w).starts_with(char::is_uppercase);
    (upper(i)
        || tree.form(i).chars().skip(1).any(char::is_uppercase)
            && tree.form(i).chars().any(char::is_lowercase))
        || tree.children(i).iter().any(|&k| {
            matches!(tree.base(k), "compound" | "flat") && tree.upos(k) == Upos::Propn && upper(i)
        })
}

/// The value in the phrase, and whether the phrase is nothing else.
fn value_of(tree: &Tree<'_>, i: usize, words: &[usize], text: &str) -> Option<(Value, bool)> {
    if !words.iter().any(|&w| {
        tree.upos(w) == Upos::Num
            || tree.form(w).bytes().any(|b| b.is_ascii_digit())
            || value::is_word(tree.lemma(w))
    }) {
        return None;
    }
    if let Some(value) = value::parse(text) {
        // A number that is part of a name, such as "Apollo 12", is no value.
        return Some((value, true));
    }
    let found = value::find(text);
    let (range, mut value) = found.into_iter().next()?;
    let head = tree.tokens[i].span.clone();
    let from = words.first().map_or(0, |&w| tree.tokens[w].span.start);
    // The value is what the phrase is about, whatever follows it.
    let whole = range.start == 0
        && head.end <= from + range.end
        && matches!(tree.upos(i), Upos::Num | Upos::Sym | Upos::Noun);
    // "60 floors" counts floors.
    if let Value::Quantity(q) = &mut value
        && q.unit.is_none()
        && let Some(n) = tree.first(i, "nummod")
        && text[..range.end].ends_with(tree.form(n))
        && tree.upos(i) != Upos::Propn
    {
        q.unit = Some(tree.lemma(i).to_string());
        return Some((value, range.start == 0));
    }
    if tree.upos(i) == Upos::Propn && !whole {
        return match value {
            Value::Date(_) | Value::Period { .. } => None,
            _ => None,
        };
    }
    Some((value, whole))
}
