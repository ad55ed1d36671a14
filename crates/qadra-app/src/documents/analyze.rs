//! What approval would add: the document is read, its claims are taken out, and both are kept with it.

use std::sync::Arc;
use std::time::Duration;

use qadra_llm::Usage;
use qadra_reader::{Chunk, ChunkOptions, Limits, Progress, Text, chunk};
use qadra_store::{DocumentRow, Job, NewChunk, NewFinding, UsageRecord};
use qadra_types::{Code, Fault, new_id};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use super::queue::Stop;
use super::statements::{self, Statement};
use super::{actor_of, load, model, text};
use crate::App;

/// Characters of a document that are read for claims; all of it is searched.
const CLAIMED: usize = 2_000_000;
/// Statements of one document.
const MOST: usize = 20_000;
/// Between two notes of progress.
const TELL: Duration = Duration::from_millis(400);

/// Notes how far the work is, now and then.
pub(super) struct Meter<'a> {
    app: &'a App,
    job: &'a Job,
    told: Option<(String, Instant)>,
}

impl<'a> Meter<'a> {
    pub(super) fn new(app: &'a App, job: &'a Job) -> Self {
        Self {
            app,
            job,
            told: None,
        }
    }

    /// A new stage is told at once, more of the same after a while.
    pub(super) async fn at(&mut self, stage: &str, done: usize, total: usize) -> Result<(), Stop> {
        if let Some((last, when)) = &self.told
            && last == stage
            && when.elapsed() < TELL
        {
            return Ok(());
        }
        self.told = Some((stage.to_owned(), Instant::now()));
        let mut tx = self.app.job_tx(self.job).await?;
        let row = tx
            .document_progress(
                self.job.document_id,
                Some(&json!({"stage": stage, "done": done, "total": total})),
            )
            .await?;
        tx.commit().await?;
        if let Some(row) = row {
            self.app.tell(&row).await;
        }
        Ok(())
    }
}

impl App {
    pub(super) async fn document_analyze(&self, job: &Job) -> Result<(), Stop> {
        let mut tx = self.job_tx(job).await?;
        let row = tx
            .document_analysis(job.document_id, "running", None, &json!({}))
            .await?;
        tx.commit().await?;
        if let Some(row) = row {
            self.tell(&row).await;
        }
        let analysis = self.extract(job, &mut Meter::new(self, job)).await?;
        let mut tx = self.job_tx(job).await?;
        let row = tx
            .document_analysis(job.document_id, "done", None, &analysis)
            .await?;
        tx.job_drop(job.document_id).await?;
        tx.commit().await?;
        if let Some(row) = row {
            self.tell(&row).await;
        }
        Ok(())
    }

    /// Reads the document, takes its claims out, compares them, and stores all of it. Returns the counts.
    pub(super) async fn extract(&self, job: &Job, meter: &mut Meter<'_>) -> Result<Value, Stop> {
        let mut tx = self.store.tenant_id(job.tenant_id).await?;
        let row = load(&mut tx, job.document_id).await?;
        drop(tx);
        let read = self.read_document(job, &row, meter).await?;
        meter.at("splitting", 0, 1).await?;
        let (read, chunks) = tokio::task::spawn_blocking(move || {
            let chunks = chunk(&read, &ChunkOptions::default());
            (Arc::new(read), chunks)
        })
        .await
        .map_err(|_| broken())?;
        let total = i64::try_from(read.char_count()).unwrap_or(i64::MAX);
        let new_chunks: Vec<NewChunk> = chunks
            .iter()
            .map(|c| NewChunk {
                id: new_id(),
                position: small(c.position),
                span: (small(c.span.start), small(c.span.end)),
                heading: c.heading.as_ref().map(|h| h.chars().take(500).collect()),
                content: c.text.clone(),
            })
            .collect();
        // A title that was made from the file's name gives way to the document's own.
        let made = row
            .filename
            .as_deref()
            .is_some_and(|n| n.rsplit_once('.').map_or(n, |(stem, _)| stem).trim() == row.title);
        let own = read
            .title
            .as_deref()
            .map(str::trim)
            .filter(|t| made && !t.is_empty())
            .map(|t| t.chars().take(500).collect::<String>());
        let mut tx = self.job_tx(job).await?;
        tx.document_read_as(job.document_id, &read.content_type, total, own.as_deref())
            .await?;
        tx.document_text_put(job.document_id, &read.content).await?;
        tx.chunks_put(job.document_id, &new_chunks).await?;
        tx.commit().await?;
        drop(new_chunks);

        let mut warnings: Vec<String> = read.warnings.iter().take(20).cloned().collect();
        let (mut found, mut skipped) = self.claims(&read, meter, &mut warnings).await?;
        if self.settings.document_model_chunks > 0 && self.llm.name() != crate::builtin::NAME {
            skipped += self
                .claims_by_model(job, &row, &chunks, meter, &mut found, &mut warnings)
                .await?;
        }
        if found.len() > MOST {
            warnings.push(format!(
                "only the first {MOST} of {} statements are kept",
                found.len()
            ));
            found.truncate(MOST);
        }
        if found.is_empty() {
            warnings.push("no statement was found; claims are read from English sentences".into());
        }
        let findings = numbered(found, &chunks);
        let mut tx = self.job_tx(job).await?;
        tx.findings_put(job.document_id, &findings).await?;
        tx.commit().await?;
        let mut counts = self.compare(job, &read.content, meter).await?;
        counts["skipped"] = json!(skipped);
        counts["warnings"] = json!(warnings);
        Ok(counts)
    }

