//! Finisher: everything the card writes to host memory: results, stage reports, completions.
//!
//! One job at a time, in this order: refused submissions; contribute stages that are closed and scaled (report,
//! completion); broadcast stages that are closed, when the own mean is stored and sent (result, report, completion,
//! and the slot is free). The completion is written when all writes before it were acknowledged.
//! The result is read from the gather memory in block order, decoded if the window is encoded, and multiplied by
//! n / received per block (by one otherwise); missing beats are zeros; padding is not written.
//! Throughput: one beat a cycle while host memory takes them, and one cycle for each burst, of which none crosses
//! 4 KiB; decoded blocks of 4096 values come 12 cycles late each from the third on. Reset: `clear`.

use super::build::Build;
use super::entry::{CompletionWord, bit_cast_completion, bit_cast_completion_beat};
use super::reciprocal::Reciprocal;
use super::types::{GateReport, GatherWord, JobWords, Refusal, SlotBeat, SlotContext};
use super::wires::ShiftIn;
use crate::fifo::Fifo;
use crate::fp_mul::{self, FpMul16};
use crate::hadamard::Hadamard;
use crate::prelude::*;
use crate::ram::LutRam;

const _: () = assert!(fp_mul::LATENCY == 6, "the side band below is as long as the multiplier");

/// What the finisher is doing.
#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum FinishState {
    /// Looks for work.
    Idle,
    /// Sets up a window's result.
    Begin,
    /// The result flows out.
    Drain,
    /// Collects the arrival counters.
    Count,
    /// Asks for the report's place.
    ReportAsk,
    /// Writes its first half.
    ReportLow,
    /// Writes its second half.
    ReportHigh,
    /// Waits for acknowledgements and for room in the completion ring.
    Settle,
    /// Asks for the completion's place.
    DoneAsk,
    /// Writes the completion.
    DoneWrite,
    /// Waits until it is acknowledged.
    DoneSettle,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Gathered {
    data: Beat,
    present: bool,
}

