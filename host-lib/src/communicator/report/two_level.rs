//! Report of an all-reduce on two levels.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use optireduce_core::levels;
use optireduce_core::protocol::{Kind, UpdateAction};

use super::Report;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub world_size: usize,
    /// Job ranks. `across`: this rank's equals.
    pub inside: Vec<usize>,
    pub across: Vec<usize>,
}

impl Numbers {
    fn of(&self, step: &Report) -> &[usize] {
        if step.kind() == Kind::AllReduce { &self.across } else { &self.inside }
    }
}

/// Outcome of an all-reduce on two levels on this rank. Ranks are job ranks. `Display` prints one
/// line for a log.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "it shows losses, and whether the update was applied"]
pub struct TwoLevelReport {
    numbers: Arc<Numbers>,
    steps: Vec<Report>,
    elements: usize,
    missing_ranges: Vec<Range<usize>>,
    pub(crate) is_corrected: bool,
    /// Beside the drift of the steps.
    pub(crate) drift_bytes: u64,
}

impl TwoLevelReport {
    pub(crate) fn new(
        numbers: Arc<Numbers>,
        steps: Vec<Report>,
        elements: usize,
        missing_ranges: Vec<Range<usize>>,
    ) -> Self {
        let is_corrected = steps.iter().any(Report::is_corrected);
        Self { numbers, steps, elements, missing_ranges, is_corrected, drift_bytes: 0 }
    }

    /// Reports of the reduce-scatter in the group, the all-reduce among equals (omitted if this
    /// rank's shard is empty), and the all-gather in the group; see [`rank_of`](Self::rank_of).
    pub fn steps(&self) -> &[Report] {
        &self.steps
    }

    /// Job rank of rank `number` in the report of a [step](Self::steps).
    pub fn rank_of(&self, step: &Report, number: usize) -> usize {
        self.numbers.of(step)[number]
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Returns whether the result contains the update.
    ///
    /// An all-reduce with more than 10 % of the elements [missing](Self::missing_ranges) is
    /// skipped: its result is zeros, and with repairs a later one includes the whole update. Losses
    /// of the reduce-scatter do not count, since the mean is the same on all ranks.
    pub fn is_applied(&self) -> bool {
        self.action() == UpdateAction::Apply
    }

    /// Halts if a step does, unless a rank was late: a stopped rank makes others late on the other
    /// level.
    pub(crate) fn action(&self) -> UpdateAction {
        let halts = self.steps.iter().any(|step| step.action() == UpdateAction::Halt);
        levels::action(self.elements, &self.missing_ranges, halts && self.late_ranks().is_empty())
    }

    /// Elements missing in the result, or incomplete at their owner in this group, in order.
    /// Repairs add them to a later result.
    pub fn missing_ranges(&self) -> &[Range<usize>] {
        &self.missing_ranges
    }

    /// Ranks that take part, according to this rank's communicators.
    pub fn live_ranks(&self) -> Vec<usize> {
        let is_gone = |rank: &usize| {
            self.steps.iter().any(|step| {
                let number = self.numbers.of(step).iter().position(|of| of == rank);
                number.is_some_and(|number| !step.live_ranks().contains(&number))
            })
        };
        (0..self.numbers.world_size).filter(|rank| !is_gone(rank)).collect()
    }

    /// Ranks that were late in a step.
    pub fn late_ranks(&self) -> Vec<usize> {
        let late = |step: &Report| step.late_ranks().iter().map(|late| self.rank_of(step, *late)).collect::<Vec<_>>();
        let mut ranks: Vec<usize> = self.steps.iter().flat_map(late).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    /// Returns whether this rank was late in a step, so that the mean lacks a part of its gradient.
    pub fn is_late(&self) -> bool {
        self.steps.iter().any(Report::is_late)
    }

    /// Bytes expected from peers in all steps.
    pub fn expected_bytes(&self) -> u64 {
        self.steps.iter().map(Report::expected_bytes).sum()
    }

    /// Bytes of peers that did not arrive in time, in all steps.
    pub fn lost_bytes(&self) -> u64 {
        self.steps.iter().map(Report::lost_bytes).sum()
    }

    /// Lost fraction of [`expected_bytes`](Self::expected_bytes), 0 to 1.
    pub fn loss(&self) -> f64 {
        self.lost_bytes() as f64 / self.expected_bytes().max(1) as f64
    }

    /// Returns whether the result includes repairs of earlier results, or updates that this rank
    /// skipped.
    pub fn is_corrected(&self) -> bool {
        self.is_corrected
    }

    /// Bytes of means with outstanding repairs on this rank, in all buckets.
    pub fn outstanding_bytes(&self) -> u64 {
        self.steps.iter().map(Report::outstanding_bytes).sum()
    }

    /// Bytes of means that no result of this rank will include, in all buckets: permanent replica
    /// divergence. [`settle`](crate::TwoLevelBucket::settle) adds the losses of the rank's group.
    pub fn drift_bytes(&self) -> u64 {
        self.drift_bytes + self.steps.iter().map(Report::drift_bytes).sum::<u64>()
    }

    /// Number of infinities and NaNs in the result.
    pub fn not_finite(&self) -> u64 {
        self.steps.last().map_or(0, Report::not_finite)
    }
}

impl fmt::Display for TwoLevelReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = self.action();
        let missing: usize = self.missing_ranges.iter().map(ExactSizeIterator::len).sum();
        write!(f, "two levels, {} elements, {} ranks: {action}", self.elements, self.live_ranks().len())?;
        if missing > 0 {
            write!(f, "; {missing} elements are missing")?;
        }
        let late = self.late_ranks();
        if !late.is_empty() {
            write!(f, "; late: {late:?}")?;
        }
        self.steps.iter().try_for_each(|step| write!(f, " [{step}]"))
    }
}
