//! Result path: reads a window from the gather memory in block order, decodes it if encoded, scales
//! it, and passes it to the write channel.
//!
//! Each block is multiplied by n / received, plain windows by one. Missing beats are zeros, and
//! padding is not written.
//! Up to three windows are in the path: one is read, one comes out, and the last bursts of a third
//! are being ordered. A plain window, or one with another block size, waits until the previous
//! window is out.
//! Latency: 14 cycles from `start` to the first beat out; for an encoded window also
//! [`crate::hadamard::latency_cycles`] and a block. Throughput: one beat a cycle while host memory
//! accepts them. Back-pressure: `read_ready`, `room`, `order_ready`.
//! Reset: `clear`. Beats left in the decoder are dropped as they come out, until `idle`.

use super::build::Build;
use super::dma_write::{WriteOrder, WriteOwner};
use super::reciprocal::Reciprocal;
use super::types::{GatherWord, SlotBeat, SlotContext};
use crate::arith::fp_mul::{self, FpMul16};
use crate::hadamard::Hadamard;
use crate::hdl::prelude::*;
use crate::mem::fifo::Fifo;

const _: () = assert!(fp_mul::LATENCY == 6, "the side band below is as long as the multiplier");

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum DrainState {
    Idle,
    Begin,
    Run,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Gathered {
    data: Beat,
    present: bool,
}

#[derive(LogicBlock, Default)]
pub struct Drain {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    /// Only while `ready` (one cycle).
    pub start: Signal<In, bool>,
    pub start_slot: Signal<In, W<3>>,
    pub start_context: Signal<In, SlotContext>,
    pub ready: Signal<Out, bool>,
    /// No window is in the path.
    pub idle: Signal<Out, bool>,
    /// One-hot: slot whose last burst was ordered.
    pub drained: Signal<Out, W<8>>,
    /// Slot and beat to read. `word` follows one cycle after `read_ready`.
    pub read_valid: Signal<Out, bool>,
    pub read_address: Signal<Out, SlotBeat>,
    pub read_ready: Signal<In, bool>,
    pub word: Signal<In, GatherWord>,
    pub push: Signal<Out, bool>,
    pub push_data: Signal<Out, Beat>,
    pub room: Signal<In, W<16>>,
    /// Burst whose beats are all pushed.
    pub order_valid: Signal<Out, bool>,
    pub order: Signal<Out, WriteOrder>,
    pub order_ready: Signal<In, bool>,
    decoder: Hadamard,
    reciprocal: Reciprocal,
    multiplier: FpMul16,
    inbox: Fifo<Gathered, 3>,
    state: DFF<DrainState>,
    cleared: DFF<bool>,
    slot: DFF<W<3>>,
    ctx: DFF<SlotContext>,
    block_beats: DFF<W<16>>,
    to_read: DFF<W<15>>,
    block_index: DFF<W<11>>,
    beat_index: DFF<W<14>>,
    asked: DFF<bool>,
    stage_valid: DFF<bool>,
    stage_data: DFF<Beat>,
    side: [DFF<bool>; 6],
    reserved: DFF<W<16>>,
    pending: DFF<bool>,
    coming: DFF<bool>,
    taken: DFF<bool>,
    come_slot: DFF<W<3>>,
    come_ctx: DFF<SlotContext>,
    to_come: DFF<W<15>>,
    to_keep: DFF<W<15>>,
    ordering: DFF<bool>,
    order_slot: DFF<W<3>>,
    to_order: DFF<W<15>>,
    order_address: DFF<W<64>>,
    unordered: DFF<W<16>>,
    c: Wire<SlotContext>,
    out: Wire<SlotContext>,
    running: Wire<bool>,
    active: Wire<bool>,
    may_begin: Wire<bool>,
    begins: Wire<bool>,
    pass_on: Wire<bool>,
    read: Wire<bool>,
    takes: Wire<bool>,
    come_ends: Wire<bool>,
    order_ends: Wire<bool>,
    one: Wire<W<8>>,
    length: Wire<W<15>>,
    beats_log2: Wire<W<4>>,
    one14: Wire<W<14>>,
    beats_of_block: Wire<W<14>>,
    out_log2: Wire<W<4>>,
    passes: Wire<bool>,
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
    exponent: Wire<W<32>>,
    ratio: Wire<W<32>>,
    spare: Wire<W<16>>,
    reserved_up: Wire<W<16>>,
    reserved_next: Wire<W<16>>,
    comes: Wire<bool>,
    keep: Wire<bool>,
    to_come_next: Wire<W<15>>,
    to_keep_next: Wire<W<15>>,
    page_beat: Wire<W<6>>,
    until_page: Wire<W<7>>,
    burst: Wire<W<7>>,
    burst_bytes: Wire<W<13>>,
    to_order_next: Wire<W<15>>,
    order_address_next: Wire<W<64>>,
    unordered_up: Wire<W<16>>,
    unordered_next: Wire<W<16>>,
    ordered: Wire<bool>,
    owner: Wire<WriteOwner>,
}

#[sections]
impl Logic for Drain {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            cleared,
            slot,
            ctx,
            block_beats,
            to_read,
            block_index,
            beat_index,
            asked,
            stage_valid,
            stage_data,
            reserved,
            pending,
            coming,
            taken,
            come_slot,
            come_ctx,
            to_come,
            to_keep,
            ordering,
            order_slot,
            to_order,
            order_address,
            unordered
        );

        self.clocks();
        self.window_in();
        self.window_out();
        self.reader();
        self.decode();
        self.outbox();
        self.bursts();

        if self.clear.val() {
            self.state.d.next = DrainState::Idle;
            self.asked.d.next = false;
            self.pending.d.next = false;
            self.coming.d.next = false;
            self.taken.d.next = false;
            self.ordering.d.next = false;
            self.reserved.d.next = bits_w::<16>(0);
            self.unordered.d.next = bits_w::<16>(0);
        }
    }

    /// Clocks the sub-blocks and reports activity.
    fn clocks(&mut self) {
        self.decoder.clock.next = self.clock.val();
        self.reciprocal.clock.next = self.clock.val();
        self.multiplier.clock.next = self.clock.val();
        self.inbox.clock.next = self.clock.val();
        self.c.next = self.ctx.q.val();
        self.out.next = self.come_ctx.q.val();
        self.running.next = self.state.q.val() == DrainState::Run;
        self.inbox.clear.next = self.clear.val();
        self.active.next = self.coming.q.val() || self.pending.q.val();
        self.ready.next = self.state.q.val() == DrainState::Idle;
        self.idle.next = (self.state.q.val() == DrainState::Idle)
            && self.decoder.idle.val()
            && !self.coming.q.val()
            && !self.ordering.q.val();
    }

    /// Admits windows one at a time.
    fn window_in(&mut self) {
        self.length.next = self.c.val().host_beats;
        if self.c.val().hadamard {
            self.length.next = self.c.val().beats;
        }
        self.beats_log2.next = self.c.val().log2_n - 4;
        self.one14.next = bits_w::<14>(1);
        self.beats_of_block.next = self.one14.val() << self.beats_log2.val();
        // The decoder empties itself after one cycle of `clear`.
        self.cleared.d.next = self.clear.val();
        self.decoder.clear.next = self.clear.val() && !self.cleared.q.val();
        self.decoder.start.next = false;
        self.may_begin.next = self.decoder.idle.val() && !self.coming.q.val();
        if self.c.val().hadamard {
            self.may_begin.next = self.decoder.start_ready.val();
        }
        self.begins.next = false;
        self.read.next = (self.to_read.q.val() == 0) && !self.asked.q.val() && self.inbox.empty.val();
        match self.state.q.val() {
            DrainState::Idle => {
                if self.start.val() {
                    self.slot.d.next = self.start_slot.val();
                    self.ctx.d.next = self.start_context.val();
                    self.state.d.next = DrainState::Begin;
                }
            }
            DrainState::Begin => {
                self.to_read.d.next = self.length.val();
                self.block_index.d.next = bits_w::<11>(0);
                self.beat_index.d.next = bits_w::<14>(0);
                if self.may_begin.val() {
                    self.begins.next = true;
                    self.decoder.start.next = self.c.val().hadamard;
                    // Safe to change, because all earlier blocks have begun to burst.
                    self.block_beats.d.next = bit_cast_w::<16, 14>(self.beats_of_block.val());
                    self.state.d.next = DrainState::Run;
                }
            }
            DrainState::Run => {
                if self.read.val() && !self.pending.q.val() {
                    self.state.d.next = DrainState::Idle;
                }
            }
        }
    }

    /// Starts the output of a window once the previous one is out, though not all ordered. The
    /// decoder is silent for 5 cycles between windows.
    fn window_out(&mut self) {
        self.come_ends.next = self.coming.q.val() && self.taken.q.val() && (self.to_come.q.val() == 0);
        self.order_ends.next =
            self.ordering.q.val() && (self.to_order.q.val() == 0) && (!self.taken.q.val() || self.come_ends.val());
        self.takes.next =
            self.coming.q.val() && !self.taken.q.val() && (!self.ordering.q.val() || self.order_ends.val());
        self.pass_on.next = (self.begins.val() || self.pending.q.val()) && !self.coming.q.val();
        self.pending.d.next = (self.begins.val() || self.pending.q.val()) && !self.pass_on.val();
        self.coming.d.next = (self.coming.q.val() && !self.come_ends.val()) || self.pass_on.val();
        self.taken.d.next = (self.taken.q.val() && !self.come_ends.val()) || self.takes.val();
    }

    /// Reads in block order while the inbox has room.
    fn reader(&mut self) {
        self.last_beat.next = self.beats_of_block.val() - 1;
        self.beat_next.next = self.beat_index.q.val() + 1;
        self.block_next.next = self.block_index.q.val() + 1;
        self.row.next = self.beat_index.q.val() << self.c.val().log2_blocks;
        self.linear.next = self.c.val().host_beats - self.to_read.q.val();
        self.place.next = self.linear.val().get_bits::<14>(0);
        if self.c.val().hadamard {
            self.place.next = self.row.val() + bit_cast_w::<14, 11>(self.block_index.q.val());
        }
        self.ask.next = self.running.val()
            && (self.to_read.q.val() != 0)
            && (self.inbox.room.val() >= 3)
            && (self.room.val() >= 32);
        self.read_valid.next = self.ask.val();
        self.read_address.next.slot = self.slot.q.val();
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
        self.present.next = self.word.val().epoch == self.c.val().epoch;
        self.gathered.next.present = self.present.val();
        self.gathered.next.data = bits_beat(0);
        if self.present.val() {
            self.gathered.next.data = self.word.val().data;
        }
        self.inbox.push.next = self.asked.q.val();
        self.inbox.push_data.next = self.gathered.val();
    }

    /// Decodes or bypasses the decoder, then rescales.
    fn decode(&mut self) {
        self.decoder.log2n.next = self.c.val().log2_n;
        self.decoder.decode.next = true;
        self.decoder.key.next = self.c.val().sign_key;
        self.decoder.in_valid.next = !self.inbox.empty.val() && self.c.val().hadamard && self.running.val();
        self.decoder.in_data.next = self.inbox.pop_data.val().data;
        self.decoder.in_received.next = self.inbox.pop_data.val().present;
        self.passes.next = !self.inbox.empty.val() && !self.c.val().hadamard && self.running.val();
        self.inbox.pop.next = self.passes.val() || (self.decoder.in_valid.val() && self.decoder.in_ready.val());
        // A block waits for room in the outbox. A window's first block also waits until the
        // previous window is certain to end.
        self.spare.next = self.room.val() - self.reserved.q.val();
        self.decoder.go.next = !self.active.val()
            || ((self.spare.val() >= self.block_beats.q.val())
                && (self.taken.q.val() || !self.pending.q.val() || !self.coming.q.val()));
        self.stage_valid.d.next = self.passes.val() || (self.decoder.out_valid.val() && self.active.val());
        self.stage_data.d.next = self.decoder.out_data.val();
        if self.passes.val() {
            self.stage_data.d.next = self.inbox.pop_data.val().data;
        }
        self.reciprocal.count.next = self.decoder.out_received.val();
        self.out_log2.next = self.out.val().log2_n - 4;
        self.exponent.next = bit_cast_w::<32, 4>(self.out_log2.val()) << 23;
        self.ratio.next = self.reciprocal.factor.val() + self.exponent.val();
        self.multiplier.a.next = self.stage_data.q.val();
        self.multiplier.factor.next = bits_w::<32>(0x3f80_0000);
        if self.out.val().hadamard {
            self.multiplier.factor.next = self.ratio.val();
        }
        for i in 0..6 {
            self.side[i].clock.next = self.clock.val();
        }
        for i in 0..5 {
            self.side[i + 1].d.next = self.side[i].q.val();
        }
        self.side[0].d.next = self.stage_valid.q.val();
    }

    /// Pushes the beats that the host stores. A block reserves its room before it bursts.
    fn outbox(&mut self) {
        self.comes.next = self.side[5].q.val() && self.coming.q.val();
        self.keep.next = self.comes.val() && (self.to_keep.q.val() != 0);
        self.push.next = self.keep.val();
        self.push_data.next = self.multiplier.product.val();
        self.to_come_next.next = self.to_come.q.val() - 1;
        self.to_keep_next.next = self.to_keep.q.val() - 1;
        self.reserved_up.next = self.reserved.q.val();
        if self.decoder.burst.val() {
            self.reserved_up.next = self.reserved.q.val() + self.block_beats.q.val();
        }
        self.reserved_next.next = self.reserved_up.val() - 1;
        if self.active.val() {
            self.reserved.d.next = self.reserved_up.val();
        }
        if self.comes.val() {
            self.to_come.d.next = self.to_come_next.val();
            if self.out.val().hadamard {
                self.reserved.d.next = self.reserved_next.val();
            }
        }
        if self.keep.val() {
            self.to_keep.d.next = self.to_keep_next.val();
        }
        if self.pass_on.val() {
            self.come_slot.d.next = self.slot.q.val();
            self.come_ctx.d.next = self.c.val();
            self.to_come.d.next = self.length.val();
            self.to_keep.d.next = self.c.val().host_beats;
        }
    }

    /// Orders bursts up to the next 4 KiB. Beats of the next window may follow in the buffer.
    fn bursts(&mut self) {
        self.ordering.d.next = (self.ordering.q.val() && !self.order_ends.val()) || self.takes.val();
        self.one.next = bits_w::<8>(1);
        self.drained.next = bits_w::<8>(0);
        if self.order_ends.val() {
            self.drained.next = self.one.val() << self.order_slot.q.val();
        }
        self.page_beat.next = self.order_address.q.val().get_bits::<6>(6);
        self.until_page.next = bits_w::<7>(64) - bit_cast_w::<7, 6>(self.page_beat.val());
        self.burst.next = self.until_page.val();
        if self.to_order.q.val() < bit_cast_w::<15, 7>(self.until_page.val()) {
            self.burst.next = self.to_order.q.val().get_bits::<7>(0);
        }
        self.burst_bytes.next = bit_cast_w::<13, 7>(self.burst.val()) << 6;
        self.to_order_next.next = self.to_order.q.val() - bit_cast_w::<15, 7>(self.burst.val());
        self.order_address_next.next = self.order_address.q.val() + bit_cast_w::<64, 13>(self.burst_bytes.val());
        self.order_valid.next = self.ordering.q.val()
            && (self.to_order.q.val() != 0)
            && (self.unordered.q.val() >= bit_cast_w::<16, 7>(self.burst.val()));
        self.order.next.address = self.order_address.q.val();
        self.order.next.beats = self.burst.val();
        self.owner.next.slot = self.order_slot.q.val();
        self.owner.next.queue = bits_w::<2>(0);
        self.owner.next.broadcast = true;
        self.owner.next.report = false;
        self.owner.next.completion = false;
        self.owner.next.refused = false;
        self.order.next.owner = self.owner.val();
        self.ordered.next = self.order_valid.val() && self.order_ready.val();
        self.unordered_up.next = self.unordered.q.val();
        if self.keep.val() {
            self.unordered_up.next = self.unordered.q.val() + 1;
        }
        self.unordered_next.next = self.unordered_up.val() - bit_cast_w::<16, 7>(self.burst.val());
        self.unordered.d.next = self.unordered_up.val();
        if self.ordered.val() {
            self.unordered.d.next = self.unordered_next.val();
            self.to_order.d.next = self.to_order_next.val();
            self.order_address.d.next = self.order_address_next.val();
        }

        if self.takes.val() {
            self.order_slot.d.next = self.come_slot.q.val();
            self.to_order.d.next = self.out.val().host_beats;
            self.order_address.d.next = self.out.val().host_address;
        }
    }
}

impl Drain {
    pub fn new(build: Build) -> Self {
        Self { decoder: Hadamard::new(build.hadamard_log2), ..Self::default() }
    }
}

clocked!(Drain);
