//! Report of an average of a group.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use optireduce_core::Averaged;
use serde::Serialize;

/// Outcome of an average on this rank. `Display` prints one line for a log.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[must_use = "training continues with its iteration"]
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
    /// `ranks`: job rank of each worker.
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

    /// Number of the group; increases on each rank.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Job ranks of the group, in ascending order; only this rank if no other was ready in time.
    pub fn group(&self) -> &[usize] {
        &self.group
    }

    /// Weight of each member's model, by [`group`](Self::group); their sum is 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Newest iteration of the members; all continue with it.
    pub fn iteration(&self) -> u64 {
        self.iteration
    }

    /// Returns whether the group has the full size, or all remaining workers.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Wait for the group.
    pub fn waited(&self) -> Duration {
        Duration::from_micros(self.waited_us)
    }

    /// Duration of the average after that wait.
    pub fn took(&self) -> Duration {
        Duration::from_micros(self.took_us)
    }

    /// Bytes of peers that did not arrive in time.
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// Part of [`lost_bytes`](Self::lost_bytes) that was repaired before use.
    pub fn repaired_bytes(&self) -> u64 {
        self.repaired_bytes
    }

    /// Members whose models are incomplete in this rank's part of the mean.
    pub fn uncounted_ranks(&self) -> &[usize] {
        &self.uncounted
    }

    /// Bytes of their models that are missing there.
    pub fn uncounted_bytes(&self) -> u64 {
        self.uncounted_bytes
    }

    /// Elements without a mean, in order; this rank keeps its own values there.
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
            write!(f, "; {elements} elements unchanged")?;
        }
        Ok(())
    }
}
