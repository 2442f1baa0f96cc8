//! Frame builder: headers, and payload from the transmit buffer or the gather memory, as frames for
//! the MAC.
//!
//! Latency: 6 cycles from order to header beat. Throughput: one beat a cycle, without gaps inside a
//! frame or between waiting frames. Back-pressure: `mac_ready`. Reset: `clear`.
//!
//! A bf16 payload beat takes two cycles (64 Gb/s at 250 MHz), because the memories deliver one
//! window beat a cycle. To be free of gaps, a bf16 frame leaves only when it is complete.
//! The IPv4 checksum is summed over little-endian words, since ones' complement sums do not depend
//! on byte order (RFC 1071).

use super::entry::{HeaderWord, bit_cast_header_beat};
use super::types::{FrameBeat, GatherWord, JobWords, PacketOrder, SlotBeat};
use crate::hdl::prelude::*;
use crate::hdl::wires::PackHalves;
use crate::mem::block_fifo::BlockFifo;
use crate::mem::fifo::Fifo;
use crate::mem::ram::LutRam;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Asked {
    valid: bool,
    header: bool,
    broadcast: bool,
    last: bool,
    /// First half of a bf16 beat.
    kept: bool,
    /// Second half of a bf16 beat, or its only half.
    packs: bool,
    /// The second half is zeros.
    alone: bool,
    bf16: bool,
}

/// Flags of a beat in the outbox. Block RAM would deliver them too late for the decisions here.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct OutFlags {
    last: bool,
    /// The frame waits until complete.
    bf16: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Sending {
    slot: W<3>,
    broadcast: bool,
    bank: bool,
    position: W<14>,
    remaining: W<8>,
    bf16: bool,
    /// The last beat is half full.
    half: bool,
    /// The first half of the beat is read.
    second: bool,
}

#[derive(LogicBlock, Default)]
pub struct Builder {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    pub job: Signal<In, JobWords>,
    /// Peer table, at rank * 4 + word: 0 IPv4 address, 1 MAC bytes 0..4, 2 MAC bytes 4..6.
    pub peer_write: Signal<In, bool>,
    pub peer_word: Signal<In, W<8>>,
    pub peer_data: Signal<In, W<32>>,
    pub order_valid: Signal<In, bool>,
    pub order: Signal<In, PacketOrder>,
    pub order_ready: Signal<Out, bool>,
    /// Bank and beat of the transmit buffer. The data follows one cycle later.
    pub buffer_valid: Signal<Out, bool>,
    pub buffer_address: Signal<Out, SlotBeat>,
    pub buffer_data: Signal<In, Beat>,
    /// Slot and beat of the gather memory. The word follows one cycle later.
    pub gather_valid: Signal<Out, bool>,
    pub gather_address: Signal<Out, SlotBeat>,
    pub gather_word: Signal<In, GatherWord>,
    /// One-hot.
    pub sent_bank: Signal<Out, W<2>>,
    /// One-hot: slot whose broadcast is sent.
    pub sent_slot: Signal<Out, W<8>>,
    pub mac_valid: Signal<Out, bool>,
    pub mac: Signal<Out, FrameBeat>,
    pub mac_ready: Signal<In, bool>,
    pub began: Signal<Out, bool>,
    pub working: Signal<Out, bool>,
    orders: Fifo<PacketOrder, 2>,
    outbox: BlockFifo<Beat, 8>,
    out_flags: Fifo<OutFlags, 8>,
    whole: DFF<W<8>>,
    peer_ip: LutRam<W<32>, 6>,
    peer_mac_lo: LutRam<W<32>, 6>,
    peer_mac_hi: LutRam<W<32>, 6>,
    fetched: DFF<bool>,
    fetched_order: DFF<PacketOrder>,
    prepared: DFF<bool>,
    prepared_order: DFF<PacketOrder>,
    header: DFF<HeaderWord>,
    own_sum: DFF<W<20>>,
    sum: DFF<W<20>>,
    sending: DFF<Sending>,
    asked: DFF<Asked>,
    asked_header: DFF<HeaderWord>,
    kept_half: DFF<Beat>,
    halves: PackHalves,
    o: Wire<PacketOrder>,
    p: Wire<PacketOrder>,
    h: Wire<HeaderWord>,
    bytes: Wire<W<16>>,
    total: Wire<W<16>>,
    udp_length: Wire<W<16>>,
    total_swapped: Wire<W<16>>,
    ip: Wire<W<32>>,
    my_ip: Wire<W<32>>,
    own_words: Wire<W<20>>,
    words: Wire<W<20>>,
    fold: Wire<W<17>>,
    folded: Wire<W<16>>,
    checksum: Wire<W<16>>,
    offset: Wire<W<32>>,
    flags: Wire<W<8>>,
    timeout: Wire<W<16>>,
    step: Wire<W<16>>,
    bucket: Wire<W<16>>,
    take_prepared: Wire<bool>,
    move_up: Wire<bool>,
    slow: Wire<bool>,
    room: Wire<bool>,
    payload_beat: Wire<bool>,
    opening: Wire<bool>,
    finish: Wire<bool>,
    position_next: Wire<W<14>>,
    remaining_next: Wire<W<8>>,
    one8: Wire<W<8>>,
    ends: Wire<bool>,
    last: Wire<bool>,
    memory: Wire<Beat>,
    out: Wire<Beat>,
    f: Wire<OutFlags>,
    leaves: Wire<bool>,
    came: Wire<bool>,
    left: Wire<bool>,
    whole_more: Wire<W<8>>,
    whole_less: Wire<W<8>>,
}

