//! Documents: proposed by anybody, let in by a person, read into statements and passages, and taken back.
//!
//! ```text
//! propose ─► pending_approval ──approve──► approved ─► processing ─► completed
//!                │                            ▲            │             │
//!                └──reject──► rejected        └──retry── failed          │
//!                                                          └── withdraw ─┴─► withdrawn
//! ```
//! `lifecycle` has the rule, `queue` the work, `analyze` what approval would add, `process` what it adds.

mod analyze;
mod compare;
mod lifecycle;
mod model;
mod predicates;
mod process;
pub(crate) mod queue;
mod resolve;
pub(crate) mod search;
mod statements;
mod text;
mod views;

use qadra_api as api;
use qadra_api::{ById, Items};
use qadra_nats::{Files, FlowProgressEvent, Headers, Subject};
use qadra_store::{DocumentRow, JobKind, NewDocument, TenantTx, Transition};
use qadra_types::{Code, Ctx, Fault, new_id};
use serde_json::json;
use uuid::Uuid;

use crate::{App, input};
use lifecycle::{State, Step};

const MAX_TITLE: usize = 500;
const MAX_REASON: usize = 2_000;
/// Characters of the text that come with the document itself.
const MAX_CONTENT: i64 = 200_000;
/// Characters of the text that are answered at once.
const MAX_SLICE: i64 = 100_000;

impl App {
    pub(crate) async fn document_propose(
        &self,
        ctx: &Ctx,
        r: api::ProposeDocument,
    ) -> Result<api::Document, Fault> {
        let source_type = match r.source_type.as_deref() {
            None if r.upload.is_some() && r.filename.is_some() => "upload",
            None => "api",
            Some(word @ ("upload" | "web" | "api" | "research")) => word,
            Some(other) => {
                return Err(Fault::invalid(format!(
                    "source_type is {other:?}, not upload, web, api or research"
                )));
            }
        }
        .to_owned();
        self.propose(ctx, r, &source_type, None).await
    }

    /// A proposal that an agent makes in a conversation. It waits for a person like any other.
    pub(crate) async fn document_propose_by_agent(
        &self,
        ctx: &Ctx,
        agent_id: Uuid,
        r: api::ProposeDocument,
    ) -> Result<api::Document, Fault> {
        self.propose(ctx, r, "agent", Some(agent_id)).await
    }

    async fn propose(
        &self,
        ctx: &Ctx,
        r: api::ProposeDocument,
        source_type: &str,
        agent_id: Option<Uuid>,
    ) -> Result<api::Document, Fault> {
        let files = self.files()?;
        let arrived = self.arrived(&files, ctx, &r).await;
        let arrived = match arrived {
            Ok(arrived) => arrived,
            Err(fault) => {
                if let Some(upload) = r.upload {
                    files.discard(ctx.tenant_id, upload).await;
                }
                return Err(fault);
            }
        };
        let id = new_id();
        let stored = match (r.upload, r.content) {
            (Some(upload), _) => files.claim(ctx.tenant_id, upload, id).await,
            (None, content) => {
                let bytes = content.unwrap_or_default().into_bytes();
                files.put(ctx.tenant_id, id, bytes.into()).await
            }
        };
        stored.map_err(|e| unstored(&e))?;
        let new = NewDocument {
            id,
            title: &arrived.title,
            content_type: &arrived.content_type,
            source_url: arrived.source_url.as_deref(),
            source_type,
            filename: arrived.filename.as_deref(),
            size_bytes: arrived.size,
            proposed_by: ctx.actor.user_id,
            proposed_by_agent: agent_id,
        };
        let made = async {
            let mut tx = self.store.tenant(ctx).await?;
            let row = tx.document_create(&new).await?;
            tx.job_put(id, JobKind::Analyze).await?;
            tx.audit(
                ctx.actor.user_id,
                "document.propose",
                "document",
                Some(id),
                &json!({"title": new.title, "agent_id": agent_id}),
            )
            .await?;
            tx.commit().await?;
            Ok::<_, Fault>(row)
        };
        match made.await {
            Ok(row) => {
                self.documents.bell.notify_one();
                Ok(views::document(row))
            }
            Err(fault) => {
                files.remove(ctx.tenant_id, id).await;
                Err(fault)
            }
        }
    }

