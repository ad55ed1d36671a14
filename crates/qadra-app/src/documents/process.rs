//! An approved document becomes part of what the tenant knows.

use std::collections::HashMap;

use qadra_epistemic::{identity_key, normalize_label, predicate_keys};
use qadra_store::{DocumentRow, FindingRow, Job, NodeName, ObjectAt, Transition, TripleLink};
use qadra_types::Fault;
use serde_json::{Value, json};
use uuid::Uuid;

use super::analyze::Meter;
use super::compare::{Settlement, known_names, settle};
use super::lifecycle::Step;
use super::predicates::Predicates;
use super::queue::Stop;
use super::{actor_of, load};
use crate::App;

/// Statements linked in one transaction.
const BATCH: usize = 200;
/// Passages embedded in one call.
const EMBEDDED: i64 = 64;

impl App {
    pub(super) async fn document_process(&self, job: &Job) -> Result<(), Stop> {
        let (from, to) = Step::Begin.edges();
        let mut tx = self.job_tx(job).await?;
        let begun = tx
            .document_move(
                job.document_id,
                &Transition {
                    from: &from,
                    to,
                    ..Default::default()
                },
            )
            .await?;
        let Some(mut row) = begun else {
            // It is in a state that has no work: withdrawn or done by then.
            tx.job_drop(job.document_id).await?;
            tx.commit().await?;
            return Err(Stop::Lost);
        };
        tx.commit().await?;
        self.tell(&row).await;
        let mut meter = Meter::new(self, job);
        if row.analysis_status != "done" {
            let analysis = self.extract(job, &mut meter).await?;
            let mut tx = self.job_tx(job).await?;
            let after = tx
                .document_analysis(job.document_id, "done", None, &analysis)
                .await?;
            tx.commit().await?;
            row = after.ok_or(Stop::Lost)?;
        }
        self.link(job, &row, &mut meter).await?;
        let mut warnings = texts(row.analysis.get("warnings"));
        self.embed_chunks(job, &row, &mut meter, &mut warnings)
            .await?;
        meter.at("saving", 0, 1).await?;
        let mut tx = self.job_tx(job).await?;
        let (_, chunks) = tx.chunk_list(job.document_id, 0, 0).await?;
        let counts = tx.support_counts(job.document_id).await?;
        let result = json!({
            "triples_added": counts.added, "triples_supported": counts.supported, "chunks": chunks,
            "merges_queued": counts.merges, "sentences": counts.sentences,
            "skipped": row.analysis.get("skipped").and_then(Value::as_i64).unwrap_or(0), "warnings": warnings,
        });
        let (from, to) = Step::Complete.edges();
        let done = tx
            .document_move(
                job.document_id,
                &Transition {
                    from: &from,
                    to,
                    result: Some(&result),
                    ..Default::default()
                },
            )
            .await?;
        tx.job_drop(job.document_id).await?;
        tx.commit().await?;
        if let Some(row) = done {
            self.tell(&row).await;
        }
        Ok(())
    }

    /// The document could not be worked on: its state says why, and nothing half done stays in the graph.
    pub(super) async fn job_fail(&self, job: &Job, fault: &Fault) -> Result<(), Stop> {
        let error = json!({"code": fault.code.as_str(), "detail": fault.detail});
        let mut tx = self.job_tx(job).await?;
        let row = load(&mut tx, job.document_id).await?;
        let mut last = None;
        if row.analysis_status != "done" {
            last = tx
                .document_analysis(job.document_id, "failed", Some(&error), &row.analysis)
                .await?;
        }
        if job.kind == qadra_store::JobKind::Process {
            tx.support_withdraw(job.document_id, actor_of(&row)).await?;
            let (from, to) = Step::Fail.edges();
            let result = json!({"error": error, "warnings": texts(row.analysis.get("warnings"))});
            last = tx
                .document_move(
                    job.document_id,
                    &Transition {
                        from: &from,
                        to,
                        result: Some(&result),
                        ..Default::default()
                    },
                )
                .await?;
        }
        tx.job_drop(job.document_id).await?;
        tx.commit().await?;
        if let Some(row) = last {
            self.tell(&row).await;
        }
        Ok(())
    }

