//! The job registers, read when the card is enabled, and the ring registers, read at every
//! synchronisation.

use optireduce_contract::limits::{PAYLOAD_BEATS_MAX, RANKS_MAX};
use optireduce_contract::packet::Endpoint;
use optireduce_contract::queue::ENTRY_BYTES;
use optireduce_contract::registers::{self as reg, Register};
use optireduce_contract::rules::accept::Receiver;
use optireduce_contract::rules::filter::Filter;
use optireduce_driver::CardEnd;

pub struct Job {
    pub rank: usize,
    pub ranks: usize,
    pub job_tag: u64,
    pub payload_beats: usize,
    pub udp_port: u16,
    pub local: Endpoint,
    pub peers: Vec<Endpoint>,
    /// Bytes per microsecond to each rank; 0 means line rate.
    pub rates: Vec<u16>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Ring {
    base: u64,
    log2: u32,
}

impl Job {
    /// Clamps values, since hardware cannot reject a register write.
    pub fn from_registers(end: &CardEnd) -> Self {
        let word = |register: Register| end.read_register(register.word());
        let wide = |lo, hi| u64::from(word(hi)) << 32 | u64::from(word(lo));
        let ranks = (word(reg::RANKS) as usize).clamp(1, RANKS_MAX);
        let peer = |rank: usize| {
            let at = (reg::PEER_TABLE + rank * reg::PEER_BYTES) / 4;
            endpoint(end.read_register(at), end.read_register(at + 1), end.read_register(at + 2))
        };
        let rate = |rank: usize| end.read_register((reg::PEER_TABLE + rank * reg::PEER_BYTES) / 4 + 3) as u16;
        Self {
            rank: word(reg::RANK) as usize % ranks,
            ranks,
            job_tag: wide(reg::JOB_TAG_LO, reg::JOB_TAG_HI).swap_bytes(),
            payload_beats: (word(reg::PAYLOAD_BEATS) as usize).clamp(1, PAYLOAD_BEATS_MAX),
            udp_port: (word(reg::UDP_PORT) as u16).swap_bytes(),
            local: endpoint(word(reg::LOCAL_IP), word(reg::LOCAL_MAC_LO), word(reg::LOCAL_MAC_HI)),
            peers: (0..ranks).map(peer).collect(),
            rates: (0..ranks).map(rate).collect(),
        }
    }

    pub fn filter(&self) -> Filter<'_> {
        Filter {
            local: self.local,
            udp_port: self.udp_port,
            job_tag: self.job_tag,
            payload_beats: self.payload_beats,
            peers: &self.peers,
        }
    }

    pub fn receiver(&self) -> Receiver {
        Receiver { rank: self.rank, ranks: self.ranks, job_tag: self.job_tag, takes_feedback: false }
    }
}

impl Ring {
    pub fn from_registers(end: &CardEnd, registers: [Register; 3]) -> Self {
        let [lo, hi, log2] = registers.map(|register| end.read_register(register.word()));
        Self { base: u64::from(hi) << 32 | u64::from(lo), log2: log2.min(15) }
    }

    pub fn is_there(&self) -> bool {
        self.base != 0
    }

    pub fn size(&self) -> u16 {
        1 << self.log2
    }

    pub fn entry(&self, index: u16) -> u64 {
        self.base + u64::from(index & (self.size() - 1)) * ENTRY_BYTES as u64
    }

    /// Phase bit of a running index: set in the first turn.
    pub fn phase(&self, index: u16) -> bool {
        index >> self.log2 & 1 == 0
    }
}

fn endpoint(ip: u32, mac_lo: u32, mac_hi: u32) -> Endpoint {
    let ([a, b, c, d], [e, f, ..]) = (mac_lo.to_le_bytes(), mac_hi.to_le_bytes());
    Endpoint { mac: [a, b, c, d, e, f], ip: ip.to_le_bytes() }
}
