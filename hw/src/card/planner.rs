//! Send planner: turns "send this window" into one order per packet.
//!
//! Rounds (OptiReduce 3.2.2): with incast I a stage has ceil((ranks - 1) / I) rounds; round n goes to the peers
//! (rank + k) mod ranks, k = (n - 1) * I + 1 .. n * I, packet by packet in turn; a peer that has got all of its packets
//! drops out. In the contribute stage a peer gets the shard that it owns, in the broadcast stage the mean of the local shard.
//! Broadcasts go first, also between two packets of a contribution: they end older windows. A packet of the mean whose
//! first beat nobody contributed to is not sent, so that its receivers count it as missing. A contribution's packet
//! waits until the transmit buffer holds it. The last order of a window has no payload: it only says that the window is sent.
//! Packets of both stages advertise what CONTRIBUTE said of the window ([`Advert`]); a packet ordered before that, zeros.
//!
//! Pacing: a packet whose peer's bucket ([`Pacer`]) is too low is passed over for the next peer of the round; a round
//! ends when all of its packets are sent, so a round is as fast as its slowest peer, and contributions that wait for
//! a broadcast are held up by its pace.
//! bf16: a packet covers twice as many beats of the window; if their number is odd, its last beat is half full.
//! Latency: 9 cycles from a contribution's order to its first packet, 10 for a broadcast, which asks for each packet's
//! first beat; 4 and 5 from packet to packet (one more once all peers of a round have begun), 8 and 9 to a peer that
//! begins, 4 more for a paced one. A packet takes as long as its header and payload on the wire, so packets of 8 beats or
//! more never wait for the planner; of packets with 4 beats one per shard does, which the builder's queue hides.
//! Back-pressure: orders wait in queues of 2 (contribute) and 8 (broadcast). Reset: `clear`.

use super::pacer::Pacer;
use super::types::{Advert, GatherWord, JobWords, PacketOrder, SendOrder, SlotBeat, SlotContext};
use crate::hdl::prelude::*;
use crate::mem::fifo::Fifo;
use crate::mem::ram::LutRam;

/// What the planner is doing.
#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum PlanState {
    /// Waits for a window to send.
    Idle,
    /// Sets up the window.
    Window,
    /// Finds the next peer of the round.
    Peer,
    /// Finds the peer's shard.
    Shard,
    /// Finds the shard's first beat.
    Place,
    /// Notes peer and shard.
    Begin,
    /// Plans one packet.
    Packet,
    /// Asks whether the packet's beats are there.
    Ask,
    /// Takes the answer.
    Answer,
    /// Asks whether the peer may be sent to.
    Pace,
    /// Orders the packet.
    Order,
    /// On to the next peer of the round, or to the next round.
    Advance,
    /// Says that the window is sent.
    Finish,
}

/// How much of a window is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Progress {
    /// First k of the round.
    round: W<7>,
    /// The peer whose turn it is, counted from that.
    index: W<4>,
    /// Peers of the round, once all have begun.
    count: W<4>,
    /// Those that have begun and have packets left.
    live: W<4>,
    /// All peers of the round have begun.
    begun: bool,
    /// The peer whose turn it is has packets left.
    noted: bool,
}

/// A peer of the round.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Share {
    peer: W<6>,
    position: W<15>,
    remaining: W<15>,
}

