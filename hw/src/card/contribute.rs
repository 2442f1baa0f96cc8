//! Contribute engine: reads this rank's gradient, encodes and interleaves it into the transmit
//! buffer, adds the local shard to the accumulator, and passes the other shards to the sender.
//!
//! The transmit buffer has two banks of one window. The gradient is read in sending order, from the
//! end of the local shard around the window, and sent while its bank is being filled. An encoded
//! window is read from its start and interleaved, so it is sent only after its last block.
//! Up to 512 beats are requested or wait in an inbox, even for the next windows, which hides the
//! latency of host memory.
//!
//! Throughput: one beat a cycle, with at most 5 cycles between windows while the sender keeps up. A
//! new block size, or a change between encoded and plain, waits for an empty encoder: n/16 +
//! `hadamard::latency_cycles` cycles after its last input.
//! Latency: 3 cycles from an order to its first request, 4 from host memory to `filled`.
//! Back-pressure: orders wait while both banks are in use; host memory never waits.
//! Reset: `clear`, with no DMA in flight. Beats left in the encoder are dropped before the next
//! window.

use super::build::Build;
use super::types::{ContributeOrder, JobWords, SendOrder, SlotBeat, SlotContext, WindowBeat};
use crate::arith::bf16::Bf16Round;
use crate::hadamard::Hadamard;
use crate::hdl::prelude::*;
use crate::mem::block_fifo::BlockFifo;
use crate::mem::fifo::Fifo;
use crate::mem::ram::{LutRam, WindowRam};

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum FillState {
    Idle,
    Start,
    Fill,
}

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum ReadState {
    Idle,
    /// Computes the ranges to read.
    Start,
    Ask,
}

/// Beat on its way into the bank.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Place {
    valid: bool,
    beat: W<14>,
    /// Beats in the bank, this one included.
    filled: W<15>,
    data: Beat,
}

