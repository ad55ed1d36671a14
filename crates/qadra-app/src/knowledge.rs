//! The knowledge graph: what people add to it, and what it says to a question.

use std::collections::{BTreeSet, HashSet};

use qadra_api as api;
use qadra_api::{ById, Items};
use qadra_epistemic::{
    Assessment, Kind, NameHit, NameTarget, NodeRef, Object, Options, Parsed, Polarity,
    PredicateFacts, PredicateInfo, Question, Triple, contradictions, identity_key, normalize_label,
    predicate_keys, system_message, undecided,
};
use qadra_store::{
    NameRow, NewObject, NewTriple, NodeName, NodeRow, PredicateChange, PredicateRow, SimilarName,
    StoreError, TenantTx, TripleFilter, TripleRow,
};
use qadra_types::{Code, Ctx, Fault};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{App, input};

pub(crate) const MAX_LABEL: usize = 500;
const MAX_BATCH: usize = 1_000;
/// Statements fetched in each direction, shared by the nodes that a question names, and what each gets of them.
const FETCHED: i64 = 200;
const LEAST_EACH: i64 = 8;
const MOST_EACH: i64 = 150;
/// The same for a text with many names, which tells of them rather than asks.
const FETCHED_OF_MANY: i64 = 120;
const LEAST_OF_MANY: i64 = 3;
/// Named nodes between which chains are looked for.
const MAX_CONNECTED: usize = 8;
/// Pairs of a named node and an asked predicate that are looked up.
const MAX_ASKED: usize = 64;

impl App {
    /// One statement, or a batch (an array, or `{"triples": […]}`) that is stored whole or not at all.
    pub(crate) async fn triples_create(&self, ctx: &Ctx, body: Value) -> Result<Value, Fault> {
        let (many, given) = match body {
            Value::Array(items) => (true, items),
            Value::Object(mut o) => match o.remove("triples").or_else(|| o.remove("items")) {
                Some(Value::Array(items)) => (true, items),
                Some(_) => return Err(Fault::invalid("triples is not an array")),
                None => (false, vec![Value::Object(o)]),
            },
            _ => {
                return Err(Fault::invalid(
                    "the body is neither a statement nor an array of statements",
                ));
            }
        };
        if given.is_empty() || given.len() > MAX_BATCH {
            return Err(Fault::invalid(format!(
                "{} statements given, not 1 to {MAX_BATCH}",
                given.len()
            )));
        }
        let mut new = Vec::with_capacity(given.len());
        for (i, item) in given.into_iter().enumerate() {
            let place = |f: Fault| match many {
                true => Fault {
                    detail: format!("statement {}: {}", i + 1, f.detail),
                    ..f
                },
                false => f,
            };
            let parsed: api::CreateTriple = crate::dispatch::read(item).map_err(place)?;
            new.push(new_triple(parsed).map_err(place)?);
        }
        let mut tx = self.store.tenant(ctx).await?;
        let ids = tx.triples_insert(&new, ctx.actor.user_id).await?;
        let mut rows = tx.triples_get(&ids).await?;
        tx.commit().await?;
        // Answers come in the order of the request; a statement given twice is answered twice.
        rows.sort_by_key(|r| r.id);
        let mut items = ids
            .iter()
            .filter_map(|id| {
                rows.binary_search_by_key(id, |r| r.id)
                    .ok()
                    .and_then(|i| rows.get(i))
            })
            .map(|r| api_triple(r.clone()));
        if many {
            Ok(json!({"items": items.collect::<Vec<_>>()}))
        } else {
            Ok(json!(items.next()))
        }
    }

