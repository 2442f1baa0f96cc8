//! First-word-fall-through FIFO on block RAM, for words too wide for a [`Fifo`] on LUTs.
//!
//! Latency: a word pushed into an empty FIFO appears at `pop_data` two cycles later. Throughput:
//! one push and one pop per cycle at any fill level.
//! Back-pressure: `room`. Pushes when full and pops when empty are ignored.
//! Reset: `clear` empties the FIFO at the next edge and overrides push and pop.
//! Limits: 2^1 to 2^15 words.
//!
//! [`Fifo`]: crate::mem::fifo::Fifo

use crate::hdl::engine::Clocked;
use crate::hdl::prelude::*;
use crate::mem::ram::zeroed_memory;

/// [`crate::mem::ram::Ram`] with its size chosen at construction.
#[derive(LogicBlock)]
struct SizedRam<T: Synth> {
    pub clock: Signal<In, Clock>,
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
        let log2 = self._words.len().ilog2();
        let high = log2 - 1;
        Verilog::Custom(format!(
            "{}
initial read_data = 0;
always @(posedge clock) begin
    read_data <= mem[read_address[{high}:0]];
    if (write_enable) mem[write_address[{high}:0]] <= write_data;
end
wire unused = &{{read_address[15:{log2}], write_address[15:{log2}]}};",
            zeroed_memory::<T>("block", log2)
        ))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct BlockFifoState {
    /// Next word to pop; the low bits address the memory.
    head: W<16>,
    tail: W<16>,
    /// `tail` one cycle ago. Words before it are readable.
    seen: W<16>,
    used: W<16>,
}

/// Queue of 2^A words by default; [`sized`](Self::sized) overrides `A`.
#[derive(LogicBlock)]
pub struct BlockFifo<T: Synth, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    pub push: Signal<In, bool>,
    pub push_data: Signal<In, T>,
    pub pop: Signal<In, bool>,
    /// Oldest word; undefined while `empty`.
    pub pop_data: Signal<Out, T>,
    /// No word at `pop_data`. The FIFO may hold words that are not readable yet.
    pub empty: Signal<Out, bool>,
    pub room: Signal<Out, W<16>>,
    memory: SizedRam<T>,
    state: DFF<BlockFifoState>,
    depth: Constant<W<16>>,
    full: Signal<Local, bool>,
    pushed: Signal<Local, bool>,
    popped: Signal<Local, bool>,
    head_next: Signal<Local, W<16>>,
    head_then: Signal<Local, W<16>>,
    tail_next: Signal<Local, W<16>>,
    used_more: Signal<Local, W<16>>,
    used_less: Signal<Local, W<16>>,
}

impl<T: Synth, const A: usize> Default for BlockFifo<T, A> {
    fn default() -> Self {
        const { assert!(A >= 1 && A <= 15, "a BlockFifo holds 2 to 2^15 words") };
        Self::sized(A as u32)
    }
}

impl<T: Synth, const A: usize> BlockFifo<T, A> {
    /// Creates a queue of 2^`log2` words.
    ///
    /// # Panics
    /// If `log2` is not within 1 to 15.
    pub fn sized(log2: u32) -> Self {
        assert!((1..=15).contains(&log2), "a BlockFifo of 2^{log2} words");
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
            full: Signal::default(),
            pushed: Signal::default(),
            popped: Signal::default(),
            head_next: Signal::default(),
            head_then: Signal::default(),
            tail_next: Signal::default(),
            used_more: Signal::default(),
            used_less: Signal::default(),
        }
    }
}

