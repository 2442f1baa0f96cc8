//! The report of a run as JSON. The names are stable; units are in the keys.
//!
//! Same arguments and seed: the same bytes, apart from `wall_s` and `cycles_per_s`. Numbers that are none (the error of
//! a NaN) are `null`.

pub mod table;
pub mod timeline;

use optireduce_core::protocol::{ClosedBy, UpdateAction};
use serde::Serialize;

use crate::card::engine::Engine;
use crate::check::oracle::{exact_mean, max_abs_error, nmse};
use crate::cluster::StepRecord;

/// A whole run.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// Seed of losses, delays and signs.
    pub seed: u64,
    /// Ranks of the job.
    pub ranks: usize,
    /// Kind of card.
    pub engine: Engine,
    /// Ranks without a card.
    pub software_ranks: Vec<usize>,
    /// Whether gradients and means travelled as bf16.
    pub bf16: bool,
    /// Peers that a rank sent to at a time.
    pub incast: usize,
    /// How fast a rank sent to each peer; `null`: as fast as the wire.
    pub rate_gbps: Option<f64>,
    /// Steps in order.
    pub steps: Vec<StepReport>,
    /// Real time of the run.
    pub wall_s: f64,
    /// Clock cycles simulated per second of real time, all cards together; 0 without clocked cards.
    pub cycles_per_s: f64,
}

/// One step.
#[derive(Clone, Debug, Serialize)]
pub struct StepReport {
    /// Number of the step.
    pub step: u32,
    /// Elements of the bucket.
    pub elements: usize,
    /// Simulated time until the last rank was done.
    pub virtual_us: f64,
    /// Clock cycles of all cards together.
    pub cycles: u64,
    /// |result - mean|^2 / |mean|^2 against the exact mean of all ranks, in f64; of the worst rank.
    pub nmse: f64,
    /// Largest error of an element, of the worst rank.
    pub max_abs_error: f64,
    /// Ranks in order.
    pub ranks: Vec<RankReport>,
}

/// One rank in one step.
#[derive(Clone, Debug, Serialize)]
pub struct RankReport {
    /// The rank.
    pub rank: usize,
    /// Fraction of the peers' bytes (as fp32) received in time: contribute, broadcast.
    pub received_fraction: [f64; 2],
    /// Bytes of peers (as fp32) that did not come in time, both stages together.
    pub lost_bytes: u64,
    /// Why the stages closed, worst over the windows: contribute, broadcast.
    pub closed_by: [ClosedBy; 2],
    /// Peers of whose contribution less than half came in time.
    pub late_peers: Vec<usize>,
    /// What the safeguard says about the update.
    pub action: UpdateAction,
}

impl StepReport {
    /// Sums a step up against the exact mean of `gradients`.
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
    /// Whether the protocol said halt in any step, to any rank.
    pub fn is_halted(&self) -> bool {
        self.steps.iter().flat_map(|step| &step.ranks).any(|rank| rank.action == UpdateAction::Halt)
    }
}

/// The largest of some errors; NaN if any is.
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
