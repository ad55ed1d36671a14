//! What the page says beside its sentences: headings name what follows, "Key: value" lines and table rows are claims.

use std::ops::Range;

use ud::Upos;

use super::phrase;
use super::tree::Tree;
use crate::claim::{Claim, ClauseKind, Modality, Polarity, Predicate, Term, TermKind};
use crate::value;

/// What the lines so far have set up for those to come.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// What the text under the last heading is about.
    pub topic: Option<Term>,
    columns: Vec<String>,
}

/// What became of a line.
pub(crate) enum Line {
    /// It is no sentence; these are its claims.
    Claims(Vec<Claim>),
    Prose,
}

impl Page {
    pub(crate) fn read(&mut self, tree: &Tree<'_>, fallback: Option<&Term>) -> Line {
        let Some(range) = extent(tree) else {
            return Line::Prose;
        };
        let line = tree.text.get(range.clone()).unwrap_or_default();
        if line.starts_with('|') {
            return Line::Claims(self.row(tree, range));
        }
        self.columns.clear();
        if let Some(text) = heading(line) {
            let start = range.start + (text.as_ptr() as usize - line.as_ptr() as usize);
            let verb = tree
                .tokens
                .iter()
                .any(|t| t.feat("VerbForm") == Some("Fin"));
            if !verb && !text.contains(": ") {
                let term = self.named(tree, start..start + text.len());
                if term.kind == TermKind::Name || self.topic.is_none() && fallback.is_none() {
                    self.topic = Some(term);
                }
                return Line::Claims(Vec::new());
            }
        }
        match self.pair(tree, range, fallback) {
            Some(claims) => Line::Claims(claims),
            None => Line::Prose,
        }
    }

    fn named(&self, tree: &Tree<'_>, range: Range<usize>) -> Term {
        let mut term = term_of(tree, range);
        let first = term.text.chars().next().is_some_and(char::is_uppercase);
        let generic = matches!(
            term.text.to_lowercase().as_str(),
            "overview"
                | "introduction"
                | "summary"
                | "background"
                | "key facts"
                | "facts"
                | "details"
                | "history"
                | "notes"
                | "about"
                | "conclusion"
                | "results"
                | "highlights"
                | "key points"
        );
        if first
            && !generic
            && term.kind == TermKind::Common
            && tree.tokens.iter().any(|t| t.upos == Upos::Propn)
        {
            term.kind = TermKind::Name;
        }
        if generic {
            term.kind = TermKind::Common;
        }
        term
    }