    pub(crate) async fn triple_list(
        &self,
        ctx: &Ctx,
        r: api::ListTriples,
    ) -> Result<Items<api::Triple>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let object_key = match &r.object {
            Some(text) => match Object::parse(&Value::String(text.clone())) {
                Ok(Parsed::Literal(o)) => Some(o.object_key()),
                _ => None,
            },
            None => None,
        };
        let filter = TripleFilter {
            subject: r.subject.as_deref().map(identity_key),
            predicate: r.predicate,
            object: r.object.as_deref().map(identity_key),
            object_key,
            words: input::optional("q", r.q, MAX_LABEL)?,
            node_id: None,
            include_retracted: r.include_retracted,
            limit,
            offset,
        };
        let mut tx = self.store.tenant(ctx).await?;
        let (rows, total) = tx.triple_list(&filter).await?;
        Ok(input::items(
            (rows.into_iter().map(api_triple).collect(), total),
            limit,
            offset,
        ))
    }

    pub(crate) async fn triple_get(&self, ctx: &Ctx, r: ById) -> Result<api::Triple, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let found = tx.triples_get(&[r.id]).await?;
        found
            .into_iter()
            .next()
            .map(api_triple)
            .ok_or_else(|| Fault::not_found("statement"))
    }

    pub(crate) async fn triple_retract(&self, ctx: &Ctx, r: ById) -> Result<(), Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        if !tx.triple_retract(r.id, ctx.actor.user_id).await? {
            return Err(Fault::not_found("statement"));
        }
        tx.commit().await?;
        Ok(())
    }

    pub(crate) async fn node_list(
        &self,
        ctx: &Ctx,
        r: api::ListNodes,
    ) -> Result<Items<api::Node>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let words = input::optional("q", r.q, MAX_LABEL)?;
        let mut tx = self.store.tenant(ctx).await?;
        let (rows, total) = tx.node_list(words.as_deref(), limit, offset).await?;
        Ok(input::items(
            (rows.into_iter().map(api_node).collect(), total),
            limit,
            offset,
        ))
    }

    /// Makes the node, or adds the aliases to the one that has the label already.
    pub(crate) async fn node_create(
        &self,
        ctx: &Ctx,
        r: api::CreateNode,
    ) -> Result<api::Node, Fault> {
        let name = node_name("label", &r.label)?;
        let kind = input::optional("kind", r.kind, 100)?;
        if r.aliases.len() > 100 {
            return Err(Fault::invalid("aliases has more than 100 entries"));
        }
        let aliases = r
            .aliases
            .iter()
            .map(|a| node_name("alias", a))
            .collect::<Result<Vec<_>, _>>()?;
        let mut tx = self.store.tenant(ctx).await?;
        let id = tx.node_ensure(&name, kind.as_deref()).await?;
        let known = tx
            .node_get(id)
            .await?
            .map(|n| n.aliases)
            .unwrap_or_default();
        for alias in aliases {
            if !known
                .iter()
                .any(|(_, text)| identity_key(text) == alias.identity)
            {
                tx.alias_create(id, &alias).await?;
            }
        }
        let node = tx
            .node_get(id)
            .await?
            .ok_or_else(|| Fault::not_found("node"))?;
        tx.commit().await?;
        Ok(api_node(node))
    }

    pub(crate) async fn node_get(&self, ctx: &Ctx, r: ById) -> Result<api::NodeDetail, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let node = tx
            .node_get(r.id)
            .await?
            .ok_or_else(|| Fault::not_found("node"))?;
        let filter = TripleFilter {
            node_id: Some(r.id),
            limit: 500,
            ..Default::default()
        };
        let (rows, _) = tx.triple_list(&filter).await?;
        Ok(api::NodeDetail {
            node: api_node(node),
            triples: rows.into_iter().map(api_triple).collect(),
        })
    }

    pub(crate) async fn alias_list(
        &self,
        ctx: &Ctx,
        r: api::ListQuery,
    ) -> Result<Items<api::Alias>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let mut tx = self.store.tenant(ctx).await?;
        let (rows, total) = tx.alias_list(limit, offset).await?;
        let items = rows
            .into_iter()
            .map(|(id, alias, node_id, label, created_at)| api::Alias {
                id,
                alias,
                node: api::NodeRef { id: node_id, label },
                created_at,
            })
            .collect();
        Ok(input::items((items, total), limit, offset))
    }

    pub(crate) async fn alias_create(
        &self,
        ctx: &Ctx,
        r: api::CreateAlias,
    ) -> Result<api::Alias, Fault> {
        let alias = node_name("alias", &r.alias)?;
        let mut tx = self.store.tenant(ctx).await?;
        let id = match r.node.parse::<Uuid>() {
            Ok(id) => Some(id),
            Err(_) => tx.node_by_identity(&identity_key(&r.node)).await?,
        };
        let node = match id {
            Some(id) => tx.node_get(id).await?,
            None => None,
        };
        let node = node.ok_or_else(|| Fault::not_found("node"))?;
        let (id, created_at) = tx
            .alias_create(node.id, &alias)
            .await
            .map_err(|e| match e {
                StoreError::Duplicate { .. } => {
                    Fault::new(Code::Conflict, "the node has that alias already")
                }
                other => other.into(),
            })?;
        tx.commit().await?;
        Ok(api::Alias {
            id,
            alias: alias.label,
            node: api::NodeRef {
                id: node.id,
                label: node.label,
            },
            created_at,
        })
    }

    pub(crate) async fn alias_delete(&self, ctx: &Ctx, r: ById) -> Result<(), Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        if !tx.alias_delete(r.id).await? {
            return Err(Fault::not_found("alias"));
        }
        tx.commit().await?;
        Ok(())
    }

    pub(crate) async fn predicate_list(
        &self,
        ctx: &Ctx,
        r: api::ListQuery,
    ) -> Result<Items<api::Predicate>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let mut tx = self.store.tenant(ctx).await?;
        let (rows, total) = tx.predicate_list(limit, offset).await?;
        Ok(input::items(
            (rows.into_iter().map(api_predicate).collect(), total),
            limit,
            offset,
        ))
    }

    pub(crate) async fn predicate_update(
        &self,
        ctx: &Ctx,
        r: api::UpdatePredicate,
    ) -> Result<api::Predicate, Fault> {
        let change = PredicateChange {
            functional: r.functional,
            symmetric: r.symmetric,
            inverse_of: r.inverse_of,
            exclusive_with: r.exclusive_with,
        };
        let mut tx = self.store.tenant(ctx).await?;
        let row = tx
            .predicate_update(r.id, &change)
            .await
            .map_err(|e| match e {
                StoreError::Dangling { .. } => Fault::not_found("predicate to refer to"),
                other => other.into(),
            })?;
        let row = row.ok_or_else(|| Fault::not_found("predicate"))?;
        tx.commit().await?;
        Ok(api_predicate(row))
    }

    pub(crate) async fn knowledge_query(
        &self,
        ctx: &Ctx,
        r: api::KnowledgeQuery,
    ) -> Result<api::Grounding, Fault> {
        input::message(&r.query).map_err(|f| Fault {
            detail: f.detail.replace("content", "query"),
            ..f
        })?;
        let a = self.handle_query(ctx, &r.query, &[]).await?;
        Ok(api::Grounding {
            query: r.query,
            competence: json!(a.competence).as_str().unwrap_or_default().to_owned(),
            context: system_message(&a),
            mentions: json!(a.mentions),
            triples: json!(a.triples),
            contradictions: json!(a.contradictions),
            gaps: json!(a.gaps),
        })
    }

    /// What the tenant's graph holds on a question: names in one indexed round trip, similar names in another where
    /// words are left that nothing explains, their surroundings in a third, and (only where statements were found) how
    /// their predicates behave in a last. `previous` are the thread's earlier questions, oldest first, for what this
    /// one leaves out.
    pub(crate) async fn handle_query(
        &self,
        ctx: &Ctx,
        text: &str,
        previous: &[&str],
    ) -> Result<Assessment, Fault> {
        // The transaction is opened by a task of its own, so a long text is read meanwhile.
        let (tx, (question, keys)) = tokio::join!(self.store.tenant(ctx), async {
            let question = Question::parse_in(text, previous);
            let keys = question.lookup_keys();
            (question, keys)
        });
        let mut tx = tx?;
        let mut hits = name_hits(tx.names_find(&keys).await?);
        let misspelt = question.fuzzy_keys(&hits);
        if !misspelt.is_empty() {
            let candidates = tx.names_similar(&misspelt).await?;
            hits.extend(candidates.into_iter().map(similar_hit));
        }
        let found = question.mentions(&hits);
        let (nodes, mut asked) = (found.node_ids(), found.predicate_ids());
        asked.truncate((MAX_ASKED / nodes.len().max(1)).max(1));
        let mut triples = Vec::new();
        if !nodes.is_empty() || !asked.is_empty() {
            // A text with many names tells of them; it does not ask how they hang together.
            let connects = found.connects() && nodes.len() <= MAX_CONNECTED;
            let hops = if connects { 2 } else { 1 };
            let share = if nodes.is_empty() {
                asked.len()
            } else {
                nodes.len()
            };
            let (fetched, least) = if nodes.len() > MAX_CONNECTED {
                (FETCHED_OF_MANY, LEAST_OF_MANY)
            } else {
                (FETCHED, LEAST_EACH)
            };
            let each = (fetched / i64::try_from(share).unwrap_or(fetched)).clamp(least, MOST_EACH);
            triples = tx
                .triples_around(&nodes, &asked, each, hops)
                .await?
                .into_iter()
                .map(triple)
                .collect();
        }
        let options = Options {
            today: Some(chrono::Utc::now().date_naive()),
            ..Options::default()
        };
        let mut assessment =
            question.assess(&found, &triples, &PredicateFacts::default(), &options);
        // Only statements that are shown are compared, so only their predicates are asked about; one contradicts nothing.
        let kept: Vec<&Triple> = assessment.triples.iter().map(|t| &t.triple).collect();
        if kept.len() > 1 {
            let facts = facts_among(&mut tx, &kept).await?;
            assessment.contradictions = contradictions(&kept, &facts, options.max_contradictions);
        }
        // Nothing was written; dropping the transaction spares the answer a round trip.
        drop(tx);
        Ok(assessment)
    }
}

