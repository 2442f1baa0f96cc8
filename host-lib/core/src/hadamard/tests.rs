//! The golden vector of the paper, the oracles of the protocol, and what is refused. That every kernel has the bits of the
//! card is shown in `tests/whole_stack/numerics.rs`.

use optireduce_contract::limits::LANES;
use optireduce_contract::signs::{SPLITMIX64_STEP, signs16, splitmix64, window_key};

use super::*;

#[test]
fn golden_vector_of_figure_9_is_reproduced() {
    // OptiReduce (NSDI'25) figure 9, n = 8, un-normalised. In a block of 256 whose other values are zero, the transform
    // repeats that of the first eight. The generator's signs are multiplied out of the figure's.
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

/// Inputs for the oracles, which hold for any.
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

/// A tail of the window is lost: the decoded gradient, and what a decoder that does not rescale would return.
fn decoded_after_tail_loss(code: Code, x: &[f32], lost_beats: usize) -> (Vec<f32>, Vec<f32>) {
    let beats = code.elements() / LANES;
    let mut window = vec![0.0; code.elements()];
    encode(code, x, &mut window);
    let mut present = vec![u64::MAX; beats.div_ceil(64)];
    (beats - lost_beats..beats).for_each(|at| present[at / 64] &= !(1 << (at % 64)));
    let mut rescaled = vec![0.0; x.len()];
    decode(code, &window, Some(&present), &mut rescaled);
    // Written zeros look like arrived ones.
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

/// Means over seeds of the NMSE after tail loss, rescaled and zero-filled, and the share lost.
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

#[test]
fn a_kernel_that_the_processor_has_is_chosen() {
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