#[derive(LogicBlock, Default)]
pub struct Contribute {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    pub job: Signal<In, JobWords>,
    pub arm: Signal<In, W<8>>,
    pub arm_slot: Signal<In, W<3>>,
    pub arm_context: Signal<In, SlotContext>,
    pub order_valid: Signal<In, bool>,
    pub order: Signal<In, ContributeOrder>,
    pub order_ready: Signal<Out, bool>,
    /// Burst of 1 to 64 beats within 4 KiB.
    pub ar_valid: Signal<Out, bool>,
    pub ar_address: Signal<Out, W<64>>,
    pub ar_beats: Signal<Out, W<7>>,
    pub ar_slot: Signal<Out, W<3>>,
    pub ar_ready: Signal<In, bool>,
    /// Always accepted, since its room was reserved.
    pub r_valid: Signal<In, bool>,
    pub r_data: Signal<In, Beat>,
    pub r_ready: Signal<Out, bool>,
    /// Local shard for the accumulator.
    pub own_valid: Signal<Out, bool>,
    pub own: Signal<Out, WindowBeat>,
    pub own_ready: Signal<In, bool>,
    /// Bank for the sender, which may send filled beats.
    pub send_valid: Signal<Out, bool>,
    pub send: Signal<Out, SendOrder>,
    pub send_ready: Signal<In, bool>,
    /// Beats filled in bank 0 and 1, in filling order.
    pub filled_low: Signal<Out, W<15>>,
    pub filled_high: Signal<Out, W<15>>,
    /// Bank and beat that the sender reads, always granted. The data follows one cycle later.
    pub read_valid: Signal<In, bool>,
    pub read_address: Signal<In, SlotBeat>,
    pub read_data: Signal<Out, Beat>,
    /// Bit b: the sender has finished with bank b.
    pub sent: Signal<In, W<2>>,
    /// Slots with contributions still in the card, which must not be freed.
    pub held: Signal<Out, W<8>>,
    pub working: Signal<Out, bool>,
    pub emptying: Signal<Out, bool>,
    // Reader: its window, the beats still to request up to the window's end and then from its
    // start, and the beats reserved in the inbox.
    orders: Fifo<ContributeOrder, 3>,
    read_contexts: LutRam<SlotContext, 3>,
    contexts: LutRam<SlotContext, 3>,
    read_state: DFF<ReadState>,
    read_order: DFF<ContributeOrder>,
    to_ask: DFF<W<15>>,
    then_ask: DFF<W<15>>,
    ask_address: DFF<W<64>>,
    reserved: DFF<W<10>>,
    // From the reader to the filler.
    inbox: BlockFifo<Beat, 9>,
    planned: Fifo<ContributeOrder, 1>,
    encoder: Hadamard,
    buffer: WindowRam<Beat>,
    cleared: DFF<bool>,
    state: DFF<FillState>,
    order_now: DFF<ContributeOrder>,
    bank: DFF<bool>,
    // Bit b: the sender may still read bank b.
    sending: DFF<W<2>>,
    // Loop-back: its window and bank, and the beat requested from the bank.
    looping: DFF<bool>,
    loop_bank: DFF<bool>,
    loop_index: DFF<W<15>>,
    loop_slot: DFF<W<3>>,
    loop_context: DFF<SlotContext>,
    loop_asked: DFF<bool>,
    loop_position: DFF<W<15>>,
    loop_relative: DFF<W<15>>,
    outbox: Fifo<WindowBeat, 3>,
    // Bit s of `hold`: slot s is held. Bit b of `used`: bank b holds the slot named below.
    hold: DFF<W<8>>,
    used: DFF<W<2>>,
    slot_of_low: DFF<W<3>>,
    slot_of_high: DFF<W<3>>,
    // Next beat and beats left of the window being fed, and beats left to write.
    position: DFF<W<15>>,
    to_feed: DFF<W<15>>,
    to_write: DFF<W<15>>,
    place: DFF<Place>,
    // A window has begun but is not being written (pending), or has no bank (wants).
    pending: DFF<bool>,
    wants: DFF<bool>,
    // The window being written, which may be the previous one.
    writing: DFF<bool>,
    write_slot: DFF<W<3>>,
    write_bank: DFF<bool>,
    write_context: DFF<SlotContext>,
    filled_of_low: DFF<W<15>>,
    filled_of_high: DFF<W<15>>,
    round: Bf16Round,
    // Block and beat that the encoder outputs next.
    block_index: DFF<W<11>>,
    beat_index: DFF<W<14>>,
    ctx: Wire<SlotContext>,
    write_ctx: Wire<SlotContext>,
    may_start: Wire<bool>,
    begins: Wire<bool>,
    granted: Wire<bool>,
    pass_on: Wire<bool>,
    write_bit: Wire<W<2>>,
    read_ctx: Wire<SlotContext>,
    read_end: Wire<W<15>>,
    read_from: Wire<W<15>>,
    read_skip: Wire<W<21>>,
    read_start: Wire<W<64>>,
    may_ask: Wire<bool>,
    asks: Wire<bool>,
    asked_beats: Wire<W<10>>,
    reserved_more: Wire<W<10>>,
    reserved_less: Wire<W<10>>,
    own_end: Wire<W<15>>,
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
    interleaved: Wire<W<14>>,
    row: Wire<W<14>>,
    one10: Wire<W<14>>,
    one11: Wire<W<11>>,
    beats_log2: Wire<W<4>>,
    beats_of_block: Wire<W<14>>,
    last_beat: Wire<W<14>>,
    beat_next: Wire<W<14>>,
    block_next: Wire<W<11>>,
    blocks: Wire<W<11>>,
    last_block: Wire<bool>,
    rows: Wire<W<15>>,
    position_next: Wire<W<15>>,
    to_feed_next: Wire<W<15>>,
    to_write_next: Wire<W<15>>,
    fed: Wire<W<15>>,
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

#[sections]
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
            read_state,
            read_order,
            to_ask,
            then_ask,
            ask_address,
            reserved,
            position,
            to_feed,
            to_write,
            place,
            pending,
            wants,
            writing,
            write_slot,
            write_bank,
            write_context,
            filled_of_low,
            filled_of_high,
            block_index,
            beat_index,
            hold,
            used,
            slot_of_low,
            slot_of_high
        );

        self.clocks();
        self.banks_in_use();
        self.held_slots();
        self.reader();
        self.bursts();
        self.filler();
        self.bank_grant();
        self.hand_over();
        self.feed();
        self.bank_write();
        self.loop_back();
        self.working.next = (self.state.q.val() != FillState::Idle)
            || (self.read_state.q.val() != ReadState::Idle)
            || !self.orders.empty.val()
            || !self.planned.empty.val()
            || self.writing.q.val()
            || (self.used.q.val() != 0);

        if self.clear.val() {
            self.state.d.next = FillState::Idle;
            self.read_state.d.next = ReadState::Idle;
            self.reserved.d.next = bits_w::<10>(0);
            self.place.d.next.valid = false;
            self.pending.d.next = false;
            self.wants.d.next = false;
            self.writing.d.next = false;
            self.sending.d.next = bits_w::<2>(0);
            self.looping.d.next = false;
            self.loop_asked.d.next = false;
            self.hold.d.next = bits_w::<8>(0);
            self.used.d.next = bits_w::<2>(0);
        }
    }

    /// Clocks and clears the sub-blocks, and looks up contexts.
    fn clocks(&mut self) {
        self.read_contexts.clock.next = self.clock.val();
        self.read_contexts.write_enable.next = self.arm.val() != 0;
        self.read_contexts.write_address.next = self.arm_slot.val();
        self.read_contexts.write_data.next = self.arm_context.val();
        self.read_contexts.read_address.next = self.read_order.q.val().slot;
        self.read_ctx.next = self.read_contexts.read_data.val();
        self.inbox.clock.next = self.clock.val();
        self.inbox.clear.next = self.clear.val();
        self.planned.clock.next = self.clock.val();
        self.planned.clear.next = self.clear.val();
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
    }

    /// Tracks the banks in use by the sender and the loop-back.
    fn banks_in_use(&mut self) {
        self.bank_bit.next = bits_w::<2>(1);
        if self.bank.q.val() {
            self.bank_bit.next = bits_w::<2>(2);
        }
        self.freed.next = self.sent.val() ^ 3;
        self.sending_now.next = self.sending.q.val() & self.freed.val();
        self.sending.d.next = self.sending_now.val();
        self.bank_busy.next = ((self.sending.q.val() & self.bank_bit.val()) != 0)
            || (self.looping.q.val()
                && ((self.bank.q.val() && self.loop_bank.q.val()) || (!self.bank.q.val() && !self.loop_bank.q.val())));
    }

    /// Holds a slot until its bank is sent and its local shard added.
    fn held_slots(&mut self) {
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
    }

    /// Reads in sending order: up to the end of the gradient, then from its start.
    fn reader(&mut self) {
        self.read_end.next = self.read_ctx.val().own_start + self.read_ctx.val().own_beats;
        self.read_from.next = self.read_end.val();
        if self.read_ctx.val().hadamard || (self.read_end.val() == self.read_ctx.val().beats) {
            self.read_from.next = bits_w::<15>(0);
        }
        self.read_skip.next = bit_cast_w::<21, 15>(self.read_from.val()) << 6;
        self.read_start.next = self.read_order.q.val().host_address + bit_cast_w::<64, 21>(self.read_skip.val());
        self.planned.push.next = false;
        self.planned.push_data.next = self.read_order.q.val();
        match self.read_state.q.val() {
            ReadState::Idle => {
                if !self.orders.empty.val() && !self.planned.full.val() {
                    self.orders.pop.next = true;
                    self.read_order.d.next = self.orders.pop_data.val();
                    self.read_state.d.next = ReadState::Start;
                }
            }
            ReadState::Start => {
                self.planned.push.next = true;
                self.to_ask.d.next = self.read_order.q.val().host_beats - self.read_from.val();
                self.then_ask.d.next = self.read_from.val();
                self.ask_address.d.next = self.read_start.val();
                if self.read_order.q.val().host_beats <= self.read_from.val() {
                    self.to_ask.d.next = self.read_order.q.val().host_beats;
                    self.then_ask.d.next = bits_w::<15>(0);
                    self.ask_address.d.next = self.read_order.q.val().host_address;
                }
                self.read_state.d.next = ReadState::Ask;
            }
            ReadState::Ask => {
                if self.to_ask.q.val() == 0 {
                    self.to_ask.d.next = self.then_ask.q.val();
                    self.then_ask.d.next = bits_w::<15>(0);
                    self.ask_address.d.next = self.read_order.q.val().host_address;
                    if self.then_ask.q.val() == 0 {
                        self.read_state.d.next = ReadState::Idle;
                    }
                }
            }
        }
    }

    /// Requests bursts up to the next 4 KiB, while the inbox has room.
    fn bursts(&mut self) {
        self.page_beat.next = self.ask_address.q.val().get_bits::<6>(6);
        self.until_page.next = bits_w::<7>(64) - bit_cast_w::<7, 6>(self.page_beat.val());
        self.burst.next = self.until_page.val();
        if self.to_ask.q.val() < bit_cast_w::<15, 7>(self.until_page.val()) {
            self.burst.next = self.to_ask.q.val().get_bits::<7>(0);
        }
        self.burst_bytes.next = bit_cast_w::<13, 7>(self.burst.val()) << 6;
        self.to_ask_next.next = self.to_ask.q.val() - bit_cast_w::<15, 7>(self.burst.val());
        self.ask_address_next.next = self.ask_address.q.val() + bit_cast_w::<64, 13>(self.burst_bytes.val());
        self.may_ask.next = self.reserved.q.val() <= 448;
        self.ar_valid.next =
            (self.read_state.q.val() == ReadState::Ask) && (self.to_ask.q.val() != 0) && self.may_ask.val();
        self.ar_address.next = self.ask_address.q.val();
        self.ar_beats.next = self.burst.val();
        self.ar_slot.next = self.read_order.q.val().slot;
        self.asks.next = self.ar_valid.val() && self.ar_ready.val();
        if self.asks.val() {
            self.to_ask.d.next = self.to_ask_next.val();
            self.ask_address.d.next = self.ask_address_next.val();
        }
        self.r_ready.next = true;
        self.inbox.push.next = self.r_valid.val();
        self.inbox.push_data.next = self.r_data.val();
    }

    /// Feeds a window into its bank or the encoder.
    fn filler(&mut self) {
        // The encoder empties itself after one cycle of `clear`.
        self.cleared.d.next = self.clear.val();
        self.encoder.clear.next = self.clear.val() && !self.cleared.q.val();
        self.encoder.start.next = false;
        self.encoder.log2n.next = self.ctx.val().log2_n;
        self.encoder.decode.next = false;
        self.encoder.key.next = self.ctx.val().sign_key;
        self.encoder.in_received.next = true;
        self.encoder.go.next = !self.wants.q.val();
        self.emptying.next = !self.encoder.idle.val();
        self.own_end.next = self.ctx.val().own_start + self.ctx.val().own_beats;
        self.planned.pop.next = false;
        self.send.next.slot = self.order_now.q.val().slot;
        self.send.next.broadcast = false;
        self.send.next.bank = self.bank.q.val();
        self.may_start.next = self.encoder.idle.val() && !self.writing.q.val();
        if self.ctx.val().hadamard {
            self.may_start.next = self.encoder.start_ready.val();
        }
        self.begins.next = false;
        match self.state.q.val() {
            FillState::Idle => {
                if !self.planned.empty.val() {
                    self.planned.pop.next = true;
                    self.order_now.d.next = self.planned.pop_data.val();
                    self.state.d.next = FillState::Start;
                }
            }
            FillState::Start => {
                self.position.d.next = self.own_end.val();
                if self.ctx.val().hadamard || (self.own_end.val() == self.ctx.val().beats) {
                    self.position.d.next = bits_w::<15>(0);
                }
                self.to_feed.d.next = self.ctx.val().beats;
                if self.may_start.val() {
                    self.begins.next = true;
                    self.encoder.start.next = self.ctx.val().hadamard;
                    self.state.d.next = FillState::Fill;
                }
            }
            FillState::Fill => {
                if (self.to_feed.q.val() == 0) && !self.pending.q.val() {
                    self.bank.d.next = !self.bank.q.val();
                    self.state.d.next = FillState::Idle;
                }
            }
        }
    }

    /// Grants a bank that sender and loop-back have finished with. Until then the encoder outputs
    /// nothing.
    fn bank_grant(&mut self) {
        self.send_valid.next = (self.begins.val() || self.wants.q.val()) && !self.bank_busy.val();
        self.granted.next = self.send_valid.val() && self.send_ready.val();
        self.wants.d.next = (self.begins.val() || self.wants.q.val()) && !self.granted.val();
        if self.granted.val() {
            self.sending.d.next = self.sending_now.val() | self.bank_bit.val();
            if self.bank.q.val() {
                self.filled_of_high.d.next = bits_w::<15>(0);
            } else {
                self.filled_of_low.d.next = bits_w::<15>(0);
            }
        }
    }

    /// Starts writing a window once the bank of the previous one goes to the loop-back, which is
    /// idle by then. The encoder is silent for 5 cycles between windows, so no beat is lost.
    fn hand_over(&mut self) {
        self.pass_on.next =
            (self.granted.val() || (self.pending.q.val() && !self.wants.q.val())) && !self.writing.q.val();
        self.pending.d.next = (self.begins.val() || self.pending.q.val()) && !self.pass_on.val();
        self.write_ctx.next = self.write_context.q.val();
        self.write_bit.next = bits_w::<2>(1);
        if self.write_bank.q.val() {
            self.write_bit.next = bits_w::<2>(2);
        }
        if self.pass_on.val() {
            self.writing.d.next = true;
            self.write_slot.d.next = self.order_now.q.val().slot;
            self.write_bank.d.next = self.bank.q.val();
            self.write_context.d.next = self.ctx.val();
            self.to_write.d.next = self.ctx.val().beats;
            self.block_index.d.next = bits_w::<11>(0);
            self.beat_index.d.next = bits_w::<14>(0);
        }
        if self.writing.q.val() && (self.to_write.q.val() == 0) && !self.looping.q.val() {
            self.writing.d.next = false;
            self.looping.d.next = true;
            self.loop_bank.d.next = self.write_bank.q.val();
            self.loop_index.d.next = bits_w::<15>(0);
            self.loop_slot.d.next = self.write_slot.q.val();
            self.loop_context.d.next = self.write_ctx.val();
            self.used.d.next = self.used_now.val() | self.write_bit.val();
            if self.write_bank.q.val() {
                self.slot_of_high.d.next = self.write_slot.q.val();
            } else {
                self.slot_of_low.d.next = self.write_slot.q.val();
            }
        }
    }

    /// Takes beats from the inbox, or zeros beyond the host's.
    fn feed(&mut self) {
        self.from_host.next = self.position.q.val() < self.order_now.q.val().host_beats;
        self.feed.next = (self.state.q.val() == FillState::Fill)
            && (self.to_feed.q.val() != 0)
            && (self.ctx.val().hadamard || !self.pending.q.val())
            && (!self.from_host.val() || !self.inbox.empty.val());
        self.feed_data.next = bits_beat(0);
        if self.from_host.val() {
            self.feed_data.next = self.inbox.pop_data.val();
        }
        self.encoder.in_valid.next = self.feed.val() && self.ctx.val().hadamard;
        self.encoder.in_data.next = self.feed_data.val();
        self.take.next = self.feed.val() && (self.encoder.in_ready.val() || !self.ctx.val().hadamard);
        self.inbox.pop.next = self.take.val() && self.from_host.val();
        self.position_next.next = self.position.q.val() + 1;
        self.to_feed_next.next = self.to_feed.q.val() - 1;
        if self.take.val() {
            self.to_feed.d.next = self.to_feed_next.val();
            self.position.d.next = self.position_next.val();
            if self.position_next.val() == self.ctx.val().beats {
                self.position.d.next = bits_w::<15>(0);
            }
        }
        self.asked_beats.next = bits_w::<10>(0);
        if self.asks.val() {
            self.asked_beats.next = bit_cast_w::<10, 7>(self.burst.val());
        }
        self.reserved_more.next = self.reserved.q.val() + self.asked_beats.val();
        self.reserved_less.next = self.reserved_more.val() - 1;
        self.reserved.d.next = self.reserved_more.val();
        if self.inbox.pop.val() {
            self.reserved.d.next = self.reserved_less.val();
        }
    }

    /// Writes beats in order, or interleaved: beat b of block k at b * blocks + k.
    fn bank_write(&mut self) {
        self.beats_log2.next = self.write_ctx.val().log2_n - 4;
        self.one10.next = bits_w::<14>(1);
        self.beats_of_block.next = self.one10.val() << self.beats_log2.val();
        self.last_beat.next = self.beats_of_block.val() - 1;
        self.beat_next.next = self.beat_index.q.val() + 1;
        self.block_next.next = self.block_index.q.val() + 1;
        self.one11.next = bits_w::<11>(1);
        self.blocks.next = self.one11.val() << self.write_ctx.val().log2_blocks;
        self.last_block.next = self.block_next.val() == self.blocks.val();
        self.row.next = self.beat_index.q.val() << self.write_ctx.val().log2_blocks;
        self.rows.next = bit_cast_w::<15, 14>(self.beat_next.val()) << self.write_ctx.val().log2_blocks;
        self.interleaved.next = self.row.val() + bit_cast_w::<14, 11>(self.block_index.q.val());
        self.fed.next = self.ctx.val().beats - self.to_feed_next.val();
        self.write.next = self.take.val() && !self.ctx.val().hadamard;
        self.place.d.next.beat = self.position.q.val().get_bits::<14>(0);
        self.place.d.next.filled = self.fed.val();
        self.place.d.next.data = self.feed_data.val();
        if self.write_ctx.val().hadamard {
            self.write.next = self.encoder.out_valid.val() && self.writing.q.val();
            self.place.d.next.beat = self.interleaved.val();
            self.place.d.next.filled = bits_w::<15>(0);
            if self.last_block.val() {
                self.place.d.next.filled = self.rows.val();
            }
            self.place.d.next.data = self.encoder.out_data.val();
        }
        self.place.d.next.valid = self.write.val();
        self.to_write_next.next = self.to_write.q.val() - 1;
        if self.write.val() {
            self.to_write.d.next = self.to_write_next.val();
            self.beat_index.d.next = self.beat_next.val();
            if self.beat_index.q.val() == self.last_beat.val() {
                self.beat_index.d.next = bits_w::<14>(0);
                self.block_index.d.next = self.block_next.val();
            }
        }
        self.round.data.next = self.place.q.val().data;
        self.buffer.write_enable.next = self.place.q.val().valid;
        self.buffer.write_address.next.slot = bits_w::<3>(0);
        self.buffer.write_address.next.beat = self.place.q.val().beat;
        if self.write_bank.q.val() {
            self.buffer.write_address.next.slot = bits_w::<3>(1);
        }
        self.buffer.write_data.next = self.place.q.val().data;
        if self.write_ctx.val().bf16 {
            self.buffer.write_data.next = self.round.rounded.val();
        }
        if self.place.q.val().valid {
            if self.write_bank.q.val() {
                self.filled_of_high.d.next = self.place.q.val().filled;
            } else {
                self.filled_of_low.d.next = self.place.q.val().filled;
            }
        }
        self.filled_low.next = self.filled_of_low.q.val();
        self.filled_high.next = self.filled_of_high.q.val();
    }

    /// Sends the local shard to the accumulator while the sender does not read.
    fn loop_back(&mut self) {
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
    }
}

impl Contribute {
    pub fn new(build: Build) -> Self {
        let encoder = Hadamard::new(build.hadamard_log2);
        Self { buffer: WindowRam::new(1, build.window_log2), encoder, ..Self::default() }
    }
}

clocked!(Contribute);
