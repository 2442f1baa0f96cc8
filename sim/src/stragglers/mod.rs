//! Training with workers that are slow or stall, in virtual time: all-reduces, bounded all-reduces and Partial Reduce side by side.
//!
//! Why: what a straggler costs depends on its kind, and on a machine with fewer cores than workers it cannot be told from what the
//! scheduler costs. Here computing takes exactly as long as it is said to, the network is the simulator's, and the
//! [protocol](optireduce_core::protocol) is that of a real job: bounded all-reduces by `Collectives`, groups by `protocol::partial_reduce`
//! and `GroupAverages`.
//! Limits: hosts and averaging cost no time; nobody dies. All-reduces over a reliable transport are the [model](crate::network::reliable).

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

/// Steps are longer or shorter by up to this part.
const JITTER: f64 = 0.1;
/// Where workers stall, one step in so many does.
const STALLS: f64 = 1.0 / 50.0;

/// Which workers are slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// None
    Even,
    /// The last one's steps take twice as long
    Slow2,
    /// The last one's steps take four times as long
    Slow4,
    /// Each stalls in one of 50 steps
    Stalls,
    /// None; but half of them are always ready half a step after the others
    Halves,
}

/// How workers put together what they have learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Contender {
    /// All-reduces over a reliable transport: every step waits for everybody
    AllReduce,
    /// Bounded all-reduces, with a deadline that the workers measure
    Bounded,
    /// Bounded all-reduces, with a given deadline
    BoundedFixed,
    /// Partial Reduce, dynamic weights
    Partial,
    /// Partial Reduce, all models of a group count the same
    PartialConstant,
    /// Partial Reduce, dynamic weights, without the guard against groups that stay among themselves
    PartialUnguarded,
}

/// What all runs have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Workers, 2 to 64.
    pub workers: usize,
    /// Workers of a group.
    pub group_size: usize,
    /// The part, 0 to 1, of a worker's images that are of its own digits.
    pub own: f64,
    /// How long workers train.
    pub train_ns: u64,
    /// A training step, and how much longer one takes that stalls.
    pub step_ns: u64,
    /// See [`step_ns`](Self::step_ns).
    pub stall_ns: u64,
    /// The given deadline.
    pub deadline_ns: u64,
    /// The network; its seed is that of a run.
    pub impairments: Impairments,
    /// The accuracy, 0 to 1, that a run is to reach.
    pub target: f64,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// The seed of images, paces and packets.
    pub seed: u64,
    /// When the mean of the workers' models had the accuracy that was to be reached, in steps of 50 ms; `null`: not in time.
    pub seconds_to_target: Option<f64>,
    /// Its accuracy at the end, and the least of the workers' own models.
    pub accuracy: f64,
    /// See [`accuracy`](Self::accuracy).
    pub accuracy_least: f64,
    /// The largest distance of a worker's model from their mean at the end, beside the mean's length.
    pub distance: f64,
    /// Training steps, by worker.
    pub steps: Vec<u64>,
    /// What has become of each worker's calls; none of a model.
    pub counts: Vec<Counts>,
}

impl Setup {
    /// Trains once.
    ///
    /// # Errors
    /// If a worker's protocol gives up; none should.
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
            // Or chance would bring the halves together.
            jitter: if is_half { 0.0 } else { JITTER },
            stall_share: if condition == Condition::Stalls { STALLS } else { 0.0 },
            stall_ns: self.stall_ns,
        }
    }
}

/// Each value once, in the order in which they come.
fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    values.into_iter().for_each(|value| {
        if !found.contains(&value) {
            found.push(value);
        }
    });
    found
}
