//! Register file of BAR 0: the contract's map behind a synchronous read and write port of 32-bit
//! words, and the drop counters.
//!
//! Registers written by the host are levels, and reads have no side effects. Addresses without a
//! register read as zero. Counters wrap.
//! Host-written values are read back from a copy in block RAM, masked to the bits that exist.
//! Latency: 1 cycle for reads and writes. Reset: `clear` zeroes counters and errors. `reset` (of
//! the bus) clears CONTROL and keeps all other host-written registers.
//! Word addresses below are the contract's byte offsets divided by four.

use super::build::{Build, BuildWords};
use super::types::JobWords;
use crate::hdl::prelude::*;
use crate::mem::ram::{LutRam, Ram};

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Host {
    enable: bool,
    scratch: W<32>,
    rank: W<6>,
    ranks: W<7>,
    job_tag_lo: W<32>,
    job_tag_hi: W<32>,
    payload_beats: W<8>,
    udp_port: W<16>,
    local_ip: W<32>,
    local_mac_lo: W<32>,
    local_mac_hi: W<16>,
}

/// Events to count, one cycle each. All but the first two drop a frame or a beat.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct Events {
    /// Good or bad.
    pub rx_packet: bool,
    pub tx_packet: bool,
    /// A good frame found the receive buffer full.
    pub fifo_full: bool,
    /// Marked by the MAC.
    pub bad: bool,
    /// Not IPv4/UDP to the job's port.
    pub foreign: bool,
    pub malformed: bool,
    pub version: bool,
    pub job: bool,
    pub no_window: bool,
    /// The bucket is armed for a later step.
    pub stale: bool,
    /// Hadamard or bf16 flag differs from the window's.
    pub flags: bool,
    pub out_of_shard: bool,
    /// The beat's stage had closed.
    pub late_contribute: bool,
    pub late_broadcast: bool,
    pub duplicate_contribute: bool,
    pub duplicate_broadcast: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Counters {
    rx_packets: W<32>,
    tx_packets: W<32>,
    fifo_full: W<32>,
    bad: W<32>,
    foreign: W<32>,
    malformed: W<32>,
    version: W<32>,
    job: W<32>,
    no_window: W<32>,
    flags: W<32>,
    out_of_shard: W<32>,
    late: W<32>,
    duplicate: W<32>,
    stale: W<32>,
}