#[sections]
impl Logic for Builder {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            fetched,
            fetched_order,
            prepared,
            prepared_order,
            header,
            own_sum,
            sum,
            sending,
            asked,
            asked_header,
            kept_half,
            whole
        );

        self.queues();
        self.peer_table();
        self.next_move();
        self.fetch();
        self.header();
        self.beats();
        self.to_outbox();
        self.to_mac();
        self.working.next = !self.orders.empty.val()
            || self.fetched.q.val()
            || self.prepared.q.val()
            || (self.sending.q.val().remaining != 0)
            || self.asked.q.val().valid
            || (self.outbox.room.val() != 256);

        if self.clear.val() {
            self.fetched.d.next = false;
            self.prepared.d.next = false;
            self.sending.d.next.remaining = bits_w::<8>(0);
            self.asked.d.next.valid = false;
            self.whole.d.next = bits_w::<8>(0);
        }
    }

    /// Clocks and clears the queues.
    fn queues(&mut self) {
        self.orders.clock.next = self.clock.val();
        self.orders.clear.next = self.clear.val();
        self.orders.push.next = self.order_valid.val();
        self.orders.push_data.next = self.order.val();
        self.order_ready.next = !self.orders.full.val();
        self.outbox.clock.next = self.clock.val();
        self.outbox.clear.next = self.clear.val();
        self.out_flags.clock.next = self.clock.val();
        self.out_flags.clear.next = self.clear.val();
    }

    /// Stores and looks up peer addresses.
    fn peer_table(&mut self) {
        self.peer_ip.clock.next = self.clock.val();
        self.peer_mac_lo.clock.next = self.clock.val();
        self.peer_mac_hi.clock.next = self.clock.val();
        self.peer_ip.write_address.next = self.peer_word.val().get_bits::<6>(2);
        self.peer_mac_lo.write_address.next = self.peer_word.val().get_bits::<6>(2);
        self.peer_mac_hi.write_address.next = self.peer_word.val().get_bits::<6>(2);
        self.peer_ip.write_data.next = self.peer_data.val();
        self.peer_mac_lo.write_data.next = self.peer_data.val();
        self.peer_mac_hi.write_data.next = self.peer_data.val();
        self.peer_ip.write_enable.next = self.peer_write.val() && (self.peer_word.val().get_bits::<2>(0) == 0);
        self.peer_mac_lo.write_enable.next = self.peer_write.val() && (self.peer_word.val().get_bits::<2>(0) == 1);
        self.peer_mac_hi.write_enable.next = self.peer_write.val() && (self.peer_word.val().get_bits::<2>(0) == 2);
        self.peer_ip.read_address.next = self.fetched_order.q.val().peer;
        self.peer_mac_lo.read_address.next = self.fetched_order.q.val().peer;
        self.peer_mac_hi.read_address.next = self.fetched_order.q.val().peer;
    }

    /// Selects this cycle's move: payload beat, next header, or end of a window.
    fn next_move(&mut self) {
        self.p.next = self.prepared_order.q.val();
        // At most 16 beats of fp32 frames wait (14 in the outbox at a request), so that a broadcast
        // does not queue behind more.
        self.slow.next = self.p.val().bf16;
        if self.sending.q.val().remaining != 0 {
            self.slow.next = self.sending.q.val().bf16;
        }
        self.room.next = (self.outbox.room.val() >= 242) || (self.slow.val() && (self.outbox.room.val() >= 3));
        self.payload_beat.next = self.room.val() && (self.sending.q.val().remaining != 0);
        self.finish.next = self.prepared.q.val() && self.p.val().last && (self.sending.q.val().remaining == 0);
        self.opening.next =
            self.room.val() && self.prepared.q.val() && !self.p.val().last && (self.sending.q.val().remaining == 0);
        self.take_prepared.next = self.opening.val() || self.finish.val();
    }

    /// Step 1: fetches an order.
    fn fetch(&mut self) {
        self.move_up.next = self.fetched.q.val() && (!self.prepared.q.val() || self.take_prepared.val());
        self.orders.pop.next = false;
        if self.move_up.val() {
            self.fetched.d.next = false;
        }
        if !self.orders.empty.val() && (!self.fetched.q.val() || self.move_up.val()) {
            self.orders.pop.next = true;
            self.fetched_order.d.next = self.orders.pop_data.val();
            self.fetched.d.next = true;
        }
    }

    /// Step 2: composes the header without folding the checksum.
    fn header(&mut self) {
        self.o.next = self.fetched_order.q.val();
        self.bytes.next = bit_cast_w::<16, 8>(self.o.val().beats) << 6;
        self.total.next = self.bytes.val() + 50;
        self.udp_length.next = self.bytes.val() + 30;
        self.total_swapped.next = (bit_cast_w::<16, 8>(self.total.val().get_bits::<8>(0)) << 8)
            | bit_cast_w::<16, 8>(self.total.val().get_bits::<8>(8));
        self.ip.next = self.peer_ip.read_data.val();
        self.my_ip.next = self.job.val().ip;
        self.own_words.next = bits_w::<20>(0x11c5)
            + bit_cast_w::<20, 16>(self.my_ip.val().get_bits::<16>(0))
            + bit_cast_w::<20, 16>(self.my_ip.val().get_bits::<16>(16));
        self.own_sum.d.next = self.own_words.val();
        self.words.next = (self.own_sum.q.val() + bit_cast_w::<20, 16>(self.total_swapped.val()))
            + (bit_cast_w::<20, 16>(self.ip.val().get_bits::<16>(0))
                + bit_cast_w::<20, 16>(self.ip.val().get_bits::<16>(16)));
        self.offset.next = bit_cast_w::<32, 26>(self.o.val().beat) << 6;
        self.timeout.next = self.o.val().timeout;
        self.step.next = self.o.val().step;
        self.bucket.next = self.o.val().bucket;
        self.flags.next = bit_cast_w::<8, 4>(self.o.val().incast) << 4;
        if self.o.val().mark {
            self.flags.next = self.flags.val() | 1;
        }
        if self.o.val().hadamard {
            self.flags.next = self.flags.val() | 2;
        }
        if self.o.val().bf16 {
            self.flags.next = self.flags.val() | 4;
        }
        if self.move_up.val() {
            self.prepared.d.next = true;
            self.prepared_order.d.next = self.o.val();
            self.sum.d.next = self.words.val();
            self.header.d.next.eth_dst = (bit_cast_w::<48, 16>(self.peer_mac_hi.read_data.val().get_bits::<16>(0))
                << 32)
                | bit_cast_w::<48, 32>(self.peer_mac_lo.read_data.val());
            self.header.d.next.eth_src = self.job.val().mac;
            self.header.d.next.eth_type = bits_w::<16>(0x0008);
            self.header.d.next.ip_version_ihl = bits_w::<8>(0x45);
            self.header.d.next.ip_total_length_b0 = self.total.val().get_bits::<8>(8);
            self.header.d.next.ip_total_length_b1 = self.total.val().get_bits::<8>(0);
            self.header.d.next.ip_fragment = bits_w::<16>(0x0040);
            self.header.d.next.ip_ttl = bits_w::<8>(64);
            self.header.d.next.ip_protocol = bits_w::<8>(17);
            self.header.d.next.ip_src = self.my_ip.val();
            self.header.d.next.ip_dst = self.ip.val();
            self.header.d.next.udp_src = self.job.val().udp_port;
            self.header.d.next.udp_dst = self.job.val().udp_port;
            self.header.d.next.udp_length_b0 = self.udp_length.val().get_bits::<8>(8);
            self.header.d.next.udp_length_b1 = self.udp_length.val().get_bits::<8>(0);
            self.header.d.next.bucket_b0 = self.bucket.val().get_bits::<8>(8);
            self.header.d.next.bucket_b1 = self.bucket.val().get_bits::<8>(0);
            self.header.d.next.offset_b0 = self.offset.val().get_bits::<8>(24);
            self.header.d.next.offset_b1 = self.offset.val().get_bits::<8>(16);
            self.header.d.next.offset_b2 = self.offset.val().get_bits::<8>(8);
            self.header.d.next.offset_b3 = self.offset.val().get_bits::<8>(0);
            self.header.d.next.timeout_b0 = self.timeout.val().get_bits::<8>(8);
            self.header.d.next.timeout_b1 = self.timeout.val().get_bits::<8>(0);
            self.header.d.next.incast_flags = self.flags.val();
            self.header.d.next.version_stage = bits_w::<8>(0x10);
            if self.o.val().broadcast {
                self.header.d.next.version_stage = bits_w::<8>(0x12);
            }
            self.header.d.next.sender_b1 = bit_cast_w::<8, 6>(self.job.val().rank);
            self.header.d.next.step_b0 = self.step.val().get_bits::<8>(8);
            self.header.d.next.step_b1 = self.step.val().get_bits::<8>(0);
            self.header.d.next.job_tag = self.job.val().job_tag;
        } else if self.take_prepared.val() {
            self.prepared.d.next = false;
        }
    }

    /// Step 3: requests a header or a memory beat.
    fn beats(&mut self) {
        self.fold.next = bit_cast_w::<17, 16>(self.sum.q.val().get_bits::<16>(0))
            + bit_cast_w::<17, 4>(self.sum.q.val().get_bits::<4>(16));
        self.folded.next = self.fold.val().get_bits::<16>(0) + bit_cast_w::<16, 1>(self.fold.val().get_bits::<1>(16));
        self.checksum.next = self.folded.val() ^ 0xffff;
        self.h.next = self.header.q.val();
        self.h.next.ip_checksum = self.checksum.val();
        self.began.next = self.opening.val();
        self.position_next.next = self.sending.q.val().position + 1;
        self.remaining_next.next = self.sending.q.val().remaining - 1;
        self.last.next = self.sending.q.val().remaining == 1;
        self.ends.next =
            !self.sending.q.val().bf16 || self.sending.q.val().second || (self.last.val() && self.sending.q.val().half);
        self.asked_header.d.next = self.h.val();
        self.asked.d.next.valid = self.opening.val() || (self.payload_beat.val() && self.ends.val());
        self.asked.d.next.header = self.opening.val();
        self.asked.d.next.broadcast = self.sending.q.val().broadcast;
        self.asked.d.next.last = self.payload_beat.val() && self.last.val();
        self.asked.d.next.kept = self.payload_beat.val() && !self.ends.val();
        self.asked.d.next.packs = self.payload_beat.val() && self.sending.q.val().bf16;
        self.asked.d.next.alone = !self.sending.q.val().second;
        self.asked.d.next.bf16 = self.sending.q.val().bf16;
        self.buffer_valid.next = self.payload_beat.val() && !self.sending.q.val().broadcast;
        self.gather_valid.next = self.payload_beat.val() && self.sending.q.val().broadcast;
        self.buffer_address.next.slot = bits_w::<3>(0);
        self.buffer_address.next.beat = self.sending.q.val().position;
        if self.sending.q.val().bank {
            self.buffer_address.next.slot = bits_w::<3>(1);
        }
        self.gather_address.next.slot = self.sending.q.val().slot;
        self.gather_address.next.beat = self.sending.q.val().position;
        if self.payload_beat.val() {
            self.sending.d.next.position = self.position_next.val();
            self.sending.d.next.second = !self.ends.val();
            if self.ends.val() {
                self.sending.d.next.remaining = self.remaining_next.val();
            }
        }
        if self.opening.val() {
            self.asked.d.next.bf16 = self.p.val().bf16;
            self.sending.d.next.slot = self.p.val().slot;
            self.sending.d.next.broadcast = self.p.val().broadcast;
            self.sending.d.next.bank = self.p.val().bank;
            self.sending.d.next.position = self.p.val().position;
            self.sending.d.next.remaining = self.p.val().beats;
            self.sending.d.next.bf16 = self.p.val().bf16;
            self.sending.d.next.half = self.p.val().half;
            self.sending.d.next.second = false;
        }
        self.sent_bank.next = bits_w::<2>(0);
        self.sent_slot.next = bits_w::<8>(0);
        self.one8.next = bits_w::<8>(1);
        if self.finish.val() {
            if self.p.val().broadcast {
                self.sent_slot.next = self.one8.val() << self.p.val().slot;
            } else if self.p.val().bank {
                self.sent_bank.next = bits_w::<2>(2);
            } else {
                self.sent_bank.next = bits_w::<2>(1);
            }
        }
    }

    /// Step 4: pushes a header or payload beat into the outbox.
    fn to_outbox(&mut self) {
        self.memory.next = self.buffer_data.val();
        if self.asked.q.val().broadcast {
            self.memory.next = self.gather_word.val().data;
        }
        if self.asked.q.val().kept {
            self.kept_half.d.next = self.memory.val();
        }
        self.halves.low.next = self.kept_half.q.val();
        self.halves.high.next = self.memory.val();
        if self.asked.q.val().alone {
            self.halves.low.next = self.memory.val();
            self.halves.high.next = bits_beat(0);
        }
        self.out.next = self.memory.val();
        if self.asked.q.val().header {
            self.out.next = bit_cast_header_beat(self.asked_header.q.val());
        } else if self.asked.q.val().packs {
            self.out.next = self.halves.packs.val();
        }
        self.outbox.push.next = self.asked.q.val().valid;
        self.outbox.push_data.next = self.out.val();
        self.out_flags.push.next = self.asked.q.val().valid;
        self.out_flags.push_data.next.last = self.asked.q.val().last;
        self.out_flags.push_data.next.bf16 = self.asked.q.val().bf16;
    }

    /// Sends to the MAC.
    fn to_mac(&mut self) {
        self.f.next = self.out_flags.pop_data.val();
        self.leaves.next = !self.outbox.empty.val() && (!self.f.val().bf16 || (self.whole.q.val() != 0));
        self.mac_valid.next = self.leaves.val();
        self.mac.next.data = self.outbox.pop_data.val();
        self.mac.next.last = self.f.val().last;
        self.outbox.pop.next = self.leaves.val() && self.mac_ready.val();
        self.out_flags.pop.next = self.leaves.val() && self.mac_ready.val();
        self.came.next = self.asked.q.val().valid && self.asked.q.val().last;
        self.left.next = self.leaves.val() && self.mac_ready.val() && self.f.val().last;
        self.whole_more.next = self.whole.q.val() + 1;
        self.whole_less.next = self.whole.q.val() - 1;
        if self.came.val() && !self.left.val() {
            self.whole.d.next = self.whole_more.val();
        } else if self.left.val() && !self.came.val() {
            self.whole.d.next = self.whole_less.val();
        }
    }
}

clocked!(Builder);
