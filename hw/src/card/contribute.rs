//! Contribute engine: reads this rank's gradient from host memory, encodes and interleaves it into the transmit
//! buffer, adds the own shard to the accumulator and hands the other shards to the sender.
//!
//! The transmit buffer has two banks of one window each: one is filled while the other is sent.
//! Throughput: one beat a cycle in, as host memory delivers; reads are bursts that never cross 4 KiB.
//! Back-pressure: orders wait while both banks are in use. Reset: `clear`; no DMA may be in flight then. What was in
//! the encoder comes out and is dropped; the next window waits for that.

use super::build::Build;
use super::types::{ContributeOrder, JobWords, SendOrder, SlotBeat, SlotContext, WindowBeat};
use crate::fifo::Fifo;
use crate::hadamard::Hadamard;
use crate::prelude::*;
use crate::ram::{LutRam, WindowRam};

/// What the filler is doing.
#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum FillState {
    /// Waits for an order and a free bank.
    Idle,
    /// Starts the encoder.
    Start,
    /// Beats flow into the bank.
    Fill,
    /// Hands the bank to sender and loop-back.
    Hand,
}

/// Contribute engine, see the module.
#[derive(LogicBlock, Default)]
pub struct Contribute {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Back to idle, orders forgotten.
    pub clear: Signal<In, bool>,
    /// Job registers.
    pub job: Signal<In, JobWords>,
    /// Arm bus: the slot armed this cycle, one-hot.
    pub arm: Signal<In, W<8>>,
    /// Arm bus: which slot.
    pub arm_slot: Signal<In, W<3>>,
    /// Arm bus: its context.
    pub arm_context: Signal<In, SlotContext>,
    /// An order comes in.
    pub order_valid: Signal<In, bool>,
    /// The order.
    pub order: Signal<In, ContributeOrder>,
    /// There is room for it.
    pub order_ready: Signal<Out, bool>,
    /// Asks for a burst of host memory.
    pub ar_valid: Signal<Out, bool>,
    /// Its first byte.
    pub ar_address: Signal<Out, W<64>>,
    /// Its beats, 1 to 64.
    pub ar_beats: Signal<Out, W<7>>,
    /// The window it is for.
    pub ar_slot: Signal<Out, W<3>>,
    /// It is asked for.
    pub ar_ready: Signal<In, bool>,
    /// A beat of host memory.
    pub r_valid: Signal<In, bool>,
    /// The beat.
    pub r_data: Signal<In, Beat>,
    /// It is taken.
    pub r_ready: Signal<Out, bool>,
    /// A beat of the own shard for the accumulator.
    pub own_valid: Signal<Out, bool>,
    /// The beat.
    pub own: Signal<Out, WindowBeat>,
    /// It is taken.
    pub own_ready: Signal<In, bool>,
    /// A filled bank for the sender.
    pub send_valid: Signal<Out, bool>,
    /// The order.
    pub send: Signal<Out, SendOrder>,
    /// It is taken.
    pub send_ready: Signal<In, bool>,
    /// The sender reads the buffer: always granted.
    pub read_valid: Signal<In, bool>,
    /// Bank and beat of the window.
    pub read_address: Signal<In, SlotBeat>,
    /// The beat, one cycle later.
    pub read_data: Signal<Out, Beat>,
    /// The sender is done with bank 0 or 1 (one cycle each).
    pub sent: Signal<In, W<2>>,
    /// Bit s: the contribution of slot s is not wholly out of the card yet; the slot must not be freed.
    pub held: Signal<Out, W<8>>,
    /// The encoder is not empty; after a `clear` it takes a while.
    pub emptying: Signal<Out, bool>,
    /// Something is under way.
    pub working: Signal<Out, bool>,
    orders: Fifo<ContributeOrder, 3>,
    contexts: LutRam<SlotContext, 3>,
    encoder: Hadamard,
    buffer: WindowRam<Beat>,
    cleared: DFF<bool>,
    state: DFF<FillState>,
    order_now: DFF<ContributeOrder>,
    bank: DFF<bool>,
    sending: DFF<W<2>>,
    looping: DFF<bool>,
    loop_bank: DFF<bool>,
    loop_index: DFF<W<15>>,
    loop_slot: DFF<W<3>>,
    loop_context: DFF<SlotContext>,
    loop_asked: DFF<bool>,
    loop_position: DFF<W<15>>,
    loop_relative: DFF<W<15>>,
    outbox: Fifo<WindowBeat, 3>,
    hold: DFF<W<8>>,
    used: DFF<W<2>>,
    slot_of_low: DFF<W<3>>,
    slot_of_high: DFF<W<3>>,
    to_ask: DFF<W<15>>,
    ask_address: DFF<W<64>>,
    to_come: DFF<W<15>>,
    to_feed: DFF<W<15>>,
    to_write: DFF<W<15>>,
    block_index: DFF<W<11>>,
    beat_index: DFF<W<14>>,
    ctx: Wire<SlotContext>,
    bank_busy: Wire<bool>,
    until_page: Wire<W<7>>,
    page_beat: Wire<W<6>>,
    burst: Wire<W<7>>,
    burst_bytes: Wire<W<13>>,
    to_ask_next: Wire<W<15>>,
    ask_address_next: Wire<W<64>>,
    feed: Wire<bool>,
    feed_data: Wire<Beat>,
    from_host: Wire<bool>,
    take: Wire<bool>,
    write: Wire<bool>,
    write_data: Wire<Beat>,
    place: Wire<W<14>>,
    row: Wire<W<14>>,
    linear: Wire<W<15>>,
    one10: Wire<W<14>>,
    beats_log2: Wire<W<4>>,
    beats_of_block: Wire<W<14>>,
    last_beat: Wire<W<14>>,
    beat_next: Wire<W<14>>,
    block_next: Wire<W<11>>,
    to_come_next: Wire<W<15>>,
    to_feed_next: Wire<W<15>>,
    to_write_next: Wire<W<15>>,
    loop_next: Wire<W<15>>,
    loop_at: Wire<W<15>>,
    loop_read: Wire<bool>,
    sending_now: Wire<W<2>>,
    freed: Wire<W<2>>,
    bank_bit: Wire<W<2>>,
    one8: Wire<W<8>>,
    order_bit: Wire<W<8>>,
    held_up: Wire<W<8>>,
    low_bit: Wire<W<8>>,
    high_bit: Wire<W<8>>,
    low_out: Wire<bool>,
    high_out: Wire<bool>,
    unhold: Wire<W<8>>,
    used_now: Wire<W<2>>,
}

