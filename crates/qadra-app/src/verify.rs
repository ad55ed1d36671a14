//! Both gates: what the graph says to each claim of a text. No model takes part, and no failure of a gate keeps an
//! answer from anybody.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use belnap::{Claim, Evidence, Fact, Graph, Judgement, Modality, Rules, Truth};
use qadra_api as api;
use qadra_epistemic::{
    GateConfig, PredicateFacts, Question, Triple, VerificationGateResult,
    verify_response_rule_based,
};
use qadra_types::{Code, Ctx, Fault};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::knowledge::{name_hits, predicate_facts, triple};
use crate::passages::{self, Numbered};
use crate::{App, input, parser};

/// Statements that a text is held against.
pub(crate) const MAX_TRIPLES: usize = 300;
/// Characters of a text that are read; what follows is answered as not read.
const MAX_READ: usize = 50_000;
/// For a gate that has run away.
const PATIENCE: Duration = Duration::from_secs(10);
/// Words of a text that are asked about at once, and how many times.
const PIECE: usize = 40;
const PIECES: usize = 60;
const MAX_NODES: usize = 120;

/// What a text is held against.
#[derive(Default)]
pub(crate) struct Basis {
    pub(crate) triples: Vec<Triple>,
    pub(crate) passages: Vec<Numbered>,
    /// Other names of nodes.
    aliases: HashMap<Uuid, Vec<String>>,
    facts: PredicateFacts,
}

/// What both gates say. Each is absent when there was nothing to hold the text against, or nothing claimed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Verdicts {
    pub(crate) verification: Option<Value>,
    pub(crate) belnap: Option<Value>,
    pub(crate) ungrounded: usize,
    pub(crate) contradicted: usize,
}

impl App {
    pub(crate) async fn knowledge_verify(
        &self,
        ctx: &Ctx,
        r: api::VerifyText,
    ) -> Result<api::Verification, Fault> {
        let named = |field: &'static str| {
            move |f: Fault| Fault {
                detail: f.detail.replace("content", field),
                ..f
            }
        };
        input::message(&r.text).map_err(named("text"))?;
        let query = r.query.filter(|q| !q.trim().is_empty());
        let mut found: Vec<Triple> = match &query {
            Some(query) => {
                input::message(query).map_err(named("query"))?;
                let a = self.handle_query(ctx, query, &[]).await?;
                a.triples.into_iter().map(|t| t.triple).collect()
            }
            None => vec![],
        };
        found.extend(self.triples_about(ctx, &r.text).await?);
        let mut passages = vec![];
        let asked = query.as_deref().unwrap_or(&r.text);
        passages::number(
            &mut passages,
            self.passages_find(ctx, asked, passages::MOST).await?,
        );
        let basis = self.basis(ctx, found, passages).await?;
        let verdicts = check_in_time(r.text, basis).await?;
        Ok(api::Verification {
            verification: json!(verdicts.verification),
            belnap: json!(verdicts.belnap),
        })
    }

    /// The triples with all that is known of their nodes and predicates; the first ones where they are too many.
    pub(crate) async fn basis(
        &self,
        ctx: &Ctx,
        mut triples: Vec<Triple>,
        passages: Vec<Numbered>,
    ) -> Result<Basis, Fault> {
        let mut seen = HashSet::new();
        triples.retain(|t| seen.insert(t.id));
        triples.truncate(MAX_TRIPLES);
        if triples.is_empty() {
            return Ok(Basis {
                passages,
                ..Basis::default()
            });
        }
        let nodes: Vec<Uuid> = triples
            .iter()
            .flat_map(|t| [Some(t.subject.id), t.object.node_id()])
            .flatten()
            .collect::<HashSet<_>>()
            .into_iter()
            .collect();
        let mut tx = self.store.tenant(ctx).await?;
        let aliases = tx
            .nodes_get(&nodes)
            .await?
            .into_iter()
            .filter(|n| !n.aliases.is_empty())
            .map(|n| (n.id, n.aliases.into_iter().map(|(_, a)| a).collect()))
            .collect();
        let facts = predicate_facts(&mut tx, &triples).await?;
        Ok(Basis {
            triples,
            passages,
            aliases,
            facts,
        })
    }

    /// Statements about whatever a text names, piece by piece: names in one round trip, their surroundings in another.
    async fn triples_about(&self, ctx: &Ctx, text: &str) -> Result<Vec<Triple>, Fault> {
        let words: Vec<&str> = text.split_whitespace().take(PIECE * PIECES).collect();
        let questions: Vec<Question> = words
            .chunks(PIECE)
            .map(|piece| Question::parse(&piece.join(" ")))
            .collect();
        let mut keys: Vec<String> = questions.iter().flat_map(Question::lookup_keys).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut tx = self.store.tenant(ctx).await?;
        let hits = name_hits(tx.names_find(&keys).await?);
        let mut nodes: Vec<Uuid> = Vec::new();
        for question in &questions {
            for id in question.mentions(&hits).node_ids() {
                if !nodes.contains(&id) {
                    nodes.push(id);
                }
            }
        }
        nodes.truncate(MAX_NODES);
        if nodes.is_empty() {
            return Ok(vec![]);
        }
        let per_node = i64::try_from(MAX_TRIPLES / nodes.len())
            .unwrap_or(10)
            .max(10);
        let rows = tx.triples_around(&nodes, &[], per_node, 1).await?;
        // Statements between two names of the text are the likeliest to be meant.
        let mut triples: Vec<Triple> = rows.into_iter().map(triple).collect();
        let named = |t: &Triple| {
            let object = t.object.node_id().is_some_and(|id| nodes.contains(&id));
            usize::from(nodes.contains(&t.subject.id)) + usize::from(object)
        };
        triples.sort_by_key(|t| (std::cmp::Reverse(named(t)), t.id));
        Ok(triples)
    }
}

