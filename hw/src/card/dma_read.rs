//! Read channel arbiter between the submission unit (single beats, served first) and the contribute
//! engine (bursts).
//!
//! Up to 16 bursts are outstanding under one AXI ID, so data returns in request order.
//! Latency: 1 cycle from request to offer, none for data. Throughput: one beat a cycle.
//! Back-pressure: `submit_ready` and `contribute_ready` for requests, `contribute_take` for data.
//! Reset: while `clear` is high, nothing new is requested, an offered burst is held, and data is
//! accepted and dropped. No transaction is outstanding once `busy` is low. `reset` (of the bus)
//! drops all state in one cycle.

use crate::hdl::prelude::*;
use crate::mem::fifo::Fifo;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Offer {
    valid: bool,
    address: W<64>,
    beats: W<7>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct ReadOwner {
    /// Contribute engine, for `slot`; otherwise submission unit.
    contribute: bool,
    slot: W<3>,
}

#[derive(LogicBlock, Default)]
pub struct DmaRead {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    pub reset: Signal<In, bool>,
    pub submit_valid: Signal<In, bool>,
    pub submit_address: Signal<In, W<64>>,
    pub submit_ready: Signal<Out, bool>,
    /// Data for the submission unit, which always accepts.
    pub submit_beat: Signal<Out, bool>,
    pub contribute_valid: Signal<In, bool>,
    pub contribute_address: Signal<In, W<64>>,
    pub contribute_beats: Signal<In, W<7>>,
    pub contribute_slot: Signal<In, W<3>>,
    pub contribute_ready: Signal<Out, bool>,
    /// Data for the contribute engine, accepted with `contribute_take`.
    pub contribute_beat: Signal<Out, bool>,
    pub contribute_take: Signal<In, bool>,
    /// One-hot: slot with data that could not be read.
    pub unread: Signal<Out, W<8>>,
    pub ar_valid: Signal<Out, bool>,
    pub ar_address: Signal<Out, W<64>>,
    pub ar_beats: Signal<Out, W<7>>,
    pub ar_ready: Signal<In, bool>,
    pub r_valid: Signal<In, bool>,
    pub r_last: Signal<In, bool>,
    pub r_error: Signal<In, bool>,
    pub r_ready: Signal<Out, bool>,
    /// Transactions are outstanding.
    pub busy: Signal<Out, bool>,
    offer: DFF<Offer>,
    owners: Fifo<ReadOwner, 4>,
    free: Wire<bool>,
    load: Wire<bool>,
    of_contribute: Wire<bool>,
    one: Wire<W<8>>,
    slot_bit: Wire<W<8>>,
}

impl Logic for DmaRead {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, offer);
        self.owners.clock.next = self.clock.val();
        self.owners.clear.next = self.reset.val();

        self.free.next =
            (!self.offer.q.val().valid || self.ar_ready.val()) && !self.owners.full.val() && !self.clear.val();
        self.submit_ready.next = self.free.val();
        self.contribute_ready.next = self.free.val() && !self.submit_valid.val();
        self.load.next = self.free.val() && (self.submit_valid.val() || self.contribute_valid.val());
        if self.ar_ready.val() {
            self.offer.d.next.valid = false;
        }
        if self.load.val() {
            self.offer.d.next.valid = true;
            self.offer.d.next.address = self.contribute_address.val();
            self.offer.d.next.beats = self.contribute_beats.val();
            if self.submit_valid.val() {
                self.offer.d.next.address = self.submit_address.val();
                self.offer.d.next.beats = bits_w::<7>(1);
            }
        }
        self.owners.push.next = self.load.val();
        self.owners.push_data.next.contribute = !self.submit_valid.val();
        self.owners.push_data.next.slot = self.contribute_slot.val();
        self.ar_valid.next = self.offer.q.val().valid;
        self.ar_address.next = self.offer.q.val().address;
        self.ar_beats.next = self.offer.q.val().beats;

        self.of_contribute.next = self.owners.pop_data.val().contribute;
        self.submit_beat.next = self.r_valid.val() && !self.of_contribute.val() && !self.clear.val();
        self.contribute_beat.next = self.r_valid.val() && self.of_contribute.val() && !self.clear.val();
        self.r_ready.next = !self.of_contribute.val() || self.contribute_take.val() || self.clear.val();
        self.owners.pop.next = self.r_valid.val() && self.r_last.val() && self.r_ready.val();
        self.one.next = bits_w::<8>(1);
        self.slot_bit.next = self.one.val() << self.owners.pop_data.val().slot;
        self.unread.next = bits_w::<8>(0);
        if self.contribute_beat.val() && self.r_error.val() {
            self.unread.next = self.slot_bit.val();
        }
        self.busy.next = self.offer.q.val().valid || !self.owners.empty.val();

        if self.reset.val() {
            self.offer.d.next.valid = false;
        }
    }
}

clocked!(DmaRead);