impl Logic for Contribute {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            cleared,
            state,
            order_now,
            bank,
            sending,
            looping,
            loop_bank,
            loop_index,
            loop_slot,
            loop_context,
            loop_asked,
            loop_position,
            loop_relative,
            to_ask,
            ask_address,
            to_come,
            to_feed,
            to_write,
            block_index,
            beat_index,
            hold,
            used,
            slot_of_low,
            slot_of_high
        );
        self.contexts.clock.next = self.clock.val();
        self.contexts.write_enable.next = self.arm.val() != 0;
        self.contexts.write_address.next = self.arm_slot.val();
        self.contexts.write_data.next = self.arm_context.val();
        self.contexts.read_address.next = self.order_now.q.val().slot;
        self.ctx.next = self.contexts.read_data.val();
        self.encoder.clock.next = self.clock.val();
        self.buffer.clock.next = self.clock.val();
        self.outbox.clock.next = self.clock.val();
        self.outbox.clear.next = self.clear.val();
        self.orders.clock.next = self.clock.val();
        self.orders.clear.next = self.clear.val();
        self.orders.push.next = self.order_valid.val();
        self.orders.push_data.next = self.order.val();
        self.orders.pop.next = false;
        self.order_ready.next = !self.orders.full.val();

        // Banks in use by the sender.
        self.bank_bit.next = bits_w::<2>(1);
        if self.bank.q.val() {
            self.bank_bit.next = bits_w::<2>(2);
        }
        self.freed.next = self.sent.val() ^ 3;
        self.sending_now.next = self.sending.q.val() & self.freed.val();
        self.sending.d.next = self.sending_now.val();
        self.bank_busy.next = (self.sending_now.val() & self.bank_bit.val()) != 0;

        // A slot is held from its order until its bank is sent and its own shard added.
        self.one8.next = bits_w::<8>(1);
        self.low_bit.next = self.one8.val() << self.slot_of_low.q.val();
        self.high_bit.next = self.one8.val() << self.slot_of_high.q.val();
        self.low_out.next = self.used.q.val().get_bit(0)
            && !self.sending.q.val().get_bit(0)
            && (!self.looping.q.val() || self.loop_bank.q.val());
        self.high_out.next = self.used.q.val().get_bit(1)
            && !self.sending.q.val().get_bit(1)
            && (!self.looping.q.val() || !self.loop_bank.q.val());
        self.used_now.next = self.used.q.val();
        self.unhold.next = bits_w::<8>(0);
        if self.low_out.val() {
            self.used_now.next = self.used_now.val() & 2;
            self.unhold.next = self.low_bit.val();
        }
        if self.high_out.val() {
            self.used_now.next = self.used_now.val() & 1;
            self.unhold.next = self.unhold.val() | self.high_bit.val();
        }
        self.used.d.next = self.used_now.val();
        self.order_bit.next = self.one8.val() << self.order.val().slot;
        self.held_up.next = self.hold.q.val() & (self.unhold.val() ^ 0xff);
        self.hold.d.next = self.held_up.val();
        if self.order_valid.val() && !self.orders.full.val() {
            self.hold.d.next = self.held_up.val() | self.order_bit.val();
        }
        self.held.next = self.hold.q.val();

        // Fill one bank.
        // The encoder empties itself after one cycle of `clear`.
        self.cleared.d.next = self.clear.val();
        self.encoder.clear.next = self.clear.val() && !self.cleared.q.val();
        self.encoder.start.next = false;
        self.encoder.log2n.next = self.ctx.val().log2_n;
        self.encoder.decode.next = false;
        self.encoder.key.next = self.ctx.val().sign_key;
        self.encoder.in_received.next = true;
        self.encoder.go.next = true;
        self.send_valid.next = false;
        self.send.next.slot = self.order_now.q.val().slot;
        self.send.next.broadcast = false;
        self.send.next.bank = self.bank.q.val();
        self.send.next.timeout = self.order_now.q.val().timeout;
        self.send.next.incast = self.order_now.q.val().incast;
        match self.state.q.val() {
            FillState::Idle => {
                if !self.orders.empty.val() && !self.bank_busy.val() {
                    self.orders.pop.next = true;
                    self.order_now.d.next = self.orders.pop_data.val();
                    self.state.d.next = FillState::Start;
                }
            }
            FillState::Start => {
                if self.encoder.idle.val() {
                    self.encoder.start.next = self.ctx.val().hadamard;
                    self.to_ask.d.next = self.order_now.q.val().host_beats;
                    self.to_come.d.next = self.order_now.q.val().host_beats;
                    self.ask_address.d.next = self.order_now.q.val().host_address;
                    self.to_feed.d.next = self.ctx.val().beats;
                    self.to_write.d.next = self.ctx.val().beats;
                    self.block_index.d.next = bits_w::<11>(0);
                    self.beat_index.d.next = bits_w::<14>(0);
                    self.state.d.next = FillState::Fill;
                }
            }
            FillState::Fill => {
                if self.to_write.q.val() == 0 {
                    self.state.d.next = FillState::Hand;
                }
            }
            FillState::Hand => {
                self.send_valid.next = !self.looping.q.val();
                if self.send_ready.val() && !self.looping.q.val() {
                    self.sending.d.next = self.sending_now.val() | self.bank_bit.val();
                    self.looping.d.next = true;
                    self.loop_bank.d.next = self.bank.q.val();
                    self.loop_index.d.next = bits_w::<15>(0);
                    self.loop_slot.d.next = self.order_now.q.val().slot;
                    self.loop_context.d.next = self.ctx.val();
                    self.bank.d.next = !self.bank.q.val();
                    self.used.d.next = self.used_now.val() | self.bank_bit.val();
                    if self.bank.q.val() {
                        self.slot_of_high.d.next = self.order_now.q.val().slot;
                    } else {
                        self.slot_of_low.d.next = self.order_now.q.val().slot;
                    }
                    self.state.d.next = FillState::Idle;
                }
            }
        }

        // Ask host memory for what is left, up to the next 4 KiB.
        self.page_beat.next = self.ask_address.q.val().get_bits::<6>(6);
        self.until_page.next = bits_w::<7>(64) - bit_cast_w::<7, 6>(self.page_beat.val());
        self.burst.next = self.until_page.val();
        if self.to_ask.q.val() < bit_cast_w::<15, 7>(self.until_page.val()) {
            self.burst.next = self.to_ask.q.val().get_bits::<7>(0);
        }
        self.burst_bytes.next = bit_cast_w::<13, 7>(self.burst.val()) << 6;
        self.to_ask_next.next = self.to_ask.q.val() - bit_cast_w::<15, 7>(self.burst.val());
        self.ask_address_next.next = self.ask_address.q.val() + bit_cast_w::<64, 13>(self.burst_bytes.val());
        self.ar_valid.next = (self.state.q.val() == FillState::Fill) && (self.to_ask.q.val() != 0);
        self.ar_address.next = self.ask_address.q.val();
        self.ar_beats.next = self.burst.val();
        self.ar_slot.next = self.order_now.q.val().slot;
        if self.ar_valid.val() && self.ar_ready.val() {
            self.to_ask.d.next = self.to_ask_next.val();
            self.ask_address.d.next = self.ask_address_next.val();
        }

        // Beats from the host, then zeros up to the window's length.
        self.from_host.next = self.to_come.q.val() != 0;
        self.feed.next = (self.state.q.val() == FillState::Fill) && (self.to_feed.q.val() != 0);
        self.feed_data.next = self.r_data.val();
        if self.from_host.val() {
            if !self.r_valid.val() {
                self.feed.next = false;
            }
        } else {
            self.feed_data.next = bits_beat(0);
        }
        self.encoder.in_valid.next = self.feed.val() && self.ctx.val().hadamard;
        self.encoder.in_data.next = self.feed_data.val();
        self.take.next = self.feed.val() && (self.encoder.in_ready.val() || !self.ctx.val().hadamard);
        self.r_ready.next = self.take.val() && self.from_host.val();
        self.to_come_next.next = self.to_come.q.val() - 1;
        self.to_feed_next.next = self.to_feed.q.val() - 1;
        if self.take.val() {
            self.to_feed.d.next = self.to_feed_next.val();
            if self.from_host.val() {
                self.to_come.d.next = self.to_come_next.val();
            }
        }

        // Into the bank: in order, or interleaved: beat b of block k at b * blocks + k.
        self.beats_log2.next = self.ctx.val().log2_n - 4;
        self.one10.next = bits_w::<14>(1);
        self.beats_of_block.next = self.one10.val() << self.beats_log2.val();
        self.last_beat.next = self.beats_of_block.val() - 1;
        self.beat_next.next = self.beat_index.q.val() + 1;
        self.block_next.next = self.block_index.q.val() + 1;
        self.row.next = self.beat_index.q.val() << self.ctx.val().log2_blocks;
        self.linear.next = self.ctx.val().beats - self.to_write.q.val();
        self.place.next = self.linear.val().get_bits::<14>(0);
        self.write.next = self.take.val() && !self.ctx.val().hadamard;
        self.write_data.next = self.feed_data.val();
        if self.ctx.val().hadamard {
            self.place.next = self.row.val() + bit_cast_w::<14, 11>(self.block_index.q.val());
            self.write.next = self.encoder.out_valid.val() && (self.state.q.val() == FillState::Fill);
            self.write_data.next = self.encoder.out_data.val();
        }
        self.to_write_next.next = self.to_write.q.val() - 1;
        if self.write.val() {
            self.to_write.d.next = self.to_write_next.val();
            self.beat_index.d.next = self.beat_next.val();
            if self.beat_index.q.val() == self.last_beat.val() {
                self.beat_index.d.next = bits_w::<14>(0);
                self.block_index.d.next = self.block_next.val();
            }
        }
        self.buffer.write_enable.next = self.write.val();
        self.buffer.write_address.next.slot = bits_w::<3>(0);
        self.buffer.write_address.next.beat = self.place.val();
        if self.bank.q.val() {
            self.buffer.write_address.next.slot = bits_w::<3>(1);
        }
        self.buffer.write_data.next = self.write_data.val();

        // The own shard goes to the accumulator in cycles that the sender leaves.
        self.loop_at.next = self.loop_context.q.val().own_start + self.loop_index.q.val();
        self.loop_next.next = self.loop_index.q.val() + 1;
        self.loop_read.next = self.looping.q.val()
            && !self.read_valid.val()
            && (self.outbox.room.val() >= 2)
            && (self.loop_index.q.val() != self.loop_context.q.val().own_beats);
        self.buffer.read_address.next.slot = bits_w::<3>(0);
        self.buffer.read_address.next.beat = self.loop_at.val().get_bits::<14>(0);
        if self.loop_bank.q.val() {
            self.buffer.read_address.next.slot = bits_w::<3>(1);
        }
        if self.read_valid.val() {
            self.buffer.read_address.next = self.read_address.val();
        }
        self.loop_asked.d.next = self.loop_read.val();
        self.loop_position.d.next = self.loop_at.val();
        self.loop_relative.d.next = self.loop_index.q.val();
        if self.loop_read.val() {
            self.loop_index.d.next = self.loop_next.val();
        }
        if self.looping.q.val()
            && (self.loop_index.q.val() == self.loop_context.q.val().own_beats)
            && !self.loop_asked.q.val()
            && self.outbox.empty.val()
        {
            self.looping.d.next = false;
        }
        self.outbox.push.next = self.loop_asked.q.val();
        self.outbox.push_data.next.slot = self.loop_slot.q.val();
        self.outbox.push_data.next.position = self.loop_position.q.val().get_bits::<14>(0);
        self.outbox.push_data.next.relative = self.loop_relative.q.val().get_bits::<14>(0);
        self.outbox.push_data.next.sender = self.job.val().rank;
        self.outbox.push_data.next.epoch = self.loop_context.q.val().epoch;
        self.outbox.push_data.next.data = self.buffer.read_data.val();
        self.own_valid.next = !self.outbox.empty.val();
        self.own.next = self.outbox.pop_data.val();
        self.outbox.pop.next = self.own_ready.val();
        self.read_data.next = self.buffer.read_data.val();
        self.emptying.next = !self.encoder.idle.val();
        self.working.next =
            (self.state.q.val() != FillState::Idle) || !self.orders.empty.val() || (self.used.q.val() != 0);

        if self.clear.val() {
            self.state.d.next = FillState::Idle;
            self.sending.d.next = bits_w::<2>(0);
            self.looping.d.next = false;
            self.loop_asked.d.next = false;
            self.hold.d.next = bits_w::<8>(0);
            self.used.d.next = bits_w::<2>(0);
        }
    }
}

impl Contribute {
    /// With two banks for windows of this build.
    pub fn new(build: Build) -> Self {
        let encoder = Hadamard::new(build.hadamard_log2);
        Self { buffer: WindowRam::new(1, build.window_log2), encoder, ..Self::default() }
    }
}

clocked!(Contribute);