/// Checks a text away from the threads that answer, and gives up on it after a while.
pub(crate) async fn check_in_time(text: String, basis: Basis) -> Result<Verdicts, Fault> {
    let work = tokio::task::spawn_blocking(move || check(&text, &basis));
    let failed = |what: &str| {
        Fault::new(
            Code::Internal,
            format!("the text could not be checked: {what}"),
        )
    };
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(Ok(verdicts)) => Ok(verdicts),
        Ok(Err(e)) => {
            tracing::error!(error = %e, "a gate broke off");
            Err(failed("a gate broke off"))
        }
        Err(_) => Err(failed("it took too long")),
    }
}

/// Both gates over a text. Spans are code points of it.
pub(crate) fn check(text: &str, basis: &Basis) -> Verdicts {
    if basis.triples.is_empty() && basis.passages.is_empty() {
        return Verdicts::default();
    }
    let read = match text.char_indices().nth(MAX_READ) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    };
    let plain = without_markers(read);
    let rule_based = verify_response_rule_based(&plain, &basis.triples, &GateConfig::default());
    let ungrounded = rule_based
        .as_ref()
        .map_or(0, |r: &VerificationGateResult| r.ungrounded_claims.len());
    let (belnap, contradicted) = match parser::shared() {
        Some(parser) => four_valued(parser, read, &plain, basis),
        None => (None, 0),
    };
    Verdicts {
        verification: rule_based.map(|r| json!(r)),
        belnap,
        ungrounded,
        contradicted,
    }
}

fn four_valued(
    parser: &ud::Parser,
    text: &str,
    plain: &str,
    basis: &Basis,
) -> (Option<Value>, usize) {
    let sentences = parser.parse(plain);
    let claims = belnap::extract_from(plain, &sentences);
    let mut judged_claims: Vec<(Claim, Judgement)> = match basis.triples.is_empty() {
        true => claims
            .into_iter()
            .map(|c| (c, Judgement::default()))
            .collect(),
        // Adds the claims that names alone have shown.
        false => graph(basis).verify_parsed(plain, &sentences, claims),
    };
    if judged_claims.is_empty() {
        return (None, 0);
    }
    judged_claims.sort_by_key(|(c, _)| (c.span.start, c.span.end));
    let (claims, by_graph): (Vec<Claim>, Vec<Judgement>) = judged_claims.into_iter().unzip();
    let by_passages = Passages::read(parser, (plain, &sentences), &claims, &basis.passages);
    let places = CodePoints::of(text);
    let mut counts = [0_usize; 4];
    let mut shown = Vec::with_capacity(claims.len());
    for (i, claim) in claims.iter().enumerate() {
        let graph = by_graph.get(i).cloned().unwrap_or_default();
        let prose = by_passages.judgement(i);
        let verdict = joined(graph.verdict, prose.verdict);
        if let Some(count) = counts.get_mut(verdict as usize) {
            *count += 1;
        }
        shown.push(judged(
            claim,
            (&graph, &prose),
            verdict,
            basis,
            &by_passages,
            &places,
        ));
    }
    let [ungrounded, grounded, contradicted, contested] = counts;
    let result = json!({
        "passed": contradicted == 0,
        "counts": {"grounded": grounded, "contradicted": contradicted, "contested": contested, "ungrounded": ungrounded},
        "claims": shown,
    });
    (Some(result), contradicted)
}

