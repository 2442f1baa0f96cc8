//! Arithmetic blocks against Berkeley TestFloat and against their models, on every engine. Vectors:
//! see `../vectors/README.md`.

use optireduce_hdl::checks::testfloat::{BLOCKS, Checkable, Engine, Operands, Vector};
use optireduce_hw::arith::fp_add::{self, FpAdd16};
use optireduce_hw::arith::fp_add_model::fp_add;
use optireduce_hw::arith::fp_mul::{self, FpMul16};
use optireduce_hw::arith::fp_mul_model::fp_mul;
use optireduce_hw::cosim::Bench;
use optireduce_hw::hdl::engine::Clocked;
use optireduce_hw::hdl::prelude::*;
use optireduce_hw::random::{Random, edge_floats};
use std::collections::VecDeque;
use std::path::Path;

const FILES: [(&str, &str, usize); 4] = [
    ("fp32_add", "f32_add.txt.gz", 46464),
    ("fp32_mul", "f32_mul.txt.gz", 46464),
    ("fp32_to_int32", "f32_to_i32.txt.gz", 600),
    ("int32_to_fp32", "i32_to_f32.txt.gz", 372),
];

fn vectors(block: &Checkable) -> Vec<Vector> {
    let (_, file, count) = FILES.into_iter().find(|file| file.0 == block.name).expect("every block has a file");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(file);
    let vectors = block.read(&path).expect("the vectors are in the tree");
    assert_eq!(vectors.len(), count, "{}", path.display());
    vectors
}

#[test]
fn every_block_agrees_with_every_vector_on_every_engine() {
    for block in BLOCKS {
        let vectors = vectors(block);
        for engine in [Engine::Model, Engine::Rtl, Engine::Verilator] {
            let outcome = block.check(engine, &vectors).unwrap();
            assert_eq!((outcome.agree, outcome.first_difference), (vectors.len(), None), "{} {engine:?}", block.name);
        }
    }
}

/// NaNs included.
#[test]
fn every_block_does_what_its_model_does_to_the_bit() {
    let mut random = Random::new(7);
    let edges: Vec<u32> = edge_floats().step_by(3).collect();
    let pairs = edges.iter().flat_map(|&a| edges.iter().map(move |&b| [a, b]));
    let operands: Vec<Operands> = pairs.chain(std::iter::repeat_with(|| random.float_pair()).take(20_000)).collect();
    for block in BLOCKS {
        let model = block.run(Engine::Model, &operands).unwrap();
        for engine in [Engine::Rtl, Engine::Verilator] {
            let found = block.run(engine, &operands).unwrap();
            assert_eq!(found.len(), operands.len());
            for ((operands, model), found) in operands.iter().zip(&model).zip(found) {
                assert_eq!(found, *model, "{} {engine:?} {operands:08x?}: {found:08x}, model {model:08x}", block.name);
            }
        }
    }
}

/// Checks every lane of a block against `model`, `latency` cycles later.
fn lanes<B: Clocked>(
    bench: &mut Bench<B>,
    latency: usize,
    drive: fn(&mut B, Beat, Beat),
    read: fn(&B) -> Beat,
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
