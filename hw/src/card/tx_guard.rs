//! Last register before the MAC: holds an offered beat until it is accepted, and completes a frame
//! that was begun.
//!
//! A reset in the middle of a frame must not leave the MAC inside it. On `clear` the frame is ended
//! by one more beat, marked as an error, so that the MAC corrupts the checksum and no receiver
//! accepts the frame.
//! Latency: 1 cycle. Throughput: one beat a cycle. Back-pressure: `ready`, low during `clear`.
//! Reset: `clear`, complete once `busy` is low; `reset` discards everything immediately.

use super::types::FrameBeat;
use crate::hdl::prelude::*;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Held {
    valid: bool,
    data: Beat,
    last: bool,
    error: bool,
}

#[derive(LogicBlock, Default)]
pub struct TxGuard {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    pub reset: Signal<In, bool>,
    pub valid: Signal<In, bool>,
    pub beat: Signal<In, FrameBeat>,
    pub ready: Signal<Out, bool>,
    pub tx_valid: Signal<Out, bool>,
    pub tx_data: Signal<Out, Beat>,
    pub tx_last: Signal<Out, bool>,
    /// The frame is incomplete.
    pub tx_error: Signal<Out, bool>,
    pub tx_ready: Signal<In, bool>,
    /// A frame is incomplete, or its last beat is not accepted yet.
    pub busy: Signal<Out, bool>,
    held: DFF<Held>,
    open: DFF<bool>,
    free: Wire<bool>,
}

impl Logic for TxGuard {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held, open);
        self.free.next = !self.held.q.val().valid || self.tx_ready.val();
        self.ready.next = self.free.val() && !self.clear.val();
        if self.free.val() {
            self.held.d.next.valid = false;
            if self.clear.val() {
                self.held.d.next.valid = self.open.q.val();
                self.held.d.next.data = bits_beat(0);
                self.held.d.next.last = true;
                self.held.d.next.error = true;
                self.open.d.next = false;
            } else if self.valid.val() {
                self.held.d.next.valid = true;
                self.held.d.next.data = self.beat.val().data;
                self.held.d.next.last = self.beat.val().last;
                self.held.d.next.error = false;
                self.open.d.next = !self.beat.val().last;
            }
        }
        self.tx_valid.next = self.held.q.val().valid;
        self.tx_data.next = self.held.q.val().data;
        self.tx_last.next = self.held.q.val().last;
        self.tx_error.next = self.held.q.val().error;
        self.busy.next = self.held.q.val().valid || self.open.q.val();
        if self.reset.val() {
            self.held.d.next.valid = false;
            self.open.d.next = false;
        }
    }
}

clocked!(TxGuard);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::testing::{Pace, at_every_pace, random_beat};
    use crate::cosim::Bench;
    use crate::random::Random;

    /// Frames leave as they entered, except that a clear cuts a frame with one error beat.
    fn run(bench: &mut Bench<TxGuard>, random: &mut Random, pace: Pace, cycles: u64) {
        let (mut offered, mut frame, mut sent) = (None, Vec::<Beat>::new(), Vec::<Beat>::new());
        let (mut clearing, mut next, mut cut, mut whole) = (0u64, None, 0, 0);
        for cycle in 0..cycles {
            if clearing == 0 && random.one_in(60) {
                clearing = 40;
            }
            let clear = clearing > 0;
            clearing = clearing.saturating_sub(1);
            if clear {
                next = None;
            } else if next.is_none() && pace.comes(random) {
                next = Some(FrameBeat { data: random_beat(random), last: random.one_in(5) });
            }
            bench.block.clear.next = clear;
            bench.block.valid.next = next.is_some();
            bench.block.beat.next = next.unwrap_or_default();
            bench.block.tx_ready.next = pace.takes(random);
            bench.settle();
            let block = &bench.block;
            let offer = block.tx_valid.val().then(|| (block.tx_data.val(), block.tx_last.val(), block.tx_error.val()));
            assert!(offered.is_none() || offer == offered, "cycle {cycle}: an offer changed");
            offered = offer.filter(|_| !block.tx_ready.val());
            if block.valid.val() && block.ready.val() {
                frame.extend(next.take().map(|beat| beat.data));
            }
            if let (Some((data, last, error)), true) = (offer, block.tx_ready.val()) {
                assert!(!error || last, "cycle {cycle}: an error before the end");
                if error {
                    assert_eq!(data, Beat::default());
                    assert!(clear && sent.len() == frame.len(), "cycle {cycle}: beats lost");
                    cut += 1;
                } else {
                    sent.push(data);
                    assert_eq!(frame[sent.len() - 1], data, "cycle {cycle}");
                }
                if last {
                    whole += u32::from(!error);
                    frame.drain(..sent.len());
                    sent.clear();
                }
            }
            assert!(clearing != 1 || !block.busy.val() || pace.stall, "cycle {cycle}: never quiet");
            bench.tick();
        }
        assert!(cut > 3 && whole > 20, "{cut} cut, {whole} whole");
    }

    #[test]
    fn a_frame_is_whole_or_ended_by_an_error() {
        at_every_pace(4, |random, pace| run(&mut Bench::new(TxGuard::default()), random, pace, 3000));
    }

    #[test]
    fn the_verilog_guards_alike() {
        let mut bench = Bench::recording(TxGuard::default());
        run(&mut bench, &mut Random::new(1), Pace::RANDOM, 2000);
        bench.verify_with_verilator("tx_guard");
    }
}
