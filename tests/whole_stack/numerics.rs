//! Ranks without a card compute the same bits as the card's models: Hadamard transform and bf16.

use optireduce_contract::limits::LANES;
use optireduce_contract::shard::interleaved;
use optireduce_core::hadamard::{Code, Kernel, decode_with, encode_with, round_to_bf16, widen_bf16};
use optireduce_hw::arith::fp_mul_model::fp_mul;
use optireduce_hw::arith::recip_rom::recip;
use optireduce_hw::hadamard::model::transform_block;
use optireduce_hw::random::{Random, edge_floats};

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

/// Checks both directions with all kernels, into dirty and unaligned buffers.
fn check(code: Code, gradient: &[f32], present: Option<&[u64]>, case: &str) {
    let dirty = f32::from_bits(0xa5a5_a5a5);
    let encoded = card_encodes(code, gradient);
    let decoded = card_decodes(code, &encoded, |at| present.is_none_or(|bits| bits_of(bits)(at)));
    for kernel in Kernel::available() {
        for unaligned in [0, 1] {
            let mut out = vec![dirty; code.elements() + 2 * LANES];
            // Aligned windows of 256 KiB and more use streaming stores.
            let skip = out.as_ptr().align_offset(64) + unaligned;
            out.truncate(skip + code.elements());
            let case = format!("{case}, {code:x?}, {} elements, {kernel:?}, unaligned {unaligned}", gradient.len());
            let shifted = |values: &[f32]| [&vec![dirty; skip], values].concat();
            encode_with(kernel, code, &shifted(gradient)[skip..], &mut out[skip..]);
            assert_bits(&out[skip..], &encoded, &format!("encode, {case}"));
            // Missing elements hold garbage.
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

/// A gradient of one kind; `None` past the last kind.
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
    // Goal: no input, size or loss distinguishes a kernel from the card. Method: each kind of
    // gradient, in complete and short windows of all block sizes and up to 256 blocks, with no
    // loss, random losses, a lost block, or everything lost.
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
    // The limits between tiny, usual and overflowing blocks: one block for each largest exponent,
    // in all block sizes.
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
fn bf16_rounds_as_the_card_and_widens_back() {
    // Every upper half, with lower halves around the rounding limits.
    let lows = [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff];
    let bits: Vec<u32> = (0..=0xffffu32).flat_map(|high| lows.map(|low| high << 16 | low)).collect();
    let mut rounded: Vec<f32> = bits.iter().map(|bits| f32::from_bits(*bits)).collect();
    round_to_bf16(&mut rounded);
    let halves: Vec<u16> = rounded.iter().map(|value| (value.to_bits() >> 16) as u16).collect();
    let mut widened = vec![1.0; bits.len()];
    widen_bf16(&halves, &mut widened);
    for ((bits, rounded), widened) in bits.iter().zip(&rounded).zip(&widened) {
        assert_eq!(rounded.to_bits(), optireduce_hw::arith::bf16::round(*bits), "{bits:08x}");
        assert_eq!(widened.to_bits(), rounded.to_bits(), "{bits:08x}");
    }
}
