//! Arrival counters: beats accepted per slot and rank in one stage.
//!
//! Each counter carries an epoch and reads as zero for any other, so arming a slot clears nothing.
//! Counts in the pipeline are forwarded, so any counter can be incremented in every cycle.
//! Latency: [`LATENCY`] cycles from `accept` to a read that sees the count, 1 from `read_address`
//! to `count`. Throughput: one count and one read a cycle. No back-pressure, no reset.

use crate::hdl::prelude::*;
use crate::mem::ram::Ram;

/// Cycles from `accept` to the first `read_address` that sees the count.
pub const LATENCY: usize = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Counter {
    count: W<16>,
    epoch: W<8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Event {
    valid: bool,
    address: W<9>,
    epoch: W<8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Judged {
    valid: bool,
    address: W<9>,
    epoch: W<8>,
    /// From memory, or forwarded from the event two cycles earlier.
    base: W<16>,
    /// `base` is of this epoch.
    fresh: bool,
    /// The previous event is of the same counter.
    chained: bool,
    /// The previous event is of the same epoch.
    fresh_chain: bool,
}

#[derive(LogicBlock, Default)]
pub struct Arrivals {
    pub clock: Signal<In, Clock>,
    /// Counts one beat for `epoch`, at `address` = slot * 64 + rank.
    pub accept: Signal<In, bool>,
    pub address: Signal<In, W<9>>,
    pub epoch: Signal<In, W<8>>,
    /// Sets the counter to epoch 0, which no slot uses, instead of counting.
    pub scrub: Signal<In, bool>,
    /// As `address`. `count` follows one cycle later.
    pub read_address: Signal<In, W<9>>,
    pub read_epoch: Signal<In, W<8>>,
    pub count: Signal<Out, W<16>>,
    counting: Ram<Counter, 9>,
    reading: Ram<Counter, 9>,
    heard: DFF<Event>,
    judged: DFF<Judged>,
    last: DFF<Judged>,
    last_count: DFF<W<16>>,
    asked_epoch: DFF<W<8>>,
    base: Wire<W<16>>,
    sum: Wire<W<16>>,
}

impl Logic for Arrivals {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, heard, judged, last, last_count, asked_epoch);
        self.counting.clock.next = self.clock.val();
        self.reading.clock.next = self.clock.val();

        // 1: read.
        self.heard.d.next.valid = self.accept.val() || self.scrub.val();
        self.heard.d.next.address = self.address.val();
        self.heard.d.next.epoch = self.epoch.val();
        if self.scrub.val() {
            self.heard.d.next.epoch = bits_w::<8>(0);
        }
        self.counting.read_address.next = self.address.val();

        // 2: compare. The read missed the two previous events: one is being added, the other was
        // written in the cycle of the read.
        self.judged.d.next.valid = self.heard.q.val().valid;
        self.judged.d.next.address = self.heard.q.val().address;
        self.judged.d.next.epoch = self.heard.q.val().epoch;
        self.judged.d.next.base = self.counting.read_data.val().count;
        self.judged.d.next.fresh = self.counting.read_data.val().epoch == self.heard.q.val().epoch;
        if self.last.q.val().valid && (self.last.q.val().address == self.heard.q.val().address) {
            self.judged.d.next.base = self.last_count.q.val();
            self.judged.d.next.fresh = self.last.q.val().epoch == self.heard.q.val().epoch;
        }
        self.judged.d.next.chained =
            self.judged.q.val().valid && (self.judged.q.val().address == self.heard.q.val().address);
        self.judged.d.next.fresh_chain = self.judged.q.val().epoch == self.heard.q.val().epoch;

        // 3: add and write.
        self.base.next = bits_w::<16>(0);
        if self.judged.q.val().chained {
            if self.judged.q.val().fresh_chain {
                self.base.next = self.last_count.q.val();
            }
        } else if self.judged.q.val().fresh {
            self.base.next = self.judged.q.val().base;
        }
        self.sum.next = self.base.val() + 1;
        self.last.d.next = self.judged.q.val();
        self.last_count.d.next = self.sum.val();
        self.counting.write_enable.next = self.judged.q.val().valid;
        self.counting.write_address.next = self.judged.q.val().address;
        self.counting.write_data.next.count = self.sum.val();
        self.counting.write_data.next.epoch = self.judged.q.val().epoch;
        self.reading.write_enable.next = self.judged.q.val().valid;
        self.reading.write_address.next = self.judged.q.val().address;
        self.reading.write_data.next.count = self.sum.val();
        self.reading.write_data.next.epoch = self.judged.q.val().epoch;

        self.reading.read_address.next = self.read_address.val();
        self.asked_epoch.d.next = self.read_epoch.val();
        self.count.next = bits_w::<16>(0);
        if self.reading.read_data.val().epoch == self.asked_epoch.q.val() {
            self.count.next = self.reading.read_data.val().count;
        }
    }
}

clocked!(Arrivals);
