//! The host-memory write channel: bursts of result beats, and notes (reports, completions) between them, each with an
//! owner, who gets its acknowledgement.
//!
//! A burst is ordered once all its beats are buffered, so that it never stalls the bus half-way; beats of results wait in
//! block RAM, those of notes in a small queue. Notes go first. Address and first beat are offered together, and bursts
//! follow one another without a gap. Up to 16 bursts are unacknowledged under one AXI ID, so responses come in order.
//! Latency: 1 cycle from order to offer. Throughput: one beat a cycle.
//! Reset: while `clear` is high, nothing new is begun and pushes are ignored; bursts that were offered are completed with their
//! own beats and acknowledged to nobody; no transaction is outstanding once `busy` is false. `reset` (of the bus itself)
//! forgets everything at once.

use super::build::Build;
use crate::hdl::prelude::*;
use crate::mem::block_fifo::BlockFifo;
use crate::mem::fifo::Fifo;

/// The owner of a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct WriteOwner {
    /// Window slot; means nothing for a refusal.
    pub slot: W<3>,
    /// Queue pair of a completion.
    pub queue: W<2>,
    /// Of the broadcast stage; otherwise of the contribute stage.
    pub broadcast: bool,
    /// A stage report: everything else of the stage has been written before it.
    pub report: bool,
    /// A completion.
    pub completion: bool,
    /// The completion of a refused submission.
    pub refused: bool,
}

/// Order to write one burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct WriteOrder {
    /// First byte.
    pub address: W<64>,
    /// Beats, 1 to 64; they do not cross 4 KiB.
    pub beats: W<7>,
    /// Its owner.
    pub owner: WriteOwner,
}

/// The burst on the address channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Offer {
    valid: bool,
    address: W<64>,
    beats: W<7>,
}

/// Write channel, see the module.
#[derive(LogicBlock)]
pub struct DmaWrite {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Begins nothing new, and finishes what was offered.
    pub clear: Signal<In, bool>,
    /// The bus is in reset: forgets everything.
    pub reset: Signal<In, bool>,
    /// A beat of a result comes in.
    pub push: Signal<In, bool>,
    /// The beat.
    pub push_data: Signal<In, Beat>,
    /// Free places for beats of results.
    pub room: Signal<Out, W<16>>,
    /// A burst of a result whose beats are in.
    pub order_valid: Signal<In, bool>,
    /// The order.
    pub order: Signal<In, WriteOrder>,
    /// Ready: it is accepted in this cycle.
    pub order_ready: Signal<Out, bool>,
    /// A beat of a note comes in; the user keeps at most four waiting.
    pub note_push: Signal<In, bool>,
    /// The beat.
    pub note_data: Signal<In, Beat>,
    /// A note whose beats are in.
    pub note_valid: Signal<In, bool>,
    /// The order.
    pub note: Signal<In, WriteOrder>,
    /// Ready: it is accepted in this cycle.
    pub note_ready: Signal<Out, bool>,
    /// A burst is acknowledged (one cycle).
    pub done: Signal<Out, bool>,
    /// Its owner.
    pub owner: Signal<Out, WriteOwner>,
    /// It failed.
    pub failed: Signal<Out, bool>,
    /// Write channel: a burst is asked for.
    pub aw_valid: Signal<Out, bool>,
    /// Its first byte.
    pub aw_address: Signal<Out, W<64>>,
    /// Its beats, 1 to 64.
    pub aw_beats: Signal<Out, W<7>>,
    /// Ready: the request is accepted in this cycle.
    pub aw_ready: Signal<In, bool>,
    /// A beat to write.
    pub w_valid: Signal<Out, bool>,
    /// The beat.
    pub w_data: Signal<Out, Beat>,
    /// Last beat of its burst.
    pub w_last: Signal<Out, bool>,
    /// Ready: it is accepted in this cycle.
    pub w_ready: Signal<In, bool>,
    /// A burst is acknowledged (one cycle).
    pub b_valid: Signal<In, bool>,
    /// It failed.
    pub b_error: Signal<In, bool>,
    /// Bus transactions are outstanding.
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
    /// With room for 2048 beats of results if the card is built for blocks of 16384 values (two blocks), 1024 for 4096 (four
    /// blocks), otherwise 512.
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

        // Beats.
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

        // The next burst, as the last beat of this one leaves.
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

        // Acknowledgements.
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
