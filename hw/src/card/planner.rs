//! Send planner: turns the order to send a window into one order per packet.
//!
//! Rounds (OptiReduce 3.2.2): with incast I a stage has ceil((ranks - 1) / I) rounds. Round n sends
//! to the peers (rank + k) mod ranks, k = (n - 1) * I + 1 .. n * I, one packet each in turn. In the
//! contribute stage a peer receives the shard that it owns, in the broadcast stage the mean of the
//! local shard.
//! Broadcasts have priority, even between two packets of a contribution, because they complete
//! older windows. A packet of the mean is skipped if its first beat has no contribution, so that
//! its receivers count it as missing. A packet of a contribution waits until the transmit buffer
//! holds it.
//!
//! Pacing: a packet yields to the next peer of the round while its peer's bucket ([`Pacer`]) is too
//! low. The slowest peer sets the duration of a round. A paced broadcast delays the contributions
//! behind it.
//! With bf16 a packet covers twice as many beats of the window. If their number is odd, its last
//! beat is half full.
//! Latency: 9 cycles from a contribution's order to its first packet, 10 for a broadcast, which
//! reads the first beat of each packet. From packet to packet 4 and 5 (one more once all peers of a
//! round have begun), and 8 and 9 to a peer that begins. A paced packet takes 4 more.
//! Throughput: packets of 8 beats or more never wait for the planner.
//! Back-pressure: orders wait in queues of 2 (contribute) and 8 (broadcast). Reset: `clear` drops
//! all orders.

use super::pacer::Pacer;
use super::types::{Advert, GatherWord, JobWords, PacketOrder, SendOrder, SlotBeat, SlotContext};
use crate::hdl::prelude::*;
use crate::mem::fifo::Fifo;
use crate::mem::ram::LutRam;

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum PlanState {
    Idle,
    Window,
    Peer,
    Shard,
    Place,
    Begin,
    Packet,
    Ask,
    Answer,
    Pace,
    Order,
    Advance,
    Finish,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Progress {
    /// First k of the round.
    round: W<7>,
    index: W<4>,
    /// Peers of the round, valid once all have begun.
    count: W<4>,
    live: W<4>,
    begun: bool,
    noted: bool,
}

/// Unsent part of a peer's shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Share {
    peer: W<6>,
    position: W<15>,
    remaining: W<15>,
}

#[derive(LogicBlock, Default)]
pub struct Planner {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    pub job: Signal<In, JobWords>,
    pub now_ns: Signal<In, W<48>>,
    pub peer_write: Signal<In, bool>,
    pub peer_word: Signal<In, W<8>>,
    pub peer_data: Signal<In, W<32>>,
    pub arm: Signal<In, W<8>>,
    pub arm_slot: Signal<In, W<3>>,
    pub arm_context: Signal<In, SlotContext>,
    /// Slot whose contribute stage the host entered, one-hot; its number is `arm_slot`.
    pub enter: Signal<In, W<8>>,
    /// Advertised by the slot's frames; valid with `arm` and `enter`.
    pub advert: Signal<In, Advert>,
    pub contribute_valid: Signal<In, bool>,
    pub contribute: Signal<In, SendOrder>,
    pub contribute_ready: Signal<Out, bool>,
    /// Beats in bank 0 and 1, in filling order.
    pub filled_low: Signal<In, W<15>>,
    pub filled_high: Signal<In, W<15>>,
    /// Scaled slot to broadcast; always accepted.
    pub broadcast_valid: Signal<In, bool>,
    pub broadcast: Signal<In, SendOrder>,
    /// Gather memory read port; `word` follows the grant by one cycle.
    pub ask_valid: Signal<Out, bool>,
    pub ask_address: Signal<Out, SlotBeat>,
    pub ask_ready: Signal<In, bool>,
    pub word: Signal<In, GatherWord>,
    pub valid: Signal<Out, bool>,
    pub order: Signal<Out, PacketOrder>,
    pub ready: Signal<In, bool>,
    pub working: Signal<Out, bool>,
    contributes: Fifo<SendOrder, 1>,
    broadcasts: Fifo<SendOrder, 3>,
    contexts: LutRam<SlotContext, 3>,
    adverts: LutRam<Advert, 3>,
    /// Shares of the contribution (0 to 15) and of the broadcast (16 to 31).
    shares: LutRam<Share, 5>,
    pacer: Pacer,
    state: DFF<PlanState>,
    now: DFF<SendOrder>,
    at: DFF<Progress>,
    kept: DFF<bool>,
    kept_order: DFF<SendOrder>,
    kept_at: DFF<Progress>,
    mark_beats: DFF<W<17>>,
    packet_most: DFF<W<9>>,
    turn: DFF<W<15>>,
    wrap: DFF<W<15>>,
    peer: DFF<W<7>>,
    shard: DFF<W<7>>,
    start: DFF<W<15>>,
    length: DFF<W<15>>,
    packet: DFF<Share>,
    packet_beats: DFF<W<9>>,
    marked: DFF<bool>,
    after_turn: DFF<bool>,
    ctx: Wire<SlotContext>,
    incast: Wire<W<4>>,
    own_end: Wire<W<15>>,
    payload: Wire<W<9>>,
    marks: Wire<W<16>>,
    step: Wire<W<7>>,
    peer_sum: Wire<W<7>>,
    peer_wrapped: Wire<W<7>>,
    shard_sum: Wire<W<7>>,
    shard_wrapped: Wire<W<7>>,
    extra: Wire<W<7>>,
    longer: Wire<W<15>>,
    product: Wire<W<22>>,
    place: Wire<W<5>>,
    share: Wire<Share>,
    taken: Wire<W<15>>,
    ahead: Wire<W<15>>,
    filled: Wire<W<15>>,
    present: Wire<bool>,
    position_next: Wire<W<15>>,
    remaining_next: Wire<W<15>>,
    consumed: Wire<bool>,
    halves: Wire<W<9>>,
    wire_beats: Wire<W<8>>,
    offset: Wire<W<26>>,
    live_more: Wire<W<4>>,
    live_less: Wire<W<4>>,
    index_next: Wire<W<4>>,
    round_here: Wire<W<7>>,
    round_next: Wire<W<7>>,
}

