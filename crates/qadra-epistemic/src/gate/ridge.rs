//! Weighted ridge regression with several targets on the same rows, and the generator that draws the rows.

/// Collects rows; the intercept is not penalised.
pub(super) struct Ridge {
    columns: usize,
    targets: usize,
    /// Upper triangle of Σ w·x·xᵀ, row by row.
    gram: Vec<f64>,
    sums: Vec<f64>,
    cross: Vec<f64>,
    target_sums: Vec<f64>,
    weight: f64,
}

pub(super) struct Surrogate {
    columns: usize,
    /// By target, then by column.
    weights: Vec<f64>,
    intercepts: Vec<f64>,
}

impl Ridge {
    pub(super) fn new(columns: usize, targets: usize) -> Self {
        Self {
            columns,
            targets,
            gram: vec![0.0; columns * columns],
            sums: vec![0.0; columns],
            cross: vec![0.0; columns * targets],
            target_sums: vec![0.0; targets],
            weight: 0.0,
        }
    }

    pub(super) fn add(&mut self, weight: f64, row: &[f64], values: &[f64]) {
        self.weight += weight;
        for (sum, value) in self.target_sums.iter_mut().zip(values) {
            *sum += weight * value;
        }
        for ((at, x), sum) in row.iter().enumerate().zip(&mut self.sums) {
            if *x == 0.0 {
                continue;
            }
            let scaled = weight * x;
            *sum += scaled;
            let line = self.gram.iter_mut().skip(at * self.columns + at);
            for (slot, other) in line.zip(row.iter().skip(at)) {
                *slot += scaled * other;
            }
            let line = self.cross.iter_mut().skip(at * self.targets);
            for (slot, value) in line.zip(values) {
                *slot += scaled * value;
            }
        }
    }

    /// Solves the centred normal equations by Cholesky decomposition.
    pub(super) fn solve(mut self) -> Surrogate {
        let (columns, targets) = (self.columns, self.targets);
        let total = self.weight.max(1e-12);
        let mean: Vec<f64> = self.sums.iter().map(|sum| sum / total).collect();
        let target_mean: Vec<f64> = self.target_sums.iter().map(|sum| sum / total).collect();
        for (a, first) in mean.iter().enumerate() {
            for (b, second) in mean.iter().enumerate().skip(a) {
                if let Some(slot) = self.gram.get_mut(a * columns + b) {
                    *slot -= total * first * second;
                    if a == b {
                        *slot += PENALTY * total;
                    }
                }
            }
            for (target, value) in target_mean.iter().enumerate() {
                if let Some(slot) = self.cross.get_mut(a * targets + target) {
                    *slot -= total * first * value;
                }
            }
        }
        let lower = cholesky(&self.gram, columns);
        let mut weights = vec![0.0; columns * targets];
        for target in 0..targets {
            let right: Vec<f64> = (0..columns)
                .map(|at| {
                    self.cross
                        .get(at * targets + target)
                        .copied()
                        .unwrap_or(0.0)
                })
                .collect();
            let solved = back_substitute(&lower, columns, &right);
            for (slot, value) in weights.iter_mut().skip(target * columns).zip(solved) {
                *slot = value;
            }
        }
        let intercepts = target_mean
            .iter()
            .enumerate()
            .map(|(target, value)| {
                let own = weights.iter().skip(target * columns);
                value
                    - own
                        .zip(&mean)
                        .map(|(weight, mean)| weight * mean)
                        .sum::<f64>()
            })
            .collect();
        Surrogate {
            columns,
            weights,
            intercepts,
        }
    }
}

impl Surrogate {
    pub(super) fn weight(&self, target: usize, column: usize) -> f64 {
        self.weights
            .get(target * self.columns + column)
            .copied()
            .unwrap_or(0.0)
    }

    pub(super) fn predict(&self, row: &[f64]) -> Vec<f64> {
        self.intercepts
            .iter()
            .enumerate()
            .map(|(target, intercept)| {
                let own = self.weights.iter().skip(target * self.columns);
                intercept + own.zip(row).map(|(weight, x)| weight * x).sum::<f64>()
            })
            .collect()
    }
}

/// The lower triangle of a positive definite matrix given by its upper one.
fn cholesky(upper: &[f64], size: usize) -> Vec<f64> {
    let mut lower = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..=row {
            let dot: f64 = {
                let (a, b) = (row * size, column * size);
                let left = lower.get(a..a + column).unwrap_or_default();
                let right = lower.get(b..b + column).unwrap_or_default();
                left.iter().zip(right).map(|(x, y)| x * y).sum()
            };
            let own = upper.get(column * size + row).copied().unwrap_or(0.0) - dot;
            let value = if row == column {
                own.max(1e-12).sqrt()
            } else {
                own / lower.get(column * size + column).copied().unwrap_or(1.0)
            };
            if let Some(slot) = lower.get_mut(row * size + column) {
                *slot = value;
            }
        }
    }
    lower
}

fn back_substitute(lower: &[f64], size: usize, right: &[f64]) -> Vec<f64> {
    let at = |row: usize, column: usize| lower.get(row * size + column).copied().unwrap_or(0.0);
    let mut half: Vec<f64> = Vec::with_capacity(size);
    for (row, value) in right.iter().enumerate().take(size) {
        let known: f64 = half
            .iter()
            .enumerate()
            .map(|(column, solved)| at(row, column) * solved)
            .sum();
        half.push((value - known) / at(row, row));
    }
    let mut solved = vec![0.0; size];
    for row in (0..size).rev() {
        let known: f64 = solved
            .iter()
            .enumerate()
            .skip(row + 1)
            .map(|(column, value)| at(column, row) * value)
            .sum();
        let value = (half.get(row).copied().unwrap_or(0.0) - known) / at(row, row);
        if let Some(slot) = solved.get_mut(row) {
            *slot = value;
        }
    }
    solved
}

/// SplitMix64: small, seeded, the same on every machine.
pub(super) struct SplitMix(u64);

impl SplitMix {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// In [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Share of the weight that is added to each column's own square.
const PENALTY: f64 = 1e-3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_target_is_recovered() {
        let mut random = SplitMix::new(7);
        let mut ridge = Ridge::new(3, 2);
        for _ in 0..200 {
            let row: Vec<f64> = (0..3)
                .map(|_| f64::from(u8::from(random.unit() < 0.5)))
                .collect();
            let values = [0.2 + 0.5 * row[0] - 0.3 * row[2], row[1]];
            ridge.add(0.5 + random.unit(), &row, &values);
        }
        let surrogate = ridge.solve();
        for (target, column, weight) in [(0, 0, 0.5), (0, 1, 0.0), (0, 2, -0.3), (1, 1, 1.0)] {
            assert!((surrogate.weight(target, column) - weight).abs() < 0.01);
        }
        let told = surrogate.predict(&[1.0, 0.0, 1.0]);
        assert!((told[0] - 0.4).abs() < 0.01 && told[1].abs() < 0.01);
    }

    #[test]
    fn a_column_that_never_varies_weighs_nothing() {
        let mut ridge = Ridge::new(2, 1);
        for at in 0..10 {
            let x = f64::from(at % 2);
            ridge.add(1.0, &[x, 1.0], &[x]);
        }
        let surrogate = ridge.solve();
        assert!(surrogate.weight(0, 1).abs() < 1e-9);
        assert!((surrogate.weight(0, 0) - 1.0).abs() < 0.01);
    }
}
