//! Reset sequence: derives `clear` from CONTROL.enable and from transactions that are incomplete on
//! the bus or the wire.
//!
//! The host may disable the card at any time. All units are then cleared immediately, except that
//! the two AXI masters and the unit that feeds the MAC first finish their transactions. A reset
//! takes [`RESET_CYCLES`], or longer if the bus stalls. Enabling during a reset takes effect after
//! it.
//! Latency: 1 cycle from `enable` to `clear`.

use crate::hdl::prelude::*;

/// Minimum duration of `clear` in cycles, which drains every pipeline.
pub const RESET_CYCLES: u64 = 32;

#[derive(LogicBlock, Default)]
pub struct Reset {
    pub clock: Signal<In, Clock>,
    /// CONTROL.enable.
    pub enable: Signal<In, bool>,
    /// A transaction on the bus or the wire is incomplete, or a pipeline is not empty.
    pub owed: Signal<In, bool>,
    pub clear: Signal<Out, bool>,
    pub busy: Signal<Out, bool>,
    live: DFF<bool>,
    ending: DFF<bool>,
    count: DFF<W<5>>,
    count_next: Wire<W<5>>,
}

impl Logic for Reset {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, live, ending, count);
        self.clear.next = !self.live.q.val();
        self.busy.next = self.ending.q.val() || (self.live.q.val() && !self.enable.val());
        self.count_next.next = self.count.q.val() + 1;
        if self.live.q.val() {
            if !self.enable.val() {
                self.live.d.next = false;
                self.ending.d.next = true;
                self.count.d.next = bits_w::<5>(0);
            }
        } else if self.ending.q.val() {
            if self.count.q.val() != 31 {
                self.count.d.next = self.count_next.val();
            } else if !self.owed.val() {
                self.ending.d.next = false;
            }
        } else {
            self.live.d.next = self.enable.val();
        }
    }
}

clocked!(Reset);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::Bench;
    use crate::random::Random;

    #[test]
    fn clear_lasts_until_nothing_is_owed_and_at_least_the_documented_cycles() {
        let mut random = Random::new(1);
        let mut bench = Bench::recording(Reset::default());
        let (mut enable, mut low_for, mut waited) = (false, 0u64, 0);
        for cycle in 0..20_000u64 {
            if random.one_in(40) {
                enable = !enable;
            }
            let owed = random.one_in(2) || cycle % 1000 < 200;
            let (clear, busy) = (bench.block.clear.val(), bench.block.busy.val());
            bench.block.enable.next = enable;
            bench.block.owed.next = owed;
            bench.tick();
            let after = bench.block.clear.val();
            if clear && !after {
                assert!(enable && !busy, "cycle {cycle}: left reset while it was under way");
                assert!(cycle < 100 || low_for >= RESET_CYCLES, "cycle {cycle}: {low_for} cycles of clear");
            }
            assert!(clear || enable || after, "cycle {cycle}: disabled but still running");
            assert!(
                !(clear && busy && !bench.block.busy.val() && owed),
                "cycle {cycle}: quiet while something is owed"
            );
            assert!(!(clear && !busy && enable && after), "cycle {cycle}: quiet and enabled but does not start");
            waited += u64::from(busy && low_for > RESET_CYCLES);
            low_for = if after { low_for + 1 } else { 0 };
        }
        assert!(waited > 100, "nothing was ever owed");
        bench.verify_with_verilator("reset");
    }
}
