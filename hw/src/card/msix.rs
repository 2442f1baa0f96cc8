//! MSI-X requests: vector q reports that completions of queue q were written.
//!
//! A request is held, with its vector, until the bridge accepts it. Further requests of the same
//! queue merge into the next one. Lower queues have priority.
//! Latency: 2 cycles. Back-pressure: `ready`. Reset: `clear`, which also withdraws a request.

use crate::hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Msix {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    /// Queues whose completions are now visible.
    pub written: Signal<In, W<4>>,
    /// `number` is the vector.
    pub valid: Signal<Out, bool>,
    pub number: Signal<Out, W<2>>,
    pub ready: Signal<In, bool>,
    pending: DFF<W<4>>,
    offered: DFF<bool>,
    at: DFF<W<2>>,
    first: Wire<W<4>>,
    left: Wire<W<4>>,
}

impl Logic for Msix {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, pending, offered, at);
        self.valid.next = self.offered.q.val();
        self.number.next = self.at.q.val();
        self.left.next = self.pending.q.val();
        if !self.offered.q.val() || self.ready.val() {
            self.offered.d.next = self.pending.q.val() != 0;
            self.first.next = bits_w::<4>(8);
            self.at.d.next = bits_w::<2>(3);
            if self.pending.q.val().get_bit(0) {
                self.first.next = bits_w::<4>(1);
                self.at.d.next = bits_w::<2>(0);
            } else if self.pending.q.val().get_bit(1) {
                self.first.next = bits_w::<4>(2);
                self.at.d.next = bits_w::<2>(1);
            } else if self.pending.q.val().get_bit(2) {
                self.first.next = bits_w::<4>(4);
                self.at.d.next = bits_w::<2>(2);
            }
            self.left.next = self.pending.q.val() & (self.first.val() ^ 0xf);
        } else {
            self.first.next = bits_w::<4>(0);
        }
        self.pending.d.next = self.left.val() | self.written.val();
        if self.clear.val() {
            self.pending.d.next = bits_w::<4>(0);
            self.offered.d.next = false;
        }
    }
}

clocked!(Msix);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::testing::{Pace, at_every_pace};
    use crate::cosim::Bench;
    use crate::random::Random;
    use std::collections::VecDeque;

    /// Every completion is followed by a request for its queue, and none appears without one.
    fn run(bench: &mut Bench<Msix>, random: &mut Random, pace: Pace, cycles: u64) {
        let mut untold: [VecDeque<u64>; 4] = Default::default();
        let (mut offered, mut merged) = (None, 0);
        for cycle in 0..cycles {
            let quiet = cycle + 40 > cycles;
            let written = if quiet { 0 } else { random.next() & random.next() & random.next() & 0xf };
            bench.block.written.next = bits_w(written);
            bench.block.ready.next = quiet || pace.takes(random) && random.one_in(2);
            bench.settle();
            let offer = bench.block.valid.val().then(|| bench.block.number.val().index());
            assert!(offered.is_none() || offer == offered, "cycle {cycle}: {offered:?} became {offer:?}");
            if offered.is_none()
                && let Some(queue) = offer
            {
                let told = untold[queue].iter().take_while(|at| **at + 2 <= cycle).count();
                assert!(told > 0, "cycle {cycle}: queue {queue} has no completion to report");
                merged += u32::from(told > 1);
                untold[queue].drain(..told);
            }
            offered = offer.filter(|_| !bench.block.ready.val());
            bench.tick();
            (0..4).filter(|queue| written >> queue & 1 == 1).for_each(|queue| untold[queue].push_back(cycle));
        }
        assert!(untold.iter().all(VecDeque::is_empty), "completions without a request");
        assert!(merged > 0 && !bench.block.valid.val());
    }

    #[test]
    fn every_completion_is_followed_by_a_request_of_its_queue() {
        at_every_pace(3, |random, pace| run(&mut Bench::new(Msix::default()), random, pace, 3000));
    }

    #[test]
    fn the_verilog_requests_alike_and_clear_withdraws() {
        let mut bench = Bench::recording(Msix::default());
        run(&mut bench, &mut Random::new(1), Pace::RANDOM, 1000);
        bench.block.written.next = bits_w(0xf);
        bench.block.ready.next = false;
        (0..3).for_each(|_| bench.tick());
        assert!(bench.block.valid.val());
        bench.block.written.next = bits_w(0);
        bench.block.clear.next = true;
        bench.tick();
        bench.block.clear.next = false;
        (0..5).for_each(|_| {
            assert!(!bench.block.valid.val());
            bench.tick();
        });
        bench.verify_with_verilator("msix");
    }
}
