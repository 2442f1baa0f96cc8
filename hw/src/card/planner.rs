//! Send planner: turns "send this window" into one order per packet.
//!
//! Rounds (OptiReduce 3.2.2, incast 1): in round k = 1 .. ranks-1 rank r sends to p = (r + k) mod ranks; in the
//! contribute stage the shard that p owns, in the broadcast stage the mean of the own shard. Broadcasts go first: they
//! end older windows. A packet of the mean whose first beat nobody contributed to is left out, so that its receivers
//! count it as missing. The last order of a window has no payload: it only says that the window is sent.
//! Latency: 7 cycles from a contribution's order to its first packet, 2 from packet to packet, 6 to the next peer's;
//! 9, 4 and 8 for a broadcast, which asks for each packet's first beat. A packet takes as long as its header and
//! payload on the wire, so only packets of fewer than 1 (contribution) or 3 (broadcast) beats wait for the planner.
//! Back-pressure: orders wait in queues of 2 (contribute) and 8 (broadcast). Reset: `clear`.

use super::types::{GatherWord, JobWords, PacketOrder, SendOrder, SlotBeat, SlotContext};
use crate::fifo::Fifo;
use crate::prelude::*;
use crate::ram::LutRam;

/// What the planner is doing.
#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum PlanState {
    /// Waits for a window to send.
    Idle,
    /// Sets up the window.
    Window,
    /// Finds the peer of the round.
    Peer,
    /// Finds the peer's shard.
    Shard,
    /// Plans one packet.
    Packet,
    /// Asks whether the packet's first beat is there.
    Ask,
    /// Hears the answer.
    Answer,
    /// Orders the packet.
    Order,
    /// Says that the window is sent.
    Finish,
}

/// Send planner, see the module.
#[derive(LogicBlock, Default)]
pub struct Planner {
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
    /// A filled bank comes in.
    pub contribute_valid: Signal<In, bool>,
    /// The order.
    pub contribute: Signal<In, SendOrder>,
    /// There is room for it.
    pub contribute_ready: Signal<Out, bool>,
    /// A scaled slot comes in; there is always room.
    pub broadcast_valid: Signal<In, bool>,
    /// The order.
    pub broadcast: Signal<In, SendOrder>,
    /// Reads the gather memory.
    pub ask_valid: Signal<Out, bool>,
    /// Slot and beat of the window.
    pub ask_address: Signal<Out, SlotBeat>,
    /// It is read.
    pub ask_ready: Signal<In, bool>,
    /// The word, one cycle later.
    pub word: Signal<In, GatherWord>,
    /// A packet to send.
    pub valid: Signal<Out, bool>,
    /// The order.
    pub order: Signal<Out, PacketOrder>,
    /// It is taken.
    pub ready: Signal<In, bool>,
    /// Something is under way.
    pub working: Signal<Out, bool>,
    contributes: Fifo<SendOrder, 1>,
    broadcasts: Fifo<SendOrder, 3>,
    contexts: LutRam<SlotContext, 3>,
    state: DFF<PlanState>,
    now: DFF<SendOrder>,
    round: DFF<W<7>>,
    peer: DFF<W<7>>,
    shard: DFF<W<7>>,
    position: DFF<W<15>>,
    remaining: DFF<W<15>>,
    packet_beats: DFF<W<8>>,
    mark_beats: DFF<W<16>>,
    fresh_round: DFF<bool>,
    ctx: Wire<SlotContext>,
    round_next: Wire<W<7>>,
    peer_sum: Wire<W<7>>,
    peer_wrapped: Wire<W<7>>,
    shard_sum: Wire<W<7>>,
    shard_wrapped: Wire<W<7>>,
    extra: Wire<W<7>>,
    length: Wire<W<15>>,
    product: Wire<W<22>>,
    start: Wire<W<15>>,
    taken: Wire<W<15>>,
    position_next: Wire<W<15>>,
    remaining_next: Wire<W<15>>,
    marked: Wire<bool>,
    offset: Wire<W<26>>,
}

