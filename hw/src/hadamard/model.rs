//! Bit-exact model of the Hadamard engine's arithmetic, also used by the simulator.
//!
//! Block floating point: the block's largest exponent fixes one scale, and every value becomes an
//! `i32` on that scale. Every second butterfly stage halves its operands, which scales the whole by
//! exactly 1/sqrt(n). Both conversions round to nearest even.
//! A butterfly computes a + b and b - a, one adder each (see `across`), so the result at i lacks
//! the sign (-1)^(ones in i), which is applied at the end. A halving butterfly computes
//! floor(a/2) + ceil(b/2) and floor(b/2) - floor(a/2), whose errors cancel on average.
//! Limits: log2n is 8, 10, 12 or 14. A result below the smallest normal number and every zero
//! becomes +0, a result too large infinity. A block with an infinity or NaN becomes all NaN.
//! Range: values enter with at most 2^(31-H), H = log2n/2 + 1. For |a|, |b| <= M, results are at
//! most 2M after a plain butterfly and M after a halving one. The H - 1 plain stages reach at most
//! 2^30, so `i32` cannot overflow.
//! Accuracy: the mean squared error is 0.5 to 1.0 units^2, where the block's largest value has
//! 2^(30-H) to 2^(31-H) units. So the NMSE grows with n and with (peak / rms)^2.

use crate::arith::fp_to_int_model::fp_to_scaled_int;
use crate::arith::int_to_fp_model::scaled_int_to_fp;
use optireduce_contract::signs::signs16;

/// Result for every value of a block that holds an infinity or a NaN.
pub const NAN: u32 = 0x7fc0_0000;

/// Transforms one block of 2^`log2n` values in place.
///
/// `first_beat` is the number of the block's first beat in the window, for the signs of `key`.
///
/// # Panics
/// If `log2n` is not 8, 10, 12 or 14, or `x` does not hold 2^`log2n` values.
pub fn transform_block(x: &mut [f32], log2n: u32, decode: bool, key: u64, first_beat: u32) {
    assert!(matches!(log2n, 8 | 10 | 12 | 14), "log2n is {log2n}, not 8, 10, 12 or 14");
    assert_eq!(x.len(), 1 << log2n, "values in a block of log2n {log2n}");
    let exponent = x.iter().map(|v| v.to_bits() >> 23 & 0xff).max().unwrap_or(0).max(1);
    if exponent == 255 {
        return x.fill(f32::from_bits(NAN));
    }
    let scale = scale(exponent, log2n);
    let mut fixed: Vec<i32> = x.iter().map(|v| fp_to_scaled_int(v.to_bits(), scale)).collect();
    if !decode {
        apply_signs(&mut fixed, key, first_beat);
    }
    transform_fixed(&mut fixed);
    if decode {
        apply_signs(&mut fixed, key, first_beat);
    }
    for (to, from) in x.iter_mut().zip(fixed) {
        *to = f32::from_bits(scaled_int_to_fp(from, scale));
    }
}

/// Returns a block's scale, the exponent field of 2^30 units.
///
/// `exponent`, the block's largest field, then corresponds to 2^(30-H) units.
pub fn scale(exponent: u32, log2n: u32) -> u32 {
    exponent + log2n / 2 + 1
}

/// Walsh-Hadamard transform in natural order, of any power-of-two length.
///
/// Every second butterfly stage is halved.
pub fn transform_fixed(values: &mut [i32]) {
    let mut distance = 1;
    let mut halve = false;
    while distance < values.len() {
        for pair in values.chunks_exact_mut(2 * distance) {
            let (low, high) = pair.split_at_mut(distance);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = butterfly(*a, *b, halve);
            }
        }
        distance *= 2;
        halve = !halve;
    }
    for (i, value) in values.iter_mut().enumerate() {
        if i.count_ones() % 2 == 1 {
            *value = value.wrapping_neg();
        }
    }
}

