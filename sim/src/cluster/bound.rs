//! Measures the bound t_B of a simulated job, if none is configured.
//!
//! The host library measures the bound over a job's first collectives, which takes minutes with
//! simulated cards. Here software ranks run these collectives on the same network with the same
//! settings. Stragglers and the host's own time are not modelled.

use optireduce::tuning::BOUND_MAX_DEFAULT;
use optireduce_core::protocol::BoundParams;

use super::{Cluster, ClusterConfig, QUANTUM_NS};
use crate::card::engine::Engine;
use crate::error::SimError;

/// Shortest bound for cards. Software ranks send larger bursts than cards, so shorter measurements
/// do not carry over.
pub const BOUND_MIN_NS: u64 = 100_000;
/// Hosts cost no time, so the minimum is the clock's quantum.
const MEASURED: BoundParams = BoundParams { min_ns: QUANTUM_NS, max_ns: BOUND_MAX_DEFAULT.as_nanos() as u64 };
/// 20 measurements, and some collectives until the ranks agree.
const COLLECTIVES_MAX: usize = 200;

/// Measures t_B in ns for buckets of `elements`.
///
/// # Errors
/// If the cluster cannot be built or no bound is found.
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