    /// "- **Founded**: 1976"
    fn pair(
        &self,
        tree: &Tree<'_>,
        range: Range<usize>,
        fallback: Option<&Term>,
    ) -> Option<Vec<Claim>> {
        let line = tree.text.get(range.clone())?;
        let body = line.trim_start_matches(['-', '*', '•', '+', '>', ' ', '–', '·', '_']);
        let bullet = body.len() < line.len();
        let colon = body.find(':')?;
        let offset = range.end - body.len();
        let key = body[..colon].trim_matches(['*', '_', '`', ' ']);
        let rest = body[colon + 1..].trim_start_matches(['*', '_', '`']);
        if key.is_empty() || !rest.starts_with(char::is_whitespace) || rest.trim().is_empty() {
            return None;
        }
        let value = rest
            .trim()
            .trim_matches(['*', '_', '`', ' '])
            .trim_end_matches(['.', ';']);
        let words = key.split_whitespace().count();
        let inside: Vec<usize> = words_in(tree, offset..offset + colon);
        let finite = |i: usize| {
            words > 1
                && tree.upos(i) == Upos::Verb
                && tree.feat(i, "VerbForm") != Some("Part")
                && tree.feat(i, "Mood").is_some()
        };
        let nominal = !inside.iter().any(|&i| {
            matches!(
                tree.upos(i),
                Upos::Pron | Upos::Aux | Upos::Sconj | Upos::Intj
            ) || finite(i)
        });
        let told = matches!(
            key.to_lowercase().as_str(),
            "note"
                | "warning"
                | "example"
                | "answer"
                | "question"
                | "q"
                | "a"
                | "source"
                | "http"
                | "https"
                | "p.s"
                | "tip"
        );
        if words > 4
            || key.len() > 40
            || !nominal
            || told
            || inside.is_empty()
            || value.is_empty()
            || value.len() > 200
        {
            return None;
        }
        let value_start = offset + (value.as_ptr() as usize - body.as_ptr() as usize);
        let value_words = words_in(tree, value_start..value_start + value.len());
        // A whole sentence behind the colon is prose.
        if value_words.iter().any(|&i| tree.base(i) == "nsubj")
            && value_words
                .iter()
                .any(|&i| tree.feat(i, "VerbForm") == Some("Fin"))
        {
            return None;
        }
        let subject = self.topic.as_ref().or(fallback);
        let key_start = offset + (key.as_ptr() as usize - body.as_ptr() as usize);
        let key_range = key_start..key_start + key.len();
        let Some(subject) = subject else {
            // "Tim Cook: CEO of Apple" says who is what even without a heading.
            let subject = term_of(tree, key_range);
            let object = term_of(tree, value_start..value_start + value.len());
            let known = bullet || object.kind == TermKind::Value;
            return (known && !object.text.is_empty()).then(|| {
                vec![claim(
                    tree,
                    subject,
                    &["be".to_string()],
                    false,
                    None,
                    object,
                    false,
                )]
            });
        };
        Some(self.statements(
            tree,
            subject,
            key_range,
            value_start..value_start + value.len(),
        ))
    }

    /// The claims that `subject` has `value` for `key`.
    fn statements(
        &self,
        tree: &Tree<'_>,
        subject: &Term,
        key: Range<usize>,
        value: Range<usize>,
    ) -> Vec<Claim> {
        let keys: Vec<usize> = words_in(tree, key.clone());
        let lemmas: Vec<String> = keys
            .iter()
            .filter(|&&i| !matches!(tree.upos(i), Upos::Punct | Upos::Det))
            .map(|&i| tree.lemma(i).to_string())
            .collect();
        let Some(&first) = keys.first() else {
            return Vec::new();
        };
        let mut claims = Vec::new();
        let parts = split(tree.text, value);
        for part in &parts {
            let object = term_of(tree, part.clone());
            if object.text.is_empty() {
                continue;
            }
            let several = parts.len() > 1;
            let past = tree.form(first).to_lowercase().ends_with("ed")
                || tree.form(first).eq_ignore_ascii_case("born");
            if past {
                let preposition = lemmas
                    .get(1)
                    .filter(|_| keys.get(1).is_some_and(|&k| tree.upos(k) == Upos::Adp))
                    .cloned();
                let verb = if tree.form(first).eq_ignore_ascii_case("born") {
                    "bear".to_string()
                } else {
                    tree.lemma(first).to_string()
                };
                let mut words = vec![verb];
                words.extend(preposition.clone());
                if preposition.as_deref() == Some("by") {
                    words.pop();
                    let mut c = claim(tree, object, &words, true, None, subject.clone(), several);
                    c.predicate.inverted = true;
                    claims.push(c);
                } else {
                    claims.push(claim(
                        tree,
                        subject.clone(),
                        &words,
                        true,
                        preposition,
                        object,
                        several,
                    ));
                }
            } else if object.kind == TermKind::Name
                && keys.iter().all(|&k| tree.upos(k) != Upos::Adp)
            {
                let mut words = vec!["be".to_string()];
                words.extend(lemmas.clone());
                words.push("of".to_string());
                claims.push(claim(
                    tree,
                    object,
                    &words,
                    false,
                    Some("of".to_string()),
                    subject.clone(),
                    several,
                ));
            } else {
                let mut words = vec!["have".to_string()];
                words.extend(lemmas.clone());
                claims.push(claim(
                    tree,
                    subject.clone(),
                    &words,
                    false,
                    None,
                    object,
                    several,
                ));
            }
        }
        claims
    }

