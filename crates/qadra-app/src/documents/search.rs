//! Passages for a question: by words, and by nearness where an embedding model is set.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use qadra_api as api;
use qadra_api::Items;
use qadra_epistemic::{normalize_label, predicate_keys};
use qadra_llm::LlmProvider;
use qadra_store::TenantTx;
use qadra_types::{Ctx, Fault};
use serde::Serialize;
use uuid::Uuid;

use crate::{App, input};

/// Where a list's influence ends: the usual constant of reciprocal rank fusion.
const FUSION: f64 = 60.0;
/// Passages looked at by each way.
const CANDIDATES: i32 = 50;
/// Embedded passages read at once when they are compared here.
const PAGE: i64 = 1_000;
/// Passages less near than this are about something else.
const NEAR: f32 = 0.25;

/// The model that embeds passages and questions.
pub(crate) struct Embedder {
    pub(crate) provider: Arc<dyn LlmProvider>,
    pub(crate) model: String,
}

/// A passage of a document that a person has let in.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Passage {
    pub(crate) document_id: Uuid,
    pub(crate) chunk_id: Uuid,
    pub(crate) title: String,
    pub(crate) heading: Option<String>,
    /// In code points of the document's text.
    pub(crate) span: [i32; 2],
    pub(crate) text: String,
    pub(crate) score: f64,
}

impl App {
    /// Has passages and questions embedded by this model. Before [`App::serve`]; later calls change nothing.
    pub fn embed_with(&self, provider: Arc<dyn LlmProvider>, model: String) {
        let _ = self.embedder.set(Embedder { provider, model });
    }

    pub(crate) async fn document_search(
        &self,
        ctx: &Ctx,
        r: api::SearchDocuments,
    ) -> Result<Items<api::DocumentHit>, Fault> {
        let (limit, _) = input::page(r.limit, 0)?;
        let words = input::text("q", &r.q, 1_000)?;
        let vector = self.embedded(&words).await;
        let mut tx = self.store.tenant(ctx).await?;
        let most = i32::try_from(limit).unwrap_or(20);
        let mut hits = tx.chunks_search(&words, true, most).await?;
        let near = self.near(&mut tx, vector.as_deref()).await?;
        if hits.is_empty() && near.is_empty() {
            hits = tx.chunks_search(&words, false, most).await?;
        }
        let by_words: Vec<Uuid> = hits.iter().map(|h| h.chunk_id).collect();
        let fused = fuse(&[&by_words, &near]);
        let ids: Vec<Uuid> = fused.iter().map(|(id, _)| *id).collect();
        let rows = tx.passages_get(&ids).await?;
        let items: Vec<api::DocumentHit> = fused
            .into_iter()
            .filter_map(|(id, score)| {
                let row = rows.iter().find(|r| r.chunk.id == id)?;
                let hit = hits.iter().find(|h| h.chunk_id == id);
                Some(api::DocumentHit {
                    document_id: row.document_id,
                    title: row.title.clone(),
                    chunk_id: id,
                    span: row.chunk.span,
                    snippet: hit.map_or_else(
                        || row.chunk.content.chars().take(240).collect(),
                        |h| h.snippet.clone(),
                    ),
                    score: (score * 1e6).round() / 1e6,
                })
            })
            .take(usize::try_from(limit).unwrap_or(20))
            .collect();
        let total = i64::try_from(items.len()).unwrap_or(i64::MAX);
        Ok(input::items((items, total), limit, 0))
    }

    /// Passages near enough to a vector, the nearest first; none without one.
    async fn near(&self, tx: &mut TenantTx, vector: Option<&[f32]>) -> Result<Vec<Uuid>, Fault> {
        let (Some(vector), Some(e)) = (vector, self.embedder.get()) else {
            return Ok(vec![]);
        };
        let found = nearest(tx, &e.model, vector).await?;
        Ok(found
            .into_iter()
            .filter(|(_, s)| *s >= NEAR)
            .map(|(id, _)| id)
            .collect())
    }

