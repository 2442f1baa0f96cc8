//! Gather memory: the window's mean, as it comes back from all ranks, and the local shard's as it is scaled.
//!
//! A beat from the wire is checked against its word's epoch (present already: a duplicate) and stored two cycles
//! later. Duplicates in successive cycles cannot occur: there is a header beat between two packets.
//! Latency: 2 cycles from input to `accepted`. Throughput: one beat a cycle from the wire, which never waits; scaled
//! beats use the cycles in which no beat from the wire is decided. One read port: the sender first, then the finisher.
//! Reset: the pipeline drains in two cycles; the memory is not cleared, so epochs must continue counting. `scrub` empties one
//! slot's memory when its epoch wraps; `clear` ends that, and the slot must be scrubbed again before it is armed.

use super::arrivals::Arrivals;
use super::build::Build;
use super::types::{GatherWord, SlotBeat, WindowBeat};
use crate::hdl::prelude::*;
use crate::mem::ram::WindowRam;

/// Gather memory, see the module.
#[derive(LogicBlock, Default)]
pub struct Gather {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Abandons scrubbing.
    pub clear: Signal<In, bool>,
    /// Bit s: slot s accepts broadcasts.
    pub open: Signal<In, W<8>>,
    /// A beat from the wire.
    pub rx_valid: Signal<In, bool>,
    /// The beat.
    pub rx: Signal<In, WindowBeat>,
    /// A beat was accepted (one cycle).
    pub accepted: Signal<Out, bool>,
    /// The beat just accepted or dropped.
    pub decided: Signal<Out, WindowBeat>,
    /// Dropped: the stage had closed.
    pub drop_late: Signal<Out, bool>,
    /// Dropped: present already.
    pub drop_duplicate: Signal<Out, bool>,
    /// A beat of the local mean.
    pub scaled_valid: Signal<In, bool>,
    /// The beat.
    pub scaled: Signal<In, WindowBeat>,
    /// Ready: it is accepted in this cycle.
    pub scaled_ready: Signal<Out, bool>,
    /// The sender reads: always granted.
    pub send_valid: Signal<In, bool>,
    /// Slot and beat of the window.
    pub send_address: Signal<In, SlotBeat>,
    /// The finisher reads.
    pub finish_valid: Signal<In, bool>,
    /// Slot and beat of the window.
    pub finish_address: Signal<In, SlotBeat>,
    /// Granted: it is read in this cycle.
    pub finish_ready: Signal<Out, bool>,
    /// The word read one cycle before.
    pub word: Signal<Out, GatherWord>,
    /// Counter to read: slot * 64 + rank.
    pub count_address: Signal<In, W<9>>,
    /// Epoch to read it for.
    pub count_epoch: Signal<In, W<8>>,
    /// Beats of that rank, one cycle later; see [`Arrivals`].
    pub count: Signal<Out, W<16>>,
    /// Largest window of this card in beats.
    pub window_beats: Signal<In, W<15>>,
    /// Empties the memory of `scrub_slot`.
    pub scrub: Signal<In, bool>,
    /// Slot to empty.
    pub scrub_slot: Signal<In, W<3>>,
    /// Still emptying.
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

        // From the wire: read the tag, compare it, then decide.
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
        // The tag that is written in the very cycle of its read.
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
    /// With a memory for windows of this build.
    pub fn new(build: Build) -> Self {
        let log2 = build.window_log2;
        Self { ram: WindowRam::new(3, log2), tags: WindowRam::new(3, log2), ..Self::default() }
    }
}

clocked!(Gather);
