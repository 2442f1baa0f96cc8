//! Shares the host-memory read channel between the submission unit (one beat at a time, first) and the contribute
//! engine (bursts). Up to 16 bursts are outstanding under one AXI ID, so data comes back in order of request; each
//! beat is delivered to its owner, and so is an error.
//!
//! Latency: 1 cycle from request to offer, none for data. Throughput: one beat a cycle. Once offered, a burst is held until it
//! is accepted, as AXI requires.
//! Reset: while `clear` is high, nothing new is requested, an offered burst is held, and data is accepted and dropped; no
//! transaction is outstanding once `busy` is false. `reset` (of the bus itself) forgets everything at once.

use crate::hdl::prelude::*;
use crate::mem::fifo::Fifo;

/// The burst on the address channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Offer {
    valid: bool,
    address: W<64>,
    beats: W<7>,
}

/// Whose data the burst brings.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct ReadOwner {
    /// The contribute engine's; otherwise the submission unit's.
    contribute: bool,
    /// For this window.
    slot: W<3>,
}

/// Read channel arbiter, see the module.
#[derive(LogicBlock, Default)]
pub struct DmaRead {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Requests nothing and drops what arrives.
    pub clear: Signal<In, bool>,
    /// The bus is in reset: forgets everything.
    pub reset: Signal<In, bool>,
    /// Submission unit asks.
    pub submit_valid: Signal<In, bool>,
    /// Its address.
    pub submit_address: Signal<In, W<64>>,
    /// Ready: the request is accepted in this cycle.
    pub submit_ready: Signal<Out, bool>,
    /// Its beat comes.
    pub submit_beat: Signal<Out, bool>,
    /// Contribute engine asks.
    pub contribute_valid: Signal<In, bool>,
    /// Its address.
    pub contribute_address: Signal<In, W<64>>,
    /// Its beats.
    pub contribute_beats: Signal<In, W<7>>,
    /// The window it is for.
    pub contribute_slot: Signal<In, W<3>>,
    /// Ready: the request is accepted in this cycle.
    pub contribute_ready: Signal<Out, bool>,
    /// Its beat comes.
    pub contribute_beat: Signal<Out, bool>,
    /// It takes the beat.
    pub contribute_take: Signal<In, bool>,
    /// A beat of this window's gradient could not be read (one cycle), one-hot.
    pub unread: Signal<Out, W<8>>,
    /// Read channel: a burst is asked for.
    pub ar_valid: Signal<Out, bool>,
    /// Its first byte.
    pub ar_address: Signal<Out, W<64>>,
    /// Its beats, 1 to 64.
    pub ar_beats: Signal<Out, W<7>>,
    /// Ready: the request is accepted in this cycle.
    pub ar_ready: Signal<In, bool>,
    /// Read channel: a beat comes.
    pub r_valid: Signal<In, bool>,
    /// Last beat of its burst.
    pub r_last: Signal<In, bool>,
    /// It could not be read.
    pub r_error: Signal<In, bool>,
    /// Ready: it is accepted in this cycle.
    pub r_ready: Signal<Out, bool>,
    /// Bus transactions are outstanding.
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

        // Requests.
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

        // Data.
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
