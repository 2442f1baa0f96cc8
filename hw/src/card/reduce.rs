//! Reduction: adds each contribution into the accumulator memory once, in order of arrival.
//!
//! One read-modify-write of a beat (16 fp32 lanes) per cycle: read (2 cycles, one for the memory's
//! output register), check, add (6 cycles), write.
//! Each word carries a 64-bit map of the ranks in it, which rejects duplicates, and their number,
//! which the mean needs (contract: the mean is over contributions received). It also carries its
//! slot's epoch: a word of another epoch is empty, so arming a slot clears nothing.
//! Latency: 2 cycles from input to `accepted`, 10 to memory. Throughput: one beat a cycle.
//! Back-pressure: `rx_ready` falls only for an address in flight. The reader (`scale_*`) yields to
//! the wire. The local gradient (`own_*`) yields to both, because the reader completes an older
//! window. Each yields even if the other has to wait, so that the read address does not depend on a
//! comparison.
//! Reset: the pipeline drains in 10 cycles. The memory is not cleared, so epochs must continue
//! counting. `scrub` empties a slot's memory when its epoch wraps. `clear` aborts a scrub, which
//! must then be repeated before the slot is armed.

use super::arrivals::Arrivals;
use super::build::Build;
use super::types::{AccWord, SlotBeat, WindowBeat};
use crate::arith::fp_add::{self, FpAdd16};
use crate::hdl::prelude::*;
use crate::hdl::wires::OrNegativeZero;
use crate::mem::ram::WindowRam;

const _: () = assert!(fp_add::LATENCY == 6, "the pipeline below assumes an adder of 6 cycles");

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Flight {
    address: SlotBeat,
    arrived: W<64>,
    count: W<7>,
    epoch: W<8>,
}

#[derive(LogicBlock, Default)]
pub struct Reduce {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    /// Slots that accept contributions.
    pub open: Signal<In, W<8>>,
    /// From the wire.
    pub rx_valid: Signal<In, bool>,
    pub rx: Signal<In, WindowBeat>,
    pub rx_ready: Signal<Out, bool>,
    /// Local gradient.
    pub own_valid: Signal<In, bool>,
    pub own: Signal<In, WindowBeat>,
    pub own_ready: Signal<Out, bool>,
    /// `accepted_own` marks a local beat.
    pub accepted: Signal<Out, bool>,
    pub accepted_own: Signal<Out, bool>,
    /// Accepted or dropped.
    pub decided: Signal<Out, WindowBeat>,
    /// Dropped from the wire: the stage had closed.
    pub drop_late: Signal<Out, bool>,
    /// Dropped from the wire: the sender's beat was already added.
    pub drop_duplicate: Signal<Out, bool>,
    /// `scale_word` follows the grant by two cycles.
    pub scale_valid: Signal<In, bool>,
    pub scale_address: Signal<In, SlotBeat>,
    pub scale_ready: Signal<Out, bool>,
    pub scale_word: Signal<Out, AccWord>,
    /// slot * 64 + rank. `count` follows one cycle later; see [`Arrivals`].
    pub count_address: Signal<In, W<9>>,
    pub count_epoch: Signal<In, W<8>>,
    pub count: Signal<Out, W<16>>,
    /// Beats of the card's largest window; the memory holds half a window per slot.
    pub window_beats: Signal<In, W<15>>,
    /// Empties `scrub_slot`.
    pub scrub: Signal<In, bool>,
    pub scrub_slot: Signal<In, W<3>>,
    pub scrub_busy: Signal<Out, bool>,
    ram: WindowRam<AccWord>,
    adder: FpAdd16,
    first: OrNegativeZero,
    arrivals: Arrivals,
    taken: DFF<WindowBeat>,
    taken_own: DFF<bool>,
    word: DFF<AccWord>,
    checked: DFF<WindowBeat>,
    checked_own: DFF<bool>,
    augend: DFF<Beat>,
    addend: DFF<Beat>,
    busy: [DFF<bool>; 9],
    place: [DFF<SlotBeat>; 9],
    flight: [DFF<Flight>; 7],
    scrubbing: DFF<bool>,
    scrub_at: DFF<SlotBeat>,
    rx_address: Wire<SlotBeat>,
    own_address: Wire<SlotBeat>,
    rx_hazard: Wire<bool>,
    own_hazard: Wire<bool>,
    take_rx: Wire<bool>,
    take_own: Wire<bool>,
    fresh: Wire<bool>,
    one: Wire<W<64>>,
    mask: Wire<W<64>>,
    is_open: Wire<bool>,
    sender: Wire<W<6>>,
    arrivals_before: Wire<W<64>>,
    duplicate: Wire<bool>,
    accept: Wire<bool>,
    arrived: Wire<W<64>>,
    sum_count: Wire<W<7>>,
    slot: Wire<W<3>>,
    back: Wire<Flight>,
    scrub_now: Wire<bool>,
    scrub_next: Wire<W<14>>,
    scrub_half: Wire<W<15>>,
    scrub_last: Wire<W<15>>,
    scrub_arrival: Wire<W<9>>,
}