fn judged(
    claim: &Claim,
    (graph, prose): (&Judgement, &Judgement),
    verdict: Truth,
    basis: &Basis,
    passages: &Passages,
    places: &CodePoints,
) -> Value {
    let ids = |at: &[usize]| -> Vec<Uuid> {
        at.iter()
            .filter_map(|i| basis.triples.get(*i))
            .map(|t| t.id)
            .collect()
    };
    // The confidence and the reason of the side that the verdict rests on.
    let side = match graph.verdict == Truth::Neither && prose.verdict != Truth::Neither {
        true => prose,
        false => graph,
    };
    let mut out = json!({
        "text": claim.text,
        "span": [places.at(claim.span.start), places.at(claim.span.end)],
        "subject": claim.subject.text,
        "predicate": claim.predicate.text,
        "object": claim.object.as_ref().or(claim.arguments.first().map(|a| &a.term)).map(|t| &t.text),
        "polarity": claim.polarity,
        "modality": modality(claim.modality),
        "verdict": word(verdict),
        "triple_ids": ids(&graph.supporting),
        "against": ids(&graph.opposing),
        "confidence": short(side.confidence),
        "margin": short(claim.margin),
        "reason": side.reason,
    });
    let cited = passages.numbers(&prose.supporting);
    let opposed = passages.numbers(&prose.opposing);
    if let Value::Object(o) = &mut out
        && !(cited.is_empty() && opposed.is_empty())
    {
        o.insert("passages".into(), json!(cited));
        o.insert("passages_against".into(), json!(opposed));
    }
    out
}

/// The graph as the four-valued gate reads it.
fn graph(basis: &Basis) -> Graph {
    let names = |id: Option<Uuid>| {
        id.and_then(|id| basis.aliases.get(&id))
            .cloned()
            .unwrap_or_default()
    };
    let facts = basis
        .triples
        .iter()
        .map(|t| Fact {
            subject: t.subject.label.clone(),
            predicate: t.predicate.clone(),
            object: t.object.label(),
            polarity: match t.polarity {
                qadra_epistemic::Polarity::Positive => belnap::Polarity::Positive,
                qadra_epistemic::Polarity::Negative => belnap::Polarity::Negative,
            },
            confidence: t.confidence,
            subject_aliases: names(Some(t.subject.id)),
            object_aliases: names(t.object.node_id()),
        })
        .collect();
    Graph::new(facts, rules(basis))
}

/// How the predicates behave. One whose statements have dates changes over time, and a claim says no day; so another
/// object does not contradict it.
fn rules(basis: &Basis) -> Rules {
    let dated: HashSet<&str> = basis
        .triples
        .iter()
        .filter(|t| t.valid_from.is_some() || t.valid_to.is_some())
        .map(|t| t.predicate.as_str())
        .collect();
    let mut rules = Rules::default();
    for t in &basis.triples {
        if !dated.contains(t.predicate.as_str()) && basis.facts.is_functional(&t.predicate) {
            rules.functional.insert(t.predicate.clone());
        }
    }
    for (name, info) in &basis.facts.0 {
        if info.symmetric {
            rules.symmetric.insert(name.clone());
        }
        if let Some(inverse) = &info.inverse_of {
            rules.inverse.insert(name.clone(), inverse.clone());
        }
        for other in &info.exclusive_with {
            rules.exclusive.push((name.clone(), other.clone()));
        }
    }
    rules
}

/// The passages as one body of evidence.
struct Passages {
    judgements: Vec<Judgement>,
    /// Number of the passage that each sentence of the evidence is from.
    sources: Vec<usize>,
}

impl Passages {
    fn read(
        parser: &ud::Parser,
        (text, sentences): (&str, &[ud::Sentence]),
        claims: &[Claim],
        passages: &[Numbered],
    ) -> Self {
        let mut whole = String::new();
        let mut ends: Vec<(usize, usize)> = Vec::new();
        for p in passages {
            whole.push_str(p.text.trim());
            whole.push_str("\n\n");
            ends.push((whole.len(), p.n));
        }
        if whole.is_empty() {
            return Self {
                judgements: vec![],
                sources: vec![],
            };
        }
        let evidence = Evidence::found(parser, &whole);
        let sources = (0..)
            .map_while(|i| evidence.sentence_span(i))
            .map(|span| {
                ends.iter()
                    .find(|(end, _)| span.start < *end)
                    .map_or(0, |(_, n)| *n)
            })
            .collect();
        Self {
            judgements: evidence.judge(text, sentences, claims),
            sources,
        }
    }

    fn judgement(&self, claim: usize) -> Judgement {
        self.judgements.get(claim).cloned().unwrap_or_default()
    }

