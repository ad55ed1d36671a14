//! What a question brings up, against the statements that answer it.

mod ablation;
mod entries;
mod family;
mod world;

use std::path::Path;

use anyhow::Context;
use qadra_epistemic::{Mean, Options};
use serde::Serialize;

pub use ablation::print_ablation;
use world::Setting;

const KS: [usize; 4] = [2, 5, 10, 20];

/// Recall in 0–1 with the settings that ship, by kind of question.
#[derive(Debug, Clone, Serialize)]
pub struct GroundingScores {
    pub file: String,
    /// Statements in the graph.
    pub statements: usize,
    pub kinds: Vec<KindScores>,
}

#[derive(Debug, Clone, Serialize)]
pub struct KindScores {
    pub kind: &'static str,
    pub n: usize,
    /// Recall at 2, 5, 10 and 20.
    pub recall: [f64; 4],
}

pub fn score(path: &Path) -> anyhow::Result<GroundingScores> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let set = entries::read(&text);
    let shipped = Options::default();
    let setting = Setting {
        measure: shipped.measure,
        lambda: shipped.lambda,
        chains: shipped.chains,
    };
    let kinds = set.questions().map(|(kind, cases)| {
        let recalls = set.world.recalls(cases, setting, &KS);
        let mut recall = [0.0; KS.len()];
        for (to, values) in recall.iter_mut().zip(&recalls) {
            *to = Mean::of(values).mean;
        }
        KindScores {
            kind,
            n: cases.len(),
            recall,
        }
    });
    Ok(GroundingScores {
        file: crate::parser::name(path),
        statements: set.world.triples.len(),
        kinds: kinds.into(),
    })
}

impl std::fmt::Display for GroundingScores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "grounding, {} ({} statements)",
            self.file, self.statements
        )?;
        for k in &self.kinds {
            let [a, b, c, d] = k.recall;
            write!(
                f,
                "\n  {:15} recall @2 {a:.3}  @5 {b:.3}  @10 {c:.3}  @20 {d:.3}  (n = {} questions)",
                k.kind, k.n
            )?;
        }
        Ok(())
    }
}
