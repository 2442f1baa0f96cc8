//! Runs a block in the rust-hdl engine and replays the run on its emitted Verilog.
//!
//! The engine executes the Rust, a board executes the Verilog, and the two can differ silently.
//! [`Bench::verify_with_verilator`] checks that the Verilog behaves identically in every cycle of a
//! recorded run. [`Bench::verilated`] runs the Verilog in place of the block.
//! Limits: one clock, the port `clock`, and no in-out ports at the top. The trace stays in memory,
//! at 4 bytes per cycle for each started 32 bits of a port.
//! Unlike rust-hdl's `Simulation` it has no threads, time or waveforms, and is much faster.

pub mod module;
pub mod share;

mod replay;
mod split;
mod unused;
mod verilated;

pub use self::replay::target_directory;

use self::module::Module;
use self::replay::{Layout, Optimise};
use self::verilated::Model;
use crate::hdl::engine::Clocked;
use crate::hdl::ports::Rows;
use crate::hdl::prelude::*;
use std::any::type_name;
use std::collections::BTreeSet;
use std::marker::PhantomData;

/// Passes after which a block counts as oscillating, far above any depth of hierarchy.
const PASSES_MAX: usize = 1000;

/// Block under simulation, by rust-hdl or as Verilog by Verilator.
///
/// Set `block.port.next`, call [`tick`](Bench::tick), read `block.port.val()`. Outputs that depend
/// on inputs of the same cycle are valid after [`settle`](Bench::settle).
pub struct Bench<B: Clocked> {
    /// Input ports may be set at any time between two calls.
    pub block: B,
    cycles: u64,
    engine: Engine<B>,
}

enum Engine<B> {
    Rust,
    RustRecording(Trace),
    Verilator(Verilated<B>),
}

/// Rows of words, sampled just before each rising edge.
struct Trace {
    layout: Layout,
    words: Vec<u32>,
}

struct Verilated<B> {
    model: Model,
    /// Inputs and clock level of the last evaluation.
    inputs: Vec<u32>,
    clock: Option<bool>,
    exchange: fn(&mut B, &mut Rows),
}

impl<B: Clocked> Verilated<B> {
    fn settle(&mut self, block: &mut B) {
        let clock = Some(block.clock().next.clk);
        (self.exchange)(block, &mut Rows::Inputs(self.model.inputs()));
        if self.clock != clock || self.inputs != self.model.inputs() {
            self.clock = clock;
            self.inputs.copy_from_slice(self.model.inputs());
            self.model.eval(clock == Some(true));
            (self.exchange)(block, &mut Rows::Outputs(self.model.outputs()));
        }
    }
}

/// Compiled Verilog of a block for [`Bench::verilated`].
pub struct Compiled<B>(replay::Compiled, PhantomData<fn(B)>);

impl<B: Clocked + Ports> Compiled<B> {
    /// Emits and compiles the Verilog, or reuses `<target>/cosim/<name>-<hash>.so`.
    ///
    /// # Errors
    /// If Verilator is missing or rejects the Verilog.
    ///
    /// # Panics
    /// If rust-hdl rejects the block, or it has ports that [`Ports`] omits.
    pub fn new(name: &str, mut block: B) -> Result<Self, String> {
        block.connect_all();
        let layout = Layout::of(&block);
        layout.check_exchange(&mut block);
        Ok(Compiled(replay::compile(name, &verilog(&block), &layout, Optimise::Much)?, PhantomData))
    }
}

impl<B: Clocked> Bench<B> {
    /// Connects the block and settles it in its power-on state.
    ///
    /// # Panics
    /// If the block oscillates.
    pub fn new(mut block: B) -> Self {
        block.connect_all();
        let mut bench = Bench { block, cycles: 0, engine: Engine::Rust };
        bench.settle();
        bench
    }

    /// Like [`new`](Bench::new), and records every cycle.
    ///
    /// # Panics
    /// If the block oscillates or has an in-out port.
    pub fn recording(block: B) -> Self {
        let mut bench = Bench::new(block);
        bench.engine = Engine::RustRecording(Trace { layout: Layout::of(&bench.block), words: Vec::new() });
        bench
    }

    /// Starts at power-on with `compiled` in place of the block's logic.
    ///
    /// # Errors
    /// If the library was deleted.
    pub fn verilated(compiled: &Compiled<B>, block: B) -> Result<Self, String>
    where
        B: Ports,
    {
        let mut model = compiled.0.open()?;
        let inputs = model.inputs().to_vec();
        let engine = Engine::Verilator(Verilated { model, inputs, clock: None, exchange: B::exchange });
        let mut bench = Bench { block, cycles: 0, engine };
        bench.settle();
        Ok(bench)
    }

    /// Propagates changed inputs to the outputs, without a clock edge.
    ///
    /// # Panics
    /// If the block oscillates.
    pub fn settle(&mut self) {
        if let Engine::Verilator(verilated) = &mut self.engine {
            return verilated.settle(&mut self.block);
        }
        for _ in 0..PASSES_MAX {
            self.block.update_all();
            if !self.block.has_changed() {
                return;
            }
        }
        panic!("{} has not settled after {PASSES_MAX} passes: a combinational loop", type_name::<B>());
    }

