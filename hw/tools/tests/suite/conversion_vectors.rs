//! Conversions between fp32 and int32 against Berkeley TestFloat, on every engine. Vectors: see
//! `../vectors/README.md`.

use flate2::read::GzDecoder;
use optireduce_hw::arith::fp_to_int::{self, FpToInt, FpToScaledInt};
use optireduce_hw::arith::fp_to_int_model::{fp_to_int, fp_to_scaled_int};
use optireduce_hw::arith::int_to_fp::{self, IntToFp, ScaledIntToFp};
use optireduce_hw::arith::int_to_fp_model::{int_to_fp, scaled_int_to_fp};
use optireduce_hw::cosim::Bench;
use optireduce_hw::hdl::engine::Clocked;
use optireduce_hw::hdl::prelude::*;
use optireduce_hw::random::{Random, edge_floats};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

type Case = [u32; 2];

fn vectors(file: &str, count: usize) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(file);
    let lines = BufReader::new(GzDecoder::new(File::open(&path).expect("the vectors are in the tree"))).lines();
    let cases: Vec<Case> = lines
        .map(|line| {
            let line = line.expect("gzip data");
            let mut words = line.split_whitespace().map(|word| u32::from_str_radix(word, 16).expect("hexadecimal"));
            std::array::from_fn(|_| words.next().expect("a line has two words and flags"))
        })
        .collect();
    assert_eq!(cases.len(), count, "{}", path.display());
    cases
}

fn float_vectors() -> Vec<Case> {
    vectors("f32_to_i32.txt.gz", 600)
}

fn integer_vectors() -> Vec<Case> {
    vectors("i32_to_f32.txt.gz", 372)
}

/// Feeds `cases` one per cycle, checks each result exactly `latency` cycles later, then the
/// Verilog.
fn judge<B: Clocked + Default>(
    name: &str,
    latency: usize,
    cases: impl IntoIterator<Item = Case>,
    drive: fn(&mut B, W<32>),
    read: fn(&B) -> W<32>,
) {
    let mut bench = Bench::recording(B::default());
    let mut inside = VecDeque::new();
    for case in cases.into_iter().map(Some).chain(std::iter::repeat_n(None, latency)) {
        drive(&mut bench.block, bits_w::<32>(case.unwrap_or_default()[0].into()));
        bench.tick();
        inside.push_back(case);
        if inside.len() == latency
            && let Some(Some([a, expected])) = inside.pop_front()
        {
            let found = read(&bench.block).raw() as u32;
            assert_eq!(found, expected, "{name} {a:08x}: found {found:08x}, expected {expected:08x}");
        }
    }
    bench.verify_with_verilator(name);
}

/// Floats around the range of integers, many halfway between two integers.
fn floats() -> impl Iterator<Item = u32> {
    let mut random = Random::new(8);
    let near = std::iter::repeat_with(move || {
        let (word, zeros) = (random.next() as u32, random.below(24));
        let float = word & 0x807f_ffff | (122 + random.below(40) as u32) << 23;
        if random.one_in(3) { float >> zeros << zeros | 1 << zeros } else { float }
    });
    edge_floats().chain(near.take(20_000))
}

/// Integers of every length, many halfway between two floats.
fn integers() -> impl Iterator<Item = u32> {
    let mut random = Random::new(9);
    let edges = [0i32, 1, -1, i32::MAX, i32::MIN, i32::MIN + 1, 0x00ff_ffff, -0x0100_0001, 0x01ff_ffff, -0x0100_0003];
    let any = std::iter::repeat_with(move || {
        let word = random.next() as i32 >> random.below(32);
        let end = [0, 1, 2, 0x40, 0x80, 0xc0, 0x7f, 0xbf][random.below(8) as usize];
        if random.one_in(2) { word as u32 & !0xff | end } else { word as u32 }
    });
    edges.into_iter().map(|integer| integer as u32).chain(any.take(20_000))
}

#[test]
fn the_models_agree_with_every_vector() {
    for [a, expected] in float_vectors() {
        assert_eq!(fp_to_int(a) as u32, expected, "{a:08x} to integer");
    }
    for [a, expected] in integer_vectors() {
        assert_eq!(int_to_fp(a as i32), expected, "{a:08x} to float");
    }
}

#[test]
fn floats_become_the_integers_of_the_vectors_and_of_the_model_one_a_cycle() {
    let cases = float_vectors().into_iter().chain(floats().map(|a| [a, fp_to_int(a) as u32]));
    judge("fp32_to_int32", fp_to_int::LATENCY, cases, |b: &mut FpToInt, a| b.a.next = a, |b| b.result.val());
}

#[test]
fn integers_become_the_floats_of_the_vectors_and_of_the_model_one_a_cycle() {
    let cases = integer_vectors().into_iter().chain(integers().map(|a| [a, int_to_fp(a as i32)]));
    judge("int32_to_fp32", int_to_fp::LATENCY, cases, |b: &mut IntToFp, a| b.a.next = a, |b| b.result.val());
}

#[test]
fn floats_become_integers_of_any_unit() {
    let mut random = Random::new(10);
    let mut bench = Bench::recording(FpToScaledInt::default());
    let mut expected = VecDeque::new();
    for cycle in 0..20_000 {
        let a = random.next() as u32;
        let scale = ((a >> 23 & 0xff) + random.below(40) as u32).saturating_sub(3);
        bench.block.a.next = bits_w(a.into());
        bench.block.scale.next = bits_w(scale.into());
        expected.push_back(fp_to_scaled_int(a, scale) as u32);
        bench.tick();
        if expected.len() == fp_to_int::LATENCY {
            assert_eq!(Some(bench.block.result.val().raw() as u32), expected.pop_front(), "cycle {cycle}");
        }
    }
    bench.verify_with_verilator("fp32_to_scaled_int32");
}

#[test]
fn integers_of_any_unit_become_floats_or_nan() {
    // `scale`, `negate` and `special` arrive four cycles after the integer.
    let mut random = Random::new(11);
    let mut bench = Bench::recording(ScaledIntToFp::default());
    let mut integers = VecDeque::from([0; int_to_fp::LATENCY - 1]);
    let mut scale_before = 0;
    for cycle in 0..20_000 {
        let (integer, special) = (random.next() as i32 >> random.below(32), random.one_in(20));
        let scale = [random.below(40), random.below(264), 224 + random.below(40)][random.below(3) as usize];
        bench.block.a.next = bits_w(integer as u32 as u64);
        bench.block.scale.next = bits_w(scale);
        let negate = random.one_in(2);
        bench.block.special.next = special;
        bench.block.negate.next = negate;
        integers.push_back(integer);
        let float = scaled_int_to_fp(integers.pop_front().expect("it holds four"), scale_before);
        scale_before = scale as u32;
        let signed = if negate && float != 0 { float ^ 0x8000_0000 } else { float };
        let expected = if special { 0x7fc0_0000 } else { signed };
        bench.tick();
        assert_eq!(bench.block.result.val().raw() as u32, expected, "cycle {cycle}");
    }
    bench.verify_with_verilator("scaled_int32_to_fp32");
}
