//! Every kernel against the card's model, bit for bit, and the oracles of the protocol.

use optireduce_contract::limits::LANES;
use optireduce_contract::shard::interleaved;
use optireduce_contract::signs::{signs16, window_key};
use optireduce_hw::fp_mul_model::fp_mul;
use optireduce_hw::hadamard::model::transform_block;
use optireduce_hw::random::{Random, edge_floats};
use optireduce_hw::recip_rom::recip;

use super::*;

/// The window as the functional card encodes it.
fn card_encodes(code: Code, gradient: &[f32]) -> Vec<f32> {
    let (n, blocks) = (1usize << code.log2_n, code.blocks());
    let mut values = gradient.to_vec();
    values.resize(code.elements(), 0.0);
    let mut out = values.clone();
    for (block, values) in values.chunks_exact_mut(n).enumerate() {
        transform_block(values, code.log2_n, false, code.sign_key, (block * n / LANES) as u32);
        for (beat, lanes) in values.chunks_exact(LANES).enumerate() {
            out[interleaved(block, beat, blocks) * LANES..][..LANES].copy_from_slice(lanes);
        }
    }
    out
}

/// The result as the functional card decodes it.
fn card_decodes(code: Code, gathered: &[f32], came: impl Fn(usize) -> bool) -> Vec<f32> {
    let (n, blocks) = (1usize << code.log2_n, code.blocks());
    let mut out = vec![];
    for block in 0..blocks {
        let positions = || (0..n / LANES).map(|beat| interleaved(block, beat, blocks));
        let beat =
            |position| if came(position) { gathered[position * LANES..][..LANES].to_vec() } else { vec![0.0; 16] };
        let mut values: Vec<f32> = positions().flat_map(beat).collect();
        let received = positions().filter(|position| came(*position)).count() as u32;
        if received > 0 {
            let ratio = fp_mul(((n / LANES) as f32).to_bits(), recip(received));
            transform_block(&mut values, code.log2_n, true, code.sign_key, (block * n / LANES) as u32);
            values.iter_mut().for_each(|value| *value = f32::from_bits(fp_mul(value.to_bits(), ratio)));
        }
        out.extend(values);
    }
    out
}

fn bits_of(present: &[u64]) -> impl Fn(usize) -> bool {
    move |position| present[position / 64] >> (position % 64) & 1 == 1
}

#[track_caller]
fn assert_bits(found: &[f32], expected: &[f32], case: &str) {
    let differ = found.iter().zip(expected).position(|(a, b)| a.to_bits() != b.to_bits());
    if let Some(at) = differ {
        panic!("{case}: element {at} is {:08x}, not {:08x}", found[at].to_bits(), expected[at].to_bits());
    }
    assert_eq!(found.len(), expected.len(), "{case}");
}

/// Both directions, all kernels, into dirty buffers, odd alignments included.
fn check(code: Code, gradient: &[f32], present: Option<&[u64]>, case: &str) {
    let dirty = f32::from_bits(0xa5a5_a5a5);
    let encoded = card_encodes(code, gradient);
    let decoded = card_decodes(code, &encoded, |at| present.is_none_or(|bits| bits_of(bits)(at)));
    for kernel in Kernel::available() {
        for unaligned in [0, 1] {
            let mut out = vec![dirty; code.elements() + 2 * LANES];
            // Aligned windows of 256 KiB and more are streamed.
            let skip = out.as_ptr().align_offset(64) + unaligned;
            out.truncate(skip + code.elements());
            let case = format!("{case}, {code:x?}, {} elements, {kernel:?}, unaligned {unaligned}", gradient.len());
            let shifted = |values: &[f32]| [&vec![dirty; skip], values].concat();
            encode_with(kernel, code, &shifted(gradient)[skip..], &mut out[skip..]);
            assert_bits(&out[skip..], &encoded, &format!("encode, {case}"));
            // What has not arrived is dirt.
            let came = |at: usize| present.is_none_or(|bits| bits_of(bits)(at / LANES));
            for (at, value) in out[skip..].iter_mut().enumerate().filter(|(at, _)| !came(*at)) {
                *value = if at % 2 == 0 { f32::NAN } else { dirty };
            }
            let mut back = vec![dirty; skip + gradient.len()];
            decode_with(kernel, code, &out[skip..], present, &mut back[skip..]);
            assert_bits(&back[skip..], &decoded[..gradient.len()], &format!("decode, {case}"));
        }
    }
}

