//! Which statements carry which claims: what happens to a claim's grounding when statements are taken away.
//!
//! Definitions: `docs/verification.md`.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::ridge::{Ridge, SplitMix};
use crate::curvature::count;
use crate::triple::Triple;

/// Says how well each claim is grounded, 0 to 1, when only the statements with `present[i]` are known. Always one
/// number per claim, in the order of the claims, and the same for the same mask.
pub trait GroundingOracle {
    fn ground(&self, present: &[bool]) -> Vec<f32>;
}

impl<F: Fn(&[bool]) -> Vec<f32>> GroundingOracle for F {
    fn ground(&self, present: &[bool]) -> Vec<f32> {
        self(present)
    }
}

/// A statement's share in the grounding of a claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttributedEdge {
    pub claim: String,
    pub claim_index: usize,
    pub triple_id: Uuid,
    /// −1 to 1; positive where the statement supports the claim.
    #[serde(serialize_with = "crate::triple::short_float")]
    pub weight: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Every statement is taken away once, and left alone once.
    Exact,
    /// Random subsets and a ridge surrogate.
    Sampled,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AttributionOptions {
    /// Up to so many statements the attribution is exact.
    pub exact_up_to: usize,
    /// From here on a claim counts as grounded.
    pub grounded_from: f32,
    /// Edges with a smaller weight are left out.
    pub least_weight: f32,
    pub max_edges_per_claim: usize,
    /// At most so many subsets are drawn.
    pub max_samples: usize,
    pub seed: u64,
}

impl Default for AttributionOptions {
    fn default() -> Self {
        Self {
            exact_up_to: 12,
            grounded_from: 0.5,
            least_weight: 0.01,
            max_edges_per_claim: 8,
            max_samples: 640,
            seed: 0x51AD,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Attribution {
    pub method: Method,
    /// By claim, then by weight.
    pub edges: Vec<AttributedEdge>,
    /// R² of the weights as an additive model of the oracle on subsets that they were not made from, 0 to 1.
    pub fidelity: f32,
    /// Share of the claims that are grounded, and no longer are without the statements that their edges name, 0 to 1.
    pub faithfulness: f32,
    /// How well each claim is grounded with all statements.
    pub grounding: Vec<f32>,
}

/// Attributes claims to statements. `claims` are the texts of the oracle's claims.
///
/// The oracle is asked 2n + 2 times and once per claim, plus n(n − 1)/2 times when exact (n ≤ 12) or at most
/// `max_samples` times when sampled.
pub fn attribute(
    claims: &[String],
    triples: &[Triple],
    oracle: &impl GroundingOracle,
    options: &AttributionOptions,
) -> Attribution {
    let n = triples.len();
    let asked = Asked {
        oracle,
        claims: claims.len(),
    };
    let full = asked.at(&vec![true; n]);
    let ends = Ends::measure(&asked, n, &full);
    let (method, weights, fidelity) = if n <= options.exact_up_to {
        let (weights, fidelity) = exact(&asked, n, &full, &ends);
        (Method::Exact, weights, fidelity)
    } else {
        let (weights, fidelity) = sampled(&asked, n, &ends, options);
        (Method::Sampled, weights, fidelity)
    };
    let mut edges = Vec::new();
    let mut faithful = 0;
    for (claim, row) in weights.iter().enumerate() {
        let mut own: Vec<(usize, f64)> = row
            .iter()
            .copied()
            .enumerate()
            .filter(|(at, weight)| {
                weight.abs() >= f64::from(options.least_weight) && ends.touch(claim, *at)
            })
            .collect();
        own.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        own.truncate(options.max_edges_per_claim);
        let grounded = |values: &[f64]| {
            values.get(claim).copied().unwrap_or(0.0) >= f64::from(options.grounded_from)
        };
        if grounded(&full) && own.iter().any(|(_, weight)| *weight > 0.0) {
            let mut mask = vec![true; n];
            for (at, _) in own.iter().filter(|(_, weight)| *weight > 0.0) {
                flip(&mut mask, *at);
            }
            faithful += usize::from(!grounded(&asked.at(&mask)));
        }
        for (at, weight) in own {
            if let (Some(triple), Some(text)) = (triples.get(at), claims.get(claim)) {
                edges.push(AttributedEdge {
                    claim: text.clone(),
                    claim_index: claim,
                    triple_id: triple.id,
                    weight: weight.clamp(-1.0, 1.0) as f32,
                });
            }
        }
    }
    let faithfulness = if claims.is_empty() {
        1.0
    } else {
        (count(faithful) / count(claims.len())) as f32
    };
    Attribution {
        method,
        edges,
        fidelity: fidelity as f32,
        faithfulness,
        grounding: full.iter().map(|value| *value as f32).collect(),
    }
}

/// Area under a claim's grounding as its statements are deleted, the heaviest first: 1 when nothing matters, near 0
/// when the first deletions take the ground away. `weights` has one number per statement.
pub fn deletion_auc(oracle: &impl GroundingOracle, claim: usize, weights: &[f64]) -> f64 {
    let n = weights.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| {
        let of = |at: &usize| weights.get(*at).copied().unwrap_or(0.0);
        of(b).total_cmp(&of(a)).then(a.cmp(b))
    });
    let mut present = vec![true; n];
    let value = |present: &[bool]| {
        let all = oracle.ground(present);
        f64::from(all.get(claim).copied().unwrap_or(0.0))
    };
    let full = value(&present);
    if full <= 0.0 || n == 0 {
        return 0.0;
    }
    let mut before = 1.0;
    let mut area = 0.0;
    for at in order {
        if let Some(slot) = present.get_mut(at) {
            *slot = false;
        }
        let now = (value(&present) / full).clamp(0.0, 1.0);
        area += (before + now) / 2.0;
        before = now;
    }
    area / count(n)
}

struct Asked<'o, O> {
    oracle: &'o O,
    claims: usize,
}

impl<O: GroundingOracle> Asked<'_, O> {
    /// One finite number in [0, 1] per claim, whatever the oracle says.
    fn at(&self, present: &[bool]) -> Vec<f64> {
        let mut values: Vec<f64> = self
            .oracle
            .ground(present)
            .into_iter()
            .map(|value| {
                if value.is_finite() {
                    f64::from(value).clamp(0.0, 1.0)
                } else {
                    0.0
                }
            })
            .collect();
        values.resize(self.claims, 0.0);
        values
    }
}

