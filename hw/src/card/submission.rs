//! Submission unit: fetches commands from host memory, checks them, and arms windows or orders
//! contributions and broadcasts.
//!
//! Four queue pairs are served round robin, one command at a time. A queue with an unreported
//! refusal is skipped, so that no queue waits for another's completion ring. A window belongs to
//! the queue that armed it.
//! Refused commands are answered by a completion (contract: bad command, slot busy, stale). An
//! entry that cannot be read stops its queue and is not consumed.
//! Latency: one host-memory read per command. From the arrival of its entry, ARM takes 3 + ranks
//! cycles to the arm bus, and the others 2 to the order or the refusal. The next entry is requested
//! 3 cycles later.
//! Back-pressure: a CONTRIBUTE waits while the contribute engine's queue is full, and so do all
//! queues. None is reordered.
//! Reset: `clear` while not enabled. The epochs of the slots survive it, as the memories do.

use super::entry::{SubmissionWord, bit_cast_submission};
use super::types::{Advert, ContributeOrder, GateRules, JobWords, Refusal, SendOrder, SlotContext};
use crate::hdl::prelude::*;
use crate::mem::ram::LutRam;

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum SubmitState {
    Idle,
    Ask,
    Wait,
    Decode,
    /// ARM: checks lengths, finds the local shard.
    Check,
    /// ARM: finds the senders, one rank a cycle.
    Senders,
    /// ARM: empties the slot's memory when its epoch wraps.
    Scrub,
    Arm,
    Contribute,
    Broadcast,
    Refuse,
    Next,
}

