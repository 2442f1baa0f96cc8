//! The Hadamard engine's arithmetic in plain Rust, bit for bit.
//!
//! What: y = H diag(s) x / sqrt(n) (encode) or x = diag(s) H y / sqrt(n) (decode) on one block of n = 2^log2n fp32.
//! Why: the host library and the simulator need the card's exact answer without its cycles.
//! How: block floating point. The block's largest exponent E fixes one scale; every value becomes an `i32` on that
//! scale, rounded to nearest even; log2n butterfly stages follow, every second one halving with (x + 1) >> 1, so
//! that the whole is scaled by exactly 1/sqrt(n); the results return to fp32, rounded to nearest even.
//! Limits: log2n even, 8 to 14; a result below the smallest normal number becomes +0, and every zero result is +0;
//! a result too large is an infinity; a block that holds an infinity or a NaN becomes all NaN (0x7fc00000).
//! Range: a fixed-point value enters with at most 2^(31-H), H = log2n/2 + 1. The log2n/2 plain stages at most double
//! the largest magnitude, the halving ones leave it as it is but for a rounding of one half, so no value leaves
//! 2^(31-H) 2^(H-1) + n = 2^30 + n: `i32` cannot overflow.
//! Accuracy: the mean squared error is 0.8 to 1.6 units^2, whatever the input, where the block's largest value has
//! 2^(30-H) to 2^(31-H) units. So the NMSE grows with n and (peak / rms)^2. Measured on 40 blocks of 4096: Gaussian
//! 1.3e-13; Gaussian times log-normal of sigma 2 (peak / rms 37) 1.4e-11, at worst 5.6e-11.
//! Leaves out: time, the gathering of beats, lost beats (the caller writes zeros for them).

use optireduce_contract::signs::signs16;

/// What every value of a block with an infinity or a NaN becomes.
pub const NAN: u32 = 0x7fc0_0000;

/// Transforms one block in place.
///
/// `x`: the n = 2^`log2n` values of the block. `first_beat`: the number of its first 16-value beat in the window,
/// for the sign generator of `key`.
///
/// # Panics
/// When `log2n` is not one of 8, 10, 12, 14 or `x` does not hold 2^`log2n` values: the caller has cut the window
/// wrongly.
pub fn transform_block(x: &mut [f32], log2n: u32, decode: bool, key: u64, first_beat: u32) {
    assert!(matches!(log2n, 8 | 10 | 12 | 14), "log2n is {log2n}, not 8, 10, 12 or 14");
    assert_eq!(x.len(), 1 << log2n, "values in a block of log2n {log2n}");
    let exponent = x.iter().map(|v| v.to_bits() >> 23 & 0xff).max().unwrap_or(0).max(1);
    if exponent == 255 {
        return x.fill(f32::from_bits(NAN));
    }
    let scale = scale(exponent, log2n);
    let mut fixed: Vec<i32> = x.iter().map(|v| to_fixed(v.to_bits(), scale)).collect();
    if !decode {
        apply_signs(&mut fixed, key, first_beat);
    }
    transform_fixed(&mut fixed);
    if decode {
        apply_signs(&mut fixed, key, first_beat);
    }
    for (to, from) in x.iter_mut().zip(fixed) {
        *to = f32::from_bits(to_float(from, scale));
    }
}

/// The block's scale: the exponent field of a value whose 24-bit mantissa is placed two bits up.
pub fn scale(exponent: u32, log2n: u32) -> u32 {
    exponent + log2n / 2 - 4
}

/// An fp32 value (its bits) as a fixed-point number on the block's scale, rounded to nearest even.
///
/// `scale` must be at least the value's own exponent field, or 1 where that is 0.
pub fn to_fixed(bits: u32, scale: u32) -> i32 {
    let exponent = bits >> 23 & 0xff;
    let hidden = if exponent == 0 { 0 } else { 1 << 23 };
    let mantissa = bits & 0x7f_ffff | hidden;
    let right = scale.wrapping_sub(exponent.max(1)).min(31);
    let wide = (mantissa as u64) << 34 >> right;
    let (whole, rest) = ((wide >> 32) as i32, wide as u32);
    let up = rest > 1 << 31 || rest == 1 << 31 && whole & 1 == 1;
    let magnitude = whole + up as i32;
    if bits >> 31 == 1 { -magnitude } else { magnitude }
}

