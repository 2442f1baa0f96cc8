//! The paper's golden vector, the oracles of the protocol, and invalid arguments.
//! `tests/whole_stack/numerics.rs` compares the kernels with the card.

use optireduce_contract::limits::LANES;
use optireduce_contract::signs::{SPLITMIX64_STEP, signs16, splitmix64, window_key};

use super::*;

#[test]
fn golden_vector_of_figure_9_is_reproduced() {
    // OptiReduce (NSDI'25) figure 9, n = 8, not normalised. In a block of 256 with zeros elsewhere,
    // the transform repeats that of the first eight values. `s * ours` replaces our signs by the
    // figure's.
    let code = Code { log2_n: 8, log2_blocks: 0, sign_key: 9 };
    let x = [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5];
    let s = [1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0];
    let ours = |i: usize| 1.0 - 2.0 * f32::from(signs16(9, 0) >> i & 1);
    let gradient: Vec<f32> = (0..8).map(|i| x[i] * s[i] * ours(i)).collect();
    for kernel in Kernel::available() {
        let mut encoded = vec![0.0; 256];
        encode_with(kernel, code, &gradient, &mut encoded);
        for eight in encoded.chunks_exact_mut(8) {
            assert_eq!(
                eight.iter().map(|y| y * 16.0).collect::<Vec<_>>(),
                [5.0, -13.0, -5.0, 5.0, 3.0, 17.0, -5.0, 1.0]
            );
            eight[7] = 0.0; // the figure loses the last entry
        }
        let mut decoded = [0.0; 8];
        decode_with(kernel, code, &encoded, None, &mut decoded);
        let decoded: Vec<f32> = (0..8).map(|i| decoded[i] * s[i] * ours(i)).collect();
        assert_eq!(decoded, [0.875, 1.375, 2.125, 2.375, 2.875, 3.375, 4.125, 4.625]);
    }
}

