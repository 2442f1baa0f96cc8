use super::*;
use crate::cosim::Bench;
use crate::fp_add::{self, FpAdd, FpAdd16};
use crate::fp_mul::{self, FpMul, FpMul16};
use crate::prelude::*;
use crate::random::Random;
use crate::{cosim, emit};

fn emitted<B: Block>(mut block: B) -> String {
    block.connect_all();
    cosim::verilog(&block)
}

fn adder() -> Lane {
    Lane { verilog: emitted(FpAdd::default()), latency: fp_add::LATENCY }
}

/// For the replay, which knows no port `tick`.
fn without_tick(verilog: &str) -> String {
    let header = verilog.split_once("\nmodule top(").expect("there is a top").1;
    let ports = ports_of(&format!("({header}"));
    let ports: Vec<&Port> = ports.iter().filter(|port| port.name != "tick").collect();
    let declared = |port: &&Port| {
        format!("    {} wire [{}:0] {}", if port.is_output { "output" } else { "input" }, port.bits - 1, port.name)
    };
    let pins: Vec<String> = ports.iter().map(|port| format!("        .{0}({0})", port.name)).collect();
    let inner = verilog.replace("\nmodule top(", "\nmodule folded(");
    let declared: Vec<String> = ports.iter().map(declared).collect();
    format!(
        "{inner}\nmodule top(\n{}\n);\n    wire tick;\n    folded slow(\n        .tick(tick),\n{}\n    );\nendmodule\n",
        declared.join(",\n"),
        pins.join(",\n")
    )
}

fn beat(random: &mut Random) -> Beat {
    Beat(std::array::from_fn(|_| random.next() as u32))
}

#[test]
fn sixteen_adders_on_one_on_two_and_on_eight_give_the_same_sums() {
    let mut random = Random::new(70);
    let mut bench = Bench::recording(FpAdd16::default());
    for _ in 0..400 {
        bench.block.a.next = beat(&mut random);
        bench.block.b.next = beat(&mut random);
        bench.tick();
    }
    for pace in [2, 8, 16] {
        let rewrite = |verilog: String| without_tick(&folded(&verilog, &[adder()], pace).expect("adders are there"));
        bench.verify_rewritten(&format!("fold-add-{pace}"), pace, rewrite);
    }
}

#[test]
fn a_common_factor_is_common_to_shared_multipliers() {
    let mut random = Random::new(71);
    let mut bench = Bench::recording(FpMul16::default());
    for _ in 0..400 {
        bench.block.a.next = beat(&mut random);
        bench.block.factor.next = bits_w(random.next() & 0xffff_ffff);
        bench.tick();
    }
    let lane = Lane { verilog: emitted(FpMul::default()), latency: fp_mul::LATENCY };
    bench.verify_rewritten("fold-mul-16", 16, |verilog| without_tick(&folded(&verilog, &[lane], 16).expect("they are there")));
}

#[test]
fn what_cannot_be_shared_is_refused() {
    let fp_add16 = emitted(FpAdd16::default());
    let error = |lanes: &[Lane], pace| folded(&fp_add16, lanes, pace).expect_err("it cannot be shared");
    assert!(error(&[adder()], 3).contains("3 cycles"));
    let multiplier = Lane { verilog: emitted(FpMul::default()), latency: fp_mul::LATENCY };
    assert!(error(&[multiplier], 16).contains("nowhere instantiated"));
    assert!(error(&[Lane { latency: 1, ..adder() }], 16).contains("1 cycles"));
}

/// One adder is left of sixteen, and it is in the free-running half of the text.
#[test]
fn one_unit_is_left_of_sixteen() {
    let block = emit::BLOCKS.iter().find(|block| block.name == "fp_add16").expect("it is in the list");
    let text = folded(&block.verilog(), &[adder()], 16).expect("adders are there");
    assert_eq!(text.matches(" unit$0(").count(), 1);
    assert_eq!(text.matches(" unit$1(").count(), 0);
    assert!(text.contains("module top$fast$lane$0("), "{text}");
    assert!(!text.contains("\nmodule top$lane$0("), "{text}");
}