/// The first and the last step of a statement's way into the context: what it adds to nothing, and what is lost
/// without it. By claim, then by statement.
struct Ends {
    alone: Vec<Vec<f64>>,
    without: Vec<Vec<f64>>,
    empty: Vec<f64>,
}

impl Ends {
    fn measure<O: GroundingOracle>(asked: &Asked<'_, O>, n: usize, full: &[f64]) -> Self {
        let mut mask = vec![false; n];
        let empty = asked.at(&mask);
        let mut alone = vec![vec![0.0; n]; asked.claims];
        let mut without = alone.clone();
        for at in 0..n {
            flip(&mut mask, at);
            let values = asked.at(&mask);
            flip(&mut mask, at);
            for ((row, value), empty) in alone.iter_mut().zip(values).zip(&empty) {
                set(row, at, value - empty);
            }
        }
        mask.fill(true);
        for at in 0..n {
            flip(&mut mask, at);
            let values = asked.at(&mask);
            flip(&mut mask, at);
            for ((row, value), full) in without.iter_mut().zip(values).zip(full) {
                set(row, at, full - value);
            }
        }
        Self {
            alone,
            without,
            empty,
        }
    }

    /// Whether a statement makes a difference to a claim, alone or left out; other weights are sampling noise.
    fn touch(&self, claim: usize, at: usize) -> bool {
        [&self.alone, &self.without]
            .into_iter()
            .filter_map(|rows| rows.get(claim)?.get(at))
            .any(|value| value.abs() > 1e-6)
    }

    /// Statements that make a difference to some claim, alone or left out.
    fn active(&self, n: usize) -> Vec<usize> {
        let mut rated: Vec<(usize, f64)> = (0..n)
            .map(|at| {
                let most = self
                    .alone
                    .iter()
                    .chain(&self.without)
                    .filter_map(|row| row.get(at))
                    .map(|value| value.abs())
                    .fold(0.0, f64::max);
                (at, most)
            })
            .filter(|(_, most)| *most > 1e-6)
            .collect();
        rated.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        rated.truncate(MAX_ACTIVE);
        let mut active: Vec<usize> = rated.into_iter().map(|(at, _)| at).collect();
        active.sort_unstable();
        active
    }
}

/// The mean of a statement's first and last marginal contribution. One statement that carries a claim alone weighs all
/// of it, two that each suffice weigh half: plain leave-one-out would give those two nothing.
///
/// The fidelity is measured where two statements are missing at once, which no weight was made from.
fn exact<O: GroundingOracle>(
    asked: &Asked<'_, O>,
    n: usize,
    full: &[f64],
    ends: &Ends,
) -> (Vec<Vec<f64>>, f64) {
    let weights: Vec<Vec<f64>> = ends
        .alone
        .iter()
        .zip(&ends.without)
        .map(|(alone, without)| {
            alone
                .iter()
                .zip(without)
                .map(|(first, last)| (first + last) / 2.0)
                .collect()
        })
        .collect();
    let mut fit = Fit::new(asked.claims);
    let mut mask = vec![true; n];
    let of = |row: &Vec<f64>, at: usize| row.get(at).copied().unwrap_or(0.0);
    for first in 0..n {
        for second in first + 1..n {
            flip(&mut mask, first);
            flip(&mut mask, second);
            let seen = asked.at(&mask);
            flip(&mut mask, first);
            flip(&mut mask, second);
            let told: Vec<f64> = weights
                .iter()
                .zip(full)
                .map(|(row, full)| full - of(row, first) - of(row, second))
                .collect();
            fit.add(1.0, &seen, &told);
        }
    }
    if n < 2 {
        // Nothing is left over to test one weight on but the empty context.
        let told: Vec<f64> = weights
            .iter()
            .zip(full)
            .map(|(row, full)| full - row.iter().sum::<f64>())
            .collect();
        fit.add(1.0, full, full);
        fit.add(1.0, &ends.empty, &told);
    } else {
        fit.add(1.0, full, full);
    }
    (weights, fit.r_squared())
}