    fn row(&mut self, tree: &Tree<'_>, range: Range<usize>) -> Vec<Claim> {
        let mut cells: Vec<Range<usize>> = Vec::new();
        let mut from = range.start + 1;
        let line = tree.text.get(range.clone()).unwrap_or_default();
        for (i, _) in line.match_indices('|').skip(1) {
            cells.push(from..range.start + i);
            from = range.start + i + 1;
        }
        if from < range.end {
            cells.push(from..range.end);
        }
        let texts: Vec<&str> = cells
            .iter()
            .map(|c| {
                tree.text
                    .get(c.clone())
                    .unwrap_or_default()
                    .trim()
                    .trim_matches(['*', '_', '`'])
            })
            .collect();
        if texts
            .iter()
            .all(|t| t.chars().all(|c| matches!(c, '-' | ':' | ' ')))
        {
            return Vec::new();
        }
        if self.columns.is_empty() {
            self.columns = texts.iter().map(|t| t.to_string()).collect();
            return Vec::new();
        }
        let trimmed = |n: usize| {
            let cell = &cells[n];
            let start = texts[n].as_ptr() as usize - tree.text.as_ptr() as usize;
            if texts[n].is_empty() {
                cell.start..cell.start
            } else {
                start..start + texts[n].len()
            }
        };
        let key_value = self.columns.len() == 2
            && matches!(
                self.columns[1].to_lowercase().as_str(),
                "value" | "details" | "detail" | "data" | ""
            );
        if key_value
            && cells.len() == 2
            && let Some(topic) = &self.topic
        {
            return self.statements(tree, &topic.clone(), trimmed(0), trimmed(1));
        }
        if texts.first().is_none_or(|t| t.is_empty()) {
            return Vec::new();
        }
        let subject = term_of(tree, trimmed(0));
        let mut claims = Vec::new();
        for (n, column) in self
            .columns
            .iter()
            .enumerate()
            .take(cells.len().min(24))
            .skip(1)
        {
            if texts[n].is_empty() || column.is_empty() || texts[n] == "-" {
                continue;
            }
            let object = term_of(tree, trimmed(n));
            let mut words: Vec<String> = column
                .to_lowercase()
                .split_whitespace()
                .map(str::to_string)
                .collect();
            if object.kind == TermKind::Name {
                words.insert(0, "be".to_string());
                words.push("of".to_string());
                claims.push(claim(
                    tree,
                    object,
                    &words,
                    false,
                    Some("of".to_string()),
                    subject.clone(),
                    false,
                ));
            } else {
                words.insert(0, "have".to_string());
                claims.push(claim(
                    tree,
                    subject.clone(),
                    &words,
                    false,
                    None,
                    object,
                    false,
                ));
            }
        }
        claims
    }
}

fn extent(tree: &Tree<'_>) -> Option<Range<usize>> {
    let (first, last) = (tree.tokens.first()?, tree.tokens.last()?);
    Some(first.span.start..last.span.end)
}

/// The text of "# Heading" or of a line that is all bold.
fn heading(line: &str) -> Option<&str> {
    if line.contains('\n') {
        return None;
    }
    let text = if line.starts_with('#') {
        line.trim_start_matches('#').trim_end_matches('#')
    } else {
        let inner = line.strip_prefix("**")?.strip_suffix("**")?;
        if inner.contains("**") {
            return None;
        }
        inner
    };
    let text = text.trim().trim_matches(['*', '_', '`', ':']).trim();
    (!text.is_empty() && text.len() <= 100).then_some(text)
}