#[inline(always)]
pub(crate) fn butterfly(a: i32, b: i32, halve: bool) -> (i32, i32) {
    if halve {
        ((a >> 1).wrapping_add(b >> 1).wrapping_add(b & 1), (b >> 1).wrapping_sub(a >> 1))
    } else {
        (a.wrapping_add(b), b.wrapping_sub(a))
    }
}

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

        /// A heavy tail costs accuracy, since a block has a single scale.
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
        // OptiReduce (NSDI'25) figure 9, n = 8, not normalised. Units of 2^-10, halved once.
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
    fn halving_rounds_as_documented() {
        let mut random = Random::new(1);
        let edges = [0, 1, -1, 2, -2, i32::MAX, i32::MIN, i32::MAX - 1, i32::MIN + 1];
        let pairs = edges.iter().flat_map(|a| edges.iter().map(move |b| (*a, *b)));
        let random_pairs = (0..100_000).map(|_| (random.next_u32() as i32, random.next_u32() as i32));
        for (a, b) in pairs.chain(random_pairs) {
            let (low, high) = ((a as f64 / 2.0).floor(), (b as f64 / 2.0).floor());
            let (sum, difference) = (low + (b as f64 / 2.0).ceil(), high - low);
            let wrapped = |x: f64| x as i64 as i32;
            assert_eq!(butterfly(a, b, true), (wrapped(sum), wrapped(difference)), "{a} {b}");
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
                let unit = 2f64.powi(scale(exponent, log2n) as i32 - 157);
                let energy: f64 = exact.iter().map(|v| v * v).sum();
                let noise = error * energy / x.len() as f64 / unit.powi(2);
                assert!(noise < 1.1, "{tail:?}, log2n {log2n}: {noise} squared units a value");
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

    /// Largest magnitude on entry, for any exponent.
    fn largest(log2n: u32) -> i64 {
        let entering =
            |exponent: u32| fp_to_scaled_int(exponent << 23 | 0x7f_ffff, scale(exponent.max(1), log2n)) as i64;
        (0..255).map(entering).max().expect("there are exponents")
    }

    #[test]
    fn no_input_of_any_size_leaves_the_range() {
        // Runs the stages on intervals. All values of a stage share an interval, and every
        // operation is monotone in both operands, so the ends of the intervals determine the ends
        // of the results.
        for (log2n, expected) in [(8, (1 << 30) - 64), (10, (1 << 30) - 64), (12, (1 << 30) - 64), (14, 1 << 30)] {
            let (mut low, mut high) = (-largest(log2n), largest(log2n));
            let mut peak = high;
            for stage in 0..log2n {
                let floor = |x: i64| if stage % 2 == 1 { x >> 1 } else { x };
                let ceil = |x: i64| -floor(-x);
                let (sum, difference) = ((floor(low) + ceil(low), floor(high) + ceil(high)), floor(high) - floor(low));
                low = sum.0.min(-difference);
                high = sum.1.max(difference);
                peak = peak.max(high).max(-low);
            }
            assert_eq!(peak, expected, "log2n {log2n}");
            assert!(peak <= i32::MAX as i64 / 2 + 1, "a guard bit is left");
        }
        // A scale is at least every exponent field, so conversions cannot overflow.
        assert_eq!([8, 10, 12, 14].map(largest), [(1 << 26) - 4, (1 << 25) - 2, (1 << 24) - 1, 1 << 23]);
    }

    #[test]
    fn largest_inputs_with_adversarial_signs_stay_in_range() {
        // A row of H as the signs of the input moves all energy into one output, the largest
        // possible. 64-bit stages detect wrapping.
        for log2n in [8u32, 10, 12, 14] {
            let n = 1usize << log2n;
            let largest = largest(log2n) as i32;
            for row in (0..n).step_by(n / 64).chain([n - 1]) {
                let signed = |i: usize| if (i & row).count_ones() % 2 == 1 { -largest } else { largest };
                let mut narrow: Vec<i32> = (0..n).map(signed).collect();
                let mut wide: Vec<i64> = narrow.iter().map(|v| *v as i64).collect();
                transform_fixed(&mut narrow);
                for stage in 0..log2n {
                    for i in (0..n).filter(|i| i >> stage & 1 == 0) {
                        let j = i + (1 << stage);
                        let (a, b) = (wide[i], wide[j]);
                        (wide[i], wide[j]) = if stage % 2 == 1 {
                            ((a >> 1) + ((b + 1) >> 1), (b >> 1) - (a >> 1))
                        } else {
                            (a + b, b - a)
                        };
                    }
                    let peak = wide.iter().map(|v| v.abs()).max();
                    assert!(peak <= Some(1 << 30), "log2n {log2n}, stage {stage}: {peak:?}");
                }
                let sign = |i: usize| if i.count_ones() % 2 == 1 { -1 } else { 1 };
                assert!((0..n).all(|i| narrow[i] as i64 == wide[i] * sign(i)), "log2n {log2n}, row {row}");
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
            assert_eq!(scaled_int_to_fp(fp_to_scaled_int(bits, exponent + 5), exponent + 5), bits, "{bits:08x}");
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