/// A weighted ridge regression of the grounding on which statements are present, fitted on three quarters of the
/// sampled subsets and tested on the rest.
fn sampled<O: GroundingOracle>(
    asked: &Asked<'_, O>,
    n: usize,
    ends: &Ends,
    options: &AttributionOptions,
) -> (Vec<Vec<f64>>, f64) {
    let mut weights = vec![vec![0.0; n]; asked.claims];
    let mut active = ends.active(n);
    // Never as many coefficients as samples: at least three subsets to fit each on.
    let samples = (4 * active.len() + 96).min(options.max_samples.max(64));
    active.truncate(samples / 4);
    let mut random = SplitMix::new(options.seed ^ n as u64);
    let train = samples - samples / 4;
    let mut ridge = Ridge::new(active.len(), asked.claims);
    let mut held_out = Vec::with_capacity(samples - train);
    for sample in 0..samples {
        let keep = 0.25 + 0.75 * random.unit();
        let mask: Vec<bool> = (0..n).map(|_| random.unit() < keep).collect();
        let seen = asked.at(&mask);
        let near = locality(&mask);
        let row: Vec<f64> = active
            .iter()
            .map(|at| f64::from(u8::from(mask.get(*at).copied().unwrap_or(false))))
            .collect();
        if sample < train {
            ridge.add(near, &row, &seen);
        } else {
            held_out.push((near, row, seen));
        }
    }
    let surrogate = ridge.solve();
    let mut fit = Fit::new(asked.claims);
    for (near, row, seen) in &held_out {
        let told = surrogate.predict(row);
        fit.add(*near, seen, &told);
    }
    for (claim, row) in weights.iter_mut().enumerate() {
        for (column, at) in active.iter().enumerate() {
            set(row, *at, surrogate.weight(claim, column));
        }
    }
    (weights, fit.r_squared())
}

/// How near a subset is to the whole context: a Gaussian of the cosine distance between the two masks.
fn locality(mask: &[bool]) -> f64 {
    let kept = mask.iter().filter(|present| **present).count();
    let distance = 1.0 - (count(kept) / count(mask.len()).max(1.0)).sqrt();
    (-distance * distance / (2.0 * BANDWIDTH * BANDWIDTH)).exp()
}

/// Pooled weighted R²: one minus squared error over the spread around each claim's own mean.
struct Fit {
    claims: Vec<Moments>,
}

#[derive(Default, Clone, Copy)]
struct Moments {
    weight: f64,
    sum: f64,
    squares: f64,
    error: f64,
}

impl Fit {
    fn new(claims: usize) -> Self {
        Self {
            claims: vec![Moments::default(); claims],
        }
    }

    fn add(&mut self, weight: f64, seen: &[f64], told: &[f64]) {
        for ((moments, seen), told) in self.claims.iter_mut().zip(seen).zip(told) {
            moments.weight += weight;
            moments.sum += weight * seen;
            moments.squares += weight * seen * seen;
            moments.error += weight * (seen - told) * (seen - told);
        }
    }

    /// 0 where the model does no better than each claim's mean, and where no claim ever varies: nothing was explained.
    fn r_squared(&self) -> f64 {
        let mut spread = 0.0;
        let mut error = 0.0;
        for moments in &self.claims {
            if moments.weight > 0.0 {
                spread += moments.squares - moments.sum * moments.sum / moments.weight;
                error += moments.error;
            }
        }
        if spread <= 1e-9 {
            return 0.0;
        }
        (1.0 - error / spread).clamp(0.0, 1.0)
    }
}

fn flip(mask: &mut [bool], at: usize) {
    if let Some(slot) = mask.get_mut(at) {
        *slot = !*slot;
    }
}

fn set(row: &mut [f64], at: usize, value: f64) {
    if let Some(slot) = row.get_mut(at) {
        *slot = value;
    }
}

const BANDWIDTH: f64 = 0.35;
const MAX_ACTIVE: usize = 128;
