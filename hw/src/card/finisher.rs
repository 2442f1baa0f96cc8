//! Finisher: writes results, stage reports and completions to host memory.
//!
//! The result of one window flows out ([`Drain`]) while reports and completions are written between
//! its bursts and acknowledgements return in order.
//! A report is written when the stage is closed and scaled (contribute), or its whole result is
//! ordered (broadcast). The completion follows when the report, and so everything before it, is
//! acknowledged. An acknowledged completion raises `cq_tail` and interrupts the host; the broadcast
//! completion also frees the slot.
//! Each queue pair has a ring and room for one refusal. A full ring delays only its own queue. A
//! failed write marks the later completions of its window; a failed completion stops its queue.
//! Latency: each slot is polled every 8 cycles. A report takes 67 cycles, a completion 4, when the
//! bus is free.
//! Throughput: a window of 1024 beats every 1034 to 1038 cycles while host memory accepts a beat a
//! cycle.
//! Back-pressure: `aw_ready`, `w_ready`, `refuse_ready`. Reset: `clear`; `busy` stays high until no
//! bus transaction is outstanding and the decoder is empty.

use super::build::Build;
use super::dma_write::{DmaWrite, WriteOwner};
use super::drain::Drain;
use super::entry::{CompletionWord, bit_cast_completion, bit_cast_completion_beat};
use super::msix::Msix;
use super::types::{GateReport, GatherWord, JobWords, Refusal, SlotBeat, SlotContext};
use crate::hdl::prelude::*;
use crate::hdl::wires::ShiftIn;
use crate::mem::ram::LutRam;

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum FinishState {
    Idle,
    /// Collects arrival counters.
    Count,
    Report,
    /// Composes the completion.
    Fill,
    /// Pushes it into the write channel.
    Hand,
    /// Orders it.
    Done,
    /// Waits for the new room in the ring.
    Pause,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Ack {
    valid: bool,
    failed: bool,
    owner: WriteOwner,
}

#[derive(LogicBlock, Default)]
pub struct Finisher {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    pub reset: Signal<In, bool>,
    pub job: Signal<In, JobWords>,
    pub arm: Signal<In, W<8>>,
    pub arm_slot: Signal<In, W<3>>,
    pub arm_context: Signal<In, SlotContext>,
    /// Queues with room for a refusal.
    pub refuse_ready: Signal<Out, W<4>>,
    pub refuse: Signal<In, bool>,
    pub refusal: Signal<In, Refusal>,
    /// The mean is stored.
    pub scaled: Signal<In, W<8>>,
    pub broadcast_closed: Signal<In, W<8>>,
    /// The mean is still being sent.
    pub sending: Signal<In, W<8>>,
    /// The gradient could not be read.
    pub unread: Signal<In, W<8>>,
    /// The result has begun, until the slot is freed.
    pub finishing: Signal<Out, W<8>>,
    /// Slot and stage being reported, and the report of that gate.
    pub slot: Signal<Out, W<3>>,
    pub broadcast: Signal<Out, bool>,
    pub gate: Signal<In, GateReport>,
    /// Counter (slot * 64 + rank) and epoch. The counts follow one cycle later.
    pub count_address: Signal<Out, W<9>>,
    pub count_epoch: Signal<Out, W<8>>,
    pub contribute_count: Signal<In, W<16>>,
    pub broadcast_count: Signal<In, W<16>>,
    /// Slot and beat to read. `word` follows one cycle after `read_ready`.
    pub read_valid: Signal<Out, bool>,
    pub read_address: Signal<Out, SlotBeat>,
    pub read_ready: Signal<In, bool>,
    pub word: Signal<In, GatherWord>,
    /// Queue of the completion being written, and address of its ring.
    pub cq_queue: Signal<Out, W<2>>,
    pub cq_base: Signal<In, W<64>>,
    /// Ring entries minus one.
    pub cq_mask: [Signal<In, W<16>>; 4],
    pub cq_head: [Signal<In, W<16>>; 4],
    pub sq_head: [Signal<In, W<16>>; 4],
    /// Completions written and acknowledged.
    pub cq_tail: [Signal<Out, W<16>>; 4],
    /// One-hot: queue with a failed completion.
    pub stop: Signal<Out, W<4>>,
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
    pub freed: Signal<Out, W<8>>,
    pub msix_valid: Signal<Out, bool>,
    pub msix_vector: Signal<Out, W<2>>,
    pub msix_ready: Signal<In, bool>,
    /// Work is in progress or due.
    pub working: Signal<Out, bool>,
    /// A bus transaction is outstanding, or the decoder is not empty.
    pub busy: Signal<Out, bool>,
    contexts: LutRam<SlotContext, 3>,
    drain: Drain,
    write: DmaWrite,
    msix: Msix,
    shift: ShiftIn,
    // Writer: its state, the slot and stage or refusal, and the queue.
    state: DFF<FinishState>,
    at: DFF<W<3>>,
    of_broadcast: DFF<bool>,
    refused: DFF<bool>,
    queue: DFF<W<2>>,
    // One refusal per queue, a bit per waiting one, and the one being written.
    refusals: [DFF<Refusal>; 4],
    to_refuse: DFF<W<4>>,
    refusal_now: DFF<Refusal>,
    // Bit q: the completion ring of queue q has room.
    room: DFF<W<4>>,
    // Bit s, of slot s. Report: ordered (counted), then acknowledged with its completion due
    // (settled). Contribute completion acknowledged (reported). Result: begun, then completely
    // ordered (drained). A write failed.
    counted_contribute: DFF<W<8>>,
    settled_contribute: DFF<W<8>>,
    reported: DFF<W<8>>,
    begun: DFF<W<8>>,
    drained: DFF<W<8>>,
    counted_broadcast: DFF<W<8>>,
    settled_broadcast: DFF<W<8>>,
    failed: DFF<W<8>>,
    ack: DFF<Ack>,
    // Rank whose arrival counter is read, and the beat being composed.
    rank: DFF<W<7>>,
    high: DFF<Beat>,
    // Tail of each completion ring: ordered, and acknowledged. Bit q of `turn`: phase of ring q.
    issued: [DFF<W<16>>; 4],
    visible: [DFF<W<16>>; 4],
    turn: DFF<W<4>>,
    ctx: Wire<SlotContext>,
    ctx_queue: Wire<W<2>>,
    one: Wire<W<8>>,
    one4: Wire<W<4>>,
    slot_bit: Wire<W<8>>,
    queue_bit: Wire<W<4>>,
    refusal_bit: Wire<W<4>>,
    refused_bit: Wire<W<4>>,
    has_room: Wire<W<4>>,
    fits: [Wire<bool>; 4],
    used: [Wire<W<16>>; 4],
    refusable: Wire<W<4>>,
    refusal_next: Wire<Refusal>,
    keep: Wire<W<8>>,
    keep_to_refuse: Wire<W<4>>,
    contribute_due: Wire<bool>,
    broadcast_due: Wire<bool>,
    settled: Wire<bool>,
    to_start: Wire<W<8>>,
    start_due: Wire<bool>,
    hurry: Wire<bool>,
    at_next: Wire<W<3>>,
    rank_next: Wire<W<7>>,
    report_address: Wire<W<64>>,
    tail_now: Wire<W<16>>,
    mask_now: Wire<W<16>>,
    head_now: Wire<W<16>>,
    tail_next: Wire<W<16>>,
    index: Wire<W<16>>,
    entry_offset: Wire<W<64>>,
    entry_address: Wire<W<64>>,
    peers: Wire<W<7>>,
    expected: Wire<W<22>>,
    expected_broadcast: Wire<W<15>>,
    elapsed: Wire<W<48>>,
    done: Wire<CompletionWord>,
    bad: Wire<bool>,
    whose: Wire<WriteOwner>,
    owner: Wire<WriteOwner>,
    ack_slot: Wire<W<8>>,
    ack_queue: Wire<W<4>>,
    spoilt: Wire<bool>,
    settle_contribute: Wire<W<8>>,
    settle_broadcast: Wire<W<8>>,
    report_now: Wire<W<8>>,
    free_now: Wire<W<8>>,
    written: Wire<W<4>>,
    visible_next: [Wire<W<16>>; 4],
    unfreed: Wire<W<8>>,
    not_slot: Wire<W<8>>,
    counted_contribute_now: Wire<W<8>>,
    counted_broadcast_now: Wire<W<8>>,
    taken_contribute: Wire<W<8>>,
    taken_broadcast: Wire<W<8>>,
    start_now: Wire<W<8>>,
    advance: Wire<W<4>>,
}

#[sections]
impl Logic for Finisher {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            at,
            of_broadcast,
            refused,
            queue,
            to_refuse,
            refusal_now,
            room,
            counted_contribute,
            settled_contribute,
            reported,
            begun,
            drained,
            counted_broadcast,
            settled_broadcast,
            failed,
            ack,
            rank,
            high,
            turn
        );

        self.clocks();
        self.refusals();
        self.completion_rings();
        self.due_work();
        self.completion();
        self.write_requests();
        self.writer();
        self.acknowledgements();
        self.slot_progress();
        self.queue_progress();
        self.wiring();

        if self.clear.val() {
            self.state.d.next = FinishState::Idle;
            self.at.d.next = bits_w::<3>(0);
            self.to_refuse.d.next = bits_w::<4>(0);
            self.counted_contribute.d.next = bits_w::<8>(0);
            self.settled_contribute.d.next = bits_w::<8>(0);
            self.reported.d.next = bits_w::<8>(0);
            self.begun.d.next = bits_w::<8>(0);
            self.drained.d.next = bits_w::<8>(0);
            self.counted_broadcast.d.next = bits_w::<8>(0);
            self.settled_broadcast.d.next = bits_w::<8>(0);
            self.failed.d.next = bits_w::<8>(0);
            self.ack.d.next.valid = false;
            self.turn.d.next = bits_w::<4>(0);
        }
    }

    /// Clocks and clears the sub-blocks, and looks up the context.
    fn clocks(&mut self) {
        self.drain.clock.next = self.clock.val();
        self.drain.clear.next = self.clear.val();
        self.write.clock.next = self.clock.val();
        self.write.clear.next = self.clear.val();
        self.write.reset.next = self.reset.val();
        self.msix.clock.next = self.clock.val();
        self.msix.clear.next = self.clear.val();
        self.contexts.clock.next = self.clock.val();
        self.contexts.write_enable.next = self.arm.val() != 0;
        self.contexts.write_address.next = self.arm_slot.val();
        self.contexts.write_data.next = self.arm_context.val();
        self.contexts.read_address.next = self.at.q.val();
        self.ctx.next = self.contexts.read_data.val();
        self.one.next = bits_w::<8>(1);
        self.one4.next = bits_w::<4>(1);
        self.slot_bit.next = self.one.val() << self.at.q.val();
        self.not_slot.next = self.slot_bit.val() ^ 0xff;
        self.at_next.next = self.at.q.val() + 1;
        self.slot.next = self.at.q.val();
        self.broadcast.next = self.of_broadcast.q.val();
    }

    /// Stores one refusal per queue and selects the next.
    fn refusals(&mut self) {
        self.refuse_ready.next = self.to_refuse.q.val() ^ 0xf;
        self.refusal_bit.next = bits_w::<4>(0);
        if self.refuse.val() {
            self.refusal_bit.next = self.one4.val() << self.refusal.val().queue;
        }
        self.refusable.next = self.to_refuse.q.val() & self.room.q.val();
        self.refusal_next.next = self.refusals[3].q.val();
        self.refused_bit.next = bits_w::<4>(8);
        if self.refusable.val().get_bit(0) {
            self.refusal_next.next = self.refusals[0].q.val();
            self.refused_bit.next = bits_w::<4>(1);
        } else if self.refusable.val().get_bit(1) {
            self.refusal_next.next = self.refusals[1].q.val();
            self.refused_bit.next = bits_w::<4>(2);
        } else if self.refusable.val().get_bit(2) {
            self.refusal_next.next = self.refusals[2].q.val();
            self.refused_bit.next = bits_w::<4>(4);
        }
        self.keep_to_refuse.next = self.to_refuse.q.val();
    }

    /// Finds rings with room, and the next addresses.
    fn completion_rings(&mut self) {
        self.queue_bit.next = self.one4.val() << self.queue.q.val();
        self.has_room.next = bits_w::<4>(0);
        self.tail_now.next = bits_w::<16>(0);
        self.mask_now.next = bits_w::<16>(0);
        self.head_now.next = bits_w::<16>(0);
        for i in 0..4 {
            self.used[i].next = self.issued[i].q.val() - self.cq_head[i].val();
            self.fits[i].next = self.used[i].val() <= self.cq_mask[i].val();
            self.has_room.next = self.has_room.val().replace_bit(i, self.fits[i].val());
            if self.queue_bit.val().get_bit(i) {
                self.tail_now.next = self.issued[i].q.val();
                self.mask_now.next = self.cq_mask[i].val();
                self.head_now.next = self.sq_head[i].val();
            }
        }
        self.room.d.next = self.has_room.val();
        self.cq_queue.next = self.queue.q.val();
        self.index.next = self.tail_now.val() & self.mask_now.val();
        self.entry_offset.next = bit_cast_w::<64, 16>(self.index.val()) << 6;
        self.entry_address.next = self.cq_base.val() + self.entry_offset.val();
        self.tail_next.next = self.tail_now.val() + 1;
        self.report_address.next = self.ctx.val().report_address;
        if self.of_broadcast.q.val() {
            self.report_address.next = self.ctx.val().report_address + 128;
        }
    }

    /// Finds the work due at the polled slot.
    fn due_work(&mut self) {
        self.contribute_due.next =
            (self.scaled.val() & (self.counted_contribute.q.val() ^ 0xff) & self.slot_bit.val()) != 0;
        self.broadcast_due.next = (self.drained.q.val()
            & self.reported.q.val()
            & (self.counted_broadcast.q.val() ^ 0xff)
            & self.slot_bit.val())
            != 0;
        self.ctx_queue.next = self.ctx.val().queue;
        self.settled.next = ((self.settled_contribute.q.val() | self.settled_broadcast.q.val()) & self.slot_bit.val())
            != 0
            && self.room.q.val().get_bit(self.ctx_queue.val().index());
        self.to_start.next =
            self.broadcast_closed.val() & self.scaled.val() & (self.sending.val() ^ 0xff) & (self.begun.q.val() ^ 0xff);
        self.start_due.next = (self.to_start.val() & self.slot_bit.val()) != 0;
        // A report would delay the start of a result, so none begins while a result could.
        self.hurry.next = (self.to_start.val() != 0) && self.drain.ready.val() && !self.start_due.val();
    }

    /// Composes the completion of the slot or refusal.
    fn completion(&mut self) {
        self.bad.next = ((self.failed.q.val() | self.unread.val()) & self.slot_bit.val()) != 0;
        self.peers.next = self.job.val().ranks - 1;
        self.expected.next = self.ctx.val().own_beats * self.peers.val();
        self.expected_broadcast.next = self.ctx.val().beats - self.ctx.val().own_beats;
        self.elapsed.next = self.gate.val().closed_ns - self.gate.val().start_ns;
        self.done.next = bit_cast_completion(bits_beat(0));
        if self.refused.q.val() {
            self.done.next.opcode = bits_w::<8>(3);
            self.done.next.slot = self.refusal_now.q.val().slot;
            self.done.next.status = self.refusal_now.q.val().status;
            self.done.next.cookie = self.refusal_now.q.val().cookie;
        } else {
            self.done.next.opcode = bits_w::<8>(1);
            self.done.next.slot = bit_cast_w::<8, 3>(self.at.q.val());
            self.done.next.closed_by = bit_cast_w::<8, 2>(self.gate.val().closed_by);
            self.done.next.cookie = self.ctx.val().cookie;
            self.done.next.received_beats = bit_cast_w::<32, 22>(self.gate.val().received);
            self.done.next.expected_beats = bit_cast_w::<32, 22>(self.expected.val());
            self.done.next.elapsed_ns = bit_cast_w::<64, 48>(self.elapsed.val());
            self.done.next.heard = self.gate.val().heard;
            self.done.next.closed_ns = bit_cast_w::<64, 48>(self.gate.val().closed_ns);
            self.done.next.own_beats = bit_cast_w::<16, 22>(self.gate.val().own);
            if self.of_broadcast.q.val() {
                self.done.next.opcode = bits_w::<8>(2);
                self.done.next.expected_beats = bit_cast_w::<32, 15>(self.expected_broadcast.val());
            }
            if self.bad.val() {
                self.done.next.status = bits_w::<8>(1);
            }
        }
        self.done.next.sq_head = self.head_now.val();
        if (self.turn.q.val() & self.queue_bit.val()) == 0 {
            self.done.next.phase = bits_w::<8>(1);
        }
    }

    /// Prepares requests, which only the states of `writer` issue.
    fn write_requests(&mut self) {
        self.counted_contribute_now.next = bits_w::<8>(0);
        self.counted_broadcast_now.next = bits_w::<8>(0);
        self.taken_contribute.next = bits_w::<8>(0xff);
        self.taken_broadcast.next = bits_w::<8>(0xff);
        self.start_now.next = bits_w::<8>(0);
        self.advance.next = bits_w::<4>(0);
        self.drain.start.next = false;
        self.drain.start_slot.next = self.at.q.val();
        self.drain.start_context.next = self.ctx.val();
        self.write.note_push.next = false;
        self.write.note_data.next = self.high.q.val();
        self.write.note_valid.next = false;
        self.owner.next.slot = self.at.q.val();
        self.owner.next.queue = self.queue.q.val();
        self.owner.next.broadcast = self.of_broadcast.q.val();
        self.owner.next.report = self.state.q.val() == FinishState::Report;
        self.owner.next.completion = self.state.q.val() == FinishState::Done;
        self.owner.next.refused = self.refused.q.val();
        self.write.note.next.address = self.report_address.val();
        self.write.note.next.beats = bits_w::<7>(2);
        self.write.note.next.owner = self.owner.val();
        self.shift.data.next = self.high.q.val();
        self.shift.word.next = self.contribute_count.val();
        if self.of_broadcast.q.val() {
            self.shift.word.next = self.broadcast_count.val();
        }
        self.rank_next.next = self.rank.q.val() + 1;
    }

    /// Writes one report or completion at a time.
    fn writer(&mut self) {
        match self.state.q.val() {
            FinishState::Idle => {
                self.refused.d.next = false;
                // After the contribute completion, only the broadcast stage has work left.
                self.of_broadcast.d.next = (self.reported.q.val() & self.slot_bit.val()) != 0;
                self.queue.d.next = self.ctx.val().queue;
                self.rank.d.next = bits_w::<7>(0);
                if self.start_due.val() && self.drain.ready.val() {
                    self.drain.start.next = true;
                    self.start_now.next = self.slot_bit.val();
                }
                if self.refusable.val() != 0 {
                    self.keep_to_refuse.next = self.to_refuse.q.val() & (self.refused_bit.val() ^ 0xf);
                    self.refusal_now.d.next = self.refusal_next.val();
                    self.refused.d.next = true;
                    self.queue.d.next = self.refusal_next.val().queue;
                    self.state.d.next = FinishState::Fill;
                } else if self.settled.val() {
                    self.state.d.next = FinishState::Fill;
                } else if (self.contribute_due.val() || self.broadcast_due.val()) && !self.hurry.val() {
                    self.state.d.next = FinishState::Count;
                } else {
                    self.at.d.next = self.at_next.val();
                }
            }
            FinishState::Count => {
                // Counts fill two beats, rank 0 lowest, and follow their rank by a cycle.
                self.rank.d.next = self.rank_next.val();
                self.high.d.next = self.shift.shifted.val();
                if self.rank.q.val() == 33 {
                    self.write.note_push.next = true;
                }
                if self.rank.q.val() == 65 {
                    self.write.note_push.next = true;
                    self.state.d.next = FinishState::Report;
                }
            }
            FinishState::Report => {
                self.write.note_valid.next = true;
                if self.write.note_ready.val() {
                    self.counted_contribute_now.next = self.slot_bit.val();
                    if self.of_broadcast.q.val() {
                        self.counted_broadcast_now.next = self.slot_bit.val();
                    }
                    self.state.d.next = FinishState::Idle;
                }
            }
            FinishState::Fill => {
                self.high.d.next = bit_cast_completion_beat(self.done.val());
                self.state.d.next = FinishState::Hand;
            }
            FinishState::Hand => {
                self.write.note_push.next = true;
                self.state.d.next = FinishState::Done;
            }
            FinishState::Done => {
                self.write.note_valid.next = true;
                self.write.note.next.address = self.entry_address.val();
                self.write.note.next.beats = bits_w::<7>(1);
                if self.write.note_ready.val() {
                    self.advance.next = self.queue_bit.val();
                    if !self.refused.q.val() {
                        self.taken_contribute.next = self.not_slot.val();
                        self.taken_broadcast.next = self.not_slot.val();
                    }
                    if self.index.val() == self.mask_now.val() {
                        self.turn.d.next = self.turn.q.val() ^ self.queue_bit.val();
                    }
                    self.state.d.next = FinishState::Pause;
                }
            }
            FinishState::Pause => {
                self.state.d.next = FinishState::Idle;
            }
        }
        self.to_refuse.d.next = self.keep_to_refuse.val() | self.refusal_bit.val();
        self.count_address.next =
            (bit_cast_w::<9, 3>(self.at.q.val()) << 6) | bit_cast_w::<9, 6>(self.rank.q.val().get_bits::<6>(0));
        self.count_epoch.next = self.ctx.val().epoch;
    }

    /// Delivers each acknowledgement, one cycle after the bus.
    fn acknowledgements(&mut self) {
        self.ack.d.next.valid = self.write.done.val();
        self.ack.d.next.failed = self.write.failed.val();
        self.ack.d.next.owner = self.write.owner.val();
        self.whose.next = self.ack.q.val().owner;
        self.ack_slot.next = bits_w::<8>(0);
        self.ack_queue.next = bits_w::<4>(0);
        if self.ack.q.val().valid {
            self.ack_slot.next = self.one.val() << self.whose.val().slot;
            self.ack_queue.next = self.one4.val() << self.whose.val().queue;
        }
        self.settle_contribute.next = bits_w::<8>(0);
        self.settle_broadcast.next = bits_w::<8>(0);
        self.report_now.next = bits_w::<8>(0);
        self.free_now.next = bits_w::<8>(0);
        self.written.next = bits_w::<4>(0);
        self.stop.next = bits_w::<4>(0);
        if self.whose.val().report {
            if self.whose.val().broadcast {
                self.settle_broadcast.next = self.ack_slot.val();
            } else {
                self.settle_contribute.next = self.ack_slot.val();
            }
        }
        if self.whose.val().completion {
            self.written.next = self.ack_queue.val();
            if self.ack.q.val().failed {
                self.stop.next = self.ack_queue.val();
            }
            if !self.whose.val().refused {
                if self.whose.val().broadcast {
                    self.free_now.next = self.ack_slot.val();
                } else {
                    self.report_now.next = self.ack_slot.val();
                }
            }
        }
        self.spoilt.next = self.ack.q.val().failed && !self.whose.val().refused;
        self.freed.next = self.free_now.val();
        self.msix.written.next = self.written.val();
        self.msix.ready.next = self.msix_ready.val();
        self.msix_valid.next = self.msix.valid.val();
        self.msix_vector.next = self.msix.number.val();
    }

    /// Tracks the window of each slot.
    fn slot_progress(&mut self) {
        self.keep.next = self.arm.val() ^ 0xff;
        self.unfreed.next = self.free_now.val() ^ 0xff;
        self.counted_contribute.d.next =
            (self.counted_contribute.q.val() | self.counted_contribute_now.val()) & self.keep.val();
        self.settled_contribute.d.next = ((self.settled_contribute.q.val() & self.taken_contribute.val())
            | self.settle_contribute.val())
            & self.keep.val();
        self.reported.d.next = (self.reported.q.val() | self.report_now.val()) & self.keep.val();
        self.begun.d.next = (self.begun.q.val() | self.start_now.val()) & self.unfreed.val();
        self.drained.d.next = (self.drained.q.val() | self.drain.drained.val()) & self.unfreed.val();
        self.counted_broadcast.d.next =
            (self.counted_broadcast.q.val() | self.counted_broadcast_now.val()) & self.unfreed.val();
        self.settled_broadcast.d.next = ((self.settled_broadcast.q.val() & self.taken_broadcast.val())
            | self.settle_broadcast.val())
            & self.unfreed.val();
        self.failed.d.next = self.failed.q.val() & self.keep.val();
        if self.spoilt.val() {
            self.failed.d.next = (self.failed.q.val() | self.ack_slot.val()) & self.keep.val();
        }
        self.finishing.next = self.begun.q.val();
    }

    /// Tracks the refusal and the completions of each queue.
    fn queue_progress(&mut self) {
        for i in 0..4 {
            self.refusals[i].clock.next = self.clock.val();
            self.refusals[i].d.next = self.refusals[i].q.val();
            if self.refusal_bit.val().get_bit(i) {
                self.refusals[i].d.next = self.refusal.val();
            }
            self.issued[i].clock.next = self.clock.val();
            self.issued[i].d.next = self.issued[i].q.val();
            if self.advance.val().get_bit(i) {
                self.issued[i].d.next = self.tail_next.val();
            }
            self.visible[i].clock.next = self.clock.val();
            self.visible_next[i].next = self.visible[i].q.val() + 1;
            self.visible[i].d.next = self.visible[i].q.val();
            if self.written.val().get_bit(i) {
                self.visible[i].d.next = self.visible_next[i].val();
            }
            self.cq_tail[i].next = self.visible[i].q.val();
            if self.clear.val() {
                self.issued[i].d.next = bits_w::<16>(0);
                self.visible[i].d.next = bits_w::<16>(0);
            }
        }
    }

    /// Decoder, write channel and host memory.
    fn wiring(&mut self) {
        self.read_valid.next = self.drain.read_valid.val();
        self.read_address.next = self.drain.read_address.val();
        self.drain.read_ready.next = self.read_ready.val();
        self.drain.word.next = self.word.val();
        self.write.push.next = self.drain.push.val();
        self.write.push_data.next = self.drain.push_data.val();
        self.drain.room.next = self.write.room.val();
        self.write.order_valid.next = self.drain.order_valid.val();
        self.write.order.next = self.drain.order.val();
        self.drain.order_ready.next = self.write.order_ready.val();
        self.aw_valid.next = self.write.aw_valid.val();
        self.aw_address.next = self.write.aw_address.val();
        self.aw_beats.next = self.write.aw_beats.val();
        self.write.aw_ready.next = self.aw_ready.val();
        self.w_valid.next = self.write.w_valid.val();
        self.w_data.next = self.write.w_data.val();
        self.w_last.next = self.write.w_last.val();
        self.write.w_ready.next = self.w_ready.val();
        self.write.b_valid.next = self.b_valid.val();
        self.write.b_error.next = self.b_error.val();
        self.busy.next = self.write.busy.val() || !self.drain.idle.val();
        self.working.next = (self.state.q.val() != FinishState::Idle)
            || self.busy.val()
            || self.ack.q.val().valid
            || (self.to_refuse.q.val() != 0)
            || ((self.scaled.val() & (self.reported.q.val() ^ 0xff)) != 0)
            || ((self.broadcast_closed.val() & self.scaled.val() & (self.sending.val() ^ 0xff)) != 0);
    }
}

impl Finisher {
    pub fn new(build: Build) -> Self {
        Self { drain: Drain::new(build), write: DmaWrite::new(build), ..Self::default() }
    }
}

clocked!(Finisher);
