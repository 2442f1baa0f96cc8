use super::*;
use crate::flows::bitstream;
use crate::verilog::emit;
use optireduce_hw::arith::fp_add::{self, FpAdd, FpAdd16};
use optireduce_hw::arith::fp_mul::{self, FpMul16, Multiply, Unpack};
use optireduce_hw::card::build::Build;
use optireduce_hw::card::reduce::Reduce;
use optireduce_hw::card::types::{SlotBeat, WindowBeat};
use optireduce_hw::clocked;
use optireduce_hw::cosim;
use optireduce_hw::cosim::Bench;
use optireduce_hw::hadamard::Hadamard;
use optireduce_hw::hdl::prelude::*;
use optireduce_hw::mem::ram::Ram;
use optireduce_hw::random::Random;

fn emitted<B: Block>(mut block: B) -> String {
    block.connect_all();
    cosim::verilog(&block)
}

fn adder() -> Lane {
    Lane { verilog: emitted(FpAdd::default()), latency: fp_add::LATENCY, late: &[] }
}

/// Wraps the top without `tick`, which the replay cannot drive.
fn without_tick(verilog: &str) -> String {
    let modules = module::parse(verilog).unwrap_or_else(|error| panic!("{error}"));
    let top = modules.iter().find(|module| module.name == "top").expect("there is a top");
    let ports: Vec<&Net> = top.ports().filter(|port| port.name != "tick").collect();
    let declared = |port: &&Net| {
        format!(
            "    {} wire [{}:0] {}",
            if port.kind.is_output() { "output" } else { "input" },
            port.bits - 1,
            port.name
        )
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

/// Adder and multiplier. The outputs show `a` for eight cycles and then the results, because shared
/// units differ at power-on.
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
        Lane { verilog: emitted(Unpack::default()), latency: 2, late: &[] },
        Lane { verilog: emitted(Multiply::default()), latency: fp_mul::LATENCY - 2, late: &[] },
    ]
}

/// The factor's unpacker is a seventeenth instance, which is not shared.
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
        let rewrite = |verilog: String| without_tick(&folded(&verilog, &lanes(), &[], pace).expect("they are there"));
        bench.verify_rewritten(&format!("fold-{pace}"), pace, rewrite);
    }
}

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
        without_tick(&folded(&verilog, &[adder()], &[], 16).expect("it adds"))
    });
}

#[test]
fn what_cannot_be_shared_is_refused() {
    let fp_add16 = emitted(FpAdd16::default());
    let error = |lanes: &[Lane], pace| folded(&fp_add16, lanes, &[], pace).expect_err("it cannot be shared");
    assert!(error(&[adder()], 3).contains("3 cycles"));
    assert!(error(&multiplier(), 16).contains("not instantiated"));
    assert!(error(&[Lane { latency: 1, ..adder() }], 16).contains("1 cycles"));
    let other = Substitute { verilog: emitted(Unpack::default()), by: String::new() };
    assert!(folded(&fp_add16, &[adder()], &[other], 16).is_err_and(|error| error.contains("not instantiated")));
}

#[test]
fn one_unit_is_left_of_sixteen() {
    let block = emit::BLOCKS.iter().find(|block| block.name == "fp_add16").expect("it is in the list");
    let text = folded(&block.verilog(), &[adder()], &[], 16).expect("adders are there");
    assert_eq!(text.matches(" unit$0(").count(), 1);
    assert_eq!(text.matches(" unit$1(").count(), 0);
    assert!(text.contains("module top$fast$lane$0("), "{text}");
    assert!(!text.contains("\nmodule top$lane$0("), "{text}");
}