    /// Runs one clock cycle: settles the inputs, records, and raises the clock.
    ///
    /// A Verilated model settles the falling edge together with the next inputs. A block of
    /// rust-hdl has none; see [`pos_edge`](crate::hdl::signal::Signal::pos_edge).
    ///
    /// # Panics
    /// If the block oscillates.
    pub fn tick(&mut self) {
        self.settle();
        if let Engine::RustRecording(trace) = &mut self.engine {
            trace.layout.sample(&self.block, &mut trace.words);
        }
        let clock = &mut self.block.clock().next;
        clock.clk = !clock.clk;
        self.settle();
        if let Engine::Verilator(_) = &self.engine {
            self.block.clock().next.clk = false;
        }
        self.cycles += 1;
    }

    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Replays the recorded run on the emitted Verilog in Verilator.
    ///
    /// Compares all outputs before every edge and after the last one. `name` becomes part of the
    /// compiled model's file name.
    ///
    /// # Panics
    /// On a difference (with cycle, port, found and expected), if Verilator is missing or warns, or
    /// if nothing was recorded.
    pub fn verify_with_verilator(&mut self, name: &str) {
        self.verify_rewritten(name, 1, |verilog| verilog);
    }

    /// Verifies rewritten Verilog that needs `pace` cycles for one.
    ///
    /// Inputs are held for `pace` cycles; outputs are compared in the last.
    ///
    /// # Panics
    /// Like [`verify_with_verilator`](Bench::verify_with_verilator).
    pub fn verify_rewritten(&mut self, name: &str, pace: usize, rewrite: impl FnOnce(String) -> String) {
        self.settle();
        let Engine::RustRecording(trace) = &mut self.engine else {
            panic!("{name}: verify_with_verilator needs Bench::recording")
        };
        assert!(!trace.words.is_empty(), "{name}: nothing to verify, not one cycle was recorded");
        let recorded = trace.words.len();
        trace.layout.sample(&self.block, &mut trace.words);
        let verified = replay::verify(name, &rewrite(verilog(&self.block)), &trace.layout, &trace.words, pace);
        trace.words.truncate(recorded);
        verified.unwrap_or_else(|difference| panic!("{difference}"));
    }
}

/// Emits the Verilog of a connected block, with top module `top` and without duplicate modules.
///
/// # Panics
/// If rust-hdl finds an unconnected signal, a combinational loop or a driven input.
pub fn verilog<B: Block>(block: &B) -> String {
    module::print(&passes(block).0)
}

