//! Training with slow or stalling workers, in virtual time: all-reduces, bounded all-reduces and
//! Partial Reduce.
//!
//! Computing takes exactly its configured time, independent of a scheduler. The network is
//! simulated, and the [protocol](optireduce_core::protocol) is the real one: `Collectives` for
//! bounded all-reduces, `protocol::partial_reduce` and `GroupAverages` for groups.
//!
//! Limits: hosts and averaging cost no time, and workers do not fail. All-reduces over a reliable
//! transport are a [model](crate::network::reliable).

mod bounded;
pub mod cli;
mod curve;
mod digits;
mod groups;
mod job;
mod summary;
mod trainee;
mod waiting;

use clap::ValueEnum;
use optireduce_core::protocol::partial_reduce::{Params, Weighting};
use serde::Serialize;

use self::bounded::Bounded;
use self::curve::Curve;
use self::digits::Digits;
use self::groups::Groups;
pub use self::job::Counts;
use self::job::Job;
pub use self::summary::Summary;
use self::trainee::{Pace, Trainee};
use crate::error::SimError;
use crate::network::Impairments;

/// Largest relative deviation of a step's duration.
const JITTER: f64 = 0.1;
/// Fraction of stalled steps under [`Condition::Stalls`].
const STALLS: f64 = 1.0 / 50.0;

/// Slow workers of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// None
    Even,
    /// The last one, by a factor of two
    Slow2,
    /// The last one, by a factor of four
    Slow4,
    /// All, each in one of 50 steps
    Stalls,
    /// None, but half of them are always ready half a step after the others
    Halves,
}

/// Method of combining the workers' results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Contender {
    /// All-reduces over a reliable transport; every step waits for all workers
    AllReduce,
    /// Bounded all-reduces with a measured bound
    Bounded,
    /// Bounded all-reduces with a given bound
    BoundedFixed,
    /// Partial Reduce with dynamic weights
    Partial,
    /// Partial Reduce with equal weights
    PartialConstant,
    /// Partial Reduce with dynamic weights, without the guard against isolated groups
    PartialUnguarded,
}

/// Parameters common to all runs.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // described above
pub struct Setup {
    pub workers: usize,
    pub group_size: usize,
    /// Fraction of a worker's images that show its own digits.
    pub own: f64,
    pub train_ns: u64,
    pub step_ns: u64,
    /// Additional duration of a stalled step.
    pub stall_ns: u64,
    /// Bound of a stage for [`Contender::BoundedFixed`].
    pub deadline_ns: u64,
    /// Each run replaces the seed.
    pub impairments: Impairments,
    /// Accuracy to reach, 0 to 1.
    pub target: f64,
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)] // described above
pub struct Run {
    pub seed: u64,
    /// Time until the mean of the models reached the target, in steps of 50 ms; `null` if never.
    pub seconds_to_target: Option<f64>,
    /// Final accuracy of the mean of the models.
    pub accuracy: f64,
    /// Lowest final accuracy of a worker's model.
    pub accuracy_least: f64,
    /// Largest final distance of a model from the mean, relative to its norm.
    pub distance: f64,
    pub steps: Vec<u64>,
    /// Indexed by worker; empty for [`Contender::AllReduce`].
    pub counts: Vec<Counts>,
}

impl Setup {
    /// Runs one training.
    ///
    /// # Errors
    /// If a worker's protocol fails.
    pub fn run(&self, condition: Condition, contender: Contender, seed: u64) -> Result<Run, SimError> {
        let Digits { shards, tests } = Digits::deal(seed, self.workers, self.own)?;
        let trainee = |(worker, images)| Trainee::new(seed, worker, self.pace(condition, worker), images);
        let mut trainees: Vec<Trainee> = shards.into_iter().enumerate().map(trainee).collect();
        let mut curve = Curve::new(tests);
        let impairments = Impairments { seed, ..self.impairments };
        let mut bounded = |bound_ns| {
            let worker = |rank, plane| Bounded::new(rank, self.workers, plane, seed, bound_ns);
            Job::new(self.workers, impairments, worker)?.train(&mut trainees, &mut curve, self.train_ns)
        };
        let counts = match contender {
            Contender::AllReduce => {
                waiting::train(impairments, &mut trainees, &mut curve, self.train_ns)?;
                Vec::new()
            }
            Contender::Bounded => bounded(None)?,
            Contender::BoundedFixed => bounded(Some(self.deadline_ns))?,
            Contender::Partial | Contender::PartialConstant | Contender::PartialUnguarded => {
                let worker = |rank, plane| Groups::new(rank, plane, self.groups(contender));
                Job::new(self.workers, impairments, worker)?.train(&mut trainees, &mut curve, self.train_ns)?
            }
        };
        Ok(Run {
            seed,
            seconds_to_target: curve.seconds_to(self.target),
            accuracy: curve.last(),
            accuracy_least: curve.least(&trainees),
            distance: curve::distance(&trainees),
            steps: trainees.iter().map(|one| one.steps).collect(),
            counts,
        })
    }

    fn groups(&self, contender: Contender) -> Params {
        let mut params = Params::new(self.workers, self.group_size);
        match contender {
            Contender::PartialConstant => params.weighting = Weighting::Constant,
            Contender::PartialUnguarded => params.sync_bound = None,
            _ => {}
        }
        params
    }

    fn pace(&self, condition: Condition, worker: usize) -> Pace {
        let is_last = worker + 1 == self.workers;
        let is_half = condition == Condition::Halves;
        Pace {
            begin_ns: if is_half && 2 * worker >= self.workers { self.step_ns / 2 } else { 0 },
            step_ns: self.step_ns,
            slowness: match condition {
                Condition::Slow2 if is_last => 2,
                Condition::Slow4 if is_last => 4,
                _ => 1,
            },
            // Chance would bring the halves together.
            jitter: if is_half { 0.0 } else { JITTER },
            stall_share: if condition == Condition::Stalls { STALLS } else { 0.0 },
            stall_ns: self.stall_ns,
        }
    }
}

fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    values.into_iter().for_each(|value| {
        if !found.contains(&value) {
            found.push(value);
        }
    });
    found
}