/// Finisher, see the module.
#[derive(LogicBlock, Default)]
pub struct Finisher {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Back to idle, indices to zero.
    pub clear: Signal<In, bool>,
    /// Job registers.
    pub job: Signal<In, JobWords>,
    /// Arm bus: the slot armed this cycle, one-hot.
    pub arm: Signal<In, W<8>>,
    /// Arm bus: which slot.
    pub arm_slot: Signal<In, W<3>>,
    /// Arm bus: its context.
    pub arm_context: Signal<In, SlotContext>,
    /// There is room for a refusal.
    pub refuse_ready: Signal<Out, bool>,
    /// A refused submission.
    pub refuse: Signal<In, bool>,
    /// The refusal.
    pub refusal: Signal<In, Refusal>,
    /// Bit s: the mean of slot s is stored.
    pub scaled: Signal<In, W<8>>,
    /// Bit s: the broadcast stage of slot s is closed.
    pub broadcast_closed: Signal<In, W<8>>,
    /// Bit s: the mean of slot s is still being sent.
    pub sending: Signal<In, W<8>>,
    /// Bit s: the broadcast stage of slot s is being finished, until it is freed.
    pub finishing: Signal<Out, W<8>>,
    /// Slot being finished.
    pub slot: Signal<Out, W<3>>,
    /// Stage being finished: broadcast, else contribute.
    pub broadcast: Signal<Out, bool>,
    /// Gate report of that slot and stage.
    pub gate: Signal<In, GateReport>,
    /// Counter to read: slot * 64 + rank.
    pub count_address: Signal<Out, W<9>>,
    /// Epoch to read it for.
    pub count_epoch: Signal<Out, W<8>>,
    /// Count of the contribute stage.
    pub contribute_count: Signal<In, W<16>>,
    /// Count of the broadcast stage.
    pub broadcast_count: Signal<In, W<16>>,
    /// Reads the gather memory.
    pub read_valid: Signal<Out, bool>,
    /// Slot and beat of the window.
    pub read_address: Signal<Out, SlotBeat>,
    /// It is read.
    pub read_ready: Signal<In, bool>,
    /// The word, one cycle later.
    pub word: Signal<In, GatherWord>,
    /// Completion ring: first byte.
    pub cq_base: Signal<In, W<64>>,
    /// Completion ring: entries - 1.
    pub cq_mask: Signal<In, W<16>>,
    /// Completions consumed by the host.
    pub cq_head: Signal<In, W<16>>,
    /// Submissions consumed, to report.
    pub sq_head: Signal<In, W<16>>,
    /// Completions written.
    pub cq_tail: Signal<Out, W<16>>,
    /// Host memory write: a burst is asked for.
    pub aw_valid: Signal<Out, bool>,
    /// Its first byte.
    pub aw_address: Signal<Out, W<64>>,
    /// Its beats, 1 to 64.
    pub aw_beats: Signal<Out, W<7>>,
    /// It is asked for.
    pub aw_ready: Signal<In, bool>,
    /// A beat to write.
    pub w_valid: Signal<Out, bool>,
    /// The beat.
    pub w_data: Signal<Out, Beat>,
    /// Last beat of its burst.
    pub w_last: Signal<Out, bool>,
    /// It is taken.
    pub w_ready: Signal<In, bool>,
    /// A burst is acknowledged (one cycle).
    pub b_valid: Signal<In, bool>,
    /// Some access to host memory failed since enable.
    pub dma_error: Signal<In, bool>,
    /// The slot is freed (one cycle), one-hot.
    pub freed: Signal<Out, W<8>>,
    /// A completion was written (one cycle).
    pub msix_request: Signal<Out, bool>,
    /// Something is under way.
    pub working: Signal<Out, bool>,
    refusals: Fifo<Refusal, 4>,
    contexts: LutRam<SlotContext, 3>,
    decoder: Hadamard,
    reciprocal: Reciprocal,
    multiplier: FpMul16,
    inbox: Fifo<Gathered, 3>,
    outbox: Fifo<Beat, 9>,
    shift: ShiftIn,
    state: DFF<FinishState>,
    at: DFF<W<3>>,
    of_broadcast: DFF<bool>,
    refused: DFF<bool>,
    refusal_now: DFF<Refusal>,
    reported: DFF<W<8>>,
    to_read: DFF<W<15>>,
    block_index: DFF<W<11>>,
    beat_index: DFF<W<14>>,
    asked: DFF<bool>,
    stage_valid: DFF<bool>,
    stage_data: DFF<Beat>,
    stage_unit: DFF<bool>,
    side: [DFF<bool>; 6],
    reserved: DFF<W<16>>,
    to_ask: DFF<W<15>>,
    ask_address: DFF<W<64>>,
    burst_left: DFF<W<7>>,
    to_drop: DFF<W<15>>,
    unacknowledged: DFF<W<8>>,
    rank: DFF<W<7>>,
    low: DFF<Beat>,
    high: DFF<Beat>,
    tail: DFF<W<16>>,
    turn: DFF<W<16>>,
    ctx: Wire<SlotContext>,
    one: Wire<W<8>>,
    slot_bit: Wire<W<8>>,
    not_reported: Wire<W<8>>,
    not_sending: Wire<W<8>>,
    keep: Wire<W<8>>,
    contribute_due: Wire<W<8>>,
    broadcast_due: Wire<W<8>>,
    at_next: Wire<W<3>>,
    beats_log2: Wire<W<4>>,
    one10: Wire<W<14>>,
    beats_of_block: Wire<W<14>>,
    block_beats: Wire<W<16>>,
    last_beat: Wire<W<14>>,
    beat_next: Wire<W<14>>,
    block_next: Wire<W<11>>,
    row: Wire<W<14>>,
    linear: Wire<W<15>>,
    place: Wire<W<14>>,
    ask: Wire<bool>,
    to_read_next: Wire<W<15>>,
    gathered: Wire<Gathered>,
    present: Wire<bool>,
    bypass: Wire<bool>,
    exponent: Wire<W<32>>,
    ratio: Wire<W<32>>,
    spare: Wire<W<16>>,
    reserved_up: Wire<W<16>>,
    reserved_next: Wire<W<16>>,
    page_beat: Wire<W<6>>,
    until_page: Wire<W<7>>,
    burst: Wire<W<7>>,
    burst_bytes: Wire<W<13>>,
    to_ask_next: Wire<W<15>>,
    ask_address_next: Wire<W<64>>,
    burst_left_next: Wire<W<7>>,
    to_drop_next: Wire<W<15>>,
    all_padding: Wire<W<15>>,
    drained: Wire<bool>,
    ack_up: Wire<W<8>>,
    ack_next: Wire<W<8>>,
    asked_now: Wire<bool>,
    rank_next: Wire<W<7>>,
    report_address: Wire<W<64>>,
    index: Wire<W<16>>,
    entry_offset: Wire<W<64>>,
    entry_address: Wire<W<64>>,
    used: Wire<W<16>>,
    tail_next: Wire<W<16>>,
    phase_bits: Wire<W<16>>,
    peers: Wire<W<7>>,
    expected: Wire<W<22>>,
    expected_broadcast: Wire<W<15>>,
    elapsed: Wire<W<48>>,
    done: Wire<CompletionWord>,
}

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
            refusal_now,
            reported,
            to_read,
            block_index,
            beat_index,
            asked,
            stage_valid,
            stage_data,
            stage_unit,
            reserved,
            to_ask,
            ask_address,
            burst_left,
            to_drop,
            unacknowledged,
            rank,
            low,
            high,
            tail,
            turn
        );
        self.refusals.clock.next = self.clock.val();
        self.refusals.clear.next = self.clear.val();
        self.refusals.push.next = self.refuse.val();
        self.refusals.push_data.next = self.refusal.val();
        self.refusals.pop.next = false;
        self.contexts.clock.next = self.clock.val();
        self.contexts.write_enable.next = self.arm.val() != 0;
        self.contexts.write_address.next = self.arm_slot.val();
        self.contexts.write_data.next = self.arm_context.val();
        self.contexts.read_address.next = self.at.q.val();
        self.ctx.next = self.contexts.read_data.val();
        self.decoder.clock.next = self.clock.val();
        self.reciprocal.clock.next = self.clock.val();
        self.multiplier.clock.next = self.clock.val();
        self.inbox.clock.next = self.clock.val();
        self.inbox.clear.next = self.clear.val() || (self.state.q.val() == FinishState::Idle);
        self.outbox.clock.next = self.clock.val();
        self.outbox.clear.next = self.clear.val() || (self.state.q.val() == FinishState::Idle);

        // What is due at the slot looked at.
        self.one.next = bits_w::<8>(1);
        self.slot_bit.next = self.one.val() << self.at.q.val();
        self.not_reported.next = self.reported.q.val() ^ 0xff;
        self.not_sending.next = self.sending.val() ^ 0xff;
        self.contribute_due.next = self.scaled.val() & self.not_reported.val() & self.slot_bit.val();
        self.broadcast_due.next = self.broadcast_closed.val()
            & self.scaled.val()
            & self.reported.q.val()
            & self.not_sending.val()
            & self.slot_bit.val();
        self.at_next.next = self.at.q.val() + 1;
        self.slot.next = self.at.q.val();
        self.refuse_ready.next = !self.refusals.full.val();
        self.finishing.next = bits_w::<8>(0);
        if (self.state.q.val() != FinishState::Idle) && self.of_broadcast.q.val() {
            self.finishing.next = self.slot_bit.val();
        }
        self.broadcast.next = self.of_broadcast.q.val();
        self.freed.next = bits_w::<8>(0);
        self.msix_request.next = false;
        self.keep.next = self.arm.val() ^ 0xff;
        self.reported.d.next = self.reported.q.val() & self.keep.val();

        self.drained.next = (self.to_ask.q.val() == 0) && (self.burst_left.q.val() == 0) && (self.to_drop.q.val() == 0);
        self.all_padding.next = self.ctx.val().beats - self.ctx.val().host_beats;
        self.rank_next.next = self.rank.q.val() + 1;
        self.index.next = self.tail.q.val() & self.cq_mask.val();
        self.entry_offset.next = bit_cast_w::<64, 16>(self.index.val()) << 6;
        self.entry_address.next = self.cq_base.val() + self.entry_offset.val();
        self.used.next = self.tail.q.val() - self.cq_head.val();
        self.tail_next.next = self.tail.q.val() + 1;
        self.report_address.next = self.ctx.val().report_address;
        if self.of_broadcast.q.val() {
            self.report_address.next = self.ctx.val().report_address + 128;
        }

        // The completion.
        self.peers.next = self.job.val().ranks - 1;
        self.expected.next = self.ctx.val().own_beats * self.peers.val();
        self.expected_broadcast.next = self.ctx.val().beats - self.ctx.val().own_beats;
        self.elapsed.next = self.gate.val().closed_ns - self.gate.val().start_ns;
        self.phase_bits.next = self.turn.q.val() ^ 1;
        self.done.next = bit_cast_completion(bits_beat(0));
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
        if self.refused.q.val() {
            self.done.next = bit_cast_completion(bits_beat(0));
            self.done.next.opcode = bits_w::<8>(3);
            self.done.next.slot = self.refusal_now.q.val().slot;
            self.done.next.status = self.refusal_now.q.val().status;
            self.done.next.cookie = self.refusal_now.q.val().cookie;
        } else if self.dma_error.val() {
            self.done.next.status = bits_w::<8>(1);
        }
        self.done.next.sq_head = self.sq_head.val();
        self.done.next.phase = bit_cast_w::<8, 16>(self.phase_bits.val());

        // One job after the other.
        self.decoder.clear.next = self.clear.val();
        self.decoder.start.next = false;
        self.aw_valid.next = false;
        self.aw_address.next = self.ask_address.q.val();
        self.w_valid.next = false;
        self.w_data.next = self.outbox.pop_data.val();
        self.w_last.next = true;
        self.outbox.pop.next = false;
        self.page_beat.next = self.ask_address.q.val().get_bits::<6>(6);
        self.until_page.next = bits_w::<7>(64) - bit_cast_w::<7, 6>(self.page_beat.val());
        self.burst.next = self.until_page.val();
        if self.to_ask.q.val() < bit_cast_w::<15, 7>(self.until_page.val()) {
            self.burst.next = self.to_ask.q.val().get_bits::<7>(0);
        }
        self.aw_beats.next = self.burst.val();
        self.burst_bytes.next = bit_cast_w::<13, 7>(self.burst.val()) << 6;
        self.to_ask_next.next = self.to_ask.q.val() - bit_cast_w::<15, 7>(self.burst.val());
        self.ask_address_next.next = self.ask_address.q.val() + bit_cast_w::<64, 13>(self.burst_bytes.val());
        self.burst_left_next.next = self.burst_left.q.val() - 1;
        self.to_drop_next.next = self.to_drop.q.val() - 1;
        match self.state.q.val() {
            FinishState::Idle => {
                self.refused.d.next = false;
                self.of_broadcast.d.next = false;
                self.rank.d.next = bits_w::<7>(0);
                if !self.refusals.empty.val() {
                    self.refusals.pop.next = true;
                    self.refusal_now.d.next = self.refusals.pop_data.val();
                    self.refused.d.next = true;
                    self.state.d.next = FinishState::Settle;
                } else if self.contribute_due.val() != 0 {
                    self.state.d.next = FinishState::Count;
                } else if self.broadcast_due.val() != 0 {
                    self.of_broadcast.d.next = true;
                    self.state.d.next = FinishState::Begin;
                } else {
                    self.at.d.next = self.at_next.val();
                }
            }
            FinishState::Begin => {
                self.to_read.d.next = self.ctx.val().host_beats;
                self.to_drop.d.next = bits_w::<15>(0);
                self.to_ask.d.next = self.ctx.val().host_beats;
                self.ask_address.d.next = self.ctx.val().host_address;
                self.block_index.d.next = bits_w::<11>(0);
                self.beat_index.d.next = bits_w::<14>(0);
                if self.ctx.val().hadamard {
                    self.to_read.d.next = self.ctx.val().beats;
                    self.to_drop.d.next = self.all_padding.val();
                    self.decoder.start.next = self.decoder.idle.val();
                }
                if self.decoder.idle.val() {
                    self.state.d.next = FinishState::Drain;
                }
            }
            FinishState::Drain => {
                if self.burst_left.q.val() != 0 {
                    self.w_valid.next = !self.outbox.empty.val();
                    self.w_last.next = self.burst_left.q.val() == 1;
                    if self.w_ready.val() && !self.outbox.empty.val() {
                        self.outbox.pop.next = true;
                        self.burst_left.d.next = self.burst_left_next.val();
                    }
                } else if self.to_ask.q.val() != 0 {
                    self.aw_valid.next = true;
                    if self.aw_ready.val() {
                        self.to_ask.d.next = self.to_ask_next.val();
                        self.ask_address.d.next = self.ask_address_next.val();
                        self.burst_left.d.next = self.burst.val();
                    }
                } else if self.to_drop.q.val() != 0 {
                    self.outbox.pop.next = true;
                    if !self.outbox.empty.val() {
                        self.to_drop.d.next = self.to_drop_next.val();
                    }
                }
                if self.drained.val() {
                    self.state.d.next = FinishState::Count;
                }
            }
            FinishState::Count => {
                self.rank.d.next = self.rank_next.val();
                self.high.d.next = self.shift.shifted.val();
                if self.rank.q.val() == 31 {
                    self.low.d.next = self.shift.shifted.val();
                }
                if self.rank.q.val() == 63 {
                    self.state.d.next = FinishState::ReportAsk;
                }
            }
            FinishState::ReportAsk => {
                self.aw_valid.next = true;
                self.aw_address.next = self.report_address.val();
                self.aw_beats.next = bits_w::<7>(2);
                if self.aw_ready.val() {
                    self.state.d.next = FinishState::ReportLow;
                }
            }
            FinishState::ReportLow => {
                self.w_valid.next = true;
                self.w_last.next = false;
                self.w_data.next = self.low.q.val();
                if self.w_ready.val() {
                    self.state.d.next = FinishState::ReportHigh;
                }
            }
            FinishState::ReportHigh => {
                self.w_valid.next = true;
                self.w_data.next = self.high.q.val();
                if self.w_ready.val() {
                    self.state.d.next = FinishState::Settle;
                }
            }
            FinishState::Settle => {
                if (self.unacknowledged.q.val() == 0) && (self.used.val() <= self.cq_mask.val()) {
                    self.state.d.next = FinishState::DoneAsk;
                }
            }
            FinishState::DoneAsk => {
                self.aw_valid.next = true;
                self.aw_address.next = self.entry_address.val();
                self.aw_beats.next = bits_w::<7>(1);
                self.low.d.next = bit_cast_completion_beat(self.done.val());
                if self.aw_ready.val() {
                    self.state.d.next = FinishState::DoneWrite;
                }
            }
            FinishState::DoneWrite => {
                self.w_valid.next = true;
                self.w_data.next = self.low.q.val();
                if self.w_ready.val() {
                    self.state.d.next = FinishState::DoneSettle;
                    self.tail.d.next = self.tail_next.val();
                    if self.index.val() == self.cq_mask.val() {
                        self.turn.d.next = self.turn.q.val() ^ 1;
                    }
                }
            }
            FinishState::DoneSettle => {
                if self.unacknowledged.q.val() == 0 {
                    self.state.d.next = FinishState::Idle;
                    self.msix_request.next = true;
                    if !self.refused.q.val() {
                        if self.of_broadcast.q.val() {
                            self.freed.next = self.slot_bit.val();
                        } else {
                            self.reported.d.next = (self.reported.q.val() & self.keep.val()) | self.slot_bit.val();
                        }
                    }
                }
            }
        }

        // Acknowledgements outstanding.
        self.asked_now.next = self.aw_valid.val() && self.aw_ready.val();
        self.ack_up.next = self.unacknowledged.q.val();
        if self.asked_now.val() {
            self.ack_up.next = self.unacknowledged.q.val() + 1;
        }
        self.ack_next.next = self.ack_up.val() - 1;
        self.unacknowledged.d.next = self.ack_up.val();
        if self.b_valid.val() {
            self.unacknowledged.d.next = self.ack_next.val();
        }

        // Arrival counters into two beats, rank 0 lowest.
        self.count_address.next =
            (bit_cast_w::<9, 3>(self.at.q.val()) << 6) | bit_cast_w::<9, 6>(self.rank.q.val().get_bits::<6>(0));
        self.count_epoch.next = self.ctx.val().epoch;
        self.shift.data.next = self.high.q.val();
        self.shift.word.next = self.contribute_count.val();
        if self.of_broadcast.q.val() {
            self.shift.word.next = self.broadcast_count.val();
        }

        // The result: read in block order, as the inbox has room.
        self.bypass.next = !self.ctx.val().hadamard;
        self.beats_log2.next = self.ctx.val().log2_n - 4;
        self.one10.next = bits_w::<14>(1);
        self.beats_of_block.next = self.one10.val() << self.beats_log2.val();
        self.block_beats.next = bit_cast_w::<16, 14>(self.beats_of_block.val());
        self.last_beat.next = self.beats_of_block.val() - 1;
        self.beat_next.next = self.beat_index.q.val() + 1;
        self.block_next.next = self.block_index.q.val() + 1;
        self.row.next = self.beat_index.q.val() << self.ctx.val().log2_blocks;
        self.linear.next = self.ctx.val().host_beats - self.to_read.q.val();
        self.place.next = self.linear.val().get_bits::<14>(0);
        if self.ctx.val().hadamard {
            self.place.next = self.row.val() + bit_cast_w::<14, 11>(self.block_index.q.val());
        }
        self.ask.next = (self.state.q.val() == FinishState::Drain)
            && (self.to_read.q.val() != 0)
            && (self.inbox.room.val() >= 3)
            && (self.outbox.room.val() >= 32);
        self.read_valid.next = self.ask.val();
        self.read_address.next.slot = self.at.q.val();
        self.read_address.next.beat = self.place.val();
        self.asked.d.next = self.ask.val() && self.read_ready.val();
        self.to_read_next.next = self.to_read.q.val() - 1;
        if self.ask.val() && self.read_ready.val() {
            self.to_read.d.next = self.to_read_next.val();
            self.beat_index.d.next = self.beat_next.val();
            if self.beat_index.q.val() == self.last_beat.val() {
                self.beat_index.d.next = bits_w::<14>(0);
                self.block_index.d.next = self.block_next.val();
            }
        }
        self.present.next = self.word.val().epoch == self.ctx.val().epoch;
        self.gathered.next.present = self.present.val();
        self.gathered.next.data = bits_beat(0);
        if self.present.val() {
            self.gathered.next.data = self.word.val().data;
        }
        self.inbox.push.next = self.asked.q.val();
        self.inbox.push_data.next = self.gathered.val();

        // Decode, or pass by; then rescale.
        self.decoder.log2n.next = self.ctx.val().log2_n;
        self.decoder.decode.next = true;
        self.decoder.key.next = self.ctx.val().sign_key;
        self.decoder.in_valid.next = !self.inbox.empty.val() && !self.bypass.val();
        self.decoder.in_data.next = self.inbox.pop_data.val().data;
        self.decoder.in_received.next = self.inbox.pop_data.val().present;
        self.inbox.pop.next = self.bypass.val() || self.decoder.in_ready.val();
        self.spare.next = self.outbox.room.val() - self.reserved.q.val();
        self.decoder.go.next =
            (self.spare.val() >= self.block_beats.val()) || (self.state.q.val() != FinishState::Drain);
        self.reserved_up.next = self.reserved.q.val();
        if self.decoder.burst.val() {
            self.reserved_up.next = self.reserved.q.val() + self.block_beats.val();
        }
        self.reserved_next.next = self.reserved_up.val() - 1;
        self.reserved.d.next = self.reserved_up.val();
        self.stage_valid.d.next = self.decoder.out_valid.val();
        self.stage_data.d.next = self.decoder.out_data.val();
        self.stage_unit.d.next = self.bypass.val();
        if self.bypass.val() {
            self.stage_valid.d.next = !self.inbox.empty.val();
            self.stage_data.d.next = self.inbox.pop_data.val().data;
        }
        // Only what a `clear` left in the decoder comes out at any other time: it is dropped.
        if self.state.q.val() != FinishState::Drain {
            self.stage_valid.d.next = false;
        }
        self.reciprocal.count.next = self.decoder.out_received.val();
        self.exponent.next = bit_cast_w::<32, 4>(self.beats_log2.val()) << 23;
        self.ratio.next = self.reciprocal.factor.val() + self.exponent.val();
        self.multiplier.a.next = self.stage_data.q.val();
        self.multiplier.factor.next = self.ratio.val();
        if self.stage_unit.q.val() {
            self.multiplier.factor.next = bits_w::<32>(0x3f80_0000);
        }
        for i in 0..6 {
            self.side[i].clock.next = self.clock.val();
        }
        for i in 0..5 {
            self.side[i + 1].d.next = self.side[i].q.val();
        }
        self.side[0].d.next = self.stage_valid.q.val();
        self.outbox.push.next = self.side[5].q.val();
        self.outbox.push_data.next = self.multiplier.product.val();
        if self.side[5].q.val() && !self.bypass.val() {
            self.reserved.d.next = self.reserved_next.val();
        }
        if self.state.q.val() != FinishState::Drain {
            self.reserved.d.next = bits_w::<16>(0);
        }
        self.cq_tail.next = self.tail.q.val();
        self.working.next = (self.state.q.val() != FinishState::Idle)
            || !self.refusals.empty.val()
            || ((self.scaled.val() & self.not_reported.val()) != 0)
            || ((self.broadcast_closed.val() & self.scaled.val() & self.not_sending.val()) != 0);

        if self.clear.val() {
            self.state.d.next = FinishState::Idle;
            self.reported.d.next = bits_w::<8>(0);
            self.tail.d.next = bits_w::<16>(0);
            self.turn.d.next = bits_w::<16>(0);
            self.burst_left.d.next = bits_w::<7>(0);
            self.unacknowledged.d.next = bits_w::<8>(0);
        }
    }
}

impl Finisher {
    /// With a decoder for the blocks of this build.
    pub fn new(build: Build) -> Self {
        Self { decoder: Hadamard::new(build.hadamard_log2), ..Self::default() }
    }
}

clocked!(Finisher);