    /// Checks what was sent, before anything is stored.
    async fn arrived(
        &self,
        files: &Files,
        ctx: &Ctx,
        r: &api::ProposeDocument,
    ) -> Result<Arrived, Fault> {
        let title = input::optional("title", r.title.clone(), MAX_TITLE)?;
        let source_url = match input::optional("source_url", r.source_url.clone(), 2_000)? {
            Some(url) if url.starts_with("http://") || url.starts_with("https://") => Some(url),
            Some(_) => return Err(Fault::invalid("source_url is no http or https address")),
            None => None,
        };
        let filename = r
            .filename
            .as_deref()
            .map(file_name)
            .filter(|n| !n.is_empty());
        let (head, size) = match (r.upload, &r.content) {
            (Some(upload), _) => files
                .peek(ctx.tenant_id, upload, 4_096)
                .await
                .map_err(|e| unstored(&e))?
                .ok_or_else(|| Fault::not_found("upload"))?,
            (None, Some(content)) => {
                let bytes = content.as_bytes();
                let head = bytes.get(..bytes.len().min(4_096)).unwrap_or_default();
                (bytes::Bytes::copy_from_slice(head), bytes.len() as u64)
            }
            (None, None) => return Err(Fault::invalid("content is missing")),
        };
        if size == 0 {
            return Err(Fault::invalid("the document is empty"));
        }
        if size > api::MAX_DOCUMENT_BYTES as u64 {
            return Err(Fault::new(
                Code::DocumentTooLarge,
                format!("the document has {size} bytes, more than 64 MiB"),
            ));
        }
        if r.filename.is_none()
            && let Some(declared) = &r.content_type
            && !matches!(
                declared.as_str(),
                "text/plain" | "text/markdown" | "text/html"
            )
        {
            return Err(Fault::invalid(format!(
                "content_type is {declared:?}, not text/plain, text/markdown or text/html"
            )));
        }
        let content_type =
            text::content_type(&head, r.content_type.as_deref(), filename.as_deref())?;
        let title = title.unwrap_or_else(|| {
            text::first_title(
                &head,
                &content_type,
                filename.as_deref(),
                source_url.as_deref(),
            )
        });
        Ok(Arrived {
            title,
            content_type,
            source_url,
            filename,
            size: i64::try_from(size).unwrap_or(i64::MAX),
        })
    }