#[sections]
impl Logic for Planner {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            now,
            at,
            kept,
            kept_order,
            kept_at,
            mark_beats,
            packet_most,
            turn,
            wrap,
            peer,
            shard,
            start,
            length,
            packet,
            packet_beats,
            marked,
            after_turn
        );

        self.queues();
        self.window();
        self.peer_and_shard();
        self.share();
        self.packet();
        self.presence();
        self.turns();
        self.order();
        self.states();
        self.share_taken();
        self.working.next = (self.state.q.val() != PlanState::Idle)
            || self.kept.q.val()
            || !self.contributes.empty.val()
            || !self.broadcasts.empty.val();

        if self.clear.val() {
            self.state.d.next = PlanState::Idle;
            self.kept.d.next = false;
        }
    }

    /// Clocks the sub-blocks, accepts orders, and reads the window's context.
    fn queues(&mut self) {
        self.contexts.clock.next = self.clock.val();
        self.contexts.write_enable.next = self.arm.val() != 0;
        self.contexts.write_address.next = self.arm_slot.val();
        self.contexts.write_data.next = self.arm_context.val();
        self.contexts.read_address.next = self.now.q.val().slot;
        self.ctx.next = self.contexts.read_data.val();
        self.adverts.clock.next = self.clock.val();
        self.adverts.write_enable.next = (self.arm.val() != 0) || (self.enter.val() != 0);
        self.adverts.write_address.next = self.arm_slot.val();
        self.adverts.write_data.next = self.advert.val();
        self.adverts.read_address.next = self.now.q.val().slot;
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
        self.pacer.clock.next = self.clock.val();
        self.pacer.clear.next = self.clear.val();
        self.pacer.job.next = self.job.val();
        self.pacer.now_ns.next = self.now_ns.val();
        self.pacer.peer_write.next = self.peer_write.val();
        self.pacer.peer_word.next = self.peer_word.val();
        self.pacer.peer_data.next = self.peer_data.val();
    }

    /// Derives incast, payload, marks and the end of the local shard.
    fn window(&mut self) {
        self.incast.next = self.ctx.val().send_incast;
        if self.ctx.val().send_incast == 0 {
            self.incast.next = bits_w::<4>(1);
        }
        self.own_end.next = self.ctx.val().own_start + self.ctx.val().own_beats;
        self.payload.next = bit_cast_w::<9, 8>(self.job.val().payload_beats);
        self.marks.next = self.ctx.val().mark_packets * self.job.val().payload_beats;
    }

    /// Finds the current peer, (rank + k) mod ranks, and its shard, (peer + rotation) mod ranks.
    fn peer_and_shard(&mut self) {
        self.step.next = self.at.q.val().round + bit_cast_w::<7, 4>(self.at.q.val().index);
        self.peer_sum.next = bit_cast_w::<7, 6>(self.job.val().rank) + self.step.val();
        self.peer_wrapped.next = self.peer_sum.val() - self.job.val().ranks;
        self.shard_sum.next = self.peer.q.val() + self.ctx.val().rotation;
        self.shard_wrapped.next = self.shard_sum.val() - self.job.val().ranks;
        self.extra.next = self.ctx.val().remainder;
        self.longer.next = self.ctx.val().quotient;
        if self.shard.q.val() < self.ctx.val().remainder {
            self.extra.next = self.shard.q.val();
            self.longer.next = self.ctx.val().quotient + 1;
        }
        self.product.next = self.ctx.val().quotient * self.shard.q.val();
    }

    /// Reads the share of the current peer.
    fn share(&mut self) {
        self.place.next = bit_cast_w::<5, 4>(self.at.q.val().index);
        if self.now.q.val().broadcast {
            self.place.next = bit_cast_w::<5, 4>(self.at.q.val().index) | 16;
        }
        self.shares.clock.next = self.clock.val();
        self.shares.read_address.next = self.place.val();
        self.share.next = self.shares.read_data.val();
        self.shares.write_address.next = self.place.val();
        self.shares.write_enable.next = false;
        self.shares.write_data.next = self.packet.q.val();
    }

    /// Measures one packet: up to the payload size, marked if at most `mark_packets` are left.
    fn packet(&mut self) {
        self.taken.next = bit_cast_w::<15, 9>(self.packet_most.q.val());
        if self.share.val().remaining < bit_cast_w::<15, 9>(self.packet_most.q.val()) {
            self.taken.next = self.share.val().remaining;
        }
        self.position_next.next = self.packet.q.val().position + bit_cast_w::<15, 9>(self.packet_beats.q.val());
        self.remaining_next.next = self.packet.q.val().remaining - bit_cast_w::<15, 9>(self.packet_beats.q.val());
        self.offset.next = self.ctx.val().base_beat + bit_cast_w::<26, 15>(self.packet.q.val().position);
        self.halves.next = self.packet_beats.q.val() + 1;
        self.wire_beats.next = self.packet_beats.q.val().get_bits::<8>(0);
        if self.ctx.val().bf16 {
            self.wire_beats.next = self.halves.val().get_bits::<8>(1);
        }
    }

    /// Checks whether the bank holds the last beat of the packet.
    fn presence(&mut self) {
        self.ahead.next = self.position_next.val() + self.wrap.q.val();
        if self.after_turn.q.val() {
            self.ahead.next = self.position_next.val() - self.turn.q.val();
        }
        self.filled.next = self.filled_low.val();
        if self.now.q.val().bank {
            self.filled.next = self.filled_high.val();
        }
        self.present.next = self.ahead.val() <= self.filled.val();
    }

    /// Asks the pacer, and computes the next peer and round.
    fn turns(&mut self) {
        self.pacer.peer.next = self.packet.q.val().peer;
        self.pacer.beats.next = self.wire_beats.val();
        self.pacer.ask.next = self.state.q.val() == PlanState::Pace;
        self.consumed.next = false;
        self.live_more.next = self.at.q.val().live + 1;
        self.live_less.next = self.at.q.val().live - 1;
        self.index_next.next = self.at.q.val().index + 1;
        self.round_here.next = self.at.q.val().round + bit_cast_w::<7, 4>(self.at.q.val().index);
        self.round_next.next = self.at.q.val().round + bit_cast_w::<7, 4>(self.at.q.val().count);
    }

    /// Composes the order for the builder; only the states below issue it.
    fn order(&mut self) {
        self.ask_valid.next = false;
        self.ask_address.next.slot = self.now.q.val().slot;
        self.ask_address.next.beat = bit_cast_w::<14, 15>(self.packet.q.val().position);
        self.valid.next = false;
        self.order.next.slot = self.now.q.val().slot;
        self.order.next.broadcast = self.now.q.val().broadcast;
        self.order.next.bank = self.now.q.val().bank;
        self.order.next.peer = self.packet.q.val().peer;
        self.order.next.position = bit_cast_w::<14, 15>(self.packet.q.val().position);
        self.order.next.beats = self.wire_beats.val();
        self.order.next.half = self.ctx.val().bf16 && self.packet_beats.q.val().get_bit(0);
        self.order.next.mark = self.marked.q.val();
        self.order.next.last = self.state.q.val() == PlanState::Finish;
        self.order.next.timeout = self.adverts.read_data.val().timeout;
        self.order.next.incast = self.adverts.read_data.val().incast;
        self.order.next.step = self.ctx.val().step;
        self.order.next.bucket = self.ctx.val().bucket;
        self.order.next.beat = self.offset.val();
        self.order.next.hadamard = self.ctx.val().hadamard;
        self.order.next.bf16 = self.ctx.val().bf16;
    }

    /// Sends one window after another, round by round.
    fn states(&mut self) {
        match self.state.q.val() {
            PlanState::Idle => self.choose_window(),
            PlanState::Window => self.measure_window(),
            PlanState::Peer => self.next_peer(),
            PlanState::Shard => {
                self.shard.d.next = self.shard_sum.val();
                if self.shard_sum.val() >= self.job.val().ranks {
                    self.shard.d.next = self.shard_wrapped.val();
                }
                self.state.d.next = PlanState::Place;
            }
            PlanState::Place => {
                self.start.d.next = self.product.val().get_bits::<15>(0) + bit_cast_w::<15, 7>(self.extra.val());
                self.length.d.next = self.longer.val();
                if self.now.q.val().broadcast {
                    self.start.d.next = self.ctx.val().own_start;
                    self.length.d.next = self.ctx.val().own_beats;
                }
                self.state.d.next = PlanState::Begin;
            }
            PlanState::Begin => self.begin_share(),
            PlanState::Packet => self.next_packet(),
            PlanState::Ask => self.ask_for_packet(),
            PlanState::Answer => {
                self.state.d.next = PlanState::Order;
                if self.word.val().epoch != self.ctx.val().epoch {
                    self.consumed.next = true;
                    self.state.d.next = PlanState::Advance;
                } else if self.pacer.paced.val() {
                    self.state.d.next = PlanState::Pace;
                }
            }
            PlanState::Pace => {
                if self.pacer.granted.val() {
                    self.state.d.next = PlanState::Order;
                } else if self.pacer.answer.val() {
                    self.state.d.next = PlanState::Advance;
                }
            }
            PlanState::Order => {
                self.valid.next = true;
                if self.ready.val() {
                    self.consumed.next = true;
                    self.state.d.next = PlanState::Advance;
                }
            }
            PlanState::Advance => self.next_turn(),
            PlanState::Finish => {
                self.valid.next = true;
                self.order.next.beats = bits_w::<8>(0);
                if self.ready.val() {
                    self.state.d.next = PlanState::Idle;
                }
            }
        }
    }

    /// Chooses the next window: a broadcast, an interrupted contribution, or a new one.
    fn choose_window(&mut self) {
        self.at.d.next.round = bits_w::<7>(1);
        self.at.d.next.index = bits_w::<4>(0);
        self.at.d.next.live = bits_w::<4>(0);
        self.at.d.next.begun = false;
        self.at.d.next.noted = false;
        if !self.broadcasts.empty.val() {
            self.broadcasts.pop.next = true;
            self.now.d.next = self.broadcasts.pop_data.val();
            self.state.d.next = PlanState::Window;
        } else if self.kept.q.val() {
            self.kept.d.next = false;
            self.now.d.next = self.kept_order.q.val();
            self.at.d.next = self.kept_at.q.val();
            self.state.d.next = PlanState::Window;
        } else if !self.contributes.empty.val() {
            self.contributes.pop.next = true;
            self.now.d.next = self.contributes.pop_data.val();
            self.state.d.next = PlanState::Window;
        }
    }

    /// Stores the constants of the window.
    fn measure_window(&mut self) {
        self.mark_beats.d.next = bit_cast_w::<17, 16>(self.marks.val());
        self.packet_most.d.next = self.payload.val();
        if self.ctx.val().bf16 {
            self.mark_beats.d.next = bit_cast_w::<17, 16>(self.marks.val()) << 1;
            self.packet_most.d.next = self.payload.val() << 1;
        }
        self.turn.d.next = self.own_end.val();
        self.wrap.d.next = self.ctx.val().beats - self.own_end.val();
        if self.ctx.val().hadamard || (self.own_end.val() == self.ctx.val().beats) {
            self.turn.d.next = bits_w::<15>(0);
        }
        self.state.d.next = PlanState::Peer;
        if self.at.q.val().noted {
            self.state.d.next = PlanState::Packet;
        }
    }

    /// Finds the next peer of the round.
    fn next_peer(&mut self) {
        self.peer.d.next = self.peer_sum.val();
        if self.peer_sum.val() >= self.job.val().ranks {
            self.peer.d.next = self.peer_wrapped.val();
        }
        self.state.d.next = PlanState::Shard;
        if (self.at.q.val().index == self.incast.val()) || (self.step.val() >= self.job.val().ranks) {
            self.at.d.next.index = bits_w::<4>(0);
            if self.at.q.val().index == 0 {
                self.state.d.next = PlanState::Finish;
            } else if self.at.q.val().live == 0 {
                self.at.d.next.round = self.round_here.val();
                self.state.d.next = PlanState::Peer;
            } else {
                self.at.d.next.count = self.at.q.val().index;
                self.at.d.next.begun = true;
                self.at.d.next.noted = true;
                self.state.d.next = PlanState::Packet;
            }
        }
    }

    /// Records the peer's share, which is live if not empty.
    fn begin_share(&mut self) {
        self.shares.write_enable.next = true;
        self.shares.write_data.next.peer = self.peer.q.val().get_bits::<6>(0);
        self.shares.write_data.next.position = self.start.q.val();
        self.shares.write_data.next.remaining = self.length.q.val();
        self.at.d.next.noted = true;
        if self.length.q.val() != 0 {
            self.at.d.next.live = self.live_more.val();
        }
        self.state.d.next = PlanState::Packet;
    }

    /// Plans the next packet of the share, unless a broadcast interrupts the contribution.
    fn next_packet(&mut self) {
        self.packet.d.next = self.share.val();
        self.packet_beats.d.next = self.taken.val().get_bits::<9>(0);
        self.marked.d.next = bit_cast_w::<17, 15>(self.share.val().remaining) <= self.mark_beats.q.val();
        self.after_turn.d.next = self.share.val().position >= self.turn.q.val();
        self.state.d.next = PlanState::Ask;
        if self.share.val().remaining == 0 {
            self.state.d.next = PlanState::Advance;
        } else if !self.now.q.val().broadcast && !self.broadcasts.empty.val() {
            self.kept.d.next = true;
            self.kept_order.d.next = self.now.q.val();
            self.kept_at.d.next = self.at.q.val();
            self.state.d.next = PlanState::Idle;
        }
    }

    /// Checks whether the packet's data is present, in the gather memory or in the bank.
    fn ask_for_packet(&mut self) {
        if self.now.q.val().broadcast {
            self.ask_valid.next = true;
            if self.ask_ready.val() {
                self.state.d.next = PlanState::Answer;
            }
        } else if !self.present.val() {
            self.state.d.next = PlanState::Packet;
        } else if self.pacer.paced.val() {
            self.state.d.next = PlanState::Pace;
        } else {
            self.state.d.next = PlanState::Order;
        }
    }

    /// Advances to the next peer, or to the next round if no peer is live.
    fn next_turn(&mut self) {
        if !self.at.q.val().begun {
            self.at.d.next.index = self.index_next.val();
            self.at.d.next.noted = false;
            self.state.d.next = PlanState::Peer;
        } else if self.at.q.val().live == 0 {
            self.at.d.next.round = self.round_next.val();
            self.at.d.next.index = bits_w::<4>(0);
            self.at.d.next.begun = false;
            self.at.d.next.noted = false;
            self.state.d.next = PlanState::Peer;
        } else {
            self.at.d.next.index = self.index_next.val();
            if self.index_next.val() == self.at.q.val().count {
                self.at.d.next.index = bits_w::<4>(0);
            }
            self.state.d.next = PlanState::Packet;
        }
    }

    /// Removes the packet from its share once it is ordered or skipped.
    fn share_taken(&mut self) {
        if self.consumed.val() {
            self.shares.write_enable.next = true;
            self.shares.write_data.next.position = self.position_next.val();
            self.shares.write_data.next.remaining = self.remaining_next.val();
            if self.remaining_next.val() == 0 {
                self.at.d.next.live = self.live_less.val();
            }
        }
    }
}

clocked!(Planner);