fn inputs(elements: usize) -> [(&'static str, Vec<f32>); 3] {
    let mut state = 0x0au64;
    let mut uniform = || {
        let word = splitmix64(state);
        state = state.wrapping_add(SPLITMIX64_STEP);
        (word as i64 >> 40) as f32 / (1u32 << 23) as f32
    };
    let even: Vec<f32> = (0..elements).map(|_| uniform()).collect();
    let heavy = (0..elements).map(|_| uniform() * (9.0 * uniform()).exp()).collect();
    let mut one = vec![0.0; elements];
    one[elements / 3] = 7.0;
    [("even", even), ("heavy tail", heavy), ("one value", one)]
}

fn decoded_after_tail_loss(code: Code, x: &[f32], lost_beats: usize) -> (Vec<f32>, Vec<f32>) {
    let beats = code.elements() / LANES;
    let mut window = vec![0.0; code.elements()];
    encode(code, x, &mut window);
    let mut present = vec![u64::MAX; beats.div_ceil(64)];
    (beats - lost_beats..beats).for_each(|at| present[at / 64] &= !(1 << (at % 64)));
    let mut rescaled = vec![0.0; x.len()];
    decode(code, &window, Some(&present), &mut rescaled);
    // Zeros written here count as arrived.
    window[(beats - lost_beats) * LANES..].fill(0.0);
    let mut zero_filled = vec![0.0; x.len()];
    decode(code, &window, None, &mut zero_filled);
    (rescaled, zero_filled)
}

fn nmse(found: &[f32], x: &[f32]) -> f64 {
    let energy: f64 = x.iter().map(|x| f64::from(*x).powi(2)).sum();
    found.iter().zip(x).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>() / energy
}

const SEEDS: u64 = 200;

/// Means over seeds: NMSE rescaled, NMSE zero-filled, and the fraction lost.
fn mean_nmse(x: &[f32], lost_beats: usize) -> (f64, f64, f64) {
    let (mut rescaled, mut zero_filled) = (0.0, 0.0);
    for seed in 0..SEEDS {
        let code = Code { log2_n: 10, log2_blocks: 2, sign_key: window_key(seed, 0, 0, 0) };
        let (found, unscaled) = decoded_after_tail_loss(code, x, lost_beats);
        rescaled += nmse(&found, x) / SEEDS as f64;
        zero_filled += nmse(&unscaled, x) / SEEDS as f64;
    }
    (rescaled, zero_filled, lost_beats as f64 / 256.0)
}

#[test]
fn zero_filled_nmse_is_the_share_lost_for_any_input() {
    for (name, x) in inputs(4096) {
        for lost_beats in [4, 24, 128] {
            let (_, nmse, p) = mean_nmse(&x, lost_beats);
            assert!((nmse / p - 1.0).abs() < 0.05, "{name}: lost {p}, NMSE {nmse}");
        }
    }
}

#[test]
fn rescaled_nmse_is_the_share_lost_over_the_share_received_for_any_input() {
    for (name, x) in inputs(4096) {
        for lost_beats in [4, 24, 128] {
            let (nmse, _, p) = mean_nmse(&x, lost_beats);
            assert!((nmse / (p / (1.0 - p)) - 1.0).abs() < 0.05, "{name}: lost {p}, NMSE {nmse}");
        }
    }
}

#[test]
fn rescaled_decoding_has_no_bias_and_zero_filled_loses_the_share_lost() {
    // The mean of S unbiased decodings has the NMSE of one over S.
    let p = 64.0 / 256.0;
    for (name, x) in inputs(4096) {
        let (mut rescaled, mut zero_filled) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        for seed in 0..SEEDS {
            let code = Code { log2_n: 10, log2_blocks: 2, sign_key: window_key(seed, 0, 0, 0) };
            let (found, unscaled) = decoded_after_tail_loss(code, &x, 64);
            rescaled.iter_mut().zip(found).for_each(|(sum, value)| *sum += value / SEEDS as f32);
            zero_filled.iter_mut().zip(unscaled).for_each(|(sum, value)| *sum += value / SEEDS as f32);
        }
        let expected: Vec<f32> = x.iter().map(|x| x * (1.0 - p) as f32).collect();
        let bound = 1.5 * p / (1.0 - p) / SEEDS as f64;
        assert!(nmse(&rescaled, &x) < bound, "{name}: E[decode] is not x: {}", nmse(&rescaled, &x));
        assert!(nmse(&zero_filled, &expected) < bound, "{name}: {}", nmse(&zero_filled, &expected));
        assert!((nmse(&zero_filled, &x) / (p * p) - 1.0).abs() < 0.1, "{name}: {}", nmse(&zero_filled, &x));
    }
}

/// Floats in a range of exponents, halves of units, zeros of both signs, and a few `rare` values.
fn bits(low: u32, span: u32, rare: &[f32], elements: usize, state: &mut u64) -> Vec<f32> {
    let mut next = || {
        let word = splitmix64(*state);
        *state = state.wrapping_add(SPLITMIX64_STEP);
        word
    };
    (0..elements)
        .map(|_| match (next(), next() as usize % 1000) {
            (word, at) if at < rare.len() => rare[at] * [1.0, -1.0][word as usize % 2],
            (word, at) if at < 100 => [0.0, -0.0, 0.5, 1.5, -2.5, 4.0][word as usize % 6],
            (word, at) if at < 200 => (word % 1024) as f32 - 512.0,
            (word, _) => f32::from_bits(word as u32 & 0x807f_ffff | (low + (word >> 32) as u32 % span) << 23),
        })
        .collect()
}

#[test]
fn every_kernel_has_the_bits_of_the_portable_one() {
    // Also runs for other processors, in an emulator (`tests/aarch64`).
    let mut state = 0x4e30;
    let huge = [f32::MAX, f32::MAX];
    let cases: [(&str, u32, u32, &[f32]); 8] = [
        ("usual", 110, 20, &[]),
        ("small beside large", 60, 100, &[]),
        ("tiny", 0, 27, &[]),
        ("around the tiny limit", 15, 14, &[]),
        ("huge", 240, 15, &huge),
        ("infinity", 120, 4, &[f32::INFINITY]),
        ("NaN", 120, 4, &[f32::NAN]),
        ("any", 0, 255, &[]),
    ];
    for log2_n in [8, 10, 12, 14] {
        for ((name, low, span, rare), log2_blocks) in cases.iter().zip([0, 1, 2, 3, 0, 1, 2, 3]) {
            let code = Code { log2_n, log2_blocks, sign_key: splitmix64(state) };
            let elements = code.elements() - [0, 7][log2_blocks as usize % 2];
            let gradient = bits(*low, *span, rare, elements, &mut state);
            let present: Vec<u64> =
                (0..code.elements().div_ceil(64 * LANES) as u64).map(|word| splitmix64(word ^ state)).collect();
            let run = |kernel: Kernel| {
                let mut encoded = vec![0.0; code.elements()];
                encode_with(kernel, code, &gradient, &mut encoded);
                let mut decoded = [vec![0.0; elements], vec![0.0; elements]];
                decode_with(kernel, code, &encoded, None, &mut decoded[0]);
                decode_with(kernel, code, &encoded, Some(&present), &mut decoded[1]);
                [encoded, decoded.concat()].concat().iter().map(|value| value.to_bits()).collect::<Vec<_>>()
            };
            let expected = run(Kernel::Portable);
            for kernel in Kernel::available() {
                let found = run(kernel);
                let differs = found.iter().zip(&expected).position(|(found, expected)| found != expected);
                assert_eq!(differs, None, "{name}, {code:x?}, {kernel:?}");
            }
        }
    }
}

#[test]
fn a_kernel_that_the_processor_has_is_chosen() {
    assert!(!cfg!(target_arch = "aarch64") || Kernel::best() == Kernel::Neon);
    assert!(Kernel::best().is_available() && Kernel::available().any(|kernel| kernel == Kernel::Portable));
}

#[test]
fn windows_cut_wrongly_are_refused_before_anything_is_written() {
    let code = Code { log2_n: 8, log2_blocks: 1, sign_key: 0 };
    let refused = |work: &dyn Fn()| {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        *result.expect_err("was taken").downcast::<String>().expect("a message with figures")
    };
    let found = [
        refused(&|| encode(Code { log2_n: 9, ..code }, &[], &mut [0.0; 1024])),
        refused(&|| encode(Code { log2_blocks: LOG2_BLOCKS_MAX + 1, ..code }, &[], &mut [])),
        refused(&|| encode(code, &[0.0; 513], &mut [0.0; 512])),
        refused(&|| encode(code, &[0.0; 512], &mut [0.0; 511])),
        refused(&|| decode(code, &[0.0; 500], None, &mut [0.0; 512])),
        refused(&|| decode(code, &[0.0; 512], None, &mut [0.0; 513])),
        refused(&|| decode(code, &[0.0; 512], Some(&[]), &mut [0.0; 512])),
    ];
    let expected =
        ["log2_n", "log2_blocks", "gradient has 513", "encoded window", "gathered window", "result has 513", "0 bits"];
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{found:?} does not say {expected:?}");
    }
}