impl Logic for Planner {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            now,
            round,
            peer,
            shard,
            position,
            remaining,
            packet_beats,
            mark_beats,
            fresh_round
        );
        self.contexts.clock.next = self.clock.val();
        self.contexts.write_enable.next = self.arm.val() != 0;
        self.contexts.write_address.next = self.arm_slot.val();
        self.contexts.write_data.next = self.arm_context.val();
        self.contexts.read_address.next = self.now.q.val().slot;
        self.ctx.next = self.contexts.read_data.val();
        self.contributes.clock.next = self.clock.val();
        self.contributes.clear.next = self.clear.val();
        self.contributes.push.next = self.contribute_valid.val();
        self.contributes.push_data.next = self.contribute.val();
        self.contributes.pop.next = false;
        self.contribute_ready.next = !self.contributes.full.val();
        self.broadcasts.clock.next = self.clock.val();
        self.broadcasts.clear.next = self.clear.val();
        self.broadcasts.push.next = self.broadcast_valid.val();
        self.broadcasts.push_data.next = self.broadcast.val();
        self.broadcasts.pop.next = false;

        // Round k: peer (rank + k) mod ranks, which owns shard (peer + rotation) mod ranks.
        self.round_next.next = self.round.q.val() + 1;
        self.peer_sum.next = bit_cast_w::<7, 6>(self.job.val().rank) + self.round.q.val();
        self.peer_wrapped.next = self.peer_sum.val() - self.job.val().ranks;
        self.shard_sum.next = self.peer.q.val() + self.ctx.val().rotation;
        self.shard_wrapped.next = self.shard_sum.val() - self.job.val().ranks;
        self.extra.next = self.ctx.val().remainder;
        self.length.next = self.ctx.val().quotient;
        if self.shard.q.val() < self.ctx.val().remainder {
            self.extra.next = self.shard.q.val();
            self.length.next = self.ctx.val().quotient + 1;
        }
        self.product.next = self.ctx.val().quotient * self.shard.q.val();
        self.start.next = self.product.val().get_bits::<15>(0) + bit_cast_w::<15, 7>(self.extra.val());

        // One packet: up to the payload size; marked when at most `mark_packets` are left.
        self.taken.next = bit_cast_w::<15, 8>(self.job.val().payload_beats);
        if self.remaining.q.val() < bit_cast_w::<15, 8>(self.job.val().payload_beats) {
            self.taken.next = self.remaining.q.val();
        }
        self.position_next.next = self.position.q.val() + bit_cast_w::<15, 8>(self.packet_beats.q.val());
        self.remaining_next.next = self.remaining.q.val() - bit_cast_w::<15, 8>(self.packet_beats.q.val());
        self.marked.next = bit_cast_w::<16, 15>(self.remaining.q.val()) <= self.mark_beats.q.val();
        self.offset.next = self.ctx.val().base_beat + bit_cast_w::<26, 15>(self.position.q.val());

        self.ask_valid.next = false;
        self.ask_address.next.slot = self.now.q.val().slot;
        self.ask_address.next.beat = self.position.q.val().get_bits::<14>(0);
        self.valid.next = false;
        self.order.next.slot = self.now.q.val().slot;
        self.order.next.broadcast = self.now.q.val().broadcast;
        self.order.next.bank = self.now.q.val().bank;
        self.order.next.peer = self.peer.q.val().get_bits::<6>(0);
        self.order.next.position = self.position.q.val().get_bits::<14>(0);
        self.order.next.beats = self.packet_beats.q.val();
        self.order.next.mark = self.marked.val();
        self.order.next.last = self.state.q.val() == PlanState::Finish;
        self.order.next.timeout = self.now.q.val().timeout;
        self.order.next.incast = self.now.q.val().incast;
        self.order.next.step = self.ctx.val().step;
        self.order.next.bucket = self.ctx.val().bucket;
        self.order.next.beat = self.offset.val();
        self.order.next.hadamard = self.ctx.val().hadamard;
        self.order.next.bf16 = self.ctx.val().bf16;

        match self.state.q.val() {
            PlanState::Idle => {
                self.round.d.next = bits_w::<7>(1);
                if !self.broadcasts.empty.val() {
                    self.broadcasts.pop.next = true;
                    self.now.d.next = self.broadcasts.pop_data.val();
                    self.state.d.next = PlanState::Window;
                } else if !self.contributes.empty.val() {
                    self.contributes.pop.next = true;
                    self.now.d.next = self.contributes.pop_data.val();
                    self.state.d.next = PlanState::Window;
                }
            }
            PlanState::Window => {
                self.mark_beats.d.next = self.ctx.val().mark_packets * self.job.val().payload_beats;
                self.state.d.next = PlanState::Peer;
            }
            PlanState::Peer => {
                self.peer.d.next = self.peer_sum.val();
                if self.peer_sum.val() >= self.job.val().ranks {
                    self.peer.d.next = self.peer_wrapped.val();
                }
                self.state.d.next = PlanState::Shard;
                if self.round.q.val() >= self.job.val().ranks {
                    self.state.d.next = PlanState::Finish;
                }
            }
            PlanState::Shard => {
                self.shard.d.next = self.shard_sum.val();
                if self.shard_sum.val() >= self.job.val().ranks {
                    self.shard.d.next = self.shard_wrapped.val();
                }
                self.packet_beats.d.next = bits_w::<8>(0);
                self.remaining.d.next = bits_w::<15>(0);
                self.state.d.next = PlanState::Packet;
                self.fresh_round.d.next = true;
            }
            PlanState::Packet => {
                self.fresh_round.d.next = false;
                if self.fresh_round.q.val() {
                    self.position.d.next = self.start.val();
                    self.remaining.d.next = self.length.val();
                    if self.now.q.val().broadcast {
                        self.position.d.next = self.ctx.val().own_start;
                        self.remaining.d.next = self.ctx.val().own_beats;
                    }
                } else if self.remaining.q.val() == 0 {
                    self.round.d.next = self.round_next.val();
                    self.state.d.next = PlanState::Peer;
                } else {
                    self.packet_beats.d.next = self.taken.val().get_bits::<8>(0);
                    self.state.d.next = PlanState::Order;
                    if self.now.q.val().broadcast {
                        self.state.d.next = PlanState::Ask;
                    }
                }
            }
            PlanState::Ask => {
                self.ask_valid.next = true;
                if self.ask_ready.val() {
                    self.state.d.next = PlanState::Answer;
                }
            }
            PlanState::Answer => {
                self.state.d.next = PlanState::Order;
                if self.word.val().epoch != self.ctx.val().epoch {
                    self.position.d.next = self.position_next.val();
                    self.remaining.d.next = self.remaining_next.val();
                    self.state.d.next = PlanState::Packet;
                }
            }
            PlanState::Order => {
                self.valid.next = true;
                if self.ready.val() {
                    self.position.d.next = self.position_next.val();
                    self.remaining.d.next = self.remaining_next.val();
                    self.state.d.next = PlanState::Packet;
                }
            }
            PlanState::Finish => {
                self.valid.next = true;
                self.order.next.beats = bits_w::<8>(0);
                if self.ready.val() {
                    self.state.d.next = PlanState::Idle;
                }
            }
        }
        self.working.next =
            (self.state.q.val() != PlanState::Idle) || !self.contributes.empty.val() || !self.broadcasts.empty.val();

        if self.clear.val() {
            self.state.d.next = PlanState::Idle;
        }
    }
}

clocked!(Planner);
