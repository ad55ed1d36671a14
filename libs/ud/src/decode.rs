//! From arc scores to a tree: the best single-rooted spanning arborescence (Chu-Liu and Edmonds), which
//! may cross arcs. Four sentences in five need no more than the best head of each word.

/// Heads (0 is the root, `j + 1` the word `j`) for `n` rows of `n + 1` scores.
pub(crate) fn tree(scores: &[f32], n: usize) -> Vec<usize> {
    if n == 0 {
        return Vec::new();
    }
    let width = n + 1;
    let greedy: Vec<usize> = (0..n)
        .map(|d| best(&scores[d * width..(d + 1) * width], d + 1))
        .collect();
    if greedy.iter().filter(|&&h| h == 0).count() == 1 && cycle(&greedy).is_none() {
        return greedy;
    }
    // With every root arc this much dearer, an optimum has one of them: from a tree with two, hanging one
    // of the two below the other gains more than any other arc can lose.
    let spread = scores
        .iter()
        .fold(1.0, |m: f64, s| m.max(f64::from(s.abs())));
    let penalty = 4.0 * spread * width as f64;
    let mut matrix = vec![f64::NEG_INFINITY; width * width];
    for d in 1..width {
        for h in 0..width {
            if h != d {
                let root = if h == 0 { penalty } else { 0.0 };
                matrix[d * width + h] = f64::from(scores[(d - 1) * width + h]) - root;
            }
        }
    }
    arborescence(&matrix, width).split_off(1)
}

fn best(row: &[f32], this: usize) -> usize {
    let mut best = usize::from(this == 0);
    for (h, score) in row.iter().enumerate() {
        if h != this && *score > row[best] {
            best = h;
        }
    }
    best
}

/// The nodes of one cycle among `heads[i]` of nodes `i + 1`.
fn cycle(heads: &[usize]) -> Option<Vec<usize>> {
    let mut seen = vec![0usize; heads.len() + 1];
    for start in 1..=heads.len() {
        let mut at = start;
        while at != 0 && seen[at] == 0 {
            seen[at] = start;
            at = heads[at - 1];
        }
        if at != 0 && seen[at] == start {
            let mut nodes = vec![at];
            let mut next = heads[at - 1];
            while next != at {
                nodes.push(next);
                next = heads[next - 1];
            }
            return Some(nodes);
        }
    }
    None
}

/// `matrix[d * n + h]` scores the arc from h to d; node 0 is the root. Returns the head of every node.
/// Each level of the recursion has at least one node fewer.
fn arborescence(matrix: &[f64], n: usize) -> Vec<usize> {
    let mut heads = vec![0; n];
    for d in 1..n {
        let row = &matrix[d * n..(d + 1) * n];
        for h in 1..n {
            if h != d && row[h] > row[heads[d]] {
                heads[d] = h;
            }
        }
    }
    let Some(nodes) = cycle(&heads[1..]) else {
        return heads;
    };
    let mut inside = vec![false; n];
    for &v in &nodes {
        inside[v] = true;
    }
    // Outside nodes keep their order; the cycle becomes the last node.
    let outside: Vec<usize> = (0..n).filter(|&v| !inside[v]).collect();
    let m = outside.len() + 1;
    let c = m - 1;
    let mut small = vec![f64::NEG_INFINITY; m * m];
    let mut enters = vec![0; m];
    let mut leaves = vec![0; m];
    for (i, &d) in outside.iter().enumerate() {
        for (j, &h) in outside.iter().enumerate() {
            small[i * m + j] = matrix[d * n + h];
        }
        for &h in &nodes {
            if d != 0 && matrix[d * n + h] > small[i * m + c] {
                small[i * m + c] = matrix[d * n + h];
                leaves[i] = h;
            }
        }
    }
    for (j, &h) in outside.iter().enumerate() {
        for &d in &nodes {
            let gain = matrix[d * n + h] - matrix[d * n + heads[d]];
            if gain > small[c * m + j] {
                small[c * m + j] = gain;
                enters[j] = d;
            }
        }
    }
    let contracted = arborescence(&small, m);
    for (i, &d) in outside.iter().enumerate().skip(1) {
        let h = contracted[i];
        heads[d] = if h == c { leaves[i] } else { outside[h] };
    }
    let h = contracted[c];
    heads[enters[h]] = outside[h];
    heads
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_tree(heads: &[usize]) -> bool {
        heads.iter().filter(|&&h| h == 0).count() == 1 && cycle(heads).is_none()
    }

    fn exhaustive(scores: &[f32], n: usize) -> f64 {
        let width = n + 1;
        (0..width.pow(n as u32))
            .filter_map(|mut code| {
                let heads: Vec<usize> = (0..n)
                    .map(|_| {
                        let h = code % width;
                        code /= width;
                        h
                    })
                    .collect();
                let proper = heads.iter().enumerate().all(|(d, &h)| h != d + 1);
                (proper && is_tree(&heads)).then(|| total(scores, &heads))
            })
            .fold(f64::NEG_INFINITY, f64::max)
    }

    fn total(scores: &[f32], heads: &[usize]) -> f64 {
        let width = heads.len() + 1;
        heads
            .iter()
            .enumerate()
            .map(|(d, &h)| f64::from(scores[d * width + h]))
            .sum()
    }

    proptest! {
        #[test]
        fn the_tree_is_the_best_of_all_trees(n in 1usize..=5, seed in prop::collection::vec(-9.0f32..9.0, 30)) {
            let scores = &seed[..n * (n + 1)];
            let heads = tree(scores, n);
            prop_assert!(is_tree(&heads));
            prop_assert!((total(scores, &heads) - exhaustive(scores, n)).abs() < 1e-3);
        }

        #[test]
        fn any_scores_give_one_root_and_no_cycle(n in 1usize..40, bits in prop::collection::vec(any::<f32>(), 1640)) {
            prop_assert!(is_tree(&tree(&bits[..n * (n + 1)], n)));
        }
    }
}