/// Gradients of one kind; `None` past the last kind.
fn gradient(kind: usize, elements: usize, random: &mut Random) -> Option<(&'static str, Vec<f32>)> {
    let uniform = |random: &mut Random| (random.next() >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0;
    let exponents = |random: &mut Random, low: u32, span: u64| {
        f32::from_bits(random.next() as u32 & 0x807f_ffff | (low + random.below(span) as u32) << 23)
    };
    let edges: Vec<f32> = edge_floats().map(f32::from_bits).filter(|x| x.is_finite()).collect();
    let name = ["uniform", "heavy", "tail of one", "subnormal", "tiny", "around the tiny limit", "small beside large"];
    let more = ["huge", "overflow", "edges", "infinity", "NaN", "zeros", "rare values", "any bits"];
    let name = name.into_iter().chain(more).nth(kind)?;
    let mut x: Vec<f32> = (0..elements)
        .map(|_| match name {
            "uniform" => uniform(random) as f32 * 1e-3,
            "heavy" => (uniform(random) * (12.0 * uniform(random)).exp()) as f32,
            "subnormal" => f32::from_bits(random.next() as u32 & 0x807f_ffff >> random.below(3)),
            "tiny" => exponents(random, 0, 27),
            "around the tiny limit" => exponents(random, 15, 14),
            "small beside large" => exponents(random, 0, 255) * 1e-6,
            "huge" => exponents(random, 240, 15),
            "overflow" => f32::MAX,
            "edges" => edges[random.below(edges.len() as u64) as usize],
            "zeros" => [0.0, -0.0][random.below(2) as usize],
            "rare values" if random.one_in(97) => uniform(random) as f32,
            "any bits" => f32::from_bits(random.next() as u32 & 0xbfff_ffff),
            "infinity" | "NaN" => uniform(random) as f32,
            _ => 0.0,
        })
        .collect();
    if let Some(one) = x.len().checked_sub(1).map(|last| random.below(last as u64 + 1) as usize) {
        match name {
            "tail of one" => x[one] = -3.0,
            "infinity" => x[one] = f32::NEG_INFINITY,
            "NaN" => x[one] = f32::from_bits(0xffc0_1234),
            _ => {}
        }
    }
    Some((name, x))
}

#[test]
fn every_kernel_has_the_bits_of_the_card() {
    // Goal: no input, size or loss tells a kernel from the card. Method: each kind of gradient through windows of all block
    // sizes and 1 to 16 blocks, whole and short, with nothing, some, whole blocks or all lost.
    let mut random = Random::new(0x4ada);
    for (log2_n, log2_blocks) in
        [8, 10, 12, 14].into_iter().flat_map(|n| (0..=4).chain([8]).filter(move |k| n + k <= 18).map(move |k| (n, k)))
    {
        let code = Code { log2_n, log2_blocks, sign_key: random.next() };
        let (elements, beats) = (code.elements(), code.elements() / LANES);
        for kind in 0.. {
            let short = match (kind + log2_blocks as usize) % 5 {
                0 | 1 => elements,
                2 => elements - 1 - random.below(15) as usize,
                3 => random.below(elements as u64) as usize,
                _ => elements / 2 / LANES * LANES,
            };
            let Some((name, gradient)) = gradient(kind, short, &mut random) else { break };
            let keep = random.below(20);
            let lost_block = random.below(code.blocks() as u64) as usize;
            let mut present = vec![0; beats.div_ceil(64)];
            for at in (0..beats).filter(|at| at % code.blocks() != lost_block && random.below(20) < keep) {
                present[at / 64] |= 1 << (at % 64);
            }
            let present = match (kind + log2_n as usize / 2) % 3 {
                0 => None,
                1 => Some(&present[..]),
                _ => {
                    present.iter_mut().for_each(|word| *word |= random.next());
                    Some(&present[..])
                }
            };
            check(code, &gradient, present, name);
        }
    }
}

#[test]
fn every_exponent_has_the_bits_of_the_card() {
    // The limits between tiny, usual and overflowing blocks, for all block sizes: one block for every largest exponent.
    let mut random = Random::new(0xe4);
    for log2_n in [8, 10, 12, 14] {
        for exponent in (0..255).filter(|e| log2_n == 8 || e % 10 == 3 || *e < 40 || *e > 244) {
            let code = Code { log2_n, log2_blocks: 0, sign_key: random.next() };
            let below = |random: &mut Random| exponent - random.below(exponent.min(30) + 1);
            let value = |random: &mut Random| random.next() as u32 & 0x807f_ffff | (below(random) as u32) << 23;
            let gradient: Vec<f32> = (0..1 << log2_n).map(|_| f32::from_bits(value(&mut random))).collect();
            check(code, &gradient, Some(&[!2; 16]), &format!("exponent {exponent}"));
        }
    }
}

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
    let mut random = Random::new(0x0a);
    let mut uniform = || (random.next() as i64 >> 40) as f32 / (1u32 << 23) as f32;
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
        refused(&|| encode(Code { log2_blocks: 17, ..code }, &[], &mut [])),
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