    async fn link(&self, job: &Job, row: &DocumentRow, meter: &mut Meter<'_>) -> Result<(), Stop> {
        meter.at("linking", 0, 1).await?;
        let mut tx = self.store.tenant_id(job.tenant_id).await?;
        let findings = tx
            .findings_from(job.document_id, 0, i64::from(i32::MAX))
            .await?;
        let text = tx
            .document_text(job.document_id, 0, row.char_count.unwrap_or(0))
            .await?;
        let mut names = known_names(&mut tx, &findings, &text).await?;
        drop(text);
        let predicates = Predicates::new(&tx.predicates_all(5_000).await?);
        let chunks: HashMap<i32, Uuid> = tx.chunk_ids(job.document_id).await?.into_iter().collect();
        drop(tx);
        let settled = settle(&findings, &mut names, &predicates);
        let nodes = self.make_nodes(job, &settled).await?;
        let real = |id: Uuid| nodes.get(&id).copied().unwrap_or(id);
        self.ask_merges(job, &settled, &real).await?;
        let predicate_ids = self.make_predicates(job, &settled).await?;
        let total = settled.rows.len();
        let mut rows = settled.rows;
        // In one order for everybody, so that two documents with the same statements do not wait for each other.
        rows.sort_by_cached_key(|r| {
            (
                real(r.subject),
                r.predicate.clone(),
                r.object.key(),
                r.position,
            )
        });
        for (done, batch) in rows.chunks(BATCH).enumerate() {
            meter.at("linking", done * BATCH, total).await?;
            let mut tx = self.job_tx(job).await?;
            for r in batch {
                let Some(f) = found(&findings, r.position) else {
                    continue;
                };
                let Some(predicate_id) = predicate_ids.get(&r.predicate) else {
                    continue;
                };
                let object = match &r.object {
                    ObjectAt::Node { id, label } => ObjectAt::Node {
                        id: real(*id),
                        label: label.clone(),
                    },
                    literal @ ObjectAt::Literal { .. } => literal.clone(),
                };
                let link = TripleLink {
                    position: r.position,
                    subject_id: real(r.subject),
                    predicate_id: *predicate_id,
                    object,
                    positive: f.positive,
                    confidence: f.confidence,
                    kind: f.kind.clone(),
                    source: row.title.clone(),
                    valid_from: f.valid_from,
                    valid_to: f.valid_to,
                    chunk_id: f.chunk_position.and_then(|p| chunks.get(&p)).copied(),
                    span: f.span,
                    sentence: f.sentence.clone(),
                };
                tx.triple_link(job.document_id, &link, actor_of(row))
                    .await?;
            }
            tx.commit().await?;
        }
        Ok(())
    }

    /// Makes the new nodes and aliases. Committed by themselves: a node without statements harms nobody, and one that
    /// is waited for by another document would.
    async fn make_nodes(
        &self,
        job: &Job,
        settled: &Settlement,
    ) -> Result<HashMap<Uuid, Uuid>, Stop> {
        let mut real = HashMap::new();
        let mut new: Vec<(Uuid, NodeName)> = settled
            .new
            .iter()
            .map(|(id, name)| (*id, node_name(name)))
            .collect();
        new.sort_by(|a, b| a.1.identity.cmp(&b.1.identity));
        for batch in new.chunks(500) {
            let mut tx = self.job_tx(job).await?;
            let names: Vec<&NodeName> = batch.iter().map(|(_, n)| n).collect();
            let ids = tx.nodes_make(&names).await?;
            tx.commit().await?;
            for (id, name) in batch {
                if let Some(found) = ids.get(&name.identity) {
                    real.insert(*id, *found);
                }
            }
        }
        let mut aliases: Vec<(Uuid, NodeName)> = settled
            .aliases
            .iter()
            .map(|(id, name)| (real.get(id).copied().unwrap_or(*id), node_name(name)))
            .collect();
        aliases.sort_by(|a, b| (a.0, &a.1.identity).cmp(&(b.0, &b.1.identity)));
        for batch in aliases.chunks(500) {
            let mut tx = self.job_tx(job).await?;
            for (node, alias) in batch {
                tx.alias_add(*node, alias).await?;
            }
            tx.commit().await?;
        }
        Ok(real)
    }

