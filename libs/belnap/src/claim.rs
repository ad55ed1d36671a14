//! What a text claims, and the verdict on it.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::truth::Truth;
use crate::value::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Polarity {
    #[default]
    #[serde(rename = "+", alias = "positive")]
    Positive,
    #[serde(rename = "-", alias = "negative")]
    Negative,
}

/// How the speaker stands to the claim. Only asserted claims can be contradicted on their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Modality {
    #[default]
    Asserted,
    Hedged,
    Conditional,
    Reported,
    Question,
}

/// Which clause rule made the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClauseKind {
    Verbal,
    Copular,
    Possessive,
    Apposition,
    Relative,
    Participial,
    Controlled,
    Existential,
    Adjectival,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TermKind {
    Name,
    Common,
    Pronoun,
    Value,
    Clause,
}

/// A noun phrase or a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// As written, without leading article and possessive ending.
    pub text: String,
    /// Bytes of the source text.
    pub span: Range<usize>,
    /// Lemma of the syntactic head, lower case.
    pub head: String,
    /// Lemmas of all content words in order, lower case, head included.
    pub words: Vec<String>,
    pub kind: TermKind,
    /// The typed value, when the phrase is or holds a quantity or a date.
    pub value: Option<Value>,
    /// What a pronoun or a definite phrase stands for, when that is clear.
    pub antecedent: Option<Box<Term>>,
    /// 1-based token number of the head in its sentence.
    pub token: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Predicate {
    /// As written, auxiliaries left out: "was born in", "is the capital of".
    pub text: String,
    /// The content lemma that carries the meaning: `bear`, `capital`; of a light verb its noun.
    pub lemma: String,
    /// Verb or noun lemma, particle and preposition in order, lower case: `["bear", "in"]`, `["be", "capital", "of"]`.
    pub words: Vec<String>,
    /// Preposition that ties the object, if any.
    pub preposition: Option<String>,
    /// The sentence has the verb in the passive.
    pub passive: bool,
    /// Subject and object have changed places to put the doer first: "Y was founded by X" is (X, found, Y). In a
    /// passive that is not inverted, the claim's subject is the patient.
    #[serde(default)]
    pub inverted: bool,
    pub copular: bool,
}

/// A further complement or adjunct of the clause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    /// Case marker (`in`, `from`, `since`), or the bare relation (`obj`, `iobj`, `tmod`).
    pub role: String,
    pub term: Term,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The part of the text that makes the claim.
    pub text: String,
    /// Bytes of the source text.
    pub span: Range<usize>,
    /// 0-based number of the sentence.
    pub sentence: usize,
    /// 1-based token number of the word that heads the clause. One clause may make several claims, each with
    /// another of its complements as the object and the rest as arguments.
    #[serde(default)]
    pub clause: usize,
    pub subject: Term,
    pub predicate: Predicate,
    pub object: Option<Term>,
    pub arguments: Vec<Argument>,
    pub polarity: Polarity,
    pub modality: Modality,
    pub kind: ClauseKind,
    /// Least margin, in nats, among the arcs that the claim rests on.
    pub margin: f32,
    /// It rests on an apposition or a conjunction, where a parser errs most.
    pub fragile: bool,
}

/// The verdict on one claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct Judgement {
    pub verdict: Truth,
    /// Indices of the facts (or evidence sentences) that support the claim.
    pub supporting: Vec<usize>,
    /// Indices of those that oppose it.
    pub opposing: Vec<usize>,
    /// 0 to 1: how close the match is on which the verdict rests.
    pub confidence: f32,
    /// In plain English, for a person: why it is contradicted, contested or not grounded.
    pub reason: Option<String>,
}

impl Term {
    /// What the term stands for: its antecedent if it has one.
    pub fn referent(&self) -> &Term {
        self.antecedent.as_deref().unwrap_or(self)
    }
}

impl Predicate {
    /// The claim's subject is what the verb happens to, not who does it.
    pub fn patient_subject(&self) -> bool {
        self.passive && !self.inverted
    }
}

/// `(Tim Cook; be CEO of; Apple)`, with polarity, modality and arguments where they are not the usual ones.
impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let term = |f: &mut fmt::Formatter<'_>, term: &Term| match &term.antecedent {
            Some(a) => write!(f, "{} = {}", term.text, a.text),
            None => write!(f, "{}", term.text),
        };
        write!(f, "(")?;
        term(f, &self.subject)?;
        write!(f, "; {}", self.predicate.words.join(" "))?;
        if let Some(object) = &self.object {
            write!(f, "; ")?;
            term(f, object)?;
        }
        write!(f, ")")?;
        if self.polarity == Polarity::Negative {
            write!(f, " not")?;
        }
        match self.modality {
            Modality::Asserted => {}
            Modality::Hedged => write!(f, " hedged")?,
            Modality::Conditional => write!(f, " conditional")?,
            Modality::Reported => write!(f, " reported")?,
            Modality::Question => write!(f, " question")?,
        }
        for argument in &self.arguments {
            write!(f, " | {}: ", argument.role)?;
            term(f, &argument.term)?;
        }
        Ok(())
    }
}
