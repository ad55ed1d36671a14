//! Matrix products in a fixed order of additions, blocked so that the compiler keeps them in registers.

/// `c[n×m] += a[n×k] · b[k×m]`, all row-major.
pub(super) fn multiply(c: &mut [f32], a: &[f32], b: &[f32], n: usize, k: usize, m: usize) {
    debug_assert!(c.len() >= n * m && a.len() >= n * k && b.len() >= k * m);
    let mut i = 0;
    while i + 8 <= n {
        rows::<8, 32>(&mut c[i * m..], &a[i * k..], b, k, m);
        i += 8;
    }
    while i + 4 <= n {
        rows::<4, 32>(&mut c[i * m..], &a[i * k..], b, k, m);
        i += 4;
    }
    while i < n {
        rows::<1, 64>(&mut c[i * m..], &a[i * k..], b, k, m);
        i += 1;
    }
}

fn rows<const R: usize, const W: usize>(c: &mut [f32], a: &[f32], b: &[f32], k: usize, m: usize) {
    let mut j = 0;
    while j + W <= m {
        block::<R, W>(c, a, b, k, m, j);
        j += W;
    }
    while j + 8 <= m {
        block::<R, 8>(c, a, b, k, m, j);
        j += 8;
    }
    while j < m {
        block::<R, 1>(c, a, b, k, m, j);
        j += 1;
    }
}

#[inline(always)]
fn block<const R: usize, const W: usize>(
    c: &mut [f32],
    a: &[f32],
    b: &[f32],
    k: usize,
    m: usize,
    j: usize,
) {
    let mut sum = [[0.0f32; W]; R];
    for r in 0..R {
        sum[r].copy_from_slice(&c[r * m + j..r * m + j + W]);
    }
    for p in 0..k {
        let b = &b[p * m + j..p * m + j + W];
        for r in 0..R {
            let x = a[r * k + p];
            for w in 0..W {
                sum[r][w] += x * b[w];
            }
        }
    }
    for r in 0..R {
        c[r * m + j..r * m + j + W].copy_from_slice(&sum[r]);
    }
}

/// The `k×n` transpose of `a[n×k]`.
pub(super) fn transpose(a: &[f32], n: usize, k: usize) -> Vec<f32> {
    let mut t = vec![0.0; n * k];
    for i in 0..n {
        for j in 0..k {
            t[j * n + i] = a[i * k + j];
        }
    }
    t
}

/// `c[k×m] += aᵀ · b` for `a[n×k]`, `b[n×m]`: the gradient of a weight.
pub(super) fn multiply_transposed(
    c: &mut [f32],
    a: &[f32],
    b: &[f32],
    n: usize,
    k: usize,
    m: usize,
) {
    multiply(c, &transpose(a, n, k), b, k, n, m);
}
