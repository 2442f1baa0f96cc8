//! Arrival counters: beats accepted per slot and rank in one stage.
//!
//! Latency: counts in the cycle of the accept; reads combinationally. A count of another epoch reads as zero, so that
//! arming a slot needs no clearing; `scrub` writes epoch 0 to the counters of one slot, one a cycle.

use crate::prelude::*;
use crate::ram::LutRam;

/// One counter with the epoch it counts for.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Counter {
    count: W<16>,
    epoch: W<8>,
}

/// Arrival counters, see the module.
#[derive(LogicBlock, Default)]
pub struct Arrivals {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Counts one beat.
    pub accept: Signal<In, bool>,
    /// Slot and rank to count: slot * 64 + rank.
    pub address: Signal<In, W<9>>,
    /// Epoch of the slot.
    pub epoch: Signal<In, W<8>>,
    /// Clears the counter at `address` instead of counting.
    pub scrub: Signal<In, bool>,
    /// Counter to read: slot * 64 + rank.
    pub read_address: Signal<In, W<9>>,
    /// Epoch to read for.
    pub read_epoch: Signal<In, W<8>>,
    /// Its count, in the same cycle.
    pub count: Signal<Out, W<16>>,
    counting: LutRam<Counter, 9>,
    reading: LutRam<Counter, 9>,
    next: Wire<Counter>,
    sum: Wire<W<16>>,
}

impl Logic for Arrivals {
    #[hdl_gen]
    fn update(&mut self) {
        self.counting.clock.next = self.clock.val();
        self.reading.clock.next = self.clock.val();
        self.counting.read_address.next = self.address.val();
        self.sum.next = bits_w::<16>(1);
        if self.counting.read_data.val().epoch == self.epoch.val() {
            self.sum.next = self.counting.read_data.val().count + 1;
        }
        self.next.next.count = self.sum.val();
        self.next.next.epoch = self.epoch.val();
        if self.scrub.val() {
            self.next.next.epoch = bits_w::<8>(0);
        }
        self.counting.write_enable.next = self.accept.val() || self.scrub.val();
        self.counting.write_address.next = self.address.val();
        self.counting.write_data.next = self.next.val();
        self.reading.write_enable.next = self.accept.val() || self.scrub.val();
        self.reading.write_address.next = self.address.val();
        self.reading.write_data.next = self.next.val();
        self.reading.read_address.next = self.read_address.val();
        self.count.next = bits_w::<16>(0);
        if self.reading.read_data.val().epoch == self.read_epoch.val() {
            self.count.next = self.reading.read_data.val().count;
        }
    }
}

clocked!(Arrivals);
