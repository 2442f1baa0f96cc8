//! Gather memory: the window's mean, received from all ranks or scaled locally.
//!
//! A wire beat is a duplicate if its word already has its epoch. A duplicate in the next cycle
//! would be missed, but a header beat always separates two packets.
//! Latency: 2 cycles from input to `accepted`. Throughput: one wire beat a cycle, which never
//! waits. Scaled beats use the other cycles. The read port serves the sender first, then the
//! finisher.
//! Back-pressure: `scaled_ready` and `finish_ready`.
//! Reset: the pipeline drains in two cycles. The memory is kept, so epochs must continue counting.
//! `scrub` empties a slot when its epoch wraps. `clear` aborts it; then the slot must be scrubbed
//! before it is armed.

use super::arrivals::Arrivals;
use super::build::Build;
use super::types::{GatherWord, SlotBeat, WindowBeat};
use crate::hdl::prelude::*;
use crate::mem::ram::WindowRam;

#[derive(LogicBlock, Default)]
pub struct Gather {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    /// Slots that accept broadcasts.
    pub open: Signal<In, W<8>>,
    pub rx_valid: Signal<In, bool>,
    pub rx: Signal<In, WindowBeat>,
    /// Outcome of the wire beat `decided`.
    pub accepted: Signal<Out, bool>,
    pub decided: Signal<Out, WindowBeat>,
    pub drop_late: Signal<Out, bool>,
    pub drop_duplicate: Signal<Out, bool>,
    /// Local mean.
    pub scaled_valid: Signal<In, bool>,
    pub scaled: Signal<In, WindowBeat>,
    pub scaled_ready: Signal<Out, bool>,
    /// Slot and beat, always granted.
    pub send_valid: Signal<In, bool>,
    pub send_address: Signal<In, SlotBeat>,
    /// Slot and beat, read when granted.
    pub finish_valid: Signal<In, bool>,
    pub finish_address: Signal<In, SlotBeat>,
    pub finish_ready: Signal<Out, bool>,
    /// Word read in the previous cycle.
    pub word: Signal<Out, GatherWord>,
    /// Counter (slot * 64 + rank) and epoch. `count` follows one cycle later.
    pub count_address: Signal<In, W<9>>,
    pub count_epoch: Signal<In, W<8>>,
    pub count: Signal<Out, W<16>>,
    /// Beats in the card's largest window.
    pub window_beats: Signal<In, W<15>>,
    /// Starts emptying a slot.
    pub scrub: Signal<In, bool>,
    pub scrub_slot: Signal<In, W<3>>,
    pub scrub_busy: Signal<Out, bool>,
    ram: WindowRam<GatherWord>,
    tags: WindowRam<W<8>>,
    arrivals: Arrivals,
    taken: DFF<WindowBeat>,
    taken_valid: DFF<bool>,
    judged: DFF<WindowBeat>,
    judged_valid: DFF<bool>,
    present: DFF<bool>,
    again: DFF<bool>,
    scrubbing: DFF<bool>,
    scrub_at: DFF<SlotBeat>,
    slot: Wire<W<3>>,
    is_open: Wire<bool>,
    same: Wire<bool>,
    read: Wire<bool>,
    accept: Wire<bool>,
    take_scaled: Wire<bool>,
    scrub_now: Wire<bool>,
    scrub_next: Wire<W<14>>,
    scrub_last: Wire<W<15>>,
    write: Wire<bool>,
    address: Wire<SlotBeat>,
    value: Wire<GatherWord>,
}