    async fn read_document(
        &self,
        job: &Job,
        row: &DocumentRow,
        meter: &mut Meter<'_>,
    ) -> Result<Text, Stop> {
        meter.at("reading", 0, 0).await?;
        let files = self.files().map_err(Stop::Again)?;
        let bytes = files
            .get(job.tenant_id, job.document_id)
            .await
            .map_err(|e| Stop::Again(super::unstored(&e)))?;
        let (send, mut progress) = watch::channel(Progress {
            done: 0,
            total: 0,
            unit: qadra_reader::Unit::Bytes,
        });
        let limits = Limits::default();
        let declared = Some(row.content_type.as_str());
        let reading = self.settings.reader.read(
            bytes.as_ref().into(),
            declared,
            row.filename.as_deref(),
            &limits,
            move |p| {
                let _ = send.send(p);
            },
        );
        tokio::pin!(reading);
        loop {
            tokio::select! {
                read = &mut reading => {
                    return read.map_err(|e| Stop::Failed(text::unread(&e)));
                }
                changed = progress.changed() => {
                    if changed.is_err() {
                        return (&mut reading).await.map_err(|e| Stop::Failed(text::unread(&e)));
                    }
                    let p = *progress.borrow_and_update();
                    let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
                    meter.at("reading", number(p.done), number(p.total)).await?;
                }
            }
        }
    }

    /// Claims by the parser in this program.
    async fn claims(
        &self,
        read: &Arc<Text>,
        meter: &mut Meter<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<(Vec<Found>, usize), Stop> {
        let (stretches, cut) = text::stretches(read, CLAIMED);
        if cut {
            warnings.push(format!(
                "claims were read from the first {CLAIMED} characters of running text; all of it can be searched"
            ));
        }
        let total = stretches.len();
        let (mut found, mut skipped) = (Vec::new(), 0);
        for (done, stretch) in stretches.into_iter().enumerate() {
            meter.at("extracting", done, total).await?;
            let (more, left) = tokio::task::spawn_blocking(move || by_rules(&stretch))
                .await
                .map_err(|_| broken())?;
            found.extend(more);
            skipped += left;
            if found.len() > MOST {
                break;
            }
        }
        Ok((found, skipped))
    }

    /// Claims by the configured model, beside those by rule. Its failure is a warning.
    async fn claims_by_model(
        &self,
        job: &Job,
        row: &DocumentRow,
        chunks: &[Chunk],
        meter: &mut Meter<'_>,
        found: &mut Vec<Found>,
        warnings: &mut Vec<String>,
    ) -> Result<usize, Stop> {
        let (mut failures, mut failed, mut dropped) = (0, 0, 0);
        let mut why = String::new();
        let most = self.settings.document_model_chunks;
        if chunks.len() > most {
            warnings.push(format!(
                "the model read the first {most} of {} passages",
                chunks.len()
            ));
        }
        for (done, chunk) in chunks.iter().take(most).enumerate() {
            meter.at("extracting", done, chunks.len().min(most)).await?;
            let asked = model::statements(&*self.llm, &row.title, chunk).await;
            let usage = asked.usage;
            if usage.total() > 0 {
                self.usage_of(job, row, "llm_call", usage, self.llm.model())
                    .await?;
            }
            match asked.outcome {
                Ok((more, left)) => {
                    failures = 0;
                    dropped += left;
                    for f in more {
                        if !found.iter().any(|g| g.says_the_same(&f)) {
                            found.push(f);
                        }
                    }
                }
                Err(e) => {
                    failures += 1;
                    failed += 1;
                    why = e.chars().take(300).collect();
                    tracing::warn!(document_id = %job.document_id, error = %e, "the model could not read a passage");
                    if failures >= 2 {
                        break;
                    }
                }
            }
        }
        if failed > 0 {
            let rest = if failures >= 2 {
                "; the rest was read by rule alone"
            } else {
                ""
            };
            warnings.push(format!(
                "the model failed on {failed} passages ({why}){rest}"
            ));
        }
        Ok(dropped)
    }

    pub(super) async fn usage_of(
        &self,
        job: &Job,
        row: &DocumentRow,
        operation: &'static str,
        usage: Usage,
        model: &str,
    ) -> Result<(), Stop> {
        let tokens = |n: u64| i32::try_from(n).unwrap_or(i32::MAX);
        let record = UsageRecord {
            user_id: actor_of(row),
            agent_id: row.proposed_by_agent.unwrap_or_default(),
            model: model.to_owned(),
            tokens_in: tokens(usage.prompt_tokens),
            tokens_out: tokens(usage.completion_tokens),
            operation,
            metadata: json!({"document_id": job.document_id, "estimated": usage.estimated}),
        };
        let mut tx = self.store.tenant_id(job.tenant_id).await?;
        tx.usage_add(&[record]).await?;
        tx.commit().await?;
        Ok(())
    }
}

/// A statement with its sentence's place in the document.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) statement: Statement,
    pub(super) span: (usize, usize),
    pub(super) text: String,
    pub(super) by: &'static str,
}