/// Send planner, see the module.
#[derive(LogicBlock, Default)]
pub struct Planner {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Returns to idle and drops all orders.
    pub clear: Signal<In, bool>,
    /// Job registers.
    pub job: Signal<In, JobWords>,
    /// Nanoseconds since reset.
    pub now_ns: Signal<In, W<48>>,
    /// Writes a word of the peer table.
    pub peer_write: Signal<In, bool>,
    /// Rank * 4 + word; word 3 is the rate.
    pub peer_word: Signal<In, W<8>>,
    /// The word.
    pub peer_data: Signal<In, W<32>>,
    /// Arm bus: the slot armed this cycle, one-hot.
    pub arm: Signal<In, W<8>>,
    /// Arm bus and `enter`: which slot.
    pub arm_slot: Signal<In, W<3>>,
    /// Arm bus: its context.
    pub arm_context: Signal<In, SlotContext>,
    /// The host entered the contribute stage of a slot (one cycle), one-hot.
    pub enter: Signal<In, W<8>>,
    /// With `arm` and `enter`: what the slot's frames advertise from now on.
    pub advert: Signal<In, Advert>,
    /// A bank comes in.
    pub contribute_valid: Signal<In, bool>,
    /// The order.
    pub contribute: Signal<In, SendOrder>,
    /// Ready: there is room for it.
    pub contribute_ready: Signal<Out, bool>,
    /// Beats that bank 0 holds: from the end of the local shard on, around the window; from beat 0 on if Hadamard-encoded.
    pub filled_low: Signal<In, W<15>>,
    /// The same of bank 1.
    pub filled_high: Signal<In, W<15>>,
    /// A scaled slot comes in; there is always room.
    pub broadcast_valid: Signal<In, bool>,
    /// The order.
    pub broadcast: Signal<In, SendOrder>,
    /// Reads the gather memory.
    pub ask_valid: Signal<Out, bool>,
    /// Slot and beat of the window.
    pub ask_address: Signal<Out, SlotBeat>,
    /// Granted: it is read in this cycle.
    pub ask_ready: Signal<In, bool>,
    /// The word, one cycle later.
    pub word: Signal<In, GatherWord>,
    /// A packet to send.
    pub valid: Signal<Out, bool>,
    /// The order.
    pub order: Signal<Out, PacketOrder>,
    /// Ready: it is accepted in this cycle.
    pub ready: Signal<In, bool>,
    /// Work is in progress.
    pub working: Signal<Out, bool>,
    contributes: Fifo<SendOrder, 1>,
    broadcasts: Fifo<SendOrder, 3>,
    contexts: LutRam<SlotContext, 3>,
    adverts: LutRam<Advert, 3>,
    /// Shares of the contribution below, of the broadcast above.
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

    /// Clocks and clears the sub-blocks, takes orders, and reads the context of the window that is sent.
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

    /// Finds what the window says about its packets: incast, payload, the end of the local shard, marks.
    fn window(&mut self) {
        self.incast.next = self.ctx.val().send_incast;
        if self.ctx.val().send_incast == 0 {
            self.incast.next = bits_w::<4>(1);
        }
        self.own_end.next = self.ctx.val().own_start + self.ctx.val().own_beats;
        self.payload.next = bit_cast_w::<9, 8>(self.job.val().payload_beats);
        self.marks.next = self.ctx.val().mark_packets * self.job.val().payload_beats;
    }

    /// Finds the peer whose turn it is and its shard: peer (rank + k) mod ranks owns shard (peer + rotation) mod ranks.
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

    /// Reads the share whose turn it is.
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

    /// Measures one packet: up to the payload size; marked when at most `mark_packets` are left.
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

    /// Finds whether the bank holds the packet: how far its last beat is from where the filling began.
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

    /// Asks the pacer, and counts peers and rounds.
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

    /// Composes the order for the builder; an order is given only by the states below.
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

    /// Sends one window after the other, round by round, a packet to each peer of the round in turn.
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

    /// Takes the next window: first a broadcast, then the contribution that it interrupted, then a new contribution.
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

    /// Stores what stays the same for the whole window.
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

    /// Finds the next peer of the round; when all have begun, their packets follow in turn.
    fn next_peer(&mut self) {
        self.peer.d.next = self.peer_sum.val();
        if self.peer_sum.val() >= self.job.val().ranks {
            self.peer.d.next = self.peer_wrapped.val();
        }
        self.state.d.next = PlanState::Shard;
        if (self.at.q.val().index == self.incast.val()) || (self.step.val() >= self.job.val().ranks) {
            // All peers of the round have begun.
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

    /// Notes the share of the peer, which is live if it has anything to send.
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

    /// Takes the next packet of the share, unless a broadcast has come, which goes first.
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

    /// Asks the gather memory for a beat of a broadcast, or waits until the bank holds a packet of a contribution.
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

    /// Turns to the next peer, or to the next round when none of this one is live.
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

    /// Removes the packet from its share when it is ordered or skipped.
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
