//! Elementary functions with the same bits on every machine, in a form that the compiler vectorises.

/// eˣ to about 1e-6 relative, for any finite argument.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 · 2²³: adding it rounds to an integer
    let x = x.clamp(-87.0, 87.0);
    let n = (x * std::f32::consts::LOG2_E + ROUND) - ROUND;
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let p = 1.0
        + r * (1.0
            + r * (0.5
                + r * (1.666_666_5e-1
                    + r * (4.166_579_6e-2 + r * (8.333_452e-3 + r * 1.398_2e-3)))));
    p * f32::from_bits(((n as i32 + 127) as u32) << 23)
}

#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let x = x.clamp(-15.0, 15.0);
    1.0 - 2.0 / (1.0 + exp(2.0 * x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_elementary_functions_are_close_to_the_library() {
        for i in -800..800 {
            let x = i as f32 / 10.0;
            assert!((exp(x) - x.exp()).abs() <= 3e-6 * x.exp(), "{x}");
            assert!((tanh(x) - x.tanh()).abs() < 2e-6, "{x}");
        }
        assert!(exp(f32::INFINITY).is_finite() && exp(f32::NEG_INFINITY) >= 0.0);
    }
}
