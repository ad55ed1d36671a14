//! The inner loops, for every machine and for those with AVX2. Sums of integers are exact and sums of floats keep
//! their order, so both give the same bits.

use wide::{i16x8, i32x4};

use super::{sigmoid, tanh};

/// Compiles a function twice and picks the version for this machine. What it calls must be inlined into it.
macro_rules! dispatch {
    ($(#[$doc:meta])* $name:ident => $body:ident, $body_avx2:ident, ($($arg:ident: $type:ty),*) $(-> $result:ty)?) => {
        $(#[$doc])*
        pub(super) fn $name($($arg: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $type),*) $(-> $result)? {
                    $body_avx2($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    #[expect(unsafe_code, reason = "the instructions were found on this machine just now")]
                    return unsafe { avx2($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    };
}

dispatch! {
    /// Products of each row of `weights` with each row of `input`, both `cols` wide, as `input` rows of `out`.
    /// Weights are the outer loop, so that they pass the cache once per sentence.
    products => products_portable, products_avx2,
    (weights: &[i16], cols: usize, input: &[i16], out: &mut [f32])
}

dispatch! {
    /// One step of an LSTM: `z` and `more` add up to the gates (input, forget, output, candidate).
    lstm_step => lstm_step_body, lstm_step_body,
    (z: &mut [f32], more: &[f32], cell: &mut [f32], out: &mut [f32])
}

dispatch! {
    /// Scales `row` so that its largest entry becomes `max`, and rounds; returns the value of one unit.
    quantise => quantise_body, quantise_body,
    (row: &[f32], max: f32, out: &mut [i16]) -> f32
}

dispatch! {
    /// Sums in eight lanes, so that the order of additions is fixed and vectorisable.
    dot => dot_body, dot_body,
    (a: &[f32], b: &[f32]) -> f32
}

macro_rules! products {
    ($(#[$attribute:meta])* $name:ident, $four_dots:ident) => {
        $(#[$attribute])*
        fn $name(weights: &[i16], cols: usize, input: &[i16], out: &mut [f32]) {
            let outputs = weights.len() / cols;
            let mut first = 0;
            for block in weights.chunks(4 * cols) {
                let rows = block.len() / cols;
                let mut at = first;
                if rows == 4 {
                    let mut pairs = input.chunks_exact(2 * cols);
                    for pair in &mut pairs {
                        let (x, y) = pair.split_at(cols);
                        for sums in $four_dots(block, [x, y]) {
                            store(&mut out[at..at + 4], sums);
                            at += outputs;
                        }
                    }
                    let x = pairs.remainder();
                    if !x.is_empty() {
                        let [sums] = $four_dots(block, [x]);
                        store(&mut out[at..at + 4], sums);
                    }
                } else {
                    for x in input.chunks_exact(cols) {
                        for (row, w) in block.chunks_exact(cols).enumerate() {
                            out[at + row] = integer_dot(w, x) as f32;
                        }
                        at += outputs;
                    }
                }
                first += rows;
            }
        }
    };
}

products!(
    #[inline(always)]
    products_portable,
    four_dots_portable
);
#[cfg(target_arch = "x86_64")]
products!(
    #[target_feature(enable = "avx2")]
    products_avx2,
    four_dots_avx2
);

#[inline(always)]
fn store(out: &mut [f32], sums: [i32; 4]) {
    for (out, sum) in out.iter_mut().zip(sums) {
        *out = sum as f32;
    }
}

/// Products of the four rows, which lie one after the other in `rows`, with each of `xs`.
#[inline(always)]
fn four_dots_portable<const N: usize>(rows: &[i16], xs: [&[i16]; N]) -> [[i32; 4]; N] {
    let cols = rows.len() / 4;
    let chunks = cols / 8;
    let row = |r: usize| &rows[r * cols..(r + 1) * cols].as_chunks::<8>().0[..chunks];
    let (a, b, c, d) = (row(0), row(1), row(2), row(3));
    let mut sums = [[i32x4::ZERO; 4]; N];
    for i in 0..chunks {
        let w = [a[i], b[i], c[i], d[i]].map(i16x8::new);
        for n in 0..N {
            let x = i16x8::new(xs[n].as_chunks::<8>().0[i]);
            for r in 0..4 {
                sums[n][r] += w[r].dot(x);
            }
        }
    }
    let mut totals = [[0; 4]; N];
    for n in 0..N {
        for r in 0..4 {
            totals[n][r] = sums[n][r].reduce_add()
                + integer_dot(
                    &rows[r * cols + 8 * chunks..(r + 1) * cols],
                    &xs[n][8 * chunks..],
                );
        }
    }
    totals
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn four_dots_avx2<const N: usize>(rows: &[i16], xs: [&[i16]; N]) -> [[i32; 4]; N] {
    use std::arch::x86_64::{__m256i, _mm256_add_epi32, _mm256_madd_epi16, _mm256_setzero_si256};
    let cols = rows.len() / 4;
    let chunks = cols / 16;
    let (a, rest) = rows.split_at(cols);
    let (b, rest) = rest.split_at(cols);
    let (c, d) = rest.split_at(cols);
    let (a, b, c, d) = (whole(a), whole(b), whole(c), whole(d));
    let mut sums = [[_mm256_setzero_si256(); 4]; N];
    for i in 0..chunks {
        let w: [__m256i; 4] = [
            bytemuck::must_cast(a[i]),
            bytemuck::must_cast(b[i]),
            bytemuck::must_cast(c[i]),
            bytemuck::must_cast(d[i]),
        ];
        for n in 0..N {
            let x: __m256i = bytemuck::must_cast(whole(xs[n])[i]);
            for r in 0..4 {
                sums[n][r] = _mm256_add_epi32(sums[n][r], _mm256_madd_epi16(w[r], x));
            }
        }
    }
    let mut totals = [[0; 4]; N];
    for n in 0..N {
        for r in 0..4 {
            let lanes: [i32; 8] = bytemuck::must_cast(sums[n][r]);
            totals[n][r] = lanes.iter().sum::<i32>()
                + integer_dot(
                    &rows[r * cols + 16 * chunks..(r + 1) * cols],
                    &xs[n][16 * chunks..],
                );
        }
    }
    totals
}

#[inline(always)]
fn whole(row: &[i16]) -> &[[i16; 16]] {
    row.as_chunks::<16>().0
}

#[inline(always)]
fn integer_dot(a: &[i16], b: &[i16]) -> i32 {
    let mut sum = 0;
    for (a, b) in a.iter().zip(b) {
        sum += i32::from(*a) * i32::from(*b);
    }
    sum
}

#[inline(always)]
fn lstm_step_body(z: &mut [f32], more: &[f32], cell: &mut [f32], out: &mut [f32]) {
    let h = cell.len();
    for (z, x) in z.iter_mut().zip(more) {
        *z += x;
    }
    let (sigmoids, squashed) = z.split_at_mut(3 * h);
    for x in sigmoids.iter_mut() {
        *x = sigmoid(*x);
    }
    for x in squashed.iter_mut() {
        *x = tanh(*x);
    }
    let (i, rest) = sigmoids.split_at(h);
    let (f, o) = rest.split_at(h);
    for (((cell, i), f), g) in cell.iter_mut().zip(i).zip(f).zip(squashed.iter()) {
        *cell = f * *cell + i * g;
    }
    for ((out, cell), o) in out.iter_mut().zip(cell.iter()).zip(o) {
        *out = o * tanh(*cell);
    }
}

#[inline(always)]
fn quantise_body(row: &[f32], max: f32, out: &mut [i16]) -> f32 {
    let mut largest = 1e-12f32;
    for x in row {
        largest = if x.abs() > largest { x.abs() } else { largest };
    }
    let scale = largest / max;
    let by = 1.0 / scale;
    for (out, x) in out.iter_mut().zip(row) {
        *out = round(x * by);
    }
    scale
}

/// To the nearest integer; the argument is below 2²² in size.
#[inline(always)]
pub(super) fn round(x: f32) -> i16 {
    (x + if x < 0.0 { -0.5 } else { 0.5 }) as i32 as i16
}

#[inline(always)]
fn dot_body(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 8];
    let (a8, a_rest) = a.as_chunks::<8>();
    let (b8, b_rest) = b.as_chunks::<8>();
    for (x, y) in a8.iter().zip(b8) {
        for k in 0..8 {
            lanes[k] += x[k] * y[k];
        }
    }
    let mut sum = 0.0;
    for (x, y) in a_rest.iter().zip(b_rest) {
        sum += x * y;
    }
    lanes.iter().sum::<f32>() + sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_version_gives_the_exact_products(
            cols in 1usize..70,
            n in 1usize..4,
            outputs in 1usize..9,
            cells in prop::collection::vec(-2047i16..=2047, 1000),
        ) {
            let (weights, input) = (&cells[..outputs * cols], &cells[700..][..n * cols]);
            let mut expected = Vec::new();
            for x in input.chunks_exact(cols) {
                for w in weights.chunks_exact(cols) {
                    expected.push(integer_dot(w, x) as f32);
                }
            }
            let mut found = vec![0.0; n * outputs];
            products(weights, cols, input, &mut found);
            prop_assert_eq!(&found, &expected);
            products_portable(weights, cols, input, &mut found);
            prop_assert_eq!(&found, &expected);
        }
    }
}
