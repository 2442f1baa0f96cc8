//! Register file of BAR 0: the contract's map, a synchronous read and write port of 32-bit words, and drop counters.
//!
//! Latency: 1 cycle for reads and writes. Everything the host writes is a level; reads have no side effects; addresses
//! without a register read as zero. Counters wrap and are cleared while the card is disabled.
//! Word addresses below are the contract's byte offsets divided by four; a test walks the contract's table.

use super::build::{Build, BuildWords};
use super::types::JobWords;
use crate::prelude::*;

/// Registers written by the host.
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
    sq_base_lo: W<32>,
    sq_base_hi: W<32>,
    sq_log2: W<4>,
    cq_base_lo: W<32>,
    cq_base_hi: W<32>,
    cq_log2: W<4>,
    sq_tail: W<16>,
    cq_head: W<16>,
}

/// Events that are counted, one cycle each.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct Events {
    /// A frame came in, good or bad.
    pub rx_packet: bool,
    /// A frame was begun.
    pub tx_packet: bool,
    /// Receive buffer full, or bad frame.
    pub fifo_full: bool,
    /// Not ours.
    pub foreign: bool,
    /// Malformed.
    pub malformed: bool,
    /// Other version.
    pub version: bool,
    /// Other job.
    pub job: bool,
    /// No window.
    pub no_window: bool,
    /// Bucket armed for a later step.
    pub stale: bool,
    /// Hadamard or bf16 flag.
    pub flags: bool,
    /// Outside the shard.
    pub out_of_shard: bool,
    /// A contribution came late.
    pub late_contribute: bool,
    /// A broadcast came late.
    pub late_broadcast: bool,
    /// A contribution came twice.
    pub duplicate_contribute: bool,
    /// A broadcast came twice.
    pub duplicate_broadcast: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Counters {
    rx_packets: W<32>,
    tx_packets: W<32>,
    fifo_full: W<32>,
    foreign: W<32>,
    malformed: W<32>,
    version: W<32>,
    job: W<32>,
    no_window: W<32>,
    flags: W<32>,
    out_of_shard: W<32>,
    late: W<32>,
    duplicate: W<32>,
}

/// Register file, see the module.
#[derive(LogicBlock, Default)]
pub struct Registers {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Writes a word.
    pub write: Signal<In, bool>,
    /// Word to write.
    pub write_address: Signal<In, W<10>>,
    /// Its new value.
    pub write_data: Signal<In, W<32>>,
    /// Word to read.
    pub read_address: Signal<In, W<10>>,
    /// Its value, one cycle later.
    pub read_data: Signal<Out, W<32>>,
    /// Submissions consumed.
    pub sq_head: Signal<In, W<16>>,
    /// Completions written.
    pub cq_tail: Signal<In, W<16>>,
    /// An access to host memory failed this cycle.
    pub dma_fault: Signal<In, bool>,
    /// What to count this cycle.
    pub events: Signal<In, Events>,
    /// The card is enabled.
    pub enable: Signal<Out, bool>,
    /// Job registers.
    pub job: Signal<Out, JobWords>,
    /// Submission ring: first byte.
    pub sq_base: Signal<Out, W<64>>,
    /// Submission ring: entries - 1.
    pub sq_mask: Signal<Out, W<16>>,
    /// Doorbell.
    pub sq_tail: Signal<Out, W<16>>,
    /// Completion ring: first byte.
    pub cq_base: Signal<Out, W<64>>,
    /// Completion ring: entries - 1.
    pub cq_mask: Signal<Out, W<16>>,
    /// Completions consumed.
    pub cq_head: Signal<Out, W<16>>,
    /// Some access to host memory failed since enable.
    pub dma_error: Signal<Out, bool>,
    /// Writes a word of the peer table.
    pub peer_write: Signal<Out, bool>,
    /// Rank * 4 + word.
    pub peer_word: Signal<Out, W<8>>,
    host: DFF<Host>,
    counters: DFF<Counters>,
    faulty: DFF<bool>,
    value: DFF<W<32>>,
    data: Wire<W<32>>,
    one: Wire<W<16>>,
    sq_size: Wire<W<16>>,
    cq_size: Wire<W<16>>,
    late: Wire<W<2>>,
    duplicate: Wire<W<2>>,
    inverted: Wire<W<32>>,
    fault_bit: Wire<W<1>>,
    enable_bit: Wire<W<1>>,
    tag: Wire<W<64>>,
    build: BuildWords,
}

