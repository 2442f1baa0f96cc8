//! A whole all-reduce in cycles, against the bound that the wire sets.
//!
//! Method: cycle-level cards, drivers and host libraries on a network without loss and with its smallest delay, 1 us; a
//! gradient of 1 MiB in windows of 64 KiB, packets of 1408 bytes. Counted from the begin of the step to the last rank's
//! result in host memory. The wire's bound: every rank moves 2 (N-1)/N of the bytes each way, at the goodput of 100 Gb/s
//! Ethernet, clock 250 MHz. The memory's: the gather memory has one read port, a beat a cycle; the local mean is read for
//! every peer, and every result once, (2N-1)/N of the beats. With 2 ranks it is the larger one, 1.10 times the wire's (and
//! the accumulator's is as large: every contribution and every mean, (N+1)/N of the beats). Not in either bound: the
//! first window's way to its first broadcast and the last one's from its last contribution to host memory.

use optireduce_contract::limits::{BEAT_BYTES, CYCLE_NS, PAYLOAD_BEATS_DEFAULT};
use optireduce_contract::packet::HEADER_BYTES;
use serde::Serialize;

use crate::card::engine::Engine;
use crate::cluster::{Cluster, ClusterConfig};
use crate::error::SimError;
use crate::wire::wire_ps;

/// Elements of the measured gradient: 1 MiB.
pub const ELEMENTS: usize = 1 << 18;

/// One all-reduce and its bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AllReduce {
    /// Ranks.
    pub ranks: usize,
    /// Bytes all-reduced.
    pub bytes: usize,
    /// Cycles it took.
    pub cycles: u64,
    /// Cycles that the wire alone would take.
    pub bound_cycles: u64,
    /// Cycles that the reads of the gather memory alone would take.
    pub memory_bound_cycles: u64,
}

impl AllReduce {
    /// How many times the bound it took.
    pub fn ratio(&self) -> f64 {
        self.cycles as f64 / self.bound_cycles as f64
    }
}

/// Cycles that the wire takes for an all-reduce of `bytes` over `ranks`; see the module.
pub fn bound_cycles(ranks: usize, bytes: usize) -> u64 {
    let payload_bytes = PAYLOAD_BEATS_DEFAULT * BEAT_BYTES;
    let ps_per_byte = wire_ps(HEADER_BYTES + payload_bytes) as f64 / payload_bytes as f64;
    let moved_bytes = 2.0 * (ranks - 1) as f64 / ranks as f64 * bytes as f64;
    (moved_bytes * ps_per_byte / (1000 * CYCLE_NS) as f64) as u64
}

/// Cycles that the reads of the gather memory take for an all-reduce of `bytes` over `ranks`; see the module.
pub fn memory_bound_cycles(ranks: usize, bytes: usize) -> u64 {
    ((2 * ranks - 1) * bytes / BEAT_BYTES / ranks) as u64
}

/// Runs one all-reduce of [`ELEMENTS`] over `ranks`.
///
/// # Errors
/// What the cluster says; a result that is not the mean.
pub fn all_reduce(engine: Engine, ranks: usize) -> Result<AllReduce, SimError> {
    let mut config = ClusterConfig::new(engine, ranks);
    config.impairments.delay_us_median = 1.0;
    config.impairments.tail_ratio = 1.0;
    let mut cluster = Cluster::new(config)?;
    let gradients: Vec<Vec<f32>> = (0..ranks).map(|rank| vec![rank as f32; ELEMENTS]).collect();
    let step = cluster.step(&gradients, |_| ())?;
    let mean = (ranks - 1) as f32 / 2.0;
    if step.ranks.iter().any(|rank| rank.output.iter().any(|value| *value != mean)) {
        return Err(SimError::Check(format!("{ranks} ranks: a result is not the mean {mean}")));
    }
    let done_ns = step.ranks.iter().map(|rank| rank.done_ns).max().unwrap_or(0);
    let bytes = 4 * ELEMENTS;
    Ok(AllReduce {
        ranks,
        bytes,
        cycles: done_ns / CYCLE_NS,
        bound_cycles: bound_cycles(ranks, bytes),
        memory_bound_cycles: memory_bound_cycles(ranks, bytes),
    })
}