fn similar_hit(candidate: SimilarName) -> NameHit {
    NameHit {
        target: NameTarget::Similar {
            similarity: trigram_similarity(&candidate.key, &candidate.name_key),
            id: candidate.node_id,
            label: candidate.label,
            name: candidate.name,
        },
        key: candidate.key,
    }
}

/// Share of the groups of three letters that two keys have in common, each word with two spaces before and one behind.
fn trigram_similarity(a: &str, b: &str) -> f32 {
    let groups = |text: &str| -> HashSet<[char; 3]> {
        text.split(' ')
            .filter(|word| !word.is_empty())
            .flat_map(|word| {
                let letters: Vec<char> = "  ".chars().chain(word.chars()).chain([' ']).collect();
                letters
                    .windows(3)
                    .filter_map(|three| three.try_into().ok())
                    .collect::<Vec<[char; 3]>>()
            })
            .collect()
    };
    let (a, b) = (groups(a), groups(b));
    let (common, all) = (a.intersection(&b).count(), a.union(&b).count());
    common as f32 / all.max(1) as f32
}

pub(crate) fn name_hits(rows: Vec<NameRow>) -> Vec<NameHit> {
    rows.into_iter()
        .map(|row| match row {
            NameRow::Node { key, id, label, .. } => NameHit {
                key,
                target: NameTarget::Node { id, label },
            },
            NameRow::Predicate { key, predicate } => NameHit {
                key,
                target: NameTarget::Predicate {
                    id: predicate.id,
                    name: predicate.name,
                },
            },
        })
        .collect()
}