    /// The passages that answer a question best, at most `limit`, by both ways together. No passage is better than one
    /// that is about something else: what shares too few of the question's words and is not near comes not at all.
    pub(crate) async fn passages_find(
        &self,
        ctx: &Ctx,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Passage>, Fault> {
        let query: String = query.chars().take(2_000).collect();
        let vector = self.embedded(&query).await;
        let mut tx = self.store.tenant(ctx).await?;
        let by_words: Vec<Uuid> = tx
            .chunks_search(&query, false, CANDIDATES)
            .await?
            .into_iter()
            .map(|h| h.chunk_id)
            .collect();
        let by_nearness = self.near(&mut tx, vector.as_deref()).await?;
        let near: HashSet<Uuid> = by_nearness.iter().copied().collect();
        let fused = fuse(&[&by_words, &by_nearness]);
        let ids: Vec<Uuid> = fused.iter().map(|(id, _)| *id).collect();
        let rows = tx.passages_get(&ids).await?;
        drop(tx);
        let asked = content_words(&query);
        Ok(fused
            .into_iter()
            .filter_map(|(id, score)| {
                let row = rows.iter().find(|r| r.chunk.id == id)?;
                (near.contains(&id) || shares_enough(&asked, row)).then(|| Passage {
                    document_id: row.document_id,
                    chunk_id: id,
                    title: row.title.clone(),
                    heading: row.chunk.heading.clone(),
                    span: [row.chunk.span.0, row.chunk.span.1],
                    text: row.chunk.content.clone(),
                    score: (score * 1e6).round() / 1e6,
                })
            })
            .take(limit)
            .collect())
    }

    async fn embedded(&self, query: &str) -> Option<Vec<f32>> {
        let embedder = self.embedder.get()?;
        let wait = std::time::Duration::from_secs(5);
        let asked = [query.to_owned()];
        match tokio::time::timeout(wait, embedder.provider.embed(&asked, &embedder.model)).await {
            Ok(Ok(mut e)) => e.vectors.pop().map(|v| unit(&v)),
            Ok(Err(e)) => {
                tracing::warn!(error = %e, "a question could not be embedded; passages are found by words");
                None
            }
            Err(_) => {
                tracing::warn!(
                    "the embedding model was too slow for a question; passages are found by words"
                );
                None
            }
        }
    }
}

/// The nearest passages by cosine, exactly: the server compares where it can, this process otherwise.
async fn nearest(tx: &mut TenantTx, model: &str, query: &[f32]) -> Result<Vec<(Uuid, f32)>, Fault> {
    let most = usize::try_from(CANDIDATES).unwrap_or(50);
    if tx.has_vectors().await? {
        return Ok(tx.chunks_near(model, query, i64::from(CANDIDATES)).await?);
    }
    let mut best: Vec<(Uuid, f32)> = Vec::new();
    let mut after = Uuid::nil();
    loop {
        let page = tx.chunks_embedded(model, after, PAGE).await?;
        let Some((last, _)) = page.last() else {
            return Ok(best);
        };
        after = *last;
        best.extend(page.into_iter().filter_map(|(id, v)| {
            (v.len() == query.len()).then(|| (id, v.iter().zip(query).map(|(a, b)| a * b).sum()))
        }));
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        best.truncate(most);
    }
}

/// The vector with length 1, so that the inner product of two is their cosine.
pub(crate) fn unit(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    match length.is_finite() && length > 0.0 {
        true => vector.iter().map(|x| x / length).collect(),
        false => vec![0.0; vector.len()],
    }
}

/// Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): places count, scores of different kinds do not.
fn fuse(lists: &[&[Uuid]]) -> Vec<(Uuid, f64)> {
    let mut scores: HashMap<Uuid, f64> = HashMap::new();
    for list in lists {
        for (place, id) in (1_u32..).zip(*list) {
            *scores.entry(*id).or_default() += 1.0 / (FUSION + f64::from(place));
        }
    }
    let mut all: Vec<(Uuid, f64)> = scores.into_iter().collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all
}

fn content_words(text: &str) -> HashSet<String> {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .chunks(20)
        .flat_map(|words| predicate_keys(&words.join(" ")).into_iter().skip(1))
        .collect()
}

/// Half of the question's words that mean something.
fn shares_enough(asked: &HashSet<String>, row: &qadra_store::PassageRow) -> bool {
    let said: HashSet<String> = row
        .chunk
        .content
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
        .chain(row.chunk.heading.iter().flat_map(|h| h.split_whitespace()))
        .chain(row.title.split_whitespace())
        .filter(|w| !w.is_empty())
        .map(normalize_label)
        .collect();
    let shared = asked.iter().filter(|w| said.contains(*w)).count();
    shared > 0 && shared * 2 >= asked.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_ways_find_comes_first() {
        let id = Uuid::from_u128;
        let fused = fuse(&[&[id(1), id(2), id(3)], &[id(3), id(4)]]);
        assert_eq!(fused[0].0, id(3));
        assert_eq!(fused.len(), 4);
        assert!(fuse(&[&[], &[]]).is_empty());
    }

    #[test]
    fn a_vector_without_direction_is_near_nothing() {
        assert_eq!(unit(&[0.0, 0.0]), [0.0, 0.0]);
        assert_eq!(unit(&[f32::NAN, 1.0]), [0.0, 0.0]);
        assert_eq!(unit(&[3.0, 4.0]), [0.6, 0.8]);
    }
}