    pub(crate) async fn document_list(
        &self,
        ctx: &Ctx,
        r: api::ListDocuments,
    ) -> Result<Items<api::Document>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        if let Some(status) = &r.status
            && State::parse(status).is_none()
        {
            return Err(Fault::invalid(format!("status {status:?} does not exist")));
        }
        let words = input::optional("q", r.q, MAX_TITLE)?;
        let mut tx = self.store.tenant(ctx).await?;
        let (rows, total) = tx
            .document_list(r.status.as_deref(), words.as_deref(), limit, offset)
            .await?;
        let items = rows.into_iter().map(views::document).collect();
        Ok(input::items((items, total), limit, offset))
    }

    pub(crate) async fn document_get(
        &self,
        ctx: &Ctx,
        r: ById,
    ) -> Result<api::DocumentDetail, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let row = tx.document_get(r.id).await?.ok_or_else(unknown)?;
        let content = match row.char_count {
            Some(n) => Some(tx.document_text(r.id, 0, n.min(MAX_CONTENT)).await?),
            None => None,
        };
        Ok(api::DocumentDetail {
            content_truncated: row.char_count.is_some_and(|n| n > MAX_CONTENT),
            content,
            document: views::document(row),
        })
    }

    /// The state alone, with the number of its last change.
    pub(crate) async fn document_watch(
        &self,
        ctx: &Ctx,
        r: ById,
    ) -> Result<api::DocumentState, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let row = tx.document_get(r.id).await?.ok_or_else(unknown)?;
        Ok(views::state(row))
    }

    pub(crate) async fn document_update(
        &self,
        ctx: &Ctx,
        r: api::UpdateDocument,
    ) -> Result<api::Document, Fault> {
        let title = r
            .title
            .map(|t| input::text("title", &t, MAX_TITLE))
            .transpose()?;
        let source_url = match r.source_url {
            Some(Some(url)) => {
                let url = input::text("source_url", &url, 2_000)?;
                if !url.starts_with("http://") && !url.starts_with("https://") {
                    return Err(Fault::invalid("source_url is no http or https address"));
                }
                Some(Some(url))
            }
            other => other,
        };
        let mut tx = self.store.tenant(ctx).await?;
        let row = tx
            .document_update(
                r.id,
                title.as_deref(),
                source_url.as_ref().map(|u| u.as_deref()),
            )
            .await?
            .ok_or_else(unknown)?;
        tx.commit().await?;
        Ok(self.told(row).await)
    }

    /// An admin removes any document; who proposed one removes it while nobody has let it in.
    pub(crate) async fn document_delete(&self, ctx: &Ctx, r: ById) -> Result<(), Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let row = tx.document_lock(r.id).await?.ok_or_else(unknown)?;
        let own = row.proposed_by == ctx.actor.user_id
            && matches!(row.status.as_str(), "pending_approval" | "rejected");
        if !own && !input::is_admin(ctx) {
            return Err(input::forbidden(
                "only an admin may remove a document that was let in or that somebody else proposed",
            ));
        }
        tx.job_drop(r.id).await?;
        tx.support_withdraw(r.id, ctx.actor.user_id).await?;
        let (from, to) = Step::Withdraw.edges();
        tx.document_move(
            r.id,
            &Transition {
                from: &from,
                to,
                actor: Some(ctx.actor.user_id),
                ..Default::default()
            },
        )
        .await?;
        tx.document_delete(r.id).await?;
        tx.audit(
            ctx.actor.user_id,
            "document.delete",
            "document",
            Some(r.id),
            &json!({"title": row.title}),
        )
        .await?;
        tx.commit().await?;
        self.tell(&DocumentRow {
            status: "withdrawn".into(),
            seq: row.seq + 1,
            ..row
        })
        .await;
        if let Ok(files) = self.files() {
            files.remove(ctx.tenant_id, r.id).await;
        }
        Ok(())
    }

    pub(crate) async fn document_text(
        &self,
        ctx: &Ctx,
        r: api::DocumentTextQuery,
    ) -> Result<api::DocumentText, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let row = tx.document_get(r.id).await?.ok_or_else(unknown)?;
        let Some(total) = row.char_count else {
            return Err(Fault::new(
                Code::DocumentState,
                "the document has no text yet: it was not read",
            ));
        };
        let from = r.from;
        let to =
            r.to.unwrap_or_else(|| from.saturating_add(MAX_SLICE))
                .min(total.max(from));
        if from < 0 || to < from {
            return Err(Fault::invalid(format!(
                "{from} to {to} is no part of a text"
            )));
        }
        if to - from > MAX_SLICE {
            return Err(Fault::invalid(format!(
                "{from} to {to} are more than {MAX_SLICE} characters"
            )));
        }
        let text = tx.document_text(r.id, from, to).await?;
        Ok(api::DocumentText {
            text,
            from,
            to,
            total,
        })
    }

    pub(crate) async fn document_file(&self, ctx: &Ctx, r: ById) -> Result<api::FileRef, Fault> {
        let mut tx = self.store.tenant(ctx).await?;
        let row = tx.document_get(r.id).await?.ok_or_else(unknown)?;
        Ok(api::FileRef {
            id: row.id,
            filename: text::download_name(&row.title, row.filename.as_deref(), &row.content_type),
            content_type: row.content_type,
            size: row.size_bytes,
        })
    }

    pub(crate) async fn document_approve(
        &self,
        ctx: &Ctx,
        r: api::ApproveDocument,
    ) -> Result<api::Document, Fault> {
        let note = input::optional("note", r.note, MAX_REASON)?;
        self.step(ctx, r.id, Step::Approve, note.as_deref()).await
    }

    pub(crate) async fn document_reject(
        &self,
        ctx: &Ctx,
        r: api::RejectDocument,
    ) -> Result<api::Document, Fault> {
        let reason = input::text("reason", &r.reason, MAX_REASON)?;
        self.step(ctx, r.id, Step::Reject, Some(&reason)).await
    }

    pub(crate) async fn document_retry(&self, ctx: &Ctx, r: ById) -> Result<api::Document, Fault> {
        self.step(ctx, r.id, Step::Retry, None).await
    }

    pub(crate) async fn document_withdraw(
        &self,
        ctx: &Ctx,
        r: api::WithdrawDocument,
    ) -> Result<api::Document, Fault> {
        let reason = input::optional("reason", r.reason, MAX_REASON)?;
        self.step(ctx, r.id, Step::Withdraw, reason.as_deref())
            .await
    }

    /// A step that a person takes, with what it means for the work.
    async fn step(
        &self,
        ctx: &Ctx,
        id: Uuid,
        step: Step,
        text: Option<&str>,
    ) -> Result<api::Document, Fault> {
        // The table of operations says so too. Here it holds for callers inside as well, agents' tools among them.
        if !input::is_admin(ctx) {
            return Err(input::forbidden(
                "only an admin or owner decides on documents",
            ));
        }
        let mut tx = self.store.tenant(ctx).await?;
        let before = tx.document_lock(id).await?.ok_or_else(unknown)?;
        let (from, to) = step.edges();
        let moved = tx
            .document_move(
                id,
                &Transition {
                    from: &from,
                    to,
                    actor: Some(ctx.actor.user_id),
                    text,
                    ..Default::default()
                },
            )
            .await?;
        let Some(row) = moved else {
            return Err(step.refused(&before.status));
        };
        match step {
            Step::Approve | Step::Retry => tx.job_put(id, JobKind::Process).await?,
            _ => tx.job_drop(id).await?,
        }
        let mut detail = json!({"title": row.title, "text": text});
        if step == Step::Withdraw {
            let gone = tx.support_withdraw(id, ctx.actor.user_id).await?;
            detail["triples_retracted"] = json!(gone);
        }
        let action = format!("document.{to}");
        tx.audit(ctx.actor.user_id, &action, "document", Some(id), &detail)
            .await?;
        tx.commit().await?;
        self.documents.bell.notify_one();
        Ok(self.told(row).await)
    }

    pub(crate) async fn document_preview(
        &self,
        ctx: &Ctx,
        r: api::PageOf,
    ) -> Result<api::DocumentPreview, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let mut tx = self.store.tenant(ctx).await?;
        let row = tx.document_get(r.id).await?.ok_or_else(unknown)?;
        let (found, total) = tx.findings_page(r.id, limit, offset).await?;
        let against = views::conflicting(&found);
        let triples = tx.triples_get(&against).await?;
        let analysis = views::analysis(&row);
        Ok(api::DocumentPreview {
            items: found
                .into_iter()
                .map(|f| views::finding(f, &triples))
                .collect(),
            total,
            limit,
            offset,
            conflicts: analysis.conflicts,
            known: analysis.known,
            new: analysis.new,
            status: analysis.status,
        })
    }

    pub(crate) async fn document_triples(
        &self,
        ctx: &Ctx,
        r: api::PageOf,
    ) -> Result<Items<api::DocumentTriple>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let mut tx = self.store.tenant(ctx).await?;
        tx.document_get(r.id).await?.ok_or_else(unknown)?;
        let (rows, total) = tx.support_list(r.id, limit, offset).await?;
        let items = rows
            .into_iter()
            .map(|s| api::DocumentTriple {
                triple: crate::knowledge::api_triple(s.triple),
                span: s.span,
                sentence: s.sentence,
                chunk_id: s.chunk_id,
            })
            .collect();
        Ok(input::items((items, total), limit, offset))
    }

    pub(crate) async fn document_chunks(
        &self,
        ctx: &Ctx,
        r: api::PageOf,
    ) -> Result<Items<api::DocumentChunk>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let mut tx = self.store.tenant(ctx).await?;
        tx.document_get(r.id).await?.ok_or_else(unknown)?;
        let (rows, total) = tx.chunk_list(r.id, limit, offset).await?;
        let items = rows
            .into_iter()
            .map(|c| api::DocumentChunk {
                id: c.id,
                position: c.position,
                span: c.span,
                text: c.content,
                heading: c.heading,
            })
            .collect();
        Ok(input::items((items, total), limit, offset))
    }

    pub(crate) async fn triple_sources(
        &self,
        ctx: &Ctx,
        r: api::PageOf,
    ) -> Result<Items<api::TripleSource>, Fault> {
        let (limit, offset) = input::page(r.limit, r.offset)?;
        let mut tx = self.store.tenant(ctx).await?;
        if tx.triples_get(&[r.id]).await?.is_empty() {
            return Err(Fault::not_found("statement"));
        }
        let (rows, total) = tx.triple_sources(r.id, limit, offset).await?;
        let items = rows
            .into_iter()
            .map(|s| api::TripleSource {
                document_id: s.document_id,
                title: s.title,
                span: s.span,
                sentence: s.sentence,
                chunk_id: s.chunk_id,
                source_url: s.source_url,
                created_at: s.created_at,
            })
            .collect();
        Ok(input::items((items, total), limit, offset))
    }

    pub(crate) fn files(&self) -> Result<Files, Fault> {
        self.bus.files().ok_or_else(|| {
            Fault::new(
                Code::Unavailable,
                "there is no object store to keep documents in",
            )
            .hint("set QADRA_OBJECT_STORE")
        })
    }

    /// Tells whoever follows the document, and answers with it.
    async fn told(&self, row: DocumentRow) -> api::Document {
        self.tell(&row).await;
        views::document(row)
    }

    /// Says a change on the document's progress subject. Nobody listening is no error.
    pub(crate) async fn tell(&self, row: &DocumentRow) {
        let state = views::state(row.clone());
        let event = FlowProgressEvent {
            event: "document".into(),
            data: json!(state.document),
            seq: state.seq,
        };
        let subject = Subject::progress(row.id);
        if let Err(e) = self
            .bus
            .publish(subject.as_str(), Headers::new(), event.to_bytes())
            .await
        {
            tracing::debug!(error = %e, "a document's progress could not be told");
        }
    }
}

/// What was sent, checked.
struct Arrived {
    title: String,
    content_type: String,
    source_url: Option<String>,
    filename: Option<String>,
    size: i64,
}

fn unknown() -> Fault {
    Fault::not_found("document")
}

fn unstored(e: &qadra_nats::BusError) -> Fault {
    tracing::error!(error = %e, "the object store failed");
    Fault::new(
        Code::Unavailable,
        "the object store did not do what was asked",
    )
    .hint("try again in a moment")
}

/// The name without folders, control characters and what is over 200 characters.
fn file_name(name: &str) -> String {
    name.rsplit(['/', '\\'])
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|c| !c.is_control())
        .take(200)
        .collect::<String>()
        .trim()
        .to_owned()
}

/// A member of the transaction's tenant to whom the work is put down: who approved the document, or proposed it.
pub(crate) fn actor_of(row: &DocumentRow) -> Uuid {
    row.approved_by.unwrap_or(row.proposed_by)
}

pub(crate) async fn load(tx: &mut TenantTx, id: Uuid) -> Result<DocumentRow, queue::Stop> {
    tx.document_get(id).await?.ok_or(queue::Stop::Lost)
}
