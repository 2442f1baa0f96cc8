//! Write channel arbiter: bursts of result beats to host memory, with notes (reports, completions)
//! between them.
//!
//! A burst is ordered once all its beats are buffered, so it never stalls the bus. Notes go first.
//! Address and first beat are offered together, and bursts follow without a gap. Up to 16 bursts
//! are unacknowledged under one AXI ID, so responses arrive in order.
//! Latency: 1 cycle from order to offer. Throughput: one beat a cycle. Back-pressure: `room`,
//! `order_ready`, `note_ready`.
//! Reset: while `clear` is high, nothing new begins and pushes are ignored. Offered bursts are
//! completed with their own beats, and acknowledgements are dropped. No transaction is outstanding
//! once `busy` is low. `reset` (of the bus) drops all state in one cycle.

use super::build::Build;
use crate::hdl::prelude::*;
use crate::mem::block_fifo::BlockFifo;
use crate::mem::fifo::Fifo;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct WriteOwner {
    /// Valid unless `refused`.
    pub slot: W<3>,
    /// Valid for a completion.
    pub queue: W<2>,
    /// Broadcast stage; otherwise contribute stage.
    pub broadcast: bool,
    /// Stage report, written after everything else of the stage.
    pub report: bool,
    pub completion: bool,
    /// Completion of a refusal.
    pub refused: bool,
}

/// Burst to write, within 4 KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct WriteOrder {
    pub address: W<64>,
    pub beats: W<7>,
    pub owner: WriteOwner,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Offer {
    valid: bool,
    address: W<64>,
    beats: W<7>,
}

#[derive(LogicBlock)]
pub struct DmaWrite {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    pub reset: Signal<In, bool>,
    pub push: Signal<In, bool>,
    pub push_data: Signal<In, Beat>,
    pub room: Signal<Out, W<16>>,
    /// Burst whose beats are all pushed.
    pub order_valid: Signal<In, bool>,
    pub order: Signal<In, WriteOrder>,
    pub order_ready: Signal<Out, bool>,
    /// The user keeps at most four waiting.
    pub note_push: Signal<In, bool>,
    pub note_data: Signal<In, Beat>,
    /// Note whose beats are all pushed.
    pub note_valid: Signal<In, bool>,
    pub note: Signal<In, WriteOrder>,
    pub note_ready: Signal<Out, bool>,
    /// Acknowledgement of a burst.
    pub done: Signal<Out, bool>,
    pub owner: Signal<Out, WriteOwner>,
    pub failed: Signal<Out, bool>,
    pub aw_valid: Signal<Out, bool>,
    pub aw_address: Signal<Out, W<64>>,
    pub aw_beats: Signal<Out, W<7>>,
    pub aw_ready: Signal<In, bool>,
    pub w_valid: Signal<Out, bool>,
    pub w_data: Signal<Out, Beat>,
    pub w_last: Signal<Out, bool>,
    pub w_ready: Signal<In, bool>,
    /// Always accepted.
    pub b_valid: Signal<In, bool>,
    pub b_error: Signal<In, bool>,
    pub busy: Signal<Out, bool>,
    results: BlockFifo<Beat, 9>,
    notes: Fifo<Beat, 2>,
    owners: Fifo<WriteOwner, 4>,
    offer: DFF<Offer>,
    left: DFF<W<7>>,
    of_note: DFF<bool>,
    left_next: Wire<W<7>>,
    here: Wire<bool>,
    taken: Wire<bool>,
    free: Wire<bool>,
    load: Wire<bool>,
    chosen: Wire<WriteOrder>,
    idle: Wire<bool>,
}

impl Default for DmaWrite {
    fn default() -> Self {
        Self::new(Build::default())
    }
}