impl Logic for Reduce {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, taken, taken_own, word, checked, checked_own, augend, addend, scrubbing, scrub_at);
        self.ram.clock.next = self.clock.val();
        self.adder.clock.next = self.clock.val();
        self.arrivals.clock.next = self.clock.val();
        for i in 0..9 {
            self.busy[i].clock.next = self.clock.val();
            self.place[i].clock.next = self.clock.val();
        }
        for i in 0..8 {
            self.busy[i + 1].d.next = self.busy[i].q.val();
            self.place[i + 1].d.next = self.place[i].q.val();
        }
        for i in 0..7 {
            self.flight[i].clock.next = self.clock.val();
        }
        for i in 0..6 {
            self.flight[i + 1].d.next = self.flight[i].q.val();
        }

        // Issue: wire, reader, local gradient, in this order. An address in flight waits.
        self.rx_address.next.slot = self.rx.val().slot;
        self.rx_address.next.beat = self.rx.val().relative;
        self.own_address.next.slot = self.own.val().slot;
        self.own_address.next.beat = self.own.val().relative;
        self.rx_hazard.next = false;
        self.own_hazard.next = false;
        for i in 0..9 {
            if self.busy[i].q.val() && (self.place[i].q.val() == self.rx_address.val()) {
                self.rx_hazard.next = true;
            }
            if self.busy[i].q.val() && (self.place[i].q.val() == self.own_address.val()) {
                self.own_hazard.next = true;
            }
        }
        self.take_rx.next = self.rx_valid.val() && !self.rx_hazard.val();
        self.scale_ready.next = self.scale_valid.val() && !self.rx_valid.val();
        self.take_own.next =
            self.own_valid.val() && !self.own_hazard.val() && !self.rx_valid.val() && !self.scale_valid.val();
        self.rx_ready.next = !self.rx_hazard.val();
        self.own_ready.next = self.take_own.val();
        self.busy[0].d.next = self.take_rx.val() || self.take_own.val();
        self.place[0].d.next = self.own_address.val();
        self.taken.d.next = self.own.val();
        self.taken_own.d.next = !self.rx_valid.val();
        self.ram.read_address.next = self.own_address.val();
        if self.scale_valid.val() {
            self.ram.read_address.next = self.scale_address.val();
        }
        if self.rx_valid.val() {
            self.place[0].d.next = self.rx_address.val();
            self.taken.d.next = self.rx.val();
            self.ram.read_address.next = self.rx_address.val();
        }

        // Second read stage: the memory's output register.
        self.word.d.next = self.ram.read_data.val();
        self.checked.d.next = self.taken.q.val();
        self.checked_own.d.next = self.taken_own.q.val();
        self.scale_word.next = self.word.q.val();

        // Check: the stage is open, and the rank is not yet in the word.
        self.slot.next = self.checked.q.val().slot;
        self.sender.next = self.checked.q.val().sender;
        self.is_open.next = self.open.val().get_bit(self.slot.val().index());
        self.fresh.next = self.word.q.val().epoch == self.checked.q.val().epoch;
        self.one.next = bits_w::<64>(1);
        self.mask.next = self.one.val() << self.checked.q.val().sender;
        self.arrivals_before.next = self.word.q.val().arrived;
        self.arrived.next = bits_w::<64>(0);
        self.sum_count.next = bits_w::<7>(1);
        if self.fresh.val() {
            self.arrived.next = self.word.q.val().arrived;
            self.sum_count.next = self.word.q.val().count + 1;
        }
        self.duplicate.next = self.fresh.val() && self.arrivals_before.val().get_bit(self.sender.val().index());
        self.accept.next = self.busy[1].q.val() && self.is_open.val() && !self.duplicate.val();
        self.accepted.next = self.accept.val();
        self.accepted_own.next = self.checked_own.q.val();
        self.decided.next = self.checked.q.val();
        self.drop_late.next = self.busy[1].q.val() && !self.is_open.val() && !self.checked_own.q.val();
        self.drop_duplicate.next =
            self.busy[1].q.val() && self.is_open.val() && self.duplicate.val() && !self.checked_own.q.val();

        self.first.fresh.next = self.fresh.val();
        self.first.data.next = self.word.q.val().data;
        self.augend.d.next = self.first.sum.val();
        self.addend.d.next = self.checked.q.val().data;
        self.adder.a.next = self.augend.q.val();
        self.adder.b.next = self.addend.q.val();
        self.busy[2].d.next = self.accept.val();
        self.back.next.address = self.place[1].q.val();
        self.back.next.arrived = self.arrived.val() | self.mask.val();
        self.back.next.count = self.sum_count.val();
        self.back.next.epoch = self.checked.q.val().epoch;
        self.flight[0].d.next = self.back.val();

        // Write back. The scrubber uses cycles without a count or a write.
        self.scrub_now.next = self.scrubbing.q.val() && !self.busy[8].q.val() && !self.busy[1].q.val();
        self.scrub_next.next = self.scrub_at.q.val().beat + 1;
        self.scrub_half.next = self.window_beats.val() >> 1;
        self.scrub_last.next = self.scrub_half.val() - 1;
        self.scrub_arrival.next = (bit_cast_w::<9, 3>(self.scrub_at.q.val().slot) << 6)
            | (bit_cast_w::<9, 14>(self.scrub_at.q.val().beat) & 63);
        if self.scrub_now.val() {
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
        self.ram.write_enable.next = self.busy[8].q.val() || self.scrub_now.val();
        self.ram.write_address.next = self.flight[6].q.val().address;
        self.ram.write_data.next.data = self.adder.sum.val();
        self.ram.write_data.next.arrived = self.flight[6].q.val().arrived;
        self.ram.write_data.next.count = self.flight[6].q.val().count;
        self.ram.write_data.next.epoch = self.flight[6].q.val().epoch;
        if self.scrub_now.val() {
            self.ram.write_address.next = self.scrub_at.q.val();
            self.ram.write_data.next.epoch = bits_w::<8>(0);
        }

        self.arrivals.accept.next = self.accept.val();
        self.arrivals.epoch.next = self.checked.q.val().epoch;
        self.arrivals.address.next = (bit_cast_w::<9, 3>(self.slot.val()) << 6) | bit_cast_w::<9, 6>(self.sender.val());
        self.arrivals.scrub.next = self.scrub_now.val();
        if self.scrub_now.val() {
            self.arrivals.address.next = self.scrub_arrival.val();
        }
        self.arrivals.read_address.next = self.count_address.val();
        self.arrivals.read_epoch.next = self.count_epoch.val();
        self.count.next = self.arrivals.count.val();
    }
}

impl Reduce {
    pub fn new(build: Build) -> Self {
        Self { ram: WindowRam::new(3, build.window_log2 - 1), ..Self::default() }
    }
}

clocked!(Reduce);
