//! Scores of a ranking against the statements that should have been found.

use std::collections::HashSet;

use uuid::Uuid;

/// Share of the relevant statements among the first `k` ranked ones; `None` where nothing is relevant.
pub fn recall_at(ranked: &[Uuid], relevant: &HashSet<Uuid>, k: usize) -> Option<f64> {
    if relevant.is_empty() {
        return None;
    }
    let found: HashSet<&Uuid> = ranked
        .iter()
        .take(k)
        .filter(|id| relevant.contains(id))
        .collect();
    Some(crate::curvature::count(found.len()) / crate::curvature::count(relevant.len()))
}

/// One over the place of the first relevant statement, 0 where none is ranked.
pub fn reciprocal_rank(ranked: &[Uuid], relevant: &HashSet<Uuid>) -> f64 {
    ranked
        .iter()
        .position(|id| relevant.contains(id))
        .map_or(0.0, |at| 1.0 / crate::curvature::count(at + 1))
}

/// Mean and its standard error over cases.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Mean {
    pub n: usize,
    pub mean: f64,
    pub standard_error: f64,
}

impl Mean {
    pub fn of(values: &[f64]) -> Self {
        let n = values.len();
        if n == 0 {
            return Self::default();
        }
        let size = crate::curvature::count(n);
        let mean = values.iter().sum::<f64>() / size;
        let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let standard_error = if n < 2 {
            0.0
        } else {
            (spread / (size - 1.0) / size).sqrt()
        };
        Self {
            n,
            mean,
            standard_error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_counts_each_relevant_statement_once() {
        let id = Uuid::from_u128;
        let relevant: HashSet<Uuid> = [id(1), id(2)].into();
        let ranked = [id(3), id(1), id(1), id(2)];
        assert_eq!(recall_at(&ranked, &relevant, 1), Some(0.0));
        assert_eq!(recall_at(&ranked, &relevant, 3), Some(0.5));
        assert_eq!(recall_at(&ranked, &relevant, 9), Some(1.0));
        assert_eq!(recall_at(&ranked, &HashSet::new(), 9), None);
        assert_eq!(reciprocal_rank(&ranked, &relevant), 0.5);
    }

    #[test]
    fn the_standard_error_is_that_of_the_sample() {
        let mean = Mean::of(&[0.0, 1.0, 1.0, 0.0]);
        assert_eq!((mean.n, mean.mean), (4, 0.5));
        assert!((mean.standard_error - (1.0_f64 / 12.0).sqrt()).abs() < 1e-12);
    }
}