    fn numbers(&self, sentences: &[usize]) -> Vec<usize> {
        let mut numbers: Vec<usize> = sentences
            .iter()
            .filter_map(|i| self.sources.get(*i))
            .copied()
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// What one has been told by both: the join in the order of knowledge.
fn joined(a: Truth, b: Truth) -> Truth {
    let told = a as u8 | b as u8;
    [Truth::Neither, Truth::True, Truth::False, Truth::Both]
        .into_iter()
        .find(|t| *t as u8 == told)
        .unwrap_or_default()
}

fn word(verdict: Truth) -> &'static str {
    match verdict {
        Truth::True => "grounded",
        Truth::False => "contradicted",
        Truth::Both => "contested",
        Truth::Neither => "ungrounded",
    }
}

fn modality(m: Modality) -> &'static str {
    match m {
        Modality::Asserted => "asserted",
        Modality::Hedged => "hedged",
        Modality::Conditional => "conditional",
        Modality::Reported => "reported",
        Modality::Question => "question",
    }
}

fn short(value: f32) -> f64 {
    match value.is_finite() {
        true => (f64::from(value) * 1e4).round() / 1e4,
        false => 0.0,
    }
}

/// The text with citation markers blanked, which are no words of it. Every byte keeps its place.
fn without_markers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('[') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let digits = from.bytes().skip(1).take_while(u8::is_ascii_digit).count();
        if (1..=4).contains(&digits) && from.as_bytes().get(digits + 1) == Some(&b']') {
            out.push_str(&" ".repeat(digits + 2));
            rest = from.get(digits + 2..).unwrap_or_default();
        } else {
            out.push('[');
            rest = from.get(1..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    out
}

/// From byte offsets to code points.
struct CodePoints {
    /// Byte offset of each code point; empty for a text of one byte each, where both are the same.
    starts: Vec<usize>,
}

impl CodePoints {
    fn of(text: &str) -> Self {
        Self {
            starts: match text.is_ascii() {
                true => vec![],
                false => text.char_indices().map(|(i, _)| i).collect(),
            },
        }
    }

    fn at(&self, byte: usize) -> usize {
        match self.starts.is_empty() {
            true => byte,
            false => self.starts.partition_point(|start| *start < byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qadra_epistemic::{Kind, NodeRef, Object, Polarity};

    fn fact(n: u128, subject: &str, predicate: &str, object: &str) -> Triple {
        Triple {
            id: Uuid::from_u128(n),
            subject: NodeRef {
                id: Uuid::from_u128(100 + n),
                label: subject.into(),
            },
            predicate: predicate.into(),
            predicate_id: Uuid::nil(),
            object: Object::Node {
                id: Uuid::from_u128(200 + n),
                label: object.into(),
            },
            polarity: Polarity::Positive,
            confidence: 1.0,
            kind: Kind::Fact,
            source: None,
            valid_from: None,
            valid_to: None,
        }
    }

    #[test]
    fn markers_are_no_words_and_every_byte_keeps_its_place() {
        let text = "Zürich [1] is [12] not [x] [] [99999] here[3].";
        let plain = without_markers(text);
        assert_eq!(plain.len(), text.len());
        assert_eq!(plain, "Zürich     is      not [x] [] [99999] here   .");
    }

    #[test]
    fn spans_count_code_points() {
        let places = CodePoints::of("é🐻a");
        assert_eq!([0, 2, 6, 7].map(|b| places.at(b)), [0, 1, 2, 3]);
        assert_eq!(CodePoints::of("abc").at(2), 2);
    }

    #[test]
    fn what_two_say_is_joined_by_knowledge() {
        use Truth::{Both, False, Neither, True};
        for (a, b, both) in [
            (Neither, Neither, Neither),
            (True, Neither, True),
            (Neither, False, False),
            (True, False, Both),
            (Both, True, Both),
        ] {
            assert_eq!((joined(a, b), joined(b, a)), (both, both));
        }
    }

    #[test]
    fn nothing_to_hold_against_is_no_verdict() {
        let v = check("Apple was founded in 1976.", &Basis::default());
        assert!(v.verification.is_none() && v.belnap.is_none());
    }

    #[test]
    fn a_predicate_that_changes_over_time_is_not_held_against_a_claim() {
        let mut basis = Basis {
            triples: vec![fact(1, "Apple", "ceo", "Tim Cook")],
            ..Basis::default()
        };
        assert!(rules(&basis).functional.contains("ceo"));
        basis.triples[0].valid_from = chrono::NaiveDate::from_ymd_opt(2011, 8, 24);
        assert!(rules(&basis).functional.is_empty());
    }

    #[test]
    fn an_absurd_text_is_read_in_part_and_breaks_nothing() {
        let basis = Basis {
            triples: vec![fact(1, "Apple", "ceo", "Tim Cook")],
            ..Basis::default()
        };
        for text in [
            "",
            "🐻",
            "[1]",
            "[[[[",
            "\u{0}\u{202e}",
            &"a".repeat(60_000),
        ] {
            check(text, &basis);
        }
    }
}
