//! Window lookup: finds a packet's window, checks that the payload lies in a shard its sender may
//! write, and converts payload beats into window beats.
//!
//! Latency: 6 cycles. Throughput: one beat a cycle. A bf16 payload beat takes two cycles (64 Gb/s
//! at 250 MHz) and becomes two window beats, low half first.
//! Back-pressure: `stall` freezes the block, `busy` its source. Reset: `clear` disarms every slot
//! and drops the beats inside.
//! Limits: 8 slots. A slot must not be armed again while a packet that hit it is inside; freeing
//! and arming takes longer than that.
//!
//! Rules (contract): contribute packets must lie in the local shard, broadcast packets in the
//! sender's. Rank r owns shard (r + rotation) mod ranks, and shard j starts at j * quotient +
//! min(j, remainder).
//! A bf16 packet may extend one window beat past an odd shard. That padding is not passed on.
//! A packet without a window is stale if its bucket is armed for a later step, in serial-number
//! arithmetic.

use super::types::{JobWords, RxHeader, SlotContext, WindowBeat};
use crate::hdl::prelude::*;
use crate::hdl::wires::Widen;
use crate::mem::ram::LutRam;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Key {
    armed: bool,
    bucket: W<16>,
    step: W<16>,
    base_beat: W<26>,
    beats: W<15>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Match {
    hit: bool,
    stale: bool,
    distance: W<15>,
}

#[derive(LogicBlock, Default)]
pub struct SlotKey {
    pub clock: Signal<In, Clock>,
    pub arm: Signal<In, bool>,
    pub ctx: Signal<In, SlotContext>,
    pub free: Signal<In, bool>,
    /// The results follow one cycle later.
    pub compare: Signal<In, bool>,
    pub header: Signal<In, RxHeader>,
    /// The packet starts in the window.
    pub hit: Signal<Out, bool>,
    /// The packet is for the window's bucket but an earlier step.
    pub stale: Signal<Out, bool>,
    /// Beats from the window's start to the packet, if `hit`.
    pub distance: Signal<Out, W<15>>,
    key: DFF<Key>,
    found: DFF<Match>,
    ahead: Wire<W<27>>,
    later: Wire<W<16>>,
    same_bucket: Wire<bool>,
}

impl Logic for SlotKey {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, key, found);
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
        // Wraps to a large value for a packet before the window.
        self.ahead.next =
            bit_cast_w::<27, 26>(self.header.val().beat) - bit_cast_w::<27, 26>(self.key.q.val().base_beat);
        self.later.next = self.header.val().step - self.key.q.val().step;
        self.same_bucket.next = self.key.q.val().armed && (self.key.q.val().bucket == self.header.val().bucket);
        if self.compare.val() {
            self.found.d.next.hit = self.same_bucket.val()
                && (self.later.val() == 0)
                && (self.ahead.val() < bit_cast_w::<27, 15>(self.key.q.val().beats));
            self.found.d.next.stale = self.same_bucket.val() && self.later.val().get_bit(15);
            self.found.d.next.distance = self.ahead.val().get_bits::<15>(0);
        }
        self.hit.next = self.found.q.val().hit;
        self.stale.next = self.found.q.val().stale;
        self.distance.next = self.found.q.val().distance;
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Named {
    sender: W<6>,
    broadcast: bool,
    mark: bool,
    hadamard: bool,
    bf16: bool,
    beats: W<10>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Found {
    hit: bool,
    stale: bool,
    slot: W<3>,
    position: W<15>,
    sender: W<6>,
    broadcast: bool,
    mark: bool,
    hadamard: bool,
    bf16: bool,
    beats: W<10>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Known {
    hit: bool,
    stale: bool,
    slot: W<3>,
    position: W<15>,
    sender: W<6>,
    broadcast: bool,
    mark: bool,
    bf16: bool,
    beats: W<10>,
    flags_differ: bool,
    epoch: W<8>,
    shard: W<7>,
    quotient: W<15>,
    remainder: W<7>,
    own_start: W<15>,
    own_beats: W<15>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Placed {
    hit: bool,
    stale: bool,
    flags_differ: bool,
    slot: W<3>,
    position: W<15>,
    sender: W<6>,
    broadcast: bool,
    mark: bool,
    bf16: bool,
    epoch: W<8>,
    own_start: W<15>,
    own_beats: W<15>,
    product: W<22>,
    extra: W<7>,
    length: W<15>,
    end: W<15>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Ranged {
    hit: bool,
    stale: bool,
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
    bf16: bool,
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
    shard_end: W<15>,
    mark: bool,
    bf16: bool,
}

#[derive(LogicBlock, Default)]
pub struct Lookup {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    pub job: Signal<In, JobWords>,
    pub arm: Signal<In, W<8>>,
    pub arm_slot: Signal<In, W<3>>,
    pub arm_context: Signal<In, SlotContext>,
    pub freed: Signal<In, W<8>>,
    pub stall: Signal<In, bool>,
    /// No input is accepted: stalled, or within a bf16 payload beat.
    pub busy: Signal<Out, bool>,
    /// Beat of a good frame; `in_head` marks its header.
    pub in_valid: Signal<In, bool>,
    pub in_head: Signal<In, bool>,
    pub in_header: Signal<In, RxHeader>,
    pub in_data: Signal<In, Beat>,
    pub valid: Signal<Out, bool>,
    pub broadcast: Signal<Out, bool>,
    pub beat: Signal<Out, WindowBeat>,
    /// Accepted packet; `mark` if last-percentile. `broadcast` and `beat` hold its stage, slot and
    /// sender.
    pub packet: Signal<Out, bool>,
    pub mark: Signal<Out, bool>,
    pub empty: Signal<Out, bool>,
    /// Causes: no window, armed for a later step, other Hadamard or bf16 flag, outside the shard.
    pub drop_no_window: Signal<Out, bool>,
    pub drop_stale: Signal<Out, bool>,
    pub drop_flags: Signal<Out, bool>,
    pub drop_out_of_shard: Signal<Out, bool>,
    key: [SlotKey; 8],
    contexts: LutRam<SlotContext, 3>,
    widen: Widen,
    named: DFF<Named>,
    found: DFF<Found>,
    known: DFF<Known>,
    placed: DFF<Placed>,
    ranged: DFF<Ranged>,
    verdict: DFF<Verdict>,
    position: DFF<W<15>>,
    padding: DFF<bool>,
    half: DFF<bool>,
    first: DFF<Moving>,
    second: DFF<Moving>,
    third: DFF<Moving>,
    fourth: DFF<Moving>,
    fifth: DFF<Moving>,
    last: DFF<Moving>,
    slot: Wire<W<3>>,
    distance: Wire<W<15>>,
    any_hit: Wire<bool>,
    any_stale: Wire<bool>,
    head1: Wire<bool>,
    head2: Wire<bool>,
    head3: Wire<bool>,
    head4: Wire<bool>,
    head5: Wire<bool>,
    ctx: Wire<SlotContext>,
    sum: Wire<W<7>>,
    wrapped: Wire<W<7>>,
    product: Wire<W<22>>,
    start: Wire<W<15>>,
    limit: Wire<W<15>>,
    own_end: Wire<W<15>>,
    covered: Wire<W<15>>,
    packet_end: Wire<W<15>>,
    allowed: Wire<W<15>>,
    fits: Wire<bool>,
    splitting: Wire<bool>,
    step: Wire<bool>,
    next_position: Wire<W<15>>,
    relative: Wire<W<15>>,
}

#[sections]
impl Logic for Lookup {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, named, found, known, placed, ranged, verdict, position, padding, half);
        dff_setup!(self, clock, first, second, third, fourth, fifth, last);

        self.arm_bus();
        self.pipeline();
        self.compare();
        self.select();
        self.context();
        self.shard_start();
        self.shard_range();
        self.judge();
        self.outputs();

        if self.clear.val() {
            self.first.d.next.valid = false;
            self.second.d.next.valid = false;
            self.third.d.next.valid = false;
            self.fourth.d.next.valid = false;
            self.fifth.d.next.valid = false;
            self.last.d.next.valid = false;
            self.verdict.d.next.accept = false;
            self.half.d.next = false;
            self.drop_no_window.next = false;
            self.drop_stale.next = false;
            self.drop_flags.next = false;
            self.drop_out_of_shard.next = false;
        }
    }

    /// Stores the contexts of armed slots for step 3.
    fn arm_bus(&mut self) {
        self.contexts.clock.next = self.clock.val();
        self.contexts.write_enable.next = self.arm.val() != 0;
        self.contexts.write_address.next = self.arm_slot.val();
        self.contexts.write_data.next = self.arm_context.val();
    }

    /// Moves the beats; the last stage splits bf16 payload beats.
    fn pipeline(&mut self) {
        self.splitting.next = self.fifth.q.val().valid
            && !self.fifth.q.val().head
            && self.verdict.q.val().accept
            && self.verdict.q.val().bf16
            && !self.half.q.val();
        self.busy.next = self.stall.val() || self.splitting.val();
        self.step.next = !self.stall.val() && !self.splitting.val();
        self.head1.next = self.in_valid.val() && self.in_head.val() && self.step.val();
        self.head2.next = self.first.q.val().valid && self.first.q.val().head && self.step.val();
        self.head3.next = self.second.q.val().valid && self.second.q.val().head && self.step.val();
        self.head4.next = self.third.q.val().valid && self.third.q.val().head && self.step.val();
        self.head5.next = self.fourth.q.val().valid && self.fourth.q.val().head && self.step.val();
        if self.step.val() {
            self.first.d.next.valid = self.in_valid.val();
            self.first.d.next.head = self.in_head.val();
            self.first.d.next.data = self.in_data.val();
            self.second.d.next = self.first.q.val();
            self.third.d.next = self.second.q.val();
            self.fourth.d.next = self.third.q.val();
            self.fifth.d.next = self.fourth.q.val();
        }
    }

    /// 1: compares the header with all slots. At most one hits.
    fn compare(&mut self) {
        for i in 0..8 {
            self.key[i].clock.next = self.clock.val();
            self.key[i].arm.next = self.arm.val().get_bit(i);
            self.key[i].ctx.next = self.arm_context.val();
            self.key[i].free.next = self.freed.val().get_bit(i) || self.clear.val();
            self.key[i].compare.next = self.head1.val();
            self.key[i].header.next = self.in_header.val();
        }
        if self.head1.val() {
            self.named.d.next.sender = self.in_header.val().sender;
            self.named.d.next.broadcast = self.in_header.val().broadcast;
            self.named.d.next.mark = self.in_header.val().mark;
            self.named.d.next.hadamard = self.in_header.val().hadamard;
            self.named.d.next.bf16 = self.in_header.val().bf16;
            self.named.d.next.beats = self.in_header.val().beats;
        }
    }

    /// 2: selects the slot that hit.
    fn select(&mut self) {
        self.slot.next = bits_w::<3>(0);
        self.distance.next = bits_w::<15>(0);
        self.any_hit.next = false;
        self.any_stale.next = false;
        for i in 0..8 {
            if self.key[i].hit.val() {
                self.distance.next = self.distance.val() | self.key[i].distance.val();
                self.any_hit.next = true;
            }
            self.any_stale.next = self.any_stale.val() || self.key[i].stale.val();
        }
        if self.key[1].hit.val() || self.key[3].hit.val() || self.key[5].hit.val() || self.key[7].hit.val() {
            self.slot.next = bits_w::<3>(1);
        }
        if self.key[2].hit.val() || self.key[3].hit.val() || self.key[6].hit.val() || self.key[7].hit.val() {
            self.slot.next = self.slot.val() | 2;
        }
        if self.key[4].hit.val() || self.key[5].hit.val() || self.key[6].hit.val() || self.key[7].hit.val() {
            self.slot.next = self.slot.val() | 4;
        }
        if self.head2.val() {
            self.found.d.next.hit = self.any_hit.val();
            self.found.d.next.stale = self.any_stale.val();
            self.found.d.next.slot = self.slot.val();
            self.found.d.next.position = self.distance.val();
            self.found.d.next.sender = self.named.q.val().sender;
            self.found.d.next.broadcast = self.named.q.val().broadcast;
            self.found.d.next.mark = self.named.q.val().mark;
            self.found.d.next.hadamard = self.named.q.val().hadamard;
            self.found.d.next.bf16 = self.named.q.val().bf16;
            self.found.d.next.beats = self.named.q.val().beats;
        }
    }

    /// 3: reads the context, and numbers the sender's shard.
    fn context(&mut self) {
        self.contexts.read_address.next = self.found.q.val().slot;
        self.ctx.next = self.contexts.read_data.val();
        self.sum.next = bit_cast_w::<7, 6>(self.found.q.val().sender) + self.ctx.val().rotation;
        self.wrapped.next = self.sum.val() - self.job.val().ranks;
        if self.head3.val() {
            self.known.d.next.hit = self.found.q.val().hit;
            self.known.d.next.stale = self.found.q.val().stale;
            self.known.d.next.slot = self.found.q.val().slot;
            self.known.d.next.position = self.found.q.val().position;
            self.known.d.next.sender = self.found.q.val().sender;
            self.known.d.next.broadcast = self.found.q.val().broadcast;
            self.known.d.next.mark = self.found.q.val().mark;
            self.known.d.next.bf16 = self.found.q.val().bf16;
            self.known.d.next.beats = self.found.q.val().beats;
            self.known.d.next.flags_differ = (self.found.q.val().hadamard != self.ctx.val().hadamard)
                || (self.found.q.val().bf16 != self.ctx.val().bf16);
            self.known.d.next.epoch = self.ctx.val().epoch;
            self.known.d.next.shard = self.sum.val();
            if self.sum.val() >= self.job.val().ranks {
                self.known.d.next.shard = self.wrapped.val();
            }
            self.known.d.next.quotient = self.ctx.val().quotient;
            self.known.d.next.remainder = self.ctx.val().remainder;
            self.known.d.next.own_start = self.ctx.val().own_start;
            self.known.d.next.own_beats = self.ctx.val().own_beats;
        }
    }

    /// 4: finds the shard's start, except for the last addition.
    fn shard_start(&mut self) {
        self.product.next = self.known.q.val().quotient * self.known.q.val().shard;
        self.covered.next = bit_cast_w::<15, 10>(self.known.q.val().beats);
        if self.known.q.val().bf16 {
            self.covered.next = bit_cast_w::<15, 10>(self.known.q.val().beats) << 1;
        }
        self.packet_end.next = self.known.q.val().position + self.covered.val();
        if self.head4.val() {
            self.placed.d.next.hit = self.known.q.val().hit;
            self.placed.d.next.stale = self.known.q.val().stale;
            self.placed.d.next.flags_differ = self.known.q.val().flags_differ;
            self.placed.d.next.slot = self.known.q.val().slot;
            self.placed.d.next.position = self.known.q.val().position;
            self.placed.d.next.sender = self.known.q.val().sender;
            self.placed.d.next.broadcast = self.known.q.val().broadcast;
            self.placed.d.next.mark = self.known.q.val().mark;
            self.placed.d.next.bf16 = self.known.q.val().bf16;
            self.placed.d.next.epoch = self.known.q.val().epoch;
            self.placed.d.next.own_start = self.known.q.val().own_start;
            self.placed.d.next.own_beats = self.known.q.val().own_beats;
            self.placed.d.next.product = self.product.val();
            self.placed.d.next.extra = self.known.q.val().remainder;
            self.placed.d.next.length = self.known.q.val().quotient;
            if self.known.q.val().shard < self.known.q.val().remainder {
                self.placed.d.next.extra = self.known.q.val().shard;
                self.placed.d.next.length = self.known.q.val().quotient + 1;
            }
            self.placed.d.next.end = self.packet_end.val();
        }
    }

    /// 5: finds the shard that the sender may write.
    fn shard_range(&mut self) {
        self.start.next =
            bit_cast_w::<15, 22>(self.placed.q.val().product) + bit_cast_w::<15, 7>(self.placed.q.val().extra);
        self.limit.next = self.start.val() + self.placed.q.val().length;
        self.own_end.next = self.placed.q.val().own_start + self.placed.q.val().own_beats;
        if self.head5.val() {
            self.ranged.d.next.hit = self.placed.q.val().hit;
            self.ranged.d.next.stale = self.placed.q.val().stale;
            self.ranged.d.next.flags_differ = self.placed.q.val().flags_differ;
            self.ranged.d.next.slot = self.placed.q.val().slot;
            self.ranged.d.next.position = self.placed.q.val().position;
            self.ranged.d.next.end = self.placed.q.val().end;
            self.ranged.d.next.own_start = self.placed.q.val().own_start;
            self.ranged.d.next.epoch = self.placed.q.val().epoch;
            self.ranged.d.next.sender = self.placed.q.val().sender;
            self.ranged.d.next.broadcast = self.placed.q.val().broadcast;
            self.ranged.d.next.mark = self.placed.q.val().mark;
            self.ranged.d.next.bf16 = self.placed.q.val().bf16;
            self.ranged.d.next.shard_start = self.placed.q.val().own_start;
            self.ranged.d.next.shard_end = self.own_end.val();
            if self.placed.q.val().broadcast {
                self.ranged.d.next.shard_start = self.start.val();
                self.ranged.d.next.shard_end = self.limit.val();
            }
        }
    }

    /// 6: accepts or drops the packet, and tracks its position.
    fn judge(&mut self) {
        self.allowed.next = self.ranged.q.val().shard_end;
        if self.ranged.q.val().bf16 {
            self.allowed.next = self.ranged.q.val().shard_end + 1;
        }
        self.fits.next = (self.ranged.q.val().position >= self.ranged.q.val().shard_start)
            && (self.ranged.q.val().end <= self.allowed.val());
        self.next_position.next = self.position.q.val() + 1;
        self.drop_no_window.next = false;
        self.drop_stale.next = false;
        self.drop_flags.next = false;
        self.drop_out_of_shard.next = false;
        self.widen.data.next = self.fifth.q.val().data;
        self.widen.bf16.next = self.verdict.q.val().bf16;
        self.widen.high.next = self.half.q.val();
        if !self.stall.val() {
            self.last.d.next.valid = self.fifth.q.val().valid;
            self.last.d.next.head = self.fifth.q.val().head;
            self.last.d.next.data = self.widen.beat.val();
            self.half.d.next = self.splitting.val();
            self.padding.d.next = false;
            if self.last.q.val().valid && !self.last.q.val().head {
                self.position.d.next = self.next_position.val();
                self.padding.d.next = self.next_position.val() == self.verdict.q.val().shard_end;
            }
            if self.fifth.q.val().valid && self.fifth.q.val().head {
                self.position.d.next = self.ranged.q.val().position;
                self.padding.d.next = false;
                self.verdict.d.next.accept = false;
                self.verdict.d.next.broadcast = self.ranged.q.val().broadcast;
                self.verdict.d.next.slot = self.ranged.q.val().slot;
                self.verdict.d.next.sender = self.ranged.q.val().sender;
                self.verdict.d.next.epoch = self.ranged.q.val().epoch;
                self.verdict.d.next.own_start = self.ranged.q.val().own_start;
                self.verdict.d.next.shard_end = self.ranged.q.val().shard_end;
                self.verdict.d.next.mark = self.ranged.q.val().mark;
                self.verdict.d.next.bf16 = self.ranged.q.val().bf16;
                if self.ranged.q.val().hit {
                    if self.ranged.q.val().flags_differ {
                        self.drop_flags.next = true;
                    } else if !self.fits.val() {
                        self.drop_out_of_shard.next = true;
                    } else {
                        self.verdict.d.next.accept = true;
                    }
                } else if self.ranged.q.val().stale {
                    self.drop_stale.next = true;
                } else {
                    self.drop_no_window.next = true;
                }
            }
        }
    }

    /// Outputs the window beat.
    fn outputs(&mut self) {
        self.relative.next = self.position.q.val() - self.verdict.q.val().own_start;
        self.valid.next =
            self.last.q.val().valid && !self.last.q.val().head && self.verdict.q.val().accept && !self.padding.q.val();
        self.broadcast.next = self.verdict.q.val().broadcast;
        self.beat.next.slot = self.verdict.q.val().slot;
        self.beat.next.position = self.position.q.val().get_bits::<14>(0);
        self.beat.next.relative = self.relative.val().get_bits::<14>(0);
        self.beat.next.sender = self.verdict.q.val().sender;
        self.beat.next.epoch = self.verdict.q.val().epoch;
        self.beat.next.data = self.last.q.val().data;
        self.packet.next =
            self.last.q.val().valid && self.last.q.val().head && self.verdict.q.val().accept && !self.stall.val();
        self.mark.next = self.verdict.q.val().mark;
        self.empty.next = !self.first.q.val().valid
            && !self.second.q.val().valid
            && !self.third.q.val().valid
            && !self.fourth.q.val().valid
            && !self.fifth.q.val().valid
            && !self.last.q.val().valid;
    }
}

clocked!(Lookup);
