//! A document's statements against the graph: which nodes and predicates they mean, and what they agree or disagree with.

use std::collections::{HashMap, HashSet};

use qadra_epistemic::{
    Likeness, Object, Parsed, Polarity, Triple, contradictions, identity_key, normalize_label,
};
use qadra_store::{Compared, FindingRow, Job, ObjectAt, TenantTx};
use serde_json::{Value, json};
use uuid::Uuid;

use super::analyze::Meter;
use super::predicates::Predicates;
use super::queue::Stop;
use super::resolve::{Names, Resolved};
use crate::App;
use crate::knowledge::{predicate_facts, triple};

/// Names that are compared one by one; with more, only equal and nearly equal ones are looked up.
const COMPARED_NAMES: i64 = 50_000;
const PREDICATES: i64 = 5_000;
/// Statements that stand around one node.
const AROUND: i64 = 200;

/// A finding in terms of the graph.
pub(super) struct Settled {
    pub(super) position: i32,
    pub(super) subject: Uuid,
    pub(super) predicate: String,
    pub(super) object: ObjectAt,
}

/// All findings in terms of the graph. Nodes that are new have ids of their own making.
#[derive(Default)]
pub(super) struct Settlement {
    pub(super) rows: Vec<Settled>,
    /// Nodes to be made, with the name of each.
    pub(super) new: Vec<(Uuid, String)>,
    /// Other names of nodes.
    pub(super) aliases: Vec<(Uuid, String)>,
    /// Questions to people: the node that was there, the new one, how likely, and why.
    pub(super) merges: Vec<(Uuid, Uuid, f32, Vec<String>)>,
}

/// Decides for each finding what it means. Later names see the earlier ones.
pub(super) fn settle(
    findings: &[FindingRow],
    names: &mut Names,
    predicates: &Predicates,
) -> Settlement {
    let mut out = Settlement::default();
    for f in findings {
        let Ok(parsed) = Object::parse(&f.object) else {
            continue;
        };
        let chosen = predicates.choose(&f.predicate, matches!(parsed, Parsed::Node { .. }));
        let subject = node(&f.subject, names, &mut out);
        let (subject, object) = match parsed {
            Parsed::Node { label, .. } => {
                let other = node(&label, names, &mut out);
                let (s, o) = if chosen.turned {
                    (other, subject)
                } else {
                    (subject, other)
                };
                let label = names.label(o).unwrap_or_default().to_owned();
                (s, ObjectAt::Node { id: o, label })
            }
            Parsed::Literal(o) => {
                let literal = ObjectAt::Literal {
                    key: o.object_key(),
                    label: o.label(),
                    value: json!(o),
                };
                (subject, literal)
            }
        };
        // A thing that is related to itself is a misreading.
        if matches!(&object, ObjectAt::Node { id, .. } if *id == subject) {
            continue;
        }
        out.rows.push(Settled {
            position: f.position,
            subject,
            predicate: chosen.name,
            object,
        });
    }
    out
}

fn node(name: &str, names: &mut Names, out: &mut Settlement) -> Uuid {
    let fresh = |names: &mut Names, out: &mut Settlement| {
        let id = Uuid::new_v4();
        names.add(id, name);
        out.new.push((id, name.to_owned()));
        id
    };
    match names.resolve(name) {
        Resolved::Sure { node, alias } => {
            if alias {
                names.add(node, name);
                out.aliases.push((node, name.to_owned()));
            }
            node
        }
        Resolved::Unsure {
            node,
            score,
            reasons,
        } => {
            let id = fresh(names, out);
            out.merges.push((node, id, score, reasons));
            id
        }
        Resolved::New => fresh(names, out),
    }
}

/// The names that findings may mean, and those that the text explains.
pub(super) async fn known_names(
    tx: &mut TenantTx,
    findings: &[FindingRow],
    text: &str,
) -> Result<Names, Stop> {
    let mut names = Names::default();
    if let Some(all) = tx.names_all(COMPARED_NAMES).await? {
        for (node, name) in all {
            names.add(node, &name);
        }
    } else {
        let said: HashSet<String> = findings
            .iter()
            .flat_map(|f| [Some(f.subject.clone()), object_name(&f.object)])
            .flatten()
            .collect();
        let identities: Vec<String> = said.iter().map(|n| identity_key(n)).collect();
        let keys: Vec<String> = said.iter().map(|n| normalize_label(n)).collect();
        for (_, node, label) in tx.nodes_by_identity(&identities).await? {
            names.add(node, &label);
        }
        for (_, node, label) in tx.nodes_by_key(&keys).await? {
            names.add(node, &label);
        }
    }
    names.explain(text);
    Ok(names)
}

fn object_name(object: &Value) -> Option<String> {
    match Object::parse(object) {
        Ok(Parsed::Node { label, .. }) => Some(label),
        _ => None,
    }
}