#[derive(LogicBlock, Default)]
pub struct Submit {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    pub job: Signal<In, JobWords>,
    /// Queues with rings that have not stopped.
    pub usable: Signal<In, W<4>>,
    /// Queue being served, with address and entries - 1 of its submission ring.
    pub sq_queue: Signal<Out, W<2>>,
    pub sq_base: Signal<In, W<64>>,
    pub sq_mask: Signal<In, W<16>>,
    /// Doorbells.
    pub sq_tail: [Signal<In, W<16>>; 4],
    pub sq_head: [Signal<Out, W<16>>; 4],
    /// Queues whose entry could not be read.
    pub stop: Signal<Out, W<4>>,
    pub ar_valid: Signal<Out, bool>,
    pub ar_address: Signal<Out, W<64>>,
    pub ar_ready: Signal<In, bool>,
    /// Always accepted.
    pub r_valid: Signal<In, bool>,
    pub r_data: Signal<In, Beat>,
    pub r_error: Signal<In, bool>,
    pub arm: Signal<Out, W<8>>,
    pub arm_slot: Signal<Out, W<3>>,
    pub arm_context: Signal<Out, SlotContext>,
    pub contribute_rules: Signal<Out, GateRules>,
    pub broadcast_rules: Signal<Out, GateRules>,
    /// Slot whose contribute stage the host entered, one-hot; its number is `arm_slot`.
    pub enter: Signal<Out, W<8>>,
    /// Advertised by the slot's frames; valid with `arm` and `enter`.
    pub advert: Signal<Out, Advert>,
    pub order_valid: Signal<Out, bool>,
    pub order: Signal<Out, ContributeOrder>,
    pub order_ready: Signal<In, bool>,
    /// For the planner, to broadcast a mean.
    pub send_valid: Signal<Out, bool>,
    pub send: Signal<Out, SendOrder>,
    pub send_ready: Signal<In, bool>,
    /// Slots whose mean is stored.
    pub scaled: Signal<In, W<8>>,
    pub freed: Signal<In, W<8>>,
    /// Empties `scrub_slot`.
    pub scrub: Signal<Out, bool>,
    pub scrub_slot: Signal<Out, W<3>>,
    pub scrub_busy: Signal<In, bool>,
    /// Slots being finished, which accept no more commands.
    pub finishing: Signal<In, W<8>>,
    /// One-hot: slot whose order waits to be accepted and must not be finished meanwhile.
    pub ordering: Signal<Out, W<8>>,
    /// Queues with room for a refusal.
    pub refuse_ready: Signal<In, W<4>>,
    pub refuse: Signal<Out, bool>,
    pub refusal: Signal<Out, Refusal>,
    pub working: Signal<Out, bool>,
    state: DFF<SubmitState>,
    queue: DFF<W<2>>,
    head: [DFF<W<16>>; 4],
    entry: DFF<SubmissionWord>,
    in_use: DFF<W<8>>,
    asked: DFF<W<8>>,
    status: DFF<W<8>>,
    contexts: LutRam<SlotContext, 3>,
    epochs: LutRam<W<8>, 3>,
    epoch: DFF<W<8>>,
    own_start: DFF<W<15>>,
    own_beats: DFF<W<15>>,
    rank: DFF<W<7>>,
    contribute_senders: DFF<W<64>>,
    broadcast_senders: DFF<W<64>>,
    rings: [Wire<bool>; 4],
    waiting: Wire<W<4>>,
    ready: Wire<W<4>>,
    second: Wire<W<2>>,
    third: Wire<W<2>>,
    fourth: Wire<W<2>>,
    one4: Wire<W<4>>,
    queue_bit: Wire<W<4>>,
    head_now: Wire<W<16>>,
    consumed: Wire<W<4>>,
    e: Wire<SubmissionWord>,
    slot: Wire<W<3>>,
    flags: Wire<W<8>>,
    one: Wire<W<8>>,
    slot_bit: Wire<W<8>>,
    busy: Wire<bool>,
    ready_mean: Wire<bool>,
    ctx: Wire<SlotContext>,
    fresh: Wire<SlotContext>,
    same: Wire<bool>,
    ending: Wire<bool>,
    index: Wire<W<16>>,
    offset: Wire<W<64>>,
    head_next: Wire<W<16>>,
    sum: Wire<W<7>>,
    wrapped: Wire<W<7>>,
    shard: Wire<W<7>>,
    remainder: Wire<W<7>>,
    rotation: Wire<W<7>>,
    quotient: Wire<W<15>>,
    extra: Wire<W<7>>,
    length: Wire<W<15>>,
    start: Wire<W<22>>,
    start_extra: Wire<W<22>>,
    cut: Wire<W<22>>,
    cut_sum: Wire<W<22>>,
    base: Wire<W<32>>,
    block_log2: Wire<W<8>>,
    window_log2: Wire<W<8>>,
    one16: Wire<W<16>>,
    encoded_beats: Wire<W<16>>,
    good_size: Wire<bool>,
    host_misplaced: Wire<bool>,
    misplaced: Wire<bool>,
    good: Wire<bool>,
    shard_beats: Wire<W<15>>,
    epoch_now: Wire<W<8>>,
    epoch_next: Wire<W<8>>,
    one64: Wire<W<64>>,
    rank_bit: Wire<W<64>>,
    rank_next: Wire<W<7>>,
    contribute_all: Wire<W<22>>,
    broadcast_all: Wire<W<15>>,
    unfreed: Wire<W<8>>,
    kept: Wire<W<8>>,
}