/// How the predicates of these statements behave.
pub(crate) async fn predicate_facts(
    tx: &mut TenantTx,
    triples: &[Triple],
) -> Result<PredicateFacts, Fault> {
    let ids: BTreeSet<Uuid> = triples.iter().map(|t| t.predicate_id).collect();
    facts_of(tx, &ids, &ids).await
}

/// As [`predicate_facts`], for comparing the statements among themselves only: how a predicate is used is counted where
/// that decides.
async fn facts_among(tx: &mut TenantTx, triples: &[&Triple]) -> Result<PredicateFacts, Fault> {
    let ids: BTreeSet<Uuid> = triples.iter().map(|t| t.predicate_id).collect();
    facts_of(tx, &ids, &undecided(triples)).await
}

async fn facts_of(
    tx: &mut TenantTx,
    ids: &BTreeSet<Uuid>,
    counted: &BTreeSet<Uuid>,
) -> Result<PredicateFacts, Fault> {
    if ids.is_empty() {
        return Ok(PredicateFacts::default());
    }
    let list = |set: &BTreeSet<Uuid>| set.iter().copied().collect::<Vec<_>>();
    let uses = tx.predicate_uses(&list(ids), &list(counted)).await?;
    Ok(PredicateFacts(
        uses.into_iter()
            .map(|u| {
                let info = PredicateInfo {
                    functional: u.predicate.functional,
                    symmetric: u.predicate.symmetric,
                    inverse_of: u.inverse,
                    exclusive_with: u.exclusive.into_iter().collect(),
                    subjects: u64::try_from(u.subjects).unwrap_or(0),
                    single_object_subjects: u64::try_from(u.single).unwrap_or(0),
                };
                (u.predicate.name, info)
            })
            .collect(),
    ))
}

pub(crate) fn node_name(field: &str, label: &str) -> Result<NodeName, Fault> {
    let label = input::text(field, label, MAX_LABEL)?;
    Ok(NodeName {
        identity: identity_key(&label),
        key: normalize_label(&label),
        label,
    })
}

