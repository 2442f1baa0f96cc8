//! Queue of beats in block RAM, first word fall through; how many it holds is chosen when it is built.
//!
//! Why: a [`crate::fifo::Fifo`] is distributed RAM, which for 512 beats costs 7 k LUT.
//! Latency: a word pushed in cycle t shows at `pop_data` in cycle t + 2. Takes one push and one pop every cycle.
//! Back-pressure: `room`; a push when full and a pop when empty are ignored.
//! Reset: `clear` empties it at the next edge and wins over push and pop.
//! Limits: 2^1 to 2^15 words.

use crate::cosim::Clocked;
use crate::prelude::*;

/// The memory: as [`crate::ram::Ram`], with its size chosen when it is built.
#[derive(LogicBlock)]
struct SizedRam<T: Synth> {
    pub clock: Signal<In, Clock>,
    /// Word to read; what is above the memory's size is ignored.
    pub read_address: Signal<In, W<16>>,
    pub read_data: Signal<Out, T>,
    pub write_address: Signal<In, W<16>>,
    pub write_data: Signal<In, T>,
    pub write_enable: Signal<In, bool>,
    _words: Vec<T>,
}

impl<T: Synth> Logic for SizedRam<T> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            let last = self._words.len() - 1;
            self.read_data.next = self._words[self.read_address.val().index() & last];
            if self.write_enable.val() {
                self._words[self.write_address.val().index() & last] = self.write_data.val();
            }
        }
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        let last = self._words.len() - 1;
        let high = self._words.len().ilog2() - 1;
        Verilog::Custom(format!(
            "(* ram_style = \"block\" *) reg [{}:0] mem [0:{last}];
`ifndef SYNTHESIS
integer i;
initial for (i = 0; i <= {last}; i = i + 1) mem[i] = 0;
`endif
initial read_data = 0;
always @(posedge clock) begin
    read_data <= mem[read_address[{high}:0]];
    if (write_enable) mem[write_address[{high}:0]] <= write_data;
end",
            T::BITS - 1
        ))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct FifoState {
    /// Next word to pop; the low bits address the memory.
    head: W<16>,
    /// Next word to push.
    tail: W<16>,
    /// The tail one cycle ago: words before it can be read.
    shown: W<16>,
}

/// The queue, see the module.
#[derive(LogicBlock)]
pub struct RamFifo<T: Synth> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Empty it.
    pub clear: Signal<In, bool>,
    /// Take `push_data` in this cycle.
    pub push: Signal<In, bool>,
    /// The word to take.
    pub push_data: Signal<In, T>,
    /// Remove the word at `pop_data` in this cycle.
    pub pop: Signal<In, bool>,
    /// The oldest word; meaningless while `empty`.
    pub pop_data: Signal<Out, T>,
    /// No word shows: a pop would be ignored.
    pub empty: Signal<Out, bool>,
    /// Free places.
    pub room: Signal<Out, W<16>>,
    memory: SizedRam<T>,
    state: DFF<FifoState>,
    depth: Constant<W<16>>,
    used: Wire<W<16>>,
    pushed: Wire<bool>,
    popped: Wire<bool>,
    head_next: Wire<W<16>>,
    tail_next: Wire<W<16>>,
}

impl<T: Synth> RamFifo<T> {
    /// A queue of 2^`log2` words.
    ///
    /// # Panics
    /// Outside of 2^1 to 2^15 words: that is a design error.
    pub fn new(log2: u32) -> Self {
        assert!((1..=15).contains(&log2), "a RamFifo of 2^{log2} words");
        let memory = SizedRam {
            clock: Signal::default(),
            read_address: Signal::default(),
            read_data: Signal::default(),
            write_address: Signal::default(),
            write_data: Signal::default(),
            write_enable: Signal::default(),
            _words: vec![T::default(); 1 << log2],
        };
        Self {
            clock: Signal::default(),
            clear: Signal::default(),
            push: Signal::default(),
            push_data: Signal::default(),
            pop: Signal::default(),
            pop_data: Signal::default(),
            empty: Signal::default(),
            room: Signal::default(),
            memory,
            state: DFF::default(),
            depth: Constant::new(bits_w(1 << log2)),
            used: Wire::default(),
            pushed: Wire::default(),
            popped: Wire::default(),
            head_next: Wire::default(),
            tail_next: Wire::default(),
        }
    }
}