#[sections]
impl Logic for Submit {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            queue,
            entry,
            in_use,
            asked,
            status,
            epoch,
            own_start,
            own_beats,
            rank,
            contribute_senders,
            broadcast_senders
        );

        self.slot_state();
        self.queues();
        self.shard();
        self.entry_check();
        self.arm_bus();
        self.orders();
        self.states();
        self.heads();
        self.working.next =
            (self.state.q.val() != SubmitState::Idle) || ((self.waiting.val() & self.usable.val()) != 0);

        if self.clear.val() {
            self.state.d.next = SubmitState::Idle;
            self.queue.d.next = bits_w::<2>(0);
            self.in_use.d.next = bits_w::<8>(0);
            self.asked.d.next = bits_w::<8>(0);
        }
    }

    /// Looks up the state of the slot that the entry names.
    fn slot_state(&mut self) {
        self.e.next = self.entry.q.val();
        self.slot.next = bit_cast_w::<3, 8>(self.e.val().slot);
        self.flags.next = self.e.val().flags;
        self.one.next = bits_w::<8>(1);
        self.slot_bit.next = self.one.val() << self.slot.val();
        self.busy.next = (self.in_use.q.val() & self.slot_bit.val()) != 0;
        self.ready_mean.next = (self.scaled.val() & self.slot_bit.val()) != 0;
        self.contexts.clock.next = self.clock.val();
        self.contexts.read_address.next = self.slot.val();
        self.ctx.next = self.contexts.read_data.val();
        self.ending.next = (self.finishing.val() & self.slot_bit.val()) != 0;
        self.same.next = self.busy.val()
            && !self.ending.val()
            && (self.ctx.val().queue == self.queue.q.val())
            && (self.ctx.val().cookie == self.e.val().cookie)
            && (self.ctx.val().step == self.e.val().step);
        self.epochs.clock.next = self.clock.val();
        self.epochs.read_address.next = self.slot.val();
        self.epoch_now.next = self.epochs.read_data.val();
        self.epoch_next.next = self.epoch_now.val() + 1;
    }

    /// Finds the queues that have entries.
    fn queues(&mut self) {
        self.one4.next = bits_w::<4>(1);
        self.queue_bit.next = self.one4.val() << self.queue.q.val();
        self.head_now.next = bits_w::<16>(0);
        self.waiting.next = bits_w::<4>(0);
        for i in 0..4 {
            self.rings[i].next = self.head[i].q.val() != self.sq_tail[i].val();
            self.waiting.next = self.waiting.val().replace_bit(i, self.rings[i].val());
            if self.queue_bit.val().get_bit(i) {
                self.head_now.next = self.head[i].q.val();
            }
        }
        self.ready.next = self.waiting.val() & self.usable.val() & self.refuse_ready.val();
        self.second.next = self.queue.q.val() + 1;
        self.third.next = self.queue.q.val() + 2;
        self.fourth.next = self.queue.q.val() + 3;
        self.sq_queue.next = self.queue.q.val();
        self.stop.next = bits_w::<4>(0);
        self.consumed.next = bits_w::<4>(0);

        self.index.next = self.head_now.val() & self.sq_mask.val();
        self.offset.next = bit_cast_w::<64, 16>(self.index.val()) << 6;
        self.ar_address.next = self.sq_base.val() + self.offset.val();
        self.head_next.next = self.head_now.val() + 1;
    }

    /// Finds the shard of one rank: in Check the local one, in Senders each in turn.
    fn shard(&mut self) {
        self.rotation.next = bit_cast_w::<7, 8>(self.e.val().rotation);
        self.remainder.next = bit_cast_w::<7, 8>(self.e.val().shard_remainder);
        self.quotient.next = bit_cast_w::<15, 16>(self.e.val().shard_quotient);
        self.sum.next = self.rank.q.val() + self.rotation.val();
        self.wrapped.next = self.sum.val() - self.job.val().ranks;
        self.shard.next = self.sum.val();
        if self.sum.val() >= self.job.val().ranks {
            self.shard.next = self.wrapped.val();
        }
        self.extra.next = self.remainder.val();
        self.length.next = self.quotient.val();
        if self.shard.val() < self.remainder.val() {
            self.extra.next = self.shard.val();
            self.length.next = self.quotient.val() + 1;
        }
        self.start.next = self.quotient.val() * self.shard.val();
        self.start_extra.next = self.start.val() + bit_cast_w::<22, 7>(self.extra.val());
    }

    /// Checks whether the card can execute the entry.
    fn entry_check(&mut self) {
        self.cut.next = self.quotient.val() * self.job.val().ranks;
        self.cut_sum.next = self.cut.val() + bit_cast_w::<22, 7>(self.remainder.val());
        self.block_log2.next = self.e.val().log2_n - 4;
        self.window_log2.next = self.block_log2.val() + self.e.val().log2_blocks;
        self.one16.next = bits_w::<16>(1);
        self.encoded_beats.next = self.one16.val() << self.window_log2.val();
        self.good_size.next = !self.flags.val().get_bit(0)
            || (((self.e.val().log2_n == 8)
                || (self.e.val().log2_n == 10)
                || (self.e.val().log2_n == 12)
                || (self.e.val().log2_n == 14))
                && (self.e.val().log2_n <= bit_cast_w::<8, 4>(self.job.val().log2_n_max))
                && (self.e.val().log2_blocks < 11)
                && (self.encoded_beats.val() == self.e.val().beats));
        // The rest of the card assumes the low bits of these fields to be zero.
        self.host_misplaced.next = (self.e.val().host_address & 63) != 0;
        self.misplaced.next =
            self.host_misplaced.val() || ((self.e.val().report_address & 255) != 0) || ((self.e.val().base & 63) != 0);
        self.shard_beats.next = self.job.val().window_beats >> 1;
        self.good.next = (self.e.val().beats != 0)
            && (self.e.val().beats <= bit_cast_w::<16, 15>(self.job.val().window_beats))
            && (self.e.val().host_beats <= self.e.val().beats)
            && (self.e.val().shard_quotient <= bit_cast_w::<16, 15>(self.shard_beats.val()))
            && (self.e.val().shard_remainder < bit_cast_w::<8, 7>(self.job.val().ranks))
            && (self.e.val().rotation < bit_cast_w::<8, 7>(self.job.val().ranks))
            && (self.cut_sum.val() == bit_cast_w::<22, 16>(self.e.val().beats))
            && (self.e.val().start_peers < bit_cast_w::<8, 7>(self.job.val().ranks))
            && (self.e.val().send_incast < 16)
            && !self.misplaced.val()
            && self.good_size.val();
        self.one64.next = bits_w::<64>(1);
        self.rank_bit.next = self.one64.val() << self.rank.q.val();
        self.rank_next.next = self.rank.q.val() + 1;
    }

    /// Composes the context and the rules of both stages for the arm bus.
    fn arm_bus(&mut self) {
        self.base.next = self.e.val().base;
        self.fresh.next.cookie = self.e.val().cookie;
        self.fresh.next.step = self.e.val().step;
        self.fresh.next.bucket = self.e.val().bucket;
        self.fresh.next.base_beat = self.base.val().get_bits::<26>(6);
        self.fresh.next.beats = bit_cast_w::<15, 16>(self.e.val().beats);
        self.fresh.next.quotient = self.quotient.val();
        self.fresh.next.remainder = self.remainder.val();
        self.fresh.next.rotation = self.rotation.val();
        self.fresh.next.hadamard = self.flags.val().get_bit(0);
        self.fresh.next.bf16 = self.flags.val().get_bit(3);
        self.fresh.next.auto_broadcast = self.flags.val().get_bit(1);
        self.fresh.next.early = self.flags.val().get_bit(2);
        self.fresh.next.log2_n = bit_cast_w::<4, 8>(self.e.val().log2_n);
        self.fresh.next.log2_blocks = bit_cast_w::<4, 8>(self.e.val().log2_blocks);
        self.fresh.next.host_beats = bit_cast_w::<15, 16>(self.e.val().host_beats);
        self.fresh.next.mark_packets = self.e.val().mark_packets;
        self.fresh.next.send_incast = bit_cast_w::<4, 8>(self.e.val().send_incast);
        self.fresh.next.queue = self.queue.q.val();
        self.fresh.next.own_start = self.own_start.q.val();
        self.fresh.next.own_beats = self.own_beats.q.val();
        self.fresh.next.epoch = self.epoch.q.val();
        self.fresh.next.host_address = self.e.val().host_address;
        self.fresh.next.report_address = self.e.val().report_address;
        self.fresh.next.sign_key = self.e.val().sign_key;
        self.arm.next = bits_w::<8>(0);
        self.arm_slot.next = self.slot.val();
        self.arm_context.next = self.fresh.val();
        self.contribute_all.next = self.own_beats.q.val() * self.job.val().ranks;
        self.broadcast_all.next = bit_cast_w::<15, 16>(self.e.val().beats) - self.own_beats.q.val();
        self.contribute_rules.next.bound_ns = self.e.val().bound_ns;
        self.contribute_rules.next.grace_ns = self.e.val().grace_ns;
        self.contribute_rules.next.start_peers = bit_cast_w::<7, 8>(self.e.val().start_peers);
        self.contribute_rules.next.early = self.flags.val().get_bit(2);
        self.contribute_rules.next.senders = self.contribute_senders.q.val();
        self.contribute_rules.next.expected = self.contribute_all.val();
        self.contribute_rules.next.own = self.own_beats.q.val();
        self.broadcast_rules.next.bound_ns = self.e.val().bound_ns;
        self.broadcast_rules.next.grace_ns = self.e.val().grace_ns;
        self.broadcast_rules.next.start_peers = bit_cast_w::<7, 8>(self.e.val().start_peers);
        self.broadcast_rules.next.early = self.flags.val().get_bit(2);
        self.broadcast_rules.next.senders = self.broadcast_senders.q.val();
        self.broadcast_rules.next.expected = bit_cast_w::<22, 15>(self.broadcast_all.val());
        self.broadcast_rules.next.own = bits_w::<15>(0);
        self.contexts.write_enable.next = self.state.q.val() == SubmitState::Arm;
        self.contexts.write_address.next = self.slot.val();
        self.contexts.write_data.next = self.fresh.val();
        self.epochs.write_enable.next = self.state.q.val() == SubmitState::Arm;
        self.epochs.write_address.next = self.slot.val();
        self.epochs.write_data.next = self.epoch.q.val();
    }

    /// Prepares orders and refusals; only the states below issue them.
    fn orders(&mut self) {
        self.order_valid.next = false;
        self.order.next.slot = self.slot.val();
        self.order.next.host_address = self.e.val().host_address;
        self.order.next.host_beats = bit_cast_w::<15, 16>(self.e.val().host_beats);
        self.send_valid.next = false;
        self.send.next.slot = self.slot.val();
        self.send.next.broadcast = true;
        self.send.next.bank = false;
        self.enter.next = bits_w::<8>(0);
        self.advert.next.timeout = self.e.val().timeout_16us;
        self.advert.next.incast = bit_cast_w::<4, 8>(self.e.val().incast);
        if self.state.q.val() == SubmitState::Arm {
            // Zero until CONTRIBUTE, so that the slot's last window does not leak into this one.
            self.advert.next.timeout = bits_w::<16>(0);
            self.advert.next.incast = bits_w::<4>(0);
        }
        self.ordering.next = bits_w::<8>(0);
        self.refuse.next = false;
        self.refusal.next.queue = self.queue.q.val();
        self.refusal.next.slot = self.e.val().slot;
        self.refusal.next.cookie = self.e.val().cookie;
        self.refusal.next.status = self.status.q.val();
        self.scrub.next = false;
        self.scrub_slot.next = self.slot.val();
        self.unfreed.next = self.freed.val() ^ 0xff;
        self.kept.next = self.in_use.q.val() & self.unfreed.val();
        self.in_use.d.next = self.kept.val();
        self.asked.d.next = self.asked.q.val() & self.kept.val();
        self.ar_valid.next = self.state.q.val() == SubmitState::Ask;
    }

    /// Executes one submission after another.
    fn states(&mut self) {
        match self.state.q.val() {
            SubmitState::Idle => self.choose_queue(),
            SubmitState::Ask => {
                if self.ar_ready.val() {
                    self.state.d.next = SubmitState::Wait;
                }
            }
            SubmitState::Wait => {
                if self.r_valid.val() {
                    self.entry.d.next = bit_cast_submission(self.r_data.val());
                    self.state.d.next = SubmitState::Decode;
                    if self.r_error.val() {
                        self.stop.next = self.queue_bit.val();
                        self.state.d.next = SubmitState::Idle;
                    }
                }
            }
            SubmitState::Decode => self.decode(),
            SubmitState::Check => self.check(),
            SubmitState::Senders => self.find_senders(),
            SubmitState::Scrub => {
                if !self.scrub_busy.val() {
                    self.state.d.next = SubmitState::Arm;
                }
            }
            SubmitState::Arm => {
                self.arm.next = self.slot_bit.val();
                self.in_use.d.next = self.kept.val() | self.slot_bit.val();
                self.state.d.next = SubmitState::Next;
            }
            SubmitState::Contribute => self.order_contribute(),
            SubmitState::Broadcast => self.order_broadcast(),
            SubmitState::Refuse => {
                self.refuse.next = true;
                self.state.d.next = SubmitState::Next;
            }
            SubmitState::Next => {
                self.consumed.next = self.queue_bit.val();
                self.state.d.next = SubmitState::Idle;
            }
        }
    }

    /// Selects the next queue that has an entry.
    fn choose_queue(&mut self) {
        if self.ready.val() != 0 {
            self.state.d.next = SubmitState::Ask;
            if self.ready.val().get_bit(self.second.val().index()) {
                self.queue.d.next = self.second.val();
            } else if self.ready.val().get_bit(self.third.val().index()) {
                self.queue.d.next = self.third.val();
            } else if self.ready.val().get_bit(self.fourth.val().index()) {
                self.queue.d.next = self.fourth.val();
            }
        }
    }

    /// Selects the action by opcode.
    fn decode(&mut self) {
        self.rank.d.next = bit_cast_w::<7, 6>(self.job.val().rank);
        // Status codes of the contract: 2 bad command, 3 slot busy, 4 stale.
        self.status.d.next = bits_w::<8>(2);
        self.state.d.next = SubmitState::Refuse;
        if self.e.val().slot < 8 {
            if self.e.val().opcode == 1 {
                self.state.d.next = SubmitState::Check;
            } else if self.e.val().opcode == 2 {
                if !self.same.val() || ((self.asked.q.val() & self.slot_bit.val()) != 0) {
                    self.status.d.next = bits_w::<8>(4);
                } else if (self.e.val().host_beats <= bit_cast_w::<16, 15>(self.ctx.val().beats))
                    && !self.host_misplaced.val()
                {
                    self.state.d.next = SubmitState::Contribute;
                }
            } else if self.e.val().opcode == 3 {
                if !self.same.val() || !self.ready_mean.val() {
                    self.status.d.next = bits_w::<8>(4);
                } else if !self.ctx.val().auto_broadcast {
                    self.state.d.next = SubmitState::Broadcast;
                }
            }
        }
    }

    /// Refuses an invalid entry or a busy slot; otherwise prepares the search for senders.
    fn check(&mut self) {
        self.own_start.d.next = self.start_extra.val().get_bits::<15>(0);
        self.own_beats.d.next = self.length.val();
        self.rank.d.next = bits_w::<7>(0);
        self.contribute_senders.d.next = bits_w::<64>(0);
        self.broadcast_senders.d.next = bits_w::<64>(0);
        self.epoch.d.next = self.epoch_next.val();
        if !self.good.val() {
            self.state.d.next = SubmitState::Refuse;
        } else if self.busy.val() {
            self.status.d.next = bits_w::<8>(3);
            self.state.d.next = SubmitState::Refuse;
        } else {
            self.state.d.next = SubmitState::Senders;
        }
    }

    /// Finds the senders of each stage, one rank per cycle.
    fn find_senders(&mut self) {
        self.rank.d.next = self.rank_next.val();
        if self.rank.q.val() != bit_cast_w::<7, 6>(self.job.val().rank) {
            if self.own_beats.q.val() != 0 {
                self.contribute_senders.d.next = self.contribute_senders.q.val() | self.rank_bit.val();
            }
            if self.length.val() != 0 {
                self.broadcast_senders.d.next = self.broadcast_senders.q.val() | self.rank_bit.val();
            }
        }
        if self.rank_next.val() == self.job.val().ranks {
            self.state.d.next = SubmitState::Arm;
            if self.epoch.q.val() == 0 {
                self.epoch.d.next = bits_w::<8>(1);
                self.scrub.next = true;
                self.state.d.next = SubmitState::Scrub;
            }
        }
    }

    /// Orders the contribution, unless the window is being finished.
    fn order_contribute(&mut self) {
        self.ordering.next = self.slot_bit.val();
        if self.ending.val() {
            self.status.d.next = bits_w::<8>(4);
            self.state.d.next = SubmitState::Refuse;
        } else {
            self.order_valid.next = true;
            if self.order_ready.val() {
                self.enter.next = self.slot_bit.val();
                self.asked.d.next = (self.asked.q.val() & self.kept.val()) | self.slot_bit.val();
                self.state.d.next = SubmitState::Next;
            }
        }
    }

    /// Orders the broadcast, unless the window is being finished.
    fn order_broadcast(&mut self) {
        self.ordering.next = self.slot_bit.val();
        if self.ending.val() {
            self.status.d.next = bits_w::<8>(4);
            self.state.d.next = SubmitState::Refuse;
        } else {
            self.send_valid.next = true;
            if self.send_ready.val() {
                self.state.d.next = SubmitState::Next;
            }
        }
    }

    /// Advances the head of the queue whose entry was consumed.
    fn heads(&mut self) {
        for i in 0..4 {
            self.head[i].clock.next = self.clock.val();
            self.head[i].d.next = self.head[i].q.val();
            self.sq_head[i].next = self.head[i].q.val();
            if self.consumed.val().get_bit(i) {
                self.head[i].d.next = self.head_next.val();
            }
            if self.clear.val() {
                self.head[i].d.next = bits_w::<16>(0);
            }
        }
    }
}

clocked!(Submit);
