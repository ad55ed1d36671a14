//! Learns where sentences end: logistic regression by stochastic gradient, weights averaged.

use super::random::Random;
use crate::conllu::{Block, RowId};
use crate::model::Output;
use crate::split::{Gap, Look, Splitter, WEIGHTS, features, score};

/// The words of a document, the gap after each, and whether a sentence ends there.
struct Document {
    looks: Vec<Look>,
    gaps: Vec<Gap>,
    ends: Vec<bool>,
}

pub(super) fn learn(blocks: &[Block], passes: usize, random: &mut Random, out: &mut Output) {
    let mut documents = documents(blocks);
    let mut weights = vec![0.0f32; WEIGHTS];
    let mut sums = vec![0.0f64; WEIGHTS];
    for pass in 0..passes {
        let rate = 0.1 / (1.0 + pass as f32);
        random.shuffle(&mut documents);
        for document in &documents {
            let mut since = 0;
            for i in 0..document.looks.len().saturating_sub(1) {
                since += 1;
                let gap = document.gaps[i];
                if gap != Gap::Paragraph {
                    let features = features(&document.looks, i, gap, since);
                    let p = crate::net::sigmoid(score(&weights, &features));
                    let error = f32::from(u8::from(document.ends[i])) - p;
                    for f in features {
                        weights[f] += rate * error;
                    }
                }
                if document.ends[i] {
                    since = 0;
                }
            }
        }
        for (sum, w) in sums.iter_mut().zip(&weights) {
            *sum += f64::from(*w);
        }
    }
    let mean: Vec<f32> = sums
        .iter()
        .map(|s| (s / passes.max(1) as f64) as f32)
        .collect();
    Splitter::write(out, &mean);
}

fn documents(blocks: &[Block]) -> Vec<Document> {
    let mut all: Vec<Document> = Vec::new();
    for block in blocks {
        let starts = |mark: &str| block.comments.iter().any(|c| c.starts_with(mark));
        if starts("# newdoc") || all.is_empty() {
            all.push(Document {
                looks: Vec::new(),
                gaps: Vec::new(),
                ends: Vec::new(),
            });
        }
        let Some(document) = all.last_mut() else {
            continue;
        };
        if starts("# newpar")
            && let Some(gap) = document.gaps.last_mut()
        {
            *gap = Gap::Paragraph;
        }
        let mut inside = 0;
        let mut gap_after_range = Gap::Space;
        for row in &block.rows {
            let gap = match row.misc.split('|').any(|m| m == "SpaceAfter=No") {
                true => Gap::None,
                false => Gap::Space,
            };
            match row.id {
                RowId::Empty(..) => {}
                RowId::Range(_, last) => {
                    inside = last;
                    gap_after_range = gap;
                }
                RowId::Word(n) => {
                    document.looks.push(Look::of(&row.form));
                    document.gaps.push(match n.cmp(&inside) {
                        std::cmp::Ordering::Less => Gap::None,
                        std::cmp::Ordering::Equal => gap_after_range,
                        std::cmp::Ordering::Greater => gap,
                    });
                    document.ends.push(false);
                }
            }
        }
        if let Some(end) = document.ends.last_mut() {
            *end = true;
        }
    }
    all
}