#[derive(LogicBlock, Default)]
pub struct Registers {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, bool>,
    pub clear: Signal<In, bool>,
    /// A reset is in progress, reported in STATUS.
    pub busy: Signal<In, bool>,
    /// Addresses are in words.
    pub write: Signal<In, bool>,
    pub write_address: Signal<In, W<10>>,
    pub write_data: Signal<In, W<32>>,
    /// Data follows one cycle later.
    pub read_address: Signal<In, W<10>>,
    pub read_data: Signal<Out, W<32>>,
    pub sq_head: [Signal<In, W<16>>; 4],
    pub cq_tail: [Signal<In, W<16>>; 4],
    /// An access to host memory failed.
    pub dma_fault: Signal<In, bool>,
    pub stop: Signal<In, W<4>>,
    pub events: Signal<In, Events>,
    pub enable: Signal<Out, bool>,
    pub job: Signal<Out, JobWords>,
    /// Queues that have rings and have not stopped.
    pub usable: Signal<Out, W<4>>,
    /// Selects the submission ring of the next two ports: address, and entries - 1.
    pub sq_queue: Signal<In, W<2>>,
    pub sq_base: Signal<Out, W<64>>,
    pub sq_mask: Signal<Out, W<16>>,
    /// Doorbells.
    pub sq_tail: [Signal<Out, W<16>>; 4],
    pub cq_queue: Signal<In, W<2>>,
    pub cq_base: Signal<Out, W<64>>,
    /// Entries - 1 of each completion ring.
    pub cq_mask: [Signal<Out, W<16>>; 4],
    pub cq_head: [Signal<Out, W<16>>; 4],
    pub peer_write: Signal<Out, bool>,
    pub peer_word: Signal<Out, W<8>>,
    host: DFF<Host>,
    copy: Ram<W<32>, 10>,
    sq_base_lo: LutRam<W<32>, 2>,
    sq_base_hi: LutRam<W<32>, 2>,
    sq_log2: LutRam<W<4>, 2>,
    cq_base_lo: LutRam<W<32>, 2>,
    cq_base_hi: LutRam<W<32>, 2>,
    cq_log2: [DFF<W<4>>; 4],
    tail: [DFF<W<16>>; 4],
    head: [DFF<W<16>>; 4],
    sq_lo_set: DFF<W<4>>,
    sq_hi_set: DFF<W<4>>,
    cq_lo_set: DFF<W<4>>,
    cq_hi_set: DFF<W<4>>,
    stopped: DFF<W<4>>,
    counters: DFF<Counters>,
    faulty: DFF<bool>,
    value: DFF<W<32>>,
    data: Wire<W<32>>,
    kept: Wire<W<32>>,
    some: Wire<W<4>>,
    queue: Wire<W<2>>,
    of_queue: Wire<bool>,
    place: Wire<W<6>>,
    one4: Wire<W<4>>,
    queue_bit: Wire<W<4>>,
    other_queues: Wire<W<4>>,
    read_queue: Wire<W<2>>,
    read_place: Wire<W<6>>,
    read_bit: Wire<W<4>>,
    head_read: Wire<W<16>>,
    tail_read: Wire<W<16>>,
    one: Wire<W<16>>,
    sq_size: Wire<W<16>>,
    cq_size: [Wire<W<16>>; 4],
    late: Wire<W<2>>,
    duplicate: Wire<W<2>>,
    inverted: Wire<W<32>>,
    fault_bit: Wire<W<1>>,
    busy_bit: Wire<W<1>>,
    enable_bit: Wire<W<1>>,
    tag: Wire<W<64>>,
    build: BuildWords,
}