/// A fixed-point number on the block's scale as fp32 bits, rounded to nearest even.
pub fn to_float(fixed: i32, scale: u32) -> u32 {
    let magnitude = fixed.unsigned_abs();
    if magnitude == 0 {
        return 0;
    }
    let zeros = magnitude.leading_zeros().saturating_sub(1);
    let normal = magnitude << zeros;
    let (mantissa, rest) = (normal >> 7, normal & 0x7f);
    let rounded = mantissa + (rest > 64 || rest == 64 && mantissa & 1 == 1) as u32;
    let exponent = scale as i32 + 5 - zeros as i32 + (rounded >> 24) as i32;
    let sign = (fixed as u32) & 1 << 31;
    match exponent {
        ..1 => 0,
        255.. => sign | 0x7f80_0000,
        _ => sign | (exponent as u32) << 23 | rounded & 0x7f_ffff,
    }
}

/// The Walsh-Hadamard transform in natural order, every second butterfly stage halved; any power-of-two length.
pub fn transform_fixed(values: &mut [i32]) {
    let mut distance = 1;
    let mut halve = false;
    while distance < values.len() {
        for pair in values.chunks_exact_mut(2 * distance) {
            let (low, high) = pair.split_at_mut(distance);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = if halve { halved_butterfly(*a, *b) } else { (a.wrapping_add(*b), a.wrapping_sub(*b)) };
            }
        }
        distance *= 2;
        halve = !halve;
    }
}

/// (a + b + 1) >> 1 and (a - b + 1) >> 1 as if computed in 33 bits.
#[inline(always)]
fn halved_butterfly(a: i32, b: i32) -> (i32, i32) {
    ((a >> 1).wrapping_add((b >> 1) + ((a | b) & 1)), (a >> 1).wrapping_sub((b >> 1) - (a & !b & 1)))
}

