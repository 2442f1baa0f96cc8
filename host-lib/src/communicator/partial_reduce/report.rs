//! How an average of a group went, for the caller.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use optireduce_core::Averaged;
use serde::Serialize;

/// Who averaged their models, and how that went, as this rank saw it. `Display` gives one line for a log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartialReport {
    number: u32,
    group: Vec<usize>,
    weights: Vec<f64>,
    iteration: u64,
    is_full: bool,
    waited_us: u64,
    took_us: u64,
    lost_bytes: u64,
    repaired_bytes: u64,
    uncounted_bytes: u64,
    uncounted: Vec<usize>,
    missing: Vec<Range<usize>>,
}

impl PartialReport {
    /// The mean, and how it went. `ranks`: the job's, of each worker.
    pub(super) fn new(averaged: Averaged, ranks: &[usize], waited: Duration, took: Duration) -> (Vec<f32>, Self) {
        let Averaged { plan, model, reports, repaired_bytes, uncounted_bytes, uncounted, missing, .. } = averaged;
        let report = Self {
            number: plan.number,
            group: plan.ranks().map(|worker| ranks[worker]).collect(),
            weights: plan.members.iter().map(|member| member.weight).collect(),
            iteration: plan.iteration,
            is_full: plan.is_full,
            waited_us: waited.as_micros() as u64,
            took_us: took.as_micros() as u64,
            lost_bytes: reports.iter().map(|report| report.lost_bytes).sum(),
            repaired_bytes,
            uncounted_bytes,
            uncounted: uncounted.into_iter().map(|worker| ranks[worker]).collect(),
            missing,
        };
        (model, report)
    }

    /// Number of the group; greater than that of this rank's group before.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Ranks of the group, in ascending order. This one alone, if no other was left, or became ready within the patience.
    pub fn group(&self) -> &[usize] {
        &self.group
    }

    /// How much their models counted; the sum is 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The newest of the members' iterations, which all of them carry from now on.
    pub fn iteration(&self) -> u64 {
        self.iteration
    }

    /// Whether the group has as many members as a group takes, or as there are.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// How long this rank waited for its group.
    pub fn waited(&self) -> Duration {
        Duration::from_micros(self.waited_us)
    }

    /// How long the average took after that.
    pub fn took(&self) -> Duration {
        Duration::from_micros(self.took_us)
    }

    /// Bytes of peers that did not come in time.
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// Of these, bytes that were fetched before the mean was used.
    pub fn repaired_bytes(&self) -> u64 {
        self.repaired_bytes
    }

    /// Ranks of the group of whose models something does not count in this rank's part of the mean: they died, or did not answer, or
    /// nothing is repaired.
    pub fn uncounted_ranks(&self) -> &[usize] {
        &self.uncounted
    }

    /// Bytes of their models that do not count there.
    pub fn uncounted_bytes(&self) -> u64 {
        self.uncounted_bytes
    }

    /// Elements of which no mean came, in order: there the model is as this rank gave it.
    pub fn missing_ranges(&self) -> &[Range<usize>] {
        &self.missing
    }
}

impl fmt::Display for PartialReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |us: u64| us as f64 / 1e3;
        write!(
            f,
            "group {}: ranks {:?}, weights {:.3?}, iteration {}; waited {:.3} ms, averaged in {:.3} ms",
            self.number,
            self.group,
            self.weights,
            self.iteration,
            ms(self.waited_us),
            ms(self.took_us)
        )?;
        if self.lost_bytes > 0 {
            write!(f, "; lost {} B, repaired {} B", self.lost_bytes, self.repaired_bytes)?;
        }
        if !self.uncounted.is_empty() {
            write!(f, "; without {} B of ranks {:?}", self.uncounted_bytes, self.uncounted)?;
        }
        if !self.missing.is_empty() {
            let elements: usize = self.missing.iter().map(Range::len).sum();
            write!(f, "; {elements} elements as they were")?;
        }
        Ok(())
    }
}