#[sections]
impl Logic for Registers {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, host, sq_lo_set, sq_hi_set, cq_lo_set, cq_hi_set, stopped, counters, faulty, value);
        self.copy.clock.next = self.clock.val();
        self.sq_base_lo.clock.next = self.clock.val();
        self.sq_base_hi.clock.next = self.clock.val();
        self.sq_log2.clock.next = self.clock.val();
        self.cq_base_lo.clock.next = self.clock.val();
        self.cq_base_hi.clock.next = self.clock.val();

        self.queue_writes();
        self.job_writes();
        self.status();
        self.reads();
        self.counters();
        self.faults();
        self.to_units();
    }

    /// Writes queue registers.
    fn queue_writes(&mut self) {
        self.data.next = self.write_data.val();
        self.queue.next = self.write_address.val().get_bits::<2>(6);
        self.place.next = self.write_address.val().get_bits::<6>(0);
        self.of_queue.next = self.write.val() && (self.write_address.val().get_bits::<2>(8) == 2);
        self.one4.next = bits_w::<4>(1);
        self.queue_bit.next = bits_w::<4>(0);
        if self.of_queue.val() {
            self.queue_bit.next = self.one4.val() << self.queue.val();
        }
        self.other_queues.next = self.queue_bit.val() ^ 0xf;
        self.some.next = bits_w::<4>(0);
        if self.data.val() != 0 {
            self.some.next = self.queue_bit.val();
        }
        self.sq_base_lo.write_enable.next = self.of_queue.val() && (self.place.val() == 0x00);
        self.sq_base_hi.write_enable.next = self.of_queue.val() && (self.place.val() == 0x01);
        self.sq_log2.write_enable.next = self.of_queue.val() && (self.place.val() == 0x02);
        self.cq_base_lo.write_enable.next = self.of_queue.val() && (self.place.val() == 0x03);
        self.cq_base_hi.write_enable.next = self.of_queue.val() && (self.place.val() == 0x04);
        self.sq_base_lo.write_address.next = self.queue.val();
        self.sq_base_hi.write_address.next = self.queue.val();
        self.sq_log2.write_address.next = self.queue.val();
        self.cq_base_lo.write_address.next = self.queue.val();
        self.cq_base_hi.write_address.next = self.queue.val();
        self.sq_base_lo.write_data.next = self.data.val();
        self.sq_base_hi.write_data.next = self.data.val();
        self.sq_log2.write_data.next = self.data.val().get_bits::<4>(0);
        self.cq_base_lo.write_data.next = self.data.val();
        self.cq_base_hi.write_data.next = self.data.val();
        for i in 0..4 {
            self.cq_log2[i].clock.next = self.clock.val();
            self.tail[i].clock.next = self.clock.val();
            self.head[i].clock.next = self.clock.val();
            self.cq_log2[i].d.next = self.cq_log2[i].q.val();
            self.tail[i].d.next = self.tail[i].q.val();
            self.head[i].d.next = self.head[i].q.val();
            if self.queue_bit.val().get_bit(i) {
                if self.place.val() == 0x05 {
                    self.cq_log2[i].d.next = self.data.val().get_bits::<4>(0);
                } else if self.place.val() == 0x10 {
                    self.tail[i].d.next = self.data.val().get_bits::<16>(0);
                } else if self.place.val() == 0x20 {
                    self.head[i].d.next = self.data.val().get_bits::<16>(0);
                }
            }
        }
    }

    /// Writes job registers and the peer table; `kept` masks the bits that exist.
    fn job_writes(&mut self) {
        self.kept.next = bits_w::<32>(0);
        if self.of_queue.val() {
            if self.place.val() == 0x00 {
                self.kept.next = bits_w::<32>(0xffff_ffffu64);
                self.sq_lo_set.d.next = (self.sq_lo_set.q.val() & self.other_queues.val()) | self.some.val();
            } else if self.place.val() == 0x01 {
                self.kept.next = bits_w::<32>(0xffff_ffffu64);
                self.sq_hi_set.d.next = (self.sq_hi_set.q.val() & self.other_queues.val()) | self.some.val();
            } else if self.place.val() == 0x03 {
                self.kept.next = bits_w::<32>(0xffff_ffffu64);
                self.cq_lo_set.d.next = (self.cq_lo_set.q.val() & self.other_queues.val()) | self.some.val();
            } else if self.place.val() == 0x04 {
                self.kept.next = bits_w::<32>(0xffff_ffffu64);
                self.cq_hi_set.d.next = (self.cq_hi_set.q.val() & self.other_queues.val()) | self.some.val();
            } else if (self.place.val() == 0x02) || (self.place.val() == 0x05) {
                self.kept.next = bits_w::<32>(0xf);
            } else if (self.place.val() == 0x10) || (self.place.val() == 0x20) {
                self.kept.next = bits_w::<32>(0xffff);
            }
        } else if self.write.val() {
            if self.write_address.val() == 0x40 {
                self.host.d.next.enable = self.data.val().get_bit(0);
            } else if self.write_address.val() == 0x41 {
                self.host.d.next.scratch = self.data.val();
                self.kept.next = bits_w::<32>(0xffff_ffffu64);
            } else if self.write_address.val() == 0x42 {
                self.host.d.next.rank = self.data.val().get_bits::<6>(0);
                self.kept.next = bits_w::<32>(0x3f);
            } else if self.write_address.val() == 0x43 {
                self.host.d.next.ranks = self.data.val().get_bits::<7>(0);
                self.kept.next = bits_w::<32>(0x7f);
            } else if self.write_address.val() == 0x44 {
                self.host.d.next.job_tag_lo = self.data.val();
                self.kept.next = bits_w::<32>(0xffff_ffffu64);
            } else if self.write_address.val() == 0x45 {
                self.host.d.next.job_tag_hi = self.data.val();
                self.kept.next = bits_w::<32>(0xffff_ffffu64);
            } else if self.write_address.val() == 0x46 {
                self.host.d.next.payload_beats = self.data.val().get_bits::<8>(0);
                self.kept.next = bits_w::<32>(0xff);
            } else if self.write_address.val() == 0x47 {
                self.host.d.next.udp_port = self.data.val().get_bits::<16>(0);
                self.kept.next = bits_w::<32>(0xffff);
            } else if self.write_address.val() == 0x48 {
                self.host.d.next.local_ip = self.data.val();
                self.kept.next = bits_w::<32>(0xffff_ffffu64);
            } else if self.write_address.val() == 0x49 {
                self.host.d.next.local_mac_lo = self.data.val();
                self.kept.next = bits_w::<32>(0xffff_ffffu64);
            } else if self.write_address.val() == 0x4a {
                self.host.d.next.local_mac_hi = self.data.val().get_bits::<16>(0);
                self.kept.next = bits_w::<32>(0xffff);
            }
        }
        self.copy.write_enable.next = self.kept.val() != 0;
        self.copy.write_address.next = self.write_address.val();
        self.copy.write_data.next = self.data.val() & self.kept.val();
        self.copy.read_address.next = self.read_address.val();
        self.peer_write.next = self.write.val() && (self.write_address.val().get_bits::<2>(8) == 1);
        self.peer_word.next = self.write_address.val().get_bits::<8>(0);
    }

    /// Collects the values of card-written registers.
    fn status(&mut self) {
        self.fault_bit.next = bits_w::<1>(0);
        if self.faulty.q.val() {
            self.fault_bit.next = bits_w::<1>(1);
        }
        self.busy_bit.next = bits_w::<1>(0);
        if self.busy.val() {
            self.busy_bit.next = bits_w::<1>(1);
        }
        self.enable_bit.next = bits_w::<1>(0);
        if self.host.q.val().enable {
            self.enable_bit.next = bits_w::<1>(1);
        }
        self.inverted.next = self.host.q.val().scratch ^ 0xffff_ffffu64;
        self.read_queue.next = self.read_address.val().get_bits::<2>(6);
        self.read_place.next = self.read_address.val().get_bits::<6>(0);
        self.read_bit.next = self.one4.val() << self.read_queue.val();
        self.head_read.next = bits_w::<16>(0);
        self.tail_read.next = bits_w::<16>(0);
        for i in 0..4 {
            if self.read_bit.val().get_bit(i) {
                self.head_read.next = self.sq_head[i].val();
                self.tail_read.next = self.cq_tail[i].val();
            }
        }
    }

    /// Reads card-written registers and CONTROL; all others are read from the copy.
    fn reads(&mut self) {
        self.value.d.next = bits_w::<32>(0);
        if self.read_address.val().get_bits::<2>(8) == 2 {
            if self.read_place.val() == 0x30 {
                self.value.d.next = bit_cast_w::<32, 16>(self.head_read.val());
            } else if self.read_place.val() == 0x31 {
                self.value.d.next = bit_cast_w::<32, 16>(self.tail_read.val());
            }
        } else if self.read_address.val() == 0x00 {
            self.value.d.next = bits_w::<32>(0x4f52_4e43);
        } else if self.read_address.val() == 0x01 {
            self.value.d.next = bits_w::<32>(2);
        } else if self.read_address.val() == 0x02 {
            self.value.d.next = bits_w::<32>(1);
        } else if self.read_address.val() == 0x03 {
            self.value.d.next = bits_w::<32>(8);
        } else if self.read_address.val() == 0x04 {
            self.value.d.next = bit_cast_w::<32, 15>(self.build.window_beats.val());
        } else if self.read_address.val() == 0x05 {
            self.value.d.next = bit_cast_w::<32, 4>(self.build.log2_n_max.val());
        } else if self.read_address.val() == 0x06 {
            self.value.d.next = bits_w::<32>(64);
        } else if self.read_address.val() == 0x07 {
            self.value.d.next = bits_w::<32>(139);
        } else if self.read_address.val() == 0x08 {
            self.value.d.next = bits_w::<32>(4);
        } else if self.read_address.val() == 0x10 {
            self.value.d.next = self.inverted.val();
        } else if self.read_address.val() == 0x11 {
            self.value.d.next = (bit_cast_w::<32, 4>(self.stopped.q.val()) << 8)
                | (bit_cast_w::<32, 1>(self.busy_bit.val()) << 1)
                | bit_cast_w::<32, 1>(self.fault_bit.val());
        } else if self.read_address.val() == 0x40 {
            self.value.d.next = bit_cast_w::<32, 1>(self.enable_bit.val());
        } else if self.read_address.val() == 0x20 {
            self.value.d.next = self.counters.q.val().rx_packets;
        } else if self.read_address.val() == 0x21 {
            self.value.d.next = self.counters.q.val().tx_packets;
        } else if self.read_address.val() == 0x22 {
            self.value.d.next = self.counters.q.val().fifo_full;
        } else if self.read_address.val() == 0x23 {
            self.value.d.next = self.counters.q.val().foreign;
        } else if self.read_address.val() == 0x24 {
            self.value.d.next = self.counters.q.val().malformed;
        } else if self.read_address.val() == 0x25 {
            self.value.d.next = self.counters.q.val().version;
        } else if self.read_address.val() == 0x26 {
            self.value.d.next = self.counters.q.val().job;
        } else if self.read_address.val() == 0x27 {
            self.value.d.next = self.counters.q.val().no_window;
        } else if self.read_address.val() == 0x28 {
            self.value.d.next = self.counters.q.val().flags;
        } else if self.read_address.val() == 0x29 {
            self.value.d.next = self.counters.q.val().out_of_shard;
        } else if self.read_address.val() == 0x2a {
            self.value.d.next = self.counters.q.val().late;
        } else if self.read_address.val() == 0x2b {
            self.value.d.next = self.counters.q.val().duplicate;
        } else if self.read_address.val() == 0x2c {
            self.value.d.next = self.counters.q.val().stale;
        } else if self.read_address.val() == 0x2d {
            self.value.d.next = self.counters.q.val().bad;
        }
        self.read_data.next = self.value.q.val() | self.copy.read_data.val();
    }

    /// Counts events; both stages may report a late or duplicate beat in one cycle.
    fn counters(&mut self) {
        self.late.next = bits_w::<2>(0);
        if self.events.val().late_contribute && self.events.val().late_broadcast {
            self.late.next = bits_w::<2>(2);
        } else if self.events.val().late_contribute || self.events.val().late_broadcast {
            self.late.next = bits_w::<2>(1);
        }
        self.duplicate.next = bits_w::<2>(0);
        if self.events.val().duplicate_contribute && self.events.val().duplicate_broadcast {
            self.duplicate.next = bits_w::<2>(2);
        } else if self.events.val().duplicate_contribute || self.events.val().duplicate_broadcast {
            self.duplicate.next = bits_w::<2>(1);
        }
        if self.events.val().rx_packet {
            self.counters.d.next.rx_packets = self.counters.q.val().rx_packets + 1;
        }
        if self.events.val().tx_packet {
            self.counters.d.next.tx_packets = self.counters.q.val().tx_packets + 1;
        }
        if self.events.val().fifo_full {
            self.counters.d.next.fifo_full = self.counters.q.val().fifo_full + 1;
        }
        if self.events.val().bad {
            self.counters.d.next.bad = self.counters.q.val().bad + 1;
        }
        if self.events.val().foreign {
            self.counters.d.next.foreign = self.counters.q.val().foreign + 1;
        }
        if self.events.val().malformed {
            self.counters.d.next.malformed = self.counters.q.val().malformed + 1;
        }
        if self.events.val().version {
            self.counters.d.next.version = self.counters.q.val().version + 1;
        }
        if self.events.val().job {
            self.counters.d.next.job = self.counters.q.val().job + 1;
        }
        if self.events.val().no_window {
            self.counters.d.next.no_window = self.counters.q.val().no_window + 1;
        }
        if self.events.val().stale {
            self.counters.d.next.stale = self.counters.q.val().stale + 1;
        }
        if self.events.val().flags {
            self.counters.d.next.flags = self.counters.q.val().flags + 1;
        }
        if self.events.val().out_of_shard {
            self.counters.d.next.out_of_shard = self.counters.q.val().out_of_shard + 1;
        }
        self.counters.d.next.late = self.counters.q.val().late + bit_cast_w::<32, 2>(self.late.val());
        self.counters.d.next.duplicate = self.counters.q.val().duplicate + bit_cast_w::<32, 2>(self.duplicate.val());
    }

    /// Keeps faults and stopped queues until `clear`, and clears the enable bit on reset.
    fn faults(&mut self) {
        if self.dma_fault.val() {
            self.faulty.d.next = true;
        }
        self.stopped.d.next = self.stopped.q.val() | self.stop.val();
        if self.clear.val() {
            self.faulty.d.next = false;
            self.stopped.d.next = bits_w::<4>(0);
            self.counters.d.next.rx_packets = bits_w::<32>(0);
            self.counters.d.next.tx_packets = bits_w::<32>(0);
            self.counters.d.next.fifo_full = bits_w::<32>(0);
            self.counters.d.next.bad = bits_w::<32>(0);
            self.counters.d.next.foreign = bits_w::<32>(0);
            self.counters.d.next.malformed = bits_w::<32>(0);
            self.counters.d.next.version = bits_w::<32>(0);
            self.counters.d.next.job = bits_w::<32>(0);
            self.counters.d.next.no_window = bits_w::<32>(0);
            self.counters.d.next.flags = bits_w::<32>(0);
            self.counters.d.next.out_of_shard = bits_w::<32>(0);
            self.counters.d.next.late = bits_w::<32>(0);
            self.counters.d.next.duplicate = bits_w::<32>(0);
            self.counters.d.next.stale = bits_w::<32>(0);
        }
        if self.reset.val() {
            self.host.d.next.enable = false;
        }
    }

    /// Drives the units.
    fn to_units(&mut self) {
        self.enable.next = self.host.q.val().enable;
        self.usable.next = (self.sq_lo_set.q.val() | self.sq_hi_set.q.val())
            & (self.cq_lo_set.q.val() | self.cq_hi_set.q.val())
            & (self.stopped.q.val() ^ 0xf);
        self.one.next = bits_w::<16>(1);
        self.sq_base_lo.read_address.next = self.sq_queue.val();
        self.sq_base_hi.read_address.next = self.sq_queue.val();
        self.sq_log2.read_address.next = self.sq_queue.val();
        self.cq_base_lo.read_address.next = self.cq_queue.val();
        self.cq_base_hi.read_address.next = self.cq_queue.val();
        self.sq_size.next = self.one.val() << self.sq_log2.read_data.val();
        self.sq_mask.next = self.sq_size.val() - 1;
        self.sq_base.next = (bit_cast_w::<64, 32>(self.sq_base_hi.read_data.val()) << 32)
            | bit_cast_w::<64, 32>(self.sq_base_lo.read_data.val());
        self.cq_base.next = (bit_cast_w::<64, 32>(self.cq_base_hi.read_data.val()) << 32)
            | bit_cast_w::<64, 32>(self.cq_base_lo.read_data.val());
        for i in 0..4 {
            self.cq_size[i].next = self.one.val() << self.cq_log2[i].q.val();
            self.cq_mask[i].next = self.cq_size[i].val() - 1;
            self.sq_tail[i].next = self.tail[i].q.val();
            self.cq_head[i].next = self.head[i].q.val();
        }
        self.tag.next = (bit_cast_w::<64, 32>(self.host.q.val().job_tag_hi) << 32)
            | bit_cast_w::<64, 32>(self.host.q.val().job_tag_lo);
        self.job.next.window_beats = self.build.window_beats.val();
        self.job.next.log2_n_max = self.build.log2_n_max.val();
        self.job.next.rank = self.host.q.val().rank;
        self.job.next.ranks = self.host.q.val().ranks;
        self.job.next.job_tag = self.tag.val();
        self.job.next.payload_beats = self.host.q.val().payload_beats;
        self.job.next.udp_port = self.host.q.val().udp_port;
        self.job.next.ip = self.host.q.val().local_ip;
        self.job.next.mac = (bit_cast_w::<48, 16>(self.host.q.val().local_mac_hi) << 32)
            | bit_cast_w::<48, 32>(self.host.q.val().local_mac_lo);
    }
}

impl Registers {
    pub fn new(build: Build) -> Self {
        Self { build: BuildWords::new(build), ..Self::default() }
    }
}

clocked!(Registers);