/// Hadamard engine that shows results only while they are valid. Otherwise they may differ, since
/// shared lanes hold zeros in the first steps.
#[derive(LogicBlock)]
struct Encoder {
    clock: Signal<In, Clock>,
    start: Signal<In, bool>,
    decode: Signal<In, bool>,
    key: Signal<In, W<64>>,
    in_valid: Signal<In, bool>,
    in_ready: Signal<Out, bool>,
    in_data: Signal<In, Beat>,
    in_received: Signal<In, bool>,
    go: Signal<In, bool>,
    engine: Hadamard,
    out_valid: Signal<Out, bool>,
    out_data: Signal<Out, Beat>,
    out_received: Signal<Out, W<11>>,
    idle: Signal<Out, bool>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            start: Default::default(),
            decode: Default::default(),
            key: Default::default(),
            in_valid: Default::default(),
            in_ready: Default::default(),
            in_data: Default::default(),
            in_received: Default::default(),
            go: Default::default(),
            engine: Hadamard::new(8),
            out_valid: Default::default(),
            out_data: Default::default(),
            out_received: Default::default(),
            idle: Default::default(),
        }
    }
}

impl Logic for Encoder {
    #[hdl_gen]
    fn update(&mut self) {
        self.engine.clock.next = self.clock.val();
        self.engine.clear.next = false;
        self.engine.start.next = self.start.val();
        self.engine.log2n.next = bits_w::<4>(8);
        self.engine.decode.next = self.decode.val();
        self.engine.key.next = self.key.val();
        self.engine.in_valid.next = self.in_valid.val();
        self.in_ready.next = self.engine.in_ready.val();
        self.engine.in_data.next = self.in_data.val();
        self.engine.in_received.next = self.in_received.val();
        self.engine.go.next = self.go.val();
        self.out_valid.next = self.engine.out_valid.val();
        self.out_data.next = bits_beat(0);
        self.out_received.next = bits_w::<11>(0);
        if self.engine.out_valid.val() {
            self.out_data.next = self.engine.out_data.val();
            self.out_received.next = self.engine.out_received.val();
        }
        self.idle.next = self.engine.idle.val();
    }
}
clocked!(Encoder);

#[test]
fn a_hadamard_engine_with_shared_lanes_and_serial_butterflies_gives_the_same_blocks() {
    let mut random = Random::new(73);
    let mut bench = Bench::recording(Encoder::default());
    let mut answered = 0;
    for window in 0..4 {
        bench.block.start.next = true;
        bench.block.decode.next = window % 2 == 1;
        bench.block.key.next = bits_w(random.next());
        bench.tick();
        bench.block.start.next = false;
        let mut left = 16 * 5;
        while left > 0 || !bench.block.idle.val() {
            bench.block.in_valid.next = left > 0 && (window < 2 || random.one_in(2));
            // Similar exponents, so that most bits of most values matter.
            let lane = |random: &mut Random| (random.next() as u32 & 0x83ff_ffff) | 0x3c00_0000;
            bench.block.in_data.next = Beat(std::array::from_fn(|_| lane(&mut random)));
            bench.block.in_received.next = !random.one_in(8);
            bench.block.go.next = random.one_in(3);
            bench.settle();
            left -= usize::from(bench.block.in_valid.val() && bench.block.in_ready.val());
            answered += usize::from(bench.block.out_valid.val());
            bench.tick();
        }
    }
    assert_eq!(answered, 4 * 16 * 5);
    bench.verify_rewritten("fold-hadamard", 16, |verilog| {
        without_tick(
            &folded(&verilog, &bitstream::hadamard_lanes(), &[bitstream::butterflies()], 16).expect("they are there"),
        )
    });
}

/// Values at the ports between ticks are not written.
#[test]
fn a_memory_reads_the_old_word_in_the_step_of_a_write() {
    fn run<T: Synth>(pace: usize, mut word: impl FnMut(&mut Random) -> T) {
        let mut random = Random::new(74);
        let mut bench = Bench::recording(Ram::<T, 2>::default());
        for _ in 0..500 {
            bench.block.read_address.next = bits_w(random.below(4));
            bench.block.write_address.next = bits_w(random.below(4));
            bench.block.write_data.next = word(&mut random);
            bench.block.write_enable.next = random.one_in(2);
            bench.tick();
        }
        let rewrite = |verilog: String| without_tick(&folded(&verilog, &[], &[], pace).expect("it is memory"));
        bench.verify_rewritten(&format!("fold-ram-{pace}"), pace, rewrite);
    }
    run(4, |random| bits_w::<48>(random.next() >> 16));
    run(16, beat);
}
