//! The report of a run as JSON, with stable names and units in the keys.
//!
//! Equal arguments and seed give equal bytes, except for `wall_s` and `cycles_per_s`. Non-finite
//! numbers, such as the error of a NaN, are `null`.

pub mod table;
pub mod timeline;

use optireduce_core::protocol::{ClosedBy, UpdateAction};
use serde::Serialize;

use crate::card::engine::Engine;
use crate::check::oracle::{exact_mean, max_abs_error, nmse};
use crate::cluster::StepRecord;

/// Report of a run. Its first fields repeat the arguments.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)] // described above
pub struct RunReport {
    pub seed: u64,
    pub ranks: usize,
    pub engine: Engine,
    pub software_ranks: Vec<usize>,
    pub bf16: bool,
    pub incast: usize,
    /// Rate to each peer; `null` for line rate.
    pub rate_gbps: Option<f64>,
    pub steps: Vec<StepReport>,
    /// Wall-clock time in seconds.
    pub wall_s: f64,
    /// Simulated clock cycles of all cards per second of wall-clock time; 0 for other engines.
    pub cycles_per_s: f64,
}

/// Report of one step.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)] // described above
pub struct StepReport {
    pub step: u32,
    pub elements: usize,
    /// Virtual time until the last rank was done.
    pub virtual_us: f64,
    /// All cards together.
    pub cycles: u64,
    /// NMSE of the worst rank against the exact mean, |result - mean|^2 / |mean|^2 in f64.
    pub nmse: f64,
    /// Largest absolute error of the worst rank.
    pub max_abs_error: f64,
    pub ranks: Vec<RankReport>,
}

/// Report of one rank in one step. Pairs are indexed by stage.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)] // described above
pub struct RankReport {
    pub rank: usize,
    /// Fraction of the peers' bytes (as fp32) received in time.
    pub received_fraction: [f64; 2],
    /// Peers' bytes (as fp32) not received in time, in both stages.
    pub lost_bytes: u64,
    /// Causes of close, worst over the windows.
    pub closed_by: [ClosedBy; 2],
    /// Peers with less than half of their contribution received in time.
    pub late_peers: Vec<usize>,
    pub action: UpdateAction,
}

impl StepReport {
    /// Compares a step with the exact mean of `gradients`.
    pub fn new(record: &StepRecord, gradients: &[Vec<f32>]) -> Self {
        let mean = exact_mean(gradients);
        let of_ranks =
            |measure: fn(&[f32], &[f64]) -> f64| worst(record.ranks.iter().map(|rank| measure(&rank.output, &mean)));
        Self {
            step: record.op,
            elements: mean.len(),
            virtual_us: record.virtual_ns as f64 / 1000.0,
            cycles: record.cycles,
            nmse: of_ranks(nmse),
            max_abs_error: of_ranks(max_abs_error),
            ranks: record
                .ranks
                .iter()
                .enumerate()
                .map(|(rank, one)| RankReport {
                    rank,
                    received_fraction: one.report.received_fraction,
                    lost_bytes: one.report.lost_bytes,
                    closed_by: one.report.closed_by,
                    late_peers: one.report.late_peers.clone(),
                    action: one.report.action,
                })
                .collect(),
        }
    }
}

impl RunReport {
    /// Returns whether any rank halted.
    pub fn is_halted(&self) -> bool {
        self.steps.iter().flat_map(|step| &step.ranks).any(|rank| rank.action == UpdateAction::Halt)
    }
}

/// NaN if any error is NaN.
fn worst(errors: impl Iterator<Item = f64>) -> f64 {
    errors.fold(0.0, |worst, error| if worst.is_nan() || error.is_nan() { f64::NAN } else { worst.max(error) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_rank_counts_and_a_nan_is_worse_than_any_number() {
        assert_eq!(worst([0.25, 2.0, 1.0].into_iter()), 2.0);
        for place in 0..3 {
            let mut errors = [0.25, 2.0, 1.0];
            errors[place] = f64::NAN;
            assert!(worst(errors.into_iter()).is_nan(), "place {place}");
        }
    }
}
