//! Window lookup: finds the window of a packet, checks that its payload lies in a shard its sender may write, and
//! turns payload beats into window beats.
//!
//! Latency: 3 cycles. Throughput: one beat a cycle. Back-pressure: `stall` freezes it whole.
//! Limits: 8 slots, compared in parallel. Reset: `clear` disarms every slot.
//! Rules (contract): contribute packets must lie in the own shard, broadcast packets in the sender's shard, where
//! rank r owns shard (r + rotation) mod ranks and shard j starts at j * quotient + min(j, remainder).

use super::types::{JobWords, RxHeader, SlotContext, WindowBeat};
use crate::prelude::*;
use crate::ram::LutRam;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Key {
    armed: bool,
    bucket: W<16>,
    step: W<16>,
    base_beat: W<26>,
    beats: W<15>,
}

/// Compares headers with the window of one slot.
#[derive(LogicBlock, Default)]
pub struct SlotKey {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Takes a new window.
    pub arm: Signal<In, bool>,
    /// The window.
    pub ctx: Signal<In, SlotContext>,
    /// Forgets it.
    pub free: Signal<In, bool>,
    /// Header to compare.
    pub header: Signal<In, RxHeader>,
    /// The packet starts in the window.
    pub hit: Signal<Out, bool>,
    /// Beats from the window's start to the packet's.
    pub distance: Signal<Out, W<26>>,
    key: DFF<Key>,
    ahead: Wire<W<26>>,
}