impl<T: Synth, const A: usize> Logic for BlockFifo<T, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state);
        self.memory.clock.next = self.clock.val();
        self.full.next = self.state.q.val().used == self.depth.val();
        self.empty.next = self.state.q.val().head == self.state.q.val().seen;
        self.room.next = self.depth.val() - self.state.q.val().used;
        self.pushed.next = self.push.val() && !self.full.val();
        self.popped.next = self.pop.val() && !self.empty.val();

        // Read one cycle ahead: the next word if this one is popped.
        self.head_next.next = self.state.q.val().head + 1;
        self.head_then.next = self.state.q.val().head;
        if self.popped.val() {
            self.head_then.next = self.head_next.val();
        }
        self.memory.write_address.next = self.state.q.val().tail;
        self.memory.write_data.next = self.push_data.val();
        self.memory.write_enable.next = self.pushed.val();
        self.memory.read_address.next = self.head_then.val();
        self.pop_data.next = self.memory.read_data.val();

        self.tail_next.next = self.state.q.val().tail + 1;
        self.used_more.next = self.state.q.val().used + 1;
        self.used_less.next = self.state.q.val().used - 1;
        self.state.d.next.head = self.head_then.val();
        self.state.d.next.seen = self.state.q.val().tail;
        if self.pushed.val() {
            self.state.d.next.tail = self.tail_next.val();
        }
        if self.pushed.val() && !self.popped.val() {
            self.state.d.next.used = self.used_more.val();
        }
        if self.popped.val() && !self.pushed.val() {
            self.state.d.next.used = self.used_less.val();
        }
        if self.clear.val() {
            self.state.d.next.head = bits_w::<16>(0);
            self.state.d.next.tail = bits_w::<16>(0);
            self.state.d.next.seen = bits_w::<16>(0);
            self.state.d.next.used = bits_w::<16>(0);
        }
    }
}

impl<T: Synth, const A: usize> Clocked for BlockFifo<T, A> {
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

    /// Compares random pushes and pops with a `VecDeque`, in phases that fill, drain and balance.
    fn run<const A: usize>(fifo: BlockFifo<W<40>, A>, log2: u32, name: &str, cycles: u64) {
        let depth = 1 << log2;
        let mut random = Random::new(log2.into());
        let mut bench = Bench::recording(fifo);
        // Words, each with the first cycle in which it is readable.
        let mut model = VecDeque::new();
        let mut cases = [0; 5];
        for cycle in 0..cycles {
            let (push_of_8, pop_of_8) = [(7, 2), (2, 7), (8, 8), (4, 4)][(cycle / (4 * depth as u64)) as usize % 4];
            let (push, pop) = (random.below(8) < push_of_8, random.below(8) < pop_of_8);
            let (clear, data) = (random.one_in(100), random.next() >> 24);
            bench.block.push.next = push;
            bench.block.push_data.next = bits_w::<40>(data);
            bench.block.pop.next = pop;
            bench.block.clear.next = clear;
            bench.settle();
            let full = model.len() == depth;
            let shown = model.front().filter(|(_, from)| *from <= cycle).map(|(data, _)| *data);
            assert_eq!(bench.block.empty.val(), shown.is_none(), "cycle {cycle}");
            assert_eq!(bench.block.room.val().raw(), (depth - model.len()) as u64, "cycle {cycle}");
            if let Some(oldest) = shown {
                assert_eq!(bench.block.pop_data.val().raw(), oldest, "cycle {cycle}");
            }
            bench.tick();
            let seen = [
                push && full,
                pop && shown.is_none(),
                push && pop && full,
                pop && shown.is_none() && !model.is_empty(),
                clear && shown.is_some() && push,
            ];
            cases.iter_mut().zip(seen).for_each(|(count, seen)| *count += u32::from(seen));
            if pop && shown.is_some() {
                model.pop_front();
            }
            if push && !full {
                model.push_back((data, cycle + 2));
            }
            if clear {
                model.clear();
            }
        }
        assert!(cases.iter().all(|&count| count > 0), "the stimulus missed a case: {cases:?}");
        bench.verify_with_verilator(name);
    }

    #[test]
    fn a_block_fifo_behaves_as_a_bounded_queue_of_latency_two() {
        run(BlockFifo::<_, 2>::default(), 2, "block_fifo_4", 4000);
        run(BlockFifo::<_, 2>::sized(4), 4, "block_fifo_16", 8000);
        run(BlockFifo::<_, 2>::sized(1), 1, "block_fifo_2", 4000);
    }

    #[test]
    fn a_word_passes_every_cycle() {
        let mut bench = Bench::new(BlockFifo::<W<16>, 2>::default());
        bench.block.push.next = true;
        for i in 0..1000 {
            bench.block.push_data.next = bits_w::<16>(i);
            bench.block.pop.next = i >= 2;
            bench.settle();
            assert_eq!(bench.block.empty.val(), i < 2);
            if i >= 2 {
                assert_eq!(bench.block.pop_data.val().raw(), i - 2);
            }
            bench.tick();
        }
    }
}