impl Found {
    fn says_the_same(&self, other: &Self) -> bool {
        let (a, b) = (&self.statement, &other.statement);
        let fold = qadra_epistemic::identity_key;
        let value = |s: &Statement| {
            s.object
                .get("value")
                .map(|v| fold(v.to_string().trim_matches('"')))
        };
        self.span.0 < other.span.1
            && other.span.0 < self.span.1
            && a.positive == b.positive
            && fold(&a.subject) == fold(&b.subject)
            && fold(&a.predicate) == fold(&b.predicate)
            && value(a) == value(b)
    }
}

fn by_rules(stretch: &text::Stretch) -> (Vec<Found>, usize) {
    let Some(parser) = crate::parser::shared() else {
        return (vec![], 0);
    };
    let sentences = parser.parse(&stretch.text);
    let claims = belnap::extract_from(&stretch.text, &sentences);
    let (statements, skipped) = statements::statements(&claims);
    let bytes: Vec<usize> = sentences
        .iter()
        .flat_map(|s| [s.span.start, s.span.end])
        .collect();
    let places = text::chars_at(&stretch.text, &bytes);
    let found = statements
        .into_iter()
        .filter_map(|statement| {
            let at = statement.sentence;
            let sentence = sentences.get(at)?;
            Some(Found {
                span: (
                    stretch.start + places.get(at * 2)?,
                    stretch.start + places.get(at * 2 + 1)?,
                ),
                text: stretch.text.get(sentence.span.clone())?.to_owned(),
                statement,
                by: "rules",
            })
        })
        .collect();
    (found, skipped)
}

fn numbered(mut found: Vec<Found>, chunks: &[Chunk]) -> Vec<NewFinding> {
    found.sort_by_key(|f| f.span);
    found
        .into_iter()
        .enumerate()
        .map(|(position, f)| {
            let chunk = chunks.partition_point(|c| c.span.end <= f.span.0);
            NewFinding {
                position: small(position),
                subject: f.statement.subject,
                predicate: f.statement.predicate,
                object: f.statement.object,
                positive: f.statement.positive,
                kind: f.statement.kind,
                confidence: f.statement.confidence,
                valid_from: f.statement.valid_from,
                valid_to: f.statement.valid_to,
                span: (small(f.span.0), small(f.span.1)),
                sentence: f.text,
                chunk_position: chunks.get(chunk).map(|c| small(c.position)),
                found_by: f.by,
            }
        })
        .collect()
}

fn small(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

fn broken() -> Stop {
    Stop::Again(Fault::new(
        Code::Internal,
        "working on the document failed inside",
    ))
}
