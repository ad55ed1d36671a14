//! Exact optimal transport between two small distributions.

/// Least cost of moving the masses `from` to the masses `to`, where `cost(i, j)` is the price of one unit from `i` to
/// `j`. Both sum to the same total. Successive shortest augmenting paths with node potentials: exact up to rounding,
/// cubic in the number of points.
pub(super) fn transport_cost(from: &[f64], to: &[f64], cost: impl Fn(usize, usize) -> f64) -> f64 {
    let (rows, columns) = (from.len(), to.len());
    let price: Vec<Vec<f64>> = (0..rows)
        .map(|row| (0..columns).map(|column| cost(row, column)).collect())
        .collect();
    let mut flow: Vec<Vec<f64>> = vec![vec![0.0; columns]; rows];
    let mut left = from.to_vec();
    let mut wanted = to.to_vec();
    // Potentials keep reduced costs from being negative, so that Dijkstra's algorithm stays right.
    let mut potential = vec![0.0_f64; rows + columns];
    // An augmentation empties a source, fills a sink or cancels a flow; rounding cannot make it loop for ever.
    for _ in 0..(rows + columns + 1) * (rows + columns + 1) {
        let Some(path) = shortest(&price, &flow, &left, &wanted, &mut potential) else {
            break;
        };
        augment(&path, &mut flow, &mut left, &mut wanted);
    }
    flow.iter()
        .zip(&price)
        .flat_map(|(flows, prices)| flows.iter().zip(prices))
        .map(|(flow, price)| flow * price)
        .sum()
}

/// A path from a source with mass left to a sink that wants some: row, column, row, column …
fn shortest(
    price: &[Vec<f64>],
    flow: &[Vec<f64>],
    left: &[f64],
    wanted: &[f64],
    potential: &mut [f64],
) -> Option<Vec<usize>> {
    let (rows, columns) = (left.len(), wanted.len());
    let total = rows + columns;
    let mut distance = vec![f64::INFINITY; total];
    let mut before: Vec<Option<usize>> = vec![None; total];
    let mut done = vec![false; total];
    for (row, mass) in left.iter().enumerate() {
        if *mass > DUST {
            *distance.get_mut(row)? = 0.0;
        }
    }
    loop {
        let node = (0..total)
            .filter(|node| {
                done.get(*node) == Some(&false)
                    && distance.get(*node).is_some_and(|far| far.is_finite())
            })
            .min_by(|a, b| {
                let at = |node: &usize| distance.get(*node).copied().unwrap_or(f64::INFINITY);
                at(a).total_cmp(&at(b))
            });
        let Some(node) = node else { break };
        *done.get_mut(node)? = true;
        let here = distance.get(node).copied()?;
        let base = potential.get(node).copied()?;
        let mut relax = |next: usize, step: f64| {
            let reduced = (step + base - potential.get(next).copied().unwrap_or(0.0)).max(0.0);
            if let (Some(known), Some(link)) = (distance.get_mut(next), before.get_mut(next))
                && here + reduced < *known - DUST
            {
                *known = here + reduced;
                *link = Some(node);
            }
        };
        if node < rows {
            for (column, step) in price.get(node)?.iter().enumerate() {
                relax(rows + column, *step);
            }
        } else {
            let column = node - rows;
            for (row, flows) in flow.iter().enumerate() {
                if flows.get(column).is_some_and(|flow| *flow > DUST) {
                    relax(row, -*price.get(row)?.get(column)?);
                }
            }
        }
    }
    let sink = (0..columns)
        .filter(|column| wanted.get(*column).is_some_and(|mass| *mass > DUST))
        .map(|column| rows + column)
        .filter(|node| distance.get(*node).is_some_and(|far| far.is_finite()))
        .min_by(|a, b| {
            let at = |node: &usize| distance.get(*node).copied().unwrap_or(f64::INFINITY);
            at(a).total_cmp(&at(b))
        })?;
    let end = distance.get(sink).copied()?;
    for (known, far) in potential.iter_mut().zip(&distance) {
        *known += far.min(end);
    }
    let mut path = vec![sink];
    while let Some(Some(link)) = path.last().and_then(|node| before.get(*node)) {
        path.push(*link);
        if path.len() > total {
            return None;
        }
    }
    path.reverse();
    Some(path)
}

fn augment(path: &[usize], flow: &mut [Vec<f64>], left: &mut [f64], wanted: &mut [f64]) {
    let rows = left.len();
    let (Some(first), Some(last)) = (path.first(), path.last()) else {
        return;
    };
    let sink = last.saturating_sub(rows);
    let mut amount = left
        .get(*first)
        .copied()
        .unwrap_or(0.0)
        .min(wanted.get(sink).copied().unwrap_or(0.0));
    let steps = || {
        path.windows(2).filter_map(|pair| match pair {
            [a, b] if *a < rows => Some((*a, b - rows, true)),
            [a, b] => Some((*b, a - rows, false)),
            _ => None,
        })
    };
    for (row, column, forward) in steps() {
        if !forward && let Some(flow) = flow.get(row).and_then(|flows| flows.get(column)) {
            amount = amount.min(*flow);
        }
    }
    for (row, column, forward) in steps() {
        if let Some(flow) = flow.get_mut(row).and_then(|flows| flows.get_mut(column)) {
            *flow += if forward { amount } else { -amount };
        }
    }
    if let (Some(mass), Some(need)) = (left.get_mut(*first), wanted.get_mut(sink)) {
        *mass -= amount;
        *need -= amount;
    }
}

/// Mass below this is rounding.
const DUST: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_costs_what_the_cheapest_plan_costs() {
        let line = |a: usize, b: usize| a.abs_diff(b) as f64;
        assert_eq!(transport_cost(&[1.0], &[1.0], line), 0.0);
        assert!((transport_cost(&[1.0, 0.0], &[0.0, 1.0], line) - 1.0).abs() < 1e-12);
        assert!((transport_cost(&[0.5, 0.5, 0.0], &[0.0, 0.5, 0.5], line) - 1.0).abs() < 1e-12);
        // Greedy would take the free move first and pay 9 for the rest.
        let price = [[0.0, 1.0], [1.0, 9.0]];
        assert!((transport_cost(&[1.0, 1.0], &[1.0, 1.0], |a, b| price[a][b]) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn thirds_and_sevenths_leave_no_dust() {
        let from = [1.0 / 3.0; 3];
        let to = [1.0 / 7.0; 7];
        let cost = transport_cost(&from, &to, |_, _| 2.0);
        assert!((cost - 2.0).abs() < 1e-9);
    }
}
