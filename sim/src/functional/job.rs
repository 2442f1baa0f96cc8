//! The job registers, as the card reads them when it is enabled.

use optireduce_contract::limits::{PAYLOAD_BEATS_MAX, RANKS_MAX};
use optireduce_contract::packet::Endpoint;
use optireduce_contract::queue::ENTRY_BYTES;
use optireduce_contract::registers::{self as reg, Register};
use optireduce_driver::CardEnd;

/// What the host told the card before it enabled it.
pub struct Job {
    pub rank: usize,
    pub ranks: usize,
    pub job_tag: u64,
    pub payload_beats: usize,
    pub udp_port: u16,
    pub local: Endpoint,
    pub peers: Vec<Endpoint>,
    pub sq: Ring,
    pub cq: Ring,
}

/// A ring in host memory.
pub struct Ring {
    base: u64,
    log2: u32,
}

impl Job {
    /// Values outside the card's range are brought into it: hardware has no way to answer a register write.
    pub fn from_registers(end: &CardEnd) -> Self {
        let word = |register: Register| end.read_register(register.word());
        let wide = |lo, hi| u64::from(word(hi)) << 32 | u64::from(word(lo));
        let ring = |lo, hi, log2| Ring { base: wide(lo, hi), log2: word(log2).min(15) };
        let ranks = (word(reg::RANKS) as usize).clamp(1, RANKS_MAX);
        let peer = |rank: usize| {
            let at = (reg::PEER_TABLE + rank * reg::PEER_BYTES) / 4;
            endpoint(end.read_register(at), end.read_register(at + 1), end.read_register(at + 2))
        };
        Self {
            rank: word(reg::RANK) as usize % ranks,
            ranks,
            job_tag: wide(reg::JOB_TAG_LO, reg::JOB_TAG_HI).swap_bytes(),
            payload_beats: (word(reg::PAYLOAD_BEATS) as usize).clamp(1, PAYLOAD_BEATS_MAX),
            udp_port: (word(reg::UDP_PORT) as u16).swap_bytes(),
            local: endpoint(word(reg::LOCAL_IP), word(reg::LOCAL_MAC_LO), word(reg::LOCAL_MAC_HI)),
            peers: (0..ranks).map(peer).collect(),
            sq: ring(reg::SQ_BASE_LO, reg::SQ_BASE_HI, reg::SQ_LOG2),
            cq: ring(reg::CQ_BASE_LO, reg::CQ_BASE_HI, reg::CQ_LOG2),
        }
    }

    /// The peers in order of sending: the next rank first.
    pub fn peers_in_order(&self) -> impl Iterator<Item = usize> + use<> {
        let (rank, ranks) = (self.rank, self.ranks);
        (1..ranks).map(move |k| (rank + k) % ranks)
    }
}

impl Ring {
    /// Entries of the ring.
    pub fn size(&self) -> u16 {
        1 << self.log2
    }

    /// Address of the entry with a running index.
    pub fn entry(&self, index: u16) -> u64 {
        self.base + u64::from(index & (self.size() - 1)) * ENTRY_BYTES as u64
    }

    /// Phase bit of the entry with a running index: set on the first turn, then flipping.
    pub fn phase(&self, index: u16) -> bool {
        index >> self.log2 & 1 == 0
    }
}

fn endpoint(ip: u32, mac_lo: u32, mac_hi: u32) -> Endpoint {
    let ([a, b, c, d], [e, f, ..]) = (mac_lo.to_le_bytes(), mac_hi.to_le_bytes());
    Endpoint { mac: [a, b, c, d, e, f], ip: ip.to_le_bytes() }
}