impl Logic for SlotKey {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, key);
        if self.arm.val() {
            self.key.d.next.armed = true;
            self.key.d.next.bucket = self.ctx.val().bucket;
            self.key.d.next.step = self.ctx.val().step;
            self.key.d.next.base_beat = self.ctx.val().base_beat;
            self.key.d.next.beats = self.ctx.val().beats;
        }
        if self.free.val() {
            self.key.d.next.armed = false;
        }
        self.ahead.next = self.header.val().beat - self.key.q.val().base_beat;
        self.distance.next = self.ahead.val();
        self.hit.next = self.key.q.val().armed
            && (self.key.q.val().bucket == self.header.val().bucket)
            && (self.key.q.val().step == self.header.val().step)
            && (self.header.val().beat >= self.key.q.val().base_beat)
            && (self.ahead.val() < bit_cast_w::<26, 15>(self.key.q.val().beats));
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Found {
    hit: bool,
    slot: W<3>,
    position: W<15>,
    beats: W<10>,
    sender: W<6>,
    broadcast: bool,
    mark: bool,
    hadamard: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Ranged {
    hit: bool,
    flags_differ: bool,
    slot: W<3>,
    position: W<15>,
    end: W<15>,
    shard_start: W<15>,
    shard_end: W<15>,
    own_start: W<15>,
    epoch: W<8>,
    sender: W<6>,
    broadcast: bool,
    mark: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Moving {
    valid: bool,
    head: bool,
    data: Beat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Verdict {
    accept: bool,
    broadcast: bool,
    slot: W<3>,
    sender: W<6>,
    epoch: W<8>,
    own_start: W<15>,
    mark: bool,
}

/// Window lookup, see the module.
#[derive(LogicBlock, Default)]
pub struct Lookup {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Disarms every slot.
    pub clear: Signal<In, bool>,
    /// Job registers.
    pub job: Signal<In, JobWords>,
    /// Arm bus: the slot armed this cycle, one-hot.
    pub arm: Signal<In, W<8>>,
    /// Arm bus: which slot.
    pub arm_slot: Signal<In, W<3>>,
    /// Arm bus: its context.
    pub arm_context: Signal<In, SlotContext>,
    /// Slots freed this cycle, one bit each.
    pub freed: Signal<In, W<8>>,
    /// Freezes the pipeline.
    pub stall: Signal<In, bool>,
    /// A beat of a good frame comes in.
    pub in_valid: Signal<In, bool>,
    /// It is the header beat.
    pub in_head: Signal<In, bool>,
    /// Fields of its frame.
    pub in_header: Signal<In, RxHeader>,
    /// The beat.
    pub in_data: Signal<In, Beat>,
    /// A payload beat for a window is at the output.
    pub valid: Signal<Out, bool>,
    /// It is of the broadcast stage.
    pub broadcast: Signal<Out, bool>,
    /// The beat and its place.
    pub beat: Signal<Out, WindowBeat>,
    /// A packet for a window was accepted (one cycle); slot, stage and sender are those of `beat`.
    pub packet: Signal<Out, bool>,
    /// It carries the last-percentile mark.
    pub mark: Signal<Out, bool>,
    /// Nothing is inside.
    pub empty: Signal<Out, bool>,
    /// Dropped: no window.
    pub drop_no_window: Signal<Out, bool>,
    /// Dropped: Hadamard flag differs.
    pub drop_flags: Signal<Out, bool>,
    /// Dropped: outside the shard.
    pub drop_out_of_shard: Signal<Out, bool>,
    key: [SlotKey; 8],
    contexts: LutRam<SlotContext, 3>,
    found: DFF<Found>,
    ranged: DFF<Ranged>,
    verdict: DFF<Verdict>,
    position: DFF<W<15>>,
    first: DFF<Moving>,
    second: DFF<Moving>,
    third: DFF<Moving>,
    slot: Wire<W<3>>,
    distance: Wire<W<26>>,
    any_hit: Wire<bool>,
    ctx: Wire<SlotContext>,
    sum: Wire<W<7>>,
    wrapped: Wire<W<7>>,
    shard: Wire<W<7>>,
    extra: Wire<W<7>>,
    product: Wire<W<22>>,
    start: Wire<W<15>>,
    length: Wire<W<15>>,
    limit: Wire<W<15>>,
    own_end: Wire<W<15>>,
    packet_end: Wire<W<15>>,
    fits: Wire<bool>,
    head_here: Wire<bool>,
    moving: Wire<bool>,
    next_position: Wire<W<15>>,
    relative: Wire<W<15>>,
}

impl Logic for Lookup {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, found, ranged, verdict, position, first, second, third);
        // Arm bus: the key to compare, and the context for later.
        self.contexts.clock.next = self.clock.val();
        self.contexts.write_enable.next = self.arm.val() != 0;
        self.contexts.write_address.next = self.arm_slot.val();
        self.contexts.write_data.next = self.arm_context.val();

        // Stage 1: compare with all slots; at most one hits.
        self.slot.next = bits_w::<3>(0);
        self.distance.next = bits_w::<26>(0);
        self.any_hit.next = false;
        for i in 0..8 {
            self.key[i].clock.next = self.clock.val();
            self.key[i].arm.next = self.arm.val().get_bit(i);
            self.key[i].ctx.next = self.arm_context.val();
            self.key[i].free.next = self.freed.val().get_bit(i) || self.clear.val();
            self.key[i].header.next = self.in_header.val();
            if self.key[i].hit.val() {
                self.distance.next = self.key[i].distance.val();
                self.any_hit.next = true;
            }
        }
        if self.key[1].hit.val() {
            self.slot.next = bits_w::<3>(1);
        }
        if self.key[2].hit.val() {
            self.slot.next = bits_w::<3>(2);
        }
        if self.key[3].hit.val() {
            self.slot.next = bits_w::<3>(3);
        }
        if self.key[4].hit.val() {
            self.slot.next = bits_w::<3>(4);
        }
        if self.key[5].hit.val() {
            self.slot.next = bits_w::<3>(5);
        }
        if self.key[6].hit.val() {
            self.slot.next = bits_w::<3>(6);
        }
        if self.key[7].hit.val() {
            self.slot.next = bits_w::<3>(7);
        }
        if !self.stall.val() {
            self.first.d.next.valid = self.in_valid.val();
            self.first.d.next.head = self.in_head.val();
            self.first.d.next.data = self.in_data.val();
            if self.in_valid.val() && self.in_head.val() {
                self.found.d.next.hit = self.any_hit.val();
                self.found.d.next.slot = self.slot.val();
                self.found.d.next.position = self.distance.val().get_bits::<15>(0);
                self.found.d.next.beats = self.in_header.val().beats;
                self.found.d.next.sender = self.in_header.val().sender;
                self.found.d.next.broadcast = self.in_header.val().broadcast;
                self.found.d.next.mark = self.in_header.val().mark;
                self.found.d.next.hadamard = self.in_header.val().hadamard;
            }
        }

        // Stage 2: the shard this sender may write in this stage.
        self.contexts.read_address.next = self.found.q.val().slot;
        self.ctx.next = self.contexts.read_data.val();
        self.sum.next = bit_cast_w::<7, 6>(self.found.q.val().sender) + self.ctx.val().rotation;
        self.wrapped.next = self.sum.val() - self.job.val().ranks;
        self.shard.next = self.sum.val();
        if self.sum.val() >= self.job.val().ranks {
            self.shard.next = self.wrapped.val();
        }
        self.extra.next = self.ctx.val().remainder;
        self.length.next = self.ctx.val().quotient;
        if self.shard.val() < self.ctx.val().remainder {
            self.extra.next = self.shard.val();
            self.length.next = self.ctx.val().quotient + 1;
        }
        self.product.next = self.ctx.val().quotient * self.shard.val();
        self.start.next = self.product.val().get_bits::<15>(0) + bit_cast_w::<15, 7>(self.extra.val());
        self.limit.next = self.start.val() + self.length.val();
        self.own_end.next = self.ctx.val().own_start + self.ctx.val().own_beats;
        self.packet_end.next = self.found.q.val().position + bit_cast_w::<15, 10>(self.found.q.val().beats);
        if !self.stall.val() {
            self.second.d.next = self.first.q.val();
            if self.first.q.val().valid && self.first.q.val().head {
                self.ranged.d.next.hit = self.found.q.val().hit;
                self.ranged.d.next.flags_differ = self.found.q.val().hadamard != self.ctx.val().hadamard;
                self.ranged.d.next.slot = self.found.q.val().slot;
                self.ranged.d.next.position = self.found.q.val().position;
                self.ranged.d.next.end = self.packet_end.val();
                self.ranged.d.next.own_start = self.ctx.val().own_start;
                self.ranged.d.next.epoch = self.ctx.val().epoch;
                self.ranged.d.next.sender = self.found.q.val().sender;
                self.ranged.d.next.broadcast = self.found.q.val().broadcast;
                self.ranged.d.next.mark = self.found.q.val().mark;
                if self.found.q.val().broadcast {
                    self.ranged.d.next.shard_start = self.start.val();
                    self.ranged.d.next.shard_end = self.limit.val();
                } else {
                    self.ranged.d.next.shard_start = self.ctx.val().own_start;
                    self.ranged.d.next.shard_end = self.own_end.val();
                }
            }
        }

        // Stage 3: the verdict, and the place of every payload beat.
        self.fits.next = (self.ranged.q.val().position >= self.ranged.q.val().shard_start)
            && (self.ranged.q.val().end <= self.ranged.q.val().shard_end);
        self.head_here.next = self.second.q.val().valid && self.second.q.val().head;
        self.moving.next = !self.stall.val();
        self.next_position.next = self.position.q.val() + 1;
        self.drop_no_window.next = false;
        self.drop_flags.next = false;
        self.drop_out_of_shard.next = false;
        if self.moving.val() {
            self.third.d.next = self.second.q.val();
            if self.third.q.val().valid && !self.third.q.val().head {
                self.position.d.next = self.next_position.val();
            }
            if self.head_here.val() {
                self.position.d.next = self.ranged.q.val().position;
                self.verdict.d.next.accept = false;
                self.verdict.d.next.broadcast = self.ranged.q.val().broadcast;
                self.verdict.d.next.slot = self.ranged.q.val().slot;
                self.verdict.d.next.sender = self.ranged.q.val().sender;
                self.verdict.d.next.epoch = self.ranged.q.val().epoch;
                self.verdict.d.next.own_start = self.ranged.q.val().own_start;
                self.verdict.d.next.mark = self.ranged.q.val().mark;
                if !self.ranged.q.val().hit {
                    self.drop_no_window.next = true;
                } else if self.ranged.q.val().flags_differ {
                    self.drop_flags.next = true;
                } else if !self.fits.val() {
                    self.drop_out_of_shard.next = true;
                } else {
                    self.verdict.d.next.accept = true;
                }
            }
        }

        self.relative.next = self.position.q.val() - self.verdict.q.val().own_start;
        self.valid.next = self.third.q.val().valid && !self.third.q.val().head && self.verdict.q.val().accept;
        self.broadcast.next = self.verdict.q.val().broadcast;
        self.beat.next.slot = self.verdict.q.val().slot;
        self.beat.next.position = self.position.q.val().get_bits::<14>(0);
        self.beat.next.relative = self.relative.val().get_bits::<14>(0);
        self.beat.next.sender = self.verdict.q.val().sender;
        self.beat.next.epoch = self.verdict.q.val().epoch;
        self.beat.next.data = self.third.q.val().data;
        self.packet.next =
            self.third.q.val().valid && self.third.q.val().head && self.verdict.q.val().accept && self.moving.val();
        self.mark.next = self.verdict.q.val().mark;
        self.empty.next = !self.first.q.val().valid && !self.second.q.val().valid && !self.third.q.val().valid;
    }
}

clocked!(Lookup);