impl Logic for Gather {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, taken, taken_valid, judged, judged_valid, present, again, scrubbing, scrub_at);
        self.ram.clock.next = self.clock.val();
        self.tags.clock.next = self.clock.val();
        self.arrivals.clock.next = self.clock.val();

        // From the wire: read the tag, compare, decide.
        self.taken_valid.d.next = self.rx_valid.val();
        self.taken.d.next = self.rx.val();
        self.tags.read_address.next.slot = self.rx.val().slot;
        self.tags.read_address.next.beat = self.rx.val().position;
        self.read.next = self.tags.read_data.val() == self.taken.q.val().epoch;
        self.judged_valid.d.next = self.taken_valid.q.val();
        self.judged.d.next = self.taken.q.val();
        self.present.d.next = self.read.val() || self.again.q.val();
        self.slot.next = self.judged.q.val().slot;
        self.is_open.next = self.open.val().get_bit(self.slot.val().index());
        self.accept.next = self.judged_valid.q.val() && self.is_open.val() && !self.present.q.val();
        self.accepted.next = self.accept.val();
        self.decided.next = self.judged.q.val();
        self.drop_late.next = self.judged_valid.q.val() && !self.is_open.val();
        self.drop_duplicate.next = self.judged_valid.q.val() && self.is_open.val() && self.present.q.val();
        // Forwards a tag that is written in the cycle of its read.
        self.same.next = (self.judged.q.val().slot == self.rx.val().slot)
            && (self.judged.q.val().position == self.rx.val().position)
            && (self.judged.q.val().epoch == self.rx.val().epoch);
        self.again.d.next = self.accept.val() && self.same.val();

        // One write a cycle: the wire, then scaled beats, then the scrubber.
        self.take_scaled.next = self.scaled_valid.val() && !self.judged_valid.q.val();
        self.scaled_ready.next = self.take_scaled.val();
        self.scrub_now.next = self.scrubbing.q.val() && !self.judged_valid.q.val() && !self.scaled_valid.val();
        self.write.next = self.accept.val() || self.take_scaled.val() || self.scrub_now.val();
        self.address.next.slot = self.scaled.val().slot;
        self.address.next.beat = self.scaled.val().position;
        self.value.next.data = self.scaled.val().data;
        self.value.next.epoch = self.scaled.val().epoch;
        if self.judged_valid.q.val() {
            self.address.next.slot = self.slot.val();
            self.address.next.beat = self.judged.q.val().position;
            self.value.next.data = self.judged.q.val().data;
            self.value.next.epoch = self.judged.q.val().epoch;
        }
        self.scrub_next.next = self.scrub_at.q.val().beat + 1;
        self.scrub_last.next = self.window_beats.val() - 1;
        if self.scrub_now.val() {
            self.address.next = self.scrub_at.q.val();
            self.value.next.epoch = bits_w::<8>(0);
            self.scrub_at.d.next.beat = self.scrub_next.val();
            if bit_cast_w::<15, 14>(self.scrub_at.q.val().beat) == self.scrub_last.val() {
                self.scrubbing.d.next = false;
            }
        }
        if self.scrub.val() {
            self.scrubbing.d.next = true;
            self.scrub_at.d.next.slot = self.scrub_slot.val();
            self.scrub_at.d.next.beat = bits_w::<14>(0);
        }
        if self.clear.val() {
            self.scrubbing.d.next = false;
        }
        self.scrub_busy.next = self.scrubbing.q.val() || self.scrub.val();
        self.ram.write_enable.next = self.write.val();
        self.ram.write_address.next = self.address.val();
        self.ram.write_data.next = self.value.val();
        self.tags.write_enable.next = self.write.val();
        self.tags.write_address.next = self.address.val();
        self.tags.write_data.next = self.value.val().epoch;

        // One read a cycle.
        self.finish_ready.next = self.finish_valid.val() && !self.send_valid.val();
        self.ram.read_address.next = self.finish_address.val();
        if self.send_valid.val() {
            self.ram.read_address.next = self.send_address.val();
        }
        self.word.next = self.ram.read_data.val();

        self.arrivals.accept.next = self.accept.val();
        self.arrivals.epoch.next = self.judged.q.val().epoch;
        self.arrivals.address.next =
            (bit_cast_w::<9, 3>(self.slot.val()) << 6) | bit_cast_w::<9, 6>(self.judged.q.val().sender);
        self.arrivals.scrub.next = self.scrub_now.val();
        if self.scrub_now.val() {
            self.arrivals.address.next = (bit_cast_w::<9, 3>(self.scrub_at.q.val().slot) << 6)
                | (bit_cast_w::<9, 14>(self.scrub_at.q.val().beat) & 63);
        }
        self.arrivals.read_address.next = self.count_address.val();
        self.arrivals.read_epoch.next = self.count_epoch.val();
        self.count.next = self.arrivals.count.val();
    }
}

impl Gather {
    pub fn new(build: Build) -> Self {
        let log2 = build.window_log2;
        Self { ram: WindowRam::new(3, log2), tags: WindowRam::new(3, log2), ..Self::default() }
    }
}

clocked!(Gather);
