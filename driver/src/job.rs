//! Configuration of a card for a job.

use optireduce_contract::limits::{BEAT_BYTES, RANKS_MAX};
use optireduce_contract::packet::Endpoint;
use optireduce_contract::queue::{ENTRY_BYTES, REPORT_BYTES};
use optireduce_contract::registers::{self as regs, PEER_BYTES};

use crate::bus::Bus;
use crate::dma::DMA_ALIGN;
use crate::error::DriverError;
use crate::identity::Limits;

/// log2 of the smallest ring's entries.
pub const RING_LOG2_MIN: u32 = 2;
/// log2 of the largest ring's entries, so that indices modulo 65536 distinguish full from empty.
pub const RING_LOG2_MAX: u32 = 15;

/// Ring entries per slot: more than a slot's commands, so that `CQ_HEAD` is written rarely.
const ENTRIES_PER_SLOT: usize = 32;
/// Reserve for the alignment of rings and buffers.
const ALIGN_BYTES: usize = 4 * 4096;

/// log2 of the ring entries of a job, with `slots` window slots.
pub const fn job_ring_log2(slots: usize) -> u32 {
    (ENTRIES_PER_SLOT * slots).next_power_of_two().ilog2()
}

/// DMA memory of a job that uses all slots, in bytes: rings, gradients, results and reports.
pub const fn job_dma_bytes(slots: usize, window_beats_max: usize, ring_log2: u32) -> usize {
    let slot = 2 * window_beats_max * BEAT_BYTES + REPORT_BYTES;
    (2 * (ENTRY_BYTES << ring_log2) + slots * slot + ALIGN_BYTES).next_multiple_of(DMA_ALIGN)
}

impl Limits {
    /// DMA memory of a job in bytes, with the ring size of the host library.
    pub const fn job_dma_bytes(&self) -> usize {
        job_dma_bytes(self.slots, self.window_beats_max, job_ring_log2(self.slots))
    }
}

/// Job configuration of a card. Equal on all ranks except for `rank`, `queue`, `ring_log2` and the
/// rates.
#[derive(Clone, Debug)]
pub struct JobConfig {
    /// This rank, below `ranks`.
    pub rank: usize,
    /// World size, 2 to the card's limit.
    pub ranks: usize,
    /// Random per job; packets with another tag are dropped and counted.
    pub job_tag: u64,
    /// Beats of a full packet, 1 to the card's limit. Default of the contract: 22 (1408 bytes).
    pub payload_beats: usize,
    /// UDP port of the transport, nonzero.
    pub udp_port: u16,
    /// Addresses of all ranks, this one included.
    pub endpoints: Vec<Endpoint>,
    /// Send rate to each rank in wire bytes per microsecond (frame, preamble, check sequence, gap).
    /// 0 or an empty list: line rate.
    pub rates_bytes_per_us: Vec<u16>,
    /// Queue pair of the configuring `Nic`.
    pub queue: usize,
    /// log2 of the entries of each ring, 2 to 15.
    pub ring_log2: u32,
}

impl JobConfig {
    pub(crate) fn check(&self, device: &str, limits: &Limits) -> Result<(), DriverError> {
        let ranks_max = limits.ranks_max.min(RANKS_MAX);
        let within = |field, found, first, last| within(device, field, found, first, last);
        within("ranks", self.ranks as u64, 2, ranks_max as u64)?;
        within("rank", self.rank as u64, 0, self.ranks as u64 - 1)?;
        within("payload_beats", self.payload_beats as u64, 1, limits.payload_beats_max as u64)?;
        within("udp_port", self.udp_port.into(), 1, u16::MAX.into())?;
        within("number of endpoints", self.endpoints.len() as u64, self.ranks as u64, self.ranks as u64)?;
        let rates = self.rates_bytes_per_us.len() as u64;
        within("number of rates", rates, if rates == 0 { 0 } else { self.ranks as u64 }, self.ranks as u64)?;
        check_queue(device, limits, self.queue, self.ring_log2)
    }

    fn peer_words(&self, rank: usize) -> [u32; PEER_BYTES / 4] {
        let rate = self.rates_bytes_per_us.get(rank).copied().unwrap_or(0);
        self.endpoints.get(rank).map_or([0; PEER_BYTES / 4], |endpoint| peer_words(endpoint, rate))
    }

    pub(crate) fn program(&self, bus: &impl Bus) {
        let tag = self.job_tag.to_be_bytes();
        let [ip, mac_lo, mac_hi, _] = self.peer_words(self.rank);
        bus.write(&regs::RANK, self.rank as u32);
        bus.write(&regs::RANKS, self.ranks as u32);
        bus.write(&regs::JOB_TAG_LO, u32::from_le_bytes([tag[0], tag[1], tag[2], tag[3]]));
        bus.write(&regs::JOB_TAG_HI, u32::from_le_bytes([tag[4], tag[5], tag[6], tag[7]]));
        bus.write(&regs::PAYLOAD_BEATS, self.payload_beats as u32);
        bus.write(&regs::UDP_PORT, u16::from_le_bytes(self.udp_port.to_be_bytes()).into());
        bus.write(&regs::LOCAL_IP, ip);
        bus.write(&regs::LOCAL_MAC_LO, mac_lo);
        bus.write(&regs::LOCAL_MAC_HI, mac_hi);
        for rank in 0..RANKS_MAX {
            bus.write_peer(rank, self.peer_words(rank));
        }
    }
}

/// Encodes an entry of the peer table as little-endian words.
fn peer_words(endpoint: &Endpoint, rate_bytes_per_us: u16) -> [u32; PEER_BYTES / 4] {
    let (ip, mac) = (endpoint.ip, endpoint.mac);
    [
        u32::from_le_bytes(ip),
        u32::from_le_bytes([mac[0], mac[1], mac[2], mac[3]]),
        u32::from_le_bytes([mac[4], mac[5], 0, 0]),
        rate_bytes_per_us.into(),
    ]
}

pub(crate) fn check_queue(device: &str, limits: &Limits, queue: usize, ring_log2: u32) -> Result<(), DriverError> {
    within(device, "queue", queue as u64, 0, limits.queues as u64 - 1)?;
    within(device, "ring_log2", ring_log2.into(), RING_LOG2_MIN.into(), RING_LOG2_MAX.into())
}

fn within(device: &str, field: &'static str, found: u64, first: u64, last: u64) -> Result<(), DriverError> {
    let error = || DriverError::InvalidJob {
        device: device.into(),
        field,
        found,
        expected: if first == last { format!("{first}") } else { format!("{first} to {last}") },
    };
    if (first..=last).contains(&found) { Ok(()) } else { Err(error()) }
}
