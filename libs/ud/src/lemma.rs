//! Lemmas by rule: the longest known ending of a word with its tag says what to cut and what to add. A whole
//! word is the longest ending, so exceptions are rules too. All of them are learned.

use std::collections::HashMap;

use crate::model::{Bytes, ModelError, Output};

/// Endings are looked at up to this many characters.
pub(crate) const LONGEST: usize = 6;

/// Marks an ending that is the whole word.
pub(crate) const WHOLE: char = '^';

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Edit {
    /// Characters to cut from the end.
    pub cut: u8,
    pub add: String,
    /// Whether the word keeps its capitals.
    pub keep_case: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Lemmas {
    edits: Vec<Edit>,
    /// By tag, then by ending.
    rules: Vec<HashMap<Box<str>, u16>>,
}

impl Edit {
    /// What turns `form` into `lemma`; `None` for words so long that no rule is wanted.
    pub(crate) fn between(form: &str, lemma: &str) -> Option<Edit> {
        let keep_case = lemma.chars().any(char::is_uppercase);
        let form = if keep_case {
            form.to_string()
        } else {
            form.to_lowercase()
        };
        let shared = form
            .chars()
            .zip(lemma.chars())
            .take_while(|(a, b)| a == b)
            .count();
        Some(Edit {
            cut: u8::try_from(form.chars().count() - shared).ok()?,
            add: lemma.chars().skip(shared).collect(),
            keep_case,
        })
    }

    pub(crate) fn apply(&self, form: &str) -> String {
        let mut word = if self.keep_case {
            form.to_string()
        } else {
            form.to_lowercase()
        };
        for _ in 0..self.cut {
            word.pop();
        }
        word.push_str(&self.add);
        if word.is_empty() {
            form.to_string()
        } else {
            word
        }
    }
}

/// The keys under which a rule for `form` may stand, longest first.
pub(crate) fn endings(form: &str) -> impl Iterator<Item = String> {
    let tail: Vec<char> = form.chars().rev().take(LONGEST * 4).collect();
    let lower: Vec<char> = tail.iter().rev().flat_map(|c| c.to_lowercase()).collect();
    let whole = (form.chars().nth(LONGEST * 4).is_none()).then(|| {
        std::iter::once(WHOLE)
            .chain(lower.iter().copied())
            .collect()
    });
    let longest = lower.len().min(LONGEST);
    whole.into_iter().chain(
        (0..=longest)
            .rev()
            .map(move |n| lower[lower.len() - n..].iter().collect()),
    )
}

impl Lemmas {
    pub(crate) fn lemma(&self, form: &str, tag: usize) -> String {
        self.edit(form, tag)
            .map_or_else(|| form.to_lowercase(), |e| e.apply(form))
    }

    fn edit(&self, form: &str, tag: usize) -> Option<&Edit> {
        let rules = self.rules.get(tag)?;
        let edit = endings(form).find_map(|e| rules.get(e.as_str()))?;
        self.edits.get(usize::from(*edit))
    }

    pub(crate) fn read(bytes: &mut Bytes<'_>) -> Result<Self, ModelError> {
        let mut lemmas = Lemmas::default();
        for _ in 0..bytes.u32()? {
            lemmas.edits.push(Edit {
                cut: bytes.u8()?,
                keep_case: bytes.u8()? != 0,
                add: bytes.text()?.to_string(),
            });
        }
        for _ in 0..bytes.u32()? {
            let mut rules = HashMap::new();
            for _ in 0..bytes.u32()? {
                let edit = bytes.u32()? as u16;
                if usize::from(edit) >= lemmas.edits.len() {
                    return Err(ModelError::Malformed("a lemma rule"));
                }
                rules.insert(bytes.text()?.into(), edit);
            }
            lemmas.rules.push(rules);
        }
        Ok(lemmas)
    }

    /// Writes sorted rules, one list per tag.
    pub(crate) fn write(out: &mut Output, edits: &[Edit], rules: &[Vec<(String, usize)>]) {
        out.u32(edits.len());
        for edit in edits {
            out.u8(edit.cut);
            out.u8(u8::from(edit.keep_case));
            out.text(&edit.add);
        }
        out.u32(rules.len());
        for rules in rules {
            out.u32(rules.len());
            for (ending, edit) in rules {
                out.u32(*edit);
                out.text(ending);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_turns_the_form_into_its_lemma() {
        for (form, lemma) in [
            ("Running", "run"),
            ("went", "go"),
            ("n't", "not"),
            ("Companies", "company"),
            ("London", "London"),
            ("is", "be"),
        ] {
            assert_eq!(Edit::between(form, lemma).unwrap().apply(form), lemma);
        }
    }

    #[test]
    fn endings_go_from_the_whole_word_to_nothing() {
        assert_eq!(
            endings("Its").collect::<Vec<_>>(),
            ["^its", "its", "ts", "s", ""]
        );
        assert_eq!(endings("").collect::<Vec<_>>(), ["^", ""]);
    }
}