pub(crate) fn new_triple(r: api::CreateTriple) -> Result<NewTriple, Fault> {
    let predicate = input::text("predicate", &r.predicate, 200)?;
    let object = match Object::parse(&r.object).map_err(|e| Fault::invalid(e.to_string()))? {
        Parsed::Node { label, .. } => NewObject::Node(node_name("object", &label)?),
        Parsed::Literal(o) => {
            let value = json!(o);
            let label = value
                .get("label")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            input::at_most("object", &label, 10_000)?;
            NewObject::Literal {
                key: o.object_key(),
                label,
                value,
            }
        }
    };
    let positive = match r.polarity.as_deref() {
        None | Some("+" | "positive") => true,
        Some("-" | "−" | "negative") => false,
        Some(other) => return Err(Fault::invalid(format!("polarity is {other:?}, not + or -"))),
    };
    let kind = r.kind.unwrap_or_else(|| "fact".into());
    if !matches!(kind.as_str(), "fact" | "claim") {
        return Err(Fault::invalid(format!(
            "kind is {kind:?}, not fact or claim"
        )));
    }
    let confidence = r.confidence.unwrap_or(1.0);
    if !(0.0..=1.0).contains(&confidence) {
        return Err(Fault::invalid(format!(
            "confidence is {confidence}, not between 0 and 1"
        )));
    }
    if let (Some(from), Some(to)) = (r.valid_from, r.valid_to)
        && from > to
    {
        return Err(Fault::invalid("valid_from is after valid_to"));
    }
    Ok(NewTriple {
        subject: node_name("subject", &r.subject)?,
        predicate_keys: predicate_keys(&predicate),
        predicate,
        object,
        positive,
        confidence,
        kind,
        source: input::optional("source", r.source, 2_000)?,
        valid_from: r.valid_from,
        valid_to: r.valid_to,
    })
}

pub(crate) fn triple(row: TripleRow) -> Triple {
    let object = match (row.object_node_id, row.object) {
        (Some(id), _) => Object::Node {
            id,
            label: row.object_label,
        },
        // What cannot be read back any more is shown as the text it was.
        (None, Some(value)) => {
            serde_json::from_value(value).unwrap_or(Object::Text(row.object_label))
        }
        (None, None) => Object::Text(row.object_label),
    };
    Triple {
        id: row.id,
        subject: NodeRef {
            id: row.subject_id,
            label: row.subject_label,
        },
        predicate: row.predicate,
        predicate_id: row.predicate_id,
        object,
        polarity: if row.positive {
            Polarity::Positive
        } else {
            Polarity::Negative
        },
        confidence: row.confidence,
        kind: if row.kind == "claim" {
            Kind::Claim
        } else {
            Kind::Fact
        },
        source: row.source,
        valid_from: row.valid_from,
        valid_to: row.valid_to,
    }
}

pub(crate) fn api_triple(row: TripleRow) -> api::Triple {
    let (retracted_at, created_at) = (row.retracted_at, row.created_at);
    let t = triple(row);
    let object = json!(t.object);
    let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    api::Triple {
        id: t.id,
        subject: api::NodeRef {
            id: t.subject.id,
            label: t.subject.label,
        },
        predicate: t.predicate,
        predicate_id: t.predicate_id,
        object: api::TripleObject {
            r#type: text("type").unwrap_or_default(),
            value: object.get("value").cloned().unwrap_or_default(),
            unit: text("unit"),
            node_id: t.object.node_id(),
            label: text("label").unwrap_or_default(),
        },
        polarity: if t.polarity == Polarity::Positive {
            "+"
        } else {
            "-"
        }
        .to_owned(),
        confidence: (f64::from(t.confidence) * 1e6).round() / 1e6,
        kind: if t.kind == Kind::Claim {
            "claim"
        } else {
            "fact"
        }
        .to_owned(),
        source: t.source,
        valid_from: t.valid_from,
        valid_to: t.valid_to,
        retracted_at,
        created_at,
    }
}

pub(crate) fn api_node(n: NodeRow) -> api::Node {
    api::Node {
        id: n.id,
        label: n.label,
        kind: n.kind,
        aliases: n
            .aliases
            .into_iter()
            .map(|(id, alias)| api::NodeAlias { id, alias })
            .collect(),
        created_at: n.created_at,
    }
}

fn api_predicate(p: PredicateRow) -> api::Predicate {
    api::Predicate {
        id: p.id,
        name: p.name,
        functional: p.functional,
        symmetric: p.symmetric,
        inverse_of: p.inverse_of,
        exclusive_with: p.exclusive_with,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_is_that_of_trigrams() {
        // As PostgreSQL's pg_trgm has it.
        for (a, b, expected) in [
            ("word", "two words", 0.363_636_4),
            ("nividia", "nvidia", 0.5),
            ("apple", "apple", 1.0),
            ("abc", "xyz", 0.0),
            ("", "", 0.0),
        ] {
            assert!(
                (trigram_similarity(a, b) - expected).abs() < 1e-6,
                "{a} {b}"
            );
        }
    }
}
