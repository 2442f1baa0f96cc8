//! Scaling: turns a closed accumulator into the mean, beat by beat, and stores it in the gather
//! memory.
//!
//! mean = sum * (1 / count), with the reciprocal correctly rounded and the product rounded to
//! nearest even. A beat without contributions stays missing (contract). In a bf16 window the mean
//! is rounded to bf16, so that its owner and its receivers hold the same bits.
//! Latency: up to 8 cycles until the slot is polled, 16 for the adder to drain, 10 from a word's
//! read to its mean.
//! Throughput: one beat a cycle, limited by the accumulator's read port.
//! Reset: `clear` for 11 cycles, in which the beats between accumulator and outbox drain.

use super::reciprocal::Reciprocal;
use super::types::{SlotBeat, SlotContext, WindowBeat};
use crate::arith::bf16::Bf16Round;
use crate::arith::fp_mul::{self, FpMul16};
use crate::hdl::prelude::*;
use crate::mem::fifo::Fifo;
use crate::mem::ram::LutRam;

const _: () = assert!(fp_mul::LATENCY == 6, "the side band below is as long as the multiplier");

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum ScaleState {
    Idle,
    /// Waits for the adder to drain.
    Drain,
    Read,
    /// Waits for the last mean to be stored.
    Store,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Side {
    valid: bool,
    position: W<14>,
}

#[derive(LogicBlock, Default)]
pub struct Scale {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    pub arm: Signal<In, W<8>>,
    pub arm_slot: Signal<In, W<3>>,
    pub arm_context: Signal<In, SlotContext>,
    /// Slots whose contribute stage is closed.
    pub closed: Signal<In, W<8>>,
    /// Slots whose mean is in the gather memory.
    pub scaled: Signal<Out, W<8>>,
    /// `word` follows the grant by two cycles.
    pub read_valid: Signal<Out, bool>,
    pub read_address: Signal<Out, SlotBeat>,
    pub read_ready: Signal<In, bool>,
    pub word: Signal<In, super::types::AccWord>,
    pub valid: Signal<Out, bool>,
    pub mean: Signal<Out, WindowBeat>,
    pub ready: Signal<In, bool>,
    /// Orders the broadcast of a mean without asking the host.
    pub broadcast: Signal<Out, bool>,
    pub broadcast_slot: Signal<Out, W<3>>,
    /// Work is in progress or due.
    pub working: Signal<Out, bool>,
    state: DFF<ScaleState>,
    slot: DFF<W<3>>,
    index: DFF<W<15>>,
    pause: DFF<W<5>>,
    done: DFF<W<8>>,
    contexts: LutRam<SlotContext, 3>,
    reciprocal: Reciprocal,
    multiplier: FpMul16,
    round: Bf16Round,
    asked: [DFF<Side>; 2],
    data: DFF<Beat>,
    side: [DFF<Side>; 7],
    outbox: Fifo<WindowBeat, 4>,
    ctx: Wire<SlotContext>,
    side0: Wire<Side>,
    one: Wire<W<8>>,
    slot_bit: Wire<W<8>>,
    pending: Wire<W<8>>,
    undone: Wire<W<8>>,
    keep: Wire<W<8>>,
    index_next: Wire<W<15>>,
    slot_next: Wire<W<3>>,
    wait_next: Wire<W<5>>,
    position: Wire<W<15>>,
    ask: Wire<bool>,
    present: Wire<bool>,
}

impl Logic for Scale {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, slot, index, pause, done, data);
        self.contexts.clock.next = self.clock.val();
        self.contexts.write_enable.next = self.arm.val() != 0;
        self.contexts.write_address.next = self.arm_slot.val();
        self.contexts.write_data.next = self.arm_context.val();
        self.contexts.read_address.next = self.slot.q.val();
        self.ctx.next = self.contexts.read_data.val();
        self.reciprocal.clock.next = self.clock.val();
        self.multiplier.clock.next = self.clock.val();
        self.outbox.clock.next = self.clock.val();
        self.outbox.clear.next = self.clear.val();
        for i in 0..7 {
            self.side[i].clock.next = self.clock.val();
        }
        for i in 0..2 {
            self.asked[i].clock.next = self.clock.val();
        }
        for i in 0..6 {
            self.side[i + 1].d.next = self.side[i].q.val();
        }

        // Round robin over closed slots that are not scaled. Arming a slot makes it unscaled.
        self.one.next = bits_w::<8>(1);
        self.slot_bit.next = self.one.val() << self.slot.q.val();
        self.undone.next = self.done.q.val() ^ 0xff;
        self.pending.next = self.closed.val() & self.undone.val() & self.slot_bit.val();
        self.slot_next.next = self.slot.q.val() + 1;
        self.index_next.next = self.index.q.val() + 1;
        self.wait_next.next = self.pause.q.val() + 1;
        self.keep.next = self.arm.val() ^ 0xff;
        self.done.d.next = self.done.q.val() & self.keep.val();
        self.ask.next = false;
        self.broadcast.next = false;
        self.broadcast_slot.next = self.slot.q.val();
        self.working.next = (self.state.q.val() != ScaleState::Idle) || ((self.closed.val() & self.undone.val()) != 0);
        match self.state.q.val() {
            ScaleState::Idle => {
                self.index.d.next = bits_w::<15>(0);
                self.pause.d.next = bits_w::<5>(0);
                if self.pending.val() != 0 {
                    self.state.d.next = ScaleState::Drain;
                } else {
                    self.slot.d.next = self.slot_next.val();
                }
            }
            ScaleState::Drain => {
                self.pause.d.next = self.wait_next.val();
                if self.pause.q.val() == 15 {
                    self.state.d.next = ScaleState::Read;
                    self.pause.d.next = bits_w::<5>(0);
                }
            }
            ScaleState::Read => {
                // Nine means may be between accumulator and outbox when the next is requested.
                self.ask.next = (self.index.q.val() != self.ctx.val().own_beats) && (self.outbox.room.val() >= 10);
                if self.index.q.val() == self.ctx.val().own_beats {
                    self.state.d.next = ScaleState::Store;
                }
                if self.read_ready.val() {
                    self.index.d.next = self.index_next.val();
                }
            }
            ScaleState::Store => {
                self.pause.d.next = self.wait_next.val();
                if self.pause.q.val() == 15 {
                    self.pause.d.next = self.pause.q.val();
                    if self.outbox.empty.val() {
                        self.done.d.next = (self.done.q.val() & self.keep.val()) | self.slot_bit.val();
                        self.broadcast.next = self.ctx.val().auto_broadcast;
                        self.state.d.next = ScaleState::Idle;
                    }
                }
            }
        }

        self.read_valid.next = self.ask.val();
        self.read_address.next.slot = self.slot.q.val();
        self.read_address.next.beat = self.index.q.val().get_bits::<14>(0);
        self.position.next = self.ctx.val().own_start + self.index.q.val();
        self.asked[0].d.next.valid = self.ask.val() && self.read_ready.val();
        self.asked[0].d.next.position = self.position.val().get_bits::<14>(0);
        self.asked[1].d.next = self.asked[0].q.val();
        self.present.next = self.word.val().epoch == self.ctx.val().epoch;
        self.side0.next.valid = self.asked[1].q.val().valid && self.present.val();
        self.side0.next.position = self.asked[1].q.val().position;
        self.side[0].d.next = self.side0.val();
        self.reciprocal.count.next = bit_cast_w::<11, 7>(self.word.val().count);
        self.data.d.next = self.word.val().data;
        self.multiplier.a.next = self.data.q.val();
        self.multiplier.factor.next = self.reciprocal.factor.val();

        self.outbox.push.next = self.side[6].q.val().valid;
        self.outbox.push_data.next.slot = self.slot.q.val();
        self.outbox.push_data.next.position = self.side[6].q.val().position;
        self.outbox.push_data.next.relative = bits_w::<14>(0);
        self.outbox.push_data.next.sender = bits_w::<6>(0);
        self.outbox.push_data.next.epoch = self.ctx.val().epoch;
        self.round.data.next = self.multiplier.product.val();
        self.outbox.push_data.next.data = self.multiplier.product.val();
        if self.ctx.val().bf16 {
            self.outbox.push_data.next.data = self.round.rounded.val();
        }
        self.valid.next = !self.outbox.empty.val();
        self.mean.next = self.outbox.pop_data.val();
        self.outbox.pop.next = self.ready.val();
        self.scaled.next = self.done.q.val();

        if self.clear.val() {
            self.state.d.next = ScaleState::Idle;
            self.slot.d.next = bits_w::<3>(0);
            self.done.d.next = bits_w::<8>(0);
            self.broadcast.next = false;
        }
    }
}

clocked!(Scale);