impl App {
    /// Compares the stored findings with the graph as it is now, and stores the outcome. Changes nothing else.
    pub(super) async fn compare(
        &self,
        job: &Job,
        text: &str,
        meter: &mut Meter<'_>,
    ) -> Result<Value, Stop> {
        meter.at("linking", 0, 1).await?;
        let mut tx = self.store.tenant_id(job.tenant_id).await?;
        let findings = tx
            .findings_from(job.document_id, 0, i64::from(i32::MAX))
            .await?;
        let mut names = known_names(&mut tx, &findings, text).await?;
        let predicates = Predicates::new(&tx.predicates_all(PREDICATES).await?);
        // Not held while progress is told: that takes a connection of its own.
        drop(tx);
        let settled = settle(&findings, &mut names, &predicates);
        let made: HashSet<Uuid> = settled.new.iter().map(|(id, _)| *id).collect();
        let mut nodes: Vec<Uuid> = settled
            .rows
            .iter()
            .map(|r| r.subject)
            .filter(|id| !made.contains(id))
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut outcomes = Vec::new();
        let (mut known, mut conflicts) = (0_i64, 0_i64);
        let total = nodes.len();
        for (done, batch) in nodes.chunks(100).enumerate() {
            meter.at("linking", done * 100, total).await?;
            let mut tx = self.store.tenant_id(job.tenant_id).await?;
            let standing: Vec<Triple> = tx
                .triples_around(batch, &[], AROUND, 1)
                .await?
                .into_iter()
                .map(triple)
                .collect();
            if standing.is_empty() {
                continue;
            }
            let facts = predicate_facts(&mut tx, &standing)
                .await
                .map_err(Stop::Again)?;
            drop(tx);
            let mut by_node: HashMap<Uuid, Vec<&Triple>> = HashMap::new();
            for t in &standing {
                by_node.entry(t.subject.id).or_default().push(t);
                if let Some(id) = t.object.node_id() {
                    by_node.entry(id).or_default().push(t);
                }
            }
            let related = facts
                .0
                .values()
                .any(|p| p.inverse_of.is_some() || !p.exclusive_with.is_empty() || p.symmetric);
            for row in settled
                .rows
                .iter()
                .filter(|r| batch.binary_search(&r.subject).is_ok())
            {
                let Some(finding) = findings
                    .binary_search_by_key(&row.position, |f| f.position)
                    .ok()
                    .and_then(|i| findings.get(i))
                else {
                    continue;
                };
                let new = as_triple(row, finding, &names);
                let near: Vec<&Triple> = by_node
                    .get(&row.subject)
                    .into_iter()
                    .flatten()
                    .copied()
                    .filter(|t| related || t.predicate == new.predicate)
                    .collect();
                if near.iter().any(|t| says_the_same(t, &new)) {
                    known += 1;
                    outcomes.push(Compared {
                        position: row.position,
                        status: "known",
                        conflicts: json!([]),
                    });
                    continue;
                }
                let all: Vec<&Triple> = std::iter::once(&new).chain(near).collect();
                let against: Vec<Value> = contradictions(&all, &facts, usize::MAX)
                    .into_iter()
                    .filter_map(|c| {
                        let other = match (c.a.id == new.id, c.b.id == new.id) {
                            (true, false) => c.b,
                            (false, true) => c.a,
                            _ => return None,
                        };
                        Some(json!({"triple_id": other.id, "reason": c.reason}))
                    })
                    .take(20)
                    .collect();
                if !against.is_empty() {
                    conflicts += 1;
                    outcomes.push(Compared {
                        position: row.position,
                        status: "conflict",
                        conflicts: json!(against),
                    });
                }
            }
        }
        let mut tx = self.job_tx(job).await?;
        tx.findings_compared(job.document_id, &outcomes).await?;
        tx.commit().await?;
        let triples = i64::try_from(findings.len()).unwrap_or(i64::MAX);
        Ok(json!({
            "triples": triples, "conflicts": conflicts, "known": known, "new": triples - conflicts - known,
        }))
    }
}

fn as_triple(row: &Settled, f: &FindingRow, names: &Names) -> Triple {
    Triple {
        id: Uuid::new_v4(),
        subject: qadra_epistemic::NodeRef {
            id: row.subject,
            label: names.label(row.subject).unwrap_or_default().to_owned(),
        },
        predicate: row.predicate.clone(),
        predicate_id: Uuid::nil(),
        object: match &row.object {
            ObjectAt::Node { id, label } => Object::Node {
                id: *id,
                label: label.clone(),
            },
            ObjectAt::Literal { value, label, .. } => match Object::parse(value) {
                Ok(Parsed::Literal(o)) => o,
                _ => Object::Text(label.clone()),
            },
        },
        polarity: if f.positive {
            Polarity::Positive
        } else {
            Polarity::Negative
        },
        confidence: f.confidence,
        kind: if f.kind == "claim" {
            qadra_epistemic::Kind::Claim
        } else {
            qadra_epistemic::Kind::Fact
        },
        source: None,
        valid_from: f.valid_from,
        valid_to: f.valid_to,
    }
}

fn says_the_same(t: &Triple, new: &Triple) -> bool {
    t.subject.id == new.subject.id
        && t.predicate == new.predicate
        && t.polarity == new.polarity
        && t.object.likeness(&new.object) == Likeness::Same
        && (new.valid_from.is_none() && new.valid_to.is_none()
            || (t.valid_from, t.valid_to) == (new.valid_from, new.valid_to))
}
