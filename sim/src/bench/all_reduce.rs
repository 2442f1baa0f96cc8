//! Duration of an all-reduce in cycles, against the lower bound set by the wire.
//!
//! Method: cycle-level cards, drivers and host libraries on a network without loss and with its
//! smallest delay, 1 us. The gradient of 1 MiB travels in windows of 64 KiB and packets of 1408
//! bytes. The duration ends with the last rank's result in host memory. The clock has 250 MHz.
//!
//! * Wire bound: every rank moves 2 (N-1)/N of the bytes each way, at the goodput of 100 Gb/s
//!   Ethernet.
//! * Memory bound: the gather memory reads one beat per cycle. The local mean is read once per peer
//!   and every result once, (2N-1)/N of the beats. With 2 ranks this bound exceeds the wire bound.
//!
//! Neither bound covers the fill and drain of the pipeline of windows.

use optireduce_contract::limits::{BEAT_BYTES, CYCLE_NS, PAYLOAD_BEATS_DEFAULT};
use optireduce_contract::packet::HEADER_BYTES;
use serde::Serialize;

use crate::card::engine::Engine;
use crate::cluster::{Cluster, ClusterConfig};
use crate::error::SimError;
use crate::wire::wire_ps;

/// Elements of the gradient, 1 MiB.
pub const ELEMENTS: usize = 1 << 18;

/// Duration of one all-reduce in cycles, with its lower bounds by wire and memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)] // described above
pub struct AllReduce {
    pub ranks: usize,
    pub bytes: usize,
    pub cycles: u64,
    pub bound_cycles: u64,
    pub memory_bound_cycles: u64,
}

impl AllReduce {
    /// Returns the duration divided by the wire bound.
    pub fn ratio(&self) -> f64 {
        self.cycles as f64 / self.bound_cycles as f64
    }
}

/// Returns the wire bound in cycles.
pub fn bound_cycles(ranks: usize, bytes: usize) -> u64 {
    let payload_bytes = PAYLOAD_BEATS_DEFAULT * BEAT_BYTES;
    let ps_per_byte = wire_ps(HEADER_BYTES + payload_bytes) as f64 / payload_bytes as f64;
    let moved_bytes = 2.0 * (ranks - 1) as f64 / ranks as f64 * bytes as f64;
    (moved_bytes * ps_per_byte / (1000 * CYCLE_NS) as f64) as u64
}

/// Returns the memory bound in cycles.
pub fn memory_bound_cycles(ranks: usize, bytes: usize) -> u64 {
    ((2 * ranks - 1) * bytes / BEAT_BYTES / ranks) as u64
}

/// Runs one all-reduce of [`ELEMENTS`].
///
/// # Errors
/// An error of the cluster, or a wrong result.
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