    async fn ask_merges(
        &self,
        job: &Job,
        settled: &Settlement,
        real: &impl Fn(Uuid) -> Uuid,
    ) -> Result<(), Stop> {
        for batch in settled.merges.chunks(500) {
            let mut tx = self.job_tx(job).await?;
            for (there, new, score, reasons) in batch {
                let (there, new) = (real(*there), real(*new));
                if there != new {
                    tx.merge_propose((there, new), *score, reasons, job.document_id)
                        .await?;
                }
            }
            tx.commit().await?;
        }
        Ok(())
    }

    async fn make_predicates(
        &self,
        job: &Job,
        settled: &Settlement,
    ) -> Result<HashMap<String, Uuid>, Stop> {
        let mut names: Vec<&String> = settled.rows.iter().map(|r| &r.predicate).collect();
        names.sort_unstable();
        names.dedup();
        let mut ids = HashMap::new();
        for batch in names.chunks(200) {
            let mut tx = self.job_tx(job).await?;
            for name in batch {
                let id = tx.predicate_named(name, &predicate_keys(name)).await?;
                ids.insert((*name).clone(), id);
            }
            tx.commit().await?;
        }
        Ok(ids)
    }

    /// Embeds the passages where a provider is set. Its failure costs nearness, not the document.
    async fn embed_chunks(
        &self,
        job: &Job,
        row: &DocumentRow,
        meter: &mut Meter<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<(), Stop> {
        let Some(embedder) = self.embedder.get() else {
            return Ok(());
        };
        let mut done = 0;
        loop {
            meter.at("embedding", done, 0).await?;
            let mut tx = self.store.tenant_id(job.tenant_id).await?;
            let next = tx
                .chunks_unembedded(job.document_id, &embedder.model, EMBEDDED)
                .await?;
            drop(tx);
            if next.is_empty() {
                return Ok(());
            }
            let texts: Vec<String> = next.iter().map(|(_, text)| text.clone()).collect();
            let embedded = match embedder.provider.embed(&texts, &embedder.model).await {
                Ok(e) if e.vectors.len() == next.len() => e,
                Ok(_) => {
                    warnings.push("the embedding model answered with another number of vectors; passages are found by words alone".into());
                    return Ok(());
                }
                Err(e) => {
                    tracing::warn!(document_id = %job.document_id, error = %e, "passages could not be embedded");
                    warnings.push(format!("passages are found by words alone: {e}"));
                    return Ok(());
                }
            };
            self.usage_of(job, row, "embedding", embedded.usage, &embedder.model)
                .await?;
            let mut tx = self.job_tx(job).await?;
            for ((id, _), vector) in next.iter().zip(&embedded.vectors) {
                tx.chunk_embed(*id, &embedder.model, &super::search::unit(vector))
                    .await?;
            }
            tx.commit().await?;
            done += next.len();
        }
    }
}

fn found(findings: &[FindingRow], position: i32) -> Option<&FindingRow> {
    findings
        .binary_search_by_key(&position, |f| f.position)
        .ok()
        .and_then(|i| findings.get(i))
}

fn node_name(label: &str) -> NodeName {
    NodeName {
        identity: identity_key(label),
        key: normalize_label(label),
        label: label.to_owned(),
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    value
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|v| v.as_str().map(str::to_owned))
        .collect()
}