impl Logic for Registers {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, host, counters, faulty, value);

        // Writes.
        self.data.next = self.write_data.val();
        if self.write.val() {
            if self.write_address.val() == 0x40 {
                self.host.d.next.enable = self.data.val().get_bit(0);
            } else if self.write_address.val() == 0x41 {
                self.host.d.next.scratch = self.data.val();
            } else if self.write_address.val() == 0x42 {
                self.host.d.next.rank = self.data.val().get_bits::<6>(0);
            } else if self.write_address.val() == 0x43 {
                self.host.d.next.ranks = self.data.val().get_bits::<7>(0);
            } else if self.write_address.val() == 0x44 {
                self.host.d.next.job_tag_lo = self.data.val();
            } else if self.write_address.val() == 0x45 {
                self.host.d.next.job_tag_hi = self.data.val();
            } else if self.write_address.val() == 0x46 {
                self.host.d.next.payload_beats = self.data.val().get_bits::<8>(0);
            } else if self.write_address.val() == 0x47 {
                self.host.d.next.udp_port = self.data.val().get_bits::<16>(0);
            } else if self.write_address.val() == 0x48 {
                self.host.d.next.local_ip = self.data.val();
            } else if self.write_address.val() == 0x49 {
                self.host.d.next.local_mac_lo = self.data.val();
            } else if self.write_address.val() == 0x4a {
                self.host.d.next.local_mac_hi = self.data.val().get_bits::<16>(0);
            } else if self.write_address.val() == 0x200 {
                self.host.d.next.sq_base_lo = self.data.val();
            } else if self.write_address.val() == 0x201 {
                self.host.d.next.sq_base_hi = self.data.val();
            } else if self.write_address.val() == 0x202 {
                self.host.d.next.sq_log2 = self.data.val().get_bits::<4>(0);
            } else if self.write_address.val() == 0x203 {
                self.host.d.next.cq_base_lo = self.data.val();
            } else if self.write_address.val() == 0x204 {
                self.host.d.next.cq_base_hi = self.data.val();
            } else if self.write_address.val() == 0x205 {
                self.host.d.next.cq_log2 = self.data.val().get_bits::<4>(0);
            } else if self.write_address.val() == 0x210 {
                self.host.d.next.sq_tail = self.data.val().get_bits::<16>(0);
            } else if self.write_address.val() == 0x220 {
                self.host.d.next.cq_head = self.data.val().get_bits::<16>(0);
            }
        }
        self.peer_write.next = self.write.val() && (self.write_address.val().get_bits::<2>(8) == 1);
        self.peer_word.next = self.write_address.val().get_bits::<8>(0);

        // Reads.
        self.fault_bit.next = bits_w::<1>(0);
        if self.faulty.q.val() {
            self.fault_bit.next = bits_w::<1>(1);
        }
        self.enable_bit.next = bits_w::<1>(0);
        if self.host.q.val().enable {
            self.enable_bit.next = bits_w::<1>(1);
        }

        self.inverted.next = self.host.q.val().scratch ^ 0xffff_ffffu64;
        self.value.d.next = bits_w::<32>(0);
        if self.read_address.val() == 0x00 {
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
            self.value.d.next = bit_cast_w::<32, 1>(self.fault_bit.val());
        } else if self.read_address.val() == 0x230 {
            self.value.d.next = bit_cast_w::<32, 16>(self.sq_head.val());
        } else if self.read_address.val() == 0x231 {
            self.value.d.next = bit_cast_w::<32, 16>(self.cq_tail.val());
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
        } else if self.read_address.val() == 0x40 {
            self.value.d.next = bit_cast_w::<32, 1>(self.enable_bit.val());
        } else if self.read_address.val() == 0x41 {
            self.value.d.next = self.host.q.val().scratch;
        } else if self.read_address.val() == 0x42 {
            self.value.d.next = bit_cast_w::<32, 6>(self.host.q.val().rank);
        } else if self.read_address.val() == 0x43 {
            self.value.d.next = bit_cast_w::<32, 7>(self.host.q.val().ranks);
        } else if self.read_address.val() == 0x44 {
            self.value.d.next = self.host.q.val().job_tag_lo;
        } else if self.read_address.val() == 0x45 {
            self.value.d.next = self.host.q.val().job_tag_hi;
        } else if self.read_address.val() == 0x46 {
            self.value.d.next = bit_cast_w::<32, 8>(self.host.q.val().payload_beats);
        } else if self.read_address.val() == 0x47 {
            self.value.d.next = bit_cast_w::<32, 16>(self.host.q.val().udp_port);
        } else if self.read_address.val() == 0x48 {
            self.value.d.next = self.host.q.val().local_ip;
        } else if self.read_address.val() == 0x49 {
            self.value.d.next = self.host.q.val().local_mac_lo;
        } else if self.read_address.val() == 0x4a {
            self.value.d.next = bit_cast_w::<32, 16>(self.host.q.val().local_mac_hi);
        } else if self.read_address.val() == 0x200 {
            self.value.d.next = self.host.q.val().sq_base_lo;
        } else if self.read_address.val() == 0x201 {
            self.value.d.next = self.host.q.val().sq_base_hi;
        } else if self.read_address.val() == 0x202 {
            self.value.d.next = bit_cast_w::<32, 4>(self.host.q.val().sq_log2);
        } else if self.read_address.val() == 0x203 {
            self.value.d.next = self.host.q.val().cq_base_lo;
        } else if self.read_address.val() == 0x204 {
            self.value.d.next = self.host.q.val().cq_base_hi;
        } else if self.read_address.val() == 0x205 {
            self.value.d.next = bit_cast_w::<32, 4>(self.host.q.val().cq_log2);
        } else if self.read_address.val() == 0x210 {
            self.value.d.next = bit_cast_w::<32, 16>(self.host.q.val().sq_tail);
        } else if self.read_address.val() == 0x220 {
            self.value.d.next = bit_cast_w::<32, 16>(self.host.q.val().cq_head);
        }
        self.read_data.next = self.value.q.val();

        // Counters.
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
        if self.events.val().flags {
            self.counters.d.next.flags = self.counters.q.val().flags + 1;
        }
        if self.events.val().out_of_shard {
            self.counters.d.next.out_of_shard = self.counters.q.val().out_of_shard + 1;
        }
        self.counters.d.next.late = self.counters.q.val().late + bit_cast_w::<32, 2>(self.late.val());
        self.counters.d.next.duplicate = self.counters.q.val().duplicate + bit_cast_w::<32, 2>(self.duplicate.val());
        if self.dma_fault.val() {
            self.faulty.d.next = true;
        }
        if !self.host.q.val().enable {
            self.faulty.d.next = false;
            self.counters.d.next.rx_packets = bits_w::<32>(0);
            self.counters.d.next.tx_packets = bits_w::<32>(0);
            self.counters.d.next.fifo_full = bits_w::<32>(0);
            self.counters.d.next.foreign = bits_w::<32>(0);
            self.counters.d.next.malformed = bits_w::<32>(0);
            self.counters.d.next.version = bits_w::<32>(0);
            self.counters.d.next.job = bits_w::<32>(0);
            self.counters.d.next.no_window = bits_w::<32>(0);
            self.counters.d.next.flags = bits_w::<32>(0);
            self.counters.d.next.out_of_shard = bits_w::<32>(0);
            self.counters.d.next.late = bits_w::<32>(0);
            self.counters.d.next.duplicate = bits_w::<32>(0);
        }
        // To the units.
        self.enable.next = self.host.q.val().enable;
        self.dma_error.next = self.faulty.q.val();
        self.one.next = bits_w::<16>(1);
        self.sq_size.next = self.one.val() << self.host.q.val().sq_log2;
        self.cq_size.next = self.one.val() << self.host.q.val().cq_log2;
        self.sq_mask.next = self.sq_size.val() - 1;
        self.cq_mask.next = self.cq_size.val() - 1;
        self.sq_base.next = (bit_cast_w::<64, 32>(self.host.q.val().sq_base_hi) << 32)
            | bit_cast_w::<64, 32>(self.host.q.val().sq_base_lo);
        self.cq_base.next = (bit_cast_w::<64, 32>(self.host.q.val().cq_base_hi) << 32)
            | bit_cast_w::<64, 32>(self.host.q.val().cq_base_lo);
        self.sq_tail.next = self.host.q.val().sq_tail;
        self.cq_head.next = self.host.q.val().cq_head;
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
    /// Registers that tell these build parameters.
    pub fn new(build: Build) -> Self {
        Self { build: BuildWords::new(build), ..Self::default() }
    }
}

clocked!(Registers);
