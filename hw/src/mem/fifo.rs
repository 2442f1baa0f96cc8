//! First-word-fall-through FIFO on distributed RAM.
//!
//! Latency: a word pushed into an empty FIFO appears at `pop_data` in the next cycle. Throughput:
//! one push and one pop per cycle at any fill level.
//! Back-pressure: `full` and `room`. Pushes when full and pops when empty are ignored.
//! Reset: `clear` empties the FIFO at the next edge and overrides push and pop.
//! Limits: 2^A words, A from 1 to 15.

use crate::hdl::engine::Clocked;
use crate::hdl::prelude::*;
use crate::mem::ram::LutRam;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct FifoState {
    /// Next word to pop; the low A bits address the memory.
    head: W<16>,
    tail: W<16>,
    used: W<16>,
}

#[derive(LogicBlock)]
pub struct Fifo<T: Synth, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    pub push: Signal<In, bool>,
    pub push_data: Signal<In, T>,
    pub full: Signal<Out, bool>,
    pub pop: Signal<In, bool>,
    /// Oldest word; undefined while `empty`.
    pub pop_data: Signal<Out, T>,
    pub empty: Signal<Out, bool>,
    pub room: Signal<Out, W<16>>,
    memory: LutRam<T, A>,
    state: DFF<FifoState>,
    depth: Constant<W<16>>,
    pushed: Signal<Local, bool>,
    popped: Signal<Local, bool>,
    head_next: Signal<Local, W<16>>,
    tail_next: Signal<Local, W<16>>,
    used_more: Signal<Local, W<16>>,
    used_less: Signal<Local, W<16>>,
}

impl<T: Synth, const A: usize> Default for Fifo<T, A> {
    fn default() -> Self {
        const { assert!(A >= 1 && A <= 15, "a Fifo holds 2 to 2^15 words") };
        Self {
            clock: Signal::default(),
            clear: Signal::default(),
            push: Signal::default(),
            push_data: Signal::default(),
            full: Signal::default(),
            pop: Signal::default(),
            pop_data: Signal::default(),
            empty: Signal::default(),
            room: Signal::default(),
            memory: LutRam::default(),
            state: DFF::default(),
            depth: Constant::new(bits_w::<16>(1 << A)),
            pushed: Signal::default(),
            popped: Signal::default(),
            head_next: Signal::default(),
            tail_next: Signal::default(),
            used_more: Signal::default(),
            used_less: Signal::default(),
        }
    }
}

impl<T: Synth, const A: usize> Logic for Fifo<T, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state);
        clock!(self, clock, memory);
        self.full.next = self.state.q.val().used == self.depth.val();
        self.empty.next = self.state.q.val().used == 0;
        self.room.next = self.depth.val() - self.state.q.val().used;
        self.pushed.next = self.push.val() && !self.full.val();
        self.popped.next = self.pop.val() && !self.empty.val();

        self.memory.write_address.next = bit_cast_w::<A, 16>(self.state.q.val().tail);
        self.memory.write_data.next = self.push_data.val();
        self.memory.write_enable.next = self.pushed.val();
        self.memory.read_address.next = bit_cast_w::<A, 16>(self.state.q.val().head);
        self.pop_data.next = self.memory.read_data.val();

        self.head_next.next = self.state.q.val().head + 1;
        self.tail_next.next = self.state.q.val().tail + 1;
        self.used_more.next = self.state.q.val().used + 1;
        self.used_less.next = self.state.q.val().used - 1;
        if self.pushed.val() {
            self.state.d.next.tail = self.tail_next.val();
        }
        if self.popped.val() {
            self.state.d.next.head = self.head_next.val();
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
            self.state.d.next.used = bits_w::<16>(0);
        }
    }
}

impl<T: Synth, const A: usize> Clocked for Fifo<T, A> {
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
    fn run<const A: usize>(name: &str, cycles: u64) {
        let depth = 1 << A;
        let mut random = Random::new(A as u64);
        let mut bench = Bench::recording(Fifo::<W<40>, A>::default());
        let mut model = VecDeque::new();
        let (mut ignored_pushes, mut ignored_pops, mut clears_in_use, mut both_when_full, mut both_when_empty) =
            (0, 0, 0, 0, 0);
        for cycle in 0..cycles {
            let (push_of_8, pop_of_8) = [(7, 2), (2, 7), (8, 8), (4, 4)][(cycle / (4 * depth as u64)) as usize % 4];
            let (push, pop) = (random.below(8) < push_of_8, random.below(8) < pop_of_8);
            let (clear, data) = (random.one_in(100), random.next() >> 24);
            bench.block.push.next = push;
            bench.block.push_data.next = bits_w::<40>(data);
            bench.block.pop.next = pop;
            bench.block.clear.next = clear;
            bench.settle();
            let (full, empty) = (model.len() == depth, model.is_empty());
            assert_eq!((bench.block.full.val(), bench.block.empty.val()), (full, empty), "cycle {cycle}");
            assert_eq!(bench.block.room.val().raw(), (depth - model.len()) as u64, "cycle {cycle}");
            if let Some(&oldest) = model.front() {
                assert_eq!(bench.block.pop_data.val().raw(), oldest, "cycle {cycle}");
            }
            bench.tick();
            ignored_pushes += (push && full) as u32;
            ignored_pops += (pop && empty) as u32;
            both_when_full += (push && pop && full) as u32;
            both_when_empty += (push && pop && empty) as u32;
            clears_in_use += (clear && !empty && push) as u32;
            if pop && !empty {
                model.pop_front();
            }
            if push && !full {
                model.push_back(data);
            }
            if clear {
                model.clear();
            }
        }
        let seen = [ignored_pushes, ignored_pops, both_when_full, both_when_empty, clears_in_use];
        assert!(seen.iter().all(|&count| count > 0), "the stimulus missed a case: {seen:?}");
        bench.verify_with_verilator(name);
    }

    #[test]
    fn a_fifo_behaves_as_a_bounded_queue_and_ignores_what_does_not_fit() {
        run::<1>("fifo_2", 4000);
        run::<4>("fifo_16", 8000);
    }

    #[test]
    fn a_word_passes_every_cycle_once_one_is_inside() {
        let mut bench = Bench::new(Fifo::<W<16>, 1>::default());
        bench.block.push.next = true;
        bench.tick();
        bench.block.pop.next = true;
        for i in 1..1000 {
            bench.block.push_data.next = bits_w::<16>(i);
            bench.tick();
            assert_eq!(bench.block.pop_data.val().raw(), i);
            assert!(!bench.block.empty.val() && !bench.block.full.val());
        }
    }
}