/// Modules of [`verilog`], and the entries of [`unused`] that were needed.
fn passes<B: Block>(block: &B) -> (Vec<Module>, BTreeSet<usize>) {
    if let Err(error) = check_all(block) {
        panic!("{}: {error:?}", type_name::<B>());
    }
    let emitted = module::parse(&generate_verilog_unchecked(block));
    let mut modules = share::shared(emitted.unwrap_or_else(|error| panic!("{}: {error}", type_name::<B>())));
    split::split(&mut modules);
    let needed = unused::sink(&mut modules, &unused::layouts(block));
    (modules, needed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[derive(LogicBlock, Default, Ports)]
    struct Accumulator {
        clock: Signal<In, Clock>,
        add: Signal<In, W<8>>,
        beat: Signal<In, Beat>,
        total: Signal<Out, W<8>>,
        doubled: Signal<Out, W<8>>,
        beat_out: Signal<Out, Beat>,
        taps: [Signal<Out, W<33>>; 2],
        total_register: DFF<W<8>>,
        beat_register: DFF<Beat>,
        sum: Signal<Local, W<8>>,
    }

    impl Logic for Accumulator {
        #[hdl_gen]
        fn update(&mut self) {
            dff_setup!(self, clock, total_register, beat_register);
            self.sum.next = self.total_register.q.val() + self.add.val();
            self.total_register.d.next = self.sum.val();
            self.beat_register.d.next = self.beat.val();
            self.total.next = self.total_register.q.val();
            self.doubled.next = self.add.val() << 1;
            self.beat_out.next = self.beat_register.q.val();
            for i in 0..2 {
                self.taps[i].next = self.beat.val().get_bits::<33>(i * 33);
            }
        }
    }

    #[derive(LogicBlock, Default)]
    struct Falling {
        clock: Signal<In, Clock>,
        d: Signal<In, bool>,
        q: Signal<Out, bool>,
    }

    impl Logic for Falling {
        fn update(&mut self) {
            if self.clock.pos_edge() {
                self.q.next = self.d.val();
            }
        }
        fn connect(&mut self) {
            self.q.connect();
        }
        fn hdl(&self) -> Verilog {
            Verilog::Custom("initial q = 0;\nalways @(negedge clock) q <= d;".into())
        }
    }

    #[derive(LogicBlock, Default)]
    struct Oscillator {
        clock: Signal<In, Clock>,
        y: Signal<Out, bool>,
    }

    impl Logic for Oscillator {
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = !self.y.val();
        }
    }
    clocked!(Accumulator, Falling, Oscillator);

    #[test]
    fn the_verilog_in_the_place_of_a_block_does_what_the_block_does() {
        let mut rust = Bench::new(Accumulator::default());
        let compiled = Compiled::new("accumulator", Accumulator::default()).unwrap();
        let mut verilog = Bench::verilated(&compiled, Accumulator::default()).unwrap();
        let mut random = crate::random::Random::new(11);
        for cycle in 0..1000 {
            let (add, beat) = (bits_w(random.next()), Beat(std::array::from_fn(|_| random.next() as u32)));
            for bench in [&mut rust, &mut verilog] {
                (bench.block.add.next, bench.block.beat.next) = (add, beat);
                bench.settle();
            }
            let outputs = |block: &Accumulator| {
                let taps = [block.taps[0].val(), block.taps[1].val()];
                (block.total.val(), block.doubled.val(), block.beat_out.val(), taps)
            };
            assert_eq!(outputs(&rust.block), outputs(&verilog.block), "cycle {cycle}, before the edge");
            rust.tick();
            verilog.tick();
            assert_eq!(outputs(&rust.block), outputs(&verilog.block), "cycle {cycle}, after the edge");
        }
        assert_eq!((rust.cycles(), verilog.cycles()), (1000, 1000));
    }

    fn panic_text(f: impl FnOnce()) -> String {
        let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("it should have panicked");
        panic.downcast_ref::<String>().cloned().or(panic.downcast_ref::<&str>().map(|s| s.to_string())).unwrap()
    }

    fn recorded(bench: &mut Bench<Accumulator>) -> &mut Trace {
        let Engine::RustRecording(trace) = &mut bench.engine else { panic!("it records") };
        trace
    }

    fn run_accumulator(ticks: u64) -> Bench<Accumulator> {
        let mut bench = Bench::recording(Accumulator::default());
        let mut total = 0u8;
        for i in 0..ticks {
            bench.block.add.next = bits_w::<8>(i * 37);
            bench.block.beat.next =
                Beat(std::array::from_fn(|lane| (i as u32 + 1).wrapping_mul(lane as u32 + 0x9e37_79b9)));
            bench.tick();
            total = total.wrapping_add((i * 37) as u8);
            assert_eq!(bench.block.total.val(), bits_w::<8>(total as u64));
        }
        bench
    }

    #[test]
    fn a_bench_counts_cycles_and_its_run_holds_on_the_verilog() {
        let mut bench = run_accumulator(100);
        assert_eq!(bench.cycles(), 100);
        bench.verify_with_verilator("accumulator");
        bench.tick();
        bench.verify_with_verilator("accumulator");
    }

    #[test]
    fn every_tampered_port_is_found_with_cycle_and_values() {
        for (word, port) in [(0, "total"), (1, "doubled"), (2 + 15, "beat_out"), (18 + 1, "taps$0"), (20, "taps$1")] {
            let mut bench = run_accumulator(10);
            let trace = recorded(&mut bench);
            let at = 7 * trace.layout.row_words() + trace.layout.input_words() + word;
            trace.words[at] ^= 1;
            let text = panic_text(|| bench.verify_with_verilator("accumulator"));
            assert!(text.contains("cycle 7") && text.contains(port) && text.contains("expected"), "{port}: {text}");
        }
    }

    #[test]
    fn a_last_state_that_differs_is_found() {
        let mut bench = run_accumulator(3);
        let trace = recorded(&mut bench);
        let beat_lane_15 = 2 * trace.layout.row_words() + trace.layout.input_words() - 1;
        trace.words[beat_lane_15] ^= 1; // an input of the last cycle, visible only in the final state
        let text = panic_text(|| bench.verify_with_verilator("accumulator"));
        assert!(text.contains("cycle 3") && text.contains("beat_out"), "{text}");
    }

    #[test]
    fn a_register_on_the_falling_edge_is_refused() {
        let mut bench = Bench::recording(Falling::default());
        bench.block.d.next = true;
        bench.tick();
        let text = panic_text(|| bench.verify_with_verilator("falling"));
        assert!(text.contains("cycle 0") && text.contains("falling edge"), "{text}");
    }

    #[test]
    fn an_unrecorded_run_is_not_called_verified() {
        let text = panic_text(|| Bench::recording(Accumulator::default()).verify_with_verilator("accumulator"));
        assert!(text.contains("nothing to verify"), "{text}");
        let text = panic_text(|| Bench::new(Accumulator::default()).verify_with_verilator("accumulator"));
        assert!(text.contains("Bench::recording"), "{text}");
    }

    #[test]
    fn an_oscillating_block_is_named() {
        let text = panic_text(|| drop(Bench::new(Oscillator::default())));
        assert!(text.contains("Oscillator"), "{text}");
    }
}
