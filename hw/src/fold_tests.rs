use super::*;
use crate::card::build::Build;
use crate::card::reduce::Reduce;
use crate::card::types::{SlotBeat, WindowBeat};
use crate::clocked;
use crate::cosim::Bench;
use crate::fp_add::{self, FpAdd, FpAdd16};
use crate::fp_mul::{self, FpMul16, Multiply, Unpack};
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

/// An adder and a multiplier whose results are shown from the eighth cycle on, and `a` before: what shared ones hold at
/// power-on differs.
#[derive(LogicBlock, Default)]
struct Settled {
    clock: Signal<In, Clock>,
    a: Signal<In, Beat>,
    b: Signal<In, Beat>,
    factor: Signal<In, W<32>>,
    sum: Signal<Out, Beat>,
    product: Signal<Out, Beat>,
    adder: FpAdd16,
    multiplier: FpMul16,
    cycle: DFF<W<3>>,
    settled: DFF<bool>,
}

impl Logic for Settled {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, cycle, settled);
        self.adder.clock.next = self.clock.val();
        self.adder.a.next = self.a.val();
        self.adder.b.next = self.b.val();
        self.multiplier.clock.next = self.clock.val();
        self.multiplier.a.next = self.a.val();
        self.multiplier.factor.next = self.factor.val();
        self.cycle.d.next = self.cycle.q.val() + 1;
        if self.cycle.q.val() == 7 {
            self.settled.d.next = true;
        }
        self.sum.next = self.a.val();
        self.product.next = self.a.val();
        if self.settled.q.val() {
            self.sum.next = self.adder.sum.val();
            self.product.next = self.multiplier.product.val();
        }
    }
}
clocked!(Settled);

fn multiplier() -> [Lane; 2] {
    [
        Lane { verilog: emitted(Unpack::default()), latency: 2 },
        Lane { verilog: emitted(Multiply::default()), latency: fp_mul::LATENCY - 2 },
    ]
}

/// The factor's unpacker is the seventeenth: sixteen share units, and it stays as it is.
#[test]
fn lanes_on_fewer_units_give_the_same_results() {
    let mut random = Random::new(71);
    let mut bench = Bench::recording(Settled::default());
    for _ in 0..400 {
        bench.block.a.next = beat(&mut random);
        bench.block.b.next = beat(&mut random);
        bench.block.factor.next = bits_w(random.next() & 0xffff_ffff);
        bench.tick();
    }
    let lanes = || multiplier().into_iter().chain([adder()]).collect::<Vec<_>>();
    for pace in [4, 8, 16] {
        let rewrite = |verilog: String| without_tick(&folded(&verilog, &lanes(), pace).expect("they are there"));
        bench.verify_rewritten(&format!("fold-{pace}"), pace, rewrite);
    }
}

/// Memories, registers, and lanes in a block with feedback: sums of sums.
#[test]
fn a_reduction_with_shared_adders_gives_the_same_sums() {
    let mut random = Random::new(72);
    let mut bench = Bench::recording(Reduce::new(Build { window_log2: 7, hadamard_log2: 8 }));
    for cycle in 0..600 {
        let block = &mut bench.block;
        let mut contribution = |slots: u64| WindowBeat {
            slot: bits_w(random.below(slots)),
            relative: bits_w(random.below(6)),
            sender: bits_w(random.below(8)),
            epoch: bits_w(1),
            data: beat(&mut random),
            ..Default::default()
        };
        block.rx.next = contribution(2);
        block.own.next = contribution(2);
        block.open.next = bits_w(3);
        block.window_beats.next = bits_w(128);
        block.rx_valid.next = random.one_in(2);
        block.own_valid.next = random.one_in(3);
        block.scale_valid.next = random.one_in(2);
        block.scale_address.next = SlotBeat { slot: bits_w(random.below(2)), beat: bits_w(random.below(6)) };
        block.count_address.next = bits_w(random.below(2) * 64 + random.below(8));
        block.count_epoch.next = bits_w(1);
        block.scrub.next = cycle == 300;
        bench.tick();
    }
    bench.verify_rewritten("fold-reduce", 16, |verilog| {
        without_tick(&folded(&verilog, &[adder()], 16).expect("it adds"))
    });
}

#[test]
fn what_cannot_be_shared_is_refused() {
    let fp_add16 = emitted(FpAdd16::default());
    let error = |lanes: &[Lane], pace| folded(&fp_add16, lanes, pace).expect_err("it cannot be shared");
    assert!(error(&[adder()], 3).contains("3 cycles"));
    assert!(error(&multiplier(), 16).contains("nowhere instantiated"));
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
