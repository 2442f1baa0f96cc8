//! How an all-reduce on two levels went, for the caller.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use optireduce_core::protocol::{Kind, LOSS_SKIP, UpdateAction};

use super::super::Report;

/// Which ranks of the job those of the two levels are.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    pub world_size: usize,
    /// The ranks of this rank's group, and its equals in all groups.
    pub inside: Vec<usize>,
    pub across: Vec<usize>,
}

impl Numbers {
    /// Those that a report of one of the steps speaks of, by their numbers there.
    fn of(&self, step: &Report) -> &[usize] {
        if step.kind() == Kind::AllReduce { &self.across } else { &self.inside }
    }
}

/// How an all-reduce on two levels went, as this rank saw it, from [`TwoLevelBucket::all_reduce`](super::TwoLevelBucket::all_reduce). Ranks
/// are those of the job. `Display` gives one line for a log.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoLevelReport {
    numbers: Arc<Numbers>,
    steps: Vec<Report>,
    elements: usize,
    missing_ranges: Vec<Range<usize>>,
}

impl TwoLevelReport {
    pub(super) fn new(
        numbers: Arc<Numbers>,
        steps: Vec<Report>,
        elements: usize,
        missing_ranges: Vec<Range<usize>>,
    ) -> Self {
        Self { numbers, steps, elements, missing_ranges }
    }

    /// The reports of the reduce-scatter in the group, of the all-reduce among equal members (none if this rank's shard is empty), and of the
    /// all-gather in the group. Their ranks are those of the group, and of the equal members: [`rank_of`](Self::rank_of).
    pub fn steps(&self) -> &[Report] {
        &self.steps
    }

    /// The rank of the job that has a number in one of the [`steps`](Self::steps).
    pub fn rank_of(&self, step: &Report, number: usize) -> usize {
        self.numbers.of(step)[number]
    }

    /// Elements of the bucket.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// What to do with the update: skip it if the result lacks more than [`LOSS_SKIP`] of its elements, halt the job if a step says so and no rank
    /// was late, since one that stands still makes others late on the other level. What the reduce-scatter lost is no reason to skip: the mean without
    /// it is the same on all ranks.
    pub fn action(&self) -> UpdateAction {
        let missing: usize = self.missing_ranges.iter().map(ExactSizeIterator::len).sum();
        let halts = self.steps.iter().any(|step| step.action() == UpdateAction::Halt);
        if halts && self.late_ranks().is_empty() {
            UpdateAction::Halt
        } else if missing as f64 > LOSS_SKIP * self.elements as f64 {
            UpdateAction::Skip
        } else {
            UpdateAction::Apply
        }
    }

    /// Elements that the result lacks, in order, or of which their owner in this group lacks a part; mostly zeros. What an owner lacks comes
    /// with a later output, for the whole group, if repairs are on; what the all-gather lost never comes.
    pub fn missing_ranges(&self) -> &[Range<usize>] {
        &self.missing_ranges
    }

    /// Ranks that take part, as far as this rank's communicators know.
    pub fn live_ranks(&self) -> Vec<usize> {
        let is_gone = |rank: &usize| {
            self.steps.iter().any(|step| {
                let number = self.numbers.of(step).iter().position(|of| of == rank);
                number.is_some_and(|number| !step.live_ranks().contains(&number))
            })
        };
        (0..self.numbers.world_size).filter(|rank| !is_gone(rank)).collect()
    }

    /// Ranks that were late in one of the steps, in order.
    pub fn late_ranks(&self) -> Vec<usize> {
        let late = |step: &Report| step.late_ranks().iter().map(|late| self.rank_of(step, *late)).collect::<Vec<_>>();
        let mut ranks: Vec<usize> = self.steps.iter().flat_map(late).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    /// Whether this rank was late in one of the steps: something of it is not in the mean.
    pub fn is_late(&self) -> bool {
        self.steps.iter().any(Report::is_late)
    }

    /// Bytes that peers were to send in all steps.
    pub fn expected_bytes(&self) -> u64 {
        self.steps.iter().map(Report::expected_bytes).sum()
    }

    /// Bytes of peers that did not come in time in all steps.
    pub fn lost_bytes(&self) -> u64 {
        self.steps.iter().map(Report::lost_bytes).sum()
    }

    /// Lost fraction of the bytes that peers were to send, 0 to 1.
    pub fn loss(&self) -> f64 {
        self.lost_bytes() as f64 / self.expected_bytes().max(1) as f64
    }

    /// Values of the result that are infinities or NaNs, as [`Report::not_finite`].
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