impl<T: Synth> Logic for RamFifo<T> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state);
        self.memory.clock.next = self.clock.val();
        self.used.next = self.state.q.val().tail - self.state.q.val().head;
        self.room.next = self.depth.val() - self.used.val();
        self.empty.next = self.state.q.val().head == self.state.q.val().shown;
        self.pushed.next = self.push.val() && (self.used.val() != self.depth.val());
        self.popped.next = self.pop.val() && (self.state.q.val().head != self.state.q.val().shown);
        self.head_next.next = self.state.q.val().head + 1;
        self.tail_next.next = self.state.q.val().tail + 1;

        self.memory.write_enable.next = self.pushed.val();
        self.memory.write_address.next = self.state.q.val().tail;
        self.memory.write_data.next = self.push_data.val();
        self.memory.read_address.next = self.state.q.val().head;
        if self.popped.val() {
            self.memory.read_address.next = self.head_next.val();
        }
        self.pop_data.next = self.memory.read_data.val();

        self.state.d.next.shown = self.state.q.val().tail;
        if self.pushed.val() {
            self.state.d.next.tail = self.tail_next.val();
        }
        if self.popped.val() {
            self.state.d.next.head = self.head_next.val();
        }
        if self.clear.val() {
            self.state.d.next.head = bits_w::<16>(0);
            self.state.d.next.tail = bits_w::<16>(0);
            self.state.d.next.shown = bits_w::<16>(0);
        }
    }
}

impl<T: Synth> Clocked for RamFifo<T> {
    fn clock(&mut self) -> &mut Signal<In, Clock> {
        &mut self.clock
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::Bench;
    use crate::random::Random;
    use std::collections::VecDeque;

    /// Random pushes and pops against a `VecDeque` whose words show two cycles after their push.
    fn run(log2: u32, name: &str, cycles: u64) {
        let depth = 1 << log2;
        let mut random = Random::new(u64::from(log2));
        let mut bench = Bench::recording(RamFifo::<W<40>>::new(log2));
        let mut model: VecDeque<(u64, u64)> = VecDeque::new();
        let [mut ignored_pushes, mut ignored_pops, mut hidden, mut clears_in_use] = [0u32; 4];
        for cycle in 0..cycles {
            let (push_of_8, pop_of_8) = [(7, 2), (2, 7), (8, 8), (4, 4)][(cycle / (4 * depth as u64)) as usize % 4];
            let (push, pop) = (random.below(8) < push_of_8, random.below(8) < pop_of_8);
            let (clear, data) = (random.one_in(100), random.next() >> 24);
            bench.block.push.next = push;
            bench.block.push_data.next = bits_w::<40>(data);
            bench.block.pop.next = pop;
            bench.block.clear.next = clear;
            bench.settle();
            let shows = model.front().is_some_and(|(since, _)| cycle >= since + 2);
            assert_eq!(bench.block.empty.val(), !shows, "cycle {cycle}");
            assert_eq!(bench.block.room.val().raw(), (depth - model.len()) as u64, "cycle {cycle}");
            if shows {
                assert_eq!(bench.block.pop_data.val().raw(), model[0].1, "cycle {cycle}");
            }
            bench.tick();
            let full = model.len() == depth;
            ignored_pushes += u32::from(push && full);
            ignored_pops += u32::from(pop && !shows);
            hidden += u32::from(!shows && !model.is_empty());
            clears_in_use += u32::from(clear && shows && push);
            if pop && shows {
                model.pop_front();
            }
            if push && !full {
                model.push_back((cycle, data));
            }
            if clear {
                model.clear();
            }
        }
        let seen = [ignored_pushes, ignored_pops, hidden, clears_in_use];
        assert!(seen.iter().all(|&count| count > 0), "the stimulus missed a case: {seen:?}");
        bench.verify_with_verilator(name);
    }

    #[test]
    fn a_ram_fifo_behaves_as_a_bounded_queue_that_shows_words_after_two_cycles() {
        run(1, "ram_fifo_2", 4000);
        run(4, "ram_fifo_16", 8000);
    }

    #[test]
    fn a_word_passes_every_cycle_once_some_are_inside() {
        let mut bench = Bench::new(RamFifo::<W<16>>::new(3));
        bench.block.push.next = true;
        for i in 0..1000u64 {
            bench.block.push_data.next = bits_w::<16>(i);
            bench.block.pop.next = i >= 2;
            bench.settle();
            if i >= 2 {
                assert!(!bench.block.empty.val());
                assert_eq!(bench.block.pop_data.val().raw(), i - 2);
            }
            bench.tick();
        }
    }
}