/// "Steve Jobs, Steve Wozniak": a list of names, but not "Cupertino, California" or a date.
fn split(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let slice = text.get(range.clone()).unwrap_or_default();
    let parts: Vec<&str> = slice.split([',', ';']).collect();
    let listed = parts.len() > 1
        && value::parse(slice).is_none()
        && parts.iter().all(|p| {
            p.trim().contains(' ') && p.trim().len() > 3 && p.trim().starts_with(char::is_uppercase)
        });
    if !listed {
        return vec![range];
    }
    parts
        .into_iter()
        .map(|p| {
            let p = p.trim();
            let start = range.start + (p.as_ptr() as usize - slice.as_ptr() as usize);
            start..start + p.len()
        })
        .collect()
}

fn words_in(tree: &Tree<'_>, range: Range<usize>) -> Vec<usize> {
    (0..tree.len())
        .filter(|&i| {
            let span = &tree.tokens[i].span;
            span.start >= range.start && span.end <= range.end && tree.upos(i) != Upos::Punct
        })
        .collect()
}

/// A term for a stretch of text, whatever the tree makes of it.
fn term_of(tree: &Tree<'_>, range: Range<usize>) -> Term {
    let words = words_in(tree, range.clone());
    let head = words
        .iter()
        .copied()
        .find(|&i| tree.head(i).is_none_or(|h| !words.contains(&h)))
        .or_else(|| words.last().copied());
    let text = tree.text.get(range.clone()).unwrap_or_default();
    let mut text = text.trim();
    for article in ["The ", "the ", "A ", "a ", "An ", "an "] {
        text = text.strip_prefix(article).unwrap_or(text);
    }
    let start = range.end
        - (tree
            .text
            .get(range.clone())
            .unwrap_or_default()
            .trim_end()
            .len())
        .min(text.len());
    let span = match tree.text.get(start..range.end) {
        Some(t) if t.trim_end() == text => start..start + text.len(),
        _ => range.clone(),
    };
    let typed = value::parse(text);
    let number_first = typed.is_none()
        && text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '$' | '€' | '£' | '~'));
    let kind = if typed.is_some() {
        TermKind::Value
    } else if words.iter().any(|&i| tree.upos(i) == Upos::Propn)
        && text.starts_with(|c: char| c.is_uppercase() || c.is_numeric())
        || head.is_some_and(|h| phrase::term(tree, h).kind == TermKind::Name)
    {
        TermKind::Name
    } else {
        TermKind::Common
    };
    let value = typed.or_else(|| {
        let (at, v) = value::find(text).into_iter().next()?;
        (number_first && at.start == 0 || kind == TermKind::Common).then_some(v)
    });
    Term {
        text: text.to_string(),
        span,
        head: head.map(|h| tree.lemma(h).to_string()).unwrap_or_default(),
        words: words
            .iter()
            .filter(|&&i| {
                !matches!(
                    tree.upos(i),
                    Upos::Det | Upos::Adp | Upos::Punct | Upos::Part | Upos::Cconj
                )
            })
            .map(|&i| tree.lemma(i).to_string())
            .collect(),
        kind,
        value,
        antecedent: None,
        token: head.map_or(0, |h| h + 1),
    }
}

fn claim(
    tree: &Tree<'_>,
    subject: Term,
    words: &[String],
    passive: bool,
    preposition: Option<String>,
    object: Term,
    fragile: bool,
) -> Claim {
    let span = extent(tree).unwrap_or(0..0);
    let lemma = words
        .iter()
        .rev()
        .find(|w| preposition.as_ref() != Some(w))
        .cloned()
        .unwrap_or_default();
    Claim {
        text: tree.text.get(span.clone()).unwrap_or_default().to_string(),
        span,
        sentence: tree.number,
        clause: object.token.max(1),
        subject,
        predicate: Predicate {
            text: words.join(" "),
            lemma,
            words: words.to_vec(),
            copular: words.first().is_some_and(|w| w == "be"),
            preposition,
            passive,
            inverted: false,
        },
        object: Some(object),
        arguments: Vec::new(),
        polarity: Polarity::Positive,
        modality: Modality::Asserted,
        kind: ClauseKind::Possessive,
        margin: f32::INFINITY,
        fragile,
    }
}
