//! The fp32 adder and multiplier against Berkeley TestFloat, three times: the plain model, the rust-hdl engine, and the
//! emitted Verilog. Origin of the vectors: `vectors/README.md`.

use flate2::read::GzDecoder;
use optireduce_hw::cosim::{Bench, Clocked};
use optireduce_hw::fp_add::{self, FpAdd, FpAdd16};
use optireduce_hw::fp_add_model::{NAN, fp_add};
use optireduce_hw::fp_mul::{self, FpMul, FpMul16};
use optireduce_hw::fp_mul_model::fp_mul;
use optireduce_hw::prelude::*;
use optireduce_hw::random::{Random, edge_floats};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Operands and expected result.
type Case = [u32; 3];

/// Sets the operands of a block / reads its result.
type Drive<B, T> = fn(&mut B, T, T);
type Read<B, T> = fn(&B) -> T;

fn vectors(file: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(file);
    let lines = BufReader::new(GzDecoder::new(File::open(&path).expect("the vectors are in the tree"))).lines();
    let cases: Vec<Case> = lines
        .map(|line| {
            let line = line.expect("gzip data");
            let mut words = line.split_whitespace().map(|word| u32::from_str_radix(word, 16).expect("hexadecimal"));
            std::array::from_fn(|_| words.next().expect("a line has three words and flags"))
        })
        .collect();
    assert_eq!(cases.len(), 46464, "{}", path.display());
    cases
}

/// A NaN result is judged as a class: its payload is the generator's own. The card has one.
fn canonical(x: u32) -> u32 {
    if x & 0x7fff_ffff > 0x7f80_0000 { NAN } else { x }
}

/// Feeds `cases` one a cycle and checks each result exactly `latency` cycles later.
fn stream<B: Clocked>(
    bench: &mut Bench<B>,
    latency: usize,
    cases: impl IntoIterator<Item = Case>,
    drive: Drive<B, W<32>>,
    read: Read<B, W<32>>,
) {
    let mut inside = VecDeque::new();
    for case in cases.into_iter().map(Some).chain(std::iter::repeat_n(None, latency)) {
        let [a, b, _] = case.unwrap_or_default().map(|word| bits_w::<32>(word.into()));
        drive(&mut bench.block, a, b);
        bench.tick();
        inside.push_back(case);
        if inside.len() == latency
            && let Some(Some([a, b, expected])) = inside.pop_front()
        {
            let found = read(&bench.block).raw() as u32;
            assert_eq!(found, canonical(expected), "{a:08x} {b:08x}: found {found:08x}, expected {expected:08x}");
        }
    }
}

fn drive_add(block: &mut FpAdd, a: W<32>, b: W<32>) {
    block.a.next = a;
    block.b.next = b;
}

fn drive_mul(block: &mut FpMul, a: W<32>, b: W<32>) {
    block.a.next = a;
    block.b.next = b;
}

/// Every 13th vector, all pairs of some edge values, and random pairs.
fn sample(file: &str, model: fn(u32, u32) -> u32) -> Vec<Case> {
    let mut random = Random::new(7);
    let edges: Vec<u32> = edge_floats().step_by(3).collect();
    let pairs = edges.iter().flat_map(|&a| edges.iter().map(move |&b| [a, b]));
    let computed =
        pairs.chain(std::iter::repeat_with(|| random.float_pair()).take(20_000)).map(|[a, b]| [a, b, model(a, b)]);
    vectors(file).into_iter().step_by(13).chain(computed).collect()
}

#[test]
fn the_adder_model_agrees_with_every_vector() {
    for [a, b, expected] in vectors("f32_add.txt.gz") {
        assert_eq!(fp_add(a, b), canonical(expected), "{a:08x} + {b:08x}");
    }
}

#[test]
fn the_multiplier_model_agrees_with_every_vector() {
    for [a, b, expected] in vectors("f32_mul.txt.gz") {
        assert_eq!(fp_mul(a, b), canonical(expected), "{a:08x} * {b:08x}");
    }
}

#[test]
fn the_adder_agrees_with_every_vector_one_a_cycle_at_its_latency() {
    let mut bench = Bench::new(FpAdd::default());
    stream(&mut bench, fp_add::LATENCY, vectors("f32_add.txt.gz"), drive_add, |block| block.sum.val());
}

#[test]
fn the_multiplier_agrees_with_every_vector_one_a_cycle_at_its_latency() {
    let mut bench = Bench::new(FpMul::default());
    stream(&mut bench, fp_mul::LATENCY, vectors("f32_mul.txt.gz"), drive_mul, |block| block.product.val());
}

#[test]
fn the_adder_agrees_with_its_model_and_its_verilog_on_edge_and_random_values() {
    let mut bench = Bench::recording(FpAdd::default());
    stream(&mut bench, fp_add::LATENCY, sample("f32_add.txt.gz", fp_add), drive_add, |block| block.sum.val());
    bench.verify_with_verilator("fp_add");
}

#[test]
fn the_multiplier_agrees_with_its_model_and_its_verilog_on_edge_and_random_values() {
    let mut bench = Bench::recording(FpMul::default());
    stream(&mut bench, fp_mul::LATENCY, sample("f32_mul.txt.gz", fp_mul), drive_mul, |block| block.product.val());
    bench.verify_with_verilator("fp_mul");
}

/// Checks lane by lane that a 16-lane block computes `model` on the operands of `latency` cycles before.
fn lanes<B: Clocked>(
    bench: &mut Bench<B>,
    latency: usize,
    drive: fn(&mut B, Beat, Beat),
    read: Read<B, Beat>,
    model: fn(Beat, Beat, usize) -> u32,
) {
    let mut random = Random::new(16);
    let mut inside = VecDeque::new();
    for cycle in 0..3000 {
        let mut beats = [Beat::default(); 2];
        for lane in 0..16 {
            [beats[0].0[lane], beats[1].0[lane]] = random.float_pair();
        }
        drive(&mut bench.block, beats[0], beats[1]);
        bench.tick();
        inside.push_back(beats);
        if inside.len() == latency {
            let [a, b] = inside.pop_front().expect("it holds some");
            let expected = Beat(std::array::from_fn(|lane| model(a, b, lane)));
            assert_eq!(read(&bench.block), expected, "cycle {cycle}: {a:?} {b:?}");
        }
    }
}

#[test]
fn every_lane_of_a_beat_is_added_to_its_own() {
    let mut bench = Bench::recording(FpAdd16::default());
    let drive = |block: &mut FpAdd16, a, b| (block.a.next, block.b.next) = (a, b);
    lanes(&mut bench, fp_add::LATENCY, drive, |block| block.sum.val(), |a, b, lane| fp_add(a.0[lane], b.0[lane]));
    bench.verify_with_verilator("fp_add16");
}

#[test]
fn every_lane_of_a_beat_is_multiplied_by_the_factor_of_its_cycle() {
    let mut bench = Bench::recording(FpMul16::default());
    let drive = |block: &mut FpMul16, a, b: Beat| (block.a.next, block.factor.next) = (a, b.get_bits::<32>(0));
    lanes(&mut bench, fp_mul::LATENCY, drive, |block| block.product.val(), |a, b, lane| fp_mul(a.0[lane], b.0[0]));
    bench.verify_with_verilator("fp_mul16");
}
