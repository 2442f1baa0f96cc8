//! The bound t_B of a simulated job, if none is given: as the host library measures it.
//!
//! Why: the protocol decides on the bound, not the simulator. A job measures it over its first collectives; with simulated
//! cards these would take minutes, so software ranks run them, on the same network and with the same settings.
//! Limits: without stragglers, and with hosts that cost no time.

use optireduce::BOUND_MAX_DEFAULT;
use optireduce_core::protocol::BoundParams;

use super::{Cluster, ClusterConfig, QUANTUM_NS};
use crate::card::engine::Engine;
use crate::error::SimError;

/// The shortest bound for cards. Software ranks send up to 20 us of bytes ahead of a peer's rate, and cards do not: what is shorter than a
/// few times that does not carry over.
pub const BOUND_MIN_NS: u64 = 100_000;
/// What may be measured: hosts of no cost need no longer than the clock's quantum.
const MEASURED: BoundParams = BoundParams { min_ns: QUANTUM_NS, max_ns: BOUND_MAX_DEFAULT.as_nanos() as u64 };
/// Most collectives that a measurement takes; 20 and those that run while the ranks agree.
const COLLECTIVES_MAX: usize = 200;

/// Measures t_B in ns with buckets of so many elements, the job's largest.
///
/// # Errors
/// If the cluster cannot be, or no bound was found.
pub fn measure(config: &ClusterConfig, elements: usize) -> Result<u64, SimError> {
    let mut cluster = Cluster::new(ClusterConfig {
        engine: Engine::Functional,
        software_ranks: (0..config.ranks).collect(),
        stragglers: Vec::new(),
        bound_ns: MEASURED.max_ns,
        measured_bound: Some(MEASURED),
        ..config.clone()
    })?;
    let gradients = vec![vec![0.0; elements]; config.ranks];
    for _ in 0..COLLECTIVES_MAX {
        let record = cluster.step(&gradients, |_| ())?;
        let bound_ns = record.ranks.first().map_or(MEASURED.max_ns, |rank| rank.report.bound_ns);
        if !MEASURED.is_measuring(bound_ns) {
            return Ok(bound_ns);
        }
    }
    let max_ms = MEASURED.max_ns / 1_000_000;
    Err(SimError::Argument(format!(
        "no bound t_B below {max_ms} ms was found in {COLLECTIVES_MAX} collectives, since their stages take longer; give --deadline-us"
    )))
}