/// Negates the values whose sign is -1.
fn apply_signs(fixed: &mut [i32], key: u64, first_beat: u32) {
    for (beat, lanes) in (first_beat..).zip(fixed.chunks_exact_mut(16)) {
        let signs = signs16(key, beat);
        for (i, value) in lanes.iter_mut().enumerate() {
            if signs >> i & 1 == 1 {
                *value = -*value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hadamard::testing::Random;

    /// sum((a - b)^2) / sum(b^2).
    fn nmse(a: &[f32], b: &[f64]) -> f64 {
        let error: f64 = a.iter().zip(b).map(|(a, b)| (*a as f64 - b).powi(2)).sum();
        error / b.iter().map(|b| b * b).sum::<f64>()
    }

    fn reference(x: &[f32], decode: bool, key: u64, first_beat: u32) -> Vec<f64> {
        let sign = |i: usize| 1.0 - 2.0 * (signs16(key, first_beat + i as u32 / 16) >> (i % 16) & 1) as f64;
        let n = x.len();
        let mut y: Vec<f64> = (0..n).map(|i| x[i] as f64 * if decode { 1.0 } else { sign(i) }).collect();
        let mut distance = 1;
        while distance < n {
            for i in (0..n).filter(|i| i & distance == 0) {
                (y[i], y[i + distance]) = (y[i] + y[i + distance], y[i] - y[i + distance]);
            }
            distance *= 2;
        }
        (0..n).map(|i| y[i] / (n as f64).sqrt() * if decode { sign(i) } else { 1.0 }).collect()
    }

    /// Distributions of gradients, by the weight of their tail.
    #[derive(Clone, Copy, Debug)]
    enum Tail {
        Gaussian,
        Laplace,
        /// Gaussian times a log-normal of sigma 2.
        Heavy,
    }
    use Tail::*;

    impl Tail {
        fn block(self, random: &mut Random, log2n: u32) -> Vec<f32> {
            let spread = |random: &mut Random| match self {
                Gaussian => 1.0,
                Laplace => (random.gaussian().powi(2) + random.gaussian().powi(2)).sqrt(),
                Heavy => (2.0 * random.gaussian()).exp(),
            };
            (0..1 << log2n).map(|_| (1e-3 * random.gaussian() * spread(random)) as f32).collect()
        }

        /// The NMSE a block may have: 1e-12, but with a heavy tail what the block's one scale leaves it.
        fn nmse_max(self, log2n: u32) -> f64 {
            match (self, log2n) {
                (Gaussian | Laplace, ..=12) | (Heavy, 8) => 1e-12,
                (Gaussian | Laplace, _) | (Heavy, 10) => 1e-11,
                (Heavy, 12) => 1e-10,
                (Heavy, _) => 2e-9,
            }
        }
    }

    #[test]
    fn golden_vector_of_figure_9_is_reproduced() {
        // OptiReduce (NSDI'25) figure 9, n = 8, un-normalised; here in units of 2^-10, halved once by the stages.
        let x = [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5];
        let s = [1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0];
        let mut fixed: Vec<i32> = x.iter().zip(s).map(|(x, s)| (x * s * 1024.0) as i32).collect();
        transform_fixed(&mut fixed);
        let encoded: Vec<f64> = fixed.iter().map(|v| *v as f64 / 512.0).collect();
        assert_eq!(encoded, [5.0, -13.0, -5.0, 5.0, 3.0, 17.0, -5.0, 1.0]);
        fixed[7] = 0; // the figure loses the last entry
        transform_fixed(&mut fixed);
        let decoded: Vec<f64> = fixed.iter().zip(s).map(|(v, s)| *v as f64 * s / 2048.0).collect();
        assert_eq!(decoded, [0.875, 1.375, 2.125, 2.375, 2.875, 3.375, 4.125, 4.625]);
    }

    #[test]
    fn halving_is_that_of_33_bits() {
        let mut random = Random::new(1);
        let edges = [0, 1, -1, 2, -2, i32::MAX, i32::MIN, i32::MAX - 1, i32::MIN + 1];
        let pairs = edges.iter().flat_map(|a| edges.iter().map(move |b| (*a, *b)));
        let random_pairs = (0..100_000).map(|_| (random.next_u32() as i32, random.next_u32() as i32));
        for (a, b) in pairs.chain(random_pairs) {
            let wide = |x: i64| ((x + 1) >> 1) as i32;
            assert_eq!(halved_butterfly(a, b), (wide(a as i64 + b as i64), wide(a as i64 - b as i64)), "{a} {b}");
        }
    }

    #[test]
    fn transform_agrees_with_floating_point_reference() {
        let mut random = Random::new(2);
        for (log2n, tail) in [8, 10, 12, 14].into_iter().flat_map(|n| [Gaussian, Laplace, Heavy].map(|t| (n, t))) {
            for run in 0..10 {
                let x = tail.block(&mut random, log2n);
                let (key, decode) = (0x1234_5678_9abc_def0 + run, run % 2 == 1);
                let mut y = x.clone();
                transform_block(&mut y, log2n, decode, key, 77);
                let exact = reference(&x, decode, key, 77);
                let error = nmse(&y, &exact);
                assert!(error < tail.nmse_max(log2n), "{tail:?}, log2n {log2n}, decode {decode}: NMSE {error:e}");

                let exponent = x.iter().map(|v| v.to_bits() >> 23 & 0xff).max().unwrap_or(0);
                let unit = 2f64.powi(scale(exponent, log2n) as i32 - 152);
                let energy: f64 = exact.iter().map(|v| v * v).sum();
                let noise = error * energy / x.len() as f64 / unit.powi(2);
                assert!(noise < 2.0, "{tail:?}, log2n {log2n}: {noise} squared units a value");
            }
        }
    }

    #[test]
    fn decode_returns_what_was_encoded() {
        let mut random = Random::new(3);
        for (log2n, tail) in [8, 10, 12, 14].into_iter().flat_map(|n| [Gaussian, Laplace, Heavy].map(|t| (n, t))) {
            for key in 0..10 {
                let x = tail.block(&mut random, log2n);
                let mut y = x.clone();
                transform_block(&mut y, log2n, false, key, 5);
                transform_block(&mut y, log2n, true, key, 5);
                let error = nmse(&y, &x.iter().map(|v| *v as f64).collect::<Vec<_>>());
                assert!(error < tail.nmse_max(log2n), "{tail:?}, log2n {log2n}: NMSE {error:e}");
            }
        }
    }

    #[test]
    fn largest_inputs_with_adversarial_signs_stay_in_range() {
        // Goal: no stage leaves i32. Method: every row of H as the input's signs puts all energy into one output,
        // the largest a value can become; 64-bit stages next to it show that nothing wrapped.
        for log2n in [8u32, 10, 12, 14] {
            let n = 1usize << log2n;
            let largest = to_fixed(0x7f7f_ffff, scale(254, log2n));
            assert!(largest <= 1 << (31 - (log2n / 2 + 1)));
            for row in (0..n).step_by(n / 64).chain([n - 1]) {
                let signed = |i: usize| if (i & row).count_ones() % 2 == 1 { -largest } else { largest };
                let mut narrow: Vec<i32> = (0..n).map(signed).collect();
                let mut wide: Vec<i64> = narrow.iter().map(|v| *v as i64).collect();
                transform_fixed(&mut narrow);
                for stage in 0..log2n {
                    for i in (0..n).filter(|i| i >> stage & 1 == 0) {
                        let j = i + (1 << stage);
                        let (sum, difference) = (wide[i] + wide[j], wide[i] - wide[j]);
                        (wide[i], wide[j]) =
                            if stage % 2 == 1 { ((sum + 1) >> 1, (difference + 1) >> 1) } else { (sum, difference) };
                    }
                    let peak = wide.iter().map(|v| v.abs()).max();
                    assert!(peak <= Some((1 << 30) + n as i64), "log2n {log2n}, stage {stage}: {peak:?}");
                }
                assert!(narrow.iter().zip(&wide).all(|(a, b)| *a as i64 == *b), "log2n {log2n}, row {row}");
                assert_eq!(narrow[row].unsigned_abs(), largest.unsigned_abs() << (log2n / 2));
            }
        }
    }

    #[test]
    fn conversion_there_and_back_is_exact_for_24_bits_or_fewer() {
        let mut random = Random::new(4);
        for _ in 0..100_000 {
            let exponent = 40 + random.below(200);
            let bits = random.next_u32() & 0x807f_ffff | exponent << 23;
            assert_eq!(to_float(to_fixed(bits, exponent), exponent), bits, "{bits:08x}");
        }
    }

    #[test]
    fn specials_are_as_documented() {
        let block = |first: f32| {
            let mut x = vec![0.0f32; 256];
            x[3] = first;
            transform_block(&mut x, 8, false, 7, 0);
            x
        };
        for special in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert!(block(special).iter().all(|v| v.to_bits() == NAN));
        }
        assert!(block(-0.0).iter().all(|v| v.to_bits() == 0));
        assert!(
            block(f32::MIN_POSITIVE).iter().all(|v| v.to_bits() == 0),
            "a sixteenth of the least normal is flushed"
        );
        let mut x = vec![f32::MAX; 256];
        transform_block(&mut x, 8, true, 0, 0);
        assert!(x[0].is_infinite() && x[1..].iter().all(|v| v.to_bits() == 0));
    }
}