impl DmaWrite {
    /// Has room for two blocks of 16384 values (2048 beats), four of 4096 (1024), else 512 beats.
    pub fn new(build: Build) -> Self {
        Self {
            clock: Signal::default(),
            clear: Signal::default(),
            reset: Signal::default(),
            push: Signal::default(),
            push_data: Signal::default(),
            room: Signal::default(),
            order_valid: Signal::default(),
            order: Signal::default(),
            order_ready: Signal::default(),
            note_push: Signal::default(),
            note_data: Signal::default(),
            note_valid: Signal::default(),
            note: Signal::default(),
            note_ready: Signal::default(),
            done: Signal::default(),
            owner: Signal::default(),
            failed: Signal::default(),
            aw_valid: Signal::default(),
            aw_address: Signal::default(),
            aw_beats: Signal::default(),
            aw_ready: Signal::default(),
            w_valid: Signal::default(),
            w_data: Signal::default(),
            w_last: Signal::default(),
            w_ready: Signal::default(),
            b_valid: Signal::default(),
            b_error: Signal::default(),
            busy: Signal::default(),
            results: BlockFifo::sized((build.hadamard_log2 / 2 + 4).max(9)),
            notes: Fifo::default(),
            owners: Fifo::default(),
            offer: DFF::default(),
            left: DFF::default(),
            of_note: DFF::default(),
            left_next: Wire::default(),
            here: Wire::default(),
            taken: Wire::default(),
            free: Wire::default(),
            load: Wire::default(),
            chosen: Wire::default(),
            idle: Wire::default(),
        }
    }
}

impl Logic for DmaWrite {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, offer, left, of_note);
        self.results.clock.next = self.clock.val();
        self.notes.clock.next = self.clock.val();
        self.owners.clock.next = self.clock.val();
        self.idle.next = self.left.q.val() == 0;
        self.results.clear.next = (self.clear.val() && self.idle.val()) || self.reset.val();
        self.notes.clear.next = (self.clear.val() && self.idle.val()) || self.reset.val();
        self.owners.clear.next = self.reset.val();
        self.results.push.next = self.push.val() && !self.clear.val();
        self.results.push_data.next = self.push_data.val();
        self.notes.push.next = self.note_push.val() && !self.clear.val();
        self.notes.push_data.next = self.note_data.val();
        self.room.next = self.results.room.val();

        self.here.next = !self.results.empty.val();
        self.w_data.next = self.results.pop_data.val();
        if self.of_note.q.val() {
            self.here.next = !self.notes.empty.val();
            self.w_data.next = self.notes.pop_data.val();
        }
        self.w_valid.next = self.here.val() && !self.idle.val();
        self.w_last.next = self.left.q.val() == 1;
        self.taken.next = self.w_valid.val() && self.w_ready.val();
        self.results.pop.next = self.taken.val() && !self.of_note.q.val();
        self.notes.pop.next = self.taken.val() && self.of_note.q.val();
        self.left_next.next = self.left.q.val() - 1;
        if self.taken.val() {
            self.left.d.next = self.left_next.val();
        }

        // The next burst is loaded as the last beat of this one leaves.
        self.free.next = (self.idle.val() || (self.taken.val() && self.w_last.val()))
            && (!self.offer.q.val().valid || self.aw_ready.val())
            && !self.owners.full.val()
            && !self.clear.val();
        self.note_ready.next = self.free.val();
        self.order_ready.next = self.free.val() && !self.note_valid.val();
        self.load.next = self.free.val() && (self.note_valid.val() || self.order_valid.val());
        self.chosen.next = self.order.val();
        if self.note_valid.val() {
            self.chosen.next = self.note.val();
        }
        if self.aw_ready.val() {
            self.offer.d.next.valid = false;
        }
        if self.load.val() {
            self.offer.d.next.valid = true;
            self.offer.d.next.address = self.chosen.val().address;
            self.offer.d.next.beats = self.chosen.val().beats;
            self.left.d.next = self.chosen.val().beats;
            self.of_note.d.next = self.note_valid.val();
        }
        self.owners.push.next = self.load.val();
        self.owners.push_data.next = self.chosen.val().owner;
        self.aw_valid.next = self.offer.q.val().valid;
        self.aw_address.next = self.offer.q.val().address;
        self.aw_beats.next = self.offer.q.val().beats;

        self.owners.pop.next = self.b_valid.val();
        self.owner.next = self.owners.pop_data.val();
        self.done.next = self.b_valid.val() && !self.owners.empty.val() && !self.clear.val();
        self.failed.next = self.b_error.val();
        self.busy.next = self.offer.q.val().valid || !self.idle.val() || !self.owners.empty.val();

        if self.reset.val() {
            self.offer.d.next.valid = false;
            self.left.d.next = bits_w::<7>(0);
        }
    }
}

clocked!(DmaWrite);
